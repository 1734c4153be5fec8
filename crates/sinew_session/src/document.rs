//! The document: one character and what its user made of it.

use crate::{ClipSources, FleshData, PuppetData, RulesData, SearchSettings, SessionError, parts};
use serde_json::{Map, Value};
use sinew_deform::{EditParams, examples::Detail};
use sinew_formats::{gltf::Host, paths::PathsData};
use sinew_geom::{Character, Clip, Handle, Mesh, Move, Warnings};
use std::{collections::BTreeSet, sync::Arc};

/// A state of the document. Its parts are shared, so that keeping every state of a long session costs only what
/// changed from one to the next; that is how undo works.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Name shown to the user.
    pub name: String,
    /// Mesh, surface, rig, skin and morphs. Its name, handles and clips are empty: they stand beside it.
    pub body: Arc<Character>,
    /// Painted regions.
    pub handles: Vec<Arc<Handle>>,
    /// Animations.
    pub clips: Vec<Arc<Clip>>,
    /// What made the clips that did not come with the file.
    pub clip_sources: Arc<ClipSources>,
    /// The present pose, as the moves that made it.
    pub pose: Arc<Vec<Move>>,
    /// Detail of the current pose: one offset per vertex along its normal.
    pub detail: Option<Detail>,
    /// Stored poses.
    pub examples: Vec<Arc<Example>>,
    /// Paths, walk, ground and keyframes that motions follow.
    pub paths: Arc<PathsData>,
    /// Rules of poses of the skeleton, what surrounds it, and contacts of clips.
    pub rules: Arc<RulesData>,
    /// How the pose space of the examples is searched.
    pub search: SearchSettings,
    /// Pairs of poses, by which a body moves the character.
    pub puppet: Arc<PuppetData>,
    /// Flesh: what it is made of, paint, joints placed by the user.
    pub flesh: Arc<FleshData>,
    /// How the soft surface follows the handles.
    pub edit: EditParams,
    /// Contents of a project file that this version does not know, to be written back.
    pub unknown: Arc<Unknown>,
    /// The glTF file that was opened: projects and exports are written into it, as long as the mesh has the same faces.
    pub host: Option<Arc<Host>>,
    /// Names of the parts of the surface that are not shown.
    pub hidden: Arc<BTreeSet<String>>,
}

/// A stored pose.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// Unique name.
    pub name: String,
    /// The moves that make it.
    pub moves: Arc<Vec<Move>>,
    /// Its detail layer.
    pub detail: Option<Detail>,
    /// A small picture of it, as a PNG file.
    pub thumbnail: Option<Arc<Vec<u8>>>,
}

/// Data of others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unknown {
    /// Root extensions of the file.
    pub extensions: Map<String, Value>,
    /// Fields of our own extension.
    pub fields: Map<String, Value>,
    /// Bytes that these name as `{"bufferView": n}`, by number.
    pub views: Vec<Arc<Vec<u8>>>,
}

impl Document {
    /// A document of a character as it was read or grown.
    pub fn new(mut character: Character) -> Self {
        let handles = std::mem::take(&mut character.handles).into_iter().map(Arc::new).collect();
        let clips = std::mem::take(&mut character.clips).into_iter().map(Arc::new).collect();
        let name = std::mem::take(&mut character.name);
        Self { name, handles, clips, body: Arc::new(character), ..Self::default() }
    }

    /// The character as a whole, for writing.
    pub fn character(&self) -> Character {
        Character {
            name: self.name.clone(),
            handles: self.plain_handles(),
            clips: self.clips.iter().map(|clip| (**clip).clone()).collect(),
            ..(*self.body).clone()
        }
    }

    /// Replace the character, keeping its name and what the user made of it.
    pub(crate) fn set_character(&mut self, character: Character) {
        let fresh = Self::new(character);
        self.body = fresh.body;
        self.handles = fresh.handles;
        self.clips = fresh.clips;
    }

    /// What a project holds beside its character, in words.
    pub fn project_data(&self) -> Vec<&'static str> {
        parts::directed(self)
    }

    /// The project with the character of a result in it. What was made for another surface at rest does not come along, and is named.
    pub fn with_result(&self, character: Character, warnings: &mut Warnings) -> Self {
        let mut next = self.clone();
        if !is_same_rest(self.mesh(), &character.mesh) {
            let lost = self.project_data();
            if !lost.is_empty() {
                warnings.push(format!(
                    "not kept, because they were made for the surface at rest as it was: {}",
                    lost.join(", ")
                ));
            }
            let Self { name, edit, search, unknown, host, hidden, .. } = next;
            next = Self { name, edit, search, unknown, host, hidden, ..Self::default() };
        }
        let gone = self.clips.iter().filter(|old| character.clips.iter().all(|clip| clip.name != old.name));
        gone.for_each(|clip| parts::clip_renamed(&mut next, &clip.name, None));
        next.set_character(character);
        next
    }

    /// The project with all lengths multiplied.
    ///
    /// # Errors
    /// If a length overflows.
    pub fn scaled(&self, factor: f64) -> Result<Self, SessionError> {
        let mut next = self.clone();
        parts::scale(&mut next, factor)?;
        Ok(next)
    }

    /// The surface at rest.
    pub fn mesh(&self) -> &Mesh {
        &self.body.mesh
    }

    /// How high the surface is at rest.
    pub fn height(&self) -> f64 {
        let [low, high] = self.mesh().bounds();
        (high - low).y
    }

    /// The handles, as solvers take them.
    pub fn plain_handles(&self) -> Vec<Handle> {
        self.handles.iter().map(|handle| (**handle).clone()).collect()
    }

    /// Place of a handle in the list.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn find_handle(&self, name: &str) -> Result<usize, SessionError> {
        let names = || self.handles.iter().map(|handle| handle.name.as_str());
        names().position(|found| found == name).ok_or_else(|| SessionError::absent("handle", name, names()))
    }

    /// Place of a stored pose in the list.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn find_example(&self, name: &str) -> Result<usize, SessionError> {
        let names = || self.examples.iter().map(|example| example.name.as_str());
        names().position(|found| found == name).ok_or_else(|| SessionError::absent("example", name, names()))
    }

    /// Place of a clip in the list.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn find_clip(&self, name: &str) -> Result<usize, SessionError> {
        let names = || self.clips.iter().map(|clip| clip.name.as_str());
        names().position(|found| found == name).ok_or_else(|| SessionError::absent("clip", name, names()))
    }

    /// What differs from another state.
    pub fn changes_since(&self, before: &Self) -> Changes {
        parts::compare(self, before)
    }
}

/// Whether two surfaces at rest are the same but for the rounding of files.
fn is_same_rest(a: &Mesh, b: &Mesh) -> bool {
    let close = 1e-6 * a.diagonal();
    let is_close = |(a, b): (&glam::DVec3, &glam::DVec3)| a.distance(*b) <= close;
    a.faces() == b.faces()
        && a.n_vertices() == b.n_vertices()
        && a.positions().iter().zip(b.positions()).all(is_close)
}

macro_rules! changes {
    ($($part:ident),+ $(,)?) => {
        /// Which parts of a document differ.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub struct Changes {
            $(pub $part: bool,)+
        }

        impl Changes {
            /// Everything, as when another file was opened.
            pub const ALL: Self = Self { $($part: true,)+ };
        }
    };
}

changes!(name, surface, handles, clips, pose, examples, edit, motion, rules, puppet, flesh, visibility);

impl Changes {
    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
