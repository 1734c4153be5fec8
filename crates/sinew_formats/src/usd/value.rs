//! What USD layers hold, whichever file it was read from.

use std::collections::BTreeMap;

/// A value, as far as it is understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// A number, also of a truth value.
    Number(f64),
    /// A string, token, asset or path.
    Text(String),
    /// Numbers, so many to an element. Quaternions begin with the real part.
    Numbers { values: Vec<f64>, width: usize },
    /// Strings or tokens.
    Texts(Vec<String>),
    /// Names and values.
    Dictionary(BTreeMap<String, Value>),
    /// References or payloads.
    References(Vec<Reference>),
    /// Keys over time, rising.
    Samples(Vec<(f64, Value)>),
    /// Something else, or nothing.
    Other,
}

impl Value {
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(value) => Some(*value),
            Self::Numbers { values, .. } if values.len() == 1 => Some(values[0]),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn texts(&self) -> &[String] {
        match self {
            Self::Texts(texts) => texts,
            _ => &[],
        }
    }

    /// Numbers, one of them if it is a single one.
    pub fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers { values, .. } => values,
            Self::Number(value) => std::slice::from_ref(value),
            _ => &[],
        }
    }
}

/// A prim elsewhere: of another file, or of this one.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Reference {
    pub asset: String,
    pub path: String,
}

/// An attribute or a relationship.
#[derive(Debug, Clone, Default)]
pub(super) struct Property {
    pub value: Option<Value>,
    pub samples: Vec<(f64, Value)>,
    /// Absolute paths that a relationship names; `None` if it is none.
    pub targets: Option<Vec<String>>,
    pub interpolation: String,
    pub element_size: usize,
    /// Weight of a blend shape at which an in-between is reached.
    pub weight: Option<f64>,
}

impl Property {
    /// The value at a time: the first before the first key, then linear where both keys have as many numbers.
    pub fn at(&self, time: f64) -> Option<Value> {
        if self.samples.is_empty() {
            return self.value.clone();
        }
        let after = self.samples.partition_point(|(key, _)| *key <= time);
        let before = after.saturating_sub(1);
        let (start, first) = &self.samples[before];
        let Some((end, second)) = self.samples.get(after).filter(|_| after > before) else {
            return Some(first.clone());
        };
        let share = (time - start) / (end - start);
        Some(match (first, second) {
            (Value::Number(a), Value::Number(b)) => Value::Number(a + (b - a) * share),
            (Value::Numbers { values: a, width }, Value::Numbers { values: b, .. }) if a.len() == b.len() => {
                let values = a.iter().zip(b).map(|(a, b)| a + (b - a) * share).collect();
                Value::Numbers { values, width: *width }
            }
            _ => first.clone(),
        })
    }

    /// Its only value, or that of its first key.
    pub fn first(&self) -> Option<&Value> {
        self.value.as_ref().or_else(|| self.samples.first().map(|(_, value)| value))
    }
}

/// An object of a layer.
#[derive(Debug, Clone, Default)]
pub(super) struct Prim {
    pub name: String,
    /// Where it stands, in a composed tree.
    pub path: String,
    pub type_name: String,
    /// Whether it is defined, and not only something said over another.
    pub is_defined: bool,
    /// Whether it is only there to be inherited.
    pub is_class: bool,
    pub is_inactive: bool,
    /// References, payloads, inherited classes.
    pub arcs: Vec<Reference>,
    pub properties: BTreeMap<String, Property>,
    pub children: Vec<Prim>,
    /// By set and by variant.
    pub variants: BTreeMap<String, BTreeMap<String, Prim>>,
    /// The chosen variant of each set.
    pub chosen: BTreeMap<String, String>,
}

impl Prim {
    /// The child of a name.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The child of a name, made if it is absent.
    pub fn child_mut(&mut self, name: &str) -> &mut Self {
        let at = self.children.iter().position(|child| child.name == name).unwrap_or_else(|| {
            let path = format!("{}/{name}", self.path);
            self.children.push(Self { name: name.to_owned(), path, ..Self::default() });
            self.children.len() - 1
        });
        &mut self.children[at]
    }

    /// The object at a path below this one, which is the root.
    pub fn find(&self, path: &str) -> Option<&Self> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(self, |prim, name| prim.child(name))
    }

    /// The value of an attribute, if it has one.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.properties.get(name)?.first()
    }

    /// The first path of a relationship.
    pub fn target(&self, name: &str) -> Option<&str> {
        Some(self.properties.get(name)?.targets.as_ref()?.first()?.as_str())
    }
}

/// A file.
#[derive(Debug, Clone, Default)]
pub(super) struct Layer {
    /// What the file says of itself.
    pub fields: BTreeMap<String, Value>,
    pub root: Prim,
}

/// An absolute path out of one that may be relative to an object.
pub(super) fn absolute(path: &str, base: &str) -> String {
    if path.starts_with('/') || path.is_empty() {
        return path.to_owned();
    }
    let mut parts: Vec<&str> = base.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}
