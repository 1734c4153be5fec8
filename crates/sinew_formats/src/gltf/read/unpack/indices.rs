//! Indices compressed by meshoptimizer: modes `TRIANGLES` and `INDICES`.
//!
//! # Source
//! Khronos Group, *KHR_meshopt_compression*, appendix A, modes 1 and 2.
//! # Cost
//! One pass over the bytes.
//! # Limits
//! An entry of a queue that was never written is an error. Indices are not compared with the number of vertices: whoever
//! uses them does that.

/// Bytes between the codes and the end of the stream.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Result<u8, String> {
        let (&byte, rest) = self.0.split_first().ok_or("the compressed bytes end too early")?;
        self.0 = rest;
        Ok(byte)
    }

    /// An integer in groups of seven bits.
    fn varint(&mut self) -> Result<u32, String> {
        let mut value = 0u32;
        for group in 0..5 {
            let byte = self.byte()?;
            value |= u32::from(byte & 127).wrapping_shl(7 * group);
            if byte < 128 {
                return Ok(value);
            }
        }
        Err("an integer has more than five bytes".into())
    }

    fn finish(&self) -> Result<(), String> {
        match self.0.len() {
            0 => Ok(()),
            more => Err(format!("{more} compressed bytes are left over")),
        }
    }
}

fn zigzag(value: u32) -> u32 {
    (value >> 1) ^ (value & 1).wrapping_neg()
}

/// The 16 newest of a kind; the newest is number 0.
struct Queue<T> {
    entries: [Option<T>; 16],
    next: usize,
}

impl<T: Copy> Queue<T> {
    fn new() -> Self {
        Self { entries: [None; 16], next: 0 }
    }

    fn push(&mut self, entry: T) {
        self.entries[self.next % 16] = Some(entry);
        self.next += 1;
    }

    fn get(&self, back: u8) -> Result<T, String> {
        let at = self.next.wrapping_sub(1 + usize::from(back)) % 16;
        self.entries[at].ok_or_else(|| "a triangle refers to one that does not exist".into())
    }
}

/// State between triangles.
struct Triangles<'a> {
    data: Reader<'a>,
    next: u32,
    last: u32,
    edges: Queue<(u32, u32)>,
    vertices: Queue<u32>,
}

impl Triangles<'_> {
    fn fresh(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(1)
    }

    fn explicit(&mut self) -> Result<u32, String> {
        self.last = self.last.wrapping_add(zigzag(self.data.varint()?));
        Ok(self.last)
    }

    /// A vertex by four bits, and whether it is new to the queue.
    fn vertex(&mut self, code: u8) -> Result<(u32, bool), String> {
        Ok(match code {
            0 => (self.fresh(), true),
            15 => (self.explicit()?, true),
            _ => (self.vertices.get(code - 1)?, false),
        })
    }

    /// A triangle over a known edge.
    fn on_edge(&mut self, code: u8) -> Result<[u32; 3], String> {
        let (a, b) = self.edges.get(code >> 4)?;
        let (c, is_new) = match code & 15 {
            0 => (self.fresh(), true),
            near @ (13 | 14) => {
                let step = if near == 13 { u32::MAX } else { 1 };
                self.last = self.last.wrapping_add(step);
                (self.last, true)
            }
            15 => (self.explicit()?, true),
            known => (self.vertices.get(known)?, false),
        };
        if is_new {
            self.vertices.push(c);
        }
        self.edges.push((c, b));
        self.edges.push((a, c));
        Ok([a, b, c])
    }

    /// A triangle of its own: `pair` has the codes of the second and third vertex.
    fn on_its_own(&mut self, is_first_explicit: bool, pair: u8) -> Result<[u32; 3], String> {
        let a = if is_first_explicit { None } else { Some(self.fresh()) };
        // Explicit indices stand in the order of the vertices.
        let a = a.map_or_else(|| self.explicit(), Ok)?;
        let (b, is_b_new) = self.vertex(pair >> 4)?;
        let (c, is_c_new) = self.vertex(pair & 15)?;
        self.vertices.push(a);
        [(b, is_b_new), (c, is_c_new)].iter().filter(|new| new.1).for_each(|new| self.vertices.push(new.0));
        [(b, a), (c, b), (a, c)].into_iter().for_each(|edge| self.edges.push(edge));
        Ok([a, b, c])
    }
}

