//! Objects and properties of an Alembic archive.
//!
//! # Source
//! The layout is that of `AbcCoreOgawa` of Alembic 1.5 and later.
//! # Limits
//! Only what meshes and transforms need is read.

use super::ogawa::{Data, Group, fault_at};
use crate::Fault;

/// Objects of a file; more are taken for a cycle of groups.
const MAX_OBJECTS: usize = 200_000;
/// Samples of a property.
const MAX_SAMPLES: u32 = 1 << 20;
/// Time between cycles of times that do not repeat.
const ACYCLIC: f64 = f64::MAX / 32.0;

/// What all objects share.
pub(super) struct Archive<'a> {
    metadata: Vec<&'a [u8]>,
    samplings: Vec<Sampling>,
    n_objects: usize,
}

/// When samples were taken.
struct Sampling {
    times: Vec<f64>,
    per_cycle: f64,
}

impl Sampling {
    fn time(&self, index: usize) -> f64 {
        let n = self.times.len();
        match n {
            0 => index as f64,
            _ if self.per_cycle >= ACYCLIC => self.times[index.min(n - 1)],
            _ => self.times[index % n] + (index / n) as f64 * self.per_cycle,
        }
    }
}

/// A named object.
pub(super) struct Object<'a> {
    pub name: String,
    pub metadata: &'a [u8],
    group: Group<'a>,
}

impl Object<'_> {
    /// Its kind, such as `AbcGeom_PolyMesh_v1`.
    pub fn schema(&self) -> &str {
        field(self.metadata, "schema")
    }
}

/// A field of meta data.
pub(super) fn field<'a>(metadata: &'a [u8], key: &str) -> &'a str {
    let text = std::str::from_utf8(metadata).unwrap_or_default();
    let mut fields = text.split(';').filter_map(|field| field.split_once('='));
    fields.find(|(name, _)| *name == key).map_or("", |(_, value)| value)
}

/// What a property holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Compound,
    Scalar,
    Array,
}

/// Types of numbers.
pub(super) const INT8: [u8; 3] = [0, 1, 2];
pub(super) const INT32: [u8; 2] = [5, 6];
pub(super) const FLOAT32: u8 = 10;
pub(super) const FLOAT64: u8 = 11;

/// A property and where its samples are.
#[derive(Clone)]
pub(super) struct Property<'a> {
    pub name: String,
    pub kind: Kind,
    /// Type of its numbers.
    pub pod: u8,
    pub metadata: &'a [u8],
    n_samples: u32,
    first_changed: u32,
    last_changed: u32,
    sampling: usize,
    group: Group<'a>,
}

/// Reads little-endian numbers of headers.
struct Cursor<'a> {
    data: Data<'a>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], Fault> {
        let end = self.at.checked_add(n).filter(|&end| end <= self.data.bytes.len());
        let end = end.ok_or_else(|| fault_at(self.data.at, "a list of headers ends within one of them"))?;
        let taken = &self.data.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// A number of 1, 2, 4 or 8 bytes.
    fn number(&mut self, n: usize) -> Result<u64, Fault> {
        let mut bytes = [0; 8];
        bytes[..n].copy_from_slice(self.take(n)?);
        Ok(u64::from_le_bytes(bytes))
    }

    fn double(&mut self) -> Result<f64, Fault> {
        Ok(f64::from_bits(self.number(8)?))
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.data.bytes.len()
    }
}

