//! Handles of shapes whose limbs are known.

use super::{loops::measure_level_sets, profile::compute_profiles, tree::build_tree, *};
use crate::{HandleSet, tests::joined};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Character,
    mesh::Adjacency,
    sample::{Sample, build_character},
};
use std::{collections::HashSet, f64::consts::TAU};

fn find(mesh: &Mesh, count: Option<usize>) -> Vec<Handle> {
    let params = AutoParams { count, ..AutoParams::default() };
    let mut warnings = Warnings::default();
    find_handles(mesh, &params, &mut |_| ControlFlow::Continue(()), &mut warnings).unwrap()
}

/// The handle of each vertex.
fn owners(mesh: &Mesh, handles: &[Handle]) -> Vec<Option<usize>> {
    let mut warnings = Warnings::default();
    let set = HandleSet::new(mesh, handles, &mut warnings).unwrap();
    assert_eq!(warnings.messages, Vec::<String>::new(), "no vertex is in two handles, no handle is empty");
    (0..mesh.n_vertices()).map(|v| set.owner(v)).collect()
}

/// Between two handles lie two soft vertices at least.
fn assert_bands(mesh: &Mesh, owners: &[Option<usize>]) {
    let adjacency = Adjacency::new(mesh);
    let beside = |v: u32| adjacency.neighbors.row(v as usize);
    for (v, owner) in owners.iter().enumerate().filter(|(_, owner)| owner.is_some()) {
        for &w in beside(v as u32).iter().flat_map(|&u| beside(u)).chain(beside(v as u32)) {
            let other = owners[w as usize];
            assert!(other.is_none() || other == *owner, "vertices {v} and {w} are too near to each other");
        }
    }
}

fn assert_tree(handles: &[Handle]) {
    let names: HashSet<&str> = handles.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names.len(), handles.len(), "names are unique");
    for handle in handles {
        assert!(handle.center.is_finite() && handle.vertices.is_sorted());
        assert!(handle.secondary.iter().all(|name| names.contains(name.as_str()) && *name != handle.name));
    }
    assert_eq!(handles[0].name, "body");
}

/// The handle that most of a bone's skin belongs to, as far as it is not soft.
fn handle_of_bone(character: &Character, owners: &[Option<usize>], bone: &str) -> Option<usize> {
    let (rig, skin) = (character.rig.as_ref().unwrap(), character.skin.as_ref().unwrap());
    let joint = rig.find(bone).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for v in 0..skin.n_vertices() {
        if skin.vertex(v).any(|(slot, w)| skin.slots[slot as usize].joint == joint && w > 0.8) {
            owners[v].iter().for_each(|&handle| *counts.entry(handle).or_insert(0) += 1);
        }
    }
    counts.into_iter().max_by_key(|&(_, count): &(usize, i32)| count).map(|(handle, _)| handle)
}

fn assert_limbs(sample: Sample, n_vertices: usize, bones: &[&str]) -> Vec<Handle> {
    let character = build_character(sample, n_vertices).unwrap();
    let handles = find(&character.mesh, None);
    let owners = owners(&character.mesh, &handles);
    assert_bands(&character.mesh, &owners);
    assert_tree(&handles);
    let held: Vec<Option<usize>> =
        bones.iter().map(|bone| handle_of_bone(&character, &owners, bone)).collect();
    let distinct: HashSet<usize> = held.iter().flatten().copied().filter(|&handle| handle != 0).collect();
    assert_eq!(distinct.len(), bones.len(), "{bones:?} are held by {held:?}");
    handles
}

#[test]
fn the_limbs_of_the_biped_are_found_at_any_size() {
    for n in [3_000, 20_000] {
        let handles = assert_limbs(
            Sample::Biped,
            n,
            &["hand.L", "hand.R", "foot.L", "foot.R", "head", "shin.L", "shin.R"],
        );
        // An arm carries its hand, with the fingers; a finger carries nothing.
        let arm = handles.iter().find(|h| h.name == "limb_lower_left_base").unwrap();
        let along: Vec<&str> = arm.secondary.iter().map(String::as_str).collect();
        assert_eq!(along[..2], ["limb_lower_left_middle", "limb_lower_left_tip"]);
        for finger in &along[2..] {
            assert!(finger.starts_with("limb_lower_left_branch"), "{finger}");
            assert!(handles.iter().find(|h| h.name == *finger).unwrap().secondary.is_empty());
        }
        assert_eq!(handles[0].secondary.len(), handles.len() - 1);
        // It turns at its own upper end.
        let tip = handles.iter().find(|h| h.name == "limb_lower_left_tip").unwrap();
        assert!(arm.center.x > 0.1 && arm.center.x < tip.center.x && arm.center.y > tip.center.y);
    }
}

