//! Writing a result in the format its name asks for.

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};
use sinew::{
    formats::{GltfFile, bvh, gltf, obj, ply, write_atomic},
    geom::{Character, Clip, Mesh, MeshSequence, Surface, Warnings},
    session::{
        Document, MAX_FRAMES, add_motion_clip, add_vertex_clip, hidden_parts, read_project, write_project,
    },
};
use std::{path::Path, sync::Arc};

/// How to write.
pub struct OutputOptions {
    pub clip: Option<String>,
    pub fps: Option<f64>,
    pub influences: usize,
    /// Where the character comes from.
    pub origin: Origin,
}

/// The glTF file that a character was read from: a GLB is written into it.
#[derive(Clone, Default)]
pub struct Origin {
    /// The file itself; none if it was made by Sinew or is of another format.
    pub host: Option<Arc<gltf::Host>>,
    /// Root extensions that a GLB takes over where there is no such file.
    pub extensions: Map<String, Value>,
    /// Which parts of the surface are written, and which are shown.
    pub parts: gltf::PartChoice,
    /// The project that the character comes from.
    pub project: Option<Arc<Document>>,
}

impl Origin {
    /// Of a glTF file at a path.
    ///
    /// # Errors
    /// If it is a project of a later version.
    pub fn of(file: &GltfFile, path: &Path, warnings: &mut Warnings) -> anyhow::Result<Self> {
        let project = match gltf::fields_beyond_character(&file.extensions).is_empty() {
            true => None,
            false => Some(Arc::new(read_project(&std::fs::read(path)?, path, &mut Warnings::default())?)),
        };
        let mut reported = Warnings::default();
        let extensions = gltf::portable_extensions(&file.extensions, &mut reported);
        if let Some(avatar) = &file.info.avatar {
            avatar.warn_prohibited(warnings);
        }
        if file.host.is_none() {
            reported.messages.into_iter().for_each(|message| warnings.push(message));
        }
        Ok(Self { host: file.host.clone(), extensions, parts: gltf::PartChoice::default(), project })
    }

    /// Of a document.
    pub fn of_document(document: &Document) -> Self {
        let parts = gltf::PartChoice { hidden: Some(hidden_parts(document)), ..Default::default() };
        let project = Some(Arc::new(document.clone()));
        Self { host: document.host.clone(), extensions: Map::new(), parts, project }
    }

    /// Whether a file of this name keeps everything of the origin.
    pub fn is_kept_in(&self, path: &Path) -> bool {
        self.host.is_some() && extension(path) == "glb"
    }
}

/// Whether a path names a folder rather than a file.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.extension().is_none()
}

