//! A fitted skin as a character and as a file: the same for every front end.
//!
//! # Source
//! The method is that of `sinew_skin`; this file defines its inputs, what is stored, and when it is run again.

use crate::SessionError;
use glam::DVec3;
use sinew_formats::gltf::{GlbOptions, Host, write_glb, write_glb_hosted};
use sinew_geom::{Character, Mesh, MeshSequence, Surface, Warnings};
use sinew_skin::{
    EigenSkin, ExportParams, ExportReport, FitParams, Progress, SkinErrors, SkinFit, SkinFitter,
    add_eigenskin, build_character, fit_skin,
};
use std::ops::Range;

/// The most bones that a fit to a given error may use.
pub const MAX_FITTED_BONES: usize = 1000;
/// Share of the error of the fit that leaving out keys may add by default; errors add in squares.
const KEY_SHARE: f64 = 0.1;
/// Share of the bytes of all frames that a file with as many bones as pay may take.
const FILE_SHARE: f64 = 0.9;
/// A number of bones that is never too large.
const FEWEST_BONES: usize = 4;
/// Percent of the diagonal that leaving out keys may always cost.
const KEY_LEAST_PERCENT: f64 = 1e-4;

/// What is written of a fit.
#[derive(Debug, Clone, Default)]
pub struct SkinFileParams<'a> {
    /// Name of the character.
    pub name: String,
    /// Frames per second.
    pub fps: f64,
    /// Names and frames of the clips.
    pub clips: Vec<(String, Range<usize>)>,
    /// Percent of the diagonal that leaving out keys may cost; in proportion to the error of the fit if absent.
    pub key_tolerance: Option<f64>,
    /// Whether numbers are written with fewer bits.
    pub quantize: bool,
    /// Whether all joints hang below the root, instead of a tree.
    pub flat: bool,
    /// Corrections as morph targets.
    pub eigenskin: Option<&'a EigenSkin>,
    /// The file of the mesh, which keeps what is not changed.
    pub host: Option<&'a Host>,
}

/// A fitted skin, written.
#[derive(Debug, Clone)]
pub struct SkinFile {
    /// What players show.
    pub character: Character,
    /// The GLB file.
    pub bytes: Vec<u8>,
    /// Bytes of surface, skin and clips alone, without what the file of the mesh has besides.
    pub skin_bytes: usize,
    /// What became of the bones.
    pub report: ExportReport,
    /// How far leaving out keys may move a vertex, in metres.
    pub tolerance: f64,
    /// Whether weights have 16 bits and normals 8.
    pub quantized: bool,
}

/// As many bones as leave a file smaller than the frames it replaces, at least `FEWEST_BONES` and at most `most`.
pub fn affordable_bones(mesh: &Mesh, n_frames: usize, most: usize) -> usize {
    let (n, frames) = (mesh.n_vertices() as f64, n_frames as f64);
    // Places, normals, weights and numbers of bones of a vertex in the smallest form, and corners; then curves of a joint.
    let surface = 28.0 * n + 6.0 * mesh.n_faces() as f64 + 2000.0;
    let joint = 480.0 + 28.0 * frames;
    let room = (FILE_SHARE * 12.0 * n * frames - surface) / joint;
    (room.max(0.0) as usize).clamp(FEWEST_BONES, most.max(FEWEST_BONES)).min(mesh.n_vertices().max(1))
}

/// Write a fitted skin as a GLB file.
///
/// # Errors
/// If skin, mesh and clips do not fit each other, or the file cannot be written as glTF.
pub fn write_skin(
    fit: &SkinFit,
    (mesh, surface): (&Mesh, &Surface),
    params: &SkinFileParams,
    warnings: &mut Warnings,
) -> Result<SkinFile, SessionError> {
    let error = fit.report.errors.last().copied().unwrap_or_default();
    let percent = params.key_tolerance.unwrap_or((KEY_SHARE * error).max(KEY_LEAST_PERCENT));
    let tolerance = percent / 100.0 * mesh.diagonal();
    let export = ExportParams {
        fps: params.fps,
        tolerance,
        clips: params.clips.clone(),
        name: params.name.clone(),
        flat: params.flat,
    };
    let (mut character, report) = build_character(&fit.skin, mesh, surface, &export, warnings)?;
    if let Some(eigenskin) = params.eigenskin {
        add_eigenskin(&mut character, eigenskin, &export)?;
    }
    let options = GlbOptions {
        max_influences: fit.skin.influences,
        quantize: params.quantize,
        ..GlbOptions::default()
    };
    let mut bytes = write_glb(&character, &options, warnings)?;
    // A skin larger than the frames it replaces is of no use.
    let is_large = bytes.len() > 12 * mesh.n_vertices() * fit.skin.n_frames();
    let quantized = params.quantize || is_large;
    let options = GlbOptions { quantize: quantized, ..options };
    if is_large {
        bytes = write_glb(&character, &options, &mut Warnings::default())?;
    }
    let skin_bytes = bytes.len();
    if params.host.is_some() {
        bytes = write_glb_hosted(params.host, &character, &options, warnings)?;
    }
    Ok(SkinFile { character, bytes, skin_bytes, report, tolerance, quantized })
}

/// How far a character is from the frames that were fitted. `progress` is given the share done.
///
/// # Errors
/// If the character does not fit the frames.
pub fn measure_character(
    fitter: &SkinFitter,
    character: &Character,
    (clips, fps): (&[(String, Range<usize>)], f64),
    progress: &mut dyn FnMut(f64),
) -> Result<SkinErrors, SessionError> {
    let n_frames = fitter.n_frames();
    Ok(fitter.measure_positions(&mut |frame| {
        progress(frame as f64 / n_frames as f64);
        let at = clips.iter().position(|(_, range)| range.contains(&frame)).unwrap_or(0);
        let clip = clips.get(at).and_then(|(name, _)| character.clips.iter().find(|clip| clip.name == *name));
        let first = clips.get(at).map_or(0, |(_, range)| range.start);
        let positions = character.positions_at(clip, ((frame - first) as f64 / fps) as f32)?;
        Ok(positions.iter().map(|p| p.as_dvec3()).collect::<Vec<DVec3>>())
    })?)
}

/// Fit a skin to vertices over time and write it, with one clip, into the file of the surface if there is one.
///
/// # Errors
/// As [`fit_skin`] and [`write_skin`].
pub fn fit_sequence(
    sequence: &MeshSequence,
    (surface, host): (&Surface, Option<&Host>),
    params: &FitParams,
    (name, clip): (&str, &str),
    progress: Progress,
    warnings: &mut Warnings,
) -> Result<(SkinFit, SkinFile), SessionError> {
    let fit = fit_skin(sequence.rest(), &mut &*sequence, params, progress)?;
    let file = SkinFileParams {
        name: name.to_owned(),
        fps: sequence.fps(),
        clips: vec![(clip.to_owned(), 0..sequence.n_frames())],
        host,
        ..SkinFileParams::default()
    };
    let written = write_skin(&fit, (sequence.rest(), surface), &file, warnings)?;
    Ok((fit, written))
}
