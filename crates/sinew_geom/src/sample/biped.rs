//! The biped: a friendly figure of 1.7 m in shirt and trousers, arms held away from the body.

use super::dress::build_creature;
use super::motion::{Sketch, bend_leg, build_clip, wave};
use super::plan::{Plan, Side, v};
use crate::{Character, DofKind::*, GeomError};
use glam::{DQuat, DVec3};

const SHOULDER: DVec3 = v(0.165, 1.335, -0.005);
/// Angle of the arms below the horizontal at rest.
const ARM_DROOP_DEGREES: f64 = 38.0;
pub(super) const HIP: DVec3 = v(0.093, 0.875, 0.0);
pub(super) const KNEE: DVec3 = v(0.100, 0.475, 0.012);
pub(super) const ANKLE: DVec3 = v(0.105, 0.088, -0.018);
const BALL: DVec3 = v(0.113, 0.028, 0.095);

/// The whole character.
pub(super) fn build_biped(n_vertices: usize) -> Result<Character, GeomError> {
    let plan = plan();
    let (mut character, rig) = build_creature(&plan, n_vertices, tone)?;
    character.name = "biped".into();
    character.clips = vec![
        build_clip("walk", &plan, &rig, 32, walk)?,
        build_clip("idle", &plan, &rig, 90, idle)?,
        build_clip("greet", &plan, &rig, 60, greet)?,
    ];
    Ok(character)
}

/// Point of the left arm: `x` metres down the arm, `y` above it, `z` ahead.
fn arm(x: f64, y: f64, z: f64) -> DVec3 {
    SHOULDER + DQuat::from_rotation_z(-ARM_DROOP_DEGREES.to_radians()) * v(x, y, z)
}

pub(super) fn plan() -> Plan {
    let mut plan = Plan::default();
    let skin = plan.material("skin", 0xE8B08E, 0.7);
    let shirt = plan.material("shirt", 0x2F8F8B, 0.9);
    let trousers = plan.material("trousers", 0x3D4A66, 0.9);
    let shoes = plan.material("shoes", 0x9C5A3C, 0.6);
    let hair = plan.material("hair", 0x5A3825, 0.8);
    let eyes = plan.material("eyes", 0xF4F1EA, 0.2);
    let pupils = plan.material("pupils", 0x20181A, 0.1);
    let torso = grow_torso(&mut plan, [shirt, trousers]);
    grow_leg(&mut plan, torso, [trousers, shoes]);
    let chest = plan.find("chest").unwrap_or(0);
    grow_arm(&mut plan, torso, chest, [shirt, skin]);
    grow_head(&mut plan, torso, chest, [skin, hair, eyes, pupils]);
    add_handles(&mut plan);
    plan
}

fn grow_torso(plan: &mut Plan, [shirt, trousers]: [usize; 2]) -> usize {
    let hips = plan.bone("hips", None, v(0.0, 0.93, 0.0), v(0.0, 1.02, 0.0), 0.12);
    let spine = plan.bone("spine", Some(hips), v(0.0, 1.02, 0.0), v(0.0, 1.17, -0.005), 0.11);
    let chest = plan.bone("chest", Some(spine), v(0.0, 1.17, -0.005), v(0.0, 1.38, -0.01), 0.11);
    plan.free(hips);
    plan.limits(spine, &[(Rx, -25.0, 45.0), (Ry, -35.0, 35.0), (Rz, -25.0, 25.0)]);
    plan.limits(chest, &[(Rx, -20.0, 35.0), (Ry, -35.0, 35.0), (Rz, -20.0, 20.0)]);
    let torso = plan.group(None, 0.0);
    plan.ellipsoid((torso, hips), v(0.0, 0.915, -0.005), v(0.145, 0.085, 0.105)).tint(trousers);
    plan.ellipsoid((torso, hips), v(0.062, 0.885, -0.05), v(0.078, 0.08, 0.075)).blend(0.04);
    plan.ellipsoid((torso, spine), v(0.0, 1.05, 0.008), v(0.128, 0.13, 0.098)).blend(0.06).tint(shirt);
    plan.ellipsoid((torso, spine), v(0.0, 0.985, 0.0), v(0.146, 0.055, 0.112)).blend(0.04);
    plan.ellipsoid((torso, chest), v(0.0, 1.225, 0.0), v(0.148, 0.155, 0.105)).blend(0.08);
    plan.ellipsoid((torso, chest), v(0.05, 1.265, 0.035), v(0.085, 0.075, 0.06)).blend(0.07);
    plan.ellipsoid((torso, chest), v(0.06, 1.28, -0.045), v(0.085, 0.085, 0.055)).blend(0.07);
    plan.cone((torso, chest), (v(0.03, 1.345, -0.015), 0.058), (v(0.125, 1.335, -0.01), 0.06)).blend(0.06);
    torso
}