/// Whether a name is that of a project, which keeps what the user made of the character.
fn is_project(path: &Path) -> bool {
    path.to_string_lossy().to_ascii_lowercase().ends_with(".sinew.glb")
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Write a character; returns the number of bytes.
pub fn write_character(
    character: &Character,
    path: &Path,
    options: &OutputOptions,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let bytes = match extension(path).as_str() {
        "glb" => write_glb(character, path, options, warnings)?,
        "obj" | "ply" => {
            ensure!(character.mesh.n_vertices() > 0, "{}: there is no mesh to write", path.display());
            warn_of_losses(character, options, extension(path) == "ply", warnings);
            let parts = gltf::SurfaceParts::of(options.origin.host.as_deref(), character);
            options.origin.parts.warn_shown(&parts, warnings);
            let kept = parts.leave_out(character, &options.origin.parts.left_out)?;
            if extension(path) == "obj" {
                return Ok(obj::write_obj_file(path, &kept)?);
            }
            ply::write_ply(&kept)
        }
        "bvh" => write_bvh(character, options, warnings)?,
        _ => return check_name(path, false).map(|()| 0),
    };
    write_atomic(path, &bytes)?;
    Ok(bytes.len() as u64)
}

/// A GLB: a project if the character comes from one and the name says so.
fn write_glb(
    character: &Character,
    path: &Path,
    options: &OutputOptions,
    warnings: &mut Warnings,
) -> anyhow::Result<Vec<u8>> {
    let (extensions, parts) = (options.origin.extensions.clone(), options.origin.parts.clone());
    if let Some(project) = &options.origin.project {
        if is_project(path) && parts.left_out.is_empty() {
            let mut document = project.with_result(character.clone(), warnings);
            if let Some(hidden) = parts.hidden {
                document.hidden = Arc::new(hidden);
            }
            return Ok(write_project(&document, warnings)?);
        }
        let lost = project.project_data();
        if !lost.is_empty() {
            warnings.push(format!(
                "left out: {}. Name the output NAME.sinew.glb to keep the project",
                lost.join(", ")
            ));
        }
    }
    let max_influences = options.influences;
    let glb = gltf::GlbOptions { max_influences, extensions, parts, ..Default::default() };
    Ok(gltf::write_glb_hosted(options.origin.host.as_deref(), character, &glb, warnings)?)
}

fn warn_of_losses(character: &Character, options: &OutputOptions, is_ply: bool, warnings: &mut Warnings) {
    let surface = &character.surface;
    let lost = [
        (is_ply && surface.uvs.is_some(), "texture coordinates"),
        (is_ply && !surface.materials.is_empty(), "materials"),
        (character.rig.is_some(), "skeleton and skin"),
        (!character.clips.is_empty(), "animations"),
        (!character.morphs.is_empty(), "morph targets"),
        (!character.handles.is_empty(), "handles"),
        (!options.origin.extensions.is_empty(), "glTF extensions"),
    ];
    let lost: Vec<&str> = lost.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    if !lost.is_empty() {
        warnings.push(format!(
            "this format cannot hold everything; left out: {}. Write .glb to keep it",
            lost.join(", ")
        ));
    }
    if let Some(host) = &options.origin.host {
        host.warn_lost(warnings);
    }
}

fn write_bvh(
    character: &Character,
    options: &OutputOptions,
    warnings: &mut Warnings,
) -> anyhow::Result<Vec<u8>> {
    let rig = character.rig.as_ref().context("there is no skeleton to write as BVH")?;
    let clip = find_clip(character, options.clip.as_deref())?;
    let fps = options.fps.unwrap_or_else(|| clip.joint_rate());
    Ok(bvh::write_bvh(rig, clip, fps, warnings)?)
}

/// The named clip, or the first.
pub fn find_clip<'a>(character: &'a Character, name: Option<&str>) -> anyhow::Result<&'a Clip> {
    let names = || character.clips.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
    match name {
        Some(name) => character
            .clips
            .iter()
            .find(|clip| clip.name == name)
            .or_else(|| character.clips.iter().find(|clip| clip.name.eq_ignore_ascii_case(name)))
            .with_context(|| format!("there is no clip {name:?}; there are: {}", names())),
        None => character.clips.first().context("there is no animation to write"),
    }
}

/// Write a sequence that looks like `surface`: a GLB of morph targets, or a folder of OBJ files; returns the number of
/// bytes.
pub fn write_sequence(
    sequence: &MeshSequence,
    surface: &Surface,
    name: &str,
    path: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    if extension(path) == "glb" {
        let bytes = gltf::write_sequence_glb(sequence, surface, name, warnings)?;
        write_atomic(path, &bytes)?;
        return Ok(bytes.len() as u64);
    }
    write_frames(path, surface, sequence.n_frames(), |frame| Ok(sequence.mesh(frame)?))
}

/// Write vertices of a character over time: as a clip beside what the character has, which comes first, and as a sequence of their
/// own if it has nothing else.
pub fn write_vertex_clip(
    character: &Character,
    origin: &Origin,
    sequence: &MeshSequence,
    name: &str,
    path: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let is_bare = character.rig.is_none()
        && character.handles.is_empty()
        && character.clips.is_empty()
        && character.morphs.is_empty();
    if extension(path) != "glb" || (origin.host.is_none() && is_bare) {
        return write_sequence(sequence, &character.surface, name, path, warnings);
    }
    let mut document = Document::new(character.clone());
    let name = free_name(character, name, "flesh");
    add_vertex_clip(&mut document, &name, sequence.fps(), sequence.frames().to_vec())?;
    let mut whole = document.character();
    whole.clips.rotate_right(1);
    let options = OutputOptions { clip: None, fps: None, influences: 4, origin: origin.clone() };
    write_character(&whole, path, &options, warnings)
}

