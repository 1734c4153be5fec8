//! `sinew solve`.

use super::{Folder, fails, ok, sinew};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn files() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew/tests/files")
}

fn skeleton() -> String {
    files().join("skeleton.json").to_string_lossy().into_owned()
}

fn walk() -> String {
    files().join("walk.rules").to_string_lossy().into_owned()
}

/// Solve a text on the test skeleton from the near pose.
fn solve(folder: &Folder, text: &str, more: &[&str]) -> Value {
    let (rules, skeleton) = (folder.write("a.rules", text), skeleton());
    ok(&[&["solve", &rules, "--skeleton", &skeleton, "--pose", "near", "--json"], more].concat())
}

#[test]
fn the_six_cases_are_solved_and_the_report_has_its_keys() {
    for (variant, distances) in [(None, [0.8213, 3.3122]), (Some("root6"), [0.6788, 2.4672])] {
        for (pose, expected) in ["near", "far"].iter().zip(distances) {
            let rules = walk();
            // The rules name their skeleton themselves.
            let mut args = vec!["solve", &rules, "--pose", pose, "--json"];
            args.extend(variant.iter().flat_map(|variant| ["--variant", variant]));
            let report = ok(&args);
            for key in "converged iterations residual build_us iteration_us dof equations joints conflicts"
                .split(' ')
            {
                assert!(!report[key].is_null(), "{key}: {report}");
            }
            assert_eq!(report["converged"], true);
            assert_eq!((report["dof"].as_u64(), report["equations"].as_u64()), (Some(30), Some(13)));
            assert!(report["residual"].as_f64().unwrap() < 1e-5);
            let distance = report["distance"].as_f64().unwrap();
            assert!((distance / expected - 1.0).abs() < 0.01, "{distance} {expected}");
            let foot: Vec<f64> = serde_json::from_value(report["joints"]["FootR"].clone()).unwrap();
            for (at, marker) in foot.iter().zip([-0.09, 0.08038475772933682, 0.3]) {
                assert!((at - marker).abs() < 1e-5);
            }
            assert_eq!(report["conflicts"].as_array().unwrap().len(), 0);
            assert_eq!(report["dof_left"].as_u64().unwrap() + report["rank"].as_u64().unwrap(), 30);
        }
    }
}

#[test]
fn the_thesis_form_is_rewritten_and_newton_runs() {
    let folder = Folder::new("newton");
    let text =
        "dot(MiddleToeR - FootR, normalize(FloorMarker2 - FloorMarker1)) = length(MiddleToeR - FootR)\n";
    let better = solve(&folder, text, &["--solver", "newton"]);
    let written = solve(&folder, text, &["--solver", "newton", "--as-written"]);
    assert!(better["notes"][0].as_str().unwrap().contains("no slope"), "{better}");
    // At the double root of the equation as written, an iteration only halves the error; the other form takes a few
    // steps.
    let n = |report: &Value| report["iterations"].as_u64().unwrap();
    assert!(n(&better) <= 4 && n(&written) > 2 * n(&better), "{} {}", n(&better), n(&written));
}

#[test]
fn explanations_show_equations_derivatives_and_what_was_rewritten() {
    let folder = Folder::new("explain");
    let report = solve(
        &folder,
        "dot(KneeL - HipL, KneeR - HipR) = 0\npin WristL to (0, 100, 30) cm\n",
        &["--explain"],
    );
    let text = report["explanation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line.as_str().unwrap())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        text.contains("KneeL") && text.contains("d1/d HipL.rx =") && text.contains("sin(HipL.rx)"),
        "{text}"
    );
    assert!(text.contains("(WristL + (0.0000, -1.0000, -0.3000)).x = 0"), "{text}");
    assert!(report["notes"][0].as_str().unwrap().contains("a.rules:1:1:"), "{}", report["notes"]);
}

