//! Curves of keys joined by straight lines, cut to the range of a clip.

/// Keys closer than this are one, in seconds.
const SAME_TIME: f64 = 1e-6;

/// Times from the start of the range, and values.
pub(super) struct Curve<T> {
    pub times: Vec<f32>,
    pub values: Vec<T>,
}

/// Cut a curve; where its range begins or ends between keys, there is a new one.
pub(super) fn cut<T: Copy>(
    keys: &[(f64, T)],
    range: [f64; 2],
    mix: impl Fn(T, T, f64) -> T,
) -> Option<Curve<T>> {
    let [begin, end] = range;
    let is_inside = |time: f64| (begin - SAME_TIME..=end + SAME_TIME).contains(&time);
    let mut kept: Vec<(f64, T)> = keys.iter().copied().filter(|(time, _)| is_inside(*time)).collect();
    let starts_inside = kept.first().is_some_and(|(time, _)| *time <= begin + SAME_TIME);
    let has_before = keys.first().is_some_and(|(time, _)| *time < begin);
    if !starts_inside && (has_before || kept.is_empty()) {
        kept.insert(0, (begin, sample(keys, begin, &mix)?));
    }
    let ends_inside = kept.last().is_some_and(|(time, _)| *time >= end - SAME_TIME);
    let has_after = keys.last().is_some_and(|(time, _)| *time > end);
    if !ends_inside && has_after {
        kept.push((end, sample(keys, end, &mix)?));
    }
    let mut curve = Curve { times: Vec::with_capacity(kept.len()), values: Vec::with_capacity(kept.len()) };
    for (time, value) in kept {
        let time = (time - begin).max(0.0) as f32;
        if curve.times.last().is_none_or(|last| time > *last) {
            curve.times.push(time);
            curve.values.push(value);
        }
    }
    (!curve.times.is_empty()).then_some(curve)
}

/// Value of a curve at a time.
pub(super) fn sample<T: Copy>(keys: &[(f64, T)], time: f64, mix: &impl Fn(T, T, f64) -> T) -> Option<T> {
    let after = keys.partition_point(|(key, _)| *key <= time);
    match (after.checked_sub(1).map(|at| keys[at]), keys.get(after)) {
        (Some((start, a)), Some(&(end, b))) if end > start => Some(mix(a, b, (time - start) / (end - start))),
        (Some((_, a)), _) => Some(a),
        (None, first) => first.map(|(_, b)| *b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(a: f64, b: f64, share: f64) -> f64 {
        a + (b - a) * share
    }

    #[test]
    fn a_cut_curve_is_the_same_inside_its_range() {
        let keys = [(0.0, 0.0), (1.0, 10.0), (2.0, 0.0), (3.0, 5.0)];
        let curve = cut(&keys, [0.5, 2.5], mix).unwrap();
        assert_eq!(curve.times, [0.0, 0.5, 1.5, 2.0]);
        assert_eq!(curve.values, [5.0, 10.0, 0.0, 2.5]);
        let whole = cut(&keys, [0.0, 3.0], mix).unwrap();
        assert_eq!((whole.times.len(), whole.values[3]), (4, 5.0));
        // A range without a key, and one after the last.
        assert_eq!(cut(&keys, [0.25, 0.75], mix).unwrap().values, [2.5, 7.5]);
        assert_eq!(cut(&keys, [4.0, 5.0], mix).unwrap().values, [5.0]);
        assert!(cut::<f64>(&[], [0.0, 1.0], mix).is_none());
    }

    #[test]
    fn a_clip_does_not_last_longer_than_its_keys() {
        let curve = cut(&[(1.0, 1.0), (2.0, 2.0)], [0.0, 9.0], mix).unwrap();
        assert_eq!(curve.times, [1.0, 2.0]);
    }
}
