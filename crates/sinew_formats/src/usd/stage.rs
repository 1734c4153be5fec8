//! The composed tree as nodes: transforms, skeletons and the places of meshes.
//!
//! # Source
//! OpenUSD, *UsdGeomXformable* and *UsdSkel Schemas In-Depth*. Matrices are transposed: USD multiplies rows from the left.
//! # Limits
//! A transform stack that is reset is not. Sheared transforms that move lose their shear.

use super::scene::{Channel, Scene};
use super::value::{Prim, Property, Value};
use crate::Fault;
use glam::{DMat4, DQuat, DVec3};
use serde_json::{Value as Json, json};
use sinew_geom::Warnings;
use std::collections::{BTreeMap, BTreeSet};

/// Frames of a transform that is sampled between its keys.
const MAX_FRAMES: f64 = 20_000.0;

/// A mesh and what its ancestors say of it.
pub(super) struct MeshPlace<'a> {
    pub prim: &'a Prim,
    pub node: usize,
    pub skeleton: Option<String>,
    pub animation: Option<String>,
    /// Whether skeletons and blend shapes move it: only below a `SkelRoot` they do.
    pub is_moved: bool,
}

/// A skeleton as nodes.
pub(super) struct Skeleton {
    /// Full names of its joints.
    pub joints: Vec<String>,
    pub nodes: Vec<usize>,
    /// From the space of each joint to that of the skeleton when the skin was bound.
    pub bind: Vec<DMat4>,
    pub animation: Option<String>,
}

/// The tree as nodes.
pub(super) struct Stage<'a> {
    pub root: &'a Prim,
    pub scene: Scene,
    pub meshes: Vec<MeshPlace<'a>>,
    pub skeletons: BTreeMap<String, Skeleton>,
    pub ignored: BTreeSet<String>,
}

/// What objects inherit.
#[derive(Clone, Default)]
struct Inherited {
    skeleton: Option<String>,
    animation: Option<String>,
    is_moved: bool,
}

impl<'a> Stage<'a> {
    /// Make nodes of everything that is shown. `up_and_unit` turns and scales the whole.
    pub fn new(root: &'a Prim, up_and_unit: DMat4, warnings: &mut Warnings) -> Result<Self, Fault> {
        let mut stage = Self {
            root,
            scene: Scene::default(),
            meshes: Vec::new(),
            skeletons: BTreeMap::new(),
            ignored: BTreeSet::new(),
        };
        let mut node = json!({ "name": "stage" });
        set_matrix(&mut node, up_and_unit);
        let top = stage.scene.node(None, node);
        for child in &root.children {
            stage.visit(child, top, &Inherited::default(), warnings)?;
        }
        Ok(stage)
    }

    fn visit(
        &mut self,
        prim: &'a Prim,
        parent: usize,
        above: &Inherited,
        warnings: &mut Warnings,
    ) -> Result<(), Fault> {
        let says = |name: &str, text: &[&str]| {
            prim.value(name).and_then(Value::text).is_some_and(|found| text.contains(&found))
        };
        let is_shown = prim.is_defined && !prim.is_class && !prim.is_inactive;
        if !is_shown || says("visibility", &["invisible"]) || says("purpose", &["guide", "proxy"]) {
            return Ok(());
        }
        match prim.type_name.as_str() {
            "Material" | "Shader" | "NodeGraph" => {
                self.ignored.insert("materials".into());
                return Ok(());
            }
            "SkelAnimation" | "BlendShape" | "GeomSubset" => return Ok(()),
            "" | "Xform" | "Scope" | "SkelRoot" | "Skeleton" | "Mesh" => {}
            other => _ = self.ignored.insert(other.to_owned()),
        }
        let mut below = above.clone();
        for (name, place) in
            [("skel:skeleton", &mut below.skeleton), ("skel:animationSource", &mut below.animation)]
        {
            if prim.properties.contains_key(name) {
                *place = prim.target(name).map(str::to_owned);
            }
        }
        below.is_moved |= prim.type_name == "SkelRoot";
        let node = self.scene.node(Some(parent), json!({ "name": prim.name }));
        self.place(prim, node, warnings);
        if prim.type_name == "Skeleton" {
            let skeleton = self.skeleton(prim, node, below.animation.clone())?;
            self.skeletons.insert(prim.path.clone(), skeleton);
        }
        if prim.type_name == "Mesh" {
            let Inherited { skeleton, animation, is_moved } = below.clone();
            self.meshes.push(MeshPlace { prim, node, skeleton, animation, is_moved });
        }
        prim.children.iter().try_for_each(|child| self.visit(child, node, &below, warnings))
    }

