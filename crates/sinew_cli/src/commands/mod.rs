//! One module per command, which holds its arguments and its `run`. The list of commands is in `cli`.

pub mod animate;
pub mod bench;
mod body;
pub mod completions;
pub mod convert;
mod examples;
pub mod fit;
pub mod flesh;
pub mod handles;
pub mod info;
mod input;
pub mod licenses;
pub mod muscle;
mod names;
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
pub mod turntable;
pub mod walk;