#[test]
fn poses_are_written_for_others() {
    let folder = Folder::new("solve-out");
    let (rules, skeleton) = (walk(), skeleton());
    let report =
        |path: &str| ok(&["solve", &rules, "--skeleton", &skeleton, "--pose", "near", "-o", path, "--json"]);
    let same =
        folder.write("same.rules", "distance FootL FootR = 40 cm\nhalfway Root between AnkleL AnkleR\n");
    for name in ["pose.bvh", "pose.glb"] {
        let path = folder.at(name);
        report(&path);
        // What was written is read as the same pose: rules that hold there move nothing.
        let again = ok(&["solve", &same, "--skeleton", &path, "--pose", "@0", "--json"]);
        assert_eq!(again["converged"], true);
        assert!(again["distance"].as_f64().unwrap() < 1e-4, "{name}: {}", again["distance"]);
        let first = report(&path);
        for joint in ["Head", "WristL", "FootR"] {
            let at = |report: &Value, axis: usize| report["joints"][joint][axis].as_f64().unwrap();
            assert!((0..3).all(|axis| (at(&again, axis) - at(&first, axis)).abs() < 1e-4), "{name} {joint}");
        }
    }
    let path = folder.at("pose.json");
    report(&path);
    let pose: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(pose["values"]["KneeR.rx"].is_number() && pose["joints"]["Head"].is_array());
    assert!(
        fails(&["solve", &rules, "-o", &folder.at("pose.obj")], 1).contains("written as .glb, .bvh or .json")
    );
}

