//! Clamped bars in rapier's FEM solver: `peer_flesh NX NY NZ YOUNG TOLERANCE`, cells along each axis.
//!
//! Prints processor milliseconds per step (mean), wall milliseconds (median), and how far the farthest particle moved.

use rapier3d::prelude::*;
use std::time::Instant;

fn main() {
    let args: Vec<f64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [nx, ny, nz, young, tolerance] = args[..] else { panic!("usage: peer_flesh NX NY NZ YOUNG TOLERANCE") };
    let size = 1.7 / nz;
    let half = Vector::new((nx * size / 2.0) as Real, (ny * size / 2.0) as Real, 0.85);
    let count = |n: f64| n as usize + 1;
    let builder = SoftBodyBuilder::cuboid(half, half, count(nx), count(ny), count(nz));
    let rest: Vec<Vector> = builder.particle_positions().to_vec();
    // An eighth of each cube around a particle.
    let share = |p: &Vector| {
        let inner = |x: Real, most: f64| f64::from(x) > 1e-4 && f64::from(x) < most - 1e-4;
        let one = |inside: bool| if inside { 1.0 } else { 0.5 };
        one(inner(p.x, nx * size)) * one(inner(p.y, ny * size)) * one(inner(p.z, 1.7))
    };
    let masses = rest.iter().map(|p| (1000.0 * size.powi(3) * share(p)) as Real).collect();
    let pinned = rest.iter().enumerate().filter(|(_, p)| p.z < 1e-4).map(|(i, _)| i as u32);
    let pinned: Vec<u32> = pinned.collect();
    let builder = builder
        .cell_model(SoftBodyCellModel::Corotational)
        .material(SoftBodyMaterial {
            young_modulus: young as Real,
            poisson_ratio: 0.45,
            elastic_damping_ratio: 0.1,
            ..Default::default()
        })
        .solver(SoftBodySolver::Fem)
        .masses(masses)
        .pinned_particles(pinned)
        .no_surface_collider()
        .can_sleep(false);
    let mut world = PhysicsWorld::new();
    world.integration_parameters.dt = 0.01;
    world.integration_parameters.num_solver_iterations = 1;
    let soft = &mut world.integration_parameters.soft_bodies;
    soft.max_extra_substeps = 0;
    soft.fem.linear_tolerance = tolerance as Real;
    soft.fem.max_linear_iterations = 500;
    let handle = world.insert_soft_body(builder);
    let (mut cpu, mut wall) = (0.0, Vec::new());
    // More steps of small bodies, since processor time is counted in ticks of 4 ms.
    let n_steps = 60.max(400_000 / rest.len());
    for step in 0..n_steps + 3 {
        let (start, spent) = (Instant::now(), thread_secs());
        world.step();
        if step >= 3 {
            cpu += 1e3 * (thread_secs() - spent);
            wall.push(1e3 * start.elapsed().as_secs_f64());
        }
    }
    let body = &world.soft_bodies[handle];
    let moved = (0..body.num_particles()).map(|i| (body.particle_position(i) - rest[i]).length());
    println!("{} {} {}", cpu / n_steps as f64, median(wall), moved.fold(0.0, Real::max));
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

fn thread_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).map_or(0.0, |nanos| nanos * 1e-9)
}
