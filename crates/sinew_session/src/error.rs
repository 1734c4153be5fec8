//! Why something could not be done.

use sinew_constrain::ConstrainError;
use sinew_deform::DeformError;
use sinew_flesh::FleshError;
use sinew_formats::FormatError;
use sinew_geom::GeomError;
use sinew_puppet::PuppetError;
use sinew_rig::RigError;
use sinew_skin::SkinError;
use std::path::PathBuf;
use thiserror::Error;

/// Why a command, a job or a file failed; the document is then as it was before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A file.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Handles and poses.
    #[error(transparent)]
    Deform(DeformError),
    /// Skins fitted to clips.
    #[error(transparent)]
    Skin(SkinError),
    /// Rules and clips fitted to other grounds.
    #[error(transparent)]
    Constrain(ConstrainError),
    /// Meshes and rigs.
    #[error(transparent)]
    Geom(GeomError),
    /// Puppetry.
    #[error(transparent)]
    Puppet(#[from] PuppetError),
    /// Flesh and joints placed by the user.
    #[error(transparent)]
    Flesh(#[from] FleshError),
    /// Skeletons found from the shape.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// A name that does not exist.
    #[error("there is no {what} {name:?}; there are: {known}")]
    Absent {
        /// Of what kind.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A name that cannot be given.
    #[error("{name:?} cannot be the name of a {what}: {cause}; choose another")]
    Name {
        /// Of what kind.
        what: &'static str,
        /// The name asked for.
        name: String,
        /// Why not.
        cause: &'static str,
    },
    /// An invalid value.
    #[error("{what}: {cause}")]
    Value {
        /// Which.
        what: &'static str,
        /// Why not, and what would do.
        cause: String,
    },
    /// A project of a later version of this program.
    #[error(
        "{}: the project was made by a newer version of Sinew (format {found}; this one reads up to {known}); update Sinew to open it",
        path.display()
    )]
    Newer {
        /// The file, left as it is.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The latest we know.
        known: u64,
    },
    /// What was to be opened holds nothing to work on.
    #[error("{}: {cause}; {remedy}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What it holds.
        cause: String,
        /// What to do.
        remedy: &'static str,
    },
    /// The user stopped it.
    #[error("stopped")]
    Cancelled,
}

impl From<GeomError> for SessionError {
    fn from(error: GeomError) -> Self {
        match error {
            GeomError::Cancelled => Self::Cancelled,
            other => Self::Geom(other),
        }
    }
}

impl From<DeformError> for SessionError {
    fn from(error: DeformError) -> Self {
        match error {
            DeformError::Cancelled => Self::Cancelled,
            other => Self::Deform(other),
        }
    }
}

impl From<SkinError> for SessionError {
    fn from(error: SkinError) -> Self {
        match error {
            SkinError::Cancelled => Self::Cancelled,
            other => Self::Skin(other),
        }
    }
}

impl From<ConstrainError> for SessionError {
    fn from(error: ConstrainError) -> Self {
        match error {
            ConstrainError::Cancelled => Self::Cancelled,
            other => Self::Constrain(other),
        }
    }
}

/// Names listed in a message.
const MAX_LISTED: usize = 12;

impl SessionError {
    /// A name that does not exist among those that do.
    pub fn absent<'a>(what: &'static str, name: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let mut known: Vec<&str> = known.collect();
        let n_more = known.len().saturating_sub(MAX_LISTED);
        known.truncate(MAX_LISTED);
        let mut listed = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        if n_more > 0 {
            listed += &format!(" and {n_more} more");
        }
        Self::Absent { what, name: name.to_owned(), known: listed }
    }
}
