//! The energy over one weight and over two (Hansen (2006), figure 7.8 and appendix B), as SVG files.

use super::cases::{SETTINGS, body, targets};
use sinew::{
    deform::examples::{Optimiser, PoseSpace, SearchParams, Start, Target},
    geom::sample::PoseSet,
};
use std::{fmt::Write, path::Path};

const SAMPLES: usize = 41;

/// Write four files to a folder.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (set, name) in [(PoseSet::Walk, "A"), (PoseSet::Limbs, "B")] {
        let body = body(set, 2_000)?;
        let targets = targets(&body.space, SETTINGS[2].1)?;
        std::fs::write(folder.join(format!("energy-{name}-one.svg")), one_weight(&body.space, &targets)?)?;
        for (a, b) in [(0, 4), (3, 4)] {
            let file = folder.join(format!("energy-{name}-{}-{}.svg", a + 1, b + 1));
            std::fs::write(file, two_weights(&body.space, &targets, [a, b])?)?;
        }
    }
    println!("\nenergy over one and two weights: {}/energy-*.svg", folder.display());
    Ok(())
}

/// The energy of given weights: that of a search which may not move.
fn energy(space: &PoseSpace, targets: &[Target], weights: &[f64]) -> anyhow::Result<f64> {
    let params = SearchParams { optimiser: Optimiser::Climb, local: Some(1e-12), ..SearchParams::default() };
    Ok(space.search(targets, &params, &Start { weights, ..Start::default() })?.energy)
}

fn one_weight(space: &PoseSpace, targets: &[Target]) -> anyhow::Result<String> {
    let (width, height) = (640.0, 400.0);
    let mut curves = Vec::new();
    for e in 0..space.n_examples() {
        let mut curve = Vec::new();
        for i in 0..SAMPLES {
            let mut weights = vec![0.0; space.n_examples()];
            weights[e] = i as f64 / (SAMPLES - 1) as f64;
            curve.push(energy(space, targets, &weights)?);
        }
        curves.push(curve);
    }
    let most = curves.iter().flatten().fold(0f64, |m, x| m.max(*x));
    let mut svg = head(width + 180.0, height, "Energy over the weight of one example, the others being zero");
    for (e, (curve, name)) in curves.iter().zip(space.example_names()).enumerate() {
        let color = format!("hsl({},65%,45%)", 360 * e / curves.len());
        let points: Vec<String> = curve
            .iter()
            .enumerate()
            .map(|(i, x)| {
                let place = i as f64 / (SAMPLES - 1) as f64;
                format!(
                    "{:.1},{:.1}",
                    40.0 + place * (width - 60.0),
                    height - 30.0 - x / most * (height - 70.0)
                )
            })
            .collect();
        writeln!(
            svg,
            "<polyline points='{}' fill='none' stroke='{color}' stroke-width='1.5'/>",
            points.join(" ")
        )?;
        let y = 44.0 + 18.0 * e as f64;
        writeln!(svg, "<text x='{width}' y='{y}' fill='{color}'>{name}</text>")?;
    }
    writeln!(
        svg,
        "<text x='40' y='{}'>0</text><text x='{}' y='{}'>weight 1</text>",
        height - 12.0,
        width - 70.0,
        height - 12.0
    )?;
    writeln!(svg, "<text x='4' y='44'>{most:.1}</text></svg>")?;
    Ok(svg)
}

fn two_weights(space: &PoseSpace, targets: &[Target], pair: [usize; 2]) -> anyhow::Result<String> {
    let size = 400.0;
    let mut grid = Vec::new();
    for j in 0..SAMPLES {
        for i in 0..SAMPLES {
            let mut weights = vec![0.0; space.n_examples()];
            weights[pair[0]] = i as f64 / (SAMPLES - 1) as f64;
            weights[pair[1]] = j as f64 / (SAMPLES - 1) as f64;
            grid.push(energy(space, targets, &weights)?);
        }
    }
    let (least, most) = grid.iter().fold((f64::INFINITY, 0f64), |(l, m), x| (l.min(*x), m.max(*x)));
    let names: Vec<&str> = space.example_names().collect();
    let title = format!(
        "Energy over the weights of {} (right) and {} (up), {least:.2} to {most:.2}",
        names[pair[0]], names[pair[1]]
    );
    let mut svg = head(size + 40.0, size + 50.0, &title);
    let cell = size / SAMPLES as f64;
    for (at, value) in grid.iter().enumerate() {
        let (i, j) = ((at % SAMPLES) as f64, (at / SAMPLES) as f64);
        let share = (value - least) / (most - least).max(1e-12);
        // Contours every tenth, so that the shape of the valley is seen.
        let light = 25.0 + 65.0 * share - if (share * 10.0).fract() < 0.08 { 12.0 } else { 0.0 };
        let (x, y) = (20.0 + i * cell, 40.0 + size - (j + 1.0) * cell);
        writeln!(
            svg,
            "<rect x='{x:.1}' y='{y:.1}' width='{:.1}' height='{:.1}' fill='hsl({:.0},60%,{light:.0}%)'/>",
            cell + 0.3,
            cell + 0.3,
            230.0 - 190.0 * share
        )?;
    }
    writeln!(svg, "</svg>")?;
    Ok(svg)
}

fn head(width: f64, height: f64, title: &str) -> String {
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' font-family='sans-serif' font-size='13'>\n\
         <rect width='100%' height='100%' fill='white'/><text x='20' y='22'>{title}</text>\n"
    )
}
