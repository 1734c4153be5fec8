//! The flour sack of animation schools: two feet, two ears, a tied neck, and a belly that shows its weight.

use super::dress::build_creature;
use super::motion::{Sketch, build_clip, wave};
use super::plan::{Plan, Side, v};
use crate::{Character, DofKind::*, GeomError};
use glam::DVec3;

/// The whole character.
pub(super) fn build_sack(n_vertices: usize) -> Result<Character, GeomError> {
    let plan = plan();
    let (mut character, rig) = build_creature(&plan, n_vertices, tone)?;
    character.name = "sack".into();
    character.clips =
        vec![build_clip("hop", &plan, &rig, 36, hop)?, build_clip("sway", &plan, &rig, 60, sway)?];
    Ok(character)
}

fn plan() -> Plan {
    let mut plan = Plan::default();
    let cloth = plan.material("sackcloth", 0xD9BE8F, 0.95);
    let rope = plan.material("rope", 0x9A5B3A, 0.95);
    let base = plan.bone("base", None, v(0.0, 0.09, 0.0), v(0.0, 0.22, 0.0), 0.1);
    let belly = plan.bone("belly", Some(base), v(0.0, 0.22, 0.0), v(0.0, 0.37, 0.0), 0.1);
    let chest = plan.bone("chest", Some(belly), v(0.0, 0.37, 0.0), v(0.0, 0.50, 0.0), 0.1);
    let tie = plan.bone("tie", Some(chest), v(0.0, 0.50, 0.0), v(0.0, 0.62, 0.0), 0.045);
    let foot = plan.bone("foot.L", Some(base), v(0.12, 0.075, 0.0), v(0.25, 0.03, 0.01), 0.06);
    let ear = plan.bone("ear.L", Some(tie), v(0.05, 0.56, 0.0), v(0.16, 0.67, 0.0), 0.04);
    plan.free(base);
    for bone in [belly, chest, tie] {
        plan.limits(bone, &[(Rx, -45.0, 45.0), (Ry, -45.0, 45.0), (Rz, -45.0, 45.0)]);
    }
    plan.limits(foot, &[(Rx, -40.0, 40.0), (Ry, -50.0, 50.0), (Rz, -40.0, 60.0)]);
    plan.limits(ear, &[(Rx, -50.0, 50.0), (Ry, -40.0, 40.0), (Rz, -60.0, 60.0)]);
    grow_cloth(&mut plan, [base, belly, chest, tie, foot, ear], [cloth, rope]);
    add_handles(&mut plan, [base, belly, tie, foot, ear]);
    plan
}

fn grow_cloth(plan: &mut Plan, [base, belly, chest, tie, foot, ear]: [usize; 6], [cloth, rope]: [usize; 2]) {
    let bag = plan.group(None, 0.0);
    plan.ellipsoid((bag, base), v(0.0, 0.135, 0.005), v(0.2, 0.125, 0.135)).tint(cloth);
    plan.ellipsoid((bag, belly), v(0.0, 0.26, 0.018), v(0.182, 0.17, 0.132)).blend(0.12);
    plan.ellipsoid((bag, chest), v(0.0, 0.4, 0.0), v(0.135, 0.125, 0.098)).blend(0.12);
    plan.cone((bag, tie), (v(0.0, 0.47, 0.0), 0.07), (v(0.0, 0.55, 0.0), 0.055)).blend(0.05);
    // Gathers of the cloth above and below the knot.
    for (x, z) in [(0.0, 0.062), (0.055, 0.04), (0.072, 0.0), (0.055, -0.04), (0.0, -0.062)] {
        plan.cone((bag, chest), (v(x * 0.95, 0.51, z * 0.95), 0.014), (v(x * 1.45, 0.44, z * 1.35), 0.012))
            .blend(0.028);
        plan.cone((bag, tie), (v(x * 0.9, 0.555, z * 0.9), 0.014), (v(x * 1.25, 0.615, z * 1.3), 0.02))
            .blend(0.03);
    }
    plan.ellipsoid((bag, tie), v(0.0, 0.595, 0.0), v(0.085, 0.035, 0.06)).blend(0.04);
    let corner = plan.group(Some(bag), 0.07);
    plan.cone((corner, foot), (v(0.14, 0.085, 0.0), 0.075), (v(0.262, 0.036, 0.01), 0.024))
        .flat(v(0.2, 1.0, 0.0), 0.85)
        .tint(cloth);
    let horn = plan.group(Some(bag), 0.05);
    plan.cone((horn, ear), (v(0.045, 0.585, 0.0), 0.045), (v(0.165, 0.672, 0.0), 0.015))
        .flat(DVec3::Z, 0.7)
        .tint(cloth);
    // The floor flattens the surface that rests on it.
    plan.ellipsoid((bag, base), v(0.0, -0.995, 0.0), v(2.0, 1.0, 2.0)).blend(0.035).carve();
    plan.ellipsoid((corner, foot), v(0.0, -0.995, 0.0), v(2.0, 1.0, 2.0)).blend(0.03).carve();
    let knot = plan.group(Some(bag), 0.006);
    plan.ellipsoid((knot, tie), v(0.0, 0.532, 0.0), v(0.084, 0.0135, 0.078)).tint(rope).grain(0.7);
    plan.ellipsoid((knot, tie), v(0.0, 0.532, 0.082), v(0.02, 0.018, 0.017)).blend(0.006).grain(0.8);
    plan.cone((knot, tie), (v(0.008, 0.53, 0.086), 0.0105), (v(0.032, 0.475, 0.108), 0.0085)).blend(0.006);
}

