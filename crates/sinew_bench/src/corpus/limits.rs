//! What a row must hold to, all areas in one place. Loosening a limit needs a line in CHANGELOG.md that says why.

use serde_json::{Value, json};
use std::fmt;

/// A bound on a measure.
#[derive(Clone, Copy)]
pub enum Bound {
    AtMost(f64),
    AtLeast(f64),
}
use Bound::{AtLeast, AtMost};

/// Area (`*` for all), measure, bound. A measure that does not apply to a file is absent from its row and not judged; every row
/// has `done`, which is 0 where the product failed, refused or wrote nothing.
pub const LIMITS: &[(&str, &str, Bound)] = &[
    // The product did what it was asked for.
    ("*", "done", AtLeast(1.0)),
    // The judge could read and measure what was written.
    ("*", "judged", AtLeast(1.0)),
    // Opening: either it opens, or the error names the file, the cause and what to do.
    ("open", "answered", AtLeast(1.0)),
    ("open", "seconds_per_mb", AtMost(5.0)),
    ("open", "memory_per_byte", AtMost(60.0)),
    // host
    // pose
    // walk
    // fit
    // refit, in centimetres of a body of 1.7 m: a clip on its own body is the same clip, to a millimetre on average; a body
    // larger by 0.1 % shows it to 0.2 % of its height.
    ("refit", "identity_mean_cm", AtMost(0.1)),
    ("refit", "identity_max_cm", AtMost(0.5)),
    ("refit", "scaled_mean_cm", AtMost(0.34)),
    ("refit", "scaled_max_cm", AtMost(1.0)),
    ("refit", "joints_kept", AtLeast(1.0)),
    ("refit", "frames_off", AtMost(1.0)),
    // Eight degrees on average are what feet on the ground cost on other proportions; 25 is another gesture.
    ("refit", "direction_mean_deg", AtMost(8.0)),
    ("refit", "direction_p95_deg", AtMost(25.0)),
    // Shoes differ in where their joints lie, by up to 20°; turns and the way one goes are the source's.
    ("refit", "feet_deg", AtMost(25.0)),
    ("refit", "turn_deg", AtMost(10.0)),
    ("refit", "course_deg", AtMost(10.0)),
    // A step of 1 cm from nowhere is seen as a twitch.
    ("refit", "jump_cm", AtMost(1.0)),
    ("refit", "jerk_ratio", AtMost(1.3)),
    // A foot that slides by 1 cm/s more than the source's, or gets 2 cm off its place, skates.
    ("refit", "slide_cm_s", AtMost(1.0)),
    ("refit", "drift_cm", AtMost(2.0)),
    ("refit", "depth_cm", AtMost(1.0)),
    ("refit", "float_cm", AtMost(3.0)),
    ("refit", "off_ground_cm", AtMost(3.0)),
    // It moves as the source does: limbs swing as far, the body gets as far for its legs, and bones keep their lengths.
    ("refit", "amplitude", AtLeast(0.8)),
    ("refit", "amplitude", AtMost(1.25)),
    ("refit", "travel_ratio", AtLeast(0.8)),
    ("refit", "travel_ratio", AtMost(1.25)),
    ("refit", "moves", AtLeast(0.3)),
    ("refit", "stretch", AtMost(0.02)),
    // puppet
    // flesh, in percent of the diagonal: nothing is infinite or not a number; stiff flesh is its skin, and a hundred times
    // the stiffness brings it at least ten times nearer (1/E would be a hundred; the solver's tolerance is in the way).
    ("flesh", "finite", AtLeast(1.0)),
    ("flesh", "dev_1e8_max", AtMost(1.0)),
    ("flesh", "stiffness_gain", AtLeast(10.0)),
    // By default a body keeps its shape: 3 % is the thickness of a forearm, and nothing hangs off further than twice that.
    ("flesh", "dev_p99", AtMost(3.0)),
    ("flesh", "dev_max", AtMost(6.0)),
    // One stretched vertex is a spike that everybody sees.
    ("flesh", "edges_over_2x", AtMost(0.0)),
    // A change of volume of 5 % is a change of width of 1.6 %, which nobody sees.
    ("flesh", "volume_min", AtLeast(0.95)),
    ("flesh", "volume_max", AtMost(1.05)),
    // A jump of 0.2 % is 4 mm on a person.
    ("flesh", "loop_gap", AtMost(0.2)),
    // It moves at all, and where the clip accelerates by more than about 1 g soft parts lag by 1 cm on a person.
    ("flesh", "moves", AtLeast(0.05)),
    ("flesh", "lag", AtLeast(0.5)),
];

impl Bound {
    /// Whether a value keeps it; what is not a number never does.
    pub fn holds(self, value: f64) -> bool {
        match self {
            AtMost(most) => value <= most,
            AtLeast(least) => value >= least,
        }
    }

    pub fn to_json(self) -> Value {
        match self {
            AtMost(most) => json!({ "max": most }),
            AtLeast(least) => json!({ "min": least }),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            AtMost(most) => write!(f, "≤ {most}"),
            AtLeast(least) => write!(f, "≥ {least}"),
        }
    }
}
