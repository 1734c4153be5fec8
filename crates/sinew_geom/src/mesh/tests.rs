use super::*;
use crate::Warnings;
use proptest::prelude::*;

/// Corners of the unit cube as six outward quads.
pub(crate) fn cube() -> RawMesh {
    let positions =
        (0..8).map(|i| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    RawMesh::new(positions, quads.concat(), &[4; 6]).unwrap()
}

fn triangles(raw: &RawMesh) -> Mesh {
    raw.triangulate(&mut Warnings::default()).0
}

#[test]
fn a_cube_has_no_defect() {
    let expected = Defects { components: 1, euler_characteristic: 2, ..Defects::default() };
    assert_eq!(cube().defects(), expected);
    let mesh = triangles(&cube());
    assert_eq!(RawMesh::from_mesh(&mesh).defects(), expected);
    let adjacency = Adjacency::new(&mesh);
    assert_eq!(adjacency.edges.len(), 18);
    assert_eq!(adjacency.components().1, 1);
    assert_eq!(repair(&mesh, &RepairParams::default(), |_, _| true).0, mesh);
}

#[test]
fn a_concave_polygon_keeps_its_area() {
    // An arrow head: the fan from its first corner would leave the polygon.
    let outline = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    // Near the origin, and so far away that squares of coordinates have no digits left for the polygon.
    for (first, far) in (0..4u32).flat_map(|first| [(first, 0.0), (first, (1u64 << 40) as f64)]) {
        let ring: Vec<u32> = (0..4).map(|i| (first + i) % 4).collect();
        let outline = outline.iter().map(|&p| p + far).collect();
        let mesh = triangles(&RawMesh::new(outline, ring, &[4]).unwrap());
        let areas: Vec<f64> = (0..2)
            .map(|f| {
                let [a, b, c] = mesh.corners(f);
                (b - a).cross(c - a).z / 2.0
            })
            .collect();
        assert!(areas.iter().all(|&a| a > 0.0), "{areas:?}");
        assert!((areas.iter().sum::<f64>() - 1.5).abs() < 1e-12);
    }
}

#[test]
fn a_hole_on_a_bridge_stays_a_hole() {
    // A square of 3 × 3 with a square hole, cut open along a bridge as exporters do.
    let p = [[0, 0], [3, 0], [3, 3], [0, 3], [1, 1], [1, 2], [2, 2], [2, 1]];
    let p = p.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0)).to_vec();
    let raw = RawMesh::new(p, vec![0, 1, 2, 3, 0, 4, 5, 6, 7, 4], &[10]).unwrap();
    assert!((crate::measure::compute_area(&triangles(&raw)) - 8.0).abs() < 1e-12);
}

#[test]
fn faults_are_counted_one_by_one() {
    let base = triangles(&cube());
    let (p, f) = base.clone().into_parts();
    let count = |p: Vec<DVec3>, f: Vec<[u32; 3]>| RawMesh::from_triangles(p, &f).unwrap().defects();
    // A vertex without a face, at the position of another.
    let d = count([p.clone(), vec![p[0]]].concat(), f.clone());
    assert_eq!((d.unreferenced_vertices, d.coincident_vertices), (1, 1));
    // A face twice: its three edges have three faces.
    let d = count(p.clone(), [f.clone(), vec![f[0]]].concat());
    assert_eq!((d.duplicate_faces, d.non_manifold_edges), (1, 3));
    // A face turned: each of its edges is used twice in one direction.
    let mut turned = f.clone();
    turned[0].swap(0, 1);
    assert_eq!(count(p.clone(), turned).inconsistent_edges, 3);
    // One face less.
    assert_eq!(count(p.clone(), f[1..].to_vec()).boundary_edges, 3);
    // A needle.
    assert_eq!(count(p.clone(), [f.clone(), vec![[0, 0, 1]]].concat()).degenerate_faces, 1);
    // Two cubes that touch in a corner.
    let far: Vec<DVec3> = p.iter().map(|&x| x + DVec3::ONE).collect();
    let renamed = f.iter().map(|t| t.map(|v| if v == 0 { 7 } else { v + 8 }));
    let d = count([p, far].concat(), f.iter().copied().chain(renamed).collect());
    assert_eq!((d.non_manifold_vertices, d.components, d.unreferenced_vertices), (1, 1, 1));
}

