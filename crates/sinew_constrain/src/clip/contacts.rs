//! Detection of contacts in a motion whose floor is not known.
//!
//! # Source
//! Kovar, Schreiner and Gleicher, *Footskate cleanup for motion capture editing* (2002): part of a foot is planted while it
//! is slow, with two thresholds. Differs: heights are compared with those of other contacts instead of a floor, because
//! the ground may rise.
//! # Cost
//! Linear in the number of frames, quadratic in the number of contacts.

use glam::DVec3;
use std::ops::Range;

/// Speeds and times by which contacts are found; lengths are relative to the length of a leg.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactParams {
    /// A contact needs a frame as slow as this, in leg lengths per second; default 0.2.
    pub slow: f64,
    /// It lasts while the part is slower than this; default 0.42.
    pub slack: f64,
    /// Shorter ones are noise, in seconds; default 0.08.
    pub least_secs: f64,
    /// Shorter interruptions are noise, in seconds; default 0.06.
    pub gap_secs: f64,
    /// Greatest slope between two places where feet stand; default 1 (45 degrees).
    pub steepest: f64,
}

impl Default for ContactParams {
    fn default() -> Self {
        Self { slow: 0.2, slack: 0.42, least_secs: 0.08, gap_secs: 0.06, steepest: 1.0 }
    }
}

/// Window over which speeds are measured, so that noise at 120 fps does not matter.
const WINDOW_SECS: f64 = 0.05;
/// Two contacts closer in height than this share of a leg may lie on one floor, wherever they are.
pub(super) const LEVEL_HEIGHT: f64 = 0.08;

/// A planted part of a foot.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundContact {
    /// Frames.
    pub frames: Range<usize>,
    /// Median of its positions.
    pub place: DVec3,
    /// Mean speed, metres per second.
    pub speed: f64,
}

/// Speed at every frame, measured over a window that does not cross a cut.
pub fn speeds(path: &[DVec3], fps: f64, segments: &[Range<usize>]) -> Vec<f64> {
    let reach = ((0.5 * WINDOW_SECS * fps).round() as usize).max(1);
    let mut out = vec![0.0; path.len()];
    for segment in segments {
        for t in segment.clone() {
            let (a, b) = (t.saturating_sub(reach).max(segment.start), (t + reach).min(segment.end - 1));
            out[t] = if b > a { path[b].distance(path[a]) * fps / (b - a) as f64 } else { f64::INFINITY };
        }
    }
    out
}

/// Ranges of frames in which a point is planted.
pub fn find_contacts(
    path: &[DVec3],
    fps: f64,
    segments: &[Range<usize>],
    leg: f64,
    params: &ContactParams,
) -> Vec<FoundContact> {
    let speed = speeds(path, fps, segments);
    let mut found = Vec::new();
    for segment in segments {
        let is_slow = |t: &usize| speed[*t] < params.slack * leg;
        let mut runs: Vec<Range<usize>> = Vec::new();
        for t in segment.clone().filter(is_slow) {
            let gap = (params.gap_secs * fps).round() as usize;
            match runs.last_mut() {
                Some(run) if t <= run.end + gap => run.end = t + 1,
                _ => runs.push(t..t + 1),
            }
        }
        for run in runs {
            let slowest = run.clone().map(|t| speed[t]).fold(f64::INFINITY, f64::min);
            if slowest < params.slow * leg && run.len() as f64 >= params.least_secs * fps {
                let mean = run.clone().map(|t| speed[t]).sum::<f64>() / run.len() as f64;
                found.push(FoundContact { place: median(&path[run.clone()]), frames: run, speed: mean });
            }
        }
    }
    found
}

/// Whether a contact is in the air: too high above another one to step there.
pub fn is_in_air(contact: &FoundContact, others: &[&FoundContact], leg: f64, params: &ContactParams) -> bool {
    others.iter().any(|other| {
        let way = contact.place - other.place;
        let level = DVec3::new(way.x, 0.0, way.z).length();
        way.y > (LEVEL_HEIGHT * leg).max(params.steepest * level)
    })
}

/// Median of each coordinate.
pub fn median(points: &[DVec3]) -> DVec3 {
    let middle = |axis: usize| {
        let mut values: Vec<f64> = points.iter().map(|p| p[axis]).collect();
        values.sort_by(f64::total_cmp);
        let n = values.len();
        if n == 0 { 0.0 } else { 0.5 * (values[(n - 1) / 2] + values[n / 2]) }
    };
    DVec3::new(middle(0), middle(1), middle(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A point that is planted, swings forward and up, and is planted again a step further and `rise` higher; with noise.
    fn step(fps: f64, rise: f64, noise: f64) -> Vec<DVec3> {
        let n = (1.6 * fps) as usize;
        let mut seed = 7u32;
        let mut random = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise * (f64::from(seed >> 8) / f64::from(1u32 << 24) - 0.5)
        };
        (0..n)
            .map(|t| {
                let u = ((t as f64 / fps - 0.6) / 0.4).clamp(0.0, 1.0);
                let s = u * u * (3.0 - 2.0 * u);
                let lift = 0.1 * (std::f64::consts::PI * u).sin();
                DVec3::new(random(), rise * s + lift + random(), 0.7 * s + random())
            })
            .collect()
    }

    #[test]
    fn standing_is_found_on_any_floor_and_through_noise() {
        for (fps, rise, noise) in
            [(30.0, 0.0, 0.0), (120.0, 0.0, 0.004), (120.0, 0.2, 0.004), (60.0, -0.2, 0.002)]
        {
            let path = step(fps, rise, noise);
            let whole = 0..path.len();
            let found =
                find_contacts(&path, fps, std::slice::from_ref(&whole), 0.85, &ContactParams::default());
            assert_eq!(found.len(), 2, "{fps} {rise} {noise}: {found:?}");
            let [a, b] = [&found[0], &found[1]];
            assert!((a.frames.end as f64 / fps - 0.65).abs() < 0.1, "{a:?}");
            assert!((b.frames.start as f64 / fps - 0.95).abs() < 0.1, "{b:?}");
            assert!((b.place - DVec3::new(0.0, rise, 0.7)).length() < 0.02);
            assert!(!is_in_air(b, &[a], 0.85, &ContactParams::default()));
        }
    }

    #[test]
    fn feet_held_in_the_air_do_not_stand() {
        let contact = |place| FoundContact { frames: 0..10, place, speed: 0.0 };
        let (low, high) = (contact(DVec3::ZERO), contact(DVec3::new(0.2, 0.5, 0.1)));
        assert!(is_in_air(&high, &[&low], 0.85, &ContactParams::default()));
        assert!(!is_in_air(&low, &[&high], 0.85, &ContactParams::default()));
    }

    #[test]
    fn contacts_do_not_cross_cuts_and_single_frames_do_not_stand() {
        let path = vec![DVec3::ZERO; 60];
        let params = ContactParams::default();
        let found = find_contacts(&path, 30.0, &[0..1, 1..30, 30..60], 0.85, &params);
        let frames: Vec<_> = found.iter().map(|c| c.frames.clone()).collect();
        assert_eq!(frames, [1..30, 30..60]);
    }
}
