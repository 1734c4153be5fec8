//! Any bytes as a Kinect recording.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::recording::read_kinect;
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_kinect(bytes, "fuzz.txt", &mut Warnings::default());
});
