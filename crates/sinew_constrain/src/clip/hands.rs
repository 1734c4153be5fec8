//! Planted hands: in handstands, cartwheels, on all fours.
//!
//! # Source
//! As for feet (`contacts`): what is slow and at the height of the ground. Differs: hands are often still in the air,
//! so they must also be near the plane through the footprints around them, which need not be level.
//! # Limits
//! Hands are planted on the same ground as the feet; tables and rails are declared by rules (`hold`, `pin`).

use super::{
    Contact, JointFrames,
    body::{Body, Leg, ancestry},
    contacts::{ContactParams, FoundContact, LEVEL_HEIGHT, find_contacts, median},
    feet::{Sole, Stance, slope_normal, stances_with},
    footprints::Footprint,
};
use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::Rig;
use std::ops::Range;

/// A planted hand, from touchdown to liftoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Support {
    /// Joint of the hand.
    pub hand: usize,
    /// When.
    pub frames: Range<usize>,
    /// Height of the joint above the ground.
    pub height: f64,
}

/// Contacts of a body.
pub struct BodyContacts {
    /// Soles of the feet, one per leg.
    pub soles: Vec<Sole>,
    /// When feet are planted.
    pub stances: Vec<Stance>,
    /// When hands are planted.
    pub supports: Vec<Support>,
}

/// When feet and hands are planted.
pub fn find_standing(
    given: Option<&[Contact]>,
    of: (&Rig, &Body),
    worlds: &[JointFrames],
    when: (f64, &[Range<usize>]),
    by: (f64, &ContactParams),
) -> Result<BodyContacts, ConstrainError> {
    let slow = slow_hands(of.1, worlds, when, by);
    let (soles, stances) = stances_with(given, of, worlds, when, by, &slow)?;
    let print = |s: &Stance| Footprint::of_stance(s, &of.1.legs[s.leg], &soles[s.leg], worlds).origin;
    let prints: Vec<DVec3> = stances.iter().map(print).collect();
    let supports = match given {
        Some(given) => given_supports(given, of, worlds, &prints, by.0),
        None => find_supports(slow, of.0, worlds, &prints, by.0),
    };
    Ok(BodyContacts { soles, stances, supports })
}

/// Ranges of frames in which hands are slow.
fn slow_hands(
    body: &Body,
    worlds: &[JointFrames],
    (fps, segments): (f64, &[Range<usize>]),
    (leg, params): (f64, &ContactParams),
) -> Vec<(usize, FoundContact)> {
    let of = |arm: &Leg| {
        let path: Vec<DVec3> = worlds.iter().map(|world| world.positions[arm.ankle]).collect();
        let found = find_contacts(&path, fps, segments, leg, params);
        found.into_iter().map(|contact| (arm.ankle, contact)).collect::<Vec<_>>()
    };
    body.arms.iter().flat_map(of).collect()
}

/// Which of these are planted, on the ground through the footprints `prints`.
fn find_supports(
    slow: Vec<(usize, FoundContact)>,
    rig: &Rig,
    worlds: &[JointFrames],
    prints: &[DVec3],
    leg: f64,
) -> Vec<Support> {
    let lows: Vec<DVec3> = slow.iter().map(|(hand, c)| lowest(rig, worlds, *hand, &c.frames)).collect();
    // Without footprints the lowest hand is on the ground.
    let prints: Vec<DVec3> = match prints {
        [] => lows.iter().copied().min_by(|a, b| a.y.total_cmp(&b.y)).into_iter().collect(),
        prints => prints.to_vec(),
    };
    let mut supports = Vec::new();
    for ((hand, contact), low) in slow.into_iter().zip(&lows) {
        if (low.y - ground(&prints, *low, leg)).abs() < LEVEL_HEIGHT * leg {
            let height = contact.place.y - ground(&prints, contact.place, leg);
            supports.push(Support { hand, frames: contact.frames, height: height.max(0.0) });
        }
    }
    supports
}

/// Hands that the user declares planted.
fn given_supports(
    given: &[Contact],
    (rig, body): (&Rig, &Body),
    worlds: &[JointFrames],
    prints: &[DVec3],
    leg: f64,
) -> Vec<Support> {
    let support = |contact: &Contact| {
        let hand = body.arms.iter().find(|arm| rig.joints()[arm.ankle].name == contact.foot)?.ankle;
        let frames = contact.frames.start..contact.frames.end.min(worlds.len());
        if frames.is_empty() {
            return None;
        }
        let path: Vec<DVec3> = worlds[frames.clone()].iter().map(|w| w.positions[hand]).collect();
        let (place, low) = (median(&path), lowest(rig, worlds, hand, &frames));
        let own = [low];
        let height = place.y - ground(if prints.is_empty() { &own } else { prints }, place, leg);
        // A hand in the air that is declared planted is put on the ground, as flat as possible.
        Some(Support { hand, frames, height: height.clamp(0.0, (place.y - low.y).max(0.0)) })
    };
    given.iter().filter_map(support).collect()
}

/// Mean height of the lowest joint of a hand: its own or one of a finger.
fn lowest(rig: &Rig, worlds: &[JointFrames], hand: usize, frames: &Range<usize>) -> DVec3 {
    let parts = (0..rig.n_joints()).filter(|&joint| ancestry(rig, joint).any(|above| above == hand));
    let middle = |joint: usize| {
        let path: Vec<DVec3> = worlds[frames.clone()].iter().map(|w| w.positions[joint]).collect();
        median(&path)
    };
    parts.map(middle).min_by(|a, b| a.y.total_cmp(&b.y)).unwrap_or_default()
}

