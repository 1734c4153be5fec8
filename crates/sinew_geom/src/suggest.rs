//! Suggesting the name that was probably meant.

/// The most similar of some names, if any is similar enough to have been meant.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + name.chars().count() / 4;
    known
        .into_iter()
        .filter(|other| other.len().abs_diff(name.len()) <= 4 * limit)
        .map(|other| (distance(name, other), other))
        .filter(|(far, _)| *far <= limit)
        // People seldom miss the first letter.
        .min_by_key(|(far, other)| (*far, other.chars().next() != name.chars().next()))
        .map(|(_, other)| other)
}

/// Insertions, deletions, substitutions and swaps of neighbouring letters between two words, ignoring case.
fn distance(a: &str, b: &str) -> usize {
    let lower = |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (a, b) = (lower(a), lower(b));
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitution = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = substitution.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["axis", "degrees", "handles", "over"];
        assert_eq!(suggest("degres", known), Some("degrees"));
        assert_eq!(suggest("Axsi", known), Some("axis"));
        assert_eq!(suggest("colour", known), None);
    }
}
