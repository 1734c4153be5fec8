//! Vertices on the wire: only what changed, small when large. The layout is in `PROTOCOL.md`.

use crate::capabilities::Cells;
use crate::wire::GestureId;
use glam::{DQuat, DVec3, Quat, Vec3};
use sinew::{
    geom::{Character, Handle},
    session::{Frame, smooth_normals},
};
use std::{collections::HashMap, sync::Arc};

/// Meshes of more vertices are sent as 16-bit integers.
pub const MAX_EXACT: usize = 100_000;
/// Vertices that are sent together if one of them changed.
const BLOCK: usize = 64;
/// Movement that is invisible, as a share of the box with room: a hundredth of a pixel on a large screen.
const UNSEEN: f32 = 2e-6;
/// Rotation of a normal that is invisible.
const UNSEEN_TURN: f32 = 1e-3;

const GEOMETRY: u32 = 1;
const FRAME: u32 = 2;
const HANDLES: u32 = 3;

/// Tags of positions, quantised positions and normals: of the document's own surface, and of the fit beside it.
const OWN: [u32; 3] = [5, 6, 7];
const TWIN: [u32; 3] = [12, 13, 14];

/// A surface as it is drawn: faces by material, vertices copied where texture coordinates jump.
#[derive(Debug)]
pub struct Geometry {
    n_vertices: usize,
    triangles: Vec<(u32, Vec<u32>)>,
    sources: Option<Vec<u32>>,
    uvs: Option<Vec<[f32; 2]>>,
    colors: Option<Vec<[u16; 4]>>,
    shading: Option<Shading>,
    rest: Frame,
}

/// Normals of a file, which turn with the surface: hard edges stay hard, seams of textures are not seen.
#[derive(Debug)]
struct Shading {
    /// As the file has them, at rest.
    given: Vec<Vec3>,
    /// As the faces have them, at rest.
    of_faces: Vec<Vec3>,
}

impl Geometry {
    /// Of a character without its hidden faces, with its shape at rest.
    pub fn new(character: &Character, is_hidden: impl Fn(usize) -> bool, mut rest: Frame) -> Self {
        let surface = &character.surface;
        let mut triangles: Vec<(u32, Vec<u32>)> =
            (0..surface.materials.len().max(1) as u32).map(|material| (material, Vec::new())).collect();
        let mut copies: HashMap<(u32, u32), u32> = HashMap::new();
        let mut sources: Vec<u32> = (0..character.mesh.n_vertices() as u32).collect();
        let mut uvs = surface.uvs.as_ref().map(|_| vec![[f32::NAN; 2]; sources.len()]);
        for (face, corners) in character.mesh.faces().iter().enumerate().filter(|(face, _)| !is_hidden(*face))
        {
            let mut drawn = *corners;
            if let (Some(given), Some(uvs)) = (&surface.uvs, &mut uvs) {
                for (corner, &uv) in drawn.iter_mut().zip(&given.corners[face]) {
                    let (vertex, value) = (*corner, given.coords[uv as usize]);
                    *corner = *copies.entry((vertex, uv)).or_insert_with(|| {
                        // The first coordinate of a vertex is its own, further ones need a copy.
                        if uvs[vertex as usize][0].is_nan() {
                            uvs[vertex as usize] = value;
                            return vertex;
                        }
                        sources.push(vertex);
                        uvs.push(value);
                        sources.len() as u32 - 1
                    });
                }
            }
            let material = surface.face_materials.get(face).copied().unwrap_or(0) as usize;
            triangles[material.min(surface.materials.len().saturating_sub(1))].1.extend(drawn);
        }
        for uv in uvs.iter_mut().flatten().filter(|uv| uv[0].is_nan()) {
            *uv = [0.0; 2];
        }
        // Linear light in bytes would show steps where it is dark.
        let word = |x: f32| (x.clamp(0.0, 1.0) * 65535.0).round() as u16;
        let colors = surface.colors.as_ref().map(|colors| colors.iter().map(|c| c.map(word)).collect());
        let n_vertices = character.mesh.n_vertices();
        let sources = (sources.len() > n_vertices).then_some(sources);
        let given = surface.normals.clone().filter(|normals| normals.len() == rest.positions.len());
        let shading = given.map(|given| {
            rest.normals.clone_from(&given);
            Shading { given, of_faces: smooth_normals(&rest.positions, character.mesh.faces()) }
        });
        Self { n_vertices, triangles, sources, uvs, colors, shading, rest }
    }

