//! Moves of a pose: as JSON, and kept in step with the names of handles.

use crate::{Document, Example, SessionError};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use serde_json::{Value, json};
use sinew_deform::{HandlePose, HandleSet};
use sinew_formats::{
    FormatError,
    moves::{read_moves, write_moves},
};
use sinew_geom::{Move, Warnings};
use std::sync::Arc;

/// The list within a `moves.json`.
pub(crate) fn moves_to_value(moves: &[Move]) -> Value {
    let file: Value = serde_json::from_slice(&write_moves(moves)).unwrap_or_default();
    file["moves"].clone()
}

/// Moves out of such a list.
pub(crate) fn moves_from_value(value: &Value) -> Result<Vec<Move>, FormatError> {
    read_moves(json!({ "moves": value }).to_string().as_bytes(), "moves")
}

pub fn serialize<S: Serializer>(moves: &[Move], serializer: S) -> Result<S::Ok, S::Error> {
    moves_to_value(moves).serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Move>, D::Error> {
    moves_from_value(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Exchange the pose, once it has been seen to fit the handles.
pub(super) fn set_pose(document: &mut Document, moves: &[Move]) -> Result<(), SessionError> {
    if !moves.is_empty() {
        let set = HandleSet::new(document.mesh(), &document.plain_handles(), &mut Warnings::default())?;
        HandlePose::from_moves(document.mesh(), &set, moves)?;
    }
    document.pose = Arc::new(moves.to_vec());
    if moves.is_empty() {
        // Nothing is left of a pose that is reset.
        document.detail = None;
    }
    Ok(())
}

/// What the history calls an exchange of the pose.
pub(super) fn pose_label(moves: &[Move]) -> String {
    moves.last().map_or_else(|| "Reset pose".into(), label)
}

/// What the history calls a move.
fn label(step: &Move) -> String {
    match step {
        Move::Rotate { main, .. } => format!("Rotate {main}"),
        Move::Translate { handles, .. } => format!("Move {}", handles.join(", ")),
        Move::Twist { handles, .. } => format!("Twist {}", handles.join(", ")),
    }
}

/// Give every handle of all moves its new name; those that have none any more are left out, and so are moves
/// without anything to move.
pub(super) fn rename_all(document: &mut Document, new_name: impl Fn(&str) -> Option<String>) {
    document.pose = renamed(&document.pose, &new_name);
    let paths = super::motion::renamed(&document.paths, &new_name);
    if paths != *document.paths {
        document.paths = Arc::new(paths);
    }
    for example in &mut document.examples {
        let moves = renamed(&example.moves, &new_name);
        if !Arc::ptr_eq(&moves, &example.moves) {
            *example = Arc::new(Example { moves, ..(**example).clone() });
        }
    }
}

/// The same list if no name changes.
fn renamed(moves: &Arc<Vec<Move>>, new_name: &impl Fn(&str) -> Option<String>) -> Arc<Vec<Move>> {
    let list = |names: &[String]| names.iter().filter_map(|name| new_name(name)).collect::<Vec<_>>();
    let one = |step: &Move| {
        Some(match step {
            Move::Rotate { main, handles, axis, radians } => {
                let (named, kept) = (!handles.is_empty(), list(handles));
                if named && kept.is_empty() {
                    return None;
                }
                Move::Rotate { main: new_name(main)?, handles: kept, axis: *axis, radians: *radians }
            }
            Move::Translate { handles, vector } => {
                Move::Translate { handles: Some(list(handles)).filter(|l| !l.is_empty())?, vector: *vector }
            }
            Move::Twist { handles, axis, radians, over } => Move::Twist {
                handles: Some(list(handles)).filter(|l| !l.is_empty())?,
                axis: *axis,
                radians: *radians,
                over: list(over),
            },
        })
    };
    let result: Vec<Move> = moves.iter().filter_map(one).collect();
    if result == **moves { moves.clone() } else { Arc::new(result) }
}

/// Moves of a body of another size.
pub(crate) fn scaled(moves: &[Move], factor: f64) -> Vec<Move> {
    let one = |step: &Move| match step {
        Move::Translate { handles, vector } => {
            Move::Translate { handles: handles.clone(), vector: *vector * factor }
        }
        turned => turned.clone(),
    };
    moves.iter().map(one).collect()
}
