//! `sinew fit` as a script sees it: results, and what is refused.

use crate::{Folder, fails, ok, sinew};

/// A flag in the wind as a folder of OBJ files.
fn flag(folder: &Folder) -> String {
    let path = folder.at("flag");
    ok(&["sample", "flag", "-n", "1000", "-o", &path, "--json"]);
    path
}

/// A small strip that bends: three frames of six vertices.
fn strip(folder: &Folder, name: &str, frames: &[&str]) -> String {
    let path = folder.0.join(name);
    std::fs::create_dir_all(&path).unwrap();
    for (at, vertices) in frames.iter().enumerate() {
        let faces = "f 1 2 3\nf 2 4 3\nf 3 4 5\nf 4 6 5\n";
        std::fs::write(path.join(format!("frame_{at:02}.obj")), format!("{vertices}{faces}")).unwrap();
    }
    path.to_string_lossy().into_owned()
}

const FLAT: &str = "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 0\nv 2 0 0\nv 2 1 0\n";
const BENT: &str = "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 0\nv 1 0 1\nv 1 1 1\n";

#[test]
fn a_flag_becomes_a_skin() {
    let folder = Folder::new("fit");
    let flag = flag(&folder);
    let out = folder.at("flag.glb");
    let reported =
        ok(&["fit", &flag, "--bones", "12", "-o", &out, "--report", &folder.at("r.html"), "--json"]);
    for key in [
        "vertices",
        "frames",
        "bones",
        "influences",
        "dE",
        "E_RMS",
        "E_RMS_diag1",
        "d_avg",
        "bytes_in",
        "bytes_out",
    ] {
        assert!(reported[key].is_number(), "{key} of {reported}");
    }
    assert!(reported["seconds"]["fit"].is_number() && reported["seconds"]["total"].is_number());
    assert_eq!(reported["bones"], 12);
    assert!(reported["E_RMS_diag1"].as_f64().unwrap() < 1.0);
    assert_eq!(reported["bytes_out"].as_u64().unwrap(), std::fs::metadata(&out).unwrap().len());
    let info = ok(&["info", &out, "--json"]);
    let info = info.get("files").map_or(&info, |files| &files[0]);
    assert_eq!(info["vertices"], reported["vertices"], "{info}");
    let page = std::fs::read_to_string(folder.at("r.html")).unwrap();
    assert!(page.contains("\"perFrame\"") && page.contains("--bones 12") && !page.contains("/*DATA*/null"));
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing from other servers");
    // Rigid bones and 16 bits make it smaller; the same seed gives the same file.
    let small = ok(&[
        "fit",
        &flag,
        "--bones",
        "12",
        "--transforms",
        "rigid",
        "--quantize",
        "-o",
        &folder.at("b.glb"),
        "--json",
    ]);
    assert!(small["bytes_out"].as_u64() < reported["bytes_out"].as_u64());
    assert!(small["E_RMS_diag1"].as_f64().unwrap() < 2.0);
    std::fs::create_dir(folder.0.join("again")).unwrap();
    let again = folder.at("again/flag.glb");
    ok(&["fit", &flag, "--bones", "12", "-o", &again, "--json", "--threads", "1"]);
    assert!(std::fs::read(&out).unwrap() == std::fs::read(&again).unwrap(), "threads change no byte");
}

#[test]
fn an_error_asks_for_bones_and_a_stop_keeps_the_best() {
    let folder = Folder::new("fit-error");
    let flag = flag(&folder);
    let reported = ok(&["fit", &flag, "--error", "0.5%", "-o", &folder.at("a.glb"), "--json"]);
    assert!(reported["E_RMS_diag1"].as_f64().unwrap() <= 0.51, "{reported}");
    let tight = ok(&["fit", &flag, "--error", "0.25", "-o", &folder.at("b.glb"), "--json"]);
    assert!(tight["bones"].as_u64() > reported["bones"].as_u64());
    let stopped = ok(&["fit", &flag, "--seconds", "0", "-o", &folder.at("c.glb"), "--json"]);
    assert!(stopped["warnings"].to_string().contains("best result so far"), "{stopped}");
}

