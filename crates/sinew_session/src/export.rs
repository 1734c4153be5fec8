//! Results for other programs.

use crate::{
    DEFAULT_FPS, Document, Example, FitSettings, Fitted, MotionStack, SessionError, Source, Stage,
    find_parts, hidden_parts, stack::StackParams, stage::normals_of, surface_parts::warn_gone,
    with_handle_skeleton,
};
use serde::{Deserialize, Serialize};
use sinew_deform::{HandleSet, build_pose_clip, examples::add_detail, measure_skin};
use sinew_formats::{
    bvh,
    gltf::{self, PartChoice, SurfaceParts},
    handles::write_handles,
    moves::{RecordedMoves, write_recorded_moves},
    obj,
    pairs::write_pairs,
    paths::write_paths,
    ply,
};
use sinew_geom::{Character, Surface, Warnings};
use std::{ops::ControlFlow, sync::Arc};

/// Format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ExportFormat {
    Glb,
    Obj,
    Ply,
    Bvh,
    Moves,
    Handles,
    Paths,
    Pairs,
}

impl ExportFormat {
    /// Ending of the file's name.
    pub fn ending(self) -> &'static str {
        match self {
            Self::Glb => "glb",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Bvh => "bvh",
            Self::Moves => "moves.json",
            Self::Handles => "handles.json",
            Self::Paths => "paths.json",
            Self::Pairs => "pairs.json",
        }
    }
}

/// What is exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ExportWhat {
    /// The character with its skeleton, clips and handles.
    #[default]
    Character,
    /// The surface in its present pose.
    Posed,
    /// Bones and weights made of the handles, with the clips and one for each stored pose.
    Skin,
    /// Vertices over time.
    Clip,
    /// Clips as a skin that is fitted to them.
    Fit,
}

/// Choices of an export.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
pub struct ExportParams {
    /// Format of the file.
    pub format: ExportFormat,
    /// What of the document.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub what: ExportWhat,
    /// Of BVH and vertices over time: which clip; the first if absent.
    #[serde(default)]
    pub clip: Option<String>,
    /// Of vertices over time: whether the pose of the handles is the shape that moves.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub reshaped: bool,
    /// Frames per second of BVH and vertices over time; 30 if absent.
    #[serde(default)]
    pub fps: Option<f64>,
    /// How clips are fitted; if absent, as they were last.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(optional, type = "Partial<FitSettings>"))]
    pub fit: Option<FitSettings>,
    /// Of characters, poses and skins: only these parts of the surface; all if absent.
    #[serde(default)]
    pub parts: Option<Vec<String>>,
    /// Influences per vertex, 1..=8; 4 if absent.
    #[serde(default)]
    pub influences: Option<usize>,
}

/// A file to be written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Make a file of a document.
///
/// # Errors
/// If the document has nothing of the kind, or the work is stopped.
pub fn export(
    document: &Document,
    params: &ExportParams,
    stack: &mut MotionStack,
    stage: &mut Stage,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    warnings: &mut Warnings,
) -> Result<Exported, SessionError> {
    let bytes = match params.format {
        ExportFormat::Moves => {
            let size = Some(document.mesh().diagonal());
            write_recorded_moves(&RecordedMoves { moves: document.pose.to_vec(), size })
        }
        ExportFormat::Handles => write_handles(&document.plain_handles()),
        ExportFormat::Paths => write_paths(&document.paths),
        ExportFormat::Pairs => write_pairs(&document.puppet.file()),
        ExportFormat::Bvh => {
            let rig =
                document.body.rig.as_ref().ok_or_else(|| nothing("skeleton", "export a GLB instead"))?;
            bvh::write_bvh(rig, &document.clips[clip_index(document, params)?], rate(params), warnings)?
        }
        _ if params.what == ExportWhat::Clip => {
            if params.format != ExportFormat::Glb {
                return Err(nothing("clip in OBJ and PLY files", "export it as GLB"));
            }
            let source = Source::Clip(document.clips[clip_index(document, params)?].name.clone());
            let steps = StackParams { source, reshape: params.reshaped, fps: rate(params) };
            let sequence = stack.run(document, &steps, stage, progress)?;
            gltf::write_sequence_glb(&sequence, &document.body.surface, &document.name, warnings)?
        }
        _ if params.what == ExportWhat::Fit => {
            if params.format != ExportFormat::Glb {
                return Err(nothing("skin in OBJ and PLY files", "export it as GLB"));
            }
            let fitted = fitted(document, params.fit.as_ref(), stack, stage, progress)?;
            if fitted.report.cancelled {
                warnings.push("the fit was stopped before it had settled; the best so far was exported");
            }
            let parts = choice(document, &fitted.character, params.parts.as_deref())?;
            let max_influences = fitted.skin.influences;
            let options = gltf::GlbOptions { max_influences, parts, ..Default::default() };
            // The file of an animation by morph targets would keep them all, and they are what the skin replaces.
            let is_of_morphs = document.body.skin.is_none() && !document.body.morphs.is_empty();
            let host = document.host.as_deref().filter(|_| !is_of_morphs);
            gltf::write_glb_hosted(host, &fitted.character, &options, warnings)?
        }
        format => {
            let character = character(document, params.what, stage, progress, warnings)?;
            warn_gone(document, warnings);
            let parts = choice(document, &character, params.parts.as_deref())?;
            if progress(0.8).is_break() {
                return Err(SessionError::Cancelled);
            }
            match format {
                ExportFormat::Obj => obj::write_obj(&without(document, &character, &parts, warnings)?),
                ExportFormat::Ply => ply::write_ply(&without(document, &character, &parts, warnings)?),
                _ => {
                    let max_influences = params.influences.unwrap_or(4);
                    let mut unkept = Warnings::default();
                    let extensions = gltf::portable_extensions(&document.unknown.extensions, &mut unkept);
                    if document.host.is_none() {
                        unkept.messages.into_iter().for_each(|message| warnings.push(message));
                    }
                    let options =
                        gltf::GlbOptions { max_influences, extensions, parts, ..Default::default() };
                    gltf::write_glb_hosted(document.host.as_deref(), &character, &options, warnings)?
                }
            }
        }
    };
    let stem: String = document.name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
    let stem = if stem.trim_matches(['_', '.', ' ']).is_empty() { "sinew".to_owned() } else { stem };
    Ok(Exported { name: format!("{stem}.{}", params.format.ending()), bytes })
}

