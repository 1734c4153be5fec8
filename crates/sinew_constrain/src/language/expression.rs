//! Expressions: arrows, sums, products, powers, names and calls.

use super::{
    Diagnostic, Dimension, Expression, Operator, Term, find_unit,
    lexer::TokenKind,
    parser::{ParseResult, Parser, unquoted},
};

/// Parentheses that may be open at once.
const MAX_DEPTH: usize = 64;

impl Parser<'_> {
    /// `A -> B`, or a sum.
    pub fn expression(&mut self, what: &str) -> ParseResult<Expression> {
        let left = self.sum(what)?;
        if self.peek().is_some_and(|token| token.kind == TokenKind::Arrow) {
            self.at += 1;
            let right = self.sum("a point")?;
            return Ok(binary(Operator::Arrow, left, right));
        }
        Ok(left)
    }

    fn sum(&mut self, what: &str) -> ParseResult<Expression> {
        let mut left = self.product(what)?;
        loop {
            let operator = match self.peek().map(|token| token.text) {
                Some("+") => Operator::Add,
                Some("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product("a value")?;
            left = binary(operator, left, right);
        }
    }

    fn product(&mut self, what: &str) -> ParseResult<Expression> {
        let mut left = self.power(what)?;
        loop {
            let operator = match self.peek().map(|token| token.text) {
                Some("*") => Operator::Multiply,
                Some("/") => Operator::Divide,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.power("a value")?;
            left = binary(operator, left, right);
        }
    }

    fn power(&mut self, what: &str) -> ParseResult<Expression> {
        let base = self.operand(what)?;
        if self.eat("^") {
            let exponent = self.operand("a number")?;
            return Ok(binary(Operator::Power, base, exponent));
        }
        Ok(base)
    }

    /// A name, number, call, point in parentheses, or their negative.
    pub fn operand(&mut self, what: &str) -> ParseResult<Expression> {
        let Some(token) = self.peek().copied() else { return Err(self.expected(&described(what))) };
        match token.kind {
            TokenKind::Sign if token.is("-") => {
                self.at += 1;
                self.open(token.span)?;
                let inner = self.power("a value")?;
                self.depth -= 1;
                let span = token.span.to(inner.span);
                Ok(Expression { term: Term::Negative(Box::new(inner)), span })
            }
            TokenKind::Sign if token.is("(") => self.parenthesis(),
            TokenKind::Number => self.number(),
            TokenKind::Name | TokenKind::Quoted => self.name(what),
            TokenKind::Strange => {
                Err(Diagnostic::error(token.span, format!("`{}` is not expected here", token.text)))
            }
            TokenKind::Unclosed => Err(Diagnostic::error(token.span, "this quote has no end")),
            _ => Err(self.expected(&described(what))),
        }
    }

    fn open(&mut self, span: super::Span) -> ParseResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Diagnostic::error(span, format!("more than {MAX_DEPTH} parentheses are open")));
        }
        Ok(())
    }

    fn close(&mut self) -> ParseResult<super::Span> {
        let span = self.here();
        self.depth -= 1;
        if self.eat(")") { Ok(span) } else { Err(self.expected("`)`")) }
    }

    /// A value in parentheses, or three coordinates with an optional unit.
    fn parenthesis(&mut self) -> ParseResult<Expression> {
        let start = self.here();
        self.at += 1;
        self.open(start)?;
        let first = self.expression("a value")?;
        if !self.eat(",") {
            let end = self.close()?;
            return Ok(Expression { span: start.to(end), ..first });
        }
        let second = self.expression("a value")?;
        if !self.eat(",") {
            return Err(self.expected("`,` and a third coordinate"));
        }
        let third = self.expression("a value")?;
        let mut span = start.to(self.close()?);
        let mut coordinates = [first, second, third];
        if let Some((factor, dimension, end)) = self.unit()? {
            span = span.to(end);
            coordinates.iter_mut().for_each(|c| give_unit(&mut c.term, factor, dimension));
        }
        Ok(Expression { term: Term::Vector(Box::new(coordinates)), span })
    }

    fn number(&mut self) -> ParseResult<Expression> {
        let token = self.tokens[self.at];
        self.at += 1;
        let value: f64 = token.text.parse().unwrap_or(f64::NAN);
        if !value.is_finite() {
            return Err(Diagnostic::error(token.span, format!("{} is too large a number", token.text)));
        }
        if self.eat("%") {
            return Ok(Expression {
                term: Term::Number(value / 100.0, Some(Dimension::NUMBER)),
                span: token.span,
            });
        }
        Ok(match self.unit()? {
            Some((factor, dimension, end)) => {
                Expression { term: Term::Number(value * factor, Some(dimension)), span: token.span.to(end) }
            }
            None => Expression { term: Term::Number(value, None), span: token.span },
        })
    }

    /// `cm`, `m/s`, `m/s2`.
    fn unit(&mut self) -> ParseResult<Option<(f64, Dimension, super::Span)>> {
        let Some(token) = self.peek().filter(|token| token.kind == TokenKind::Name).copied() else {
            return Ok(None);
        };
        let Some(unit) = find_unit(token.text) else { return Ok(None) };
        self.at += 1;
        let (mut dimension, mut span) = (unit.dimension, token.span);
        dimension.scale = unit.factor;
        let below =
            self.tokens.get(self.at + 1).filter(|_| self.is_next("/")).and_then(|t| find_unit(t.text));
        if let Some(below) = below.filter(|below| below.dimension.time > 0) {
            span = self.tokens[self.at + 1].span;
            self.at += 2;
            dimension.time -= below.dimension.time;
        }
        Ok(Some((unit.factor, dimension, span)))
    }

    fn name(&mut self, what: &str) -> ParseResult<Expression> {
        let token = self.tokens[self.at];
        self.at += 1;
        let name = unquoted(&token).to_owned();
        let is_call = token.kind == TokenKind::Name
            && self.peek().is_some_and(|next| next.is("(") && next.span.start == token.span.end);
        if is_call {
            return self.call(name, token.span);
        }
        if token.kind == TokenKind::Name && name == "distance" {
            let (a, b) = (self.operand("a point")?, self.operand("a point")?);
            let span = token.span.to(b.span);
            return Ok(Expression { term: Term::Call(name, vec![a, b]), span });
        }
        // A word of the form or a suffix is no value: the value is missing.
        let is_word = token.kind == TokenKind::Name && WORDS.contains(&token.text);
        if is_word {
            self.at -= 1;
            return Err(self.expected(&described(what)));
        }
        Ok(Expression { term: Term::Name(name), span: token.span })
    }

    fn call(&mut self, name: String, start: super::Span) -> ParseResult<Expression> {
        self.at += 1;
        self.open(start)?;
        let mut arguments = Vec::new();
        if !self.is_next(")") {
            arguments.push(self.expression("a value")?);
            while self.eat(",") {
                arguments.push(self.expression("a value")?);
            }
        }
        let span = start.to(self.close()?);
        Ok(Expression { term: Term::Call(name, arguments), span })
    }
}

/// Words between values. Joints with these names must be quoted.
pub(super) const WORDS: &[&str] = &[
    "to", "on", "along", "with", "of", "between", "at", "across", "from", "by", "toward", "in", "and",
    "through", "normal", "weight", "soft", "priority", "during", "fade", "when", "always",
];

fn described(what: &str) -> String {
    if what.chars().any(char::is_lowercase) { what.to_owned() } else { format!("a {}", what.to_lowercase()) }
}

fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    let span = left.span.to(right.span);
    Expression { term: Term::Binary(operator, Box::new([left, right])), span }
}

fn give_unit(term: &mut Term, factor: f64, dimension: Dimension) {
    match term {
        Term::Number(value, unit @ None) => {
            *value *= factor;
            *unit = Some(dimension);
        }
        Term::Negative(inner) => give_unit(&mut inner.term, factor, dimension),
        _ => {}
    }
}
