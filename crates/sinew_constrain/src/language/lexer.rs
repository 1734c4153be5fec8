//! Text into tokens.

use super::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A word, with dots inside: `Root.tx`, `upper_arm.L`, `mixamorig:Hips`.
    Name,
    /// A word in quotes, which may hold anything.
    Quoted,
    /// A quote without its end.
    Unclosed,
    Number,
    /// `->`
    Arrow,
    /// `..`
    Dots,
    /// One of `+ - * / ^ ( ) , : = % < >` or `<= >=`.
    Sign,
    /// From `#` to the end of the line.
    Comment,
    /// An unexpected character.
    Strange,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    pub span: Span,
}

impl Token<'_> {
    pub fn is(&self, text: &str) -> bool {
        self.text == text && self.kind != TokenKind::Quoted
    }
}

/// Tokens of one line; `start` is the offset of the line in the text, `line` its number.
pub(super) fn tokens<'a>(text: &'a str, line: u32, start: usize, out: &mut Vec<Token<'a>>) {
    out.clear();
    let mut column = 1;
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kind, length) = token(rest);
        let part = &rest[..length];
        if let Some(kind) = kind {
            let span = Span { line, column, start: (start + at) as u32, end: (start + at + length) as u32 };
            out.push(Token { kind, text: part, span });
        }
        column += part.chars().count() as u32;
        at += length;
    }
}

/// Kind and length in bytes of what a text begins with; no kind for spaces.
fn token(text: &str) -> (Option<TokenKind>, usize) {
    let bytes = text.as_bytes();
    let next = bytes.get(1).copied().unwrap_or(0);
    match bytes[0] {
        b' ' | b'\t' | b'\r' | 0x0b | 0x0c => (None, 1),
        b'#' => (Some(TokenKind::Comment), text.len()),
        b'"' => match text[1..].find('"') {
            Some(end) => (Some(TokenKind::Quoted), end + 2),
            None => (Some(TokenKind::Unclosed), text.len()),
        },
        b'-' if next == b'>' => (Some(TokenKind::Arrow), 2),
        b'.' if next == b'.' => (Some(TokenKind::Dots), 2),
        b'<' | b'>' if next == b'=' => (Some(TokenKind::Sign), 2),
        b'+' | b'-' | b'*' | b'/' | b'^' | b'(' | b')' | b',' | b':' | b'=' | b'%' | b'<' | b'>' => {
            (Some(TokenKind::Sign), 1)
        }
        b'0'..=b'9' => (Some(TokenKind::Number), number(bytes)),
        b'.' if next.is_ascii_digit() => (Some(TokenKind::Number), number(bytes)),
        _ => {
            let first = text.chars().next().unwrap_or(' ');
            if is_letter(first) {
                (Some(TokenKind::Name), name(text))
            } else if first.is_whitespace() {
                (None, first.len_utf8())
            } else {
                (Some(TokenKind::Strange), first.len_utf8())
            }
        }
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Length of a word. Dots and colons belong to it where more of the word follows at once.
fn name(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let goes_on = c.is_alphanumeric() || c == '_';
        let joins =
            matches!(c, '.' | ':') && chars.peek().is_some_and(|(_, c)| is_letter(*c) || c.is_ascii_digit());
        if !goes_on && !joins {
            return at;
        }
    }
    text.len()
}

/// Length of a number: digits, a point, digits, an exponent. `12..34` is two numbers.
fn number(bytes: &[u8]) -> usize {
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1) != Some(&b'.') {
        end += 1;
        end += digits(end);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    end
}
