//! From a line on the ground to paths of two feet.

use super::{Ground, Path};
use crate::GeomError;
use glam::{DVec2, DVec3};

/// Parameters of a walk along a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    /// Points on the ground, x and z.
    pub line: Vec<[f64; 2]>,
    /// Distance between two footprints of the same foot.
    pub stride: f64,
    /// Time between two footprints of the same foot.
    pub secs: f64,
    /// How high a foot is lifted above the highest ground on its way.
    pub lift: f64,
    /// Share of the time that a foot is planted: above ½ there are moments on both feet.
    pub stance: f64,
}

/// Largest number of steps; more are a typing error.
const MAX_STEPS: f64 = 100_000.0;

/// Footprints alternate left and right of the line; a foot is at rest between landing and leaving.
///
/// `feet` are the positions of the two feet at rest, when the body faces +Z at the origin: their height above the
/// ground and distance from the middle are kept. Returns the paths of both feet, and the path of the body over the
/// ground, whose direction is where it faces.
///
/// # Errors
/// If a number is invalid, or the line has no length.
pub fn plan_walk(walk: &Walk, feet: [DVec3; 2], ground: &Ground) -> Result<([Path; 2], Path), GeomError> {
    check(walk)?;
    ground.check()?;
    let line = Line::new(&walk.line)?;
    let half = 0.5 * walk.stride;
    // The first and the last footprints of the feet are side by side.
    let n_steps = (line.length / half).round().max(1.0);
    if n_steps > MAX_STEPS {
        return Err(GeomError::Parameter {
            name: "stride",
            value: walk.stride.to_string(),
            expected: "the line must be at most 100000 steps long",
        });
    }
    let n_steps = n_steps as usize;
    let half = line.length / n_steps as f64;
    let half_secs = 0.5 * walk.secs;
    let swing = walk.secs * (1.0 - walk.stance);
    let place = |foot: usize, along: f64| {
        let (point, ahead) = line.at(along);
        // The left of someone who faces +Z is at +X.
        let aside = DVec2::new(ahead.y, -ahead.x) * feet[foot].x + ahead * feet[foot].z;
        let spot = point + aside;
        DVec3::new(spot.x, ground.height(spot.x, spot.y) + feet[foot].y, spot.y)
    };
    let mut paths = Vec::new();
    for foot in 0..2 {
        let mut keys = vec![(0.0, place(foot, 0.0))];
        // The left foot leads with a half stride, then both make whole ones until they are level again.
        let mut along = 0.0;
        for step in (0..n_steps + 1).filter(|step| step % 2 == foot) {
            let next = ((step + 1) as f64 * half).min(line.length);
            if next <= along {
                continue;
            }
            let (from, to) = (place(foot, along), place(foot, next));
            let leave = (step as f64 + 0.5) * half_secs - 0.5 * swing + 0.5 * half_secs;
            keys.push((leave, from));
            keys.extend(swing_keys(from, to, ground, feet[foot].y, walk.lift, leave, swing));
            keys.push((leave + swing, to));
            along = next;
        }
        paths.push(keys);
    }
    let end =
        paths.iter().flat_map(|keys| keys.iter().map(|(time, _)| *time)).fold(0.0, f64::max) + half_secs;
    let finish = |mut keys: Vec<(f64, DVec3)>| {
        if let Some(&(_, last)) = keys.last() {
            keys.push((end, last));
        }
        keys.dedup_by(|later, earlier| later.0 <= earlier.0);
        let (times, points) = keys.into_iter().unzip();
        Path::new(points, times)
    };
    let mut paths = paths.into_iter().map(finish);
    let missing = || GeomError::Parameter { name: "walk", value: "no feet".into(), expected: "two feet" };
    let (left, right) = (paths.next().ok_or_else(missing)??, paths.next().ok_or_else(missing)??);
    let body = line.points.iter().map(|p| DVec3::new(p.x, ground.height(p.x, p.y), p.y)).collect();
    Ok(([left, right], Path::with_duration(body, end)?))
}

/// A foot in the air: up first, then along, and down at the end, over the ground between.
fn swing_keys(
    from: DVec3,
    to: DVec3,
    ground: &Ground,
    sole: f64,
    lift: f64,
    leave: f64,
    secs: f64,
) -> Vec<(f64, DVec3)> {
    const KEYS: usize = 16;
    // The foot moves little horizontally while it rises and sinks; in between it moves evenly.
    let share = |t: f64| {
        let ease = 0.1;
        match t {
            t if t < ease => 0.5 * t * t / (ease * (1.0 - ease)),
            t if t > 1.0 - ease => 1.0 - 0.5 * (1.0 - t) * (1.0 - t) / (ease * (1.0 - ease)),
            t => (t - 0.5 * ease) / (1.0 - ease),
        }
    };
    let spot = |k: usize| from.lerp(to, share(k as f64 / KEYS as f64));
    let floor = |k: usize| {
        let [before, after] = [spot(k.saturating_sub(1)), spot((k + 1).min(KEYS))];
        ground.highest_between([before.x, before.z], [after.x, after.z]) + sole
    };
    (1..KEYS)
        .map(|k| {
            let t = k as f64 / KEYS as f64;
            // It starts gently: a straight leg would otherwise have to fold at once.
            let arch = (1.0 - (2.0 * t - 1.0).powi(2)).powf(1.1);
            let here = spot(k);
            let height = here.y + lift * arch;
            (leave + t * secs, DVec3::new(here.x, height.max(floor(k) + lift * t * (1.0 - t)), here.z))
        })
        .collect()
}

