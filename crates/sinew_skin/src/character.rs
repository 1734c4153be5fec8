//! A fitted skin as a character that any player of glTF can show: joints, weights and clips.
//!
//! # Limits
//! Exact at the frames up to the tolerance of keys. Between them joints turn along great arcs while vertices of the
//! sequence would move straight; where that would be far off, keys are added between frames.

use crate::{
    EigenSkin, FittedSkin, SkinError,
    chain::{Link, Tolerance, split_affine},
    keys::reduce,
    played::tracks_of,
    skeleton::{Skeleton, middles},
    source::check_length,
};
use glam::{DAffine3, DMat3, DVec3, Quat, Vec3};
use rayon::prelude::*;
use sinew_geom::{
    Character, Clip, Joint, Mesh, Morph, Rig, Skin, SkinSlot, Surface, Transform, Warnings,
    linalg::svd3,
    rig::{Interpolation, JointTrack, Keys, MorphTrack},
};
use std::ops::Range;

/// Name of the joint above all others.
const ROOT: &str = "root";
/// How far vertices may deviate between frames from the straight path, in tolerances of keys: a single bone about
/// twice as far as the default fit is off, to which keys may add a tenth.
const MAX_DEVIATION: f64 = 20.0;
/// The same relative to the reach of a bone; smaller deviations are invisible.
const MIN_VISIBLE_DEVIATION: f64 = 1e-2;

/// Parameters of the export.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportParams {
    /// Frames per second.
    pub fps: f64,
    /// How far, in the units of the mesh, a vertex may be moved by leaving out keys of one curve.
    pub tolerance: f64,
    /// Clips: their names and frames. Empty means one clip of all frames.
    pub clips: Vec<(String, Range<usize>)>,
    /// Name of the character.
    pub name: String,
    /// Whether all joints hang below the root, instead of a tree.
    pub flat: bool,
}

/// Result of the export.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ExportReport {
    /// Joints with the root; bones that scale or shear need two.
    pub joints: usize,
    /// Joints of the longest chain below the root; 1 without a tree.
    pub depth: usize,
    /// Curves of translations: joints that turn about no fixed point of their parent.
    pub shifting: usize,
    /// Bones that needed a second joint.
    pub sheared: usize,
    /// Curves written.
    pub curves: usize,
    /// Curves that would not have moved anything.
    pub constant: usize,
    /// Keys written.
    pub keys: usize,
    /// Keys that the frames would have needed.
    pub full_keys: usize,
}

impl ExportReport {
    /// Count a track of `n_curves` over `n_frames`, and take it into a clip.
    fn add(&mut self, track: JointTrack, n_curves: usize, n_frames: usize, clip: &mut Clip) {
        let counts = [
            track.translation.as_ref().map(|keys| keys.times().len()),
            track.rotation.as_ref().map(|keys| keys.times().len()),
            track.scale.as_ref().map(|keys| keys.times().len()),
        ];
        let written = counts.iter().flatten().count();
        self.curves += written;
        self.constant += n_curves - written;
        self.shifting += usize::from(track.translation.is_some());
        self.keys += counts.iter().flatten().sum::<usize>();
        self.full_keys += n_curves * n_frames;
        if written > 0 {
            clip.joints.push(track);
        }
    }
}

/// Build the character of a skin on a mesh with the given faces and materials.
///
/// # Errors
/// If the skin and the mesh do not fit.
pub fn build_character(
    skin: &FittedSkin,
    mesh: &Mesh,
    surface: &Surface,
    params: &ExportParams,
    warnings: &mut Warnings,
) -> Result<(Character, ExportReport), SkinError> {
    let all = [(params.name.clone(), 0..skin.n_frames())];
    let parts: &[(String, Range<usize>)] = if params.clips.is_empty() { &all } else { &params.clips };
    let is_rigid = skin.is_rigid();
    let made = if is_rigid { rigid(skin, mesh, params, parts)? } else { stretching(skin, params, parts)? };
    let Made { rig, slots, clips, report } = made;
    let bound = Skin::new(slots, skin.influences, skin.indices.clone(), skin.weights.clone(), warnings)?;
    let character = Character {
        name: params.name.clone(),
        mesh: mesh.with_positions(skin.rest.clone())?,
        // Normals of the input do not fit a corrected rest pose.
        surface: Surface { normals: None, ..surface.clone() },
        rig: Some(rig),
        skin: Some(bound),
        clips,
        ..Character::default()
    };
    Ok((character, report))
}

