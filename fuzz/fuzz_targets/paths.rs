//! Any bytes as paths; what is read gives finite places at any time, and ground of finite height.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::paths::read_paths;
use sinew_geom::path::{Ground, plan_walk};

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_paths(bytes, "fuzz.json") else { return };
    for path in file.paths.iter().map(|p| &p.path).chain(&file.way) {
        let [start, end] = path.span();
        // Numbers near the end of their range may leave it on the way; ordinary ones may not.
        if path.points().iter().all(|p| p.abs().max_element() < 1e100) && end - start < 1e100 {
            for share in [0.0, 0.3, 1.0, 2.0] {
                assert!(path.at(start + share * (end - start)).is_finite());
            }
        }
    }
    let ground = file.ground.unwrap_or_else(Ground::default);
    let _ = ground.height(0.3, -0.7);
    if let Some(walk) = file.walk.map(|walk| walk.build(1.7)) {
        // A walk of as many steps as there are bytes to hold it is a mistake that the command line refuses later.
        let length: f64 = walk.line.windows(2).map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum();
        if length / walk.stride < 1e3 {
            let _ = plan_walk(&walk, [glam::DVec3::X, -glam::DVec3::X], &ground);
        }
    }
});
