//! What every method must preserve: rest, rigid motion, borders, sound results on unsound meshes.

mod preparation;
mod refinement;
mod surface;

use crate::{
    EditParams, HandleMotion, HandlePose, HandleSet, Method, SurfaceEditor,
    handled::HandledMesh,
    lipman::LipmanPiece,
    progress::{ProgressMeter, ProgressSpan, no_progress},
    soft::SoftSurface,
};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Handle, Mesh, Warnings,
    measure::{compute_vertex_normals, largest_error},
    mesh::Adjacency,
    operators::{LaplacianKind, build_laplacian},
    sample::{Sample, build_character},
};

fn handle(name: &str, vertices: Vec<u32>) -> Handle {
    Handle { name: name.into(), weights: vec![1.0; vertices.len()], vertices, ..Handle::default() }
}

/// One mesh of several.
pub fn joined(parts: &[Mesh]) -> Mesh {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for part in parts {
        let n = positions.len() as u32;
        positions.extend_from_slice(part.positions());
        faces.extend(part.faces().iter().map(|f| f.map(|v| v + n)));
    }
    Mesh::new(positions, faces).unwrap()
}

/// A bar held at both ends.
fn bar(n_vertices: usize) -> (Mesh, HandleSet) {
    let mesh = build_character(Sample::Bar, n_vertices).unwrap().mesh;
    let [low, high] = mesh.bounds();
    let axis = (high - low).max_position();
    let place = |p: DVec3| (p[axis] - low[axis]) / (high - low)[axis];
    let pick = |keep: &dyn Fn(f64) -> bool| {
        (0..mesh.n_vertices() as u32).filter(|&v| keep(place(mesh.positions()[v as usize]))).collect()
    };
    let handles = [handle("low", pick(&|t| t < 0.2)), handle("high", pick(&|t| t > 0.8))];
    let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
    (mesh, set)
}

fn solve(mesh: &Mesh, handles: &HandleSet, method: Method, pose: &HandlePose) -> Vec<DVec3> {
    let params = EditParams { method, ..EditParams::default() };
    let editor = SurfaceEditor::new(mesh, handles, &params, &mut Warnings::default()).unwrap();
    let mut out = mesh.positions().to_vec();
    editor.solve(pose, &mut out).unwrap();
    out
}

fn farthest(a: &[DVec3], b: impl Iterator<Item = DVec3>) -> f64 {
    largest_error(a.iter().zip(b).map(|(a, b)| a.distance(b)))
}

/// Nodes of the guided method are followed in single precision.
fn tolerance(method: Method, mesh: &Mesh) -> f64 {
    mesh.diagonal() * if method == Method::Guided { 3e-6 } else { 1e-9 }
}

fn bent(handles: &HandleSet) -> HandlePose {
    let turn = HandleMotion::rigid(DQuat::from_rotation_z(0.8), DVec3::new(0.1, 0.2, 0.0));
    HandlePose::from_motions(handles, vec![HandleMotion::default(), turn]).unwrap()
}

#[test]
fn rest_stays_and_rigid_motion_is_rigid() {
    // Below and above the number of vertices from which nodes stand for clusters.
    for n in [1500, 6000] {
        let (mesh, handles) = bar(n);
        for method in Method::ALL {
            let off = farthest(
                &solve(&mesh, &handles, method, &HandlePose::rest(&handles)),
                mesh.positions().iter().copied(),
            );
            assert!(off <= tolerance(method, &mesh), "{method:?} at rest: {off}");
            let motion = HandleMotion::rigid(
                DQuat::from_scaled_axis(DVec3::new(0.5, -2.0, 1.0)),
                DVec3::new(3.0, 1.0, 2.0),
            );
            let pose = HandlePose::from_motions(&handles, vec![motion.clone(); 2]).unwrap();
            let moved = mesh.positions().iter().map(|p| motion.position(*p));
            let off = farthest(&solve(&mesh, &handles, method, &pose), moved);
            assert!(off <= 2.0 * tolerance(method, &mesh), "{method:?} moved: {off}");
        }
    }
}

