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
    assert!(adjacency.boundary_loops(&mesh).is_empty());
    assert_eq!(repair(&mesh, &RepairParams::default(), |_, _| true).0, mesh);
}

#[test]
fn an_open_box_has_one_loop_with_the_surface_on_its_left() {
    let mesh = triangles(&cube());
    let open = Mesh::new(mesh.positions().to_vec(), mesh.faces()[2..].to_vec()).unwrap();
    let loops = Adjacency::new(&open).boundary_loops(&open);
    assert_eq!(loops.len(), 1);
    let walk = &loops[0];
    assert_eq!(walk.len(), 4);
    for (i, &v) in walk.iter().enumerate() {
        let next = walk[(i + 1) % 4];
        assert!(open.faces().iter().any(|f| (0..3).any(|k| f[k] == v && f[(k + 1) % 3] == next)));
    }
}

#[test]
fn a_concave_polygon_keeps_its_area() {
    // An arrow head: the fan from its first corner would leave the polygon.
    let outline = [[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    for first in 0..4u32 {
        let ring: Vec<u32> = (0..4).map(|i| (first + i) % 4).collect();
        let mesh = triangles(&RawMesh::new(outline.to_vec(), ring, &[4]).unwrap());
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
    // A vertex nobody uses, at a place that is taken.
    let d = count([p.clone(), vec![p[0]]].concat(), f.clone());
    assert_eq!((d.unreferenced_vertices, d.coincident_vertices), (1, 1));
    // A face twice: its three edges have three faces.
    let d = count(p.clone(), [f.clone(), vec![f[0]]].concat());
    assert_eq!((d.duplicate_faces, d.non_manifold_edges), (1, 3));
    // A face turned: each of its edges is run along twice.
    let mut turned = f.clone();
    turned[0].swap(0, 1);
    assert_eq!(count(p.clone(), turned).inconsistent_edges, 3);
    // A face less.
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
fn repair_mends_a_cap_by_turning_its_edge() {
    let p = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, -1.0]].map(|[x, y]| DVec3::new(x, y, 0.0));
    let mesh = Mesh::new(p.to_vec(), vec![[0, 1, 3], [0, 2, 1], [0, 4, 2], [2, 4, 1]]).unwrap();
    let (mended, report) = repair(&mesh, &RepairParams::default(), |_, _| true);
    assert_eq!((report.turned_edges, report.removed_degenerate), (1, 0));
    let d = RawMesh::from_mesh(&mended).defects();
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

proptest! {
    /// Whatever the triangles, a repaired mesh has none of the faults that repair promises to remove, and
    /// every vertex lies where its source lay.
    #[test]
    fn repair_keeps_its_promises(faces in prop::collection::vec(prop::array::uniform3(0u32..9), 0..40)) {
        let p: Vec<DVec3> = (0..9).map(|i| DVec3::new((i % 3) as f64, (i / 3) as f64, (i * i % 5) as f64)).collect();
        let mesh = Mesh::new(p.clone(), faces).unwrap();
        let (mended, report) = repair(&mesh, &RepairParams::default(), |_, _| true);
        let d = RawMesh::from_mesh(&mended).defects();
        prop_assert_eq!(d.unreferenced_vertices, 0);
        prop_assert_eq!(d.degenerate_faces, 0);
        prop_assert_eq!(d.duplicate_faces, 0);
        prop_assert_eq!(d.non_manifold_edges, 0);
        prop_assert_eq!(d.non_manifold_vertices, 0);
        for (v, &source) in report.vertex_sources.iter().enumerate() {
            prop_assert_eq!(mended.positions()[v], p[source as usize]);
        }
        prop_assert_eq!(report.face_sources.len(), mended.n_faces());
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
