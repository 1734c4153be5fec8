//! The language in which rules are written: one per line, verb first.
//!
//! Reading never fails: [`parse`] gives a tree of what could be understood and a list of [`Diagnostic`]s with their
//! places. Everything a line can express is listed in one [table](VERBS), which the parser, the formatter and the reference page use.

mod diagnostic;
mod expression;
mod format;
mod lexer;
mod parser;
mod reference;
mod syntax;
mod table;
#[cfg(test)]
mod tests;

pub use diagnostic::{Diagnostic, Severity, Span};
pub use format::{format, is_plain_name, rename};
pub use parser::parse;
pub use reference::reference;
pub use sinew_geom::suggest;
pub use syntax::{Argument, Case, Expression, Operator, Relation, Script, Statement, Suffixes, Term};
pub use table::{
    Dimension, FUNCTIONS, Form, FormId, FormPart, Function, SUFFIXES, Suffix, UNITS, Unit, VERBS, Verb,
};
pub(crate) use table::{find_function, find_unit};
