//! Any pose as a history of moves, so that a blend can be stored as an example and edited.

use super::{screw::Screw, space::PoseSpace};
use crate::{HandlePose, HandleSet};
use glam::DVec3;
use sinew_geom::Move;

/// Smaller turns and shifts are treated as zero.
const MOTION_TOLERANCE: f64 = 1e-12;

impl PoseSpace {
    /// Moves that make a pose: each handle is turned with all that it carries, then shifted with it.
    pub fn history(&self, handles: &HandleSet, pose: &HandlePose) -> Vec<Move> {
        let names = |list: &[usize]| list.iter().map(|&h| self.names[h].clone()).collect::<Vec<_>>();
        let mut moves = self.twists(handles, pose);
        // Where each handle's carrier has moved its pivot so far, and how it is rotated there.
        for &h in &self.tree.order {
            let Screw { turn, .. } = self.screw(pose, h);
            let carried = names(&self.tree.subtree(h));
            if turn.length() > MOTION_TOLERANCE {
                moves.push(Move::Rotate {
                    main: self.names[h].clone(),
                    handles: carried.clone(),
                    axis: turn.normalize(),
                    radians: turn.length(),
                });
            }
            let at = |h: usize| pose.motions()[h].affine().transform_point3(self.pivot[h]);
            let carrier = self.tree.parent[h];
            let expected =
                carrier.map_or(self.pivot[h], |p| pose.motions()[p].affine().transform_point3(self.pivot[h]));
            let vector: DVec3 = at(h) - expected;
            if vector.length() > MOTION_TOLERANCE * self.unit.max(1.0) {
                moves.push(Move::Translate { handles: carried, vector });
            }
        }
        moves
    }

    /// Twists within handles. A twist also turns the handle at its end; that is subtracted, because its turn is
    /// included in the others.
    fn twists(&self, handles: &HandleSet, pose: &HandlePose) -> Vec<Move> {
        let mut moves = Vec::new();
        for (h, motion) in pose.motions().iter().enumerate() {
            for twist in &motion.twists {
                let Some(end) = handles.handles().iter().find(|other| other.center == twist.origin) else {
                    continue;
                };
                moves.push(Move::Twist {
                    handles: vec![end.name.clone()],
                    axis: twist.axis,
                    radians: twist.radians,
                    over: vec![self.names[h].clone()],
                });
                moves.push(Move::Rotate {
                    main: end.name.clone(),
                    handles: vec![end.name.clone()],
                    axis: twist.axis,
                    radians: -twist.radians,
                });
            }
        }
        moves
    }
}
