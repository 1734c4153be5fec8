//! Limits of the rows, all areas in one place. Loosening a limit needs a line in CHANGELOG.md that says why.

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
    ("open", "seconds_per_mb", AtMost(10.0)),
    ("open", "memory_per_byte", AtMost(60.0)),
    // host: all that a file holds and the change is not about is still there; loss is loss, however small.
    ("host", "materials", AtLeast(1.0)),
    ("host", "texture_slots", AtLeast(1.0)),
    ("host", "images", AtLeast(1.0)),
    ("host", "uv_sets", AtLeast(1.0)),
    ("host", "colours", AtLeast(1.0)),
    ("host", "tangents", AtLeast(1.0)),
    ("host", "parts", AtLeast(1.0)),
    ("host", "mesh_names", AtLeast(1.0)),
    ("host", "morph_names", AtLeast(1.0)),
    ("host", "node_names", AtLeast(1.0)),
    ("host", "node_tree", AtLeast(1.0)),
    ("host", "node_places", AtLeast(1.0)),
    ("host", "skins", AtLeast(1.0)),
    ("host", "clips", AtLeast(1.0)),
    ("host", "channels", AtLeast(1.0)),
    ("host", "cameras", AtLeast(1.0)),
    ("host", "lights", AtLeast(1.0)),
    ("host", "extensions", AtLeast(1.0)),
    ("host", "extras", AtLeast(1.0)),
    ("host", "asset", AtLeast(1.0)),
    // Clips play as they did, to 2 mm on a person.
    ("host", "clip_error", AtMost(0.1)),
    // One level of 255: invisible.
    ("host", "picture", AtMost(1.0 / 255.0)),
    // Twins: a tenth of the way that a handle was moved, and the clips that were asked for.
    ("host", "moved", AtLeast(0.5)),
    ("host", "new_clip", AtLeast(1.0)),
    ("host", "baked", AtLeast(1.0)),
    // pose: handles move as requested, to visible accuracy and that of the file.
    ("pose", "moved", AtLeast(0.95)),
    // Of the diagonal: less is invisible.
    ("pose", "reshaped", AtLeast(1.0)),
    ("pose", "rigid", AtMost(0.05)),
    // A few percent are invisible (of the energy, which is its square, 1.1 and 1.5); the goals are 1.02 when idle and 1.10 while
    // dragging.
    ("pose", "distortion", AtMost(1.05)),
    ("pose", "distortion_bulky", AtMost(1.22)),
    // One flipped face is a black spot.
    ("pose", "flipped", AtMost(0.0)),
    // Facets that lean more show as speckles on a smooth surface.
    ("pose", "noise", AtMost(3.0)),
    // Of the faces that moved; a crease that touches itself somewhere is allowed.
    ("pose", "intersections", AtMost(0.2)),
    // A limb that is thinner by more is visible.
    ("pose", "volume", AtMost(5.0)),
    // Of the diagonal: a millimetre on a person.
    ("pose", "cracks", AtMost(0.05)),
    // Of the diagonal: eyes stay in their sockets.
    ("pose", "left_behind", AtMost(1.0)),
    // rig, in percent of the diagonal: riggers differ by 1 to 2; a joint that is off by 5 is another one. What people are is
    // known best, then animals on four legs.
    ("rig", "distance_biped", AtMost(4.0)),
    ("rig", "recall_biped", AtLeast(0.93)),
    ("rig", "precision_biped", AtLeast(0.93)),
    ("rig", "distance_quadruped", AtMost(5.0)),
    ("rig", "recall_quadruped", AtLeast(0.85)),
    ("rig", "precision_quadruped", AtLeast(0.85)),
    ("rig", "distance_other", AtMost(4.0)),
    ("rig", "recall_other", AtLeast(0.72)),
    ("rig", "precision_other", AtLeast(0.72)),
    // Within 25° of the body's own axes; a wrong class is never reported with confidence.
    ("rig", "class", AtLeast(1.0)),
    ("rig", "up", AtLeast(0.9)),
    ("rig", "facing", AtLeast(0.9)),
    ("rig", "overconfident", AtMost(0.5)),
    // Two riggers' weights differ by 0.3 to 0.6; half a percent is 1 cm of a person.
    ("rig", "weights", AtMost(0.58)),
    ("rig", "replay", AtMost(0.5)),
    // walk: a few steps at least, by default.
    ("walk", "travel", AtLeast(1.0)),
    // Every foot steps.
    ("walk", "feet_used", AtLeast(1.0)),
    // A twentieth of the body's speed: 5 cm/s of a person, at which feet begin to look loose.
    ("walk", "slide", AtMost(0.05)),
    // Of the height: 1 cm of a person.
    ("walk", "sink", AtMost(0.5)),
    // A walk has no flight; feet roll over their edges.
    ("walk", "hover", AtMost(1.0)),
    // fit: half a percent of the diagonal is 1 cm of a person.
    ("fit", "error", AtMost(0.5)),
    // What is reported is what is played.
    ("fit", "reported", AtMost(1.05)),
    // Shading shows facets that lean by a few degrees; the issue asks for 12° at p99 of a face.
    ("fit", "normals_mean", AtMost(3.0)),
    ("fit", "normals_p99", AtMost(15.0)),
    // One facet in ten thousand: sequences that crumple have facets without a clear side.
    ("fit", "flipped", AtMost(0.01)),
    // An animator opens the bind pose: edges keep their length within reason.
    ("fit", "bind_p99", AtMost(1.5)),
    ("fit", "bind_max", AtMost(4.0)),
    // The same in engines without shear.
    ("fit", "shear", AtMost(1.1)),
    // A skin larger than the frames it replaces is of no use.
    ("fit", "size", AtMost(1.0)),
    // As many joints as bones, and a root.
    ("fit", "joints", AtMost(1.1)),
    // What moved still moves.
    ("fit", "amplitude", AtLeast(0.98)),
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
    // Hips and shoulders of skeletons lie up to 15° out of line; beyond that a person leans or folds.
    ("refit", "trunk_deg", AtMost(20.0)),
    // Shoes differ in where their joints lie, by up to 20°; turns and the way one goes are the source's.
    ("refit", "feet_deg", AtMost(25.0)),
    ("refit", "turn_deg", AtMost(10.0)),
    ("refit", "course_deg", AtMost(10.0)),
    // A jump of 1 cm is visible as a twitch.
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
    // puppet: a character with legs follows a person at once; pairs are corrections.
    ("puppet", "without_pairs", AtLeast(1.0)),
    // It gets as far in its heights as the actor, within a factor of two for legs of other proportions, and stays with one
    // who stays.
    ("puppet", "travel_ratio", AtLeast(0.5)),
    ("puppet", "travel_ratio", AtMost(2.0)),
    ("puppet", "stand_travel", AtMost(0.3)),
    // Bones keep their lengths as in the rig's own clips; edges of the surface may stretch a third more than there.
    ("puppet", "limb_stretch", AtMost(0.01)),
    ("puppet", "limb_stretch_max", AtMost(0.05)),
    ("puppet", "edge_stretch", AtMost(0.33)),
    // Not rougher than the actor, and nothing stirs by more than 1 % of its height while the actor stands still.
    ("puppet", "shake", AtMost(1.3)),
    ("puppet", "restless", AtMost(0.01)),
    ("puppet", "slide_cm_s", AtMost(2.0)),
    // It moves: half of what the actor does, or of what its own gait does if that is less.
    ("puppet", "amplitude", AtLeast(0.5)),
    ("puppet", "exaggeration", AtMost(1.5)),
    ("puppet", "direction_mean_deg", AtMost(12.0)),
    // The actor's clock, to a frame, and pace, as far as short clips show it.
    ("puppet", "time_off_frames", AtMost(1.5)),
    ("puppet", "tempo", AtLeast(0.85)),
    ("puppet", "tempo", AtMost(1.18)),
    // Clean motion capture has no bad frames; of a Kinect's, a quarter may be.
    ("puppet", "held_share", AtMost(0.01)),
    ("puppet", "held_share_recording", AtMost(0.25)),
    // flesh, in percent of the diagonal: nothing is infinite or not a number; stiff flesh is its skin, and a hundred times
    // the stiffness brings it at least ten times nearer (1/E would be a hundred; the solver's tolerance limits it).
    ("flesh", "finite", AtLeast(1.0)),
    ("flesh", "dev_1e8_max", AtMost(1.0)),
    ("flesh", "stiffness_gain", AtLeast(10.0)),
    // By default a body keeps its shape: 3 % is the thickness of a forearm, and nothing hangs off further than twice that.
    ("flesh", "dev_p99", AtMost(3.0)),
    ("flesh", "dev_max", AtMost(6.0)),
    // One stretched vertex is a visible spike.
    ("flesh", "edges_over_2x", AtMost(0.0)),
    // A change of volume of 5 % is a change of width of 1.6 %, which is invisible.
    ("flesh", "volume_min", AtLeast(0.95)),
    ("flesh", "volume_max", AtMost(1.05)),
    // A jump of 0.2 % is 4 mm on a person.
    ("flesh", "loop_gap", AtMost(0.2)),
    // It moves at all, and where the clip accelerates by more than about 1 g soft parts lag by 1 cm on a person.
    ("flesh", "moves", AtLeast(0.05)),
    ("flesh", "lag", AtLeast(0.5)),
];

impl Bound {
    /// Whether a value is within the limit; NaN never is.
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
