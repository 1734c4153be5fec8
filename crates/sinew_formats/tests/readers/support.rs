//! How an outcome is compared with a table.

use glam::DVec3;
use proptest::prelude::*;
use sinew_formats::{Fault, FormatError, Model, Place};
use sinew_geom::{Character, Mesh, Surface, Warnings};
pub use sinew_outside::{data, tools, workspace};

/// Faults as a table has them: where, and a part of what is said.
pub type Expected<'a> = &'a [(Place, &'a str)];

/// The faults of a reading that must fail.
pub fn faults<T>(result: Result<T, FormatError>) -> Vec<Fault> {
    match result {
        Err(FormatError::Faults { faults, .. }) => faults,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("there should be faults"),
    }
}

/// Check that the faults are exactly these: where, and a part of what is said.
pub fn check<T>(input: &str, result: Result<T, FormatError>, expected: Expected) {
    let found = faults(result);
    let list = || found.iter().map(|f| format!("{:?} {f}", f.place)).collect::<Vec<_>>();
    assert_eq!(found.len(), expected.len(), "{input:?} gave {:?}", list());
    for (fault, (place, part)) in found.iter().zip(expected) {
        assert!(fault.place == *place && fault.to_string().contains(part), "{input:?} gave {:?}", list());
    }
}

/// A mesh that is read, and what was repaired.
pub fn loads(read: impl FnOnce(&mut Warnings) -> Result<Model, FormatError>) -> (Model, String) {
    let mut warnings = Warnings::default();
    let model = read(&mut warnings).unwrap_or_else(|error| panic!("{error}"));
    (model, warnings.messages.join("\n"))
}

/// Characters of random positions, polygons and colours, as the file formats can hold them.
pub fn characters() -> impl Strategy<Value = Character> {
    let coordinate = prop_oneof![
        any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        any::<f64>().prop_filter("finite", |x| x.is_finite()),
        -10.0..10.0,
    ];
    let positions = prop::collection::vec([coordinate.clone(), coordinate.clone(), coordinate], 3..20);
    (positions, any::<bool>()).prop_flat_map(|(positions, is_triangles)| {
        let n = positions.len() as u32;
        let largest = if is_triangles { 3 } else { 6 };
        let faces = prop::collection::vec(prop::collection::vec(0..n, 3..=largest), 0..12);
        let colors = prop::option::of(prop::collection::vec(prop::array::uniform4(0.0..=1.0f32), n as usize));
        (faces, colors).prop_map(move |(faces, colors)| {
            let positions: Vec<DVec3> = positions.iter().copied().map(DVec3::from_array).collect();
            let polygons = faces.iter().any(|face| face.len() > 3).then(|| faces.clone());
            // The triangles of polygons are the reader's business; here they only stand for faces.
            let triangles = faces.iter().map(|face| [face[0], face[1], face[2]]).collect();
            let surface = Surface { polygons, colors, ..Surface::default() };
            Character { mesh: Mesh::new(positions, triangles).unwrap(), surface, ..Character::default() }
        })
    })
}

/// What a mesh format must keep: positions to the bit, and the faces.
pub fn same_polygons(written: &Character, read: &Model) -> Result<(), TestCaseError> {
    let bits = |mesh: &Mesh| -> Vec<[u64; 3]> {
        mesh.positions().iter().map(|p| p.to_array().map(f64::to_bits)).collect()
    };
    prop_assert_eq!(bits(&written.mesh), bits(&read.character.mesh));
    prop_assert_eq!(&written.surface.polygons, &read.character.surface.polygons);
    if written.surface.polygons.is_none() {
        prop_assert_eq!(written.mesh.faces(), read.character.mesh.faces());
    }
    Ok(())
}
