//! Skinning a million vertices, compared with a plain loop and with memory bandwidth.

use crate::measure::{compare, in_pool, print_head, print_row, triad_bandwidth};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Vec3, Vec3A};
use rayon::prelude::*;
use sinew::geom::{
    Skin, SkinSlot, Warnings,
    measure::largest_error,
    rig::{skin_dual_quaternion, skin_linear},
};

const N_VERTICES: usize = 1_000_000;
const N_JOINTS: usize = 60;

/// Print the table.
pub fn run() -> anyhow::Result<()> {
    let skin = build_skin()?;
    let rest: Vec<Vec3> =
        (0..N_VERTICES).map(|i| Vec3::new((i % 997) as f32 * 1e-3, 0.5, i as f32 * 1e-6)).collect();
    let matrices: Vec<DAffine3> = (0..N_JOINTS)
        .map(|j| DAffine3::from_rotation_translation(DQuat::from_rotation_y(j as f64), DVec3::X * j as f64))
        .collect();
    let flat: Vec<Affine3A> = matrices.iter().map(|m| m.as_affine3a()).collect();
    // Read: position 12, indices 4 × 2, weights 4 × 4. Written: position 12.
    let bytes = (N_VERTICES * (12 + 8 + 16 + 12)) as f64;
    print_head();
    for threads in [1, 2] {
        let limit = bytes / triad_bandwidth(threads) * 1e3;
        let (mut a, mut b) = (vec![Vec3::ZERO; N_VERTICES], vec![Vec3::ZERO; N_VERTICES]);
        let [ours, loop_ms] = in_pool(threads, || {
            compare(
                15,
                || drop(skin_linear(&skin, &matrices, &rest, &mut a)),
                || plain_loop(&skin, &flat, &rest, &mut b),
            )
        });
        let worst = largest_error(a.iter().zip(&b).map(|(a, b)| f64::from(a.distance(*b))));
        anyhow::ensure!(worst < 1e-3, "the contenders disagree by {worst}");
        let name = format!("linear blend, 1 M x 4, {threads} threads");
        print_row(&name, ours, "loop over glam::Affine3A", loop_ms, Some(limit));
        let [ours, linear] = in_pool(threads, || {
            compare(
                9,
                || drop(skin_dual_quaternion(&skin, &matrices, &rest, &mut a)),
                || drop(skin_linear(&skin, &matrices, &rest, &mut b)),
            )
        });
        let name = format!("dual quaternion, 1 M x 4, {threads} threads");
        print_row(&name, ours, "our linear blend", linear, Some(limit));
    }
    Ok(())
}

/// The straightforward implementation: blend transformed points, vertex by vertex, in parallel.
fn plain_loop(skin: &Skin, matrices: &[Affine3A], rest: &[Vec3], out: &mut [Vec3]) {
    out.par_iter_mut().with_min_len(8192).enumerate().for_each(|(v, out)| {
        let p = Vec3A::from(rest[v]);
        *out = skin
            .vertex(v)
            .map(|(slot, w)| w * matrices[slot as usize].transform_point3a(p))
            .sum::<Vec3A>()
            .into();
    });
}

fn build_skin() -> anyhow::Result<Skin> {
    let slots = (0..N_JOINTS).map(|joint| SkinSlot { joint, inverse_bind: DAffine3::IDENTITY }).collect();
    // Neighbouring vertices share joints, as on a body.
    let indices =
        (0..4 * N_VERTICES).map(|i| ((i / 4 / (N_VERTICES / N_JOINTS) + i % 4) % N_JOINTS) as u16).collect();
    let weights = (0..4 * N_VERTICES).map(|i| [0.4, 0.3, 0.2, 0.1][i % 4]).collect();
    Ok(Skin::new(slots, 4, indices, weights, &mut Warnings::default())?)
}
