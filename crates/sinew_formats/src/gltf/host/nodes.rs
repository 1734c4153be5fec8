//! Joints back to nodes: changed rest transforms, and nodes for joints that were added.

use super::draft::Draft;
use glam::DAffine3;
use serde_json::{Value, json};
use sinew_geom::{Character, Rig, Transform, rig::Joint};

/// Where the joints of the character are in the file.
pub(super) struct Joints {
    /// Node of each joint.
    nodes: Vec<Option<usize>>,
    /// How much larger than its node's the frame of each joint is.
    pub units: Vec<f64>,
    /// So many joints are those of the source, with the same numbers.
    pub n_kept: usize,
    rig: Rig,
}

impl Joints {
    /// Node of a joint.
    pub fn node(&self, joint: usize) -> Option<usize> {
        self.nodes.get(joint).copied().flatten()
    }

    /// Where a joint is at rest.
    pub fn rest_world(&self, joint: usize) -> DAffine3 {
        self.rig.rest_world().get(joint).copied().unwrap_or(DAffine3::IDENTITY)
    }

    /// Node of a joint, added if the file has none.
    pub fn node_or_new(&mut self, draft: &mut Draft, joint: usize) -> usize {
        if let Some(node) = self.node(joint) {
            return node;
        }
        let node = new_node(draft, &self.rig.joints()[joint], None, 1.0);
        self.nodes[joint] = Some(node);
        node
    }

    /// How much larger the frame above a joint is.
    pub fn parent_unit(&self, joint: usize) -> f64 {
        let parent = self.rig.joints().get(joint).and_then(|joint| joint.parent);
        parent.map_or(1.0, |parent| self.units[parent])
    }
}

/// Bring the joints into the file.
pub(super) fn write_joints(draft: &mut Draft, now: &Character) -> Joints {
    let source = draft.source;
    let old = source.character.rig.as_ref().map_or(&[][..], Rig::joints);
    let rig = now.rig.clone().unwrap_or_default();
    let is_same = |(a, b): &(&Joint, &Joint)| a.name == b.name && a.parent == b.parent;
    let n_kept = old.iter().zip(rig.joints()).take_while(is_same).count();
    let mut joints = Joints {
        nodes: source.map.nodes[..n_kept].to_vec(),
        units: source.map.units[..n_kept].to_vec(),
        n_kept,
        rig,
    };
    for (index, before) in old.iter().enumerate().take(n_kept) {
        let rest = joints.rig.joints()[index].rest;
        if let Some(node) = joints.node(index).filter(|_| rest != before.rest) {
            let local = local_of(&rest, joints.parent_unit(index), joints.units[index]);
            write_local(&mut draft.json["nodes"][node], &local);
        }
    }
    for index in n_kept..joints.rig.n_joints() {
        let joint = joints.rig.joints()[index].clone();
        let unit = joints.parent_unit(index);
        let parent = joint.parent.and_then(|parent| joints.node(parent));
        let node = new_node(draft, &joint, parent, unit);
        joints.nodes.push(Some(node));
        joints.units.push(unit);
    }
    joints
}

fn new_node(draft: &mut Draft, joint: &Joint, parent: Option<usize>, unit: f64) -> usize {
    let mut node = json!({ "name": joint.name });
    write_local(&mut node, &local_of(&joint.rest, unit, unit));
    draft.push_node(node, parent)
}

/// The inverse of moving the scales out of the joints.
fn local_of(rest: &Transform, parent_unit: f64, unit: f64) -> Transform {
    Transform {
        translation: rest.translation / parent_unit,
        rotation: rest.rotation,
        scale: rest.scale * (unit / parent_unit),
    }
}

fn write_local(node: &mut Value, local: &Transform) {
    let plain = Transform::IDENTITY;
    let Some(object) = node.as_object_mut() else { return };
    object.shift_remove("matrix");
    let mut set = |key: &str, value: Value, is_plain: bool| match is_plain && !object.contains_key(key) {
        true => {}
        false => {
            object.insert(key.to_owned(), value);
        }
    };
    let rotation = local.rotation.normalize().to_array();
    set("translation", json!(local.translation.to_array()), local.translation == plain.translation);
    set("rotation", json!(rotation), local.rotation == plain.rotation);
    set("scale", json!(local.scale.to_array()), local.scale == plain.scale);
}

/// A node that is animated may not have a matrix.
pub(super) fn without_matrix(draft: &mut Draft, node: usize) {
    let local = draft.source.scene.local.get(node).copied();
    let object = &mut draft.json["nodes"][node];
    if let Some(local) = local.filter(|_| object.get("matrix").is_some()) {
        write_local(object, &local);
    }
}
