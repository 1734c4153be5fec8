//! Names and ancestors of joints.

use sinew_geom::Rig;

/// A name without case and punctuation.
pub(super) fn plain(name: &str) -> String {
    // Mixamo and its like put the name of the character before a colon.
    let name = name.rsplit(':').next().unwrap_or(name);
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// A joint and its ancestors.
pub(super) fn ancestry(rig: &Rig, joint: usize) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(Some(joint), |&at| rig.joints()[at].parent)
}

/// Deepest common ancestor.
pub(super) fn common_ancestor(rig: &Rig, joints: impl IntoIterator<Item = usize>) -> Option<usize> {
    let mut joints = joints.into_iter();
    let mut shared: Vec<usize> = ancestry(rig, joints.next()?).collect();
    for joint in joints {
        let other: Vec<usize> = ancestry(rig, joint).collect();
        shared.retain(|at| other.contains(at));
    }
    shared.first().copied()
}
