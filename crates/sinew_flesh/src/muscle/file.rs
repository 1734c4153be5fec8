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

use super::{Control, ControlSource, Guide, Muscle, MuscleError, MuscleSet, MuscleShape, Samples, Template};
use glam::{DQuat, DVec3};
use serde_json::{Map, Value, json};
use sinew_geom::Transform;

/// Nodes that a file may claim.
const MAX_NODES: usize = 2_000_000;
/// Forces and levels that all muscles of a file may have together: nodes times samples.
const MAX_FORCES: usize = 10_000_000;
/// Parameters that are angles.
const ANGLES: [&str; 4] = ["spin", "rx", "ry", "rz"];

/// As JSON.
pub fn to_json(set: &MuscleSet) -> Value {
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
    json!({
        "controls": set.controls.iter().map(control).collect::<Vec<_>>(),
        "rigs": set.rigs.iter().map(|rig| rig_to_json(rig, unit(set, rig))).collect::<Vec<_>>(),
    })
}

/// Degrees per radian for controls that are angles.
fn unit(set: &MuscleSet, rig: &Muscle) -> f64 {
    let control = set.controls.iter().find(|control| control.name == rig.control);
    match control.map(|control| &control.source) {
        None | Some(ControlSource::Free) => 1.0,
        _ => 1f64.to_degrees(),
    }
}

fn rig_to_json(rig: &Muscle, unit: f64) -> Value {
    let mut value = json!({"name": rig.name, "control": rig.control});
    if rig.stiffen != 1.0 {
        value["stiffen"] = json!(rig.stiffen);
    }
    if !rig.pose.is_empty() {
        let local = |(name, local): &(String, Transform)| {
            let t = local.translation.to_array();
            (name.clone(), json!({"translation": t, "rotation": local.rotation.to_array()}))
        };
        value["pose"] = Value::Object(rig.pose.iter().map(local).collect());
    }
    match &rig.shape {
        MuscleShape::Template { template, guide, samples } => {
            value["template"] = json!(template.name());
            value["guide"] = guide_to_json(guide);
            let names = rig.parameters();
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

/// A place in a file, for messages.
#[derive(Clone)]
struct At<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> At<'a> {
    fn wrong<T>(&self, cause: impl Into<String>) -> Result<T, MuscleError> {
        let path = if self.path.is_empty() { "the file".to_owned() } else { self.path.clone() };
        Err(MuscleError::File { path, cause: cause.into() })
    }

    fn get(&self, key: &str) -> Option<At<'a>> {
        let dot = if self.path.is_empty() { "" } else { "." };
        Some(At { value: self.value.get(key)?, path: format!("{}{dot}{key}", self.path) })
    }

    fn need(&self, key: &str) -> Result<At<'a>, MuscleError> {
        match self.get(key) {
            Some(at) => Ok(at),
            None => self.wrong(format!("{key:?} is missing")),
        }
    }

    fn list(&self) -> Result<Vec<At<'a>>, MuscleError> {
        let Some(list) = self.value.as_array() else { return self.wrong("expected a list") };
        let one = |(at, value)| At { value, path: format!("{}[{at}]", self.path) };
        Ok(list.iter().enumerate().map(one).collect())
    }

    fn object(&self) -> Result<&'a Map<String, Value>, MuscleError> {
        self.value.as_object().map_or_else(|| self.wrong("expected an object"), Ok)
    }

    fn text(&self) -> Result<&'a str, MuscleError> {
        self.value.as_str().map_or_else(|| self.wrong("expected a text"), Ok)
    }

    fn number(&self) -> Result<f64, MuscleError> {
        self.value.as_f64().filter(|x| x.is_finite()).map_or_else(|| self.wrong("expected a number"), Ok)
    }

    fn numbers<const N: usize>(&self) -> Result<[f64; N], MuscleError> {
        let list = self.list()?;
        if list.len() != N {
            return self.wrong(format!("expected {N} numbers, found {}", list.len()));
        }
        let mut out = [0.0; N];
        for (to, from) in out.iter_mut().zip(&list) {
            *to = from.number()?;
        }
        Ok(out)
    }

    fn vector(&self) -> Result<DVec3, MuscleError> {
        Ok(DVec3::from_array(self.numbers::<3>()?))
    }
}

