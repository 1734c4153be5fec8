//! USD crate files: `.usdc`.
//!
//! # Source
//! The layout is that of `Usd_CrateFile` of OpenUSD, versions 0.4 to 0.13; read without its library.
//! # Limits
//! Sizes are checked against the bytes that are there, and the numbers of all values against a budget, since many fields may
//! name the same array. Values that no mesh, skeleton or animation needs are read over.

use super::packed::{decode_chunks, decode_integers};
use super::value::{Layer, Prim, Property, Value};
use crate::{Fault, Place};
use std::{cell::Cell, collections::BTreeMap};

/// Numbers that the values of any file may have; larger files may have more.
const BASE_NUMBERS: u64 = 64 << 20;
const REMEDY: &str = "the file is damaged or was cut short; export it again";

/// Whether bytes begin as a crate file.
pub(super) fn is_crate(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PXR-USDC")
}

/// Kinds of objects that are understood.
const ATTRIBUTE: i64 = 1;
const PRIM: i64 = 6;
const PSEUDO_ROOT: i64 = 7;
const RELATIONSHIP: i64 = 8;
const VARIANT: i64 = 10;

/// Read a layer.
///
/// # Errors
/// The first fault.
pub(super) fn read(bytes: &[u8]) -> Result<Layer, Fault> {
    let file = File::open(bytes)?;
    let mut layer = Layer::default();
    layer.root.is_defined = true;
    for [path, set, kind] in file.specs()? {
        let path =
            file.paths.get(path as usize).ok_or_else(|| fault_at(0, format!("there is no path {path}")))?;
        let fields = file.fields_of(set as usize)?;
        match kind {
            PSEUDO_ROOT => {
                let names = file.texts_of(fields.get("primChildren"))?;
                layer.root.order(&names);
                for (name, rep) in fields {
                    layer.fields.insert(name.to_owned(), file.value(rep, 0)?);
                }
            }
            PRIM | VARIANT => file.set_prim(&mut layer.root, path, &fields)?,
            ATTRIBUTE | RELATIONSHIP => {
                file.set_property(&mut layer.root, path, &fields, kind == RELATIONSHIP)?
            }
            _ => {}
        }
    }
    Ok(layer)
}

pub(super) fn fault_at(at: usize, cause: impl Into<String>) -> Fault {
    Fault::new(Place::Byte(at as u64), cause).with_remedy(REMEDY)
}

/// Reads little-endian numbers.
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn take(&mut self, n: usize) -> Result<&'a [u8], Fault> {
        let taken = self.at.checked_add(n).and_then(|end| self.bytes.get(self.at..end));
        let taken = taken
            .ok_or_else(|| fault_at(self.at, format!("{n} bytes are promised, but the file ends before")))?;
        self.at += n;
        Ok(taken)
    }

    pub fn word(&mut self) -> Result<u64, Fault> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().unwrap_or_default()))
    }

    pub fn half_word(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().unwrap_or_default()))
    }

    /// A number of things of at least so many bits each.
    pub fn count(&mut self, least_bits: u64) -> Result<usize, Fault> {
        let (at, n) = (self.at, self.word()?);
        match n.saturating_mul(least_bits) / 8 <= self.bytes.len() as u64 {
            true => Ok(n as usize),
            false => Err(fault_at(at, format!("{n} elements do not fit the file"))),
        }
    }

    /// A compressed part, after its length.
    pub fn part(&mut self) -> Result<&'a [u8], Fault> {
        let n = self.count(8)?;
        self.take(n)
    }

    /// Compressed integers, after their length.
    pub fn integers(&mut self, n: usize, size: usize) -> Result<Vec<i64>, Fault> {
        let at = self.at;
        decode_integers(self.part()?, n, size).map_err(|cause| fault_at(at, cause))
    }
}

/// What an integer may take at least: 255 bytes come out of one, and four integers out of a byte.
const BITS_OF_INTEGER: u64 = 0;

pub(super) struct File<'a> {
    pub bytes: &'a [u8],
    pub version: [u8; 2],
    tokens: Vec<String>,
    strings: Vec<u32>,
    pub paths: Vec<String>,
    fields: Vec<(u32, u64)>,
    sets: Vec<u32>,
    sections: BTreeMap<String, usize>,
    budget: Cell<u64>,
}

type Fields<'f> = BTreeMap<&'f str, u64>;

