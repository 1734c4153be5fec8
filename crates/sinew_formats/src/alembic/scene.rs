//! Transforms and meshes of an Alembic archive.
//!
//! # Source
//! The schemas `AbcGeom_Xform_v3`, `AbcGeom_PolyMesh_v1` and `AbcGeom_SubD_v1` of Alembic 1.5 and later.

use super::archive::{Archive, FLOAT32, FLOAT64, INT8, Object, Property, field};
use super::ogawa::fault_at;
use crate::Fault;
use glam::{DMat4, DQuat, DVec3, Vec3};
use std::{collections::BTreeMap, rc::Rc};

/// Levels of objects; deeper ones are taken for a cycle.
const MAX_DEPTH: usize = 500;

/// A transform over time.
pub(super) struct Transform {
    times: Vec<f64>,
    matrices: Vec<DMat4>,
    parent: Option<Rc<Transform>>,
}

/// A mesh and what moves it.
pub(super) struct MeshSource<'a> {
    pub path: String,
    pub points: Property<'a>,
    pub times: Vec<f64>,
    pub counts: Property<'a>,
    pub corners: Property<'a>,
    /// Texture coordinates, their indices if they have any, and whether they are per corner.
    pub uvs: Option<Uvs<'a>>,
    pub transform: Option<Rc<Transform>>,
}

/// Texture coordinates of a mesh.
pub(super) struct Uvs<'a> {
    pub values: Property<'a>,
    pub indices: Option<Property<'a>>,
    pub is_per_vertex: bool,
}

/// Everything in a file.
#[derive(Default)]
pub(super) struct Scene<'a> {
    pub meshes: Vec<MeshSource<'a>>,
    /// How many objects of each other kind there are.
    pub others: BTreeMap<String, usize>,
}

impl<'a> Scene<'a> {
    /// Find all meshes below an object.
    ///
    /// # Errors
    /// The first fault of the tree.
    pub fn read(archive: &mut Archive<'a>, top: &Object<'a>) -> Result<Self, Fault> {
        let mut scene = Self::default();
        scene.visit(archive, top, "", None, 0)?;
        Ok(scene)
    }

    fn visit(
        &mut self,
        archive: &mut Archive<'a>,
        object: &Object<'a>,
        path: &str,
        transform: Option<&Rc<Transform>>,
        depth: usize,
    ) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(fault_at(0, format!("objects are nested more than {MAX_DEPTH} levels deep")));
        }
        for child in archive.children(object)? {
            let path = format!("{path}/{}", child.name);
            let schema = child.schema().to_owned();
            let mut below = transform.cloned();
            if schema.starts_with("AbcGeom_Xform") {
                below = Some(Rc::new(read_transform(archive, &child, transform)?));
            } else if schema.starts_with("AbcGeom_PolyMesh") || schema.starts_with("AbcGeom_SubD") {
                self.meshes.extend(read_mesh(archive, &child, &path, transform)?);
            } else if !schema.is_empty() && !schema.starts_with("AbcGeom_FaceSet") {
                let kind = schema.trim_start_matches("AbcGeom_");
                let kind = kind.split_once("_v").map_or(kind, |(kind, _)| kind);
                *self.others.entry(kind.to_owned()).or_default() += 1;
            }
            self.visit(archive, &child, &path, below.as_ref(), depth + 1)?;
        }
        Ok(())
    }
}

fn find<'a, 'p>(properties: &'p [Property<'a>], name: &str) -> Option<&'p Property<'a>> {
    properties.iter().find(|property| property.name == name)
}