#[test]
fn the_limbs_of_the_quadruped_and_the_octopus_are_found() {
    let paws = ["front_paw.L", "front_paw.R", "hind_foot.L", "hind_foot.R", "head", "tail.5"];
    assert_limbs(Sample::Quadruped, 8_000, &paws);
    let arms: Vec<String> = (1..=4).flat_map(|k| ["L", "R"].map(|side| format!("arm{k}.5.{side}"))).collect();
    assert_limbs(Sample::Octopus, 8_000, &arms.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn fingers_ears_and_the_ends_of_a_tie_are_found() {
    let fingers = ["index.2.L", "middle.2.L", "pinky.2.L", "index.2.R", "middle.2.R", "pinky.2.R"];
    assert_limbs(Sample::Biped, 20_000, &fingers);
    assert_limbs(Sample::Quadruped, 20_000, &["ear.L", "ear.R", "head", "front_paw.L", "front_paw.R"]);
    // Its two ears and the two ends of its tie.
    let sack = find(&build_character(Sample::Sack, 20_000).unwrap().mesh, None);
    assert_eq!(sack.len(), 5, "{:?}", sack.iter().map(|h| &h.name).collect::<Vec<_>>());
}

/// Every handle has one on the other side, or is its own, of which the mirror images of its vertices are.
fn assert_even(mesh: &Mesh, handles: &[Handle], normal: DVec3, least: f64) {
    let owners = owners(mesh, handles);
    let tree = sinew_geom::query::SurfaceTree::new(mesh);
    let [low, high] = mesh.bounds();
    let center = 0.5 * (low + high);
    let image = |v: u32| {
        let p = mesh.positions()[v as usize];
        let point = tree.closest_point(p - 2.0 * (p - center).dot(normal) * normal).unwrap();
        let corner = (0..3).fold(0, |a, b| if point.barycentric[b] > point.barycentric[a] { b } else { a });
        owners[mesh.faces()[point.face as usize][corner] as usize]
    };
    for handle in handles {
        let images: Vec<_> = handle.vertices.iter().map(|&v| image(v)).collect();
        let count = |k: usize| images.iter().filter(|owner| **owner == Some(k)).count();
        let most = (0..handles.len()).map(count).max().unwrap();
        let share = most as f64 / images.len() as f64;
        assert!(share > least, "{}: {share}", handle.name);
    }
}

#[test]
fn left_and_right_are_cut_alike() {
    for sample in [Sample::Biped, Sample::Quadruped, Sample::Octopus] {
        let mesh = build_character(sample, 10_000).unwrap().mesh;
        assert_even(&mesh, &find(&mesh, None), DVec3::X, 0.9);
    }
}

#[test]
fn a_mirror_is_found_wherever_the_model_stands() {
    let mesh = build_character(Sample::Biped, 3_000).unwrap().mesh;
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.0);
    let moved = mesh.positions().iter().map(|&p| turn * p * 3.0 + DVec3::new(5.0, -7.0, 1.0)).collect();
    let moved = mesh.with_positions(moved).unwrap();
    for (mesh, side) in [(&mesh, DVec3::X), (&moved, turn * DVec3::X)] {
        let (parts, _) = split_parts(mesh);
        let mirror = mirror::Mirror::find(&parts[0]).unwrap();
        let across = mirror.reflect(DVec3::ZERO) - mirror.reflect(side);
        assert!(across.distance(side) < 0.02, "{across}");
        // A function of the side changes its sign, up to the position of the plane, and symmetrising removes it.
        let along: Vec<f64> = parts[0].mesh.positions().iter().map(|p| p.dot(side)).collect();
        let even = mirror.even(&along);
        let spread = even.iter().fold(0.0, |most: f64, x| most.max((x - even[0]).abs()));
        assert!(spread < 0.03 * parts[0].mesh.diagonal(), "{spread}");
    }
    // One stretched arm is enough to make the body asymmetric.
    let reach = |p: DVec3| if p.x > 0.15 { p + DVec3::Y * 3.0 * (p.x - 0.15) } else { p };
    let bent = mesh.with_positions(mesh.positions().iter().map(|&p| reach(p)).collect()).unwrap();
    assert!(mirror::Mirror::find(&split_parts(&bent).0[0]).is_none());
}

#[test]
fn what_a_tip_encloses_is_filled_in() {
    let mesh = build_character(Sample::Quadruped, 4_000).unwrap().mesh;
    let (parts, _) = split_parts(&mesh);
    let part = &parts[0];
    let at = |v: u32| part.mesh.positions()[v as usize];
    let n = part.mesh.n_vertices() as u32;
    let [nose, tail] =
        [1.0, -1.0].map(|way| (0..n).max_by(|&a, &b| (way * at(a).z).total_cmp(&(way * at(b).z))).unwrap());
    let field = tips::tip_field(part, &part.steps(), nose, tail);
    let lowest = field.iter().copied().fold(0.0, f64::min);
    // At any distance the rest is in one piece: no ear is separate.
    for share in [0.2, 0.4, 0.6, 0.8] {
        let outside = |v: u32| field[v as usize] <= share * lowest;
        let mut seen = vec![false; n as usize];
        let mut stack = vec![tail];
        seen[tail as usize] = true;
        while let Some(v) = stack.pop() {
            for &w in part.adjacency.neighbors.row(v as usize) {
                if outside(w) && !std::mem::replace(&mut seen[w as usize], true) {
                    stack.push(w);
                }
            }
        }
        assert!((0..n).all(|v| seen[v as usize] == outside(v)), "{share}");
    }
}

#[test]
fn a_bar_has_a_middle_and_two_ends() {
    let bar = build_character(Sample::Bar, 3_000).unwrap();
    let mut handles = find(&bar.mesh, None);
    handles.sort_by(|a, b| a.name.cmp(&b.name));
    let [low, high] = bar.mesh.bounds();
    let names: Vec<&str> = handles.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["body", "limb_lower", "limb_upper"]);
    // Thirds of the surface; the caps belong to the ends, which are a little shorter for it.
    for (handle, share) in handles.iter().zip([0.5, 0.29, 0.71]) {
        let at = low.lerp(high, share);
        assert!(
            handle.center.distance(DVec3::new(0.0, at.y, 0.0)) < 0.03 * (high.y - low.y),
            "{}",
            handle.center
        );
    }
}

