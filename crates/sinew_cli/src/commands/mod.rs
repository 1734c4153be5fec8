//! One file per command.

pub mod convert;
pub mod fit;
pub mod handles;
pub mod info;
mod input;
mod output;
pub mod pose;
pub mod sample;
#[cfg(feature = "studio")]
pub mod studio;
