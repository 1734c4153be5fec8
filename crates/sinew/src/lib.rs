//! Sinew turns any mesh into a moving character and ships the result as a standard glTF file.
//!
//! This crate is the façade: it names the parts, and owns the examples and the capability tests.

pub use sinew_constrain as constrain;
pub use sinew_deform as deform;
pub use sinew_flesh as flesh;
pub use sinew_formats as formats;
pub use sinew_gait as gait;
pub use sinew_geom as geom;
pub use sinew_puppet as puppet;
pub use sinew_rig as rig;
pub use sinew_session as session;
pub use sinew_skin as skin;
