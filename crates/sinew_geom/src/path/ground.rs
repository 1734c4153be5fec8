//! Grounds to walk on: flat, sloping, stepped, hilly.

use crate::GeomError;
use glam::DVec3;
use std::str::FromStr;

/// Height of the ground over the x–z plane, +Y up.
#[derive(Debug, Clone, PartialEq)]
pub enum Ground {
    /// Level at a height.
    Flat(f64),
    /// Rises along +Z by this many degrees, through the origin; negative to go down.
    Slope(f64),
    /// Stairs along +Z: each step is `run` deep and `rise` high, the first at `start`; `count` of them.
    Steps {
        /// Height of a step; negative to go down.
        rise: f64,
        /// Depth of a step.
        run: f64,
        /// Where the first begins.
        start: f64,
        /// Number of steps.
        count: usize,
    },
    /// Waves in both directions.
    Hills {
        /// Height of a hill above a valley.
        height: f64,
        /// Distance from hill to hill.
        length: f64,
    },
    /// Heights on a grid.
    Field(HeightField),
}

impl Default for Ground {
    fn default() -> Self {
        Self::Flat(0.0)
    }
}

/// Steepest slope that can be walked on.
const MAX_SLOPE_DEGREES: f64 = 60.0;
/// Number of steps if it is not given: more than any clip climbs.
const DEFAULT_STEPS: usize = 10_000;

impl FromStr for Ground {
    type Err = GeomError;

    /// `flat`, `flat:HEIGHT`, `slope:DEGREES`, `steps:RISE,RUN` (the first riser is one run ahead), `hills` or
    /// `hills:HEIGHT,LENGTH`; metres.
    fn from_str(text: &str) -> Result<Self, GeomError> {
        let refuse = || GeomError::Parameter {
            name: "ground",
            value: format!("{text:?}"),
            expected: "give flat, flat:0.2, slope:10, steps:0.15,0.3, hills or hills:0.4,4",
        };
        let (kind, numbers) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Result<Vec<f64>, _> = numbers
            .split(',')
            .filter(|word| !word.trim().is_empty())
            .map(|word| word.trim().parse())
            .collect();
        let ground = match (kind.trim(), numbers.map_err(|_| refuse())?.as_slice()) {
            ("flat", []) => Self::Flat(0.0),
            ("flat", &[height]) => Self::Flat(height),
            ("slope", &[degrees]) => Self::Slope(degrees),
            ("steps", &[rise, run]) => Self::Steps { rise, run, start: run, count: DEFAULT_STEPS },
            ("hills", []) => Self::Hills { height: 0.4, length: 4.0 },
            ("hills", &[height, length]) => Self::Hills { height, length },
            _ => return Err(refuse()),
        };
        ground.check().map(|()| ground)
    }
}

/// A ground placed in the world: its own +Z points along a heading.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlacedGround {
    /// The ground in its own axes.
    pub ground: Ground,
    /// Position of its origin, x and z.
    pub origin: [f64; 2],
    /// Rotation about +Y of its +Z, radians.
    pub heading: f64,
}

impl PlacedGround {
    /// A ground in the axes of the world.
    pub fn of(ground: Ground) -> Self {
        Self { ground, ..Self::default() }
    }

    /// Height at a point of the world.
    pub fn height(&self, x: f64, z: f64) -> f64 {
        let (sine, cosine) = self.heading.sin_cos();
        let (dx, dz) = (x - self.origin[0], z - self.origin[1]);
        self.ground.height(cosine * dx - sine * dz, sine * dx + cosine * dz)
    }
}

/// Heights on a grid, linear between its points and level beyond its edges.
#[derive(Debug, Clone, PartialEq)]
pub struct HeightField {
    origin: [f64; 2],
    cell: f64,
    rows: Vec<Vec<f64>>,
}

impl HeightField {
    /// Rows of heights: row `j`, column `i` lies at `origin + cell (i, j)` in x and z.
    ///
    /// # Errors
    /// If rows are empty or differ in length, or a number is invalid.
    pub fn new(origin: [f64; 2], cell: f64, rows: Vec<Vec<f64>>) -> Result<Self, GeomError> {
        let refuse = |value: String, expected| Err(GeomError::Parameter { name: "heights", value, expected });
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 || rows.iter().any(|row| row.len() != width) {
            return refuse(
                format!("{} rows", rows.len()),
                "rows must have the same number of heights, at least one",
            );
        }
        if !(cell.is_finite() && cell > 0.0) {
            return refuse(format!("cell {cell}"), "it must be above 0");
        }
        if !rows.iter().flatten().chain(&origin).all(|x| x.is_finite()) {
            return refuse("a number".into(), "it must be finite");
        }
        Ok(Self { origin, cell, rows })
    }

    /// Where the first height lies, x and z.
    pub fn origin(&self) -> [f64; 2] {
        self.origin
    }

    /// Distance from one height to the next.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// The heights, row by row.
    pub fn rows(&self) -> &[Vec<f64>] {
        &self.rows
    }

