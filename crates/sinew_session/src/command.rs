//! What a user can do to a document, as data: it is sent by the page, written to the journal and replayed.

mod examples;
mod flesh;
mod handles;
mod motion;
mod moves;
mod muscles;
mod puppet;
mod rules;
mod skin;

use crate::{
    Document, Example, FleshBake, FleshData, Follow, MotionStack, PuppetSettings, RefitSettings,
    SearchChange, SessionError, TakeData,
};
use serde::{Deserialize, Serialize};
use sinew_deform::{EditParams, Frames, Method};
use sinew_formats::{
    pairs::{PairFile, PosePair},
    paths::PathsData,
};
use sinew_geom::{Character, Clip, Morph, Move, mesh::RepairParams, operators::LaplacianKind};
use std::{ops::ControlFlow, sync::Arc};

pub(crate) use examples::decode_thumbnail;
pub use examples::twin_name;
pub use flesh::FleshChange;
pub use handles::{HandleData, PaintOp};
pub(crate) use moves::{moves_from_value, moves_to_value};
pub use muscles::MuscleChange;
pub(crate) use puppet::{pairs_from_value, pairs_to_value};
pub use rules::RulesChange;
pub(crate) use rules::rename_clip;
pub use skin::SkinData;

/// One undoable step. Applying it to a state of the document gives the next state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// Exchange the moves of the present pose.
    SetPose {
        #[serde(with = "moves")]
        moves: Vec<Move>,
    },
    /// Keep the present pose under a name; the thumbnail is a data URL of a PNG file.
    SaveExample {
        name: String,
        #[serde(default)]
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
        moves: Vec<Move>,
        weights: Vec<(String, f64)>,
    },
    /// Offsets of vertices along the normal, in the present pose and in the stored one that it is.
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
        pair: Box<PosePair>,
        #[serde(default)]
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
    /// Flesh: what it is made of, paint, joints put by hand and how they are turned.
    Flesh(FleshChange),
    /// Muscles that shape the flesh.
    #[serde(alias = "rigs")]
    Muscles(MuscleChange),
    /// Make the joints put by hand the skeleton of the character.
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
    /// Mend the mesh.
    Repair {},
    /// Take a fitted skin as the character.
    TakeSkin {
        skin: SkinData,
    },
    RenameClip {
        clip: String,
        to: String,
    },
    RemoveClip {
        clip: String,
    },
}

/// Settings to change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EditChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laplacian: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arap_iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<f64>,
}

impl Command {
    /// The state after this step.
    ///
    /// # Errors
    /// If it names what does not exist or makes no sense; nothing is changed then.
    pub fn apply(&self, before: &Document) -> Result<Document, SessionError> {
        let mut document = before.clone();
        self.apply_to(&mut document)?;
        Ok(document)
    }

