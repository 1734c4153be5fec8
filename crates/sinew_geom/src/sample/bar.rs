//! The bar: one metre tall, a fifth wide and deep, a regular grid for bending and twisting tests.

use super::dress::dress;
use super::field::Regions;
use super::lattice::{BoxLattice, split_quads};
use super::motion::{Sketch, build_clip, wave};
use super::plan::{Plan, v};
use crate::{Character, DofKind::*, GeomError, Mesh};
use glam::{DVec3, IVec3};

const HEIGHT: f64 = 1.0;
const WIDTH: f64 = 0.2;
/// Radius of the rounded edges.
const EDGE_RADIUS: f64 = 0.02;
const BONES: usize = 5;

/// The whole character.
pub(super) fn build_bar(n_vertices: usize) -> Result<Character, GeomError> {
    let plan = plan();
    let regions = Regions::new(&plan.field);
    let (mut character, rig) = dress(&plan, bar_mesh(n_vertices)?, &regions, tone)?;
    character.name = "bar".into();
    character.clips =
        vec![build_clip("bend", &plan, &rig, 60, bend)?, build_clip("twist", &plan, &rig, 60, twist)?];
    Ok(character)
}

/// Cells such that the count is met and cells are nearly square.
fn bar_lattice(n_vertices: usize) -> BoxLattice {
    // V = 2(ab + ab + b²) + 2 with a = 5b gives b; then the length alone is fitted.
    let across = ((n_vertices as f64 - 2.0) / 22.0).sqrt().round().max(1.0);
    let along = ((n_vertices as f64 - 2.0 - 2.0 * across * across) / (4.0 * across)).round().max(1.0);
    BoxLattice { cells: IVec3::new(along as i32, across as i32, across as i32) }
}

fn bar_mesh(n_vertices: usize) -> Result<Mesh, GeomError> {
    let lattice = bar_lattice(n_vertices);
    let place = |p: &IVec3| {
        let unit = p.as_dvec3() / lattice.cells.as_dvec3();
        // The lattice's first axis is the bar's height; a cyclic permutation of axes preserves the orientation.
        round_edges(v(WIDTH * (unit.z - 0.5), HEIGHT * unit.x, WIDTH * (unit.y - 0.5)))
    };
    let positions = lattice.points().iter().map(place).collect();
    Mesh::new(positions, split_quads(&lattice.quads()))
}

/// Move a point of the sharp box onto the box with rounded edges.
fn round_edges(p: DVec3) -> DVec3 {
    let center = v(0.0, 0.5 * HEIGHT, 0.0);
    let core = v(0.5 * WIDTH, 0.5 * HEIGHT, 0.5 * WIDTH) - EDGE_RADIUS;
    let inner = (p - center).clamp(-core, core);
    let out = p - center - inner;
    center + inner + out.normalize_or(DVec3::ZERO) * EDGE_RADIUS
}

fn plan() -> Plan {
    let mut plan = Plan::default();
    let rubber = plan.material("rubber", 0x5B8DBF, 0.6);
    let group = plan.group(None, 0.0);
    let mut parent = None;
    for i in 0..BONES {
        let at = |k: usize| v(0.0, HEIGHT * (i + k) as f64 / BONES as f64, 0.0);
        let bone = plan.bone(&format!("bone.{}", i + 1), parent, at(0), at(1), 0.5 * WIDTH);
        if parent.is_none() {
            plan.free(bone);
        } else {
            plan.limits(bone, &[(Rx, -60.0, 60.0), (Ry, -90.0, 90.0), (Rz, -60.0, 60.0)]);
        }
        // Wide enough to hold the corners of the section.
        plan.cone((group, bone), (at(0), 0.75 * WIDTH), (at(1), 0.75 * WIDTH)).tint(rubber);
        parent = Some(bone);
    }
    let size = 0.16;
    plan.handle("end.b", BONES - 1, (v(0.0, HEIGHT, 0.0), size), &[]);
    plan.handle("middle", BONES / 2, (v(0.0, 0.5 * HEIGHT, 0.0), 0.75 * size), &["end.b"]);
    plan.handle("end.a", 0, (DVec3::ZERO, size), &[]);
    for (handle, y) in [(0, HEIGHT), (1, 0.5 * HEIGHT), (2, 0.0)] {
        plan.handles[handle].pivot = v(0.0, y, 0.0);
    }
    plan
}

/// Stripes across, so that twist and stretch can be seen.
fn tone(p: DVec3, _: DVec3) -> [f64; 3] {
    let stripe = if (p.y * 10.0).floor().rem_euclid(2.0) < 0.5 { 1.0 } else { 0.72 };
    [stripe; 3]
}

fn bend(phase: f64, s: &mut Sketch) {
    for i in 2..=BONES {
        s.turn(&format!("bone.{i}"), 6.0 * wave(2.0 * phase), 0.0, 24.0 * wave(phase));
    }
}

fn twist(phase: f64, s: &mut Sketch) {
    for i in 2..=BONES {
        s.turn(&format!("bone.{i}"), 0.0, 40.0 * wave(phase), 0.0);
    }
}
