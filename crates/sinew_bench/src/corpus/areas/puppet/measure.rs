//! A take against its actor and against the character's own clips. Sizes are in heights of each body.
//!
//! Two people are compared by the joints of their limbs that both have: a hand with fifteen finger joints moves no further than
//! one with none. Other bodies are compared by all joints that carry skin: controls of the rig move nothing that is seen.

use super::super::super::{
    scene::Scene,
    shape::{edges, quantile, stretches},
};
use super::super::refit::{body::Body, limbs::PARTS, measure::cuts};
use glam::DVec3;
use std::collections::HashSet;

/// A body and those of its joints that are measured.
pub struct Seen<'a> {
    pub body: &'a Body,
    joints: Vec<usize>,
}

/// An actor and a take, by the joints that are compared, given those that carry skin.
pub fn both<'a>(actor: &'a Body, take: &'a Body, carriers: &HashSet<&str>) -> [Seen<'a>; 2] {
    if !(actor.is_humanoid && take.is_humanoid) {
        return [Seen::all(actor), Seen::carrying(take, carriers)];
    }
    let limbs = PARTS.into_iter().flat_map(|part| [(part, 0), (part, 1)]);
    let of_both = limbs
        .filter_map(|(part, side)| Some((actor.limbs.joint(part, side)?, take.limbs.joint(part, side)?)));
    let (ours, theirs) = of_both.unzip();
    [Seen { body: actor, joints: ours }, Seen { body: take, joints: theirs }]
}

impl<'a> Seen<'a> {
    /// All joints of a body.
    pub fn all(body: &'a Body) -> Self {
        Self { body, joints: (0..body.motion.n_joints()).collect() }
    }

    /// Joints that carry skin; all where none does.
    pub fn carrying(body: &'a Body, carriers: &HashSet<&str>) -> Self {
        let carries = |joint: &usize| carriers.contains(body.motion.names[*joint].as_str());
        let joints: Vec<usize> = (0..body.motion.n_joints()).filter(carries).collect();
        if joints.is_empty() { Self::all(body) } else { Self { body, joints } }
    }

    /// Joints against their middle, per frame: some frames.
    fn locals(&self, every: usize) -> Vec<Vec<DVec3>> {
        let frame = |k: usize| {
            let places = || self.joints.iter().map(|&joint| self.body.motion.position(k, joint));
            let centre = places().sum::<DVec3>() / self.joints.len().max(1) as f64;
            places().map(|p| p - centre).collect()
        };
        (0..self.body.n_frames()).step_by(every).map(frame).collect()
    }

    /// How far joints lie from their middle, root mean square. A dog that turns moves its nose further than a person of its
    /// height.
    fn spread(&self) -> f64 {
        let square = |frame: &Vec<DVec3>| {
            frame.iter().map(|p| p.length_squared()).sum::<f64>() / frame.len().max(1) as f64
        };
        let all: Vec<f64> = self.locals(self.body.stride(20)).iter().map(square).collect();
        quantile(&all, 0.5).sqrt().max(1e-12)
    }

    /// How far joints move about where they mostly are, root mean square over their spread.
    pub fn amplitude(&self) -> f64 {
        let frames = self.locals(self.body.stride(300));
        let n = frames.len().max(1) as f64;
        let square = |joint: usize| {
            let mean = frames.iter().map(|frame| frame[joint]).sum::<DVec3>() / n;
            frames.iter().map(|frame| frame[joint].distance_squared(mean)).sum::<f64>() / n
        };
        let joints = self.joints.len();
        ((0..joints).map(square).sum::<f64>() / joints.max(1) as f64).sqrt() / self.spread()
    }

    /// Acceleration of joints, root mean square in spreads/s², apart from given frames.
    pub fn acceleration(&self, without: &[usize]) -> f64 {
        let (mut sum, mut n) = (0.0, 0u32);
        let moments = 1..self.body.n_frames().saturating_sub(1);
        for k in moments.filter(|k| !without.iter().any(|cut| k.abs_diff(*cut) <= 3)) {
            for &joint in &self.joints {
                let p = |k: usize| self.body.motion.position(k, joint);
                sum += (p(k + 1) - p(k) * 2.0 + p(k - 1)).length_squared();
                n += 1;
            }
        }
        (sum / f64::from(n.max(1))).sqrt() / self.body.motion.step.powi(2) / self.spread()
    }
}

/// Acceleration for what moves: the take's over its amplitude, against the actor's over the actor's.
pub fn shake([actor, take]: &[Seen; 2]) -> Option<f64> {
    let cuts = cuts(actor.body);
    let rough = |body: &Seen| body.acceleration(&cuts) / body.amplitude().max(0.005);
    let of_actor = rough(actor);
    (of_actor > 1e-6).then(|| rough(take) / of_actor)
}

/// The joint of the take, and the frame, at which most of its acceleration is.
pub fn shakiest([actor, take]: &[Seen; 2]) -> Option<(String, usize)> {
    let (body, cuts) = (take.body, cuts(actor.body));
    let square = |joint: usize, k: usize| {
        let p = |k: usize| body.motion.position(k, joint);
        (p(k + 1) - p(k) * 2.0 + p(k - 1)).length_squared()
    };
    let is_near = |k: &usize| cuts.iter().any(|cut| k.abs_diff(*cut) <= 3);
    let moments = || (1..body.n_frames().saturating_sub(1)).filter(|k| !is_near(k));
    let of_joint = |joint: usize| moments().map(|k| square(joint, k)).sum::<f64>();
    let joint = take.joints.iter().copied().max_by(|a, b| of_joint(*a).total_cmp(&of_joint(*b)))?;
    let frame = moments().max_by(|a, b| square(joint, *a).total_cmp(&square(joint, *b)))?;
    Some((body.motion.names[joint].clone(), frame))
}

