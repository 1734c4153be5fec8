"""py-dem-bones on one sequence. Usage: dem_bones.py SEQUENCE.bin BONES TRANS_AFFINE.

SEQUENCE.bin: little-endian i32 frames, vertices, triangles; f32 rest positions, f32 positions of all frames, i32
triangles. Prints one JSON object. The error is evaluated here from its weights and matrices, not taken from it."""

import json
import sys
import time

import numpy as np
import py_dem_bones

ITERATIONS = 30
INFLUENCES = 4


def load(path):
    data = np.fromfile(path, dtype="<i4")
    frames, vertices, triangles = data[:3]
    floats = data[3 : 3 + 3 * vertices * (frames + 1)].view("<f4").reshape(frames + 1, vertices, 3)
    faces = data[3 + 3 * vertices * (frames + 1) :].reshape(triangles, 3)
    return floats[0].astype(float), floats[1:].astype(float), faces


def main(path, bones, trans_affine):
    rest, poses, faces = load(path)
    n_frames, n_vertices = poses.shape[:2]
    solver = getattr(py_dem_bones, "_DemBones", None) or py_dem_bones.DemBones
    solver = solver()
    solver.nV, solver.nB, solver.nF, solver.nS = n_vertices, bones, n_frames, 1
    solver.fStart = np.array([0, n_frames], dtype=np.int32)
    solver.subjectID = np.zeros(n_frames, dtype=np.int32)
    solver.u = np.ascontiguousarray(rest.T)
    solver.v = np.ascontiguousarray(poses.transpose(0, 2, 1).reshape(3 * n_frames, n_vertices))
    solver.fv = [list(map(int, face)) for face in faces]
    solver.nnz, solver.nIters, solver.transAffine = INFLUENCES, ITERATIONS, trans_affine
    wall, cpu = time.time(), time.process_time()
    solver.compute()
    wall, cpu = time.time() - wall, time.process_time() - cpu
    weights = np.asarray(solver.get_weights())
    n_bones = weights.shape[0]
    matrices = np.asarray(solver.m).reshape(n_frames, 4, n_bones, 4)
    homogeneous = np.concatenate([rest, np.ones((n_vertices, 1))], 1)
    squared = 0.0
    for frame in range(n_frames):
        moved = np.einsum("dbk,vk->dbv", matrices[frame, :3], homogeneous)
        skinned = np.einsum("dbv,bv->vd", moved, weights)
        squared += ((skinned - poses[frame]) ** 2).sum()
    diagonal = np.linalg.norm(rest.max(0) - rest.min(0))
    error = 100 * np.sqrt(squared / (3 * n_vertices * n_frames))
    print(json.dumps({"bones": int((weights.sum(1) > 0).sum()), "E_RMS_diag1": error / diagonal, "cpu": cpu, "wall": wall,
                      "rmse": solver.rmse()}))


main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
