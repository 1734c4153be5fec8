//! Independent subsets of equations.
//!
//! # Source
//! Abdelhay (2008), §4.3.1, suggests to solve independent sets of constraints separately. They are found from the
//! derivatives at two poses: what is zero at both is taken as zero everywhere (equations are analytic, clearances
//! excepted), also where wrenches cancel above a common ancestor. Columns that share an equation are united.

use super::System;
use crate::{Skeleton, compile::Aim};
use std::ops::Range;

/// Rows and columns that are independent of all others.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    pub rows: Range<usize>,
    pub columns: Range<usize>,
}

/// Derivatives smaller than this, relative to the largest of their row, are rounding.
const ROUNDING_RATIO: f64 = 1e-11;

/// Sort blocks and columns of a system by groups.
pub(crate) fn arrange(system: &mut System, skeleton: &Skeleton) -> Vec<Group> {
    let n_columns = system.dofs.len();
    let is_used = pattern(system, skeleton);
    let mut parent: Vec<usize> = (0..n_columns).collect();
    for row in 0..system.n_rows() {
        // Objectives join no group: they are minimised after everything else holds.
        if system.rows[row].aim == Aim::Objective {
            continue;
        }
        let mut columns = (0..n_columns).filter(|&column| is_used[row * n_columns + column]);
        if let Some(first) = columns.next() {
            columns.for_each(|column| unite(&mut parent, first, column));
        }
    }
    // Rows of a block stay together.
    for (start, n) in system.blocks_rows() {
        let of = |row: usize| (0..n_columns).find(|&column| is_used[row * n_columns + column]);
        let roots: Vec<usize> = (start..start + n).filter_map(of).collect();
        roots.windows(2).for_each(|pair| unite(&mut parent, pair[0], pair[1]));
    }
    let group_of_row = |row: usize, parent: &mut Vec<usize>| {
        if system.rows[row].aim == Aim::Objective {
            return usize::MAX;
        }
        let first = (0..n_columns).find(|&column| is_used[row * n_columns + column]);
        first.map_or(usize::MAX - 1, |column| root(parent, column))
    };
    // Groups in the order in which rules mention them.
    let mut keys: Vec<usize> = Vec::new();
    let mut block_groups = Vec::new();
    for (start, _) in system.blocks_rows() {
        let key = group_of_row(start, &mut parent);
        if !keys.contains(&key) {
            keys.push(key);
        }
        block_groups.push(key);
    }
    keys.sort_by_key(|&key| if key >= usize::MAX - 1 { key } else { 0 });
    let mut order = Vec::new();
    let mut columns = Vec::new();
    let mut groups = Vec::new();
    let (mut first_row, mut first_column) = (0, 0);
    let sizes: Vec<usize> = system.blocks_rows().map(|(_, n)| n).collect();
    for key in keys {
        let members = (0..block_groups.len()).filter(|&block| block_groups[block] == key);
        let mut n_rows = 0;
        for block in members {
            order.push(block);
            n_rows += sizes[block];
        }
        columns.extend(
            (0..n_columns).filter(|&column| key < usize::MAX - 1 && root(&mut parent, column) == key),
        );
        groups.push(Group { rows: first_row..first_row + n_rows, columns: first_column..columns.len() });
        (first_row, first_column) = (first_row + n_rows, columns.len());
    }
    // Columns that only an objective depends on come last.
    let mut is_taken = vec![false; n_columns];
    columns.iter().for_each(|&column| is_taken[column] = true);
    let by_objective = |column: &usize| {
        (0..system.n_rows())
            .any(|row| system.rows[row].aim == Aim::Objective && is_used[row * n_columns + column])
    };
    columns.extend((0..n_columns).filter(|column| !is_taken[*column]).filter(by_objective));
    groups.retain(|group| !group.columns.is_empty());
    system.rearrange(&order, &columns);
    groups
}

/// Which derivatives are not zero everywhere, rows by columns.
fn pattern(system: &mut System, skeleton: &Skeleton) -> Vec<bool> {
    let (m, n, stride) = (system.n_rows(), system.dofs.len(), system.stride);
    let mut is_used = vec![false; m * n];
    let (mut f, mut jacobian) = (vec![0.0; m], vec![0.0; m * stride]);
    let rest = skeleton.rest_values();
    let mut seed = 0x9E37_79B9u32;
    for _ in 0..2 {
        let pose: Vec<f64> = rest
            .iter()
            .map(|x| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                x + 1.4 * f64::from(seed >> 8) / f64::from(1 << 24) - 0.7
            })
            .collect();
        system.evaluate(&pose, &mut f, &mut jacobian);
        for row in 0..m {
            let line = &jacobian[row * stride..row * stride + n];
            let largest = line.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            for (column, x) in line.iter().enumerate() {
                is_used[row * n + column] |= x.abs() > ROUNDING_RATIO * largest;
            }
        }
    }
    for (row, column) in system.piecewise() {
        is_used[row * n + column] = true;
    }
    is_used
}

fn root(parent: &mut [usize], mut of: usize) -> usize {
    while parent[of] != of {
        parent[of] = parent[parent[of]];
        of = parent[of];
    }
    of
}

fn unite(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}
