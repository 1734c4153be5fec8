//! Any bytes as a MEDIT mesh.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::medit::read_medit;
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_medit(bytes, "fuzz.mesh", &mut Warnings::default());
});
