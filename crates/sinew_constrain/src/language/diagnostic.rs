//! Diagnostics: what is wrong, where, and a suggestion.

use std::fmt;

/// A stretch of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// Line, counted from 1.
    pub line: u32,
    /// First character, counted from 1.
    pub column: u32,
    /// First byte in the text.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
}

impl Span {
    /// From the start of one to the end of another.
    pub fn to(self, end: Self) -> Self {
        Self { end: end.end.max(self.end), ..self }
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing: what was rewritten, or left out.
    Note,
    /// The line is valid, but perhaps not as intended.
    Warning,
    /// The line is not understood and left out.
    Error,
}

/// A message about a place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Where.
    pub span: Span,
    /// How bad it is.
    pub severity: Severity,
    /// What it is, without place or final full stop.
    pub message: String,
}

impl Diagnostic {
    /// An error.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self { span, severity: Severity::Error, message: message.into() }
    }

    /// A warning.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self { span, severity: Severity::Warning, message: message.into() }
    }

    /// A note.
    pub fn note(span: Span, message: impl Into<String>) -> Self {
        Self { span, severity: Severity::Note, message: message.into() }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.span.line, self.span.column, self.message)
    }
}

/// The most similar of some names, if any is similar enough.
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

/// Insertions, deletions, exchanges and swaps of neighbours between two words; capitals count nothing.
fn distance(a: &str, b: &str) -> usize {
    let lower = |text: &str| text.chars().take(64).flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (a, b) = (lower(a), lower(b));
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let exchange = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = exchange.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}
