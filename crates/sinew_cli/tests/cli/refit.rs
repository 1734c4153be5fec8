//! `sinew refit`.

use super::{Folder, fails, ok};
use serde_json::Value;
use sinew::{
    formats::{Content, read_any},
    geom::Warnings,
};
use std::{fmt::Write, path::Path};

/// A body in centimetres that walks along +Z, its feet exactly still while they stand.
fn walk(n_frames: usize) -> String {
    let rotation = "CHANNELS 3 Xrotation Yrotation Zrotation";
    let mut text = format!(
        "HIERARCHY\nROOT Hips\n{{\nOFFSET 0 90 0\nCHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation \
         Zrotation\nJOINT Spine\n{{\nOFFSET 0 45 0\n{rotation}\n"
    );
    for (side, x) in [("Left", 1), ("Right", -1)] {
        let _ = write!(
            text,
            "JOINT {side}Arm\n{{\nOFFSET {} 0 0\n{rotation}\nJOINT {side}ForeArm\n{{\nOFFSET 0 -28 0\n{rotation}\n\
             JOINT {side}Hand\n{{\nOFFSET 0 -25 0\n{rotation}\nEnd Site\n{{\nOFFSET 0 -8 0\n}}\n}}\n}}\n}}\n",
            18 * x
        );
    }
    text += "}\n";
    for (side, x) in [("Left", 10), ("Right", -10)] {
        let _ = write!(
            text,
            "JOINT {side}UpLeg\n{{\nOFFSET {x} -2 0\n{rotation}\nJOINT {side}Leg\n{{\nOFFSET 0 -42 0\n{rotation}\n\
             JOINT {side}Foot\n{{\nOFFSET 0 -42 0\n{rotation}\nJOINT {side}ToeBase\n{{\nOFFSET 0 -6 14\n{rotation}\n\
             End Site\n{{\nOFFSET 0 0 6\n}}\n}}\n}}\n}}\n}}\n"
        );
    }
    let _ = write!(text, "}}\nMOTION\nFrames: {n_frames}\nFrame Time: 0.0333333\n");
    for t in 0..n_frames {
        let time = t as f64 / 30.0;
        let (y, z) = (82.0, 110.0 * time - 25.0);
        let _ = write!(text, "0 {y} {z} 0 0 0");
        // Spine, then two arms of three joints.
        let _ = write!(text, "{}", " 0".repeat(3 + 18));
        for side in [0.0, 0.5] {
            let phase: f64 = time + side;
            let u = ((phase.fract() - 0.5) / 0.5).max(0.0);
            let along = 110.0 * (phase.floor() + u * u * u * (10.0 - 15.0 * u + 6.0 * u * u) - side);
            let (dy, dz) = (8.0 * 16.0 * (u * (1.0 - u)).powi(2) + 6.0 - (y - 2.0), along - z);
            let bend = ((dy * dy + dz * dz) / (2.0 * 42.0 * 42.0) - 1.0).clamp(-1.0, 1.0).acos();
            let leg = (-dz).atan2(-dy);
            let angles = [leg - 0.5 * bend, bend, -leg - 0.5 * bend, 0.0];
            angles.iter().for_each(|angle| {
                let _ = write!(text, " {} 0 0", angle.to_degrees());
            });
        }
        text.push('\n');
    }
    text
}

fn number(report: &Value, key: &str) -> f64 {
    report[key].as_f64().unwrap_or_else(|| panic!("{key}: {report}"))
}

