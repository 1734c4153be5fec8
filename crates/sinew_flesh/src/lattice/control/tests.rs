//! Subdivision against closed forms, and checks of lattices made by hand.

use super::{super::jacobian::*, *};
use glam::DMat3;
use std::collections::BTreeMap;

/// A block of unit cubes; `keep` chooses among them.
fn block(n: [usize; 3], keep: impl Fn([usize; 3]) -> bool) -> ControlLattice {
    let mut numbers: BTreeMap<[usize; 3], u32> = BTreeMap::new();
    let (mut nodes, mut cells) = (Vec::new(), Vec::new());
    for at in
        (0..n[0] * n[1] * n[2]).map(|k| [k % n[0], k / n[0] % n[1], k / n[0] / n[1]]).filter(|at| keep(*at))
    {
        cells.push(Solid::Hexahedron(std::array::from_fn(|c| {
            let place = [at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2)];
            *numbers.entry(place).or_insert_with(|| {
                nodes.push(DVec3::new(place[0] as f64, place[1] as f64, place[2] as f64));
                nodes.len() as u32 - 1
            })
        })));
    }
    ControlLattice::new(nodes, cells).unwrap()
}

fn node_at(lattice: &ControlLattice, p: DVec3) -> u32 {
    lattice.nodes().iter().position(|q| q.distance(p) < 1e-9).unwrap() as u32
}

/// A hexahedron, a prism on its side and a tetrahedron on the prism.
fn mixed() -> ControlLattice {
    let mut nodes: Vec<DVec3> = (0..8).map(super::super::corner_place).collect();
    nodes.extend([DVec3::new(1.8, 0.5, 0.1), DVec3::new(1.9, 0.6, 1.0), DVec3::new(1.4, 0.4, 2.0)]);
    let hexahedron = Solid::Hexahedron([0, 1, 2, 3, 4, 5, 6, 7]);
    let prism = Solid::Prism([1, 8, 3, 5, 9, 7]);
    let tetrahedron = Solid::Tetrahedron([5, 9, 7, 10]);
    ControlLattice::new(nodes, vec![hexahedron, prism, tetrahedron]).unwrap()
}

