//! Edits that a user would try on any body, chosen from the handles the product found.

use super::super::super::scene::list;
use super::{arap, harm::Body};
use anyhow::{Context, ensure};
use glam::{DMat3, DQuat, DVec3};
use serde_json::{Value, json};
use std::path::Path;

/// Vertices above which a limb is turned and twisted but not bent, to save time.
const MAX_BENT_VERTICES: usize = 40_000;

/// A region by which the surface is moved.
pub struct Handle {
    pub name: String,
    pub vertices: Vec<u32>,
    pub center: DVec3,
    /// Handles that move along.
    along: Vec<usize>,
}

/// A move, and its expected result.
pub struct Edit {
    pub title: &'static str,
    /// As `moves.json` has it.
    pub moves: Value,
    /// Vertices that must turn rigidly.
    pub moved: Vec<u32>,
    pub axis: DVec3,
    pub degrees: f64,
    /// Where they turn about, if the edit says so.
    pub pivot: Option<DVec3>,
}

pub struct Handles(pub Vec<Handle>);

impl Handles {
    pub fn read(path: &Path, n_vertices: usize) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let json: Value = serde_json::from_str(&text)?;
        let entries = list(&json, "handles");
        let name = |entry: &Value| entry["name"].as_str().unwrap_or("").to_owned();
        let names: Vec<String> = entries.iter().map(name).collect();
        let read = |entry: &Value| {
            let number = |v: &Value| v.as_f64().unwrap_or(0.0);
            let center: Vec<f64> = list(entry, "center").iter().map(number).collect();
            ensure!(center.len() == 3, "a handle has no center");
            let vertices = list(entry, "vertices").iter().filter_map(Value::as_u64).map(|v| v as u32);
            let vertices: Vec<u32> = vertices.collect();
            ensure!(
                vertices.iter().all(|&v| (v as usize) < n_vertices),
                "a handle has a vertex that is not there"
            );
            let along = list(entry, "secondary").iter().filter_map(Value::as_str);
            let along = along.filter_map(|other| names.iter().position(|name| name == other)).collect();
            Ok(Handle { name: name(entry), vertices, center: DVec3::from_slice(&center), along })
        };
        let handles = entries.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
        Ok(Self(handles))
    }

    /// The handle that carries most others.
    fn root(&self) -> usize {
        (0..self.0.len())
            .fold(0, |best, k| if self.0[k].along.len() > self.0[best].along.len() { k } else { best })
    }

    /// The nearest handle that carries this one.
    fn parent(&self, handle: usize) -> Option<usize> {
        let above = (0..self.0.len()).filter(|&k| k != handle && self.0[k].along.contains(&handle));
        above.min_by_key(|&k| self.0[k].along.len())
    }

    /// From the handle below the root to this one.
    fn chain(&self, tip: usize) -> Vec<usize> {
        let root = self.root();
        let mut chain = vec![tip];
        while let Some(above) =
            self.parent(chain[chain.len() - 1]).filter(|&k| k != root && chain.len() < 1000)
        {
            if chain.contains(&above) {
                break;
            }
            chain.push(above);
        }
        chain.reverse();
        chain
    }

    /// The part of a chain that is a limb: behind the last handle at which the body forks into parts about as long.
    fn limb(&self, tip: usize) -> Vec<usize> {
        let chain = self.chain(tip);
        let far = |a: usize, b: usize| self.0[a].center.distance(self.0[b].center);
        let whole = far(self.root(), tip);
        let forks = |handle: usize| {
            let reach = far(handle, tip);
            let below = self.0[handle].along.iter().filter(|&&k| self.parent(k) == Some(handle));
            let reach_of =
                |k: usize| self.0[k].along.iter().chain([&k]).map(|&n| far(handle, n)).fold(0.0, f64::max);
            let long = below.filter(|&&k| reach_of(k) > 0.5 * reach).count();
            reach > 0.4 * whole && long > 1
        };
        let start = chain.iter().rposition(|&handle| handle != tip && forks(handle)).map_or(0, |at| at + 1);
        chain[start..].to_vec()
    }

    fn length(&self, limb: &[usize]) -> f64 {
        limb.windows(2).map(|pair| self.0[pair[0]].center.distance(self.0[pair[1]].center)).sum()
    }

    /// The handle and those it carries.
    fn group(&self, handle: usize) -> Vec<usize> {
        [&[handle], self.0[handle].along.as_slice()].concat()
    }

    fn vertices(&self, handles: &[usize]) -> Vec<u32> {
        handles.iter().flat_map(|&k| self.0[k].vertices.iter().copied()).collect()
    }

    /// The edits: a limb turned, what carries most loose parts turned, the longest limb bent, its tip twisted.
    pub fn edits(&self, body: &Body, points: &[DVec3]) -> Vec<Edit> {
        let root = self.root();
        let tips: Vec<usize> =
            (0..self.0.len()).filter(|&k| k != root && self.0[k].along.iter().all(|&n| n == k)).collect();
        let far = |k: usize| self.0[k].center.distance(self.0[root].center);
        let Some(&tip) = tips.iter().max_by(|&&a, &&b| far(a).total_cmp(&far(b))) else { return Vec::new() };
        let limbs: Vec<Vec<usize>> = tips.iter().map(|&tip| self.limb(tip)).collect();
        let longest = limbs.iter().max_by(|a, b| {
            let key = |limb: &[usize]| (limb.len() > 1, self.length(limb));
            key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
        });
        let turned = self.limb(tip);
        let bent = longest.unwrap_or(&turned);
        let mut edits = vec![self.turn("turned", turned[0], tip, 90.0, points)];
        edits.extend(
            self.carrier(body, points).map(|handle| self.turn("with parts", handle, handle, 45.0, points)),
        );
        if points.len() <= MAX_BENT_VERTICES {
            edits.push(self.turn("bent", self.middle(bent), bent[bent.len() - 1], 60.0, points));
        }
        edits.push(self.twist(bent));
        edits
    }

    /// The handle nearest to the middle of a limb; not its base if there is another.
    fn middle(&self, limb: &[usize]) -> usize {
        let half = 0.5 * self.length(limb);
        let off = |k: usize| (self.length(&limb[..=k]) - half).abs();
        let first = usize::from(limb.len() > 1);
        let best = (first..limb.len()).min_by(|&a, &b| off(a).total_cmp(&off(b)));
        limb[best.unwrap_or(0)]
    }

    fn turn(&self, title: &'static str, main: usize, tip: usize, degrees: f64, points: &[DVec3]) -> Edit {
        let group = self.group(main);
        let pivot = self.0[main].center;
        let moved = self.vertices(&group);
        let mean =
            moved.iter().fold(DVec3::ZERO, |sum, &v| sum + points[v as usize]) / moved.len().max(1) as f64;
        let straight =
            if tip == main { mean - self.0[self.root()].center } else { self.0[tip].center - pivot };
        let others: Vec<usize> = (0..self.0.len()).filter(|k| !group.contains(k)).collect();
        let axis = free_axis(
            straight,
            pivot,
            degrees,
            &sample(&moved, points),
            &sample(&self.vertices(&others), points),
        );
        let moves = json!({ "moves": [{ "rotate": { "main": self.0[main].name, "axis": axis.to_array(), "degrees": degrees } }] });
        Edit { title, moves, moved, axis, degrees, pivot: Some(pivot) }
    }

    fn twist(&self, limb: &[usize]) -> Edit {
        let (base, tip) = (limb[0], limb[limb.len() - 1]);
        let from = if limb.len() > 1 { base } else { self.root() };
        let axis = (self.0[tip].center - self.0[from].center).normalize_or(DVec3::Y);
        let group = self.group(tip);
        let names = |list: &[usize]| list.iter().map(|&k| self.0[k].name.clone()).collect::<Vec<_>>();
        let between = if limb.len() > 2 { &limb[1..limb.len() - 1] } else { &[] };
        let twist = json!({ "handles": names(&group), "axis": axis.to_array(), "degrees": 90.0, "over": names(between) });
        Edit {
            title: "twisted",
            moves: json!({ "moves": [{ "twist": twist }] }),
            moved: self.vertices(&group),
            axis,
            degrees: 90.0,
            pivot: None,
        }
    }

    /// The handle, other than the root, that most parts without a handle lie nearest to: eyes, teeth, buttons.
    fn carrier(&self, body: &Body, points: &[DVec3]) -> Option<usize> {
        let mut is_held = vec![false; body.rest.len()];
        self.0.iter().flat_map(|h| &h.vertices).for_each(|&v| is_held[body.of[v as usize] as usize] = true);
        let samples: Vec<Vec<DVec3>> = self.0.iter().map(|handle| sample(&handle.vertices, points)).collect();
        let mut counts = vec![0; self.0.len()];
        let parts = body.parts();
        let loose = parts.iter().filter(|part| part.len() > 3 && !part.iter().any(|&v| is_held[v]));
        for part in loose.take(200) {
            let middle = part.iter().fold(DVec3::ZERO, |sum, &v| sum + body.rest[v]) / part.len() as f64;
            let far =
                |k: &usize| samples[*k].iter().map(|p| p.distance(middle)).fold(f64::INFINITY, f64::min);
            if let Some(nearest) = (0..self.0.len()).min_by(|a, b| far(a).total_cmp(&far(b))) {
                counts[nearest] += 1;
            }
        }
        counts[self.root()] = 0;
        let best = (0..counts.len()).max_by_key(|&k| (counts[k], std::cmp::Reverse(k)))?;
        (counts[best] > 0).then_some(best)
    }
}

