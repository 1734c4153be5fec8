//! Blender as the judge of what a motion means.

use crate::support::{data, tools, workspace};
use glam::DVec3;
use sinew_formats::bvh::read_bvh;
use sinew_geom::{Warnings, measure::largest_error};
use std::{fmt::Write, process::Command};

/// Largest difference of a joint, as a share of the skeleton's size.
const LIMIT: f64 = 1e-4;

const FILES: &[&str] = &[
    "cmu/02_01.bvh",
    "bandai-namco/dataset-1_walk_normal_001.bvh",
    "threejs-pirouette.bvh",
    "nonhumanoid/Crab-dance-long.bvh",
];

#[test]
fn joints_stand_where_blender_puts_them() {
    let Some(data) = data() else { return };
    let Some(tools) = tools() else { return };
    let folder = std::env::temp_dir().join(format!("sinew-bvh-judge-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut jobs = Vec::new();
    for (index, name) in FILES.iter().enumerate() {
        let path = data.join("bvh").join(name);
        let bytes = std::fs::read(&path).unwrap();
        let file = read_bvh(&bytes, name, &mut Warnings::default()).unwrap();
        let frames = [0, 1, file.n_frames / 3, file.n_frames - 1];
        jobs.push((path, file, frames, folder.join(format!("{index}.bin"))));
    }
    let list: Vec<_> = jobs
        .iter()
        .map(|(path, _, frames, out)| serde_json::json!({ "file": path, "frames": frames, "out": out }))
        .collect();
    let jobs_file = folder.join("jobs.json");
    std::fs::write(&jobs_file, serde_json::to_vec(&list).unwrap()).unwrap();
    let output = Command::new(tools.join("bpy/bin/python"))
        .arg(workspace().join("tests/judges/blender_bvh.py"))
        .arg(&jobs_file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut report = String::new();
    for (path, file, frames, out) in jobs {
        let rig = file.character.rig.unwrap();
        let bytes = std::fs::read(out).unwrap();
        let judged: Vec<DVec3> = bytes
            .as_chunks::<24>()
            .0
            .iter()
            .map(|p| {
                DVec3::from_array([0, 8, 16].map(|at| f64::from_le_bytes(p[at..at + 8].try_into().unwrap())))
            })
            .collect();
        // Blender has no bones for end sites.
        let bones: Vec<usize> = (0..rig.n_joints()).filter(|&j| !rig.joints()[j].dofs.is_empty()).collect();
        assert_eq!(judged.len(), bones.len() * frames.len(), "{}", path.display());
        let mut worst = 0.0f64;
        let mut world = Vec::new();
        for (&frame, judged) in frames.iter().zip(judged.chunks(bones.len())) {
            let time = (frame as f64 * file.frame_secs) as f32;
            rig.forward(&file.character.clips[0].sample(&rig, time), &mut world).unwrap();
            let ours: Vec<DVec3> = bones.iter().map(|&j| world[j].translation).collect();
            let [low, high] = sinew_geom::mesh::bounds(&ours);
            let far = largest_error(ours.iter().zip(judged).map(|(a, b)| a.distance(*b)));
            worst = largest_error([worst, far / low.distance(high)]);
        }
        let _ = writeln!(report, "{}: {worst:.1e}", path.display());
        assert!(worst < LIMIT, "{report}");
    }
    println!("{report}");
    std::fs::remove_dir_all(folder).unwrap();
}