fn read_transform<'a>(
    archive: &Archive<'a>,
    object: &Object<'a>,
    parent: Option<&Rc<Transform>>,
) -> Result<Transform, Fault> {
    let properties = archive.properties(object)?;
    let fields =
        find(&properties, ".xform").map(|found| archive.within(found)).transpose()?.unwrap_or_default();
    let mut transform =
        Transform { times: vec![0.0], matrices: vec![DMat4::IDENTITY], parent: parent.cloned() };
    if let Some(inherits) = find(&fields, ".inherits").filter(|p| p.n_samples() > 0 && INT8.contains(&p.pod))
        && inherits.sample(0)?.bytes.first() == Some(&0)
    {
        transform.parent = None;
    }
    let (Some(ops), Some(values)) = (find(&fields, ".ops"), find(&fields, ".vals")) else {
        return Ok(transform);
    };
    let codes = if ops.n_samples() > 0 { ops.sample(0)?.bytes } else { &[] };
    transform.times = archive.times(values);
    transform.matrices = Vec::with_capacity(transform.times.len());
    for sample in 0..transform.times.len() {
        let matrix = matrix_of(codes, &values.doubles(sample)?).filter(DMat4::is_finite);
        let cause = || {
            let at = values.sample(sample).map_or(0, |data| data.at);
            fault_at(
                at,
                format!("sample {sample} of the transform {:?} does not fit its operations", object.name),
            )
        };
        transform.matrices.push(matrix.ok_or_else(cause)?);
    }
    if transform.times.is_empty() {
        (transform.times, transform.matrices) = (vec![0.0], vec![DMat4::IDENTITY]);
    }
    Ok(transform)
}

/// Product of operations, the first of which is the outermost.
fn matrix_of(codes: &[u8], values: &[f64]) -> Option<DMat4> {
    let mut rest = values;
    let mut take = |n: usize| {
        let (taken, after) = rest.split_at_checked(n)?;
        rest = after;
        Some(taken)
    };
    let mut product = DMat4::IDENTITY;
    for code in codes {
        product *= match code >> 4 {
            0 => DMat4::from_scale(DVec3::from_slice(take(3)?)),
            1 => DMat4::from_translation(DVec3::from_slice(take(3)?)),
            2 => {
                let values = take(4)?;
                let axis = DVec3::from_slice(values).normalize_or(DVec3::X);
                DMat4::from_quat(DQuat::from_axis_angle(axis, values[3].to_radians()))
            }
            3 => DMat4::from_cols_slice(take(16)?),
            4 => DMat4::from_rotation_x(take(1)?[0].to_radians()),
            5 => DMat4::from_rotation_y(take(1)?[0].to_radians()),
            6 => DMat4::from_rotation_z(take(1)?[0].to_radians()),
            _ => return None,
        };
    }
    Some(product)
}

fn read_mesh<'a>(
    archive: &Archive<'a>,
    object: &Object<'a>,
    path: &str,
    transform: Option<&Rc<Transform>>,
) -> Result<Option<MeshSource<'a>>, Fault> {
    let properties = archive.properties(object)?;
    let Some(geometry) = find(&properties, ".geom") else { return Ok(None) };
    let fields = archive.within(geometry)?;
    let has_samples = |name: &str| find(&fields, name).filter(|property| property.n_samples() > 0).cloned();
    let (Some(points), Some(counts), Some(corners)) =
        (has_samples("P"), has_samples(".faceCounts"), has_samples(".faceIndices"))
    else {
        return Ok(None);
    };
    let uvs = match find(&fields, "uv") {
        Some(uv) => {
            let within = archive.within(uv)?;
            let (values, indices) = match find(&within, ".vals") {
                Some(values) => (values.clone(), find(&within, ".indices").cloned()),
                None => (uv.clone(), None),
            };
            let is_per_vertex = matches!(field(uv.metadata, "geoScope"), "vtx" | "var");
            Some(Uvs { values, indices, is_per_vertex }).filter(|uvs| uvs.values.n_samples() > 0)
        }
        None => None,
    };
    let times = archive.times(&points);
    let transform = transform.cloned();
    Ok(Some(MeshSource { path: path.to_owned(), points, times, counts, corners, uvs, transform }))
}

