//! Damage of a posed surface: flipped faces, parts that intersect, lost volume, cracks along seams,
//! parts left behind.

use super::super::super::shape;
use glam::{DMat3, DVec3};
use std::collections::{BTreeMap, HashMap};

/// A model with its seams closed.
pub struct Body {
    pub rest: Vec<DVec3>,
    /// Triangles with three different corners.
    pub faces: Vec<[u32; 3]>,
    /// Per vertex of the model its vertex here.
    pub of: Vec<u32>,
    /// Per vertex which connected part it belongs to.
    part: Vec<u32>,
    pub n_parts: usize,
    pub diagonal: f64,
}

impl Body {
    pub fn new(points: &[DVec3], faces: &[[u32; 3]]) -> Self {
        let first = shape::welded(points);
        let mut of = vec![0; points.len()];
        let mut rest = Vec::new();
        for (v, p) in points.iter().enumerate() {
            if first[v] as usize == v {
                of[v] = rest.len() as u32;
                rest.push(*p);
            } else {
                of[v] = of[first[v] as usize];
            }
        }
        let faces = faces.iter().map(|f| f.map(|v| of[v as usize]));
        let faces: Vec<[u32; 3]> = faces.filter(|f| f[0] != f[1] && f[1] != f[2] && f[2] != f[0]).collect();
        let (part, n_parts) = parts(rest.len(), &faces);
        let diagonal = shape::diagonal(points);
        Self { rest, faces, of, part, n_parts, diagonal }
    }

    /// Positions of the model brought here, and the widest gap between vertices that were one.
    pub fn welded(&self, points: &[DVec3]) -> (Vec<DVec3>, f64) {
        let (mut sums, mut counts) = (vec![DVec3::ZERO; self.rest.len()], vec![0.0; self.rest.len()]);
        for (v, p) in self.of.iter().zip(points) {
            sums[*v as usize] += *p;
            counts[*v as usize] += 1.0;
        }
        let means: Vec<DVec3> = sums.iter().zip(&counts).map(|(s, n)| *s / *n).collect();
        let far = |(v, p): (&u32, &DVec3)| means[*v as usize].distance(*p);
        let gap = self.of.iter().zip(points).map(far).fold(0.0, f64::max);
        (means, 2.0 * gap)
    }

    fn normal(&self, points: &[DVec3], face: [u32; 3]) -> DVec3 {
        let [a, b, c] = face.map(|v| points[v as usize]);
        (b - a).cross(c - a)
    }

    /// Per face the angle in degrees between its normal and the one it would have if it turned with its surroundings; faces
    /// without area at rest have none.
    pub fn tilts(&self, posed: &[DVec3], rotations: &[DMat3]) -> Vec<f64> {
        let tiny = 1e-10 * self.diagonal * self.diagonal;
        let tilt = |&face: &[u32; 3]| {
            let rest = self.normal(&self.rest, face);
            let expected = face.iter().fold(DVec3::ZERO, |sum, &v| sum + rotations[v as usize] * rest);
            let normal = self.normal(posed, face);
            let is_flat = rest.length() < tiny || normal.length() < 1e-3 * tiny || expected.length() < tiny;
            if is_flat { 0.0 } else { expected.angle_between(normal).to_degrees() }
        };
        self.faces.iter().map(tilt).collect()
    }

    /// Whether a face moved at all.
    pub fn active(&self, posed: &[DVec3]) -> Vec<bool> {
        let moved = |v: u32| posed[v as usize].distance(self.rest[v as usize]) > 1e-5 * self.diagonal;
        self.faces.iter().map(|face| face.iter().any(|&v| moved(v))).collect()
    }

