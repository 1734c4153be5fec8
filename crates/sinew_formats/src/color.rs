//! Screen colours (sRGB), which mesh files contain, and linear ones, which Sinew stores as glTF does.
//!
//! # Source
//! IEC 61966-2-1 (sRGB).

/// Linear intensity of a colour channel.
pub(crate) fn linear_from_srgb(x: f64) -> f64 {
    if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

/// Channel of a screen colour; the inverse. White is preserved exactly.
pub(crate) fn srgb_from_linear(x: f64) -> f64 {
    if x <= 0.04045 / 12.92 { 12.92 * x } else { 1.0 + 1.055 * (x.powf(1.0 / 2.4) - 1.0) }
}

/// Linear RGBA of a screen colour; opacity is linear in both.
pub(crate) fn linear_color([r, g, b, a]: [f64; 4]) -> [f32; 4] {
    [linear_from_srgb(r), linear_from_srgb(g), linear_from_srgb(b), a].map(|x| x as f32)
}

/// Screen colour of linear RGBA.
pub(crate) fn screen_color(color: [f32; 4]) -> [f64; 4] {
    let [r, g, b, a] = color.map(f64::from);
    [srgb_from_linear(r), srgb_from_linear(g), srgb_from_linear(b), a]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_and_back() {
        // Middle grey of a screen, and the ends.
        assert!((linear_from_srgb(0.5) - 0.214_041_14).abs() < 1e-8);
        assert_eq!((linear_from_srgb(0.0), linear_from_srgb(1.0)), (0.0, 1.0));
        for x in (0..=1000).map(|i| f64::from(i) / 1000.0) {
            assert!((srgb_from_linear(linear_from_srgb(x)) - x).abs() < 1e-7);
        }
    }
}