#[test]
fn repair_corrects_a_cap_by_turning_its_edge() {
    let p = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, -1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let mesh = Mesh::new(p.to_vec(), vec![[0, 1, 3], [0, 2, 1], [0, 4, 2], [2, 4, 1]]).unwrap();
    let (repaired, report) = repair(&mesh, &RepairParams::default(), |_, _| true);
    assert_eq!((report.turned_edges, report.removed_degenerate), (1, 0));
    let d = RawMesh::from_mesh(&repaired).defects();
    assert_eq!((d.degenerate_faces, d.boundary_edges, d.components), (0, 4, 1));
}

#[test]
fn lips_that_may_not_weld_stay_apart() {
    let mut p = triangles(&cube()).into_parts().0;
    p[1] = p[0];
    let mesh = Mesh::new(p, vec![[0, 2, 3], [1, 3, 5]]).unwrap();
    let params = RepairParams { remove_unreferenced: false, ..RepairParams::default() };
    assert_eq!(repair(&mesh, &params, |_, _| true).0.n_vertices(), 7);
    assert_eq!(repair(&mesh, &params, |_, _| false).1.welded_vertices, 0);
}

/// Cells of a 2 × 2 × 2 block as closed boxes; those of one `body` share vertices.
fn boxes(bodies: &[Option<u8>; 8]) -> Mesh {
    let (p, f) = triangles(&cube()).into_parts();
    let mut names = std::collections::HashMap::new();
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    for (cell, body) in bodies.iter().enumerate().filter_map(|(cell, body)| Some((cell, (*body)?))) {
        let corner = DVec3::new((cell & 1) as f64, (cell >> 1 & 1) as f64, (cell >> 2) as f64);
        let own: Vec<u32> = p
            .iter()
            .map(|x| {
                let at = *x + corner;
                *names.entry((body, at.to_array().map(f64::to_bits))).or_insert_with(|| {
                    positions.push(at);
                    positions.len() as u32 - 1
                })
            })
            .collect();
        // Each box mirrors its neighbours, so that boxes cut the side they share along the same diagonal.
        let turned = cell.count_ones() % 2 == 1;
        let mirrored = f.iter().map(|t| t.map(|v| own[v as usize ^ cell]));
        faces.extend(mirrored.map(|[a, b, c]| if turned { [a, c, b] } else { [a, b, c] }));
    }
    Mesh::new(positions, faces).unwrap()
}

