//! What made a clip: commands note it, projects store it, and pages tell takes from other clips by it.

use crate::{Command, Document};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc};

/// What made a clip. Clips of the file that was opened have no source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum ClipSource {
    /// An actor was performed.
    Take,
    /// Paths or keyframes were followed.
    Bake,
    /// Another clip was refitted.
    Refit,
    /// Flesh was baked.
    Flesh,
    /// A pose was stored.
    Pose,
}

/// Sources by name of clip.
pub type ClipSources = BTreeMap<String, ClipSource>;

impl Command {
    /// The clip that it makes.
    fn made_clip(&self) -> Option<(&str, ClipSource)> {
        Some(match self {
            Self::Take { clip, .. } => (clip, ClipSource::Take),
            Self::Bake { clip, .. } => (clip, ClipSource::Bake),
            Self::Refit { settings } => (&settings.to, ClipSource::Refit),
            Self::BakeFlesh { bake } => (&bake.to, ClipSource::Flesh),
            Self::KeepPose { clip } | Self::KeepTurns { clip } => (clip, ClipSource::Pose),
            _ => return None,
        })
    }

    /// Note in the document what made the clip.
    pub(crate) fn note_clip_source(&self, document: &mut Document) {
        if let Some((clip, source)) = self.made_clip() {
            let mut sources = (*document.clip_sources).clone();
            sources.insert(clip.to_owned(), source);
            document.clip_sources = Arc::new(sources);
        }
    }
}
