//! The quadruped: a young fox, half a metre at the shoulder.

use super::dress::build_creature;
use super::motion::{Sketch, bend_leg, build_clip, wave};
use super::plan::{Plan, Side, v};
use crate::{Character, DofKind::*, GeomError};
use glam::DVec3;

const SHOULDER: DVec3 = v(0.072, 0.425, 0.165);
const ELBOW: DVec3 = v(0.082, 0.325, 0.095);
const WRIST: DVec3 = v(0.082, 0.125, 0.125);
const HIP: DVec3 = v(0.072, 0.475, -0.225);
const STIFLE: DVec3 = v(0.086, 0.325, -0.145);
const HOCK: DVec3 = v(0.084, 0.185, -0.29);
const TAIL: [DVec3; 6] = [
    v(0.0, 0.505, -0.31),
    v(0.0, 0.475, -0.40),
    v(0.0, 0.405, -0.485),
    v(0.0, 0.345, -0.575),
    v(0.0, 0.33, -0.675),
    v(0.0, 0.365, -0.765),
];

/// The whole character.
pub(super) fn build_quadruped(n_vertices: usize) -> Result<Character, GeomError> {
    let plan = plan();
    let (mut character, rig) = build_creature(&plan, n_vertices, tone)?;
    character.name = "quadruped".into();
    character.clips =
        vec![build_clip("walk", &plan, &rig, 34, walk)?, build_clip("wag", &plan, &rig, 60, wag)?];
    Ok(character)
}

fn plan() -> Plan {
    let mut plan = Plan::default();
    let fur = plan.material("fur", 0xD9783A, 0.9);
    let white = plan.material("white fur", 0xF3E7D6, 0.9);
    let dark = plan.material("dark fur", 0x4A2F28, 0.9);
    let nose = plan.material("nose", 0x1E1716, 0.3);
    let eyes = plan.material("eyes", 0x2A1B14, 0.1);
    let torso = grow_torso(&mut plan, [fur, white]);
    let chest = plan.find("chest").unwrap_or(0);
    grow_front_leg(&mut plan, torso, chest, [fur, dark]);
    grow_hind_leg(&mut plan, torso, [fur, dark]);
    grow_tail(&mut plan, torso, [fur, white]);
    grow_head(&mut plan, torso, chest, [fur, white, dark, nose, eyes]);
    add_handles(&mut plan);
    plan
}

fn grow_torso(plan: &mut Plan, [fur, white]: [usize; 2]) -> usize {
    let hips = plan.bone("hips", None, v(0.0, 0.495, -0.24), v(0.0, 0.50, -0.10), 0.1);
    let spine = plan.bone("spine", Some(hips), v(0.0, 0.50, -0.10), v(0.0, 0.50, 0.05), 0.1);
    let chest = plan.bone("chest", Some(spine), v(0.0, 0.50, 0.05), v(0.0, 0.53, 0.20), 0.1);
    plan.free(hips);
    plan.limits(spine, &[(Rx, -30.0, 30.0), (Ry, -30.0, 30.0), (Rz, -20.0, 20.0)]);
    plan.limits(chest, &[(Rx, -25.0, 25.0), (Ry, -30.0, 30.0), (Rz, -20.0, 20.0)]);
    let torso = plan.group(None, 0.0);
    plan.ellipsoid((torso, chest), v(0.0, 0.465, 0.09), v(0.1, 0.118, 0.16)).tint(fur);
    plan.ellipsoid((torso, spine), v(0.0, 0.495, -0.07), v(0.078, 0.088, 0.15)).blend(0.07);
    plan.ellipsoid((torso, hips), v(0.0, 0.488, -0.235), v(0.082, 0.088, 0.1)).blend(0.07);
    plan.ellipsoid((torso, chest), v(0.0, 0.53, 0.14), v(0.07, 0.06, 0.1)).blend(0.06);
    plan.ellipsoid((torso, chest), v(0.0, 0.465, 0.19), v(0.066, 0.1, 0.082)).blend(0.06).tint(white);
    plan.ellipsoid((torso, spine), v(0.0, 0.435, -0.02), v(0.05, 0.05, 0.12)).blend(0.06);
    torso
}

