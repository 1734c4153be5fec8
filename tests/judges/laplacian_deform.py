"""Blender's Laplacian Deform on a mesh: where do the vertices go?

    python laplacian_deform.py REST.obj MOVED.obj HELD.txt OUT.txt

HELD.txt lists the anchored vertices, which are taken from MOVED.obj; OUT.txt gets a line "x y z" a vertex.
"""
import sys

import bpy


def read(path):
    vertices, faces = [], []
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                vertices.append([float(w) for w in words[1:4]])
            elif words[:1] == ["f"]:
                faces.append([int(w.split("/")[0]) - 1 for w in words[1:]])
    return vertices, faces


rest, moved, held, out = sys.argv[-4:]
vertices, faces = read(rest)
targets, _ = read(moved)
anchors = [int(line) for line in open(held)]

bpy.ops.wm.read_factory_settings(use_empty=True)
mesh = bpy.data.meshes.new("mesh")
mesh.from_pydata(vertices, [], faces)
thing = bpy.data.objects.new("thing", mesh)
bpy.context.scene.collection.objects.link(thing)
bpy.context.view_layer.objects.active = thing
thing.vertex_groups.new(name="anchors").add(anchors, 1.0, "REPLACE")
# A shape key moves the anchors: editing the mesh itself would bind again.
thing.shape_key_add(name="Basis")
key = thing.shape_key_add(name="moved")
for index in anchors:
    key.data[index].co = targets[index]
key.value = 0
modifier = thing.modifiers.new("deform", "LAPLACIANDEFORM")
modifier.vertex_group = "anchors"
modifier.iterations = 1
bpy.context.view_layer.update()
bpy.ops.object.laplaciandeform_bind(modifier=modifier.name)
assert modifier.is_bind, "Blender could not bind"
key.value = 1
bpy.context.view_layer.update()
evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
with open(out, "w") as file:
    for vertex in evaluated.vertices:
        file.write("%.9g %.9g %.9g\n" % tuple(vertex.co))