#[test]
fn every_method_of_the_thesis_can_be_asked_for() {
    let folder = Folder::new("fit-thesis");
    let flag = flag(&folder);
    let base = ["fit", &flag, "--bones", "16", "-o", &folder.at("a.glb"), "--json"].map(str::to_owned);
    let error = |more: &[&str]| {
        let args: Vec<&str> = base.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let reported = ok(&args);
        assert_eq!(reported["bones"], 16, "{more:?}");
        reported["E_RMS_diag1"].as_f64().unwrap()
    };
    let plain = error(&["--joints", "pcenter", "--keep-rest"]);
    let corrected = error(&["--joints", "pcenter", "--correct-weights"]);
    assert!(corrected < plain);
    for more in [
        &["--joints", "deform"] as &[&str],
        &["--joints", "deform", "--grouping", "kmeans"],
        &["--joints", "deform", "--grouping", "hierarchical", "--weights", "convolution", "--passes", "2"],
        &["--joints", "pcenter", "--transforms", "rigid", "--transforms-by", "lsqr"],
        &["--joints", "deform", "--decimate", "0.3", "--queue", "regions", "--merge", "optimal"],
        &["--joints", "pcenter", "--decimate", "0.3"],
        &["--decimate", "0.4"],
    ] {
        assert!(error(more) < 20.0 * corrected, "{more:?}");
    }
    let (without, with) =
        (error(&["--joints", "pcenter"]), error(&["--joints", "pcenter", "--eigenskin", "6"]));
    assert!(with < 0.9 * without, "{with} {without}");
    let streamed =
        ok(&["fit", &flag, "--bones", "16", "--sample", "300", "-o", &folder.at("s.glb"), "--json"]);
    assert!(streamed["E_RMS_diag1"].as_f64().unwrap() < plain);
}

#[test]
fn sequences_share_a_skin() {
    let folder = Folder::new("fit-two");
    let a = strip(&folder, "a", &[FLAT, BENT]);
    let b = strip(&folder, "b", &[BENT, FLAT, BENT]);
    let out = folder.at("both.glb");
    let reported = ok(&["fit", &a, &b, "--bones", "2", "-o", &out, "--json"]);
    assert_eq!(reported["frames"], 5);
    let info = ok(&["info", &out, "--json"]);
    let text = info.to_string();
    assert!(text.contains("\"a\"") && text.contains("\"b\""), "{text}");
    let other = strip(&folder, "other", &[FLAT, &FLAT.replace("v 2 1 0\n", "v 2 1 0\nv 3 3 3\n")]);
    assert!(fails(&["fit", &other, "--bones", "2", "-o", &out], 1).contains("frame_01.obj"));
    let flag = flag(&folder);
    assert!(fails(&["fit", &a, &flag, "-o", &out], 1).contains("one mesh"));
}

/// Clips of several files play as fast as they did, whatever their lengths and rates.
#[test]
fn clips_of_files_keep_their_speed() {
    let folder = Folder::new("fit-rates");
    let played = |name: &str, n_frames: usize, fps: &str| -> String {
        let frames: Vec<&str> = [FLAT, BENT].into_iter().cycle().take(n_frames).collect();
        let (frames, out) = (strip(&folder, name, &frames), folder.at(&format!("{name}.glb")));
        ok(&["fit", &frames, "--bones", "2", "--keep-rest", "--fps", fps, "-o", &out, "--json"]);
        out
    };
    let (a, b) = (played("first", 7, "24"), played("second", 6, "30"));
    let out = folder.at("both.glb");
    // Their last keys are at 6/24 and 5/30 seconds; a frame that is not reached exactly is the one after.
    for (more, fps, frames) in [(&[] as &[&str], 24.0, 7 + 5), (&["--fps", "50"], 50.0, 14 + 10)] {
        let reported = ok(&[&["fit", &a, &b, "--bones", "2", "-o", &out, "--json"], more].concat());
        assert_eq!(reported["frames"], frames, "{fps}: {reported}");
        let clips = ok(&["info", &out, "--json"])["clips"].clone();
        for (clip, seconds) in [(0, 6.0 / 24.0), (1, 5.0 / 30.0)] {
            let written = clips[clip]["duration_secs"].as_f64().unwrap();
            assert!(written > seconds - 1e-3 && written < seconds + 1.0 / fps, "{fps}: {clips}");
        }
    }
}

