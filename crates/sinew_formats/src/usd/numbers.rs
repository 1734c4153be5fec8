//! Numbers of USD crate files, alone and in arrays.
//!
//! # Source
//! As the file it is part of; arrays of at least 16 numbers may be compressed.

use super::binary::{Cursor, File, fault_at};
use super::value::Value;
use crate::Fault;

/// Arrays below this size are never compressed.
const LEAST_COMPRESSED: usize = 16;

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    Unsigned(usize),
    Signed(usize),
    Half,
    Float,
    Double,
}

impl Number {
    fn size(self) -> usize {
        match self {
            Self::Unsigned(size) | Self::Signed(size) => size,
            Self::Half => 2,
            Self::Float => 4,
            Self::Double => 8,
        }
    }

    fn read(self, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        match self {
            Self::Unsigned(_) => bits as f64,
            Self::Signed(size) => ((bits << (64 - 8 * size)) as i64 >> (64 - 8 * size)) as f64,
            Self::Half => half(bits as u16),
            Self::Float => f64::from(f32::from_bits(bits as u32)),
            Self::Double => f64::from_bits(bits),
        }
    }
}

/// A number of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 != 0 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * (-24f64).exp2(),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * f64::from(exponent - 25).exp2(),
    }
}

/// Kind and number of the numbers of a type, if it has any.
pub(super) fn layout(kind: u8) -> Option<(Number, usize)> {
    use Number::{Double, Float, Half, Signed, Unsigned};
    Some(match kind {
        1 | 2 => (Unsigned(1), 1),
        3 => (Signed(4), 1),
        4 => (Unsigned(4), 1),
        5 => (Signed(8), 1),
        6 => (Unsigned(8), 1),
        7 => (Half, 1),
        8 => (Float, 1),
        9 | 56 => (Double, 1),
        13 => (Double, 4),
        14 => (Double, 9),
        15 => (Double, 16),
        16 => (Double, 4),
        17 => (Float, 4),
        18 => (Half, 4),
        19..=30 => {
            let number = [Double, Float, Half, Signed(4)][usize::from(kind - 19) % 4];
            (number, 2 + usize::from(kind - 19) / 4)
        }
        48 => (Double, 1),
        _ => return None,
    })
}

/// Quaternions begin with the real part, where files end with it.
fn real_first(kind: u8, values: &mut [f64]) {
    if (16..=18).contains(&kind) {
        values.as_chunks_mut::<4>().0.iter_mut().for_each(|q| q.rotate_right(1));
    }
}

/// One number, or one vector or matrix.
pub(super) fn single(kind: u8, mut cursor: Cursor, inlined: Option<u32>) -> Result<Value, Fault> {
    let Some((number, width)) = layout(kind) else { return Ok(Value::Other) };
    // A vector of times.
    if kind == 48 {
        let n = cursor.count(64)?;
        let bytes = cursor.take(8 * n)?;
        let values = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
        return Ok(Value::Numbers { values, width: 1 });
    }
    if let Some(bits) = inlined {
        let bytes = bits.to_le_bytes();
        if width == 1 {
            let narrow = match number {
                Number::Double => Number::Float,
                Number::Signed(8) => Number::Signed(4),
                Number::Unsigned(8) => Number::Unsigned(4),
                other => other,
            };
            return Ok(Value::Number(narrow.read(&bytes[..narrow.size()])));
        }
        // Small integers: components of a vector, or the diagonal of a matrix.
        let small = |k: usize| f64::from(bytes[k % 4] as i8);
        let values = match kind {
            13..=15 => {
                let n = usize::from(kind) - 11;
                (0..n * n).map(|at| if at % (n + 1) == 0 { small(at / (n + 1)) } else { 0.0 }).collect()
            }
            _ => (0..width).map(small).collect(),
        };
        return Ok(Value::Numbers { values, width });
    }
    let bytes = cursor.take(number.size() * width)?;
    let mut values: Vec<f64> = bytes.chunks_exact(number.size()).map(|bytes| number.read(bytes)).collect();
    real_first(kind, &mut values);
    Ok(if width == 1 { Value::Number(values[0]) } else { Value::Numbers { values, width } })
}

