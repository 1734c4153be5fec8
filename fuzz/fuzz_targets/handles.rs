//! Any bytes as handles of a triangle; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    handles::{read_handles, write_handles},
    off::read_off,
};
use sinew_geom::{Mesh, Warnings};
use std::sync::LazyLock;

static MESH: LazyLock<Mesh> = LazyLock::new(|| {
    let text = b"OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    read_off(text, "triangle.off", &mut Warnings::default()).expect("a triangle").character.mesh
});

fuzz_target!(|bytes: &[u8]| {
    if let Ok(handles) = read_handles(bytes, &MESH, "fuzz.json") {
        let again = read_handles(&write_handles(&handles), &MESH, "again.json");
        assert_eq!(again.expect("written handles are read"), handles);
    }
});
