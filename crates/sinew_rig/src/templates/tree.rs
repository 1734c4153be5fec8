//! Anything with limbs: a short spine, and a chain for every tip.

use super::{Cost, Proposal, extras};
use crate::{
    skeleton::Skeleton,
    view::{Slices, View},
};
use glam::{DMat3, DVec3};
use sinew_geom::{body_map::BodyClass, linalg::symmetric_eigen};

/// A tree explains everything and says nothing: it costs more than a plan that fits fairly.
const TREE_COST: f64 = 1.3;

/// The tree of a view.
pub(super) fn propose(view: &View) -> Option<Proposal> {
    let mut skeleton = Skeleton::default();
    add_spine(view, &mut skeleton)?;
    let mut notes = Vec::new();
    extras::add_pairs(view, &mut skeleton, &view.pairs, &mut notes);
    for (k, &tip) in view.singles.iter().enumerate() {
        extras::add_single(view, &mut skeleton, tip, &format!("branch_{}", k + 1));
    }
    let mut cost = Cost::default();
    cost.add("no plan of a body", TREE_COST);
    notes.push("no known plan of a body fits; every limb is a chain of its own".to_owned());
    Some(Proposal { class: BodyClass::Tree, skeleton, cost, most_confidence: 0.3, notes })
}

/// Joints along the longest axis of what is left without limbs.
pub(super) fn add_spine(view: &View, skeleton: &mut Skeleton) -> Option<usize> {
    let limbs: Vec<_> = (0..view.shape.tips.len()).map(|tip| view.limb(tip, 0.05)).collect();
    let solid = &view.shape.solid;
    let is_trunk: Vec<bool> =
        (0..solid.len()).map(|cell| limbs.iter().all(|limb| limb.is_beyond(cell))).collect();
    let n = is_trunk.iter().filter(|&&trunk| trunk).count();
    let keep = |cell: usize| n < 50 || is_trunk[cell];
    let points: Vec<DVec3> =
        (0..solid.len()).filter(|&cell| keep(cell)).map(|cell| solid.points[cell]).collect();
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let scatter = points.iter().fold(DMat3::ZERO, |sum, p| {
        let v = *p - mean;
        let v = v - v.dot(view.left) * view.left;
        sum + DMat3::from_cols(v.x * v, v.y * v, v.z * v)
    });
    let (_, axes) = symmetric_eigen(&scatter.to_cols_array(), 3);
    let mut axis = DVec3::new(axes[6], axes[7], axes[8]);
    if axis.dot(view.up) < -0.5 || (axis.dot(view.up).abs() < 0.5 && axis.dot(view.forward) < 0.0) {
        axis = -axis;
    }
    let slices = Slices::new(view.shape, axis, 30, keep)?;
    let length = slices.high() - slices.low();
    let n = if length > 0.2 {
        3
    } else if length > 0.1 {
        2
    } else {
        1
    };
    let place = |k: usize| view.flat(slices.at(slices.low() + length * (k as f64 + 0.5) / n as f64));
    let mut last = skeleton.add("root", place(0), None);
    for k in 1..n {
        last = skeleton.add(format!("spine.{k}"), place(k), Some(last));
    }
    Some(last)
}
