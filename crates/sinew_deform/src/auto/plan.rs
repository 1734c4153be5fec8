//! The handles of one connected part: limbs, cut into segments, with soft bands between them.

use super::{
    AutoParams,
    bands::find_rigid,
    component::Component,
    joints::find_joints,
    limbs::{Limb, MIN_BODY_SHARE, TWO_SEGMENT_LENGTH, find_limbs},
    mirror::Mirror,
    profile::{N_STRIPS, compute_profiles},
    regions::{Cut, Fields, Regions, cut_regions},
    select::{add_protrusions, make_even},
    tree::build_tree,
};
use glam::DVec3;
use std::ops::ControlFlow;

/// Limbs less stretched than this may become the body if there is none: the head of an octopus, not a leg.
const MAX_BODY_STRETCH: f64 = 1.2;

/// Length in girths above which a limb has three segments unless the user asks for a number.
const THREE_SEGMENT_LENGTH: f64 = 1.35;

/// Limbs whose area and length differ by less than this are twins, as a left and a right leg are.
const TWIN_TOLERANCE: f64 = 0.15;

/// Share of a segment's vertices that its bands must leave for it to be useful as a handle.
const MIN_RIGID_SHARE: f64 = 0.4;

/// Most segments of a limb, however many handles are asked for.
const MAX_SEGMENTS: usize = 8;

/// Area of the smallest limb that is found by a jump of its girth, in least areas of those that are found by
/// remoteness: a finger.
const MIN_PROTRUSION_RATIO: f64 = 0.1;

/// Shares of the planning: until protrusions are looked for, and until they are found.
const PROGRESS_SHARES: [f64; 2] = [0.2, 0.8];

/// Called with the share done; returns whether to continue.
type Ask<'a> = &'a mut dyn FnMut(f64) -> ControlFlow<()>;

/// A limb or a piece of one.
#[derive(Debug, Clone)]
pub(super) struct Segment {
    pub limb: usize,
    pub cut: Cut,
    /// Along the limb.
    pub length: f64,
    /// Tip of its limb, for its name.
    pub tip: DVec3,
}

/// Handles of a part: 0 is the body, `k + 1` is segment `k`.
pub(super) struct HandlePlan {
    pub segments: Vec<Segment>,
    pub regions: Regions,
    /// Vertices of the part in each handle.
    pub rigid: Vec<Vec<u32>>,
    /// Centre of rotation of each handle.
    pub centers: Vec<DVec3>,
}

impl HandlePlan {
    /// Per vertex of the part whether a handle holds it.
    pub fn is_rigid(&self, part: &Component) -> Vec<bool> {
        let mut is_rigid = vec![false; part.mesh.n_vertices()];
        self.rigid.iter().flatten().for_each(|&v| is_rigid[v as usize] = true);
        is_rigid
    }
}

/// Find the handles of a part from how remote its vertices are. `None` if `ask` says to stop.
pub(super) fn plan_part(
    part: &Component,
    f: Vec<f64>,
    params: &AutoParams,
    count: Option<usize>,
    ask: Ask,
) -> Option<HandlePlan> {
    let mirror = Mirror::find(part);
    let mut fields = Fields(vec![mirror.as_ref().map_or_else(|| f.clone(), |mirror| mirror.even(&f))]);
    let mut limbs = limbs_of(part, &mut fields, mirror.as_ref(), params.least_limb, ask)?;
    let n_segments = usual_segments(&limbs);
    let segments = match count {
        Some(count) => {
            if n_segments.iter().sum::<usize>() >= count {
                // Joints of large limbs come before small limbs.
                limbs.retain(|limb| limb.area >= params.least_limb * part.area);
            }
            limbs.truncate(count.saturating_sub(1));
            share_out(&limbs, count)
        }
        None => {
            limbs.iter().zip(n_segments).enumerate().flat_map(|(k, (limb, n))| cut_limb(k, limb, n)).collect()
        }
    };
    settle(part, &fields, segments, ask)
}

