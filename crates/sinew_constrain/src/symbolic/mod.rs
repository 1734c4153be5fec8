//! The symbolic engine: expressions over named symbols such as `Root.tx`, stored as a graph that shares equal parts.
//!
//! # Source
//! Abdelhay (2008), §3.6 (symbols, symbol table, expressions) and §4.3.2 (simplification). Differs: equal expressions
//! are stored once and derivatives are computed by reverse accumulation. The Jacobian that took 1.5 GB in Abdelhay's
//! system (15 MB after simplification) takes kilobytes.

mod arena;
mod derive;
mod print;
mod tape;

pub use arena::{Arena, Expr};
pub use print::Printer;
pub(crate) use tape::Tape;

#[cfg(test)]
mod tests;
