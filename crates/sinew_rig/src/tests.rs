//! Our own samples with their true skeletons, and what must not change a result.

use crate::{AutoRig, RigError, RigParams, build_rig, build_skin};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Character, Mesh, Skin,
    body_map::{BodyClass, BodyMap},
    sample::{Sample, build_character},
};

const N: usize = 6000;

fn rig(mesh: &Mesh) -> AutoRig {
    build_rig(mesh, &RigParams::default()).unwrap()
}

/// A sample as it stands in its rest pose.
fn sample(sample: Sample) -> Character {
    build_character(sample, N).unwrap()
}

fn places(rigged: &AutoRig) -> Vec<DVec3> {
    rigged.rig.rest_world().iter().map(|joint| joint.translation).collect()
}

/// Distance of named joints from the sample's own, in percent of the diagonal.
fn errors(character: &Character, rigged: &AutoRig, names: &[(&str, &str)]) -> Vec<(String, f64)> {
    let truth = character.rig.as_ref().unwrap();
    let world = truth.rest_world();
    let found = places(rigged);
    let error = |(ours, theirs): &(&str, &str)| {
        let a = found[rigged.rig.find(ours).unwrap_or_else(|| panic!("no joint {ours}"))];
        let b = world[truth.find(theirs).unwrap_or_else(|| panic!("no joint {theirs}"))].translation;
        ((*ours).to_owned(), 100.0 * a.distance(b) / character.mesh.diagonal())
    };
    names.iter().map(error).collect()
}

fn assert_near(errors: &[(String, f64)], mean: f64, worst: f64) {
    let average = errors.iter().map(|(_, e)| e).sum::<f64>() / errors.len() as f64;
    assert!(average < mean, "mean {average:.2} % of {errors:.1?}");
    assert!(errors.iter().all(|(_, e)| *e < worst), "{errors:.1?}");
}

#[test]
fn the_biped_gets_its_own_joints_by_name() {
    let character = sample(Sample::Biped);
    let rigged = rig(&character.mesh);
    assert_eq!(rigged.report.class, BodyClass::Biped);
    assert!(rigged.report.confidence > 0.8, "{:?}", rigged.report);
    assert!(rigged.report.up.y > 0.99 && rigged.report.forward.z > 0.99, "{:?}", rigged.report);
    let sides = ["upper_arm", "forearm", "hand", "thigh", "shin", "foot"];
    let names: Vec<String> = sides.iter().flat_map(|n| [format!("{n}.L"), format!("{n}.R")]).collect();
    let mut pairs: Vec<(&str, &str)> = names.iter().map(|n| (n.as_str(), n.as_str())).collect();
    pairs.extend([("hips", "hips"), ("neck", "neck"), ("head", "head")]);
    assert_near(&errors(&character, &rigged, &pairs), 3.0, 6.5);
}

#[test]
fn the_quadruped_gets_its_own_joints_by_name() {
    let character = sample(Sample::Quadruped);
    let rigged = rig(&character.mesh);
    assert_eq!(rigged.report.class, BodyClass::Quadruped);
    assert!(rigged.report.confidence > 0.7, "{:?}", rigged.report);
    assert!(rigged.report.up.y > 0.99 && rigged.report.forward.z > 0.99, "{:?}", rigged.report);
    let pairs = [
        ("front_leg.L", "upper_arm.L"),
        ("front_shin.L", "forearm.L"),
        ("front_foot.L", "front_paw.L"),
        ("hind_leg.R", "thigh.R"),
        ("hind_shin.R", "shin.R"),
        ("hind_hock.R", "hind_foot.R"),
        ("neck", "neck"),
        ("head", "head"),
    ];
    let pairs: Vec<(&str, &str)> = pairs
        .into_iter()
        .map(|(a, b)| if rigged.rig.find(a).is_none() { ("neck.1", b) } else { (a, b) })
        .collect();
    assert_near(&errors(&character, &rigged, &pairs), 4.5, 8.0);
}