/// Joints, what binds the skin to them, and their clips.
struct Made {
    rig: Rig,
    slots: Vec<SkinSlot>,
    clips: Vec<Clip>,
    report: ExportReport,
}

/// Rigid bones: a joint each, in a tree below a root.
fn rigid(
    skin: &FittedSkin,
    mesh: &Mesh,
    params: &ExportParams,
    parts: &[(String, Range<usize>)],
) -> Result<Made, SkinError> {
    let skeleton = if params.flat { Skeleton::flat(skin) } else { Skeleton::find(skin, mesh) };
    let mut joint_of = vec![0; skin.n_bones];
    skeleton.order.iter().enumerate().for_each(|(at, &bone)| joint_of[bone] = at + 1);
    let mut joints = vec![Joint::new(ROOT, None, Transform::IDENTITY)];
    for &bone in &skeleton.order {
        let parent = skeleton.parents[bone];
        let from = parent.map_or(DVec3::ZERO, |parent| skeleton.joints[parent]);
        let rest = Transform::from_translation(skeleton.joints[bone] - from);
        let parent = parent.map_or(0, |parent| joint_of[parent]);
        joints.push(Joint::new(name_of(joints.len() - 1), Some(parent), rest));
    }
    let bind = |bone: usize| SkinSlot {
        joint: joint_of[bone],
        inverse_bind: DAffine3::from_translation(-skeleton.joints[bone]),
    };
    let mut reaches = vec![1e-9f64; skin.n_bones];
    for (vertex, u) in skin.rest.iter().enumerate() {
        for (bone, w) in skin.vertex(vertex) {
            let reach = &mut reaches[bone as usize];
            *reach = reach.max(f64::from(w) * u.distance(skeleton.joints[bone as usize]));
        }
    }
    let mut report =
        ExportReport { joints: joints.len(), depth: skeleton.depth(), ..ExportReport::default() };
    let mut clips = Vec::new();
    for (name, range) in parts {
        let mut clip = Clip { name: name.clone(), ..Clip::default() };
        let how = (params.fps, params.tolerance);
        for mut track in tracks_of(skin, &skeleton, &reaches, range.clone(), how) {
            track.joint = joint_of[track.joint];
            report.add(track, 2, range.len(), &mut clip);
        }
        clip.joints.sort_by_key(|track| track.joint);
        clips.push(clip);
    }
    let rig = Rig::new(joints)?;
    Ok(Made { rig, slots: (0..skin.n_bones).map(bind).collect(), clips, report })
}

fn name_of(joint: usize) -> String {
    format!("bone_{joint:03}")
}