    /// Give a node the transform of its object.
    fn place(&mut self, prim: &Prim, node: usize, warnings: &mut Warnings) {
        let order = prim.value("xformOpOrder").map(Value::texts).unwrap_or_default();
        if order.is_empty() {
            return;
        }
        if order.iter().any(|op| op == "!resetXformStack!") {
            warnings.push(format!(
                "{}: the transforms above it are kept, though the file resets them",
                prim.path
            ));
        }
        let properties: Vec<&Property> =
            order.iter().filter_map(|op| prim.properties.get(op.trim_start_matches("!invert!"))).collect();
        let mut times: Vec<f64> =
            properties.iter().flat_map(|p| p.samples.iter().map(|(time, _)| *time)).collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        if times.len() < 2 {
            set_matrix(
                &mut self.scene.nodes[node],
                local_matrix(prim, order, times.first().copied().unwrap_or(0.0)),
            );
            return;
        }
        // Angles turn between their keys in their own way.
        let (first, last) = (times[0], times[times.len() - 1]);
        if order.iter().any(|op| op.contains("rotate")) && last - first < MAX_FRAMES {
            times.extend(
                (0..)
                    .map(|frame| first.floor() + f64::from(frame))
                    .take_while(|time| *time < last)
                    .filter(|time| *time > first),
            );
            times.sort_by(f64::total_cmp);
            times.dedup();
        }
        let (mut translation, mut rotation, mut scale) = (Vec::new(), Vec::new(), Vec::new());
        let mut before = DQuat::IDENTITY;
        for &time in &times {
            let (s, mut r, t) = local_matrix(prim, order, time).to_scale_rotation_translation();
            if r.dot(before) < 0.0 {
                r = -r;
            }
            before = r;
            translation.extend(t.as_vec3().to_array());
            rotation.extend(r.as_quat().to_array());
            scale.extend(s.as_vec3().to_array());
        }
        for (path, values) in [("translation", translation), ("rotation", rotation), ("scale", scale)] {
            self.scene.animate(Channel { node, path, times: times.clone(), values });
        }
        set_matrix(&mut self.scene.nodes[node], local_matrix(prim, order, first));
    }

    fn skeleton(&mut self, prim: &Prim, node: usize, animation: Option<String>) -> Result<Skeleton, Fault> {
        let joints: Vec<String> =
            prim.value("joints").map(|value| value.texts().to_vec()).unwrap_or_default();
        let n = joints.len();
        let matrices = |name: &str| -> Option<Vec<DMat4>> {
            let values = prim.value(name)?.numbers();
            let found: Vec<DMat4> = values.as_chunks::<16>().0.iter().map(DMat4::from_cols_array).collect();
            (found.len() == n && found.iter().all(DMat4::is_finite)).then_some(found)
        };
        let index_of: BTreeMap<&str, usize> =
            joints.iter().enumerate().map(|(k, name)| (name.as_str(), k)).collect();
        let parent_of = |name: &str| {
            std::iter::successors(name.rsplit_once('/').map(|(above, _)| above), |above| {
                above.rsplit_once('/').map(|(above, _)| above)
            })
            .find_map(|above| index_of.get(above).copied())
        };
        let parents: Vec<Option<usize>> = joints.iter().map(|name| parent_of(name)).collect();
        let bind = matrices("bindTransforms");
        let rest = matrices("restTransforms").unwrap_or_else(|| {
            let bind = |joint: usize| bind.as_ref().map_or(DMat4::IDENTITY, |bind| bind[joint]);
            (0..n).map(|k| parents[k].map_or(DMat4::IDENTITY, bind).inverse() * bind(k)).collect()
        });
        // Without a bind pose, the skeleton at rest is it.
        let bind = bind.unwrap_or_else(|| {
            let world = |joint: usize| {
                let chain = std::iter::successors(Some(joint), |joint| parents[*joint]);
                chain.fold(DMat4::IDENTITY, |below, joint| rest[joint] * below)
            };
            (0..n).map(world).collect()
        });
        let first = self.scene.nodes.len();
        for name in &joints {
            let short = name.rsplit('/').next().unwrap_or(name);
            self.scene.node(None, json!({ "name": short }));
        }
        let nodes: Vec<usize> = (first..first + n).collect();
        for (joint, local) in rest.iter().enumerate() {
            set_trs(&mut self.scene.nodes[first + joint], *local);
            let parent = parents[joint].map_or(node, |parent| first + parent);
            match &mut self.scene.nodes[parent]["children"] {
                Json::Array(list) => list.push(json!(first + joint)),
                other => *other = json!([first + joint]),
            }
        }
        if let Some(source) = animation.as_deref().and_then(|path| self.root.find(path)) {
            self.animate_joints(source, &joints, &nodes);
        }
        Ok(Skeleton { joints, nodes, bind, animation })
    }

