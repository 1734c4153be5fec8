//! Content of an unprepared folder: every file, recognised by its content, and folders of frames.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What a file is, by its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A mesh without bones: OBJ, PLY, STL, OFF, MEDIT, or glTF without a skin.
    Mesh,
    /// glTF or VRM with at least one skin.
    Rig,
    /// Motion of a skeleton without a surface: BVH, or glTF with animations and nothing to draw.
    Clip,
    /// A body recorded by a camera: rows of numbers or landmarks.
    Recording,
    /// A folder of meshes with the same number of vertices.
    Sequence,
    /// Something else.
    Other,
}

/// A file, or a folder of frames.
#[derive(Clone, Debug)]
pub struct Item {
    pub path: PathBuf,
    /// The path below the folder that is walked.
    pub label: String,
    pub kind: Kind,
    /// Whether it is glTF or VRM.
    pub is_gltf: bool,
    /// Clips it holds, where the header says so (glTF).
    pub n_clips: usize,
    pub bytes: u64,
}

/// Everything below some folders, sorted by name. Folders that cannot be read are reported.
pub fn find(roots: &[PathBuf]) -> (Vec<Item>, Vec<String>) {
    let (mut items, mut faults) = (Vec::new(), Vec::new());
    for root in roots {
        // With several roots, their own names distinguish them.
        let base = if roots.len() > 1 { root.parent().unwrap_or(root) } else { root.as_path() };
        walk(root, base, &mut items, &mut faults);
    }
    (items, faults)
}

fn walk(folder: &Path, base: &Path, items: &mut Vec<Item>, faults: &mut Vec<String>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return faults.push(format!("{}: {error}", folder.display())),
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let frames = frames_of(&paths);
    if frames.len() >= 2 {
        let bytes = frames.iter().map(|path| size(path)).sum();
        items.push(Item {
            path: folder.to_owned(),
            label: label(folder, base),
            kind: Kind::Sequence,
            is_gltf: false,
            n_clips: 1,
            bytes,
        });
    }
    for path in paths {
        // Links are not followed: they may form cycles.
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        if meta.is_dir() {
            walk(&path, base, items, faults);
        } else if meta.is_file() && !frames.contains(&path) {
            items.push(recognise(&path, base));
        }
    }
}

fn label(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Meshes of a folder that are frames of one sequence: at least four numbered ones with the same number of vertices.
fn frames_of(paths: &[PathBuf]) -> Vec<PathBuf> {
    let numbered = |path: &&PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("obj"))
            && stem.chars().last().is_some_and(|c| c.is_ascii_digit())
    };
    let frames: Vec<PathBuf> = paths.iter().filter(numbered).cloned().collect();
    let counts: Vec<usize> = frames.iter().map(|path| obj_vertices(path)).collect();
    let is_one = counts.iter().all(|&n| n > 0 && n == counts[0]);
    if frames.len() >= 4 && is_one { frames } else { Vec::new() }
}

fn obj_vertices(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.split(|&b| b == b'\n').filter(|line| line.starts_with(b"v ")).count()
}

fn recognise(path: &Path, base: &Path) -> Item {
    let bytes = fs::read(path).unwrap_or_default();
    let gltf = gltf_json(&bytes);
    let count = |key: &str| gltf.as_ref().map_or(0, |json| json[key].as_array().map_or(0, Vec::len));
    let kind = match &gltf {
        Some(_) if count("skins") > 0 && count("meshes") > 0 => Kind::Rig,
        Some(_) if count("meshes") > 0 => Kind::Mesh,
        Some(_) if count("animations") > 0 => Kind::Clip,
        Some(_) => Kind::Other,
        None => text_kind(&bytes),
    };
    Item {
        path: path.to_owned(),
        label: label(path, base),
        kind,
        is_gltf: gltf.is_some(),
        n_clips: if kind == Kind::Clip { 1 } else { count("animations") },
        bytes: size(path),
    }
}

/// The JSON of a glTF file, text or binary.
fn gltf_json(bytes: &[u8]) -> Option<serde_json::Value> {
    let text = if bytes.starts_with(b"glTF") {
        let length = u32::from_le_bytes(bytes.get(12..16)?.try_into().ok()?) as usize;
        bytes.get(20..20usize.checked_add(length)?)?
    } else if bytes.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{') {
        bytes
    } else {
        return None;
    };
    let json: serde_json::Value = serde_json::from_slice(text).ok()?;
    json["asset"]["version"].is_string().then_some(json)
}

/// The kind of a file that is not glTF.
fn text_kind(bytes: &[u8]) -> Kind {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
    let start = head.trim_start();
    let starts = |words: &[&str]| words.iter().any(|word| start.starts_with(word));
    // Faces may start megabytes after the first vertex.
    let has_line =
        |word: &[u8]| bytes.split(|&b| b == b'\n').any(|line| line.trim_ascii_start().starts_with(word));
    let is_binary_stl = bytes.len() > 84 && {
        let n = u32::from_le_bytes([bytes[80], bytes[81], bytes[82], bytes[83]]) as usize;
        n > 0 && bytes.len() == 84 + 50 * n
    };
    if starts(&["HIERARCHY"]) {
        Kind::Clip
    } else if starts(&["ply", "OFF", "COFF", "NOFF", "MeshVersionFormatted"])
        || is_binary_stl
        || (starts(&["solid"]) && has_line(b"facet"))
        || (has_line(b"v ") && has_line(b"f "))
    {
        Kind::Mesh
    } else if is_recording(start) {
        Kind::Recording
    } else {
        Kind::Other
    }
}

/// Rows of 4 or 61 numbers (Kinect), or JSON with landmarks in it.
fn is_recording(text: &str) -> bool {
    let numbers = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.iter().all(|word| word.parse::<f64>().is_ok()).then_some(words.len())
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let rows: Vec<Option<usize>> = lines.by_ref().take(5).map(numbers).collect();
    let is_kinect = rows.len() == 5 && rows.iter().all(|n| matches!(n, Some(4 | 61)));
    is_kinect || (text.starts_with(['{', '[']) && (text.contains("landmark") || text.contains("keypoints")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_content_not_by_name() {
        let folder = std::env::temp_dir().join(format!("sinew-find-{}", std::process::id()));
        fs::create_dir_all(folder.join("frames")).unwrap();
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        write("a.txt", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        write("b.dat", "HIERARCHY\nROOT hips\n");
        write("c.obj", "nothing of the kind");
        write("d.json", r#"{"asset":{"version":"2.0"},"meshes":[{}],"skins":[{}],"animations":[{},{}]}"#);
        write("e.txt", "0 1 2 3\n0 1 2 3\n0 1 2 3\n0 1 2 3\n0 1 2 3\n");
        for k in 0..4 {
            write(&format!("frames/{k}.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
        }
        let (items, faults) = find(std::slice::from_ref(&folder));
        fs::remove_dir_all(&folder).unwrap();
        assert!(faults.is_empty(), "{faults:?}");
        let kinds: Vec<(&str, Kind)> = items.iter().map(|i| (i.label.as_str(), i.kind)).collect();
        let expected = [
            ("a.txt", Kind::Mesh),
            ("b.dat", Kind::Clip),
            ("c.obj", Kind::Other),
            ("d.json", Kind::Rig),
            ("e.txt", Kind::Recording),
            ("frames", Kind::Sequence),
        ];
        assert_eq!(kinds, expected);
        assert_eq!(items[3].n_clips, 2);
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_reported() {
        let (items, faults) = find(&[PathBuf::from("/nowhere/at/all")]);
        assert!(items.is_empty());
        assert_eq!(faults.len(), 1);
    }
}