/// The furthest that a character moves within half a second in which its actor stands still, beyond the actor, in heights;
/// nothing if the actor never does.
pub fn restless(actor: &Body, take: &Body) -> Option<f64> {
    let w = (0.5 / actor.motion.step).round().max(2.0) as usize;
    let range = |body: &Body, first: usize| {
        let of = |joint: usize| {
            let places = (first..=first + w).map(|k| body.motion.position(k, joint));
            let (low, high) =
                places.fold((DVec3::MAX, DVec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
            (high - low).max_element() / body.height
        };
        (0..body.motion.n_joints()).map(of).fold(0.0, f64::max)
    };
    let last = actor.n_frames().min(take.n_frames()).saturating_sub(w + 1);
    let beyond = (0..last).step_by((w / 4).max(1)).filter_map(|k| {
        let of_actor = range(actor, k);
        (of_actor < 0.01).then(|| (range(take, k) - of_actor).max(0.0))
    });
    beyond.reduce(f64::max)
}

/// The length of the motion's period in seconds, where it has one and at least two and a half of them are seen: of the joint
/// that moves most, by its likeness to itself some time later.
pub fn period(body: &Body) -> Option<f64> {
    let n = body.n_frames();
    let frames = Seen::all(body).locals(1);
    let signal = |joint: usize, axis: usize| -> Vec<f64> {
        let values: Vec<f64> = frames.iter().map(|frame| frame[joint][axis]).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        values.into_iter().map(|x| x - mean).collect()
    };
    let power = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>();
    let signals = (0..body.motion.n_joints()).flat_map(|joint| [0, 1, 2].map(|axis| signal(joint, axis)));
    let best = signals.max_by(|a, b| power(a).total_cmp(&power(b)))?;
    let like = |lag: usize| {
        let (a, b) = (&best[..n - lag], &best[lag..]);
        let sum: f64 = a.iter().zip(b).map(|(x, y)| x * y).sum();
        sum / (power(a) * power(b)).sqrt().max(1e-12)
    };
    let likes: Vec<f64> = (0..n * 2 / 5).map(like).collect();
    let zero = likes.iter().position(|&x| x < 0.0)?;
    let most = likes[zero..].iter().copied().fold(0.0, f64::max);
    // Two periods later it is as like as after one: the first good peak counts.
    let is_peak =
        |k: &usize| likes[*k] > 0.92 * most && likes[*k] >= likes[*k - 1] && likes[*k] > likes[*k + 1];
    let peak = (zero.max(1)..likes.len().saturating_sub(1)).find(is_peak)?;
    (likes[peak] > 0.6).then_some(peak as f64 * body.motion.step)
}

/// How much faster the take goes than its actor; a step of both legs may count as one or two.
pub fn tempo(actor: &Body, take: &Body) -> Option<f64> {
    let ratio = period(actor)? / period(take)?;
    [ratio, ratio * 2.0, ratio * 0.5].into_iter().min_by(|a, b| a.ln().abs().total_cmp(&b.ln().abs()))
}

/// Change of the edges of a surface that one in a thousand exceeds, at the worst of some moments.
pub fn edge_change(scene: &Scene, clip: usize, moments: &[f64]) -> f64 {
    let (rest, edges) = (scene.positions(None, 0.0), edges(&scene.faces));
    let at = |time: &f64| {
        let changes: Vec<f64> = stretches(&rest, &scene.positions(Some(clip), *time), &edges)
            .iter()
            .map(|s| (s - 1.0).abs())
            .collect();
        quantile(&changes, 0.999)
    };
    moments.iter().map(at).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::super::refit::body::tests::walker;
    use super::*;

    #[test]
    fn a_copy_shakes_and_swings_as_much_and_keeps_time() {
        let (actor, take) = (walker(0.0, 1.0), walker(1.0, 3.0));
        let seen = both(&actor, &take, &HashSet::new());
        assert!((shake(&seen).unwrap() - 1.0).abs() < 1e-6);
        assert!((seen[1].amplitude() / seen[0].amplitude() - 1.0).abs() < 1e-9);
        assert!(restless(&actor, &take).is_none());
    }

    #[test]
    fn noise_shakes_and_a_still_actor_shows_what_moves() {
        let (mut actor, mut take) = (walker(0.0, 1.0), walker(0.0, 1.0));
        for (k, frame) in take.motion.frames.iter_mut().enumerate() {
            frame.iter_mut().for_each(|m| m.w_axis.y += if k % 2 == 0 { 0.01 } else { -0.01 });
        }
        assert!(shake(&both(&actor, &take, &HashSet::new())).unwrap() > 3.0);
        let still = actor.motion.frames[0].clone();
        actor.motion.frames.iter_mut().for_each(|frame| frame.clone_from(&still));
        take.motion.frames.iter_mut().for_each(|frame| frame.clone_from(&still));
        take.motion.frames[60].iter_mut().for_each(|m| m.w_axis.y += 0.09 * take.height);
        assert!((restless(&actor, &take).unwrap() - 0.09).abs() < 1e-9);
    }

    #[test]
    fn a_period_is_found() {
        let mut body = walker(0.0, 1.0);
        for (k, frame) in body.motion.frames.iter_mut().enumerate() {
            frame.iter_mut().for_each(|m| m.w_axis.x = 0.0);
            frame[11].w_axis.x = (k as f64 / 60.0 * std::f64::consts::TAU * 3.0).sin();
        }
        assert!((period(&body).unwrap() - 1.0 / 3.0).abs() < 0.02);
    }
}
