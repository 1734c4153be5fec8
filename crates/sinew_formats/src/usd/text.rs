//! USD as text: `.usda`.
//!
//! # Source
//! The grammar of the documentation of OpenUSD, *USDA file format*; read without its library.
//! # Limits
//! What no mesh, skeleton or animation needs is read over.

use super::value::{Layer, Prim, Property, Reference, Value, absolute};
use crate::{
    Fault, Place,
    text::{excerpt, number, without_mark},
};
use std::collections::BTreeMap;

/// Levels of nesting, of objects and of values.
const MAX_DEPTH: usize = 200;
const REMEDY: &str = "correct the line, or export the file again";

/// Read a layer.
///
/// # Errors
/// The first place that is not understood.
pub(super) fn read(bytes: &[u8]) -> Result<Layer, Fault> {
    let mut parser = Parser { bytes: without_mark(bytes), at: 0, line: 1, depth: 0 };
    if !parser.bytes.starts_with(b"#usda") && !parser.bytes.starts_with(b"#sdf") {
        return Err(parser.fault("the file does not start with `#usda 1.0`"));
    }
    let mut layer = Layer::default();
    layer.root.is_defined = true;
    if parser.eats(b'(') {
        layer.fields = parser.metadata("/")?;
    }
    while parser.peek().is_some() {
        let word = parser.word()?;
        if !parser.prim(&word, &mut layer.root, "")? {
            return Err(parser.fault(format!("`{word}` is not `def`, `over` or `class`")));
        }
    }
    Ok(layer)
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn fault(&self, cause: impl Into<String>) -> Fault {
        Fault::new(Place::Line(self.line), cause).with_remedy(REMEDY)
    }

    fn step(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        self.line += usize::from(byte == b'\n');
        Some(byte)
    }

    /// The next byte that is neither space nor comment.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b'#' => {
                    self.at +=
                        memchr::memchr(b'\n', &self.bytes[self.at..]).unwrap_or(self.bytes.len() - self.at)
                }
                byte if byte.is_ascii_whitespace() => _ = self.step(),
                byte => return Some(byte),
            }
        }
    }

    fn eats(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.step();
        }
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.eats(byte) {
            return Ok(());
        }
        let found = excerpt(&self.bytes[self.at..(self.at + 12).min(self.bytes.len())]);
        Err(self.fault(format!("`{}` is missing before `{found}`", byte as char)))
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fault(format!("the nesting is deeper than {MAX_DEPTH} levels")));
        }
        Ok(())
    }

    /// An identifier, with its name space.
    fn word(&mut self) -> Result<String, Fault> {
        self.peek();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:.-!".contains(byte) || *byte >= 0x80;
        let len = self.bytes[self.at..].iter().take_while(|byte| is_part(byte)).count();
        let text = &self.bytes[self.at..self.at + len];
        if text.is_empty() {
            let found = excerpt(&self.bytes[self.at..(self.at + 12).min(self.bytes.len())]);
            return Err(self.fault(format!("a name is missing before `{found}`")));
        }
        self.at += len;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// What stands between two marks, the first of which is next.
    fn quoted(&mut self) -> Result<String, Fault> {
        let Some(open) = self.peek().filter(|byte| b"\"'<@".contains(byte)) else {
            let found = excerpt(&self.bytes[self.at..(self.at + 12).min(self.bytes.len())]);
            return Err(self.fault(format!("a name in quotation marks is missing before `{found}`")));
        };
        let close = if open == b'<' { b'>' } else { open };
        let triple = [open; 3];
        let rest = &self.bytes[self.at..];
        let mark: &[u8] = if open != b'<' && rest.starts_with(&triple) { &triple } else { &[close] };
        self.at += mark.len();
        let mut text = Vec::new();
        loop {
            if self.bytes[self.at..].starts_with(mark) {
                self.at += mark.len();
                return Ok(String::from_utf8_lossy(&text).into_owned());
            }
            match self.step() {
                Some(b'\\') if open != b'<' && open != b'@' => {
                    text.extend(self.step().map(|byte| match byte {
                        b'n' => b'\n',
                        b't' => b'\t',
                        other => other,
                    }))
                }
                Some(byte) => text.push(byte),
                None => return Err(self.fault("a string has no end")),
            }
        }
    }

    /// An object and everything below it, if the word begins one.
    fn prim(&mut self, word: &str, parent: &mut Prim, path: &str) -> Result<bool, Fault> {
        if !matches!(word, "def" | "over" | "class") {
            return Ok(false);
        }
        self.deeper()?;
        let type_name = if self.peek() == Some(b'"') { String::new() } else { self.word()? };
        let name = self.quoted()?;
        let path = format!("{path}/{name}");
        let prim = parent.child_mut(&name);
        if !type_name.is_empty() {
            prim.type_name = type_name;
        }
        prim.is_defined |= word != "over";
        prim.is_class |= word == "class";
        if self.eats(b'(') {
            let fields = self.metadata(&path)?;
            prim.set_fields(fields);
        }
        self.expect(b'{')?;
        self.body(prim, &path)?;
        self.depth -= 1;
        Ok(true)
    }

    /// Up to the closing brace.
    fn body(&mut self, prim: &mut Prim, path: &str) -> Result<(), Fault> {
        loop {
            if self.eats(b'}') {
                return Ok(());
            }
            if self.eats(b';') {
                continue;
            }
            let word = self.word()?;
            if word == "variantSet" {
                self.variants(prim, path)?;
            } else if !self.prim(&word, prim, path)? {
                self.property(word, prim, path)?;
            }
        }
    }

    fn variants(&mut self, prim: &mut Prim, path: &str) -> Result<(), Fault> {
        let set = self.quoted()?;
        self.expect(b'=')?;
        self.expect(b'{')?;
        while !self.eats(b'}') {
            self.deeper()?;
            let name = self.quoted()?;
            let mut variant = Prim::default();
            if self.eats(b'(') {
                let fields = self.metadata(path)?;
                variant.set_fields(fields);
            }
            self.expect(b'{')?;
            self.body(&mut variant, path)?;
            self.depth -= 1;
            prim.variants.entry(set.clone()).or_default().insert(name, variant);
        }
        Ok(())
    }

    /// An attribute or a relationship whose first word was read.
    fn property(&mut self, first: String, prim: &mut Prim, path: &str) -> Result<(), Fault> {
        let mut word = first;
        let mut is_deleted = false;
        while matches!(
            word.as_str(),
            "add" | "append" | "prepend" | "delete" | "reorder" | "custom" | "uniform" | "varying" | "config"
        ) {
            is_deleted |= matches!(word.as_str(), "delete" | "reorder");
            word = self.word()?;
        }
        if matches!(word.as_str(), "nameChildren" | "properties") && self.peek() == Some(b'=') {
            self.expect(b'=')?;
            self.value(path)?;
            return Ok(());
        }
        let is_relationship = word == "rel";
        if self.eats(b'[') {
            self.expect(b']')?;
        }
        let full = self.word()?;
        let (name, part) = full.split_once('.').unwrap_or((&full, ""));
        let value = if self.eats(b'=') { Some(self.value(path)?) } else { None };
        let fields = if self.eats(b'(') { self.metadata(path)? } else { BTreeMap::new() };
        if is_deleted {
            return Ok(());
        }
        let property = prim.properties.entry(name.to_owned()).or_default();
        property.set_fields(&fields);
        match (part, value) {
            ("timeSamples", Some(Value::Samples(samples))) => property.samples = samples,
            ("", Some(value)) if is_relationship => property.targets = Some(paths_of(&value, path)),
            ("", value) if !is_relationship => property.value = value.or(property.value.take()),
            _ => {}
        }
        Ok(())
    }

    /// Names and values up to the closing parenthesis.
    fn metadata(&mut self, path: &str) -> Result<BTreeMap<String, Value>, Fault> {
        let mut fields = BTreeMap::new();
        loop {
            if self.eats(b')') {
                return Ok(fields);
            }
            if self.eats(b';') || self.eats(b',') {
                continue;
            }
            if matches!(self.peek(), Some(b'"' | b'\'')) {
                self.quoted()?;
                continue;
            }
            let mut word = self.word()?;
            let is_deleted = matches!(word.as_str(), "delete" | "reorder");
            if matches!(word.as_str(), "add" | "append" | "prepend" | "delete" | "reorder") {
                word = self.word()?;
            }
            self.expect(b'=')?;
            let value = self.value(path)?;
            match fields.get_mut(&word) {
                _ if is_deleted => {}
                Some(Value::References(list)) => {
                    if let Value::References(more) = value {
                        list.extend(more);
                    }
                }
                _ => _ = fields.insert(word, value),
            }
        }
    }

    fn value(&mut self, path: &str) -> Result<Value, Fault> {
        self.deeper()?;
        let value = match self.peek() {
            Some(b'(') => {
                let mut values = Vec::new();
                self.tuple(&mut values)?;
                Value::Numbers { width: values.len(), values }
            }
            Some(b'[') => self.list(path)?,
            Some(b'{') => self.dictionary(path)?,
            Some(b'"' | b'\'') => Value::Text(self.quoted()?),
            Some(b'@' | b'<') => Value::References(vec![self.reference(path)?]),
            Some(byte) if byte.is_ascii_digit() || b"-+.".contains(&byte) => Value::Number(self.number()?),
            _ => {
                let word = self.word()?;
                match (number(word.as_bytes()), word.as_str()) {
                    (Some(number), _) => Value::Number(number),
                    (None, "true") => Value::Number(1.0),
                    (None, "false") => Value::Number(0.0),
                    (None, "None") => Value::Other,
                    _ => Value::Text(word),
                }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Numbers of a tuple, and of tuples within it.
    fn tuple(&mut self, out: &mut Vec<f64>) -> Result<(), Fault> {
        self.deeper()?;
        self.expect(b'(')?;
        while !self.eats(b')') {
            match self.peek() {
                Some(b'(') => self.tuple(out)?,
                Some(b',') => _ = self.step(),
                _ => out.push(self.number()?),
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn number(&mut self) -> Result<f64, Fault> {
        self.peek();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let len = self.bytes[self.at..].iter().take_while(|byte| is_part(byte)).count();
        let text = &self.bytes[self.at..self.at + len];
        let value = match text {
            b"true" => Some(1.0),
            b"false" => Some(0.0),
            text => number(text),
        };
        let value = value.ok_or_else(|| {
            self.fault(format!(
                "`{}` is not a number",
                excerpt(&self.bytes[self.at..(self.at + len.max(1)).min(self.bytes.len())])
            ))
        })?;
        self.at += len;
        Ok(value)
    }

    fn list(&mut self, path: &str) -> Result<Value, Fault> {
        self.expect(b'[')?;
        let (mut values, mut width, mut texts, mut references) = (Vec::new(), 1, Vec::new(), Vec::new());
        let mut is_other = false;
        while !self.eats(b']') {
            match self.peek() {
                Some(b',') => _ = self.step(),
                Some(b'(') => {
                    let start = values.len();
                    self.tuple(&mut values)?;
                    if start > 0 && values.len() - start != width {
                        return Err(self.fault(format!(
                            "a tuple has {} numbers instead of {width}",
                            values.len() - start
                        )));
                    }
                    width = values.len() - start;
                }
                Some(b'"' | b'\'') => texts.push(self.quoted()?),
                Some(b'@' | b'<') => references.push(self.reference(path)?),
                Some(b'[' | b'{') => {
                    is_other = true;
                    self.value(path)?;
                }
                None => return Err(self.fault("a list has no end")),
                _ => values.push(self.number()?),
            }
        }
        Ok(match () {
            () if is_other => Value::Other,
            () if !references.is_empty() => Value::References(references),
            () if !texts.is_empty() => Value::Texts(texts),
            () => Value::Numbers { values, width: width.max(1) },
        })
    }

    fn reference(&mut self, path: &str) -> Result<Reference, Fault> {
        let asset = if self.peek() == Some(b'@') { self.quoted()? } else { String::new() };
        let target = if self.peek() == Some(b'<') { self.quoted()? } else { String::new() };
        // Offsets of layers in time are not understood.
        if self.peek() == Some(b'(') {
            self.expect(b'(')?;
            self.metadata(path)?;
        }
        Ok(Reference { asset, path: absolute(&target, path) })
    }

    /// A dictionary, or keys over time.
    fn dictionary(&mut self, path: &str) -> Result<Value, Fault> {
        self.expect(b'{')?;
        let (mut samples, mut fields) = (Vec::new(), BTreeMap::new());
        while !self.eats(b'}') {
            match self.peek() {
                Some(b',' | b';') => _ = self.step(),
                Some(byte) if byte.is_ascii_digit() || b"-+.".contains(&byte) => {
                    let time = self.number()?;
                    self.expect(b':')?;
                    let value = self.value(path)?;
                    if value != Value::Other {
                        samples.push((time, value));
                    }
                }
                _ => {
                    self.word()?;
                    if self.eats(b'[') {
                        self.expect(b']')?;
                    }
                    let name =
                        if matches!(self.peek(), Some(b'"' | b'\'')) { self.quoted()? } else { self.word()? };
                    self.expect(b'=')?;
                    fields.insert(name, self.value(path)?);
                }
            }
        }
        if samples.is_empty() {
            return Ok(Value::Dictionary(fields));
        }
        samples.retain(|(time, _)| time.is_finite());
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.dedup_by(|b, a| a.0 == b.0);
        Ok(Value::Samples(samples))
    }
}

/// Paths of a relationship.
fn paths_of(value: &Value, base: &str) -> Vec<String> {
    match value {
        Value::References(list) => list.iter().map(|reference| absolute(&reference.path, base)).collect(),
        _ => Vec::new(),
    }
}

impl Prim {
    /// Take over what is said of an object.
    pub(super) fn set_fields(&mut self, fields: BTreeMap<String, Value>) {
        for (name, value) in fields {
            match (name.as_str(), value) {
                (
                    "references" | "payload" | "inherits" | "inheritPaths" | "specializes",
                    Value::References(list),
                ) => {
                    self.arcs.extend(list);
                }
                ("active", value) => self.is_inactive = value.number() == Some(0.0),
                ("variants" | "variantSelection", Value::Dictionary(chosen)) => {
                    let texts =
                        chosen.into_iter().filter_map(|(set, value)| Some((set, value.text()?.to_owned())));
                    self.chosen.extend(texts);
                }
                _ => {}
            }
        }
    }
}

impl Property {
    /// Take over what is said of an attribute.
    pub(super) fn set_fields(&mut self, fields: &BTreeMap<String, Value>) {
        if let Some(text) = fields.get("interpolation").and_then(Value::text) {
            self.interpolation = text.to_owned();
        }
        if let Some(size) = fields.get("elementSize").and_then(Value::number) {
            self.element_size = size.max(0.0) as usize;
        }
        self.weight = fields.get("weight").and_then(Value::number).or(self.weight);
    }
}
