//! The body map: one understanding of what a body is and what its joints are.

mod class;

pub use class::BodyClass;
