//! `pairs.json`: poses of a body, each with the pose of a character that belongs to it.

use crate::{
    FormatError,
    json::{Node, UnknownKeys, read_json, read_value},
};
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};
use sinew_geom::{BodyLayout, Transform};

const SHAPE: &str = r#"expected {"pairs":[{"name":"arm up","body":[[x,y,z], … 20],"joints":{"arm":{"rotation":[x,y,z,w]}}}]}"#;
const MAKE: &str = "make pairs with `sinew puppet pair` or in the studio";
/// Largest coordinate of a body, in metres; no other number of a pose is larger.
const MAX_METRES: f64 = 1e4;

/// Pairs of poses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairFile {
    /// The pairs, in order.
    pub pairs: Vec<PosePair>,
    /// Joints of the character with the limbs of the actor that move them, where the user chose them.
    pub limbs: Vec<(String, Vec<String>)>,
}

/// A pose of a body and the pose of the character that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct PosePair {
    /// Name shown to the user.
    pub name: String,
    /// The 20 joints of [`BodyLayout::Kinect20`] in metres, +Y up; a body that faces +Z has its left at +X.
    pub body: Vec<DVec3>,
    /// The character's pose.
    pub target: PairTarget,
}

/// A pose of a character, by name.
#[derive(Debug, Clone, PartialEq)]
pub enum PairTarget {
    /// Local transforms of joints; joints that are not listed are at rest.
    Joints(Vec<(String, Transform)>),
    /// A stored example of a character with handles.
    Example(String),
}

/// Read pairs.
///
/// # Errors
/// All faults with their JSON paths; also unknown keys.
pub fn read_pairs(bytes: &[u8], name: &str) -> Result<PairFile, FormatError> {
    read_json(bytes, name, (SHAPE, MAKE), read_file)
}

/// Read pairs from a part of a project, where each may have more keys than in a file.
///
/// # Errors
/// All faults with their JSON paths.
pub fn read_project_pairs(value: &Value, name: &str) -> Result<PairFile, FormatError> {
    read_value(value, name, (SHAPE, MAKE), UnknownKeys::Ignore, read_file)
}

/// Write pairs as [`read_pairs`] reads them.
pub fn write_pairs(file: &PairFile) -> Vec<u8> {
    let pair = |pair: &PosePair| {
        let body: Vec<[f64; 3]> = pair.body.iter().map(DVec3::to_array).collect();
        let mut entry = json!({ "name": pair.name, "body": body });
        match &pair.target {
            PairTarget::Example(example) => entry["example"] = json!(example),
            PairTarget::Joints(joints) => {
                let local = |t: &Transform| {
                    json!({ "translation": t.translation.to_array(), "rotation": t.rotation.to_array(),
                            "scale": t.scale.to_array() })
                };
                entry["joints"] =
                    joints.iter().map(|(name, t)| (name.clone(), local(t))).collect::<Map<_, _>>().into();
            }
        }
        entry
    };
    let mut root = json!({ "pairs": file.pairs.iter().map(pair).collect::<Vec<_>>() });
    if !file.limbs.is_empty() {
        root["limbs"] = file
            .limbs
            .iter()
            .map(|(joint, limbs)| (joint.clone(), json!(limbs)))
            .collect::<Map<_, _>>()
            .into();
    }
    // Maps with text keys and finite numbers can always be written.
    serde_json::to_vec_pretty(&root).unwrap_or_default()
}

/// Calibration of camera and actor: a rotation (x, y, z, w) that brings the body upright, and the length of its trunk
/// in metres, as `{"upright":[0,0,0,1],"trunk":0.5}`.
///
/// # Errors
/// All faults with their JSON paths.
pub fn read_calibration(bytes: &[u8], name: &str) -> Result<([f64; 4], f64), FormatError> {
    const EXPECTED: &str =
        r#"expected {"upright":[x,y,z,w],"trunk":metres}; `sinew puppet calibrate` writes it"#;
    read_json(bytes, name, (EXPECTED, EXPECTED), |root| {
        let fields = root.fields(&["upright", "trunk"], EXPECTED)?;
        let upright = fields.required("upright", |node| match node.numbers::<4>() {
            Some(q) if q.iter().map(|x| x * x).sum::<f64>() <= 1e-6 => {
                node.fault("the rotation has no length")
            }
            q => q,
        });
        let length =
            |node: &Node<'_>| node.number_in(f64::MIN_POSITIVE..=MAX_METRES, "a length in metres above 0");
        let trunk = fields.required("trunk", length);
        Some((upright?, trunk?))
    })
}

/// Write it as [`read_calibration`] reads it.
pub fn write_calibration(upright: [f64; 4], trunk: f64) -> Vec<u8> {
    // Finite numbers can always be written.
    serde_json::to_vec_pretty(&json!({ "upright": upright, "trunk": trunk })).unwrap_or_default()
}

fn read_file(root: &Node<'_>) -> Option<PairFile> {
    let fields = root.fields(&["pairs", "limbs"], SHAPE)?;
    let mut n_pairs = 0;
    let pairs = fields.required("pairs", |list| {
        list.each(|entry| {
            n_pairs += 1;
            read_pair(entry, n_pairs)
        })
    });
    let limbs = fields.or("limbs", Vec::new(), |limbs| {
        limbs.each_named(|joint, list| Some((joint.to_owned(), list.names("the name of a limb")?)))
    });
    Some(PairFile { pairs: pairs?, limbs: limbs? })
}