impl<'a> File<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut head = Cursor { bytes, at: 8 };
        let version = head.take(8)?;
        let version = [version[0], version[1]];
        if version[0] != 0 || !(4..=13).contains(&version[1]) {
            let cause = format!("version {}.{} is not supported", version[0], version[1]);
            let remedy = "save it again with a newer program, or as .usda";
            return Err(Fault::new(Place::Byte(8), cause).with_remedy(remedy));
        }
        let mut table = Cursor { bytes, at: head.word()? as usize };
        let mut sections = BTreeMap::new();
        for _ in 0..table.count(256)? {
            let name = table.take(16)?;
            let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
            let start = table.word()? as usize;
            table.word()?;
            sections.insert(name, start);
        }
        let budget = Cell::new(BASE_NUMBERS.saturating_add(32 * bytes.len() as u64));
        let (tokens, strings, paths) = (Vec::new(), Vec::new(), Vec::new());
        let (fields, sets) = (Vec::new(), Vec::new());
        let mut file = Self { bytes, version, tokens, strings, paths, fields, sets, sections, budget };
        file.read_tokens()?;
        file.read_fields()?;
        file.read_paths()?;
        Ok(file)
    }

    fn section(&self, name: &str) -> Result<Cursor<'a>, Fault> {
        let at = self.sections.get(name).copied();
        let at = at.ok_or_else(|| fault_at(0, format!("the file has no part {name}")))?;
        Ok(Cursor { bytes: self.bytes, at })
    }

    /// Account for numbers before they are read.
    pub fn charge(&self, n: usize, at: usize) -> Result<(), Fault> {
        let left = self.budget.get().checked_sub(n as u64);
        let cause = || fault_at(at, "the values take more memory than a file of this size may use");
        self.budget.set(left.ok_or_else(cause)?);
        Ok(())
    }

    fn read_tokens(&mut self) -> Result<(), Fault> {
        let mut cursor = self.section("TOKENS")?;
        let (_, size) = (cursor.word()?, cursor.word()?);
        let at = cursor.at;
        let text = decode_chunks(cursor.part()?, usize::try_from(size).unwrap_or(usize::MAX));
        let text = text.map_err(|cause| fault_at(at, cause))?;
        let parts = text.strip_suffix(b"\0").unwrap_or(&text).split(|&byte| byte == 0);
        self.tokens = parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect();
        let mut cursor = self.section("STRINGS")?;
        for _ in 0..cursor.count(32)? {
            self.strings.push(cursor.half_word()?);
        }
        Ok(())
    }

    fn read_fields(&mut self) -> Result<(), Fault> {
        let mut cursor = self.section("FIELDS")?;
        let n = cursor.count(BITS_OF_INTEGER)?;
        let names = cursor.integers(n, 4)?;
        let at = cursor.at;
        let reps = decode_chunks(cursor.part()?, n.saturating_mul(8)).map_err(|cause| fault_at(at, cause))?;
        let reps = reps.as_chunks::<8>().0.iter().map(|rep| u64::from_le_bytes(*rep));
        self.fields = names.into_iter().map(|name| name as u32).zip(reps).collect();
        let mut cursor = self.section("FIELDSETS")?;
        let n = cursor.count(BITS_OF_INTEGER)?;
        self.sets = cursor.integers(n, 4)?.into_iter().map(|index| index as u32).collect();
        Ok(())
    }

    fn read_paths(&mut self) -> Result<(), Fault> {
        let mut cursor = self.section("PATHS")?;
        let n_paths = cursor.count(BITS_OF_INTEGER)?;
        let n = cursor.count(BITS_OF_INTEGER)?;
        let at = cursor.at;
        let (indices, names, jumps) =
            (cursor.integers(n, 4)?, cursor.integers(n, 4)?, cursor.integers(n, 4)?);
        // Every path has its entry, so that a count cannot exceed them.
        if n_paths > n {
            return Err(fault_at(at, format!("{n_paths} paths are promised, but {n} are there")));
        }
        self.paths = vec![String::new(); n_paths];
        let mut open: Vec<(usize, String)> = vec![(0, String::new())];
        let (mut n_seen, mut n_bytes) = (0, 0);
        while let Some((mut at_entry, mut parent)) = open.pop() {
            while at_entry < n {
                n_seen += 1;
                let (name, jump) = (names[at_entry], jumps[at_entry]);
                let token = self.tokens.get(name.unsigned_abs() as usize).map_or("", String::as_str);
                let path = match parent.as_str() {
                    "" => "/".to_owned(),
                    parent if name < 0 => format!("{parent}.{token}"),
                    "/" => format!("/{token}"),
                    parent if token.starts_with('{') => format!("{parent}{token}"),
                    parent => format!("{parent}/{token}"),
                };
                n_bytes += path.len();
                if n_seen > n || n_bytes > 64 * self.bytes.len() + (1 << 20) {
                    return Err(fault_at(at, "the tree of paths is broken"));
                }
                let (has_child, has_sibling) = (jump > 0 || jump == -1, jump >= 0);
                if has_child && has_sibling {
                    open.push((at_entry.saturating_add(jump as usize), parent.clone()));
                }
                if let Some(place) = self.paths.get_mut(indices[at_entry] as usize) {
                    place.clone_from(&path);
                }
                if has_child {
                    parent = path;
                } else if !has_sibling {
                    break;
                }
                at_entry += 1;
            }
        }
        Ok(())
    }

    fn specs(&self) -> Result<Vec<[i64; 3]>, Fault> {
        let mut cursor = self.section("SPECS")?;
        let n = cursor.count(BITS_OF_INTEGER)?;
        let (paths, sets, kinds) = (cursor.integers(n, 4)?, cursor.integers(n, 4)?, cursor.integers(n, 4)?);
        Ok((0..n).map(|at| [paths[at], sets[at], kinds[at]]).collect())
    }

    fn fields_of(&self, set: usize) -> Result<Fields<'_>, Fault> {
        let mut fields = Fields::new();
        for &index in self.sets.get(set..).unwrap_or_default().iter().take_while(|&&index| index != u32::MAX)
        {
            let (name, rep) = *self
                .fields
                .get(index as usize)
                .ok_or_else(|| fault_at(0, format!("there is no field {index}")))?;
            fields.insert(self.token(name), rep);
        }
        Ok(fields)
    }

    pub fn token(&self, index: u32) -> &str {
        self.tokens.get(index as usize).map_or("", String::as_str)
    }

    pub fn string(&self, index: u32) -> &str {
        self.strings.get(index as usize).map_or("", |&token| self.token(token))
    }

    fn texts_of(&self, rep: Option<&u64>) -> Result<Vec<String>, Fault> {
        Ok(rep.map(|&rep| self.value(rep, 0)).transpose()?.map_or(Vec::new(), |value| value.texts().to_vec()))
    }

    fn set_prim(&self, root: &mut Prim, path: &str, fields: &Fields) -> Result<(), Fault> {
        let Some(prim) = prim_at(root, path) else { return Ok(()) };
        let mut said = BTreeMap::new();
        for (&name, &rep) in fields {
            match name {
                "specifier" => {
                    let kind = rep & 0xFF;
                    prim.is_defined |= kind != 1;
                    prim.is_class |= kind == 2;
                }
                "typeName" => {
                    if let Value::Text(text) = self.value(rep, 0)? {
                        prim.type_name = text;
                    }
                }
                "primChildren" => prim.order(&self.texts_of(Some(&rep))?),
                "references" | "payload" | "inheritPaths" | "specializes" | "active" | "variantSelection" => {
                    said.insert(name.to_owned(), self.value(rep, 0)?);
                }
                _ => {}
            }
        }
        prim.set_fields(said);
        Ok(())
    }

    fn set_property(
        &self,
        root: &mut Prim,
        path: &str,
        fields: &Fields,
        is_relationship: bool,
    ) -> Result<(), Fault> {
        let Some((owner, name)) = path.rsplit_once('.') else { return Ok(()) };
        let Some(prim) = prim_at(root, owner) else { return Ok(()) };
        let mut property = Property::default();
        let mut said = BTreeMap::new();
        for (&field, &rep) in fields {
            match field {
                "default" => {
                    property.value = Some(self.value(rep, 0)?).filter(|value| *value != Value::Other)
                }
                "timeSamples" => {
                    if let Value::Samples(samples) = self.value(rep, 0)? {
                        property.samples = samples;
                    }
                }
                "targetPaths" => {
                    let targets = match self.value(rep, 0)? {
                        Value::Texts(targets) => targets,
                        _ => Vec::new(),
                    };
                    property.targets = Some(targets);
                }
                "interpolation" | "elementSize" | "weight" => {
                    said.insert(field.to_owned(), self.value(rep, 0)?);
                }
                _ => {}
            }
        }
        if is_relationship && property.targets.is_none() {
            property.targets = Some(Vec::new());
        }
        property.set_fields(&said);
        prim.properties.insert(name.to_owned(), property);
        Ok(())
    }
}

/// The object at a path, which may lead through variants; made if it is absent.
fn prim_at<'p>(root: &'p mut Prim, path: &str) -> Option<&'p mut Prim> {
    let mut prim = root;
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let mut pieces = part.split('{');
        let name = pieces.next()?;
        if !name.is_empty() {
            prim = prim.child_mut(name);
        }
        for piece in pieces {
            let (choice, below) = piece.split_once('}')?;
            let (set, variant) = choice.split_once('=')?;
            prim = prim.variants.entry(set.to_owned()).or_default().entry(variant.to_owned()).or_default();
            if !below.is_empty() {
                prim = prim.child_mut(below);
            }
        }
    }
    Some(prim)
}

impl Prim {
    /// Make children of these names first, in this order.
    fn order(&mut self, names: &[String]) {
        names.iter().for_each(|name| _ = self.child_mut(name));
    }
}
