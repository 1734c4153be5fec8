//! The cases of the test bench: example sets, constraint settings, objectives (Hansen (2006), figures 9.10 to 9.12).

use glam::DVec3;
use sinew::{
    deform::{
        HandleSet,
        examples::{ExamplePose, PoseSpace, Target},
    },
    geom::{
        Character, Move, Warnings,
        sample::{PoseSet, build_character},
    },
};

/// Objectives that are compared: each group of Hansen (2006), table 7.2, alone and together.
pub const OBJECTIVES: [&str; 9] = [
    "dtt",
    "dtt+sow",
    "dtt+omsow",
    "dtt+dfe",
    "dtt+omsow+now",
    "dtt+omsow+dtl",
    "dtt+omsow+neu(2)",
    "dtt+0.2omsow+0.3dfe",
    "dtt+sow+neu+dtl+now",
];

/// Handles, and how far from rest they should go, in metres.
type Setting = &'static [(&'static str, [f64; 3])];

/// Constraint settings.
pub const SETTINGS: [(&str, Setting); 4] = [
    ("hand", &[("hand.L", [-0.1, 0.35, 0.3])]),
    ("foot", &[("foot.L", [0.05, 0.12, 0.3])]),
    ("stride", &[("foot.L", [0.0, 0.03, 0.25]), ("foot.R", [0.0, 0.08, -0.2])]),
    (
        "all four",
        &[
            ("hand.L", [-0.1, 0.4, 0.25]),
            ("hand.R", [0.15, -0.15, 0.1]),
            ("foot.L", [0.05, 0.1, 0.25]),
            ("foot.R", [-0.15, 0.05, -0.1]),
        ],
    ),
];

/// A body with examples.
pub struct Body {
    /// What its examples span.
    pub space: PoseSpace,
}

/// A sample with a set of poses.
pub fn body(set: PoseSet, n_vertices: usize) -> anyhow::Result<Body> {
    let character = build_character(set.sample(), n_vertices)?;
    let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default())?;
    let space = space_of(&character, &handles, &set.poses())?;
    Ok(Body { space })
}

/// What poses span.
pub fn space_of(
    character: &Character,
    handles: &HandleSet,
    poses: &[(String, Vec<Move>)],
) -> anyhow::Result<PoseSpace> {
    let examples: Vec<_> = poses.iter().map(|(name, moves)| ExamplePose { name, moves }).collect();
    Ok(PoseSpace::new(&character.mesh, handles, &examples)?)
}

/// Targets of a setting.
pub fn targets(space: &PoseSpace, setting: &[(&str, [f64; 3])]) -> anyhow::Result<Vec<Target>> {
    let target = |(name, offset): &(&str, [f64; 3])| {
        let handle = space.find_handle(name)?;
        let position = space.rest_grips()[handle] + DVec3::from_array(*offset);
        Ok(Target { handle, position, is_pinned: false })
    };
    setting.iter().map(target).collect()
}