/// About two hundred of some vertices.
fn sample(vertices: &[u32], points: &[DVec3]) -> Vec<DVec3> {
    vertices.iter().step_by(vertices.len().div_ceil(200).max(1)).map(|&v| points[v as usize]).collect()
}

/// Of eight axes across a limb the one about which it turns farthest from everything else: no edit asks for a collision.
fn free_axis(straight: DVec3, pivot: DVec3, degrees: f64, limb: &[DVec3], others: &[DVec3]) -> DVec3 {
    let along = straight.normalize_or(DVec3::Y);
    let side = along.any_orthonormal_vector();
    let axes =
        (0..8).map(|k| DQuat::from_axis_angle(along, f64::from(k) * std::f64::consts::FRAC_PI_4) * side);
    let clearance = |axis: &DVec3| {
        let turn = DQuat::from_axis_angle(*axis, degrees.to_radians());
        let far = |p: &DVec3| {
            let p = pivot + turn * (*p - pivot);
            others.iter().map(|o| o.distance(p)).fold(f64::INFINITY, f64::min)
        };
        limb.iter().map(far).sum::<f64>()
    };
    axes.max_by(|a, b| clearance(a).total_cmp(&clearance(b))).unwrap_or(side)
}

impl Edit {
    /// How much of the turn was done (1 is all of it), and how far the handles are from a rigid motion, as a share of the
    /// diagonal (root mean square).
    pub fn done(&self, rest: &[DVec3], posed: &[DVec3], diagonal: f64) -> (f64, f64) {
        let at = |points: &[DVec3], v: u32| points[v as usize];
        let n = self.moved.len().max(1) as f64;
        let pairs: Vec<[DVec3; 2]> = self.moved.iter().map(|&v| [at(rest, v), at(posed, v)]).collect();
        let (turn, off) = off_rigid(&pairs);
        let off = (off.iter().map(|off| off * off).sum::<f64>() / n).sqrt() / diagonal;
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let share = turn.to_scaled_axis().dot(self.axis.normalize()) / self.degrees.to_radians();
        // About the pivot it also travels.
        let travel = self.pivot.map(|pivot| {
            let asked = DQuat::from_axis_angle(self.axis.normalize(), self.degrees.to_radians());
            let wanted = |v: u32| pivot + asked * (at(rest, v) - pivot) - at(rest, v);
            let along: f64 = self.moved.iter().map(|&v| wanted(v).dot(at(posed, v) - at(rest, v))).sum();
            along / self.moved.iter().map(|&v| wanted(v).length_squared()).sum::<f64>()
        });
        (travel.unwrap_or(1.0).min(share), off)
    }
}

