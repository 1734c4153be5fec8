//! Point caches: vertices of a mesh over time, without the mesh. PC2 (`POINTCACHE2`) and MDD.
//!
//! # Source
//! PC2: a head of 32 bytes (name, version, vertices, first frame, frames per sample, samples), then samples of three
//! floats per vertex. MDD: numbers of frames and vertices, a time per frame, then the same; big-endian. Files of either order of
//! bytes are read: the one in which the sizes agree with the length of the file is taken.
//! # Limits
//! A cache has no faces. They are those of a mesh: one that is given, or one beside the cache with its name.

use crate::{
    Fault, Format, FormatError, Model, Place,
    format::read_mesh_file,
    text::file_error,
    vertex_clip::{add_frames, check_size},
};
use glam::Vec3;
use sinew_geom::Warnings;
use std::path::{Path, PathBuf};

/// Frames per second of a PC2 file, which does not say, and of an MDD file whose times are not usable.
const DEFAULT_FPS: f64 = 30.0;

/// A point cache as read.
#[derive(Debug, Clone, PartialEq)]
pub struct PointCache {
    /// Vertices of every frame.
    pub n_vertices: usize,
    /// Time of each frame in seconds, rising.
    pub times: Vec<f64>,
    /// Positions, frame by frame.
    pub frames: Vec<Vec<Vec3>>,
}

/// Whether bytes begin as a PC2 file.
fn is_pc2(bytes: &[u8]) -> bool {
    bytes.starts_with(b"POINTCACHE2")
}

/// Read a PC2 or MDD file from memory.
///
/// # Errors
/// If its sizes do not agree with its length, or there is nothing in it.
pub fn read_point_cache(
    bytes: &[u8],
    name: &str,
    fps: Option<f64>,
    warnings: &mut Warnings,
) -> Result<PointCache, FormatError> {
    let layout = if is_pc2(bytes) { pc2_layout(bytes) } else { mdd_layout(bytes) };
    let fail = |fault| FormatError::faults(name, vec![fault]);
    let layout = layout.map_err(fail)?;
    check_size(layout.n_frames as u64, layout.n_vertices as u64).map_err(fail)?;
    let float = |word: &[u8; 4]| match layout.is_big {
        true => f32::from_be_bytes(*word),
        false => f32::from_le_bytes(*word),
    };
    let points = |bytes: &[u8]| {
        let words = bytes.as_chunks::<4>().0.as_chunks::<3>().0;
        words.iter().map(|point| Vec3::from_array([0, 1, 2].map(|k| float(&point[k])))).collect::<Vec<_>>()
    };
    let body = &bytes[layout.points_start..];
    let frames: Vec<Vec<Vec3>> = body.chunks_exact(12 * layout.n_vertices).map(points).collect();
    for (frame, points) in frames.iter().enumerate() {
        if let Some(vertex) = points.iter().position(|p| !p.is_finite()) {
            let at = layout.points_start + 12 * (frame * layout.n_vertices + vertex);
            let cause = format!("vertex {vertex} of frame {frame} is not finite");
            return Err(fail(
                Fault::new(Place::Byte(at as u64), cause).with_remedy("export the cache again"),
            ));
        }
    }
    let words = bytes[layout.times_start..layout.points_start].as_chunks::<4>().0;
    let said: Vec<f64> = words.iter().map(|word| f64::from(float(word))).collect();
    let even = |rate: f64| (0..layout.n_frames).map(|frame| frame as f64 / rate).collect();
    let rises = said.windows(2).all(|pair| pair[1] > pair[0]) && said.iter().all(|time| time.is_finite());
    let times = match (fps, is_pc2(bytes)) {
        (Some(fps), _) => even(fps),
        (None, true) => even(DEFAULT_FPS / layout.frames_per_sample),
        (None, false) if rises => said,
        (None, false) => {
            warnings.push(format!(
                "the times of the frames do not rise; {DEFAULT_FPS} frames per second were assumed"
            ));
            even(DEFAULT_FPS)
        }
    };
    Ok(PointCache { n_vertices: layout.n_vertices, times, frames })
}

/// Where things are in a file of checked sizes.
struct Layout {
    is_big: bool,
    n_vertices: usize,
    n_frames: usize,
    frames_per_sample: f64,
    times_start: usize,
    points_start: usize,
}

fn word(bytes: &[u8], at: usize, is_big: bool) -> Option<[u8; 4]> {
    let mut word: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
    if is_big {
        word.reverse();
    }
    Some(word)
}

