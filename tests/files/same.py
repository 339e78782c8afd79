"""same.py ONE.h5 OTHER.h5 TOLERANCE  - checks that the two files hold the same fields, up to the tolerance times the largest value"""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1], "r") as one, h5py.File(sys.argv[2], "r") as other:
    assert list(one) == list(other) and len(one) > 1, f"{list(one)} and {list(other)}"
    for name in set(one) - {"edges"}:
        a, b = one[name][...], other[name][...]
        assert a.shape == b.shape and np.isfinite(a).all(), f"{name} has the shapes {a.shape} and {b.shape}"
        difference = np.abs(a - b).max() / np.abs(a).max()
        assert difference <= float(sys.argv[3]), f"{name} differs by {difference}"
