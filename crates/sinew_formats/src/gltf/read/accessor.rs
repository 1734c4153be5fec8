//! Accessors to arrays: all component types, strides and sparse overlays.
//!
//! # Source
//! glTF 2.0 specification, §3.6; conversion of integers to floats by its §3.6.2.2 (`f = c / max`, signed ones at least
//! −1).
//! # Cost
//! One pass over the bytes; the component type is chosen once per accessor, never per element.
//! # Limits
//! All sizes are checked against the available bytes before anything is allocated, and the sum of all allocations
//! against a budget, because many accessors may refer to the same bytes.

use super::resource::{Buffers, out_of_range};
use crate::Fault;
use crate::gltf::schema::{Accessor, Root};
use std::cell::Cell;

/// Memory that any file may use; larger ones get [`GROWTH`] times their size in addition.
const BASE_BUDGET: u64 = 512 << 20;
/// Quantised attributes grow about sixfold when decoded; instances a few times more.
const GROWTH: u64 = 32;

/// Reads accessors of one file.
pub(in crate::gltf) struct Decoder<'a> {
    pub root: &'a Root,
    buffers: Buffers<'a>,
    budget_left: Cell<u64>,
}

/// Bytes with a stride, known to hold `count` elements.
struct Strided<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl<'a> Decoder<'a> {
    /// `file_size` scales the memory budget.
    pub fn new(root: &'a Root, buffers: Buffers<'a>, file_size: usize) -> Self {
        let budget = BASE_BUDGET.saturating_add(GROWTH.saturating_mul(file_size as u64));
        Self { root, buffers, budget_left: Cell::new(budget) }
    }

    /// Account for memory before it is allocated.
    pub fn charge(&self, count: u64, size: usize, path: &str) -> Result<(), Fault> {
        let left = count.checked_mul(size as u64).and_then(|bytes| self.budget_left.get().checked_sub(bytes));
        // A refused allocation is not counted, so that an absurd optional part does not prevent the rest.
        left.map(|left| self.budget_left.set(left)).ok_or_else(|| {
            Fault::json(path, format!("{count} elements need more memory than a file of this size may use"))
                .with_remedy("the count is wrong, or the model must be split")
        })
    }

    /// Bytes that may still be allocated.
    pub fn budget_left(&self) -> u64 {
        self.budget_left.get()
    }

