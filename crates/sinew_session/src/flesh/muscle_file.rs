//! Muscles as JSON: as stored in files and projects.
//!
//! ```json
//! {"controls": [{"name": "smile"}, {"name": "flex", "follows": "elbow.L.bend"}],
//!  "muscles": [{"name": "cheek", "control": "smile", "template": "bump",
//!            "guide": {"skin": {"point": [0, 1.6, 0.1], "normal": [0, 0, 1]}},
//!            "samples": [{"at": 0, "amplitude": 0, "radius": 0.05, "depth": 0, "spin": 0}, …]},
//!           {"name": "flex", "control": "flex", "surface": {"cell_size": 0.05, "nodes": 1520},
//!            "samples": [{"at": 90, "forces": [[12, 0.1, 0, 3.5], …]}]}]}
//! ```
//! Lengths are metres, angles degrees (also `at`, where a control follows a joint), amplitudes newtons per cubic metre.
//! Files of older versions call the muscles `rigs`.

use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use sinew_flesh::muscle::{Control, ControlSource, Guide, Muscle, MuscleSet, MuscleShape, Samples, Template};
use sinew_formats::{
    FormatError,
    json::{Fields, Node, UnknownKeys, read_json, read_value},
};
use sinew_geom::Transform;

/// Nodes that a file may claim.
const MAX_NODES: usize = 2_000_000;
/// Forces and levels that all muscles of a file may have together: nodes times samples.
const MAX_FORCES: usize = 10_000_000;
/// Parameters that are angles.
const ANGLES: [&str; 4] = ["spin", "rx", "ry", "rz"];

const SHAPE: &str = r#"expected {"controls":[{"name":"smile"}],"muscles":[…]}"#;
const REMEDY: &str = "`sinew muscle add` writes muscle files";

/// Read a muscle file; `name` is for messages.
///
/// # Errors
/// All faults, with their paths.
pub fn read_muscles(bytes: &[u8], name: &str) -> Result<MuscleSet, FormatError> {
    read_json(bytes, name, (SHAPE, REMEDY), read_set)
}

/// Muscles out of a project or a command, which later versions may extend.
///
/// # Errors
/// All faults, with their paths.
pub fn muscles_from_json(value: &Value) -> Result<MuscleSet, FormatError> {
    read_value(value, "muscles", (SHAPE, REMEDY), UnknownKeys::Ignore, read_set)
}

/// As JSON.
pub fn muscles_to_json(set: &MuscleSet) -> Value {
    let control = |control: &Control| {
        let mut value = json!({"name": control.name});
        if let Some(follows) = control.source.text() {
            value["follows"] = json!(follows);
        }
        if control.range != [0.0, 1.0] {
            value["range"] = json!(control.range);
        }
        value
    };
    let muscle = |muscle: &Muscle| muscle_to_json(muscle, unit(&set.controls, muscle));
    json!({
        "controls": set.controls.iter().map(control).collect::<Vec<_>>(),
        "muscles": set.muscles.iter().map(muscle).collect::<Vec<_>>(),
    })
}

/// Degrees per radian for controls that are angles.
fn unit(controls: &[Control], muscle: &Muscle) -> f64 {
    let control = controls.iter().find(|control| control.name == muscle.control);
    match control.map(|control| &control.source) {
        None | Some(ControlSource::Free) => 1.0,
        _ => 1f64.to_degrees(),
    }
}