/// Limbs, largest first, that leave a body. Fields that some are measured in are added.
fn limbs_of(
    part: &Component,
    fields: &mut Fields,
    mirror: Option<&Mirror>,
    least: f64,
    ask: Ask,
) -> Option<Vec<Limb>> {
    let (f, least_area) = (&fields.0[0], least * part.area);
    let tree = build_tree(f, &part.vertex_areas, |v| part.adjacency.neighbors.row(v), 0.3 * least_area);
    let profiles = compute_profiles(part, f, &tree, N_STRIPS);
    let mut limbs = find_limbs(&tree, &profiles, part.area, least_area);
    limbs.sort_by(|a, b| b.area.total_cmp(&a.area));
    leave_a_body(part, &mut limbs);
    let [from, to] = PROGRESS_SHARES;
    add_protrusions(part, fields, MIN_PROTRUSION_RATIO * least_area, &mut limbs, &mut |x| {
        ask(from + (to - from) * x)
    })?;
    if let Some(mirror) = mirror {
        make_even(part, fields, mirror, &mut limbs);
    }
    // A limb comes before those on it.
    limbs.sort_by(|a, b| b.above().total_cmp(&a.above()));
    Some(limbs)
}

/// If the limbs leave nothing between them, the stoutest becomes the body, or all become shorter.
fn leave_a_body(part: &Component, limbs: &mut Vec<Limb>) {
    let rest = part.area - limbs.iter().map(|limb| limb.area).sum::<f64>();
    if rest >= MIN_BODY_SHARE * part.area || limbs.is_empty() {
        return;
    }
    let stoutest = (0..limbs.len()).min_by(|&a, &b| limbs[a].stretch.total_cmp(&limbs[b].stretch));
    if let Some(stoutest) = stoutest.filter(|&k| limbs[k].stretch < MAX_BODY_STRETCH && limbs.len() > 2) {
        limbs.remove(stoutest);
        return;
    }
    let n = limbs.len() as f64;
    limbs.iter_mut().for_each(|limb| limb.shorten(n / (n + 1.0)));
}

/// Segments by how slender each limb is; limbs that resemble each other get the same number.
fn usual_segments(limbs: &[Limb]) -> Vec<usize> {
    let slenderness = Limb::slenderness;
    let near = |x: f64, y: f64| (x - y).abs() <= TWIN_TOLERANCE * x.max(y);
    let twins = |a: &Limb, b: &Limb| near(a.area, b.area) && near(a.length(), b.length());
    let of = |limb: &Limb| {
        let most = limbs.iter().filter(|other| twins(limb, other)).map(slenderness).fold(0.0, f64::max);
        1 + usize::from(most >= TWO_SEGMENT_LENGTH) + usize::from(most >= THREE_SEGMENT_LENGTH)
    };
    limbs.iter().map(of).collect()
}

/// As many segments as asked for, always dividing the limb whose segments are the most slender.
fn share_out(limbs: &[Limb], count: usize) -> Vec<Segment> {
    let mut n_segments = vec![1; limbs.len()];
    let slenderness = |k: usize, n: usize| limbs[k].slenderness() / n as f64;
    for _ in limbs.len() + 1..count {
        let next = (0..limbs.len())
            .filter(|&k| n_segments[k] < MAX_SEGMENTS)
            .max_by(|&a, &b| slenderness(a, n_segments[a]).total_cmp(&slenderness(b, n_segments[b])));
        // No limb can be divided any further, whatever is asked for.
        let Some(next) = next else { break };
        n_segments[next] += 1;
    }
    limbs.iter().enumerate().flat_map(|(index, limb)| cut_limb(index, limb, n_segments[index])).collect()
}

fn cut_limb(index: usize, limb: &Limb, n_segments: usize) -> Vec<Segment> {
    let mut starts = vec![0];
    starts.extend(find_joints(limb, n_segments));
    let ends = starts[1..].iter().copied().chain([limb.slices.len()]);
    let tip = limb.slices.last().map_or(DVec3::ZERO, |slice| slice.strip.center);
    let segment = |(&from, to): (&usize, usize)| Segment {
        limb: index,
        cut: limb.slices[from].cut,
        length: limb.slices[from..to].iter().map(|slice| slice.strip.width()).sum(),
        tip,
    };
    starts.iter().zip(ends).map(segment).collect()
}

