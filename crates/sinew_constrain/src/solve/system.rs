//! Values and derivatives of all equations at a pose.
//!
//! # Source
//! Sinew's own arrangement: joints have analytic screws (see `kinematics`); equations are closed forms or recorded
//! expressions (tapes) over arrows, that is, over points and directions carried by joints.
//! # Symbols
//! `f` rows of equations, `J` their derivatives [rows × columns]; `V_d` velocity of an arrow by degree of freedom `d`:
//! `W_d l_d + a_d × M_d` with `W_d`, `M_d` the weights and the weighted sum of the part of the arrow that `d` moves.
//! # Cost
//! One pass over the joints that the rules depend on, one over the velocities of the arrows, one over the rows.

use crate::{
    Frames, Kinematics,
    compile::{Aim, Carrier, Kind, Problem, moving},
    symbolic::Tape,
};
use glam::DVec3;
use sinew_geom::linalg::{Kernel, dispatch};
use sinew_geom::path::Site;

/// All equations of a problem, and scratch for their values.
#[derive(Debug, Clone)]
pub(crate) struct System {
    kinematics: Kinematics,
    frames: Frames,
    arrows: Vec<Plan>,
    /// Value of each arrow.
    values: Vec<DVec3>,
    /// Derivative of each arrow by the degrees of freedom that move it, arrow after arrow.
    velocities: Vec<DVec3>,
    /// Column of each velocity.
    columns: Vec<u32>,
    blocks: Vec<BlockPlan>,
    tape: Tape,
    slots: Vec<f64>,
    /// Degree of freedom of each column.
    pub freedoms: Vec<usize>,
    /// What each row is.
    pub rows: Vec<Row>,
    /// Length of a row of `J`, a multiple of four.
    pub stride: usize,
}

/// What a row is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub rule: usize,
    /// Which of the rows of all rules it is, in the order of the text.
    pub index: usize,
    pub aim: Aim,
    /// A residual of one metre, or of what counts as one, makes the row this large.
    pub weight: f64,
}

/// How an arrow and its velocities are computed.
#[derive(Debug, Clone)]
struct Plan {
    constant: DVec3,
    terms: Vec<(Carrier, f64)>,
    segments: Vec<Segment>,
    /// Its velocities among all.
    velocities: std::ops::Range<usize>,
    /// First slot of the tape that holds its value, if the tape uses it.
    slot: Option<usize>,
}

/// Degrees of freedom that carry the same terms of an arrow.
#[derive(Debug, Clone)]
struct Segment {
    terms: Vec<(Carrier, f64)>,
    /// Sum of the weights of places among them.
    weight: f64,
    freedoms: Vec<u32>,
}

#[derive(Debug, Clone)]
struct BlockPlan {
    kind: PlanKind,
    row: usize,
    scale: f64,
}

#[derive(Debug, Clone)]
enum PlanKind {
    Closed(Kind),
    /// Slot of the value; slots of the derivatives by arrows and by degrees of freedom (with their columns).
    Tape {
        value: u32,
        by_arrow: Vec<(u32, [u32; 3])>,
        by_freedom: Vec<(u32, u32)>,
    },
}

impl System {
    /// Prepare all blocks of a problem, a column for each degree of freedom.
    pub fn new(problem: &Problem) -> Self {
        let n = problem.skeleton.n_freedoms();
        let mut used = vec![u32::MAX; problem.arrows.len()];
        let mut list = Vec::new();
        for block in &problem.blocks {
            for arrow in problem.arrows_of(&block.kind) {
                if used[arrow] == u32::MAX {
                    used[arrow] = list.len() as u32;
                    list.push(arrow);
                }
            }
        }
        let bones = list.iter().flat_map(|&arrow| problem.arrows[arrow].terms.iter().map(|(c, _)| c.bone()));
        let kinematics = Kinematics::of_bones(&problem.skeleton, bones);
        let mut system = Self {
            kinematics,
            frames: Frames::default(),
            values: vec![DVec3::ZERO; list.len()],
            arrows: Vec::with_capacity(list.len()),
            velocities: Vec::new(),
            columns: Vec::new(),
            blocks: Vec::with_capacity(problem.blocks.len()),
            tape: Tape::default(),
            slots: Vec::new(),
            stride: (n + 1).div_ceil(4) * 4,
            freedoms: (0..n).collect(),
            rows: Vec::new(),
        };
        for &arrow in &list {
            system.add_arrow(problem, arrow);
        }
        system.add_blocks(problem, &used);
        system.velocities = vec![DVec3::ZERO; system.columns.len()];
        // Sizes the buffers, so that evaluating never allocates.
        let start = problem.skeleton.rest_values();
        system.kinematics.compute(&start, &mut system.frames);
        system
    }

