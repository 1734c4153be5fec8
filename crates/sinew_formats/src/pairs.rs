//! `pairs.json`: poses of a body, each with the pose of a character that belongs to it.

use crate::{
    Fault, FormatError, Place,
    text::{Faults, shown, whole, without_mark},
};
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};
use sinew_geom::{BodyLayout, Transform};

const SHAPE: &str = r#"expected {"pairs":[{"name":"arm up","body":[[x,y,z], … 20],"joints":{"arm":{"rotation":[x,y,z,w]}}}]}"#;
const MAKE: &str = "make pairs with `sinew puppet pair` or in the studio";
/// Metres beyond which a body is none; no other number of a pose is larger.
const MOST: f64 = 1e4;

/// Pairs of poses.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairFile {
    /// The pairs, in order.
    pub pairs: Vec<PosePair>,
    /// Joints of the character with the limbs of the actor that move them, where the user said so.
    pub limbs: Vec<(String, Vec<String>)>,
}

/// A pose of a body and what it means.
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
    /// Local transforms of joints; those that are not named rest.
    Joints(Vec<(String, Transform)>),
    /// A stored example of a character with handles.
    Example(String),
}

/// Read pairs.
///
/// # Errors
/// All faults with their JSON paths.
pub fn read_pairs(bytes: &[u8], name: &str) -> Result<PairFile, FormatError> {
    let text = without_mark(bytes);
    if text.trim_ascii().is_empty() {
        return Err(whole(name, "the file is empty", SHAPE));
    }
    let file: Value = serde_json::from_slice(text).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        FormatError::faults(name, vec![fault.with_remedy(SHAPE)])
    })?;
    let Some(list) = file.get("pairs").and_then(Value::as_array) else {
        return Err(whole(name, "there is no list of pairs", SHAPE));
    };
    let mut faults = Faults::default();
    let mut result = PairFile::default();
    for (index, entry) in list.iter().enumerate() {
        if faults.is_full() {
            break;
        }
        result.pairs.extend(read_pair(entry, index, &mut faults));
    }
    if let Some(limbs) = file.get("limbs") {
        result.limbs = read_limbs(limbs, &mut faults);
    }
    faults.finish_with(name, MAKE)?;
    Ok(result)
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

/// What is known of camera and actor: a rotation (x, y, z, w) that brings the body upright, and the length of its trunk in
/// metres, as `{"upright":[0,0,0,1],"trunk":0.5}`.
///
/// # Errors
/// What is wrong, with its place.
pub fn read_calibration(bytes: &[u8], name: &str) -> Result<([f64; 4], f64), FormatError> {
    const EXPECTED: &str =
        r#"expected {"upright":[x,y,z,w],"trunk":metres}; `sinew puppet calibrate` writes it"#;
    let file: Value = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        FormatError::faults(name, vec![fault.with_remedy(EXPECTED)])
    })?;
    let upright = numbers::<4>(&file["upright"]).filter(|q| q.iter().map(|x| x * x).sum::<f64>() > 1e-6);
    let trunk = file["trunk"].as_f64().filter(|trunk| *trunk > 0.0 && *trunk <= MOST);
    upright.zip(trunk).ok_or_else(|| whole(name, "it is no calibration", EXPECTED))
}

/// Write it as [`read_calibration`] reads it.
pub fn write_calibration(upright: [f64; 4], trunk: f64) -> Vec<u8> {
    // Finite numbers can always be written.
    serde_json::to_vec_pretty(&json!({ "upright": upright, "trunk": trunk })).unwrap_or_default()
}

fn read_pair(entry: &Value, index: usize, faults: &mut Faults) -> Option<PosePair> {
    let path = format!("/pairs/{index}");
    let name = match entry.get("name") {
        Some(Value::String(name)) => name.clone(),
        None => format!("pair {}", index + 1),
        Some(_) => {
            faults.push(Fault::json(format!("{path}/name"), "a name is text"));
            return None;
        }
    };
    let body = read_body(entry.get("body"), &format!("{path}/body"), faults);
    let target = match (entry.get("joints"), entry.get("example")) {
        (Some(joints), None) => {
            read_joints(joints, &format!("{path}/joints"), faults).map(PairTarget::Joints)
        }
        (None, Some(Value::String(example))) => Some(PairTarget::Example(example.clone())),
        _ => {
            let cause = "a pair needs either \"joints\" (poses of a skeleton) or \"example\" (the name of a stored pose)";
            faults.push(Fault::json(path, cause).with_remedy(MAKE));
            None
        }
    };
    Some(PosePair { name, body: body?, target: target? })
}