/// The pair of this number, counted from 1.
fn read_pair(entry: &Node<'_>, number: usize) -> Option<PosePair> {
    let fields = entry.fields(&["name", "body", "joints", "example"], SHAPE)?;
    let name = fields.or("name", format!("pair {number}"), |node| node.text("a name"));
    let body = fields.required("body", read_body);
    let target = match (fields.find("joints"), fields.find("example")) {
        (Some(joints), None) => {
            let joint = |name: &str, local: &Node<'_>| Some((name.to_owned(), read_local(local)?));
            joints.each_named(joint).map(PairTarget::Joints)
        }
        (None, Some(example)) => example.text("the name of an example").map(PairTarget::Example),
        _ => entry.fault(
            "a pair needs either \"joints\" (a pose of a skeleton) or \"example\" (the name of a stored pose)",
        ),
    };
    Some(PosePair { name: name?, body: body?, target: target? })
}

fn read_body(list: &Node<'_>) -> Option<Vec<DVec3>> {
    let expected = BodyLayout::Kinect20.names().len();
    if list.n_entries() != expected {
        return list.fault(format!("a body has {expected} points, here are {}", list.n_entries()));
    }
    list.each(|point| bounded::<3>(point).map(DVec3::from_array))
}

fn read_local(node: &Node<'_>) -> Option<Transform> {
    let fields = node.fields(&["translation", "rotation", "scale"], r#"write {"rotation":[x,y,z,w]}"#)?;
    let vector = |node: &Node<'_>| bounded::<3>(node).map(DVec3::from_array);
    let translation = fields.or("translation", DVec3::ZERO, vector);
    let scale = fields.or("scale", DVec3::ONE, vector);
    let rotation = fields.or("rotation", DQuat::IDENTITY, |node| {
        let rotation = bounded::<4>(node).map(DQuat::from_array)?;
        if rotation.length_squared() <= 1e-6 {
            return node.fault("the rotation has no length");
        }
        Some(rotation.normalize())
    });
    Some(Transform { translation: translation?, rotation: rotation?, scale: scale? })
}

/// Numbers of at most [`MAX_METRES`].
fn bounded<const N: usize>(node: &Node<'_>) -> Option<[f64; N]> {
    let numbers = node.numbers::<N>()?;
    if numbers.iter().any(|x| x.abs() > MAX_METRES) {
        return node.fault(format!("expected numbers within ±{MAX_METRES}"));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> PairFile {
        let body: Vec<DVec3> = (0..20).map(|k| DVec3::new(f64::from(k), 0.5, -1.0)).collect();
        let turned =
            Transform { rotation: DQuat::from_rotation_x(0.7), translation: DVec3::Y, ..Transform::IDENTITY };
        let pair = |name: &str, target| PosePair { name: name.into(), body: body.clone(), target };
        PairFile {
            pairs: vec![
                pair(
                    "up",
                    PairTarget::Joints(vec![("arm".into(), turned), ("leg".into(), Transform::IDENTITY)]),
                ),
                pair("wave", PairTarget::Example("wave".into())),
            ],
            limbs: vec![("tail".into(), vec!["arm.R".into()])],
        }
    }

    #[test]
    fn a_calibration_is_kept() {
        let (upright, trunk) = ([0.1, 0.0, 0.0, 0.995], 0.52);
        assert_eq!(read_calibration(&write_calibration(upright, trunk), "c").unwrap(), (upright, trunk));
        for bad in ["", "{}", r#"{"upright":[0,0,0,0],"trunk":1}"#, r#"{"upright":[0,0,0,1],"trunk":-1}"#] {
            let text = read_calibration(bad.as_bytes(), "c.json").unwrap_err().to_string();
            assert!(text.contains("c.json") && text.contains("sinew puppet calibrate"), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let read = read_pairs(&write_pairs(&file()), "p").unwrap();
        assert_eq!(read.limbs, file().limbs);
        for (a, b) in read.pairs.iter().zip(&file().pairs) {
            assert_eq!((&a.name, &a.body), (&b.name, &b.body));
            if let (PairTarget::Joints(a), PairTarget::Joints(b)) = (&a.target, &b.target) {
                assert!(a[0].1.rotation.angle_between(b[0].1.rotation) < 1e-12 && a[0].0 == b[0].0);
            } else {
                assert_eq!(a.target, b.target);
            }
        }
    }

    /// All kinds of faults, with their places.
    #[test]
    fn faults_name_their_place() {
        let good = String::from_utf8(write_pairs(&file())).unwrap();
        let cases = [
            (String::new(), "empty"),
            ("{".into(), "line"),
            ("[]".into(), "expected an object with pairs"),
            (r#"{"pairs":[{}]}"#.into(), r#"/pairs/0: "body" is missing"#),
            (r#"{"pairs":[{"name":1}]}"#.into(), "/pairs/0/name"),
            (good.replacen("\"example\"", "\"exemplar\"", 1), "either"),
            (good.replacen("0.5", "\"a\"", 1), "/pairs/0/body/0"),
            (good.replacen("0.5", "1e300", 1), "/pairs/0/body/0"),
            (good.replacen("\"rotation\": [", "\"rotation\": [1,", 1), "/pairs/0/joints/arm"),
            (good.replacen("[\n      \"arm.R\"\n    ]", "5", 1), "/limbs/tail"),
        ];
        for (text, expected) in cases {
            let error = read_pairs(text.as_bytes(), "p.json").expect_err(expected).to_string();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }
}