/// From JSON; everything is checked.
///
/// # Errors
/// Where what is wrong: a path as `rigs[2].samples[0].radius`, and the cause.
pub fn from_json(value: &Value) -> Result<MuscleSet, MuscleError> {
    let root = At { value, path: String::new() };
    root.object()?;
    let mut set = MuscleSet::default();
    for at in root.need("controls")?.list()? {
        set.controls.push(read_control(&at)?);
    }
    let mut left = MAX_FORCES;
    for at in root.need("rigs")?.list()? {
        let mut rig = read_rig(&at, &mut left)?;
        let unit = unit(&set, &rig);
        rig.shape = match rig.shape {
            MuscleShape::Surface { cell_size, levels, samples } => {
                let samples = samples.into_iter().map(|(at, f)| (at / unit, f)).collect();
                MuscleShape::Surface { cell_size, levels, samples }
            }
            MuscleShape::Template { template, guide, samples } => {
                let mut scaled = Samples::default();
                samples.list().iter().for_each(|(at, eta)| scaled.record(at / unit, eta.clone()));
                MuscleShape::Template { template, guide, samples: scaled }
            }
        };
        set.rigs.push(rig);
    }
    set.check()?;
    Ok(set)
}

fn read_control(at: &At) -> Result<Control, MuscleError> {
    let mut control = Control::free(at.need("name")?.text()?);
    if let Some(follows) = at.get("follows") {
        control.source = ControlSource::parse(follows.text()?, None);
        if control.source == ControlSource::Free {
            return follows.wrong("expected a joint with .bend, .rx, .ry or .rz");
        }
    }
    if let Some(range) = at.get("range") {
        control.range = range.numbers()?;
        if control.range[0] >= control.range[1] {
            return range.wrong("the first number must be less than the second");
        }
    }
    Ok(control)
}

fn read_rig(at: &At, left: &mut usize) -> Result<Muscle, MuscleError> {
    let (name, control) = (at.need("name")?.text()?.to_owned(), at.need("control")?.text()?.to_owned());
    let stiffen = at.get("stiffen").map_or(Ok(1.0), |at| at.number())?;
    let mut pose = Vec::new();
    if let Some(at) = at.get("pose") {
        for name in at.object()?.keys() {
            let local = At { value: &at.value[name], path: format!("{}.{name}", at.path) };
            let rotation = DQuat::from_array(local.need("rotation")?.numbers::<4>()?);
            if rotation.length() < 0.5 {
                return local.wrong("the rotation must be a quaternion of length 1");
            }
            let translation = local.need("translation")?.vector()?;
            let local = Transform { translation, rotation: rotation.normalize(), ..Transform::IDENTITY };
            pose.push((name.clone(), local));
        }
    }
    let samples = at.need("samples")?.list()?;
    let shape = match (at.get("template"), at.get("surface")) {
        (Some(template), None) => read_template(at, &template, &samples)?,
        (None, Some(surface)) => read_surface(&surface, &samples, left)?,
        _ => return at.wrong("a rig has either a \"template\" or a \"surface\""),
    };
    Ok(Muscle { name, control, shape, stiffen, pose })
}

fn read_template(at: &At, name: &At, list: &[At]) -> Result<MuscleShape, MuscleError> {
    let Some(template) = Template::from_name(name.text()?) else {
        let known = Template::ALL.map(Template::name).join(", ");
        return name.wrong(format!("there is no template {:?}; there are: {known}", name.text()?));
    };
    let guide = read_guide(&at.need("guide")?)?;
    let mut samples = Samples::default();
    for sample in list {
        let mut eta = Vec::new();
        for name in template.parameters().iter().chain(guide.parameters()) {
            let x = sample.need(name)?.number()?;
            eta.push(if ANGLES.contains(name) { x.to_radians() } else { x });
        }
        samples.record(sample.need("at")?.number()?, eta);
    }
    Ok(MuscleShape::Template { template, guide, samples })
}

