//! Pelvis and legs of a rig, found by names and bones.

use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::{
    Character, Joint, Rig,
    rig::{BodyPart, PartNames, Side},
};

/// Words in the names of joints that carry a foot.
const FOOT_WORDS: [&str; 4] = ["foot", "ankle", "paw", "hoof"];
/// Words in the names of arms' first bones.
const ARM_WORDS: [&str; 3] = ["upperarm", "shoulder", "arm"];
/// Controls of rigs, which carry no body.
const CONTROL_WORDS: [&str; 4] = ["ik", "pole", "target", "ctrl"];
/// Bones shorter than this share of the rig's extent have no length.
const MIN_BONE_METRES: f64 = 1e-4;

/// One leg.
#[derive(Debug, Clone, PartialEq)]
pub struct Leg {
    /// Upper joint of the thigh.
    pub hip: usize,
    /// Upper joint of the shin.
    pub knee: usize,
    /// Joint that carries the foot.
    pub ankle: usize,
    /// Joint at the ball of the foot; `None` if the foot has no size.
    pub toe: Option<usize>,
    /// Joint at the tip of the toes.
    pub tip: Option<usize>,
}

/// Pelvis and legs of a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Joint that carries the whole body.
    pub pelvis: usize,
    /// The legs, in the order of the rig's joints.
    pub legs: Vec<Leg>,
}

/// A name without case and punctuation.
pub(super) fn plain(name: &str) -> String {
    // Mixamo and its like put the name of the character before a colon.
    let name = name.rsplit(':').next().unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// Greatest extent of a rig at rest.
fn extent(rig: &Rig) -> f64 {
    let places: Vec<DVec3> = rig.rest_world().iter().map(|world| world.translation).collect();
    let low = places.iter().copied().reduce(DVec3::min).unwrap_or_default();
    let high = places.iter().copied().reduce(DVec3::max).unwrap_or_default();
    (high - low).max_element()
}

impl Body {
    /// Pelvis and legs of a rig: feet by their names, or those that are named.
    ///
    /// # Errors
    /// If a named foot does not exist, or has no two bones above it.
    pub fn find(rig: &Rig, feet: &[String]) -> Result<Self, ConstrainError> {
        let least = MIN_BONE_METRES * extent(rig);
        let ankles = if feet.is_empty() { guess_ankles(rig) } else { named(rig, feet)? };
        let mut legs = Vec::new();
        for ankle in ankles {
            match leg(rig, ankle, least) {
                Some(found) => legs.push(found),
                None if feet.is_empty() => {}
                None => {
                    let joint = rig.joints()[ankle].name.clone();
                    return Err(ConstrainError::NoLeg { joint });
                }
            }
        }
        Ok(Self { pelvis: pelvis(rig, &legs), legs })
    }

    /// Length of a leg at rest: thigh and shin, the mean over all legs; the height of the pelvis if there is none.
    pub fn leg_length(&self, rig: &Rig) -> f64 {
        let world = rig.rest_world();
        let place = |joint: usize| world[joint].translation;
        let length =
            |leg: &Leg| place(leg.hip).distance(place(leg.knee)) + place(leg.knee).distance(place(leg.ankle));
        match self.legs.len() {
            0 => place(self.pelvis).y.abs().max(0.3 * extent(rig)),
            n => self.legs.iter().map(length).sum::<f64>() / n as f64,
        }
    }
}

/// Metres per unit that files use: metres, centimetres, inches, and CMU's unit of 1/0.45 inches.
const UNIT_METRES: [f64; 4] = [1.0, 0.01, 0.0254, 0.0254 / 0.45];
/// Length of a typical leg, metres.
const TYPICAL_LEG_METRES: f64 = 0.85;

/// Metres per unit of a rig whose file has no unit: the common unit that brings its legs nearest to human length.
pub fn guess_unit(rig: &Rig, body: &Body) -> f64 {
    let leg = body.leg_length(rig);
    let strange = |unit: f64| (leg * unit / TYPICAL_LEG_METRES).ln().abs();
    let best = UNIT_METRES.into_iter().min_by(|&a, &b| strange(a).total_cmp(&strange(b)));
    best.filter(|_| leg > 0.0 && leg.is_finite()).unwrap_or(1.0)
}

/// Thickness of flesh below the lowest joint of each foot at rest; zeros without a skin.
pub fn flesh_below(character: &Character, body: &Body) -> Vec<f64> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else {
        return vec![0.0; body.legs.len()];
    };
    let world = rig.rest_world();
    // The joint that a vertex follows most.
    let main = |vertex: usize| {
        let most = skin.vertex(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(slot, _)| skin.slots[usize::from(slot)].joint)
    };
    let n_vertices = character.mesh.n_vertices().min(skin.n_vertices());
    let mains: Vec<Option<usize>> = (0..n_vertices).map(main).collect();
    let depth = |leg: &Leg| {
        let is_foot = |joint: usize| ancestry(rig, joint).any(|above| above == leg.ankle);
        let of_foot = |v: &usize| mains[*v].is_some_and(is_foot);
        let flesh = (0..mains.len()).filter(of_foot).map(|v| character.mesh.positions()[v].y);
        let joints =
            [Some(leg.ankle), leg.toe, leg.tip].into_iter().flatten().map(|j| world[j].translation.y);
        let depth = joints.fold(f64::INFINITY, f64::min) - flesh.fold(f64::INFINITY, f64::min);
        if depth.is_finite() { depth.max(0.0) } else { 0.0 }
    };
    body.legs.iter().map(depth).collect()
}

