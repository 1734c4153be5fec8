//! Every command on every kind of character: it works, or says what is missing and names the command that adds it.

use super::{Folder, ok, sinew};
use sinew::{
    geom::{
        Character, Material, Mesh, Surface, Warnings,
        sample::{Sample, build_character},
    },
    session::{Document, grow_sample, write_project},
};
use std::ops::ControlFlow;

/// What a command does on a kind of character.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wanted {
    /// It works.
    Works,
    /// It names a command or an option that gives what is missing, the names that there are, or what to do with the mesh.
    Offers,
}
use Wanted::{Offers, Works};

const KINDS: [&str; 5] = ["mesh", "handles", "rigged", "parts", "sequence"];

/// Two bars, each of a material and a surface of its own.
fn parts() -> Character {
    let bar = build_character(Sample::Bar, 1_000).unwrap().mesh;
    let n = bar.n_vertices() as u32;
    let beside = |p: &glam::DVec3| *p + glam::DVec3::X * 3.0;
    let positions = bar.positions().iter().copied().chain(bar.positions().iter().map(beside)).collect();
    let faces = bar.faces().iter().copied().chain(bar.faces().iter().map(|f| f.map(|v| v + n))).collect();
    let face_materials = (0..2 * bar.n_faces()).map(|face| u16::from(face >= bar.n_faces())).collect();
    let materials = vec![Material::default(), Material { name: "second".into(), ..Material::default() }];
    let surface = Surface { materials, face_materials, ..Surface::default() };
    Character { mesh: Mesh::new(positions, faces).unwrap(), surface, ..Character::default() }
}

/// A file of each kind.
fn files(folder: &Folder) -> Vec<String> {
    let (biped, mesh) = (folder.at("rigged.glb"), folder.at("mesh.obj"));
    ok(&["sample", "biped", "-n", "1500", "-o", &biped, "--json"]);
    ok(&["convert", &biped, &mesh, "--json"]);
    let project = |document: &Document, name: &str| {
        let path = folder.at(name);
        std::fs::write(&path, write_project(document, &mut Warnings::default()).unwrap()).unwrap();
        path
    };
    let go_on = &mut |_| ControlFlow::Continue(());
    let mut handles = grow_sample(Sample::Biped, 1_500, go_on, &mut Warnings::default()).unwrap();
    let body = Character { rig: None, skin: None, ..(*handles.body).clone() };
    (handles.body, handles.clips) = (body.into(), Vec::new());
    let cloth = folder.at("sequence.glb");
    ok(&["sample", "flag", "-n", "1000", "-o", &cloth, "--json"]);
    vec![
        mesh,
        project(&handles, "handles.sinew.glb"),
        biped,
        project(&Document::new(parts()), "parts.glb"),
        cloth,
    ]
}