impl<'a> Archive<'a> {
    /// What stands at the root of a file, and its topmost object.
    ///
    /// # Errors
    /// If the root is not that of an archive.
    pub fn open(root: Group<'a>) -> Result<(Self, Object<'a>), Fault> {
        let mut metadata: Vec<&[u8]> = vec![b""];
        let mut cursor = Cursor { data: root.data(5)?, at: 0 };
        while !cursor.is_at_end() {
            let len = cursor.number(1)? as usize;
            metadata.push(cursor.take(len)?);
        }
        let mut samplings = Vec::new();
        let mut cursor = Cursor { data: root.data(4)?, at: 0 };
        while !cursor.is_at_end() {
            cursor.number(4)?;
            let (per_cycle, n) = (cursor.double()?, cursor.number(4)?);
            let mut times = Vec::new();
            for _ in 0..n {
                times.push(cursor.double()?);
            }
            let rises = times.windows(2).all(|pair| pair[1] >= pair[0]);
            if !(rises && times.iter().all(|time| time.is_finite()) && per_cycle.is_finite()) {
                return Err(fault_at(cursor.data.at, "the times of samples do not rise"));
            }
            samplings.push(Sampling { times, per_cycle });
        }
        let top = Object { name: String::new(), metadata: b"", group: root.group(2)? };
        Ok((Self { metadata, samplings, n_objects: 0 }, top))
    }

