//! A small software rasteriser: depth buffer, smooth normals, two lights, contact shading, ground shadow.

use glam::{DMat3, DVec3};
use std::path::Path;

/// Samples per pixel and direction.
const OVER: usize = 2;

/// A surface to draw.
pub struct Item {
    pub positions: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    /// Linear colour per corner.
    pub colors: Vec<[[f32; 3]; 3]>,
}

/// Where a picture is taken from: an orthographic camera.
#[derive(Clone, Copy)]
pub struct View {
    pub target: DVec3,
    /// Metres from the middle to the upper edge.
    pub half_height: f64,
    /// Turn about the vertical, degrees; 0 looks along −Z at the front.
    pub azimuth: f64,
    /// Height of the camera above the horizon, degrees.
    pub elevation: f64,
    /// Draw the floor at y = 0 and the shadow on it.
    pub floor: bool,
}

/// A picture under way.
pub struct Picture {
    width: usize,
    height: usize,
    depth: Vec<f64>,
    color: Vec<[f32; 3]>,
}

impl Picture {
    pub fn new(width: usize, height: usize) -> Self {
        let (width, height) = (width * OVER, height * OVER);
        let color = (0..width * height)
            .map(|i| {
                let t = (i / width) as f32 / height as f32;
                [0.90 - 0.1 * t, 0.91 - 0.09 * t, 0.93 - 0.07 * t]
            })
            .collect();
        Self { width, height, depth: vec![f64::NEG_INFINITY; width * height], color }
    }

    /// Draw surfaces.
    pub fn draw(&mut self, items: &[Item], view: &View) {
        let camera = camera(view);
        let scale = self.height as f64 * 0.5 / view.half_height;
        let middle = (self.width as f64 * 0.5, self.height as f64 * 0.5);
        let screen = |p: DVec3| {
            let q = camera * (p - view.target) * scale;
            DVec3::new(middle.0 + q.x, middle.1 - q.y, q.z)
        };
        if view.floor {
            self.floor_shadow(items, view, &screen);
        }
        for item in items {
            let normals = normals(item);
            for (f, face) in item.faces.iter().enumerate() {
                let p = face.map(|v| screen(item.positions[v as usize]));
                let n = face.map(|v| camera * normals[v as usize]);
                self.triangle(p, n, item.colors[f]);
            }
        }
        self.contact_shade(0.045 * scale);
    }

    fn triangle(&mut self, p: [DVec3; 3], n: [DVec3; 3], c: [[f32; 3]; 3]) {
        let (width, height) = (self.width, self.height);
        fill(width, height, p, |x, y, w| {
            let z = w[0] * p[0].z + w[1] * p[1].z + w[2] * p[2].z;
            let at = y * width + x;
            if z > self.depth[at] {
                let mut normal = (n[0] * w[0] + n[1] * w[1] + n[2] * w[2]).normalize_or(DVec3::Z);
                if normal.z < 0.0 {
                    normal = -normal;
                }
                self.depth[at] = z;
                let base = std::array::from_fn(|k| (0..3).map(|i| c[i][k] * w[i] as f32).sum::<f32>());
                self.color[at] = shade(normal, base);
            }
        });
    }

    /// Shadow of all surfaces on the floor, blurred.
    fn floor_shadow(&mut self, items: &[Item], view: &View, screen: &impl Fn(DVec3) -> DVec3) {
        let light = DVec3::new(-0.3, 1.0, 0.3);
        let light = DMat3::from_rotation_y(view.azimuth.to_radians()) * light;
        let (width, height) = (self.width, self.height);
        let mut mask = vec![0f32; width * height];
        for item in items {
            for face in &item.faces {
                let p = face.map(|v| {
                    let q = item.positions[v as usize];
                    screen(q - light * (q.y / light.y))
                });
                fill(width, height, p, |x, y, _| mask[y * width + x] = 1.0);
            }
        }
        let radius = (height / 90).max(1);
        for _ in 0..3 {
            mask = blur(&mask, width, height, radius);
        }
        for (pixel, m) in self.color.iter_mut().zip(mask) {
            pixel.iter_mut().for_each(|c| *c *= 1.0 - 0.42 * m);
        }
    }

    /// Darken what lies deeper than its surroundings.
    fn contact_shade(&mut self, radius: f64) {
        let (w, h) = (self.width as i64, self.height as i64);
        let taps: Vec<(i64, i64)> = (0..16)
            .map(|i| {
                let (angle, r) = (f64::from(i) * 2.4, radius * ((f64::from(i) + 0.7) / 16.0).sqrt());
                ((angle.cos() * r) as i64, (angle.sin() * r) as i64)
            })
            .collect();
        let mut dark = vec![0f32; self.depth.len()];
        for y in 0..h {
            for x in 0..w {
                let z = self.depth[(y * w + x) as usize];
                if z == f64::NEG_INFINITY {
                    continue;
                }
                let mut sum = 0.0;
                for &(dx, dy) in &taps {
                    let (sx, sy) = ((x + dx).clamp(0, w - 1), (y + dy).clamp(0, h - 1));
                    let (mx, my) = ((x - dx).clamp(0, w - 1), (y - dy).clamp(0, h - 1));
                    let (a, b) = (self.depth[(sy * w + sx) as usize], self.depth[(my * w + mx) as usize]);
                    // Pairs of opposite taps cancel the slope of the surface itself; what stands far in front or
                    // behind is another thing and casts nothing.
                    let near = |d: f64| if d.abs() < 1.5 * radius { d } else { 0.0 };
                    let over =
                        if a.min(b) < z - 1.5 * radius { 0.0 } else { 0.5 * (near(a - z) + near(b - z)) };
                    sum += (over / radius).clamp(0.0, 0.5);
                }
                dark[(y * w + x) as usize] = (sum / taps.len() as f64) as f32;
            }
        }
        let dark = blur(&dark, self.width, self.height, 2);
        for (pixel, d) in self.color.iter_mut().zip(dark) {
            pixel.iter_mut().for_each(|c| *c *= (1.0 - 2.6 * d).max(0.25));
        }
    }

