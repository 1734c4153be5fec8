//! A glTF file kept as it came.

use super::parts::SurfaceParts;
use sinew_geom::Character;
use std::{collections::BTreeMap, fmt, io, sync::Arc};

/// A glTF file as it came, with the side files it names.
#[derive(Clone)]
pub struct Host {
    pub(super) bytes: Arc<Vec<u8>>,
    pub(super) side: BTreeMap<String, Arc<Vec<u8>>>,
    pub(super) name: String,
    pub(super) parts: Arc<SurfaceParts>,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host({:?}, {} bytes)", self.name, self.n_bytes())
    }
}

impl Host {
    pub(super) fn new(
        bytes: &[u8],
        side: BTreeMap<String, Arc<Vec<u8>>>,
        name: &str,
        parts: SurfaceParts,
    ) -> Self {
        Self { bytes: Arc::new(bytes.to_vec()), side, name: name.to_owned(), parts: Arc::new(parts) }
    }

    /// Bytes that it takes in memory.
    pub fn n_bytes(&self) -> usize {
        self.bytes.len() + self.side.values().map(|bytes| bytes.len()).sum::<usize>()
    }

    pub(super) fn side_file(&self, name: &str) -> io::Result<Vec<u8>> {
        let found = self.side.get(name).map(|bytes| bytes.to_vec());
        found.ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "it was not there when the file was opened")
        })
    }
}

impl SurfaceParts {
    /// Of a character: as the file it came from has them, if that is kept and still fits, else by its materials.
    pub fn of(host: Option<&Host>, character: &Character) -> Self {
        let fits = |parts: &&Self| {
            parts.n_vertices == character.mesh.n_vertices()
                && parts.of_faces.len() == character.mesh.n_faces()
        };
        let kept = host.map(|host| &*host.parts).filter(fits);
        kept.cloned().unwrap_or_else(|| Self::by_material(&character.surface, character))
    }
}
