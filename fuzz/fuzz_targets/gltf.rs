//! Any bytes as glTF; what is read can be played, written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    gltf::{GlbOptions, read_gltf, write_glb},
    no_side_files,
};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let warnings = &mut Warnings::default();
    if let Ok(file) = read_gltf(bytes, &no_side_files, "fuzz.glb", warnings) {
        for clip in &file.character.clips {
            for time in [0.0, clip.duration_secs() * 0.37, clip.duration_secs()] {
                if let Some(rig) = &file.character.rig {
                    let pose = clip.sample(rig, time);
                    assert!(pose.locals.iter().all(|local| local.rotation.is_finite()), "a pose is finite");
                }
                let mut weights = vec![0.0; file.character.morphs.len()];
                clip.sample_morphs(time, &mut weights);
            }
        }
        let written = write_glb(&file.character, &GlbOptions::default(), warnings);
        let written = written.expect("what was read is written");
        read_gltf(&written, &no_side_files, "again.glb", warnings).expect("a written GLB is read");
    }
});