/// Bones that stretch: two joints each where they shear, all below one root.
fn stretching(
    skin: &FittedSkin,
    params: &ExportParams,
    parts: &[(String, Range<usize>)],
) -> Result<Made, SkinError> {
    let extents = extents(skin);
    let starts: Vec<usize> = parts.iter().map(|(_, range)| range.start).collect();
    let bones: Vec<Chain> = (0..skin.n_bones)
        .into_par_iter()
        .map(|bone| Chain::new(skin, bone, &extents[bone], &starts, params.tolerance))
        .collect();
    let mut joints = vec![Joint::new(ROOT, None, Transform::IDENTITY)];
    let mut slots = Vec::new();
    let mut outer_of = Vec::new();
    for (bone, chain) in bones.iter().enumerate() {
        let name = name_of(bone);
        outer_of.push(joints.len());
        let parent = joints.len();
        joints.push(Joint::new(&name, Some(0), Transform::from_translation(chain.center)));
        if chain.is_sheared() {
            joints.push(Joint::new(format!("{name}_shape"), Some(parent), Transform::IDENTITY));
        }
        slots.push(SkinSlot {
            joint: joints.len() - 1,
            inverse_bind: DAffine3::from_translation(-chain.center),
        });
    }
    let rig = Rig::new(joints)?;
    let mut report = ExportReport {
        joints: rig.n_joints(),
        sheared: bones.iter().filter(|chain| chain.is_sheared()).count(),
        ..ExportReport::default()
    };
    let mut clips = Vec::new();
    for (name, range) in parts {
        let mut clip = Clip { name: name.clone(), ..Clip::default() };
        for (chain, &outer) in bones.iter().zip(&outer_of) {
            chain.write(outer, range.clone(), params, &mut clip, &mut report);
        }
        clips.push(clip);
    }
    Ok(Made { rig, slots, clips, report })
}

/// Add the displacements of an EigenSkin as morph targets, with their weights in the clips.
///
/// Weights are made to run from 0 to 1, since Blender clamps at zero: the rest pose of the mesh moves to where every
/// weight is least, and default weights bring it back.
///
/// # Errors
/// If it belongs to another mesh.
pub fn add_eigenskin(
    character: &mut Character,
    eigenskin: &EigenSkin,
    params: &ExportParams,
) -> Result<(), SkinError> {
    let n = eigenskin.offsets.len();
    if n == 0 {
        return Ok(());
    }
    let ranges: Vec<[f32; 2]> = (0..n)
        .map(|at| {
            let weights = eigenskin.weights.iter().map(|frame| frame[at]);
            weights.fold([0.0f32, 1e-6], |[low, high], w| [low.min(w), high.max(w)])
        })
        .collect();
    let mut rest = character.mesh.positions().to_vec();
    for (at, (offsets, [low, high])) in eigenskin.offsets.iter().zip(&ranges).enumerate() {
        check_length(0, rest.len(), offsets.len())?;
        rest.iter_mut().zip(offsets).for_each(|(p, o)| *p += f64::from(*low) * o.as_dvec3());
        let span = high - low;
        let offsets = offsets.iter().map(|o| span * *o).collect();
        character.morphs.push(Morph { name: format!("eigen.{at:03}"), offsets, default_weight: -low / span });
    }
    character.mesh = character.mesh.with_positions(rest)?;
    let all = [(params.name.clone(), 0..eigenskin.weights.len())];
    let parts: &[(String, Range<usize>)] = if params.clips.is_empty() { &all } else { &params.clips };
    let first = character.morphs.len() - n;
    let scaled = |frame: &Vec<f32>| -> Vec<f32> {
        frame.iter().zip(&ranges).map(|(w, [low, high])| ((w - low) / (high - low)).clamp(0.0, 1.0)).collect()
    };
    for (clip, (_, range)) in character.clips.iter_mut().zip(parts) {
        let times = (0..range.len()).map(|frame| (frame as f64 / params.fps) as f32).collect();
        let values = eigenskin.weights[range.clone()].iter().flat_map(scaled).collect();
        let keys = Keys::new(times, values, Interpolation::Linear, n)?;
        clip.morphs.push(MorphTrack { morphs: first..first + n, keys });
    }
    Ok(())
}

/// The vertices of a bone.
struct Extent {
    /// Weighted centre.
    center: DVec3,
    /// Largest distance of a vertex from it, by weight.
    reach: f64,
    /// A root of the second moments about it, by weight.
    shape: DMat3,
}

