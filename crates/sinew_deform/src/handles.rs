//! The handle structure: which vertex belongs to which handle, and how rigidly.
//!
//! # Source
//! Hansen (2006), §6.2.

use crate::DeformError;
use sinew_geom::{Handle, Mesh, Warnings};

/// Handles that fit a mesh: no vertex belongs to two.
#[derive(Debug, Clone, PartialEq)]
pub struct HandleSet {
    handles: Vec<Handle>,
    /// Per vertex, its handle, or `u32::MAX`.
    owner: Vec<u32>,
    /// Per vertex, how firmly it follows its handle, 0..=1.
    weight: Vec<f32>,
}

const NO_HANDLE: u32 = u32::MAX;

impl HandleSet {
    /// Check handles against a mesh. Of overlapping handles the later wins; vertices of weight 0 are soft.
    ///
    /// # Errors
    /// If a vertex does not exist, a weight is outside 0..=1, a number is not finite, or no handle has a vertex.
    pub fn new(mesh: &Mesh, handles: &[Handle], warnings: &mut Warnings) -> Result<Self, DeformError> {
        let n = mesh.n_vertices();
        let mut set = Self { handles: handles.to_vec(), owner: vec![NO_HANDLE; n], weight: vec![0.0; n] };
        let mut taken = vec![vec![0usize; handles.len()]; handles.len()];
        for (index, handle) in handles.iter().enumerate() {
            check(handle, n)?;
            for (&v, &w) in handle.vertices.iter().zip(&handle.weights).filter(|(_, w)| **w > 0.0) {
                let owner = &mut set.owner[v as usize];
                if *owner != NO_HANDLE && *owner != index as u32 {
                    taken[*owner as usize][index] += 1;
                }
                *owner = index as u32;
                set.weight[v as usize] = w;
            }
        }
        for (from, row) in taken.iter().enumerate() {
            for (to, &count) in row.iter().enumerate().filter(|(_, count)| **count > 0) {
                let (from, to) = (&handles[from].name, &handles[to].name);
                warnings.push(format!(
                    "handles {from:?} and {to:?} share {count} vertices; they belong to {to:?}, painted later"
                ));
            }
        }
        set.keep_owned(warnings);
        if set.handles.iter().all(|h| h.vertices.is_empty()) { Err(DeformError::NoHandle) } else { Ok(set) }
    }

    /// Drop from each handle what belongs to another or to none.
    fn keep_owned(&mut self, warnings: &mut Warnings) {
        for (index, handle) in self.handles.iter_mut().enumerate() {
            let mut kept: Vec<u32> =
                handle.vertices.iter().copied().filter(|&v| self.owner[v as usize] == index as u32).collect();
            kept.sort_unstable();
            kept.dedup();
            if kept.is_empty() {
                warnings.push(format!("handle {:?} has no vertex of its own and moves nothing", handle.name));
            }
            handle.weights = kept.iter().map(|&v| self.weight[v as usize]).collect();
            handle.vertices = kept;
        }
    }

    /// The handles, in the order given.
    pub fn handles(&self) -> &[Handle] {
        &self.handles
    }

    /// Number of handles, empty ones included.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there is no handle at all; never true of a checked set.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Number of vertices of the mesh.
    pub fn n_vertices(&self) -> usize {
        self.owner.len()
    }

    /// Index of a handle by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.handles.iter().position(|h| h.name == name)
    }

    /// The handle a vertex belongs to.
    pub fn owner(&self, vertex: usize) -> Option<usize> {
        (self.owner[vertex] != NO_HANDLE).then_some(self.owner[vertex] as usize)
    }

    /// How firmly a vertex follows its handle: 0 soft, 1 rigid.
    pub fn weight(&self, vertex: usize) -> f64 {
        f64::from(self.weight[vertex])
    }

    /// Whether a vertex moves exactly as its handle does.
    pub fn is_rigid(&self, vertex: usize) -> bool {
        self.weight[vertex] >= 1.0
    }

    /// Handle and spring stiffness of a vertex that follows its handle, but not fully: zero at weight 0, growing
    /// without bound as the weight nears 1, and at ½ as stiff as its surroundings (whose cotangents sum to about 3).
    pub(crate) fn spring(&self, vertex: usize) -> Option<(u32, f64)> {
        let weight = self.weight(vertex);
        (weight > 0.0 && weight < 1.0).then(|| (self.owner[vertex], 3.0 * weight / (1.0 - weight)))
    }

    /// Vertices that belong to no handle.
    pub fn is_soft(&self) -> Vec<bool> {
        self.owner.iter().map(|&owner| owner == NO_HANDLE).collect()
    }
}