fn named(rig: &Rig, feet: &[String]) -> Result<Vec<usize>, ConstrainError> {
    let find = |name: &String| {
        let near = || rig.joints().iter().position(|joint| plain(&joint.name) == plain(name));
        rig.find(name).or_else(near).ok_or_else(|| ConstrainError::no_joint(name, rig))
    };
    feet.iter().map(find).collect()
}

fn guess_ankles(rig: &Rig) -> Vec<usize> {
    let is_foot = |joint: &Joint| {
        let name = plain(&joint.name);
        FOOT_WORDS.iter().any(|word| name.contains(word))
            && !CONTROL_WORDS.iter().any(|word| name.ends_with(word) || name.starts_with(word))
            && !name.ends_with("end")
    };
    let mut below = vec![false; rig.n_joints()];
    let mut ankles = Vec::new();
    for (index, joint) in rig.joints().iter().enumerate() {
        below[index] = joint.parent.is_some_and(|parent| below[parent]);
        if is_foot(joint) && !below[index] {
            below[index] = true;
            ankles.push(index);
        }
    }
    ankles
}

fn leg(rig: &Rig, ankle: usize, least: f64) -> Option<Leg> {
    let joints = rig.joints();
    let has_length = |joint: usize| joints[joint].rest.translation.length() > least;
    // The joint at the other end of the bone that leads to a joint.
    let bone_above = |mut joint: usize| {
        while !has_length(joint) {
            joint = joints[joint].parent?;
        }
        joints[joint].parent
    };
    let longest_child = |parent: usize| {
        let children = (0..joints.len()).filter(|&j| joints[j].parent == Some(parent) && has_length(j));
        children.max_by(|&a, &b| {
            let length = |j: usize| joints[j].rest.translation.length();
            // The first of equally long ones.
            length(a).total_cmp(&length(b)).then(b.cmp(&a))
        })
    };
    let knee = bone_above(ankle)?;
    let hip = bone_above(knee)?;
    joints[hip].parent?;
    let toe = longest_child(ankle);
    Some(Leg { hip, knee, ankle, toe, tip: toe.and_then(longest_child) })
}

/// Arms that end in a hand, as legs: shoulder, elbow and hand. Those that are legs already are left out.
pub(super) fn arms(rig: &Rig, body: &Body) -> Vec<Leg> {
    let (names, least) = (PartNames::new(rig), MIN_BONE_METRES * extent(rig));
    let hands = [Side::Left, Side::Right].into_iter().filter_map(|side| names.find(BodyPart::Hand, side));
    let is_leg =
        |hand: usize| body.legs.iter().any(|leg| ancestry(rig, hand).any(|above| above == leg.ankle));
    hands.filter(|&hand| !is_leg(hand)).filter_map(|hand| leg(rig, hand, least)).collect()
}

/// A joint and its ancestors.
pub(super) fn ancestry(rig: &Rig, joint: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(joint), |&at| rig.joints()[at].parent)
}

/// Deepest common ancestor.
pub(super) fn common_ancestor(rig: &Rig, joints: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut joints = joints.into_iter();
    let mut shared: Vec<usize> = ancestry(rig, joints.next()?).collect();
    for joint in joints {
        let other: Vec<usize> = ancestry(rig, joint).collect();
        shared.retain(|at| other.contains(at));
    }
    shared.first().copied()
}

fn pelvis(rig: &Rig, legs: &[Leg]) -> usize {
    let above_hips = legs.iter().filter_map(|leg| rig.joints()[leg.hip].parent);
    common_ancestor(rig, above_hips).unwrap_or(0)
}

/// A rig with limbs of other lengths: `legs`, `feet`, `arms`, `all`, or the name of a joint whose bone is meant.
///
/// # Errors
/// A part that the rig does not have, or a factor that is not above zero.
pub fn scale_limbs(rig: &Rig, body: &Body, parts: &[(String, f64)]) -> Result<Rig, ConstrainError> {
    let mut joints = rig.joints().to_vec();
    for (part, factor) in parts {
        if !(factor.is_finite() && *factor > 0.0) {
            return Err(ConstrainError::Factor { part: part.clone(), factor: *factor });
        }
        let bones = bones_of(rig, body, part)?;
        for bone in bones {
            joints[bone].rest.translation *= *factor;
            for dof in joints[bone].dofs.iter_mut().filter(|dof| (dof.kind as usize) < 3) {
                dof.range = dof.range.map(|x| x * factor);
            }
        }
    }
    Ok(Rig::new(joints)?)
}