#[test]
fn every_command_works_on_every_character_or_says_what_is_missing() {
    let folder = Folder::new("every-character");
    let rules = folder.write("x.rules", "distance \"foot.L\" \"foot.R\" = 50 cm\n");
    let moves =
        folder.write("moves.json", r#"{"moves":[{"rotate":{"main":"head","axis":[0,0,1],"degrees":20}}]}"#);
    let files = files(&folder);
    let rigged = files[2].clone();
    let mut wrong = Vec::new();
    let mut row = |command: &str, wanted: [Wanted; 5], args: &dyn Fn(&str, &str) -> Vec<String>| {
        for ((kind, file), wanted) in KINDS.iter().zip(&files).zip(wanted) {
            let out = folder.at(&format!("{}-{kind}.glb", command.replace(' ', "-")));
            let args = args(file, &out);
            let output = sinew(&args.iter().map(String::as_str).collect::<Vec<_>>());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let ways = [
                "`sinew ",
                "--",
                "there are: ",
                "no joint, marker or definition has",
                "give it thickness",
                "move it, or make its radius larger",
            ];
            let names_a_way = ways.iter().any(|way| said.contains(way));
            let found = match output.status.code() {
                Some(0) => Some(Works),
                Some(1) if names_a_way => Some(Offers),
                _ => None,
            };
            if found != Some(wanted) {
                wrong.push(format!("{command} on {kind}: {found:?} instead of {wanted:?}: {said}"));
            }
        }
    };
    let plain = |list: &[&str]| list.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
    row("info", [Works; 5], &|file, _| plain(&["info", file, "--json"]));
    row("convert", [Works; 5], &|file, out| plain(&["convert", file, out, "--json"]));
    row("convert --as-skin", [Offers, Works, Works, Offers, Offers], &|file, out| {
        plain(&["convert", file, out, "--as-skin", "--json"])
    });
    row("rig", [Works; 5], &|file, out| plain(&["rig", file, "-o", out, "--json"]));
    row("handles", [Works; 5], &|file, out| {
        plain(&["handles", "auto", file, "-o", &out.replace(".glb", ".json"), "--json"])
    });
    row("turntable", [Works; 5], &|file, out| plain(&["turntable", file, "-o", out, "--json"]));
    row("pose", [Offers, Works, Works, Offers, Offers], &|file, out| {
        plain(&["pose", file, "--moves", &moves, "-o", out, "--json"])
    });
    row("reach", [Offers, Works, Offers, Offers, Offers], &|file, _| {
        plain(&["reach", file, "--to", "head=0,1.7,0.1", "--json"])
    });
    row("animate", [Offers, Works, Offers, Offers, Offers], &|file, out| {
        plain(&["animate", file, "--keyframes", "wave,bow", "-o", out, "--json"])
    });
    row("solve", [Works, Works, Works, Offers, Offers], &|file, out| {
        plain(&["solve", &rules, "--skeleton", file, "-o", out, "--json"])
    });
    row("walk", [Works, Works, Works, Offers, Offers], &|file, out| {
        plain(&["walk", file, "-o", out, "--json"])
    });
    row("refit to", [Works; 5], &|file, out| {
        plain(&["refit", &rigged, "--clip", "walk", "--skeleton", file, "-o", out, "--json"])
    });
    row("refit of", [Offers, Offers, Works, Offers, Offers], &|file, out| {
        plain(&["refit", file, "-o", out, "--json"])
    });
    row("flesh", [Works, Works, Works, Works, Offers], &|file, out| {
        plain(&["flesh", file, "--seconds", "0.1", "--cells", "6", "-o", out, "--json"])
    });
    row("fit", [Offers, Offers, Works, Offers, Works], &|file, out| {
        plain(&["fit", file, "-o", out, "--json"])
    });
    row("puppet", [Works, Works, Works, Offers, Offers], &|file, out| {
        plain(&["puppet", file, "--source", "demo", "-o", out, "--json"])
    });
    let muscles = folder.at("breath.json");
    let breath = ["breath", "--template", "bump", "--vertex", "100", "--cells", "200", "-o"];
    row("muscle add", [Offers, Offers, Works, Offers, Offers], &|file, out| {
        let own = if file == rigged { muscles.clone() } else { out.replace(".glb", ".json") };
        plain(&[&["muscle", "add", file][..], &breath[..], &[own.as_str(), "--json"][..]].concat())
    });
    row("muscle drive", [Works, Works, Works, Works, Offers], &|file, out| {
        let drive = ["--set", "breath=1", "--seconds", "0.1", "--cells", "200", "-o"];
        plain(
            &[&["muscle", "drive", file, "--muscles", &muscles][..], &drive[..], &[out, "--json"][..]]
                .concat(),
        )
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A surface that moves without bones is given some, and flesh follows them.
#[test]
fn flesh_follows_a_surface_that_moves_without_bones() {
    let folder = Folder::new("flesh-without-bones");
    let (biped, moving, out) = (folder.at("biped.glb"), folder.at("moving.glb"), folder.at("flesh.glb"));
    ok(&["sample", "biped", "-n", "1500", "-o", &biped, "--json"]);
    let mut character = super::character(&biped);
    character.clips.retain(|clip| clip.name == "walk");
    let clip = character.clips[0].clone();
    let at = |k: usize| character.positions_at(Some(&clip), k as f32 / 10.0).unwrap();
    let frames = (0..6).map(at).collect();
    let sequence = sinew::geom::MeshSequence::new(character.mesh.clone(), frames, 10.0).unwrap();
    let bytes = sinew::formats::gltf::write_sequence_glb(
        &sequence,
        &character.surface,
        "moving",
        &mut Warnings::default(),
    );
    std::fs::write(&moving, bytes.unwrap()).unwrap();
    let output = sinew(&["flesh", &moving, "--seconds", "0.3", "--cells", "8", "-o", &out, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("was given one"), "{said}");
}