fn grow_leg(plan: &mut Plan, torso: usize, [trousers, shoes]: [usize; 2]) {
    let thigh = plan.bone("thigh.L", Some(0), HIP, KNEE, 0.095);
    let shin = plan.bone("shin.L", Some(thigh), KNEE, ANKLE, 0.066);
    let foot = plan.bone("foot.L", Some(shin), ANKLE, BALL, 0.045);
    let toe = plan.bone("toe.L", Some(foot), BALL, BALL + v(0.005, 0.0, 0.08), 0.035);
    plan.limits(thigh, &[(Rx, -120.0, 30.0), (Ry, -40.0, 40.0), (Rz, -20.0, 60.0)]);
    plan.limits(shin, &[(Rx, 0.0, 150.0)]);
    plan.limits(foot, &[(Rx, -40.0, 50.0), (Ry, -15.0, 15.0), (Rz, -20.0, 20.0)]);
    plan.limits(toe, &[(Rx, -50.0, 30.0)]);
    let leg = plan.group(Some(torso), 0.05);
    plan.cone((leg, thigh), (HIP + v(0.0, 0.0, -0.005), 0.094), (KNEE, 0.064)).tint(trousers);
    plan.ellipsoid((leg, thigh), v(0.1, 0.72, 0.022), v(0.066, 0.14, 0.062)).blend(0.06);
    plan.cone((leg, shin), (KNEE, 0.064), (v(0.104, 0.15, -0.01), 0.06)).blend(0.02);
    plan.ellipsoid((leg, shin), v(0.103, 0.36, -0.024), v(0.05, 0.1, 0.052)).blend(0.05);
    plan.ellipsoid((leg, shin), v(0.104, 0.112, -0.012), v(0.068, 0.036, 0.076)).blend(0.03);
    let shoe = plan.group(Some(leg), 0.008);
    plan.cone((shoe, foot), (v(0.105, 0.098, -0.018), 0.047), (v(0.105, 0.05, -0.03), 0.05)).tint(shoes);
    plan.cone((shoe, foot), (v(0.105, 0.047, -0.038), 0.046), (v(0.112, 0.044, 0.08), 0.05)).blend(0.03);
    plan.ellipsoid((shoe, toe), v(0.116, 0.042, 0.128), v(0.056, 0.044, 0.07)).blend(0.035);
    // Soles are flat.
    plan.ellipsoid((shoe, foot), v(0.11, -0.5, 0.05), v(1.0, 0.5, 1.0)).blend(0.014).carve();
}

