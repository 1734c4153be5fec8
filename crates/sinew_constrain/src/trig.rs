//! Sines and cosines of many angles at once.
//!
//! # Source
//! Range reduction and polynomials of Moshier's Cephes library (`sin.c`), which agree with the correctly rounded values
//! within one unit in the last place for angles up to a few million turns.

use std::f64::consts::FRAC_2_PI;

/// π/2 in three parts, the first two with trailing zeros, so that their integer multiples are exact.
const HALF_PI: [f64; 3] = [1.570_796_251_296_997, 7.549_789_415_861_596e-8, 5.390_302_858_158_119e-15];
/// Beyond this many quarter turns the reduction loses digits; then the library's functions are used.
const MAX_TURNS: f64 = 1e6;

/// Sine and cosine of each angle (radians). The compiler does four at once.
#[inline(always)]
pub(crate) fn sin_cos(angles: &[f64], sines: &mut [f64], cosines: &mut [f64]) {
    let mut is_far = false;
    for ((&x, sine), cosine) in angles.iter().zip(sines.iter_mut()).zip(cosines.iter_mut()) {
        (*sine, *cosine) = reduced(x);
        // A translation among the angles may be large; its sine is never read, but must not trap.
        is_far |= x.abs() >= MAX_TURNS;
    }
    if is_far {
        for (i, x) in angles.iter().enumerate().filter(|(_, x)| x.abs() >= MAX_TURNS) {
            (sines[i], cosines[i]) = x.sin_cos();
        }
    }
}

#[inline(always)]
fn reduced(x: f64) -> (f64, f64) {
    /// Adding and subtracting this number rounds to the nearest integer, without a library call on older machines.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let turns = x * FRAC_2_PI + ROUND;
    let quadrant = turns.to_bits();
    let k = turns - ROUND;
    let r = ((x - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2];
    let z = r * r;
    let sine = r + r
        * z
        * (((((1.589_623_015_765_465_7e-10 * z - 2.505_074_776_285_780_7e-8) * z
            + 2.755_731_362_138_572_4e-6)
            * z
            - 1.984_126_982_958_954e-4)
            * z
            + 8.333_333_333_322_118e-3)
            * z
            - 1.666_666_666_666_663e-1);
    let cosine = 1.0 - 0.5 * z
        + z * z
            * (((((-1.135_853_652_138_768_2e-11 * z + 2.087_570_084_197_473e-9) * z
                - 2.755_731_417_929_674e-7)
                * z
                + 2.480_158_728_885_170_4e-5)
                * z
                - 1.388_888_888_887_305_6e-3)
                * z
                + 4.166_666_666_666_659e-2);
    let is_odd = quadrant & 1 != 0;
    let (s, c) = if is_odd { (cosine, sine) } else { (sine, cosine) };
    let sign_s = (quadrant & 2) << 62;
    let sign_c = ((quadrant + 1) & 2) << 62;
    (f64::from_bits(s.to_bits() ^ sign_s), f64::from_bits(c.to_bits() ^ sign_c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_library(angles in prop::collection::vec(-40.0..40.0f64, 0..9), far in -1e7..1e7f64) {
            let mut angles = angles;
            angles.push(far);
            let (mut s, mut c) = (vec![0.0; angles.len()], vec![0.0; angles.len()]);
            sin_cos(&angles, &mut s, &mut c);
            for (i, x) in angles.iter().enumerate() {
                prop_assert!((s[i] - x.sin()).abs() < 4e-16, "sin {x}");
                prop_assert!((c[i] - x.cos()).abs() < 4e-16, "cos {x}");
            }
        }
    }
}
