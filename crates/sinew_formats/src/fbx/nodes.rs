//! The hierarchy: nodes of the file to nodes of glTF.

use super::convert::transform;
use crate::gltf::VISIBILITY;
use crate::gltf::schema::{self, Scene as SceneJson};
use crate::gltf::write::builder::Builder;
use serde_json::json;
use sinew_geom::Transform;
use std::collections::BTreeSet;
use ufbx::{Element, LodDisplay, LodGroup, Node, Scene};

/// Where the nodes went.
pub(super) struct Nodes {
    /// Node of glTF of each node but the root.
    of: Vec<Option<usize>>,
    /// Nodes at the top of the hierarchy.
    tops: Vec<usize>,
    /// Nodes of meshes that bones move: glTF ignores where they are, so they stand for themselves.
    apart: Vec<usize>,
    /// Nodes that were taken out of the hierarchy.
    detached: BTreeSet<usize>,
    /// Whether the nodes at the top need one above them, which the joints of a skin must share.
    pub needs_root: bool,
    /// Whether each node, with those above it, is shown.
    visible: Vec<bool>,
    /// Transform of the root, which is the identity unless the file has an odd unit.
    root: Transform,
}

impl Nodes {
    /// Write all nodes, without what hangs on them.
    pub fn write(scene: &Scene, builder: &mut Builder) -> Self {
        let root = transform(&scene.root_node.local_transform);
        let visible = shown_nodes(scene);
        let needs_root = root != Transform::IDENTITY;
        let mut nodes = Self {
            of: vec![None; scene.nodes.len()],
            tops: Vec::new(),
            apart: Vec::new(),
            detached: BTreeSet::new(),
            needs_root,
            visible,
            root,
        };
        for node in &scene.nodes {
            if node.is_root {
                continue;
            }
            let mut json = local(&transform(&node.local_transform));
            json.name = Some(name_of(node));
            builder.root.nodes.push(json);
            nodes.of[node.element.typed_id as usize] = Some(builder.root.nodes.len() - 1);
        }
        for node in scene.nodes.iter().filter(|node| !node.is_root) {
            let Some(index) = nodes.find(node) else { continue };
            match node.parent.as_ref().and_then(|parent| nodes.find(parent)) {
                Some(parent) => builder.root.nodes[parent].children.push(index),
                None => nodes.tops.push(index),
            }
        }
        nodes
    }

    /// The node of glTF.
    pub fn find(&self, node: &Node) -> Option<usize> {
        self.of.get(node.element.typed_id as usize).copied().flatten()
    }

    /// Whether a node is shown, and all above it.
    pub fn is_visible(&self, node: &Node) -> bool {
        self.visible.get(node.element.typed_id as usize).copied().unwrap_or(true)
    }

    /// Add a node that stands for itself.
    pub fn set_apart(&mut self, node: usize) {
        self.apart.push(node);
    }

    /// Take a node without children out of the hierarchy; nothing but its name is kept.
    pub fn detach(&mut self, node: usize, builder: &mut Builder) {
        let name = builder.root.nodes[node].name.take();
        builder.root.nodes[node] = schema::Node { name, ..schema::Node::default() };
        builder.root.nodes.iter_mut().for_each(|other| other.children.retain(|child| *child != node));
        self.tops.retain(|top| *top != node);
        self.apart.push(node);
        self.detached.insert(node);
    }

    /// Whether clips may not move a node any more.
    pub fn is_detached(&self, node: usize) -> bool {
        self.detached.contains(&node)
    }

    /// The scene. Hidden nodes are so by an extension that must be named.
    pub fn finish(&mut self, builder: &mut Builder) {
        if self.needs_root && !self.tops.is_empty() {
            let mut root = local(&self.root);
            root.name = Some("RootNode".to_owned());
            root.children = std::mem::take(&mut self.tops);
            builder.root.nodes.push(root);
            self.tops.push(builder.root.nodes.len() - 1);
        }
        self.tops.append(&mut self.apart);
        builder.root.scene = Some(0);
        builder.root.scenes.push(SceneJson { name: None, nodes: std::mem::take(&mut self.tops) });
        if builder.root.nodes.iter().any(|node| node.extensions.contains_key(VISIBILITY)) {
            builder.root.extensions_used.push(VISIBILITY.to_owned());
        }
    }
}

