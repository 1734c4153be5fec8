//! `moves.json`: a pose as the moves that made it.

use crate::{
    Fault, FormatError, Place,
    text::{Faults, shown, whole, without_mark},
};
use glam::DVec3;
use serde_json::{Map, Value, json};
use sinew_geom::Move;

const SHAPE: &str =
    r#"expected {"moves":[{"rotate":{"main":"arm","handles":["arm","hand"],"axis":[0,0,1],"degrees":90}}]}"#;
const ROTATE: &str =
    r#"write {"rotate":{"main":"arm","handles":["arm","hand"],"axis":[0,0,1],"degrees":90}}"#;
const TRANSLATE: &str = r#"write {"translate":{"handles":["hand"],"vector":[0,0.1,0]}}"#;
const TWIST: &str = r#"write {"twist":{"handles":["hand"],"axis":[1,0,0],"degrees":90,"over":["forearm"]}}"#;
const KINDS: [&str; 3] = ["rotate", "translate", "twist"];
/// Diagonals of models in metres, from molecules to worlds: beyond, translations would leave the range of numbers.
const SIZES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;
/// A hundred turns: far beyond what a surface can wind up, and the end of what is counted turn by turn.
const MAX_DEGREES: f64 = 36_000.0;

/// Moves as they were recorded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecordedMoves {
    /// The moves, in order.
    pub moves: Vec<Move>,
    /// Diagonal, in metres, of the model they were recorded on. If it is known, translations are meant relative to
    /// it; if not, they are as long as they say on any model.
    pub size: Option<f64>,
}

impl RecordedMoves {
    /// The moves for a model of this diagonal: translations are scaled as the model is to the one they were
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
/// exist is not known here.
///
/// # Errors
/// All faults with their JSON paths: kinds and keys that are unknown or missing, numbers beyond reason, axes without
/// direction, a size that is none.
pub fn read_recorded_moves(bytes: &[u8], name: &str) -> Result<RecordedMoves, FormatError> {
    let text = without_mark(bytes);
    if text.trim_ascii().is_empty() {
        return Err(whole(name, "the file is empty", SHAPE));
    }
    let file: Value = serde_json::from_slice(text).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        let remedy = format!("JSON has no NaN, no infinity and no comments; {SHAPE}");
        FormatError::faults(name, vec![fault.with_remedy(remedy)])
    })?;
    let mut faults = Faults::default();
    let moves = read_file(&file, &mut faults);
    faults.finish_with(name, "correct it there")?;
    Ok(moves)
}

/// Read moves as they were written, for the model they were recorded on: [`read_recorded_moves`] without the size.
///
/// # Errors
/// As [`read_recorded_moves`].
pub fn read_moves(bytes: &[u8], name: &str) -> Result<Vec<Move>, FormatError> {
    read_recorded_moves(bytes, name).map(|recorded| recorded.moves)
}

fn read_file(file: &Value, faults: &mut Faults) -> RecordedMoves {
    let Some(root) = Fields::new(file, String::new(), (&["moves", "size"], SHAPE), faults) else {
        return RecordedMoves::default();
    };
    let size = root.size(faults);
    let Some(entries) = root.array("moves", true, faults) else { return RecordedMoves::default() };
    let mut moves = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        if faults.is_full() {
            break;
        }
        moves.extend(read_move(entry, format!("/moves/{index}"), faults));
    }
    RecordedMoves { moves, size }
}

