//! BVH motion capture.
//!
//! Position channels replace a joint's offset, as in Blender and most recorders. Rotations are
//! multiplied in the order of their channels. An end site becomes a joint named after its parent with `_end`.
//!
//! # Limits
//! Lengths have no unit in BVH and are not converted.

mod write;

pub use write::write_bvh;

use crate::{
    FormatError,
    polygons::stem,
    text::{Faults, excerpt, fields, file_error, finite, integer, lines, number},
};
use glam::{DVec3, Quat, Vec3};
use sinew_geom::{
    Character, Clip, Dof, DofKind, EulerOrder, GeomError, Joint, Rig, Transform, Warnings,
    rig::{Interpolation, JointTrack, Keys},
};

/// What to do about faulty lines.
const REMEDY: &str = "correct the line, or export the motion again";

/// Bytes of a joint's name; longer ones are not names, and are copied to end sites.
const MAX_NAME: usize = 1000;
/// Valid frame times, in seconds; beyond them single precision cannot distinguish frames.
const FRAME_SECS: std::ops::RangeInclusive<f64> = 1e-6..=1e4;
/// Suffix of the names of end sites.
const END: &str = "_end";

/// A BVH file as read.
#[derive(Debug, Clone)]
pub struct BvhFile {
    /// A rig and a clip, without a mesh.
    pub character: Character,
    /// Joints that are only the tips of others.
    pub n_end_sites: usize,
    /// Frames of the motion.
    pub n_frames: usize,
    /// Seconds from frame to frame.
    pub frame_secs: f64,
}

