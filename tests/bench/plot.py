#!/usr/bin/env python3
"""plot.py REPORT.json PICTURE.png [roofline]  - draws a report of `make bench`: a bar for each quantity that is a share of the bandwidth of a copy, with the
goal; or, of study.json, the gain over classic sweeps against the depth of a cycle, for each overlap; with `roofline` behind the names, the time of
its solves or iterations of several sizes against the bytes that they must move"""
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


def roofline(report):
    points, launch = {}, 0
    for q in report["quantities"]:
        found = re.fullmatch(r"roofline: ([^,]*), (.*)", q["name"])
        if found:
            points.setdefault(found[2], []).append((q["bytes"], q["us"]))
        elif q["name"] == "roofline: launch":
            launch = q["us"]
    for line in points.values():
        line.sort()
    figure, (left, right) = plt.subplots(1, 2, figsize=(13, 5.2))
    copies = points.pop("copy")
    best = max(bytes / us for bytes, us in copies)
    ends = [min(b for line in points.values() for b, _ in line) / 1.5, max(b for line in points.values() for b, _ in line) * 1.5]
    ends[0] = min(ends[0], copies[0][0])
    left.plot(ends, [bytes / best for bytes in ends], color="gray", linewidth=0.8, label=f"roof: copy, {best / 1e6:.2f} TB/s")
    left.axhline(launch, color="gray", linewidth=0.8, linestyle=":", label=f"roof: a launch, {launch:.1f} us")
    right.axhline(best / 1e6, color="gray", linewidth=0.8)
    line = [ends[0] * (ends[1] / ends[0]) ** (i / 200) for i in range(201)]
    right.plot(line, [bytes / max(launch, bytes / best) / 1e6 for bytes in line], color="gray", linewidth=0.8, linestyle=":")
    for name, series in [("copy", copies), *points.items()]:
        theirs = "cuSPARSE" in name or "aijcusparse" in name
        style = {"marker": "s" if theirs else "o", "markersize": 4, "linestyle": "--" if theirs else "-", "color": "black" if name == "copy" else None}
        left.plot(*zip(*series), label=name, **style)
        right.plot(*zip(*((bytes, bytes / us / 1e6) for bytes, us in series)), **style)
    left.set_yscale("log")
    left.set_ylim(bottom=1)
    left.set_ylabel("us")
    right.set_ylabel("TB/s")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlabel("bytes that must move, by count")
    left.legend(fontsize=7)
    figure.suptitle(f"{report['gpu']}, {report['date']}", fontsize=10)
    return figure


with open(sys.argv[1]) as file:
    report = json.load(file)
draw = roofline if sys.argv[3:] == ["roofline"] else curves if any(q["unit"] == "cycles" for q in report["quantities"]) else bars
figure = draw(report)
figure.tight_layout()
figure.savefig(sys.argv[2], dpi=110)
