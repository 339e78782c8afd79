#!/usr/bin/python3
"""plot.py RESULT.h5 [PICTURE.png]  - draws what the examples write with -output

The picture is RESULT.png unless another name is given."""
import os
import sys

import h5py
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MultipleLocator

RADIUS = 6371  # of the Earth, km


def show(axes, x, y, values, title, **options):
    """A field on a grid, given the edges of its cells"""
    axes.set_title(title)
    return axes.pcolormesh(x, y, values, shading="flat", **options)


def compass(positive, negative):
    """Degrees as on a map: 30°W"""

    def text(degrees, _=None):
        degrees = (degrees + 180) % 360 - 180
        return f"{abs(degrees):.0f}°" + ("" if degrees in (0, -180) else positive if degrees > 0 else negative)

    return text


EAST, NORTH = compass("E", "W"), compass("N", "S")


def degrees(axis, name, step):
    """Labels an axis as on a map"""
    axis.set_major_formatter(FuncFormatter(name))
    axis.set_major_locator(MultipleLocator(step))


def pressure(field, edges):
    """The atmosphere: a level, and a section, both through the highest pressure"""
    column = min((0, 1, 2), key=lambda axis: edges[axis][-1] - edges[axis][0])  # the shell is thin
    p = np.moveaxis(field, 2 - column, 0)  # level, y, x
    height, (x, y) = RADIUS * edges[column], (np.degrees(np.arctan(edges[axis])) for axis in range(3) if axis != column)
    k, j, _ = np.unravel_index(np.argmax(p), p.shape)
    middle, latitude = (height[k] + height[k + 1]) / 2, (y[j] + y[j + 1]) / 2
    colours = {"vmin": min(0, p.min()), "vmax": p.max(), "cmap": "viridis"}
    figure, (level, section) = plt.subplots(1, 2, figsize=(11.5, 4.8), layout="constrained")
    mesh = show(level, x, y, p[k], f"Pressure correction at a height of {middle:.0f} km", **colours)
    level.axhline(latitude, color="white", linewidth=1, linestyle="--")
    show(section, x, height, p[:, j], f"Section at {NORTH(latitude)} (dashed)", **colours)
    section.set_ylabel("height, km")
    degrees(level.yaxis, NORTH, 15)
    for axes in (level, section):
        degrees(axes.xaxis, EAST, 15)
        axes.set_xlabel("from the centre of the panel")
    figure.colorbar(mesh, ax=[level, section], label="pressure correction, dimensionless")
    return figure


def ocean(temperature, land, edges):
    """The surface of the sea, and the meridian with the most water; land grey"""
    longitude, latitude, depth = edges
    t = np.ma.masked_where(land != 0, temperature)
    i = np.argmax((land == 0).sum(axis=(0, 1)))
    meridian = (longitude[i] + longitude[i + 1]) / 2
    colours = {"vmin": -2, "vmax": 30, "cmap": "RdYlBu_r"}
    figure, (surface, section) = plt.subplots(2, 1, figsize=(9, 8), layout="constrained", height_ratios=(4, 3))
    mesh = show(surface, longitude, latitude, t[0], "Temperature of the sea at its surface", **colours)
    surface.axvline(meridian, color="black", linewidth=1, linestyle="--")
    degrees(surface.xaxis, EAST, 60)
    degrees(surface.yaxis, NORTH, 30)
    show(section, latitude, depth, t[:, :, i], f"Section along {EAST(meridian)} (dashed)", **colours)
    degrees(section.xaxis, NORTH, 30)
    section.set_ylabel("depth, m")
    section.invert_yaxis()
    for axes in (surface, section):
        axes.set_facecolor("0.6")
    figure.colorbar(mesh, ax=[surface, section], label="temperature, °C; grey: land", aspect=40)
    return figure


def poisson(u, edges):
    """The unit interval, the unit square, or the middle of the unit cube"""
    figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
    if u.ndim == 1:
        axes.plot((edges[0][1:] + edges[0][:-1]) / 2, u)
        axes.set(title="Solution", xlabel="x", ylabel="u")
    else:
        plane = u if u.ndim == 2 else u[len(u) // 2]
        mesh = show(axes, edges[0], edges[1], plane, "Solution" if u.ndim == 2 else "Solution at half the height")
        axes.set(xlabel="x", ylabel="y")
        figure.colorbar(mesh, ax=axes, label="u")
    return figure


def main(result, picture):
    with h5py.File(result, "r") as f:
        fields = {name: data[...] for name, data in f.items() if isinstance(data, h5py.Dataset)}
        edges = [f["edges"][axis][...] for axis in "xyz" if axis in f["edges"]]
    if "pressure" in fields:
        figure = pressure(fields["pressure"], edges)
    elif "temperature" in fields:
        figure = ocean(fields["temperature"], fields["land"], edges)
    elif "u" in fields:
        figure = poisson(fields["u"], edges)
    else:
        sys.exit(f"plot.py: {result} is none of the examples': it holds {', '.join(fields) or 'nothing'}")
    figure.savefig(picture + ".part", dpi=120, format="png")
    os.replace(picture + ".part", picture)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    try:
        main(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else os.path.splitext(sys.argv[1])[0] + ".png")
    except (OSError, KeyError) as error:
        sys.exit(f"plot.py: cannot draw {sys.argv[1]}: {error}")
