//! A GLB under construction: one JSON root, one binary chunk.

use crate::FormatError;
use crate::gltf::schema::{Accessor, Asset, Buffer, BufferView, Root, Sparse, SparseIndices, SparseValues};
use glam::Vec3;
use serde::Serialize;
use std::collections::HashMap;

/// `bufferView.target` of vertex attributes.
pub(crate) const VERTICES: Option<u32> = Some(34962);
/// `bufferView.target` of indices.
pub(in crate::gltf) const INDICES: Option<u32> = Some(34963);

/// Collects the parts of a file. Every accessor has a buffer view, every view starts at a multiple of four.
pub(crate) struct Builder {
    pub root: Root,
    bin: Vec<u8>,
    /// Animation curves: they share one view, since they are many and small.
    curves: Vec<u8>,
    curves_view: Option<usize>,
    /// Equal curves are stored once; most tracks of a clip have the same times.
    curve_of: HashMap<CurveKey, usize>,
}

type CurveKey = (&'static str, u32, bool, Vec<u8>);

impl Builder {
    pub fn new() -> Self {
        let generator = Some(format!("Sinew {}", env!("CARGO_PKG_VERSION")));
        let asset = Asset { version: "2.0".to_owned(), min_version: None, generator };
        let root = Root { asset, ..Root::default() };
        Self { root, bin: Vec::new(), curves: Vec::new(), curves_view: None, curve_of: HashMap::new() }
    }

    /// Add bytes as a buffer view.
    pub fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        let byte_offset = self.bin.len() as u64;
        self.bin.extend_from_slice(bytes);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let byte_length = bytes.len() as u64;
        self.root.buffer_views.push(BufferView { byte_offset, byte_length, target, ..BufferView::default() });
        self.root.buffer_views.len() - 1
    }

    /// Add an accessor over its own view.
    pub fn accessor(&mut self, bytes: &[u8], accessor: Accessor, target: Option<u32>) -> usize {
        let buffer_view = Some(self.view(bytes, target));
        self.root.accessors.push(Accessor { buffer_view, ..accessor });
        self.root.accessors.len() - 1
    }

    /// Add points, with their bounding box on request: glTF requires it for positions.
    pub fn points(&mut self, points: &[Vec3], bounded: bool) -> usize {
        let points: Vec<Vec3> = points.iter().map(|point| point.map(finite)).collect();
        let bytes = little_endian(points.iter().flat_map(|p| p.to_array()));
        let (mut min, mut max) = (Vec::new(), Vec::new());
        if let Some(&first) = points.first().filter(|_| bounded) {
            let [low, high] = points.iter().fold([first; 2], |[low, high], &p| [low.min(p), high.max(p)]);
            (min, max) = (low.as_dvec3().to_array().into(), high.as_dvec3().to_array().into());
        }
        let accessor = Accessor { min, max, ..describe("VEC3", 5126, points.len()) };
        self.accessor(&bytes, accessor, VERTICES)
    }

    /// Add float elements of a vertex attribute or, without target, of other data.
    pub fn floats<const N: usize>(
        &mut self,
        kind: &'static str,
        values: &[[f32; N]],
        target: Option<u32>,
    ) -> usize {
        let bytes = little_endian(values.as_flattened().iter().copied());
        self.accessor(&bytes, describe(kind, 5126, values.len()), target)
    }

    /// Add triangle indices, two bytes each where they fit. 65535 would mean "restart" and is avoided.
    pub fn indices(&mut self, corners: &[u32]) -> usize {
        let small = corners.iter().all(|&vertex| vertex < u32::from(u16::MAX));
        let (component, bytes): (u32, Vec<u8>) = match small {
            true => (5123, corners.iter().flat_map(|&vertex| (vertex as u16).to_le_bytes()).collect()),
            false => (5125, corners.iter().flat_map(|vertex| vertex.to_le_bytes()).collect()),
        };
        self.accessor(&bytes, describe("SCALAR", component, corners.len()), INDICES)
    }

    /// Add times of keys, with their range as glTF requires.
    pub fn times(&mut self, times: &[f32]) -> usize {
        let range = [times.first(), times.last()].map(|end| end.map(|&end| f64::from(end)));
        let [min, max] = range.map(|end| end.into_iter().collect());
        let accessor = Accessor { min, max, ..describe("SCALAR", 5126, times.len()) };
        self.curve(little_endian(times.iter().copied()), accessor)
    }

    /// Add values of keys.
    pub fn curve_floats(&mut self, kind: &'static str, values: impl Iterator<Item = f32>) -> usize {
        let bytes = little_endian(values);
        let width = if kind == "SCALAR" { 1 } else { usize::from(kind.as_bytes()[3] - b'0') };
        let count = bytes.len() / 4 / width;
        self.curve(bytes, describe(kind, 5126, count))
    }

    /// Add an accessor into the view all curves share, unless an equal one is there.
    pub fn curve(&mut self, bytes: Vec<u8>, accessor: Accessor) -> usize {
        let kind = ["SCALAR", "VEC3", "VEC4"].into_iter().find(|&kind| kind == accessor.kind).unwrap_or("");
        let key = (kind, accessor.component_type, accessor.min.is_empty(), bytes);
        if let Some(&found) = self.curve_of.get(&key) {
            return found;
        }
        let view = *self.curves_view.get_or_insert_with(|| {
            self.root.buffer_views.push(BufferView::default());
            self.root.buffer_views.len() - 1
        });
        let byte_offset = self.curves.len() as u64;
        self.curves.extend_from_slice(&key.3);
        self.curves.resize(self.curves.len().next_multiple_of(4), 0);
        self.root.accessors.push(Accessor { buffer_view: Some(view), byte_offset, ..accessor });
        self.curve_of.insert(key, self.root.accessors.len() - 1);
        self.root.accessors.len() - 1
    }

    /// Name an extension as used and store its object.
    pub fn extend(&mut self, name: &str, object: serde_json::Value) {
        if !self.root.extensions_used.iter().any(|used| used == name) {
            self.root.extensions_used.push(name.to_owned());
        }
        self.root.extensions.insert(name.to_owned(), object);
    }

    /// Name an extension as required.
    pub fn require(&mut self, name: &str) {
        for list in [&mut self.root.extensions_used, &mut self.root.extensions_required] {
            if !list.iter().any(|known| known == name) {
                list.push(name.to_owned());
            }
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.root.accessors.is_empty() && self.root.buffer_views.is_empty()
    }

    /// Add offsets of a morph target with their bounds; only those that are not zero if they are few.
    pub fn offsets(&mut self, offsets: &[Vec3]) -> usize {
        let moved: Vec<u32> =
            (0..offsets.len() as u32).filter(|&at| offsets[at as usize].map(finite) != Vec3::ZERO).collect();
        if moved.is_empty() {
            return self.zeros(offsets.len());
        }
        if 2 * moved.len() > offsets.len() {
            return self.points(offsets, true);
        }
        let bounds = offsets.iter().map(|offset| offset.map(finite));
        let [low, high] = bounds.fold([Vec3::ZERO; 2], |[low, high], p| [low.min(p), high.max(p)]);
        let (component_type, bytes): (u32, Vec<u8>) = match offsets.len() <= usize::from(u16::MAX) {
            true => (5123, moved.iter().flat_map(|&at| (at as u16).to_le_bytes()).collect()),
            false => (5125, moved.iter().flat_map(|at| at.to_le_bytes()).collect()),
        };
        let indices = SparseIndices { buffer_view: self.view(&bytes, None), byte_offset: 0, component_type };
        let values = little_endian(moved.iter().flat_map(|&at| offsets[at as usize].to_array()));
        let values = SparseValues { buffer_view: self.view(&values, None), byte_offset: 0 };
        let (min, max) = (low.as_dvec3().to_array().into(), high.as_dvec3().to_array().into());
        let sparse = Some(Sparse { count: moved.len() as u64, indices, values });
        let accessor = Accessor { min, max, sparse, ..describe("VEC3", 5126, offsets.len()) };
        self.root.accessors.push(accessor);
        self.root.accessors.len() - 1
    }

    /// Add vectors that are all zero, which need no bytes.
    pub fn zeros(&mut self, count: usize) -> usize {
        let (min, max) = (vec![0.0; 3], vec![0.0; 3]);
        self.root.accessors.push(Accessor { min, max, ..describe("VEC3", 5126, count) });
        self.root.accessors.len() - 1
    }

    /// What was added, and its bytes.
    pub fn into_parts(mut self) -> (Root, Vec<u8>) {
        if let Some(view) = self.curves_view {
            let byte_offset = self.bin.len() as u64;
            self.bin.extend_from_slice(&self.curves);
            let byte_length = self.curves.len() as u64;
            self.root.buffer_views[view] = BufferView { byte_offset, byte_length, ..BufferView::default() };
        }
        (self.root, self.bin)
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// A file of more than 4 GiB, which GLB cannot be.
    pub fn finish(self) -> Result<Vec<u8>, FormatError> {
        let (mut root, bin) = self.into_parts();
        if !bin.is_empty() {
            root.buffers.push(Buffer { uri: None, byte_length: bin.len() as u64 });
        }
        pack_glb(&root, &bin)
    }
}

/// A GLB of its two chunks.
///
/// # Errors
/// If it would have more than 4 GiB.
pub(crate) fn pack_glb(root: &impl Serialize, bin: &[u8]) -> Result<Vec<u8>, FormatError> {
    let mut json = serde_json::to_vec(root).map_err(|error| unwritable(error.to_string()))?;
    json.resize(json.len().next_multiple_of(4), b' ');
    let padded = bin.len().next_multiple_of(4);
    let bin_size = if bin.is_empty() { 0 } else { 8 + padded };
    let total = 12 + 8 + json.len() + bin_size;
    let header = u32::try_from(total).map_err(|_| unwritable(format!("it would have {total} bytes")))?;
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"glTF");
    [2, header, json.len() as u32].iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    out.extend_from_slice(b"JSON");
    out.extend_from_slice(&json);
    if !bin.is_empty() {
        out.extend_from_slice(&(padded as u32).to_le_bytes());
        out.extend_from_slice(b"BIN\0");
        out.extend_from_slice(bin);
        out.resize(total, 0);
    }
    Ok(out)
}

/// An accessor's type and count, without a place for its data yet.
pub(crate) fn describe(kind: &str, component_type: u32, count: usize) -> Accessor {
    Accessor { component_type, count: count as u64, kind: kind.to_owned(), ..Accessor::default() }
}

pub(in crate::gltf) fn unwritable(cause: String) -> FormatError {
    FormatError::Unwritable {
        what: "the GLB",
        cause,
        remedy: "GLB holds at most 4 GiB; write fewer frames or a coarser mesh",
    }
}

/// Bytes of floats, all finite.
pub(super) fn little_endian(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(|x| finite(x).to_le_bytes()).collect()
}

/// A number a file may hold: zero for NaN, the largest for infinity.
pub(super) fn finite(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(f32::MIN, f32::MAX) }
}