    fn add_arrow(&mut self, problem: &Problem, index: usize) {
        let arrow = &problem.arrows[index];
        let first = self.columns.len();
        // Which terms each degree of freedom carries.
        let mut carried: Vec<(u32, Vec<u32>)> = Vec::new();
        for (term, (carrier, _)) in arrow.terms.iter().enumerate() {
            for freedom in moving(&problem.skeleton, *carrier) {
                match carried.iter_mut().find(|(of, _)| *of == freedom as u32) {
                    Some((_, terms)) => terms.push(term as u32),
                    None => carried.push((freedom as u32, vec![term as u32])),
                }
            }
        }
        let mut segments: Vec<(Vec<u32>, Segment)> = Vec::new();
        for (freedom, terms) in carried {
            match segments.iter_mut().find(|(key, _)| *key == terms) {
                Some((_, segment)) => segment.freedoms.push(freedom),
                None => {
                    let of: Vec<(Carrier, f64)> =
                        terms.iter().map(|&term| arrow.terms[term as usize]).collect();
                    let is_place = |(carrier, _): &&(Carrier, f64)| matches!(carrier, Carrier::Place(_));
                    let weight = of.iter().filter(is_place).map(|(_, weight)| weight).sum();
                    segments.push((terms, Segment { terms: of, weight, freedoms: vec![freedom] }));
                }
            }
        }
        let segments: Vec<Segment> = segments.into_iter().map(|(_, segment)| segment).collect();
        for segment in &segments {
            self.columns.extend(&segment.freedoms);
        }
        self.arrows.push(Plan {
            constant: arrow.constant,
            terms: arrow.terms.clone(),
            segments,
            velocities: first..self.columns.len(),
            slot: None,
        });
    }

    fn add_blocks(&mut self, problem: &Problem, used: &[u32]) {
        let n = problem.skeleton.n_freedoms();
        let mut arena = None;
        let mut outputs = Vec::new();
        for block in &problem.blocks {
            let rule = &problem.rules[block.rule];
            let local = |arrow: &usize| used[*arrow] as usize;
            let kind = match &block.kind {
                Kind::Zero { a } => PlanKind::Closed(Kind::Zero { a: local(a) }),
                Kind::Unit { a, b } => PlanKind::Closed(Kind::Unit { a: local(a), b: local(b) }),
                Kind::Length { a, target } => PlanKind::Closed(Kind::Length { a: local(a), target: *target }),
                Kind::Along { a, normal, offset } => {
                    PlanKind::Closed(Kind::Along { a: local(a), normal: *normal, offset: *offset })
                }
                Kind::Split { a, b } => PlanKind::Closed(Kind::Split { a: local(a), b: local(b) }),
                Kind::Clear { ends, by } => {
                    PlanKind::Closed(Kind::Clear { ends: ends.each_ref().map(local), by: *by })
                }
                Kind::Height { a, site, sign, by } => {
                    let (site, sign, by) = (site.clone(), *sign, *by);
                    PlanKind::Closed(Kind::Height { a: local(a), site, sign, by })
                }
                Kind::Scalar { expr } => {
                    let arena = arena.get_or_insert_with(|| problem.arena.clone());
                    let gradient = arena.gradient(*expr);
                    let zero = arena.number(0.0);
                    let value = outputs.len() as u32;
                    outputs.push(*expr);
                    let mut by_arrow: Vec<(u32, [u32; 3])> = Vec::new();
                    let mut by_freedom: Vec<(u32, u32)> = Vec::new();
                    for (symbol, derivative) in gradient {
                        let output = outputs.len() as u32;
                        match symbol.checked_sub(n) {
                            None => {
                                by_freedom.push((symbol as u32, output));
                                outputs.push(derivative);
                            }
                            Some(component) => {
                                let arrow = used[component / 3];
                                if by_arrow.last().is_none_or(|(last, _)| *last != arrow) {
                                    by_arrow.push((arrow, [u32::MAX; 3]));
                                }
                                if let Some((_, slots)) = by_arrow.last_mut() {
                                    slots[component % 3] = output;
                                }
                                outputs.push(derivative);
                            }
                        }
                    }
                    // Components an arrow's gradient lacks are zero.
                    for slot in
                        by_arrow.iter_mut().flat_map(|(_, slots)| slots).filter(|slot| **slot == u32::MAX)
                    {
                        *slot = outputs.len() as u32;
                        outputs.push(zero);
                    }
                    PlanKind::Tape { value, by_arrow, by_freedom }
                }
            };
            let row = self.rows.len();
            self.blocks.push(BlockPlan { kind, row, scale: block.scale });
            let rows = row..row + block.kind.n_rows();
            self.rows.extend(rows.map(|index| Row {
                rule: block.rule,
                index,
                aim: rule.aim,
                weight: rule.weight,
            }));
        }
        if let Some(arena) = arena {
            self.add_tape(problem, &arena, &outputs, used);
        }
    }

