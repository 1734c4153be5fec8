//! What a user should know about a fitted clip: where it is worse than the clip it was made from, and whether it can be used.

use super::{Quality, RefitReport, Worst};

/// Length of a leg of a person of 1.7 m, metres: lengths in messages and limits are those of such a body.
const LEG_METRES: f64 = 0.83;
/// Steps and depths beyond those of the clip that are seen, and those that make a result useless.
const SEEN_METRES: f64 = 0.009;
const USELESS_METRES: f64 = 0.2;
/// Angles between limbs of the clip and the result, degrees.
const SEEN_DEGREES: f64 = 8.0;
const SEEN_DEGREES_P95: f64 = 25.0;
const USELESS_DEGREES: f64 = 40.0;
/// Slides beyond those of the clip that are seen, metres per second.
const SEEN_SLIDE: f64 = 0.01;
/// Jerk relative to that of the clip that is seen.
const SEEN_JERK: f64 = 1.3;

impl RefitReport {
    /// Where the result is worse than the clip, one sentence each.
    pub fn faults(&self) -> Vec<String> {
        let (quality, mut faults) = (&self.quality, Vec::new());
        let size = quality.size();
        if quality.jump.value > SEEN_METRES * size {
            let Worst { value, frame, joint } = &quality.jump;
            faults.push(format!(
                "in frame {frame} `{joint}` moves {:.1} cm further than in the clip; look at it there",
                100.0 * value
            ));
        }
        if quality.depth.value > SEEN_METRES * size {
            let Worst { value, frame, joint } = &quality.depth;
            faults.push(format!("in frame {frame} `{joint}` is {:.1} cm in the ground", 100.0 * value));
        }
        if let Some(degrees) = quality.direction.map(f64::to_degrees).filter(|x| *x > SEEN_DEGREES) {
            faults.push(format!("limbs point {degrees:.0}° elsewhere than the clip's on average"));
        }
        if let Some(degrees) = quality.direction_p95.map(f64::to_degrees).filter(|x| *x > SEEN_DEGREES_P95) {
            faults.push(format!("at times limbs point {degrees:.0}° elsewhere than the clip's"));
        }
        if let Some(jerk) = quality.jerk.filter(|jerk| *jerk > SEEN_JERK) {
            faults.push(format!("the motion is {jerk:.1} times as jerky as the clip"));
        }
        let own = self.source.slide * self.scale;
        if quality.slide > SEEN_SLIDE * size {
            faults.push(format!(
                "planted feet slide by {:.1} cm/s more than those of the clip",
                100.0 * quality.slide
            ));
        } else if self.fitted.slide > own.max(SEEN_SLIDE * size) * 1.1 {
            faults.push(format!(
                "planted feet slide at {:.1} cm/s, those of the clip at {:.1}",
                100.0 * self.fitted.slide,
                100.0 * own
            ));
        }
        faults
    }

    /// Why the result should not be used, if it should not.
    pub fn refusal(&self) -> Option<String> {
        let Quality { jump, depth, direction, .. } = &self.quality;
        let size = self.quality.size();
        let cause = if direction.is_some_and(|x| x.to_degrees() > USELESS_DEGREES) {
            "its limbs do not point where the clip's do"
        } else if jump.value > USELESS_METRES * size {
            "it jumps where the clip does not"
        } else if depth.value > USELESS_METRES * size {
            "it is in the ground"
        } else {
            return None;
        };
        Some(format!("the result should not be used: {cause}"))
    }
}

impl Quality {
    /// Size of the body relative to a person of 1.7 m.
    fn size(&self) -> f64 {
        self.leg / LEG_METRES
    }
}
