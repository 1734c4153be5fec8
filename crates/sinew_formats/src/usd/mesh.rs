//! Meshes: faces, points over time and skins.
//!
//! # Source
//! OpenUSD, *UsdGeomMesh*, *UsdSkelBindingAPI*.
//! # Limits
//! No texture coordinates and normals. A mesh whose faces change is read at its first frame.

use super::scene::Channel;
use super::stage::{MeshPlace, Stage};
use super::value::{Prim, Value};
use crate::{Fault, Place, vertex_clip::check_size};
use glam::{DMat4, DVec3};
use serde_json::json;
use sinew_geom::{RawMesh, Warnings};

pub(super) fn fault(prim: &Prim, cause: String) -> Fault {
    let remedy = "export the mesh again";
    Fault::new(Place::Whole, format!("{}: {cause}", prim.path)).with_remedy(remedy)
}

/// Positions that a mesh has besides its own, and when.
#[derive(Default)]
pub(super) struct Targets {
    pub names: Vec<String>,
    pub accessors: Vec<usize>,
    /// Of the mesh when no clip plays.
    pub weights: Vec<f32>,
    pub times: Vec<f64>,
    /// Weights of all targets at every time.
    pub values: Vec<f32>,
}

impl Stage<'_> {
    /// Add a mesh to its node.
    ///
    /// # Errors
    /// If its lists do not fit each other.
    pub fn add_mesh(&mut self, place: &MeshPlace, warnings: &mut Warnings) -> Result<(), Fault> {
        let prim = place.prim;
        let numbers = |name: &str| prim.value(name).map(Value::numbers).unwrap_or_default();
        // The first frame of points is the mesh at rest, unless it has points without a time.
        let points = numbers("points");
        if points.is_empty() {
            warnings.push(format!("{}: the mesh has no points; left out", prim.path));
            return Ok(());
        }
        let n = points.len() / 3;
        let positions: Vec<DVec3> = points.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p)).collect();
        let sizes: Vec<u32> = numbers("faceVertexCounts").iter().map(|size| size.max(0.0) as u32).collect();
        let mut corners = Vec::new();
        for (at, &vertex) in numbers("faceVertexIndices").iter().enumerate() {
            if !(vertex >= 0.0 && vertex < n as f64) {
                return Err(fault(prim, format!("corner {at} is vertex {vertex}, but there are {n}")));
            }
            corners.push(vertex as u32);
        }
        let total: u64 = sizes.iter().map(|size| u64::from(*size)).sum();
        if total != corners.len() as u64 {
            return Err(fault(
                prim,
                format!("the faces have {total} corners, but {} are listed", corners.len()),
            ));
        }
        let is_clockwise = prim.value("orientation").and_then(Value::text) == Some("leftHanded");
        let raw = RawMesh::new(positions, corners, &sizes).map_err(|error| fault(prim, error.to_string()))?;
        let (mesh, _) = raw.triangulate(warnings);
        let corners: Vec<u32> = match is_clockwise {
            true => mesh.faces().iter().flat_map(|&[a, b, c]| [a, c, b]).collect(),
            false => mesh.faces().as_flattened().to_vec(),
        };
        let position = self.scene.floats(&mesh_points(mesh.positions()), "VEC3", 3);
        let mut attributes = json!({ "POSITION": position });
        let indices = self.scene.corners(&corners);
        let skin = match place.is_moved {
            true => self.add_skin(place, n, &mut attributes, warnings)?,
            false => None,
        };
        let mut targets = match place.is_moved {
            true => self.blend_shapes(place, n, warnings)?,
            false => Targets::default(),
        };
        if targets.names.is_empty() && skin.is_none() {
            targets = self.moving_points(prim, points, warnings)?;
        }
        // Nodes above a skinned mesh do not move it, so it stands at the top.
        let node = match skin {
            Some(skin) => {
                let node = self.scene.node(None, json!({ "name": prim.name, "skin": skin }));
                self.scene.roots.push(node);
                node
            }
            None => place.node,
        };
        let mut primitive = json!({ "attributes": attributes, "indices": indices });
        let mut object = json!({ "name": prim.name });
        if !targets.names.is_empty() {
            primitive["targets"] = targets.accessors.iter().map(|at| json!({ "POSITION": at })).collect();
            object["weights"] = json!(targets.weights);
            object["extras"] = json!({ "targetNames": targets.names });
            let Targets { times, values, .. } = targets;
            self.scene.animate(Channel { node, path: "weights", times, values });
        }
        object["primitives"] = json!([primitive]);
        self.scene.nodes[node]["mesh"] = json!(self.scene.meshes.len());
        self.scene.meshes.push(object);
        Ok(())
    }

    /// Bind a mesh to its skeleton, if it has one.
    fn add_skin(
        &mut self,
        place: &MeshPlace,
        n: usize,
        attributes: &mut serde_json::Value,
        warnings: &mut Warnings,
    ) -> Result<Option<usize>, Fault> {
        let prim = place.prim;
        let (Some(index_list), Some(weight_list)) = (
            prim.properties.get("primvars:skel:jointIndices"),
            prim.properties.get("primvars:skel:jointWeights"),
        ) else {
            return Ok(None);
        };
        let found = place.skeleton.as_deref().and_then(|path| self.skeletons.get(path));
        let Some(skeleton) = found else {
            warnings.push(format!("{}: there is no skeleton for its skin; it stays as it is", prim.path));
            return Ok(None);
        };
        let list = |property: &super::value::Property| {
            property.first().map(|v| v.numbers().to_vec()).unwrap_or_default()
        };
        let (mut indices, mut weights) = (list(index_list), list(weight_list));
        let mut size = index_list.element_size.max(1);
        if index_list.interpolation == "constant" {
            size = indices.len();
            (indices, weights) = (indices.repeat(n), weights.repeat(n));
        }
        if indices.len() != n * size || weights.len() != indices.len() || size == 0 {
            let cause = format!("{} influences of {size} do not fit its {n} vertices", indices.len());
            return Err(fault(prim, cause));
        }
        // The mesh may count joints in an order of its own.
        let own = prim.value("skel:joints").map(Value::texts).unwrap_or_default();
        let joints: Vec<usize> = match own.is_empty() {
            true => (0..skeleton.joints.len()).collect(),
            false => {
                own.iter().filter_map(|name| skeleton.joints.iter().position(|joint| joint == name)).collect()
            }
        };
        if !own.is_empty() && joints.len() != own.len() {
            return Err(fault(prim, "it names joints that its skeleton does not have".into()));
        }
        if let Some(index) = indices.iter().find(|index| !(**index >= 0.0 && **index < joints.len() as f64)) {
            return Err(fault(prim, format!("it names joint {index}, but there are {}", joints.len())));
        }
        let bound = prim
            .value("primvars:skel:geomBindTransform")
            .and_then(|value| value.numbers().first_chunk::<16>());
        let bound = bound.map_or(DMat4::IDENTITY, DMat4::from_cols_array);
        let inverse: Vec<f32> = joints
            .iter()
            .flat_map(|&joint| (skeleton.bind[joint].inverse() * bound).as_mat4().to_cols_array())
            .collect();
        let nodes: Vec<usize> = joints.iter().map(|&joint| skeleton.nodes[joint]).collect();
        if !inverse.iter().all(|x| x.is_finite()) {
            return Err(fault(prim, "the pose that it is bound to cannot be inverted".into()));
        }
        for set in 0..size.div_ceil(4) {
            let at = |vertex: usize, k: usize| (4 * set + k < size).then_some(vertex * size + 4 * set + k);
            let slots = || (0..n).flat_map(|vertex| (0..4).map(move |k| (vertex, k)));
            // A joint without weight is none.
            let joint = |at: usize| if weights[at] > 0.0 { indices[at] as u16 } else { 0 };
            let own: Vec<u16> = slots().map(|(v, k)| at(v, k).map_or(0, joint)).collect();
            let shares: Vec<f32> =
                slots().map(|(v, k)| at(v, k).map_or(0.0, |at| weights[at] as f32)).collect();
            attributes[format!("JOINTS_{set}")] = json!(self.scene.joints(&own));
            attributes[format!("WEIGHTS_{set}")] = json!(self.scene.floats(&shares, "VEC4", 4));
        }
        let matrices = self.scene.floats(&inverse, "MAT4", 16);
        self.scene.skins.push(json!({ "joints": nodes, "inverseBindMatrices": matrices }));
        Ok(Some(self.scene.skins.len() - 1))
    }

    /// Points over time: a target for every frame.
    fn moving_points(
        &mut self,
        prim: &Prim,
        rest: &[f64],
        warnings: &mut Warnings,
    ) -> Result<Targets, Fault> {
        let mut targets = Targets::default();
        let Some(points) = prim.properties.get("points").filter(|points| points.samples.len() > 1) else {
            return Ok(targets);
        };
        let n_frames = points.samples.len();
        check_size(n_frames as u64, rest.len() as u64 / 3)?;
        let of_faces = ["faceVertexCounts", "faceVertexIndices"].map(|name| prim.properties.get(name));
        let faces = of_faces.iter().flatten().find_map(|faces| {
            let first = faces.samples.first()?;
            faces.samples.iter().position(|(_, value)| *value != first.1)
        });
        let changed = points.samples.iter().position(|(_, value)| value.numbers().len() != rest.len());
        if let Some(frame) = faces.into_iter().chain(changed).min() {
            warnings.push(format!(
                "{} at frame {frame} ({}), so only the first frame was read; a clip and a fitted skin need a mesh that keeps its \
                 faces",
                crate::alembic::CHANGES,
                prim.path
            ));
            return Ok(targets);
        }
        for (frame, (time, value)) in points.samples.iter().enumerate() {
            let offsets: Vec<f32> =
                value.numbers().iter().zip(rest).map(|(x, rest)| (x - rest) as f32).collect();
            targets.accessors.push(self.scene.floats(&offsets, "VEC3", 3));
            targets.names.push(format!("frame {frame}"));
            targets.times.push(*time);
        }
        targets.weights = vec![0.0; n_frames];
        targets.values = vec![0.0; n_frames * n_frames];
        (0..n_frames).for_each(|frame| targets.values[frame * n_frames + frame] = 1.0);
        Ok(targets)
    }
}

fn mesh_points(positions: &[DVec3]) -> Vec<f32> {
    positions.iter().flat_map(|p| p.as_vec3().to_array()).collect()
}
