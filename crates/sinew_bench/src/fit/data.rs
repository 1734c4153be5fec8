//! Sequences of the outside data.

use sinew::{
    formats::SequenceFolder,
    geom::{MeshSequence, Warnings},
};
use std::ops::ControlFlow;

/// A sequence and its name.
pub struct Sequence {
    pub name: String,
    pub frames: MeshSequence,
}

/// py-dem-bones gives five bones on a flat rest pose whatever it is asked for, so that frame 5 is the rest pose.
const BENT_REST: (&str, usize) = ("tablecloth", 5);

impl Sequence {
    /// Read a folder of the data.
    pub fn load(name: &str) -> anyhow::Result<Self> {
        Self::load_with(name, true)
    }

    /// The same with the rest pose as it is, however flat.
    pub fn load_plain(name: &str) -> anyhow::Result<Self> {
        Self::load_with(name, false)
    }

    fn load_with(name: &str, bent: bool) -> anyhow::Result<Self> {
        let data = crate::places::data();
        let mut warnings = Warnings::default();
        let folder = SequenceFolder::open(&data.join("sequences").join(name), &mut warnings)?;
        let read = folder.read_all(30.0, &mut warnings, &mut |_| ControlFlow::Continue(()))?;
        let mut frames = read.ok_or_else(|| anyhow::anyhow!("stopped"))?;
        if name == BENT_REST.0 && bent {
            frames = MeshSequence::new(frames.mesh(BENT_REST.1)?, frames.frames().to_vec(), 30.0)?;
        }
        Ok(Self { name: name.to_owned(), frames })
    }

    /// The form that the peer's script reads.
    pub fn to_bytes(&self) -> Vec<u8> {
        let rest = self.frames.rest();
        let counts = [self.frames.n_frames(), rest.n_vertices(), rest.n_faces()];
        let mut bytes: Vec<u8> = counts.iter().flat_map(|&n| (n as i32).to_le_bytes()).collect();
        let first = rest.positions().iter().map(|p| p.as_vec3());
        for p in first.chain(self.frames.frames().iter().flatten().copied()) {
            bytes.extend(p.to_array().into_iter().flat_map(f32::to_le_bytes));
        }
        bytes.extend(rest.faces().iter().flatten().flat_map(|&v| (v as i32).to_le_bytes()));
        bytes
    }
}
