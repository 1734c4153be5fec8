//! Which part of the actor moves which part of the character.
//!
//! # Source
//! Sun (2017), §6.2, proposes separate spaces of arms, legs and trunk, so that an arm does not disturb a leg, and
//! leaves open how the character's parts are found. Sinew's own: a joint belongs to the part of the actor that
//! distinguishes its poses best. If the joint moves between two pairs, the part must differ between them too; the less
//! the joint moves for a given motion of the part, the better the part explains it.

use crate::{CanonicalPose, Limb};

/// Some limbs of the actor, projected together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimbSet(u8);

impl LimbSet {
    /// The whole body.
    pub const BODY: Self = Self(0b11111);

    /// Parts that are tried, the smallest first: each limb, both arms, both legs, the upper body, everything.
    const CANDIDATES: [Self; 9] = [
        Self(0b00001),
        Self(0b00010),
        Self(0b00100),
        Self(0b01000),
        Self(0b10000),
        Self(0b00110),
        Self(0b11000),
        Self(0b00111),
        Self::BODY,
    ];

    /// A part of these limbs; the whole body if there is none.
    pub fn of(limbs: &[Limb]) -> Self {
        let bits = limbs.iter().fold(0, |bits, limb| bits | 1 << *limb as u8);
        if bits == 0 { Self::BODY } else { Self(bits) }
    }

    /// Its limbs.
    pub fn limbs(self) -> impl Iterator<Item = Limb> {
        Limb::ALL.into_iter().filter(move |limb| self.0 & (1 << *limb as u8) != 0)
    }

    /// Names of its limbs, or `body`.
    pub fn name(self) -> String {
        if self == Self::BODY {
            return "body".into();
        }
        self.limbs().map(Limb::name).collect::<Vec<_>>().join("+")
    }

    /// The numbers of a pose that belong to it. Limbs are relative to their first joint, so that bending the trunk does not
    /// move the arms.
    pub fn numbers(self, pose: &CanonicalPose) -> Vec<f64> {
        let of_limb = |limb: Limb| {
            let from = match limb {
                Limb::ArmLeft | Limb::ArmRight => pose.joint(2),
                _ => pose.joint(0),
            };
            limb.joints().flat_map(move |k| (pose.joint(k) - from).to_array())
        };
        self.limbs().flat_map(of_limb).collect()
    }
}

/// Uncertainty of a joint of a tracked body, metres.
const NOISE_METRES: f64 = 0.03;
/// A larger part must explain a joint better than a smaller one by this factor.
const MIN_IMPROVEMENT: f64 = 1.3;

/// The part for each of `n` channels (joints) of the character; `distance` gives the squared distance of a channel
/// between two pairs. Channels that never move belong to the whole body.
pub fn assign_parts(
    sources: &[CanonicalPose],
    n_channels: usize,
    distance: impl Fn(usize, usize, usize) -> f64,
) -> Vec<LimbSet> {
    let pairs: Vec<(usize, usize)> = (0..sources.len()).flat_map(|i| (0..i).map(move |k| (i, k))).collect();
    let spreads: Vec<Vec<f64>> =
        LimbSet::CANDIDATES.iter().map(|&part| spread(part, sources, &pairs)).collect();
    let assign = |channel: usize| {
        let moved: Vec<f64> = pairs.iter().map(|&(i, k)| distance(channel, i, k)).collect();
        if moved.iter().all(|&d| d < 1e-12) {
            return LimbSet::BODY;
        }
        let mut best = (f64::INFINITY, LimbSet::BODY);
        for (&part, spread) in LimbSet::CANDIDATES.iter().zip(&spreads) {
            let steepest = moved.iter().zip(spread).map(|(d, e)| d / e).fold(0.0, f64::max);
            if steepest * MIN_IMPROVEMENT < best.0 {
                best = (steepest, part);
            }
        }
        best.1
    };
    (0..n_channels).map(assign).collect()
}

/// Squared distances of a part between pairs, relative to their mean.
fn spread(part: LimbSet, sources: &[CanonicalPose], pairs: &[(usize, usize)]) -> Vec<f64> {
    let numbers: Vec<Vec<f64>> = sources.iter().map(|pose| part.numbers(pose)).collect();
    let squared = |&(i, k): &(usize, usize)| {
        numbers[i].iter().zip(&numbers[k]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
    };
    let distances: Vec<f64> = pairs.iter().map(squared).collect();
    let noise = NOISE_METRES * NOISE_METRES * part.limbs().count() as f64 * 4.0;
    let mean = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
    // Differences below the accuracy of tracking are ignored.
    let significant = |d: f64| (d - noise).max(1e-6 * noise) / (mean + noise);
    distances.into_iter().map(significant).collect()
}
