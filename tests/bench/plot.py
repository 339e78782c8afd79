#!/usr/bin/env python3
"""plot.py REPORT.json PICTURE.png  - a bar for each quantity of a report of `make bench`: its share of the bandwidth of a copy, and the goal"""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

with open(sys.argv[1]) as file:
    report = json.load(file)
bars = [q for q in report["quantities"] if q["unit"] == "of copy"]
names = [q["name"] for q in bars]
figure, axes = plt.subplots(figsize=(9, 0.8 + 0.32 * len(bars)))
axes.barh(names, [q["ratio"] for q in bars], color=["#2b6ca3" if "fp64" in name else "#8bb8dc" for name in names])
for i, q in enumerate(bars):
    if q["goal"]:
        axes.plot([q["goal"]] * 2, [i - 0.4, i + 0.4], color="#c03020", linewidth=2)
axes.invert_yaxis()
axes.axvline(1, color="gray", linewidth=0.8)
axes.set_xlabel("share of the bandwidth of a copy (red: goal)")
axes.set_title(f"{report['gpu']}, {report['date']}", fontsize=10)
figure.tight_layout()
figure.savefig(sys.argv[2], dpi=110)
