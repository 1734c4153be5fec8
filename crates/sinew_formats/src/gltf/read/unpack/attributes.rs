//! Attributes compressed by meshoptimizer: mode `ATTRIBUTES`.
//!
//! # Source
//! Khronos Group, *KHR_meshopt_compression*, appendix A, mode 0, versions 0 (that of `EXT_meshopt_compression`) and 1.
//! The rotation of channel mode 2 is undone on decoding, as the reference decoder does; the text names only the encoder's.
//! # Cost
//! One pass over the bytes.
//! # Limits
//! Memory grows block by block, so that a count that the stream does not hold is found before it is allocated.

/// Elements of a group, which share a bit length.
const GROUP: usize = 16;
/// Most elements of a block.
const MAX_BLOCK: usize = 256;

/// Bytes that were not read yet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or("the compressed bytes end too early")?;
        self.0 = rest;
        Ok(taken)
    }
}

/// Decode `count` elements of `stride` bytes. The stride is a multiple of 4, at most 256.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode(data: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    let version = match data.first() {
        Some(0xA0) => 0,
        Some(0xA1) => 1,
        Some(other) => return Err(format!("it begins with {other:#04x} instead of 0xa0 or 0xa1")),
        None => return Err("there are no compressed bytes".into()),
    };
    let (n_modes, least_tail) = if version == 0 { (0, 32) } else { (stride / 4, 24) };
    let tail = stride + n_modes;
    let body_end = data.len().checked_sub(tail.max(least_tail)).filter(|&end| end >= 1);
    let body_end = body_end.ok_or("the compressed bytes end too early")?;
    let (baseline, modes) = data[data.len() - tail..].split_at(stride);
    if let Some(mode) = modes.iter().find(|&&mode| mode & 15 > 2 || (mode & 15 < 2 && mode >> 4 != 0)) {
        return Err(format!("channel mode {mode:#04x} is unknown"));
    }
    let mut reader = Reader(&data[1..body_end]);
    let mut block = Block { stride, version, modes, planes: vec![0; stride * MAX_BLOCK] };
    let mut last = baseline.to_vec();
    let mut out = Vec::new();
    let most = ((8192 / stride) & !15).min(MAX_BLOCK);
    let mut left = count;
    while left > 0 {
        let n = left.min(most);
        block.read(&mut reader, n)?;
        block.sum(n, &last, &mut out);
        last.copy_from_slice(&out[out.len() - stride..]);
        left -= n;
    }
    match reader.0.len() {
        0 => Ok(out),
        more => Err(format!("{more} compressed bytes are left over")),
    }
}

/// Deltas of one block, a plane for every byte of an element.
struct Block<'a> {
    stride: usize,
    version: u8,
    modes: &'a [u8],
    planes: Vec<u8>,
}

impl Block<'_> {
    fn read(&mut self, reader: &mut Reader, n: usize) -> Result<(), String> {
        let controls = if self.version == 0 { &[] } else { reader.take(self.stride / 4)? };
        for (byte, plane) in self.planes.chunks_exact_mut(MAX_BLOCK).enumerate() {
            let control = controls.get(byte / 4).map(|packed| (packed >> (2 * (byte % 4))) & 3);
            match control {
                None => read_groups(reader, &mut plane[..n.next_multiple_of(GROUP)], [0, 2, 4, 8])?,
                Some(0) => read_groups(reader, &mut plane[..n.next_multiple_of(GROUP)], [0, 1, 2, 4])?,
                Some(1) => read_groups(reader, &mut plane[..n.next_multiple_of(GROUP)], [1, 2, 4, 8])?,
                Some(2) => plane.fill(0),
                Some(_) => plane[..n].copy_from_slice(reader.take(n)?),
            }
        }
        Ok(())
    }

    /// Add the deltas up and append the elements.
    fn sum(&self, n: usize, last: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + n * self.stride, 0);
        let out = &mut out[start..];
        let plane = |byte: usize| &self.planes[byte * MAX_BLOCK..][..n];
        for (channel, first) in (0..self.stride).step_by(4).enumerate() {
            let mode = self.modes.get(channel).copied().unwrap_or(0);
            match mode & 15 {
                0 => {
                    for byte in first..first + 4 {
                        let mut value = last[byte];
                        for (i, &delta) in plane(byte).iter().enumerate() {
                            value = value.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg());
                            out[i * self.stride + byte] = value;
                        }
                    }
                }
                1 => {
                    for byte in [first, first + 2] {
                        let mut value = u16::from_le_bytes([last[byte], last[byte + 1]]);
                        for (i, (&low, &high)) in plane(byte).iter().zip(plane(byte + 1)).enumerate() {
                            let delta = u16::from_le_bytes([low, high]);
                            value = value.wrapping_add((delta >> 1) ^ (delta & 1).wrapping_neg());
                            out[i * self.stride + byte..][..2].copy_from_slice(&value.to_le_bytes());
                        }
                    }
                }
                _ => {
                    let word = |bytes: [u8; 4]| u32::from_le_bytes(bytes);
                    let mut value = word([last[first], last[first + 1], last[first + 2], last[first + 3]]);
                    for i in 0..n {
                        let delta = word([0, 1, 2, 3].map(|byte| plane(first + byte)[i]));
                        value ^= delta.rotate_right(u32::from(mode >> 4));
                        out[i * self.stride + first..][..4].copy_from_slice(&value.to_le_bytes());
                    }
                }
            }
        }
    }
}