/// Share of vertices that belong to corresponding handles; `same` maps a vertex to its other number.
fn agreement(one: &[Option<usize>], other: &[Option<usize>], same: impl Fn(usize) -> usize) -> f64 {
    let mut pairs = std::collections::BTreeMap::new();
    (0..one.len()).for_each(|v| *pairs.entry((one[v], other[same(v)])).or_insert(0) += 1);
    let best = |handle: Option<usize>| {
        pairs.iter().filter(|((a, _), _)| *a == handle).map(|(_, &count)| count).max().unwrap_or(0)
    };
    let handles: HashSet<Option<usize>> = one.iter().copied().collect();
    let mut handles: Vec<_> = handles.into_iter().collect();
    handles.sort_unstable();
    handles.into_iter().map(best).sum::<i32>() as f64 / one.len() as f64
}

#[test]
fn regions_do_not_depend_on_placement_or_numbering() {
    let mesh = build_character(Sample::Quadruped, 4_000).unwrap().mesh;
    let expected = owners(&mesh, &find(&mesh, None));
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.0);
    let moved = mesh.positions().iter().map(|&p| turn * p * 3.0 + DVec3::new(5.0, -7.0, 1.0)).collect();
    let moved = mesh.with_positions(moved).unwrap();
    let share = agreement(&expected, &owners(&moved, &find(&moved, None)), |v| v);
    assert!(share > 0.97, "{share}");
    let last = mesh.n_vertices() as u32 - 1;
    let reversed = Mesh::new(
        mesh.positions().iter().rev().copied().collect(),
        mesh.faces().iter().rev().map(|f| f.map(|v| last - v)).collect(),
    )
    .unwrap();
    let share = agreement(&expected, &owners(&reversed, &find(&reversed, None)), |v| last as usize - v);
    assert!(share > 0.97, "{share}");
    // And the same again gives the same.
    assert_eq!(find(&mesh, None), find(&mesh, None));
}