/// Samples around a time: the one before, the one after, and the share of the latter.
fn around(times: &[f64], time: f64) -> (usize, usize, f64) {
    let after = times.partition_point(|t| *t <= time);
    let before = after.saturating_sub(1);
    let after = after.min(times.len().saturating_sub(1));
    let span = times[after] - times[before];
    // Times of different properties agree within rounding.
    let share = if span > 1e-9 { (time - times[before]) / span } else { 0.0 };
    match share {
        share if share < 1e-6 => (before, before, 0.0),
        share if share > 1.0 - 1e-6 => (after, after, 0.0),
        share => (before, after, share),
    }
}

impl Transform {
    /// From the space below it to that of the world.
    pub fn world_at(&self, time: f64) -> DMat4 {
        let (before, after, share) = around(&self.times, time);
        let mut local = self.matrices[before];
        if share > 0.0 {
            local = local * (1.0 - share) + self.matrices[after] * share;
        }
        match &self.parent {
            Some(parent) => parent.world_at(time) * local,
            None => local,
        }
    }

    /// Times at which it or one above it changes.
    pub fn add_times(&self, times: &mut Vec<f64>) {
        if self.times.len() > 1 {
            times.extend(&self.times);
        }
        if let Some(parent) = &self.parent {
            parent.add_times(times);
        }
    }
}

impl MeshSource<'_> {
    /// Positions of a sample.
    pub fn positions(&self, sample: usize) -> Result<Vec<Vec3>, Fault> {
        let data = self.points.sample(sample)?;
        match self.points.pod {
            FLOAT32 => {
                let point = |point: &[[u8; 4]; 3]| Vec3::from_array(point.map(f32::from_le_bytes));
                Ok(data.bytes.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(point).collect())
            }
            FLOAT64 => {
                let point =
                    |point: &[[u8; 8]; 3]| Vec3::from_array(point.map(|b| f64::from_le_bytes(b) as f32));
                Ok(data.bytes.as_chunks::<8>().0.as_chunks::<3>().0.iter().map(point).collect())
            }
            _ => Err(self.points.unusable(data.at, "floating-point numbers")),
        }
    }

    /// Number of points of a sample.
    pub fn n_points(&self, sample: usize) -> Result<usize, Fault> {
        Ok(self.points.sample(sample)?.bytes.len() / if self.points.pod == FLOAT64 { 24 } else { 12 })
    }

    /// Append the positions in the world at a time.
    pub fn positions_at(&self, time: f64, out: &mut Vec<Vec3>) -> Result<(), Fault> {
        let (before, after, share) = around(&self.times, time);
        let start = out.len();
        out.append(&mut self.positions(before)?);
        if share > 0.0 {
            let next = self.positions(after)?;
            out[start..].iter_mut().zip(next).for_each(|(p, next)| *p = p.lerp(next, share as f32));
        }
        let world = self.transform.as_ref().map_or(DMat4::IDENTITY, |transform| transform.world_at(time));
        if world != DMat4::IDENTITY {
            out[start..].iter_mut().for_each(|p| *p = world.transform_point3(p.as_dvec3()).as_vec3());
        }
        Ok(())
    }

    /// The first sample whose faces or number of vertices differ from the first of all, and its time.
    pub fn first_change(&self, archive: &Archive) -> Result<Option<(usize, f64)>, Fault> {
        let mut found: Option<(usize, f64)> = None;
        let mut differs = |sample: usize, time: f64| {
            found = Some(found.filter(|(first, _)| *first <= sample).unwrap_or((sample, time)));
        };
        for property in [&self.counts, &self.corners] {
            let first = property.sample(0)?.bytes;
            for (sample, time) in archive.times(property).into_iter().enumerate().skip(1) {
                let bytes = property.sample(sample)?.bytes;
                if bytes.as_ptr() != first.as_ptr() && bytes != first {
                    differs(sample, time);
                    break;
                }
            }
        }
        let n = self.n_points(0)?;
        for (sample, &time) in self.times.iter().enumerate().skip(1) {
            if self.n_points(sample)? != n {
                differs(sample, time);
                break;
            }
        }
        Ok(found)
    }
}
