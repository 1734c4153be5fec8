//! Tokens into statements, by the table.

use super::{
    Argument, Case, Diagnostic, Expression, FormId, FormPart, Relation, SUFFIXES, Script, Span, Statement,
    Suffixes, Term, VERBS, Verb,
    lexer::{Token, TokenKind, tokens},
    suggest,
    table::Form,
};
use sinew_geom::DofKind;

/// Parse a text. Lines that are not understood are left out and reported.
pub fn parse(text: &str) -> (Script, Vec<Diagnostic>) {
    let (mut script, mut diagnostics, mut line_tokens) = (Script::default(), Vec::new(), Vec::new());
    let mut start = 0;
    for (index, line) in text.split('\n').enumerate() {
        tokens(line, index as u32 + 1, start, &mut line_tokens);
        start += line.len() + 1;
        line_tokens.retain(|token| token.kind != TokenKind::Comment);
        if !line_tokens.is_empty() {
            let mut parser = Parser { tokens: &line_tokens, at: 0, depth: 0 };
            if let Err(diagnostic) = parser.line(&mut script) {
                diagnostics.push(diagnostic);
            }
        }
    }
    (script, diagnostics)
}

/// Reads one line.
pub(super) struct Parser<'a> {
    pub tokens: &'a [Token<'a>],
    pub at: usize,
    /// How many parentheses are open; a line with too many is refused before it fills the stack.
    pub depth: usize,
}

pub(super) type ParseResult<T> = Result<T, Diagnostic>;