    /// Volume of what moved over its volume at rest, closed by a fan to the middle of its rim. Nothing if the surface is open
    /// there or has too little volume for the number to mean something.
    pub fn volume_ratio(&self, posed: &[DVec3]) -> Option<f64> {
        let active = self.active(posed);
        let mut sides: HashMap<[u32; 2], [i32; 2]> = HashMap::new();
        for (face, is_active) in self.faces.iter().zip(&active) {
            for k in 0..3 {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                let entry = sides.entry([a.min(b), a.max(b)]).or_default();
                entry[0] += if a < b { 1 } else { -1 };
                entry[1] += i32::from(*is_active);
            }
        }
        // Around what moved every edge has a face on either side.
        let open = sides.values().filter(|[sum, n]| *sum != 0 && *n > 0).count();
        let touched = sides.values().filter(|[_, n]| *n > 0).count();
        if touched == 0 || open * 500 > touched {
            return None;
        }
        let rim: Vec<u32> = sides.iter().filter(|(_, [_, n])| *n == 1).flat_map(|(edge, _)| *edge).collect();
        let faces: Vec<[u32; 3]> =
            self.faces.iter().zip(&active).filter(|(_, is)| **is).map(|(face, _)| *face).collect();
        let volume = |points: &[DVec3]| {
            let middle = if rim.is_empty() {
                faces.iter().fold(DVec3::ZERO, |sum, f| sum + points[f[0] as usize]) / faces.len() as f64
            } else {
                rim.iter().fold(DVec3::ZERO, |sum, &v| sum + points[v as usize]) / rim.len() as f64
            };
            let corner = |v: u32| points[v as usize] - middle;
            faces.iter().map(|f| corner(f[0]).dot(corner(f[1]).cross(corner(f[2]))) / 6.0).sum::<f64>()
        };
        let area: f64 = faces.iter().map(|&face| self.normal(&self.rest, face).length() * 0.5).sum();
        let rest = volume(&self.rest);
        // A ball has 0.094 of this.
        (rest.abs() > 0.002 * area.powf(1.5)).then(|| volume(posed) / rest)
    }