#[test]
fn turning_everything_turns_the_pose() {
    let (mesh, handles) = bar(4000);
    let pose = bent(&handles);
    let whole =
        HandleMotion::rigid(DQuat::from_scaled_axis(DVec3::new(-1.0, 2.0, 0.7)), DVec3::new(0.5, 0.0, -1.0));
    let motions = pose.motions().iter().map(|m| {
        HandleMotion::rigid(whole.rotation * m.rotation, whole.rotation * m.translation + whole.translation)
    });
    let turned = HandlePose::from_motions(&handles, motions.collect()).unwrap();
    for method in Method::ALL {
        let first = solve(&mesh, &handles, method, &pose);
        let off =
            farthest(&solve(&mesh, &handles, method, &turned), first.iter().map(|p| whole.position(*p)));
        assert!(off <= 3.0 * tolerance(method, &mesh), "{method:?}: {off}");
    }
}

#[test]
fn a_pose_does_not_depend_on_how_it_was_reached() {
    let (mesh, handles) = bar(3000);
    let (rest, pose) = (HandlePose::rest(&handles), bent(&handles));
    for method in Method::ALL {
        let params = EditParams { method, ..EditParams::default() };
        let editor = SurfaceEditor::new(&mesh, &handles, &params, &mut Warnings::default()).unwrap();
        let (mut first, mut second) = (mesh.positions().to_vec(), mesh.positions().to_vec());
        editor.solve(&pose, &mut first).unwrap();
        editor.solve(&rest, &mut second).unwrap();
        editor.solve(&pose, &mut second).unwrap();
        assert_eq!(first, second, "{method:?}");
    }
}

#[test]
fn the_handle_map_is_the_smooth_solve() {
    let (mesh, handles) = bar(3000);
    let adjacency = Adjacency::new(&mesh);
    let held = HandledMesh { mesh: &mesh, adjacency: &adjacency, handles: &handles };
    let soft = SoftSurface::new(held, &mut Warnings::default());
    let meter = ProgressMeter::new(&no_progress).unwrap();
    for kind in
        [LaplacianKind::Umbrella, LaplacianKind::EdgeLength, LaplacianKind::Cotangent, LaplacianKind::Squared]
    {
        let laplacian = build_laplacian(&mesh, &adjacency, kind);
        let params = crate::LipmanParams { laplacian: kind, ..Default::default() };
        let span = ProgressSpan { meter: &meter, share: 1.0 };
        let piece = LipmanPiece::new(held, &laplacian, &soft.pieces[0], &params, span).unwrap();
        let pose = bent(&handles);
        let (mapped, solved) = (piece.smooth(&pose).unwrap(), piece.smooth_by_solve(&pose).unwrap());
        let off = farthest(&mapped, solved.into_iter()) / mesh.diagonal();
        // The fourth power of the mesh size conditions the squared system.
        let limit = if kind == LaplacianKind::Squared { 1e-8 } else { 1e-12 };
        assert!(off <= limit, "{kind:?}: {off}");
    }
}

#[test]
fn weights_lead_from_soft_to_rigid() {
    let (mesh, set) = bar(1500);
    let pose = bent(&set);
    for method in Method::ALL {
        let mut last = f64::INFINITY;
        for weight in [0.1, 0.5, 0.9, 0.999] {
            let mut handles = set.handles().to_vec();
            // The border half of the moved handle follows with this weight.
            let inner = handles[1].vertices.len() / 2;
            handles[1].weights[..inner].fill(weight);
            let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
            let out = solve(&mesh, &set, method, &pose);
            let wanted = |v: u32| pose.motions()[1].position(mesh.positions()[v as usize]);
            let off = largest_error(
                handles[1].vertices[..inner].iter().map(|&v| out[v as usize].distance(wanted(v))),
            );
            assert!(off < last * 1.05, "{method:?}: {off} at {weight}, {last} before");
            last = off;
        }
        assert!(last < 0.02 * mesh.diagonal(), "{method:?}: {last}");
    }
}

/// A wavy sheet, `n` × `n`.
fn sheet(n: u32) -> Mesh {
    let at = |i: u32| DVec3::new(f64::from(i % n), f64::from(i / n), (f64::from(i % n) * 0.7).sin() * 0.5);
    let faces = (0..n - 1)
        .flat_map(|y| (0..n - 1).map(move |x| y * n + x))
        .flat_map(|i| [[i, i + 1, i + n + 1], [i, i + n + 1, i + n]]);
    Mesh::new((0..n * n).map(at).collect(), faces.collect()).unwrap()
}

