//! Bytes that no view needs any more, taken out of the binary chunk.

use super::values::{index, list, member};
use serde_json::{Value, json};
use std::ops::Range;

/// Offsets stay multiples of this.
const ALIGNMENT: usize = 4;

/// Take out the bytes that only the given views have. The views stay, with a few bytes that mean nothing. Where views have
/// bytes of their own meaning (compression), nothing is taken out.
pub(super) fn close_gaps(json: &mut Value, bin: &mut Vec<u8>, views: &[usize]) {
    let has_extensions = |view: &Value| view.get("extensions").is_some();
    if views.is_empty() || list(json, "bufferViews").iter().any(has_extensions) {
        return;
    }
    let all: Vec<Option<Range<usize>>> = list(json, "bufferViews").iter().map(range).collect();
    let is_free = |at: usize| views.binary_search(&at).is_ok();
    let of = |free: bool| {
        let chosen = all.iter().enumerate().filter(move |(at, _)| is_free(*at) == free);
        chosen.filter_map(|(_, range)| range.clone()).collect::<Vec<_>>()
    };
    let cuts = uncovered(&of(true), &of(false), bin.len());
    let moved = |offset: usize| {
        offset - cuts.iter().take_while(|cut| cut.end <= offset).map(|cut| cut.len()).sum::<usize>()
    };
    for (at, view) in member(json, "bufferViews").iter_mut().enumerate() {
        match &all[at] {
            Some(_) if is_free(at) => *view = json!({ "buffer": 0, "byteLength": ALIGNMENT }),
            Some(range) if range.start > 0 => view["byteOffset"] = json!(moved(range.start)),
            _ => {}
        }
    }
    for cut in cuts.iter().rev() {
        bin.drain(cut.clone());
    }
    bin.resize(bin.len().max(ALIGNMENT), 0);
}

/// The bytes of a view of the first buffer.
fn range(view: &Value) -> Option<Range<usize>> {
    let (start, length) = (index(view, "byteOffset").unwrap_or(0), index(view, "byteLength")?);
    (index(view, "buffer") == Some(0)).then(|| start..start.saturating_add(length))
}

/// What of the free ranges no other one covers, in order, cut to whole words.
fn uncovered(free: &[Range<usize>], kept: &[Range<usize>], end: usize) -> Vec<Range<usize>> {
    let mut events: Vec<(usize, bool, bool)> = Vec::new();
    for (ranges, is_free) in [(free, true), (kept, false)] {
        for range in ranges {
            events.push((range.start.min(end), true, is_free));
            events.push((range.end.min(end), false, is_free));
        }
    }
    events.sort_unstable_by_key(|event| event.0);
    let (mut n_free, mut n_kept) = (0_i64, 0_i64);
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut last = 0;
    for (at, begins, is_free) in events {
        if n_free > 0 && n_kept == 0 && at > last {
            match cuts.last_mut().filter(|cut| cut.end == last) {
                Some(cut) => cut.end = at,
                None => cuts.push(last..at),
            }
        }
        last = at;
        let step = if begins { 1 } else { -1 };
        *(if is_free { &mut n_free } else { &mut n_kept }) += step;
    }
    let whole = |cut: Range<usize>| cut.start.next_multiple_of(ALIGNMENT)..cut.end / ALIGNMENT * ALIGNMENT;
    cuts.into_iter().map(whole).filter(|cut| !cut.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_share_stays_and_is_found_where_it_went() {
        let mut json = json!({ "bufferViews": [
            { "buffer": 0, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 8, "byteLength": 20 },
            { "buffer": 0, "byteOffset": 16, "byteLength": 4 },
            { "buffer": 0, "byteOffset": 28, "byteLength": 4 },
        ] });
        let mut bin: Vec<u8> = (0..32).collect();
        close_gaps(&mut json, &mut bin, &[1]);
        assert_eq!(bin, [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31]);
        let offsets: Vec<u64> = json["bufferViews"]
            .as_array()
            .unwrap()
            .iter()
            .map(|view| view["byteOffset"].as_u64().unwrap_or(0))
            .collect();
        assert_eq!(offsets, [0, 0, 8, 12]);
        close_gaps(&mut json, &mut bin, &[0, 2, 3]);
        assert_eq!(bin.len(), ALIGNMENT);
    }
}
