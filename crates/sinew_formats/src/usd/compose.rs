//! Layers to one tree: sublayers, references, payloads, inherited classes and chosen variants.
//!
//! # Source
//! The order of strength is that of OpenUSD (local, inherits, variants, references, payloads), except that all arcs of an
//! object count as equally strong, in the order in which they are listed.
//! # Limits
//! Files are found below the folder of the first one only. What cannot be resolved is left out with a warning.

use super::value::{Layer, Prim, Property, Reference};
use super::{binary, text, zip};
use crate::{Fault, side_files::SideFiles};
use sinew_geom::Warnings;
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

/// Objects of the composed tree.
const MAX_PRIMS: usize = 200_000;
/// References within references, and levels of objects.
const MAX_DEPTH: usize = 200;

/// Everything that is needed to compose.
pub(super) struct Composer<'a> {
    side: SideFiles<'a>,
    package: BTreeMap<String, &'a [u8]>,
    layers: BTreeMap<String, Option<Rc<Layer>>>,
    /// Arcs that are being followed: file and path.
    open: Vec<(String, String)>,
    n_prims: usize,
    said: BTreeSet<String>,
    warnings: &'a mut Warnings,
}

/// Read a layer of either form.
///
/// # Errors
/// The fault of its content.
fn read_layer(bytes: &[u8]) -> Result<Layer, Fault> {
    if binary::is_crate(bytes) { binary::read(bytes) } else { text::read(bytes) }
}

/// The composed tree of a file, and what its first layer says of itself.
///
/// # Errors
/// The fault of the file itself; those of others are warnings.
pub(super) fn compose(bytes: &[u8], side: SideFiles, warnings: &mut Warnings) -> Result<Layer, Fault> {
    let mut composer = Composer {
        side,
        package: BTreeMap::new(),
        layers: BTreeMap::new(),
        open: Vec::new(),
        n_prims: 0,
        said: BTreeSet::new(),
        warnings,
    };
    let (name, layer) = match zip::is_zip(bytes) {
        true => {
            let package = zip::open(bytes)?;
            let first = package.files[&package.first];
            if !binary::is_crate(first) && !first.starts_with(b"#usda") {
                let cause = format!("the first file of the package, `{}`, is not USD", package.first);
                let remedy = "pack it again with the USD file first, for example with `usdzip`";
                return Err(Fault::new(crate::Place::Byte(0), cause).with_remedy(remedy));
            }
            composer.package = package.files.clone();
            (package.first, read_layer(first)?)
        }
        false => (String::new(), read_layer(bytes)?),
    };
    let layer = Rc::new(layer);
    composer.layers.insert(name.clone(), Some(layer.clone()));
    let mut root = Prim { is_defined: true, ..Prim::default() };
    composer.open.push((name.clone(), "/".into()));
    composer.add(&mut root, &layer, &layer.root, &name, ("/", "/"), 0);
    composer.add_sublayers(&mut root, &layer, &name, 0);
    Ok(Layer { fields: layer.fields.clone(), root })
}

/// A path of one tree in another: where `from` stands, `to` stands.
fn mapped(path: &str, (from, to): (&str, &str)) -> String {
    let rest = match from {
        "/" => Some(path),
        from => path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('/')),
    };
    match rest {
        Some(rest) if to == "/" => rest.to_owned(),
        Some("/") => to.to_owned(),
        Some(rest) => format!("{to}{rest}"),
        None => path.to_owned(),
    }
}