    fn add_tape(
        &mut self,
        problem: &Problem,
        arena: &crate::symbolic::Arena,
        outputs: &[crate::symbolic::Expr],
        used: &[u32],
    ) {
        let n = problem.skeleton.n_freedoms();
        self.tape = Tape::new(arena, n + 3 * problem.arrows.len(), outputs);
        self.slots = self.tape.slots();
        for (arrow, &local) in used.iter().enumerate().filter(|(_, local)| **local != u32::MAX) {
            self.arrows[local as usize].slot = Some(n + 3 * arrow);
        }
        let slot = |output: u32| self.tape.outputs[output as usize];
        for block in &mut self.blocks {
            if let PlanKind::Tape { value, by_arrow, by_freedom } = &mut block.kind {
                *value = slot(*value);
                by_arrow.iter_mut().flat_map(|(_, slots)| slots).for_each(|output| *output = slot(*output));
                by_freedom.iter_mut().for_each(|(_, output)| *output = slot(*output));
            }
        }
    }

    /// First row and number of rows of each block.
    pub fn blocks_rows(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let starts = self.blocks.iter().map(|block| block.row);
        let ends = self.blocks.iter().skip(1).map(|block| block.row).chain([self.rows.len()]);
        starts.zip(ends).map(|(start, end)| (start, end - start))
    }

    /// Rows whose derivatives are zero at some poses and not at others, each with a column that may move it.
    pub fn piecewise(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.blocks.iter().flat_map(|block| {
            let ends = match &block.kind {
                PlanKind::Closed(Kind::Clear { ends, .. }) => ends.as_slice(),
                PlanKind::Closed(Kind::Height { a, .. }) => std::slice::from_ref(a),
                _ => &[],
            };
            ends.iter().flat_map(|&end| self.velocities_of(end)).map(|(column, _)| (block.row, column))
        })
    }

    /// Put blocks into another order, and keep only some columns, in their order.
    pub fn rearrange(&mut self, order: &[usize], columns: &[usize]) {
        // Derivatives by columns that are left out all vanish; they go where nobody looks.
        let mut new_column = vec![columns.len() as u32; self.freedoms.len()];
        columns.iter().enumerate().for_each(|(new, &old)| new_column[old] = new as u32);
        self.columns.iter_mut().for_each(|column| *column = new_column[*column as usize]);
        let sizes: Vec<(usize, usize)> = self.blocks_rows().collect();
        let mut blocks = Vec::with_capacity(order.len());
        let mut rows = Vec::with_capacity(self.rows.len());
        for &block in order {
            let (start, n) = sizes[block];
            let mut plan = self.blocks[block].clone();
            plan.row = rows.len();
            if let PlanKind::Tape { by_freedom, .. } = &mut plan.kind {
                by_freedom.iter_mut().for_each(|(column, _)| *column = new_column[*column as usize]);
            }
            rows.extend_from_slice(&self.rows[start..start + n]);
            blocks.push(plan);
        }
        self.freedoms = columns.iter().map(|&column| self.freedoms[column]).collect();
        self.stride = (columns.len() + 1).div_ceil(4) * 4;
        (self.blocks, self.rows) = (blocks, rows);
    }

