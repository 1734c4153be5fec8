//! VRM: which node is which bone of a person, expressions, and what the licence of an avatar allows.
//!
//! # Source
//! VRM Consortium, *VRM 0.x*; *VRMC_vrm-1.0*; *VRMC_vrm_animation-1.0* (github.com/vrm-c/vrm-specification). Where VRM 1.0 has a
//! default, an absent field means that.

use crate::gltf::bones::bone_named;
use crate::gltf::schema::{Object, Root};
use serde_json::Value;
use sinew_geom::Warnings;
use std::collections::BTreeMap;

/// What a VRM file says about the person in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Avatar {
    /// Version of VRM.
    pub version: String,
    /// Name of the avatar.
    pub title: String,
    /// Who made it.
    pub authors: Vec<String>,
    /// Fields of its licence and the like, as the file has them.
    pub terms: Vec<(String, String)>,
    /// Whether others may get it. What is not said is not known.
    pub may_redistribute: Option<bool>,
    /// Whether it may be changed. What is not said is not known.
    pub may_modify: Option<bool>,
    /// Bones of the person that are there.
    pub bones: Vec<&'static str>,
    /// Names of expressions, with how many morph targets each moves.
    pub expressions: Vec<(String, usize)>,
    /// Chains of bones that swing.
    pub n_springs: usize,
}

/// The extension of an avatar or of a motion of one, with its name.
fn extension(root: &Root) -> Option<(&'static str, &Object)> {
    let names = ["VRMC_vrm", "VRMC_vrm_animation", "VRM"];
    names.into_iter().find_map(|name| Some((name, root.extensions.get(name)?.as_object()?)))
}

/// The bone that each node is, as far as the file says so. Faults of the list are reported.
pub(super) fn read_bones(root: &Root, warnings: &mut Warnings) -> BTreeMap<usize, &'static str> {
    let mut of_node: BTreeMap<usize, &'static str> = BTreeMap::new();
    let Some((name, vrm)) = extension(root) else { return of_node };
    let place = format!("/extensions/{name}/humanoid/humanBones");
    let listed = listed_bones(&vrm.get("humanoid").unwrap_or(&Value::Null)["humanBones"]);
    if listed.is_empty() {
        warnings.push(format!("{place}: no bones are named, so the names of the nodes tell what they are"));
    }
    let mut node_of: BTreeMap<&'static str, usize> = BTreeMap::new();
    for (bone, node) in listed {
        let known = bone_named(&bone);
        let (Some(known), Some(node)) = (known, node.filter(|node| *node < root.nodes.len())) else {
            let cause = if known.is_none() { "no bone is called so" } else { "its node does not exist" };
            warnings.push(format!("{place}: {bone:?} is left out, because {cause}"));
            continue;
        };
        if let Some(first) = node_of.get(known) {
            warnings.push(format!(
                "{place}: {bone:?} is named twice, by nodes {first} and {node}; the first is used"
            ));
        } else if let Some(first) = of_node.get(&node) {
            warnings.push(format!("{place}: node {node} is both {first:?} and {bone:?}; the first is used"));
        } else {
            node_of.insert(known, node);
            of_node.insert(node, known);
        }
    }
    of_node
}

/// Names of bones and their nodes: a list in VRM 0, an object in VRM 1.
fn listed_bones(bones: &Value) -> Vec<(String, Option<usize>)> {
    let node = |value: &Value| value["node"].as_u64().and_then(|node| usize::try_from(node).ok());
    match bones {
        Value::Array(list) => list
            .iter()
            .map(|bone| (bone["bone"].as_str().unwrap_or_default().to_owned(), node(bone)))
            .collect(),
        Value::Object(map) => map.iter().map(|(name, bone)| (name.clone(), node(bone))).collect(),
        _ => Vec::new(),
    }
}

impl Avatar {
    /// What a file says; nothing if it is not VRM. Expressions that move what is not there are reported.
    pub(super) fn read(root: &Root, warnings: &mut Warnings) -> Option<Self> {
        let (name, vrm) = extension(root)?;
        let meta = vrm.get("meta").and_then(Value::as_object);
        let text = |key: &str| meta.and_then(|meta| meta.get(key)?.as_str()).unwrap_or_default().to_owned();
        let is_one = name == "VRMC_vrm";
        let mut avatar = Self {
            version: vrm.get("specVersion").and_then(Value::as_str).unwrap_or("0").to_owned(),
            title: if is_one { text("name") } else { text("title") },
            authors: authors(meta),
            terms: terms(meta),
            bones: read_bones(root, &mut Warnings::default()).into_values().collect(),
            n_springs: n_springs(root, vrm),
            ..Self::default()
        };
        (avatar.may_redistribute, avatar.may_modify) = match (name, meta) {
            ("VRMC_vrm", Some(meta)) => permissions_1(meta),
            ("VRM", Some(meta)) => permissions_0(meta),
            _ => (None, None),
        };
        avatar.expressions = match name {
            "VRM" => expressions_0(root, vrm, warnings),
            _ => expressions_1(root, vrm, name, warnings),
        };
        Some(avatar)
    }

