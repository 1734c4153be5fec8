//! Any bytes as landmarks.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::recording::read_landmarks;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_landmarks(bytes, 30.0, "fuzz.json");
});
