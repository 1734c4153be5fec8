//! Pelvis and legs of a rig, as its body map has them.

pub(super) use super::joints::{ancestry, common_ancestor, plain};
use super::{JointFrames, SkinPoints, facing::turn_poses};
use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{
    Rig,
    body_map::{BodyClass, BodyMap, Part},
};

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
    /// Thickness of the flesh below its lowest joint, metres.
    pub flesh: f64,
}

/// Pelvis and legs of a rig.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// Joint that carries the whole body.
    pub pelvis: usize,
    /// The legs, in the order of the rig's joints.
    pub legs: Vec<Leg>,
    /// Arms that end in a hand, as legs: shoulder, elbow and hand. Front legs of animals are legs.
    pub arms: Vec<Leg>,
}

/// Greatest extent of a rig at rest.
fn extent(rig: &Rig) -> f64 {
    let places: Vec<DVec3> = rig.rest_world().iter().map(|world| world.translation).collect();
    let low = places.iter().copied().reduce(DVec3::min).unwrap_or_default();
    let high = places.iter().copied().reduce(DVec3::max).unwrap_or_default();
    (high - low).max_element()
}

impl Body {
    /// Pelvis and legs of a rig: feet as its body map has them, or those that are named.
    ///
    /// # Errors
    /// If a named foot does not exist, or has no two bones above it.
    pub fn find(rig: &Rig, feet: &[String]) -> Result<Self, ConstrainError> {
        Self::of(rig, &BodyMap::read(rig, &[]), feet)
    }

    /// The same with a body map that is known.
    ///
    /// # Errors
    /// As above.
    pub fn of(rig: &Rig, map: &BodyMap, feet: &[String]) -> Result<Self, ConstrainError> {
        let least = MIN_BONE_METRES * extent(rig);
        let ankles = if feet.is_empty() { ankles(rig, map) } else { named(rig, feet)? };
        let mut legs = Vec::new();
        for ankle in ankles {
            match leg(rig, map, ankle, least) {
                Some(found) => legs.push(found),
                None if feet.is_empty() => {}
                None => {
                    let joint = rig.joints()[ankle].name.clone();
                    return Err(ConstrainError::NoLeg { joint });
                }
            }
        }
        let arms = arms(rig, map, &legs, least);
        Ok(Self { pelvis: pelvis(rig, map, &legs), legs, arms })
    }

    /// With the thickness of the flesh below its feet, in the pose that the map was read from.
    pub fn with_flesh(mut self, rig: &Rig, map: &BodyMap, skin: Option<&SkinPoints>) -> Self {
        let Some(skin) = skin else { return self };
        let mut poses = [map.pose.clone()];
        turn_poses(rig, &mut poses, DQuat::from_rotation_arc(map.up, DVec3::Y));
        let world = JointFrames::of(rig, &poses[0]);
        for leg in &mut self.legs {
            let joints: Vec<usize> = [Some(leg.ankle), leg.toe, leg.tip].into_iter().flatten().collect();
            leg.flesh = skin.flesh_below(rig, &world, leg.ankle, &joints);
        }
        self
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

fn named(rig: &Rig, feet: &[String]) -> Result<Vec<usize>, ConstrainError> {
    let find = |name: &String| {
        let near = || rig.joints().iter().position(|joint| plain(&joint.name) == plain(name));
        rig.find(name).or_else(near).ok_or_else(|| ConstrainError::no_joint(name, rig))
    };
    feet.iter().map(find).collect()
}

/// Joints that carry feet: those of legs, and of animals the front feet. Of a leg of many, the last joint but one.
fn ankles(rig: &Rig, map: &BodyMap) -> Vec<usize> {
    let is_foot = |joint: usize| match map.joints[joint].part {
        Part::Foot => true,
        Part::Hand => map.class == BodyClass::Quadruped,
        Part::Leg => {
            let mut children = (0..rig.n_joints()).filter(|&k| rig.joints()[k].parent == Some(joint));
            !children.any(|k| map.joints[k].part == Part::Leg)
        }
        _ => false,
    };
    let mut is_below = vec![false; rig.n_joints()];
    let mut ankles = Vec::new();
    for (index, joint) in rig.joints().iter().enumerate() {
        is_below[index] = joint.parent.is_some_and(|parent| is_below[parent]);
        if is_foot(index) && !is_below[index] {
            is_below[index] = true;
            ankles.push(index);
        }
    }
    ankles
}

fn leg(rig: &Rig, map: &BodyMap, ankle: usize, least: f64) -> Option<Leg> {
    let joints = rig.joints();
    let has_length = |joint: usize| joints[joint].rest.translation.length() > least;
    // The joint of a part above a joint, else the one at the other end of the bone that leads to it.
    let above = |mut joint: usize, parts: [Part; 2]| {
        let named = ancestry(rig, joint).skip(1).find(|&k| parts.contains(&map.joints[k].part));
        named.or_else(|| {
            while !has_length(joint) {
                joint = joints[joint].parent?;
            }
            joints[joint].parent
        })
    };
    let longest_child = |parent: usize| {
        let children = (0..joints.len()).filter(|&j| joints[j].parent == Some(parent) && has_length(j));
        children.max_by(|&a, &b| {
            let is_toe = |j: usize| map.joints[j].part == Part::Toe;
            let length = |j: usize| joints[j].rest.translation.length();
            // The first of equally long ones.
            is_toe(a).cmp(&is_toe(b)).then(length(a).total_cmp(&length(b))).then(b.cmp(&a))
        })
    };
    let knee = above(ankle, [Part::Shin, Part::Forearm])?;
    let hip = above(knee, [Part::Thigh, Part::UpperArm])?;
    joints[hip].parent?;
    let toe = longest_child(ankle);
    Some(Leg { hip, knee, ankle, toe, tip: toe.and_then(longest_child), flesh: 0.0 })
}

fn arms(rig: &Rig, map: &BodyMap, legs: &[Leg], least: f64) -> Vec<Leg> {
    let hands = (0..rig.n_joints()).filter(|&joint| map.joints[joint].part == Part::Hand);
    let is_leg = |hand: usize| legs.iter().any(|leg| ancestry(rig, hand).any(|above| above == leg.ankle));
    hands.filter(|&hand| !is_leg(hand)).filter_map(|hand| leg(rig, map, hand, least)).collect()
}

/// The hips if all legs hang on them, else what they hang on.
fn pelvis(rig: &Rig, map: &BodyMap, legs: &[Leg]) -> usize {
    let hips = (0..rig.n_joints()).find(|&joint| map.joints[joint].part == Part::Hips);
    let carries =
        |joint: usize| legs.iter().all(|leg| ancestry(rig, leg.hip).skip(1).any(|above| above == joint));
    if let Some(hips) = hips.filter(|&hips| carries(hips)) {
        return hips;
    }
    let above_hips = legs.iter().filter_map(|leg| rig.joints()[leg.hip].parent);
    common_ancestor(rig, above_hips).or(hips).unwrap_or(0)
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

/// Where upper arms begin.
fn shoulders(rig: &Rig) -> Vec<usize> {
    let map = BodyMap::read(rig, &[]);
    (0..rig.n_joints()).filter(|&joint| map.joints[joint].part == Part::UpperArm).collect()
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
