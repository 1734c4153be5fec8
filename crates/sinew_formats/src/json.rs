//! Reading Sinew's own JSON files.
//!
//! All of them are read in the same way: every fault is reported with its JSON path and what to do about it, and keys
//! that are not known are refused with a suggestion, because a misspelt option that is silently ignored costs more time
//! than an error. A reader works on [`Node`]s, whose methods return `None` after recording a fault, so that it can
//! continue and find the next one.

use crate::{
    Fault, FormatError, Place,
    text::{Faults, excerpt, file_error, without_mark},
};
use glam::DVec3;
use serde_json::{Map, Value};
use sinew_geom::suggest;
use std::{cell::RefCell, ops::RangeInclusive};

/// What happens to keys that a reader does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKeys {
    /// They are faults: in a file that a user writes they are mistakes.
    Refuse,
    /// They are skipped: in a part of a project, which other programs and later versions extend.
    Ignore,
}

/// The value of a key that is only named in a fault.
static NULL: Value = Value::Null;

/// What all nodes of a file share.
#[derive(Debug)]
struct Context {
    faults: RefCell<Faults>,
    unknown_keys: UnknownKeys,
}

/// Read a JSON file. `shape` is an example of what it should look like, `remedy` is appended to faults without
/// their own.
///
/// # Errors
/// All faults.
pub fn read_json<T>(
    bytes: &[u8],
    name: &str,
    (shape, remedy): (&str, &str),
    read: impl FnOnce(&Node<'_>) -> Option<T>,
) -> Result<T, FormatError> {
    let value = parse_json(bytes, name, shape)?;
    read_value(&value, name, (shape, remedy), UnknownKeys::Refuse, read)
}

/// As [`read_json`], of a value that is parsed already.
///
/// # Errors
/// All faults.
pub fn read_value<T>(
    value: &Value,
    name: &str,
    (shape, remedy): (&str, &str),
    unknown_keys: UnknownKeys,
    read: impl FnOnce(&Node<'_>) -> Option<T>,
) -> Result<T, FormatError> {
    let context = Context { faults: RefCell::default(), unknown_keys };
    let result = read(&Node { value, path: String::new(), context: &context });
    context.faults.into_inner().finish_with(name, remedy)?;
    result.ok_or_else(|| file_error(name, "the content is incomplete", shape))
}

/// Parse JSON.
///
/// # Errors
/// An empty file, or the line of the first syntax error.
pub fn parse_json(bytes: &[u8], name: &str, shape: &str) -> Result<Value, FormatError> {
    let text = without_mark(bytes);
    if text.trim_ascii().is_empty() {
        return Err(file_error(name, "the file is empty", shape));
    }
    serde_json::from_slice(text).map_err(|error| {
        let fault = Fault::new(Place::Line(error.line()), error.to_string());
        let remedy = format!("JSON has no NaN, no infinity and no comments; {shape}");
        FormatError::faults(name, vec![fault.with_remedy(remedy)])
    })
}

/// A value in a JSON file, with its path.
#[derive(Debug, Clone)]
pub struct Node<'a> {
    value: &'a Value,
    path: String,
    context: &'a Context,
}

impl<'a> Node<'a> {
    fn child(&self, key: impl std::fmt::Display, value: &'a Value) -> Self {
        Self { value, path: format!("{}/{key}", self.path), context: self.context }
    }

    fn place(&self) -> Place {
        if self.path.is_empty() { Place::Whole } else { Place::Json(self.path.clone()) }
    }

    /// Record a fault here. Always `None`, so that a reader can return it.
    pub fn fault<T>(&self, cause: impl Into<String>) -> Option<T> {
        self.context.faults.borrow_mut().push(Fault::new(self.place(), cause));
        None
    }

    /// Record a fault here, with what to do about it.
    pub fn fault_with<T>(&self, cause: impl Into<String>, remedy: impl Into<String>) -> Option<T> {
        let fault = Fault::new(self.place(), cause).with_remedy(remedy);
        self.context.faults.borrow_mut().push(fault);
        None
    }

    /// Record a fault at a path below this value.
    pub fn fault_below(&self, path: &str, cause: impl Into<String>) {
        let _: Option<()> = self.child(path, &NULL).fault(cause);
    }

    /// The value, if it is of the expected kind.
    fn expect<T>(&self, found: Option<T>, expected: &str) -> Option<T> {
        if found.is_none() {
            return self.fault(format!("expected {expected}, not {}", self.description()));
        }
        found
    }

    /// The value as it is shown in messages.
    pub fn description(&self) -> String {
        match self.value {
            Value::Null => "null".into(),
            Value::Array(_) => "a list".into(),
            Value::Object(_) => "an object".into(),
            Value::String(text) => format!("{:?}", excerpt(text.as_bytes())),
            plain => plain.to_string(),
        }
    }

    /// Number of entries of a list; 0 of anything else.
    pub fn n_entries(&self) -> usize {
        self.value.as_array().map_or(0, Vec::len)
    }

    /// A text; `what` says which ("a name").
    pub fn text(&self, what: &str) -> Option<String> {
        self.expect(self.value.as_str().map(str::to_owned), what)
    }

    /// Whether it is this text.
    pub fn is_text(&self, text: &str) -> bool {
        self.value == text
    }

    /// True or false.
    pub fn boolean(&self) -> Option<bool> {
        self.expect(self.value.as_bool(), "true or false")
    }

    /// A number.
    pub fn number(&self) -> Option<f64> {
        self.expect(self.value.as_f64(), "a number")
    }

    /// A number within a range; `what` says which numbers are meant.
    pub fn number_in(&self, range: RangeInclusive<f64>, what: &str) -> Option<f64> {
        self.expect(self.value.as_f64().filter(|x| range.contains(x)), what)
    }

    /// A whole number that is not negative.
    pub fn count(&self) -> Option<u64> {
        self.expect(self.value.as_u64(), "a whole number that is not negative")
    }

    /// Exactly `N` numbers that stay finite as `f32`.
    pub fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let items = self.expect(self.value.as_array(), &format!("{N} numbers"))?;
        if items.len() != N {
            return self.fault(format!("expected {N} numbers, not {}", items.len()));
        }
        let finite = |item: &Value| item.as_f64().filter(|x| (*x as f32).is_finite());
        self.values("a number of reasonable size", finite)?.try_into().ok()
    }

    /// Three numbers.
    pub fn vector(&self) -> Option<DVec3> {
        self.numbers().map(DVec3::from_array)
    }

    /// A long list of plain values; `what` says what each is.
    pub fn values<T>(&self, what: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
        let items = self.expect(self.value.as_array(), "a list")?;
        let mut all = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match read(item) {
                Some(value) => all.push(value),
                None => _ = self.child(index, item).expect(None::<T>, what),
            }
        }
        (all.len() == items.len()).then_some(all)
    }

    /// Every entry of a list, read by `read`; `None` if one of them has a fault.
    pub fn each<T>(&self, mut read: impl FnMut(&Node<'a>) -> Option<T>) -> Option<Vec<T>> {
        let items = self.expect(self.value.as_array(), "a list")?;
        let mut all = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if self.context.faults.borrow().is_full() {
                return None;
            }
            all.extend(read(&self.child(index, item)));
        }
        (all.len() == items.len()).then_some(all)
    }

    /// A list of names; `what` says of what ("the name of a handle").
    pub fn names(&self, what: &str) -> Option<Vec<String>> {
        self.each(|item| item.text(what))
    }

    /// Every entry of an object whose keys are the user's, in order; `None` if one of them has a fault.
    pub fn each_named<T>(&self, mut read: impl FnMut(&str, &Node<'a>) -> Option<T>) -> Option<Vec<T>> {
        let map = self.expect(self.value.as_object(), "an object")?;
        let mut all = Vec::with_capacity(map.len());
        for (key, value) in map {
            if self.context.faults.borrow().is_full() {
                return None;
            }
            all.extend(read(key, &self.child(excerpt(key.as_bytes()), value)));
        }
        (all.len() == map.len()).then_some(all)
    }

    /// The fields of an object; keys that are not known are faults. `shape` is an example of such an object.
    pub fn fields(&self, known: &[&str], shape: &'a str) -> Option<Fields<'a>> {
        self.fields_if(known, |_| false, shape)
    }

    /// As [`Node::fields`], also with keys that `allowed` accepts.
    pub fn fields_if(
        &self,
        known: &[&str],
        allowed: impl Fn(&str) -> bool,
        shape: &'a str,
    ) -> Option<Fields<'a>> {
        let list = known.join(", ");
        let Some(map) = self.value.as_object() else {
            let cause = format!("expected an object with {list}, not {}", self.description());
            return self.fault_with(cause, shape);
        };
        // `$comment` and `$schema` are for people and editors.
        let is_unknown =
            |key: &&String| !known.contains(&key.as_str()) && !key.starts_with('$') && !allowed(key);
        if self.context.unknown_keys == UnknownKeys::Refuse {
            for key in map.keys().filter(is_unknown) {
                let key = excerpt(key.as_bytes());
                let meant = match suggest(&key, known.iter().copied()) {
                    Some(meant) => format!("did you mean {meant:?}? Known keys: {list}"),
                    None => format!("known keys: {list}"),
                };
                let _: Option<()> = self.child(&key, &NULL).fault_with(format!("unknown key {key:?}"), meant);
            }
        }
        Some(Fields { map, node: self.clone(), shape })
    }

    /// The only key of an object that has exactly one, with its value: how alternatives are written.
    pub fn variant(&self) -> Option<(&'a str, Node<'a>)> {
        let map = self.value.as_object().filter(|map| map.len() == 1)?;
        let (key, value) = map.iter().next()?;
        Some((key, self.child(excerpt(key.as_bytes()), value)))
    }

    /// Number of keys of an object; `None` of anything else.
    pub fn n_keys(&self) -> Option<usize> {
        self.value.as_object().map(Map::len)
    }
}

