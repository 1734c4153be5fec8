"""Blender as a player. Usage: blender.py JOBS.json, where JOBS is
[{"file", "clip": name or null, "times": [seconds], "out"}]. Each `out` becomes little-endian f32: world
positions (Y up) of all vertices of the meshes, one time after another."""

import json
import sys

import bpy
import numpy as np

FPS = 24
# The importer adds this mesh as the shape of bones.
BONE_SHAPE = "Icosphere"


def main(jobs):
    for job in jobs:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.scene.render.fps = FPS
        # Vertices must keep their order, and normals do not matter.
        bpy.ops.import_scene.gltf(filepath=job["file"], merge_vertices=False, import_shading="NORMALS")
        meshes = [o for o in bpy.data.objects if o.type == "MESH" and not o.name.startswith(BONE_SHAPE)]
        if job["clip"] is not None:
            for owner in animated():
                assign(owner, job["clip"])
        frames = [positions(meshes, time) for time in job["times"]]
        np.concatenate(frames).astype("<f4").tofile(job["out"])


def animated():
    keys = [o.data.shape_keys for o in bpy.data.objects if o.type == "MESH" and o.data.shape_keys]
    return [owner for owner in [*bpy.data.objects, *keys] if owner.animation_data]


def assign(owner, clip):
    """Several clips arrive as muted or stacked tracks: play one alone, in the slot made for this owner."""
    data = owner.animation_data
    tracks = {track.name: track for track in data.nla_tracks}
    action = data.action
    if clip in tracks:
        action = tracks[clip].strips[0].action
        slot = tracks[clip].strips[0].action_slot
    else:
        slot = data.action_slot
    for track in tracks.values():
        track.mute = True
    data.action = action
    if action is not None:
        data.action_slot = slot


def positions(meshes, time):
    scene = bpy.context.scene
    frame = time * FPS
    scene.frame_set(int(frame), subframe=frame - int(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    found = []
    for mesh in meshes:
        evaluated = mesh.evaluated_get(graph)
        data = evaluated.to_mesh()
        points = np.empty(len(data.vertices) * 3, np.float32)
        data.vertices.foreach_get("co", points)
        world = np.array(evaluated.matrix_world)
        points = points.reshape(-1, 3).astype(np.float64) @ world[:3, :3].T + world[:3, 3]
        # Z up to Y up.
        found.append(np.stack([points[:, 0], points[:, 2], -points[:, 1]], 1))
        evaluated.to_mesh_clear()
    return np.concatenate(found).ravel() if found else np.empty(0)


main(json.load(open(sys.argv[1])))