fn muscle_to_json(muscle: &Muscle, unit: f64) -> Value {
    let mut value = json!({"name": muscle.name, "control": muscle.control});
    if muscle.stiffen != 1.0 {
        value["stiffen"] = json!(muscle.stiffen);
    }
    if !muscle.pose.is_empty() {
        let local = |(name, local): &(String, Transform)| {
            let t = local.translation.to_array();
            (name.clone(), json!({"translation": t, "rotation": local.rotation.to_array()}))
        };
        value["pose"] = Value::Object(muscle.pose.iter().map(local).collect());
    }
    match &muscle.shape {
        MuscleShape::Template { template, guide, samples } => {
            value["template"] = json!(template.name());
            value["guide"] = guide_to_json(guide);
            let names = muscle.parameters();
            let sample = |(at, eta): &(f64, Vec<f64>)| {
                let mut sample = json!({"at": at * unit});
                for (name, x) in names.iter().zip(eta) {
                    sample[*name] = json!(if ANGLES.contains(name) { x.to_degrees() } else { *x });
                }
                sample
            };
            value["samples"] = samples.list().iter().map(sample).collect();
        }
        MuscleShape::Surface { cell_size, levels, samples } => {
            let n_nodes = samples.first().map_or(0, |(_, forces)| forces.len());
            value["surface"] = json!({"cell_size": cell_size, "nodes": n_nodes});
            if !levels.is_empty() {
                value["surface"]["levels"] = json!(runs(levels));
            }
            let sample = |(at, forces): &(f64, Vec<DVec3>)| {
                let some = forces.iter().enumerate().filter(|(_, f)| **f != DVec3::ZERO);
                let forces: Vec<Value> = some.map(|(n, f)| json!([n, f.x, f.y, f.z])).collect();
                json!({"at": at * unit, "forces": forces})
            };
            value["samples"] = samples.iter().map(sample).collect();
        }
    }
    value
}

fn guide_to_json(guide: &Guide) -> Value {
    match guide {
        Guide::Bone { joint, ends } => {
            json!({"bone": {"joint": joint, "ends": ends.map(|p| p.to_array())}})
        }
        Guide::Skin { point, normal } => {
            json!({"skin": {"point": point.to_array(), "normal": normal.to_array()}})
        }
        Guide::Free => json!("free"),
    }
}

fn read_set(root: &Node<'_>) -> Option<MuscleSet> {
    let fields = root.fields_if(&["controls", "muscles"], |key| key == "rigs", SHAPE)?;
    let controls = fields.required("controls", |list| list.each(read_control));
    let list = fields.find("muscles").or_else(|| fields.find("rigs")).or_else(|| fields.get("muscles"))?;
    let mut left = MAX_FORCES;
    let muscles = list.each(|node| read_muscle(node, &mut left));
    let (controls, mut muscles) = (controls?, muscles?);
    for muscle in &mut muscles {
        let unit = unit(&controls, muscle);
        match &mut muscle.shape {
            MuscleShape::Surface { samples, .. } => samples.iter_mut().for_each(|(at, _)| *at /= unit),
            MuscleShape::Template { samples, .. } => {
                let mut scaled = Samples::default();
                samples.list().iter().for_each(|(at, eta)| scaled.record(at / unit, eta.clone()));
                *samples = scaled;
            }
        }
    }
    let set = MuscleSet { controls, muscles };
    match set.check() {
        Ok(()) => Some(set),
        Err(error) => root.fault(error.to_string()),
    }
}