/// A sample with some joints turned, by degrees about the axes of the model.
fn posed(mut character: Character, turns: &[(&str, DVec3, f64)]) -> Character {
    let rig = character.rig.as_ref().unwrap();
    let world = rig.rest_world();
    let mut pose = rig.rest_pose();
    for (name, axis, degrees) in turns {
        let joint = rig.find(name).unwrap_or_else(|| panic!("no joint {name}"));
        let parent = rig.joints()[joint]
            .parent
            .map_or(DQuat::IDENTITY, |p| world[p].to_scale_rotation_translation().1);
        let turn = DQuat::from_axis_angle(*axis, degrees.to_radians());
        let local = &mut pose.locals[joint].rotation;
        *local = parent.inverse() * turn * parent * *local;
    }
    let positions = character.positions_posed(&pose).unwrap();
    let positions = positions.into_iter().map(|p| p.as_dvec3()).collect();
    character.mesh = character.mesh.with_positions(positions).unwrap();
    character
}

#[test]
fn legs_that_walk_are_paired_by_where_they_begin() {
    let standing = rig(&sample(Sample::Quadruped).mesh);
    let swings = [("upper_arm.L", 30.0), ("upper_arm.R", -30.0), ("thigh.L", 25.0), ("thigh.R", -25.0)];
    for side in [1.0, -1.0] {
        let turns = swings.map(|(name, degrees)| (name, DVec3::X, side * degrees));
        let character = posed(sample(Sample::Quadruped), &turns);
        let rigged = rig(&character.mesh);
        assert_eq!(rigged.report.class, BodyClass::Quadruped, "{:?}", rigged.report);
        assert!(rigged.report.confidence > 0.5, "{:?}", rigged.report);
        assert!(rigged.report.forward.z > 0.95, "{:?}", rigged.report);
        let [now, before] = [&rigged, &standing].map(|rigged| {
            let at = |name: &str| {
                places(rigged)[rigged.rig.find(name).unwrap_or_else(|| panic!("no joint {name}"))]
            };
            ["front_leg.L", "front_leg.R", "hind_leg.L", "hind_leg.R", "front_foot.L", "front_foot.R"].map(at)
        });
        let size = character.mesh.diagonal();
        // Shoulders and hips are where they were, and left is left.
        for k in 0..4 {
            assert!(now[k].distance(before[k]) < 0.07 * size, "joint {k}: {} {}", now[k], before[k]);
            assert_eq!(now[k].x > 0.0, before[k].x > 0.0);
        }
        // The feet went with the legs: turned by a positive angle about X, a leg swings back.
        assert!(side * (now[5].z - now[4].z) > 0.1 * size, "{} {}", now[4], now[5]);
    }
}

#[test]
fn arms_that_hang_along_the_body_are_guessed_and_said_to_be() {
    let turns = [("upper_arm.L", DVec3::Z, -62.0), ("upper_arm.R", DVec3::Z, 62.0)];
    let character = posed(sample(Sample::Biped), &turns);
    let rigged = rig(&character.mesh);
    assert_eq!(rigged.report.class, BodyClass::Biped, "{:?}", rigged.report);
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        let at = |name: &str| places(&rigged)[rigged.rig.find(&format!("{name}.{side}")).unwrap()];
        let [upper, lower, hand] = ["upper_arm", "forearm", "hand"].map(at);
        assert!(sign * upper.x > 0.0 && sign * hand.x > 0.0, "{upper} {hand}");
        assert!(upper.y > lower.y && lower.y > hand.y, "{upper} {lower} {hand}");
    }
}

#[test]
fn an_octopus_has_tentacles() {
    let rigged = rig(&sample(Sample::Octopus).mesh);
    assert_eq!(rigged.report.class, BodyClass::Octopus, "{:?}", rigged.report);
    assert!(rigged.rig.find("tentacle_8.1").is_some());
}

#[test]
fn weights_are_at_most_four_and_symmetric() {
    let character = sample(Sample::Biped);
    let rigged = rig(&character.mesh);
    let skin = &rigged.skin;
    assert_eq!(skin.influences(), 4);
    // The share of the surface that moves with the left hand is that of the right.
    let share = |name: &str| {
        let joint = rigged.rig.find(name).unwrap();
        let weight =
            |v| skin.vertex(v).filter(|(s, _)| *s as usize == joint).map(|(_, w)| f64::from(w)).sum::<f64>();
        (0..skin.n_vertices()).map(weight).sum::<f64>()
    };
    for name in ["upper_arm", "hand", "thigh", "foot"] {
        let (left, right) = (share(&format!("{name}.L")), share(&format!("{name}.R")));
        assert!((left - right).abs() < 0.06 * (left + right), "{name}: {left} {right}");
    }
}