/// Write a motion of a document's surface, which comes first among its clips: as a clip of its skeleton or its handles, else
/// as a folder of frames. How it was stored is added to the report.
pub fn write_motion_clip(
    document: &Document,
    sequence: &MeshSequence,
    name: &str,
    path: &Path,
    report: &mut Value,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    if extension(path) != "glb" {
        return write_sequence(sequence, &document.body.surface, name, path, warnings);
    }
    let mut document = document.clone();
    let name = free_name(&document.character(), name, "motion");
    let fit = add_motion_clip(&mut document, &name, sequence.fps(), sequence.frames().to_vec())?;
    report["clip_joints"] = json!(fit.joints);
    report["clip_morphs"] = json!(fit.morphs);
    report["clip_error_percent"] = json!(100.0 * fit.error);
    let mut whole = document.character();
    whole.clips.rotate_right(1);
    let origin = Origin::of_document(&document);
    let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
    write_character(&whole, path, &options, warnings)
}

/// A name that no clip has: the one given, else with a word or a number behind it.
pub fn free_name(character: &Character, name: &str, word: &str) -> String {
    let is_free = |name: &String| character.clips.iter().all(|clip| clip.name != *name);
    let numbered = (2..).map(|n| format!("{name} {word} {n}"));
    let mut names = [name.to_owned(), format!("{name} {word}")].into_iter().chain(numbered);
    names.find(is_free).unwrap_or_default()
}

/// A frame rate as people read it: `30 fps`, `23.976 fps`.
pub fn rate(fps: f64) -> String {
    let text = format!("{fps:.3}");
    format!("{} fps", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Write frames one by one as OBJ files into a folder, which may hold an older run of the same length or less. They
/// share one material library.
pub fn write_frames(
    folder: &Path,
    surface: &Surface,
    n_frames: usize,
    mut frame: impl FnMut(usize) -> anyhow::Result<Mesh>,
) -> anyhow::Result<u64> {
    let shown = folder.display();
    ensure!(
        n_frames <= MAX_FRAMES,
        "{shown}: {n_frames} frames are more than {MAX_FRAMES}; choose a lower --fps"
    );
    ensure!(
        is_folder(folder),
        "{shown}: a sequence is written as one .glb or as a folder of .obj files (a name without an ending)"
    );
    std::fs::create_dir_all(folder).with_context(|| format!("{shown}: the folder cannot be made"))?;
    let file = |frame: usize| folder.join(format!("frame_{frame:04}.obj"));
    ensure!(
        !file(n_frames).exists(),
        "{shown}: the folder holds a longer sequence, whose frames would mix with the {n_frames} new ones; \
         give another folder"
    );
    let (library, mut n_bytes) = obj::write_obj_library(&folder.join("frames.obj"), &surface.materials)?;
    // Normals of the rest pose do not fit the frames.
    let surface = Surface { normals: None, ..surface.clone() };
    let mut character = Character { surface, ..Character::default() };
    for index in 0..n_frames {
        character.mesh = frame(index)?;
        let bytes = obj::write_obj_with(&character, library.as_deref());
        write_atomic(&file(index), &bytes)?;
        n_bytes += bytes.len() as u64;
    }
    Ok(n_bytes)
}

/// Refuse a name that cannot be written before any work is done.
pub fn check_name(path: &Path, is_sequence: bool) -> anyhow::Result<()> {
    let (shown, ending) = (path.display(), extension(path));
    match (ending.as_str(), is_sequence) {
        ("glb", _) | ("obj" | "ply" | "bvh", false) => Ok(()),
        ("", true) => Ok(()),
        ("", false) => bail!("{shown}: give a file name that ends in .glb, .obj, .ply or .bvh"),
        ("gltf", _) => bail!("{shown}: glTF is written as one binary file; name it .glb"),
        (_, true) => bail!(
            "{shown}: a sequence is written as one .glb or as a folder of .obj files (a name without an ending)"
        ),
        (other, false) => bail!("{shown}: `.{other}` cannot be written; use glb, obj, ply or bvh"),
    }
}