/// Read BVH from memory.
///
/// # Errors
/// All faults of the hierarchy, or all faulty frames.
pub fn read_bvh(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<BvhFile, FormatError> {
    let mut rows = lines(bytes).filter(|(_, line)| fields(line).next().is_some());
    if rows.next().is_none_or(|(_, line)| !line.trim_ascii().starts_with(b"HIERARCHY")) {
        return Err(file_error(
            name,
            "the file does not start with `HIERARCHY`",
            "is it another kind of motion file?",
        ));
    }
    let mut tree = Tree::default();
    for (line, row) in rows.by_ref() {
        if row.trim_ascii().starts_with(b"MOTION") {
            tree.motion_line = Some(line);
            break;
        }
        tree.read_line(line, row);
        if tree.faults.is_full() {
            break;
        }
    }
    let mut motion = Motion { n_channels: tree.channels.len(), ..Motion::default() };
    tree.check();
    // With a misread hierarchy every frame would be faulty.
    std::mem::take(&mut tree.faults).finish_with(name, REMEDY)?;
    for (line, row) in rows {
        motion.read_line(line, row, &mut tree.faults);
        if tree.faults.is_full() {
            break;
        }
    }
    motion.check(&mut tree.faults, bytes, warnings);
    std::mem::take(&mut tree.faults).finish_with(name, REMEDY)?;
    let n_end_sites = tree.n_end_sites;
    let (n_frames, frame_secs) = (motion.n_rows, motion.frame_secs.unwrap_or(1.0 / 30.0));
    let damaged = |e: GeomError| file_error(name, e.to_string(), "export the file again");
    let clip = build_clip(&tree, &motion, frame_secs, &stem(name)).map_err(damaged)?;
    let rig = Rig::new(tree.joints).map_err(damaged)?;
    let clips = clip.into_iter().collect();
    let character = Character { name: stem(name), rig: Some(rig), clips, ..Character::default() };
    Ok(BvhFile { character, n_end_sites, n_frames, frame_secs })
}

/// The hierarchy under construction.
#[derive(Default)]
struct Tree {
    joints: Vec<Joint>,
    /// Joint and kind of every channel, in the order of the rows.
    channels: Vec<(usize, DofKind)>,
    open: Vec<usize>,
    /// Whether the innermost open joint is an end site.
    in_end_site: bool,
    n_end_sites: usize,
    motion_line: Option<usize>,
    last_line: usize,
    faults: Faults,
}

impl Tree {
    fn read_line(&mut self, line: usize, row: &[u8]) {
        self.last_line = line;
        let mut words = fields(row);
        match words.next() {
            Some(b"ROOT" | b"JOINT" | b"End") if self.in_end_site => {
                self.faults.line(line, "an end site holds another joint");
            }
            Some(b"ROOT" | b"JOINT") => {
                let name = String::from_utf8_lossy(row)
                    .trim()
                    .split_once(char::is_whitespace)
                    .map(|(_, n)| n.trim().to_owned());
                // A brace may be on the same line.
                let name =
                    name.map(|n| n.trim_end_matches('{').trim_end().to_owned()).filter(|n| !n.is_empty());
                if name.as_ref().is_some_and(|name| name.len() > MAX_NAME) {
                    return self.faults.line(line, format!("a name is longer than {MAX_NAME} bytes"));
                }
                self.add(name.unwrap_or_else(|| format!("joint {}", self.joints.len())));
            }
            Some(b"End") => {
                let parent = self.open.last().map_or("joint", |&p| self.joints[p].name.as_str());
                let name = format!("{parent}{END}");
                self.n_end_sites += 1;
                self.add(name);
                self.in_end_site = true;
            }
            Some(b"OFFSET") => self.read_offset(line, words),
            Some(b"CHANNELS") => self.read_channels(line, words),
            Some(b"}") => {
                let n_braces = 1 + words.take_while(|word| word == b"}").count();
                for _ in 0..n_braces {
                    self.in_end_site = false;
                    if self.open.pop().is_none() {
                        self.faults.line(line, "`}` closes nothing");
                    }
                }
            }
            Some(b"{") | None => {}
            Some(word) => {
                self.faults.line(line, format!("`{}` is not part of a BVH hierarchy", excerpt(word)))
            }
        }
    }

    fn add(&mut self, name: String) {
        let parent = self.open.last().copied();
        self.open.push(self.joints.len());
        self.joints.push(Joint::new(name, parent, Transform::IDENTITY));
    }

    fn read_offset<'a>(&mut self, line: usize, mut words: impl Iterator<Item = &'a [u8]>) {
        let mut next = || words.next().and_then(finite);
        match (next(), next(), next(), self.open.last()) {
            (Some(x), Some(y), Some(z), Some(&joint)) => {
                self.joints[joint].rest.translation = DVec3::new(x, y, z);
            }
            (.., None) => self.faults.line(line, "OFFSET stands outside a joint"),
            _ => self.faults.line(line, "OFFSET needs three numbers"),
        }
    }

    fn read_channels<'a>(&mut self, line: usize, mut words: impl Iterator<Item = &'a [u8]>) {
        let Some(&joint) = self.open.last() else {
            return self.faults.line(line, "CHANNELS stands outside a joint");
        };
        if self.channels.last().is_some_and(|(last, _)| *last == joint) {
            return self.faults.line(line, "a joint has CHANNELS twice");
        }
        let claimed = words.next().and_then(integer);
        let mut kinds = Vec::new();
        for word in words {
            match channel_kind(word) {
                Some(kind) if !kinds.contains(&kind) => kinds.push(kind),
                Some(_) => {
                    return self.faults.line(line, format!("channel `{}` stands twice", excerpt(word)));
                }
                None => return self.faults.line(line, format!("channel `{}` is unknown", excerpt(word))),
            }
        }
        if claimed != Some(kinds.len() as i64) {
            let n = claimed.map_or(String::from("no"), |n| n.to_string());
            return self
                .faults
                .line(line, format!("CHANNELS announces {n} channels and names {}", kinds.len()));
        }
        let j = &mut self.joints[joint];
        let free = [f64::NEG_INFINITY, f64::INFINITY];
        j.dofs = kinds.iter().map(|&kind| Dof { kind, range: free }).collect();
        let mut axes: Vec<usize> =
            kinds.iter().map(|&k| k as usize).filter(|&k| k >= 3).map(|k| k - 3).collect();
        // With fewer than three rotations the missing ones are zero and may be at any place.
        axes.extend((0..3).filter(|axis| !axes.contains(axis)).collect::<Vec<_>>());
        j.euler = EulerOrder::from_axes([axes[0], axes[1], axes[2]]).unwrap_or_default();
        self.channels.extend(kinds.into_iter().map(|kind| (joint, kind)));
    }

    fn check(&mut self) {
        if !self.open.is_empty() {
            let n = self.open.len();
            self.faults.line(self.last_line, format!("{n} joints are not closed by `}}`"));
        }
        if self.joints.is_empty() {
            self.faults.line(self.last_line.max(1), "there is no ROOT");
        }
        if self.motion_line.is_none() {
            self.faults.line(self.last_line.max(1), "there is no MOTION; the file was cut short");
        }
    }
}

fn channel_kind(word: &[u8]) -> Option<DofKind> {
    let word = word.to_ascii_lowercase();
    let axis = ["x", "y", "z"].iter().position(|axis| word.starts_with(axis.as_bytes()))?;
    match &word[1..] {
        b"position" => Some(DofKind::ALL[axis]),
        b"rotation" => Some(DofKind::ALL[axis + 3]),
        _ => None,
    }
}

/// The rows of numbers.
#[derive(Default)]
struct Motion {
    n_channels: usize,
    claimed: Option<i64>,
    frame_secs: Option<f64>,
    values: Vec<f64>,
    n_rows: usize,
    last_line: usize,
}

