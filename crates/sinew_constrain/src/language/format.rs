//! The same text in canonical format.

use super::{
    VERBS,
    expression::WORDS,
    find_unit,
    lexer::{Token, TokenKind, tokens},
};

/// Rewrite a text: one space between words, none inside parentheses, lines of a case indented, at most one empty line
/// between. What each line says does not change; lines that are not understood are kept too. Formatting twice is
/// formatting once.
pub fn format(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    let (mut line_tokens, mut in_case, mut is_blank) = (Vec::new(), false, true);
    for line in text.lines() {
        tokens(line, 1, 0, &mut line_tokens);
        let Some(first) = line_tokens.first() else {
            // An empty line ends a case's body only for the eye.
            if !is_blank {
                out.push('\n');
            }
            is_blank = true;
            continue;
        };
        let is_case = first.kind == TokenKind::Name && first.text == "case";
        // A line at the margin after an empty line has left the case.
        let is_margin = first.span.column == 1;
        in_case = in_case && !(is_blank && is_margin);
        let is_inside = in_case && !is_case && !(first.kind == TokenKind::Comment && is_margin);
        in_case |= is_case;
        if is_inside {
            out.push_str("  ");
        }
        write_line(&line_tokens, &mut out);
        out.push('\n');
        is_blank = false;
    }
    out.truncate(out.trim_end_matches('\n').len());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

fn write_line(tokens: &[Token<'_>], out: &mut String) {
    for (index, token) in tokens.iter().enumerate() {
        if index > 0 {
            out.push_str(gap(tokens, index));
        }
        match token.kind {
            TokenKind::Comment => {
                let text = token.text.trim_start_matches('#').trim();
                let marks = &token.text[..token.text.len() - token.text.trim_start_matches('#').len()];
                out.push_str(marks);
                if !text.is_empty() {
                    out.push(' ');
                    out.push_str(text);
                }
            }
            _ => out.push_str(token.text.trim_end()),
        }
    }
}

/// The text with a name of a point or plane replaced everywhere; comments and the text of `why` stay.
pub fn rename(text: &str, name: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line_tokens = Vec::new();
    let written = |to: &str| if is_plain_name(to) { to.to_owned() } else { format!("\"{to}\"") };
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        tokens(line, 1, 0, &mut line_tokens);
        let is_case = line_tokens.first().is_some_and(|first| first.is("case"));
        let mut at = 0;
        for token in line_tokens.iter().filter(|_| !is_case) {
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            let coordinate = token.text.strip_prefix(name).filter(|rest| [".x", ".y", ".z"].contains(rest));
            let new = match token.kind {
                TokenKind::Name if token.text == name => written(to),
                TokenKind::Name => match coordinate {
                    Some(axis) if is_plain_name(to) => format!("{to}{axis}"),
                    _ => continue,
                },
                TokenKind::Quoted if token.text[1..token.text.len() - 1] == *name => written(to),
                _ => continue,
            };
            out.push_str(&line[at..start]);
            out.push_str(&new);
            at = end;
        }
        out.push_str(&line[at..]);
    }
    out
}

/// Whether a name needs no quotes: one word, which the language does not use itself.
pub fn is_plain_name(name: &str) -> bool {
    let mut found = Vec::new();
    tokens(name, 1, 0, &mut found);
    let is_word = matches!(found.as_slice(), [token] if token.kind == TokenKind::Name && token.text == name);
    // A verb at the start of a line is one; elsewhere it is allowed, but hard to read.
    let is_verb = VERBS.iter().any(|verb| verb.name == name);
    is_word && !is_verb && !WORDS.contains(&name)
}

/// Space between a token and the one before it.
fn gap(tokens: &[Token<'_>], index: usize) -> &'static str {
    let (before, token) = (&tokens[index - 1], &tokens[index]);
    if token.kind == TokenKind::Comment {
        return "  ";
    }
    let touches = before.span.end == token.span.start;
    let is_unit = |token: &Token<'_>| token.kind == TokenKind::Name && find_unit(token.text).is_some();
    // `m/s2`
    let in_unit =
        (token.is("/") && is_unit(before)) || (before.is("/") && index >= 2 && is_unit(&tokens[index - 2]));
    // A sign is attached to its operand; after `>=` it would read as an arrow.
    let is_operand = token.kind != TokenKind::Sign || token.is("(") || token.is("-");
    let is_unary = before.is("-") && (index < 2 || is_opening(&tokens[index - 2])) && is_operand;
    let is_call = token.is("(") && matches!(before.kind, TokenKind::Name) && touches;
    let is_tight = token.is(",") || token.is(")") || token.is(":") || token.is("%") || token.is("^");
    if is_tight || before.is("(") || before.is("^") || in_unit || is_unary || is_call { "" } else { " " }
}

/// Whether a minus after this token is a sign rather than a difference.
fn is_opening(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Sign => !token.is(")") && !token.is("%"),
        TokenKind::Arrow | TokenKind::Dots => true,
        _ => false,
    }
}