#[test]
fn weights_sum_to_one_and_commute_with_affine_maps() {
    let map =
        |p: DVec3| DMat3::from_cols_array(&[1.0, 0.2, -0.1, 0.3, 0.9, 0.0, 0.1, -0.4, 1.2]) * p + DVec3::X;
    let sharp = mixed().with_features(vec![[0, 1], [1, 3], [0, 2]], vec![6]).unwrap();
    for lattice in [mixed(), sharp, block([3, 2, 2], |at| at != [1, 1, 1])] {
        for scheme in Scheme::ALL {
            let (mut refined, mut lattice) = (lattice.subdivide(scheme), lattice.clone());
            for (_, rows) in [split(&lattice, scheme), split(&refined, scheme)] {
                for row in &rows {
                    assert!((row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-12);
                    assert!(row.windows(2).all(|pair| pair[0].0 < pair[1].0));
                }
            }
            let nodes: Vec<u32> = (0..refined.nodes().len() as u32).collect();
            for row in limit_rows(&refined, &nodes, scheme) {
                assert!((row.iter().map(|(_, w)| w).sum::<f64>() - 1.0).abs() < 1e-9, "{scheme:?} {row:?}");
            }
            lattice.nodes.iter_mut().for_each(|p| *p = map(*p));
            refined.nodes.iter_mut().for_each(|p| *p = map(*p));
            let mapped = lattice.subdivide(scheme);
            assert!(mapped.nodes().iter().zip(refined.nodes()).all(|(a, b)| a.distance(*b) < 1e-12));
        }
    }
}

/// Cubic B-spline around zero.
fn spline(x: f64) -> f64 {
    let x = x.abs();
    match x {
        x if x < 1.0 => (4.0 - 6.0 * x * x + 3.0 * x.powi(3)) / 6.0,
        x if x < 2.0 => (2.0 - x).powi(3) / 6.0,
        _ => 0.0,
    }
}

/// In a grid both smooth schemes are tri-cubic B-splines: after two splits, limits at quarters of a cell are exact.
#[test]
fn the_limit_in_a_grid_is_the_spline() {
    let grid = block([6; 3], |_| true);
    let middle = DVec3::splat(3.0);
    let delta = node_at(&grid, middle);
    for scheme in [Scheme::MacCrackenJoy, Scheme::CellAveraging] {
        let (mut values, mut lattice) = (vec![0.0; grid.nodes().len()], grid.clone());
        let mut places = grid.nodes().to_vec();
        values[delta as usize] = 1.0;
        for _ in 0..2 {
            let (_, straight) = split(&lattice, Scheme::Trilinear);
            places =
                straight.iter().map(|row| row.iter().map(|&(n, w)| places[n as usize] * w).sum()).collect();
            let (refined, rows) = split(&lattice, scheme);
            values = rows.iter().map(|row| row.iter().map(|&(n, w)| values[n as usize] * w).sum()).collect();
            lattice = refined;
        }
        let inner: Vec<u32> = (0..places.len() as u32)
            .filter(|&n| (places[n as usize] - middle).abs().max_element() < 1.6)
            .collect();
        assert!(inner.len() > 2000);
        for (row, &node) in limit_rows(&lattice, &inner, scheme).iter().zip(&inner) {
            let limit: f64 = row.iter().map(|&(n, w)| values[n as usize] * w).sum();
            let away = places[node as usize] - middle;
            let exact = spline(away.x) * spline(away.y) * spline(away.z);
            assert!((limit - exact).abs() < 1e-12, "{scheme:?} at {away}: {limit} {exact}");
        }
    }
}

/// Quads of a surface by the places of their corners, subdivided after Catmull and Clark: new vertices by old places.
fn catmull_clark(quads: &[[DVec3; 4]]) -> Vec<DVec3> {
    let same = |a: DVec3, b: DVec3| a.distance(b) < 1e-9;
    let face_point = |q: &[DVec3; 4]| q.iter().sum::<DVec3>() / 4.0;
    let mut out: Vec<DVec3> = quads.iter().map(face_point).collect();
    for quad in quads {
        for k in 0..4 {
            let (a, b) = (quad[k], quad[(k + 1) % 4]);
            let has = |p: DVec3| move |q: &&[DVec3; 4]| q.iter().any(|c| same(*c, p));
            let beside: Vec<_> = quads.iter().filter(has(a)).filter(has(b)).collect();
            assert_eq!(beside.len(), 2);
            out.push((a + b + face_point(beside[0]) + face_point(beside[1])) / 4.0);
            let around: Vec<_> = quads.iter().filter(has(a)).collect();
            let n = around.len() as f64;
            let faces = around.iter().map(|q| face_point(q)).sum::<DVec3>() / n;
            let middles: DVec3 = around
                .iter()
                .flat_map(|q| {
                    let at = q.iter().position(|c| same(*c, a)).unwrap();
                    [(q[(at + 1) % 4] + a) / 2.0, (q[(at + 3) % 4] + a) / 2.0]
                })
                .sum::<DVec3>()
                / (2.0 * n);
            out.push((faces + 2.0 * middles + (n - 3.0) * a) / n);
        }
    }
    out
}

/// The boundary of a MacCracken–Joy lattice is a Catmull–Clark surface, also at corners of valence 3 and 5.
#[test]
fn the_boundary_is_a_catmull_clark_surface() {
    let lattice = block([2, 2, 1], |at| at != [1, 1, 0]);
    let topology = topology::Topology::new(&lattice);
    let all: Vec<u32> = (0..topology.n_faces() as u32).collect();
    let quads: Vec<[DVec3; 4]> = topology
        .border_faces(&all)
        .map(|f| std::array::from_fn(|k| lattice.nodes()[topology.face(f)[k] as usize]))
        .collect();
    assert_eq!(quads.len(), 14);
    let refined = lattice.subdivide(Scheme::MacCrackenJoy);
    let fine = topology::Topology::new(&refined);
    let all: Vec<u32> = (0..fine.n_faces() as u32).collect();
    let mut border: Vec<u32> = fine.border_faces(&all).flat_map(|f| fine.face(f).to_vec()).collect();
    border.sort_unstable();
    border.dedup();
    let wanted = catmull_clark(&quads);
    for &node in &border {
        let p = refined.nodes()[node as usize];
        assert!(wanted.iter().any(|q| q.distance(p) < 1e-12), "{p}");
    }
    // Halstead's limit of a vertex of valence n: (n² P + 4 Σ E + Σ F) / n (n + 5), here 3 and 5.
    for (corner, n) in [(DVec3::ZERO, 3.0), (DVec3::new(1.0, 1.0, 0.0), 5.0)] {
        let node = node_at(&lattice, corner);
        let row = &limit_rows(&lattice, &[node], Scheme::MacCrackenJoy)[0];
        let mut exact: BTreeMap<u32, f64> = BTreeMap::new();
        *exact.entry(node).or_default() += n / (n + 5.0);
        for f in topology.border_faces(topology.node_faces.row(node as usize)) {
            let corners = topology.face(f);
            let at = corners.iter().position(|&c| c == node).unwrap();
            for (k, w) in [(1, 2.0), (2, 1.0), (3, 2.0)] {
                *exact.entry(corners[(at + k) % 4]).or_default() += w / (n * (n + 5.0));
            }
        }
        assert_eq!(row.len(), exact.len());
        for (node, w) in row {
            assert!((w - exact[node]).abs() < 1e-12, "valence {n}: {w} {}", exact[node]);
        }
    }
}

/// A crease within between two sharp corners stays a straight line, cell by cell as long as it was: bones keep their length.
#[test]
fn sharp_features_stay() {
    let grid = block([3; 3], |_| true);
    let [a, b] = [DVec3::new(1.0, 1.0, 1.0), DVec3::new(2.0, 1.0, 1.0)].map(|p| node_at(&grid, p));
    for scheme in [Scheme::MacCrackenJoy, Scheme::CellAveraging] {
        let mut bent = grid.clone().with_features(vec![[a, b]], vec![a, b]).unwrap();
        bent.nodes.iter_mut().enumerate().for_each(|(k, p)| *p += 0.2 * crate::tests::noise3(k));
        let (start, end) = (bent.nodes()[a as usize], bent.nodes()[b as usize]);
        let fine = bent.subdivide(scheme).subdivide(scheme);
        assert_eq!(fine.creases().len(), 4);
        for edge in fine.creases() {
            let [p, q] = edge.map(|node| fine.nodes()[node as usize]);
            assert!((p.distance(q) - start.distance(end) / 4.0).abs() < 1e-12, "{scheme:?}");
            assert!((p - start).cross(end - start).length() < 1e-12);
        }
        assert!(fine.nodes()[a as usize] == start);
        let smooth = grid.clone().subdivide(scheme);
        assert!(smooth.nodes()[0].distance(DVec3::ZERO) > 0.1, "without a tag corners are rounded");
        let row = &limit_rows(&fine, &[a], scheme)[0];
        assert_eq!(row[..], [(a, 1.0)]);
    }
    // Two creases in line make a cubic spline of three nodes.
    let all = [0.0, 1.0, 2.0].map(|x| node_at(&grid, DVec3::new(x, 0.0, 0.0)));
    let creased = grid.with_features(vec![[all[0], all[1]], [all[1], all[2]]], vec![]).unwrap();
    for scheme in [Scheme::MacCrackenJoy, Scheme::CellAveraging] {
        let (_, rows) = split(&creased, scheme);
        let mut wanted = vec![(all[0], 0.125), (all[1], 0.75), (all[2], 0.125)];
        wanted.sort_by_key(|(node, _)| *node);
        assert_eq!(rows[all[1] as usize], wanted);
    }
}

#[test]
fn solids_are_split_into_hexahedra_that_fill_them() {
    let lattice = mixed();
    let cells = |l: &Lattice| (0..l.n_cells()).map(|c| l.corners(c)).collect::<Vec<_>>();
    let volume =
        |corners: &[DVec3; 8]| crate::element::gauss_gradients(corners).iter().map(|(_, v)| v).sum::<f64>();
    let whole = lattice.to_lattice().unwrap();
    assert_eq!(whole.n_cells(), 8 + 6 + 4);
    let total: f64 = cells(&whole).iter().map(volume).sum();
    let at = |k: usize| lattice.nodes()[k];
    let tetrahedron = |a: usize, b: usize, c: usize, d: usize| {
        DMat3::from_cols(at(b) - at(a), at(c) - at(a), at(d) - at(a)).determinant() / 6.0
    };
    // The sides of the prism are bent, so that two ways to cut it differ; their mean is what bilinear sides enclose.
    let cut = |a: [usize; 3], b: [usize; 3]| {
        tetrahedron(a[0], a[1], a[2], b[0])
            + tetrahedron(b[0], a[1], a[2], b[2])
            + tetrahedron(b[0], a[1], b[2], b[1])
    };
    let straight = tetrahedron(5, 9, 7, 10) + 1.0;
    let prism = cut([1, 8, 3], [5, 9, 7]);
    assert!((total - straight - prism).abs() < 0.03, "{total} {straight} {prism}");
    assert!(!whole.is_cubes());
    assert!(block([2, 1, 1], |_| true).to_lattice().unwrap().is_cubes());
}

#[test]
fn folded_cells_are_all_named() {
    let nodes = mixed().nodes().to_vec();
    let cells = vec![
        Solid::Hexahedron([0, 1, 2, 3, 4, 5, 6, 7]),
        Solid::Prism([3, 8, 1, 7, 9, 5]),
        Solid::Tetrahedron([5, 7, 9, 10]),
        Solid::Tetrahedron([5, 9, 7, 10]),
        Solid::Tetrahedron([0, 1, 4, 5]),
    ];
    let error = ControlLattice::new(nodes.clone(), cells).unwrap_err();
    let FleshError::FoldedCells { count: 3, n_cells: 5, names } = &error else { panic!("{error}") };
    assert_eq!(names, "prism 1, tetrahedron 1, tetrahedron 3");
    assert_eq!(ControlLattice::new(nodes.clone(), vec![]).unwrap_err(), FleshError::NoCells);
    let far = vec![Solid::Tetrahedron([0, 1, 2, 99])];
    assert!(matches!(ControlLattice::new(nodes, far), Err(FleshError::CellNode { node: 99, .. })));
    assert!(mixed().with_features(vec![[0, 99]], vec![]).is_err());
}

/// The bound says yes or no as a dense sampling of the determinant does.
#[test]
fn the_jacobian_is_bounded_everywhere() {
    let (mut good, mut bad, mut only_inside) = (0, 0, 0);
    for seed in 0..400 {
        let size = [0.2, 0.35, 0.5][seed % 3];
        let corners: [DVec3; 8] = std::array::from_fn(|c| {
            super::super::corner_place(c) + size * crate::tests::noise3(8 * seed + c)
        });
        let sample = |k: usize| {
            let at = DVec3::new((k % 11) as f64, (k / 11 % 11) as f64, (k / 121) as f64) / 10.0;
            jacobian_at(&corners, at).determinant()
        };
        let least = (0..1331).map(sample).fold(f64::INFINITY, f64::min);
        let at_corners = crate::element::corner_volumes(&corners).into_iter().fold(f64::INFINITY, f64::min);
        let bound = least_jacobian(&corners);
        if least > 0.02 {
            assert!(bound > 0.0, "{least} {bound}");
            good += 1;
        } else if least < 0.0 {
            assert!(bound <= 0.0, "{least} {bound}");
            bad += 1;
            only_inside += usize::from(at_corners > 1e-3);
        }
    }
    assert!(good > 50 && bad > 50, "{good} {bad} {only_inside}");
    // All corners are right, the middle of an edge is not.
    assert_eq!(least_jacobian(&[DVec3::ONE; 8]), 0.0);
}

/// The closed form of cell averaging's limits is what its subdivision matrix settles at, at any valence.
#[test]
fn limits_of_cell_averaging_settle_at_the_closed_form() {
    let scheme = Scheme::CellAveraging;
    let creased = mixed().with_features(vec![[0, 1], [1, 3]], vec![6]).unwrap();
    for lattice in
        [mixed().subdivide(scheme), creased.subdivide(scheme), block([2, 2, 2], |at| at != [1, 1, 1])]
    {
        let topology = topology::Topology::new(&lattice);
        let nodes: Vec<u32> = (0..lattice.nodes().len() as u32).collect();
        for (row, &node) in limit_rows(&lattice, &nodes, scheme).iter().zip(&nodes) {
            let settled: BTreeMap<u32, f64> =
                limit::settled(&topology, &lattice, node, scheme).into_iter().collect();
            for (other, w) in row {
                let wanted = settled.get(other).copied().unwrap_or(0.0);
                assert!((w - wanted).abs() < 1e-12, "node {node}: {w} {wanted}");
            }
            assert!((settled.values().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
