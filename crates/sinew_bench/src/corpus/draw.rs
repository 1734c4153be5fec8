//! Contact sheets: the result of a row, as a strip of small pictures.

use crate::raster::{Item, Picture, View};
use glam::DVec3;

/// Side of a tile in pixels.
const TILE: usize = 160;
/// Tiles side by side.
const COLUMNS: usize = 6;

/// Small pictures in a row, each with a title.
#[derive(Default)]
pub struct Sheet {
    tiles: Vec<(String, Vec<u8>)>,
}

/// Content of a tile: a surface, coloured where it is damaged.
pub struct Surface<'a> {
    pub positions: &'a [DVec3],
    pub faces: &'a [[u32; 3]],
    /// From 0 (skin) to 1 (red) per vertex; empty for none.
    pub damage: &'a [f64],
}

impl Sheet {
    /// Draw a surface by itself, filling the tile.
    pub fn add(&mut self, title: &str, surface: &Surface) {
        let (low, high) = bounds(surface.positions);
        self.add_within(title, surface, low, high);
    }

    /// Draw a surface in a given box, so that tiles can be compared.
    pub fn add_within(&mut self, title: &str, surface: &Surface, low: DVec3, high: DVec3) {
        let item = item(surface);
        self.push(title, &[item], low, high);
    }

    /// Draw a skeleton in a given box: each segment as a thin spindle.
    pub fn add_bones_within(&mut self, title: &str, bones: &[(DVec3, DVec3)], low: DVec3, high: DVec3) {
        let thick = (high - low).length() * 0.012;
        self.push(title, &[spindles(bones, thick)], low, high);
    }

    /// Show a picture made elsewhere: a square of `size` pixels of three bytes each, scaled to the tile.
    pub fn add_picture(&mut self, title: &str, size: usize, pixels: &[u8]) {
        let place = |k: usize| k * size / TILE;
        let pixel = |k: usize| {
            let from = (place(k / TILE) * size + place(k % TILE)) * 3;
            (0..3).map(move |c| pixels.get(from + c).copied().unwrap_or(255))
        };
        self.tiles.push((title.to_owned(), (0..TILE * TILE).flat_map(pixel).collect()));
    }

    fn push(&mut self, title: &str, items: &[Item], low: DVec3, high: DVec3) {
        // Long shapes fill the tile, cubes seen from a corner fit in.
        let size = (high - low).max_element().max(0.75 * (high - low).length());
        let view = View {
            target: (low + high) * 0.5,
            half_height: (0.62 * size).max(1e-9),
            azimuth: 35.0,
            elevation: 12.0,
            floor: false,
        };
        let mut picture = Picture::new(TILE, TILE);
        picture.draw(items, &view);
        self.tiles.push((title.to_owned(), picture.bytes()));
    }

    /// Titles in order, and the sheet as PNG; nothing if it is empty.
    pub fn png(&self) -> Option<(Vec<String>, Vec<u8>)> {
        if self.tiles.is_empty() {
            return None;
        }
        let columns = self.tiles.len().min(COLUMNS);
        let rows = self.tiles.len().div_ceil(columns);
        let (width, height) = (columns * TILE, rows * TILE);
        let mut pixels = vec![255u8; width * height * 3];
        for (k, (_, tile)) in self.tiles.iter().enumerate() {
            let (x, y) = (k % columns * TILE, k / columns * TILE);
            for row in 0..TILE {
                let to = ((y + row) * width + x) * 3;
                pixels[to..to + TILE * 3].copy_from_slice(&tile[row * TILE * 3..(row + 1) * TILE * 3]);
            }
        }
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_compression(png::Compression::High);
        encoder.write_header().ok()?.write_image_data(&pixels).ok()?;
        Some((self.tiles.iter().map(|(title, _)| title.clone()).collect(), bytes))
    }
}

/// The bounding box of points; points that are not finite are ignored.
pub fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let mut finite = points.iter().copied().filter(|p| p.is_finite());
    let first = finite.next().unwrap_or(DVec3::ZERO);
    finite.fold((first, first), |(low, high), p| (low.min(p), high.max(p)))
}

fn item(surface: &Surface) -> Item {
    let clean = |p: &DVec3| if p.is_finite() { *p } else { DVec3::ZERO };
    let color = |v: u32| {
        let red = surface.damage.get(v as usize).copied().unwrap_or(0.0).clamp(0.0, 1.0) as f32;
        [0.62 + 0.2 * red, 0.5 * (1.0 - red) + 0.05, 0.42 * (1.0 - red) + 0.04]
    };
    Item {
        positions: surface.positions.iter().map(clean).collect(),
        colors: surface.faces.iter().map(|face| face.map(color)).collect(),
        faces: surface.faces.to_vec(),
    }
}

fn spindles(bones: &[(DVec3, DVec3)], thick: f64) -> Item {
    let mut item = Item { positions: Vec::new(), faces: Vec::new(), colors: Vec::new() };
    for &(a, b) in bones.iter().filter(|(a, b)| a.is_finite() && b.is_finite()) {
        let side = (b - a).any_orthogonal_vector().normalize_or(DVec3::X) * thick;
        let other = (b - a).normalize_or(DVec3::Y).cross(side);
        let wide = a.lerp(b, 0.2);
        let first = item.positions.len() as u32;
        item.positions.extend([a, b, wide + side, wide + other, wide - side, wide - other]);
        for k in 0..4 {
            let (m, n) = (first + 2 + k, first + 2 + (k + 1) % 4);
            item.faces.extend([[first, m, n], [first + 1, n, m]]);
        }
    }
    item.colors = vec![[[0.25, 0.35, 0.6]; 3]; item.faces.len()];
    item
}