/// Which parts are exported, and which of them are shown.
fn choice(
    document: &Document,
    character: &Character,
    only: Option<&[String]>,
) -> Result<PartChoice, SessionError> {
    let hidden = Some(hidden_parts(document));
    let Some(only) = only else { return Ok(PartChoice { hidden, ..PartChoice::default() }) };
    let all = SurfaceParts::of(document.host.as_deref(), character);
    let kept = find_parts(&all, only)?;
    let left_out = all.parts.into_iter().map(|part| part.name).filter(|name| !kept.contains(name)).collect();
    Ok(PartChoice { left_out, hidden })
}

/// What formats without parts hold of a character.
fn without(
    document: &Document,
    character: &Character,
    parts: &PartChoice,
    warnings: &mut Warnings,
) -> Result<Character, SessionError> {
    let all = SurfaceParts::of(document.host.as_deref(), character);
    parts.warn_shown(&all, warnings);
    Ok(all.leave_out(character, &parts.left_out)?)
}

/// Clips through the fit step, which has mostly run already.
fn fitted(
    document: &Document,
    fit: Option<&FitSettings>,
    stack: &mut MotionStack,
    stage: &mut Stage,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Arc<Fitted>, SessionError> {
    let last = stack.fitted().filter(|fitted| fitted.is_of(document)).map(|last| last.settings().clone());
    let settings = fit.cloned().or(last).unwrap_or_default();
    match stack.ready_fit(document, &settings) {
        Some(fitted) => Ok(fitted.clone()),
        None => stack.fit(document, &settings, stage, &|status| progress(0.9 * status.share)),
    }
}

/// Letters that every file system takes.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || " -_.".contains(c)
}

fn rate(params: &ExportParams) -> f64 {
    params.fps.unwrap_or(DEFAULT_FPS)
}

fn clip_index(document: &Document, params: &ExportParams) -> Result<usize, SessionError> {
    match &params.clip {
        Some(name) => document.find_clip(name),
        None if document.clips.is_empty() => Err(nothing("clip", "export the character or its pose")),
        None => Ok(0),
    }
}

fn nothing(what: &'static str, remedy: &'static str) -> SessionError {
    SessionError::Value { what, cause: format!("there is none to export; {remedy}") }
}

fn character(
    document: &Document,
    what: ExportWhat,
    stage: &mut Stage,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    warnings: &mut Warnings,
) -> Result<Character, SessionError> {
    let whole = document.character();
    match what {
        ExportWhat::Character | ExportWhat::Clip | ExportWhat::Fit => Ok(whole),
        ExportWhat::Posed => {
            let mut positions = document.mesh().positions().to_vec();
            if !document.pose.is_empty() {
                positions = stage.prepare(document, progress)?.positions_of(document)?;
            } else if let Some(detail) = &document.detail {
                add_detail(detail, &normals_of(document), &mut positions);
            }
            let mesh = document.mesh().with_positions(positions)?;
            let surface = Surface { normals: None, ..whole.surface };
            Ok(Character { name: whole.name, mesh, surface, ..Character::default() })
        }
        ExportWhat::Skin => {
            let skinned = with_handle_skeleton(document, warnings)?;
            let (Some(rig), Some(skin)) = (&skinned.body.rig, &skinned.body.skin) else { return Ok(whole) };
            let set = HandleSet::new(&whole.mesh, &whole.handles, &mut Warnings::default())?;
            let error = measure_skin(&whole.mesh, &set, skin)?;
            warnings.push(format!(
                "as a skin, poses differ from those of the handles by {:.2} % of the size on average, {:.2} % at most",
                100.0 * error.rms,
                100.0 * error.max
            ));
            // What moved the surface before moves it now, and so do its stored poses.
            let clip = |example: &Arc<Example>| {
                build_pose_clip(&whole.mesh, &set, rig, &example.name, &example.moves)
            };
            let poses = document.examples.iter().map(clip).collect::<Result<Vec<_>, _>>()?;
            let mut made = skinned.character();
            for mut pose in poses {
                while made.clips.iter().any(|clip| clip.name == pose.name) {
                    pose.name += " pose";
                }
                made.clips.push(pose);
            }
            Ok(made)
        }
    }
}