    fn indexed(&self, index: u64, at: u64) -> Result<&'a [u8], Fault> {
        let found = self.metadata.get(index as usize).copied();
        found.ok_or_else(|| fault_at(at, format!("there is no meta data {index}")))
    }

    /// Objects below an object.
    ///
    /// # Errors
    /// If their headers are broken, or there are too many in all.
    pub fn children(&mut self, object: &Object<'a>) -> Result<Vec<Object<'a>>, Fault> {
        let group = object.group;
        let Some(last) = group.n_children().checked_sub(1).filter(|&last| group.is_data(last)) else {
            return Ok(Vec::new());
        };
        let mut data = group.data(last)?;
        // Two hashes stand behind the headers.
        data.bytes = &data.bytes[..data.bytes.len().saturating_sub(32)];
        let mut cursor = Cursor { data, at: 0 };
        let mut children = Vec::new();
        while !cursor.is_at_end() {
            let len = cursor.number(4)? as usize;
            let name = String::from_utf8_lossy(cursor.take(len)?).into_owned();
            let metadata = match cursor.number(1)? {
                0xFF => {
                    let len = cursor.number(4)? as usize;
                    cursor.take(len)?
                }
                index => self.indexed(index, data.at)?,
            };
            let group = group.group(children.len() + 1)?;
            children.push(Object { name, metadata, group });
            self.n_objects += 1;
            if self.n_objects > MAX_OBJECTS {
                return Err(fault_at(group.at, format!("there are more than {MAX_OBJECTS} objects")));
            }
        }
        Ok(children)
    }

    /// Properties of an object.
    pub fn properties(&self, object: &Object<'a>) -> Result<Vec<Property<'a>>, Fault> {
        if object.group.n_children() == 0 || object.group.is_data(0) {
            return Ok(Vec::new());
        }
        self.properties_of(object.group.group(0)?)
    }

    /// Properties within a compound one; none of any other kind.
    pub fn within(&self, property: &Property<'a>) -> Result<Vec<Property<'a>>, Fault> {
        match property.kind {
            Kind::Compound => self.properties_of(property.group),
            _ => Ok(Vec::new()),
        }
    }

    fn properties_of(&self, group: Group<'a>) -> Result<Vec<Property<'a>>, Fault> {
        let Some(last) = group.n_children().checked_sub(1).filter(|&last| group.is_data(last)) else {
            return Ok(Vec::new());
        };
        let mut cursor = Cursor { data: group.data(last)?, at: 0 };
        let mut properties = Vec::new();
        while !cursor.is_at_end() {
            let property = self.property(&mut cursor, || group.group(properties.len()))?;
            properties.push(property);
        }
        Ok(properties)
    }

    fn property(
        &self,
        cursor: &mut Cursor<'a>,
        group: impl Fn() -> Result<Group<'a>, Fault>,
    ) -> Result<Property<'a>, Fault> {
        let at = cursor.data.at;
        let info = cursor.number(4)?;
        let size = match (info >> 2) & 3 {
            3 => return Err(fault_at(at, "a property has an unknown size of numbers")),
            bits => 1 << bits,
        };
        let kind = [Kind::Compound, Kind::Scalar, Kind::Array, Kind::Array][(info & 3) as usize];
        let (mut n_samples, mut changed, mut sampling) = (0, (0, 0), 0);
        if kind != Kind::Compound {
            n_samples = cursor.number(size)? as u32;
            changed = match () {
                () if info & 0x200 != 0 => (cursor.number(size)? as u32, cursor.number(size)? as u32),
                () if info & 0x800 != 0 => (0, 0),
                () => (1, n_samples.saturating_sub(1)),
            };
            if info & 0x100 != 0 {
                sampling = cursor.number(size)? as usize;
            }
        }
        let len = cursor.number(size)? as usize;
        let name = String::from_utf8_lossy(cursor.take(len)?).into_owned();
        let metadata = match (info >> 20) & 0xFF {
            0xFF => {
                let len = cursor.number(size)? as usize;
                cursor.take(len)?
            }
            index => self.indexed(index, at)?,
        };
        if n_samples > MAX_SAMPLES || sampling >= self.samplings.len().max(1) {
            return Err(fault_at(
                at,
                format!("the property {name:?} has {n_samples} samples of times {sampling}"),
            ));
        }
        let pod = ((info >> 4) & 15) as u8;
        let (first_changed, last_changed) = changed;
        let group = group()?;
        Ok(Property { name, kind, pod, metadata, n_samples, first_changed, last_changed, sampling, group })
    }

    /// Time of each sample of a property in seconds; only the first of one that does not change.
    pub fn times(&self, property: &Property) -> Vec<f64> {
        let n = if property.is_constant() { property.n_samples.min(1) } else { property.n_samples };
        let sampling = self.samplings.get(property.sampling);
        (0..n as usize).map(|index| sampling.map_or(index as f64, |sampling| sampling.time(index))).collect()
    }
}

impl<'a> Property<'a> {
    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.n_samples as usize
    }

    /// Whether all samples are the same.
    pub fn is_constant(&self) -> bool {
        self.n_samples < 2 || (self.first_changed == 0 && self.last_changed == 0)
    }

    /// Bytes of a sample, without the hash that stands before them.
    ///
    /// # Errors
    /// If it is not in the file.
    pub fn sample(&self, index: usize) -> Result<Data<'a>, Fault> {
        let index = index as u32;
        let stored = match () {
            () if index < self.first_changed || self.is_constant() => 0,
            () => index.min(self.last_changed).saturating_sub(self.first_changed) + 1,
        };
        // The dimensions stand behind the data of an array.
        let step = if self.kind == Kind::Array { 2 } else { 1 };
        let mut data = self.group.data(stored as usize * step)?;
        data.bytes = data.bytes.get(16..).unwrap_or_default();
        Ok(data)
    }

    /// Numbers of a sample as doubles.
    ///
    /// # Errors
    /// If they are not numbers of 32 or 64 bits.
    pub fn doubles(&self, index: usize) -> Result<Vec<f64>, Fault> {
        let data = self.sample(index)?;
        match self.pod {
            FLOAT64 => Ok(data.bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect()),
            FLOAT32 => {
                Ok(data.bytes.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect())
            }
            _ => Err(self.unusable(data.at, "floating-point numbers")),
        }
    }

    /// Numbers of a sample as integers.
    ///
    /// # Errors
    /// If they are not integers of 32 bits.
    pub fn integers(&self, index: usize) -> Result<&'a [[u8; 4]], Fault> {
        let data = self.sample(index)?;
        match INT32.contains(&self.pod) {
            true => Ok(data.bytes.as_chunks::<4>().0),
            false => Err(self.unusable(data.at, "integers of 32 bits")),
        }
    }

    /// The fault of numbers of another type.
    pub fn unusable(&self, at: u64, wanted: &str) -> Fault {
        fault_at(at, format!("the property {:?} has numbers of type {}, not {wanted}", self.name, self.pod))
    }
}
