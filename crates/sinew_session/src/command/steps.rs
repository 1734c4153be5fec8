//! What each command does and what the history calls it: the one list of all commands.

use super::{Command, character, examples, flesh, handles, motion, moves, muscles, puppet, rules, skin};
use crate::{Document, FleshBake, MotionStack, RefitSettings, SessionError, TurntableSettings, WalkSettings};
use std::ops::ControlFlow;

type Apply<'a> = Box<dyn FnOnce(&mut Document) -> Result<(), SessionError> + 'a>;

/// A command that is about to be applied or shown.
pub(super) struct Step<'a> {
    /// What the history calls it.
    pub label: String,
    /// Steps with the same key that follow each other at once are one step.
    pub merge_key: Option<String>,
    /// What it does.
    pub apply: Apply<'a>,
}

impl Step<'_> {
    fn merged_by(self, key: Option<String>) -> Self {
        Self { merge_key: key, ..self }
    }
}

fn step<'a>(
    label: impl Into<String>,
    apply: impl FnOnce(&mut Document) -> Result<(), SessionError> + 'a,
) -> Step<'a> {
    Step { label: label.into(), merge_key: None, apply: Box::new(apply) }
}

impl Command {
    /// What it does and what it is called. A new command gets its arm here and nowhere else.
    #[rustfmt::skip] // A table: one command per arm.
    pub(super) fn step(&self) -> Step<'_> {
        match self {
            Self::AddHandle { name } => step(format!("Add handle {name}"), |d| handles::add(d, name)),
            Self::RemoveHandle { name } => step(format!("Remove handle {name}"), |d| handles::remove(d, name)),
            Self::RenameHandle { name, to } =>
                step(format!("Rename handle to {to}"), |d| handles::rename(d, name, to)),
            Self::SetCenter { name, center } =>
                step(format!("Move centre of {name}"), |d| handles::set_center(d, name, *center))
                    .merged_by(Some(format!("center {name}"))),
            Self::ResetCenter { name } =>
                step(format!("Reset centre of {name}"), |d| handles::reset_center(d, name)),
            Self::SetSecondary { name, secondary } =>
                step(format!("Store secondary set of {name}"), |d| handles::set_secondary(d, name, secondary)),
            Self::ClearHandles {} => step("Delete all handles", |d| handles::set_all(d, Vec::new())),
            Self::PutHandle { handle } =>
                step(format!("Set handle {}", handle.name), |d| handles::put(d, handle.clone())),
            Self::SetHandles { handles } =>
                step(format!("Set {} handles", handles.len()), |d| handles::set_all(d, handles.clone())),
            Self::Paint { handle, op, vertices, weight } =>
                step(op.label(handle), |d| handles::paint(d, handle, *op, vertices, *weight)),
            Self::SetPose { moves } => step(moves::pose_label(moves), |d| moves::set_pose(d, moves)),
            Self::SaveExample { name, thumbnail } =>
                step(format!("Save pose {name}"), |d| examples::save(d, name, thumbnail.as_deref())),
            Self::LoadExample { name } => step(format!("Load pose {name}"), |d| examples::load(d, name)),
            Self::RenameExample { name, to } =>
                step(format!("Rename pose to {to}"), |d| examples::rename(d, name, to)),
            Self::RemoveExample { name } => step(format!("Remove pose {name}"), |d| examples::remove(d, name)),
            Self::MirrorExample { name, to } =>
                step(format!("Mirror pose {name}"), |d| examples::mirror(d, name, to)),
            Self::ReachPose { moves, weights } => step("Reach", |d| examples::reach(d, moves, weights)),
            Self::Sculpt { example, vertices, offsets } =>
                step(format!("Sculpt {}", example.as_deref().unwrap_or("pose")),
                    |d| examples::sculpt(d, example.as_deref(), vertices, offsets)),
            Self::ClearDetail { example } => step("Clear detail", |d| examples::clear_detail(d, example.as_deref())),
            Self::SetSearch(change) =>
                step("Change search", |d| change.apply(&mut d.search)).merged_by(Some("search".into())),
            Self::SetPaths { paths } => step("Edit paths", |d| motion::set_paths(d, paths)),
            Self::Bake { clip, fps, follow } =>
                step(format!("Bake {clip}"), |d| motion::bake(d, clip, *fps, *follow)),
            Self::Rules(change) =>
                step(change.label(), |d| rules::change(d, change)).merged_by(change.merge_key()),
            Self::KeepPose { clip } => step(format!("Save pose as {clip}"), |d| rules::keep_pose(d, clip)),
            Self::Refit { settings } => step(format!("Refit {}", settings.clip), |d| refit(d, settings)),
            Self::PutPair { pair, thumbnail } =>
                step(format!("Pair {}", pair.name), |d| puppet::put(d, pair, thumbnail.as_deref())),
            Self::RenamePair { name, to } => step(format!("Rename pair to {to}"), |d| puppet::rename(d, name, to)),
            Self::RemovePair { name } => step(format!("Remove pair {name}"), |d| puppet::remove(d, name)),
            Self::SetPairs { pairs } =>
                step(format!("Set {} pairs", pairs.pairs.len()), |d| puppet::set_all(d, pairs)),
            Self::SetPuppet { settings } =>
                step("Change puppet settings", |d| puppet::set(d, settings)).merged_by(Some("puppet".into())),
            Self::Take { clip, take } => step(format!("Record {clip}"), |d| puppet::take(d, clip, take)),
            Self::Flesh(change) =>
                step(change.label(), |d| flesh::change(d, change)).merged_by(change.merge_key()),
            Self::Muscles(change) =>
                step(change.label(), |d| muscles::change(d, change)).merged_by(change.merge_key()),
            Self::AddSkeleton { template } => step("Add skeleton", |d| add_skeleton(d, template.as_deref())),
            Self::BindJoints {} => step("Make skeleton", crate::flesh::bind),
            Self::KeepTurns { clip } => step(format!("Save pose as {clip}"), |d| flesh::keep_turns(d, clip)),
            Self::BakeFlesh { bake } => step(format!("Bake flesh as {}", bake.to), |d| bake_flesh(d, bake)),
            Self::SetEdit(change) =>
                step("Change method", |d| change.apply(&mut d.edit)).merged_by(Some("edit".into())),
            Self::Rename { name } => step(format!("Rename to {name}"), |d| character::rename(d, name)),
            Self::Scale { factor } => step(format!("Scale by {factor}"), |d| character::scale(d, *factor)),
            Self::Turn { up, facing } =>
                step("Change axes", |d| character::turn(d, up.as_deref(), facing.as_deref())),
            Self::Repair {} => step("Repair mesh", character::repair),
            Self::ShowParts { parts, visible } =>
                step(format!("{} {}", if *visible { "Show" } else { "Hide" }, parts.join(", ")),
                    |d| crate::surface_parts::show_parts(d, parts, *visible)),
            Self::TakeSkin { skin } => step(format!("Use fitted skin ({} bones)", skin.bones), |d| skin::take(d, skin)),
            Self::Turntable { settings } => step(format!("Add {}", settings.clip), |d| turntable(d, settings)),
            Self::Walk { settings } => step(format!("Add {}", settings.clip), |d| walk(d, settings)),
            Self::RenameClip { clip, to } =>
                step(format!("Rename clip to {to}"), |d| character::rename_clip(d, clip, to)),
            Self::RemoveClip { clip } => step(format!("Remove clip {clip}"), |d| character::remove_clip(d, clip)),
        }
    }
}

fn add_skeleton(document: &mut Document, template: Option<&str>) -> Result<(), SessionError> {
    *document = crate::with_skeleton(document, template)?.0;
    Ok(())
}

fn turntable(document: &mut Document, settings: &TurntableSettings) -> Result<(), SessionError> {
    *document = crate::add_turntable(document, settings)?;
    Ok(())
}

fn walk(document: &mut Document, settings: &WalkSettings) -> Result<(), SessionError> {
    *document = crate::add_walk(document, settings)?.0;
    Ok(())
}

fn refit(document: &mut Document, settings: &RefitSettings) -> Result<(), SessionError> {
    *document = crate::refit_clip(document, settings, &mut |_| ControlFlow::Continue(()))?.0;
    Ok(())
}

fn bake_flesh(document: &mut Document, bake: &FleshBake) -> Result<(), SessionError> {
    let go_on = |_| ControlFlow::Continue(());
    *document = crate::bake_flesh(document, bake, &mut MotionStack::default(), &go_on)?.0;
    Ok(())
}