fn read_guide(at: &At) -> Result<Guide, MuscleError> {
    if at.value == "free" {
        return Ok(Guide::Free);
    }
    if let Some(bone) = at.get("bone") {
        let ends = bone.need("ends")?;
        let list = ends.list()?;
        let [a, b] = list.as_slice() else { return ends.wrong("expected two places") };
        let (joint, ends) = (bone.need("joint")?.text()?.to_owned(), [a.vector()?, b.vector()?]);
        if ends[0] == ends[1] {
            return bone.wrong("the bone has no length");
        }
        return Ok(Guide::Bone { joint, ends });
    }
    let Some(skin) = at.get("skin") else {
        return at.wrong("expected \"free\", {\"bone\": …} or {\"skin\": …}");
    };
    let normal = skin.need("normal")?;
    match normal.vector()?.try_normalize() {
        Some(unit) => Ok(Guide::Skin { point: skin.need("point")?.vector()?, normal: unit }),
        None => normal.wrong("the normal has no length"),
    }
}

/// `left` is what the file may still have of forces.
fn read_surface(at: &At, list: &[At], left: &mut usize) -> Result<MuscleShape, MuscleError> {
    let (cell_size, n) = (at.need("cell_size")?.number()?, at.need("nodes")?.number()?);
    if !(n >= 1.0 && n <= MAX_NODES as f64 && n.fract() == 0.0) {
        return at.wrong(format!("\"nodes\" must be a whole number from 1 to {MAX_NODES}"));
    }
    if cell_size <= 0.0 {
        return at.wrong("\"cell_size\" must be positive");
    }
    let levels = at.get("levels").map_or(Ok(Vec::new()), |at| read_runs(&at))?;
    match left.checked_sub(n as usize * list.len() + levels.len()) {
        Some(rest) => *left = rest,
        None => {
            return at
                .wrong(format!("a file can have {MAX_FORCES} forces: nodes times samples, of all rigs"));
        }
    }
    let mut samples: Vec<(f64, Vec<DVec3>)> = Vec::new();
    for sample in list {
        let mut forces = vec![DVec3::ZERO; n as usize];
        for entry in sample.need("forces")?.list()? {
            let [node, x, y, z] = entry.numbers()?;
            match forces.get_mut(node as usize).filter(|_| node >= 0.0 && node.fract() == 0.0) {
                Some(force) => *force = DVec3::new(x, y, z),
                None => return entry.wrong(format!("there is no node {node}, there are {n}")),
            }
        }
        samples.push((sample.need("at")?.number()?, forces));
    }
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    if samples.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return at.wrong("two samples have the same \"at\"");
    }
    Ok(MuscleShape::Surface { cell_size, levels, samples })
}

/// Levels of cells as runs of equal ones: level, count, level, count, …
fn runs(levels: &[u8]) -> Vec<usize> {
    levels.chunk_by(|a, b| a == b).flat_map(|run| [run[0] as usize, run.len()]).collect()
}

fn read_runs(at: &At) -> Result<Vec<u8>, MuscleError> {
    let mut levels = Vec::new();
    for run in at.list()?.chunks(2) {
        let [level, count] = run else { return at.wrong("expected pairs of a level and a count") };
        let (level, count) = (level.number()?, count.number()?);
        let fits = (0.0..=5.0).contains(&level) && count >= 1.0 && count <= MAX_NODES as f64;
        if !fits || levels.len() + count as usize > MAX_NODES {
            return at.wrong("levels go from 0 to 5, for as many cells as there are");
        }
        levels.extend(std::iter::repeat_n(level as u8, count as usize));
    }
    Ok(levels)
}
