//! Giving every fan its own vertex.

use super::Repair;
use crate::mesh::{
    EdgeTable, EdgeUse,
    defects::{edge_ends, join_fans},
    union_find::UnionFind,
};

impl Repair {
    /// Multiply vertices until every edge has at most two faces and every vertex one fan.
    pub(super) fn split(&mut self) {
        let before = self.positions.len();
        self.split_fans();
        // Faces that meet in a bad edge may still be one fan around both its ends: separate the surplus.
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut loose: Vec<usize> = (0..edges.len())
            .filter(|&edge| edges.n_uses(edge) > 2)
            .flat_map(|edge| {
                let uses: Vec<EdgeUse> = edges.uses(edge).collect();
                let kept = self.pair_uses(edges.vertices()[edge], &uses).first().copied();
                let kept = kept.unwrap_or([uses[0], uses[1]]).map(|used| used.face);
                uses.into_iter().map(|used| used.face).filter(move |face| !kept.contains(face))
            })
            .map(|face| face as usize)
            .collect();
        loose.sort_unstable();
        loose.dedup();
        if !loose.is_empty() {
            for face in loose {
                for k in 0..3 {
                    self.faces[face][k] = self.copy_vertex(self.faces[face][k]);
                }
            }
            self.split_fans();
        }
        self.report.split_vertices = self.positions.len() - before;
    }

    fn split_fans(&mut self) {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let n_corners = self.faces.len() as u32 * 3;
        let next: Vec<u32> = (0..n_corners).map(|c| c / 3 * 3 + (c + 1) % 3).collect();
        let mut fans = UnionFind::new(n_corners as usize);
        for edge in 0..edges.len() {
            if edges.n_uses(edge) <= 2 {
                join_fans(&mut fans, &edges, edge, &next);
                continue;
            }
            let uses: Vec<EdgeUse> = edges.uses(edge).collect();
            let pairs = self.pair_uses(edges.vertices()[edge], &uses);
            for [[low, high], [other_low, other_high]] in pairs.iter().map(|p| p.map(|u| edge_ends(u, &next)))
            {
                fans.union(low, other_low);
                fans.union(high, other_high);
            }
        }
        // The first fan found at a vertex keeps it, each further one receives a copy.
        let mut taken = vec![false; self.positions.len()];
        let mut vertex_of_fan = vec![u32::MAX; n_corners as usize];
        for corner in 0..n_corners {
            let fan = fans.find(corner) as usize;
            let (face, k) = (corner as usize / 3, corner as usize % 3);
            let v = self.faces[face][k];
            if vertex_of_fan[fan] == u32::MAX {
                let fresh = !std::mem::replace(&mut taken[v as usize], true);
                vertex_of_fan[fan] = if fresh { v } else { self.copy_vertex(v) };
            }
            self.faces[face][k] = vertex_of_fan[fan];
        }
    }

    /// The faces at an edge that bound the same wedge of a solid, so that solids that touch along it stay closed.
    ///
    /// Going around the edge against the normals of the faces that run along it, such a face enters a wedge and one
    /// that runs the other way leaves it: like matching brackets. Faces without a partner are left out.
    fn pair_uses(&self, [low, high]: [u32; 2], uses: &[EdgeUse]) -> Vec<[EdgeUse; 2]> {
        let [from, to] = [low, high].map(|v| self.positions[v as usize]);
        let axis = (to - from).normalize_or(glam::DVec3::Z);
        let right = axis.any_orthonormal_vector();
        let up = axis.cross(right);
        let angle = |used: &EdgeUse| {
            let corners = self.faces[used.face as usize];
            let apex = corners.into_iter().find(|&v| v != low && v != high).unwrap_or(low);
            let arm = self.positions[apex as usize] - from;
            arm.dot(up).atan2(arm.dot(right))
        };
        let mut ring: Vec<(f64, EdgeUse)> = uses.iter().map(|used| (angle(used), *used)).collect();
        // Where one wedge ends as the next begins, the end comes first.
        ring.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.forward.cmp(&b.1.forward)));
        let (mut entered, mut left, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
        for (_, used) in ring {
            match (used.forward, entered.pop_if(|_| !used.forward)) {
                (true, _) => entered.push(used),
                (false, Some(opening)) => pairs.push([opening, used]),
                (false, None) => left.push(used),
            }
        }
        // Wedges that lie across the start of the walk.
        pairs.extend(left.into_iter().map_while(|used| Some([entered.pop()?, used])));
        pairs
    }
}
