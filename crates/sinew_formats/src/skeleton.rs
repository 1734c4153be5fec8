//! `skeleton.json`: a skeleton with chosen degrees of freedom, markers of its surroundings, and poses.

use crate::{
    Fault, FormatError, Place,
    text::{Faults, without_mark},
};
use glam::DVec3;
use serde::Deserialize;
use serde_json::{Map, Value};
use sinew_geom::{Dof, DofKind, EulerOrder, Joint, Pose, Rig, Transform};
use std::collections::HashMap;

/// What a skeleton file holds, in metres and radians.
#[derive(Debug, Clone, PartialEq)]
pub struct SkeletonFile {
    /// The joints with their degrees of freedom.
    pub rig: Rig,
    /// Named points of the surroundings.
    pub markers: Vec<(String, DVec3)>,
    /// Named poses.
    pub poses: Vec<(String, Pose)>,
    /// Names of the variants the file offers.
    pub variants: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default = "metres")]
    unit: String,
    #[serde(default)]
    euler: Option<String>,
    joints: Vec<Entry>,
    #[serde(default)]
    markers: Map<String, Value>,
    #[serde(default)]
    poses: Map<String, Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    parent: Option<String>,
    #[serde(default)]
    offset: [f64; 3],
    #[serde(flatten)]
    freedom: Freedom,
}

#[derive(Deserialize, Clone)]
struct Freedom {
    #[serde(default)]
    dofs: Vec<String>,
    /// Degrees, or lengths in the unit of the file.
    #[serde(default)]
    limits_deg: Vec<[f64; 2]>,
}

fn metres() -> String {
    "m".into()
}

const VARIANT: &str = "variant_";
const SHAPE: &str = "expected {\"joints\":[{\"name\":\"Knee\",\"parent\":\"Hip\",\"offset\":[0,-43,0],\"dofs\":[\"rx\"],\
                     \"limits_deg\":[[0,150]]}]}";

/// Read a skeleton, or one of its variants (`"variant_NAME"`: other freedom of some joints). A translation is a joint's
/// coordinate in its parent's space, in limits and poses alike; what a pose does not name rests.
///
/// # Errors
/// All faults with their JSON paths: joints twice, unknown or later parents, unknown degrees of freedom, limits that do
/// not match, numbers that are none, an unknown variant.
pub fn read_skeleton(bytes: &[u8], variant: Option<&str>, name: &str) -> Result<SkeletonFile, FormatError> {
    let file: File = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line().max(1)), error.to_string());
        FormatError::faults(name, vec![fault.with_remedy(SHAPE)])
    })?;
    let mut reader = Reader { scale: 1.0, faults: Faults::default() };
    reader.scale = reader.unit(&file.unit);
    let euler = reader.euler(file.euler.as_deref());
    let variants: Vec<String> =
        file.rest.keys().filter_map(|key| Some(key.strip_prefix(VARIANT)?.to_owned())).collect();
    let freedoms = reader.variant(&file, variant, &variants);
    let joints = reader.joints(&file.joints, &freedoms, euler);
    let markers = reader.markers(&file.markers);
    reader.faults.finish(name)?;
    let whole = |error: sinew_geom::GeomError| {
        FormatError::faults(
            name,
            vec![Fault::json("/joints", error.to_string()).with_remedy("correct it there")],
        )
    };
    let rig = Rig::new(joints).map_err(whole)?;
    let mut reader = Reader { faults: Faults::default(), ..reader };
    let poses = file.poses.iter().map(|(key, pose)| (key.clone(), reader.pose(&rig, key, pose))).collect();
    reader.faults.finish(name)?;
    Ok(SkeletonFile { rig, markers, poses, variants })
}

struct Reader {
    scale: f64,
    faults: Faults,
}

impl Reader {
    fn fault(&mut self, path: impl Into<String>, cause: impl Into<String>, remedy: &str) {
        self.faults.push(Fault::json(path, cause).with_remedy(remedy));
    }

    fn unit(&mut self, unit: &str) -> f64 {
        match unit {
            "m" => 1.0,
            "cm" => 0.01,
            "mm" => 0.001,
            _ => {
                self.fault("/unit", format!("unit {unit:?} is unknown"), "write \"m\", \"cm\" or \"mm\"");
                1.0
            }
        }
    }

    /// `R = Rz*Ry*Rx`, or just `zyx`.
    fn euler(&mut self, text: Option<&str>) -> EulerOrder {
        let Some(text) = text else { return EulerOrder::default() };
        let axes: Vec<usize> = text.chars().filter_map(|c| "xyz".find(c)).collect();
        let order = axes.try_into().ok().and_then(EulerOrder::from_axes);
        if order.is_none() {
            self.fault(
                "/euler",
                format!("{text:?} is no order of rotations"),
                "write for example \"R = Rz*Ry*Rx\"",
            );
        }
        order.unwrap_or_default()
    }