impl<'a> Parser<'a> {
    pub fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.at)
    }

    pub fn is_next(&self, text: &str) -> bool {
        self.peek().is_some_and(|token| token.is(text))
    }

    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.is_next(text);
        self.at += usize::from(found);
        found
    }

    /// Where the next token is, or the end of the line.
    pub fn here(&self) -> Span {
        match (self.peek(), self.tokens.last()) {
            (Some(token), _) => token.span,
            (None, Some(last)) => {
                let length = last.text.chars().count() as u32;
                Span { column: last.span.column + length, start: last.span.end, ..last.span }
            }
            (None, None) => Span::default(),
        }
    }

    fn found(&self) -> String {
        match self.peek() {
            Some(token) if token.kind == TokenKind::Unclosed => "a quote without its end".into(),
            Some(token) => format!("`{}`", token.text),
            None => "the end of the line".into(),
        }
    }

    pub fn expected(&self, what: &str) -> Diagnostic {
        Diagnostic::error(self.here(), format!("expected {what}, found {}", self.found()))
    }

    fn line(&mut self, script: &mut Script) -> ParseResult<()> {
        let first = self.tokens[0];
        let verb = VERBS
            .iter()
            .find(|verb| !verb.name.is_empty() && first.kind == TokenKind::Name && first.is(verb.name));
        // `distance(A, B) = …` and `angle(…) = …` are equations.
        let is_call =
            self.tokens.get(1).is_some_and(|next| next.is("(") && next.span.start == first.span.end);
        match verb {
            Some(verb) if verb.name == "case" => self.case(script),
            Some(verb) if !(is_call && super::find_function(verb.name).is_some()) => {
                self.at = 1;
                self.statement(verb, script)
            }
            _ => self.equation(script),
        }
    }

    fn case(&mut self, script: &mut Script) -> ParseResult<()> {
        self.at = 1;
        let (mut label, mut why) = (String::new(), String::new());
        if let Some(token) =
            self.peek().filter(|token| matches!(token.kind, TokenKind::Number | TokenKind::Name))
        {
            label = token.text.to_owned();
            self.at += 1;
        }
        if let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Quoted) {
            why = unquoted(token).to_owned();
            self.at += 1;
        }
        if self.at < self.tokens.len() {
            return Err(self.expected("a number and a reason in quotes: case 1 \"right foot on the step\""));
        }
        script.cases.push(Case { label, why, span: self.tokens[0].span });
        Ok(())
    }

    /// Try the forms of a verb; of those that fail, the error of the one that got farthest is reported.
    fn statement(&mut self, verb: &'static Verb, script: &mut Script) -> ParseResult<()> {
        let start = self.at;
        let mut best: Option<(usize, Diagnostic)> = None;
        for form in verb.forms {
            self.at = start;
            match self.form(verb, form) {
                Ok(mut statement) => {
                    statement.case = script.cases.len().checked_sub(1);
                    script.statements.push(statement);
                    return Ok(());
                }
                Err(diagnostic) => {
                    if best.as_ref().is_none_or(|(at, _)| self.at > *at) {
                        let message = format!("{}; write: {}", diagnostic.message, form.usage(verb));
                        best = Some((self.at, Diagnostic { message, ..diagnostic }));
                    }
                }
            }
        }
        best.map_or(Ok(()), |(_, diagnostic)| Err(diagnostic))
    }

    fn form(&mut self, verb: &'static Verb, form: &'static Form) -> ParseResult<Statement> {
        let mut arguments = Vec::with_capacity(form.parts.len());
        self.parts(form.parts, &mut arguments)?;
        let suffixes = self.suffixes(verb.is_rule)?;
        let span = self.tokens[0].span.to(self.tokens[self.tokens.len() - 1].span);
        Ok(Statement { span, verb, form, arguments, suffixes, case: None })
    }

    fn equation(&mut self, script: &mut Script) -> ParseResult<()> {
        let Some(verb) = VERBS.last() else { return Ok(()) };
        let first = self.tokens[0];
        match self.form(verb, &verb.forms[0]) {
            Ok(mut statement) => {
                statement.case = script.cases.len().checked_sub(1);
                script.statements.push(statement);
                Ok(())
            }
            // A word at the start that is followed by no sign was intended as a verb.
            Err(diagnostic) => {
                let is_alone = self
                    .tokens
                    .get(1)
                    .is_none_or(|next| matches!(next.kind, TokenKind::Name | TokenKind::Quoted));
                if first.kind != TokenKind::Name || !is_alone {
                    return Err(diagnostic);
                }
                let known = VERBS.iter().map(|verb| verb.name).filter(|name| !name.is_empty());
                let hint = match suggest(first.text, known) {
                    Some(verb) => format!("did you mean `{verb}`?"),
                    None => "a line begins with a verb such as `pin` or `aim`, or is an equation".into(),
                };
                Err(Diagnostic::error(first.span, format!("unknown verb `{}`; {hint}", first.text)))
            }
        }
    }

    fn parts(&mut self, parts: &'static [FormPart], out: &mut Vec<Argument>) -> ParseResult<()> {
        parts.iter().try_for_each(|part| self.part(part, out))
    }

    fn part(&mut self, part: &'static FormPart, out: &mut Vec<Argument>) -> ParseResult<()> {
        let argument = match part {
            FormPart::Word(word) => {
                return if self.eat(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) };
            }
            FormPart::OneOf(words) => match words.iter().position(|word| self.is_next(word)) {
                Some(index) => {
                    self.at += 1;
                    Argument::Word(index)
                }
                None => {
                    return Err(self
                        .expected(&words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(" or ")));
                }
            },
            FormPart::Item(what) => Argument::Expression(self.operand(what)?),
            FormPart::Expression(what) => Argument::Expression(self.expression(what)?),
            FormPart::List(what) => {
                let mut list = vec![self.operand(what)?];
                while self.eat(",") {
                    list.push(self.operand(what)?);
                }
                Argument::List(list)
            }
            FormPart::Relation => Argument::Relation(self.relation()?),
            FormPart::Bound(what) => {
                let is_given =
                    self.peek().is_some_and(|token| matches!(token.text, "=" | "<=" | ">=" | "<" | ">"));
                out.push(Argument::Relation(if is_given { self.relation()? } else { Relation::AtLeast }));
                Argument::Expression(self.expression(what)?)
            }
            FormPart::Range => {
                let (low, high) = self.range()?;
                Argument::Range(low, high)
            }
            FormPart::Name => {
                let Some(token) =
                    self.peek().filter(|t| matches!(t.kind, TokenKind::Name | TokenKind::Quoted)).copied()
                else {
                    return Err(self.expected("a name"));
                };
                self.at += 1;
                Argument::Name(Expression { term: Term::Name(unquoted(&token).to_owned()), span: token.span })
            }
            FormPart::Text => match self.peek().filter(|token| token.kind == TokenKind::Quoted).copied() {
                Some(token) => {
                    self.at += 1;
                    Argument::Text(unquoted(&token).to_owned())
                }
                None => return Err(self.expected("text in quotes")),
            },
            FormPart::Kinds => Argument::Kinds(self.kinds()?),
            FormPart::Optional(parts) => return self.optional(parts, out),
        };
        out.push(argument);
        Ok(())
    }

    fn optional(&mut self, parts: &'static [FormPart], out: &mut Vec<Argument>) -> ParseResult<()> {
        let is_there = matches!(parts.first(), Some(FormPart::Word(word)) if self.is_next(word));
        if is_there {
            return self.parts(parts, out);
        }
        for part in parts {
            let n = match part {
                FormPart::Word(_) => 0,
                FormPart::Bound(_) => 2,
                _ => 1,
            };
            out.extend(std::iter::repeat_n(Argument::Absent, n));
        }
        Ok(())
    }

    fn relation(&mut self) -> ParseResult<Relation> {
        let relation = match self.peek().map(|token| token.text) {
            Some("=") => Relation::Equal,
            Some("<=") => Relation::AtMost,
            Some(">=") => Relation::AtLeast,
            Some(sign @ ("<" | ">")) => {
                return Err(Diagnostic::error(self.here(), format!("`{sign}` is not used; write `{sign}=`")));
            }
            _ => return Err(self.expected("`=`, `<=` or `>=`")),
        };
        self.at += 1;
        Ok(relation)
    }

    /// `LOW .. HIGH`; a unit after the second is that of both.
    fn range(&mut self) -> ParseResult<(super::Expression, super::Expression)> {
        let mut low = self.expression("a number")?;
        if self.peek().is_none_or(|token| token.kind != TokenKind::Dots) {
            return Err(self.expected("`..`"));
        }
        self.at += 1;
        let high = self.expression("a number")?;
        adopt_unit(&mut low.term, &high.term);
        Ok((low, high))
    }

    fn kinds(&mut self) -> ParseResult<Vec<DofKind>> {
        let mut kinds = Vec::new();
        while let Some(token) = self.peek() {
            let Some(kind) = DofKind::from_suffix(token.text) else {
                return Err(self.expected("some of tx ty tz rx ry rz"));
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            self.at += 1;
            self.eat(",");
        }
        if kinds.is_empty() { Err(self.expected("some of tx ty tz rx ry rz")) } else { Ok(kinds) }
    }

    fn suffixes(&mut self, is_rule: bool) -> ParseResult<Suffixes> {
        let mut suffixes = Suffixes::default();
        while let Some(token) = self.peek().copied() {
            let known = SUFFIXES
                .iter()
                .find(|suffix| is_rule && token.kind == TokenKind::Name && token.is(suffix.name));
            let Some(suffix) = known else { return Err(self.strange_end(is_rule)) };
            self.at += 1;
            let is_new = match suffix.name {
                "weight" => suffixes.weight.replace(self.expression("a number")?).is_none(),
                "soft" => suffixes.soft.replace(self.expression("a length or an angle")?).is_none(),
                "priority" => suffixes.priority.replace(self.expression("a number")?).is_none(),
                "during" => suffixes.during.replace(self.range()?).is_none(),
                "fade" => suffixes.fade.replace(self.expression("a number of frames")?).is_none(),
                "when" => {
                    if !self.eat("contact") {
                        return Err(self.expected("`contact(JOINT)`"));
                    }
                    suffixes.contact.replace(self.operand("a joint in parentheses")?).is_none()
                }
                _ => !std::mem::replace(&mut suffixes.always, true),
            };
            if !is_new {
                return Err(Diagnostic::error(token.span, format!("`{}` is given twice", suffix.name)));
            }
        }
        Ok(suffixes)
    }

    fn strange_end(&self, is_rule: bool) -> Diagnostic {
        let names: Vec<&str> =
            if is_rule { SUFFIXES.iter().map(|suffix| suffix.name).collect() } else { Vec::new() };
        let text = self.peek().map_or("", |token| token.text);
        match suggest(text, names.iter().copied()) {
            Some(meant) => {
                Diagnostic::error(self.here(), format!("unknown suffix `{text}`; did you mean `{meant}`?"))
            }
            None if is_rule => self.expected("the end of the line or a suffix such as `weight`"),
            None => self.expected("the end of the line"),
        }
    }
}