fn grow_arm(plan: &mut Plan, torso: usize, chest: usize, [shirt, skin]: [usize; 2]) {
    let clavicle = plan.bone("shoulder.L", Some(chest), v(0.035, 1.345, -0.01), SHOULDER, 0.07);
    plan.limits(clavicle, &[(Ry, -20.0, 20.0), (Rz, -10.0, 30.0)]);
    let upper = plan.bone("upper_arm.L", Some(clavicle), SHOULDER, arm(0.26, 0.0, -0.004), 0.062);
    plan.turn(upper, DQuat::from_rotation_z(-ARM_DROOP_DEGREES.to_radians()));
    let fore = plan.bone("forearm.L", Some(upper), arm(0.26, 0.0, -0.004), arm(0.49, 0.0, 0.012), 0.046);
    let hand = plan.bone("hand.L", Some(fore), arm(0.49, 0.0, 0.012), arm(0.58, 0.0, 0.018), 0.034);
    plan.limits(upper, &[(Rx, -90.0, 60.0), (Ry, -120.0, 40.0), (Rz, -50.0, 120.0)]);
    plan.limits(fore, &[(Rx, -80.0, 80.0), (Ry, -150.0, 0.0)]);
    plan.limits(hand, &[(Ry, -20.0, 30.0), (Rz, -70.0, 70.0)]);
    let limb = plan.group(Some(torso), 0.045);
    plan.cone((limb, clavicle), (v(0.125, 1.335, -0.01), 0.058), (SHOULDER, 0.06)).tint(shirt);
    plan.cone((limb, upper), (SHOULDER, 0.061), (arm(0.15, 0.0, 0.0), 0.054)).blend(0.03);
    plan.cone((limb, upper), (arm(0.13, 0.0, 0.0), 0.04), (arm(0.26, 0.0, -0.004), 0.038))
        .blend(0.01)
        .tint(skin);
    plan.cone((limb, fore), (arm(0.26, 0.0, -0.004), 0.038), (arm(0.48, 0.0, 0.012), 0.027)).blend(0.02);
    plan.ellipsoid((limb, fore), arm(0.325, 0.002, 0.002), v(0.062, 0.04, 0.043))
        .tilt(DVec3::Z, -ARM_DROOP_DEGREES)
        .blend(0.03);
    grow_hand(plan, limb, hand);
}

fn grow_hand(plan: &mut Plan, limb: usize, hand: usize) {
    let down = DQuat::from_rotation_z(-ARM_DROOP_DEGREES.to_radians()) * DVec3::Y;
    let palm = plan.group(Some(limb), 0.03);
    plan.cone((palm, hand), (arm(0.515, 0.0, 0.014), 0.034), (arm(0.565, 0.0, 0.016), 0.043)).flat(down, 0.6);
    for (name, z, length) in [("index", 0.046, 0.078), ("middle", 0.015, 0.086), ("pinky", -0.015, 0.07)] {
        let spread = (z - 0.015) * 0.45;
        let root = arm(0.575, 0.0, z);
        let middle = arm(0.575 + 0.5 * length, -0.003, z + spread * 0.5);
        let tip = arm(0.575 + length, -0.012, z + spread);
        add_digit(plan, palm, hand, name, [root, middle, tip]);
    }
    let thumb = [arm(0.53, -0.004, 0.044), arm(0.56, -0.012, 0.072), arm(0.592, -0.018, 0.09)];
    add_digit(plan, palm, hand, "thumb", thumb);
}

fn add_digit(plan: &mut Plan, palm: usize, hand: usize, name: &str, [root, middle, tip]: [DVec3; 3]) {
    let first = plan.bone(&format!("{name}.1.L"), Some(hand), root, middle, 0.013);
    let second = plan.bone(&format!("{name}.2.L"), Some(first), middle, tip, 0.012);
    for bone in [first, second] {
        plan.limits(bone, &[(Rz, -90.0, 15.0)]);
    }
    let digit = plan.group(Some(palm), 0.014);
    plan.cone((digit, first), (root, 0.0155), (middle, 0.0148));
    plan.cone((digit, second), (middle, 0.0148), (tip, 0.0125)).blend(0.004);
}

