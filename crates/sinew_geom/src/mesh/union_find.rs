//! Disjoint sets.

/// Sets of `0..n`, merged in near-constant time. The smallest member represents its set.
#[derive(Debug, Clone)]
pub struct UnionFind {
    parent: Vec<u32>,
}

impl UnionFind {
    /// Every element alone.
    pub fn new(n: usize) -> Self {
        Self { parent: (0..n as u32).collect() }
    }

    /// Smallest member of the element's set.
    pub fn find(&mut self, mut x: u32) -> u32 {
        while self.parent[x as usize] != x {
            let grandparent = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = grandparent;
            x = grandparent;
        }
        x
    }

    /// Merge two sets; false if they were the same already.
    pub fn union(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
        a != b
    }

    /// Set number of each element, counted from 0 by smallest member, and the number of sets.
    pub fn labels(&mut self) -> (Vec<u32>, usize) {
        let mut n_sets = 0;
        let mut labels = vec![0; self.parent.len()];
        for x in 0..self.parent.len() {
            let root = self.find(x as u32) as usize;
            labels[x] = if root == x {
                n_sets += 1;
                n_sets - 1
            } else {
                labels[root]
            };
        }
        (labels, n_sets as usize)
    }
}
