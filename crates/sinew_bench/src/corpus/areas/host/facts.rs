//! Content of a file as facts that can be counted: texts that do not depend on the order in which a file lists things.

use super::super::super::scene::list;
use super::content::{Content, UNNAMED, called, diagonal, hash, unique_nodes};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};

/// Extensions that say how geometry is packed; what they pack is compared by itself.
const PACKING: [&str; 4] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_mesh_quantization",
];

/// How much of one sort is still there.
pub struct Kept {
    pub name: &'static str,
    pub kept: usize,
    pub all: usize,
    pub lost: Vec<String>,
}

type Sort = fn(&Content) -> Vec<String>;
const SORTS: [(&str, Sort); 17] = [
    ("materials", materials),
    ("texture_slots", texture_slots),
    ("images", |content| content.images.clone()),
    ("parts", parts),
    ("mesh_names", |content| names(content, "meshes")),
    ("morph_names", morph_names),
    ("node_names", |content| names(content, "nodes")),
    ("node_tree", node_tree),
    ("skins", skins),
    ("clips", clips),
    ("channels", channels),
    ("cameras", |content| list(&content.json, "cameras").iter().map(|c| text(c, "", content)).collect()),
    ("lights", lights),
    ("extensions", extensions),
    ("extras", extras),
    ("asset", asset),
    ("tangents", |content| attributes(content, "TANGENT", false)),
];

/// Facts of the source that are facts of the result, sort by sort; sorts of which the source has none are left out.
pub fn compare(before: &Content, after: &Content, is_rest_the_same: bool) -> Vec<Kept> {
    let is_open = before.scene.is_some() && after.scene.is_some();
    let mut all: Vec<Kept> =
        SORTS.iter().map(|(name, sort)| count(name, sort(before), sort(after))).collect();
    for (name, attribute) in [("uv_sets", "TEXCOORD_"), ("colours", "COLOR_")] {
        let of = |content| attributes(content, attribute, is_open);
        all.push(count(name, of(before), of(after)));
    }
    if is_rest_the_same {
        all.extend(node_places(before, after));
    }
    all.retain(|kept| kept.all > 0);
    all
}

/// Facts of the source that are there: first those that are there exactly, then those about things without a name, which
/// may have got one.
fn count(name: &'static str, before: Vec<String>, after: Vec<String>) -> Kept {
    let mut there: HashMap<String, usize> = HashMap::new();
    after.into_iter().for_each(|fact| *there.entry(fact).or_default() += 1);
    let mut take = |fact: &str| {
        let is_there = there.get_mut(fact).filter(|n| **n > 0).map(|n| *n -= 1).is_some();
        is_there.then_some(())
    };
    let all = before.len();
    let mut lost: Vec<String> = before.into_iter().filter(|fact| take(fact).is_none()).collect();
    let mut others: Vec<String> =
        there.into_iter().flat_map(|(fact, n)| std::iter::repeat_n(fact, n)).collect();
    others.sort_unstable();
    // What has most names comes first: the others fit more.
    lost.sort_by_key(|fact| fact.matches(UNNAMED).count());
    lost.retain(|fact| match others.iter().position(|other| fact.contains(UNNAMED) && fits(fact, other)) {
        Some(k) => {
            others.remove(k);
            false
        }
        None => true,
    });
    Kept { name, kept: all - lost.len(), all, lost }
}