    /// Give a shape the normals of the file, turned as its faces turned since the rest pose.
    pub fn shade(&self, frame: &mut Frame, faces: &[[u32; 3]]) {
        let Some(shading) = &self.shading else { return };
        if frame.positions == self.rest.positions {
            frame.normals.clone_from(&shading.given);
            return;
        }
        let now = smooth_normals(&frame.positions, faces);
        let turns = shading.of_faces.iter().zip(&now).zip(&shading.given);
        frame.normals = turns.map(|((&from, &to), &normal)| turned(normal, from, to)).collect();
    }
}

/// A shape to be drawn, with everything that belongs to it.
#[derive(Debug)]
pub struct Drawn {
    /// Which geometry it belongs to.
    pub revision: u32,
    /// That geometry.
    pub geometry: Arc<Geometry>,
    /// Where its vertices are.
    pub frame: Frame,
    /// Stretch of each vertex, if it is asked for.
    pub stretch: Option<Vec<f32>>,
    /// The newest drag of each page that it shows.
    pub drags: Vec<GestureId>,
    /// The handles it was made with.
    pub handles: Vec<Arc<Handle>>,
    /// The fit, to be seen beside it.
    pub twin: Option<Frame>,
    /// How much stiffer each vertex is painted.
    pub paint: Option<Arc<Vec<f32>>>,
    /// The cells of flesh, if they are asked for.
    pub cells: Option<Cells>,
}

/// What one page has, so that it is sent only what it lacks.
#[derive(Debug, Default)]
pub struct SentFrames {
    revision: Option<u32>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    /// Movement too small to be seen.
    tolerance: f32,
    bounds: Option<[Vec3; 2]>,
    handles: Option<Vec<Arc<Handle>>>,
    paint: Option<Arc<Vec<f32>>>,
    edges: Option<Arc<Vec<[u32; 2]>>>,
}

impl SentFrames {
    /// The messages that bring a page to a shape, each with its number from `number` on.
    pub fn update(&mut self, drawn: &Drawn, page: u64, number: &mut u32) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        let rest = &drawn.geometry.rest;
        let quantised = drawn.geometry.n_vertices > MAX_EXACT;
        if self.revision != Some(drawn.revision) {
            self.revision = Some(drawn.revision);
            (self.positions, self.normals) = (rest.positions.clone(), rest.normals.clone());
            let [low, high] = roomy(&rest.positions);
            self.tolerance = UNSEEN * low.distance(high);
            self.bounds = quantised.then_some([low, high]);
            let mut message = Message::new(GEOMETRY, (page, next(number)), drawn, self.bounds);
            message.geometry(&drawn.geometry);
            message.shape(OWN, rest, 0, rest.positions.len(), self.bounds);
            message.owners(drawn);
            message.handle_frames(&rest.handles);
            messages.push(message.bytes);
            self.handles = Some(drawn.handles.clone());
            (self.paint, self.edges) = (None, None);
        }
        let mut ranges = self.changed(&drawn.frame);
        if quantised && !self.bounds.is_some_and(|bounds| holds(bounds, &drawn.frame.positions)) {
            self.bounds = Some(roomy(&drawn.frame.positions));
            ranges = vec![(0, drawn.frame.positions.len())];
        }
        let has_handles = self.handles.as_ref().is_some_and(|handles| {
            handles.len() == drawn.handles.len()
                && handles.iter().zip(&drawn.handles).all(|(a, b)| Arc::ptr_eq(a, b))
        });
        if !has_handles {
            let mut message = Message::new(HANDLES, (page, next(number)), drawn, None);
            message.owners(drawn);
            messages.push(message.bytes);
            self.handles = Some(drawn.handles.clone());
        }
        let mut message = Message::new(FRAME, (page, next(number)), drawn, self.bounds);
        for &(first, count) in &ranges {
            message.shape(OWN, &drawn.frame, first, count, self.bounds);
            let range = first..first + count;
            self.positions[range.clone()].copy_from_slice(&drawn.frame.positions[range.clone()]);
            self.normals[range.clone()].copy_from_slice(&drawn.frame.normals[range]);
        }
        if let Some(twin) = &drawn.twin {
            message.shape(TWIN, twin, 0, twin.positions.len(), self.bounds);
        }
        if let Some(stretch) = &drawn.stretch {
            let bytes: Vec<u8> = stretch.iter().map(|&s| stress(s)).collect();
            message.section(10, 0, bytes.len() as u32, &bytes);
        }
        message.handle_frames(&drawn.frame.handles);
        self.flesh(drawn, &mut message);
        messages.push(message.bytes);
        messages
    }

    /// Paint and edges of cells where they are others than the page has; where cells are, always.
    fn flesh(&mut self, drawn: &Drawn, message: &mut Message) {
        let is_same = |paint: &Option<Arc<Vec<f32>>>| {
            paint.as_ref().map(Arc::as_ptr) == drawn.paint.as_ref().map(Arc::as_ptr)
        };
        if !is_same(&self.paint) {
            let bytes: Vec<u8> =
                drawn.paint.iter().flat_map(|paint| paint.iter().map(|f| stiffness(*f))).collect();
            message.section(15, 0, bytes.len() as u32, &bytes);
            self.paint.clone_from(&drawn.paint);
        }
        let Some((edges, nodes)) = &drawn.cells else { return };
        if self.edges.as_ref().map(Arc::as_ptr) != Some(Arc::as_ptr(edges)) {
            let bytes: Vec<u8> = edges.iter().flatten().flat_map(|node| node.to_le_bytes()).collect();
            message.section(16, edges.len() as u32, 0, &bytes);
            self.edges = Some(edges.clone());
        }
        let bytes: Vec<u8> = nodes.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes).collect();
        message.section(17, nodes.len() as u32, 0, &bytes);
    }

    /// Runs of vertices that the page would see elsewhere, in whole blocks. What it has is compared, not what the
    /// last shape was, so that small movements do not add up unseen.
    fn changed(&self, frame: &Frame) -> Vec<(usize, usize)> {
        let n = frame.positions.len();
        let square = self.tolerance * self.tolerance;
        let is_far = |(a, b): (&Vec3, &Vec3)| a.distance_squared(*b) > square;
        let is_turned = |(a, b): (&Vec3, &Vec3)| a.distance_squared(*b) > UNSEEN_TURN * UNSEEN_TURN;
        let differs = |first: usize| {
            let range = first..(first + BLOCK).min(n);
            self.positions[range.clone()].iter().zip(&frame.positions[range.clone()]).any(is_far)
                || self.normals[range.clone()].iter().zip(&frame.normals[range]).any(is_turned)
        };
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for first in (0..n).step_by(BLOCK).filter(|&first| differs(first)) {
            let count = BLOCK.min(n - first);
            match ranges.last_mut() {
                Some((start, length)) if *start + *length == first => *length += count,
                _ => ranges.push((first, count)),
            }
        }
        ranges
    }
}

