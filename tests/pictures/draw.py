"""draw.py FOLDER  - draws what pictures.t has written into the folder, and looks at the pictures"""
import os
import sys

import matplotlib.image
import numpy as np

sys.path.insert(0, "examples")
import plot

folder = sys.argv[1]


def draw(name, width, height):
    plot.main(f"{folder}/{name}.h5", f"{folder}/{name}.png")
    picture = matplotlib.image.imread(f"{folder}/{name}.png")[:, :, :3]
    assert picture.shape[:2] == (height, width), f"{name} has the size {picture.shape}"
    assert not os.path.exists(f"{folder}/{name}.png.part")
    return picture


def share(picture, grey):
    """How much of the picture is of this grey"""
    return (abs(picture - grey).max(axis=2) < 0.003).mean()


def colours(picture):
    return len(np.unique(picture.reshape(-1, 3), axis=0))


one, other = draw("z", 1380, 576), draw("x", 1380, 576)
assert colours(one) > 60 and share(one, 1) < 0.5, "pressure"
assert (abs(one - other) > 0.01).mean() < 1e-3, "the axis of the columns cannot be told from the picture"
sea = draw("ocean", 1080, 960)
assert colours(sea) > 60 and 0.05 < share(sea, 0.6) < 0.8, "land is grey"
assert share(draw("line", 780, 600), 1) > 0.8, "a line on white"
for name in "square", "cube":
    picture = draw(name, 780, 600)
    assert colours(picture) > 20 and share(picture, 1) < 0.5, name