/// Whether a fact says what another one says, with any name for what has none.
fn fits(fact: &str, other: &str) -> bool {
    let mut pieces = fact.split('\u{1}');
    let Some(mut rest) = pieces.next().and_then(|first| other.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

fn names(content: &Content, key: &str) -> Vec<String> {
    list(&content.json, key).iter().filter_map(|member| member["name"].as_str()).map(str::to_owned).collect()
}

/// Name and properties without textures; what is as glTF has it by default need not be written.
fn materials(content: &Content) -> Vec<String> {
    let plain = |material: &Value| without_defaults(material, &|key| key.ends_with("Texture"));
    list(&content.json, "materials").iter().map(|m| text(&plain(m), "", content)).collect()
}

fn without_defaults(value: &Value, is_out: &dyn Fn(&str) -> bool) -> Value {
    let Some(object) = value.as_object() else { return value.clone() };
    let mut kept = Map::new();
    for (key, value) in object.iter().filter(|(key, _)| !is_out(key) && *key != "extras") {
        let value = without_defaults(value, is_out);
        let is_empty = value.as_object().is_some_and(Map::is_empty) && !key.starts_with("KHR_");
        if !is_empty && !is_default(key, &value) {
            kept.insert(key.clone(), value);
        }
    }
    Value::Object(kept)
}

fn is_default(key: &str, value: &Value) -> bool {
    let is_all = |n: usize, x: f64| {
        value.as_array().is_some_and(|list| list.len() == n && list.iter().all(|v| v.as_f64() == Some(x)))
    };
    match key {
        "alphaMode" => value == "OPAQUE",
        "doubleSided" => value == false,
        "alphaCutoff" => value.as_f64() == Some(0.5),
        "emissiveFactor" => is_all(3, 0.0),
        "baseColorFactor" => is_all(4, 1.0),
        "metallicFactor" | "roughnessFactor" | "strength" => value.as_f64() == Some(1.0),
        "texCoord" => value.as_u64() == Some(0),
        "scale" => value.as_f64() == Some(1.0),
        _ => false,
    }
}

/// Every texture of every material: where, which, by which UV set, and how it is transformed.
fn texture_slots(content: &Content) -> Vec<String> {
    fn walk(value: &Value, place: &str, content: &Content, slots: &mut Vec<String>) {
        for (key, value) in value.as_object().into_iter().flatten() {
            let here = format!("{place}/{key}");
            if key.ends_with("Texture") && value["index"].is_u64() {
                let how = text(&without_defaults(value, &|key| key == "index"), "", content);
                slots.push(format!("{here} {} {how}", content.texture(&value["index"])));
            } else {
                walk(value, &here, content, slots);
            }
        }
    }
    let mut slots = Vec::new();
    for material in list(&content.json, "materials") {
        walk(material, called(material), content, &mut slots);
    }
    slots
}

/// Attributes of all primitives with a material together: which there are, and which values corners of triangles have.
fn attributes(content: &Content, prefix: &str, with_values: bool) -> Vec<String> {
    let mut values: BTreeMap<String, Vec<Vec<i64>>> = BTreeMap::new();
    for mesh in list(&content.json, "meshes") {
        for primitive in list(mesh, "primitives") {
            let material = content.name("materials", &primitive["material"]);
            let found = primitive["attributes"].as_object().into_iter().flatten();
            for (key, accessor) in found.filter(|(key, _)| key.starts_with(prefix)) {
                let rows = values.entry(format!("{material} {key}")).or_default();
                if with_values {
                    rows.extend(corners(content, primitive, accessor).unwrap_or_default());
                }
            }
        }
    }
    let fact = |(key, mut rows): (String, Vec<Vec<i64>>)| {
        rows.sort_unstable();
        rows.dedup();
        if with_values { format!("{key} {}", hash(&rows)) } else { key }
    };
    values.into_iter().map(fact).collect()
}

/// Values at the vertices that a primitive uses, to about 1e-4.
fn corners(content: &Content, primitive: &Value, accessor: &Value) -> Option<Vec<Vec<i64>>> {
    let scene = content.scene.as_ref()?;
    let (values, width) = scene.numbers(accessor.as_u64()? as usize).ok()?;
    // The shift keeps halves, which are common, away from where rounding turns over. Colours without alpha are opaque.
    let row = |v: usize| -> Option<Vec<i64>> {
        let row = values.get(v * width..(v + 1) * width)?;
        let opaque = (width == 3).then_some(1.0);
        Some(row.iter().copied().chain(opaque).map(|x| (x * 8191.0 + 0.217).floor() as i64).collect())
    };
    let Some(indices) = primitive["indices"].as_u64() else {
        return Some((0..values.len() / width.max(1)).filter_map(row).collect());
    };
    let mut used: Vec<usize> =
        scene.numbers(indices as usize).ok()?.0.into_iter().map(|v| v as usize).collect();
    used.sort_unstable();
    used.dedup();
    Some(used.into_iter().filter_map(row).collect())
}

/// Everything that is drawn: the node, its mesh, and the material of each primitive.
fn parts(content: &Content) -> Vec<String> {
    let mut parts = Vec::new();
    for node in list(&content.json, "nodes").iter().filter(|node| node["mesh"].is_u64()) {
        let mesh = node["mesh"].as_u64().map_or(&Value::Null, |k| &content.json["meshes"][k as usize]);
        for primitive in list(mesh, "primitives") {
            let material = content.name("materials", &primitive["material"]);
            parts.push(format!("{}/{}/{material}", called(node), called(mesh)));
        }
    }
    parts
}

/// Names of morph targets, or their numbers.
fn morph_names(content: &Content) -> Vec<String> {
    let mut all = Vec::new();
    for mesh in list(&content.json, "meshes") {
        let first = list(mesh, "primitives").first();
        let named = list(&mesh["extras"], "targetNames");
        for k in 0..first.map_or(0, |primitive| list(primitive, "targets").len()) {
            all.push(named.get(k).and_then(Value::as_str).map_or_else(|| k.to_string(), str::to_owned));
        }
    }
    all
}

fn parent_of(content: &Content) -> HashMap<u64, usize> {
    let nodes = list(&content.json, "nodes").iter().enumerate();
    nodes
        .flat_map(|(k, node)| list(node, "children").iter().filter_map(Value::as_u64).map(move |c| (c, k)))
        .collect()
}

fn node_tree(content: &Content) -> Vec<String> {
    let (nodes, parents) = (list(&content.json, "nodes"), parent_of(content));
    let name = |k: usize| nodes.get(k).map_or("", called);
    (0..nodes.len())
        .map(|k| format!("{} below {}", name(k), parents.get(&(k as u64)).map_or("the scene", |&p| name(p))))
        .collect()
}

/// Joints of each skin.
fn skins(content: &Content) -> Vec<String> {
    let joints = |skin: &Value| {
        let mut names: Vec<&str> = list(skin, "joints").iter().map(|j| content.name("nodes", j)).collect();
        names.sort_unstable();
        format!("{} joints {}", names.len(), names.join(" "))
    };
    list(&content.json, "skins").iter().map(joints).collect()
}

/// Names of clips with their lengths.
pub fn clips(content: &Content) -> Vec<String> {
    let last = |sampler: &Value| {
        let input = sampler["input"].as_u64()? as usize;
        content.json["accessors"].get(input)?["max"][0].as_f64()
    };
    let fact = |clip: &Value| {
        let seconds = list(clip, "samplers").iter().filter_map(last).fold(0.0, f64::max);
        format!("{} of {:.2} s", called(clip), ((seconds + 0.0037) * 50.0).round() / 50.0)
    };
    list(&content.json, "animations").iter().map(fact).collect()
}

fn channels(content: &Content) -> Vec<String> {
    let mut all = Vec::new();
    for clip in list(&content.json, "animations") {
        for target in list(clip, "channels").iter().map(|channel| &channel["target"]) {
            let pointer = target["extensions"]["KHR_animation_pointer"]["pointer"].as_str();
            let what = pointer.and_then(|p| p.rsplit('/').next()).or(target["path"].as_str()).unwrap_or("");
            let name = called(clip);
            all.push(format!("{name}: {} {what}", content.name("nodes", &target["node"])));
        }
    }
    all
}

fn lights(content: &Content) -> Vec<String> {
    let lights = list(&content.json["extensions"]["KHR_lights_punctual"], "lights");
    lights.iter().map(|light| text(light, "", content)).collect()
}

/// Extensions that the file says it uses, and each use of one with its content.
fn extensions(content: &Content) -> Vec<String> {
    let is_content = |name: &str| !PACKING.contains(&name);
    let said = list(&content.json, "extensionsUsed").iter().filter_map(Value::as_str);
    let mut all: Vec<String> = said.filter(|name| is_content(name)).map(str::to_owned).collect();
    visit(&content.json, "", &mut |place, object| {
        for (name, value) in object.get("extensions").and_then(Value::as_object).into_iter().flatten() {
            if is_content(name) {
                all.push(format!("{name} at {place}: {}", text(value, "", content)));
            }
        }
    });
    all
}

/// Extras, but for the names of morph targets, which are counted by themselves.
fn extras(content: &Content) -> Vec<String> {
    let mut all = Vec::new();
    visit(&content.json, "", &mut |place, object| {
        let Some(extras) = object.get("extras") else { return };
        let mut extras = extras.clone();
        if let Some(object) = extras.as_object_mut() {
            object.remove("targetNames");
        }
        let is_empty = extras.is_null() || extras.as_object().is_some_and(Map::is_empty);
        if !is_empty {
            all.push(format!("extras at {place}: {}", text(&extras, "", content)));
        }
    });
    // Attributes that applications define are theirs alone as well.
    all.extend(attributes(content, "_", false));
    all
}

/// Call with every object of a file that may carry extensions or extras, and the names on the way to it.
fn visit(value: &Value, place: &str, see: &mut dyn FnMut(&str, &Map<String, Value>)) {
    match value {
        Value::Array(list) => {
            for member in list {
                let name = called(member);
                visit(member, &format!("{place}/{name}"), see);
            }
        }
        Value::Object(object) => {
            see(place, object);
            let is_inside =
                |key: &str| !matches!(key, "accessors" | "bufferViews" | "buffers" | "extensions" | "extras");
            for (key, value) in object.iter().filter(|(key, _)| is_inside(key)) {
                visit(value, &format!("{place}/{key}"), see);
            }
        }
        _ => {}
    }
}

/// Whose it is; the program that wrote it last may name itself.
fn asset(content: &Content) -> Vec<String> {
    let asset = content.json["asset"].as_object().into_iter().flatten();
    let is_about =
        |key: &str| !matches!(key, "version" | "minVersion" | "generator" | "extras" | "extensions");
    let is_said = |value: &Value| value.as_str() != Some("");
    asset
        .filter(|(key, v)| is_about(key) && is_said(v))
        .map(|(key, v)| format!("{key} {}", text(v, "", content)))
        .collect()
}

/// Where nodes are at rest, of those that alone have their name in the source.
fn node_places(before: &Content, after: &Content) -> Option<Kept> {
    let (a, b) = (before.scene.as_ref()?, after.scene.as_ref()?);
    let (ours, theirs) = (a.worlds(None, 0.0), b.worlds(None, 0.0));
    let (nodes, others, size) = (unique_nodes(a), unique_nodes(b), diagonal(a));
    let mut lost: Vec<String> = Vec::new();
    for (name, &node) in &nodes {
        let is_same = others.get(name).is_some_and(|&other| {
            let (x, y) = (ours[node], theirs[other]);
            let turns = (0..3).all(|k| (x.col(k) - y.col(k)).length() <= 1e-3 * x.col(k).length().max(1e-9));
            turns && (x.w_axis - y.w_axis).length() <= 1e-4 * size
        });
        if !is_same {
            lost.push((*name).to_owned());
        }
    }
    lost.sort_unstable();
    Some(Kept { name: "node_places", kept: nodes.len() - lost.len(), all: nodes.len(), lost })
}

/// A value as text: keys in order, numbers as single floats, references by the name or content of what they refer to.
fn text(value: &Value, key: &str, content: &Content) -> String {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<&String> = object.keys().collect();
            keys.sort_unstable();
            // Values of this object of VRM 0 are textures, whatever their keys.
            let inner =
                |k: &'_ String| if key == "textureProperties" { "index".to_owned() } else { k.clone() };
            let member = |k: &String| format!("{k}:{}", text(&object[k.as_str()], &inner(k), content));
            format!("{{{}}}", keys.into_iter().map(member).collect::<Vec<_>>().join(","))
        }
        Value::Array(list) => {
            format!("[{}]", list.iter().map(|v| text(v, key, content)).collect::<Vec<_>>().join(","))
        }
        Value::Number(number) => reference(number.as_u64(), value, key, content)
            .unwrap_or_else(|| format!("{}", number.as_f64().unwrap_or(0.0) as f32)),
        other => other.to_string(),
    }
}