/// Hide a node.
pub(super) fn hide(node: &mut schema::Node) {
    node.extensions.insert(VISIBILITY.to_owned(), json!({ "visible": false }));
}

/// Name of a node. Those that `ufbx` adds have none of their own.
fn name_of(node: &Node) -> String {
    let name = |node: &Node| node.element.name.to_string();
    let above = || node.parent.as_ref().map(|parent| name(parent)).unwrap_or_default();
    match () {
        () if node.is_scale_helper => format!("{} scale", above()),
        () if node.is_geometry_transform_helper => format!("{} geometry", above()),
        () => name(node),
    }
}

fn local(placed: &Transform) -> schema::Node {
    let differs = |is_default: bool| (!is_default).then_some(());
    let plain = Transform::IDENTITY;
    schema::Node {
        translation: differs(placed.translation == plain.translation).map(|()| placed.translation.into()),
        rotation: differs(placed.rotation == plain.rotation).map(|()| placed.rotation.into()),
        scale: differs(placed.scale == plain.scale).map(|()| placed.scale.into()),
        ..schema::Node::default()
    }
}

/// Whether each node is shown: not hidden by itself, by a layer, as a coarser level of detail, or by a node above it.
fn shown_nodes(scene: &Scene) -> Vec<bool> {
    let id = |node: &Node| node.element.typed_id as usize;
    let is_shown = |node: &ufbx::Ref<Node>| node.is_root || (node.visible && is_on(node, "Show"));
    let mut shown: Vec<bool> = scene.nodes.iter().map(is_shown).collect();
    let hidden_layers = scene.display_layers.iter().filter(|layer| !layer.visible);
    let in_layers: BTreeSet<usize> =
        hidden_layers.flat_map(|layer| layer.nodes.iter().map(|n| id(n))).collect();
    in_layers.into_iter().for_each(|node| hide_in(&mut shown, node));
    for group in &scene.lod_groups {
        coarser_levels(group).into_iter().for_each(|node| hide_in(&mut shown, node));
    }
    // Parents come before their children.
    for node in &scene.nodes {
        if let Some(parent) = &node.parent {
            let is_shown = shown.get(id(parent)).copied().unwrap_or(true);
            if !is_shown && is_on(node, "Visibility Inheritance") {
                hide_in(&mut shown, id(node));
            }
        }
    }
    shown
}

fn hide_in(shown: &mut [bool], node: usize) {
    if let Some(shown) = shown.get_mut(node) {
        *shown = false;
    }
}

/// Whether a switch of a node is on, which it is unless the file says otherwise.
fn is_on(node: &Node, switch: &str) -> bool {
    let found = node.element.props.props.iter().find(|prop| &*prop.name == switch);
    found.is_none_or(|prop| prop.value_int != 0)
}

/// Nodes of all levels of detail but the finest that is not switched on or off by hand.
pub(super) fn coarser_levels(group: &LodGroup) -> Vec<usize> {
    let element: &Element = &group.element;
    let mut hidden = Vec::new();
    for holder in &element.instances {
        let mut has_finest = false;
        for (at, level) in holder.children.iter().enumerate() {
            let display = group.lod_levels.get(at).map_or(LodDisplay::UseLod, |level| level.display);
            let is_shown = match display {
                LodDisplay::Show => true,
                LodDisplay::Hide => false,
                LodDisplay::UseLod => !std::mem::replace(&mut has_finest, true),
            };
            if !is_shown {
                hidden.push(level.element.typed_id as usize);
            }
        }
    }
    hidden
}
