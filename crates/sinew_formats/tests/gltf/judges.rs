//! Other people's programs judge what we read and write: the Khronos validator, three.js and Blender.
//!
//! Errors are the largest distance of a vertex from where we evaluate it, relative to the diagonal.

use crate::support::{data, diagonal, evaluate, files, read, tools, tube, workspace};
use glam::{DAffine3, DVec3, Vec3};
use serde_json::json;
use sinew_formats::gltf::{GlbOptions, read_gltf, read_morph_sequence, write_glb, write_sequence_glb};
use sinew_formats::no_side_files;
use sinew_geom::measure::largest_error;
use sinew_geom::rig::{Interpolate, Interpolation, Joint, JointTrack, Keys, MorphTrack};
use sinew_geom::sample::{Sample, build_character, build_sequence};
use sinew_geom::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// What three.js may differ by: single precision along a chain of joints.
const THREE_LIMIT: f64 = 1e-5;
/// What Blender may differ by at keys; between them it does not turn along the great arc, so clips are put on
/// its frame grid first.
const BLENDER_LIMIT: f64 = 1e-4;
/// Frames per second of `blender.py`.
const BLENDER_FPS: f32 = 24.0;

/// Rigs that go through our reader and writer before they are judged.
const RIGS: [&str; 9] = [
    "khronos/CesiumMan.glb",
    "khronos/RiggedFigure.glb",
    "khronos/RiggedSimple.glb",
    "khronos/Fox.glb",
    "khronos/RecursiveSkeletons.glb",
    "quaternius/Husky.glb",
    "quaternius/Horse.glb",
    "quaternius/Casual.glb",
    "threejs/RobotExpressive.glb",
];

/// Files with vertices whose weights are not numbers: three.js passes that on, we bind them to their first joint.
const BROKEN: [(&str, usize); 1] = [("rigs/quaternius/Crab.glb", 6)];

/// One file to be played at some times of a clip.
struct Job {
    file: PathBuf,
    character: Character,
    clip: Option<usize>,
    times: Vec<f32>,
    out: PathBuf,
}

impl Job {
    fn clip(&self) -> Option<&Clip> {
        self.clip.map(|clip| &self.character.clips[clip])
    }

    /// Vertices at which the judge is right to give no numbers.
    fn n_broken(&self) -> usize {
        BROKEN.iter().find(|(file, _)| self.file.ends_with(file)).map_or(0, |(_, n)| *n)
    }

    /// Largest error over all times; `order` lists, for every vertex the judge gives, which one of ours it is.
    fn error(&self, order: &[u32]) -> f64 {
        let bytes = std::fs::read(&self.out).unwrap();
        let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let theirs: Vec<DVec3> =
            floats.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p).as_dvec3()).collect();
        let name = self.file.display();
        assert_eq!(theirs.len(), order.len() * self.times.len(), "vertices the judge saw of {name}");
        let mut worst: f64 = 0.0;
        for (time, theirs) in self.times.iter().zip(theirs.chunks_exact(order.len().max(1))) {
            let ours = evaluate(&self.character, self.clip(), *time);
            // The product's own evaluation stands or falls with the reference that is judged.
            let fast = self.character.positions_at(self.clip(), *time).unwrap();
            let apart = largest_error(ours.iter().zip(&fast).map(|(a, b)| a.distance(b.as_dvec3())));
            assert!(apart < 1e-5 * diagonal(&ours), "{}: kernel differs by {apart}", self.file.display());
            let distance = |(their, &vertex): (&DVec3, &u32)| their.distance(ours[vertex as usize]);
            let n_broken = theirs.iter().filter(|their| !their.is_finite()).count();
            assert_eq!(n_broken, self.n_broken(), "vertices that are not numbers to the judge of {name}");
            let sound = theirs.iter().zip(order).filter(|(their, _)| their.is_finite());
            let largest = largest_error(sound.map(distance));
            worst = largest_error([worst, largest / diagonal(&ours)]);
        }
        worst
    }
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-judges-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn script(name: &str) -> PathBuf {
    workspace().join("tests/judges").join(name)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}\n{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Let a player work on jobs, one process for all.
fn play(mut player: Command, jobs: &[Job], clip_by_name: bool) {
    let describe = |job: &Job| {
        let clip = match clip_by_name {
            true => json!(job.clip().map(|clip| &clip.name)),
            false => json!(job.clip),
        };
        json!({ "file": job.file, "clip": clip, "times": job.times, "out": job.out })
    };
    let list = jobs[0].out.with_file_name("jobs.json");
    std::fs::write(&list, json!(jobs.iter().map(describe).collect::<Vec<_>>()).to_string()).unwrap();
    run(player.arg(list));
}

fn three() -> Command {
    let mut command = Command::new("node");
    command.arg(script("play.mjs"));
    command
}

/// All written primitives share all vertices, so three.js shows every vertex once per primitive.
fn three_order(character: &Character) -> Vec<u32> {
    let mut materials: Vec<u16> = character.surface.face_materials.clone();
    materials.sort_unstable();
    materials.dedup();
    (0..materials.len().max(1)).flat_map(|_| 0..character.mesh.n_vertices() as u32).collect()
}

/// Blender keeps, of each primitive, the vertices it uses, in increasing order.
fn blender_order(character: &Character) -> Vec<u32> {
    let materials = &character.surface.face_materials;
    let n_materials = materials.iter().max().map_or(1, |&last| last as usize + 1);
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); n_materials];
    for (index, face) in character.mesh.faces().iter().enumerate() {
        groups[materials.get(index).map_or(0, |&m| m as usize)].extend(face);
    }
    for group in &mut groups {
        group.sort_unstable();
        group.dedup();
    }
    groups.concat()
}

