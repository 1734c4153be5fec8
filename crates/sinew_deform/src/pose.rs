//! A pose of handles: the moves a user made, and the resulting transform of each handle.
//!
//! # Source
//! Hansen (2006), §6.4 and §6.4.2. Differs: a handle also remembers how far it has turned beyond a half turn, and
//! twists may be spread over a limb (§10.5 asks for a twisting tool).
//! # Symbols
//! `x' = R x + t` with `R`, `t` of the handle; `ω` rotation vector of `R` with whole turns kept

use crate::{DeformError, HandleSet};
use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{Mesh, Move};
use std::f64::consts::TAU;

/// The motion of each handle of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlePose {
    motions: Vec<HandleMotion>,
}

/// The motion of one handle.
#[derive(Debug, Clone, PartialEq)]
pub struct HandleMotion {
    /// `R`.
    pub rotation: DQuat,
    /// `t`.
    pub translation: DVec3,
    /// `ω`: like the logarithm of `rotation`, but two and a half turns differ from a half turn.
    pub turn: DVec3,
    /// Twists within the handle, before `R`.
    pub twists: Vec<Twist>,
}

/// A turn about a line that grows along it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Twist {
    /// Direction of the line, in model space at rest.
    pub axis: DVec3,
    /// A point of the line.
    pub origin: DVec3,
    /// Angle at the full end.
    pub radians: f64,
    /// Places along the axis, measured from the origin, where the turn is zero and where it is full.
    pub range: [f64; 2],
}

impl Twist {
    /// Share of the turn at a point, 0..=1.
    fn share(&self, rest: DVec3) -> f64 {
        let [from, to] = self.range;
        if from == to {
            1.0
        } else {
            (((rest - self.origin).dot(self.axis) - from) / (to - from)).clamp(0.0, 1.0)
        }
    }
}

impl Default for HandleMotion {
    fn default() -> Self {
        Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO, turn: DVec3::ZERO, twists: Vec::new() }
    }
}

impl HandleMotion {
    /// A rigid motion without whole turns.
    pub fn rigid(rotation: DQuat, translation: DVec3) -> Self {
        let rotation = rotation.normalize();
        Self { rotation, translation, turn: nearest_turn(rotation, DVec3::ZERO), twists: Vec::new() }
    }

    /// Where a point of the handle goes.
    pub fn position(&self, rest: DVec3) -> DVec3 {
        let twisted = self.twists.iter().fold(rest, |x, twist| {
            let turn = DQuat::from_axis_angle(twist.axis, twist.radians * twist.share(rest));
            twist.origin + turn * (x - twist.origin)
        });
        self.rotation * twisted + self.translation
    }

    /// The rotation of the surface at a point of the handle.
    pub fn rotation_at(&self, rest: DVec3) -> DQuat {
        let twists = self.twists.iter().fold(DQuat::IDENTITY, |q, twist| {
            DQuat::from_axis_angle(twist.axis, twist.radians * twist.share(rest)) * q
        });
        self.rotation * twists
    }

    /// The same motion as a matrix, without the twists.
    pub fn affine(&self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.rotation, self.translation)
    }

    pub(crate) fn rotate(&mut self, axis: DVec3, radians: f64, center: DVec3) {
        self.turn = turn_further(self.turn, axis, radians);
        self.carry(DQuat::from_axis_angle(axis, radians), center);
    }

    /// Turn about a centre without counting whole turns, because counting costs more than the turn itself.
    pub(crate) fn carry(&mut self, turn: DQuat, center: DVec3) {
        self.translation = center + turn * (self.translation - center);
        self.rotation = (turn * self.rotation).normalize();
    }
}

impl HandlePose {
    /// Nothing moved.
    pub fn rest(handles: &HandleSet) -> Self {
        Self::identity(handles.len())
    }

    /// Nothing moved, for a number of handles.
    pub(crate) fn identity(n_handles: usize) -> Self {
        Self { motions: vec![HandleMotion::default(); n_handles] }
    }

    /// Replay moves from rest (§6.4.2).
    ///
    /// # Errors
    /// If a move names no handle of the set, turns about no axis, or is not finite.
    pub fn from_moves(mesh: &Mesh, handles: &HandleSet, moves: &[Move]) -> Result<Self, DeformError> {
        let mut pose = Self::rest(handles);
        moves.iter().enumerate().try_for_each(|(at, step)| pose.apply(mesh, handles, at, step))?;
        Ok(pose)
    }

