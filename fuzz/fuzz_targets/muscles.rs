//! Any bytes as muscles; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_session::{muscles_from_json, muscles_to_json, read_muscles};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(set) = read_muscles(bytes, "fuzz.json") {
        let again = muscles_from_json(&muscles_to_json(&set)).expect("written muscles are read");
        assert_eq!(again.muscles.len(), set.muscles.len());
        assert_eq!(again.controls, set.controls);
    }
});