/// An array.
pub(super) fn array(file: &File, kind: u8, mut cursor: Cursor, is_compressed: bool) -> Result<Value, Fault> {
    if cursor.at == 0 {
        return Ok(if layout(kind).is_some() {
            Value::Numbers { values: Vec::new(), width: 1 }
        } else {
            Value::Other
        });
    }
    if file.version[1] < 5 {
        cursor.half_word()?;
    }
    let at = cursor.at;
    let n = match file.version[1] < 7 {
        true => cursor.half_word()? as usize,
        false => cursor.count(0)?,
    };
    if matches!(kind, 10..=12) {
        file.charge(n, at)?;
        let bytes = cursor.take(n.saturating_mul(4))?;
        let index = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        let text = |bytes| if kind == 10 { file.string(index(bytes)) } else { file.token(index(bytes)) };
        return Ok(Value::Texts(
            bytes.as_chunks::<4>().0.iter().map(|bytes| text(bytes).to_owned()).collect(),
        ));
    }
    let Some((number, width)) = layout(kind) else { return Ok(Value::Other) };
    file.charge(n.saturating_mul(width), at)?;
    if is_compressed && width == 1 && n >= LEAST_COMPRESSED {
        let values = compressed(number, n, &mut cursor)?;
        return Ok(Value::Numbers { values, width });
    }
    let bytes = cursor.take(n.saturating_mul(width).saturating_mul(number.size()))?;
    let mut values: Vec<f64> = bytes.chunks_exact(number.size()).map(|bytes| number.read(bytes)).collect();
    real_first(kind, &mut values);
    Ok(Value::Numbers { values, width })
}

fn compressed(number: Number, n: usize, cursor: &mut Cursor) -> Result<Vec<f64>, Fault> {
    let floats = |values: Vec<i64>| values.into_iter().map(|value| value as f64).collect();
    match number {
        Number::Signed(size) if size >= 4 => Ok(floats(cursor.integers(n, size)?)),
        Number::Unsigned(size) if size >= 4 => {
            let unsigned = |value: i64| if size == 4 { f64::from(value as u32) } else { value as u64 as f64 };
            Ok(cursor.integers(n, size)?.into_iter().map(unsigned).collect())
        }
        Number::Signed(_) | Number::Unsigned(_) => {
            let bytes = cursor.take(n * number.size())?;
            Ok(bytes.chunks_exact(number.size()).map(|bytes| number.read(bytes)).collect())
        }
        Number::Half | Number::Float | Number::Double => match cursor.take(1)?[0] {
            b'i' => Ok(floats(cursor.integers(n, 4)?)),
            b't' => {
                let n_known = cursor.half_word()? as usize;
                let bytes = cursor.take(n_known.saturating_mul(number.size()))?;
                let known: Vec<f64> =
                    bytes.chunks_exact(number.size()).map(|bytes| number.read(bytes)).collect();
                let value = |index: i64| known.get(index as usize).copied().unwrap_or(0.0);
                Ok(cursor.integers(n, 4)?.into_iter().map(value).collect())
            }
            other => {
                Err(fault_at(cursor.at, format!("numbers are compressed in an unknown way, {other:#04x}")))
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_what_they_are_in_other_programs() {
        for (bits, value) in
            [(0x3C00, 1.0), (0xC000, -2.0), (0x3555, 0.333_251_953_125), (0x0001, 5.960_464_477_539_063e-8)]
        {
            assert_eq!(half(bits), value);
        }
        assert_eq!(half(0x7C00), f64::INFINITY);
        assert_eq!(Number::Signed(4).read(&(-5i32).to_le_bytes()), -5.0);
        assert_eq!(layout(24), Some((Number::Float, 3)));
        assert_eq!(layout(20), Some((Number::Float, 2)));
    }
}