#[test]
fn the_number_asked_for_is_roughly_met() {
    let mesh = build_character(Sample::Biped, 10_000).unwrap().mesh;
    for (count, range) in [(1, 1..=1), (3, 3..=3), (6, 6..=6), (16, 13..=18), (30, 22..=32)] {
        let handles = find(&mesh, Some(count));
        assert!(range.contains(&handles.len()), "{} handles instead of {count}", handles.len());
        assert_bands(&mesh, &owners(&mesh, &handles));
    }
}

fn tube(n: u32, rows: u32, radius: f64, height: f64) -> Mesh {
    let point = |k: u32| {
        let angle = TAU * f64::from(k % n) / f64::from(n);
        DVec3::new(radius * angle.cos(), height * f64::from(k / n) / f64::from(rows), radius * angle.sin())
    };
    let quad = |k: u32| {
        let next = k / n * n + (k + 1) % n;
        [[k, k + n, next], [next, k + n, next + n]]
    };
    Mesh::new((0..n * (rows + 1)).map(point).collect(), (0..n * rows).flat_map(quad).collect()).unwrap()
}

#[test]
fn girth_and_width_of_a_tube_are_exact() {
    let (parts, _) = split_parts(&tube(12, 7, 0.5, 2.0));
    let part = &parts[0];
    let f: Vec<f64> = part.mesh.positions().iter().map(|p| p.y).collect();
    let tree = build_tree(&f, &part.vertex_areas, |v| part.adjacency.neighbors.row(v), 0.01 * part.area);
    assert_eq!(tree.arcs.len(), 1);
    let profile = &compute_profiles(part, &f, &tree, profile::N_STRIPS)[0];
    let girth = 12.0 * (TAU / 24.0).sin();
    for strip in &profile[3..profile.len() - 3] {
        assert!((strip.girth - girth).abs() < 1e-9 && (strip.main_share - 1.0).abs() < 1e-9, "{strip:?}");
        assert!(DVec3::new(strip.center.x, 0.0, strip.center.z).length() < 1e-9);
    }
    assert!((profile.iter().map(|s| s.area).sum::<f64>() - 2.0 * girth).abs() < 1e-9);
    let levels = loops::Levels::new(&f, profile::N_STRIPS).unwrap();
    assert!(measure_level_sets(part, &f, &tree, &levels)[0][9].length > 0.0);
}

fn placed(mesh: &Mesh, scale: f64, at: DVec3) -> Mesh {
    mesh.with_positions(mesh.positions().iter().map(|&p| p * scale + at).collect()).unwrap()
}

#[test]
fn parts_get_handles_or_are_reported() {
    let body = build_character(Sample::Quadruped, 3_000).unwrap().mesh;
    let ball = tube(6, 3, 0.3, 1.0);
    // A second animal, a button on the first, a ball far away, a floating vertex.
    let button = placed(&ball, 0.01, body.positions()[17]);
    let mut whole = joined(&[
        body.clone(),
        placed(&body, 0.5, DVec3::X * 4.0),
        button,
        placed(&ball, 0.05, DVec3::Y * 9.0),
    ]);
    let (mut positions, faces) = whole.into_parts();
    positions.push(DVec3::splat(20.0));
    whole = Mesh::new(positions, faces).unwrap();
    let mut warnings = Warnings::default();
    let handles =
        find_handles(&whole, &AutoParams::default(), &mut |_| ControlFlow::Continue(()), &mut warnings)
            .unwrap();
    let owners = owners(&whole, &handles);
    let n = body.n_vertices();
    assert!(handles.iter().any(|h| h.name == "part_2_body") && handles.iter().any(|h| h.name == "part_3"));
    let button = &owners[2 * n..2 * n + ball.n_vertices()];
    assert!(button[0].is_some() && button.iter().all(|owner| *owner == button[0]), "a button moves as one");
    assert_eq!(owners.last(), Some(&None));
    assert_eq!(warnings.messages.len(), 3, "{:?}", warnings.messages);
}

