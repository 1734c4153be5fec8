//! What is shown, and how.

use crate::frames::Drawn;
use glam::DVec3;
use sinew::{
    geom::Mesh,
    session::{Display, Document, is_hidden},
};
use std::sync::{Arc, OnceLock};

/// How the document is shown.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// Which shape.
    pub display: Display,
    /// Whether stretch is sent with each frame.
    pub stress: bool,
    /// Whether poses are refined while nothing else is to do.
    pub refine: bool,
    /// Whether the fit is sent with each frame, to be seen beside the document.
    pub compare: bool,
    /// Whether the cells of flesh are sent with each frame.
    pub cells: bool,
}

impl Looks {
    /// Whether pages see the same: while a clip plays, only its vertices change.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let is_same = match (&self.display, &other.display) {
            (Display::Clip { clip: old, .. }, Display::Clip { clip: new, .. }) => old == new,
            (old, new) => old == new,
        };
        let choices = |looks: &Self| (looks.stress, looks.refine, looks.compare, looks.cells);
        is_same && choices(self) == choices(other)
    }
}

/// A shape that was shown.
#[derive(Debug)]
pub struct Shown {
    /// What is drawn.
    pub drawn: Arc<Drawn>,
    /// The document it is of.
    pub document: Document,
    // Search structures are kept for as long as this is the same.
    mesh: OnceLock<Arc<Mesh>>,
}

impl Shown {
    /// A shape of a document. If it is where the one before was, so is its surface.
    pub fn new(drawn: Drawn, document: Document, before: Option<&Self>) -> Self {
        let is_same = |before: &&Self| {
            before.drawn.revision == drawn.revision && before.drawn.frame.positions == drawn.frame.positions
        };
        let mesh = before.filter(is_same).map(|before| before.mesh.clone()).unwrap_or_default();
        Self { drawn: Arc::new(drawn), document, mesh }
    }

    /// The surface as it is seen, without hidden parts, for selecting on it.
    pub fn mesh(&self) -> Arc<Mesh> {
        let build = || {
            let positions: Vec<DVec3> = self.drawn.frame.positions.iter().map(|p| p.as_dvec3()).collect();
            // Frames are finite and of the mesh's size.
            let (mesh, is_hidden) = (self.document.mesh(), is_hidden(&self.document));
            let faces = mesh.faces().iter().enumerate().filter(|(face, _)| !is_hidden(*face));
            let seen = Mesh::new(positions, faces.map(|(_, face)| *face).collect());
            Arc::new(seen.unwrap_or_else(|_| mesh.clone()))
        };
        self.mesh.get_or_init(build).clone()
    }
}
