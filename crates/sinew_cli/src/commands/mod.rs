//! One file per command.

pub mod animate;
pub mod bench;
mod body;
pub mod convert;
mod examples;
pub mod fit;
pub mod flesh;
pub mod handles;
pub mod info;
mod input;
pub mod licenses;
pub mod muscle;
mod output;
pub mod pose;
pub mod puppet;
pub mod reach;
pub mod refit;
pub mod rig;
pub mod sample;
mod scene;
pub mod solve;
#[cfg(feature = "studio")]
pub mod studio;