    /// Bytes of everything an evaluation touches.
    pub fn n_bytes(&self) -> usize {
        let arrows: usize = self
            .arrows
            .iter()
            .map(|plan| {
                let segments = plan
                    .segments
                    .iter()
                    .map(|s| 24 * s.terms.len() + 4 * s.freedoms.len() + 80)
                    .sum::<usize>();
                24 * plan.terms.len() + segments + size_of::<Plan>()
            })
            .sum();
        let blocks: usize = self.blocks.iter().map(|block| match &block.kind {
            PlanKind::Tape { by_arrow, by_freedom, .. } => 16 * by_arrow.len() + 8 * by_freedom.len(),
            PlanKind::Closed(_) => 0,
        } + size_of::<BlockPlan>()).sum();
        arrows
            + blocks
            + self.tape.n_bytes()
            + 28 * self.velocities.len()
            + 24 * self.values.len()
            + self.kinematics.n_bytes()
            + 8 * self.rows.len() * (self.stride + 1)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// Equations and derivatives at a pose (a value a degree of freedom of the skeleton). `jacobian` has rows of
    /// `stride` numbers, of which those beyond the columns stay zero.
    #[inline]
    pub fn evaluate(&mut self, pose: &[f64], f: &mut [f64], jacobian: &mut [f64]) {
        dispatch(Evaluation { system: self, pose, f, jacobian });
    }

    #[inline(always)]
    fn update_arrows(&mut self) {
        for (plan, value) in self.arrows.iter().zip(&mut self.values) {
            let mut sum = plan.constant;
            for (carrier, weight) in &plan.terms {
                sum += carrier.at(&self.frames) * *weight;
            }
            *value = sum;
            let mut at = plan.velocities.start;
            for segment in &plan.segments {
                let mut moved = DVec3::ZERO;
                for (carrier, weight) in &segment.terms {
                    moved += carrier.at(&self.frames) * *weight;
                }
                for &freedom in &segment.freedoms {
                    let screw = &self.frames.screws[freedom as usize];
                    self.velocities[at] = screw.linear * segment.weight + screw.angular.cross(moved);
                    at += 1;
                }
            }
        }
    }

    #[inline(always)]
    fn velocities_of(&self, arrow: usize) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        let range = self.arrows[arrow].velocities.clone();
        let columns = &self.columns[range.clone()];
        columns.iter().zip(&self.velocities[range]).map(|(column, velocity)| (*column as usize, *velocity))
    }

    #[inline(always)]
    fn write_block(&self, block: &BlockPlan, f: &mut [f64], jacobian: &mut [f64]) {
        let (row, scale, stride) = (block.row, block.scale, self.stride);
        let jacobian = &mut jacobian[row * stride..];
        match &block.kind {
            PlanKind::Closed(kind) => self.write_closed(kind, row, scale, f, jacobian),
            PlanKind::Tape { value, by_arrow, by_freedom } => {
                let line = &mut jacobian[..stride];
                f[row] = scale * self.slots[*value as usize];
                line.fill(0.0);
                for (arrow, slots) in by_arrow {
                    let g = DVec3::from_array(slots.map(|slot| self.slots[slot as usize])) * scale;
                    for (column, velocity) in self.velocities_of(*arrow as usize) {
                        line[column] += g.dot(velocity);
                    }
                }
                for (column, slot) in by_freedom {
                    line[*column as usize] += scale * self.slots[*slot as usize];
                }
            }
        }
    }

    #[inline(always)]
    fn write_closed(&self, kind: &Kind, row: usize, scale: f64, f: &mut [f64], jacobian: &mut [f64]) {
        let stride = self.stride;
        match *kind {
            Kind::Zero { a } => {
                let value = self.values[a] * scale;
                f[row..row + 3].copy_from_slice(&value.to_array());
                jacobian[..3 * stride].fill(0.0);
                for (column, velocity) in self.velocities_of(a) {
                    write3(jacobian, stride, column, velocity * scale);
                }
            }
            Kind::Unit { a, b } => {
                let (u, per_a) = unit(self.values[a]);
                let (v, per_b) = unit(self.values[b]);
                f[row..row + 3].copy_from_slice(&((u - v) * scale).to_array());
                jacobian[..3 * stride].fill(0.0);
                for (column, velocity) in self.velocities_of(a) {
                    write3(jacobian, stride, column, (velocity - u * u.dot(velocity)) * (per_a * scale));
                }
                for (column, velocity) in self.velocities_of(b) {
                    write3(jacobian, stride, column, (velocity - v * v.dot(velocity)) * (-per_b * scale));
                }
            }
            Kind::Length { a, target } => {
                let (u, _) = unit(self.values[a]);
                f[row] = scale * (self.values[a].length() - target);
                self.write_row(&mut jacobian[..stride], [(a, u * scale)]);
            }
            Kind::Along { a, normal, offset } => {
                f[row] = scale * (normal.dot(self.values[a]) - offset);
                self.write_row(&mut jacobian[..stride], [(a, normal * scale)]);
            }
            Kind::Split { a, b } => {
                let (v, per_b) = unit(self.values[b]);
                let part = v.dot(self.values[a]);
                f[row] = scale * part;
                let by_b = (self.values[a] - v * part) * (per_b * scale);
                self.write_row(&mut jacobian[..stride], [(a, v * scale), (b, by_b)]);
            }
            Kind::Clear { ends, by } => {
                let [a, b, c, d] = ends.map(|end| self.values[end]);
                let (s, t) = nearest_on_segments([a, b], [c, d]);
                let apart = a.lerp(b, s) - c.lerp(d, t);
                let (u, _) = unit(apart);
                f[row] = scale * (apart.length() - by);
                let u = u * scale;
                let by_end = [u * (1.0 - s), u * s, u * (t - 1.0), u * -t];
                self.write_row(&mut jacobian[..stride], [0, 1, 2, 3].map(|i| (ends[i], by_end[i])));
            }
            Kind::Height { a, ref site, sign, by } => {
                let (height, gradient) = height_over(site, self.values[a]);
                f[row] = scale * (sign * height - by);
                self.write_row(&mut jacobian[..stride], [(a, gradient * (sign * scale))]);
            }
            // Scalars run on the tape.
            Kind::Scalar { .. } => {}
        }
    }

