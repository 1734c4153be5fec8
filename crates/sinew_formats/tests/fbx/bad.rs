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

fn read(bytes: &[u8]) {
    let side = sinew_formats::no_side_files;
    let mut warnings = sinew_geom::Warnings::default();
    if let Ok(file) = sinew_formats::fbx::read_fbx(bytes, &side, "damaged.fbx", &mut warnings) {
        for clip in &file.character.clips {
            file.character.positions_at(Some(clip), clip.duration_secs()).unwrap();
        }
    }
}

/// A file that is cut or changed anywhere opens or is refused.
#[test]
fn no_damage_makes_the_reader_fail_otherwise() {
    for text in [
        include_str!("../../../../fuzz/seeds/fbx/triangle.fbx"),
        include_str!("../../../../fuzz/seeds/fbx/bar.fbx"),
    ] {
        let bytes = text.as_bytes();
        (0..bytes.len()).step_by(3).for_each(|end| read(&bytes[..end]));
        let mut damaged = bytes.to_vec();
        for at in 0..bytes.len() {
            for byte in [bytes[at] ^ 1, b'9', b'-'] {
                damaged[at] = byte;
                read(&damaged);
            }
            damaged[at] = bytes[at];
        }
    }
}

/// The same of binary files of others.
#[test]
fn no_damage_to_files_of_others_makes_the_reader_fail() {
    let Some(interop) = interop() else { return };
    for name in [
        "maya_blend_inbetween_7500_ascii.fbx",
        "morph_test.fbx",
        "huesitos.fbx",
        "max7_skin_5000_binary.fbx",
        "maya_game_sausage_7500_binary_wiggle.fbx",
    ] {
        let bytes = std::fs::read(interop.join("fbx").join(name)).unwrap();
        let step = bytes.len() / 200;
        (0..bytes.len()).step_by(step).for_each(|end| read(&bytes[..end]));
        let mut damaged = bytes.clone();
        for at in (0..bytes.len()).step_by(step / 2 + 1) {
            damaged[at] ^= 0xFF;
            read(&damaged);
            damaged[at] = bytes[at];
        }
    }
}