fn check(handle: &Handle, n_vertices: usize) -> Result<(), DeformError> {
    let name = || handle.name.clone();
    if let Some(&vertex) = handle.vertices.iter().find(|&&v| v as usize >= n_vertices) {
        return Err(DeformError::HandleVertex { handle: name(), vertex, n_vertices });
    }
    if handle.weights.len() != handle.vertices.len() {
        let cause = format!("{} weights for {} vertices", handle.weights.len(), handle.vertices.len());
        return Err(DeformError::HandleWeight { handle: name(), cause });
    }
    if let Some(weight) = handle.weights.iter().find(|w| !(0.0..=1.0).contains(*w)) {
        let cause = format!("weight {weight} is not within 0 and 1");
        return Err(DeformError::HandleWeight { handle: name(), cause });
    }
    if !handle.center.is_finite() {
        return Err(DeformError::NonFinite { what: format!("the centre of handle {:?}", handle.name) });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn mesh() -> Mesh {
        let positions = (0..4).map(|i| DVec3::new(f64::from(i % 2), f64::from(i / 2), 0.0)).collect();
        Mesh::new(positions, vec![[0, 1, 2], [1, 3, 2]]).unwrap()
    }

    fn handle(name: &str, vertices: &[u32], weight: f32) -> Handle {
        let weights = vec![weight; vertices.len()];
        Handle { name: name.into(), vertices: vertices.to_vec(), weights, ..Handle::default() }
    }

    #[test]
    fn the_later_of_two_overlapping_handles_wins_and_says_so() {
        let mut warnings = Warnings::default();
        let painted = [handle("a", &[0, 1], 1.0), handle("b", &[1, 2], 0.5), handle("c", &[3], 0.0)];
        let set = HandleSet::new(&mesh(), &painted, &mut warnings).unwrap();
        assert_eq!([0, 1, 2, 3].map(|v| set.owner(v)), [Some(0), Some(1), Some(1), None]);
        assert_eq!(set.handles()[0].vertices, [0]);
        assert_eq!(set.weight(1), 0.5);
        assert!(warnings.messages[0].contains("share 1 vertices"), "{:?}", warnings.messages);
        assert!(warnings.messages[1].contains("\"c\" has no vertex"), "{:?}", warnings.messages);
    }

    #[test]
    fn handles_that_do_not_fit_are_refused() {
        let mut bad = handle("a", &[0], 1.0);
        bad.center.x = f64::NAN;
        let mut short = handle("a", &[0, 1], 1.0);
        short.weights.pop();
        let a = || "a".to_owned();
        let weight = |cause: &str| DeformError::HandleWeight { handle: a(), cause: cause.into() };
        // A vertex too many; weights too large, negative, not numbers, too few; a centre that is not finite; no
        // handles.
        let cases = [
            (handle("a", &[4], 1.0), DeformError::HandleVertex { handle: a(), vertex: 4, n_vertices: 4 }),
            (handle("a", &[0], 1.5), weight("weight 1.5 is not within 0 and 1")),
            (handle("a", &[0], -0.5), weight("weight -0.5 is not within 0 and 1")),
            (handle("a", &[0], f32::NAN), weight("weight NaN is not within 0 and 1")),
            (short, weight("1 weights for 2 vertices")),
            (bad, DeformError::NonFinite { what: "the centre of handle \"a\"".into() }),
            (handle("a", &[], 1.0), DeformError::NoHandle),
        ];
        for (case, expected) in cases {
            assert_eq!(HandleSet::new(&mesh(), &[case], &mut Warnings::default()).unwrap_err(), expected);
        }
    }
}