fn grow_front_leg(plan: &mut Plan, torso: usize, chest: usize, [fur, dark]: [usize; 2]) {
    let blade = plan.bone("shoulder.L", Some(chest), v(0.06, 0.53, 0.11), SHOULDER, 0.075);
    let upper = plan.bone("upper_arm.L", Some(blade), SHOULDER, ELBOW, 0.06);
    let fore = plan.bone("forearm.L", Some(upper), ELBOW, WRIST, 0.042);
    let paw = plan.bone("front_paw.L", Some(fore), WRIST, v(0.083, 0.04, 0.135), 0.032);
    let toes = plan.bone("front_toes.L", Some(paw), v(0.083, 0.035, 0.14), v(0.084, 0.025, 0.195), 0.028);
    plan.limits(blade, &[(Rx, -25.0, 25.0), (Rz, -10.0, 15.0)]);
    plan.limits(upper, &[(Rx, -70.0, 60.0), (Rz, -10.0, 30.0)]);
    plan.limits(fore, &[(Rx, -130.0, 35.0), (Ry, -20.0, 20.0)]);
    plan.limits(paw, &[(Rx, -30.0, 110.0), (Rz, -10.0, 10.0)]);
    plan.limits(toes, &[(Rx, -60.0, 40.0)]);
    let leg = plan.group(Some(torso), 0.05);
    plan.cone((leg, blade), (v(0.05, 0.50, 0.115), 0.05), (SHOULDER, 0.05)).tint(fur);
    plan.cone((leg, upper), (SHOULDER, 0.05), (ELBOW, 0.045)).blend(0.04);
    plan.cone((leg, fore), (ELBOW, 0.045), (v(0.082, 0.20, 0.117), 0.031)).blend(0.03);
    plan.cone((leg, fore), (v(0.082, 0.215, 0.116), 0.031), (WRIST, 0.028)).blend(0.012).tint(dark);
    plan.cone((leg, paw), (WRIST, 0.028), (v(0.083, 0.045, 0.135), 0.031)).blend(0.02);
    grow_toes(plan, leg, paw, toes, v(0.083, 0.032, 0.15));
}

fn grow_hind_leg(plan: &mut Plan, torso: usize, [fur, dark]: [usize; 2]) {
    let thigh = plan.bone("thigh.L", Some(0), HIP, STIFLE, 0.08);
    let shin = plan.bone("shin.L", Some(thigh), STIFLE, HOCK, 0.05);
    let foot = plan.bone("hind_foot.L", Some(shin), HOCK, v(0.083, 0.045, -0.265), 0.034);
    let toes = plan.bone("hind_toes.L", Some(foot), v(0.083, 0.035, -0.26), v(0.084, 0.025, -0.2), 0.028);
    plan.limits(thigh, &[(Rx, -80.0, 50.0), (Ry, -20.0, 20.0), (Rz, -10.0, 40.0)]);
    plan.limits(shin, &[(Rx, -40.0, 90.0)]);
    plan.limits(foot, &[(Rx, -90.0, 40.0), (Rz, -15.0, 15.0)]);
    plan.limits(toes, &[(Rx, -60.0, 40.0)]);
    let leg = plan.group(Some(torso), 0.055);
    plan.cone((leg, thigh), (HIP + v(0.0, -0.01, -0.005), 0.082), (STIFLE, 0.058)).tint(fur);
    plan.ellipsoid((leg, thigh), v(0.083, 0.41, -0.23), v(0.05, 0.09, 0.07)).blend(0.05);
    plan.cone((leg, shin), (STIFLE, 0.057), (HOCK.lerp(STIFLE, 0.35), 0.038)).blend(0.03);
    plan.cone((leg, shin), (HOCK.lerp(STIFLE, 0.38), 0.038), (HOCK, 0.028)).blend(0.012).tint(dark);
    plan.ellipsoid((leg, foot), HOCK + v(0.0, 0.004, -0.008), v(0.024, 0.03, 0.026)).blend(0.02);
    plan.cone((leg, foot), (HOCK, 0.027), (v(0.083, 0.045, -0.265), 0.03)).blend(0.02);
    grow_toes(plan, leg, foot, toes, v(0.083, 0.032, -0.25));
}