    #[inline(always)]
    fn write_row<const N: usize>(&self, line: &mut [f64], parts: [(usize, DVec3); N]) {
        line.fill(0.0);
        for (arrow, g) in parts {
            for (column, velocity) in self.velocities_of(arrow) {
                line[column] += g.dot(velocity);
            }
        }
    }
}

/// Slopes of the ground beyond this are edges, at which nothing stands.
const STEEPEST: f64 = 2.0;

/// Height of a point over the ground, and how it changes with the point.
pub(crate) fn height_over(site: &Site, at: DVec3) -> (f64, DVec3) {
    const STEP: f64 = 1e-3;
    let slope = |dx: f64, dz: f64| {
        let rise = site.height(at.x + dx, at.z + dz) - site.height(at.x - dx, at.z - dz);
        (rise / (2.0 * STEP)).clamp(-STEEPEST, STEEPEST)
    };
    let height = at.y - site.height(at.x, at.z);
    (height, DVec3::new(-slope(STEP, 0.0), 1.0, -slope(0.0, STEP)))
}

#[inline(always)]
fn write3(jacobian: &mut [f64], stride: usize, column: usize, value: DVec3) {
    jacobian[column] += value.x;
    jacobian[stride + column] += value.y;
    jacobian[2 * stride + column] += value.z;
}

/// Vectors shorter than this have no direction; their derivative is taken as zero.
const SHORTEST: f64 = 1e-9;

/// Unit vector and one over the length.
#[inline(always)]
fn unit(vector: DVec3) -> (DVec3, f64) {
    let length = vector.length();
    let per = if length > SHORTEST { 1.0 / length } else { 0.0 };
    (vector * per, per)
}

/// Where on two segments their nearest points lie, 0 to 1 each. Ericson, *Real-Time Collision Detection*, 5.1.9.
#[inline(always)]
pub(crate) fn nearest_on_segments([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> (f64, f64) {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let tiny = SHORTEST * SHORTEST;
    if uu <= tiny || vv <= tiny {
        let s = if uu > tiny { (-uw / uu).clamp(0.0, 1.0) } else { 0.0 };
        let t = if vv > tiny { (vw / vv).clamp(0.0, 1.0) } else { 0.0 };
        return (s, t);
    }
    let across = uu * vv - uv * uv;
    let s = if across > 1e-12 * uu * vv { ((uv * vw - uw * vv) / across).clamp(0.0, 1.0) } else { 0.0 };
    let t = (uv * s + vw) / vv;
    let held = t.clamp(0.0, 1.0);
    if held == t { (s, t) } else { (((held * uv - uw) / uu).clamp(0.0, 1.0), held) }
}

struct Evaluation<'a> {
    system: &'a mut System,
    pose: &'a [f64],
    f: &'a mut [f64],
    jacobian: &'a mut [f64],
}

impl Kernel for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { system, pose, f, jacobian } = self;
        system.kinematics.compute_sized(pose, &mut system.frames);
        system.update_arrows();
        if !system.slots.is_empty() {
            system.slots[..pose.len()].copy_from_slice(pose);
            for (plan, value) in system.arrows.iter().zip(&system.values) {
                if let Some(slot) = plan.slot {
                    system.slots[slot..slot + 3].copy_from_slice(&value.to_array());
                }
            }
            system.tape.run(&mut system.slots);
        }
        for block in &system.blocks {
            system.write_block(block, f, jacobian);
        }
    }
}
