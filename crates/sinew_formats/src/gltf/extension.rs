//! The root extension `SINEW_character`: data of a character that glTF cannot represent.
//!
//! Arrays are in buffer views, referenced by index; nodes are referenced by index.

use super::bones::bone_named;
use super::schema::Object;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sinew_geom::{Dof, DofKind, EulerOrder, Warnings, rig::Joint};

/// Root extensions that are meaningless without references from nodes, materials or primitives.
const REFERRED_TO: [&str; 4] =
    ["KHR_lights_punctual", "EXT_lights_image_based", "KHR_materials_variants", "KHR_audio_emitter"];

/// The root extensions that can be copied to another file: those without whole numbers, which may be indices of nodes
/// or of anything else that is renumbered. What is left out is reported.
pub fn portable_extensions(extensions: &Object, warnings: &mut Warnings) -> Object {
    let is_portable =
        |(name, value): &(&String, &Value)| !REFERRED_TO.contains(&name.as_str()) && !has_index(value);
    let of_others = extensions.iter().filter(|(name, _)| *name != NAME);
    let (portable, lost): (Vec<_>, Vec<_>) = of_others.partition(is_portable);
    if !lost.is_empty() {
        let names: Vec<String> = lost.iter().map(|(name, _)| format!("extension {name}")).collect();
        warnings.push(format!("not kept: {}", names.join(", ")));
    }
    portable.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether there are whole numbers in a value, which may be indices.
pub(super) fn has_index(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(items) => items.iter().any(has_index),
        Value::Object(fields) => fields.values().any(has_index),
        _ => false,
    }
}

/// Name in `extensions` and `extensionsUsed`.
pub const NAME: &str = "SINEW_character";
/// The version this code writes; it reads all versions up to this.
pub const VERSION: u32 = 1;

/// Fields of our extension beyond the character: those of a project, and of later versions.
pub fn fields_beyond_character(extensions: &Object) -> Object {
    let mut fields = extensions.get(NAME).and_then(Value::as_object).cloned().unwrap_or_default();
    for own in
        ["version", "handles", "joints", "helperNodes", "boundJoints", "seamCopies", "morphs", "source"]
    {
        fields.remove(own);
    }
    fields
}

/// The extension's object.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SinewCharacter {
    pub version: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handles: Vec<HandleJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joints: Vec<JointJson>,
    /// Nodes without transform that glTF requires but the rig does not have: the common root of several
    /// skeletons, and helpers for a joint that is bound twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub helper_nodes: Vec<usize>,
    /// How many joints of the skin move the surface; those after them only complete the skeleton.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound_joints: Option<usize>,
    /// Buffer view of u32: which vertex each of the last vertices is a copy of, made where texture coordinates
    /// jump. Without it, a surface read back would be cut open along its seams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam_copies: Option<usize>,
    /// Morphs of the whole character that several meshes carry: of each, the nodes and the number of the target there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub morphs: Vec<Vec<[usize; 2]>>,
    /// What of the file is that of the file that was opened; what follows was added and may be replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceSize>,
}

/// How much of a file came from the file that was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceSize {
    pub accessors: usize,
    pub buffer_views: usize,
    pub bytes: usize,
}

impl SinewCharacter {
    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        let Self { version: _, handles, joints, helper_nodes, bound_joints, seam_copies, morphs, source } =
            self;
        handles.is_empty()
            && joints.is_empty()
            && helper_nodes.is_empty()
            && bound_joints.is_none()
            && seam_copies.is_none()
            && morphs.is_empty()
            && source.is_none()
    }
}

/// A handle; `vertices` and `weights` are buffer views of u32 and f32; absent if it has no vertices, and weights if all are 1.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct HandleJson {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vertices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<usize>,
    pub center: [f64; 3],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secondary: Vec<String>,
}

/// Degrees of freedom of a joint, and which bone of a person it is if a file said so.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct JointJson {
    pub node: usize,
    pub euler: String,
    pub dofs: Vec<DofJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bone: Option<String>,
}

/// One degree of freedom; an end of the range that is absent is infinite.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct DofJson {
    pub kind: String,
    pub range: [Option<f64>; 2],
}

const AXES: [&str; 3] = ["x", "y", "z"];

impl JointJson {
    /// Degrees of freedom of a joint for the extension; `None` if it has none. Its bone stays what the file says by itself.
    pub fn of(joint: &Joint, node: usize) -> Option<Self> {
        let plain = joint.dofs.is_empty() && joint.euler == EulerOrder::default();
        (!plain).then(|| Self { bone: None, ..Self::with_bone(joint, node) })
    }

    /// The same with the bone; `None` if there is nothing to say.
    pub fn of_all(joint: &Joint, node: usize) -> Option<Self> {
        let is_said = joint.bone.is_some() || Self::of(joint, node).is_some();
        is_said.then(|| Self::with_bone(joint, node))
    }

    fn with_bone(joint: &Joint, node: usize) -> Self {
        let finite = |end: f64| Some(end).filter(|end| end.is_finite());
        let dof = |dof: &Dof| DofJson { kind: dof.kind.suffix().to_owned(), range: dof.range.map(finite) };
        Self {
            node,
            euler: joint.euler.axes().map(|axis| AXES[axis]).concat(),
            dofs: joint.dofs.iter().map(dof).collect(),
            bone: joint.bone.map(str::to_owned),
        }
    }

    /// Apply what was read to a joint; `None` if a word is unknown.
    pub fn apply(&self, joint: &mut Joint) -> Option<()> {
        let axis = |letter: char| "xyz".find(letter).unwrap_or(3);
        let axes: Vec<usize> = self.euler.chars().map(axis).collect();
        let euler = EulerOrder::from_axes(axes.try_into().ok()?)?;
        let dof = |dof: &DofJson| {
            let range = [dof.range[0].unwrap_or(f64::NEG_INFINITY), dof.range[1].unwrap_or(f64::INFINITY)];
            Some(Dof { kind: DofKind::from_suffix(&dof.kind)?, range })
        };
        joint.dofs = self.dofs.iter().map(dof).collect::<Option<_>>()?;
        joint.euler = euler;
        joint.bone = self.bone.as_deref().and_then(bone_named).or(joint.bone);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of names above follows the struct.
    #[test]
    fn own_fields_are_not_beyond_the_character() {
        let full = SinewCharacter {
            version: 1,
            handles: vec![HandleJson::default()],
            joints: vec![JointJson { node: 0, euler: "xyz".into(), dofs: Vec::new(), bone: None }],
            helper_nodes: vec![0],
            bound_joints: Some(1),
            seam_copies: Some(1),
            morphs: vec![vec![[0, 1]]],
            source: Some(SourceSize { accessors: 1, buffer_views: 1, bytes: 4 }),
        };
        let mut object = serde_json::to_value(full).unwrap();
        object["rules"] = "stand".into();
        let extensions = Object::from_iter([(NAME.to_owned(), object)]);
        assert_eq!(fields_beyond_character(&extensions).keys().collect::<Vec<_>>(), ["rules"]);
    }
}
