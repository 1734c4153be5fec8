//! Any bytes as force rigs; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_flesh::muscle::file::{from_json, to_json};

fuzz_target!(|bytes: &[u8]| {
    let Ok(value) = serde_json::from_slice(bytes) else { return };
    if let Ok(set) = from_json(&value) {
        let again = from_json(&to_json(&set)).expect("written rigs are read");
        assert_eq!(again.rigs.len(), set.rigs.len());
        assert_eq!(again.controls, set.controls);
    }
});