/// One move; `None` if it has a fault.
fn read_move(entry: &Value, path: String, faults: &mut Faults) -> Option<Move> {
    let fields = entry.as_object();
    let Some((kind, body)) =
        fields.filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next())
    else {
        let cause = match fields {
            Some(fields) => {
                format!("a move is one of {}, but here are {} keys", listed(&KINDS), fields.len())
            }
            None => format!("a move is an object, not {}", described(entry)),
        };
        faults.push(Fault::json(path, cause).with_remedy(r#"write each as {"rotate":{…}} of its own"#));
        return None;
    };
    let at = format!("{path}/{kind}");
    match kind.as_str() {
        "rotate" => {
            let fields = Fields::new(body, at, (&["main", "handles", "axis", "degrees"], ROTATE), faults)?;
            let main = fields.string("main", faults);
            let handles = fields.names("handles", Need::Optional, faults);
            let (axis, radians) = (fields.axis(faults), fields.radians(faults));
            Some(Move::Rotate { main: main?, handles: handles?, axis: axis?, radians: radians? })
        }
        "translate" => {
            let fields = Fields::new(body, at, (&["handles", "vector"], TRANSLATE), faults)?;
            let handles = fields.names("handles", Need::Some, faults);
            let vector = fields.vector("vector", faults);
            Some(Move::Translate { handles: handles?, vector: vector? })
        }
        "twist" => {
            let fields = Fields::new(body, at, (&["handles", "axis", "degrees", "over"], TWIST), faults)?;
            let handles = fields.names("handles", Need::Some, faults);
            let over = fields.names("over", Need::Optional, faults);
            let (axis, radians) = (fields.axis(faults), fields.radians(faults));
            Some(Move::Twist { handles: handles?, axis: axis?, radians: radians?, over: over? })
        }
        other => {
            let cause = format!("{:?} is no kind of move", shown(other.as_bytes()));
            faults.push(Fault::json(path, cause).with_remedy(format!("known are {}", listed(&KINDS))));
            None
        }
    }
}

/// Whether a list may be absent or empty.
#[derive(Clone, Copy, PartialEq)]
enum Need {
    Some,
    Optional,
}

/// The fields of one JSON object, with its path for faults.
struct Fields<'a> {
    map: &'a Map<String, Value>,
    path: String,
    /// What such an object should look like.
    shape: &'static str,
}

impl<'a> Fields<'a> {
    /// The fields of an object; those that are not known are faults.
    fn new(
        value: &'a Value,
        path: String,
        (known, shape): (&[&str], &'static str),
        faults: &mut Faults,
    ) -> Option<Self> {
        let Some(map) = value.as_object() else {
            let cause = format!("expected an object with {}, not {}", listed(known), described(value));
            let place = if path.is_empty() { Place::Whole } else { Place::Json(path) };
            faults.push(Fault::new(place, cause).with_remedy(shape));
            return None;
        };
        for key in map.keys().filter(|key| !known.contains(&key.as_str())) {
            let key = shown(key.as_bytes());
            let fault = Fault::json(format!("{path}/{key}"), format!("{key:?} means nothing here"));
            faults.push(fault.with_remedy(format!("known are {}", listed(known))));
        }
        Some(Self { map, path, shape })
    }

    fn fault(&self, key: &str, cause: String, faults: &mut Faults) {
        faults.push(Fault::json(format!("{}/{key}", self.path), cause));
    }

    /// The value of a key that must be there.
    fn get(&self, key: &str, faults: &mut Faults) -> Option<&'a Value> {
        let value = self.map.get(key);
        if value.is_none() {
            let place = if self.path.is_empty() { Place::Whole } else { Place::Json(self.path.clone()) };
            faults.push(Fault::new(place, format!("{key:?} is missing")).with_remedy(self.shape));
        }
        value
    }