    fn apply_to(&self, document: &mut Document) -> Result<(), SessionError> {
        match self {
            Self::AddHandle { name } => handles::add(document, name),
            Self::RemoveHandle { name } => handles::remove(document, name),
            Self::RenameHandle { name, to } => handles::rename(document, name, to),
            Self::SetCenter { name, center } => handles::set_center(document, name, *center),
            Self::ResetCenter { name } => handles::reset_center(document, name),
            Self::SetSecondary { name, secondary } => handles::set_secondary(document, name, secondary),
            Self::ClearHandles {} => handles::set_all(document, Vec::new()),
            Self::PutHandle { handle } => handles::put(document, handle.clone()),
            Self::SetHandles { handles } => handles::set_all(document, handles.clone()),
            Self::Paint { handle, op, vertices, weight } => {
                handles::paint(document, handle, *op, vertices, *weight)
            }
            Self::SetPose { moves } => moves::set_pose(document, moves),
            Self::SaveExample { name, thumbnail } => examples::save(document, name, thumbnail.as_deref()),
            Self::LoadExample { name } => examples::load(document, name),
            Self::RenameExample { name, to } => examples::rename(document, name, to),
            Self::RemoveExample { name } => examples::remove(document, name),
            Self::MirrorExample { name, to } => examples::mirror(document, name, to),
            Self::ReachPose { moves, weights } => examples::reach(document, moves, weights),
            Self::Sculpt { example, vertices, offsets } => {
                examples::sculpt(document, example.as_deref(), vertices, offsets)
            }
            Self::ClearDetail { example } => examples::clear_detail(document, example.as_deref()),
            Self::SetSearch(change) => change.apply(&mut document.search),
            Self::SetPaths { paths } => motion::set_paths(document, paths),
            Self::Bake { clip, fps, follow } => motion::bake(document, clip, *fps, *follow),
            Self::Rules(change) => rules::change(document, change),
            Self::KeepPose { clip } => rules::keep_pose(document, clip),
            Self::Refit { settings } => {
                *document = crate::refit_clip(document, settings, &mut |_| ControlFlow::Continue(()))?.0;
                Ok(())
            }
            Self::PutPair { pair, thumbnail } => puppet::put(document, pair, thumbnail.as_deref()),
            Self::RenamePair { name, to } => puppet::rename(document, name, to),
            Self::RemovePair { name } => puppet::remove(document, name),
            Self::SetPairs { pairs } => puppet::set_all(document, pairs),
            Self::SetPuppet { settings } => puppet::set(document, settings),
            Self::Take { clip, take } => puppet::take(document, clip, take),
            Self::Flesh(change) => flesh::change(document, change),
            Self::Muscles(change) => muscles::change(document, change),
            Self::BindJoints {} => crate::flesh::bind(document),
            Self::KeepTurns { clip } => flesh::keep_turns(document, clip),
            Self::BakeFlesh { bake } => {
                let go_on = |_| ControlFlow::Continue(());
                *document = crate::bake_flesh(document, bake, &mut MotionStack::default(), &go_on)?.0;
                Ok(())
            }
            Self::SetEdit(change) => change.apply(&mut document.edit),
            Self::Rename { name } => {
                document.name.clone_from(name);
                Ok(())
            }
            Self::Scale { factor } => scale(document, *factor),
            Self::Repair {} => repair(document),
            Self::TakeSkin { skin } => skin::take(document, skin),
            Self::RenameClip { clip, to } => {
                let at = document.find_clip(clip)?;
                if clip != to {
                    check_name("clip", to, document.find_clip(to).is_ok())?;
                }
                document.clips[at] = Arc::new(Clip { name: to.clone(), ..(*document.clips[at]).clone() });
                rules::rename_clip(document, clip, Some(to));
                muscles::rename_clip(document, clip, Some(to));
                Ok(())
            }
            Self::RemoveClip { clip } => {
                crate::motion::remove_clip(document, clip)?;
                rules::rename_clip(document, clip, None);
                muscles::rename_clip(document, clip, None);
                Ok(())
            }
        }
    }

