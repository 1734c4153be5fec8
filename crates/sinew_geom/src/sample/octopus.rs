//! The octopus: a tilted mantle, large eyes and eight tapering arms that curl on the floor.

use super::dress::build_creature;
use super::motion::{Sketch, build_clip, wave};
use super::plan::{Plan, Side, v};
use crate::{Character, DofKind::*, GeomError};
use glam::{DQuat, DVec3};

/// Arms of one side, from the front; the angle each leaves the body at, measured from +Z.
const ARMS: [(&str, f64); 4] = [("arm1", 24.0), ("arm2", 66.0), ("arm3", 112.0), ("arm4", 157.0)];
/// Bones of an arm, and pieces of flesh on each.
const BONES_PER_ARM: usize = 6;
const PIECES_PER_BONE: usize = 3;

/// The whole character.
pub(super) fn build_octopus(n_vertices: usize) -> Result<Character, GeomError> {
    let plan = plan();
    let (mut character, rig) = build_creature(&plan, n_vertices, tone)?;
    character.name = "octopus".into();
    character.clips =
        vec![build_clip("swim", &plan, &rig, 60, swim)?, build_clip("idle", &plan, &rig, 90, idle)?];
    Ok(character)
}

fn plan() -> Plan {
    let mut plan = Plan::default();
    let skin = plan.material("skin", 0xD6604A, 0.5);
    let eyes = plan.material("eyes", 0xF0C24B, 0.2);
    let pupils = plan.material("pupils", 0x1B1414, 0.1);
    let body = plan.bone("body", None, v(0.0, 0.16, 0.0), v(0.0, 0.30, 0.0), 0.13);
    let mantle = plan.bone("mantle", Some(body), v(0.0, 0.30, -0.01), v(0.0, 0.62, -0.13), 0.1);
    plan.free(body);
    plan.limits(mantle, &[(Rx, -40.0, 40.0), (Ry, -30.0, 30.0), (Rz, -35.0, 35.0)]);
    let core = plan.group(None, 0.0);
    plan.ellipsoid((core, body), v(0.0, 0.215, 0.015), v(0.128, 0.115, 0.125)).tint(skin);
    plan.ellipsoid((core, body), v(0.0, 0.125, 0.0), v(0.15, 0.055, 0.15)).blend(0.07);
    plan.ellipsoid((core, mantle), v(0.0, 0.43, -0.075), v(0.155, 0.2, 0.165))
        .tilt(DVec3::X, -22.0)
        .blend(0.09);
    plan.ellipsoid((core, mantle), v(0.0, 0.58, -0.13), v(0.085, 0.085, 0.085)).blend(0.08);
    plan.ellipsoid((core, body), v(0.088, 0.275, 0.08), v(0.052, 0.056, 0.056)).blend(0.04);
    plan.cone((core, body), (v(0.035, 0.165, 0.11), 0.024), (v(0.0, 0.15, 0.175), 0.016)).blend(0.03);
    let eye = plan.group(Some(core), 0.004);
    plan.ellipsoid((eye, body), v(0.1, 0.282, 0.108), v(0.034, 0.036, 0.034)).tint(eyes).grain(0.5);
    let pupil = plan.group(Some(eye), 0.001);
    plan.ellipsoid((pupil, body), v(0.109, 0.283, 0.1305), v(0.02, 0.0105, 0.0155))
        .tilt(DVec3::Y, 38.0)
        .tint(pupils)
        .grain(0.6);
    for (index, (name, angle)) in ARMS.into_iter().enumerate() {
        grow_arm(&mut plan, core, name, angle.to_radians(), index, skin);
    }
    add_handles(&mut plan);
    plan
}

/// Point of an arm at 0..1 of its length: out and down to the floor, then curling up and aside.
fn arm_point(t: f64, angle: f64, index: usize) -> DVec3 {
    let length = [0.70, 0.78, 0.80, 0.74][index] * t;
    let (mut at, n) = (v(0.0, 0.135, 0.085), 48);
    let curl = [1.0, -1.0, 1.0, -1.0][index];
    // Walk along the arm, turning as it goes: pitch first falls and levels out, at the end it rolls up.
    for i in 0..n {
        let s = (f64::from(i) + 0.5) / f64::from(n) * t;
        let tip = ((s - 0.5) / 0.5).max(0.0);
        let pitch = -1.05 * (1.0 - s / 0.34).clamp(0.0, 1.0) + 2.9 * tip * tip;
        let yaw = curl * (0.55 * (s * 7.0 + f64::from(index as u32)).sin() * s.min(0.7) + 1.5 * tip * tip);
        let step = v(yaw.sin() * pitch.cos(), pitch.sin(), yaw.cos() * pitch.cos());
        at += step * (length / f64::from(n));
    }
    let radius = arm_radius(t);
    let at = v(at.x, at.y.max(radius * 0.85), at.z);
    DQuat::from_rotation_y(angle) * at
}

fn arm_radius(t: f64) -> f64 {
    0.052 * (1.0 - t).powf(0.85) + 0.0085
}

