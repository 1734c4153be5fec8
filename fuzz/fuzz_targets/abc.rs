//! Any bytes as Alembic; what is read can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    alembic::read_alembic,
    gltf::{GlbOptions, write_glb},
};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let warnings = &mut Warnings::default();
    if let Ok(model) = read_alembic(bytes, "fuzz.abc", warnings) {
        write_glb(&model.character, &GlbOptions::default(), warnings).expect("what was read is written");
    }
});
