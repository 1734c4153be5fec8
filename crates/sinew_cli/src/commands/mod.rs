//! One file per command.

pub mod convert;
pub mod info;
mod output;
pub mod sample;
