//! What is fitted: the frames of a folder or of a morphing glTF, as the judge sees them.

use super::super::super::{find::Item, scene::Scene};
use anyhow::{anyhow, ensure};
use glam::DVec3;
use sinew::{formats::SequenceFolder, geom::Warnings};

/// Vertices that are paired by their motion, at most.
const MOST_PAIRED: usize = 20_000;

/// Frames with the same connectivity.
pub struct Source {
    pub rest: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    pub frames: Vec<Vec<DVec3>>,
}

impl Source {
    /// Read it; a glTF clip is seen at as many moments, evenly spread over its length, as the product says it took.
    pub fn read(item: &Item, n_frames: usize) -> anyhow::Result<Self> {
        if item.path.is_dir() {
            let mut warnings = Warnings::default();
            let folder = SequenceFolder::open(&item.path, &mut warnings).map_err(|e| anyhow!("{e}"))?;
            let frame =
                |k: usize| folder.read_positions(k, &mut Warnings::default()).map_err(|e| anyhow!("{e}"));
            let frames = (0..folder.frames().len()).map(frame).collect::<anyhow::Result<_>>()?;
            let mesh = folder.rest();
            return Ok(Self { rest: mesh.positions().to_vec(), faces: mesh.faces().to_vec(), frames });
        }
        let scene = Scene::read(&item.path)?;
        let seconds = scene.clips().first().map_or(0.0, |clip| clip.1);
        Ok(Self {
            rest: scene.positions(None, 0.0),
            frames: times(seconds, n_frames).map(|time| scene.positions(Some(0), time)).collect(),
            faces: scene.faces,
        })
    }

    /// Per vertex here one of what was written: all in order, or by the corners of triangles where surfaces were cut along
    /// seams, or, where parts were written in another order, the one that plays nearest to it at three moments.
    pub fn vertices_of(&self, written: &Scene) -> anyhow::Result<Vec<Option<u32>>> {
        let n = written.n_vertices();
        if n == self.rest.len() && written.faces == self.faces {
            return Ok((0..n as u32).map(Some).collect());
        }
        self.by_corners(written).map_or_else(|| self.by_motion(written), Ok)
    }

    fn by_corners(&self, written: &Scene) -> Option<Vec<Option<u32>>> {
        if written.faces.len() != self.faces.len() {
            return None;
        }
        let mut of = vec![u32::MAX; written.n_vertices()];
        let mut from = vec![None; self.rest.len()];
        for (w, s) in written.faces.iter().flatten().zip(self.faces.iter().flatten()) {
            let entry = &mut of[*w as usize];
            if *entry != u32::MAX && entry != s {
                return None;
            }
            *entry = *s;
            from[*s as usize] = Some(*w);
        }
        Some(from)
    }

    fn by_motion(&self, written: &Scene) -> anyhow::Result<Vec<Option<u32>>> {
        ensure!(self.rest.len() <= MOST_PAIRED, "the vertices written cannot be paired with those given");
        let n = self.frames.len();
        let moments: Vec<f64> = times(written.clips()[0].1, n).collect();
        let at = [0, n / 3, 2 * n / 3];
        let played = at.map(|k| written.positions(Some(0), moments[k]));
        let mut is_used = vec![false; self.rest.len()];
        self.faces.iter().flatten().for_each(|&v| is_used[v as usize] = true);
        let nearest = |v: usize| {
            let far =
                |w: usize| (0..3).map(|k| played[k][w].distance_squared(self.frames[at[k]][v])).sum::<f64>();
            let best = (0..written.n_vertices()).map(|w| (far(w), w)).min_by(|a, b| a.0.total_cmp(&b.0));
            best.filter(|_| is_used[v]).map(|(_, w)| w as u32)
        };
        Ok((0..self.rest.len()).map(nearest).collect())
    }
}

/// Evenly spread moments.
pub fn times(seconds: f64, n: usize) -> impl Iterator<Item = f64> {
    (0..n).map(move |k| seconds * k as f64 / (n.max(2) - 1) as f64)
}