impl Motion {
    fn read_line(&mut self, line: usize, row: &[u8], faults: &mut Faults) {
        self.last_line = line;
        let text = row.trim_ascii();
        let after = |key: &[u8]| {
            let (start, rest) = text.split_at_checked(key.len())?;
            start.eq_ignore_ascii_case(key).then(|| fields(rest).next())?
        };
        if let Some(word) = after(b"Frames:") {
            self.claimed = integer(word).filter(|n| *n >= 0);
            if self.claimed.is_none() {
                faults.line(line, format!("`{}` is not a number of frames", excerpt(word)));
            }
        } else if let Some(word) = after(b"Frame Time:") {
            self.frame_secs = number(word).filter(|t| FRAME_SECS.contains(t));
            if self.frame_secs.is_none() {
                faults.line(line, format!("`{}` is not a frame time", excerpt(word)));
            }
        } else {
            self.read_row(line, row, faults);
        }
    }

    fn read_row(&mut self, line: usize, row: &[u8], faults: &mut Faults) {
        let start = self.values.len();
        for word in fields(row) {
            match finite(word) {
                Some(value) => self.values.push(value),
                None => {
                    self.values.truncate(start);
                    return faults.line(line, format!("`{}` is not a finite number", excerpt(word)));
                }
            }
        }
        let found = self.values.len() - start;
        if found != self.n_channels {
            let n = self.n_channels;
            faults.line(line, format!("frame has {found} numbers, the hierarchy has {n} channels"));
            self.values.truncate(start);
        } else {
            self.n_rows += 1;
        }
    }

    fn check(&self, faults: &mut Faults, bytes: &[u8], warnings: &mut Warnings) {
        if faults.is_full() {
            return;
        }
        let last = self.last_line.max(1);
        match self.claimed {
            None => faults.line(last, "MOTION has no `Frames:`"),
            Some(n) if n as usize > self.n_rows => {
                let ending = if bytes.ends_with(b"\n") { "" } else { "; the file was cut short" };
                faults.line(last, format!("{n} frames are announced, {} are there{ending}", self.n_rows));
            }
            Some(n) if (n as usize) < self.n_rows => {
                warnings
                    .push(format!("{n} frames are announced, but {} are there; all were read", self.n_rows));
            }
            Some(_) => {}
        }
        if self.frame_secs.is_none() {
            faults.line(last, "MOTION has no `Frame Time:`");
        }
    }
}

fn build_clip(tree: &Tree, motion: &Motion, frame_secs: f64, name: &str) -> Result<Option<Clip>, GeomError> {
    if motion.n_rows == 0 {
        return Ok(None);
    }
    let times: Vec<f32> = (0..motion.n_rows).map(|frame| (frame as f64 * frame_secs) as f32).collect();
    let mut joints = Vec::new();
    let mut column = 0;
    // The channels of a joint are contiguous.
    for channels in tree.channels.chunk_by(|a, b| a.0 == b.0) {
        let (index, joint) = (channels[0].0, &tree.joints[channels[0].0]);
        let columns: Vec<(usize, DofKind)> = (column..).zip(channels.iter().map(|(_, kind)| *kind)).collect();
        column += channels.len();
        let rows = || motion.values.chunks_exact(motion.n_channels);
        let moves = columns.iter().any(|(_, kind)| (*kind as usize) < 3);
        let turns = columns.iter().any(|(_, kind)| (*kind as usize) >= 3);
        let translation = || rows().map(|row| position(joint, &columns, row)).collect();
        let rotation = || continuous(rows().map(|row| rotation(joint, &columns, row)));
        joints.push(JointTrack {
            joint: index,
            translation: moves.then(|| keys(&times, translation())).transpose()?,
            rotation: turns.then(|| keys(&times, rotation())).transpose()?,
            scale: None,
        });
    }
    Ok(Some(Clip { name: name.to_owned(), joints, morphs: Vec::new() }))
}

fn keys<T: sinew_geom::rig::Interpolate>(times: &[f32], values: Vec<T>) -> Result<Keys<T>, GeomError> {
    Keys::new(times.to_vec(), values, Interpolation::Linear, 1)
}

fn position(joint: &Joint, columns: &[(usize, DofKind)], row: &[f64]) -> Vec3 {
    let mut p = joint.rest.translation;
    for &(column, kind) in columns.iter().filter(|(_, kind)| (*kind as usize) < 3) {
        p[kind as usize] = row[column];
    }
    p.as_vec3()
}

fn rotation(joint: &Joint, columns: &[(usize, DofKind)], row: &[f64]) -> Quat {
    let mut angles = DVec3::ZERO;
    for &(column, kind) in columns.iter().filter(|(_, kind)| (*kind as usize) >= 3) {
        angles[kind as usize - 3] = row[column].to_radians();
    }
    joint.euler.to_quat(angles).as_quat().normalize()
}

/// Neighbouring rotations with the same sign, so that players that interpolate linearly take the short way.
fn continuous(rotations: impl Iterator<Item = Quat>) -> Vec<Quat> {
    let mut out: Vec<Quat> = Vec::new();
    for q in rotations {
        out.push(if out.last().is_some_and(|last| last.dot(q) < 0.0) { -q } else { q });
    }
    out
}