/// Decode a list of triangles with `count` corners.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode_triangles(data: &[u8], count: usize) -> Result<Vec<u32>, String> {
    check_head(data, 0xE1)?;
    let n_triangles = count / 3;
    let body = data[1..].len().checked_sub(16).and_then(|end| data[1..=end].split_at_checked(n_triangles));
    let (codes, rest) = body.ok_or("the compressed bytes end too early")?;
    let table = &data[data.len() - 16..];
    let mut state =
        Triangles { data: Reader(rest), next: 0, last: 0, edges: Queue::new(), vertices: Queue::new() };
    let mut corners = Vec::with_capacity(3 * codes.len());
    for &code in codes {
        let triangle = match code {
            0..0xF0 => state.on_edge(code)?,
            0xF0..0xFE => {
                let pair = table[usize::from(code & 15)];
                if pair >> 4 == 15 || pair & 15 == 15 {
                    return Err(format!("entry {} of the table is not valid", code & 15));
                }
                state.on_its_own(false, pair)?
            }
            _ => {
                let pair = state.data.byte()?;
                if pair == 0 {
                    state.next = 0;
                }
                state.on_its_own(code == 0xFF, pair)?
            }
        };
        corners.extend(triangle);
    }
    state.data.finish()?;
    Ok(corners)
}

/// Decode any sequence of indices.
///
/// # Errors
/// What is wrong with the stream.
pub(super) fn decode_sequence(data: &[u8], count: usize) -> Result<Vec<u32>, String> {
    check_head(data, 0xD1)?;
    let end =
        data.len().checked_sub(4).filter(|&end| end >= 1).ok_or("the compressed bytes end too early")?;
    let mut reader = Reader(&data[1..end]);
    if count > reader.0.len() {
        return Err("the compressed bytes end too early".into());
    }
    let mut last = [0u32; 2];
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let value = reader.varint()?;
        let last = &mut last[(value & 1) as usize];
        *last = last.wrapping_add(zigzag(value >> 1));
        values.push(*last);
    }
    reader.finish()?;
    Ok(values)
}

fn check_head(data: &[u8], expected: u8) -> Result<(), String> {
    match data.first() {
        Some(&found) if found == expected => Ok(()),
        // Version 0, which no glTF file may have.
        Some(found) => Err(format!("it begins with {found:#04x} instead of {expected:#04x}")),
        None => Err("there are no compressed bytes".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_of_every_kind() {
        let mut data = vec![0xE1];
        // A new triangle; one over its newest edge with a new vertex; one with the vertex before `last`; two explicit ones.
        data.extend([0xF0, 0x00, 0x0F, 0x0D, 0xFF, 0xFE]);
        data.extend([20]); // explicit 10
        data.extend([0xF1, 3, 4]); // 9 − 2 = 7, 7 + 2 = 9, and the newest vertex of the queue
        data.extend([0x00]); // begins again at 0
        data.extend([0; 16]);
        let corners = decode_triangles(&data, 18).unwrap();
        assert_eq!(corners[..3], [0, 1, 2]);
        assert_eq!(corners[3..6], [0, 2, 3], "over the edge from the first to the third vertex");
        assert_eq!(corners[6..9], [0, 3, 10]);
        assert_eq!(corners[9..12], [0, 10, 9]);
        assert_eq!(corners[12..15], [7, 9, 9], "the vertex queue is read before the triangle enters it");
        assert_eq!(corners[15..], [0, 1, 2]);
        for end in 0..data.len() {
            assert!(decode_triangles(&data[..end], 18).is_err(), "{end}");
        }
        assert!(decode_triangles(&data, 3).is_err(), "bytes are left over");
        let mut orphan = vec![0xE1, 0x00];
        orphan.extend([0; 16]);
        assert!(decode_triangles(&orphan, 3).unwrap_err().contains("does not exist"));
    }

    #[test]
    fn sequences_follow_two_baselines() {
        // +5 on the first, +100 on the second, +1 and −2 on the first.
        let mut data = vec![0xD1, 20, 0x91, 0x03, 4, 6];
        data.extend([0; 4]);
        assert_eq!(decode_sequence(&data, 4).unwrap(), [5, 100, 6, 4]);
        assert!(decode_sequence(&data, 3).is_err());
        assert!(decode_sequence(&data, usize::MAX).is_err());
        assert!(decode_sequence(&[0xD1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0], 1).is_err());
    }
}