    /// Faces that moved and run into faces with which they share no vertex.
    pub fn crossings(&self, points: &[DVec3], active: &[bool]) -> Vec<bool> {
        let boxes: Vec<(DVec3, DVec3)> = self
            .faces
            .iter()
            .map(|face| {
                let [a, b, c] = face.map(|v| points[v as usize]);
                (a.min(b).min(c), a.max(b).max(c))
            })
            .collect();
        let extent =
            boxes.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), b| (l.min(b.0), h.max(b.1)));
        let size = extent.1 - extent.0;
        let axis = (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best });
        let mut order: Vec<usize> = (0..self.faces.len()).collect();
        order.sort_by(|&i, &j| boxes[i].0[axis].total_cmp(&boxes[j].0[axis]));
        let mut crosses = vec![false; self.faces.len()];
        for (k, &i) in order.iter().enumerate() {
            for &j in &order[k + 1..] {
                if boxes[j].0[axis] > boxes[i].1[axis] {
                    break;
                }
                let apart = boxes[j].0.cmpgt(boxes[i].1).any() || boxes[i].0.cmpgt(boxes[j].1).any();
                if apart || !(active[i] || active[j]) || (crosses[i] && crosses[j]) {
                    continue;
                }
                let (f, g) = (self.faces[i], self.faces[j]);
                if !f.iter().any(|v| g.contains(v))
                    && cross(f.map(|v| points[v as usize]), g.map(|v| points[v as usize]))
                {
                    (crosses[i], crosses[j]) = (true, true);
                }
            }
        }
        crosses
    }

    /// How far a part came off everything it touched at rest, as a share of the diagonal, and its vertices: the part for
    /// which that is most. A part that still hangs on one of several has not come off. Parts that `leads` names have handles
    /// of their own and go where these go.
    pub fn left_behind(&self, posed: &[DVec3], leads: &[bool]) -> (f64, Vec<bool>) {
        let mut touching: BTreeMap<u32, Vec<(usize, usize)>> = BTreeMap::new();
        let contacts = if self.n_parts > 1 { self.contacts() } else { Vec::new() };
        let follows = |(a, _): &(usize, usize)| !leads[self.part[*a] as usize];
        let followers = contacts.into_iter().filter(follows);
        followers.for_each(|(a, b)| touching.entry(self.part[a]).or_default().push((a, b)));
        let mut worst = (0.0, u32::MAX);
        for (part, pairs) in touching {
            let few: Vec<(usize, usize)> = pairs.iter().step_by(pairs.len().div_ceil(150)).copied().collect();
            let growth = |&(a, b): &(usize, usize)| {
                let gap = few.iter().map(|&(_, b)| posed[a].distance(posed[b])).fold(f64::INFINITY, f64::min);
                (gap - self.rest[a].distance(self.rest[b])) / self.diagonal
            };
            let least = shape::quantile(&few.iter().map(growth).collect::<Vec<_>>(), 0.1);
            if least > worst.0 {
                worst = (least, part);
            }
        }
        (worst.0, self.part.iter().map(|&part| part == worst.1).collect())
    }

    /// Vertices with the nearest vertex of another part within 1 % of the diagonal.
    fn contacts(&self) -> Vec<(usize, usize)> {
        let reach = 0.01 * self.diagonal;
        let cell = |p: DVec3| (p / reach).floor().as_i64vec3().to_array();
        let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
        self.rest.iter().enumerate().for_each(|(v, p)| cells.entry(cell(*p)).or_default().push(v));
        let mut contacts = Vec::new();
        let step = self.rest.len().div_ceil(40_000).max(1);
        for v in (0..self.rest.len()).step_by(step) {
            let [x, y, z] = cell(self.rest[v]);
            let around = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
            let near = around.filter_map(|key| cells.get(&key)).flatten().copied();
            let others = near.filter(|&n| self.part[n] != self.part[v]);
            let far = |n: &usize| self.rest[*n].distance(self.rest[v]);
            contacts.extend(
                others.min_by(|a, b| far(a).total_cmp(&far(b))).filter(|n| far(n) < reach).map(|n| (v, n)),
            );
        }
        contacts
    }

    /// Per part whether it is the one in which some handle has most of its vertices.
    pub fn leading<'v>(&self, handles: impl Iterator<Item = &'v [u32]>) -> Vec<bool> {
        let mut leads = vec![false; self.n_parts];
        for vertices in handles {
            let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
            for &v in vertices {
                *counts.entry(self.part[self.of[v as usize] as usize]).or_default() += 1;
            }
            if let Some((part, _)) = counts.into_iter().max_by_key(|(_, n)| *n) {
                leads[part as usize] = true;
            }
        }
        leads
    }

    /// Per part its vertices.
    pub fn parts(&self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.n_parts];
        self.part.iter().enumerate().for_each(|(v, &part)| lists[part as usize].push(v));
        lists
    }
}

fn parts(n: usize, faces: &[[u32; 3]]) -> (Vec<u32>, usize) {
    let mut above: Vec<u32> = (0..n as u32).collect();
    fn top(above: &mut [u32], mut v: u32) -> u32 {
        while above[v as usize] != v {
            above[v as usize] = above[above[v as usize] as usize];
            v = above[v as usize];
        }
        v
    }
    for face in faces {
        for k in 1..3 {
            let (a, b) = (top(&mut above, face[0]), top(&mut above, face[k]));
            above[a as usize] = b;
        }
    }
    let mut names: HashMap<u32, u32> = HashMap::new();
    let part = (0..n as u32).map(|v| {
        let next = names.len() as u32;
        *names.entry(top(&mut above, v)).or_insert(next)
    });
    let part: Vec<u32> = part.collect();
    (part, names.len())
}

/// Whether two triangles cross: an edge of one goes through the other.
fn cross(f: [DVec3; 3], g: [DVec3; 3]) -> bool {
    let through = |a: [DVec3; 3], b: [DVec3; 3]| (0..3).any(|k| pierces(a[k], a[(k + 1) % 3], b));
    through(f, g) || through(g, f)
}