    /// Let joints follow an animation; one that does not move is a pose.
    fn animate_joints(&mut self, source: &Prim, joints: &[String], nodes: &[usize]) {
        let named = source.value("joints").map(Value::texts).unwrap_or_default();
        let tracks =
            [("translations", "translation", 3), ("rotations", "rotation", 4), ("scales", "scale", 3)];
        let samples = |name: &str| source.properties.get(name).map_or(0, |property| property.samples.len());
        let moves = tracks.iter().any(|(name, ..)| samples(name) > 0);
        let first_time = tracks
            .iter()
            .filter_map(|(name, ..)| Some(source.properties.get(*name)?.samples.first()?.0))
            .fold(f64::INFINITY, f64::min);
        for (name, path, width) in tracks {
            let Some(property) = source.properties.get(name) else { continue };
            let keys: Vec<(f64, &Value)> = match property.samples.is_empty() {
                true => property.value.iter().map(|value| (first_time, value)).collect(),
                false => property.samples.iter().map(|(time, value)| (*time, value)).collect(),
            };
            let fits = |value: &Value| value.numbers().len() == width * named.len();
            let keys: Vec<(f64, &Value)> = keys.into_iter().filter(|(_, value)| fits(value)).collect();
            for (at, name) in named.iter().enumerate() {
                let Some(joint) = joints.iter().position(|joint| joint == name) else { continue };
                let value = |value: &Value| -> Vec<f32> {
                    let mut found: Vec<f32> =
                        value.numbers()[at * width..][..width].iter().map(|x| *x as f32).collect();
                    if width == 4 {
                        // The real part stands last in glTF.
                        found.rotate_left(1);
                    }
                    found
                };
                if moves {
                    let times = keys.iter().map(|(time, _)| *time).collect();
                    let values = keys.iter().flat_map(|(_, found)| value(found)).collect();
                    self.scene.animate(Channel { node: nodes[joint], path, times, values });
                } else if let Some((_, found)) = keys.first() {
                    self.scene.nodes[nodes[joint]][path] = json!(value(found));
                }
            }
        }
    }
}

/// Product of the operations of an object, the first of which is the outermost.
fn local_matrix(prim: &Prim, order: &[String], time: f64) -> DMat4 {
    let mut product = DMat4::IDENTITY;
    for op in order {
        let name = op.trim_start_matches("!invert!");
        let Some(value) = prim.properties.get(name).and_then(|property| property.at(time)) else { continue };
        let matrix =
            operation(name.split(':').nth(1).unwrap_or_default(), value.numbers()).unwrap_or(DMat4::IDENTITY);
        product *= if name.len() < op.len() { matrix.inverse() } else { matrix };
    }
    if product.is_finite() { product } else { DMat4::IDENTITY }
}

fn operation(kind: &str, values: &[f64]) -> Option<DMat4> {
    let vector = || Some(DVec3::from_array(*values.first_chunk::<3>()?));
    let turn = |axis: u8, degrees: f64| {
        let radians = degrees.to_radians();
        match axis {
            b'X' => DMat4::from_rotation_x(radians),
            b'Y' => DMat4::from_rotation_y(radians),
            _ => DMat4::from_rotation_z(radians),
        }
    };
    Some(match kind {
        "translate" => DMat4::from_translation(vector()?),
        "scale" => DMat4::from_scale(vector()?),
        "transform" => DMat4::from_cols_array(values.first_chunk::<16>()?),
        "orient" => {
            let [w, x, y, z] = *values.first_chunk::<4>()?;
            DMat4::from_quat(DQuat::from_xyzw(x, y, z, w).normalize())
        }
        kind => {
            let axes = kind.strip_prefix("rotate")?.as_bytes();
            match axes {
                [axis] => turn(*axis, *values.first()?),
                // The first angle is applied first.
                [_, _, _] => {
                    let angle = |axis: u8| values.get(usize::from(axis.checked_sub(b'X')?)).copied();
                    let mut product = DMat4::IDENTITY;
                    for axis in axes {
                        product = turn(*axis, angle(*axis)?) * product;
                    }
                    product
                }
                _ => return None,
            }
        }
    })
}

fn set_matrix(node: &mut Json, matrix: DMat4) {
    // What moves has to be given as shift, turn and scale.
    set_trs(node, matrix);
    let (s, r, t) = matrix.to_scale_rotation_translation();
    if !DMat4::from_scale_rotation_translation(s, r, t)
        .abs_diff_eq(matrix, 1e-9 * (1.0 + s.abs().max_element()))
    {
        for key in ["translation", "rotation", "scale"] {
            node.as_object_mut().map(|node| node.shift_remove(key));
        }
        node["matrix"] = json!(matrix.to_cols_array());
    }
}

fn set_trs(node: &mut Json, matrix: DMat4) {
    let (s, r, t) = matrix.to_scale_rotation_translation();
    let is_usable = s.is_finite() && r.is_finite() && t.is_finite();
    if is_usable && matrix != DMat4::IDENTITY {
        node["translation"] = json!(t.to_array());
        node["rotation"] = json!(r.normalize().to_array());
        node["scale"] = json!(s.to_array());
    }
}
