//! `moves.json`: a pose as the moves that made it.

use crate::{
    FormatError,
    json::{Node, read_json},
    text::excerpt,
};
use glam::DVec3;
use serde_json::{Value, json};
use sinew_geom::Move;

const SHAPE: &str =
    r#"expected {"moves":[{"rotate":{"main":"arm","handles":["arm","hand"],"axis":[0,0,1],"degrees":90}}]}"#;
const ROTATE: &str =
    r#"write {"rotate":{"main":"arm","handles":["arm","hand"],"axis":[0,0,1],"degrees":90}}"#;
const TRANSLATE: &str = r#"write {"translate":{"handles":["hand"],"vector":[0,0.1,0]}}"#;
const TWIST: &str = r#"write {"twist":{"handles":["hand"],"axis":[1,0,0],"degrees":90,"over":["forearm"]}}"#;
/// What names in a file of moves are.
const HANDLE: &str = "the name of a handle";
const KINDS: [&str; 3] = ["rotate", "translate", "twist"];
/// Diagonals of models in metres, from molecules to worlds: beyond, translations would overflow.
const SIZES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
/// A hundred turns: far more than a surface can be wound up.
const MAX_DEGREES: f64 = 36_000.0;

/// Moves as they were recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedMoves {
    /// The moves, in order.
    pub moves: Vec<Move>,
    /// Diagonal, in metres, of the model they were recorded on. If it is known, translations are relative to
    /// it; if not, they have the given length on any model.
    pub size: Option<f64>,
}

impl RecordedMoves {
    /// The moves for a model of this diagonal: translations are scaled by its ratio to the one they were
    /// recorded on.
    pub fn for_diagonal(&self, diagonal: f64) -> Vec<Move> {
        let scale = self.size.map_or(1.0, |size| diagonal / size);
        let scaled = |step: &Move| match step {
            Move::Translate { handles, vector } => {
                Move::Translate { handles: handles.clone(), vector: *vector * scale }
            }
            turn => turn.clone(),
        };
        self.moves.iter().map(scaled).collect()
    }
}

/// Read moves: `{"moves":[…], "size"?}` of `{"rotate":{"main", "handles"?, "axis", "degrees"}}`,
/// `{"translate":{"handles", "vector"}}` and `{"twist":{"handles", "axis", "degrees", "over"?}}`. Whether the handles
/// exist is not checked here.
///
/// # Errors
/// All faults with their JSON paths: kinds and keys that are unknown or missing, numbers out of range, axes without
/// direction, a size that is not positive.
pub fn read_recorded_moves(bytes: &[u8], name: &str) -> Result<RecordedMoves, FormatError> {
    read_json(bytes, name, (SHAPE, "correct it there"), |root| {
        let fields = root.fields(&["moves", "size"], SHAPE)?;
        let size = fields.optional("size", |node| node.number_in(SIZES, "the model's diagonal in metres"));
        let moves = fields.required("moves", |list| list.each(read_move));
        Some(RecordedMoves { moves: moves?, size: size? })
    })
}

/// Read moves as they were written, for the model they were recorded on: [`read_recorded_moves`] without the size.
///
/// # Errors
/// As [`read_recorded_moves`].
pub fn read_moves(bytes: &[u8], name: &str) -> Result<Vec<Move>, FormatError> {
    read_recorded_moves(bytes, name).map(|recorded| recorded.moves)
}

