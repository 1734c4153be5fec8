//! Read any mesh, report its defects, repair them and write the result: `repair_mesh IN OUT.obj`.

use sinew::{
    formats::{obj, read_any, write_atomic},
    geom::{RawMesh, Warnings, mesh::RepairParams},
};
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [input, output] = std::env::args()
        .skip(1)
        .collect::<Vec<_>>()
        .try_into()
        .map_err(|_| "usage: repair_mesh IN OUT.obj")?;
    let mut warnings = Warnings::default();
    let content = read_any(Path::new(&input), &mut warnings)?;
    let character = content.into_character().ok_or("this file holds no mesh")?;
    println!("before: {:?}", RawMesh::from_mesh(&character.mesh).defects());
    let (repaired, report) = character.repaired(&RepairParams::default())?;
    report.describe(&mut warnings);
    println!("after:  {:?}", RawMesh::from_mesh(&repaired.mesh).defects());
    warnings.messages.iter().for_each(|message| println!("{message}"));
    write_atomic(Path::new(&output), &obj::write_obj(&repaired))?;
    Ok(())
}