/// Whether a segment goes through a triangle (Möller and Trumbore 1997); touching does not count.
fn pierces(from: DVec3, to: DVec3, triangle: [DVec3; 3]) -> bool {
    const EDGE: f64 = 1e-7;
    let (along, u, v) = (to - from, triangle[1] - triangle[0], triangle[2] - triangle[0]);
    let p = along.cross(v);
    let det = u.dot(p);
    if det.abs() <= 1e-14 * along.length() * u.length() * v.length() {
        return false;
    }
    let offset = from - triangle[0];
    let a = offset.dot(p) / det;
    let q = offset.cross(u);
    let (b, t) = (along.dot(q) / det, v.dot(q) / det);
    a > EDGE && b > EDGE && a + b < 1.0 - EDGE && t > EDGE && t < 1.0 - EDGE
}

#[cfg(test)]
mod tests {
    use super::super::arap::Arap;
    use super::*;
    use glam::DQuat;

    /// A closed tube of square section along x, `n` long.
    fn tube(n: u32) -> Body {
        let corners = [DVec3::ZERO, DVec3::Y, DVec3::new(0.0, 1.0, 1.0), DVec3::Z];
        let points: Vec<DVec3> = (0..=n).flat_map(|k| corners.map(|c| c + DVec3::X * f64::from(k))).collect();
        let mut faces =
            vec![[0, 1, 2], [0, 2, 3], [4 * n, 4 * n + 2, 4 * n + 1], [4 * n, 4 * n + 3, 4 * n + 2]];
        for k in 0..n {
            for c in 0..4 {
                let (a, b) = (4 * k + c, 4 * k + (c + 1) % 4);
                faces.extend([[a, a + 4, b], [b, a + 4, b + 4]]);
            }
        }
        Body::new(&points, &faces)
    }

    #[test]
    fn what_turns_as_a_whole_is_not_damaged() {
        let body = tube(5);
        let turn = DQuat::from_rotation_z(2.0);
        let posed: Vec<DVec3> = body.rest.iter().map(|p| turn * *p + DVec3::X).collect();
        let arap = Arap::new(&body.rest, &body.faces);
        assert!(body.tilts(&posed, &arap.rotations(&posed)).iter().all(|tilt| *tilt < 1e-4));
        assert!((body.volume_ratio(&posed).unwrap() - 1.0).abs() < 1e-9);
        let active = body.active(&posed);
        assert!(!body.crossings(&posed, &active).contains(&true));
    }

    #[test]
    fn a_pinched_half_loses_volume_and_a_folded_tube_crosses_itself() {
        let body = tube(8);
        let thin: Vec<DVec3> = body
            .rest
            .iter()
            .map(|p| {
                let s = if p.x > 4.5 { 0.5 } else { 1.0 };
                DVec3::new(p.x, 0.5 + (p.y - 0.5) * s, 0.5 + (p.z - 0.5) * s)
            })
            .collect();
        let ratio = body.volume_ratio(&thin).unwrap();
        assert!((0.2..0.45).contains(&ratio), "{ratio}");
        let fold: Vec<DVec3> = body
            .rest
            .iter()
            .map(|p| if p.x > 4.5 { DVec3::new(8.3 - p.x, p.y * 0.9 + 0.4, p.z * 0.9 + 0.3) } else { *p })
            .collect();
        let active = body.active(&fold);
        assert!(body.crossings(&fold, &active).contains(&true));
        assert!(!body.crossings(&body.rest, &active).contains(&true));
    }

    #[test]
    fn a_part_that_stays_is_left_behind() {
        let body = tube(3);
        let mut points = body.rest.clone();
        let mut faces = body.faces.clone();
        let first = points.len() as u32;
        points.extend([DVec3::new(3.01, 0.0, 0.01), DVec3::new(3.01, 1.0, 0.01), DVec3::new(3.01, 0.0, 1.0)]);
        faces.push([first, first + 1, first + 2]);
        let both = Body::new(&points, &faces);
        let posed: Vec<DVec3> =
            both.rest.iter().map(|p| if p.x > 3.005 { *p } else { *p - DVec3::X }).collect();
        let (behind, which) = both.left_behind(&posed, &[false, false]);
        assert_eq!(both.n_parts, 2);
        assert_eq!(both.left_behind(&posed, &[true, true]).0, 0.0);
        assert!((behind * both.diagonal - 1.0).abs() < 0.05, "{behind}");
        assert!(which.contains(&true) && which.contains(&false));
    }
}
