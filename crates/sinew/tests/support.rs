//! What several tests need.

pub use sinew_outside::{data, files_below, tools, workspace};