fn extents(skin: &FittedSkin) -> Vec<Extent> {
    let (centers, masses) = middles(skin);
    let mut extents: Vec<Extent> =
        centers.into_iter().map(|center| Extent { center, reach: 1e-9, shape: DMat3::ZERO }).collect();
    for (vertex, u) in skin.rest.iter().enumerate() {
        for (bone, w) in skin.vertex(vertex) {
            let Extent { center, reach, shape } = &mut extents[bone as usize];
            let w = f64::from(w);
            let from = *u - *center;
            *reach = reach.max(w * from.length());
            *shape +=
                w * w / masses[bone as usize] * DMat3::from_cols(from.x * from, from.y * from, from.z * from);
        }
    }
    extents.iter_mut().for_each(|extent| extent.shape = root(&extent.shape));
    extents
}

/// The symmetric root of a matrix of moments.
fn root(moments: &DMat3) -> DMat3 {
    let (u, sigma, _) = svd3(moments);
    u * DMat3::from_diagonal(sigma.abs().map(f64::sqrt)) * u.transpose()
}

/// A bone over all frames, as joints.
struct Chain {
    center: DVec3,
    reach: f64,
    /// Times of links and shifts, in frames.
    places: Vec<f64>,
    shifts: Vec<Vec3>,
    links: Vec<Link>,
}

impl Chain {
    fn new(
        skin: &FittedSkin,
        bone: usize,
        &Extent { center, reach, shape }: &Extent,
        starts: &[usize],
        tolerance: f64,
    ) -> Self {
        let frames = 0..skin.n_frames();
        let matrices: Vec<DMat3> = frames.clone().map(|frame| skin.frame(frame)[bone].matrix3).collect();
        let shifts: Vec<DVec3> =
            frames.map(|frame| skin.frame(frame)[bone].transform_point3(center)).collect();
        let between = (MAX_DEVIATION * tolerance).max(MIN_VISIBLE_DEVIATION * reach);
        let (places, links) =
            split_affine(&matrices, starts, Tolerance { at: 0.5 * tolerance / reach, between, shape });
        let shift = |place: &f64| {
            let (frame, share) = (place.floor() as usize, place.fract());
            shifts[frame].lerp(shifts[(frame + 1).min(shifts.len() - 1)], share).as_vec3()
        };
        let shifts = places.iter().map(shift).collect();
        Self { center, reach, places, shifts, links }
    }

    fn is_sheared(&self) -> bool {
        self.links.iter().any(|link| link.inner != Link::REST.inner)
    }

    fn write(
        &self,
        outer: usize,
        frames: Range<usize>,
        params: &ExportParams,
        clip: &mut Clip,
        report: &mut ExportReport,
    ) {
        let tolerance = params.tolerance as f32;
        // An angle or a factor moves a vertex by itself times the reach of the bone.
        let relative = (params.tolerance / self.reach) as f32;
        let own = |frame: usize| self.places.partition_point(|place| *place < frame as f64);
        let own = own(frames.start)..own(frames.end);
        let time = |place: &f64| ((place - frames.start as f64) / params.fps) as f32;
        let times: Vec<f32> = self.places[own.clone()].iter().map(time).collect();
        let links = &self.links[own.clone()];
        let outers: Vec<Quat> = links.iter().map(|link| link.outer.as_quat().normalize()).collect();
        let scales: Vec<Vec3> = links.iter().map(|link| link.scale.as_vec3()).collect();
        let track = JointTrack {
            joint: outer,
            translation: reduce(&self.shifts[own], &times, self.center.as_vec3(), tolerance),
            rotation: reduce(&outers, &times, Quat::IDENTITY, relative),
            scale: reduce(&scales, &times, Vec3::ONE, relative),
        };
        let mut tracks = vec![track];
        if self.is_sheared() {
            let inners: Vec<Quat> = links.iter().map(|link| link.inner.as_quat().normalize()).collect();
            let rotation = reduce(&inners, &times, Quat::IDENTITY, relative);
            tracks.push(JointTrack { joint: outer + 1, translation: None, rotation, scale: None });
        }
        for track in tracks {
            let n_curves = if track.joint == outer { 3 } else { 1 };
            report.add(track, n_curves, frames.len(), clip);
        }
    }
}
