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