fn add_handles(plan: &mut Plan, [base, belly, tie, foot, ear]: [usize; 5]) {
    plan.handle("foot.L", foot, (v(0.245, 0.04, 0.01), 0.085), &[]);
    plan.handle("ear.L", ear, (v(0.15, 0.66, 0.0), 0.07), &[]);
    plan.handle("top", tie, (v(0.0, 0.55, 0.0), 0.1), &["ear.L", "ear.R"]);
    plan.handle("belly", belly, (v(0.0, 0.29, 0.14), 0.1), &[]);
    plan.handle("base", base, (v(0.0, 0.0, 0.0), 0.12), &["foot.L", "foot.R"]);
}

/// Woven: faint threads, darker towards the floor and around the knot.
fn tone(p: DVec3, n: DVec3) -> [f64; 3] {
    let weave = 0.025 * ((p.y * 260.0).sin() + (p.x * 260.0).sin());
    let knot = 0.12 * (1.0 - ((p.y - 0.53) / 0.05).powi(2)).max(0.0);
    let shade = 0.9 + 0.08 * n.y + weave - knot - 0.1 * (1.0 - p.y / 0.12).max(0.0);
    [shade, shade * 0.99, shade * 0.97]
}

/// One hop on the spot: anticipation, take-off, flight, landing, settling.
fn hop(phase: f64, s: &mut Sketch) {
    // Crouch and stretch over the phase, as values at given moments joined smoothly.
    let keys = [
        (0.0, 0.0),
        (0.2, -1.0),
        (0.34, 0.9),
        (0.5, 0.15),
        (0.62, 0.6),
        (0.74, -0.9),
        (0.86, 0.25),
        (1.0, 0.0),
    ];
    let stretch = ease(&keys, phase);
    let air = ((phase - 0.3) / 0.36).clamp(0.0, 1.0);
    let height = 0.9 * air * (1.0 - air);
    let lean = ease(&[(0.0, 0.0), (0.2, 10.0), (0.36, -9.0), (0.6, 5.0), (0.75, 9.0), (1.0, 0.0)], phase);
    s.shift("base", v(0.0, height - 0.02 * (-stretch).max(0.0), 0.0));
    s.scale("base", v(1.0 - 0.1 * stretch, 1.0 + 0.2 * stretch, 1.0 - 0.1 * stretch));
    s.turn("base", 0.4 * lean, 0.0, 0.0);
    s.turn("belly", 0.6 * lean, 0.0, 0.0);
    s.turn("chest", 0.8 * lean, 0.0, 0.0);
    s.turn("tie", lean, 0.0, 0.0);
    let lag = ease(&keys, (phase - 0.06).rem_euclid(1.0));
    for side in [Side::Left, Side::Right] {
        s.turn_side("ear", side, 0.0, 0.0, -34.0 * lag + 8.0 * height);
        s.turn_side("foot", side, 0.0, 0.0, -150.0 * height * (0.6 - air));
    }
}

/// Value of smoothly joined keys.
fn ease(keys: &[(f64, f64)], at: f64) -> f64 {
    let next = keys.partition_point(|key| key.0 <= at).clamp(1, keys.len() - 1);
    let (a, b) = (keys[next - 1], keys[next]);
    let t = ((at - a.0) / (b.0 - a.0)).clamp(0.0, 1.0);
    a.1 + (b.1 - a.1) * t * t * (3.0 - 2.0 * t)
}

/// Shifting its weight and looking around.
fn sway(phase: f64, s: &mut Sketch) {
    let side = wave(phase);
    s.turn("base", 0.0, 6.0 * wave(phase + 0.1), 2.0 * side);
    s.turn("belly", 2.0 * wave(2.0 * phase), 8.0 * wave(phase + 0.06), 7.0 * side);
    s.turn("chest", 3.0 * wave(2.0 * phase - 0.05), 10.0 * wave(phase), 9.0 * wave(phase - 0.05));
    s.turn("tie", 5.0, 12.0 * wave(phase - 0.05), 10.0 * wave(phase - 0.1));
    for (which, sign) in [(Side::Left, 1.0), (Side::Right, -1.0)] {
        s.turn_side("ear", which, 0.0, 0.0, -10.0 + 14.0 * sign * wave(phase - 0.2));
        s.turn_side("foot", which, 0.0, 0.0, 14.0 * (sign * side).max(0.0));
    }
}