/// Read whole groups; two bits of a header choose the bit length of each.
fn read_groups(reader: &mut Reader, plane: &mut [u8], lengths: [u32; 4]) -> Result<(), String> {
    let header = reader.take((plane.len() / GROUP).div_ceil(4))?;
    for (group, out) in plane.chunks_exact_mut(GROUP).enumerate() {
        let bits = lengths[usize::from((header[group / 4] >> (2 * (group % 4))) & 3)];
        match bits {
            0 => out.fill(0),
            8 => out.copy_from_slice(reader.take(GROUP)?),
            _ => {
                let packed = reader.take(GROUP * bits as usize / 8)?;
                let sentinel = (1u8 << bits) - 1;
                let per_byte = 8 / bits as usize;
                for (i, value) in out.iter_mut().enumerate() {
                    let at = (i % per_byte) as u32 * bits;
                    // Single bits stand in the opposite order.
                    let shift = if bits == 1 { at } else { 8 - bits - at };
                    *value = (packed[i / per_byte] >> shift) & sentinel;
                }
                for value in out.iter_mut().filter(|value| **value == sentinel) {
                    *value = reader.take(1)?[0];
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification.
    #[test]
    fn deltas_of_four_bits_with_two_sentinels() {
        let bytes = [0x17, 0x5F, 0xF0, 0xBC, 0x77, 0xA9, 0x21, 0x00, 0x34, 0xB5];
        let mut plane = [0; GROUP];
        let header = [[0b10u8].as_slice(), &bytes].concat();
        let mut reader = Reader(&header);
        read_groups(&mut reader, &mut plane, [0, 2, 4, 8]).unwrap();
        let deltas = plane.map(|v| ((v >> 1) ^ (v & 1).wrapping_neg()) as i8);
        assert_eq!(deltas, [-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0]);
        assert!(reader.0.is_empty());
    }

    #[test]
    fn all_channel_modes_and_control_modes() {
        // Three channels of 4 bytes: bytes, words of 16 bits, exclusive or rotated by 4; two elements.
        let controls = [0b1111_1111u8, 0b1010_1111, 0b1011_1111];
        let mut data = vec![0xA1];
        data.extend(controls);
        // Channel 0: literal planes, deltas +1 and −1 for every byte.
        (0..4).for_each(|_| data.extend([2, 1]));
        // Channel 1: the first word by +256 (zigzag 512) twice, the second does not change.
        data.extend([0, 0, 2, 2]);
        // Channel 2: three literal planes and one of zeros.
        data.extend([0x10, 0, 0, 0, 0, 0]);
        data.extend([0; 24 - 15]);
        let baseline = [5, 5, 5, 5, 1, 0, 9, 0, 0, 0, 0, 0x80];
        data.extend(baseline);
        data.extend([0, 1, 0x42]);
        let out = decode(&data, 2, 12).unwrap();
        assert_eq!(out[..12], [6, 6, 6, 6, 1, 1, 9, 0, 1, 0, 0, 0x80]);
        assert_eq!(out[12..], [5, 5, 5, 5, 1, 2, 9, 0, 1, 0, 0, 0x80]);
        for end in 0..data.len() {
            assert!(decode(&data[..end], 2, 12).is_err(), "{end}");
        }
        assert!(decode(&data, 1, 12).is_err(), "bytes are left over");
        assert!(decode(&data, usize::MAX, 12).is_err(), "memory follows the stream, not the count");
    }
}