    /// A pose from motions found elsewhere.
    ///
    /// # Errors
    /// If there are not as many as handles, or one is not finite.
    pub fn from_motions(handles: &HandleSet, motions: Vec<HandleMotion>) -> Result<Self, DeformError> {
        if motions.len() != handles.len() {
            let (expected, actual) = (handles.len(), motions.len());
            return Err(DeformError::Length { what: "handle motions", expected, actual });
        }
        let finite =
            |m: &HandleMotion| m.rotation.is_finite() && m.translation.is_finite() && m.turn.is_finite();
        match motions.iter().position(|m| !finite(m)) {
            Some(at) => Err(DeformError::NonFinite { what: format!("the motion of handle {at}") }),
            None => Ok(Self { motions }),
        }
    }

    /// A pose whose motions are known to be finite and one per handle.
    pub(crate) fn from_checked(motions: Vec<HandleMotion>) -> Self {
        Self { motions }
    }

    /// Motion of every handle.
    pub fn motions(&self) -> &[HandleMotion] {
        &self.motions
    }

    fn apply(&mut self, mesh: &Mesh, handles: &HandleSet, at: usize, step: &Move) -> Result<(), DeformError> {
        let find = |name: &String| {
            handles.find(name).ok_or_else(|| DeformError::UnknownHandle {
                at,
                name: name.clone(),
                known: handles.handles().iter().map(|h| h.name.as_str()).collect::<Vec<_>>().join(", "),
            })
        };
        let find_all = |names: &[String]| {
            let mut found = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
            found.sort_unstable();
            found.dedup();
            Ok::<_, DeformError>(found)
        };
        match step {
            Move::Rotate { main, handles: names, axis, radians } => {
                let (main, axis) = (find(main)?, direction(*axis, *radians, at)?);
                let names = if names.is_empty() {
                    let stored = &handles.handles()[main];
                    [std::slice::from_ref(&stored.name), &stored.secondary].concat()
                } else {
                    names.clone()
                };
                self.rotate(handles, main, &find_all(&names)?, axis, *radians);
            }
            Move::Translate { handles: names, vector } => {
                if !vector.is_finite() {
                    return Err(DeformError::NonFinite { what: format!("the vector of move {at}") });
                }
                find_all(names)?.into_iter().for_each(|h| self.motions[h].translation += *vector);
            }
            Move::Twist { handles: names, axis, radians, over } => {
                let axis = direction(*axis, *radians, at)?;
                let over = find_all(over)?;
                let Some(main) = names.first().map(find).transpose()? else { return Ok(()) };
                let origin = handles.handles()[main].center;
                for &h in &over {
                    let range = twist_range(mesh, handles, h, origin, axis);
                    self.motions[h].twists.push(Twist { axis, origin, radians: *radians, range });
                }
                self.rotate(handles, main, &find_all(names)?, axis, *radians);
            }
        }
        Ok(())
    }

    /// Turn handles about the centre of `main`; centre and axis are where `main` has carried them.
    fn rotate(&mut self, handles: &HandleSet, main: usize, turned: &[usize], axis: DVec3, radians: f64) {
        let center = self.motions[main].position(handles.handles()[main].center);
        let axis = (self.motions[main].rotation * axis).normalize();
        turned.iter().for_each(|&h| self.motions[h].rotate(axis, radians, center));
    }
}

fn direction(axis: DVec3, radians: f64, at: usize) -> Result<DVec3, DeformError> {
    if !(axis.is_finite() && radians.is_finite()) {
        return Err(DeformError::NonFinite { what: format!("the axis or angle of move {at}") });
    }
    axis.try_normalize().ok_or(DeformError::NoAxis { at })
}

/// Where along an axis the vertices of a handle begin and end, the end nearer to the origin last.
pub(crate) fn twist_range(
    mesh: &Mesh,
    handles: &HandleSet,
    handle: usize,
    origin: DVec3,
    axis: DVec3,
) -> [f64; 2] {
    let places =
        handles.handles()[handle].vertices.iter().map(|&v| (mesh.positions()[v as usize] - origin).dot(axis));
    let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    match low <= high {
        false => [0.0, 0.0],
        true if high.abs() <= low.abs() => [low, high],
        true => [high, low],
    }
}

/// A rotation vector after a further turn, followed in small steps so that whole turns are kept.
fn turn_further(turn: DVec3, axis: DVec3, radians: f64) -> DVec3 {
    let steps = (radians.abs() / 0.25).ceil().clamp(1.0, 4000.0);
    let small = DQuat::from_axis_angle(axis, radians / steps);
    let mut rotation = DQuat::from_scaled_axis(turn);
    let mut turn = turn;
    for _ in 0..steps as usize {
        rotation = (small * rotation).normalize();
        turn = nearest_turn(rotation, turn);
    }
    turn
}