#[test]
fn units_do_not_matter() {
    let character = sample(Sample::Biped);
    let rigged = places(&rig(&character.mesh));
    let large = character.mesh.positions().iter().map(|&p| 100.0 * p + DVec3::new(7.0, 0.0, -3.0)).collect();
    let again = places(&rig(&character.mesh.with_positions(large).unwrap()));
    for (a, b) in rigged.iter().zip(again) {
        assert!((100.0 * *a + DVec3::new(7.0, 0.0, -3.0)).distance(b) < 0.5, "{a} {b}");
    }
}

#[test]
fn up_axis_and_facing_do_not_matter() {
    use std::f64::consts::{FRAC_PI_2, PI};
    let turns =
        [DQuat::from_rotation_x(FRAC_PI_2), DQuat::from_rotation_y(PI), DQuat::from_rotation_y(FRAC_PI_2)];
    for kind in [Sample::Biped, Sample::Quadruped] {
        let character = sample(kind);
        let rigged = rig(&character.mesh);
        for turn in turns {
            let turned = character.mesh.positions().iter().map(|&p| turn * p).collect();
            let again = rig(&character.mesh.with_positions(turned).unwrap());
            assert_eq!(again.report.class, rigged.report.class);
            assert!(again.report.forward.dot(turn * rigged.report.forward) > 0.98, "{:?}", again.report);
            for (k, (a, b)) in places(&rigged).iter().zip(places(&again)).enumerate() {
                let name = &rigged.rig.joints()[k].name;
                let off = 100.0 * (turn * *a).distance(b) / character.mesh.diagonal();
                assert!(off < 2.5, "{name} moved by {off:.1} %");
            }
        }
    }
}

#[test]
fn the_order_of_vertices_does_not_matter() {
    let character = sample(Sample::Quadruped);
    let n = character.mesh.n_vertices();
    // 7919 is a prime that does not divide the count.
    let new_number = |v: usize| (v * 7919 + 13) % n;
    let mut positions = vec![DVec3::ZERO; n];
    (0..n).for_each(|v| positions[new_number(v)] = character.mesh.positions()[v]);
    let mut faces: Vec<[u32; 3]> =
        character.mesh.faces().iter().map(|f| f.map(|v| new_number(v as usize) as u32)).collect();
    faces.reverse();
    let again = rig(&Mesh::new(positions, faces).unwrap());
    let rigged = rig(&character.mesh);
    for (a, b) in places(&rigged).iter().zip(places(&again)) {
        assert!(a.distance(b) < 1e-9);
    }
}

/// A box from corner to corner, as 12 triangles.
fn cuboid(low: DVec3, high: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let corner = |k: usize| {
        let pick = |bit: usize, a: f64, b: f64| if k >> bit & 1 == 1 { b } else { a };
        DVec3::new(pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z))
    };
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    ((0..8).map(corner).collect(), faces)
}

fn boxes(list: &[[[f64; 3]; 2]]) -> Mesh {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for [low, high] in list {
        let (p, f) = cuboid(DVec3::from_array(*low), DVec3::from_array(*high));
        let first = positions.len() as u32;
        positions.extend(p);
        faces.extend(f.into_iter().map(|face| face.map(|v| v + first)));
    }
    Mesh::new(positions, faces).unwrap()
}

/// Nothing crashes, and nothing that is no animal is called one with confidence.
#[test]
fn what_is_no_body_gets_a_tree_or_little_confidence() {
    let plane =
        Mesh::new(vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Z, DVec3::Z], vec![[0, 1, 2], [0, 2, 3]])
            .unwrap();
    let cube = boxes(&[[[0.0; 3], [1.0; 3]]]);
    let chair = boxes(&[
        [[0.0, 0.45, 0.0], [0.5, 0.5, 0.5]],
        [[0.0, 0.5, 0.0], [0.5, 1.0, 0.05]],
        [[0.0, 0.0, 0.0], [0.05, 0.45, 0.05]],
        [[0.45, 0.0, 0.0], [0.5, 0.45, 0.05]],
        [[0.0, 0.0, 0.45], [0.05, 0.45, 0.5]],
        [[0.45, 0.0, 0.45], [0.5, 0.45, 0.5]],
    ]);
    for (name, mesh) in [("plane", plane), ("cube", cube), ("chair", chair)] {
        let report = rig(&mesh).report;
        let is_modest = report.class == BodyClass::Tree || report.confidence < 0.6;
        assert!(is_modest, "{name}: {report:?}");
    }
}

