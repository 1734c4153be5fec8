"""CasADi and Pinocchio on the six cases. Usage: rules.py SKELETON.json root3|root6.

Prints lines `what|which of ours it stands beside|microseconds`, medians of processor time. The equations are ours (directions as
differences of unit vectors, distances as lengths, 13 rows), in metres."""

import ctypes
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time

import casadi as ca
import numpy as np
import pinocchio as pin

ROUNDS = 41
USED = ["FootR", "MiddleToeR", "WristL", "WristR", "FootL", "AnkleL", "AnkleR", "Root", "Spine"]


def load(path, variant):
    data = json.load(open(path))
    joints = []
    for joint in data["joints"]:
        freedom = data.get("variant_" + variant, {}).get(joint["name"], joint)
        joints.append({**joint, "dofs": freedom["dofs"], "limits": freedom["limits_deg"]})
    index = {joint["name"]: i for i, joint in enumerate(joints)}
    names = [f"{j['name']}.{d}" for j in joints for d in j["dofs"]]
    return data, joints, index, names


def median(work, n=1):
    times = []
    work()
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(n):
            work()
        times.append((time.process_time() - start) / n)
    return sorted(times)[ROUNDS // 2] * 1e6


def tell(what, which, us):
    print(f"{what}|{which}|{us}", flush=True)


def pose(data, names, which):
    return np.array(
        [data["poses"][which].get(n, 0.0) * (0.01 if n.split(".")[1][0] == "t" else math.pi / 180) for n in names]
    )


def limits(joints):
    rows = []
    for joint in joints:
        for dof, (low, high) in zip(joint["dofs"], joint["limits"]):
            unit = 0.01 if dof[0] == "t" else math.pi / 180
            rows.append((low * unit, high * unit))
    return np.array(rows)


def turned(matrix, axis, angle):
    u, v = [(1, 2), (2, 0), (0, 1)][axis]
    s, c = ca.sin(angle), ca.cos(angle)
    result = [list(row) for row in matrix]
    for row in range(3):
        result[row][u] = matrix[row][u] * c + matrix[row][v] * s
        result[row][v] = matrix[row][v] * c - matrix[row][u] * s
    return result


def places(joints, index, q):
    """World positions of the joints the rules hang on."""
    needed = set()
    for name in USED:
        at = index[name]
        while at is not None:
            needed.add(at)
            at = index.get(joints[at]["parent"])
    position, rotation, k = {}, {}, 0
    for i, joint in enumerate(joints):
        first, k = k, k + len(joint["dofs"])
        if i not in needed:
            continue
        parent = index.get(joint["parent"])
        matrix = rotation[parent] if parent is not None else [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        origin = position[parent] if parent is not None else [0, 0, 0]
        offset = [0.01 * x for x in joint["offset"]]
        for d, dof in enumerate(joint["dofs"]):
            if dof[0] == "t":
                offset["xyz".index(dof[1])] = q[first + d]
        position[i] = [origin[r] + sum(matrix[r][c] * offset[c] for c in range(3)) for r in range(3)]
        for d, dof in reversed(list(enumerate(joint["dofs"]))):
            if dof[0] == "r":
                matrix = turned(matrix, "xyz".index(dof[1]), q[first + d])
        rotation[i] = matrix
    return {name: ca.vertcat(*position[index[name]]) for name in USED}


def equations(data, joints, index, q, full_rank=False):
    p = places(joints, index, q)
    m = {k: 0.01 * np.array(v) for k, v in data["markers"].items()}

    def unit(v):
        return v / ca.norm_2(v)

    floor = m["FloorNormal2"] - m["FloorNormal1"]
    floor /= np.linalg.norm(floor)
    along = m["FloorMarker2"] - m["FloorMarker1"]
    along /= np.linalg.norm(along)
    ankles = 0.5 * (p["AnkleL"] + p["AnkleR"])
    across = p["AnkleL"] - p["AnkleR"]
    sole, back, legs = p["MiddleToeR"] - p["FootR"], p["Spine"] - p["Root"], p["Root"] - ankles
    rows = [
        p["FootR"] - m["StepMarker"],
        ca.norm_2(p["WristL"] - p["WristR"]) - np.linalg.norm(m["BoxMarker1"] - m["BoxMarker2"]),
        ca.norm_2(p["FootL"] - p["FootR"]) - 0.4,
        ca.dot(p["FootL"] - m["StepMarker"], floor),
        ca.dot(legs, unit(across)),
    ]
    if full_rank:
        # Interior-point methods want independent rows: two across the direction instead of three of rank two.
        e = np.cross(along, [1.0, 0.0, 0.0])
        e /= np.linalg.norm(e)
        f = np.cross(along, e)
        cross = ca.cross(back, unit(legs))
        rows += [ca.dot(sole, e), ca.dot(sole, f), cross[2], cross[0]]
    else:
        rows += [0.1 * (unit(sole) - along), 0.1 * (unit(back) - unit(legs))]
    return ca.vertcat(*rows)


def casadi_bench(data, joints, index, names):
    def build():
        q = ca.SX.sym("q", len(names))
        f = equations(data, joints, index, q)
        return ca.Function("fJ", [q], [f, ca.jacobian(f, q)])

    tell(f"CasADi {ca.__version__}: build f and J (Python)", "symbolic", median(build))
    function = build()
    start = pose(data, names, "near")
    buffer, run = function.buffer()
    f, jacobian = np.zeros(function.numel_out(0)), np.zeros(function.nnz_out(1))
    buffer.set_arg(0, memoryview(start))
    buffer.set_res(0, memoryview(f))
    buffer.set_res(1, memoryview(jacobian))
    tell("CasADi: f + J (virtual machine)", "evaluate", median(run, 200))
    compiled(function, start)
    solve(data, joints, index, names)


def compiled(function, start):
    """The same through generated C, if there is a compiler; called in a loop in C, so that Python costs nothing."""
    if not shutil.which("gcc"):
        return
    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            function.generate("fj.c")
            with open("fj.c", "a") as file:
                file.write(
                    "\nint loop(const double* q, double* f, double* j, int n) { const double* arg[1] = {q}; "
                    "double* res[2] = {f, j}; static double w[100000]; static casadi_int iw[10000]; int k; "
                    "for (k = 0; k < n; ++k) fJ(arg, res, iw, w, 0); return 0; }\n"
                )
            begun = os.times()
            subprocess.run(["gcc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "fj.c", "-o", "fj.so", "-lm"], check=True)
            tell("CasADi: C compiled by gcc -O3", "build", (os.times().children_user - begun.children_user) * 1e6)
            library = ctypes.CDLL(os.path.join(folder, "fj.so"))
            f, jacobian = np.zeros(64), np.zeros(4096)
            pointer = lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
            work = lambda: library.loop(pointer(start), pointer(f), pointer(jacobian), 2000)
            tell("CasADi: f + J compiled by gcc -O3 -ffast-math", "evaluate", median(work) / 2000)
        finally:
            os.chdir(here)


def solve(data, joints, index, names):
    q = ca.SX.sym("q", len(names))
    f = equations(data, joints, index, q, full_rank=True)
    weight = np.array([10.0 if n.split(".")[1][0] == "t" else 1.0 for n in names])
    bounds = limits(joints)
    quiet = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes"}
    for which in ["near", "far"]:
        start = pose(data, names, which)
        problem = {"x": q, "f": ca.sumsqr((q - start) * np.sqrt(weight)), "g": f}
        solver = ca.nlpsol("s", "ipopt", problem, quiet)
        result = solver(x0=start, lbx=bounds[:, 0], ubx=bounds[:, 1], lbg=0, ubg=0)
        distance = math.sqrt(float(result["f"]))
        us = median(lambda: solver(x0=start, lbx=bounds[:, 0], ubx=bounds[:, 1], lbg=0, ubg=0))
        found = "" if solver.stats()["success"] else ", FAILED"
        tell(f"CasADi + IPOPT: nearest, {which} (d = {distance:.4f}{found})", f"nearest {which}", us)


def pinocchio_bench(data, joints, index, names):
    kinds = {
        "tx": pin.JointModelPX, "ty": pin.JointModelPY, "tz": pin.JointModelPZ,
        "rx": pin.JointModelRX, "ry": pin.JointModelRY, "rz": pin.JointModelRZ,
    }

    def build():
        model = pin.Model()
        at = {}
        for joint in joints:
            parent, place = at.get(joint["parent"], (0, pin.SE3.Identity()))
            offset = 0.01 * np.array(joint["offset"], float)
            moved = ["xyz".index(d[1]) for d in joint["dofs"] if d[0] == "t"]
            offset[moved] = 0.0
            placement = place * pin.SE3(np.eye(3), offset)
            order = [d for d in joint["dofs"] if d[0] == "t"] + [d for d in reversed(joint["dofs"]) if d[0] == "r"]
            for dof in order:
                parent = model.addJoint(parent, kinds[dof](), placement, f"{joint['name']}.{dof}")
                placement = pin.SE3.Identity()
            at[joint["name"]] = (parent, placement)
            model.addFrame(pin.Frame(joint["name"], parent, 0, placement, pin.FrameType.OP_FRAME))
        return model

    tell(f"Pinocchio {pin.__version__}: build the model (Python)", "build", median(build))
    model = build()
    memory = model.createData()
    start = pose(data, names, "near")
    q = np.zeros(model.nq)
    for joint_id in range(1, model.njoints):
        q[model.joints[joint_id].idx_q] = start[names.index(model.names[joint_id])]
    frames = [model.getFrameId(name) for name in USED]

    def evaluate():
        pin.computeJointJacobians(model, memory, q)
        pin.updateFramePlacements(model, memory)
        for frame in frames:
            pin.getFrameJacobian(model, memory, frame, pin.LOCAL_WORLD_ALIGNED)

    def kinematics():
        pin.computeJointJacobians(model, memory, q)

    tell("Pinocchio: kinematics and joint Jacobians", "evaluate", median(kinematics, 200))
    tell("Pinocchio: with 9 frame Jacobians (no rules)", "evaluate", median(evaluate, 200))


def main(path, variant):
    problem = load(path, variant)
    casadi_bench(*problem)
    pinocchio_bench(*problem)


main(sys.argv[1], sys.argv[2])
