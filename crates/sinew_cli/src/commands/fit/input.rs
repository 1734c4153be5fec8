//! What can be fitted: folders of frames, and animations of glTF files.

use crate::commands::{input::read_over, output::find_clip};
use anyhow::{Context, bail, ensure};
use glam::DVec3;
use sinew::{
    formats::{Content, SequenceFolder, alembic, gltf},
    geom::{Character, Clip, Mesh, MeshSequence, Surface, Warnings},
    session::{DEFAULT_FPS, count_frames},
    skin::{FrameSource, SkinError},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Distance from the origin, in diagonals, from which the rounding of files would be seen.
const FAR_DIAGONALS: f64 = 200.0;

/// Share of a frame by which a clip may be longer than its frames: times have single precision.
const FRAME_ROUNDING: f64 = 1e-3;

/// What readers say of coordinates that are not numbers.
const NOT_FINITE: &str = "NaN or infinite";

/// One sequence, opened but not read where it is a folder.
pub struct Input {
    pub name: String,
    path: PathBuf,
    pub fps: f64,
    /// The mesh that deforms, moved by `offset` as all frames are.
    rest: Mesh,
    offset: DVec3,
    kind: Kind,
    host: Option<Arc<gltf::Host>>,
}

enum Kind {
    Folder(Box<SequenceFolder>),
    Frames(Box<MeshSequence>, Surface),
    /// A skinned character whose first clip is sampled: its number of frames, and frames per second.
    Played(Box<Character>, usize, f64),
}

impl Input {
    /// Open a sequence; a point cache over a mesh, if one is given. Clips are sampled at `fps` frames per second, if it is given; folders are taken to have that rate.
    pub fn open(
        path: &Path,
        mesh: Option<&Path>,
        fps: Option<f64>,
        warnings: &mut Warnings,
    ) -> anyhow::Result<Self> {
        let shown = path.display();
        let mut host = None;
        let kind = match read_over(path, mesh, fps, warnings)? {
            Content::Sequence(folder) => Kind::Folder(folder),
            Content::Gltf(file) => {
                host.clone_from(&file.host);
                played(file.character, fps, warnings).with_context(|| shown.to_string())?
            }
            Content::Model(model) if !model.character.clips.is_empty() => {
                played(model.character, fps, warnings).with_context(|| shown.to_string())?
            }
            Content::Model(_) => {
                // Faces that change are why a cache has no clip.
                if let Some(change) = warnings.messages.iter().find(|said| said.starts_with(alembic::CHANGES))
                {
                    bail!("{shown}: {change}");
                }
                bail!(
                    "{shown}: this is one mesh; give a folder of numbered meshes, or a glb with an animation; `sinew rig` gives one \
                     mesh bones"
                )
            }
            Content::Bvh(_) | Content::Recording(_) => {
                bail!("{shown}: a motion without a surface has no skin")
            }
        };
        let fps = match &kind {
            Kind::Frames(sequence, _) => sequence.fps(),
            Kind::Played(_, _, rate) => *rate,
            Kind::Folder(_) => fps.unwrap_or(DEFAULT_FPS),
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let rest = match &kind {
            Kind::Folder(folder) => folder.rest().clone(),
            Kind::Frames(sequence, _) => sequence.rest().clone(),
            Kind::Played(character, ..) => character.mesh.clone(),
        };
        let path = path.to_owned();
        Ok(Self { name, path, fps, rest, offset: DVec3::ZERO, kind, host })
    }

    /// How far the mesh has to be moved so that single precision, which is all that glTF has, can represent its vertices:
    /// not at all, unless it lies far out.
    pub fn needed_offset(&self) -> DVec3 {
        let [low, high] = self.rest.bounds();
        let center = 0.5 * (low + high);
        let is_far = center.abs().max_element() > FAR_DIAGONALS * self.rest.diagonal().max(f64::MIN_POSITIVE);
        if is_far { -center } else { DVec3::ZERO }
    }

    /// Move the mesh and all frames.
    pub fn shift(&mut self, offset: DVec3) -> anyhow::Result<()> {
        let moved = self.rest.positions().iter().map(|p| *p + offset).collect();
        (self.rest, self.offset) = (self.rest.with_positions(moved)?, offset);
        Ok(())
    }

    /// The mesh that deforms.
    pub fn rest(&self) -> &Mesh {
        &self.rest
    }

    /// The file of a skinned character, which a skin is written into; none if the mesh was moved. Of an animation by morph targets
    /// the file would keep them all, and they are what a skin replaces.
    pub fn host(&self) -> Option<&gltf::Host> {
        let is_written_into = matches!(self.kind, Kind::Played(..)) && self.offset == DVec3::ZERO;
        self.host.as_deref().filter(|_| is_written_into)
    }

    /// How it looks.
    pub fn surface(&self) -> &Surface {
        match &self.kind {
            Kind::Folder(folder) => folder.surface(),
            Kind::Frames(_, surface) => surface,
            Kind::Played(character, ..) => &character.surface,
        }
    }

    pub fn n_frames(&self) -> usize {
        match &self.kind {
            Kind::Folder(folder) => folder.frames().len(),
            Kind::Frames(sequence, _) => sequence.n_frames(),
            Kind::Played(_, n_frames, _) => *n_frames,
        }
    }

    /// Refuse a sequence of another mesh.
    pub fn check_same_mesh(&self, first: &Self) -> anyhow::Result<()> {
        let (own, other) = (self.rest(), first.rest());
        ensure!(
            own.n_vertices() == other.n_vertices() && own.faces() == other.faces(),
            "{}: its mesh has {} vertices and {} faces, that of {} has {} and {}, or they are joined differently; \
             only sequences of one mesh can share a skin",
            self.path.display(),
            own.n_vertices(),
            own.n_faces(),
            first.path.display(),
            other.n_vertices(),
            other.n_faces()
        );
        Ok(())
    }
}

fn played(character: Character, fps: Option<f64>, warnings: &mut Warnings) -> anyhow::Result<Kind> {
    ensure!(character.mesh.n_faces() > 0, "there is no surface to fit a skin to");
    let moves_joints = character.skin.is_some() && character.clips.iter().any(|clip| !clip.joints.is_empty());
    if !character.morphs.is_empty() && !moves_joints {
        let sequence =
            gltf::morph_sequence(&character, fps, warnings).map_err(|fault| anyhow::anyhow!("{fault}"))?;
        return Ok(Kind::Frames(Box::new(sequence), character.surface));
    }
    let clip = find_clip(&character, None).context(
        "give a file with an animation, or a folder of meshes; `sinew animate` and `sinew puppet` make animations, `sinew rig` \
         gives one mesh bones",
    )?;
    if character.clips.len() > 1 {
        warnings.push(format!("of {} clips the first, {:?}, is fitted", character.clips.len(), clip.name));
    }
    let (n_frames, rate) = frames_of(clip, fps)?;
    Ok(Kind::Played(Box::new(character), n_frames, rate))
}

/// Frames of a clip and how many there are in a second. Nothing of it may be cut off: its own rate reaches exactly to its
/// end, a given one, which is kept, to the first frame after it.
fn frames_of(clip: &Clip, fps: Option<f64>) -> anyhow::Result<(usize, f64)> {
    let n_frames = count_frames(Some(clip), fps.unwrap_or_else(|| clip.joint_rate()))?;
    let seconds = f64::from(clip.duration_secs());
    let last = (n_frames - 1) as f64;
    Ok(match fps {
        Some(fps) => (n_frames + usize::from(last < seconds * fps - FRAME_ROUNDING), fps),
        None if n_frames > 1 && seconds > 0.0 => (n_frames, last / seconds),
        None => (n_frames, DEFAULT_FPS),
    })
}

/// Reads the frames of inputs one after another, and collects what had to be repaired.
pub struct Frames<'a> {
    pub inputs: &'a [Input],
    pub warnings: Warnings,
    /// Called with the share of frames read.
    pub progress: &'a dyn Fn(f64),
}

impl FrameSource for Frames<'_> {
    fn n_frames(&self) -> usize {
        self.inputs.iter().map(Input::n_frames).sum()
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        (self.progress)(frame as f64 / self.n_frames() as f64);
        let mut at = frame;
        let Some(input) = self.inputs.iter().find(|input| {
            let found = at < input.n_frames();
            at -= if found { 0 } else { input.n_frames() };
            found
        }) else {
            return Err(SkinError::Source { message: format!("there is no frame {frame}") });
        };
        let failed = |error: String| SkinError::Source { message: error };
        let positions = match &input.kind {
            Kind::Folder(folder) => {
                let mut repaired = Warnings::default();
                let read =
                    folder.read_positions(at, &mut repaired).map_err(|error| failed(error.to_string()))?;
                // Readers move such vertices to the origin, which is no motion to follow.
                if let Some(message) = repaired.messages.iter().find(|message| message.contains(NOT_FINITE)) {
                    let path = folder.frames()[at].display();
                    // What the reader would do about it is not done.
                    let what = message.split_once("; ").map_or(message.as_str(), |(what, _)| what);
                    let what = what.rsplit_once(": ").map_or(what, |(_, what)| what);
                    let cause = format!("{path}: frame {at}: {what}; repair or leave out that frame");
                    return Err(failed(cause));
                }
                repaired.messages.into_iter().for_each(|message| self.warnings.push(message));
                read
            }
            Kind::Frames(sequence, _) => sequence.frames()[at].iter().map(|p| p.as_dvec3()).collect(),
            Kind::Played(character, ..) => {
                let time = (at as f64 / input.fps) as f32;
                let moved = character.positions_at(character.clips.first(), time);
                moved.map_err(|error| failed(error.to_string()))?.iter().map(|p| p.as_dvec3()).collect()
            }
        };
        if positions.len() != out.len() {
            return Err(SkinError::FrameLength { frame, expected: out.len(), actual: positions.len() });
        }
        out.iter_mut().zip(positions).for_each(|(out, p)| *out = p + input.offset);
        Ok(())
    }
}