fn next(number: &mut u32) -> u32 {
    *number = number.wrapping_add(1);
    *number
}

struct Message {
    bytes: Vec<u8>,
}

impl Message {
    fn new(kind: u32, (page, number): (u64, u32), drawn: &Drawn, bounds: Option<[Vec3; 2]>) -> Self {
        let [low, high] = bounds.unwrap_or_default();
        let extent = high - low;
        let solve_ms = drawn.frame.solve_time.as_secs_f32() * 1e3;
        let drag = drawn.drags.iter().find(|gesture| gesture.page == page).map_or(0, |gesture| gesture.drag);
        let mut bytes = Vec::new();
        for word in [kind, number, drawn.revision, drawn.geometry.n_vertices as u32, solve_ms.to_bits(), drag]
        {
            bytes.extend(word.to_le_bytes());
        }
        for value in [low.x, low.y, low.z, extent.x, extent.y, extent.z] {
            bytes.extend(value.to_le_bytes());
        }
        Self { bytes }
    }

    fn section(&mut self, tag: u32, a: u32, b: u32, content: &[u8]) {
        for word in [tag, a, b, content.len() as u32] {
            self.bytes.extend(word.to_le_bytes());
        }
        self.bytes.extend(content);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn geometry(&mut self, geometry: &Geometry) {
        for (material, triangles) in geometry.triangles.iter().filter(|(_, triangles)| !triangles.is_empty())
        {
            let bytes: Vec<u8> = triangles.iter().flat_map(|index| index.to_le_bytes()).collect();
            self.section(1, triangles.len() as u32 / 3, *material, &bytes);
        }
        if let Some(sources) = &geometry.sources {
            let bytes: Vec<u8> = sources.iter().flat_map(|source| source.to_le_bytes()).collect();
            self.section(2, sources.len() as u32, 0, &bytes);
        }
        if let Some(uvs) = &geometry.uvs {
            let bytes: Vec<u8> = uvs.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
            self.section(3, uvs.len() as u32, 0, &bytes);
        }
        if let Some(colors) = &geometry.colors {
            let bytes: Vec<u8> = colors.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
            self.section(4, colors.len() as u32, 0, &bytes);
        }
    }

    fn shape(
        &mut self,
        [exact, quantised, turned]: [u32; 3],
        frame: &Frame,
        first: usize,
        count: usize,
        bounds: Option<[Vec3; 2]>,
    ) {
        let positions = &frame.positions[first..first + count];
        let normals = &frame.normals[first..first + count];
        let (at, n) = (first as u32, count as u32);
        match bounds {
            Some([low, high]) => {
                let scale = 2.0 / (high - low).max(Vec3::splat(f32::MIN_POSITIVE));
                let mut bytes = Vec::with_capacity(count * 8);
                for (p, normal) in positions.iter().zip(normals) {
                    let q = (((*p - low) * scale - 1.0).clamp(-Vec3::ONE, Vec3::ONE) * 32767.0).round();
                    for value in [q.x, q.y, q.z] {
                        bytes.extend((value as i16).to_le_bytes());
                    }
                    bytes.extend(octahedral(*normal).map(|x| x.to_le_bytes()[0]));
                }
                self.section(quantised, at, n, &bytes);
            }
            None => {
                let bytes: Vec<u8> =
                    positions.iter().flat_map(|p| p.to_array()).flat_map(f32::to_le_bytes).collect();
                self.section(exact, at, n, &bytes);
                // Bytes would show steps in reflections.
                let signed = |x: f32| ((x * 32767.0).round() as i16).to_le_bytes();
                let bytes: Vec<u8> =
                    normals.iter().flat_map(|n| [n.x, n.y, n.z, 0.0]).flat_map(signed).collect();
                self.section(turned, at, n, &bytes);
            }
        }
    }

    /// Who owns each vertex, and how firmly.
    fn owners(&mut self, drawn: &Drawn) {
        let n = drawn.geometry.n_vertices;
        let (mut owner, mut weight) = (vec![u16::MAX; n], vec![0u8; n]);
        for (index, handle) in drawn.handles.iter().enumerate().take(usize::from(u16::MAX)) {
            for (&v, &w) in handle.vertices.iter().zip(&handle.weights).filter(|(v, _)| (**v as usize) < n) {
                owner[v as usize] = index as u16;
                weight[v as usize] = (w.clamp(0.0, 1.0) * 255.0).round() as u8;
            }
        }
        let bytes: Vec<u8> = owner.iter().flat_map(|owner| owner.to_le_bytes()).collect();
        self.section(8, n as u32, 0, &bytes);
        self.section(9, n as u32, 0, &weight);
    }

    fn handle_frames(&mut self, handles: &[(DVec3, DQuat)]) {
        let values = handles.iter().flat_map(|(center, rotation)| {
            let (c, r) = (center.as_vec3(), rotation.as_quat());
            [c.x, c.y, c.z, r.x, r.y, r.z, r.w]
        });
        let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
        self.section(11, handles.len() as u32, 0, &bytes);
    }
}

/// A direction turned by the shortest turn from one unit vector to another; as it is where either has no length.
fn turned(direction: Vec3, from: Vec3, to: Vec3) -> Vec3 {
    if from == Vec3::ZERO || to == Vec3::ZERO {
        return direction;
    }
    Quat::from_rotation_arc(from, to) * direction
}

/// A box with room to move in, so that few poses leave it.
fn roomy(positions: &[Vec3]) -> [Vec3; 2] {
    let low = positions.iter().copied().reduce(Vec3::min).unwrap_or_default();
    let high = positions.iter().copied().reduce(Vec3::max).unwrap_or_default();
    let room = Vec3::splat((high - low).max_element() * 0.5);
    [low - room, high + room]
}

fn holds([low, high]: [Vec3; 2], positions: &[Vec3]) -> bool {
    positions.iter().all(|p| p.cmpge(low).all() && p.cmple(high).all())
}

/// A direction in two signed bytes (Cigolle et al., *A survey of efficient representations for independent unit
/// vectors*, 2014): the octahedron folded out.
fn octahedral(normal: Vec3) -> [i8; 2] {
    let n = normal / normal.abs().element_sum().max(f32::MIN_POSITIVE);
    let sign = |x: f32| if x < 0.0 { -1.0 } else { 1.0 };
    let (x, y) =
        if n.z < 0.0 { ((1.0 - n.y.abs()) * sign(n.x), (1.0 - n.x.abs()) * sign(n.y)) } else { (n.x, n.y) };
    [x, y].map(|value| (value * 127.0).round() as i8)
}

/// Painted stiffness as a byte: 128 as it is, 0 a thirtieth, 255 thirty times.
fn stiffness(factor: f32) -> u8 {
    (128.0 + 127.0 * (factor.max(1e-6).ln() / 30f32.ln()).clamp(-1.0, 1.0)).round() as u8
}

/// Stretch as a byte: 128 unstretched, 0 pressed to half, 255 stretched to double.
fn stress(stretch: f32) -> u8 {
    (128.0 + 127.0 * stretch.max(1e-6).log2().clamp(-1.0, 1.0)).round() as u8
}
