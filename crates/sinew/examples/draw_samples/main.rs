//! Draws the built-in samples: `draw_samples [OUT_PREFIX] [VERTICES] [NAME…]`.
//!
//! Without names, a line-up of all of them (the picture of the README); with names, sheets of each at rest, with
//! its weights, bent, and in its clips.

mod items;
mod lineup;
mod raster;
mod sheets;

use sinew::geom::sample::Sample;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let prefix = args.next().unwrap_or_else(|| "samples".into());
    let n_vertices: usize = args.next().map_or(Ok(20_000), |n| n.parse())?;
    let names: Vec<String> = args.collect();
    if names.is_empty() {
        return lineup::draw_lineup(n_vertices, &prefix);
    }
    for name in names {
        let sample = Sample::from_name(&name).ok_or_else(|| format!("there is no sample {name:?}"))?;
        if sample.is_sequence() {
            sheets::draw_sequence(sample, n_vertices, &prefix)?;
        } else {
            sheets::draw_character(sample, n_vertices, &prefix)?;
        }
    }
    Ok(())
}