    fn height(&self, x: f64, z: f64) -> f64 {
        let place = |value: f64, origin: f64, n: usize| {
            let at = ((value - origin) / self.cell).clamp(0.0, (n - 1) as f64);
            let low = (at as usize).min(n.saturating_sub(2));
            (low, at - low as f64)
        };
        let (j, v) = place(z, self.origin[1], self.rows.len());
        let (i, u) = place(x, self.origin[0], self.rows[0].len());
        let at = |j: usize, i: usize| self.rows[j.min(self.rows.len() - 1)][i.min(self.rows[0].len() - 1)];
        (1.0 - v) * ((1.0 - u) * at(j, i) + u * at(j, i + 1))
            + v * ((1.0 - u) * at(j + 1, i) + u * at(j + 1, i + 1))
    }
}

impl Ground {
    /// Height at a point.
    pub fn height(&self, x: f64, z: f64) -> f64 {
        match self {
            Self::Flat(height) => *height,
            Self::Slope(degrees) => z * degrees.to_radians().tan(),
            Self::Steps { rise, run, start, count } => {
                let n = ((z - start) / run).floor() + 1.0;
                rise * n.clamp(0.0, *count as f64)
            }
            Self::Hills { height, length } => {
                let k = std::f64::consts::TAU / length;
                // Level with slope zero at the origin, where clips start.
                0.25 * height * (2.0 - (k * z).cos() - (0.7 * k * x).cos())
            }
            Self::Field(field) => field.height(x, z),
        }
    }

