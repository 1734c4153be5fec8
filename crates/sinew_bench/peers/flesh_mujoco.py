"""Clamped bars in MuJoCo's flex: `flesh_mujoco.py NX NY NZ YOUNG`, cells along each axis.

Prints processor milliseconds per step (mean), wall milliseconds (median), how far the farthest node moved, and how many
warnings of unfinished solves there were. One thread, steps of 10 ms, the same nodes as ours, contacts off.
"""

import sys
import time

import mujoco
import numpy as np


def model(n, young):
    size = 1.7 / n[2]
    count = [k + 1 for k in n]
    mass = 1000.0 * size**3 * n[0] * n[1] * n[2]
    middle = [k * size / 2 for k in n]
    return f"""
    <mujoco>
      <size memory="2G"/>
      <option timestep="0.01" integrator="discrete" gravity="0 -9.81 0" solver="CG" tolerance="1e-3"/>
      <worldbody>
        <flexcomp name="bar" type="grid" dim="3" count="{count[0]} {count[1]} {count[2]}"
                  spacing="{size} {size} {size}" pos="{middle[0]} {middle[1]} {middle[2]}" mass="{mass}" radius="0.001">
          <elasticity young="{young}" poisson="0.45" damping="0.01"/>
          <contact contype="0" conaffinity="0" selfcollide="none"/>
          <pin gridrange="0 0 0 {n[0]} {n[1]} 0"/>
        </flexcomp>
      </worldbody>
    </mujoco>"""


def main():
    n, young = [int(x) for x in sys.argv[1:4]], float(sys.argv[4])
    bar = mujoco.MjModel.from_xml_string(model(n, young))
    data = mujoco.MjData(bar)
    mujoco.mj_forward(bar, data)
    rest = data.flexvert_xpos.copy()
    steps = max(20, 60_000 // len(rest))
    cpu, wall = 0.0, []
    for step in range(steps + 3):
        start, spent = time.perf_counter(), time.thread_time()
        mujoco.mj_step(bar, data)
        if step >= 3:
            cpu += time.thread_time() - spent
            wall.append(time.perf_counter() - start)
    moved = np.linalg.norm(data.flexvert_xpos - rest, axis=1).max()
    warned = sum(int(w.number) for w in data.warning)
    print(1e3 * cpu / steps, 1e3 * np.median(wall), moved, warned)


main()