fn check(walk: &Walk) -> Result<(), GeomError> {
    let refuse =
        |name, value: f64, expected| Err(GeomError::Parameter { name, value: value.to_string(), expected });
    let is_length = |x: f64| x.is_finite() && x > 0.0;
    match () {
        () if !is_length(walk.stride) => refuse("stride", walk.stride, "it must be above 0"),
        () if !is_length(walk.secs) => refuse("seconds of a stride", walk.secs, "it must be above 0"),
        () if !(walk.lift.is_finite() && walk.lift >= 0.0) => {
            refuse("lift", walk.lift, "it must not be below 0")
        }
        () if !(0.2..=0.9).contains(&walk.stance) => {
            refuse("stance", walk.stance, "it must lie between 0.2 and 0.9")
        }
        () => Ok(()),
    }
}

/// A line on the ground by its length.
struct Line {
    points: Vec<DVec2>,
    /// Length up to each point.
    along: Vec<f64>,
    length: f64,
}

impl Line {
    fn new(points: &[[f64; 2]]) -> Result<Self, GeomError> {
        let refuse =
            |value: String, expected| Err(GeomError::Parameter { name: "line to walk", value, expected });
        if let Some(at) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return refuse(format!("point {at}"), "its numbers must be finite");
        }
        let mut points: Vec<DVec2> = points.iter().map(|p| DVec2::from_array(*p)).collect();
        points.dedup_by(|a, b| a.distance(*b) < 1e-9);
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
        }
        let length = along[along.len() - 1];
        if points.len() < 2 || length < 1e-6 {
            return refuse(format!("{} points", points.len()), "it needs two points apart from each other");
        }
        Ok(Self { points, along, length })
    }

    /// Point and direction at a length.
    fn at(&self, along: f64) -> (DVec2, DVec2) {
        let i = self.along.partition_point(|&a| a <= along).clamp(1, self.points.len() - 1);
        let (a, b) = (self.points[i - 1], self.points[i]);
        let ahead = (b - a).normalize_or(DVec2::Y);
        (a + ahead * (along - self.along[i - 1]).clamp(0.0, a.distance(b)), ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEET: [DVec3; 2] = [DVec3::new(0.1, 0.05, 0.04), DVec3::new(-0.1, 0.05, 0.04)];

    fn walk() -> Walk {
        Walk { line: vec![[0.0, 0.0], [0.0, 3.0]], stride: 0.6, secs: 1.0, lift: 0.08, stance: 0.6 }
    }

    #[test]
    fn feet_stand_still_while_they_stand_and_clear_the_ground_while_they_swing() {
        for ground in [
            Ground::default(),
            Ground::Hills { height: 0.4, length: 2.0 },
            Ground::Steps { rise: 0.15, run: 0.35, start: 0.5, count: 5 },
        ] {
            let (feet, body) = plan_walk(&walk(), FEET, &ground).unwrap();
            let end = body.span()[1];
            let mut both_move = 0;
            for i in 0..1000 {
                let (t, dt) = (end * f64::from(i) / 1000.0, end / 1000.0);
                let moving = feet.each_ref().map(|foot| foot.at(t).distance(foot.at(t + dt)) > 1e-9);
                both_move += usize::from(moving == [true, true]);
                for (foot, rest) in feet.iter().zip(FEET) {
                    let p = foot.at(t);
                    let clear = p.y - rest.y - ground.height(p.x, p.z);
                    assert!(clear > -1e-9, "{ground:?} at {t}: {clear} below ground");
                }
            }
            assert_eq!(both_move, 0, "a walk has always a foot on the ground");
            // Both arrive, side by side.
            for (foot, rest) in feet.iter().zip(FEET) {
                assert!(
                    (foot.at(end).z - 3.0 - rest.z).abs() < 1e-9 && (foot.at(end).x - rest.x).abs() < 1e-9
                );
            }
        }
    }

    #[test]
    fn walks_that_make_no_sense_are_refused() {
        let with = |change: &dyn Fn(&mut Walk)| {
            let mut walk = walk();
            change(&mut walk);
            plan_walk(&walk, FEET, &Ground::default()).is_err()
        };
        assert!(with(&|w| w.line = vec![[0.0, 0.0]]));
        assert!(with(&|w| w.line = vec![[1.0, 1.0], [1.0, 1.0]]));
        assert!(with(&|w| w.line[1][0] = f64::NAN));
        assert!(with(&|w| w.stride = 0.0));
        assert!(with(&|w| w.stride = 1e-9));
        assert!(with(&|w| w.secs = -1.0));
        assert!(with(&|w| w.stance = 1.0));
        assert!(!with(&|_| {}));
    }
}
