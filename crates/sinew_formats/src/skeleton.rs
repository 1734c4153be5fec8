//! `skeleton.json`: a skeleton with chosen degrees of freedom, markers of its surroundings, and poses.

use crate::{
    FormatError,
    json::{Fields, Node, read_json},
};
use glam::DVec3;
use sinew_geom::{Dof, DofKind, EulerOrder, Joint, Pose, Rig, Transform};
use std::collections::HashMap;

/// Content of a skeleton file, in metres and radians.
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

/// Degrees of freedom of a joint as a file gives them.
struct Freedom {
    dofs: Vec<String>,
    /// Degrees, or lengths in the unit of the file.
    limits: Vec<[f64; 2]>,
}

struct Entry {
    name: String,
    parent: Option<String>,
    offset: [f64; 3],
    freedom: Freedom,
}

/// Prefix of the keys that hold variants.
const VARIANT: &str = "variant_";
/// Keys of a file; `up`, `facing` and `left` are informative, the axes are always those of Sinew.
const KEYS: [&str; 8] = ["unit", "up", "facing", "left", "euler", "joints", "markers", "poses"];
const SHAPE: &str = r#"expected {"joints":[{"name":"Knee","parent":"Hip","offset":[0,-43,0],"dofs":["rx"],"limits_deg":[[0,150]]}]}"#;

/// Read a skeleton, or one of its variants (`"variant_NAME"`: other degrees of freedom of some joints). A translation
/// is a joint's coordinate in its parent's space, in limits and poses alike; joints that a pose does not name stay at
/// rest.
///
/// # Errors
/// All faults with their JSON paths: unknown keys, joints defined twice, unknown or later parents, unknown degrees of
/// freedom, limits that do not match, an unknown variant.
pub fn read_skeleton(bytes: &[u8], variant: Option<&str>, name: &str) -> Result<SkeletonFile, FormatError> {
    read_json(bytes, name, (SHAPE, "correct it there"), |root| {
        let fields = root.fields_if(&KEYS, |key| key.starts_with(VARIANT), SHAPE)?;
        let scale = fields.or("unit", 1.0, read_unit);
        let euler = fields.or("euler", EulerOrder::default(), read_euler);
        let entries = fields.required("joints", |list| list.each(read_entry));
        let variants: Vec<String> =
            fields.keys().filter_map(|key| Some(key.strip_prefix(VARIANT)?.to_owned())).collect();
        let (scale, euler, entries) = (scale?, euler?, entries?);
        let freedoms = match variant {
            Some(wanted) => read_variant(&fields, wanted, &variants, &entries),
            None => Some(HashMap::new()),
        };
        let joints = build_joints(&fields.get("joints")?, &entries, &freedoms?, scale, euler);
        let markers = fields.or("markers", Vec::new(), |markers| {
            markers.each_named(|name, point| Some((name.to_owned(), point.vector()? * scale)))
        });
        let rig = match Rig::new(joints?) {
            Ok(rig) => rig,
            Err(error) => return fields.get("joints")?.fault(error.to_string()),
        };
        let poses = fields.or("poses", Vec::new(), |poses| {
            poses.each_named(|name, pose| Some((name.to_owned(), read_pose(pose, &rig, scale)?)))
        });
        Some(SkeletonFile { rig, markers: markers?, poses: poses?, variants })
    })
}

