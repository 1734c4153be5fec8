//! Automatic handles: from the shape alone, or from the bones of a skin.
//!
//! # Source
//! Hansen (2006), §10.5, proposes automatic handles as future work. The method is Sinew's own, built from known parts:
//! the remoteness of each vertex (average geodesic distance), the tree of its level sets, limbs where that tree
//! branches, cut where the girth is small compared with what lies beyond; then stubby and small limbs, each along the
//! distance from its own tip; segments at narrow places and bends. Where a part is its own mirror image, one side is
//! planned and mirrored. The files of this folder name their sources.
//! # Cost
//! 32 runs of Dijkstra's algorithm and at most 48 shorter ones, in parallel; everything else is linear or nearly so.
//! # Limits
//! Not found are: limbs that lie against the body and are welded to it; joints inside a straight limb of constant
//! girth, which is cut evenly; and a cone that widens evenly into the body, such as a short tail. Regions do not depend
//! on the model's placement or numbering, up to ties; names refer to sides in the model's axes.

mod bands;
mod component;
mod halves;
mod joints;
mod limbs;
mod loops;
mod mirror;
mod names;
mod plan;
mod profile;
mod protrusions;
mod regions;
mod remoteness;
mod select;
mod skin;
mod small;
#[cfg(test)]
mod tests;
mod tips;
mod tree;

pub use skin::{SkinHandleParams, handles_from_skin};

use crate::DeformError;
use component::{Component, split_parts};
use names::name_handles;
use plan::{HandlePlan, plan_part};
use remoteness::compute_remoteness;
use sinew_geom::{Handle, Mesh, Warnings};
use std::ops::ControlFlow;

/// Parameters of the search for handles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AutoParams {
    /// About how many handles; by default, as many as the shape suggests.
    pub count: Option<usize>,
    /// Area of the smallest limb that gets its own handle, as a share of its connected part. Default 0.01.
    /// Limbs that end in a jump of the girth, as fingers do, may be a tenth of it, unless `count` asks for no more
    /// handles than the larger ones and their joints give.
    pub least_limb: f64,
    /// Area of the smallest connected part that is searched for limbs, as a share of all. Default 0.02; smaller
    /// parts become one handle, or belong to the one they touch.
    pub least_part: f64,
}

impl Default for AutoParams {
    fn default() -> Self {
        Self { count: None, least_limb: 0.01, least_part: 0.02 }
    }
}

/// Share of the work for the large components.
const COMPONENTS_SHARE: f64 = 0.95;

/// Share of a component's work for computing the remoteness of its vertices.
const REMOTENESS_SHARE: f64 = 0.5;

/// Find handles on a mesh without bones: limbs and their segments, with soft bands between them.
///
/// Centres lie in the middle of the band towards the body; the secondary handles of a handle are those further
/// out. `progress` is called with the share done, 0..=1.
///
/// # Errors
/// If no face has an area, or `progress` asked to stop.
pub fn find_handles(
    mesh: &Mesh,
    params: &AutoParams,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    warnings: &mut Warnings,
) -> Result<Vec<Handle>, DeformError> {
    let (mut parts, n_loose) = split_parts(mesh);
    if parts.is_empty() {
        return Err(DeformError::NoHandle);
    }
    if n_loose > 0 {
        warnings.push(format!("{n_loose} vertices belong to no face and to no handle"));
    }
    let total: f64 = parts.iter().map(|part| part.area).sum();
    let n_large = parts.iter().take_while(|part| part.area >= params.least_part * total).count().max(1);
    let small = parts.split_off(n_large);
    let mut plans = Vec::new();
    let mut done = 0.0;
    for part in &parts {
        let share = part.area / total;
        let remoteness = compute_remoteness(part, &mut |x| {
            progress(COMPONENTS_SHARE * (done + share * REMOTENESS_SHARE * x))
        });
        let f = remoteness.ok_or(DeformError::Cancelled)?;
        let count = params.count.map(|count| ((count as f64 * share).round() as usize).max(1));
        let ask = &mut |x| {
            progress(COMPONENTS_SHARE * (done + share * (REMOTENESS_SHARE + (1.0 - REMOTENESS_SHARE) * x)))
        };
        plans.push(plan_part(part, f, params, count, ask).ok_or(DeformError::Cancelled)?);
        done += share;
    }
    let mut handles = Vec::new();
    for (index, (part, plan)) in parts.iter().zip(&plans).enumerate() {
        handles.extend(to_handles(part, plan, index));
    }
    small::add_small_parts(&parts, &plans, &small, mesh.diagonal(), &mut handles, warnings);
    if handles.len() == 1 && params.count.is_none_or(|count| count > 1) {
        let whole = handles.remove(0);
        handles = halves::split_in_two(&parts[0], &small, whole);
        warnings.push(match handles.len() {
            1 => "only one handle was found: it moves everything, and nothing can be posed".to_owned(),
            _ => "no limbs were found: the two ends that are farthest from each other became handles"
                .to_owned(),
        });
    }
    let _ = progress(1.0);
    Ok(handles)
}

fn to_handles(part: &Component, plan: &HandlePlan, index: usize) -> Vec<Handle> {
    let prefix = if index == 0 { String::new() } else { format!("part_{}_", index + 1) };
    let names: Vec<String> =
        name_handles(plan, part.mesh.diagonal()).into_iter().map(|name| prefix.clone() + &name).collect();
    let handle = |k: usize| {
        let mut vertices: Vec<u32> =
            plan.rigid[k].iter().flat_map(|&v| part.originals[v as usize].iter().copied()).collect();
        vertices.sort_unstable();
        let further = |&other: &usize| other != k && plan.regions.is_within(other, k);
        Handle {
            name: names[k].clone(),
            weights: vec![1.0; vertices.len()],
            vertices,
            center: plan.centers[k],
            secondary: (0..names.len()).filter(further).map(|other| names[other].clone()).collect(),
        }
    };
    (0..names.len()).map(handle).collect()
}