    /// Say what its licence prohibits, when it is written.
    pub fn warn_prohibited(&self, warnings: &mut Warnings) {
        let whose = match self.authors.is_empty() {
            true => String::new(),
            false => format!(" by {}", self.authors.join(", ")),
        };
        if self.may_redistribute == Some(false) {
            warnings.push(format!(
                "the licence of this avatar{whose} prohibits giving it to others; keep the result to yourself"
            ));
        }
        if self.may_modify == Some(false) {
            warnings.push(format!(
                "the licence of this avatar{whose} prohibits changing it; ask its author before you use the result"
            ));
        }
    }
}

fn authors(meta: Option<&Object>) -> Vec<String> {
    let Some(meta) = meta else { return Vec::new() };
    let listed = meta.get("authors").and_then(Value::as_array).into_iter().flatten();
    let one = meta.get("author").into_iter();
    let names = listed.chain(one).filter_map(Value::as_str).map(str::trim);
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Everything else that is said in a word.
fn terms(meta: Option<&Object>) -> Vec<(String, String)> {
    const SHOWN_APART: [&str; 6] = ["name", "title", "authors", "author", "thumbnailImage", "texture"];
    let word = |value: &Value| match value {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Bool(is) => Some(if *is { "yes" } else { "no" }.to_owned()),
        _ => None,
    };
    let fields = meta.into_iter().flatten().filter(|(key, _)| !SHOWN_APART.contains(&key.as_str()));
    fields.filter_map(|(key, value)| Some((key.clone(), word(value)?))).collect()
}

/// Of VRM 1, whose defaults prohibit both.
fn permissions_1(meta: &Object) -> (Option<bool>, Option<bool>) {
    let modification = meta.get("modification").and_then(Value::as_str).unwrap_or("prohibited");
    let redistributes = meta.get("allowRedistribution").and_then(Value::as_bool).unwrap_or(false);
    (Some(redistributes), Some(modification != "prohibited"))
}

/// Of VRM 0, by the name of the licence.
fn permissions_0(meta: &Object) -> (Option<bool>, Option<bool>) {
    match meta.get("licenseName").and_then(Value::as_str) {
        Some("Redistribution_Prohibited") => (Some(false), None),
        Some("CC_BY_ND" | "CC_BY_NC_ND") => (Some(true), Some(false)),
        Some(name) if name.starts_with("CC") => (Some(true), Some(true)),
        _ => (None, None),
    }
}

fn n_springs(root: &Root, vrm: &Object) -> usize {
    let count = |value: Option<&Value>| value.and_then(Value::as_array).map_or(0, Vec::len);
    let swing = vrm.get("secondaryAnimation").and_then(|all| all.get("boneGroups"));
    count(swing) + count(root.extensions.get("VRMC_springBone").and_then(|all| all.get("springs")))
}

fn n_targets(root: &Root, mesh: Option<usize>) -> usize {
    let primitives = mesh.and_then(|mesh| root.meshes.get(mesh)).map(|mesh| &mesh.primitives);
    primitives.into_iter().flatten().map(|primitive| primitive.targets.len()).max().unwrap_or(0)
}

/// How many of the targets that an expression names are there.
fn count_binds(
    place: &str,
    binds: &Value,
    targets_of: impl Fn(&Value) -> usize,
    warnings: &mut Warnings,
) -> usize {
    let mut n = 0;
    for bind in binds.as_array().into_iter().flatten() {
        let (index, there) = (bind["index"].as_u64().unwrap_or(u64::MAX), targets_of(bind));
        if index < there as u64 {
            n += 1;
        } else {
            warnings.push(format!(
                "{place}: it moves morph target {index}, but there are {there}; that is left out of the expression"
            ));
        }
    }
    n
}

fn expressions_0(root: &Root, vrm: &Object, warnings: &mut Warnings) -> Vec<(String, usize)> {
    let groups = vrm.get("blendShapeMaster").and_then(|all| all["blendShapeGroups"].as_array());
    let describe = |(at, group): (usize, &Value)| {
        let names = [&group["name"], &group["presetName"]].map(|name| name.as_str().unwrap_or_default());
        let name = names.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned();
        let place = format!("/extensions/VRM/blendShapeMaster/blendShapeGroups/{at} ({name})");
        let targets =
            |bind: &Value| n_targets(root, bind["mesh"].as_u64().and_then(|n| usize::try_from(n).ok()));
        let n = count_binds(&place, &group["binds"], targets, warnings);
        (name, n)
    };
    groups.into_iter().flatten().enumerate().map(describe).collect()
}

fn expressions_1(
    root: &Root,
    vrm: &Object,
    extension: &str,
    warnings: &mut Warnings,
) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for kind in ["preset", "custom"] {
        let listed = vrm.get("expressions").and_then(|all| all[kind].as_object());
        for (name, expression) in listed.into_iter().flatten() {
            let place = format!("/extensions/{extension}/expressions/{kind}/{name}");
            let mesh = |bind: &Value| {
                let node = bind["node"].as_u64().and_then(|node| usize::try_from(node).ok())?;
                root.nodes.get(node)?.mesh
            };
            let targets = |bind: &Value| n_targets(root, mesh(bind));
            let n = count_binds(&place, &expression["morphTargetBinds"], targets, warnings);
            found.push((name.clone(), n));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn root(extensions: Value) -> Root {
        let nodes = json!([{"name": "a", "mesh": 0}, {"name": "b"}, {"name": "c"}]);
        let meshes = json!([{"primitives": [{"attributes": {}, "targets": [{}, {}]}]}]);
        let json =
            json!({"asset": {"version": "2.0"}, "nodes": nodes, "meshes": meshes, "extensions": extensions});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn bones_of_both_versions_are_read_and_their_faults_named() {
        let old = json!({"VRM": {"humanoid": {"humanBones": [
            {"bone": "hips", "node": 1}, {"bone": "hips", "node": 2}, {"bone": "spine", "node": 9},
            {"bone": "leftFoot", "node": 1}, {"bone": "rightLittleDistal", "node": 0}, {"bone": "gizzard", "node": 2}]}}});
        let mut warnings = Warnings::default();
        let bones = read_bones(&root(old), &mut warnings);
        assert_eq!(bones, BTreeMap::from([(0, "rightLittleDistal"), (1, "hips")]));
        let said = warnings.messages.join("\n");
        for part in [
            "named twice, by nodes 1 and 2",
            "its node does not exist",
            "both \"hips\"",
            "\"gizzard\" is left out",
        ] {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
        let new =
            json!({"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 1}, "head": {"node": 2}}}}});
        assert_eq!(read_bones(&root(new), &mut Warnings::default()).len(), 2);
        assert!(read_bones(&root(json!({})), &mut Warnings::default()).is_empty());
    }

    #[test]
    fn licences_say_what_they_prohibit() {
        let of = |extensions: Value| {
            let avatar = Avatar::read(&root(extensions), &mut Warnings::default()).unwrap();
            (avatar.may_redistribute, avatar.may_modify)
        };
        let one = |meta: Value| json!({"VRMC_vrm": {"specVersion": "1.0", "meta": meta}});
        let zero = |name: &str| json!({"VRM": {"meta": {"licenseName": name}}});
        let free = json!({"allowRedistribution": true, "modification": "allowModification"});
        assert_eq!(of(one(free)), (Some(true), Some(true)));
        assert_eq!(of(one(json!({"authors": ["me"]}))), (Some(false), Some(false)));
        assert_eq!(of(zero("Redistribution_Prohibited")), (Some(false), None));
        assert_eq!(of(zero("CC_BY_ND")), (Some(true), Some(false)));
        assert_eq!(of(zero("CC0")), (Some(true), Some(true)));
        assert_eq!(of(zero("Other")), (None, None));
    }

    #[test]
    fn expressions_that_move_nothing_are_reported() {
        let binds = json!([{"node": 0, "index": 1}, {"node": 0, "index": 7}, {"node": 1, "index": 0}]);
        let vrm = json!({"VRMC_vrm": {"expressions": {"preset": {"happy": {"morphTargetBinds": binds}}}}});
        let mut warnings = Warnings::default();
        let avatar = Avatar::read(&root(vrm), &mut warnings).unwrap();
        assert_eq!(avatar.expressions, [("happy".to_owned(), 1)]);
        assert_eq!(warnings.messages.len(), 2, "{:?}", warnings.messages);
    }
}