#[test]
fn bad_meshes_give_handles_or_an_error() {
    let go = &mut |_| ControlFlow::Continue(());
    let mut try_find = |mesh: &Mesh| find_handles(mesh, &AutoParams::default(), go, &mut Warnings::default());
    let points =
        |n: u32| (0..n).map(|k| DVec3::new(f64::from(k), f64::from(k * k % 7), f64::from(k % 3))).collect();
    // Nothing; points only; a face without area.
    for bad in [
        Mesh::default(),
        Mesh::new(points(5), vec![]).unwrap(),
        Mesh::new(vec![DVec3::ZERO; 3], vec![[0, 1, 2]]).unwrap(),
    ] {
        assert_eq!(try_find(&bad), Err(DeformError::NoHandle));
    }
    // One face; a face using a vertex twice beside a good one; three faces on one edge; a soup of 500 faces.
    let soup = (0..500u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
    for odd in [
        Mesh::new(points(3), vec![[0, 1, 2]]).unwrap(),
        Mesh::new(points(4), vec![[0, 1, 1], [0, 2, 3]]).unwrap(),
        Mesh::new(points(5), vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]]).unwrap(),
        Mesh::new(points(1500), soup).unwrap(),
    ] {
        let handles = try_find(&odd).unwrap();
        owners(&odd, &handles);
        assert_tree(&handles);
    }
    // The same surface with every face apart is welded first.
    let body = build_character(Sample::Quadruped, 3_000).unwrap().mesh;
    let apart = (0..body.n_faces()).flat_map(|f| body.corners(f)).collect();
    let apart = Mesh::new(apart, (0..body.n_faces() as u32).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect())
        .unwrap();
    assert_eq!(find(&apart, None).len(), find(&body, None).len());
    let stop = find_handles(
        &body,
        &AutoParams::default(),
        &mut |_| ControlFlow::Break(()),
        &mut Warnings::default(),
    );
    assert_eq!(stop, Err(DeformError::Cancelled));
}

/// The callback is called often until the end, and can stop the work at every call.
#[test]
fn finding_handles_can_be_stopped_at_any_time() {
    let body = build_character(Sample::Octopus, 4_000).unwrap().mesh;
    let until = |limit: f64| {
        let (mut shares, mut warnings) = (Vec::new(), Warnings::default());
        let mut report = |share: f64| {
            shares.push(share);
            if share >= limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let found = find_handles(&body, &AutoParams::default(), &mut report, &mut warnings);
        (found.is_ok(), shares)
    };
    let (is_found, shares) = until(2.0);
    assert!(is_found && shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
    // Nowhere is more than a tenth done without a call, except where limbs are grown from tips, four at a time: of
    // the ten tips here that is 0.114, and more where there are fewer.
    for pair in shares.windows(2) {
        let most = if (0.57..0.855).contains(&pair[0]) { 0.115 } else { 0.1 };
        assert!(pair[1] - pair[0] < most, "{pair:?} of {shares:?}");
    }
    assert!(shares.iter().filter(|&&share| (0.5..0.95).contains(&share)).count() >= 4, "{shares:?}");
    for limit in [0.2, 0.55, 0.7, 0.8] {
        let (is_found, shares) = until(limit);
        assert!(!is_found && shares.iter().filter(|&&share| share >= limit).count() == 1, "{shares:?}");
    }
}

#[test]
fn bones_become_handles() {
    let mut character = build_character(Sample::Biped, 5_000).unwrap();
    let mut warnings = Warnings::default();
    let handles = handles_from_skin(&character, &SkinHandleParams::default(), &mut warnings).unwrap();
    let owners = owners(&character.mesh, &handles);
    let rig = character.rig.as_ref().unwrap();
    let world = rig.rest_world();
    for name in ["head", "hand.L", "hand.R", "forearm.L", "upper_arm.R", "thigh.L", "shin.R", "foot.L"] {
        let index = handles.iter().position(|h| h.name == name).unwrap_or_else(|| panic!("no handle {name}"));
        let joint = rig.find(name).unwrap();
        assert!(handles[index].center.distance(world[joint].translation) < 1e-9);
        assert_eq!(handle_of_bone(&character, &owners, name), Some(index));
    }
    let arm = handles.iter().find(|h| h.name == "upper_arm.L").unwrap();
    assert!(["forearm.L", "hand.L"].iter().all(|name| arm.secondary.iter().any(|s| s == name)));
    assert!(!arm.secondary.iter().any(|s| s.ends_with(".R")));
    let n_soft = owners.iter().filter(|owner| owner.is_none()).count();
    assert!(n_soft * 20 > owners.len(), "{n_soft}");
    // Small bones are merged, with a warning.
    assert!(warnings.messages[0].contains("merged"), "{:?}", warnings.messages);
    assert!(handles.iter().all(|h| h.vertices.len() >= 10));
    character.skin = None;
    let error = handles_from_skin(&character, &SkinHandleParams::default(), &mut warnings).unwrap_err();
    assert!(error.to_string().contains("must have a rig and a skin"), "{error}");
}
