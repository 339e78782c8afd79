#!/usr/bin/python3
"""levitus.py OUTPUT.h5 [INPUT.cdf]  - makes the file that the example `ocean` reads

INPUT.cdf is the Levitus climatology, temperature and salinity of the world's oceans as observed, on a grid of 1 degree, which comes with
Debian's package ferret-datasets. OUTPUT.h5 holds, with the slowest dimension first,

  longitude (nx + 1), latitude (ny + 1)   the edges of the cells, in degrees
  depth (nz + 1), level (nz)              the edges of the cells, and the depths where the values were taken, in metres below the surface
  temperature, salinity (nz, ny, nx)      in degrees Celsius and parts per thousand, NaN where there is no value
"""
import os
import sys

import h5py
import numpy as np

try:
    from netCDF4 import Dataset
except ImportError:
    try:
        from functools import partial
        from scipy.io import netcdf_file

        Dataset = partial(netcdf_file, maskandscale=True, mmap=False)
    except ImportError:
        sys.exit("levitus.py needs a reader of netCDF files: install python3-netcdf4")

CLIMATOLOGY = "/usr/share/ferret-vis/data/levitus_climatology.cdf"


def edges(middles):
    """The edges of cells of one size"""
    return np.append(middles - (middles[1] - middles[0]) / 2, middles[-1] + (middles[1] - middles[0]) / 2)


def read(source):
    with Dataset(source) as data:
        values = lambda name: np.ma.filled(np.ma.asarray(data.variables[name][:]).astype(float), np.nan)
        return {
            "longitude": edges(values("XAXLEVITR")),
            "latitude": edges(values("YAXLEVITR")),
            "depth": values("ZAXLEVITRedges"),
            "level": values("ZAXLEVITR"),
            "temperature": values("TEMP"),
            "salinity": values("SALT"),
        }


def write(arrays, target):
    """Under another name first, so that there is a whole file or none"""
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    with h5py.File(target + ".part", "w") as f:
        for name, array in arrays.items():
            f[name] = array
    os.replace(target + ".part", target)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    source = sys.argv[2] if len(sys.argv) == 3 else CLIMATOLOGY
    if not os.path.exists(source):
        sys.exit(f"levitus.py: there is no file {source}" + (": install ferret-datasets" if source == CLIMATOLOGY else ""))
    write(read(source), sys.argv[1])
