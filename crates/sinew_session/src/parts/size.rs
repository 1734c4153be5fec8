//! Memory of shared data, roughly: what two states share costs nothing.

use super::Layer;
use std::{mem::size_of_val, sync::Arc};

/// Bytes of shared data, unless the other state shares it.
pub(super) fn unless_shared<T>(part: &Arc<T>, before: &Arc<T>, size: impl Fn(&T) -> usize) -> usize {
    if Arc::ptr_eq(part, before) { 0 } else { size(part) }
}

/// Bytes of a layer, unless the other state shares it.
pub(super) fn of_new_layer(layer: Option<&Layer>, before: Option<&Layer>) -> usize {
    let is_old = layer.zip(before).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
    if is_old { 0 } else { layer.map_or(0, |layer| size_of_val(&layer[..])) }
}

/// Bytes of the items of a list that are not in the other. Each is looked for at the same place first: items seldom move.
pub(super) fn of_new_items<T>(items: &[Arc<T>], before: &[Arc<T>], size: impl Fn(&T) -> usize) -> usize {
    let is_old = |(at, item): (usize, &Arc<T>)| {
        before.get(at).is_some_and(|other| Arc::ptr_eq(other, item))
            || before.iter().any(|other| Arc::ptr_eq(other, item))
    };
    let new = items.iter().enumerate().filter(|&place| !is_old(place));
    size_of_val(items) + new.map(|(_, item)| size(item)).sum::<usize>()
}
