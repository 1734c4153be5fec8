//! Any bytes as USD; what is read can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    gltf::{GlbOptions, write_glb},
    no_side_files,
    usd::read_usd,
};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let warnings = &mut Warnings::default();
    if let Ok(file) = read_usd(bytes, &no_side_files, "fuzz.usd", warnings) {
        write_glb(&file.character, &GlbOptions::default(), warnings).expect("what was read is written");
    }
});