impl Composer<'_> {
    fn warn(&mut self, message: String) {
        if self.said.insert(message.clone()) {
            self.warnings.push(message);
        }
    }

    /// The layer of a name that another layer gives.
    fn layer(&mut self, asset: &str, base: &str) -> Option<(String, Rc<Layer>)> {
        let name = match resolved(asset, base) {
            Some(name) => name,
            None => {
                self.warn(format!("`{asset}` leads out of the folder of the file; it was not read"));
                return None;
            }
        };
        if !self.layers.contains_key(&name) {
            let read = match self.package.get(&name) {
                Some(bytes) => read_layer(bytes).map_err(|fault| fault.to_string()),
                None if !self.package.is_empty() => Err("it is not in the package".into()),
                None => (self.side)(&name)
                    .map_err(|error| format!("{error}; put it beside the file"))
                    .and_then(|bytes| read_layer(&bytes).map_err(|fault| fault.to_string())),
            };
            let read = match read {
                Ok(layer) => Some(Rc::new(layer)),
                Err(cause) => {
                    self.warn(format!("`{asset}` was not read: {cause}"));
                    None
                }
            };
            self.layers.insert(name.clone(), read);
        }
        let layer = self.layers.get(&name).cloned().flatten()?;
        Some((name, layer))
    }

    fn add_sublayers(&mut self, root: &mut Prim, layer: &Layer, name: &str, depth: usize) {
        let listed = match layer.fields.get("subLayers") {
            Some(super::value::Value::References(list)) => list.iter().map(|r| r.asset.clone()).collect(),
            Some(value) => value.texts().to_vec(),
            None => Vec::new(),
        };
        for asset in listed {
            let Some((below, found)) = self.layer(&asset, name) else { continue };
            if depth > MAX_DEPTH || self.open.contains(&(below.clone(), "/".into())) {
                self.warn(format!("`{asset}` is a layer of itself; it was read once"));
                continue;
            }
            self.open.push((below.clone(), "/".into()));
            self.add(root, &found, &found.root, &below, ("/", "/"), depth + 1);
            self.add_sublayers(root, &found, &below, depth + 1);
            self.open.pop();
        }
    }

    /// Add what a prim of a layer says to a prim of the result, which says more already. `map`: a path of the layer and where it
    /// stands in the result.
    fn add(
        &mut self,
        into: &mut Prim,
        layer: &Layer,
        from: &Prim,
        file: &str,
        map: (&str, &str),
        depth: usize,
    ) {
        self.n_prims += 1;
        if self.n_prims > MAX_PRIMS || depth > MAX_DEPTH {
            self.warn("the objects and references are too many or too deep; the rest was left out".into());
            return;
        }
        if into.type_name.is_empty() {
            into.type_name.clone_from(&from.type_name);
        }
        // Who inherits a class is none.
        into.is_class |= from.is_class && !into.is_defined;
        into.is_defined |= from.is_defined;
        for (set, variant) in &from.chosen {
            into.chosen.entry(set.clone()).or_insert_with(|| variant.clone());
        }
        into.is_inactive |= from.is_inactive;
        for (name, property) in &from.properties {
            into.properties.entry(name.clone()).or_insert_with(|| moved(property, map));
        }
        for child in &from.children {
            let place = into.child_mut(&child.name);
            self.add(place, layer, child, file, map, depth + 1);
        }
        for (set, variants) in &from.variants {
            let variant = into
                .chosen
                .get(set)
                .and_then(|chosen| variants.get(chosen))
                .or_else(|| variants.values().next());
            if let Some(variant) = variant {
                self.add(into, layer, variant, file, map, depth + 1);
            }
        }
        for arc in &from.arcs {
            self.follow(into, layer, arc, file, depth);
        }
    }

    fn follow(&mut self, into: &mut Prim, layer: &Layer, arc: &Reference, file: &str, depth: usize) {
        let found = match arc.asset.is_empty() {
            true => Some((file.to_owned(), None)),
            false => self.layer(&arc.asset, file).map(|(name, layer)| (name, Some(layer))),
        };
        let Some((name, other)) = found else { return };
        let target = other.as_deref().unwrap_or(layer);
        let path = match arc.path.as_str() {
            "" | "/" => match target.fields.get("defaultPrim").and_then(super::value::Value::text) {
                Some(name) => format!("/{name}"),
                None => {
                    self.warn(format!(
                        "`{}` does not say which of its objects is meant; it was left out",
                        arc.asset
                    ));
                    return;
                }
            },
            path => path.to_owned(),
        };
        let key = (name.clone(), path.clone());
        if self.open.contains(&key) {
            self.warn(format!(
                "{path} refers to itself, over {} files; it was left out there",
                self.open.len()
            ));
            return;
        }
        let Some(prim) = target.root.find(&path) else {
            self.warn(format!("there is no object {path} to refer to; it was left out"));
            return;
        };
        let place = into.path.clone();
        self.open.push(key);
        self.add(into, target, prim, &name, (&path, &place), depth + 1);
        self.open.pop();
    }
}

/// A property with its targets where they stand in the result.
fn moved(property: &Property, map: (&str, &str)) -> Property {
    let mut property = property.clone();
    property.targets.iter_mut().flatten().for_each(|target| *target = mapped(target, map));
    property
}

/// Path of an asset from the folder of the first file; nothing if it leads out of that.
fn resolved(asset: &str, base: &str) -> Option<String> {
    if asset.starts_with(['/', '\\']) || asset.contains([':', '\\', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in asset.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assets_stay_in_the_folder() {
        assert_eq!(resolved("./a/b.usda", "").as_deref(), Some("a/b.usda"));
        assert_eq!(resolved("../c.usda", "a/b.usda").as_deref(), Some("c.usda"));
        for bad in ["../c.usda", "/etc/passwd", "a/../../c", "C:\\x", "http://x/y"] {
            assert_eq!(resolved(bad, ""), None, "{bad}");
        }
    }

    #[test]
    fn paths_move_with_their_object() {
        assert_eq!(mapped("/A/B/C", ("/A/B", "/X")), "/X/C");
        assert_eq!(mapped("/A/BB", ("/A/B", "/X")), "/A/BB");
        assert_eq!(mapped("/A", ("/", "/")), "/A");
    }
}