    fn variant(&mut self, file: &File, wanted: Option<&str>, known: &[String]) -> HashMap<String, Freedom> {
        let Some(wanted) = wanted else { return HashMap::new() };
        let Some(value) = file.rest.get(&format!("{VARIANT}{wanted}")) else {
            let listed = if known.is_empty() {
                "the file has none".into()
            } else {
                format!("there are {}", known.join(", "))
            };
            self.fault("", format!("there is no variant {wanted:?}"), &listed);
            return HashMap::new();
        };
        match HashMap::<String, Freedom>::deserialize(value) {
            Ok(freedoms) => {
                let strange =
                    freedoms.keys().filter(|name| file.joints.iter().all(|joint| joint.name != **name)).min();
                if let Some(name) = strange {
                    self.fault(
                        format!("/{VARIANT}{wanted}/{name}"),
                        "there is no such joint",
                        "name one of /joints",
                    );
                }
                freedoms
            }
            Err(error) => {
                self.fault(format!("/{VARIANT}{wanted}"), error.to_string(), SHAPE);
                HashMap::new()
            }
        }
    }

    fn joints(
        &mut self,
        entries: &[Entry],
        freedoms: &HashMap<String, Freedom>,
        euler: EulerOrder,
    ) -> Vec<Joint> {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut joints = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let path = format!("/joints/{index}");
            let parent = entry.parent.as_deref().and_then(|parent| {
                let found = seen.get(parent).copied();
                if found.is_none() {
                    let cause =
                        format!("parent {parent:?} of {:?} is not among the joints before it", entry.name);
                    self.fault(format!("{path}/parent"), cause, "list parents before their children");
                }
                found
            });
            if seen.insert(&entry.name, index).is_some() {
                self.fault(
                    format!("{path}/name"),
                    format!("joint {:?} stands twice", entry.name),
                    "give each joint a name of its own",
                );
            }
            let offset = DVec3::from_array(entry.offset) * self.scale;
            let mut joint = Joint::new(&entry.name, parent, Transform::from_translation(offset));
            joint.euler = euler;
            joint.dofs = self.dofs(freedoms.get(&entry.name).unwrap_or(&entry.freedom), offset, &path);
            joints.push(joint);
        }
        joints
    }

    fn dofs(&mut self, freedom: &Freedom, offset: DVec3, path: &str) -> Vec<Dof> {
        if !freedom.limits_deg.is_empty() && freedom.limits_deg.len() != freedom.dofs.len() {
            let cause = format!("{} limits for {} dofs", freedom.limits_deg.len(), freedom.dofs.len());
            self.fault(format!("{path}/limits_deg"), cause, "give each a pair, or none");
        }
        let mut dofs: Vec<Dof> = Vec::new();
        for (index, text) in freedom.dofs.iter().enumerate() {
            let path = format!("{path}/dofs/{index}");
            let Some(kind) = DofKind::from_suffix(text) else {
                self.fault(
                    path,
                    format!("{text:?} is no degree of freedom"),
                    "write tx, ty, tz, rx, ry or rz",
                );
                continue;
            };
            if dofs.iter().any(|dof| dof.kind == kind) {
                self.fault(path, format!("{text:?} stands twice"), "name each once");
                continue;
            }
            let range = freedom.limits_deg.get(index).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            if range[0] > range[1] {
                self.fault(
                    path,
                    format!("its limits {} .. {} are empty", range[0], range[1]),
                    "write the smaller first",
                );
            }
            // Ranges of a rig count from rest.
            let at = |x: f64| match kind as usize {
                axis @ 0..3 => x * self.scale - offset[axis],
                _ => x.to_radians(),
            };
            dofs.push(Dof { kind, range: range.map(at) });
        }
        dofs
    }

    fn markers(&mut self, markers: &Map<String, Value>) -> Vec<(String, DVec3)> {
        let mut points = Vec::new();
        for (name, value) in markers {
            match <[f64; 3]>::deserialize(value) {
                Ok(point) => points.push((name.clone(), DVec3::from_array(point) * self.scale)),
                Err(_) => self.fault(format!("/markers/{name}"), "a marker is no point", "write [x, y, z]"),
            }
        }
        points
    }

    fn pose(&mut self, rig: &Rig, name: &str, value: &Value) -> Pose {
        let mut values: Vec<Vec<f64>> =
            rig.joints().iter().map(|joint| vec![0.0; joint.dofs.len()]).collect();
        let Some(entries) = value.as_object() else {
            self.fault(format!("/poses/{name}"), "a pose is no object", "write {\"Knee.rx\": 30}");
            return rig.rest_pose();
        };
        for (key, value) in entries {
            let path = format!("/poses/{name}/{key}");
            let place = key.rsplit_once('.').and_then(|(joint, kind)| {
                let joint = rig.find(joint)?;
                Some((joint, DofKind::from_suffix(kind)?))
            });
            let (Some((joint, kind)), Some(x)) = (place, value.as_f64()) else {
                self.fault(path, "this is no value of a degree of freedom", "write \"JOINT.rx\": DEGREES");
                continue;
            };
            let of = &rig.joints()[joint];
            // A pose may name what this variant does not let move.
            if let Some(index) = of.dofs.iter().position(|dof| dof.kind == kind) {
                values[joint][index] = match kind as usize {
                    axis @ 0..3 => x * self.scale - of.rest.translation[axis],
                    _ => x.to_radians(),
                };
            }
        }
        Pose {
            locals: rig.joints().iter().zip(&values).map(|(joint, values)| joint.local_at(values)).collect(),
        }
    }
}