/// A number of things that is positive.
fn count(bytes: &[u8], at: usize, is_big: bool) -> Option<u64> {
    let value = i32::from_le_bytes(word(bytes, at, is_big)?);
    u64::try_from(value).ok().filter(|&value| value > 0)
}

fn pc2_layout(bytes: &[u8]) -> Result<Layout, Fault> {
    const HEAD: usize = 32;
    let layout = |is_big| {
        let (n_vertices, n_frames) = (count(bytes, 16, is_big)?, count(bytes, 28, is_big)?);
        let needed = HEAD as u64 + n_vertices.checked_mul(12)?.checked_mul(n_frames)?;
        let rate = f64::from(f32::from_le_bytes(word(bytes, 24, is_big)?));
        let frames_per_sample = if rate.is_finite() && rate > 0.0 { rate } else { 1.0 };
        let (n_vertices, n_frames) = (n_vertices as usize, n_frames as usize);
        let start = HEAD;
        let layout = Layout {
            is_big,
            n_vertices,
            n_frames,
            frames_per_sample,
            times_start: start,
            points_start: start,
        };
        Some((needed, layout))
    };
    chosen(bytes, "PC2", [false, true].map(layout))
}

fn mdd_layout(bytes: &[u8]) -> Result<Layout, Fault> {
    let layout = |is_big| {
        let (n_frames, n_vertices) = (count(bytes, 0, is_big)?, count(bytes, 4, is_big)?);
        let start = 8 + 4 * n_frames;
        let needed = start + n_vertices.checked_mul(12)?.checked_mul(n_frames)?;
        let (n_vertices, n_frames) = (n_vertices as usize, n_frames as usize);
        let points_start = start as usize;
        let layout =
            Layout { is_big, n_vertices, n_frames, frames_per_sample: 1.0, times_start: 8, points_start };
        Some((needed, layout))
    };
    chosen(bytes, "MDD", [true, false].map(layout))
}

/// The layout that fits the file; the usual order of bytes comes first.
fn chosen(bytes: &[u8], what: &str, layouts: [Option<(u64, Layout)>; 2]) -> Result<Layout, Fault> {
    let len = bytes.len() as u64;
    let remedy = "the cache was cut short or is of another format; export it again";
    let mut said = None;
    for (needed, layout) in layouts.into_iter().flatten() {
        if needed == len {
            return Ok(layout);
        }
        said.get_or_insert((needed, layout.n_frames, layout.n_vertices));
    }
    let cause = match said {
        Some((needed, n_frames, n_vertices)) => format!(
            "the head of the {what} file promises {n_frames} frames of {n_vertices} vertices, which take {needed} bytes, but the \
             file has {len}"
        ),
        None => format!("the head of the {what} file names no vertices or no frames"),
    };
    Err(Fault::new(Place::Byte(0), cause).with_remedy(remedy))
}

/// The mesh of a file with the frames of a cache as its clip.
///
/// # Errors
/// If the numbers of vertices differ.
pub(crate) fn play_on(
    mut model: Model,
    cache: PointCache,
    name: &str,
    mesh: &Path,
) -> Result<Model, FormatError> {
    let n = model.character.mesh.n_vertices();
    if n != cache.n_vertices {
        let cause = format!("the cache has {} vertices, but {} has {n}", cache.n_vertices, mesh.display());
        let remedy = "give the mesh that the cache was made of, exported without welding, splitting or triangulating vertices";
        return Err(file_error(name, cause, remedy));
    }
    // Normals and the like of the mesh do not follow.
    model.character.surface.normals = None;
    let clip = crate::polygons::stem(name);
    add_frames(&mut model.character, &clip, &cache.times, cache.frames)
        .map_err(|fault| FormatError::faults(name, vec![fault]))?;
    model.character.name = clip;
    Ok(model)
}

/// Read a cache over the mesh that stands beside it.
///
/// # Errors
/// If there is no such mesh, or the two do not fit.
pub(crate) fn read_over_neighbour(
    bytes: &[u8],
    path: &Path,
    root: Option<&Path>,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let name = path.to_string_lossy();
    let cache = read_point_cache(bytes, &name, None, warnings)?;
    let Some(mesh) = neighbour(path) else {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let cause = "a point cache has no faces, and there is no mesh of its name beside it";
        let remedy = format!(
            "put the mesh that it was made of beside it as {stem}.obj (or ply, off, stl), or name it by `--mesh FILE`"
        );
        return Err(FormatError::faults(path, vec![Fault::new(Place::Whole, cause).with_remedy(remedy)]));
    };
    let model = read_mesh_file(&mesh, root, warnings)?;
    warnings.push(format!("the faces are those of {}", mesh.display()));
    play_on(model, cache, &name, &mesh)
}