fn reference(number: Option<u64>, value: &Value, key: &str, content: &Content) -> Option<String> {
    number?;
    let named = |list: &str| Some(content.name(list, value).to_owned());
    match key {
        "node" | "bone" | "bones" | "center" => named("nodes"),
        "mesh" => named("meshes"),
        "material" => named("materials"),
        "camera" => named("cameras"),
        "index" | "texture" => Some(content.texture(value)),
        "source" | "thumbnailImage" => number.and_then(|k| content.images.get(k as usize)).cloned(),
        "bufferView" | "accessor" | "indices" | "TRANSLATION" | "ROTATION" | "SCALE" => {
            Some("data".to_owned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn content(json: Value) -> Content {
        Content { images: vec!["red".into(), "blue".into()], scene: None, json }
    }

    fn share(before: &Value, after: &Value, name: &str) -> f64 {
        let all = compare(&content(before.clone()), &content(after.clone()), true);
        all.iter().find(|kept| kept.name == name).map_or(f64::NAN, |kept| kept.kept as f64 / kept.all as f64)
    }

    fn file() -> Value {
        json!({
            "asset": { "version": "2.0", "generator": "a", "copyright": "me" },
            "textures": [{ "source": 0 }, { "source": 1 }],
            "materials": [{ "name": "skin", "doubleSided": false, "normalTexture": { "index": 1, "texCoord": 0 },
                "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 }, "roughnessFactor": 0.8 } }],
            "nodes": [{ "name": "hips", "children": [1], "extensions": { "X": { "node": 1, "a": 0.5 } } }, { "name": "head" }],
        })
    }

    #[test]
    fn a_file_keeps_everything_of_itself_in_any_order_and_with_defaults_left_out() {
        let after = json!({
            "asset": { "version": "2.0", "generator": "b", "copyright": "me" },
            "textures": [{ "source": 1 }, { "source": 0, "sampler": 0 }],
            "samplers": [{}],
            "materials": [{ "name": "skin", "alphaMode": "OPAQUE", "normalTexture": { "index": 0 },
                "pbrMetallicRoughness": { "roughnessFactor": 0.800000011920929, "baseColorTexture": { "index": 1 } } }],
            "nodes": [{ "name": "head" }, { "name": "hips", "children": [0], "extensions": { "X": { "a": 0.5, "node": 0 } } }],
        });
        let all = compare(&content(file()), &content(after), true);
        assert_eq!(all.len(), 7, "{:?}", all.iter().map(|kept| kept.name).collect::<Vec<_>>());
        assert!(
            all.iter().all(|kept| kept.kept == kept.all),
            "{:?}",
            all.iter().map(|k| &k.lost).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_is_lost_is_counted_where_it_belongs() {
        let mut after = file();
        after["materials"][0]["normalTexture"] = Value::Null;
        after["materials"][0].as_object_mut().unwrap().remove("normalTexture");
        after["nodes"][0]["children"] = json!([]);
        after["nodes"][0]["extensions"]["X"]["a"] = json!(0.6);
        assert_eq!(share(&file(), &after, "materials"), 1.0);
        assert_eq!(share(&file(), &after, "texture_slots"), 0.5);
        assert_eq!(share(&file(), &after, "node_names"), 1.0);
        assert_eq!(share(&file(), &after, "node_tree"), 0.5);
        assert_eq!(share(&file(), &after, "extensions"), 0.0);
        assert!(share(&file(), &after, "cameras").is_nan());
    }
    #[test]
    fn a_name_for_what_had_none_is_no_loss() {
        let before = json!({ "nodes": [{ "children": [1, 2] }, {}, { "name": "head" }] });
        let after = json!({ "nodes": [{ "name": "node 0", "children": [2, 1] }, { "name": "head" }, { "name": "node 1" }] });
        assert_eq!(share(&before, &after, "node_tree"), 1.0);
        assert_eq!(share(&after, &before, "node_tree"), 0.0);
        assert!(fits("\u{1} of 2 s", "walk of 2 s") && !fits("\u{1} of 2 s", "walk of 3 s"));
    }
}