    /// Average and convert to sRGB: three bytes per pixel, row by row.
    pub fn bytes(&self) -> Vec<u8> {
        let (width, height) = (self.width / OVER, self.height / OVER);
        let mut bytes = Vec::with_capacity(width * height * 3);
        for y in 0..height {
            for x in 0..width {
                for k in 0..3 {
                    let mut sum = 0.0;
                    for i in 0..OVER * OVER {
                        sum += self.color[(y * OVER + i / OVER) * self.width + x * OVER + i % OVER][k];
                    }
                    let linear = (sum / (OVER * OVER) as f32).clamp(0.0, 1.0);
                    bytes.push((linear.powf(1.0 / 2.2) * 255.0 + 0.5) as u8);
                }
            }
        }
        bytes
    }

    /// Write as PNG.
    pub fn write(&self, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let (width, height) = (self.width / OVER, self.height / OVER);
        let file = std::io::BufWriter::new(std::fs::File::create(path)?);
        let mut encoder = png::Encoder::new(file, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&self.bytes())?;
        Ok(())
    }
}

fn camera(view: &View) -> DMat3 {
    DMat3::from_rotation_x(view.elevation.to_radians()) * DMat3::from_rotation_y(-view.azimuth.to_radians())
}

/// Key light from the upper left, cool fill from the right, a bright rim.
fn shade(n: DVec3, base: [f32; 3]) -> [f32; 3] {
    let key = n.dot(DVec3::new(-0.45, 0.65, 0.6).normalize()).max(0.0) as f32;
    let fill = (0.5 + 0.5 * n.dot(DVec3::new(0.8, 0.1, 0.4).normalize())) as f32;
    let sky = (0.5 + 0.5 * n.y) as f32;
    let rim = (1.0 - n.z).max(0.0).powi(3) as f32 * sky;
    let half = DVec3::new(-0.45, 0.65, 1.6).normalize();
    let gloss = n.dot(half).max(0.0).powi(40) as f32;
    let light = [0.86, 0.82, 0.76].map(|warm: f32| warm * key);
    std::array::from_fn(|k| {
        let cool = [0.20, 0.22, 0.26][k] * fill + [0.16, 0.17, 0.19][k] * sky;
        base[k] * (light[k] + cool + 0.06) + 0.12 * rim + 0.06 * gloss
    })
}

fn normals(item: &Item) -> Vec<DVec3> {
    let mut normals = vec![DVec3::ZERO; item.positions.len()];
    for face in &item.faces {
        let p = face.map(|v| item.positions[v as usize]);
        let n = (p[1] - p[0]).cross(p[2] - p[0]);
        face.iter().for_each(|&v| normals[v as usize] += n);
    }
    normals.into_iter().map(|n| n.normalize_or(DVec3::Y)).collect()
}

/// Call `plot` with barycentric weights for every pixel centre in a triangle.
fn fill(width: usize, height: usize, p: [DVec3; 3], mut plot: impl FnMut(usize, usize, [f64; 3])) {
    let edge = |a: DVec3, b: DVec3, x: f64, y: f64| (b.x - a.x) * (y - a.y) - (b.y - a.y) * (x - a.x);
    let area = edge(p[0], p[1], p[2].x, p[2].y);
    if area.abs() < 1e-12 {
        return;
    }
    let range = |lo: f64, hi: f64, n: usize| {
        ((lo - 0.5).ceil().max(0.0) as usize, ((hi + 0.5).floor().max(0.0) as usize).min(n))
    };
    let (x0, x1) = range(p[0].x.min(p[1].x).min(p[2].x), p[0].x.max(p[1].x).max(p[2].x), width);
    let (y0, y1) = range(p[0].y.min(p[1].y).min(p[2].y), p[0].y.max(p[1].y).max(p[2].y), height);
    for y in y0..y1 {
        for x in x0..x1 {
            let (cx, cy) = (x as f64 + 0.5, y as f64 + 0.5);
            let w = [
                edge(p[1], p[2], cx, cy) / area,
                edge(p[2], p[0], cx, cy) / area,
                edge(p[0], p[1], cx, cy) / area,
            ];
            if w.iter().all(|&w| w >= -1e-9) {
                plot(x, y, w);
            }
        }
    }
}

fn blur(mask: &[f32], width: usize, height: usize, radius: usize) -> Vec<f32> {
    let pass = |src: &[f32], n: usize, lines: usize, step: usize, line: usize| {
        let mut out = vec![0f32; src.len()];
        for l in 0..lines {
            let at = |i: i64| src[l * line + i.clamp(0, n as i64 - 1) as usize * step];
            let r = radius as i64;
            let mut sum: f32 = (-r..=r).map(at).sum();
            for i in 0..n {
                out[l * line + i * step] = sum / (2 * r + 1) as f32;
                sum += at(i as i64 + r + 1) - at(i as i64 - r);
            }
        }
        out
    };
    let rows = pass(mask, width, height, 1, width);
    pass(&rows, height, width, width, 1)
}
