#!/usr/bin/env python3
"""plot.py REPORT.json PICTURE.png  - draws a report of `make bench`: a bar for each quantity that is a share of the bandwidth of a copy, with the
goal; or, of study.json, the gain over classic sweeps against the depth of a cycle, for each overlap"""
import json
import re
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

# What the study of hierarchical Jacobi printed: depth and gain; of 1D the best gain
PRINTED = {"1D": [(4, 8), (128, 8)], "2D": [(4, 2.17), (16, 3.67), (32, 6)]}


def bars(report):
    quantities = [q for q in report["quantities"] if q["unit"] == "of copy"]
    names = [q["name"] for q in quantities]
    figure, axes = plt.subplots(figsize=(9, 0.8 + 0.32 * len(quantities)))
    axes.barh(names, [q["ratio"] for q in quantities], color=["#2b6ca3" if "fp64" in name else "#8bb8dc" for name in names])
    for i, q in enumerate(quantities):
        if q["goal"]:
            axes.plot([q["goal"]] * 2, [i - 0.4, i + 0.4], color="#c03020", linewidth=2)
    axes.invert_yaxis()
    axes.axvline(1, color="gray", linewidth=0.8)
    axes.set_xlabel("share of the bandwidth of a copy (red: goal)")
    axes.set_title(f"{report['gpu']}, {report['date']}", fontsize=10)
    return figure


def curves(report):
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.4))
    for axes, dim in zip(panels, ("1D", "2D")):
        lines = {}
        for q in report["quantities"]:
            found = re.fullmatch(dim + r" k=(\d+) (overlap=.*|exact register): time", q["name"])
            if found:
                lines.setdefault(found[2].replace("=", " "), []).append((int(found[1]), q["ratio"]))
        for name, points in lines.items():
            axes.plot(*zip(*points), marker="o", markersize=3, label=name, color="black" if "exact" in name else None)
        axes.plot(*zip(*PRINTED[dim]), "--" if dim == "1D" else "*", color="#c03020", markersize=10, label="the study (TITAN V)")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.axhline(1, color="gray", linewidth=0.8)
        axes.set_xlabel("sweeps of a cycle")
        axes.set_title(f"{dim}, 1024{' lines of 1024' if dim == '1D' else ' x 1024'} cells", fontsize=10)
        axes.legend(fontsize=7, loc="lower left")
    panels[0].set_ylabel("gain over one sweep a launch, same residual")
    figure.suptitle(f"{report['gpu']}, {report['date']}", fontsize=10)
    return figure


with open(sys.argv[1]) as file:
    report = json.load(file)
figure = (curves if any(q["unit"] == "cycles" for q in report["quantities"]) else bars)(report)
figure.tight_layout()
figure.savefig(sys.argv[2], dpi=110)
