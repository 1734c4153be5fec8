//! Motions for the judges: joints over time, from BVH files and glTF clips, with their own readers.

use super::scene::Scene;
use anyhow::{Context, bail, ensure};
use glam::{DMat4, DQuat, DVec3};
use std::{fs, path::Path};

/// A skeleton over time.
pub struct Motion {
    pub names: Vec<String>,
    pub parents: Vec<Option<usize>>,
    /// Seconds from one frame to the next.
    pub step: f64,
    /// World matrices: per frame, per joint. Lengths are as in the file.
    pub frames: Vec<Vec<DMat4>>,
}

impl Motion {
    pub fn position(&self, frame: usize, joint: usize) -> DVec3 {
        self.frames[frame][joint].w_axis.truncate()
    }

    pub fn n_joints(&self) -> usize {
        self.names.len()
    }

    /// Bones of a frame, for drawing.
    pub fn bones(&self, frame: usize) -> Vec<(DVec3, DVec3)> {
        let bone = |(joint, parent): (usize, &Option<usize>)| {
            parent.map(|parent| (self.position(frame, parent), self.position(frame, joint)))
        };
        self.parents.iter().enumerate().filter_map(bone).collect()
    }

    /// The joints of a glTF clip at a rate.
    pub fn of_scene(scene: &Scene, clip: usize, fps: f64) -> Self {
        let nodes = match scene.joints() {
            joints if joints.is_empty() => (0..scene.n_nodes()).collect(),
            joints => joints,
        };
        let at = |node: Option<usize>| node.and_then(|node| nodes.iter().position(|&n| n == node));
        // Nodes between two joints that are not joints themselves are skipped.
        let parent = |node: usize| {
            let mut above = scene.parent(node);
            while above.is_some() && at(above).is_none() {
                above = above.and_then(|node| scene.parent(node));
            }
            at(above)
        };
        let seconds = scene.clips().get(clip).map_or(0.0, |(_, seconds)| *seconds);
        let n = (seconds * fps).round() as usize + 1;
        let frame = |k: usize| {
            let worlds = scene.worlds(Some(clip), k as f64 / fps);
            nodes.iter().map(|&node| worlds[node]).collect()
        };
        Self {
            names: nodes.iter().map(|&node| scene.node_name(node).to_owned()).collect(),
            parents: nodes.iter().map(|&node| parent(node)).collect(),
            step: 1.0 / fps,
            frames: (0..n).map(frame).collect(),
        }
    }

    /// A BVH file. End sites become joints named after their parent with `_end`.
    pub fn read_bvh(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut words = text.split_whitespace();
        let mut bvh = Bvh::default();
        bvh.hierarchy(&mut words)?;
        let mut number = |what: &str| -> anyhow::Result<f64> {
            let word = words.next().with_context(|| format!("the file ends before {what}"))?;
            word.parse().with_context(|| format!("{word:?} in place of {what}"))
        };
        let n = number("the number of frames")? as usize;
        let text = &text[text.find("Frame Time").context("there is no frame time")?..];
        let mut words = text.split_whitespace().skip(2);
        let step: f64 = words.next().context("there is no frame time")?.parse()?;
        let values: Vec<f64> = words.map_while(|word| word.parse().ok()).collect();
        let width = bvh.channels.len();
        ensure!(width > 0 && values.len() >= width, "there are no frames");
        let frames = values.chunks_exact(width).take(n).map(|row| bvh.pose(row)).collect();
        Ok(Self { names: bvh.names, parents: bvh.parents, step, frames })
    }
}

#[derive(Default)]
struct Bvh {
    names: Vec<String>,
    parents: Vec<Option<usize>>,
    offsets: Vec<DVec3>,
    /// Joint and letter of each channel: `T` or `R`, and axis.
    channels: Vec<(usize, char, usize)>,
}

impl Bvh {
    fn hierarchy<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
        let mut open: Vec<usize> = Vec::new();
        while let Some(word) = words.next() {
            match word {
                "HIERARCHY" | "{" => {}
                "ROOT" | "JOINT" | "End" => {
                    let name = words.next().context("a joint has no name")?;
                    let parent = open.last().copied();
                    let above = parent.map_or("root", |p| self.names[p].as_str()).to_owned();
                    self.names.push(if word == "End" { format!("{above}_end") } else { name.to_owned() });
                    self.parents.push(parent);
                    self.offsets.push(DVec3::ZERO);
                    open.push(self.names.len() - 1);
                }
                "}" => {
                    open.pop();
                }
                "OFFSET" => {
                    let mut next =
                        || words.next().and_then(|w| w.parse().ok()).context("an offset is not a number");
                    let joint = *open.last().context("an offset of no joint")?;
                    self.offsets[joint] = DVec3::new(next()?, next()?, next()?);
                }
                "CHANNELS" => {
                    let n: usize =
                        words.next().and_then(|w| w.parse().ok()).context("channels without a number")?;
                    for _ in 0..n {
                        let name = words.next().context("a channel has no name")?;
                        let axis = "XYZ".find(&name[..1]).with_context(|| format!("a channel {name:?}"))?;
                        let kind = if name.ends_with("position") { 'T' } else { 'R' };
                        self.channels.push((*open.last().context("channels of no joint")?, kind, axis));
                    }
                }
                "MOTION" => {
                    words.next();
                    return Ok(());
                }
                other => bail!("{other:?} in the hierarchy"),
            }
        }
        bail!("there is no motion")
    }

    fn pose(&self, row: &[f64]) -> Vec<DMat4> {
        let mut shift: Vec<Option<DVec3>> = vec![None; self.names.len()];
        let mut turn = vec![DQuat::IDENTITY; self.names.len()];
        for (&(joint, kind, axis), &value) in self.channels.iter().zip(row) {
            if kind == 'T' {
                shift[joint].get_or_insert(self.offsets[joint])[axis] = value;
            } else {
                turn[joint] *= DQuat::from_axis_angle(DVec3::AXES[axis], value.to_radians());
            }
        }
        let mut worlds: Vec<DMat4> = Vec::new();
        for (joint, parent) in self.parents.iter().enumerate() {
            let local =
                DMat4::from_rotation_translation(turn[joint], shift[joint].unwrap_or(self.offsets[joint]));
            worlds.push(parent.map_or(local, |p| worlds[p] * local));
        }
        worlds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bvh_file_is_played() {
        let text = "HIERARCHY\nROOT hips\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
                    JOINT knee\n{\nOFFSET 0 -1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\n\
                    MOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0\n3 1 0 90 0 0 -90 0 0\n";
        let path = std::env::temp_dir().join(format!("sinew-{}.bvh", std::process::id()));
        fs::write(&path, text).unwrap();
        let motion = Motion::read_bvh(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(motion.names, ["hips", "knee", "knee_end"]);
        assert_eq!((motion.step, motion.frames.len()), (0.5, 2));
        assert!(motion.position(0, 2).distance(DVec3::new(0.0, -1.0, 0.0)) < 1e-12);
        // The hips are turned by 90° about Z, so that down becomes +X; the knee turns back.
        assert!(motion.position(1, 1).distance(DVec3::new(4.0, 1.0, 0.0)) < 1e-12);
        assert!(motion.position(1, 2).distance(DVec3::new(4.0, 0.0, 0.0)) < 1e-12);
    }
}