fn bones_of(rig: &Rig, body: &Body, part: &str) -> Result<Vec<usize>, ConstrainError> {
    let below =
        |top: usize| (0..rig.n_joints()).filter(move |&j| j != top && ancestry(rig, j).any(|a| a == top));
    // All joints between two, the upper one left out.
    let between = |low: usize, high: usize| ancestry(rig, low).take_while(move |&j| j != high);
    let bones: Vec<usize> = match part {
        "all" => (0..rig.n_joints()).collect(),
        "legs" => body.legs.iter().flat_map(|leg| between(leg.ankle, leg.hip)).collect(),
        "feet" => body.legs.iter().flat_map(|leg| below(leg.ankle)).collect(),
        "arms" => shoulders(rig).into_iter().flat_map(below).collect(),
        name => {
            let near = || rig.joints().iter().position(|joint| plain(&joint.name) == plain(name));
            vec![rig.find(name).or_else(near).ok_or_else(|| ConstrainError::no_joint(name, rig))?]
        }
    };
    if bones.is_empty() { Err(ConstrainError::NoPart { part: part.to_owned() }) } else { Ok(bones) }
}

/// Where upper arms begin: the lowest joint of an arm that is no forearm and has an arm below it.
fn shoulders(rig: &Rig) -> Vec<usize> {
    let rank = |joint: usize| {
        let name = plain(&rig.joints()[joint].name);
        let is_lower = ["fore", "lower", "elbow", "hand", "wrist"].iter().any(|word| name.contains(word));
        ARM_WORDS.iter().position(|word| name.contains(word)).filter(|_| !is_lower)
    };
    let found: Vec<usize> = (0..rig.n_joints()).filter(|&joint| rank(joint).is_some()).collect();
    // Of a clavicle and an upper arm in one chain, the lower one.
    let has_lower = |joint: usize| found.iter().any(|&j| j != joint && ancestry(rig, j).any(|a| a == joint));
    found.iter().copied().filter(|&joint| !has_lower(joint)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::tests::walker;

    #[test]
    fn legs_are_found_by_name_and_bone() {
        let rig = walker(1.0);
        let body = Body::find(&rig, &[]).unwrap();
        let name = |joint: usize| rig.joints()[joint].name.as_str();
        assert_eq!(name(body.pelvis), "Hips");
        assert_eq!(body.legs.len(), 2);
        let leg = &body.legs[0];
        assert_eq!([leg.hip, leg.knee, leg.ankle].map(name), ["LeftUpLeg", "LeftLeg", "LeftFoot"]);
        assert_eq!(leg.toe.map(name), Some("LeftToeBase"));
        assert!((body.leg_length(&rig) - 0.84).abs() < 1e-12);
        assert_eq!(Body::find(&rig, &["left_foot".into()]).unwrap().legs.len(), 1);
    }

    #[test]
    fn feet_that_are_not_there_are_reported() {
        let rig = walker(1.0);
        let error = Body::find(&rig, &["LeftFot".into()]).unwrap_err().to_string();
        assert!(error.contains("LeftFot") && error.contains("LeftFoot"), "{error}");
        assert!(Body::find(&rig, &["Hips".into()]).unwrap_err().to_string().contains("Hips"));
    }

    #[test]
    fn limbs_are_scaled_by_part() {
        let rig = walker(1.0);
        let body = Body::find(&rig, &[]).unwrap();
        let scaled = |parts: &[(&str, f64)]| {
            let parts: Vec<_> = parts.iter().map(|(part, factor)| ((*part).to_owned(), *factor)).collect();
            scale_limbs(&rig, &body, &parts)
        };
        let short = scaled(&[("legs", 0.5)]).unwrap();
        assert!((body.leg_length(&short) - 0.42).abs() < 1e-12);
        let hip = |rig: &Rig| rig.joints()[body.legs[0].hip].rest.translation;
        assert_eq!(hip(&short), hip(&rig));
        let long = scaled(&[("arms", 2.0), ("all", 0.5)]).unwrap();
        let wrist = rig.find("LeftHand").unwrap();
        assert_eq!(long.joints()[wrist].rest.translation, rig.joints()[wrist].rest.translation);
        assert!(scaled(&[("wings", 2.0)]).is_err());
        assert!(scaled(&[("legs", 0.0)]).unwrap_err().to_string().contains("legs"));
    }
}
