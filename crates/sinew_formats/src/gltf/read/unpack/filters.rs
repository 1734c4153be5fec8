//! What meshoptimizer does to attributes before it compresses them, undone.
//!
//! # Source
//! Khronos Group, *KHR_meshopt_compression*, appendix B.

/// A filter by its name; `NONE` has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
    Color,
}

impl Filter {
    /// The filter of a name and a stride, if there is such a one.
    pub fn new(name: &str, stride: usize) -> Option<Self> {
        match (name, stride) {
            ("NONE", _) => Some(Self::None),
            ("OCTAHEDRAL", 4 | 8) => Some(Self::Octahedral),
            ("QUATERNION", 8) => Some(Self::Quaternion),
            ("EXPONENTIAL", _) => Some(Self::Exponential),
            ("COLOR", 4 | 8) => Some(Self::Color),
            _ => None,
        }
    }

    /// Undo the filter in place.
    pub fn undo(self, bytes: &mut [u8], stride: usize) {
        match (self, stride) {
            (Self::None, _) => {}
            (Self::Octahedral, 4) => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|element| {
                *element = octahedral(element.map(|x| f32::from(x as i8)), 127.0).map(|x| x as i8 as u8);
            }),
            (Self::Octahedral, _) => each_of_16(bytes, |x| {
                octahedral(x.map(|x| f32::from(x as i16)), 32767.0).map(|x| x as i16 as u16)
            }),
            (Self::Quaternion, _) => each_of_16(bytes, quaternion),
            (Self::Exponential, _) => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|word| {
                *word = exponential(i32::from_le_bytes(*word)).to_le_bytes();
            }),
            (Self::Color, 4) => bytes.as_chunks_mut::<4>().0.iter_mut().for_each(|element| {
                let [y, co, cg, a] = *element;
                let signed = |x: u8| i32::from(x as i8);
                *element = color([y.into(), signed(co), signed(cg), a.into()], 255.0).map(|x| x as u8);
            }),
            (Self::Color, _) => each_of_16(bytes, |[y, co, cg, a]| {
                let signed = |x: u16| i32::from(x as i16);
                color([y.into(), signed(co), signed(cg), a.into()], 65535.0).map(|x| x as u16)
            }),
        }
    }
}

fn each_of_16(bytes: &mut [u8], change: impl Fn([u16; 4]) -> [u16; 4]) {
    for element in bytes.as_chunks_mut::<8>().0 {
        let values = [0, 2, 4, 6].map(|at| u16::from_le_bytes([element[at], element[at + 1]]));
        for (at, value) in change(values).into_iter().enumerate() {
            element[2 * at..][..2].copy_from_slice(&value.to_le_bytes());
        }
    }
}

fn octahedral([x, y, one, rest]: [f32; 4], most: f32) -> [f32; 4] {
    let (mut x, mut y) = (x / one, y / one);
    let z = 1.0 - x.abs() - y.abs();
    let beyond = z.min(0.0);
    (x, y) = (x - beyond.copysign(x), y - beyond.copysign(y));
    let scale = most / (x * x + y * y + z * z).sqrt();
    // A division by zero becomes 0 when it is made an integer.
    [(x * scale).round(), (y * scale).round(), (z * scale).round(), rest]
}

fn quaternion(input: [u16; 4]) -> [u16; 4] {
    let signed = input.map(|x| x as i16);
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(signed[3] | 3);
    let [x, y, z] = [signed[0], signed[1], signed[2]].map(|x| f32::from(x) * scale);
    let w = (1.0 - x * x - y * y - z * z).max(0.0).sqrt();
    let largest = usize::from(input[3] & 3);
    let mut out = [0; 4];
    for (at, value) in [(1, x), (2, y), (3, z), (0, w)] {
        out[(largest + at) % 4] = (value * 32767.0).round() as i16 as u16;
    }
    out
}

fn exponential(input: i32) -> f32 {
    let (exponent, mantissa) = (input >> 24, (input << 8) >> 8);
    // Exact: the mantissa has 24 bits, and the power is one of two.
    (f64::from(exponent).exp2() * f64::from(mantissa)) as f32
}

fn color([y, co, cg, a]: [i32; 4], most: f32) -> [f32; 4] {
    let scale_bits = (1i32 << (32 - a.leading_zeros()).min(30)) - 1;
    let alpha = a & (scale_bits >> 1);
    let alpha = (alpha << 1) | (alpha & 1);
    let scale = if scale_bits == 0 { 0.0 } else { most / scale_bits as f32 };
    [y + co - cg, y + cg, y - co - cg, alpha].map(|x| (x as f32 * scale).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_have_unit_length_on_both_halves() {
        let mut bytes = [[0u8, 0, 127, 5], [127, 0, 127, 0], [100u8, 100, 127, 0], [(-30i8) as u8, 9, 31, 1]];
        Filter::Octahedral.undo(bytes.as_flattened_mut(), 4);
        assert_eq!(bytes[0], [0, 0, 127, 5]);
        assert_eq!(bytes[1], [127, 0, 0, 0]);
        for normal in bytes {
            let length: f32 = normal[..3].iter().map(|&x| f32::from(x as i8).powi(2)).sum::<f32>().sqrt();
            assert!((length - 127.0).abs() < 1.5, "{normal:?}");
        }
        assert!((bytes[2][2] as i8) < 0, "the lower half is folded");
        let mut zero = [0; 4];
        Filter::Octahedral.undo(&mut zero, 4);
    }

    #[test]
    fn rotations_are_of_unit_length_and_cyclic() {
        for largest in 0..4u16 {
            let mut bytes: Vec<u8> =
                [300, 200, (-100i16) as u16, (1023 & !3) | largest].map(u16::to_le_bytes).concat();
            Filter::Quaternion.undo(&mut bytes, 8);
            let q: Vec<f64> = bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|b| f64::from(i16::from_le_bytes(*b)) / 32767.0)
                .collect();
            assert!((q.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-3);
            let most = q.iter().copied().fold(0.0, f64::max);
            assert_eq!(q[usize::from(largest)], most);
        }
    }

    #[test]
    fn exponents_and_colours() {
        let mut bytes = ((-3i32 << 24) | 40).to_le_bytes();
        Filter::Exponential.undo(&mut bytes, 4);
        assert_eq!(f32::from_le_bytes(bytes), 5.0);
        // White and opaque, in eight bits: luma 255, no chrominance, alpha with its highest bit set.
        let mut white = [255, 0, 0, 255];
        Filter::Color.undo(&mut white, 4);
        assert_eq!(white, [255; 4]);
        let mut grey = [128, 0, 0, 0x80];
        Filter::Color.undo(&mut grey, 4);
        assert_eq!(grey, [128, 128, 128, 0]);
        assert_eq!(Filter::new("QUATERNION", 4), None);
        assert_eq!(Filter::new("FUTURE", 4), None);
    }
}
