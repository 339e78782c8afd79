"""The ocean problem on a small grid, by other means than the example's: dense matrices

reference.py make DATA.h5                                       makes a small sea with land, as a file for the example
reference.py check DATA.h5 RESULT.h5 REFINE DAYS KH KV KCONV    checks what the example made of it in one step"""
import sys

import h5py
import numpy as np

RADIUS = 6.371e6


def make(name):
    """Around the Earth from pole to pole, with cells of several sizes in depth"""
    rng = np.random.default_rng(1)
    nx, ny, nz = 9, 6, 4
    depth = np.array([0.0, 10, 40, 100, 300])
    t = 20 - 5 * np.arange(nz)[:, None, None] + 4 * rng.standard_normal((nz, ny, nx))
    s = 35 + rng.standard_normal((nz, ny, nx))
    bottom = rng.integers(0, nz + 1, (ny, nx))
    bottom[2] = nz  # one way around is open
    t[np.arange(nz)[:, None, None] >= bottom] = np.nan
    s[:, 4] = np.nan  # no salt was measured here
    s[np.isnan(t)] = np.nan
    with h5py.File(name, "w") as f:
        f["longitude"] = 15 + np.linspace(0, 360, nx + 1)
        f["latitude"] = np.linspace(-90, 90, ny + 1)
        f["depth"] = depth
        f["level"] = np.array([0.0, 20, 60, 150])
        f["temperature"] = t.astype("f4")
        f["salinity"] = s


def step(data, refine, days, kh, kv, kconv):
    """The new temperature, zero on land"""
    t, s = (np.repeat(np.repeat(data[name].astype(float), refine, 1), refine, 2) for name in ("temperature", "salinity"))
    nz, ny, nx = t.shape
    dt, dlambda, dz = 86400 * days, np.radians(360 / nx), np.diff(data["depth"])
    phi = np.radians(np.linspace(-90, 90, ny + 1))
    middle, dphi = (phi[1:] + phi[:-1]) / 2, np.radians(180 / ny)
    area = RADIUS**2 * dlambda * (np.sin(phi[1:]) - np.sin(phi[:-1]))
    wet = ~np.isnan(t)
    number = np.arange(t.size).reshape(t.shape)
    matrix = np.eye(t.size)
    matrix[number[wet], number[wet]] = (dz[:, None, None] * area[None, :, None] + 0 * t)[wet]
    volume = matrix.diagonal().copy()

    def couple(a, b, conductance):
        if wet[a] and wet[b]:
            i, j = number[a], number[b]
            matrix[i, i] += dt * conductance
            matrix[j, j] += dt * conductance
            matrix[i, j] -= dt * conductance
            matrix[j, i] -= dt * conductance

    for k, j, i in np.ndindex(t.shape):
        here = (k, j, i)
        couple(here, (k, j, (i + 1) % nx), kh * dz[k] * RADIUS * dphi / (RADIUS * np.cos(middle[j]) * dlambda))
        if j + 1 < ny:
            couple(here, (k, j + 1, i), kh * dz[k] * RADIUS * np.cos(phi[j + 1]) * dlambda / (RADIUS * dphi))
        if k + 1 < nz:
            below = (k + 1, j, i)
            salt = s[here] - s[below]
            unstable = -2e-4 * (t[here] - t[below]) + 7.6e-4 * (0 if np.isnan(salt) else salt) > 0
            couple(here, below, (kconv if unstable else kv) * area[j] / (data["level"][k + 1] - data["level"][k]))
    return np.linalg.solve(matrix, volume * np.where(wet, t, 0).ravel()).reshape(t.shape), ~wet


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    with h5py.File(sys.argv[2], "r") as f:
        data = {name: f[name][...] for name in f}
    expected, land = step(data, int(sys.argv[4]), *(float(number) for number in sys.argv[5:]))
    with h5py.File(sys.argv[3], "r") as f:
        difference = abs(f["temperature"][...] - expected).max()
        assert (f["land"][...] == land).all() and 0 < land.sum() < land.size, "land"
        assert difference < 1e-8, f"the temperature differs by {difference}"
        assert (f["temperature"][...][land] == 0).all(), "temperature on land"
        assert abs(f["edges/x"][...] - np.linspace(15, 375, land.shape[2] + 1)).max() < 1e-12, "longitude"
        assert abs(f["edges/y"][...] - np.linspace(-90, 90, land.shape[1] + 1)).max() < 1e-12, "latitude"
        assert (f["edges/z"][...] == data["depth"]).all(), "depth"