/// Height of the ground at a place: of the plane through the nearest footprint and those around it.
fn ground(prints: &[DVec3], at: DVec3, leg: f64) -> f64 {
    let level = |print: &DVec3| (print.x - at.x).hypot(print.z - at.z);
    let Some(nearest) = prints.iter().min_by(|a, b| level(a).total_cmp(&level(b))) else { return at.y };
    let around = prints.iter().copied().filter(|print| print.distance(*nearest) < 2.0 * leg);
    let normal = slope_normal(*nearest, around, leg);
    let way = at - *nearest;
    nearest.y - (normal.x * way.x + normal.z * way.z) / normal.y
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::{ContactParams, Motion, RefitParams, body, motion, refit, tests::walker};
    use glam::DQuat;
    use sinew_geom::Warnings;
    use std::ops::ControlFlow;

    /// A body that falls forward onto straight arms, stays on all fours for a second and gets up again.
    fn push_up() -> (Rig, Motion) {
        let (rig, fps) = (walker(1.0), 60.0);
        let find = |name: &str| rig.find(name).unwrap();
        let poses = (0..180).map(|t| {
            let time = f64::from(t) / fps;
            let u = ((time - 0.5) / 0.5).clamp(0.0, 1.0) - ((time - 2.0) / 0.5).clamp(0.0, 1.0);
            let s = u * u * (3.0 - 2.0 * u);
            let mut pose = rig.rest_pose();
            // About the ankles, until the hands touch: 0.7 m from the ankles to the spine's top at 70 degrees.
            let lean = s * 68f64.to_radians();
            let turn = DQuat::from_rotation_x(lean);
            let ankle = DVec3::new(0.0, 0.06, 0.0);
            pose.locals[0].translation = ankle + turn * (DVec3::new(0.0, 0.9, 0.0) - ankle);
            pose.locals[0].rotation = turn;
            for side in ["Left", "Right"] {
                pose.locals[find(&format!("{side}Foot"))].rotation = turn.inverse();
                pose.locals[find(&format!("{side}Arm"))].rotation = turn.inverse();
            }
            pose
        });
        let poses = poses.collect();
        (rig, Motion { fps, poses })
    }

    #[test]
    fn hands_on_the_ground_stand_and_hands_in_the_air_do_not() {
        let (rig, motion) = push_up();
        let body = body::Body::find(&rig, &[]).unwrap();
        let worlds = motion::worlds(&rig, &motion);
        let whole = 0..worlds.len();
        let segments = std::slice::from_ref(&whole);
        let leg = body.leg_length(&rig);
        let params = ContactParams::default();
        let slow = slow_hands(&body, &worlds, (60.0, segments), (leg, &params));
        // Still at the start, on the ground and at the end.
        assert_eq!(slow.len(), 6, "{slow:?}");
        let prints = [DVec3::new(0.1, 0.0, 0.14), DVec3::new(-0.1, 0.0, 0.14)];
        let found = find_supports(slow, &rig, &worlds, &prints, leg);
        assert_eq!(found.len(), 2, "{found:?}");
        for support in &found {
            assert!(support.frames.contains(&90) && !support.frames.contains(&20), "{support:?}");
        }
    }

    #[test]
    fn the_ground_is_a_plane_through_footprints() {
        let prints: Vec<DVec3> =
            (0..5).map(|i| f64::from(i) * 0.6).map(|z| DVec3::new(0.0, 0.3 * z, z)).collect();
        let at = DVec3::new(0.2, 5.0, 1.5);
        assert!((ground(&prints, at, 0.85) - 0.45).abs() < 0.03, "{}", ground(&prints, at, 0.85));
        assert_eq!(ground(&prints[..1], at, 0.85), 0.0);
    }

    /// On other bodies and grounds hands stay where they stand, on the ground, and feet stand as well as before.
    #[test]
    fn hands_stand_on_every_body_and_ground() {
        let (rig, motion) = push_up();
        let body = body::Body::find(&rig, &[]).unwrap();
        for (part, factor, ground) in [
            ("all", 1.0, "flat"),
            ("arms", 1.2, "flat"),
            ("legs", 0.85, "slope:10"),
            ("all", 0.6, "slope:-10"),
        ] {
            let target = body::scale_limbs(&rig, &body, &[(part.to_owned(), factor)]).unwrap();
            let params = RefitParams {
                ground: Some(ground.parse().unwrap()),
                still_feet: true,
                ..RefitParams::default()
            };
            let mut on = |_| ControlFlow::Continue(());
            let fitted = refit((&rig, &motion), &target, &params, &mut Warnings::default(), &mut on).unwrap();
            let what = format!("{part} {factor} {ground}");
            assert_eq!(fitted.supports.len(), 2, "{what}");
            let m = &fitted.report.fitted;
            assert!(m.slide < 0.01 && m.drift < 0.005 && m.penetration < 0.005, "{what}: {m:?}");
            for support in &fitted.supports {
                let world = JointFrames::of(&target, &fitted.motion.poses[90]);
                let at = world.positions[support.hand];
                let height = at.y - fitted.site.height(at.x, at.z) - support.height * fitted.report.scale;
                assert!(height.abs() < 0.01, "{what}: {height}");
            }
        }
    }
}
