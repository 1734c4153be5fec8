//! The tree of a text.

use super::{Dimension, Form, Span, Verb};
use sinew_geom::DofKind;

/// A whole text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    /// The lines that were understood, in order.
    pub statements: Vec<Statement>,
    /// The groups, in order.
    pub cases: Vec<Case>,
}

/// A group of rules that belong together, and why.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its number or empty.
    pub label: String,
    /// Why.
    pub why: String,
    /// Where it begins.
    pub span: Span,
}

impl PartialEq for Case {
    fn eq(&self, other: &Self) -> bool {
        self.label == other.label && self.why == other.why
    }
}

/// One line.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The whole line without its comment.
    pub span: Span,
    /// What kind of line.
    pub verb: &'static Verb,
    /// Which of its forms.
    pub form: &'static Form,
    /// Arguments of the form, one per part that is not a fixed word.
    pub arguments: Vec<Argument>,
    /// What follows.
    pub suffixes: Suffixes,
    /// Index of its case.
    pub case: Option<usize>,
}

impl PartialEq for Statement {
    fn eq(&self, other: &Self) -> bool {
        self.form.id == other.form.id
            && self.arguments == other.arguments
            && self.suffixes == other.suffixes
            && self.case == other.case
    }
}

/// An argument of a form.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// An expression.
    Expression(Expression),
    /// Expressions with commas between.
    List(Vec<Expression>),
    /// How two sides compare.
    Relation(Relation),
    /// From, to.
    Range(Expression, Expression),
    /// A name that the line defines, as a [`Term::Name`].
    Name(Expression),
    /// Text in quotes.
    Text(String),
    /// Which of the words a place offers.
    Word(usize),
    /// Degrees of freedom.
    Kinds(Vec<DofKind>),
    /// Left out.
    Absent,
}

/// How two sides compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// `=`
    Equal,
    /// `<=`
    AtMost,
    /// `>=`
    AtLeast,
}

/// An expression and its position. Two are equal if their content is, whatever their positions.
#[derive(Debug, Clone)]
pub struct Expression {
    /// What it says.
    pub term: Term,
    /// Where.
    pub span: Span,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.term == other.term
    }
}

/// What an expression says.
#[derive(Debug, Clone, PartialEq)]
pub enum Term {
    /// A number; without a unit it takes that of its context.
    Number(f64, Option<Dimension>),
    /// A joint, marker, definition, degree of freedom or coordinate.
    Name(String),
    /// A function of others.
    Call(String, Vec<Expression>),
    /// Two others joined.
    Binary(Operator, Box<[Expression; 2]>),
    /// The negative of another.
    Negative(Box<Expression>),
    /// Coordinates.
    Vector(Box<[Expression; 3]>),
}

/// What joins two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `^`
    Power,
    /// `->`, from one point to another.
    Arrow,
}

/// What may follow a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Suffixes {
    /// How much it counts against others it cannot agree with.
    pub weight: Option<Expression>,
    /// By about how much it may be missed.
    pub soft: Option<Expression>,
    /// Rules of a smaller number go first.
    pub priority: Option<Expression>,
    /// First and last frame.
    pub during: Option<(Expression, Expression)>,
    /// Frames over which it fades in and out.
    pub fade: Option<Expression>,
    /// Only while this joint touches the ground.
    pub contact: Option<Expression>,
    /// In all frames, said aloud.
    pub always: bool,
}

/// Number of metres, radians or seconds a number with a unit was multiplied by; only for units of one kind, as ranges
/// have them.
pub(super) fn factor_of(term: &Term) -> Option<f64> {
    match term {
        Term::Number(_, Some(dimension)) => Some(dimension.scale),
        Term::Negative(inner) => factor_of(&inner.term),
        _ => None,
    }
}