fn grow_head(plan: &mut Plan, torso: usize, chest: usize, [skin, hair, eyes, pupils]: [usize; 4]) {
    let neck = plan.bone("neck", Some(chest), v(0.0, 1.38, -0.01), v(0.0, 1.465, 0.005), 0.05);
    let head = plan.bone("head", Some(neck), v(0.0, 1.465, 0.005), v(0.0, 1.70, 0.01), 0.05);
    plan.limits(neck, &[(Rx, -30.0, 30.0), (Ry, -40.0, 40.0), (Rz, -25.0, 25.0)]);
    plan.limits(head, &[(Rx, -35.0, 35.0), (Ry, -45.0, 45.0), (Rz, -25.0, 25.0)]);
    let column = plan.group(Some(torso), 0.02);
    plan.cone((column, neck), (v(0.0, 1.37, -0.012), 0.052), (v(0.0, 1.47, 0.0), 0.047)).tint(skin);
    let skull = plan.group(Some(column), 0.03);
    grow_face(plan, skull, head, skin);
    grow_hair(plan, skull, head, hair);
    let eye = plan.group(Some(skull), 0.004);
    plan.ellipsoid((eye, head), face(0.0385, 0.105, 0.083), v(0.027, 0.032, 0.024)).tint(eyes).grain(0.45);
    let pupil = plan.group(Some(eye), 0.001);
    plan.ellipsoid((pupil, head), face(0.0365, 0.104, 0.0975), v(0.0155, 0.0185, 0.0128))
        .tint(pupils)
        .grain(0.45);
}

/// Point of the head, relative to the top of the neck. The head is drawn larger than life.
fn face(x: f64, y: f64, z: f64) -> DVec3 {
    v(0.0, 1.465, 0.0) + 1.1 * v(x, y, z)
}

fn grow_face(plan: &mut Plan, skull: usize, head: usize, skin: usize) {
    let at = (skull, head);
    plan.ellipsoid(at, face(0.0, 0.112, 0.0), v(0.108, 0.122, 0.115)).tint(skin).grain(0.75);
    plan.ellipsoid(at, face(0.0, 0.036, 0.034), v(0.077, 0.068, 0.079)).blend(0.055).grain(0.75);
    plan.ellipsoid(at, face(0.048, 0.055, 0.058), v(0.04, 0.036, 0.038)).blend(0.035);
    plan.ellipsoid(at, face(0.041, 0.104, 0.122), v(0.034, 0.032, 0.03)).blend(0.03).carve();
    plan.cone(at, (face(0.0, 0.1, 0.1), 0.009), (face(0.0, 0.073, 0.117), 0.0185)).blend(0.02);
    plan.ellipsoid(at, face(0.1, 0.085, -0.006), v(0.017, 0.036, 0.025)).tilt(DVec3::Y, -22.0).blend(0.012);
    plan.cone(at, (face(0.0, 0.027, 0.103), 0.007), (face(0.03, 0.037, 0.092), 0.0055)).blend(0.01);
}

fn grow_hair(plan: &mut Plan, skull: usize, head: usize, hair: usize) {
    let cap = plan.group(Some(skull), 0.006);
    let at = (cap, head);
    plan.ellipsoid(at, face(0.0, 0.147, -0.026), v(0.122, 0.115, 0.114)).tint(hair).grain(0.75);
    plan.ellipsoid(at, face(0.032, 0.21, 0.05), v(0.075, 0.038, 0.056)).tilt(DVec3::Z, -18.0).blend(0.03);
    plan.ellipsoid(at, face(0.0, 0.078, -0.058), v(0.096, 0.078, 0.066)).blend(0.03);
    plan.cone(at, (face(0.096, 0.11, 0.012), 0.014), (face(0.097, 0.078, 0.018), 0.007)).blend(0.015);
    let brow = plan.group(Some(skull), 0.003);
    plan.cone((brow, head), (face(0.024, 0.1535, 0.097), 0.0075), (face(0.06, 0.149, 0.08), 0.0055))
        .tint(hair)
        .grain(0.8);
}