/// The largest change of a surface's shape, its motion as a whole left out, as a share of the diagonal.
pub fn reshaped(rest: &[DVec3], posed: &[DVec3], diagonal: f64) -> f64 {
    let pairs: Vec<[DVec3; 2]> = rest.iter().zip(posed).map(|(a, b)| [*a, *b]).collect();
    off_rigid(&pairs).1.into_iter().fold(0.0, f64::max) / diagonal
}

/// The rotation of the rigid motion that brings points nearest to others, and how far each then is from its own.
fn off_rigid(pairs: &[[DVec3; 2]]) -> (DQuat, Vec<f64>) {
    let n = pairs.len().max(1) as f64;
    let [from, to] = [0, 1].map(|k| pairs.iter().fold(DVec3::ZERO, |sum, pair| sum + pair[k]) / n);
    let covariance = pairs.iter().fold(DMat3::ZERO, |sum, [a, b]| sum + arap::outer(*a - from, *b - to));
    let turn = arap::best_rotation(covariance);
    (turn, pairs.iter().map(|[a, b]| (to + turn * (*a - from)).distance(*b)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_was_done_is_whole_and_none_is_nothing() {
        let rest: Vec<DVec3> =
            (0..20).map(|k| DVec3::new(f64::from(k), f64::from(k % 3), f64::from(k % 2))).collect();
        let edit = Edit {
            title: "",
            moves: Value::Null,
            moved: (5..20).collect(),
            axis: DVec3::Z,
            degrees: 90.0,
            pivot: Some(DVec3::X * 4.0),
        };
        let turn = DQuat::from_rotation_z(90f64.to_radians());
        let posed: Vec<DVec3> = rest.iter().map(|p| DVec3::X * 4.0 + turn * (*p - DVec3::X * 4.0)).collect();
        let (share, off) = edit.done(&rest, &posed, 20.0);
        assert!((share - 1.0).abs() < 1e-9 && off < 1e-9, "{share} {off}");
        let (share, _) = edit.done(&rest, &rest, 20.0);
        assert!(share.abs() < 1e-9);
        let half: Vec<DVec3> = rest.iter().zip(&posed).map(|(a, b)| a.lerp(*b, 0.5)).collect();
        assert!(edit.done(&rest, &half, 20.0).0 < 0.6);
        // Turned as a whole it has the same shape; with its end turned it has not.
        assert!(reshaped(&rest, &posed, 20.0) < 1e-9);
        let bent: Vec<DVec3> = (0..20).map(|k| if k < 5 { rest[k] } else { posed[k] }).collect();
        assert!(reshaped(&rest, &bent, 20.0) > 0.05);
    }

    #[test]
    fn an_axis_leads_away_from_what_is_there() {
        let limb: Vec<DVec3> = (0..10).map(|k| DVec3::X * f64::from(k)).collect();
        let wall: Vec<DVec3> = (0..10).map(|k| DVec3::new(0.0, 5.0, f64::from(k - 5))).collect();
        let axis = free_axis(DVec3::X, DVec3::ZERO, 90.0, &limb, &wall);
        assert!((DQuat::from_axis_angle(axis, 90f64.to_radians()) * DVec3::X).y < -0.9);
    }
}
