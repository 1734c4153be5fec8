//! Small pictures of poses, for lists of them: drawn without a screen, so that samples and scripts have them, too.

use glam::{DMat3, DVec3, Vec3};
use sinew_geom::{Character, measure::compute_vertex_normals};

/// Width and height in pixels.
const SIZE: usize = 192;
/// Points a pixel is averaged from, in each direction.
const SAMPLES_PER_PIXEL: usize = 2;
/// Share of the picture left free at each side.
const MARGIN: f64 = 0.06;

/// A picture of a character in a pose as a PNG file with a transparent ground, seen from the front and a little from
/// its left and above.
pub fn draw_thumbnail(character: &Character, positions: &[DVec3]) -> Vec<u8> {
    let view = DMat3::from_rotation_x(0.12) * DMat3::from_rotation_y(-0.45);
    let seen: Vec<DVec3> = positions.iter().map(|p| view * *p).collect();
    let [low, high] = sinew_geom::mesh::bounds(&seen);
    let n = (SIZE * SAMPLES_PER_PIXEL) as f64;
    let extent = (high - low).truncate().max_element().max(f64::MIN_POSITIVE);
    let scale = n * (1.0 - 2.0 * MARGIN) / extent;
    let middle = (low + high) / 2.0;
    let place = |p: &DVec3| {
        let from_middle = (*p - middle) * scale;
        DVec3::new(n / 2.0 + from_middle.x, n / 2.0 - from_middle.y, from_middle.z)
    };
    let points: Vec<DVec3> = seen.iter().map(place).collect();
    let normals = compute_vertex_normals(&seen, character.mesh.faces());
    let mut canvas = Canvas::new(SIZE * SAMPLES_PER_PIXEL);
    for (face, corners) in character.mesh.faces().iter().enumerate() {
        let material = character.surface.face_materials.get(face).copied().unwrap_or(0);
        let color = character.surface.materials.get(usize::from(material)).map_or([0.6; 4], |m| m.base_color);
        let corners = corners.map(|v| v as usize);
        canvas.triangle(corners.map(|v| points[v]), corners.map(|v| normals[v]), Vec3::from_slice(&color));
    }
    encode(&canvas.reduced())
}

struct Canvas {
    n: usize,
    depth: Vec<f32>,
    color: Vec<Vec3>,
}

impl Canvas {
    fn new(n: usize) -> Self {
        Self { n, depth: vec![f32::NEG_INFINITY; n * n], color: vec![Vec3::ZERO; n * n] }
    }

    fn triangle(&mut self, p: [DVec3; 3], normals: [DVec3; 3], color: Vec3) {
        let area = (p[1] - p[0]).truncate().perp_dot((p[2] - p[0]).truncate());
        if area.abs() < 1e-12 {
            return;
        }
        let range = |k: usize| {
            let (low, high) = (p[0][k].min(p[1][k]).min(p[2][k]), p[0][k].max(p[1][k]).max(p[2][k]));
            (low.floor().max(0.0) as usize)..(high.ceil().clamp(0.0, self.n as f64) as usize)
        };
        for y in range(1) {
            for x in range(0) {
                let at = glam::DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                let share = |a: DVec3, b: DVec3| (a.truncate() - at).perp_dot(b.truncate() - at) / area;
                let w = [share(p[1], p[2]), share(p[2], p[0]), share(p[0], p[1])];
                if w.iter().any(|w| *w < 0.0) {
                    continue;
                }
                let depth = (w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z) as f32;
                let pixel = y * self.n + x;
                if depth > self.depth[pixel] {
                    let normal = normals[0] * w[0] + normals[1] * w[1] + normals[2] * w[2];
                    self.depth[pixel] = depth;
                    self.color[pixel] = color * light(normal.normalize_or_zero());
                }
            }
        }
    }

    /// Pixels of the picture: screen colours, and how much of each is covered.
    fn reduced(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SIZE * SIZE * 4);
        for y in 0..SIZE {
            for x in 0..SIZE {
                let fine = (0..SAMPLES_PER_PIXEL * SAMPLES_PER_PIXEL).map(|k| {
                    (y * SAMPLES_PER_PIXEL + k / SAMPLES_PER_PIXEL) * self.n
                        + x * SAMPLES_PER_PIXEL
                        + k % SAMPLES_PER_PIXEL
                });
                let covered: Vec<usize> =
                    fine.filter(|&pixel| self.depth[pixel] > f32::NEG_INFINITY).collect();
                let sum: Vec3 = covered.iter().map(|&pixel| self.color[pixel]).sum();
                let mean = sum / covered.len().max(1) as f32;
                bytes.extend(mean.to_array().map(to_screen));
                bytes.push((255 * covered.len() / (SAMPLES_PER_PIXEL * SAMPLES_PER_PIXEL)) as u8);
            }
        }
        bytes
    }
}

/// A lamp from the upper left before the figure, and some light from everywhere.
fn light(normal: DVec3) -> f32 {
    let lamp = DVec3::new(-0.4, 0.6, 0.7).normalize();
    (0.35 + 0.75 * normal.dot(lamp).max(0.0)) as f32
}

/// sRGB of a linear colour.
fn to_screen(linear: f32) -> u8 {
    let x = linear.clamp(0.0, 1.0);
    let screen = if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 };
    (screen * 255.0).round() as u8
}

fn encode(pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, SIZE as u32, SIZE as u32);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    // Writing into memory does not fail.
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(pixels));
    if written.is_err() {
        file.clear();
    }
    file
}
