//! Any bytes as STL.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::stl::read_stl;
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_stl(bytes, "fuzz.stl", &mut Warnings::default());
});