/// Cut and soften; where nothing rigid is left of a region, remove its cut and try again.
fn settle(part: &Component, fields: &Fields, mut segments: Vec<Segment>, ask: Ask) -> Option<HandlePlan> {
    let steps = part.steps();
    // The number of attempts is not known in advance: each takes half of the rest of the progress.
    let mut left = 1.0 - PROGRESS_SHARES[1];
    loop {
        if ask(1.0 - left).is_break() {
            return None;
        }
        left *= 0.5;
        let cuts: Vec<Cut> = segments.iter().map(|segment| segment.cut).collect();
        let lengths: Vec<f64> = segments.iter().map(|segment| segment.length).collect();
        let regions = cut_regions(part, fields, &cuts);
        let rigid = find_rigid(part, &steps, fields, &cuts, &lengths, &regions);
        let superfluous = find_crumb(&segments, &regions, &rigid).and_then(|crumb| remedy(&segments, crumb));
        match superfluous {
            Some(cut) => drop(segments.remove(cut)),
            None => {
                let centers = find_centers(part, fields, &cuts, &regions);
                return ask(1.0).is_continue().then_some(HandlePlan { segments, regions, rigid, centers });
            }
        }
    }
}

/// The cut to remove for the sake of a region.
fn remedy(segments: &[Segment], region: usize) -> Option<usize> {
    let Some(own) = region.checked_sub(1) else {
        // The body: give it the largest limb.
        let above = |k: usize| segments[k].cut.above;
        return (0..segments.len()).max_by(|&a, &b| above(a).total_cmp(&above(b)));
    };
    let in_limb = |k: usize| segments.get(k).is_some_and(|segment| segment.limb == segments[own].limb);
    // The first segment of a limb grows outward, so that the limb still ends at the body.
    let is_first = own == 0 || !in_limb(own - 1);
    Some(if is_first && in_limb(own + 1) { own + 1 } else { own })
}

/// The region with the least left between its bands, if that is too little.
fn find_crumb(segments: &[Segment], regions: &Regions, rigid: &[Vec<u32>]) -> Option<usize> {
    let mut sizes = vec![0usize; rigid.len()];
    regions.of_vertex.iter().for_each(|&region| sizes[region as usize] += 1);
    let share = |region: usize| rigid[region].len() as f64 / sizes[region].max(1) as f64;
    let is_crumb = |region: usize| {
        let limb = |k: usize| segments[k - 1].limb;
        // A limb may be a few vertices rather than nothing; its segments may not.
        let is_segment =
            region > 0 && (1..rigid.len()).any(|other| other != region && limb(other) == limb(region));
        rigid[region].is_empty() || (is_segment && share(region) < MIN_RIGID_SHARE)
    };
    (0..rigid.len()).filter(|&region| is_crumb(region)).min_by(|&a, &b| share(a).total_cmp(&share(b)))
}

/// The middle of each cut, which is the middle of the soft band; of the body, the middle of its surface.
fn find_centers(part: &Component, fields: &Fields, cuts: &[Cut], regions: &Regions) -> Vec<DVec3> {
    let at = |v: u32| part.mesh.positions()[v as usize];
    let mut sums = vec![(DVec3::ZERO, 0.0); cuts.len() + 1];
    for (v, &region) in regions.of_vertex.iter().enumerate().filter(|(_, region)| **region == 0) {
        let weight = part.vertex_areas[v];
        let sum = &mut sums[region as usize];
        *sum = (sum.0 + at(v as u32) * weight, sum.1 + weight);
    }
    for face in part.mesh.faces() {
        let of = face.map(|v| regions.of_vertex[v as usize] as usize);
        if of[0] == of[1] && of[1] == of[2] {
            continue;
        }
        for k in 1..=cuts.len() {
            let f = fields.of(&cuts[k - 1]);
            let inside = of.map(|region| regions.is_within(region, k));
            let crossing = |i: usize| {
                let (a, b) = (face[i], face[(i + 1) % 3]);
                let (fa, fb) = (f[a as usize], f[b as usize]);
                let share =
                    if fa == fb { 0.5 } else { ((cuts[k - 1].level - fa) / (fb - fa)).clamp(0.0, 1.0) };
                (inside[i] != inside[(i + 1) % 3]).then(|| at(a).lerp(at(b), share))
            };
            let mut ends = (0..3).filter_map(crossing);
            if let (Some(p), Some(q)) = (ends.next(), ends.next()) {
                let weight = p.distance(q);
                sums[k] = (sums[k].0 + (p + q) * (0.5 * weight), sums[k].1 + weight);
            }
        }
    }
    sums.into_iter().map(|(sum, weight)| if weight > 0.0 { sum / weight } else { part.centroid() }).collect()
}
