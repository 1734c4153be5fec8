//! A sequence larger than memory should be: 400 frames of 200 k vertices, made as they are read.

use glam::DVec3;
use sinew::{
    geom::{
        Mesh,
        sample::{Sample, build_character},
    },
    skin::{FitParams, FrameSource, SkinError, fit_streamed, no_progress},
};
use std::time::Instant;

const FRAMES: usize = 400;
const VERTICES: usize = 200_000;
const SAMPLE: usize = 8_000;

/// A swaying body.
pub struct Swaying<'a> {
    pub rest: &'a Mesh,
    pub n_frames: usize,
}

impl FrameSource for Swaying<'_> {
    fn n_frames(&self) -> usize {
        self.n_frames
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        let t = frame as f64 * 0.05;
        for (out, p) in out.iter_mut().zip(self.rest.positions()) {
            let bend = 0.5 * t.sin() * p.y + 0.2 * (3.0 * p.y + t).sin();
            let (s, c) = bend.sin_cos();
            *out = DVec3::new(c * p.x - s * p.y, s * p.x + c * p.y, p.z + 0.1 * (2.0 * p.x + t).cos());
        }
        Ok(())
    }
}

/// Print time, error and the most memory that was used, where the system reports it.
pub fn run() -> anyhow::Result<()> {
    let rest = build_character(Sample::Biped, VERTICES)?.mesh;
    let grown = peak_megabytes();
    let start = Instant::now();
    let params = FitParams { bones: 50, ..FitParams::default() };
    let (fit, errors) =
        fit_streamed(&rest, &mut Swaying { rest: &rest, n_frames: FRAMES }, &params, SAMPLE, &no_progress)?;
    println!(
        "{} vertices, {FRAMES} frames ({} MB as f32): {} bones, E_RMS_diag1 {:.4} %, {:.1} s, peak {} MB ({} MB to grow the mesh)",
        rest.n_vertices(),
        rest.n_vertices() * FRAMES * 12 / 1_000_000,
        fit.skin.n_used_bones(),
        errors.e_rms_diag1,
        start.elapsed().as_secs_f64(),
        peak_megabytes().map_or_else(|| "-".to_owned(), |mb| mb.to_string()),
        grown.map_or_else(|| "-".to_owned(), |mb| mb.to_string()),
    );
    Ok(())
}

pub fn peak_megabytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1000)
}
