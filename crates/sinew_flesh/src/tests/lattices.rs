//! Lattices around surfaces of all kinds.

use crate::{FleshError, Lattice, LatticeParams, build_body};
use glam::{DMat3, DVec3, Vec3};
use sinew_geom::{
    Mesh,
    sample::{Sample, build_character},
};

/// A closed box.
pub fn cuboid(low: DVec3, high: DVec3) -> Mesh {
    let at = |c: usize| {
        DVec3::new(
            if c & 1 == 1 { high.x } else { low.x },
            if c & 2 == 2 { high.y } else { low.y },
            if c & 4 == 4 { high.z } else { low.z },
        )
    };
    let quads: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let faces = quads.iter().flat_map(|q| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
    Mesh::new((0..8).map(at).collect(), faces).unwrap()
}

fn join(parts: &[Mesh]) -> Mesh {
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for part in parts {
        let first = positions.len() as u32;
        positions.extend_from_slice(part.positions());
        faces.extend(part.faces().iter().map(|f| f.map(|v| v + first)));
    }
    Mesh::new(positions, faces).unwrap()
}

fn check(mesh: &Mesh, params: &LatticeParams) -> crate::Body {
    let body = build_body(mesh, params).unwrap();
    let lattice = &body.lattice;
    assert_eq!(body.embedding.len(), mesh.n_vertices());
    // Any affine map of the nodes is that of the surface: weights sum to one and reproduce places.
    let map = DMat3::from_cols_array(&[1.0, 0.2, -0.1, 0.3, 0.9, 0.0, 0.1, -0.4, 1.2]);
    let moved: Vec<DVec3> = lattice.nodes().iter().map(|p| map * *p + DVec3::ONE).collect();
    let mut out = vec![Vec3::ZERO; mesh.n_vertices()];
    body.embedding.evaluate(lattice, &moved, &mut out).unwrap();
    let scale = mesh.diagonal();
    for (out, p) in out.iter().zip(mesh.positions()) {
        assert!(out.as_dvec3().distance(map * *p + DVec3::ONE) < 2e-6 * (scale + p.length() + 1.0));
    }
    for vertex in 0..mesh.n_vertices() {
        let sum: f32 = body.embedding.weights(vertex).iter().sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
    assert!(lattice.inside().iter().all(|share| (0.05..=1.0).contains(share)));
    body
}

#[test]
fn a_box_is_filled_and_weighs_what_it_should() {
    let mesh = cuboid(DVec3::ZERO, DVec3::new(1.0, 0.5, 0.25));
    let body = check(&mesh, &LatticeParams { cells: 0, size: Some(0.1) });
    let volume: f64 = body.lattice.inside().iter().sum::<f64>() * 0.1f64.powi(3);
    assert!((volume / 0.125 - 1.0).abs() < 0.15, "{volume}");
    assert_eq!((body.n_split, body.uncovered.len()), (0, 0));
    let wanted = check(&mesh, &LatticeParams { cells: 500, size: None });
    assert!((350..700).contains(&wanted.lattice.n_cells()), "{}", wanted.lattice.n_cells());
}

/// Two plates within one cube move on their own; a bridge joins them.
#[test]
fn parts_that_share_a_cube_stay_apart() {
    let plate = |low: f64| cuboid(DVec3::new(0.0, low, 0.0), DVec3::new(2.0, low + 0.3, 1.0));
    let apart = join(&[plate(0.05), plate(0.65)]);
    let body = check(&apart, &LatticeParams { cells: 0, size: Some(1.04) });
    assert!(body.n_split > 0);
    let cell = |v: usize| body.lattice.cells()[body.embedding.cell(v)];
    let shared = (0..8).flat_map(cell).any(|node| (8..16).flat_map(cell).any(|n| n == node));
    assert!(!shared, "no node belongs to both plates");
    let turned = apart.faces().iter().map(|f| [f[0], f[2], f[1]]).collect();
    let inside_out = Mesh::new(apart.positions().to_vec(), turned).unwrap();
    assert_eq!(check(&inside_out, &LatticeParams { cells: 0, size: Some(1.04) }).n_split, body.n_split);
    let bridge = cuboid(DVec3::new(0.1, 0.1, 0.1), DVec3::new(0.6, 0.9, 0.9));
    let joined =
        check(&join(&[plate(0.05), plate(0.65), bridge]), &LatticeParams { cells: 0, size: Some(1.04) });
    assert!(joined.n_split < body.n_split);
}

/// Two legs a cell and a half apart, which both just reach into the cubes between them: these cubes are neighbours, but
/// hang on their own leg alone.
#[test]
fn thin_cells_do_not_bridge_a_gap() {
    let leg = |low: f64| cuboid(DVec3::new(low, 0.0, 0.0), DVec3::new(low + 0.6, 3.0, 3.0));
    let body = check(&join(&[leg(0.0), leg(2.46)]), &LatticeParams { cells: 0, size: Some(1.0) });
    let mut parts = sinew_geom::mesh::UnionFind::new(body.lattice.n_nodes());
    for cell in body.lattice.cells() {
        cell.iter().for_each(|&node| {
            parts.union(cell[0], node);
        });
    }
    assert!(body.lattice.inside().contains(&0.05), "there are cells without places inside");
    assert_eq!(parts.labels().1, 2);
}

#[test]
fn open_and_overlapping_surfaces_have_an_inside_flat_ones_do_not() {
    let closed = cuboid(DVec3::ZERO, DVec3::ONE);
    let open = Mesh::new(closed.positions().to_vec(), closed.faces()[2..].to_vec()).unwrap();
    assert!(check(&open, &LatticeParams { cells: 100, size: None }).lattice.n_cells() > 50);
    let overlapping = join(&[closed.clone(), cuboid(DVec3::splat(0.5), DVec3::splat(1.5))]);
    check(&overlapping, &LatticeParams { cells: 300, size: None });
    let flat = Mesh::new(
        vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y],
        vec![[0, 1, 2], [0, 2, 3]],
    )
    .unwrap();
    let refuse = |mesh: &Mesh, params: &LatticeParams| build_body(mesh, params).unwrap_err();
    assert_eq!(refuse(&flat, &LatticeParams::default()), FleshError::NoVolume);
    assert_eq!(refuse(&Mesh::default(), &LatticeParams::default()), FleshError::NoFaces);
    let point = Mesh::new(vec![DVec3::ONE; 3], vec![[0, 1, 2]]).unwrap();
    assert_eq!(refuse(&point, &LatticeParams::default()), FleshError::NoExtent);
    let tiny = LatticeParams { cells: 0, size: Some(1e-6) };
    assert!(matches!(refuse(&closed, &tiny), FleshError::TooManyCells { .. }));
    for size in [0.0, -1.0, f64::NAN] {
        let params = LatticeParams { cells: 0, size: Some(size) };
        assert!(matches!(refuse(&closed, &params), FleshError::Parameter { .. }));
    }
    assert!(matches!(refuse(&closed, &LatticeParams { cells: 0, size: None }), FleshError::Parameter { .. }));
}

/// Vertices that no face uses may lie outside; they are reported, and follow the nearest cell.
#[test]
fn uncovered_vertices_are_reported() {
    let closed = cuboid(DVec3::ZERO, DVec3::ONE);
    let mut positions = closed.positions().to_vec();
    positions.push(DVec3::new(5.0, 0.5, 0.5));
    let mesh = Mesh::new(positions, closed.faces().to_vec()).unwrap();
    let body = check(&mesh, &LatticeParams { cells: 0, size: Some(0.25) });
    assert_eq!(body.uncovered, [8]);
}

#[test]
fn samples_are_filled_in_one_piece() {
    for sample in [Sample::Biped, Sample::Quadruped, Sample::Octopus] {
        let character = build_character(sample, 3000).unwrap();
        let body = check(&character.mesh, &LatticeParams { cells: 600, size: None });
        assert!((450..900).contains(&body.lattice.n_cells()), "{}", body.lattice.n_cells());
        assert!(body.uncovered.is_empty());
        let mut parts = sinew_geom::mesh::UnionFind::new(body.lattice.n_nodes());
        for cell in body.lattice.cells() {
            cell.iter().for_each(|&node| {
                parts.union(cell[0], node);
            });
        }
        assert_eq!(parts.labels().1, 1, "{sample:?} hangs together");
    }
}

/// A surface in a lattice of tetrahedra and prisms: embedded exactly, weighed, and every fault reported.
#[test]
fn lattices_made_by_hand() {
    use crate::{ControlLattice, Solid, build_made_body};
    // Two sheared blocks, one cut into two prisms and one into five tetrahedra.
    let shear = DMat3::from_cols_array(&[1.0, 0.1, 0.0, 0.2, 1.0, 0.0, 0.0, 0.3, 1.0]);
    let block = Lattice::block([2, 1, 1], 1.0, DVec3::ZERO).unwrap();
    let nodes: Vec<DVec3> = block.nodes().iter().map(|p| shear * *p).collect();
    let [left, right] = [block.cells()[0], block.cells()[1]];
    let prism = |corners: [usize; 6]| Solid::Prism(corners.map(|c| left[c]));
    let tetrahedron = |corners: [usize; 4]| Solid::Tetrahedron(corners.map(|c| right[c]));
    let solids = vec![
        prism([0, 2, 4, 1, 3, 5]),
        prism([2, 6, 4, 3, 7, 5]),
        tetrahedron([0, 1, 2, 4]),
        tetrahedron([3, 2, 1, 7]),
        tetrahedron([5, 1, 4, 7]),
        tetrahedron([6, 2, 7, 4]),
        tetrahedron([1, 2, 4, 7]),
    ];
    let control = ControlLattice::new(nodes.clone(), solids.clone()).unwrap();
    let inner = cuboid(DVec3::splat(0.2), DVec3::new(1.8, 0.8, 0.8));
    let mesh =
        Mesh::new(inner.positions().iter().map(|p| shear * *p).collect(), inner.faces().to_vec()).unwrap();
    let body = build_made_body(&mesh, &control).unwrap();
    assert_eq!((body.lattice.n_cells(), body.uncovered.len()), (2 * 6 + 5 * 4, 0));
    let mut out = vec![Vec3::ZERO; mesh.n_vertices()];
    let map = DMat3::from_cols_array(&[1.0, 0.2, -0.1, 0.3, 0.9, 0.0, 0.1, -0.4, 1.2]);
    let moved: Vec<DVec3> = body.lattice.nodes().iter().map(|p| map * *p).collect();
    body.embedding.evaluate(&body.lattice, &moved, &mut out).unwrap();
    assert!(out.iter().zip(mesh.positions()).all(|(a, b)| a.as_dvec3().distance(map * *b) < 1e-6));
    let volume: f64 = (0..body.lattice.n_cells())
        .map(|cell| {
            let points = crate::element::gauss_gradients(&body.lattice.corners(cell));
            points.iter().map(|(_, v)| v).sum::<f64>() * body.lattice.inside()[cell]
        })
        .sum();
    let exact = sinew_geom::measure::compute_volume(&mesh);
    assert!((volume / exact - 1.0).abs() < 0.08, "{volume} {exact}");
    // Under a linear displacement nothing within feels a force.
    let lattice = control.to_lattice().unwrap();
    let params = crate::FleshParams { mode: crate::Mode::Linear, ..Default::default() };
    let solver =
        crate::FleshSolver::new(&lattice, &[crate::Material::default()], &Default::default(), &params)
            .unwrap();
    let mut state = crate::FleshState::at_rest(&lattice);
    state.positions.iter_mut().for_each(|p| *p += 0.01 * (map * *p));
    let force = solver.gradient(&state).unwrap();
    let largest = force.iter().map(|f| f.length()).fold(0.0, f64::max);
    let is_inner = |p: &DVec3| {
        let q = shear.inverse() * *p;
        q.cmpgt(DVec3::splat(1e-6)).all() && q.cmplt(DVec3::new(2.0, 1.0, 1.0) - 1e-6).all()
    };
    let inside: Vec<usize> = (0..lattice.n_nodes()).filter(|&n| is_inner(&lattice.nodes()[n])).collect();
    assert!(inside.len() > 10);
    assert!(inside.iter().all(|&n| force[n].length() < 1e-11 * largest));
    // A vertex outside is reported and follows; a lattice elsewhere is refused, as are cells that overlap.
    let mut out_of = mesh.positions().to_vec();
    out_of[3] += DVec3::X;
    let body = build_made_body(&Mesh::new(out_of.clone(), mesh.faces().to_vec()).unwrap(), &control).unwrap();
    assert_eq!(body.uncovered, [3]);
    let mut out = vec![Vec3::ZERO; 8];
    body.embedding.evaluate(&body.lattice, body.lattice.nodes(), &mut out).unwrap();
    assert!(out[3].as_dvec3().distance(out_of[3]) < 1e-5);
    let far = Mesh::new(mesh.positions().iter().map(|p| *p + 9.0).collect(), mesh.faces().to_vec()).unwrap();
    assert!(matches!(build_made_body(&far, &control), Err(FleshError::LatticeElsewhere { count: 8, .. })));
    let mut twice = solids;
    twice.push(tetrahedron([0, 1, 2, 7]));
    let control = ControlLattice::new(nodes, twice).unwrap();
    let overlap = build_made_body(&mesh, &control).unwrap_err();
    assert!(
        matches!(&overlap, FleshError::OverlappingCells { second, .. } if second == "tetrahedron 6"),
        "{overlap}"
    );
}

#[test]
fn folded_and_broken_cells_are_named() {
    let block = Lattice::block([2, 1, 1], 1.0, DVec3::ZERO).unwrap();
    let mut nodes = block.nodes().to_vec();
    let far = block.cells()[1][1] as usize;
    nodes[far].x = 0.5;
    let folded = Lattice::new(nodes.clone(), block.cells().to_vec()).unwrap_err();
    assert!(matches!(folded, FleshError::FoldedCell { cell: 1, .. }), "{folded}");
    nodes[far].x = f64::NAN;
    assert!(matches!(Lattice::new(nodes, block.cells().to_vec()), Err(FleshError::NonFinite { .. })));
    let wrong = vec![[0, 1, 2, 3, 4, 5, 6, 99]];
    assert!(matches!(
        Lattice::new(block.nodes().to_vec(), wrong),
        Err(FleshError::CellNode { node: 99, .. })
    ));
    assert!(Lattice::new(vec![], vec![]).is_err());
    assert!(Lattice::block([1; 3], 0.0, DVec3::ZERO).is_err());
}