fn spread_times(duration: f32) -> Vec<f32> {
    [0.0, 0.13, 0.37, 0.71, 1.0].map(|part| part * duration).to_vec()
}

/// Four key times of a clip.
fn key_times(clip: &Clip) -> Vec<f32> {
    let rotations = clip.joints.iter().filter_map(|track| track.rotation.as_ref()).map(|keys| keys.times());
    let weights = clip.morphs.iter().map(|track| track.keys.times());
    let times = rotations.chain(weights).max_by_key(|times| times.len()).unwrap();
    [0, 1, 2, 3].map(|part| times[part * (times.len() - 1) / 3]).to_vec()
}

/// Our reader against three.js on files as they are.
#[test]
fn files_as_they_are_play_as_in_three() {
    let Some(data) = data() else { return };
    let Some(_) = tools() else { return };
    let folder = scratch("as-is");
    let mut jobs = Vec::new();
    let good = [data.join("rigs"), data.join("sequences")];
    for path in good.iter().flat_map(|folder| files(folder, &["glb", "vrm"])) {
        let character = read(&path).character;
        let clips = if character.clips.is_empty() {
            vec![None]
        } else {
            (0..character.clips.len()).map(Some).collect()
        };
        for clip in clips.into_iter().take(4) {
            let times = spread_times(clip.map_or(0.0, |clip: usize| character.clips[clip].duration_secs()));
            let out = folder.join(format!("{}.bin", jobs.len()));
            jobs.push(Job { file: path.clone(), character: character.clone(), clip, times, out });
        }
    }
    play(three(), &jobs, false);
    for job in &jobs {
        let order: Vec<u32> = (0..job.character.mesh.n_vertices() as u32).collect();
        let error = job.error(&order);
        println!("three {} {:?}: {error:.1e}", job.file.display(), job.clip().map(|clip| &clip.name));
        assert!(error < THREE_LIMIT, "{}: {error:.1e}", job.file.display());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Write a character, read it back, and make jobs of it.
fn rewritten(folder: &Path, name: &str, character: &Character, jobs: &mut Vec<Job>) {
    let mut warnings = Warnings::default();
    let bytes = write_glb(character, &GlbOptions::default(), &mut warnings).unwrap();
    println!("{name}: {} bytes {:?}", bytes.len(), warnings.messages);
    let file = folder.join(format!("{}.glb", name.trim_end_matches(".glb").replace('/', "-")));
    std::fs::write(&file, &bytes).unwrap();
    let again = read_gltf(&bytes, &no_side_files, name, &mut Warnings::default()).unwrap().character;
    let clips = if again.clips.is_empty() { vec![None] } else { (0..again.clips.len()).map(Some).collect() };
    for clip in clips.into_iter().take(3) {
        let times = clip.map_or(vec![0.0], |clip: usize| key_times(&again.clips[clip]));
        let out = folder.join(format!("{}.bin", jobs.len()));
        jobs.push(Job { file: file.clone(), character: again.clone(), clip, times, out });
    }
}

fn written_jobs(folder: &Path, data: Option<&Path>, prepare: fn(&mut Character)) -> Vec<Job> {
    let mut jobs = Vec::new();
    let mut add = |name: &str, mut character: Character| {
        prepare(&mut character);
        rewritten(folder, name, &character, &mut jobs);
    };
    add("tube", tube(5, 40));
    for sample in Sample::ALL.into_iter().filter(|sample| !sample.is_sequence()) {
        add(sample.name(), build_character(sample, 1_500).unwrap());
    }
    for name in RIGS.iter().filter(|_| data.is_some()) {
        let path = data.unwrap().join("rigs").join(name);
        add(name, read(&path).character);
    }
    jobs
}

/// Give every joint and morph keys at Blender's frames: between keys it does not turn along the great arc, and
/// what a clip leaves alone keeps the pose of whatever clip was there before.
fn to_blender_frames(character: &mut Character) {
    let Some(rig) = &character.rig else { return };
    let n_morphs = character.morphs.len();
    for clip in &mut character.clips {
        let n_frames = (clip.duration_secs() * BLENDER_FPS).ceil() as usize + 1;
        let times: Vec<f32> = (0..n_frames).map(|frame| frame as f32 / BLENDER_FPS).collect();
        let poses: Vec<Pose> = times.iter().map(|&time| clip.sample(rig, time)).collect();
        let track = |joint: usize| JointTrack {
            joint,
            translation: Some(curve(
                &times,
                poses.iter().map(|pose| pose.locals[joint].translation.as_vec3()),
            )),
            rotation: Some(curve(&times, poses.iter().map(|pose| pose.locals[joint].rotation.as_quat()))),
            scale: Some(curve(&times, poses.iter().map(|pose| pose.locals[joint].scale.as_vec3()))),
        };
        let joints = (0..rig.n_joints()).map(track).collect();
        let mut weights: Vec<f32> = character.morphs.iter().map(|morph| morph.default_weight).collect();
        let mut values = Vec::new();
        for &time in &times {
            clip.sample_morphs(time, &mut weights);
            values.extend_from_slice(&weights);
        }
        let keys = || Keys::new(times.clone(), values, Interpolation::Linear, n_morphs).unwrap();
        clip.morphs =
            (n_morphs > 0).then(|| MorphTrack { morphs: 0..n_morphs, keys: keys() }).into_iter().collect();
        clip.joints = joints;
    }
}

fn curve<T: Interpolate>(times: &[f32], values: impl Iterator<Item = T>) -> Keys<T> {
    Keys::new(times.to_vec(), values.collect(), Interpolation::Linear, 1).unwrap()
}

/// Everything there is, and a made-up character that uses every feature of the writer.
#[test]
fn everything_rewritten_is_valid() {
    let Some(_) = tools() else { return };
    let folder = scratch("valid");
    let mut characters = vec![("everything".to_owned(), everything())];
    for path in data().iter().flat_map(|data| files(data, &["glb", "gltf", "vrm", "vrma"])) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        characters.push((name, read(&path).character));
    }
    let mut paths = Vec::new();
    for sample in Sample::ALL.into_iter().filter(|sample| sample.is_sequence()) {
        let sequence = build_sequence(sample, 1_000, &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
        let path = folder.join(format!("{}.glb", sample.name()));
        let bytes =
            write_sequence_glb(&sequence, &Surface::default(), sample.name(), &mut Warnings::default())
                .unwrap();
        std::fs::write(&path, bytes).unwrap();
        paths.push(path);
    }
    for (index, (name, character)) in characters.iter().enumerate() {
        for max_influences in [4, 8] {
            let options = GlbOptions { max_influences, ..GlbOptions::default() };
            let path = folder.join(format!("{index}-{name}-{max_influences}.glb"));
            std::fs::write(&path, write_glb(character, &options, &mut Warnings::default()).unwrap()).unwrap();
            paths.push(path);
        }
    }
    println!("{}", run(Command::new("node").arg(script("validate.mjs")).args(paths)));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Files that were compressed, or that came from USD, are as valid as what they came from.
#[test]
fn compressed_and_translated_files_are_kept_valid() {
    let (Some(_), Some(interop)) = (tools(), sinew_outside::interop()) else { return };
    let folder = scratch("unpacked");
    let mut arguments = Vec::new();
    let paths = ["gltf", "character", "usd"]
        .map(|name| files(&interop.join(name), &["glb", "gltf", "usda", "usdc", "usdz"]));
    for (index, path) in paths.iter().flatten().enumerate() {
        let mut warnings = Warnings::default();
        let Ok(sinew_formats::Content::Gltf(file)) = sinew_formats::read_any(path, &mut warnings) else {
            continue;
        };
        let is_usd = path.extension().is_some_and(|ending| ending.to_string_lossy().starts_with("usd"));
        let is_packed = warnings.messages.iter().any(|warning| warning.contains("without compression"));
        let Some(host) = file.host.filter(|_| is_usd || is_packed) else { continue };
        let out = folder.join(format!("{index}.glb"));
        let bytes = host.write(&file.character, &GlbOptions::default(), &mut warnings).unwrap();
        std::fs::write(&out, bytes).unwrap();
        let source = if is_usd { String::new() } else { format!("={}", path.display()) };
        arguments.push(format!("{}{source}", out.display()));
    }
    assert!(arguments.len() >= 20, "{arguments:?}");
    println!("{}", run(Command::new("node").arg(script("validate.mjs")).args(arguments)));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two roots, a joint bound twice, six influences, a seam, two materials with a picture, colours, handles,
/// degrees of freedom, morphs with curves of different kinds, a clip that begins before zero.
fn everything() -> Character {
    let mut character = tube(7, 12);
    let n_vertices = character.mesh.n_vertices();
    let mut joints = character.rig.take().unwrap().joints().to_vec();
    joints.push(Joint::new("joint0", None, Transform::from_translation(DVec3::X)));
    joints[3].dofs = vec![Dof { kind: DofKind::Rx, range: [-1.0, f64::INFINITY] }];
    let mut slots = character.skin.take().unwrap().slots;
    slots.push(SkinSlot { joint: 2, inverse_bind: DAffine3::from_translation(DVec3::Z) });
    let indices = (0..n_vertices as u16)
        .flat_map(|v| [v % 8, (v + 1) % 8, (v + 2) % 8, (v + 3) % 8, (v + 4) % 8, v % 8]);
    let weights = (0..n_vertices).flat_map(|_| [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]).collect();
    let mut warnings = Warnings::default();
    character.skin = Some(Skin::new(slots, 6, indices.collect(), weights, &mut warnings).unwrap());
    character.rig = Some(Rig::new(joints).unwrap());
    let mut uvs =
        Uvs { coords: vec![[0.25, 0.75]; n_vertices + 1], corners: character.mesh.faces().to_vec() };
    uvs.coords[n_vertices] = [0.5, 0.5];
    uvs.corners[5][2] = n_vertices as u32;
    let picture = Image { mime: "image/png".into(), bytes: Arc::new(PIXEL.to_vec()) };
    character.surface = Surface {
        uvs: Some(uvs),
        colors: Some(vec![[0.1, 0.2, 0.3, 1.0]; n_vertices]),
        materials: vec![
            Material::default(),
            Material {
                base_color_image: Some(picture),
                base_color: [1.0, 0.5, 0.5, 0.5],
                alpha: AlphaMode::Blend,
                ..Material::default()
            },
        ],
        face_materials: (0..character.mesh.n_faces() as u16).map(|face| face % 2).collect(),
        ..Surface::default()
    };
    let morph = |k: usize| Morph {
        name: format!("bulge {k}"),
        offsets: character
            .mesh
            .positions()
            .iter()
            .map(|p| (p.as_vec3() * 0.1 * k as f32).with_y(0.0))
            .collect(),
        default_weight: 0.1,
    };
    character.morphs = (0..3).map(morph).collect();
    let keys = |values: Vec<f32>, kind, width| Keys::new(vec![-0.5, 0.25], values, kind, width).unwrap();
    character.clips[0].morphs = vec![
        MorphTrack { morphs: 0..1, keys: keys(vec![0.0; 6], Interpolation::Cubic, 1) },
        MorphTrack { morphs: 1..3, keys: keys(vec![0.5; 4], Interpolation::Step, 2) },
    ];
    let lone =
        Keys::new(vec![0.0], vec![Vec3::ZERO, Vec3::ONE, Vec3::ZERO], Interpolation::Cubic, 1).unwrap();
    character.clips[0].joints[1].scale = Some(lone);
    character.clips.push(Clip { name: "nothing".into(), ..Clip::default() });
    let handle = |name: &str, vertices: Vec<u32>| Handle {
        name: name.into(),
        weights: vec![1.0; vertices.len()],
        vertices,
        ..Handle::default()
    };
    character.handles = vec![handle("tip", vec![1, 2, 3]), handle("none", vec![])];
    character
}

/// A grey pixel.
const PIXEL: [u8; 67] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00,
    0x00, 0x00, 0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x68, 0x00, 0x00, 0x00, 0x82, 0x00, 0x81,
    0x77, 0xCD, 0x72, 0xB6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
];

#[test]
fn written_files_are_valid_and_play_as_in_three() {
    let Some(_) = tools() else { return };
    let folder = scratch("three");
    let mut jobs = written_jobs(&folder, data().as_deref(), |_| ());
    for job in &mut jobs {
        job.times = spread_times(job.clip().map_or(0.0, Clip::duration_secs));
    }
    let mut paths: Vec<&Path> = jobs.iter().map(|job| job.file.as_path()).collect();
    paths.dedup();
    println!("{}", run(Command::new("node").arg(script("validate.mjs")).args(paths)));
    play(three(), &jobs, false);
    for job in &jobs {
        let error = job.error(&three_order(&job.character));
        println!("three {} {:?}: {error:.1e}", job.file.display(), job.clip().map(|clip| &clip.name));
        assert!(error < THREE_LIMIT, "{}: {error:.1e}", job.file.display());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn written_files_play_as_in_blender() {
    let Some(tools) = tools() else { return };
    let folder = scratch("blender");
    let jobs = written_jobs(&folder, data().as_deref(), to_blender_frames);
    let mut blender = Command::new(tools.join("bpy/bin/python"));
    blender.arg(script("blender.py"));
    play(blender, &jobs, true);
    for job in &jobs {
        let error = job.error(&blender_order(&job.character));
        println!("blender {} {:?}: {error:.1e}", job.file.display(), job.clip().map(|clip| &clip.name));
        assert!(error < BLENDER_LIMIT, "{}: {error:.1e}", job.file.display());
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A mesh sequence, written with one target per frame.
#[test]
fn written_sequences_play_in_both() {
    let Some(data) = data() else { return };
    let Some(tools) = tools() else { return };
    let folder = scratch("sequence");
    let bytes = std::fs::read(data.join("sequences/morph-glb/Horse.glb")).unwrap();
    let mut warnings = Warnings::default();
    // Key frames on Blender's grid.
    let sequence = read_morph_sequence(&bytes, &no_side_files, "Horse", Some(24.0), &mut warnings).unwrap();
    let written = write_sequence_glb(&sequence, &Surface::default(), "gallop", &mut warnings).unwrap();
    let file = folder.join("gallop.glb");
    std::fs::write(&file, &written).unwrap();
    println!("{}", run(Command::new("node").arg(script("validate.mjs")).arg(&file)));
    let character = read(&file).character;
    for (frame, positions) in sequence.frames().iter().enumerate() {
        let ours = evaluate(&character, character.clips.first(), frame as f32 / 24.0);
        let worst = largest_error(ours.iter().zip(positions).map(|(a, b)| a.distance(b.as_dvec3())));
        assert!(worst < 1e-5 * diagonal(&ours), "frame {frame}: {worst}");
    }
    let times = key_times(&character.clips[0]);
    let order = blender_order(&character);
    let job = Job { file, clip: Some(0), times, out: folder.join("out.bin"), character };
    play(three(), std::slice::from_ref(&job), false);
    let error = job.error(&three_order(&job.character));
    println!("three sequence: {error:.1e}");
    assert!(error < THREE_LIMIT);
    let mut blender = Command::new(tools.join("bpy/bin/python"));
    blender.arg(script("blender.py"));
    play(blender, std::slice::from_ref(&job), true);
    let error = job.error(&order);
    println!("blender sequence: {error:.1e}");
    assert!(error < BLENDER_LIMIT);
    std::fs::remove_dir_all(folder).unwrap();
}
