//! One sparse factorisation, many solves: fair a noisy surface by implicit Laplacian smoothing at several
//! strengths: `smooth_mesh [OUT.obj]`.

use glam::DVec3;
use sinew::{
    formats::{obj, write_atomic},
    geom::{
        Character,
        linalg::Cholesky,
        measure::{compute_area, compute_volume},
        mesh::Adjacency,
        operators::build_cotangent_stiffness,
        sample::{Sample, build_character},
    },
};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "smooth.obj".into());
    let mesh = build_character(Sample::Sack, 4_000)?.mesh;
    // Deterministic noise of about a millimetre.
    let jitter = |v: usize, k: f64| ((v as f64 * k).fract() - 0.5) * 0.003;
    let noisy = |(v, p): (usize, &DVec3)| {
        *p + DVec3::new(jitter(v, 0.618_034), jitter(v, 0.754_877), jitter(v, 0.569_840))
    };
    let rough = mesh.with_positions(mesh.positions().iter().enumerate().map(noisy).collect())?;
    let stiffness = build_cotangent_stiffness(&mesh, &Adjacency::new(&mesh));
    let n = mesh.n_vertices();
    println!("rough   area {:.4} volume {:.4}", compute_area(&rough), compute_volume(&rough));
    let mut symbolic = None;
    let mut smooth = rough.clone();
    for strength in [0.5, 2.0, 8.0] {
        // (I + t K) x = x0: the structure is the same at every strength, so it is analysed once.
        let mut system = stiffness.clone();
        system.values_mut().iter_mut().for_each(|k| *k *= strength);
        let system = system.add_diagonal(&vec![1.0; n]);
        let factor = match symbolic.take() {
            Some(known) => Cholesky::<f64>::factor(known, &system)?,
            None => Cholesky::new(&system)?,
        };
        let mut x: Vec<[f64; 3]> = rough.positions().iter().map(|p| p.to_array()).collect();
        factor.solve(&mut x)?;
        symbolic = Some(factor.symbolic().clone());
        smooth = mesh.with_positions(x.into_iter().map(DVec3::from_array).collect())?;
        println!("t = {strength:<3} area {:.4} volume {:.4}", compute_area(&smooth), compute_volume(&smooth));
    }
    write_atomic(Path::new(&path), &obj::write_obj(&Character { mesh: smooth, ..Character::default() }))?;
    println!("written to {path}");
    Ok(())
}