#[test]
fn rules_are_formatted() {
    let folder = Folder::new("solve-format");
    let path = folder.write("a.rules", "case 1   \"why\"\npin   FootR to  StepMarker#here\n");
    let output = sinew(&["solve", &path, "--format"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "case 1 \"why\"\n  pin FootR to StepMarker  # here\n"
    );
    ok(&["solve", &path, "--format", "-o", &path, "--json"]);
    assert_eq!(ok(&["solve", &path, "--format", "--json"])["changed"], false);
}

#[test]
fn wrong_rules_are_reported_with_file_line_and_column() {
    let folder = Folder::new("solve-bad");
    let skeleton = skeleton();
    let bad = [
        ("", "there is no rule in it"),
        ("# nothing\n\n", "there is no rule in it"),
        ("pin FotR to StepMarker\n", "a.rules:1:5: unknown name `FotR`; did you mean `FootR`?"),
        ("\npin FootR = 4\n", "a.rules:2:11: expected `to`, found `=`"),
        ("FootR = 4 cm\n", "a.rules:1:1: a point cannot equal a length"),
        ("distance FootL FootR = 30 deg\n", "a.rules:1:24: this is an angle, but a length is needed"),
        ("KneeR.rx = 4 cm\n", "this is a length, but an angle is needed"),
        ("range KneeR.ry in 0 .. 3 deg\n", "`KneeR` has no degree of freedom ry; it has rx"),
        ("range KneeR.rx in 9 .. 3 deg\n", "this range is empty"),
        ("plane P = through FootR normal FootR -> FootR\nput FootL on P\n", "this direction has no length"),
        ("put FootL on FootR\n", "a plane, a line or `Ground` is needed"),
        ("aim FootR along FootL -> FootR\n", "a direction is needed; write A -> B"),
        ("free Foot: rx\n", "unknown joint `Foot`; did you mean `FootL`?"),
        ("pin FootR to StepMarker weight -1\n", "a weight must be above zero"),
        ("pin FootR to StepMarker priority 1.5\n", "a priority is a whole number"),
        ("pin FootR to StepMarker soft 3 deg\n", "this is an angle, but a length is needed"),
        ("dot(FootR) = 0\n", "`dot` has 1 arguments here; write dot(VECTOR, VECTOR)"),
        ("sine(KneeR.rx) = 0\n", "unknown function `sine`; did you mean `sin`?"),
        ("point Root = FootL\n", "`Root` is a joint already"),
        ("point a = FootL\npoint a = FootR\n", "`a` is defined already"),
        ("FootR + 3 = FootL\n", "a number cannot be added to a point"),
        ("FootR * FootL = 0\n", "write dot(a, b) or cross(a, b)"),
        ("FootR <= FootL\n", "cannot be compared by size"),
        ("limit acceleration(Root) <= 12 cm\n", "this is a length, but an acceleration is needed"),
        ("over Root FootL, FootR\n", "at least three corners"),
    ];
    for (text, part) in bad {
        let said = fails(&["solve", &folder.write("a.rules", text), "--skeleton", &skeleton], 1);
        assert!(said.contains(part) && said.contains("a.rules"), "{text:?}: {said}");
    }
    // All wrong lines at once.
    let said =
        fails(&["solve", &folder.write("a.rules", "pin A to B\npin C to D\n"), "--skeleton", &skeleton], 1);
    assert!(said.contains("a.rules:1:5") && said.contains("a.rules:2:5"), "{said}");
    // Files and options.
    let rules = folder.write("a.rules", "pin FootR to StepMarker\n");
    assert!(fails(&["solve", &rules], 1).contains("names no skeleton"));
    assert!(fails(&["solve", &rules, "--skeleton", &folder.at("no.json")], 1).contains("no.json"));
    assert!(
        fails(&["solve", &rules, "--skeleton", &skeleton, "--variant", "x"], 1).contains("there are root6")
    );
    assert!(
        fails(&["solve", &rules, "--skeleton", &skeleton, "--pose", "x"], 1).contains("there are near, far")
    );
    assert!(fails(&["solve", &rules, "--skeleton", &skeleton, "--pose", "x.bvh@1"], 1).contains("x.bvh"));
    fails(&["solve", &rules, "--skeleton", &skeleton, "--solver", "magic"], 2);
    std::fs::write(folder.at("b.rules"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(
        fails(&["solve", &folder.at("b.rules"), "--skeleton", &skeleton], 1).contains("this is not text")
    );
}

#[test]
fn contradictions_are_named_and_compromised() {
    let folder = Folder::new("solve-conflict");
    let report = solve(&folder, "pin WristL to (40, 100, 20) cm\n\ndistance WristL ElbowL = 30 cm\n", &[]);
    // The forearm is 26 cm long, whatever the pose.
    assert_eq!(report["converged"], false);
    assert_eq!(report["conflicts"][0]["line"], 3);
    let text = "pin FootR to StepMarker\npin FootR to FloorMarker1 weight 3\n";
    let report = solve(&folder, text, &[]);
    let conflict = &report["conflicts"][0];
    assert_eq!((conflict["line"].as_u64(), conflict["with"][0].as_u64()), (Some(1), Some(2)), "{report}");
    // The compromise lies where the weights say: nine times nearer to the second.
    let residual = |rule: usize| report["rules"][rule]["residual"].as_f64().unwrap();
    assert!((residual(0) / residual(1) - 9.0).abs() < 0.05, "{report}");
    // A range that stands in the way is named.
    let report =
        solve(&folder, "lock Root\nlock HipR\nrange KneeR.rx in 0 .. 20 deg\nKneeR.rx = 60 deg\n", &[]);
    assert_eq!(report["conflicts"][0]["ranges"][0], "KneeR.rx", "{report}");
    // Without freedom.
    let output = sinew(&[
        "solve",
        &folder.write("b.rules", "lock Root\npin HipL to StepMarker\n"),
        "--skeleton",
        &skeleton(),
    ]);
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("b.rules:2:1: nothing in this rule can move"),
        "{output:?}"
    );
}

#[test]
fn ten_thousand_rules_are_solved() {
    let folder = Folder::new("solve-many");
    let mut text = String::new();
    for i in 0..5_000 {
        text += &format!(
            "distance WristL (0, 120, {}) cm >= {} mm\nabs(HeadTop.x) * {} <= 90 cm\n",
            300 + i,
            i % 7,
            1.0 + f64::from(i) * 1e-4
        );
    }
    let report = solve(&folder, &text, &["--any"]);
    assert_eq!(report["equations"], 10_000);
    assert_eq!(report["converged"], true);
}

#[test]
fn priorities_inequalities_and_objectives() {
    let folder = Folder::new("solve-levels");
    let base = std::fs::read_to_string(walk()).unwrap();
    let tall = solve(&folder, &format!("{base}maximize HeadTop.y priority 2\n"), &[]);
    let height = tall["joints"]["HeadTop"][1].as_f64().unwrap();
    assert!((height - 1.8348).abs() < 5e-4, "{height}");
    // A later priority does what it can, and never moves an earlier one.
    let text = "pin FootR to StepMarker\npin FootR to FloorMarker1 priority 2\npin WristL to (20, 120, 60) cm priority 2\n";
    let report = solve(&folder, text, &[]);
    let residual = |rule: usize| report["rules"][rule]["residual"].as_f64().unwrap();
    assert!(residual(0) < 0.01 && residual(1) > 10.0 && residual(2) < 0.2, "{report}");
    // An inequality acts only one way.
    let behind = "put FootL behind FootR by >= 25 cm toward FloorMarker1 -> FloorMarker2\n";
    let report = solve(&folder, &format!("{base}{behind}"), &["--variant", "root6"]);
    assert_eq!(report["converged"], true, "{report}");
    // A soft rule gives way to the starting pose, more the softer it is.
    let soft = |length: &str| {
        solve(&folder, &format!("pin WristL to (0, 100, 40) cm soft {length}\n"), &[])["rules"][0]["residual"]
            .as_f64()
            .unwrap()
    };
    let (hard, medium, loose) = (soft("1 mm"), soft("5 cm"), soft("50 cm"));
    assert!(hard < 0.05 && medium > 2.0 * hard && loose > 2.0 * medium, "{hard} {medium} {loose}");
}

#[test]
fn skeletons_of_other_programs_are_posed() {
    let folder = Folder::new("solve-other");
    let body = folder.at("biped.glb");
    ok(&["sample", "biped", "-n", "1500", "-o", &body, "--json"]);
    let info = ok(&["info", &body, "--json"]);
    assert!(info["joints"].as_u64().unwrap() > 10);
    let walk = folder.at("walk.bvh");
    ok(&["convert", &body, &walk, "--json"]);
    for path in [&body, &walk] {
        let any = folder.write("any.rules", "hips.ty >= 0 cm\n");
        let output = sinew(&["solve", &any, "--skeleton", path, "--pose", "@3", "--json"]);
        let said = String::from_utf8_lossy(&output.stderr);
        // Names differ from body to body; one that is missing is reported with a suggestion or as unknown.
        assert!(output.status.success() || said.contains("unknown joint"), "{said}");
    }
    let rules = folder.write("b.rules", "pin FootR to StepMarker\n");
    let said = fails(&["solve", &rules, "--skeleton", &skeleton(), "--pose", &format!("{walk}@0")], 1);
    assert!(said.contains("the clip's skeleton has no"), "{said}");
    assert!(
        fails(&["solve", &rules, "--skeleton", &walk, "--pose", "@99999"], 1)
            .contains("the clip ends at frame")
    );
}

/// A skinned character that was posed, as others see it.
#[test]
fn a_posed_character_passes_the_judges() {
    let folder = Folder::new("solve-judged");
    let (body, pose) = (folder.at("biped.glb"), folder.at("posed.glb"));
    ok(&["sample", "biped", "-n", "2000", "-o", &body, "--json"]);
    let rules = folder.write(
        "reach.rules",
        "point Cup = (30, 140, 40) cm\npin hand.L to Cup\nlook head at Cup\nput toe.R above (0, 10, 0) cm",
    );
    // A plane is needed there, and reported with its place.
    let reported = fails(&["solve", &rules, "--skeleton", &body, "-o", &pose], 1);
    assert!(reported.contains("reach.rules:4:17"), "{reported}");
    let rules =
        folder.write("reach.rules", "point Cup = (30, 140, 40) cm\npin hand.L to Cup\nlook head at Cup\n");
    assert_eq!(ok(&["solve", &rules, "--skeleton", &body, "-o", &pose, "--json"])["converged"], true);
    super::judges::judge_clip(&folder, &pose, &[0.0]);
}