#[test]
fn a_walk_is_fitted_to_a_body_and_a_ground() {
    let folder = Folder::new("refit");
    let clip = folder.write("walk.bvh", &walk(90));
    for (ground, out) in [("slope:10", "up.bvh"), ("steps:0.15,0.6", "stairs.glb"), ("hills", "hills.bvh")] {
        let out = folder.at(out);
        let report =
            ok(&["refit", &clip, "--scale", "legs=0.8,arms=1.2", "--ground", ground, "-o", &out, "--json"]);
        assert_eq!(report["frames"], 90, "{report}");
        assert_eq!(report["limit_violations"], 0);
        assert_eq!(report["unit"], 0.01);
        assert!(number(&report, "slide_cm_s") < 1.0 && number(&report, "drift_cm") < 0.5, "{report}");
        assert!(number(&report, "penetration_cm") < 0.5 && number(&report, "jerk_ratio") < 1.5, "{report}");
        assert!(number(&report, "seconds") > 0.0 && report["contacts"].as_array().unwrap().len() == 6);
        assert!(report["copied"]["penetration_cm"].as_f64().unwrap() > 1.0, "{report}");
        // It can be read again, in the unit of its kind of file.
        let again = read_any(Path::new(&out), &mut Warnings::default()).unwrap();
        let is_bvh = matches!(again, Content::Bvh(_));
        let rig = again.into_character().unwrap().rig.unwrap();
        let knee = rig.joints()[rig.find("LeftLeg").unwrap()].rest.translation.length();
        let expected = if is_bvh { 42.0 * 0.8 } else { 0.42 * 0.8 };
        assert!((knee / expected - 1.0).abs() < 1e-4, "{knee}");
    }
}

#[test]
fn rules_hold_and_their_faults_are_reported_with_their_places() {
    let folder = Folder::new("refit-rules");
    let (clip, out) = (folder.write("walk.bvh", &walk(40)), folder.at("out.bvh"));
    let rules = folder.write(
        "apart.rules",
        "# hands that carry a box\ndistance LeftHand RightHand = 50 cm during 10 .. 30 fade 3\n\
         range LeftLeg.rx in 2 .. 60 deg\n",
    );
    let report = ok(&["refit", &clip, "--rules", &rules, "-o", &out, "--json"]);
    assert_eq!(report["limit_violations"], 0, "{report}");
    assert!(number(&report, "slide_cm_s") < 1.0, "{report}");
    let wrong =
        folder.write("wrong.rules", "distance LeftHnd RightHand = 50 cm\nrange Knee.rx in 0 .. 90 deg\n");
    let said = fails(&["refit", &clip, "--rules", &wrong, "-o", &out], 1);
    assert!(said.contains("wrong.rules:1:10") && said.contains("LeftHand"), "{said}");
    assert!(said.contains("wrong.rules:2:"), "{said}");
}

#[test]
fn another_skeleton_and_a_skinned_character_are_fitted() {
    let folder = Folder::new("refit-skeleton");
    let clip = folder.write("walk.bvh", &walk(40));
    let (tall, out, body) = (folder.at("tall.bvh"), folder.at("out.glb"), folder.at("biped.glb"));
    ok(&["refit", &clip, "--scale", "all=1.3", "-o", &tall, "--json"]);
    let report = ok(&["refit", &clip, "--skeleton", &tall, "--ground", "slope:-10", "-o", &out, "--json"]);
    assert!((number(&report, "scale") - 1.3).abs() < 1e-3, "{report}");
    // The biped's own walk is one on the spot: nothing is planted, and that is reported.
    ok(&["sample", "biped", "-n", "2000", "-o", &body, "--json"]);
    let report = ok(&["refit", &body, "--clip", "walk", "--ground", "slope:10", "-o", &out, "--json"]);
    assert!(report["frames"].as_u64().unwrap() > 10);
    let written = read_any(Path::new(&out), &mut Warnings::default()).unwrap().into_character().unwrap();
    let clips: Vec<&str> = written.clips.iter().map(|clip| clip.name.as_str()).collect();
    assert!(written.skin.is_some() && clips[0] == "walk refit" && clips.contains(&"walk"), "{clips:?}");
    // Skin is stretched along with limbs.
    let tall = written.mesh.bounds()[1].y - written.mesh.bounds()[0].y;
    ok(&["refit", &body, "--clip", "walk", "--scale", "legs=0.7", "-o", &out, "--json"]);
    let written = read_any(Path::new(&out), &mut Warnings::default()).unwrap().into_character().unwrap();
    let short = written.mesh.bounds()[1].y - written.mesh.bounds()[0].y;
    assert!(written.skin.is_some() && short < 0.95 * tall, "{short} of {tall}");
}

