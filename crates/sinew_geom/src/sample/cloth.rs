//! A small cloth: particles, length constraints, wind and pressure.
//!
//! # Source
//! Macklin, Müller and Chentanez, *XPBD: position-based simulation of compliant constrained dynamics* (2016), with two
//! sweeps per small step after Macklin et al., *Small steps in physics simulation* (2019).
//! # Symbols
//! `x` positions, `w` inverse masses, `α` compliance over the square of the step
//! # Cost
//! Linear in the number of links per step; sequential, so that results never depend on threads.
//! # Limits
//! No self-collision.

use glam::DVec3;

/// Metres per second squared.
const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);
/// Largest speed of a particle, in metres per second; cloth in these scenes never needs more.
const MAX_SPEED: f64 = 8.0;

/// A distance constraint between two particles.
#[derive(Debug, Clone, Copy)]
struct Link {
    ends: [u32; 2],
    length: f64,
    /// Metres per newton; zero cannot be stretched.
    compliance: f64,
}

/// Particles and links.
pub(super) struct Cloth {
    pub x: Vec<DVec3>,
    pub velocity: Vec<DVec3>,
    /// Inverse masses in 1/kg; zero is fixed.
    pub w: Vec<f64>,
    pub quads: Vec<[u32; 4]>,
    links: Vec<Link>,
    before: Vec<DVec3>,
}

impl Cloth {
    /// Cloth of `density` kg/m² at rest in `x`.
    pub fn new(x: Vec<DVec3>, quads: Vec<[u32; 4]>, density: f64) -> Self {
        let mut mass = vec![0.0; x.len()];
        for quad in &quads {
            let [a, b, c, d] = quad.map(|v| x[v as usize]);
            let area = 0.5 * (c - a).cross(d - b).length();
            quad.iter().for_each(|&v| mass[v as usize] += 0.25 * area * density);
        }
        let w = mass.into_iter().map(|m| 1.0 / m).collect();
        let (velocity, before) = (vec![DVec3::ZERO; x.len()], x.clone());
        Self { x, velocity, w, quads, links: Vec::new(), before }
    }

    /// Constrain two particles to their current distance.
    pub fn link(&mut self, a: u32, b: u32, compliance: f64) {
        let length = self.x[a as usize].distance(self.x[b as usize]);
        self.links.push(Link { ends: [a, b], length, compliance });
    }

    /// Edges that hardly stretch, diagonals that shear a little.
    pub fn link_quads(&mut self, stretch: f64, shear: f64) {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(4 * self.quads.len());
        for q in &self.quads {
            edges.extend((0..4).map(|i| (q[i].min(q[(i + 1) % 4]), q[i].max(q[(i + 1) % 4]))));
        }
        edges.sort_unstable();
        edges.dedup();
        for (a, b) in edges {
            self.link(a, b, stretch);
        }
        for [a, b, c, d] in self.quads.clone() {
            self.link(a, c, shear);
            self.link(b, d, shear);
        }
    }

    /// Advance by `dt`: `force` in newtons per particle, then lengths, then `place` corrects each particle.
    pub fn step(
        &mut self,
        dt: f64,
        damping: f64,
        force: &[DVec3],
        place: impl Fn(usize, DVec3, DVec3) -> DVec3,
    ) {
        for v in 0..self.x.len() {
            self.before[v] = self.x[v];
            if self.w[v] > 0.0 {
                let speed = self.velocity[v] + dt * (GRAVITY + self.w[v] * force[v]);
                self.x[v] += dt * speed.clamp_length_max(MAX_SPEED);
            }
        }
        // Back and forth, so that corrections travel both ways along the cloth.
        for i in 0..self.links.len() {
            self.satisfy(self.links[i], dt);
        }
        for i in (0..self.links.len()).rev() {
            self.satisfy(self.links[i], dt);
        }
        let keep = (-damping * dt).exp();
        for v in 0..self.x.len() {
            if self.w[v] > 0.0 {
                self.x[v] = place(v, self.before[v], self.x[v]);
            }
            self.velocity[v] = (self.x[v] - self.before[v]) * (keep / dt);
        }
    }

    /// Move a link towards its length, as far as its compliance allows.
    fn satisfy(&mut self, link: Link, dt: f64) {
        let [a, b] = link.ends.map(|v| v as usize);
        let delta = self.x[a] - self.x[b];
        let length = delta.length();
        let weight = self.w[a] + self.w[b];
        if weight > 0.0 && length > 1e-9 {
            let alpha = link.compliance / (dt * dt);
            let push = delta * ((length - link.length) / (length * (weight + alpha)));
            self.x[a] -= push * self.w[a];
            self.x[b] += push * self.w[b];
        }
    }

    /// Normals of the particles, scaled by a quarter of the surface around each.
    pub fn area_normals(&self, out: &mut Vec<DVec3>) {
        out.clear();
        out.resize(self.x.len(), DVec3::ZERO);
        for quad in &self.quads {
            let [a, b, c, d] = quad.map(|v| self.x[v as usize]);
            let n = (c - a).cross(d - b) * 0.125;
            quad.iter().for_each(|&v| out[v as usize] += n);
        }
    }

    /// Volume inside a closed cloth.
    pub fn volume(&self) -> f64 {
        let part = |&[a, b, c, d]: &[u32; 4]| {
            let [a, b, c, d] = [a, b, c, d].map(|v| self.x[v as usize]);
            a.dot(b.cross(c)) + a.dot(c.cross(d))
        };
        self.quads.iter().map(part).sum::<f64>() / 6.0
    }
}

/// Move a point out of an obstacle by `depth` along `normal`, with friction.
pub(super) fn push_out(before: DVec3, at: DVec3, normal: DVec3, depth: f64, friction: f64) -> DVec3 {
    let out = at + normal * depth;
    let slide = out - before;
    let along = slide - normal * slide.dot(normal);
    // Coulomb friction: proportional to the push.
    let length = along.length();
    let held = if length > 1e-12 { (friction * depth / length).min(1.0) } else { 0.0 };
    out - along * held
}
