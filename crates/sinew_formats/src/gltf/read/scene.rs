//! The node tree: parents, an order in which parents come first, transforms, and which nodes are visible.

use super::resource::out_of_range;
use crate::Fault;
use crate::gltf::schema::{Node, Root};
use glam::{DAffine3, DMat4, DQuat, DVec3, DVec4};
use sinew_geom::{Transform, Warnings};

/// Error of a decomposed matrix, relative to its largest entry, above which its shear is reported.
const SHEAR_TOLERANCE: f64 = 1e-5;

/// All nodes of a file, checked.
pub(in crate::gltf) struct Scene {
    pub parent: Vec<Option<usize>>,
    /// Every node, parents first. In file order if that is already so.
    pub order: Vec<usize>,
    /// Local transforms; a sheared matrix is approximated.
    pub local: Vec<Transform>,
    /// `world_from_node`, exact.
    pub world: Vec<DAffine3>,
    /// Whether the node belongs to the scene that is read.
    pub shown: Vec<bool>,
}

impl Scene {
    /// Read the tree. Children that do not exist, have two parents or are their own ancestors are faults.
    pub fn read(root: &Root, faults: &mut Vec<Fault>, warnings: &mut Warnings) -> Self {
        let n_nodes = root.nodes.len();
        let parent = read_parents(root, faults);
        let order = order_nodes(root, &parent, faults);
        let mut local = Vec::with_capacity(n_nodes);
        let mut exact = Vec::with_capacity(n_nodes);
        for (index, node) in root.nodes.iter().enumerate() {
            let (transform, affine) = read_local(node, index, warnings);
            local.push(transform);
            exact.push(affine);
        }
        let mut world = exact;
        for &node in &order {
            if let Some(parent) = parent[node] {
                world[node] = world[parent] * world[node];
            }
        }
        let shown = read_shown(root, &parent, &order, faults);
        Self { parent, order, local, world, shown }
    }

    /// The node and its ancestors, upwards.
    pub fn chain(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(node), |&node| self.parent[node])
    }
}

fn read_parents(root: &Root, faults: &mut Vec<Fault>) -> Vec<Option<usize>> {
    let mut parent: Vec<Option<usize>> = vec![None; root.nodes.len()];
    for (index, node) in root.nodes.iter().enumerate() {
        for (at, &child) in node.children.iter().enumerate() {
            let path = || format!("/nodes/{index}/children/{at}");
            match parent.get_mut(child) {
                None => faults.push(out_of_range(&path(), "node", child, root.nodes.len())),
                Some(Some(other)) => faults.push(
                    Fault::json(path(), format!("node {child} is already a child of node {other}"))
                        .with_remedy("a node may have one parent; duplicate it"),
                ),
                Some(slot) => *slot = Some(index),
            }
        }
    }
    parent
}

/// File order if every parent precedes its children there, else depth first. Nodes on a cycle are left out.
fn order_nodes(root: &Root, parent: &[Option<usize>], faults: &mut Vec<Fault>) -> Vec<usize> {
    if parent.iter().enumerate().all(|(node, parent)| parent.is_none_or(|parent| parent < node)) {
        return (0..parent.len()).collect();
    }
    let mut order = Vec::with_capacity(parent.len());
    let mut reached = vec![false; parent.len()];
    let roots = (0..parent.len()).filter(|&node| parent[node].is_none());
    let mut stack: Vec<usize> = roots.collect();
    stack.reverse();
    while let Some(node) = stack.pop() {
        order.push(node);
        reached[node] = true;
        let own = |child: &&usize| parent.get(**child) == Some(&Some(node)) && !reached[**child];
        stack.extend(root.nodes[node].children.iter().rev().filter(own));
    }
    if let Some(node) = reached.iter().position(|&reached| !reached) {
        let n_lost = reached.iter().filter(|&&reached| !reached).count();
        let cause = format!("node {node} is its own ancestor or below such a node ({n_lost} nodes in all)");
        faults.push(Fault::json(format!("/nodes/{node}"), cause).with_remedy("break the cycle of children"));
    }
    order
}

fn read_shown(root: &Root, parent: &[Option<usize>], order: &[usize], faults: &mut Vec<Fault>) -> Vec<bool> {
    let n_nodes = root.nodes.len();
    if root.scenes.is_empty() {
        return vec![true; n_nodes];
    }
    let mut shown = vec![false; n_nodes];
    if let Some(scene) = root.scene.filter(|&scene| scene >= root.scenes.len()) {
        faults.push(out_of_range("/scene", "scene", scene, root.scenes.len()));
    }
    for (index, scene) in root.scenes.iter().enumerate() {
        if root.scene.is_some_and(|default| default != index) {
            continue;
        }
        for (at, &node) in scene.nodes.iter().enumerate() {
            match shown.get_mut(node) {
                Some(shown) => *shown = true,
                None => {
                    let path = format!("/scenes/{index}/nodes/{at}");
                    faults.push(out_of_range(&path, "node", node, n_nodes));
                }
            }
        }
    }
    for &node in order {
        shown[node] |= parent[node].is_some_and(|parent| shown[parent]);
    }
    shown
}

/// The local transform as a rig can represent it, and exactly. Unusable numbers become the identity.
fn read_local(node: &Node, index: usize, warnings: &mut Warnings) -> (Transform, DAffine3) {
    if let Some(matrix) = &node.matrix {
        let matrix = DMat4::from_cols_array(matrix);
        let affine = DAffine3::from_mat4(matrix);
        if !affine.is_finite() || matrix.row(3).distance(DVec4::W) > 1e-6 {
            warnings.push(format!("/nodes/{index}/matrix: not an affine transform; replaced by none"));
            return (Transform::IDENTITY, DAffine3::IDENTITY);
        }
        let (transform, missed) = Transform::from_affine(affine);
        let size = affine.matrix3.to_cols_array().into_iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        if missed > SHEAR_TOLERANCE * size {
            warnings.push(format!(
                "/nodes/{index}/matrix: sheared, which a joint cannot be; its entries are off by up to {missed:.2e}"
            ));
        }
        return (transform, affine);
    }
    let mut transform = Transform::IDENTITY;
    transform.translation = node.translation.map_or(DVec3::ZERO, DVec3::from_array);
    transform.scale = node.scale.map_or(DVec3::ONE, DVec3::from_array);
    transform.rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let length = transform.rotation.length_squared();
    if !transform.is_finite() || !(1e-12..1e12).contains(&length) {
        warnings.push(format!(
            "/nodes/{index}: its transform is not finite or its rotation zero; replaced by none"
        ));
        return (Transform::IDENTITY, DAffine3::IDENTITY);
    }
    // Within single precision of one it is not changed, so that files survive a round trip unchanged.
    if (length - 1.0).abs() > 1e-6 {
        transform.rotation = transform.rotation.normalize();
    }
    (transform, transform.to_affine())
}
