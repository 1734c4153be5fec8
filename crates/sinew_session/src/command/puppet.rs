//! Commands on pairs of poses and takes.

use super::{check_name, decode_thumbnail};
use crate::{Document, Pair, PuppetData, PuppetSettings, SessionError, TakeData, perform_take};
use serde_json::{Value, json};
use sinew_formats::{
    FormatError,
    pairs::{PairFile, PairTarget, PosePair, read_project_pairs, write_pairs},
};
use std::{ops::ControlFlow, sync::Arc};

/// Pairs that a document may have: more are a mistake.
const MAX_PAIRS: usize = 1000;

/// A `pairs.json` as a value.
pub(crate) fn pairs_to_value(file: &PairFile) -> Value {
    serde_json::from_slice(&write_pairs(file)).unwrap_or_default()
}

/// Pairs out of such a value.
pub(crate) fn pairs_from_value(value: &Value) -> Result<PairFile, FormatError> {
    read_project_pairs(value, "pairs")
}

/// A file of pairs within a command.
pub(super) mod all {
    use super::{PairFile, Value, pairs_from_value, pairs_to_value};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(file: &PairFile, serializer: S) -> Result<S::Ok, S::Error> {
        pairs_to_value(file).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<PairFile>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        pairs_from_value(&value).map(Box::new).map_err(D::Error::custom)
    }
}

/// One pair within a command, as an entry of such a file.
pub(super) mod one {
    use super::{PairFile, PosePair, Value, json, pairs_from_value, pairs_to_value};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(pair: &PosePair, serializer: S) -> Result<S::Ok, S::Error> {
        let file = PairFile { pairs: vec![pair.clone()], ..PairFile::default() };
        pairs_to_value(&file)["pairs"][0].serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<PosePair>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let file = pairs_from_value(&json!({ "pairs": [value] })).map_err(D::Error::custom)?;
        file.pairs.into_iter().next().map(Box::new).ok_or_else(|| D::Error::custom("there is no pair"))
    }
}

pub(super) fn put(
    document: &mut Document,
    pair: &PosePair,
    thumbnail: Option<&str>,
) -> Result<(), SessionError> {
    check_name("pair", &pair.name, false)?;
    if let PairTarget::Example(name) = &pair.target {
        document.find_example(name)?;
    }
    let thumbnail = thumbnail.map(decode_thumbnail).transpose()?.map(Arc::new);
    let (at, pair) = (document.puppet.find(&pair.name), Arc::new(Pair { pair: pair.clone(), thumbnail }));
    let data = Arc::make_mut(&mut document.puppet);
    match at {
        Some(at) => data.pairs[at] = pair,
        None if data.pairs.len() >= MAX_PAIRS => {
            let cause = format!("there are {MAX_PAIRS} already; remove some");
            return Err(SessionError::Value { what: "pairs", cause });
        }
        None => data.pairs.push(pair),
    }
    Ok(())
}

fn place(data: &PuppetData, name: &str) -> Result<usize, SessionError> {
    let names = data.pairs.iter().map(|pair| pair.pair.name.as_str());
    data.find(name).ok_or_else(|| SessionError::absent("pair", name, names))
}

pub(super) fn rename(document: &mut Document, name: &str, to: &str) -> Result<(), SessionError> {
    let at = place(&document.puppet, name)?;
    if name != to {
        check_name("pair", to, document.puppet.find(to).is_some())?;
    }
    let pair = Arc::make_mut(&mut Arc::make_mut(&mut document.puppet).pairs[at]);
    to.clone_into(&mut pair.pair.name);
    Ok(())
}

pub(super) fn remove(document: &mut Document, name: &str) -> Result<(), SessionError> {
    let at = place(&document.puppet, name)?;
    Arc::make_mut(&mut document.puppet).pairs.remove(at);
    Ok(())
}

pub(super) fn set_all(document: &mut Document, file: &PairFile) -> Result<(), SessionError> {
    let settings = document.puppet.settings.clone();
    let mut after = Document {
        puppet: Arc::new(PuppetData { limbs: file.limbs.clone(), settings, ..PuppetData::default() }),
        ..document.clone()
    };
    for pair in &file.pairs {
        check_name("pair", &pair.name, after.puppet.find(&pair.name).is_some())?;
        put(&mut after, pair, None)?;
    }
    document.puppet = after.puppet;
    Ok(())
}

pub(super) fn set(document: &mut Document, settings: &PuppetSettings) -> Result<(), SessionError> {
    settings.params(crate::ActorSource::default())?;
    Arc::make_mut(&mut document.puppet).settings = settings.clone();
    Ok(())
}

pub(super) fn take(document: &mut Document, clip: &str, take: &TakeData) -> Result<(), SessionError> {
    *document = perform_take(document, clip, take, &|_| ControlFlow::Continue(()))?.0;
    Ok(())
}

/// Pairs follow the stored pose they name.
pub(super) fn rename_example(document: &mut Document, name: &str, to: &str) {
    let is_of = |pair: &Arc<Pair>| matches!(&pair.pair.target, PairTarget::Example(used) if used == name);
    if !document.puppet.pairs.iter().any(is_of) {
        return;
    }
    for pair in Arc::make_mut(&mut document.puppet).pairs.iter_mut().filter(|pair| is_of(pair)) {
        Arc::make_mut(pair).pair.target = PairTarget::Example(to.to_owned());
    }
}

/// Lengths of the character's poses multiplied; the actor stays as large as it was.
pub(crate) fn scaled(data: &PuppetData, factor: f64) -> PuppetData {
    let mut scaled = data.clone();
    for pair in &mut scaled.pairs {
        if let PairTarget::Joints(joints) = &mut Arc::make_mut(pair).pair.target {
            joints.iter_mut().for_each(|(_, local)| local.translation *= factor);
        }
    }
    scaled
}
