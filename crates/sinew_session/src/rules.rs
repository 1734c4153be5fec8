//! Rules of a document: what they say, what surrounds the skeleton, and the pose at which they hold.

use crate::{Document, Frame, SessionError, stage::frame_of_positions};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_constrain::{
    RuleGizmo, Skeleton,
    clip::{FootPart, JointFrames},
    compile::{CompileParams, Problem, Scene, has_errors},
    language::{Diagnostic, parse},
    rule_gizmos,
    solve::{Solution, SolveParams, Solver},
};
use sinew_formats::paths::GroundData;
use sinew_geom::{Character, Clip, Pose, Rig, path::PlacedGround};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Maximum number of characters of a text of rules; longer ones are taken for a mistake.
const MAX_TEXT: usize = 1 << 20;
/// Largest valid coordinate, metres.
const FARTHEST: f64 = 1e6;

/// Rules and what belongs to them, as files and pages have them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Rules"))]
#[serde(default)]
pub struct RulesData {
    /// The rules, one per line.
    pub text: String,
    /// Named points.
    pub markers: Vec<MarkerData>,
    /// Named planes.
    pub planes: Vec<PlaneData>,
    /// Pose to begin with; rest if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub start: Option<StartData>,
    /// Contacts of clips that the user changed.
    pub contacts: Vec<ClipContacts>,
    /// Grounds that clips were refitted to.
    pub grounds: Vec<ClipGround>,
}

/// A named point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Marker"))]
#[allow(missing_docs)]
pub struct MarkerData {
    pub name: String,
    pub position: [f64; 3],
}

/// A named plane; its normal points out of what is solid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "RulePlane"))]
#[allow(missing_docs)]
pub struct PlaneData {
    pub name: String,
    pub point: [f64; 3],
    pub normal: [f64; 3],
}

/// A moment of a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[allow(missing_docs)]
pub struct StartData {
    pub clip: String,
    pub time: f32,
}

/// Contacts of a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ClipContacts {
    /// The clip, by name.
    pub clip: String,
    /// Frames per second in which they count.
    pub fps: f64,
    /// All of them.
    pub contacts: Vec<ContactData>,
}

/// The ground that a clip was refitted to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ClipGround {
    /// The clip, by name.
    pub clip: String,
    /// The ground in its own axes.
    pub ground: GroundData,
    /// Where its origin lies, x and z.
    pub origin: [f64; 2],
    /// Turn about +Y that brings its +Z to where it points, radians.
    pub heading: f64,
}

impl ClipGround {
    /// The ground where it lies.
    ///
    /// # Errors
    /// If its numbers make no ground.
    pub fn site(&self) -> Result<PlacedGround, SessionError> {
        Ok(PlacedGround { ground: self.ground.build()?, origin: self.origin, heading: self.heading })
    }
}

/// When a part of a foot is planted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "Contact"))]
pub struct ContactData {
    /// Joint that carries the foot.
    pub foot: String,
    /// Whether it is the heel; else the ball.
    pub heel: bool,
    /// First and last frame.
    pub frames: [usize; 2],
}

impl ContactData {
    pub(crate) fn part(&self) -> FootPart {
        if self.heel { FootPart::Heel } else { FootPart::Ball }
    }
}

impl RulesData {
    /// Whether its numbers and names are valid. The text is not checked: it may be wrong at any moment.
    ///
    /// # Errors
    /// Which do not.
    pub fn check(&self) -> Result<(), SessionError> {
        let value = |what: &'static str, cause: String| Err(SessionError::Value { what, cause });
        if self.text.len() > MAX_TEXT {
            return value("rules", format!("{} characters are too many for rules", self.text.len()));
        }
        let is_place = |place: &[f64; 3]| place.iter().all(|x| x.abs() <= FARTHEST);
        if let Some(marker) = self.markers.iter().find(|marker| !is_place(&marker.position)) {
            return value("marker", format!("the place of {:?} is not within {FARTHEST} m", marker.name));
        }
        for plane in &self.planes {
            let length = DVec3::from_array(plane.normal).length();
            if !is_place(&plane.point) || !(1e-6..=FARTHEST).contains(&length) {
                let cause =
                    format!("{:?} needs a place within {FARTHEST} m and a normal with a length", plane.name);
                return value("plane", cause);
            }
        }
        let mut names: Vec<&str> = self.names().collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return value("rules", format!("two markers or planes are called {:?}", pair[0]));
        }
        self.grounds.iter().try_for_each(|ground| ground.site().map(|_| ()))?;
        let is_run = |contact: &ContactData| contact.frames[0] <= contact.frames[1];
        if self.contacts.iter().any(|clip| !clip.fps.is_finite() || !clip.contacts.iter().all(is_run)) {
            return value("contacts", "one of them ends before it begins".into());
        }
        Ok(())
    }

    /// Names of markers and planes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.markers.iter().map(|m| m.name.as_str()).chain(self.planes.iter().map(|p| p.name.as_str()))
    }

    /// Contacts of a clip that the user changed.
    pub fn contacts_of(&self, clip: &str) -> Option<&ClipContacts> {
        self.contacts.iter().find(|contacts| contacts.clip == clip)
    }

    /// What surrounds the skeleton.
    pub(crate) fn scene(&self) -> Scene {
        let vector = DVec3::from_array;
        Scene {
            markers: self.markers.iter().map(|m| (m.name.clone(), vector(m.position))).collect(),
            planes: self
                .planes
                .iter()
                .map(|p| (p.name.clone(), [vector(p.point), vector(p.normal)]))
                .collect(),
            ground: None,
        }
    }

    /// Around a body of another size.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        let places = scaled.markers.iter_mut().map(|m| &mut m.position);
        places.chain(scaled.planes.iter_mut().map(|p| &mut p.point)).flatten().for_each(|x| *x *= factor);
        scaled
    }

    pub(crate) fn n_bytes(&self) -> usize {
        let contacts: usize = self.contacts.iter().map(|clip| clip.contacts.len()).sum();
        size_of::<Self>() + self.text.len() + 64 * (self.markers.len() + self.planes.len() + contacts)
    }
}

