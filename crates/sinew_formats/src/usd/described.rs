//! Values of USD crate files by their descriptions: 8 bytes with the type, and the value or where it stands.
//!
//! # Source
//! As the file it is part of.

use super::binary::{Cursor, File, fault_at};
use super::numbers;
use super::value::{Reference, Value};
use crate::Fault;
use std::collections::BTreeMap;

/// Values within values.
const MAX_DEPTH: usize = 32;

impl File<'_> {
    /// A value by its description.
    pub fn value(&self, rep: u64, depth: usize) -> Result<Value, Fault> {
        if depth > MAX_DEPTH {
            return Err(fault_at(0, "values are nested too deep"));
        }
        let kind = ((rep >> 48) & 0xFF) as u8;
        let (is_array, is_inlined, is_compressed) = (rep >> 63 != 0, rep >> 62 & 1 != 0, rep >> 61 & 1 != 0);
        let payload = rep & 0xFFFF_FFFF_FFFF;
        let index = payload as u32;
        let cursor = Cursor { bytes: self.bytes, at: payload as usize };
        match kind {
            _ if is_array => numbers::array(self, kind, cursor, is_compressed),
            10 => Ok(Value::Text(self.string(index).to_owned())),
            11 => Ok(Value::Text(self.token(index).to_owned())),
            12 => Ok(Value::Text(self.token(index).to_owned())),
            _ if numbers::layout(kind).is_some() => {
                numbers::single(kind, cursor, is_inlined.then_some(index))
            }
            _ if is_inlined => Ok(Value::Other),
            31 => self.dictionary(cursor, depth),
            32 => self.list_of(cursor, |file, cursor| Ok(file.token(cursor.half_word()?).to_owned())),
            33 => self.list_of(cursor, |file, cursor| Ok(file.string(cursor.half_word()?).to_owned())),
            34 => self.list_of(cursor, |file, cursor| Ok(file.path(cursor.half_word()?))),
            35 => self.references(cursor, true, depth),
            47 => Ok(Value::References(vec![self.reference(&mut { cursor }, false, depth)?])),
            55 => self.references(cursor, false, depth),
            40 | 41 | 50 => self.texts(cursor, kind),
            45 => self.selection(cursor),
            46 => self.samples(cursor, depth),
            _ => Ok(Value::Other),
        }
    }

    fn path(&self, index: u32) -> String {
        self.paths.get(index as usize).cloned().unwrap_or_default()
    }

    fn texts(&self, mut cursor: Cursor, kind: u8) -> Result<Value, Fault> {
        let n = cursor.count(32)?;
        self.charge(n, cursor.at)?;
        let read = |_| {
            let index = cursor.half_word()?;
            Ok(match kind {
                40 => self.path(index),
                41 => self.token(index).to_owned(),
                _ => self.string(index).to_owned(),
            })
        };
        Ok(Value::Texts((0..n).map(read).collect::<Result<_, Fault>>()?))
    }

    fn selection(&self, mut cursor: Cursor) -> Result<Value, Fault> {
        let mut chosen = BTreeMap::new();
        for _ in 0..cursor.count(64)? {
            let set = self.string(cursor.half_word()?).to_owned();
            chosen.insert(set, Value::Text(self.string(cursor.half_word()?).to_owned()));
        }
        Ok(Value::Dictionary(chosen))
    }

    /// Go to the description of a value, which stands so many bytes further on; what comes next stands behind it.
    fn indirect(&self, cursor: &mut Cursor) -> Result<(), Fault> {
        let start = cursor.at;
        let offset = cursor.word()? as i64;
        let at = (start as i64).checked_add(offset).and_then(|at| usize::try_from(at).ok());
        cursor.at = at.ok_or_else(|| fault_at(start, "a value is said to stand outside of the file"))?;
        Ok(())
    }

    fn dictionary(&self, mut cursor: Cursor, depth: usize) -> Result<Value, Fault> {
        let mut found = BTreeMap::new();
        for _ in 0..cursor.count(96)? {
            let name = self.string(cursor.half_word()?).to_owned();
            self.indirect(&mut cursor)?;
            found.insert(name, self.value(cursor.word()?, depth + 1)?);
        }
        Ok(Value::Dictionary(found))
    }

    fn samples(&self, mut cursor: Cursor, depth: usize) -> Result<Value, Fault> {
        self.indirect(&mut cursor)?;
        let times = self.value(cursor.word()?, depth + 1)?;
        self.indirect(&mut cursor)?;
        let n = cursor.count(64)?;
        self.charge(8 * n, cursor.at)?;
        let mut samples = Vec::new();
        for &time in times.numbers().iter().take(n) {
            let value = self.value(cursor.word()?, depth + 1)?;
            if time.is_finite() && value != Value::Other {
                samples.push((time, value));
            }
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        samples.dedup_by(|b, a| a.0 == b.0);
        Ok(Value::Samples(samples))
    }

    /// Items of a list operation, without those that are taken away.
    fn items<T>(
        &self,
        cursor: &mut Cursor,
        read: impl Fn(&Self, &mut Cursor) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let bits = cursor.take(1)?[0];
        let mut items = Vec::new();
        // Explicit, added, prepended, appended, taken away, ordered; in the order of the file.
        for (bit, is_kept) in [(2, true), (4, true), (32, true), (64, true), (8, false), (16, false)] {
            if bits & bit == 0 {
                continue;
            }
            let n = cursor.count(32)?;
            self.charge(n, cursor.at)?;
            for _ in 0..n {
                let item = read(self, cursor)?;
                items.extend(Some(item).filter(|_| is_kept));
            }
        }
        Ok(items)
    }

    fn list_of(
        &self,
        mut cursor: Cursor,
        read: impl Fn(&Self, &mut Cursor) -> Result<String, Fault>,
    ) -> Result<Value, Fault> {
        Ok(Value::Texts(self.items(&mut cursor, read)?))
    }

    fn references(&self, mut cursor: Cursor, is_full: bool, depth: usize) -> Result<Value, Fault> {
        let read = |file: &Self, cursor: &mut Cursor| file.reference(cursor, is_full, depth);
        Ok(Value::References(self.items(&mut cursor, read)?))
    }

    fn reference(&self, cursor: &mut Cursor, is_full: bool, depth: usize) -> Result<Reference, Fault> {
        let asset = self.string(cursor.half_word()?).to_owned();
        let path = self.path(cursor.half_word()?);
        if is_full || self.version[1] >= 8 {
            cursor.take(16)?;
        }
        if is_full {
            // Data of the user's own.
            for _ in 0..cursor.count(96)? {
                cursor.half_word()?;
                self.indirect(cursor)?;
                self.value(cursor.word()?, depth + 1)?;
            }
        }
        Ok(Reference { asset, path })
    }
}