/// The fields of one JSON object.
#[derive(Debug)]
pub struct Fields<'a> {
    map: &'a Map<String, Value>,
    node: Node<'a>,
    shape: &'a str,
}

impl<'a> Fields<'a> {
    /// The object itself.
    pub fn node(&self) -> &Node<'a> {
        &self.node
    }

    /// All keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        self.map.keys().map(String::as_str)
    }

    /// The value of a key, if it is there and not null.
    pub fn find(&self, key: &str) -> Option<Node<'a>> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        Some(self.node.child(key, value))
    }

    /// The value of a key that must be there.
    pub fn get(&self, key: &str) -> Option<Node<'a>> {
        match self.map.get(key) {
            Some(value) => Some(self.node.child(key, value)),
            None => self.node.fault_with(format!("{key:?} is missing"), self.shape),
        }
    }

    /// Read a value that must be there.
    pub fn required<T>(&self, key: &str, read: impl FnOnce(&Node<'a>) -> Option<T>) -> Option<T> {
        read(&self.get(key)?)
    }

    /// Read a value, or take the default if there is none. `None` only after a fault.
    pub fn or<T>(&self, key: &str, default: T, read: impl FnOnce(&Node<'a>) -> Option<T>) -> Option<T> {
        self.find(key).map_or(Some(default), |node| read(&node))
    }

    /// Read a value that may be missing. The outer `None` means a fault.
    pub fn optional<T>(&self, key: &str, read: impl FnOnce(&Node<'a>) -> Option<T>) -> Option<Option<T>> {
        self.find(key).map_or(Some(None), |node| read(&node).map(Some))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(f64, Vec<String>), String> {
        read_json(text.as_bytes(), "a.json", ("expected {\"size\":1}", "correct it there"), |root| {
            let fields = root.fields(&["size", "names"], "expected {\"size\":1}")?;
            let size = fields.required("size", Node::number);
            let names = fields.or("names", Vec::new(), |list| list.names("a name"));
            Some((size?, names?))
        })
        .map_err(|error| error.to_string())
    }

    #[test]
    fn values_and_defaults() {
        assert_eq!(read(r#"{"size":2,"names":["a"]}"#).unwrap(), (2.0, vec!["a".to_owned()]));
        assert_eq!(read("\u{feff}{\"size\":2,\"names\":null}").unwrap(), (2.0, vec![]));
        assert_eq!(read(r#"{"$comment":"two","size":2}"#).unwrap(), (2.0, vec![]));
    }

    #[test]
    fn every_fault_is_reported_with_its_path_and_unknown_keys_with_a_suggestion() {
        let message = read(r#"{"sise":1,"names":["a",2,null]}"#).unwrap_err();
        for part in [
            r#"a.json:/sise: unknown key "sise"; did you mean "size"? Known keys: size, names"#,
            r#"a.json: "size" is missing; expected {"size":1}"#,
            "a.json:/names/1: expected a name, not 2; correct it there",
            "a.json:/names/2: expected a name, not null",
        ] {
            assert!(message.contains(part), "{part}\nis not in\n{message}");
        }
        assert!(read("").unwrap_err().contains("the file is empty"));
        assert!(read("{\"size\":\n}").unwrap_err().contains("a.json:2: "));
        assert!(read("[]").unwrap_err().contains("expected an object with size, names, not a list"));
    }
}
