//! Preparation and frame times by size, beside libigl's as-rigid-as-possible iteration.

use glam::DVec3;
use sinew::{
    deform::{EditParams, HandlePose, HandleSet, Method, SurfaceEditor},
    geom::{
        Character, Move, Warnings,
        sample::{Sample, build_character},
    },
};
use std::{process::Command, time::Instant};

use crate::{measure::time, places};

/// Sizes of the biped.
const SIZES: [usize; 5] = [2_000, 17_000, 43_000, 100_000, 1_000_000];

/// Print a table with a line for each size and method.
pub fn run() -> anyhow::Result<()> {
    println!(
        "\n{:<10}{:<10}{:>9}{:>12}{:>11}{:>24}{:>8}",
        "vertices", "method", "soft", "prepare ms", "frame ms", "libigl ms per iteration", "ratio"
    );
    for n in SIZES {
        let character = build_character(Sample::Biped, n)?;
        let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default())?;
        let pose = HandlePose::from_moves(&character.mesh, &handles, &waving(&character))?;
        for method in Method::ALL {
            if method != Method::Guided && n > 200_000 {
                continue;
            }
            let mut params = EditParams { method, ..EditParams::default() };
            let start = Instant::now();
            let editor = SurfaceEditor::new(&character.mesh, &handles, &params, &mut Warnings::default())?;
            let prepare = start.elapsed().as_secs_f64() * 1e3;
            let mut out = character.mesh.positions().to_vec();
            let frame = time(7, || drop(editor.solve(&pose, &mut out)));
            let mut peer = String::new();
            let mut ratio = String::new();
            if method == Method::Arap {
                // The difference of two numbers of iterations is what an iteration costs.
                params.arap.iterations = 0;
                let bare = SurfaceEditor::new(&character.mesh, &handles, &params, &mut Warnings::default())?;
                let ours = (frame - time(7, || drop(bare.solve(&pose, &mut out)))) / 10.0;
                match libigl(&character, &handles)? {
                    Some(theirs) => {
                        peer = format!("{theirs:.2} / ours {ours:.2}");
                        ratio = format!("{:.1}x", theirs / ours);
                    }
                    None => peer = format!("not installed / {ours:.2}"),
                }
            }
            println!(
                "{n:<10}{:<10}{:>9}{prepare:>12.1}{frame:>11.2}{peer:>24}{ratio:>8}",
                method.name(),
                editor.n_soft()
            );
        }
    }
    Ok(())
}

/// Both arms up, a leg forward.
pub fn waving(character: &Character) -> Vec<Move> {
    let turn = |name: &str, axis: DVec3, degrees: f64| Move::Rotate {
        main: name.into(),
        handles: Vec::new(),
        axis,
        radians: degrees.to_radians(),
    };
    let handles = character.handles.iter();
    let moves = handles.filter_map(|h| match &h.name {
        name if name.contains("arm") => Some(turn(name, DVec3::Z, 40.0)),
        name if name.contains("leg") => Some(turn(name, DVec3::X, -30.0)),
        _ => None,
    });
    moves.collect()
}

/// Milliseconds of an iteration of libigl on the same mesh and handles, if it is installed.
fn libigl(character: &Character, handles: &HandleSet) -> anyhow::Result<Option<f64>> {
    let python = places::tools("SINEW_PEERS", "peers").join("bin/python");
    if !python.exists() {
        return Ok(None);
    }
    let folder = std::env::temp_dir().join(format!("sinew-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let bare = Character { mesh: character.mesh.clone(), ..Character::default() };
    std::fs::write(folder.join("mesh.obj"), sinew::formats::obj::write_obj(&bare))?;
    let held: Vec<String> =
        (0..handles.n_vertices()).filter(|&v| handles.owner(v).is_some()).map(|v| v.to_string()).collect();
    std::fs::write(folder.join("held.txt"), held.join("\n"))?;
    let output = Command::new(python).arg(places::peer("libigl_arap.py")).arg(&folder).output()?;
    std::fs::remove_dir_all(&folder)?;
    anyhow::ensure!(output.status.success(), "libigl: {}", String::from_utf8_lossy(&output.stderr));
    Ok(Some(String::from_utf8_lossy(&output.stdout).trim().parse()?))
}
