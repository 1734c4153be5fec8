//! Any bytes as OFF.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::off::read_off;
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_off(bytes, "fuzz.off", &mut Warnings::default());
});
