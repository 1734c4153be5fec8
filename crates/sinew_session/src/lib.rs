//! The document of Sinew: what a user works on, as a program without a window would see it.
//!
//! ```text
//! Command ─► History ─► Document (immutable, its parts shared)
//!               │           ├─► Stage: positions and normals of what is shown
//!               ▼           └─► project file
//!            Journal on disk ─► recovery after a crash
//! ```

mod clip_source;
mod command;
mod document;
mod drags;
mod engines;
mod error;
#[cfg(test)]
mod example_tests;
mod export;
mod fit;
mod flesh;
mod history;
#[cfg(test)]
mod host_tests;
mod job;
mod journal;
mod limits;
mod motion;
mod open;
mod parts;
mod placement;
mod posed;
mod project;
mod puppet;
mod reach;
mod record;
mod recovery;
mod refit;
mod rules;
#[cfg(test)]
mod rules_tests;
mod search;
mod session;
mod skeleton;
mod skinned_clip;
mod stack;
mod stage;
mod surface_parts;
#[cfg(test)]
mod tests;
mod thumbnail;
mod turntable;
mod walk;

pub use clip_source::{ClipSource, ClipSources};
pub use command::{
    Command, EditChange, FleshChange, HandleData, MuscleChange, PaintOp, RulesChange, SkinData, twin_name,
};
pub use document::{Changes, Document, Example, Unknown};
pub use engines::{Engine, EngineLimits};
pub use error::SessionError;
pub use export::{ExportFormat, ExportParams, ExportWhat, Exported, export};
pub use fit::{
    FitGoal, FitOutcome, FitSettings, Fitted, MAX_FITTED_BONES, SkinFile, SkinFileParams, affordable_bones,
    fit_sequence, fit_to_goal, measure_character, most_bones, warn_of_frames, write_skin,
};
pub use flesh::{
    ColliderData, FleshBake, FleshData, FleshExtras, FleshJoint, FleshReport, FleshRunner, FleshSettings,
    FleshStatus, FleshSteps, JointData, LiveFlesh, MuscleBench, MuscleCurve, MuscleData, MusclePlace,
    ShownMuscle, bake_flesh, control_value_in, flesh_timing, muscles_from_json, muscles_to_json,
    posed_joints, read_muscles, shown_muscles, simulate_flesh, turned_pose,
};
pub use history::{Gesture, History};
pub use job::{Job, Jobs};
pub use journal::{EndedJournal, Flushing};
pub use limits::{
    DEFAULT_FLESH_SECS, DEFAULT_FPS, MAX_FRAMES, MAX_SEQUENCE_BYTES, check_sequence, count_frames,
};
pub use motion::{Follow, MotionReport, add_vertex_clip, bake, build_course};
pub use open::{grow_sample, open_file, open_file_within, sample_poses};
pub use placement::{Doubts, Placement, describe_doubts, find_doubts, parse_axis};
pub use posed::posed_warnings;
pub use project::{read_project, write_project};
pub use puppet::{
    Acted, ActedShape, Actor, ActorSource, HandleShape, MAX_TAKE_FRAMES, Pair, Performance, Puppet,
    PuppetData, PuppetSettings, TakeData, TakeReport, add_demo, demo_actor, perform_take, read_actor,
};
pub use reach::{
    REACHED_SHARE, Reach, ReachGoal, ReachReport, TargetGoal, build_pose_space, reach_objective,
};
pub use recovery::{Recovered, Recovery};
pub use refit::{
    ContactTrack, CopiedNumbers, GroundNumbers, HandNumbers, RefitNumbers, RefitRequest, RefitRules,
    RefitSettings, Refitted, StanceNumbers, find_contact_track, refit_clip, refit_motion,
};
pub use rules::{
    ClipContacts, ClipGround, ContactData, MarkerData, PlaneData, Ruled, RulesData, Solved, StartData,
};
pub use search::{SearchChange, SearchSettings};
pub use session::{Event, Session};
pub use skeleton::{SkeletonReport, add_skeleton, has_skeleton, with_skeleton};
pub use skinned_clip::{ClipFit, MAX_CLIP_ERROR, add_motion_clip, with_handle_skeleton};
pub use stack::{MotionStack, Source, StackParams};
pub use stage::{Display, Frame, Prepared, Stage, compute_stretch, smooth_normals};
pub use surface_parts::{find_parts, hidden_parts, is_hidden, surface_parts};
pub use thumbnail::draw_thumbnail;
pub use turntable::{TurntableSettings, add_turntable};
pub use walk::{FootNumbers, WalkNumbers, WalkSettings, add_walk};