/// A paw: pad and three toes, flat below.
fn grow_toes(plan: &mut Plan, leg: usize, foot: usize, toes: usize, at: DVec3) {
    plan.ellipsoid((leg, foot), at + v(0.0, 0.0, -0.01), v(0.034, 0.033, 0.038)).blend(0.025);
    for (x, z) in [(-0.021, 0.026), (0.0, 0.034), (0.021, 0.026)] {
        plan.ellipsoid((leg, toes), at + v(x, -0.006, z), v(0.0155, 0.021, 0.024)).blend(0.008).grain(0.8);
    }
    plan.ellipsoid((leg, toes), v(at.x, -0.5, at.z), v(1.0, 0.503, 1.0)).blend(0.01).carve();
}

fn grow_tail(plan: &mut Plan, torso: usize, [fur, white]: [usize; 2]) {
    let radii = [0.034f64, 0.044, 0.058, 0.066, 0.056, 0.014];
    let brush = plan.group(Some(torso), 0.03);
    let mut parent = 0;
    for i in 0..5 {
        let bone =
            plan.bone(&format!("tail.{}", i + 1), Some(parent), TAIL[i], TAIL[i + 1], radii[i].max(0.045));
        plan.limits(bone, &[(Rx, -50.0, 50.0), (Ry, -50.0, 50.0), (Rz, -20.0, 20.0)]);
        let tint = if i == 4 { white } else { fur };
        plan.cone((brush, bone), (TAIL[i], radii[i]), (TAIL[i + 1], radii[i + 1])).blend(0.02).tint(tint);
        parent = bone;
    }
}

fn grow_head(plan: &mut Plan, torso: usize, chest: usize, [fur, white, dark, black, eyes]: [usize; 5]) {
    let neck = plan.bone("neck", Some(chest), v(0.0, 0.545, 0.19), v(0.0, 0.69, 0.29), 0.08);
    let head = plan.bone("head", Some(neck), v(0.0, 0.69, 0.29), v(0.0, 0.69, 0.49), 0.055);
    let jaw = plan.bone("jaw", Some(head), v(0.0, 0.672, 0.345), v(0.0, 0.652, 0.48), 0.02);
    let ear = plan.bone("ear.L", Some(head), v(0.052, 0.765, 0.305), v(0.082, 0.885, 0.295), 0.03);
    plan.limits(neck, &[(Rx, -50.0, 60.0), (Ry, -50.0, 50.0), (Rz, -25.0, 25.0)]);
    plan.limits(head, &[(Rx, -45.0, 60.0), (Ry, -50.0, 50.0), (Rz, -35.0, 35.0)]);
    plan.limits(jaw, &[(Rx, 0.0, 35.0)]);
    plan.limits(ear, &[(Rx, -30.0, 40.0), (Ry, -40.0, 40.0), (Rz, -40.0, 20.0)]);
    let column = plan.group(Some(torso), 0.05);
    plan.cone((column, neck), (v(0.0, 0.53, 0.18), 0.08), (v(0.0, 0.69, 0.29), 0.06)).tint(fur);
    plan.cone((column, neck), (v(0.0, 0.50, 0.215), 0.06), (v(0.0, 0.645, 0.305), 0.045))
        .blend(0.03)
        .tint(white);
    let skull = plan.group(Some(column), 0.03);
    let at = (skull, head);
    plan.ellipsoid(at, v(0.0, 0.722, 0.325), v(0.082, 0.074, 0.086)).tint(fur).grain(0.8);
    plan.cone(at, (v(0.0, 0.695, 0.37), 0.046), (v(0.0, 0.684, 0.495), 0.021)).blend(0.04).grain(0.8);
    plan.cone(at, (v(0.045, 0.685, 0.33), 0.042), (v(0.1, 0.662, 0.30), 0.012)).blend(0.03).tint(white);
    plan.cone(at, (v(0.014, 0.674, 0.40), 0.03), (v(0.006, 0.672, 0.49), 0.0185)).blend(0.02).tint(white);
    plan.ellipsoid(at, v(0.0, 0.692, 0.515), v(0.0175, 0.0145, 0.014)).blend(0.004).tint(black).grain(0.7);
    let chin = plan.group(Some(skull), 0.006);
    plan.cone((chin, jaw), (v(0.0, 0.66, 0.36), 0.032), (v(0.0, 0.653, 0.475), 0.013)).tint(white);
    let pinna = plan.group(Some(skull), 0.018);
    let outward = v(0.35, -0.05, 1.0);
    plan.cone((pinna, ear), (v(0.052, 0.768, 0.305), 0.042), (v(0.072, 0.84, 0.30), 0.024))
        .flat(outward, 0.42)
        .tint(fur);
    plan.cone((pinna, ear), (v(0.072, 0.84, 0.30), 0.024), (v(0.084, 0.887, 0.297), 0.007))
        .flat(outward, 0.5)
        .blend(0.008)
        .tint(dark);
    plan.ellipsoid((pinna, ear), v(0.068, 0.81, 0.328), v(0.022, 0.048, 0.02))
        .tilt(DVec3::Z, -16.0)
        .blend(0.01)
        .carve();
    let eye = plan.group(Some(skull), 0.003);
    plan.ellipsoid((eye, head), v(0.047, 0.735, 0.389), v(0.0165, 0.0185, 0.0155)).tint(eyes).grain(0.45);
}

