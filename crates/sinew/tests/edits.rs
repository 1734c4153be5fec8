//! The standard edits: Botsch and Sorkine's survey models, and the Armadillo raising an arm. `sinew_bench` reads
//! this file too.

use sinew::{
    deform::{
        HandleMotion, HandlePose, HandleSet,
        quality::{Section, measure_sections},
    },
    formats::read_any,
    geom::{Handle, Mesh, Warnings, measure::largest_error},
};
use std::{f64::consts::TAU, path::Path};

use glam::{DMat3, DQuat, DVec3};

pub type Tried<T> = Result<T, Box<dyn std::error::Error>>;

/// A mesh, what is held, what is moved, and where to.
pub struct Edit {
    pub name: &'static str,
    pub mesh: Mesh,
    pub handles: HandleSet,
    pub pose: HandlePose,
    /// Axis of a limb whose sections are measured, and the range of the soft part on it.
    pub limb: Option<(usize, [f64; 2])>,
    /// Twist of the moved end about that axis, radians.
    pub twist: Option<f64>,
}

fn read_mesh(path: &Path) -> Tried<Mesh> {
    Ok(read_any(path, &mut Warnings::default())?.into_character().ok_or("no mesh")?.mesh)
}

/// Lines of a survey file without comments.
fn numbers(path: &Path) -> Tried<Vec<f64>> {
    let text = std::fs::read_to_string(path)?;
    let words = text.lines().filter(|l| !l.starts_with('#')).flat_map(str::split_whitespace);
    Ok(words.map(str::parse).collect::<Result<_, _>>()?)
}

/// Two handles from a status per vertex: 0 held, 1 soft, 2 moved.
fn two_handles(mesh: &Mesh, status: &[u8]) -> Tried<HandleSet> {
    let handle = |name: &str, of: u8| {
        let vertices: Vec<u32> = (0..status.len() as u32).filter(|&v| status[v as usize] == of).collect();
        Handle { name: name.into(), weights: vec![1.0; vertices.len()], vertices, ..Handle::default() }
    };
    Ok(HandleSet::new(mesh, &[handle("held", 0), handle("moved", 2)], &mut Warnings::default())?)
}

/// A motion that turns by `turn` about `center` and then shifts.
fn motion(turn: DVec3, center: DVec3, shift: DVec3) -> HandleMotion {
    let rotation = DQuat::from_scaled_axis(turn);
    HandleMotion { rotation, translation: center - rotation * center + shift, turn, twists: Vec::new() }
}

fn survey(data: &Path, name: &str) -> Tried<(Mesh, HandleSet, DMat3, DVec3)> {
    let path = |ending: &str| data.join("survey").join(format!("{name}.{ending}"));
    let mesh = read_mesh(&path("off"))?;
    let status: Vec<u8> = numbers(&path("sel"))?.iter().map(|x| *x as u8).collect();
    let m = numbers(&path("def"))?;
    if m.len() != 16 || status.len() != mesh.n_vertices() {
        return Err(format!("{name}: unexpected sizes").into());
    }
    let matrix = DMat3::from_cols_array(&std::array::from_fn(|k| m[(k % 3) * 4 + k / 3]));
    let handles = two_handles(&mesh, &status)?;
    Ok((mesh, handles, matrix, DVec3::new(m[3], m[7], m[11])))
}

/// Range of the soft vertices along an axis.
fn soft_range(mesh: &Mesh, handles: &HandleSet, axis: usize) -> [f64; 2] {
    let soft =
        (0..mesh.n_vertices()).filter(|&v| handles.owner(v).is_none()).map(|v| mesh.positions()[v][axis]);
    soft.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
}

pub fn bar(data: &Path, degrees: f64) -> Tried<Edit> {
    let (mesh, handles, ..) = survey(data, "bar")?;
    let turn = DVec3::Z * degrees.to_radians();
    let pose = HandlePose::from_motions(
        &handles,
        vec![HandleMotion::default(), motion(turn, DVec3::ZERO, DVec3::ZERO)],
    )?;
    let limb = Some((2, soft_range(&mesh, &handles, 2)));
    let name = if degrees > 150.0 { "bar 180" } else { "bar 135" };
    Ok(Edit { name, mesh, handles, pose, limb, twist: Some(degrees.to_radians()) })
}

pub fn cylinder(data: &Path) -> Tried<Edit> {
    let (mesh, handles, matrix, translation) = survey(data, "cylinder")?;
    let motion = HandleMotion::rigid(DQuat::from_mat3(&matrix), translation);
    let pose = HandlePose::from_motions(&handles, vec![HandleMotion::default(), motion])?;
    let limb = Some((2, soft_range(&mesh, &handles, 2)));
    Ok(Edit { name: "cylinder 120", mesh, handles, pose, limb, twist: None })
}

pub fn cactus(data: &Path) -> Tried<Edit> {
    let (mesh, handles, matrix, translation) = survey(data, "cactus")?;
    let motion = HandleMotion::rigid(DQuat::from_mat3(&matrix), translation);
    let pose = HandlePose::from_motions(&handles, vec![HandleMotion::default(), motion])?;
    Ok(Edit { name: "cactus 70", mesh, handles, pose, limb: None, twist: None })
}

/// The Armadillo scaled to a diagonal of one.
pub fn armadillo(data: &Path) -> Tried<Mesh> {
    let mesh = read_mesh(&data.join("meshes/libigl-armadillo.obj"))?;
    let scale = 1.0 / mesh.diagonal();
    Ok(mesh.with_positions(mesh.positions().iter().map(|p| *p * scale).collect())?)
}

pub fn arm_raise(data: &Path) -> Tried<Edit> {
    let mesh = armadillo(data)?;
    let status: Vec<u8> = mesh
        .positions()
        .iter()
        .map(|p| match (p.x > 0.10 && p.y > 0.03 && p.y < 0.27, p.x > 0.15 && p.z > 0.12) {
            (_, true) => 2,
            (true, false) => 1,
            _ => 0,
        })
        .collect();
    let handles = two_handles(&mesh, &status)?;
    let pivot = DVec3::new(0.10, 0.12, -0.03);
    let hand = &handles.handles()[1].vertices;
    let center: DVec3 = hand.iter().map(|&v| mesh.positions()[v as usize]).sum::<DVec3>() / hand.len() as f64;
    let axis = (center - pivot).normalize().cross(DVec3::Y).normalize();
    let moved = motion(axis * 70f64.to_radians(), pivot, DVec3::ZERO);
    let pose = HandlePose::from_motions(&handles, vec![HandleMotion::default(), moved])?;
    Ok(Edit { name: "arm raise", mesh, handles, pose, limb: None, twist: None })
}

impl Edit {
    /// Largest difference of the slices' twists from an even one, degrees, and smallest area left of a slice.
    pub fn measure_limb(&self, positions: &[DVec3]) -> Option<(Option<f64>, f64)> {
        let (axis, [low, high]) = self.limb?;
        let slices = measure_sections(self.mesh.positions(), positions, axis, [low, high], 24);
        let off = |twist: f64, s: &Section| {
            let even = twist * (s.place - low) / (high - low);
            let d = (s.twist - even).rem_euclid(TAU);
            d.min(TAU - d).to_degrees()
        };
        let worst = self.twist.map(|twist| largest_error(slices.iter().map(|s| off(twist, s))));
        Some((worst, slices.iter().map(|s| s.area_ratio).fold(f64::INFINITY, f64::min)))
    }
}
