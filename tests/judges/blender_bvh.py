"""Blender as a reader of BVH. Usage: blender_bvh.py JOBS.json, where JOBS is [{"file", "frames", "out"}]. Each
`out` becomes little-endian f64: the world positions (axes as in the file) of the heads of all bones in the order
of the file, one frame (counted from 0) after another."""

import json
import re
import sys

import bpy
import numpy as np


def main(jobs):
    for job in jobs:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        # These axes leave the coordinates alone; each frame of the file becomes one of the scene, from 1.
        bpy.ops.import_anim.bvh(filepath=job["file"], axis_forward="Y", axis_up="Z", rotate_mode="NATIVE",
                                frame_start=1, use_fps_scale=False, update_scene_fps=False)
        armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
        text = open(job["file"], encoding="utf-8", errors="replace").read().split("MOTION")[0]
        names = re.findall(r"^\s*(?:ROOT|JOINT)\s+(.+?)\s*$", text, re.M)
        frames = []
        for frame in job["frames"]:
            bpy.context.scene.frame_set(frame + 1)
            world = np.array(armature.matrix_world)
            heads = np.array([armature.pose.bones[name].head for name in names], np.float64)
            frames.append(heads @ world[:3, :3].T + world[:3, 3])
        np.concatenate(frames).astype("<f8").tofile(job["out"])


main(json.load(open(sys.argv[1])))