    /// The accessor of an index.
    pub fn accessor(&self, index: usize, path: &str) -> Result<&'a Accessor, Fault> {
        let accessors = &self.root.accessors;
        accessors.get(index).ok_or_else(|| out_of_range(path, "accessor", index, accessors.len()))
    }

    /// Elements of `N` floats; integers are converted, and scaled if they are normalised.
    pub fn floats<const N: usize>(&self, index: usize, path: &str) -> Result<Vec<[f32; N]>, Fault> {
        let accessor = self.accessor(index, path)?;
        self.check_width(accessor, N, index)?;
        let normalized = accessor.normalized;
        match accessor.component_type {
            5126 => self.decode(index, path, f32::from_le_bytes),
            5120 if normalized => {
                self.decode(index, path, |b: [u8; 1]| (b[0] as i8 as f32 / 127.0).max(-1.0))
            }
            5121 if normalized => self.decode(index, path, |b: [u8; 1]| b[0] as f32 / 255.0),
            5122 if normalized => {
                self.decode(index, path, |b| (i16::from_le_bytes(b) as f32 / 32767.0).max(-1.0))
            }
            5123 if normalized => self.decode(index, path, |b| u16::from_le_bytes(b) as f32 / 65535.0),
            5120 => self.decode(index, path, |b: [u8; 1]| b[0] as i8 as f32),
            5121 => self.decode(index, path, |b: [u8; 1]| b[0] as f32),
            5122 => self.decode(index, path, |b| i16::from_le_bytes(b) as f32),
            5123 => self.decode(index, path, |b| u16::from_le_bytes(b) as f32),
            5125 => self.decode(index, path, |b| u32::from_le_bytes(b) as f32),
            other => Err(bad_component_type(index, other)),
        }
    }

    /// Elements of `N` unsigned integers.
    pub fn integers<const N: usize>(&self, index: usize, path: &str) -> Result<Vec<[u32; N]>, Fault> {
        let accessor = self.accessor(index, path)?;
        self.check_width(accessor, N, index)?;
        match accessor.component_type {
            5121 => self.decode(index, path, |b: [u8; 1]| b[0] as u32),
            5123 => self.decode(index, path, |b| u16::from_le_bytes(b) as u32),
            5125 => self.decode(index, path, u32::from_le_bytes),
            other => Err(bad_component_type(index, other).with_remedy("these must be unsigned integers")),
        }
    }

    /// Bytes of a buffer.
    pub fn buffer(&self, index: usize) -> Result<&[u8], Fault> {
        self.buffers.bytes(index, "/buffers")
    }

    /// Bytes of a buffer view.
    pub fn view(&self, index: usize, path: &str) -> Result<&[u8], Fault> {
        let views = &self.root.buffer_views;
        let view = views.get(index).ok_or_else(|| out_of_range(path, "buffer view", index, views.len()))?;
        let place = format!("/bufferViews/{index}");
        let bytes = self.buffers.bytes(view.buffer, &format!("{place}/buffer"))?;
        slice(bytes, view.byte_offset, view.byte_length).ok_or_else(|| {
            let end = view.byte_offset.saturating_add(view.byte_length);
            Fault::json(place, format!("the view ends at byte {end}, but its buffer has {}", bytes.len()))
                .with_remedy("the file or a side file was cut short; export it again")
        })
    }

    /// Bytes of a part of a buffer.
    pub fn part_of_buffer(&self, buffer: usize, start: u64, len: u64, path: &str) -> Result<&[u8], Fault> {
        let bytes = self.buffers.bytes(buffer, path)?;
        slice(bytes, start, len).ok_or_else(|| {
            let end = start.saturating_add(len);
            Fault::json(path, format!("the data ends at byte {end}, but its buffer has {}", bytes.len()))
                .with_remedy("the file or a side file was cut short; export it again")
        })
    }

    fn check_width(&self, accessor: &Accessor, expected: usize, index: usize) -> Result<(), Fault> {
        let width = width_of(&accessor.kind);
        if width == Some(expected) {
            return Ok(());
        }
        let cause = format!("type {:?} has not the {expected} components needed here", accessor.kind);
        Err(Fault::json(format!("/accessors/{index}/type"), cause))
    }

    fn decode<T: Copy + Default, const N: usize, const B: usize>(
        &self,
        index: usize,
        path: &str,
        read: impl Fn([u8; B]) -> T + Copy,
    ) -> Result<Vec<[T; N]>, Fault> {
        let accessor = self.accessor(index, path)?;
        let place = format!("/accessors/{index}");
        let mut values = match accessor.buffer_view {
            Some(view) => {
                let stride = self.root.buffer_views.get(view).and_then(|v| v.byte_stride);
                let base = Span { view, byte_offset: accessor.byte_offset, stride, count: accessor.count };
                let strided = self.strided(&base, N * B, &place)?;
                self.charge(accessor.count, size_of::<[T; N]>(), &place)?;
                decode_strided(&strided, read)
            }
            None => {
                self.charge(accessor.count, size_of::<[T; N]>(), &place)?;
                vec![[T::default(); N]; accessor.count as usize]
            }
        };
        if accessor.sparse.is_some() {
            self.overlay(accessor, &place, &mut values, read)?;
        }
        Ok(values)
    }

    fn overlay<T: Copy + Default, const N: usize, const B: usize>(
        &self,
        accessor: &Accessor,
        place: &str,
        values: &mut [[T; N]],
        read: impl Fn([u8; B]) -> T + Copy,
    ) -> Result<(), Fault> {
        let Some(sparse) = &accessor.sparse else { return Ok(()) };
        let place = format!("{place}/sparse");
        let span = |view, byte_offset| Span { view, byte_offset, stride: None, count: sparse.count };
        let from = &sparse.indices;
        let indices_span = span(from.buffer_view, from.byte_offset);
        let indices: Vec<[u32; 1]> = match from.component_type {
            5121 => decode_strided(&self.strided(&indices_span, 1, &place)?, |b: [u8; 1]| b[0] as u32),
            5123 => {
                decode_strided(&self.strided(&indices_span, 2, &place)?, |b| u16::from_le_bytes(b) as u32)
            }
            5125 => decode_strided(&self.strided(&indices_span, 4, &place)?, u32::from_le_bytes),
            other => {
                let cause = format!("componentType {other} is not an unsigned integer type");
                return Err(Fault::json(format!("{place}/indices/componentType"), cause));
            }
        };
        let replaced = span(sparse.values.buffer_view, sparse.values.byte_offset);
        let replaced: Vec<[T; N]> = decode_strided(&self.strided(&replaced, N * B, &place)?, read);
        let n_values = values.len();
        for ([index], value) in indices.into_iter().zip(replaced) {
            *values.get_mut(index as usize).ok_or_else(|| {
                let cause = format!("element {index} is replaced, but the accessor has {n_values}");
                Fault::json(format!("{place}/indices"), cause)
            })? = value;
        }
        Ok(())
    }

    /// The bytes of a span, if all its elements are within the view.
    fn strided(&self, span: &Span, size: usize, place: &str) -> Result<Strided<'_>, Fault> {
        let bytes = self.view(span.view, place)?;
        let stride = span.stride.unwrap_or(size as u64);
        if stride < size as u64 {
            let cause = format!("byteStride {stride} is less than the {size} bytes of an element");
            return Err(Fault::json(format!("/bufferViews/{}/byteStride", span.view), cause));
        }
        let needed = match span.count {
            0 => Some(0),
            count => (count - 1).checked_mul(stride).and_then(|bytes| bytes.checked_add(size as u64)),
        };
        let bytes = needed.and_then(|needed| slice(bytes, span.byte_offset, needed)).ok_or_else(|| {
            let cause = format!(
                "{} elements of {stride} bytes from byte {} do not fit buffer view {} of {} bytes",
                span.count,
                span.byte_offset,
                span.view,
                bytes.len()
            );
            Fault::json(place, cause).with_remedy("the file was cut short or its count is wrong")
        })?;
        Ok(Strided { bytes, stride: stride as usize, size, count: span.count as usize })
    }
}