fn grow_arm(plan: &mut Plan, core: usize, name: &str, angle: f64, index: usize, skin: usize) {
    let limb = plan.group(Some(core), 0.05);
    let mut parent = 0;
    for i in 0..BONES_PER_ARM {
        let at = |k: usize| (i * PIECES_PER_BONE + k) as f64 / (BONES_PER_ARM * PIECES_PER_BONE) as f64;
        let (head, tail) = (arm_point(at(0), angle, index), arm_point(at(PIECES_PER_BONE), angle, index));
        let radius = (arm_radius(at(0)) * 1.25).max(0.028);
        let bone = plan.bone(&format!("{name}.{}.L", i + 1), Some(parent), head, tail, radius);
        if i == 0 {
            // Own frames face outwards: rx lifts and lowers an arm, ry swings it.
            plan.turn(bone, DQuat::from_rotation_y(angle));
        }
        plan.limits(bone, &[(Rx, -70.0, 70.0), (Ry, -60.0, 60.0), (Rz, -30.0, 30.0)]);
        for k in 0..PIECES_PER_BONE {
            let (a, b) = (at(k), at(k + 1));
            let ends = [a, b].map(|t| (arm_point(t, angle, index), arm_radius(t)));
            plan.cone((limb, bone), ends[0], ends[1]).blend(0.25 * arm_radius(b)).tint(skin);
        }
        parent = bone;
    }
}

fn add_handles(plan: &mut Plan) {
    let mantle = plan.find("mantle").unwrap_or(0);
    plan.handle("mantle", mantle, (v(0.0, 0.50, -0.1), 0.2), &[]);
    plan.handle("head", 0, (v(0.0, 0.25, 0.03), 0.15), &["mantle"]);
    for (index, (name, angle)) in ARMS.into_iter().enumerate() {
        let angle = angle.to_radians();
        let bone = |plan: &Plan, i: usize| plan.find(&format!("{name}.{i}.L")).unwrap_or(0);
        let (tip, middle) = (format!("{name}.tip.L"), format!("{name}.middle.L"));
        plan.handle(&tip, bone(plan, 6), (arm_point(0.95, angle, index), 0.07), &[]);
        plan.handle(&middle, bone(plan, 3), (arm_point(0.45, angle, index), 0.055), &[&tip]);
    }
}

/// Pale underneath, speckled and darker on top.
fn tone(p: DVec3, n: DVec3) -> [f64; 3] {
    let spots = (p.x * 61.0).sin() * (p.y * 57.0 + 1.0).sin() * (p.z * 59.0 + 2.0).sin();
    let top = (0.5 + 0.5 * n.y) * 0.14 + 0.12 * (spots - 0.35).max(0.0) * 2.0;
    let shade = 1.0 - top;
    [shade, shade * (1.0 - 0.12 * n.y.max(0.0)), shade]
}

/// Turn all bones of all arms; `angles` is called with the arm, the bone and the phase lag of the arm.
fn turn_arms(s: &mut Sketch, angles: impl Fn(usize, f64, f64) -> (f64, f64)) {
    for (index, (name, _)) in ARMS.into_iter().enumerate() {
        for (side, lag) in [(Side::Left, 0.0), (Side::Right, 0.035)] {
            for i in 0..BONES_PER_ARM {
                let (x, y) = angles(index, i as f64, lag);
                s.turn_side(&format!("{name}.{}", i + 1), side, x, y, 0.0);
            }
        }
    }
}

/// Jet swimming: the arms close fast, the body shoots up, the arms spread again slowly.
fn swim(phase: f64, s: &mut Sketch) {
    let stroke = |at: f64| {
        let at = at.rem_euclid(1.0);
        let t = if at < 0.35 { at / 0.35 } else { 1.0 - (at - 0.35) / 0.65 };
        t * t * (3.0 - 2.0 * t)
    };
    s.shift("body", v(0.0, 0.42 + 0.075 * wave(phase - 0.42), 0.0));
    s.turn("body", 8.0 * wave(phase - 0.1), 3.0 * wave(phase), 0.0);
    s.turn("mantle", -7.0 * stroke(phase - 0.06) + 3.0, 0.0, 3.0 * wave(phase));
    turn_arms(s, |index, i, lag| {
        let close = stroke(phase - 0.075 * i - lag);
        let open = [-16.0, -8.0, 2.0, 6.0, 2.0, 2.0][i as usize];
        let shut = [34.0, 16.0, 8.0, 0.0, -8.0, -10.0][i as usize];
        let sway = 4.0 * wave(phase - 0.1 * i + 0.2 * index as f64);
        (open + (shut - open) * close, sway)
    });
}

/// Resting: breathing, arms exploring.
fn idle(phase: f64, s: &mut Sketch) {
    let breath = wave(2.0 * phase);
    s.shift("body", v(0.0, 0.004 + 0.004 * breath, 0.0));
    s.turn("mantle", 3.0 * breath, 3.0 * wave(phase), 4.0 * wave(phase + 0.2));
    turn_arms(s, |index, i, lag| {
        let own = phase + 0.29 * index as f64 + lag * 5.0;
        let grow = (i / 5.0).powf(1.3);
        (-8.0 * grow * (1.0 + wave(own - 0.1 * i)), 14.0 * grow * wave(own - 0.12 * i))
    });
}