#[test]
fn bad_meshes_are_errors() {
    let empty = build_rig(&Mesh::default(), &RigParams::default());
    assert!(matches!(empty, Err(RigError::NoSurface { .. })));
    let point = Mesh::new(vec![DVec3::ONE; 3], vec![[0, 1, 2]]).unwrap();
    assert!(matches!(build_rig(&point, &RigParams::default()), Err(RigError::NoExtent)));
    let line = Mesh::new(vec![DVec3::ZERO, DVec3::X, 2.0 * DVec3::X], vec![[0, 1, 2]]).unwrap();
    assert!(build_rig(&line, &RigParams::default()).is_ok());
    let params = RigParams { template: Some(BodyClass::Arthropod) };
    let cube = boxes(&[[[0.0; 3], [1.0; 3]]]);
    assert!(matches!(build_rig(&cube, &params), Err(RigError::NoFit { .. })));
}

#[test]
fn loose_parts_ride_on_what_they_are_near() {
    let character = sample(Sample::Biped);
    let head = character.rig.as_ref().unwrap();
    let place = head.rest_world()[head.find("head").unwrap()].translation + DVec3::new(0.0, 0.12, 0.13);
    let (p, f) = cuboid(place - 0.015, place + 0.015);
    let first = character.mesh.n_vertices() as u32;
    let positions = character.mesh.positions().iter().copied().chain(p).collect();
    let eye = f.into_iter().map(|face| face.map(|v| v + first));
    let faces = character.mesh.faces().iter().copied().chain(eye).collect();
    let rigged = rig(&Mesh::new(positions, faces).unwrap());
    let joint = rigged.rig.find("head").unwrap();
    for v in 0..8 {
        let weight: f32 = rigged
            .skin
            .vertex(first as usize + v)
            .filter(|(s, _)| *s as usize == joint)
            .map(|(_, w)| w)
            .sum();
        assert!(weight > 0.8, "{weight}");
    }
}

/// Mean over the vertices of the sum of differences of weights.
fn difference(a: &Skin, b: &Skin) -> f64 {
    let at = |skin: &Skin, v: usize, joint: usize| {
        let is_it = |(slot, _): &(u16, f32)| skin.slots[*slot as usize].joint == joint;
        skin.vertex(v).filter(is_it).map(|(_, w)| f64::from(w)).sum::<f64>()
    };
    let n_joints = a.slots.iter().chain(&b.slots).map(|slot| slot.joint + 1).max().unwrap_or(0);
    let of_vertex = |v: usize| (0..n_joints).map(|k| (at(a, v, k) - at(b, v, k)).abs()).sum::<f64>();
    (0..a.n_vertices()).map(of_vertex).sum::<f64>() / a.n_vertices() as f64
}

#[test]
fn weights_on_a_known_skeleton_are_near_its_own() {
    for kind in [Sample::Biped, Sample::Quadruped] {
        let character = sample(kind);
        let (rig, own) = (character.rig.as_ref().unwrap(), character.skin.as_ref().unwrap());
        for bound in [None, Some(own)] {
            let made = build_skin(&character.mesh, rig, bound).unwrap();
            let off = difference(&made, own);
            assert!(off < 0.6, "{kind:?}: {off:.2}");
        }
    }
}

#[test]
fn the_body_map_understands_what_is_made() {
    for kind in [Sample::Biped, Sample::Quadruped, Sample::Octopus] {
        let rigged = rig(&sample(kind).mesh);
        let map = BodyMap::read(&rigged.rig, &[]);
        assert_eq!(map.class, rigged.report.class);
        assert!(map.confidence > 0.6, "{kind:?}: {}", map.confidence);
        if kind != Sample::Octopus {
            assert!(map.up.dot(rigged.report.up) > 0.95 && map.forward.dot(rigged.report.forward) > 0.95);
        }
    }
}