fn add_handles(plan: &mut Plan) {
    let bone = |plan: &Plan, name: &str| plan.find(name).unwrap_or(0);
    let (head, chest) = (bone(plan, "head"), bone(plan, "chest"));
    plan.handle("ear.L", bone(plan, "ear.L"), (v(0.076, 0.86, 0.30), 0.06), &[]);
    plan.handle("jaw", bone(plan, "jaw"), (v(0.0, 0.65, 0.46), 0.06), &[]);
    plan.handle("head", head, (v(0.0, 0.71, 0.36), 0.19), &["ear.L", "ear.R", "jaw"]);
    plan.handle("front_paw.L", bone(plan, "front_paw.L"), (v(0.083, 0.03, 0.15), 0.1), &[]);
    plan.handle("hind_paw.L", bone(plan, "hind_foot.L"), (v(0.083, 0.03, -0.25), 0.1), &[]);
    plan.handle("elbow.L", bone(plan, "upper_arm.L"), (ELBOW, 0.05), &["front_paw.L"]);
    plan.handle("hock.L", bone(plan, "hind_foot.L"), (HOCK, 0.05), &["hind_paw.L"]);
    plan.handle("tail.tip", bone(plan, "tail.5"), (TAIL[5], 0.09), &[]);
    plan.handle("tail.middle", bone(plan, "tail.3"), (TAIL[3], 0.07), &["tail.tip"]);
    plan.handle("chest", chest, (v(0.0, 0.47, 0.12), 0.13), &["head", "ear.L", "ear.R", "jaw"]);
    plan.handle("hips", 0, (v(0.0, 0.49, -0.24), 0.11), &[]);
}

/// Darker along the back, lighter below.
fn tone(p: DVec3, n: DVec3) -> [f64; 3] {
    let back = 0.12 * ((p.y - 0.45) / 0.2).clamp(0.0, 1.0) * n.y.max(0.0);
    let shade = 0.94 + 0.06 * n.y - back;
    [shade, shade, shade]
}

/// Lift and forward place of a paw over a stride, and how far it is folded.
fn step(phase: f64, stride: f64, height: f64) -> (f64, f64, f64) {
    let phase = phase.rem_euclid(1.0);
    if phase < 0.62 {
        let t = phase / 0.62;
        (0.0, stride * (1.0 - 2.0 * t), 0.0)
    } else {
        let t = (phase - 0.62) / 0.38;
        let arc = (std::f64::consts::PI * t).sin();
        (height * arc * arc.sqrt(), -stride * (std::f64::consts::PI * t).cos(), arc)
    }
}

