//! Which nodes form the rig.
//!
//! A node is a joint of the rig if a skin names it, if a clip moves it, if the file calls it a bone of a person, or if such a
//! node is below it. A file without meshes is all skeleton: there all nodes of a tree are joints in which a clip moves one. Nodes
//! our own writer added as helpers (see `SINEW_character`) are replaced by their parents.

use super::scene::Scene;
use crate::gltf::extension::SinewCharacter;
use crate::gltf::schema::Root;
use glam::DAffine3;
use sinew_geom::rig::Joint;
use std::collections::BTreeMap;

/// The rig under construction, and how nodes map to its joints.
pub(super) struct RigMap {
    pub joints: Vec<Joint>,
    /// Node of each joint; none for a joint that is not in the file.
    pub node_of: Vec<Option<usize>>,
    /// Joint of each node; a node outside the rig has none.
    pub joint_of: Vec<Option<usize>>,
    /// Whether a joint of a skin or a node of a clip is at or above the node: then it moves.
    pub moves: Vec<bool>,
    /// Nearest joint at or above each node, to which a mesh without skin is bound.
    pub carrier: Vec<Option<usize>>,
    /// `world_from_joint` at rest.
    pub world: Vec<DAffine3>,
}

impl RigMap {
    /// `bones` are the nodes that the file calls bones of a person.
    pub fn build(
        root: &Root,
        scene: &Scene,
        extension: Option<&SinewCharacter>,
        bones: &BTreeMap<usize, &'static str>,
    ) -> Self {
        let n_nodes = root.nodes.len();
        let is_helper = find_helpers(root, extension);
        let mut moves = find_movers(root, scene);
        bones.keys().filter(|node| scene.shown[**node]).for_each(|&node| moves[node] = true);
        let mut in_rig = vec![false; n_nodes];
        for node in (0..n_nodes).filter(|&node| moves[node]) {
            // Stop at nodes that were visited before: every node is visited once.
            for node in scene.chain(node) {
                if std::mem::replace(&mut in_rig[node], true) {
                    break;
                }
            }
        }
        for &node in &scene.order {
            moves[node] |= scene.parent[node].is_some_and(|parent| moves[parent]);
        }
        let (joint_of, carrier) = (vec![None; n_nodes], vec![None; n_nodes]);
        let mut map =
            Self { joints: Vec::new(), node_of: Vec::new(), joint_of, moves, carrier, world: Vec::new() };
        for &node in scene.order.iter().filter(|&&node| in_rig[node]) {
            let parent = scene.parent[node].and_then(|parent| map.joint_of[parent]);
            map.joint_of[node] = if is_helper[node] {
                parent
            } else {
                let name = match root.nodes[node].name.as_deref() {
                    None | Some("") => format!("node {node}"),
                    Some(name) => name.to_owned(),
                };
                let bone = bones.get(&node).copied();
                Some(map.push(Joint { bone, ..Joint::new(name, parent, scene.local[node]) }, Some(node)))
            };
        }
        for &node in &scene.order {
            let above = scene.parent[node].and_then(|parent| map.carrier[parent]);
            map.carrier[node] = map.joint_of[node].or(above);
        }
        map
    }

    /// Add a joint and its rest transform.
    fn push(&mut self, joint: Joint, node: Option<usize>) -> usize {
        let parent_from_joint = joint.rest.to_affine();
        self.world.push(match joint.parent {
            Some(parent) => self.world[parent] * parent_from_joint,
            None => parent_from_joint,
        });
        self.joints.push(joint);
        self.node_of.push(node);
        self.joints.len() - 1
    }

    /// A joint that never moves, for the still parts of a file in which others move.
    pub fn still_joint(&mut self) -> usize {
        const NAME: &str = "still";
        let found = self.joints.iter().position(|joint| joint.name == NAME && joint.parent.is_none());
        found.unwrap_or_else(|| self.push(Joint::new(NAME, None, Default::default()), None))
    }
}

fn find_movers(root: &Root, scene: &Scene) -> Vec<bool> {
    let n_nodes = root.nodes.len();
    let mut used_skin = vec![false; root.skins.len()];
    for (node, shown) in root.nodes.iter().zip(&scene.shown) {
        if let Some(used) = node.skin.filter(|_| *shown).and_then(|skin| used_skin.get_mut(skin)) {
            *used = true;
        }
    }
    let mut movers = vec![false; n_nodes];
    for (skin, used) in root.skins.iter().zip(used_skin) {
        for &joint in skin.joints.iter().filter(|&&joint| joint < n_nodes) {
            movers[joint] |= used || scene.shown[joint];
        }
    }
    let targets =
        root.animations.iter().flat_map(|animation| &animation.channels).map(|channel| &channel.target);
    for target in targets.filter(|target| target.path != "weights") {
        if let Some(node) = target.node.filter(|&node| node < n_nodes) {
            movers[node] |= scene.shown[node];
        }
    }
    if root.meshes.is_empty() {
        let top = |node: usize| scene.chain(node).last().unwrap_or(node);
        let tops: Vec<usize> = (0..n_nodes).filter(|&node| movers[node]).map(top).collect();
        for node in (0..n_nodes).filter(|&node| scene.shown[node] && tops.contains(&top(node))) {
            movers[node] = true;
        }
    }
    movers
}

/// Helper nodes named by our extension, as long as they have no effect.
fn find_helpers(root: &Root, extension: Option<&SinewCharacter>) -> Vec<bool> {
    let mut is_helper = vec![false; root.nodes.len()];
    for &node in extension.iter().flat_map(|extension| &extension.helper_nodes) {
        if let Some(found) = root.nodes.get(node) {
            is_helper[node] = found.mesh.is_none()
                && found.matrix.is_none()
                && (found.translation, found.rotation, found.scale) == (None, None, None);
        }
    }
    is_helper
}
