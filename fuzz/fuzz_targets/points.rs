//! Any bytes as a point cache.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::point_cache::read_point_cache;
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(cache) = read_point_cache(bytes, "fuzz.pc2", None, &mut Warnings::default()) {
        assert_eq!(cache.times.len(), cache.frames.len(), "every frame has its time");
        assert!(cache.frames.iter().all(|frame| frame.len() == cache.n_vertices), "frames have all vertices");
    }
});