/// One move; `None` if it has a fault.
fn read_move(entry: &Node<'_>) -> Option<Move> {
    let kinds = KINDS.join(", ");
    let Some((kind, body)) = entry.variant() else {
        let cause = match entry.n_keys() {
            Some(n) => format!("a move is one of {kinds}, but here are {n} keys"),
            None => format!("a move is an object, not {}", entry.description()),
        };
        return entry.fault_with(cause, r#"write each as {"rotate":{…}} of its own"#);
    };
    match kind {
        "rotate" => {
            let fields = body.fields(&["main", "handles", "axis", "degrees"], ROTATE)?;
            let main = fields.required("main", |node| node.text(HANDLE));
            let handles = fields.or("handles", Vec::new(), |list| list.names(HANDLE));
            let (axis, radians) =
                (fields.required("axis", read_axis), fields.required("degrees", read_radians));
            Some(Move::Rotate { main: main?, handles: handles?, axis: axis?, radians: radians? })
        }
        "translate" => {
            let fields = body.fields(&["handles", "vector"], TRANSLATE)?;
            let handles = fields.required("handles", read_handles);
            let vector = fields.required("vector", Node::vector);
            Some(Move::Translate { handles: handles?, vector: vector? })
        }
        "twist" => {
            let fields = body.fields(&["handles", "axis", "degrees", "over"], TWIST)?;
            let handles = fields.required("handles", read_handles);
            let over = fields.or("over", Vec::new(), |list| list.names(HANDLE));
            let (axis, radians) =
                (fields.required("axis", read_axis), fields.required("degrees", read_radians));
            Some(Move::Twist { handles: handles?, axis: axis?, radians: radians?, over: over? })
        }
        other => {
            let cause = format!("{:?} is not a kind of move", excerpt(other.as_bytes()));
            entry.fault_with(cause, format!("use {kinds}"))
        }
    }
}

/// At least one handle.
fn read_handles(list: &Node<'_>) -> Option<Vec<String>> {
    match list.names(HANDLE) {
        Some(names) if names.is_empty() => list.fault("no handle is named, so nothing would move"),
        names => names,
    }
}

fn read_axis(node: &Node<'_>) -> Option<DVec3> {
    let axis = node.vector()?;
    if axis.try_normalize().is_none() {
        return node.fault("the axis has no direction");
    }
    Some(axis)
}

fn read_radians(node: &Node<'_>) -> Option<f64> {
    // The last turn may have been rounded up when radians were written as degrees.
    let limit = MAX_DEGREES * (1.0 + 1e-12);
    let expected = format!("a number within ±{MAX_DEGREES} (a hundred turns)");
    node.number_in(-limit..=limit, &expected).map(f64::to_radians)
}

/// Text of a `moves.json` whose translations have the given length on any model.
pub fn write_moves(moves: &[Move]) -> Vec<u8> {
    file_of(moves).to_string().into_bytes()
}

/// Text of a `moves.json`, with the size of the model if it is known.
pub fn write_recorded_moves(recorded: &RecordedMoves) -> Vec<u8> {
    let mut file = file_of(&recorded.moves);
    if let Some(size) = recorded.size {
        file["size"] = json!(size);
    }
    file.to_string().into_bytes()
}

fn file_of(moves: &[Move]) -> Value {
    let entry = |step: &Move| match step {
        Move::Rotate { main, handles, axis, radians } => {
            let mut body = json!({ "main": main });
            if !handles.is_empty() {
                body["handles"] = json!(handles);
            }
            body["axis"] = json!(axis.to_array());
            body["degrees"] = json!(radians.to_degrees());
            json!({ "rotate": body })
        }
        Move::Translate { handles, vector } => {
            json!({ "translate": { "handles": handles, "vector": vector.to_array() } })
        }
        Move::Twist { handles, axis, radians, over } => {
            let degrees = radians.to_degrees();
            json!({ "twist": { "handles": handles, "axis": axis.to_array(), "degrees": degrees, "over": over } })
        }
    };
    json!({ "moves": moves.iter().map(entry).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESIGN: &str = r#"{"moves":[{"rotate":{"main":"arm","handles":["arm","hand"],"axis":[0,0,1],"degrees":90}},{"translate":{"handles":["hand"],"vector":[0,0.1,0]}},{"twist":{"handles":["hand"],"axis":[1,0,0],"degrees":90,"over":["forearm"]}}]}"#;

    fn faults(text: &str) -> String {
        read_moves(text.as_bytes(), "m.json").unwrap_err().to_string()
    }

    /// A file of one move.
    fn one(text: &str) -> String {
        format!(r#"{{"moves":[{text}]}}"#)
    }

    #[test]
    fn the_example_of_the_design_survives_a_round_trip() {
        let moves = read_moves(DESIGN.as_bytes(), "m.json").unwrap();
        let names = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let right = 90f64.to_radians();
        let expected = [
            Move::Rotate {
                main: "arm".into(),
                handles: names(&["arm", "hand"]),
                axis: DVec3::Z,
                radians: right,
            },
            Move::Translate { handles: names(&["hand"]), vector: DVec3::new(0.0, 0.1, 0.0) },
            Move::Twist {
                handles: names(&["hand"]),
                axis: DVec3::X,
                radians: right,
                over: names(&["forearm"]),
            },
        ];
        assert_eq!(moves, expected);
        let text = String::from_utf8(write_moves(&moves)).unwrap();
        assert_eq!(read_moves(text.as_bytes(), "m.json").unwrap(), moves, "{text}");
        assert_eq!(read_moves(b"\xef\xbb\xbf{\"moves\":[]}", "m.json").unwrap(), []);
    }

    #[test]
    fn translations_scale_with_the_body_if_its_size_is_known() {
        let shift = Move::Translate { handles: vec!["hand".into()], vector: DVec3::new(0.0, 0.1, 0.0) };
        let turn = Move::Rotate { main: "arm".into(), handles: vec![], axis: DVec3::X * 2.0, radians: 1.0 };
        let recorded = RecordedMoves { moves: vec![shift, turn.clone()], size: Some(2.0) };
        let text = String::from_utf8(write_recorded_moves(&recorded)).unwrap();
        let again = read_recorded_moves(text.as_bytes(), "m.json").unwrap();
        assert_eq!(again.size, Some(2.0), "{text}");
        assert_eq!(again.moves[0], recorded.moves[0]);
        let child = again.for_diagonal(1.0);
        assert!(matches!(&child[0], Move::Translate { vector, .. } if *vector == DVec3::Y * 0.05));
        assert!(matches!(&child[1], Move::Rotate { axis, .. } if *axis == DVec3::X * 2.0));
        // In files without a size translations have the given length on any model.
        let old = read_recorded_moves(DESIGN.as_bytes(), "m.json").unwrap();
        assert_eq!(old.size, None);
        assert_eq!(old.for_diagonal(0.3), old.moves);
        assert_eq!(read_moves(text.as_bytes(), "m.json").unwrap(), again.moves);
        let none = read_recorded_moves(br#"{"moves":[],"size":null}"#, "m.json").unwrap();
        assert_eq!(none, RecordedMoves::default());
        for bad in ["0", "-1", "1e13", "1e-13", "\"two\"", "[]"] {
            let message = faults(&format!(r#"{{"moves":[],"size":{bad}}}"#));
            assert!(message.contains("/size: expected the model's diagonal in metres"), "{message}");
        }
    }

    #[test]
    fn what_is_left_out_has_a_meaning() {
        let text = one(
            r#"{"rotate":{"main":"arm","axis":[0,0,1],"degrees":-720}},{"twist":{"handles":["a"],"axis":[0,1,0],"degrees":1}}"#,
        );
        let moves = read_moves(text.as_bytes(), "m.json").unwrap();
        assert!(matches!(&moves[0], Move::Rotate { handles, radians, .. }
            if handles.is_empty() && (radians + 4.0 * std::f64::consts::PI).abs() < 1e-12));
        assert!(matches!(&moves[1], Move::Twist { over, .. } if over.is_empty()));
        assert_eq!(read_moves(&write_moves(&moves), "m.json").unwrap(), moves);
    }

    #[test]
    fn every_fault_is_named_with_path_and_remedy() {
        let text = one(r#"{"rotate":{"handles":[1],"axis":[0,0,0],"degrees":"x","angle":3}},
            {"translate":{"handles":[],"vector":[0,1]}}, {"bend":{}}, 7, {"rotate":{},"twist":{}},
            {"twist":{"handles":["a"],"axis":[1e39,0,null],"degrees":1e6,"over":"b"}}"#);
        let message = faults(&text);
        for part in [
            r#"m.json:/moves/0/rotate/angle: unknown key "angle"; known keys: main, handles, axis, degrees"#,
            r#"/moves/0/rotate: "main" is missing; write {"rotate":{"main""#,
            "/moves/0/rotate/handles/0: expected the name of a handle, not 1",
            "/moves/0/rotate/axis: the axis has no direction",
            r#"/moves/0/rotate/degrees: expected a number within ±36000 (a hundred turns), not "x""#,
            "/moves/1/translate/handles: no handle is named",
            "/moves/1/translate/vector: expected 3 numbers, not 2",
            r#"/moves/2: "bend" is not a kind of move; use rotate, translate, twist"#,
            "/moves/3: a move is an object, not 7; write each",
            "/moves/4: a move is one of rotate, translate, twist, but here are 2 keys",
            "/moves/5/twist/axis/0: expected a number of reasonable size, not 1e+39; correct it there",
            "/moves/5/twist/axis/2: expected a number of reasonable size, not null",
            "/moves/5/twist/degrees: expected a number within",
            r#"/moves/5/twist/over: expected a list, not "b""#,
        ] {
            assert!(message.contains(part), "{part}\nis not in\n{message}");
        }
    }

    #[test]
    fn files_that_are_none_say_what_they_should_be() {
        for (text, part) in [
            ("", "m.json: the file is empty; expected {"),
            (" \n", "the file is empty"),
            ("[]", "m.json: expected an object with moves, size, not a list"),
            ("{}", r#"m.json: "moves" is missing"#),
            (r#"{"moves":3}"#, "/moves: expected a list, not 3"),
            (r#"{"handles":[]}"#, r#"unknown key "handles"; known keys: moves, size"#),
            ("{\"moves\":[\n{\"translate\":{\"handles\":[\"a\"],\"vector\":[NaN,0,0]}}]}", "m.json:2: "),
            (r#"{"moves":[{"translate":{"handles":["a"],"vector":[1e999,0,0]}}]}"#, "number out of range"),
            (r#"{"moves":["#, "m.json:1: EOF"),
        ] {
            assert!(faults(text).contains(part), "{text}: {}", faults(text));
        }
        assert!(faults("{\"moves\":[NaN]}").contains("JSON has no NaN"));
    }
}
