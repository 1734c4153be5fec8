//! Any bytes as BVH; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::bvh::{read_bvh, write_bvh};
use sinew_geom::Warnings;

/// Numbers written again; more only takes time.
const MAX_NUMBERS: f64 = 1e6;

fuzz_target!(|bytes: &[u8]| {
    let warnings = &mut Warnings::default();
    let Ok(file) = read_bvh(bytes, "fuzz.bvh", warnings) else { return };
    let character = file.character;
    let (Some(rig), Some(clip)) = (character.rig, character.clips.into_iter().next()) else { return };
    // A frame time of a picosecond asks for more frames than there are.
    if (file.n_frames * rig.n_joints()) as f64 > MAX_NUMBERS {
        return;
    }
    let written = write_bvh(&rig, &clip, 1.0 / file.frame_secs, warnings).expect("what was read is written");
    let again = read_bvh(&written, "again.bvh", warnings).expect("a written BVH is read");
    assert!(again.character.rig.expect("a rig").n_joints() >= rig.n_joints());
});
