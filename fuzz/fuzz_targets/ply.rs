//! Any bytes as PLY; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::ply::{read_ply, write_ply};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = read_ply(bytes, "fuzz.ply", &mut Warnings::default()) {
        let again = read_ply(&write_ply(&model.character), "again.ply", &mut Warnings::default());
        assert_eq!(again.expect("a written PLY is read").character.mesh, model.character.mesh);
    }
});