/// Of all rotation vectors of a rotation, the one nearest to another vector.
pub(crate) fn nearest_turn(rotation: DQuat, near: DVec3) -> DVec3 {
    let principal = rotation.to_scaled_axis();
    let angle = principal.length();
    // A whole turn may have any axis: that of the neighbour is as good as any and the nearest.
    let axis = if angle > 1e-9 { principal / angle } else { near.normalize_or_zero() };
    let whole = ((near.dot(axis) - angle) / TAU).round();
    axis * (angle + TAU * whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Handle, Warnings};

    /// A line of vertices along x: three in each of `arm` and `hand`, with centres at their starts.
    fn arm() -> (Mesh, HandleSet) {
        let positions = (0..6).map(|i| DVec3::new(f64::from(i), 0.0, 0.0)).collect();
        let mesh = Mesh::new(positions, vec![]).unwrap();
        let handle = |name: &str, vertices: [u32; 3], center: f64, secondary: &[&str]| Handle {
            name: name.into(),
            vertices: vertices.to_vec(),
            weights: vec![1.0; 3],
            center: DVec3::X * center,
            secondary: secondary.iter().map(|s| (*s).to_owned()).collect(),
        };
        let handles = [handle("arm", [0, 1, 2], 0.0, &["hand"]), handle("hand", [3, 4, 5], 3.0, &[])];
        let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
        (mesh, set)
    }

    fn rotate(main: &str, handles: &[&str], degrees: f64) -> Move {
        let handles = handles.iter().map(|s| (*s).to_owned()).collect();
        Move::Rotate { main: main.into(), handles, axis: DVec3::Z, radians: degrees.to_radians() }
    }

    #[test]
    fn secondary_handles_centres_and_axes_are_carried_along() {
        let (mesh, set) = arm();
        // The arm up by 90°, its hand with it; then the hand alone by 90° about its carried centre.
        let pose =
            HandlePose::from_moves(&mesh, &set, &[rotate("arm", &[], 90.0), rotate("hand", &[], 90.0)])
                .unwrap();
        let tip = pose.motions()[1].position(DVec3::X * 5.0);
        assert!(tip.distance(DVec3::new(-2.0, 3.0, 0.0)) < 1e-12, "{tip}");
        // An axis along the hand at rest has turned with it.
        let roll = Move::Rotate { main: "hand".into(), handles: vec![], axis: DVec3::X, radians: 1.0 };
        let rolled = HandlePose::from_moves(&mesh, &set, &[rotate("arm", &[], 90.0), roll]).unwrap();
        let tip = rolled.motions()[1].position(DVec3::X * 5.0);
        assert!(tip.distance(DVec3::Y * 5.0) < 1e-12, "{tip}");
    }

    #[test]
    fn whole_turns_are_remembered() {
        let (mesh, set) = arm();
        for degrees in [170.0, 270.0, 540.0, -400.0] {
            let pose = HandlePose::from_moves(&mesh, &set, &[rotate("hand", &["hand"], degrees)]).unwrap();
            let turn = pose.motions()[1].turn;
            assert!((turn - DVec3::Z * degrees.to_radians()).length() < 1e-9, "{degrees}: {turn}");
        }
        // In four steps it is the same as in one.
        let quarter = vec![rotate("hand", &["hand"], 100.0); 4];
        let pose = HandlePose::from_moves(&mesh, &set, &quarter).unwrap();
        assert!((pose.motions()[1].turn.z - 400f64.to_radians()).abs() < 1e-9);
    }

    #[test]
    fn a_twist_grows_along_the_limb() {
        let (mesh, set) = arm();
        let twist = Move::Twist {
            handles: vec!["hand".into()],
            axis: DVec3::X,
            radians: 1.0,
            over: vec!["arm".into()],
        };
        let pose = HandlePose::from_moves(&mesh, &set, &[twist]).unwrap();
        let angle = |h: usize, x: f64| pose.motions()[h].rotation_at(DVec3::X * x).to_scaled_axis().x;
        assert!((angle(0, 0.0)).abs() < 1e-12 && (angle(0, 1.0) - 0.5).abs() < 1e-12);
        assert!((angle(0, 2.0) - 1.0).abs() < 1e-12 && (angle(1, 4.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn moves_that_make_no_sense_are_refused() {
        let (mesh, set) = arm();
        let shift = |x: f64| Move::Translate { handles: vec!["arm".into()], vector: DVec3::X * x };
        let flat = Move::Rotate { main: "arm".into(), handles: vec![], axis: DVec3::ZERO, radians: 1.0 };
        for bad in [shift(f64::NAN), flat, rotate("foot", &[], 1.0), rotate("arm", &[], f64::INFINITY)] {
            assert!(HandlePose::from_moves(&mesh, &set, std::slice::from_ref(&bad)).is_err(), "{bad:?}");
        }
    }
}