#[test]
fn unsound_meshes_give_sound_results() {
    let n = 12u32;
    let base = sheet(n);
    let ends = |mesh: &Mesh| {
        let pick = |range: std::ops::Range<u32>| range.collect::<Vec<u32>>();
        let handles = [handle("a", pick(0..2 * n)), handle("b", pick(n * n - 2 * n..n * n))];
        HandleSet::new(mesh, &handles, &mut Warnings::default()).unwrap()
    };
    type Change<'a> = &'a dyn Fn(&mut Vec<DVec3>, &mut Vec<[u32; 3]>);
    let with = |change: Change| {
        let (mut positions, mut faces) = base.clone().into_parts();
        change(&mut positions, &mut faces);
        Mesh::new(positions, faces).unwrap()
    };
    let cases: [(&str, Mesh); 7] = [
        ("open", base.clone()),
        (
            "floating vertices",
            with(&|p, _| p.extend([DVec3::new(3.0, 9.0, 2.0), DVec3::new(50.0, 0.0, 0.0)])),
        ),
        (
            "a loose span",
            with(&|p, f| {
                let at = p.len() as u32;
                p.extend([
                    DVec3::new(0.0, 20.0, 0.0),
                    DVec3::new(1.0, 20.0, 0.0),
                    DVec3::new(0.0, 21.0, 0.0),
                ]);
                f.push([at, at + 1, at + 2]);
            }),
        ),
        (
            "three faces on an edge",
            with(&|p, f| {
                let at = p.len() as u32;
                p.push(DVec3::new(5.5, 5.5, 3.0));
                f.push([5 * 12 + 5, 5 * 12 + 6, at]);
            }),
        ),
        (
            "faces without area",
            with(&|p, f| {
                p[70] = p[71];
                f.push([60, 60, 61]);
                f.push([40, 41, 42]);
            }),
        ),
        ("obtuse faces", with(&|p, _| p.iter_mut().for_each(|p| p.x *= 12.0))),
        (
            "duplicate and turned faces",
            with(&|_, f| {
                f.extend_from_within(100..110);
                f[120].swap(0, 1);
            }),
        ),
    ];
    for (name, mesh) in &cases {
        let handles = ends(mesh);
        let pose = bent(&handles);
        for method in Method::ALL {
            let out = solve(mesh, &handles, method, &pose);
            let size = sinew_geom::mesh::bounds(&out);
            let diagonal = size[0].distance(size[1]);
            assert!(out.iter().all(|p| p.is_finite()), "{method:?}, {name}");
            assert!(
                diagonal < 3.0 * mesh.diagonal() && diagonal > 0.2 * mesh.diagonal(),
                "{method:?}, {name}: {diagonal}"
            );
        }
    }
}

#[test]
fn a_part_that_touches_no_handle_moves_with_the_nearest_and_says_so() {
    let (mut positions, faces) = sheet(6).into_parts();
    positions.push(DVec3::new(0.0, 6.0, 0.0));
    let mesh = Mesh::new(positions, faces).unwrap();
    let handles = [handle("a", (0..6).collect()), handle("b", (30..36).collect())];
    let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
    let mut warnings = Warnings::default();
    let editor = SurfaceEditor::new(&mesh, &set, &EditParams::default(), &mut warnings).unwrap();
    assert!(warnings.messages[0].contains("touch no handle"), "{:?}", warnings.messages);
    let pose = bent(&set);
    let mut out = mesh.positions().to_vec();
    editor.solve(&pose, &mut out).unwrap();
    assert_eq!(out[36], pose.motions()[1].position(mesh.positions()[36]));
    // Beside soft surface, with which it moves.
    let (mut positions, faces) = sheet(6).into_parts();
    positions.push(positions[14] + DVec3::Z * 0.1);
    let mesh = Mesh::new(positions, faces).unwrap();
    let set = HandleSet::new(&mesh, set.handles(), &mut warnings).unwrap();
    let out = solve(&mesh, &set, Method::Guided, &pose);
    assert!((out[36].distance(out[14]) - 0.1).abs() < 0.03, "{} {}", out[36], out[14]);
    assert!(out[36].distance(mesh.positions()[36]) > 0.2);
}

