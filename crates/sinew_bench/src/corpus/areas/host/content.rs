//! A glTF file as a host sees it: its JSON, its pictures, and, where the geometry is not compressed, its surface.

use super::super::super::scene::{self, Scene, list};
use anyhow::Context;
use glam::DVec3;
use serde_json::Value;
use std::{
    collections::{BTreeMap, hash_map::DefaultHasher},
    fs,
    hash::{Hash, Hasher},
    io::Cursor,
    path::Path,
};

/// Sampled times per clip, and clips per file.
const MOMENTS: [f64; 3] = [0.1, 0.45, 0.8];
const CLIPS: usize = 8;

/// Replaces a missing name.
pub const UNNAMED: &str = "\u{1}";

/// The name of a member of a list.
pub fn called(member: &Value) -> &str {
    member["name"].as_str().filter(|name| !name.is_empty()).unwrap_or(UNNAMED)
}

pub struct Content {
    pub json: Value,
    /// What each picture shows, as a number.
    pub images: Vec<String>,
    /// Nothing if the geometry is compressed.
    pub scene: Option<Scene>,
}

impl Content {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let (json, chunk) = scene::split(&bytes)?;
        let folder = path.parent().unwrap_or(Path::new("."));
        // A buffer that is missing leaves everything else to be compared.
        let buffers = scene::buffers(&json, chunk, folder).unwrap_or_default();
        let images = list(&json, "images").iter().map(|image| image_key(image, &json, &buffers, folder));
        let images = images.collect();
        Ok(Self { images, scene: Scene::read(path).ok(), json })
    }

    /// The name of a member of a list of the file.
    pub fn name(&self, key: &str, index: &Value) -> &str {
        let member = index.as_u64().and_then(|k| self.json[key].get(k as usize));
        member.map_or(UNNAMED, called)
    }

    /// What a texture shows and how it is repeated.
    pub fn texture(&self, index: &Value) -> String {
        let Some(texture) = index.as_u64().and_then(|k| self.json["textures"].get(k as usize)) else {
            return "nothing".to_owned();
        };
        // Extensions name pictures of other formats.
        let inside =
            texture["extensions"].as_object().into_iter().flatten().map(|(_, value)| &value["source"]);
        let sources = inside.chain([&texture["source"]]).filter_map(Value::as_u64);
        let shown: Vec<&str> =
            sources.filter_map(|k| self.images.get(k as usize)).map(String::as_str).collect();
        let sampler = texture["sampler"].as_u64().and_then(|k| self.json["samplers"].get(k as usize));
        let set = |key: &str| sampler.and_then(|sampler| sampler[key].as_u64());
        // Filters have no default; repeating has.
        let wrap = |key: &str| set(key).unwrap_or(10497);
        let filters = [set("magFilter"), set("minFilter")];
        format!("{} {} {} {filters:?}", shown.join("+"), wrap("wrapS"), wrap("wrapT"))
    }
}

fn image_key(image: &Value, json: &Value, buffers: &[Vec<u8>], folder: &Path) -> String {
    let bytes = match (image["uri"].as_str(), image["bufferView"].as_u64()) {
        (Some(uri), _) if uri.starts_with("data:") => {
            let text = uri.split_once(',').map_or("", |(_, text)| text);
            base64::Engine::decode(&base64::engine::general_purpose::STANDARD, text).ok()
        }
        (Some(uri), _) => fs::read(folder.join(uri.replace("%20", " "))).ok(),
        (_, Some(view)) => view_bytes(&json["bufferViews"][view as usize], buffers),
        _ => None,
    };
    match bytes {
        Some(bytes) => pixels(&bytes).map_or_else(|| hash(&bytes), |pixels| hash(&pixels)),
        None => format!("missing {}", image["uri"].as_str().unwrap_or("")),
    }
}

fn view_bytes(view: &Value, buffers: &[Vec<u8>]) -> Option<Vec<u8>> {
    let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
    let buffer = buffers.get(number("buffer"))?;
    let start = number("byteOffset");
    buffer.get(start..start.checked_add(number("byteLength"))?).map(<[u8]>::to_vec)
}

/// Pixels of a PNG, so that another compression counts as equal; other formats are compared by their bytes.
fn pixels(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    pixels.truncate(info.buffer_size());
    pixels.extend(info.width.to_le_bytes());
    Some(pixels)
}

/// Content as a short text.
pub fn hash<T: Hash + ?Sized>(value: &T) -> String {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Nodes that alone have their name.
pub fn unique_nodes(scene: &Scene) -> BTreeMap<&str, usize> {
    let mut nodes: BTreeMap<&str, Option<usize>> = BTreeMap::new();
    for node in 0..scene.n_nodes() {
        nodes.entry(scene.node_name(node)).and_modify(|n| *n = None).or_insert(Some(node));
    }
    nodes.into_iter().filter(|(name, _)| !name.is_empty()).filter_map(|(name, n)| Some((name, n?))).collect()
}

/// Size of what the file shows, else of its skeleton.
pub fn diagonal(scene: &Scene) -> f64 {
    let mut points = scene.positions(None, 0.0);
    if points.is_empty() {
        points = scene.worlds(None, 0.0).iter().map(|world| world.w_axis.truncate()).collect();
    }
    super::shape::diagonal(&points).max(1e-9)
}

/// Largest way between nodes of the same name when the clips of both are played, in percent of the diagonal.
pub fn clip_error(before: &Content, after: &Content) -> Option<f64> {
    let (a, b) = (before.scene.as_ref()?, after.scene.as_ref()?);
    let (nodes, others) = (unique_nodes(a), unique_nodes(b));
    let pairs: Vec<(usize, usize)> =
        nodes.iter().filter_map(|(name, &node)| Some((node, *others.get(name)?))).collect();
    let size = diagonal(a);
    let mut worst = None::<f64>;
    for (k, (name, seconds)) in a.clips().into_iter().enumerate().take(CLIPS) {
        let Some(other) = b.clips().iter().position(|(other, _)| *other == name) else { continue };
        for share in MOMENTS {
            let (ours, theirs) = (a.worlds(Some(k), share * seconds), b.worlds(Some(other), share * seconds));
            for &(x, y) in &pairs {
                let way: DVec3 = (ours[x].w_axis - theirs[y].w_axis).truncate();
                worst = Some(worst.unwrap_or(0.0).max(100.0 * way.length() / size));
            }
        }
    }
    worst
}

/// Whether some clip moves the surface.
pub fn is_baked(scene: &Scene) -> bool {
    let size = diagonal(scene);
    scene.clips().iter().enumerate().any(|(k, (_, seconds))| {
        let first = scene.positions(Some(k), 0.0);
        let rest = scene.positions(None, 0.0);
        let later = scene.positions(Some(k), 0.5 * seconds);
        let moves = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).any(|(p, q)| p.distance(*q) > 1e-6 * size);
        moves(&first, &later) || moves(&rest, &first)
    })
}