fn adopt_unit(low: &mut Term, high: &Term) {
    let (Term::Number(value, unit @ None), Term::Number(_, Some(dimension))) = (&mut *low, high) else {
        return if let Term::Negative(inner) = low {
            adopt_unit(&mut inner.term, high)
        };
    };
    *unit = Some(*dimension);
    // A bare number is counted in centimetres and degrees; here in what the other is counted in.
    *value *= super::syntax::factor_of(high).unwrap_or(1.0);
}

pub(super) fn unquoted<'a>(token: &Token<'a>) -> &'a str {
    token.text.strip_prefix('"').map_or(token.text, |text| text.strip_suffix('"').unwrap_or(text))
}

impl Form {
    /// How it is written, in words and capitals.
    pub fn usage(&self, verb: &Verb) -> String {
        if self.id == FormId::Case {
            return "case NUMBER \"why\"".into();
        }
        let mut words = Vec::new();
        if !verb.name.is_empty() {
            words.push(verb.name.to_owned());
        }
        words.extend(self.parts.iter().map(FormPart::usage));
        words.join(" ").replace(" :", ":")
    }
}

impl FormPart {
    fn usage(&self) -> String {
        match self {
            Self::Word(word) => (*word).to_owned(),
            Self::OneOf(words) => words.join("|"),
            Self::Item(what) | Self::Expression(what) => (*what).to_owned(),
            Self::List(_) => "POINT, POINT, …".into(),
            Self::Relation => "=|<=|>=".into(),
            Self::Bound(what) => format!("[=|<=|>=] {what}"),
            Self::Range => "LOW .. HIGH UNIT".into(),
            Self::Name => "NAME".into(),
            Self::Text => "\"FILE\"".into(),
            Self::Kinds => "tx ty tz rx ry rz".into(),
            Self::Optional(parts) => {
                format!("[{}]", parts.iter().map(Self::usage).collect::<Vec<_>>().join(" "))
            }
        }
    }
}