/// Elements within a buffer view, not yet checked.
struct Span {
    view: usize,
    byte_offset: u64,
    stride: Option<u64>,
    count: u64,
}

/// Number of components of an accessor type.
pub(in crate::gltf) fn width_of(kind: &str) -> Option<usize> {
    const WIDTHS: [(&str, usize); 7] =
        [("SCALAR", 1), ("VEC2", 2), ("VEC3", 3), ("VEC4", 4), ("MAT2", 4), ("MAT3", 9), ("MAT4", 16)];
    WIDTHS.iter().find(|(name, _)| *name == kind).map(|&(_, width)| width)
}

fn bad_component_type(index: usize, found: u32) -> Fault {
    let path = format!("/accessors/{index}/componentType");
    Fault::json(path, format!("componentType {found} is not allowed here"))
}

fn slice(bytes: &[u8], start: u64, len: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    bytes.get(start..end)
}

/// The inner loop. Tightly packed elements take a path whose sizes are all constant, so that it compiles to
/// plain vector code.
fn decode_strided<T: Copy, const N: usize, const B: usize>(
    source: &Strided,
    read: impl Fn([u8; B]) -> T + Copy,
) -> Vec<[T; N]> {
    let elements = |bytes| -> &[[[u8; B]; N]] { <[u8]>::as_chunks::<B>(bytes).0.as_chunks::<N>().0 };
    if source.stride == source.size {
        return elements(source.bytes).iter().map(|element| element.map(read)).collect();
    }
    // The last element may be shorter than the stride, so elements are accessed by their starts.
    let at = |i: usize| elements(&source.bytes[i * source.stride..][..source.size])[0].map(read);
    (0..source.count).map(at).collect()
}