/// Read a cache over a mesh file.
///
/// # Errors
/// If either cannot be read, or they do not fit.
pub fn read_cache_over(
    path: &Path,
    mesh: &Path,
    fps: Option<f64>,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let (bytes, name) = (crate::read_file(path)?, path.to_string_lossy());
    let format = Format::of_file(&bytes, path, warnings)?;
    if !matches!(format, Format::Pc2 | Format::Mdd) {
        return Err(file_error(
            &name,
            "this is not a point cache",
            "a mesh is given with pc2 and mdd files only",
        ));
    }
    let cache = read_point_cache(&bytes, &name, fps, warnings)?;
    play_on(read_mesh_file(mesh, None, warnings)?, cache, &name, mesh)
}

/// The mesh file beside a cache whose name is the same but for its extension.
fn neighbour(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?;
    let entries =
        std::fs::read_dir(path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            .ok()?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(|file| {
        file.file_stem() == Some(stem) && Format::of_extension(file).is_some_and(Format::is_mesh)
    });
    found.sort();
    found.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(is_big: bool, n: usize) -> Vec<u8> {
        let floats = (0..n).map(|k| k as f32);
        floats.flat_map(|x| if is_big { x.to_be_bytes() } else { x.to_le_bytes() }).collect()
    }

    fn pc2(is_big: bool) -> Vec<u8> {
        let word = |x: i32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
        let float = |x: f32| word(x.to_bits() as i32);
        let head = [word(1), word(2), float(40.0), float(0.5), word(3)].concat();
        [b"POINTCACHE2\0".as_slice(), &head, &points(is_big, 18)].concat()
    }

    fn mdd(is_big: bool, times: [f32; 3]) -> Vec<u8> {
        let word = |x: i32| if is_big { x.to_be_bytes() } else { x.to_le_bytes() };
        let times = times.map(|time| word(time.to_bits() as i32)).concat();
        [[word(3), word(2)].concat(), times, points(is_big, 18)].concat()
    }

    fn read(bytes: &[u8]) -> Result<PointCache, FormatError> {
        read_point_cache(bytes, "a", None, &mut Warnings::default())
    }

    #[test]
    fn both_formats_in_both_orders_of_bytes() {
        for (bytes, step) in [
            (pc2(false), 1.0 / 60.0),
            (pc2(true), 1.0 / 60.0),
            (mdd(true, [0.0, 0.25, 0.5]), 0.25),
            (mdd(false, [1.0, 1.25, 1.5]), 0.25),
        ] {
            let cache = read(&bytes).unwrap();
            assert_eq!((cache.n_vertices, cache.frames.len()), (2, 3));
            assert_eq!(cache.frames[2][1], Vec3::new(15.0, 16.0, 17.0));
            assert!((cache.times[2] - cache.times[1] - step).abs() < 1e-9, "{:?}", cache.times);
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end]).is_err(), "{end}");
            }
            let more = [bytes.as_slice(), &[0]].concat();
            assert!(read(&more).unwrap_err().to_string().contains("take"), "a byte too many");
        }
    }

    #[test]
    fn wrong_heads_and_points_are_named() {
        let mut warnings = Warnings::default();
        let flat = read_point_cache(&mdd(true, [1.0, 1.0, 1.0]), "a", None, &mut warnings).unwrap();
        assert_eq!(flat.times[1], 1.0 / 30.0);
        assert!(warnings.messages[0].contains("do not rise"));
        let mut bad = pc2(false);
        bad[32 + 36..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        assert!(read(&bad).unwrap_err().to_string().contains("vertex 1 of frame 1"));
        let mut huge = pc2(false);
        huge[16..20].copy_from_slice(&i32::MAX.to_le_bytes());
        huge[28..32].copy_from_slice(&i32::MAX.to_le_bytes());
        assert!(read(&huge).is_err());
        huge[16..20].copy_from_slice(&(-1i32).to_le_bytes());
        assert!(read(&huge).unwrap_err().to_string().contains("no vertices"));
    }
}