#[test]
fn solids_that_touch_stay_closed() {
    let count = |mesh: &Mesh| RawMesh::from_mesh(mesh).defects();
    let repaired = |mesh: &Mesh| count(&repair(mesh, &RepairParams::default(), |_, _| true).0);
    // Beside one another with separate vertices, and along an edge with shared ones.
    let beside = boxes(&[Some(0), Some(1), None, None, None, None, None, None]);
    assert_eq!(repair(&beside, &RepairParams::default(), |_, _| true).0, beside);
    let d = repaired(&boxes(&[Some(0), None, None, Some(0), None, None, None, None]));
    assert_eq!((d.boundary_edges, d.components), (0, 2));
    // The same as a soup of triangles.
    let (p, f) = boxes(&[Some(0), None, None, Some(0), None, None, None, None]).into_parts();
    let soup: Vec<DVec3> = f.iter().flatten().map(|&v| p[v as usize]).collect();
    let faces = (0..f.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let d = repaired(&Mesh::new(soup, faces).unwrap());
    assert_eq!((d.boundary_edges, d.components), (0, 2));
}

#[test]
fn a_wall_goes_and_a_sheet_stays() {
    let wall = boxes(&[Some(0), Some(0), None, None, None, None, None, None]);
    let (repaired, report) = repair(&wall, &RepairParams::default(), |_, _| true);
    assert_eq!((repaired.n_faces(), report.removed_duplicates), (20, 4));
    assert_eq!(RawMesh::from_mesh(&repaired).defects().boundary_edges, 0);
    assert!((crate::measure::compute_volume(&repaired) - 2.0).abs() < 1e-12);
    // A fold in the corner of a closed box, as the camels of Sumner and Popović have them.
    let (p, mut f) = boxes(&[Some(0), None, None, None, None, None, None, None]).into_parts();
    let [a, b, c] = f[0];
    let across = f.iter().flatten().copied().find(|v| {
        let joins = |x: u32| f.iter().any(|t| t.contains(&x) && t.contains(v));
        ![a, b, c].contains(v) && joins(b) && !f.iter().any(|t| t.contains(&c) && t.contains(v))
    });
    let fold = [b, c, across.unwrap()];
    f.extend([fold, [fold[0], fold[2], fold[1]]]);
    let (repaired, _) = repair(&Mesh::new(p, f).unwrap(), &RepairParams::default(), |_, _| true);
    assert_eq!((repaired.n_faces(), RawMesh::from_mesh(&repaired).defects().boundary_edges), (12, 0));
    let p = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let sheet = Mesh::new(p.to_vec(), vec![[0, 1, 2], [0, 2, 1], [0, 2, 3], [0, 3, 2]]).unwrap();
    assert_eq!(repair(&sheet, &RepairParams::default(), |_, _| true).0.n_faces(), 2);
}

#[test]
fn a_cap_that_cannot_be_turned_stays_where_it_closes_the_surface() {
    // As CGAL's existing_flip.off: turning the cap 2 4 3 would make a second edge 0 4.
    let p = [
        [0.31, -0.01, -0.25],
        [-0.08, 0.12, 0.6],
        [1.0, 1.0, 0.0],
        [0.5, 0.5, 1.0],
        [0.75, 0.75, 0.5],
        [0.67, 0.77, -0.44],
        [0.14, 0.13, 0.89],
    ];
    let faces = [
        [0, 5, 2],
        [0, 3, 6],
        [5, 0, 4],
        [2, 4, 3],
        [4, 0, 1],
        [4, 1, 6],
        [4, 2, 5],
        [3, 0, 2],
        [6, 3, 4],
        [6, 1, 0],
    ];
    let mesh = Mesh::new(p.map(DVec3::from_array).to_vec(), faces.to_vec()).unwrap();
    let (repaired, report) = repair(&mesh, &RepairParams::default(), |_, _| true);
    assert_eq!((report.kept_degenerate, report.removed_degenerate), (1, 0));
    assert_eq!(RawMesh::from_mesh(&repaired).defects().boundary_edges, 0);
    let mut warnings = Warnings::default();
    report.describe(&mut warnings);
    assert!(warnings.messages[0].contains("had to stay"), "{warnings:?}");
}

proptest! {
    /// Boxes that touch in corners, edges and sides, with shared vertices or others at the same places: closed
    /// before and after, with the same volume.
    #[test]
    fn repair_opens_no_solid(bodies in prop::array::uniform8(prop::option::of(0u8..3))) {
        let mesh = boxes(&bodies);
        let (repaired, _) = repair(&mesh, &RepairParams::default(), |_, _| true);
        let d = RawMesh::from_mesh(&repaired).defects();
        prop_assert_eq!((d.boundary_edges, d.non_manifold_edges, d.non_manifold_vertices), (0, 0, 0));
        let volumes = [&mesh, &repaired].map(crate::measure::compute_volume);
        prop_assert!((volumes[0] - volumes[1]).abs() < 1e-12, "{:?}", volumes);
    }

    /// Whatever the triangles, a repaired mesh has none of the faults that repair promises to remove, and
    /// every vertex is at the position of its source.
    #[test]
    fn repair_keeps_its_promises(faces in prop::collection::vec(prop::array::uniform3(0u32..9), 0..40)) {
        // The last vertices are at the positions of the first ones.
        let p: Vec<DVec3> =
            (0..9).map(|i| i % 7).map(|i| DVec3::new((i % 3) as f64, (i / 3) as f64, (i * i % 5) as f64)).collect();
        let mesh = Mesh::new(p.clone(), faces).unwrap();
        let (repaired, report) = repair(&mesh, &RepairParams::default(), |_, _| true);
        let d = RawMesh::from_mesh(&repaired).defects();
        prop_assert_eq!(d.unreferenced_vertices, 0);
        prop_assert!(d.degenerate_faces <= report.kept_degenerate);
        prop_assert_eq!(d.duplicate_faces, 0);
        prop_assert_eq!(d.non_manifold_edges, 0);
        prop_assert_eq!(d.non_manifold_vertices, 0);
        for (v, &source) in report.vertex_sources.iter().enumerate() {
            prop_assert_eq!(repaired.positions()[v], p[source as usize]);
        }
        prop_assert_eq!(report.face_sources.len(), repaired.n_faces());
    }

    /// Renumbering vertices changes no count.
    #[test]
    fn defects_do_not_depend_on_numbering(
        faces in prop::collection::vec(prop::array::uniform3(0u32..9), 0..30),
        order in Just((0u32..9).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let p: Vec<DVec3> = (0..9).map(|i| DVec3::new((i % 3) as f64, (i / 3) as f64, (i * i % 4) as f64)).collect();
        let mut q = p.clone();
        (0..9).for_each(|i| q[order[i] as usize] = p[i]);
        let renamed: Vec<_> = faces.iter().map(|f| f.map(|v| order[v as usize])).collect();
        let a = RawMesh::from_triangles(p, &faces).unwrap().defects();
        let b = RawMesh::from_triangles(q, &renamed).unwrap().defects();
        prop_assert_eq!(a, b);
    }
}
