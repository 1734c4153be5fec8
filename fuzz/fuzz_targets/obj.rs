//! Any bytes as OBJ; what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::{
    no_side_files,
    obj::{read_obj, write_obj},
};
use sinew_geom::Warnings;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(model) = read_obj(bytes, &no_side_files, "fuzz.obj", &mut Warnings::default()) {
        let written = write_obj(&model.character);
        let again = read_obj(&written, &no_side_files, "again.obj", &mut Warnings::default());
        let mesh = again.expect("a written OBJ is read").character.mesh;
        assert_eq!(mesh, model.character.mesh);
    }
});
