//! Texts of common licences, for packages that name one and bring no text. The build script uses this file, too.

/// SPDX names, and their texts with a place for the holder of the copyright.
const TEXTS: [(&str, &str); 6] = [
    ("MIT", include_str!("../licenses/MIT.txt")),
    ("Apache-2.0", include_str!("../licenses/Apache-2.0.txt")),
    ("BSD-2-Clause", include_str!("../licenses/BSD-2-Clause.txt")),
    ("BSD-3-Clause", include_str!("../licenses/BSD-3-Clause.txt")),
    ("ISC", include_str!("../licenses/ISC.txt")),
    ("Zlib", include_str!("../licenses/Zlib.txt")),
];

/// Texts for an SPDX expression: of all that is in it and known. `None` if that is not enough to allow anything: nothing of
/// it is known, or something that is required as well is not.
pub fn standard_texts(expression: &str, holder: &str) -> Option<Vec<String>> {
    let words = expression.split(|c: char| c.is_whitespace() || "()/".contains(c));
    let names: Vec<&str> = words.filter(|word| !["", "OR", "AND"].contains(word)).collect();
    let found = names.iter().filter_map(|name| TEXTS.iter().find(|(known, _)| known == name));
    let texts: Vec<String> = found.map(|(_, text)| text.replace("{holder}", holder)).collect();
    let is_enough = !texts.is_empty() && (!expression.contains(" AND ") || texts.len() == names.len());
    is_enough.then_some(texts)
}