#[test]
fn a_handle_of_everything_moves_everything() {
    let mesh = sheet(6);
    let set = HandleSet::new(&mesh, &[handle("all", (0..36).collect())], &mut Warnings::default()).unwrap();
    let motion = HandleMotion::rigid(DQuat::from_rotation_x(1.0), DVec3::X);
    let pose = HandlePose::from_motions(&set, vec![motion.clone()]).unwrap();
    for method in Method::ALL {
        let out = solve(&mesh, &set, method, &pose);
        assert_eq!(out, mesh.positions().iter().map(|p| motion.position(*p)).collect::<Vec<_>>());
    }
}

#[test]
fn tiny_handles_and_flat_faces_explode_nothing() {
    // A face whose corners lie on a line, held by one vertex; a sheet held by two.
    let line = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::new(1.0, 1.0, 0.0)];
    let flat = Mesh::new(line.to_vec(), vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    for (mesh, held) in [(flat, vec![0]), (sheet(14), vec![0, 195])] {
        let handles: Vec<Handle> = held.iter().map(|v| handle(&v.to_string(), vec![*v])).collect();
        let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
        let mut motions = vec![HandleMotion::default(); held.len()];
        motions[0] = HandleMotion::rigid(DQuat::IDENTITY, DVec3::new(0.0, 0.0, 0.5 * mesh.diagonal()));
        let pose = HandlePose::from_motions(&set, motions).unwrap();
        for method in Method::ALL {
            let [low, high] = sinew_geom::mesh::bounds(&solve(&mesh, &set, method, &pose));
            assert!(low.distance(high) < 4.0 * mesh.diagonal(), "{method:?}: {low} {high}");
        }
    }
}

#[test]
fn normals_turn_with_the_surface() {
    // A bar bent by 46°: normals carried along are near those of the posed surface.
    let (mesh, handles) = bar(6000);
    let pose = bent(&handles);
    let rest = compute_vertex_normals(mesh.positions(), mesh.faces());
    for method in Method::ALL {
        let params = EditParams { method, ..EditParams::default() };
        let editor = SurfaceEditor::new(&mesh, &handles, &params, &mut Warnings::default()).unwrap();
        let (mut positions, mut normals) = (mesh.positions().to_vec(), rest.clone());
        editor.solve_with_normals(&pose, &rest, &mut positions, &mut normals).unwrap();
        assert_eq!(positions, solve(&mesh, &handles, method, &pose), "{method:?}");
        let exact = compute_vertex_normals(&positions, mesh.faces());
        let angles = normals.iter().zip(&exact).map(|(a, b)| a.angle_between(*b).to_degrees());
        let mean = angles.clone().sum::<f64>() / normals.len() as f64;
        assert!(mean < 5.0, "{method:?}: {mean}° on average, {}° at most", largest_error(angles));
    }
}

#[test]
fn a_handle_one_ring_wide_between_two_pieces_has_normals_too() {
    // The squared Laplacian looks across it, so soft vertices beside it have no row of their own.
    let mesh = sheet(9);
    let names = [("a", 0..9u32), ("middle", 36..45), ("b", 72..81)];
    let handles: Vec<Handle> = names.map(|(name, range)| handle(name, range.collect())).to_vec();
    let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
    let mut params = EditParams { method: Method::Lipman, ..EditParams::default() };
    params.lipman.laplacian = LaplacianKind::Squared;
    let editor = SurfaceEditor::new(&mesh, &set, &params, &mut Warnings::default()).unwrap();
    // The middle rolls about its own line, y = 4.
    let roll = DQuat::from_rotation_x(0.6);
    let middle = HandleMotion::rigid(roll, DVec3::Y * 4.0 - roll * (DVec3::Y * 4.0));
    let motions = vec![HandleMotion::default(), middle, HandleMotion::default()];
    let pose = HandlePose::from_motions(&set, motions).unwrap();
    let rest = compute_vertex_normals(mesh.positions(), mesh.faces());
    let (mut positions, mut normals) = (mesh.positions().to_vec(), rest.clone());
    editor.solve_with_normals(&pose, &rest, &mut positions, &mut normals).unwrap();
    for v in (27..36).chain(45..54) {
        let off = normals[v].angle_between(roll * rest[v]);
        assert!(off < 0.3, "vertex {v} beside the middle is {off} off");
    }
}
