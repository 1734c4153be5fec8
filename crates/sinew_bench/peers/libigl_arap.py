"""Milliseconds of one iteration of libigl's as-rigid-as-possible deformation (spokes and rims).

    python libigl_arap.py FOLDER     with mesh.obj and held.txt

Install: python3 -m venv .tools/peers && .tools/peers/bin/pip install libigl==2.6.1 numpy scipy
"""
import sys
import time

import igl
import numpy as np

folder = sys.argv[1]
v, f = igl.read_triangle_mesh(folder + "/mesh.obj")[:2]
held = np.loadtxt(folder + "/held.txt", dtype=np.int32)
targets = v[held].copy()
# The upper half turns, so that there is something to do.
upper = targets[:, 1] > v[:, 1].mean()
targets[upper] = targets[upper] @ np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])


def run(iterations):
    data = igl.ARAPData()
    data.energy = igl.ARAPEnergyType.ARAP_ENERGY_TYPE_SPOKES_AND_RIMS
    data.max_iter = iterations
    igl.arap_precomputation(v, f, 3, held, data)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        igl.arap_solve(targets, data, v.copy())
        times.append(time.perf_counter() - start)
    return sorted(times)[1]


print((run(11) - run(1)) / 10 * 1e3)