/// Metres per unit of length.
fn read_unit(node: &Node<'_>) -> Option<f64> {
    match node.text("a unit of length")?.as_str() {
        "m" => Some(1.0),
        "cm" => Some(0.01),
        "mm" => Some(0.001),
        unit => node.fault_with(format!("unit {unit:?} is unknown"), r#"write "m", "cm" or "mm""#),
    }
}

/// `R = Rz*Ry*Rx`, or just `zyx`.
fn read_euler(node: &Node<'_>) -> Option<EulerOrder> {
    let text = node.text("an order of rotations")?;
    let axes: Vec<usize> = text.chars().filter_map(|c| "xyz".find(c)).collect();
    match axes.try_into().ok().and_then(EulerOrder::from_axes) {
        Some(order) => Some(order),
        None => node.fault_with(
            format!("{text:?} is not an order of rotations"),
            r#"write for example "R = Rz*Ry*Rx""#,
        ),
    }
}

fn read_entry(node: &Node<'_>) -> Option<Entry> {
    let fields = node.fields(&["name", "parent", "offset", "dofs", "limits_deg"], SHAPE)?;
    let name = fields.required("name", |node| node.text("a name"));
    let parent = fields.optional("parent", |node| node.text("the name of a joint"));
    let offset = fields.or("offset", [0.0; 3], Node::numbers);
    let freedom = read_freedom(&fields);
    Some(Entry { name: name?, parent: parent?, offset: offset?, freedom: freedom? })
}

fn read_freedom(fields: &Fields<'_>) -> Option<Freedom> {
    let dofs = fields.or("dofs", Vec::new(), |list| list.names("a degree of freedom"));
    let limits = fields.or("limits_deg", Vec::new(), |list| list.each(Node::numbers));
    Some(Freedom { dofs: dofs?, limits: limits? })
}

fn read_variant(
    fields: &Fields<'_>,
    wanted: &str,
    known: &[String],
    entries: &[Entry],
) -> Option<HashMap<String, Freedom>> {
    let Some(node) = fields.find(&format!("{VARIANT}{wanted}")) else {
        let listed = if known.is_empty() {
            "the file has none".into()
        } else {
            format!("there are {}", known.join(", "))
        };
        return fields.node().fault_with(format!("there is no variant {wanted:?}"), listed);
    };
    let freedoms = node.each_named(|name, node| {
        if entries.iter().all(|entry| entry.name != name) {
            return node.fault_with("there is no such joint", "name one of /joints");
        }
        let fields =
            node.fields(&["dofs", "limits_deg"], r#"write {"dofs":["rx"],"limits_deg":[[0,150]]}"#)?;
        Some((name.to_owned(), read_freedom(&fields)?))
    });
    freedoms.map(|list| list.into_iter().collect())
}

fn build_joints(
    list: &Node<'_>,
    entries: &[Entry],
    freedoms: &HashMap<String, Freedom>,
    scale: f64,
    euler: EulerOrder,
) -> Option<Vec<Joint>> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut index = 0;
    list.each(|node| {
        let entry = &entries[index];
        let parent = match entry.parent.as_deref().map(|parent| (parent, seen.get(parent).copied())) {
            Some((parent, None)) => {
                let cause =
                    format!("parent {parent:?} of {:?} is not among the joints before it", entry.name);
                node.fault_below("parent", cause);
                None
            }
            found => found.and_then(|(_, index)| index),
        };
        if seen.insert(&entry.name, index).is_some() {
            node.fault_below("name", format!("there are two joints named {:?}", entry.name));
        }
        index += 1;
        let offset = DVec3::from_array(entry.offset) * scale;
        let mut joint = Joint::new(&entry.name, parent, Transform::from_translation(offset));
        joint.euler = euler;
        joint.dofs = build_dofs(node, freedoms.get(&entry.name).unwrap_or(&entry.freedom), offset, scale);
        Some(joint)
    })
}

fn build_dofs(node: &Node<'_>, freedom: &Freedom, offset: DVec3, scale: f64) -> Vec<Dof> {
    let (n_limits, n_dofs) = (freedom.limits.len(), freedom.dofs.len());
    if n_limits > 0 && n_limits != n_dofs {
        node.fault_below(
            "limits_deg",
            format!("{n_limits} limits for {n_dofs} dofs: give each a pair, or none"),
        );
    }
    let mut dofs: Vec<Dof> = Vec::new();
    for (index, text) in freedom.dofs.iter().enumerate() {
        let path = format!("dofs/{index}");
        let Some(kind) = DofKind::from_suffix(text) else {
            node.fault_below(
                &path,
                format!("{text:?} is not a degree of freedom: write tx, ty, tz, rx, ry or rz"),
            );
            continue;
        };
        if dofs.iter().any(|dof| dof.kind == kind) {
            node.fault_below(&path, format!("{text:?} is listed twice"));
            continue;
        }
        let range = freedom.limits.get(index).copied().unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        if range[0] > range[1] {
            let cause = format!("its limits {} .. {} are empty: write the smaller first", range[0], range[1]);
            node.fault_below(&path, cause);
        }
        // Ranges of a rig are relative to its rest pose.
        let at = |x: f64| match kind as usize {
            axis @ 0..3 => x * scale - offset[axis],
            _ => x.to_radians(),
        };
        dofs.push(Dof { kind, range: range.map(at) });
    }
    dofs
}

fn read_pose(pose: &Node<'_>, rig: &Rig, scale: f64) -> Option<Pose> {
    let mut values: Vec<Vec<f64>> = rig.joints().iter().map(|joint| vec![0.0; joint.dofs.len()]).collect();
    pose.each_named(|key, node| {
        let place = key.rsplit_once('.').and_then(|(joint, kind)| {
            let joint = rig.find(joint)?;
            Some((joint, DofKind::from_suffix(kind)?))
        });
        let Some((joint, kind)) = place else {
            return node.fault_with("there is no such degree of freedom", r#"write "JOINT.rx": DEGREES"#);
        };
        let x = node.number()?;
        let of = &rig.joints()[joint];
        // A pose may name a degree of freedom that this variant does not have.
        if let Some(index) = of.dofs.iter().position(|dof| dof.kind == kind) {
            values[joint][index] = match kind as usize {
                axis @ 0..3 => x * scale - of.rest.translation[axis],
                _ => x.to_radians(),
            };
        }
        Some(())
    })?;
    let locals = rig.joints().iter().zip(&values).map(|(joint, values)| joint.local_at(values)).collect();
    Some(Pose { locals })
}
