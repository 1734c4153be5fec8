//! Any bytes as pairs of poses; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::pairs::{PairTarget, read_pairs, write_pairs};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(file) = read_pairs(bytes, "fuzz.json") {
        let again = read_pairs(&write_pairs(&file), "again.json").expect("written pairs are read");
        assert_eq!(file.limbs, again.limbs);
        assert_eq!(file.pairs.len(), again.pairs.len());
        for (a, b) in file.pairs.iter().zip(&again.pairs) {
            assert_eq!((&a.name, &a.body), (&b.name, &b.body));
            if let (PairTarget::Joints(a), PairTarget::Joints(b)) = (&a.target, &b.target) {
                assert_eq!(a.len(), b.len());
                for ((name, a), (same, b)) in a.iter().zip(b) {
                    assert!(name == same && a.translation == b.translation && a.scale == b.scale);
                    assert!(a.rotation.dot(b.rotation) > 1.0 - 1e-9);
                }
            } else {
                assert_eq!(a.target, b.target);
            }
        }
    }
});