/// What rules come to: faults of the text, and the pose at which they hold.
#[derive(Debug)]
pub struct Ruled {
    rules: Arc<RulesData>,
    body: Arc<Character>,
    start: Option<(Arc<Clip>, f32)>,
    ground: Option<GroundData>,
    /// All diagnostics of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the pose is that of the text as it was when it had no errors.
    pub is_stale: bool,
    /// The pose; `None` if the text never was without errors.
    pub solved: Option<Arc<Solved>>,
}

/// A pose at which rules hold, or nearly.
#[derive(Debug)]
pub struct Solved {
    /// The rules as they were solved.
    pub solver: Solver,
    /// Values of all degrees of freedom, and what is known of them.
    pub solution: Solution,
    /// The pose of the rig.
    pub pose: Pose,
    /// Where its joints are.
    pub world: JointFrames,
    /// Where rules would have them.
    pub marks: Vec<RuleGizmo>,
    /// Compiling and solving.
    pub time: Duration,
}

impl Ruled {
    /// Solve the rules of a document. While its text has errors, the pose of `before` stays.
    ///
    /// # Errors
    /// If there is no skeleton, or one that cannot be posed.
    pub fn new(document: &Document, before: Option<&Self>) -> Result<Self, SessionError> {
        let rig = rig_of(document)?;
        let start = start_of(document);
        let rules = document.rules.clone();
        let begun = Instant::now();
        let pose = match &start {
            Some((clip, time)) => clip.sample(rig, *time),
            None => rig.rest_pose(),
        };
        let (script, mut diagnostics) = parse(&rules.text);
        let skeleton = Skeleton::from_rig(rig)?.with_rest_pose(&pose)?;
        let ground = document.paths.ground.clone();
        let site = ground.as_ref().map(GroundData::build).transpose()?.map(PlacedGround::of);
        let scene = Scene { ground: site, ..rules.scene() };
        let (problem, found) = Problem::new(&script, &skeleton, &scene, &CompileParams::default());
        diagnostics.extend(found);
        diagnostics.sort_by_key(|diagnostic| (diagnostic.span.start, std::cmp::Reverse(diagnostic.severity)));
        let is_stale = has_errors(&diagnostics);
        let of_before = || before.filter(|before| Arc::ptr_eq(&before.body, &document.body));
        let solved = if is_stale {
            of_before().and_then(|before| before.solved.clone())
        } else {
            Some(Arc::new(solve(problem, rig, &pose, begun)?))
        };
        Ok(Self { rules, body: document.body.clone(), start, ground, diagnostics, is_stale, solved })
    }

    /// The text that was solved.
    pub fn text(&self) -> &str {
        &self.rules.text
    }

    /// Whether it is of the document as it is now.
    pub fn serves(&self, document: &Document) -> bool {
        let is_same_start = match (&self.start, start_of(document)) {
            (Some((a, s)), Some((b, t))) => Arc::ptr_eq(a, &b) && *s == t,
            (a, b) => a.is_none() && b.is_none(),
        };
        Arc::ptr_eq(&self.rules, &document.rules)
            && Arc::ptr_eq(&self.body, &document.body)
            && is_same_start
            && self.ground == document.paths.ground
    }

    /// The character in the pose.
    ///
    /// # Errors
    /// If skin and mesh do not fit each other.
    pub fn frame(&self, document: &Document) -> Result<Frame, SessionError> {
        let start = Instant::now();
        let positions = match &self.solved {
            Some(solved) => document.body.positions_posed(&solved.pose)?,
            None => document.body.positions_at(None, 0.0)?,
        };
        Ok(frame_of_positions(document, positions, start))
    }
}

/// The skeleton of a document.
pub(crate) fn rig_of(document: &Document) -> Result<&Rig, SessionError> {
    document.body.rig.as_ref().filter(|rig| rig.n_joints() > 0).ok_or_else(|| SessionError::Value {
        what: "skeleton",
        cause: "the character has none; add one (the button “Add a skeleton”, or `sinew rig`)".into(),
    })
}

/// The moment the document names, as long as its clip is there.
fn start_of(document: &Document) -> Option<(Arc<Clip>, f32)> {
    let start = document.rules.start.as_ref()?;
    let at = document.find_clip(&start.clip).ok()?;
    Some((document.clips[at].clone(), start.time))
}

fn solve(problem: Problem, rig: &Rig, pose: &Pose, begun: Instant) -> Result<Solved, SessionError> {
    let start = problem.skeleton().values_at(pose)?;
    let mut solver = Solver::new(problem);
    let solution = solver.solve(&start, &SolveParams::default())?;
    let pose = solver.problem().skeleton().pose_at(&solution.values)?;
    let world = JointFrames::of(rig, &pose);
    let marks = rule_gizmos(solver.problem(), &world);
    Ok(Solved { solver, solution, pose, world, marks, time: begun.elapsed() })
}
