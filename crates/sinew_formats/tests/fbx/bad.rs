//! Damaged files: what opens is usable, what does not says why.

use crate::support::{files, open};
use sinew_outside::interop;

#[test]
fn damaged_files_open_or_say_why() {
    let Some(interop) = interop() else { return };
    for path in files(&interop.join("fbx_bad"), "fbx") {
        match open(&path) {
            Ok((file, _)) => {
                for clip in &file.character.clips {
                    let positions =
                        file.character.positions_at(Some(clip), clip.duration_secs() * 0.4).unwrap();
                    assert!(positions.iter().all(|p| p.is_finite()), "{}", path.display());
                }
            }
            Err(error) => {
                let name = path.file_name().unwrap().to_string_lossy();
                assert!(error.contains(&*name) && error.contains("; "), "{error}");
            }
        }
    }
}

/// Every prefix of a file, and the file with single bytes changed, opens or is refused.
#[test]
fn no_damage_makes_the_reader_fail_otherwise() {
    let Some(interop) = interop() else { return };
    for name in
        ["maya_blend_inbetween_7500_ascii.fbx", "morph_test.fbx", "maya_game_sausage_7500_binary_wiggle.fbx"]
    {
        let bytes = std::fs::read(interop.join("fbx").join(name)).unwrap();
        let read = |bytes: &[u8]| {
            let side = sinew_formats::no_side_files;
            let _ = sinew_formats::fbx::read_fbx(bytes, &side, name, &mut sinew_geom::Warnings::default());
        };
        let step = bytes.len() / 40;
        (0..bytes.len()).step_by(step).for_each(|end| read(&bytes[..end]));
        for at in (0..bytes.len()).step_by(step / 3 + 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0xFF;
            read(&damaged);
        }
    }
}