fn add_handles(plan: &mut Plan) {
    let bone = |plan: &Plan, name: &str| plan.find(name).unwrap_or(0);
    let (hips, chest, head) = (0, bone(plan, "chest"), bone(plan, "head"));
    let (fore, hand) = (bone(plan, "forearm.L"), bone(plan, "hand.L"));
    let (shin, foot) = (bone(plan, "shin.L"), bone(plan, "foot.L"));
    plan.handle("head", head, (v(0.0, 1.58, 0.0), 0.2), &[]);
    plan.handle("hand.L", hand, (arm(0.58, 0.0, 0.0), 0.14), &[]);
    plan.handle("foot.L", foot, (v(0.11, 0.03, 0.05), 0.18), &[]);
    plan.handle("elbow.L", bone(plan, "upper_arm.L"), (arm(0.25, 0.0, 0.0), 0.045), &["forearm.L", "hand.L"]);
    plan.handle("forearm.L", fore, (arm(0.38, 0.0, 0.0), 0.05), &["hand.L"]);
    plan.handle("knee.L", bone(plan, "thigh.L"), (KNEE, 0.07), &["shin.L", "foot.L"]);
    plan.handle("shin.L", shin, (v(0.102, 0.27, -0.01), 0.08), &["foot.L"]);
    plan.handle(
        "chest",
        chest,
        (v(0.0, 1.26, 0.0), 0.16),
        &["head", "elbow.L", "elbow.R", "forearm.L", "forearm.R", "hand.L", "hand.R"],
    );
    plan.handle("hips", hips, (v(0.0, 0.93, 0.0), 0.16), &[]);
}

/// A little darker below and inside, a little rosier on cheeks and nose.
fn tone(p: DVec3, n: DVec3) -> [f64; 3] {
    let shade = 0.9 + 0.1 * n.y;
    let cheek = |c: DVec3, r: f64| (1.0 - v(p.x.abs(), p.y, p.z).distance(c) / r).max(0.0);
    let blush = 0.4 * cheek(face(0.062, 0.055, 0.082), 0.05) + 0.3 * cheek(face(0.0, 0.07, 0.13), 0.035);
    let mouth = 1.0 - ((p.y - face(0.0, 0.0285 + 9.0 * p.x * p.x, 0.0).y) / 0.0085).powi(2);
    let lips = 0.5 * mouth.max(0.0) * f64::from(u8::from(p.z > 0.09 && p.x.abs() < 0.037));
    [shade, shade * (1.0 - blush - lips), shade * (1.0 - blush - lips)]
}

fn rest_arms(s: &mut Sketch) {
    for side in [Side::Left, Side::Right] {
        s.turn_side("upper_arm", side, 0.0, 8.0, -38.0);
        s.turn_side("forearm", side, 0.0, -22.0, 0.0);
        for digit in ["index", "middle", "pinky"] {
            s.turn_side(&format!("{digit}.1"), side, 0.0, 0.0, -14.0);
            s.turn_side(&format!("{digit}.2"), side, 0.0, 0.0, -18.0);
        }
    }
}

/// Height of the ankle and its place ahead of the hip over one stride, and the pitch of the foot.
pub(super) fn step(phase: f64) -> (f64, f64, f64) {
    const STRIDE: f64 = 0.33;
    let phase = phase.rem_euclid(1.0);
    if phase < 0.6 {
        let t = phase / 0.6;
        // Heel strike, flat, then rolling over the ball.
        let roll = (t - 0.62).max(0.0) / 0.38;
        let strike = (1.0 - t / 0.15).max(0.0);
        let pitch = 34.0 * roll * roll - 16.0 * strike;
        (0.075 * roll * roll + 0.008 * strike, STRIDE * (1.0 - 2.0 * t) + 0.03 * roll * roll, pitch)
    } else {
        let t = (phase - 0.6) / 0.4;
        let ease = t * t * (3.0 - 2.0 * t);
        let lift = 0.075 * (1.0 - t) * (1.0 - t)
            + 0.1 * (std::f64::consts::PI * t).sin() * (1.0 - 0.5 * t)
            + 0.008 * t;
        (
            lift,
            -STRIDE + 0.03 + (2.0 * STRIDE - 0.03) * ease,
            34.0 * (1.0 - t).powi(2) * (1.0 - t) - 16.0 * t * t,
        )
    }
}

