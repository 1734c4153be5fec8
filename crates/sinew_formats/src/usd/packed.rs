//! Compressed parts of USD crate files: LZ4 blocks and integers.
//!
//! # Source
//! Collet, *LZ4 Block Format Description*; the integers as `Usd_IntegerCompression` of OpenUSD lays them out: a most common
//! difference, two bits per integer that say how many bytes its difference takes, and those bytes.
//! # Limits
//! Output grows with what the stream holds, never with what a head claims.

const EARLY: &str = "a compressed part ends too early";

/// Bytes that are read from the front.
struct Front<'a>(&'a [u8]);

impl<'a> Front<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(n).ok_or(EARLY)?;
        self.0 = rest;
        Ok(taken)
    }

    fn word<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or(EARLY)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A length of four bits that goes on in bytes where it is 15.
    fn length(&mut self, short: u8) -> Result<usize, String> {
        let mut length = usize::from(short);
        if short == 15 {
            loop {
                let [more] = self.word()?;
                length += usize::from(more);
                if more < 255 {
                    break;
                }
            }
        }
        Ok(length)
    }
}

/// Decode chunks of LZ4; at most `most` bytes.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode_chunks(bytes: &[u8], most: usize) -> Result<Vec<u8>, String> {
    let mut front = Front(bytes);
    let [n_chunks] = front.word()?;
    let mut out = Vec::new();
    if n_chunks == 0 {
        decode_block(front.0, most, &mut out)?;
        return Ok(out);
    }
    for _ in 0..n_chunks {
        let len = usize::try_from(i32::from_le_bytes(front.word()?)).map_err(|_| EARLY)?;
        // A chunk refers to nothing before it.
        let mut decoded = Vec::new();
        decode_block(front.take(len)?, most - out.len(), &mut decoded)?;
        out.append(&mut decoded);
    }
    Ok(out)
}

fn decode_block(bytes: &[u8], most: usize, out: &mut Vec<u8>) -> Result<(), String> {
    let mut front = Front(bytes);
    let check = |len: usize| match len > most {
        true => Err("a compressed part is longer than it says".to_owned()),
        false => Ok(()),
    };
    while !front.0.is_empty() {
        let [token] = front.word()?;
        let n_literals = front.length(token >> 4)?;
        check(out.len() + n_literals)?;
        out.extend_from_slice(front.take(n_literals)?);
        // The last sequence has literals only.
        if front.0.is_empty() {
            break;
        }
        let offset = usize::from(u16::from_le_bytes(front.word()?));
        let n = 4 + front.length(token & 15)?;
        if offset == 0 || offset > out.len() {
            return Err("a compressed part refers to bytes before its start".into());
        }
        check(out.len() + n)?;
        for _ in 0..n {
            out.push(out[out.len() - offset]);
        }
    }
    Ok(())
}

/// Decode `n` integers of 4 or 8 bytes.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode_integers(bytes: &[u8], n: usize, size: usize) -> Result<Vec<i64>, String> {
    // A difference takes two bits and at most its size.
    let most = n.saturating_mul(size + 1).saturating_add(size + 8);
    let decoded = decode_chunks(bytes, most)?;
    let mut front = Front(&decoded);
    let number = |bytes: &[u8]| {
        let mut wide = [if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xFF } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    let common = number(front.take(size)?);
    let codes = front.take(n.div_ceil(4))?;
    let mut values = Vec::with_capacity(n);
    let mut value = 0i64;
    for at in 0..n {
        let bytes = match (codes[at / 4] >> (2 * (at % 4))) & 3 {
            0 => 0,
            1 => size / 4,
            2 => size / 2,
            _ => size,
        };
        let difference = if bytes == 0 { common } else { number(front.take(bytes)?) };
        value = value.wrapping_add(difference);
        if size == 4 {
            value = i64::from(value as i32);
        }
        values.push(value);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_repeat_what_they_hold() {
        // Three literals, a repetition of 9 bytes at distance 3, and a last literal.
        let block = [0, 0x35, b'a', b'b', b'c', 3, 0, 0x10, b'!'];
        assert_eq!(decode_chunks(&block, 100).unwrap(), b"abcabcabcabc!");
        let mut chunk = vec![1];
        chunk.extend((block.len() as i32 - 1).to_le_bytes());
        chunk.extend(&block[1..]);
        assert_eq!(decode_chunks(&chunk, 100).unwrap(), b"abcabcabcabc!");
        assert!(decode_chunks(&block, 5).is_err());
        assert!(decode_chunks(&[0, 0x15, b'a', 2, 0], 100).is_err(), "before the start");
        (0..chunk.len()).for_each(|end| assert!(decode_chunks(&chunk[..end], 100).is_err(), "{end}"));
    }

    #[test]
    fn integers_are_differences() {
        // The most common difference 1; the third is −5 in one byte, the fourth 1000 in two.
        let mut raw = 1i32.to_le_bytes().to_vec();
        raw.push(0b10_01_00_00);
        raw.push((-5i8) as u8);
        raw.extend(1000i16.to_le_bytes());
        let mut block = vec![0, (raw.len() as u8) << 4];
        block.extend(&raw);
        assert_eq!(decode_integers(&block, 4, 4).unwrap(), [1, 2, -3, 997]);
        assert!(decode_integers(&block, 5, 4).is_err());
        assert!(decode_integers(&block, usize::MAX, 4).is_err());
    }
}