    /// What the history calls it.
    pub fn label(&self) -> String {
        match self {
            Self::AddHandle { name } => format!("Add handle {name}"),
            Self::RemoveHandle { name } => format!("Remove handle {name}"),
            Self::RenameHandle { to, .. } => format!("Rename handle to {to}"),
            Self::SetCenter { name, .. } => format!("Move centre of {name}"),
            Self::ResetCenter { name } => format!("Reset centre of {name}"),
            Self::SetSecondary { name, .. } => format!("Set what follows {name}"),
            Self::ClearHandles {} => "Clear handles".into(),
            Self::PutHandle { handle } => format!("Put handle {}", handle.name),
            Self::SetHandles { handles } => format!("Set {} handles", handles.len()),
            Self::Paint { handle, op: PaintOp::Remove, .. } => format!("Erase from {handle}"),
            Self::Paint { handle, .. } => format!("Paint {handle}"),
            Self::SetPose { moves } if moves.is_empty() => "Reset pose".into(),
            Self::SetPose { moves } => moves.last().map_or_else(String::new, moves::label),
            Self::SaveExample { name, .. } => format!("Save example {name}"),
            Self::LoadExample { name } => format!("Load example {name}"),
            Self::RenameExample { to, .. } => format!("Rename example to {to}"),
            Self::RemoveExample { name } => format!("Remove example {name}"),
            Self::MirrorExample { name, .. } => format!("Mirror example {name}"),
            Self::ReachPose { .. } => "Reach".into(),
            Self::Sculpt { example: Some(name), .. } => format!("Sculpt {name}"),
            Self::Sculpt { .. } => "Sculpt pose".into(),
            Self::ClearDetail { .. } => "Clear detail".into(),
            Self::SetSearch(_) => "Change search".into(),
            Self::SetPaths { .. } => "Edit paths".into(),
            Self::Bake { clip, .. } => format!("Bake {clip}"),
            Self::Rules(change) => change.label(),
            Self::KeepPose { clip } => format!("Keep pose as {clip}"),
            Self::Refit { settings } => format!("Refit {}", settings.clip),
            Self::PutPair { pair, .. } => format!("Pair {}", pair.name),
            Self::RenamePair { to, .. } => format!("Rename pair to {to}"),
            Self::RemovePair { name } => format!("Remove pair {name}"),
            Self::SetPairs { pairs } => format!("Set {} pairs", pairs.pairs.len()),
            Self::SetPuppet { .. } => "Change puppetry".into(),
            Self::Take { clip, .. } => format!("Take {clip}"),
            Self::Flesh(change) => change.label(),
            Self::Muscles(change) => change.label(),
            Self::BindJoints {} => "Make skeleton".into(),
            Self::KeepTurns { clip } => format!("Keep pose as {clip}"),
            Self::BakeFlesh { bake } => format!("Bake flesh as {}", bake.to),
            Self::SetEdit(_) => "Change method".into(),
            Self::Rename { name } => format!("Rename to {name}"),
            Self::Scale { factor } => format!("Scale by {factor}"),
            Self::Repair {} => "Mend mesh".into(),
            Self::TakeSkin { skin } => format!("Take skin of {} bones", skin.bones),
            Self::RenameClip { to, .. } => format!("Rename clip to {to}"),
            Self::RemoveClip { clip } => format!("Remove clip {clip}"),
        }
    }

    /// Steps with the same key that follow each other at once (a slider, a number scrubbed) are one step.
    pub fn merge_key(&self) -> Option<String> {
        match self {
            Self::SetCenter { name, .. } => Some(format!("center {name}")),
            Self::SetEdit(_) => Some("edit".into()),
            Self::Rules(change) => change.merge_key(),
            Self::Flesh(change) => change.merge_key(),
            Self::Muscles(change) => change.merge_key(),
            Self::SetSearch(_) => Some("search".into()),
            Self::SetPuppet { .. } => Some("puppet".into()),
            _ => None,
        }
    }
}

impl EditChange {
    /// All settings, for showing and saving.
    pub fn of_all(params: &EditParams) -> Self {
        Self {
            method: Some(params.method.name().into()),
            laplacian: Some(params.lipman.laplacian.name().into()),
            band: Some(params.lipman.band),
            frames: Some(params.lipman.frames.name().into()),
            n_nodes: Some(params.guided.n_nodes),
            iterations: Some(params.guided.iterations),
            arap_iterations: Some(params.arap.iterations),
            smoothness: Some(params.guided.smoothness),
            inside: Some(params.guided.stiffness_inside),
        }
    }

    /// Change what is given.
    ///
    /// # Errors
    /// If a name is unknown or a number out of range.
    pub fn apply(&self, params: &mut EditParams) -> Result<(), SessionError> {
        if let Some(name) = &self.method {
            let names = Method::ALL.map(Method::name).into_iter();
            params.method =
                Method::from_name(name).ok_or_else(|| SessionError::absent("method", name, names))?;
        }
        if let Some(name) = &self.laplacian {
            let names = LaplacianKind::ALL.map(LaplacianKind::name).into_iter();
            params.lipman.laplacian = LaplacianKind::from_name(name)
                .ok_or_else(|| SessionError::absent("Laplacian", name, names))?;
        }
        if let Some(name) = &self.frames {
            let names = Frames::ALL.map(Frames::name).into_iter();
            params.lipman.frames =
                Frames::from_name(name).ok_or_else(|| SessionError::absent("frames", name, names))?;
        }
        if let Some(band) = self.band {
            params.lipman.band = within("band", band as f64, [1.0, 100.0])? as usize;
        }
        if let Some(n) = self.n_nodes {
            params.guided.n_nodes = within("nodes", n as f64, [100.0, 20_000.0])? as usize;
        }
        if let Some(n) = self.iterations {
            params.guided.iterations = within("iterations", n as f64, [1.0, 200.0])? as usize;
        }
        if let Some(n) = self.arap_iterations {
            params.arap.iterations = within("iterations", n as f64, [1.0, 1000.0])? as usize;
        }
        if let Some(x) = self.smoothness {
            params.guided.smoothness = within("smoothness", x, [0.0, 1000.0])?;
        }
        if let Some(x) = self.inside {
            params.guided.stiffness_inside = within("inside", x, [0.0, 1000.0])?;
        }
        Ok(())
    }
}

