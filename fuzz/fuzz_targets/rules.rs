//! Any text as rules: it is read, written evenly and read again as the same; what is understood is compiled, evaluated
//! and solved a little.

#![no_main]

use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use sinew_constrain::{
    Skeleton,
    compile::{CompileParams, Problem, Scene},
    language::{format, parse},
    solve::{SolveParams, Solver},
};
use sinew_geom::{
    Joint, Rig, Transform,
    path::{Ground, PlacedGround},
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (script, _) = parse(text);
    let tidy = format(text);
    assert_eq!(format(&tidy), tidy);
    assert_eq!(parse(&tidy).0, script);
    // Many equations cost what they cost; that is no fault.
    if script.statements.len() > 8 {
        return;
    }
    let skeleton = leg();
    let scene = Scene {
        markers: vec![("M".into(), DVec3::new(0.1, 0.2, 0.3)), ("N".into(), DVec3::Y)],
        planes: vec![("Floor".into(), [DVec3::ZERO, DVec3::Y])],
        ground: Some(PlacedGround::of(Ground::Hills { height: 0.3, length: 3.0 })),
    };
    let (problem, _) = Problem::new(&script, &skeleton, &scene, &CompileParams::default());
    let start = problem.skeleton().rest_values();
    let mut solver = Solver::new(problem);
    let params = SolveParams { max_iterations: 5, restarts: 1, ..SolveParams::default() };
    solver.solve(&start, &params).expect("a pose of the right length is solved");
});

/// Four joints in a row, named A to D.
fn leg() -> Skeleton {
    let joint = |(index, name): (usize, &str)| {
        let offset = Transform::from_translation(DVec3::new(0.0, -0.4, 0.1 * index as f64));
        Joint::new(name, index.checked_sub(1), offset)
    };
    let joints = ["A", "B", "C", "D"].into_iter().enumerate().map(joint).collect();
    Skeleton::from_rig(&Rig::new(joints).expect("parents come first")).expect("it has joints")
}
