//! Names that describe where a handle is.

use super::plan::HandlePlan;
use glam::DVec3;

/// Distances from the middle, in diagonals of the part, from which on a limb is to one side of it.
const SIDE_DISTANCE: f64 = 0.03;
/// The same for smaller limbs on one limb, from their common middle.
const BRANCH_SIDE_DISTANCE: f64 = 0.015;

/// A name for each handle of a part: `body`, `limb_lower_left_base`, …
///
/// Sides are those of a model with y up, facing z, and its left at x.
pub(super) fn name_handles(plan: &HandlePlan, diagonal: f64) -> Vec<String> {
    let n_limbs = plan.segments.iter().map(|segment| segment.limb + 1).max().unwrap_or(0);
    let mut limb_names: Vec<Option<String>> = vec![None; n_limbs];
    let mut names = vec![String::new(); plan.segments.len() + 1];
    names[0] = "body".into();
    // Limbs are numbered from the largest on, so a limb comes before those on it.
    for limb in 0..n_limbs {
        let members: Vec<usize> =
            (0..plan.segments.len()).filter(|&k| plan.segments[k].limb == limb).collect();
        let Some(&first) = members.first() else { continue };
        let carrier = plan.regions.parent[first + 1];
        let name = match carrier.checked_sub(1).map(|k| plan.segments[k].limb) {
            None => {
                let way = words(plan.segments[first].tip - plan.centers[0], SIDE_DISTANCE * diagonal);
                unique("limb", &way, &limb_names)
            }
            Some(parent) => {
                let way = words(
                    plan.segments[first].tip - middle_of_branches(plan, parent),
                    BRANCH_SIDE_DISTANCE * diagonal,
                );
                let stem = format!("{}_branch", limb_names[parent].as_deref().unwrap_or("limb"));
                unique(&stem, &way, &limb_names)
            }
        };
        for (number, &k) in members.iter().enumerate() {
            names[k + 1] = format!("{name}{}", suffix(number, members.len()));
        }
        limb_names[limb] = Some(name);
    }
    names
}

/// Mean tip of all limbs on a limb; where it begins if there is only one.
fn middle_of_branches(plan: &HandlePlan, parent: usize) -> DVec3 {
    let on_parent = |k: usize| {
        let carrier = plan.regions.parent[k + 1];
        plan.segments[k].limb != parent && carrier > 0 && plan.segments[carrier - 1].limb == parent
    };
    let branches: Vec<usize> = (0..plan.segments.len()).filter(|&k| on_parent(k)).collect();
    match branches[..] {
        [only] => plan.centers[only + 1],
        _ => branches.iter().map(|&k| plan.segments[k].tip).sum::<DVec3>() / branches.len().max(1) as f64,
    }
}

fn words(way: DVec3, least: f64) -> String {
    let mut words = String::new();
    for (distance, [positive, negative]) in
        [(way.y, ["_upper", "_lower"]), (way.z, ["_front", "_back"]), (way.x, ["_left", "_right"])]
    {
        if distance.abs() > least {
            words += if distance > 0.0 { positive } else { negative };
        }
    }
    words
}

fn unique(stem: &str, way: &str, taken: &[Option<String>]) -> String {
    let plain = format!("{stem}{way}");
    let numbered = (2..).map(|n| format!("{plain}_{n}"));
    let mut candidates = std::iter::once(plain.clone()).chain(numbered);
    candidates.find(|name| !taken.iter().flatten().any(|other| other == name)).unwrap_or(plain)
}

fn suffix(number: usize, count: usize) -> String {
    match (count, number) {
        (1, _) => String::new(),
        (_, 0) => "_base".into(),
        (n, k) if k == n - 1 => "_tip".into(),
        (3, _) => "_middle".into(),
        (_, k) => format!("_middle_{k}"),
    }
}