pub(crate) fn within(what: &'static str, value: f64, [low, high]: [f64; 2]) -> Result<f64, SessionError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(SessionError::Value { what, cause: format!("{value} is not within {low} and {high}") })
}

/// Characters of a name; longer ones are no names.
const MAX_NAME: usize = 200;

pub(crate) fn check_name(what: &'static str, name: &str, is_taken: bool) -> Result<(), SessionError> {
    let cause = match () {
        () if name.trim().is_empty() => "it is empty",
        () if name.len() > MAX_NAME => "it is too long",
        () if is_taken => "it is taken",
        () => return Ok(()),
    };
    Err(SessionError::Name { what, name: name.chars().take(40).collect(), cause })
}

fn scale(document: &mut Document, factor: f64) -> Result<(), SessionError> {
    within("scale", factor, [1e-6, 1e6])?;
    let scaled = document.character().scaled(factor)?;
    exchange(document, scaled);
    document.pose = Arc::new(moves::scaled(&document.pose, factor));
    let layer = |detail: &Arc<Vec<f32>>| Arc::new(detail.iter().map(|x| x * factor as f32).collect());
    document.detail = document.detail.as_ref().map(layer);
    for example in &mut document.examples {
        let moves = Arc::new(moves::scaled(&example.moves, factor));
        let detail = example.detail.as_ref().map(layer);
        *example = Arc::new(Example { moves, detail, ..(**example).clone() });
    }
    document.paths = Arc::new(motion::scaled(&document.paths, factor));
    document.rules = Arc::new(document.rules.scaled(factor));
    document.puppet = Arc::new(puppet::scaled(&document.puppet, factor));
    document.flesh = Arc::new(document.flesh.scaled(factor));
    Ok(())
}

/// Mend the mesh. Detail layers and painted stiffness come along as morph targets do, being values of vertices like them.
fn repair(document: &mut Document) -> Result<(), SessionError> {
    let mut whole = document.character();
    let n_morphs = whole.morphs.len();
    let layers = document.examples.iter().map(|example| &example.detail);
    let layers = layers.chain([&document.detail, &document.flesh.paint]);
    let morph = |detail: &Arc<Vec<f32>>| Morph {
        name: String::new(),
        offsets: detail.iter().map(|x| glam::Vec3::X * *x).collect(),
        default_weight: 0.0,
    };
    whole.morphs.extend(layers.flatten().map(morph));
    let mut mended = whole.repaired(&RepairParams::default())?.0;
    let mut layers = mended
        .morphs
        .split_off(n_morphs)
        .into_iter()
        .map(|morph| Arc::new(morph.offsets.iter().map(|offset| offset.x).collect::<Vec<f32>>()));
    for example in document.examples.iter_mut().filter(|example| example.detail.is_some()) {
        *example = Arc::new(Example { detail: layers.next(), ..(**example).clone() });
    }
    document.detail = document.detail.take().and_then(|_| layers.next());
    if document.flesh.paint.is_some() {
        document.flesh = Arc::new(FleshData { paint: layers.next(), ..(*document.flesh).clone() });
    }
    exchange(document, mended);
    Ok(())
}

/// Exchange the character, keeping what the user made of it.
fn exchange(document: &mut Document, character: Character) {
    let fresh = Document::new(character);
    document.body = fresh.body;
    document.handles = fresh.handles;
    document.clips = fresh.clips;
}