fn read_control(node: &Node<'_>) -> Option<Control> {
    let fields = node.fields(&["name", "follows", "range"], r#"expected {"name":"smile"}"#)?;
    let name = fields.required("name", |name| name.text("a name"));
    let source = fields.or("follows", ControlSource::Free, |follows| {
        match ControlSource::parse(&follows.text("a joint with .bend, .rx, .ry or .rz")?, None) {
            ControlSource::Free => follows.fault("expected a joint with .bend, .rx, .ry or .rz"),
            source => Some(source),
        }
    });
    let range = fields.or("range", [0.0, 1.0], |node| match node.numbers()? {
        [low, high] if low >= high => node.fault("the first number must be less than the second"),
        range => Some(range),
    });
    Some(Control { source: source?, range: range?, ..Control::free(&name?) })
}

/// `left` is what the file may still have of forces.
fn read_muscle(node: &Node<'_>, left: &mut usize) -> Option<Muscle> {
    const KEYS: [&str; 8] = ["name", "control", "template", "guide", "surface", "samples", "stiffen", "pose"];
    let fields = node.fields(&KEYS, r#"expected {"name":"cheek","control":"smile","template":"bump",…}"#)?;
    let name = fields.required("name", |name| name.text("a name"));
    let control = fields.required("control", |name| name.text("the name of a control"));
    let stiffen = fields.or("stiffen", 1.0, Node::number);
    let pose = fields.or("pose", Vec::new(), |pose| {
        pose.each_named(|name, local| Some((name.to_owned(), read_local(local)?)))
    });
    let samples = fields.get("samples");
    let shape = match (fields.find("template"), fields.find("surface")) {
        (Some(template), None) => read_template(&fields, &template, &samples?),
        (None, Some(surface)) => read_surface(&surface, &samples?, left),
        _ => node.fault("a muscle has either a \"template\" or a \"surface\""),
    };
    Some(Muscle { name: name?, control: control?, shape: shape?, stiffen: stiffen?, pose: pose? })
}

/// The local transform of a joint.
fn read_local(node: &Node<'_>) -> Option<Transform> {
    let shape = r#"expected {"translation":[0,0,0],"rotation":[0,0,0,1]}"#;
    let fields = node.fields(&["translation", "rotation"], shape)?;
    let translation = fields.required("translation", Node::vector);
    let rotation = fields.required("rotation", |node| {
        let rotation = DQuat::from_array(node.numbers::<4>()?);
        if rotation.length() < 0.5 {
            return node.fault("the rotation must be a quaternion of length 1");
        }
        Some(rotation.normalize())
    });
    Some(Transform { translation: translation?, rotation: rotation?, ..Transform::IDENTITY })
}

fn read_template(fields: &Fields<'_>, node: &Node<'_>, list: &Node<'_>) -> Option<MuscleShape> {
    let name = node.text("the name of a template")?;
    let Some(template) = Template::from_name(&name) else {
        let known = Template::ALL.map(Template::name).join(", ");
        return node.fault(format!("there is no template {name:?}; there are: {known}"));
    };
    let guide = fields.required("guide", read_guide)?;
    let names: Vec<&str> = template.parameters().iter().chain(guide.parameters()).copied().collect();
    let keys: Vec<&str> = names.iter().copied().chain(["at"]).collect();
    let read = |sample: &Node<'_>| {
        let fields = sample.fields(&keys, "expected \"at\" and every parameter of the template and guide")?;
        let at = fields.required("at", Node::number);
        let eta: Option<Vec<f64>> = (names.iter())
            .map(|name| {
                let x = fields.required(name, Node::number)?;
                Some(if ANGLES.contains(name) { x.to_radians() } else { x })
            })
            .collect();
        Some((at?, eta?))
    };
    let mut samples = Samples::default();
    list.each(read)?.into_iter().for_each(|(at, eta)| samples.record(at, eta));
    Some(MuscleShape::Template { template, guide, samples })
}

fn read_guide(node: &Node<'_>) -> Option<Guide> {
    match node.variant() {
        Some(("bone", bone)) => {
            let shape = r#"expected {"joint":"spine","ends":[[0,0,0],[0,1,0]]}"#;
            let fields = bone.fields(&["joint", "ends"], shape)?;
            let joint = fields.required("joint", |name| name.text("the name of a joint"));
            let ends = fields.required("ends", |list| list.each(Node::vector));
            match (joint?, ends?.as_slice()) {
                (_, [a, b]) if a == b => bone.fault("the bone has no length"),
                (joint, &[a, b]) => Some(Guide::Bone { joint, ends: [a, b] }),
                _ => bone.fault("expected two ends"),
            }
        }
        Some(("skin", skin)) => {
            let fields =
                skin.fields(&["point", "normal"], r#"expected {"point":[0,1,0],"normal":[0,0,1]}"#)?;
            let point = fields.required("point", Node::vector);
            let normal = fields.required("normal", |node| match node.vector()?.try_normalize() {
                Some(unit) => Some(unit),
                None => node.fault("the normal has no length"),
            });
            Some(Guide::Skin { point: point?, normal: normal? })
        }
        _ if node.is_text("free") => Some(Guide::Free),
        _ => node.fault("expected \"free\", {\"bone\": …} or {\"skin\": …}"),
    }
}

fn read_surface(node: &Node<'_>, list: &Node<'_>, left: &mut usize) -> Option<MuscleShape> {
    let fields =
        node.fields(&["cell_size", "nodes", "levels"], r#"expected {"cell_size":0.05,"nodes":1520}"#)?;
    let cell_size = fields.required("cell_size", |node| {
        node.number_in(f64::MIN_POSITIVE..=f64::MAX, "a positive number of metres")
    });
    let nodes = fields.required("nodes", |node| {
        let what = format!("a whole number from 1 to {MAX_NODES}");
        let n = node.number_in(1.0..=MAX_NODES as f64, &what)?;
        if n.fract() == 0.0 { Some(n) } else { node.fault(format!("expected {what}")) }
    });
    let levels = fields.or("levels", Vec::new(), read_runs);
    let (cell_size, n, levels) = (cell_size?, nodes? as usize, levels?);
    let Some(rest) = left.checked_sub(n * list.n_entries() + levels.len()) else {
        let cause = format!("a file can have {MAX_FORCES} forces: nodes times samples, of all muscles");
        return node.fault(cause);
    };
    *left = rest;
    let mut samples = list.each(|sample| read_forces(sample, n))?;
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    if samples.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return list.fault("two samples have the same \"at\"");
    }
    Some(MuscleShape::Surface { cell_size, levels, samples })
}

/// The forces of one sample on `n` nodes.
fn read_forces(node: &Node<'_>, n: usize) -> Option<(f64, Vec<DVec3>)> {
    let fields = node.fields(&["at", "forces"], r#"expected {"at":1,"forces":[[0,0.1,0,3.5],…]}"#)?;
    let at = fields.required("at", Node::number);
    let what = format!("[node, x, y, z] with a node below {n}");
    let given = fields.required("forces", |list| list.values(&what, |value| force(value, n)));
    let mut forces = vec![DVec3::ZERO; n];
    given?.into_iter().for_each(|(node, force)| forces[node] = force);
    Some((at?, forces))
}

/// A node and the force on it.
fn force(value: &Value, n: usize) -> Option<(usize, DVec3)> {
    let [node, x, y, z] = value.as_array()?.as_slice() else { return None };
    let node = node.as_f64().filter(|node| (0.0..n as f64).contains(node) && node.fract() == 0.0)?;
    let force = DVec3::new(x.as_f64()?, y.as_f64()?, z.as_f64()?);
    force.is_finite().then_some((node as usize, force))
}

/// Levels of cells as runs of equal ones: level, count, level, count, …
fn runs(levels: &[u8]) -> Vec<usize> {
    levels.chunk_by(|a, b| a == b).flat_map(|run| [run[0] as usize, run.len()]).collect()
}

fn read_runs(node: &Node<'_>) -> Option<Vec<u8>> {
    let numbers = node.values("a whole number", Value::as_u64)?;
    let mut levels = Vec::new();
    for run in numbers.chunks(2) {
        let [level, count] = *run else { return node.fault("expected pairs of a level and a count") };
        if level > 5 || count < 1 || count > (MAX_NODES - levels.len()) as u64 {
            return node.fault("levels go from 0 to 5, for as many cells as there are");
        }
        levels.extend(std::iter::repeat_n(level as u8, count as usize));
    }
    Some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> MuscleSet {
        let flex = Control { source: ControlSource::parse("elbow.L.bend", None), ..Control::free("flex") };
        let skin = Guide::Skin { point: DVec3::Y, normal: DVec3::Z };
        let bone = Guide::Bone { joint: "spine".into(), ends: [DVec3::ZERO, DVec3::Y] };
        let forces = vec![DVec3::ZERO, DVec3::new(1.0, -2.0, 0.25)];
        let arm = Muscle { stiffen: 3.0, ..Muscle::surface("arm", "flex", 0.05, (1.2, forces)) };
        let belly = vec![3e5, 0.2, -0.05, 0.0];
        let swell = vec![1.0, 0.1, 0.2, 0.5, 0.0, 0.3];
        let muscles = vec![
            Muscle::template("belly", "breath", Template::Bump, skin, belly),
            arm,
            Muscle::template("swell", "breath", Template::Torus, bone, swell),
        ];
        MuscleSet { controls: vec![Control::free("breath"), flex], muscles }
    }

    #[test]
    fn what_is_written_is_read_also_under_the_old_name() {
        let set = set();
        let mut value = muscles_to_json(&set);
        let again = read_muscles(value.to_string().as_bytes(), "a.json").unwrap();
        assert_eq!(again.controls, set.controls);
        assert_eq!(muscles_to_json(&again), value);
        let gamma = again.muscles[1].sampled_at()[1];
        assert!((gamma - 1.2).abs() < 1e-12 && again.muscles[1].stiffen == 3.0);
        let muscles = value["muscles"].take();
        value.as_object_mut().unwrap().remove("muscles");
        value["rigs"] = muscles;
        assert_eq!(read_muscles(value.to_string().as_bytes(), "old.json").unwrap(), again);
    }

    #[test]
    fn faults_name_their_place() {
        let good = muscles_to_json(&set());
        let broken = |change: &dyn Fn(&mut Value)| {
            let mut value = good.clone();
            change(&mut value);
            read_muscles(value.to_string().as_bytes(), "a.json").unwrap_err().to_string()
        };
        let many: Vec<Value> = (0..20).map(|k| json!({ "at": k, "forces": [] })).collect();
        let huge = |v: &mut Value| {
            v["muscles"][1]["surface"]["nodes"] = 1_000_000.into();
            v["muscles"][1]["samples"] = many.clone().into();
        };
        type Change<'a> = &'a dyn Fn(&mut Value);
        let faults: [(Change<'_>, &str); 11] = [
            (
                &|v| v["muscles"][0]["template"] = "lump".into(),
                "/muscles/0/template: there is no template \"lump\"",
            ),
            (
                &|v| v["muscles"][0]["samples"][1]["radius"] = "x".into(),
                "/muscles/0/samples/1/radius: expected a number",
            ),
            (&|v| v["muscles"][1]["samples"][1]["forces"] = json!([[7, 0, 0, 0]]), "a node below 2"),
            (&|v| v["muscles"][1]["surface"]["nodes"] = 1e12.into(), "expected a whole number from 1 to"),
            (&huge, "/muscles/1/surface: a file can have 10000000 forces"),
            (&|v| v["controls"][1]["name"] = "breath".into(), "\"breath\" exists twice"),
            (
                &|v| v["controls"][1]["follows"] = "nothing".into(),
                "/controls/1/follows: expected a joint with .bend",
            ),
            (&|v| *v = 3.into(), "expected an object with controls, muscles"),
            (&|v| v["muscles"][0]["guide"] = 3.into(), "/muscles/0/guide: expected \"free\""),
            (&|v| v["muscles"][0]["stifen"] = 3.into(), "did you mean \"stiffen\"?"),
            (&|v| v["controls"][0]["range"] = json!([1, 0]), "/controls/0/range: the first number"),
        ];
        for (change, part) in faults {
            let message = broken(change);
            assert!(message.contains(part), "{part}\nis not in\n{message}");
        }
        // All of them at once, and in a project keys of later versions are skipped.
        let both = broken(&|v| {
            v["controls"][1]["follows"] = "nothing".into();
            v["muscles"][0]["guide"] = 3.into();
        });
        assert!(both.contains("/controls/1") && both.contains("/muscles/0"), "{both}");
        let mut later = good.clone();
        later["muscles"][0]["colour"] = "red".into();
        assert!(muscles_from_json(&later).is_ok());
    }
}