fn read_body(value: Option<&Value>, path: &str, faults: &mut Faults) -> Option<Vec<DVec3>> {
    let expected = BodyLayout::Kinect20.names().len();
    let list = value.and_then(Value::as_array).filter(|list| list.len() == expected);
    let Some(list) = list else {
        let n = value.and_then(Value::as_array).map_or(0, Vec::len);
        faults
            .push(Fault::json(path, format!("a body has {expected} points, here are {n}")).with_remedy(MAKE));
        return None;
    };
    let mut points = Vec::with_capacity(expected);
    for (k, point) in list.iter().enumerate() {
        match numbers::<3>(point) {
            Some(p) => points.push(DVec3::from_array(p)),
            None => faults.push(Fault::json(format!("{path}/{k}"), "a point is three numbers, in metres")),
        }
    }
    (points.len() == expected).then_some(points)
}

fn read_joints(value: &Value, path: &str, faults: &mut Faults) -> Option<Vec<(String, Transform)>> {
    let Some(fields) = value.as_object() else {
        faults.push(Fault::json(path, "joints are an object of names").with_remedy(SHAPE));
        return None;
    };
    let mut joints = Vec::with_capacity(fields.len());
    for (name, local) in fields {
        match read_local(local) {
            Some(local) => joints.push((name.clone(), local)),
            None => {
                let cause =
                    "a joint has a rotation of four numbers, and may have a translation and a scale of three";
                faults.push(Fault::json(format!("{path}/{}", shown(name.as_bytes())), cause));
            }
        }
    }
    (joints.len() == fields.len()).then_some(joints)
}

fn read_local(local: &Value) -> Option<Transform> {
    let vector = |key: &str, absent: DVec3| match local.get(key) {
        Some(value) => numbers::<3>(value).map(DVec3::from_array),
        None => Some(absent),
    };
    let rotation = match local.get("rotation") {
        Some(value) => numbers::<4>(value).map(DQuat::from_array).filter(|q| q.length_squared() > 1e-6)?,
        None => DQuat::IDENTITY,
    };
    Some(Transform {
        translation: vector("translation", DVec3::ZERO)?,
        rotation: rotation.normalize(),
        scale: vector("scale", DVec3::ONE)?,
    })
}

fn read_limbs(value: &Value, faults: &mut Faults) -> Vec<(String, Vec<String>)> {
    let names = |list: &Value| {
        let list = list.as_array()?;
        list.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    };
    let mut limbs = Vec::new();
    for (joint, list) in value.as_object().into_iter().flatten() {
        match names(list) {
            Some(list) => limbs.push((joint.clone(), list)),
            None => faults.push(
                Fault::json(format!("/limbs/{}", shown(joint.as_bytes())), "limbs are a list of names")
                    .with_remedy(r#"write {"limbs":{"tail.1":["arm.R"]}}"#),
            ),
        }
    }
    limbs
}

fn numbers<const N: usize>(value: &Value) -> Option<[f64; N]> {
    let list = value.as_array().filter(|list| list.len() == N)?;
    let mut numbers = [0.0; N];
    for (number, value) in numbers.iter_mut().zip(list) {
        *number = value.as_f64().filter(|x| x.abs() <= MOST)?;
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

    /// Everything that may be wrong, with where it is said to be.
    #[test]
    fn faults_name_their_place() {
        let good = String::from_utf8(write_pairs(&file())).unwrap();
        let cases = [
            (String::new(), "empty"),
            ("{".into(), "line"),
            ("[]".into(), "no list of pairs"),
            (r#"{"pairs":[{}]}"#.into(), "/pairs/0/body"),
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