    /// Greatest height along a straight line, sampled in small steps.
    pub fn highest_between(&self, from: [f64; 2], to: [f64; 2]) -> f64 {
        const SAMPLES: usize = 64;
        (0..=SAMPLES)
            .map(|i| {
                let t = i as f64 / SAMPLES as f64;
                self.height(from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1]))
            })
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Range of heights where a line of sight that looks down can meet the ground; on a slope the exact height.
    fn range(&self, origin: DVec3, direction: DVec3) -> [f64; 2] {
        let around = |a: f64, b: f64| [a.min(b), a.max(b)];
        match self {
            Self::Flat(height) => [*height; 2],
            Self::Slope(degrees) => {
                let rise = degrees.to_radians().tan();
                let t = (origin.z * rise - origin.y) / (direction.y - direction.z * rise);
                [origin.y + t.max(0.0) * direction.y; 2]
            }
            Self::Steps { rise, count, .. } => around(0.0, rise * *count as f64),
            Self::Hills { height, .. } => around(0.0, *height),
            Self::Field(field) => field
                .rows
                .iter()
                .flatten()
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], h| [low.min(*h), high.max(*h)]),
        }
    }

    /// Where a line of sight from above first meets the ground; `None` if it does not look down.
    pub fn first_hit(&self, origin: DVec3, direction: DVec3) -> Option<DVec3> {
        const SAMPLES: usize = 1024;
        if !(direction.y < -1e-9 && origin.is_finite() && direction.is_finite()) {
            return None;
        }
        let [low, high] = self.range(origin, direction);
        let until = |height: f64| ((origin.y - height) / -direction.y).max(0.0);
        let (from, to) = (until(high), until(low));
        let at = |t: f64| origin + direction * t;
        let is_below = |t: f64| at(t).y <= self.height(at(t).x, at(t).z);
        let step = (to - from) / SAMPLES as f64;
        let first = (1..=SAMPLES).map(|i| from + step * i as f64).find(|t| is_below(*t)).unwrap_or(to);
        let (mut above, mut below) = (if is_below(from) { from } else { first - step }, first);
        for _ in 0..50 {
            let middle = 0.5 * (above + below);
            if is_below(middle) { below = middle } else { above = middle }
        }
        let point = at(below);
        point.is_finite().then(|| DVec3::new(point.x, self.height(point.x, point.z), point.z))
    }

    /// Check the numbers.
    ///
    /// # Errors
    /// If a length is not above zero or a number not finite.
    pub fn check(&self) -> Result<(), GeomError> {
        let (value, sound) = match self {
            Self::Flat(height) => (format!("flat {height}"), height.is_finite()),
            Self::Slope(degrees) => (format!("slope {degrees}"), degrees.abs() <= MAX_SLOPE_DEGREES),
            Self::Steps { rise, run, start, .. } => (
                format!("steps {rise} high and {run} deep from {start}"),
                rise.is_finite() && start.is_finite() && run.is_finite() && *run > 0.0,
            ),
            Self::Hills { height, length } => (
                format!("hills {height} high, {length} long"),
                height.is_finite() && length.is_finite() && *length > 0.0,
            ),
            Self::Field(_) => return Ok(()),
        };
        match sound {
            true => Ok(()),
            false => Err(GeomError::Parameter {
                name: "ground",
                value,
                expected: "numbers must be finite, lengths above 0 and slopes at most 60 degrees",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_those_of_the_formula() {
        let steps = Ground::Steps { rise: 0.2, run: 0.5, start: 1.0, count: 3 };
        for (z, expected) in [(0.9, 0.0), (1.0, 0.2), (1.49, 0.2), (1.51, 0.4), (9.0, 0.6)] {
            assert!((steps.height(0.0, z) - expected).abs() < 1e-12, "{z}");
        }
        let hills = Ground::Hills { height: 0.4, length: 4.0 };
        assert!(hills.height(0.0, 0.0).abs() < 1e-12 && (hills.height(0.0, 2.0) - 0.2).abs() < 1e-12);
        let field = HeightField::new([0.0, 0.0], 2.0, vec![vec![0.0, 1.0], vec![2.0, 3.0]]).unwrap();
        let field = Ground::Field(field);
        // Level beyond the edges, bilinear inside: the plane x/2 + z.
        for (x, z, expected) in [(0.5, 1.0, 1.25), (2.0, 2.0, 3.0), (-5.0, 9.0, 2.0)] {
            assert!((field.height(x, z) - expected).abs() < 1e-12, "{x} {z}: {}", field.height(x, z));
        }
        assert!((steps.highest_between([0.0, 0.0], [0.0, 1.6]) - 0.4).abs() < 1e-12);
    }

    #[test]
    fn a_line_of_sight_meets_the_ground_where_it_is_seen() {
        let hills = Ground::Hills { height: 0.8, length: 3.0 };
        let steps = Ground::Steps { rise: 0.3, run: 0.5, start: 0.0, count: 4 };
        for ground in [Ground::Flat(0.2), Ground::Slope(15.0), Ground::Slope(-30.0), hills, steps.clone()] {
            let eye = DVec3::new(1.0, 4.0, 6.0);
            for aim in [DVec3::new(0.3, 0.0, -1.0), DVec3::new(-2.0, 0.1, 2.0)] {
                let ray = (aim - eye).normalize();
                let hit = ground.first_hit(eye, ray).unwrap();
                assert!((hit.y - ground.height(hit.x, hit.z)).abs() < 1e-9);
                // On the line, at an edge of a step.
                let off = (hit - eye).reject_from_normalized(ray).length();
                assert!(off < 1e-6 || matches!(ground, Ground::Steps { .. }), "{ground:?}: {off}");
                // Nothing before it hides it.
                let until = hit.distance(eye) - 0.31;
                let is_hidden = |i: i32| {
                    let p = eye + ray * (until * f64::from(i) / 500.0);
                    p.y < ground.height(p.x, p.z)
                };
                assert!(!(0..500).any(is_hidden), "{ground:?}");
            }
            assert_eq!(ground.first_hit(eye, DVec3::Y), None);
            assert_eq!(ground.first_hit(eye, DVec3::NAN), None);
        }
        let down = steps.first_hit(DVec3::new(0.0, 9.0, 0.7), DVec3::NEG_Y).unwrap();
        assert!(down.distance(DVec3::new(0.0, 0.6, 0.7)) < 1e-9);
    }

    #[test]
    fn grounds_are_read_from_short_texts() {
        let read = |text: &str| text.parse::<Ground>();
        assert_eq!(read("flat"), Ok(Ground::Flat(0.0)));
        assert_eq!(read("slope:-10"), Ok(Ground::Slope(-10.0)));
        assert!((read("slope:45").unwrap().height(3.0, 2.0) - 2.0).abs() < 1e-12);
        assert!((read("steps:0.15, 0.3").unwrap().height(0.0, 0.61) - 0.3).abs() < 1e-12);
        assert_eq!(read("hills"), read("hills:0.4,4"));
        for bad in
            ["", "slope", "slope:x", "slope:89", "steps:0.1", "steps:0.1,0", "hills:1", "flat:1,2", "lava"]
        {
            let error = read(bad).unwrap_err().to_string();
            assert!(
                error.contains("slope") && error.contains(bad.split(':').next().unwrap()),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn a_site_turns_its_ground() {
        // Uphill points along +X: a quarter turn about +Y brings +Z there.
        let site = PlacedGround {
            ground: Ground::Slope(45.0),
            origin: [1.0, 2.0],
            heading: std::f64::consts::FRAC_PI_2,
        };
        for (x, z, expected) in [(1.0, 2.0, 0.0), (3.0, 2.0, 2.0), (1.0, 7.0, 0.0)] {
            assert!((site.height(x, z) - expected).abs() < 1e-12, "{x} {z}: {}", site.height(x, z));
        }
        assert_eq!(PlacedGround::of(Ground::Flat(0.3)).height(5.0, 6.0), 0.3);
    }

    #[test]
    fn ground_that_makes_no_sense_is_refused() {
        assert!(Ground::Steps { rise: 0.1, run: 0.0, start: 0.0, count: 1 }.check().is_err());
        assert!(Ground::Hills { height: f64::NAN, length: 1.0 }.check().is_err());
        assert!(HeightField::new([0.0; 2], 1.0, vec![vec![0.0], vec![]]).is_err());
        assert!(HeightField::new([0.0; 2], 0.0, vec![vec![0.0]]).is_err());
        assert!(Ground::Flat(0.0).check().is_ok());
    }
}
