//! What corrections do within a few hundredths of a second is no motion: it comes from goals and contacts that begin and end.
//!
//! # Source
//! Sinew's own: a Gaussian of fixed length in time, so that clips of 120 frames per second are not rougher than those of 30. A
//! correction that accelerates by `a` is moved by `a σ²/2`: a millimetre where a foot is caught.

use std::ops::Range;

/// Standard deviation, seconds.
const SIGMA_SECS: f64 = 0.015;
/// Standard deviations after which nothing counts.
const REACH: f64 = 3.0;

/// Smooth corrections of `n` numbers per frame, within segments; beyond their ends they stay what they are there.
pub(super) fn smooth(x: &mut [f64], n: usize, segments: &[Range<usize>], fps: f64) {
    let sigma = SIGMA_SECS * fps;
    let reach = (REACH * sigma).floor() as usize;
    let weight = |k: usize| (-0.5 * (k as f64 / sigma).powi(2)).exp();
    let weights: Vec<f64> = (0..=reach).map(weight).collect();
    let total = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
    for segment in segments.iter().filter(|segment| !segment.is_empty()) {
        let before = x[segment.start * n..segment.end * n].to_vec();
        let last = segment.len() - 1;
        for (t, row) in x[segment.start * n..segment.end * n].chunks_exact_mut(n).enumerate() {
            for (d, value) in row.iter_mut().enumerate() {
                let at = |t: usize| before[t * n + d];
                let around = |k: usize| at(t.saturating_sub(k)) + at((t + k).min(last));
                let sides: f64 = (1..=reach).map(|k| weights[k] * around(k)).sum();
                *value = (weights[0] * at(t) + sides) / total;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_goes_and_what_is_slow_stays() {
        let fps = 120.0;
        let wave = |t: usize, hertz: f64| (t as f64 / fps * std::f64::consts::TAU * hertz).sin();
        let mut x: Vec<f64> = (0..240).flat_map(|t| [wave(t, 2.0), wave(t, 45.0)]).collect();
        smooth(&mut x, 2, &[0..120, 120..240], fps);
        for t in (10..110).chain(130..230) {
            assert!((x[2 * t] - wave(t, 2.0)).abs() < 0.02, "{t}");
            assert!(x[2 * t + 1].abs() < 0.01, "{t}");
        }
    }

    #[test]
    fn constants_stay_to_the_ends_of_segments() {
        let mut x: Vec<f64> = (0..20).map(|t| if t < 7 { 1.0 } else { 5.0 }).collect();
        let before = x.clone();
        smooth(&mut x, 1, &[0..7, 7..20], 60.0);
        assert!(x.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
