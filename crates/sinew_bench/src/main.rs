//! Sinew beside its peers. `cargo run --release -p sinew_bench -- skin|solve`

mod measure;
mod skin;
mod solve;

fn main() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("skin") => skin::run(),
        Some("solve") => solve::run(),
        _ => anyhow::bail!("usage: sinew_bench skin|solve"),
    }
}

fn test_mesh(n: usize) -> anyhow::Result<sinew_geom::Mesh> {
    let h = ((n / 4) as f64).sqrt() as u32;
    let w = 4 * h;
    let positions = (0..w * h)
        .map(|i| {
            let (u, v) = ((i % w) as f64 / w as f64 * 6.283185307, (i / w) as f64 / h as f64 * 6.283185307);
            glam::DVec3::new((2.0 + v.cos()) * u.cos(), v.sin(), (2.0 + v.cos()) * u.sin())
        })
        .collect();
    let id = |x: u32, y: u32| y % h * w + x % w;
    let faces = (0..h)
        .flat_map(|y| (0..w).map(move |x| (x, y)))
        .flat_map(|(x, y)| {
            [[id(x, y), id(x, y + 1), id(x + 1, y)], [id(x + 1, y), id(x, y + 1), id(x + 1, y + 1)]]
        })
        .collect();
    Ok(sinew_geom::Mesh::new(positions, faces)?)
}