    fn array(&self, key: &str, required: bool, faults: &mut Faults) -> Option<&'a [Value]> {
        let value = if required { self.get(key, faults)? } else { self.map.get(key).unwrap_or(&NOTHING) };
        match value {
            Value::Array(items) => Some(items),
            Value::Null if !required => Some(&[]),
            other => {
                self.fault(key, format!("expected a list, not {}", described(other)), faults);
                None
            }
        }
    }

    fn string(&self, key: &str, faults: &mut Faults) -> Option<String> {
        let value = self.get(key, faults)?;
        if value.as_str().is_none() {
            self.fault(key, format!("expected the name of a handle, not {}", described(value)), faults);
        }
        value.as_str().map(str::to_owned)
    }

    /// Names of handles.
    fn names(&self, key: &str, need: Need, faults: &mut Faults) -> Option<Vec<String>> {
        let items = self.array(key, need == Need::Some, faults)?;
        if items.is_empty() && need == Need::Some {
            self.fault(key, "no handle is named, so nothing would move".into(), faults);
        }
        let mut names = Vec::new();
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some(name) => names.push(name.to_owned()),
                None => {
                    let cause = format!("expected the name of a handle, not {}", described(item));
                    self.fault(&format!("{key}/{index}"), cause, faults);
                }
            }
        }
        (names.len() == items.len()).then_some(names)
    }

    /// Three numbers that stay finite as `f32`.
    fn vector(&self, key: &str, faults: &mut Faults) -> Option<DVec3> {
        let items = self.array(key, true, faults)?;
        if items.len() != 3 {
            self.fault(key, format!("expected three numbers, not {}", items.len()), faults);
            return None;
        }
        let mut vector = [0.0; 3];
        let mut is_sound = true;
        for (index, item) in items.iter().enumerate() {
            match item.as_f64().filter(|x| (*x as f32).is_finite()) {
                Some(x) => vector[index] = x,
                None => {
                    let cause = format!("expected a number of reasonable size, not {}", described(item));
                    self.fault(&format!("{key}/{index}"), cause, faults);
                    is_sound = false;
                }
            }
        }
        is_sound.then(|| DVec3::from_array(vector))
    }

    fn axis(&self, faults: &mut Faults) -> Option<DVec3> {
        let axis = self.vector("axis", faults)?;
        if axis.try_normalize().is_none() {
            self.fault("axis", "the axis has no direction".into(), faults);
            return None;
        }
        Some(axis)
    }

    /// A length that translations can be divided by, if there is one.
    fn size(&self, faults: &mut Faults) -> Option<f64> {
        let value = self.map.get("size").filter(|value| !value.is_null())?;
        let size = value.as_f64().filter(|size| SIZES.contains(size));
        if size.is_none() {
            let cause = format!("expected the model's diagonal in metres, not {}", described(value));
            self.fault("size", cause, faults);
        }
        size
    }

    fn radians(&self, faults: &mut Faults) -> Option<f64> {
        let value = self.get("degrees", faults)?;
        // The last turn may have been rounded up when radians were written as degrees.
        let degrees = value.as_f64().filter(|degrees| degrees.abs() <= MAX_DEGREES * (1.0 + 1e-12));
        if degrees.is_none() {
            let cause = format!(
                "expected a number within ±{MAX_DEGREES} (a hundred turns), not {}",
                described(value)
            );
            self.fault("degrees", cause, faults);
        }
        degrees.map(f64::to_radians)
    }
}

const NOTHING: Value = Value::Null;

fn listed(names: &[&str]) -> String {
    names.join(", ")
}

/// A value as it is shown in messages.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
        Value::String(text) => format!("{:?}", shown(text.as_bytes())),
        plain => plain.to_string(),
    }
}

/// Text of a `moves.json` whose translations are as long as they say on any model.
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
        // Files from before sizes mean what they say, on any model.
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
            r#"m.json:/moves/0/rotate/angle: "angle" means nothing here; known are main, handles, axis, degrees"#,
            r#"/moves/0/rotate: "main" is missing; write {"rotate":{"main""#,
            "/moves/0/rotate/handles/0: expected the name of a handle, not 1",
            "/moves/0/rotate/axis: the axis has no direction",
            r#"/moves/0/rotate/degrees: expected a number within ±36000 (a hundred turns), not "x""#,
            "/moves/1/translate/handles: no handle is named",
            "/moves/1/translate/vector: expected three numbers, not 2",
            r#"/moves/2: "bend" is no kind of move; known are rotate, translate, twist"#,
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
            (r#"{"handles":[]}"#, r#""handles" means nothing here; known are moves, size"#),
            ("{\"moves\":[\n{\"translate\":{\"handles\":[\"a\"],\"vector\":[NaN,0,0]}}]}", "m.json:2: "),
            (r#"{"moves":[{"translate":{"handles":["a"],"vector":[1e999,0,0]}}]}"#, "number out of range"),
            (r#"{"moves":["#, "m.json:1: EOF"),
        ] {
            assert!(faults(text).contains(part), "{text}: {}", faults(text));
        }
        assert!(faults("{\"moves\":[NaN]}").contains("JSON has no NaN"));
    }
}
