//! Muscles on other characters, over time, with belts and stiffness.

use crate::{
    Baker, FleshParams, LatticeParams, Simulation, SimulationParams,
    muscle::{
        Belt, Control, ControlSource, Curve, Guide, Muscle, MuscleDrive, MuscleEvaluator, MuscleSet, Template,
    },
    muscle_fit::{MapPairs, MapParams, PosedBody, carry_skeleton, fit_map, match_joints, transfer_muscles},
};
use glam::{DMat3, DVec3, Vec3};
use sinew_geom::{
    Character, Mesh, Pose, Rig, Warnings,
    sample::{Sample, build_character},
};
use std::ops::ControlFlow;

fn params(cells: usize) -> SimulationParams {
    SimulationParams {
        lattice: LatticeParams { cells, size: None },
        flesh: FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() },
        ..SimulationParams::default()
    }
}

fn biped() -> Character {
    build_character(Sample::Biped, 1500).unwrap()
}

fn quiet() -> Warnings {
    Warnings::default()
}

/// A vertex of the belly.
fn belly(mesh: &Mesh) -> usize {
    let [low, high] = mesh.bounds();
    let place = DVec3::new(0.5 * (low.x + high.x), low.y + 0.6 * (high.y - low.y), high.z);
    let distance = |v: &usize| mesh.positions()[*v].distance_squared(place);
    (0..mesh.n_vertices()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

/// A bump of the belly that follows `breath`.
fn breath(character: &Character) -> MuscleSet {
    let guide = Guide::at_vertex(&character.mesh, belly(&character.mesh)).unwrap();
    let rig = Muscle::template("belly", "breath", Template::Bump, guide, vec![3e5, 0.2, -0.05, 0.0]);
    MuscleSet { controls: vec![Control::free("breath")], muscles: vec![rig] }
}

/// The same character, wider and turned.
fn other(character: &Character) -> Character {
    let turn = DMat3::from_rotation_y(0.6) * DMat3::from_diagonal(DVec3::new(1.25, 0.9, 1.15));
    let shift = DVec3::new(2.0, 0.3, -1.0);
    let places = character.mesh.positions().iter().map(|p| turn * *p + shift).collect();
    let mesh = Mesh::new(places, character.mesh.faces().to_vec()).unwrap();
    Character { mesh, ..Character::default() }
}

#[test]
fn a_rig_is_carried_to_a_character_without_a_skeleton() {
    let source = biped();
    let bare = other(&source);
    let mut from = PosedBody::new(&source, &params(400), &mut quiet()).unwrap();
    let features = (0..source.mesh.n_vertices()).step_by(40);
    let features = features.map(|v| [source.mesh.positions()[v], bare.mesh.positions()[v]]).collect();
    let pairs = MapPairs { bones: vec![], features };
    let mut go_on = |_| ControlFlow::Continue(());
    let map =
        fit_map((from.body(), &source.mesh), &bare.mesh, &pairs, &MapParams::default(), &mut go_on).unwrap();
    assert!(
        map.report.surface < 0.01 && map.report.features < 0.02 && map.report.least_volume > 0.0,
        "{:?}",
        map.report
    );
    // Forth and back is where it began.
    let some: Vec<DVec3> = source.mesh.positions().iter().step_by(97).copied().collect();
    let back = map.backward(&map.forward(&some));
    let off = some.iter().zip(&back).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(off < 1e-6, "{off}");
    let target = carry_skeleton(&map, &source, &bare.mesh, &mut quiet()).unwrap();
    let joints = match_joints(&source, &target, &[]).unwrap();
    let mut to = PosedBody::new(&target, &params(500), &mut quiet()).unwrap();
    let set = breath(&source);
    let (carried, report) = transfer_muscles(&mut from, &set, &map, &mut to, &joints).unwrap();
    assert!(report.least_volume > 0.0 && report.folded_cells == 0, "{report:?}");
    // What comes out on the source comes out on the target, where and as far as the map says.
    let moved = |posed: &mut PosedBody, set: &MuscleSet| {
        let rest = posed.rig().rest_pose();
        posed.set_pose(&rest).unwrap();
        let before = posed.positions();
        let mut forces = Vec::new();
        let lattice = posed.body().lattice.clone();
        let mut evaluator = MuscleEvaluator::new(set, &lattice).unwrap();
        evaluator.forces(&lattice, &[1.0], posed.rotations(), &mut forces).unwrap();
        posed.push(forces).unwrap();
        assert_eq!(posed.n_folded(), 0);
        posed.positions().iter().zip(before).map(|(a, b)| *a - b).collect::<Vec<DVec3>>()
    };
    let (ours, theirs) = (moved(&mut from, &set), moved(&mut to, &carried));
    let vertex = belly(&source.mesh);
    let turn = DMat3::from_rotation_y(0.6) * DMat3::from_diagonal(DVec3::new(1.25, 0.9, 1.15));
    let wanted = turn * ours[vertex];
    assert!(ours[vertex].length() > 0.01, "{}", ours[vertex]);
    assert!(theirs[vertex].distance(wanted) < 0.25 * wanted.length(), "{} {wanted}", theirs[vertex]);
    let far =
        (0..ours.len()).filter(|&v| ours[v].length() < 1e-4).map(|v| theirs[v].length()).fold(0.0, f64::max);
    assert!(far < 0.3 * wanted.length(), "{far}");
}

#[test]
fn skeletons_that_do_not_match_are_reported() {
    let source = biped();
    let mut target = source.clone();
    let rig = target.rig.clone().unwrap();
    let mut joints = rig.joints().to_vec();
    let name = joints[3].name.clone();
    joints[3].name = "wing".into();
    joints[4].name = joints[4].name.to_uppercase();
    target.rig = Some(Rig::new(joints).unwrap());
    let error = match_joints(&source, &target, &[]).unwrap_err().to_string();
    assert!(
        error.contains(&format!("{name:?} of the source has no partner")) && error.contains("wing"),
        "{error}"
    );
    let pairs = match_joints(&source, &target, &[(name.clone(), "wing".into())]).unwrap();
    assert_eq!(pairs.len(), rig.n_joints());
    assert!(
        match_joints(&source, &target, &[("tentacle".into(), "wing".into())])
            .unwrap_err()
            .to_string()
            .contains("tentacle")
    );
    let few = MapPairs { bones: vec![[DVec3::ZERO, DVec3::ONE]], features: vec![] };
    let body = crate::build_body(&source.mesh, &LatticeParams { cells: 100, size: None }).unwrap();
    let mut go_on = |_| ControlFlow::Continue(());
    let error =
        fit_map((&body, &source.mesh), &target.mesh, &few, &MapParams::default(), &mut go_on).unwrap_err();
    assert!(error.to_string().contains("do not fix"), "{error}");
}

/// The skin at a vertex, at times of a bake under a curve.
fn driven(
    character: &Character,
    set: &MuscleSet,
    curve: Curve,
    belts: Vec<Belt>,
    times: &[f64],
) -> Vec<Vec<Vec3>> {
    let mut baker = Baker::new(character, None, &params(300).into(), &mut quiet()).unwrap();
    let lattice = baker.body().lattice.clone();
    let drive = MuscleDrive::new(set, &lattice, vec![("breath".into(), curve)], belts).unwrap();
    baker.set_muscles(drive, true).unwrap();
    let mut out = Vec::new();
    for time in times {
        baker.advance(*time, |report| assert!(report.converged)).unwrap();
        let mut positions = Vec::new();
        baker.positions(&mut positions).unwrap();
        out.push(positions);
    }
    out
}

#[test]
fn curves_move_the_skin_and_belts_hold_it() {
    let character = biped();
    let set = breath(&character);
    let vertex = belly(&character.mesh);
    let curve = Curve::new(vec![(1.0, 1.0), (0.0, 0.0), (2.0, 0.0)]).unwrap();
    let frames = driven(&character, &set, curve.clone(), vec![], &[0.0, 1.0, 3.5]);
    let out = |frame: usize| f64::from(frames[frame][vertex].distance(frames[0][vertex]));
    assert!(out(1) > 0.01 && out(2) < 0.1 * out(1), "{} {}", out(1), out(2));
    assert!(Curve::new(vec![]).is_err() && Curve::new(vec![(0.0, 1.0), (0.0, 2.0)]).is_err());
    assert!(Curve::new(vec![(f64::NAN, 1.0)]).is_err());
    // A belt around the bone nearest to the vertex holds its ring while the muscle pushes.
    let simulation = Simulation::new(&character, &params(300), &mut quiet()).unwrap();
    let rig = character.rig.as_ref().unwrap();
    let heads: Vec<DVec3> = rig.rest_world().iter().map(|w| w.translation).collect();
    let near = |j: &usize| heads[*j].distance_squared(character.mesh.positions()[vertex]);
    let mut order: Vec<usize> = (0..heads.len()).collect();
    order.sort_by(|a, b| near(a).total_cmp(&near(b)));
    let belt = order
        .iter()
        .find_map(|&j| Belt::around(&simulation, &character.mesh, (&rig.joints()[j].name, 0.5), 1.0).ok())
        .unwrap();
    let held = driven(&character, &set, Curve::constant(1.0), vec![belt.clone()], &[0.0]);
    let free = driven(&character, &set, Curve::constant(1.0), vec![], &[0.0]);
    let mut pins = Vec::new();
    belt.pin(&[], &mut pins);
    assert!(pins.len() > 3, "{}", pins.len());
    let baker = Baker::new(&character, None, &params(300).into(), &mut quiet()).unwrap();
    let at_rest = |pin: &crate::Pin| pin.point.evaluate(&baker.body().lattice, baker.body().lattice.nodes());
    assert!(pins.iter().all(|pin| at_rest(pin).distance(pin.target) < 1e-5));
    let rest = character.mesh.positions();
    let moved = |frame: &[Vec3]| {
        let each = pins.iter().map(|pin| {
            let distance = |v: &usize| rest[*v].distance_squared(pin.target);
            let v = (0..rest.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap();
            frame[v].as_dvec3().distance(rest[v])
        });
        each.fold(0.0, f64::max)
    };
    assert!(moved(&held[0]) < 1e-4, "{}", moved(&held[0]));
    assert!(moved(&free[0]) > 1e-3, "{}", moved(&free[0]));
    let wrong = Belt::around(&simulation, &character.mesh, ("nobody", 0.5), 1.0).unwrap_err().to_string();
    assert!(wrong.contains("there is no joint \"nobody\""), "{wrong}");
    assert!(Belt::around(&simulation, &character.mesh, (&rig.joints()[1].name, 3.0), 1.0).is_err());
}

/// A muscle at 0 changes nothing at all, though frames are held while one acts.
#[test]
fn a_muscle_at_zero_changes_nothing() {
    let character = biped();
    let clip = &character.clips[0];
    let soft = SimulationParams { flesh: FleshParams::default(), ..params(300) };
    let bake = |set: Option<&MuscleSet>| {
        let mut baker = Baker::new(&character, Some(clip), &soft.clone().into(), &mut quiet()).unwrap();
        if let Some(set) = set {
            let lattice = baker.body().lattice.clone();
            let curves = vec![("breath".into(), Curve::constant(0.0))];
            baker.set_muscles(MuscleDrive::new(set, &lattice, curves, vec![]).unwrap(), true).unwrap();
        }
        baker.advance(0.2, |_| {}).unwrap();
        let mut out = Vec::new();
        baker.positions(&mut out).unwrap();
        out
    };
    let set = breath(&character);
    assert_eq!(bake(None), bake(Some(&set)));
}

/// A muscle that stiffens flesh where it acts makes it give way less to its own force.
#[test]
fn a_tense_muscle_gives_way_less() {
    let character = biped();
    let vertex = belly(&character.mesh);
    let mut set = breath(&character);
    let still = driven(&character, &set, Curve::constant(0.0), vec![], &[0.0]);
    let soft = driven(&character, &set, Curve::constant(1.0), vec![], &[0.0]);
    set.muscles[0].stiffen = 4.0;
    let hard = driven(&character, &set, Curve::constant(1.0), vec![], &[0.0]);
    let off = |frames: &[Vec<Vec3>]| frames[0][vertex].distance(still[0][vertex]);
    assert!(off(&hard) < 0.7 * off(&soft) && off(&hard) > 0.1 * off(&soft), "{} {}", off(&hard), off(&soft));
}

#[test]
fn pose_parameters_follow_joints() {
    let character = biped();
    let rig = character.rig.as_ref().unwrap();
    let name = rig.joints()[2].name.clone();
    let control = Control::parse(&format!("{name}.bend"), Some(rig));
    let mut pose: Pose = rig.rest_pose();
    assert!(control.in_pose(Some((rig, &pose))).unwrap().unwrap().abs() < 1e-9);
    pose.locals[2].rotation *= glam::DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), -0.7);
    assert!((control.in_pose(Some((rig, &pose))).unwrap().unwrap() - 0.7).abs() < 1e-9);
    let set = MuscleSet { controls: vec![control, Control::free("x")], muscles: vec![] };
    assert_eq!(set.theta(Some((rig, &pose)), |n| (n == "x").then_some(0.5)).unwrap()[1], 0.5);
    assert!(set.theta(None, |_| None).unwrap_err().to_string().contains("there is no skeleton"));
    assert_eq!(Control::parse("no.such.bend", Some(rig)).source, ControlSource::Free);
}
