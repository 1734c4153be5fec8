//! What is not a race: known bones recovered, exactly the bones asked for on hard meshes, and memory.

use super::{
    data::Sequence,
    stream::{Swaying, peak_megabytes},
};
use sinew::{
    geom::sample::{Sample, build_character},
    skin::{BoneKind, FitParams, SkinFitter, no_progress},
};

/// Print the tables.
pub fn run() -> anyhow::Result<()> {
    // First: the most memory that was ever used is what the system reports.
    memory()?;
    known_bones()?;
    hard_meshes()
}

/// Most memory of reading and fitting a sequence that is made as it is read, so that nothing else holds it.
fn memory() -> anyhow::Result<()> {
    const FRAMES: usize = 240;
    let rest = build_character(Sample::Biped, 60_000)?.mesh;
    let before = peak_megabytes().unwrap_or(0) as f64;
    let fitter = SkinFitter::new(&rest, &mut Swaying { rest: &rest, n_frames: FRAMES })?;
    let read = peak_megabytes().unwrap_or(0) as f64;
    let sequence = (rest.n_vertices() * FRAMES * 12) as f64 / 1e6;
    for transforms in BoneKind::ALL {
        let params = FitParams { bones: 50, transforms, rounds: 6, ..FitParams::default() };
        let fit = fitter.fit(&params, &no_progress)?;
        let error = fitter.measure(&fit.skin)?.e_rms_diag1;
        let peak = peak_megabytes().unwrap_or(0) as f64;
        println!(
            "memory, {}: {} vertices, {FRAMES} frames, {sequence:.0} MB as f32; before {before:.0}, read {read:.0}, peak {peak:.0} MB; \
             all of the process {:.2}, without what was there before {:.2} times the sequence; error {error:.4} %",
            transforms.name(),
            rest.n_vertices(),
            peak / sequence,
            (peak - before) / sequence,
        );
    }
    Ok(())
}

/// Meshes that were skinned by known bones, with up to nine influences per vertex.
fn known_bones() -> anyhow::Result<()> {
    println!(
        "\n{:<12}{:>6}{:>12}{:>8}{:>10}{:>6}",
        "truth", "bones", "influences", "rest", "E_diag1", "used"
    );
    for (name, bones) in [("wolf", 21), ("cylinder", 4)] {
        let sequence = Sequence::load(&format!("gt-skinning/{name}"))?;
        let mut frames = &sequence.frames;
        let fitter = SkinFitter::new(sequence.frames.rest(), &mut frames)?;
        for (influences, correct_rest) in [(4, true), (8, false), (8, true)] {
            let params =
                FitParams { bones, influences, correct_rest, tolerance: 1e-3, ..FitParams::default() };
            let skin = fitter.fit(&params, &no_progress)?.skin;
            let error = fitter.measure(&skin)?.e_rms_diag1;
            let rest = if correct_rest { "free" } else { "kept" };
            println!("{name:<12}{bones:>6}{influences:>12}{rest:>8}{error:>10.5}{:>6}", skin.n_used_bones());
        }
    }
    Ok(())
}

/// A flat rest pose and 41 loose parts.
fn hard_meshes() -> anyhow::Result<()> {
    println!("\n{:<18}{:>6} {:<8}{:>8}{:>10}{:>10}", "hard", "asked", "kind", "used", "E_diag1", "dE");
    for name in ["tablecloth", "chickenCrossing"] {
        let sequence = Sequence::load_plain(name)?;
        let mut frames = &sequence.frames;
        let fitter = SkinFitter::new(sequence.frames.rest(), &mut frames)?;
        for bones in [20, 50, 100] {
            for transforms in BoneKind::ALL {
                let skin =
                    fitter.fit(&FitParams { bones, transforms, ..FitParams::default() }, &no_progress)?.skin;
                let errors = fitter.measure(&skin)?;
                let used = skin.n_used_bones();
                let kind = transforms.name();
                println!(
                    "{name:<18}{bones:>6} {kind:<8}{used:>8}{:>10.4}{:>10.3}",
                    errors.e_rms_diag1, errors.de
                );
            }
        }
    }
    Ok(())
}
