//! How a body walks: which legs, in what order, how fast, and with what strides.

use crate::{
    base::Base,
    error::GaitError,
    footfall::{Floor, Footfall},
    gait::Gait,
    leg::Leg,
    params::GaitParams,
    trunk::Trunk,
    way::Way,
};

const GRAVITY: f64 = 9.81;
/// Least travel of a steady gait in heights of the body, and least number of strides.
const LEAST_TRAVEL: f64 = 1.5;
const LEAST_STRIDES: f64 = 2.0;

/// How a body walks.
pub(crate) struct Walker<'a> {
    pub base: Base<'a>,
    pub legs: Vec<Leg>,
    pub trunk: Trunk,
    /// The joint that carries everything; without one, all roots do.
    pub carrier: Option<usize>,
    pub gait: Gait,
    /// Mean height of the hips, speed, seconds of a cycle, share on the ground; in units of the body.
    pub hip_height: f64,
    pub speed: f64,
    pub period: f64,
    duty: f64,
    /// Metres per unit.
    pub unit: f64,
}

impl<'a> Walker<'a> {
    pub fn new(
        base: Base<'a>,
        mut legs: Vec<Leg>,
        unit: f64,
        params: &GaitParams,
    ) -> Result<Self, GaitError> {
        let n = legs.len();
        if !(2..=8).contains(&n) {
            let found = match n {
                0 => "no leg was".to_owned(),
                1 => "one leg was".to_owned(),
                n => format!("{n} legs were"),
            };
            return Err(GaitError::NoLegs { found });
        }
        let hip_height = legs.iter().map(|leg| leg.points[0].y).sum::<f64>() / n as f64;
        let gravity = GRAVITY / unit;
        let froude_of = |speed: f64| speed * speed / (gravity * hip_height);
        let asked = params.speed.map(|speed| speed / unit);
        let gait = params
            .gait
            .or_else(|| asked.map(|speed| Gait::at_speed(n, froude_of(speed))))
            .unwrap_or(Gait::Walk);
        let speed = asked.unwrap_or_else(|| (gait.froude() * gravity * hip_height).sqrt());
        let froude = froude_of(speed);
        let stride = Gait::stride(froude) * hip_height;
        let is_stiff = legs.iter().all(Leg::is_stiff);
        let n_pairs = n.div_ceil(2);
        let mut seen = [0, 0];
        for leg in &mut legs {
            let side = usize::from(leg.is_right);
            leg.phase = gait.phase(seen[side].min(n_pairs - 1), n_pairs, leg.is_right);
            seen[side] += 1;
        }
        Ok(Self {
            trunk: Trunk::new(&base, &legs),
            carrier: carrier(&base),
            base,
            legs,
            gait,
            hip_height,
            speed,
            period: stride / speed,
            duty: if is_stiff { 0.5 } else { gait.duty(froude) },
            unit,
        })
    }

    /// Whether no leg can fold, so that the body goes up and down over them.
    pub fn is_stiff(&self) -> bool {
        self.legs.iter().all(Leg::is_stiff)
    }

    /// Where it goes, and for how many seconds. The cycle of a steady gait becomes a whole number of frames.
    pub fn way(&mut self, params: &GaitParams) -> Result<(Way, f64), GaitError> {
        if params.line.is_empty() {
            self.period = (self.period * params.fps).round().max(2.0) / params.fps;
            let travel = LEAST_TRAVEL * self.base.height() / (self.speed * self.period);
            let strides = travel.ceil().clamp(LEAST_STRIDES, 40.0);
            return Ok((Way::Steady { speed: self.speed }, strides * self.period));
        }
        let line: Vec<[f64; 2]> = params.line.iter().map(|p| p.map(|x| x / self.unit)).collect();
        // A line begins where the body stands.
        let line = if line[0] == [0.0; 2] { line } else { [vec![[0.0; 2]], line].concat() };
        let way = Way::along(&line, self.speed, self.period, 0.3 * self.hip_height)?;
        let seconds = way.duration().unwrap_or(self.period) + 0.5 * self.period;
        Ok((way, seconds))
    }

    pub fn footfall<'b>(&self, way: &'b Way, floor: &'b Floor<'b>) -> Footfall<'b> {
        let n = self.legs.len();
        let reach = self.hip_height;
        let lift = match (self.gait, n) {
            (Gait::Walk, ..=3) => 0.08,
            (Gait::Walk, 4) => 0.12,
            (_, ..=4) => 0.16,
            _ => 0.22,
        };
        // Short legs under a tall body are lifted more, so that one sees it.
        let lift = (lift * reach).max((0.03 * self.base.height()).min(0.2 * reach));
        let pitches = match (self.gait, n) {
            (Gait::Walk, 2) => [0.24, 0.75],
            (_, 2) => [0.05, 0.9],
            _ => [0.0, 0.6],
        };
        // Large feet on short legs are put down flat.
        let long = self.legs.iter().map(|leg| leg.sole.length()).fold(0.0, f64::max);
        let flat = (0.32 * self.hip_height / long.max(1e-9)).min(1.0);
        let pitches = pitches.map(|pitch| pitch * flat);
        Footfall {
            way,
            floor,
            period: self.period,
            duty: self.duty,
            stride: way.speed() * self.period,
            lift,
            pitches,
        }
    }
}

/// The deepest joint on which everything hangs that moves.
fn carrier(base: &Base) -> Option<usize> {
    let moves: Vec<usize> = (0..base.hangs_on.len()).filter(|&k| !base.map.joints[k].is_structural).collect();
    let carries = |&&joint: &&usize| {
        let below = base.below(joint);
        moves.iter().all(|&k| below[k])
    };
    base.order.iter().rev().find(carries).copied()
}
