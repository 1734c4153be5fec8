//! Curves over the fraction of vertices removed, as SVG files, as in figures 6.6 to 6.21 of Antonopoulos (2010).

use std::{fmt::Write, path::Path};

/// What each point of a curve holds: seconds, vertices left, dE, E_RMS, d_avg.
pub type Point = [f64; 5];

/// A variant and its points.
pub type Curve = (String, Vec<Point>);

const PANELS: [(usize, &str); 4] = [(0, "seconds"), (2, "dE, %"), (3, "E_RMS"), (4, "d_avg")];
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 220.0;
const LEFT: f64 = 52.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 30.0;

/// One file with the four figures of a sequence.
pub fn write(folder: &Path, sequence: &str, amounts: &[f64], curves: &[Curve]) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (width, height) = (4.0 * WIDTH, HEIGHT + 54.0);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/><text x="8" y="16" font-size="13">{sequence}: time and errors over the share of vertices removed</text>"#
    );
    for (at, (value, title)) in PANELS.iter().enumerate() {
        panel(&mut svg, at as f64 * WIDTH, *value, title, amounts, curves);
    }
    for (at, (name, _)) in curves.iter().enumerate() {
        let (x, y) = (8.0 + (at % 4) as f64 * WIDTH * 0.6, HEIGHT + 22.0 + (at / 4) as f64 * 16.0);
        let _ = write!(
            svg,
            r#"<line x1="{x}" x2="{}" y1="{}" y2="{}" {}/><text x="{}" y="{y}">{name}</text>"#,
            x + 24.0,
            y - 4.0,
            y - 4.0,
            stroke(at),
            x + 30.0
        );
    }
    svg += "</svg>\n";
    std::fs::write(folder.join(format!("fit-decimation-{sequence}.svg")), svg)?;
    Ok(())
}

/// P-centers in blue, deformation in red; corrected ones darker; the second vertex dashed.
fn stroke(at: usize) -> String {
    let color =
        ["#7fb2e5", "#7fb2e5", "#f0a58f", "#f0a58f", "#1d5fa8", "#1d5fa8", "#b8341b", "#b8341b"][at % 8];
    let dash = if at % 2 == 1 { r#" stroke-dasharray="5 3""# } else { "" };
    format!(r#"fill="none" stroke="{color}" stroke-width="1.8"{dash}"#)
}

fn panel(svg: &mut String, x: f64, value: usize, title: &str, amounts: &[f64], curves: &[Curve]) {
    let most = curves.iter().flat_map(|(_, points)| points).fold(1e-12f64, |m, p| m.max(p[value]));
    let last = amounts.last().copied().unwrap_or(1.0).max(1e-9);
    let place = |amount: f64| x + LEFT + amount / last * (WIDTH - LEFT - 14.0);
    let level = |v: f64| HEIGHT - BOTTOM - v / most * (HEIGHT - BOTTOM - TOP - 10.0);
    let _ = write!(svg, r#"<text x="{}" y="{}">{title}</text>"#, x + LEFT, TOP);
    for k in 0..=4 {
        let (v, y) = (most * f64::from(k) / 4.0, level(most * f64::from(k) / 4.0));
        let _ = write!(
            svg,
            r##"<line x1="{}" x2="{}" y1="{y:.1}" y2="{y:.1}" stroke="#ddd"/><text x="{}" y="{:.1}" text-anchor="end">{v:.2}</text>"##,
            place(0.0),
            place(last),
            x + LEFT - 5.0,
            y + 4.0
        );
    }
    for amount in amounts {
        let _ = write!(
            svg,
            r#"<text x="{:.1}" y="{}" text-anchor="middle">{:.0}</text>"#,
            place(*amount),
            HEIGHT - BOTTOM + 16.0,
            100.0 * amount
        );
    }
    for (at, (_, points)) in curves.iter().enumerate() {
        let line: Vec<String> = amounts
            .iter()
            .zip(points)
            .map(|(amount, p)| format!("{:.1},{:.1}", place(*amount), level(p[value])))
            .collect();
        let _ = write!(svg, r#"<polyline points="{}" {}/>"#, line.join(" "), stroke(at));
    }
}
