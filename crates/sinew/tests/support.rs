//! What several tests need.

pub use sinew_outside::{corpus, data, files_below, tools, workspace};
