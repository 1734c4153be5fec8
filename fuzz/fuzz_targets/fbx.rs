//! Any bytes as FBX; what is read can be played, written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    fbx::read_fbx,
    gltf::{GlbOptions, read_gltf, write_glb_hosted},
    no_side_files,
};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let warnings = &mut Warnings::default();
    if let Ok(file) = read_fbx(bytes, &no_side_files, "fuzz.fbx", warnings) {
        for clip in &file.character.clips {
            for time in [0.0, clip.duration_secs() * 0.37, clip.duration_secs()] {
                file.character.positions_at(Some(clip), time).expect("a clip plays");
            }
        }
        let options = GlbOptions::default();
        let written = write_glb_hosted(file.host.as_deref(), &file.character, &options, warnings);
        let written = written.expect("what was read is written");
        let again =
            read_gltf(&written, &no_side_files, "again.glb", warnings).expect("a written GLB is read");
        assert_eq!(again.character.mesh, file.character.mesh);
    }
});