#[test]
fn odd_input_is_taken_and_bad_input_named() {
    let folder = Folder::new("fit-bad");
    let out = folder.at("out.glb");
    // One frame, frames that are alike, a mirrored frame: nothing fails, what is odd is reported.
    let one = strip(&folder, "one", &[FLAT]);
    assert!(
        ok(&["fit", &one, "--bones", "2", "-o", &out, "--json"])["warnings"]
            .to_string()
            .contains("one frame")
    );
    let still = strip(&folder, "still", &[FLAT, FLAT, FLAT]);
    let reported = ok(&["fit", &still, "--bones", "3", "-o", &out, "--json"]);
    assert!(reported["warnings"].to_string().contains("identical") && reported["dE"] == 0.0, "{reported}");
    let mirrored = strip(
        &folder,
        "mirrored",
        &[FLAT, BENT, &BENT.replace("v 1 0 1", "v 1 0 -1").replace("v 1 1 1", "v 1 1 -1")],
    );
    for transforms in ["affine", "rigid"] {
        let reported =
            ok(&["fit", &mirrored, "--bones", "2", "--transforms", transforms, "-o", &out, "--json"]);
        assert!(reported["E_RMS_diag1"].as_f64().unwrap() < 20.0);
    }
    // A vertex without a face.
    let loose = strip(&folder, "loose", &[&format!("{FLAT}v 9 9 9\n"), &format!("{BENT}v 9 8 9\n")]);
    let reported = ok(&["fit", &loose, "--bones", "2", "-o", &out, "--json"]);
    assert!(reported["vertices"] == 7 && reported["d_avg"].as_f64().unwrap() < 0.1, "{reported}");
    // Far from the origin the error stays what it is.
    let near = strip(&folder, "near", &[FLAT, BENT, FLAT]);
    let far = BENT.lines().map(|line| {
        let [x, y, z] = [2, 4, 6].map(|at| line[at..at + 1].parse::<f64>().unwrap());
        format!("v {} {} {}\n", x + 1000.0, y - 500.0, z)
    });
    let away = strip(&folder, "away", &[FLAT, &far.collect::<String>(), FLAT]);
    let error = |path: &str| {
        let args =
            ["fit", path, "--bones", "1", "--transforms", "rigid", "--keep-rest", "-o", &out, "--json"];
        ok(&args)["E_RMS"].as_f64().unwrap()
    };
    assert!((error(&near) - error(&away)).abs() < 0.02 * error(&near), "{} {}", error(&near), error(&away));
    // All of it so far out that files could not tell its vertices apart: moved, which is reported.
    let moved = |text: &str| -> String {
        let shifted = |line: &str| {
            let [x, y, z] = [2, 4, 6].map(|at| line[at..at + 1].parse::<f64>().unwrap());
            format!("v {} {} {}\n", x + 1e6, y - 3e5, z)
        };
        text.lines().map(shifted).collect()
    };
    let out_there = strip(&folder, "out_there", &[&moved(FLAT), &moved(BENT), &moved(FLAT)]);
    let reported = ok(&["fit", &out_there, "--bones", "2", "-o", &out, "--json"]);
    assert!(reported["warnings"].to_string().contains("was moved by"), "{reported}");
    assert!((error(&near) - error(&out_there)).abs() < 0.02 * error(&near), "{}", error(&out_there));
    // Refused, with the numbers and the file.
    assert!(fails(&["fit", &near, "--bones", "0", "-o", &out], 1).contains("at least 1"));
    let many = fails(&["fit", &near, "--bones", "7", "-o", &out], 1);
    assert!(many.contains("7 bones") && many.contains("at most 6"), "{many}");
    let nan = strip(&folder, "nan", &[FLAT, &BENT.replace("v 1 0 1", "v nan 0 1")]);
    let said = fails(&["fit", &nan, "--bones", "2", "-o", &out], 1);
    assert!(said.contains("frame_01.obj") && said.contains("leave out that frame"), "{said}");
    assert!(!said.contains("were moved"), "nothing was: {said}");
    let faces = strip(&folder, "faces", &[FLAT, BENT]);
    let text = std::fs::read_to_string(folder.0.join("faces/frame_01.obj")).unwrap();
    std::fs::write(folder.0.join("faces/frame_01.obj"), text.replace("f 1 2 3", "f 1 3 2")).unwrap();
    assert!(fails(&["fit", &faces, "--bones", "2", "-o", &out], 1).contains("frame_01.obj"));
    let mesh = folder.write("mesh.obj", &format!("{FLAT}f 1 2 3\n"));
    assert!(fails(&["fit", &mesh, "-o", &out], 1).contains("one mesh"));
    assert!(fails(&["fit", &near, "-o", &folder.at("out.obj")], 1).contains(".glb"));
    assert!(fails(&["fit", &near, "--decimate", "1.5", "--bones", "2", "-o", &out], 1).contains("decimate"));
    let refused = |more: &[&str]| fails(&[&["fit", &near, "-o", &out], more].concat(), 1);
    assert!(refused(&["--for", "unity", "--influences", "8"]).contains("takes 4"));
    assert!(refused(&["--for", "unreal", "--bones", "600"]).contains("255"));
    assert!(refused(&["--for", "unity", "--transforms", "affine", "--bones", "128"]).contains("127"));
    let idle =
        ["--bones", "2", "--transforms", "affine", "--flat", "--keep-rest", "--stiffness", "1%", "--json"];
    let said = ok(&[&["fit", &near, "-o", &out] as &[&str], &idle].concat())["warnings"].to_string();
    assert!(said.contains("--flat has no effect") && said.contains("--stiffness has no effect"), "{said}");
    for usage in [
        &["--for", "nobody"] as &[&str],
        &["--error", "0.1", "--bones", "3"],
        &["--error", "-1"],
        &["--influences", "9"],
        &["--stiffness", "200"],
        &["--transforms", "wobbly"],
        &["--grouping", "kmeans"],
    ] {
        let args: Vec<&str> = ["fit", &near, "-o", &out].into_iter().chain(usage.iter().copied()).collect();
        assert_eq!(sinew(&args).status.code(), Some(2), "{usage:?}");
    }
}