fn walk(phase: f64, s: &mut Sketch) {
    rest_arms(s);
    let drop = -0.036 + 0.017 * wave(2.0 * phase - 0.02);
    s.shift("hips", v(0.018 * wave(phase + 0.05), drop, 0.0));
    s.turn("hips", 3.0, 6.0 * wave(phase + 0.22), 3.0 * wave(phase + 0.05));
    s.turn("spine", 1.0, -6.0 * wave(phase + 0.22), -3.0 * wave(phase + 0.05));
    s.turn("chest", 1.0, -8.0 * wave(phase + 0.2), 1.5 * wave(phase));
    s.turn("neck", -2.0, 4.0 * wave(phase + 0.2), 0.0);
    s.turn("head", -2.0 + 1.5 * wave(2.0 * phase), 4.0 * wave(phase + 0.2), -wave(phase));
    for (side, at) in [(Side::Left, phase), (Side::Right, phase + 0.5)] {
        let (up, ahead, pitch) = step(at);
        let end = ANKLE - HIP + v(0.0, up - drop, ahead);
        let (hip, knee) = bend_leg(KNEE - HIP, ANKLE - KNEE, end, 1.0);
        let knee = knee.max(0.0);
        s.turn_side("thigh", side, hip - 3.0, 0.0, 0.0);
        s.turn_side("shin", side, knee, 0.0, 0.0);
        s.turn_side("foot", side, pitch - hip - knee, 0.0, 0.0);
        s.turn_side(
            "toe",
            side,
            -pitch.max(0.0) * 0.85 * f64::from(u8::from(at.rem_euclid(1.0) < 0.72)),
            0.0,
            0.0,
        );
        let swing = -wave(at + 0.22);
        s.turn_side("upper_arm", side, 0.0, -24.0 * swing, 3.0);
        s.turn_side("forearm", side, 0.0, -12.0 - 16.0 * wave(at + 0.64).max(-0.6), 0.0);
        s.turn_side("hand", side, 0.0, 0.0, 5.0 * wave(at + 0.1));
        s.turn_side("shoulder", side, 0.0, -4.0 * swing, 0.0);
    }
}

fn idle(phase: f64, s: &mut Sketch) {
    rest_arms(s);
    let breath = wave(2.0 * phase);
    s.shift("hips", v(0.012 * wave(phase), -0.004 + 0.002 * breath, 0.0));
    s.turn("hips", 0.0, 0.0, 1.2 * wave(phase));
    s.turn("spine", 1.0 * breath, 0.0, -1.5 * wave(phase));
    s.turn("chest", -2.2 * breath, 2.0 * wave(phase + 0.1), -0.8 * wave(phase));
    s.turn("head", 1.2 * breath, 9.0 * wave(phase + 0.15), 2.0 * wave(phase + 0.3));
    for side in [Side::Left, Side::Right] {
        let sign = if side == Side::Left { 1.0 } else { -1.0 };
        s.turn_side("thigh", side, -1.0, 0.0, -1.2 * sign * wave(phase) + 0.0);
        s.turn_side("foot", side, 1.0, 0.0, 0.0);
        s.turn_side("shoulder", side, 0.0, 0.0, 1.5 * breath);
        s.turn_side("upper_arm", side, 0.0, 1.5 * breath, 1.0 + breath);
        s.turn_side("forearm", side, 0.0, -2.0 * breath, 0.0);
    }
}

fn greet(phase: f64, s: &mut Sketch) {
    idle(phase, s);
    // Raise the left arm over the first third, wave, and lower it again.
    let up = (4.0 * (0.5 - (phase - 0.5).abs())).clamp(0.0, 1.0);
    let up = up * up * (3.0 - 2.0 * up);
    s.turn("shoulder.L", 0.0, 0.0, 12.0 * up);
    s.turn("upper_arm.L", -70.0 * up, -20.0 * up, 72.0 * up);
    s.turn("forearm.L", 0.0, (-62.0 + 24.0 * wave(4.0 * phase)) * up, 0.0);
    for digit in ["index", "middle", "pinky"] {
        s.turn(&format!("{digit}.1.L"), 0.0, 0.0, 18.0 * up);
        s.turn(&format!("{digit}.2.L"), 0.0, 0.0, 18.0 * up);
    }
    s.turn("chest", 0.0, 4.0 * up, -3.0 * up);
    s.turn("head", -4.0 * up, 6.0 * up, -8.0 * up);
}
