//! What a user can do to a document, as data: it is sent by the page, written to the journal and replayed.

mod character;
mod check;
mod edit;
mod examples;
mod flesh;
mod handles;
mod motion;
mod moves;
mod muscles;
mod puppet;
mod rules;
mod skin;
mod steps;

use crate::{
    Document, FleshBake, Follow, PuppetSettings, RefitSettings, SearchChange, SessionError, TakeData,
    TurntableSettings, WalkSettings,
};
use serde::{Deserialize, Serialize};
use sinew_formats::{
    pairs::{PairFile, PosePair},
    paths::PathsData,
};
use sinew_geom::Move;

use check::decode_thumbnail;
pub(crate) use check::{check_name, within};
pub use edit::EditChange;
pub use examples::twin_name;
pub use flesh::FleshChange;
pub use handles::{HandleData, PaintOp};
pub(crate) use motion::scaled as scaled_paths;
pub(crate) use moves::{moves_from_value, moves_to_value, scaled as scaled_moves};
pub use muscles::MuscleChange;
pub(crate) use muscles::rename_clip as rename_clip_in_muscles;
pub(crate) use puppet::{pairs_from_value, pairs_to_value, scaled as scaled_puppet};
pub use rules::RulesChange;
pub(crate) use rules::rename_clip as rename_clip_in_rules;
pub use skin::SkinData;

/// One undoable step. Applying it to a state of the document gives the next state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Command {
    /// An empty handle to paint.
    AddHandle {
        name: String,
    },
    RemoveHandle {
        name: String,
    },
    RenameHandle {
        name: String,
        to: String,
    },
    /// Move the rotation centre, given in the rest pose.
    SetCenter {
        name: String,
        center: [f64; 3],
    },
    /// Let the centre follow what is painted again: the middle of the handle's border.
    ResetCenter {
        name: String,
    },
    /// Which handles move along.
    SetSecondary {
        name: String,
        secondary: Vec<String>,
    },
    ClearHandles {},
    /// Add a handle, or exchange the one of its name; its vertices are taken from others.
    PutHandle {
        handle: HandleData,
    },
    /// Exchange all handles.
    SetHandles {
        handles: Vec<HandleData>,
    },
    /// Add vertices to a handle, which is made if need be, or take them away.
    Paint {
        handle: String,
        op: PaintOp,
        vertices: Vec<u32>,
        weight: f32,
    },
    /// Exchange the moves of the current pose.
    SetPose {
        #[serde(with = "moves")]
        #[cfg_attr(feature = "ts", ts(type = "Move[]"))]
        moves: Vec<Move>,
    },
    /// Keep the current pose under a name; the thumbnail is a data URL of a PNG file.
    SaveExample {
        name: String,
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional = nullable))]
        thumbnail: Option<String>,
    },
    /// Take up a stored pose.
    LoadExample {
        name: String,
    },
    RenameExample {
        name: String,
        to: String,
    },
    RemoveExample {
        name: String,
    },
    /// A stored pose with left and right exchanged, as a new one.
    MirrorExample {
        name: String,
        to: String,
    },
    /// Take up a pose that was reached: its moves, and the weights of the examples whose details it shows.
    ReachPose {
        #[serde(with = "moves")]
        #[cfg_attr(feature = "ts", ts(type = "Move[]"))]
        moves: Vec<Move>,
        weights: Vec<(String, f64)>,
    },
    /// Offsets of vertices along the normal, in the current pose and in the stored one that it is.
    Sculpt {
        example: Option<String>,
        vertices: Vec<u32>,
        offsets: Vec<f32>,
    },
    ClearDetail {
        example: Option<String>,
    },
    /// How the examples are searched; what is absent stays.
    SetSearch(SearchChange),
    /// Exchange paths, walk, ground and keyframes.
    SetPaths {
        paths: Box<PathsData>,
    },
    /// Follow paths or keyframes, and keep the motion as a clip.
    Bake {
        clip: String,
        fps: f64,
        follow: Follow,
    },
    /// Rules, and what surrounds the skeleton.
    Rules(RulesChange),
    /// Keep the pose at which the rules hold, as a clip of one frame.
    KeepPose {
        clip: String,
    },
    /// Fit a clip of the skeleton to another ground or to longer limbs, and keep it as a clip.
    Refit {
        settings: Box<RefitSettings>,
    },
    /// Add a pair of poses, or exchange the one of its name; the thumbnail is a data URL of a PNG file.
    PutPair {
        #[serde(with = "puppet::one")]
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        pair: Box<PosePair>,
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional = nullable))]
        thumbnail: Option<String>,
    },
    RenamePair {
        name: String,
        to: String,
    },
    RemovePair {
        name: String,
    },
    /// Exchange all pairs.
    SetPairs {
        #[serde(with = "puppet::all")]
        #[cfg_attr(feature = "ts", ts(type = "unknown"))]
        pairs: Box<PairFile>,
    },
    /// How a body moves the character.
    SetPuppet {
        settings: PuppetSettings,
    },
    /// Perform what an actor did, and keep it as a clip.
    Take {
        clip: String,
        take: TakeData,
    },
    /// Flesh: what it is made of, paint, joints placed by the user and how they are turned.
    Flesh(FleshChange),
    /// Muscles that shape the flesh.
    #[serde(alias = "rigs")]
    Muscles(MuscleChange),
    /// Give the character a skeleton that fits its shape; `template` names a plan of a body, else the best one is used.
    AddSkeleton {
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional = nullable))]
        template: Option<String>,
    },
    /// Make the joints placed by the user the skeleton of the character.
    BindJoints {},
    /// Keep the pose of the joints, as a clip of one frame.
    KeepTurns {
        clip: String,
    },
    /// A clip with flesh on its bones, as a clip of vertices.
    BakeFlesh {
        bake: FleshBake,
    },
    /// Choose how the soft surface follows; what is absent stays.
    SetEdit(EditChange),
    Rename {
        name: String,
    },
    /// Multiply all lengths.
    Scale {
        factor: f64,
    },
    /// Turn the character so that an axis becomes up (+Y) and another one forward (+Z), each x, y, z, -x, -y or -z. Only before
    /// poses and motions are made, which would not turn with it.
    Turn {
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional = nullable))]
        up: Option<String>,
        #[serde(default)]
        #[cfg_attr(feature = "ts", ts(optional = nullable))]
        facing: Option<String>,
    },
    /// Repair the mesh.
    Repair {},
    /// Show or hide parts of the surface, each by its name or by that of its node.
    ShowParts {
        parts: Vec<String>,
        visible: bool,
    },
    /// Take a fitted skin as the character.
    TakeSkin {
        skin: SkinData,
    },
    /// Add a clip that turns the character once about its vertical axis.
    Turntable {
        settings: TurntableSettings,
    },
    /// Add a clip in which the character walks.
    Walk {
        settings: Box<WalkSettings>,
    },
    RenameClip {
        clip: String,
        to: String,
    },
    RemoveClip {
        clip: String,
    },
}

impl Command {
    /// The state after this step.
    ///
    /// # Errors
    /// If it names what does not exist or is invalid; nothing is changed then.
    pub fn apply(&self, before: &Document) -> Result<Document, SessionError> {
        let mut document = before.clone();
        (self.step().apply)(&mut document)?;
        self.note_clip_source(&mut document);
        Ok(document)
    }

    /// What the history calls it.
    pub fn label(&self) -> String {
        self.step().label
    }

    /// Steps with the same key that follow each other at once (a slider, a number scrubbed) are one step.
    pub fn merge_key(&self) -> Option<String> {
        self.step().merge_key
    }
}