/// What does not hold in a clip is reported with its line, by how much and where, and a compromise is written.
#[test]
fn rules_that_do_not_hold_in_a_clip_are_named() {
    let folder = Folder::new("refit-conflict");
    let (clip, out) = (folder.write("walk.bvh", &walk(40)), folder.at("out.bvh"));
    let solve = |text: &str, expected: &str| {
        let rules = folder.write("some.rules", text);
        let report = ok(&["refit", &clip, "--rules", &rules, "-o", &out, "--json"]);
        let warnings = report["warnings"].to_string();
        assert!(warnings.contains(expected), "{text}: {warnings}");
        report
    };
    let report = solve(
        "# far too high\npin Spine to (0, 900, 0) cm during 5 .. 9\n",
        "some.rules:2:1: this does not hold",
    );
    assert_eq!(report["broken_rules"], 1, "{report}");
    solve("hold LeftHand during 400 .. 500\n", "the clip has 40 frames at 30 fps");
    solve("keep pose\n", "some.rules:1:1");
    solve("# nothing\n", "no rule in it");
    let report = ok(&["refit", &clip, "-o", &out, "--json"]);
    assert_eq!(report["broken_rules"], 0, "{report}");
    let rules = folder.write("high.rules", "maximize LeftHand.y during 10 .. 30 fade 4\n");
    let high = ok(&["refit", &clip, "--rules", &rules, "-o", &out, "--json"]);
    assert!(number(&high, "slide_cm_s") < 1.0 && high["broken_rules"] == 0, "{high}");
}

#[test]
fn what_cannot_be_fitted_is_reported() {
    let folder = Folder::new("refit-bad");
    let (clip, out) = (folder.write("walk.bvh", &walk(20)), folder.at("out.bvh"));
    let (cube, broken) = (folder.at("cube.obj"), folder.at("broken.bvh"));
    std::fs::write(&cube, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    std::fs::write(&broken, walk(5).replace(" 82 ", " nan ")).unwrap();
    let field = folder.write("field.json", r#"{"ground":{"field":{"cell":1,"heights":[[0,0],[0.2,0.2]]}}}"#);
    ok(&["refit", &clip, "--ground", &field, "-o", &out, "--json"]);
    let one = folder.write("one.bvh", &walk(1));
    ok(&["refit", &one, "--scale", "legs=0.7", "-o", &out, "--json"]);
    let cases: [(&[&str], i32, &str); 11] = [
        (&["refit", &clip, "--ground", "lava", "-o", &out], 1, "slope:10"),
        (&["refit", &clip, "--ground", "slope:89", "-o", &out], 1, "60"),
        (&["refit", &clip, "--ground", "none.json", "-o", &out], 1, "none.json"),
        (&["refit", &clip, "--scale", "legs", "-o", &out], 1, "legs=0.7"),
        (&["refit", &clip, "--scale", "legs=0", "-o", &out], 1, "above 0"),
        (&["refit", &clip, "--scale", "wings=2", "-o", &out], 1, "wings"),
        (&["refit", &clip, "--feet", "LeftFot", "-o", &out], 1, "LeftFoot"),
        (&["refit", &clip, "--fps", "0", "-o", &out], 1, "--fps"),
        (&["refit", &broken, "-o", &out], 1, "not a finite number"),
        (&["refit", &cube, "-o", &out], 1, "no skeleton"),
        (&["refit", &clip, "-o", &folder.at("out.obj")], 1, ".bvh or .glb"),
    ];
    for (args, code, expected) in cases {
        let said = fails(args, code);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    let foreign = folder.write("foreign.bvh", &walk(3).replace("Left", "Links").replace("Right", "Rechts"));
    let said = fails(&["refit", &clip, "--skeleton", &foreign, "-o", &out], 1);
    assert!(said.contains("foreign.bvh") && said.contains("counterpart"), "{said}");
}

/// A walk of another body, of other names, on the skinned sample: as others play it.
#[test]
fn a_refitted_character_passes_the_judges() {
    let folder = Folder::new("refit-judged");
    let (clip, body, out) =
        (folder.write("walk.bvh", &walk(60)), folder.at("biped.glb"), folder.at("out.glb"));
    ok(&["sample", "biped", "-n", "2000", "-o", &body, "--json"]);
    let report = ok(&["refit", &clip, "--skeleton", &body, "--ground", "slope:10", "-o", &out, "--json"]);
    assert!(number(&report, "slide_cm_s") < 1.0 && number(&report, "penetration_cm") < 0.5, "{report}");
    super::judges::judge_clip(&folder, &out, &[0.0, 0.5, 1.25]);
}