fn walk(phase: f64, s: &mut Sketch) {
    let bob = 0.008 * wave(2.0 * phase + 0.1) - 0.012;
    s.shift("hips", v(0.006 * wave(phase), bob, 0.0));
    s.turn("hips", 1.2 * wave(2.0 * phase), 4.0 * wave(phase + 0.2), 2.5 * wave(phase));
    s.turn("spine", -wave(2.0 * phase), -4.0 * wave(phase + 0.2), -1.5 * wave(phase));
    s.turn("chest", 0.0, -4.0 * wave(phase + 0.2), -wave(phase));
    s.turn("neck", 8.0 + 3.0 * wave(2.0 * phase + 0.3), 3.0 * wave(phase + 0.2), 0.0);
    s.turn("head", -6.0 - 3.0 * wave(2.0 * phase + 0.35), 2.0 * wave(phase + 0.2), 0.0);
    for i in 1..=5 {
        let delay = 0.09 * f64::from(i);
        s.turn(&format!("tail.{i}"), -3.0 + 2.5 * wave(2.0 * phase - delay), 7.0 * wave(phase - delay), 0.0);
    }
    for (side, at) in [(Side::Left, phase), (Side::Right, phase + 0.5)] {
        let (lift, ahead, fold) = step(at, 0.105, 0.055);
        let end = HOCK - HIP + v(0.0, lift - bob, ahead);
        let (hip, knee) = bend_leg(STIFLE - HIP, HOCK - STIFLE, end, 1.0);
        s.turn_side("thigh", side, hip, 0.0, 0.0);
        s.turn_side("shin", side, knee, 0.0, 0.0);
        s.turn_side(
            "hind_foot",
            side,
            34.0 * fold - hip - knee - 90.0 * ahead.min(0.0) * (1.0 - fold),
            0.0,
            0.0,
        );
        s.turn_side("hind_toes", side, 10.0 * fold + 90.0 * ahead.min(0.0) * (1.0 - fold), 0.0, 0.0);
        let (lift, ahead, fold) = step(at + 0.27, 0.105, 0.05);
        let end = WRIST - SHOULDER + v(0.0, lift - bob, ahead);
        let (shoulder, elbow) = bend_leg(ELBOW - SHOULDER, WRIST - ELBOW, end, -1.0);
        s.turn_side("upper_arm", side, shoulder, 0.0, 0.0);
        s.turn_side("forearm", side, elbow, 0.0, 0.0);
        s.turn_side("front_paw", side, 62.0 * fold - shoulder - elbow, 0.0, 0.0);
        s.turn_side("ear", side, -4.0 * wave(2.0 * phase), 0.0, 0.0);
    }
}

fn wag(phase: f64, s: &mut Sketch) {
    let beat = wave(4.0 * phase);
    s.turn("hips", 0.0, 2.0 * beat, 2.0 * beat);
    s.turn("spine", 0.0, -2.0 * beat, -2.0 * beat);
    s.turn("tail.1", 40.0, 14.0 * beat, 0.0);
    for i in 2..=5 {
        s.turn(&format!("tail.{i}"), 9.0, 17.0 * wave(4.0 * phase - 0.09 * f64::from(i)), 0.0);
    }
    s.turn("neck", -4.0 + 2.0 * wave(phase), 6.0 * wave(phase), 0.0);
    s.turn("head", 2.0, 5.0 * wave(phase), 14.0 * wave(phase + 0.1));
    s.turn("jaw", 14.0 + 6.0 * wave(6.0 * phase), 0.0, 0.0);
    for side in [Side::Left, Side::Right] {
        let (hip, knee) = bend_leg(STIFLE - HIP, HOCK - STIFLE, HOCK - HIP, 1.0);
        s.turn_side("thigh", side, hip, 0.0, 0.0);
        s.turn_side("shin", side, knee, 0.0, 0.0);
        s.turn_side("ear", side, 10.0 * wave(phase + 0.3), 0.0, -8.0 + 4.0 * wave(2.0 * phase));
    }
}
