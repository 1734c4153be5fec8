//! `skeleton.json`.

use glam::DVec3;
use sinew_formats::skeleton::read_skeleton;

const LEG: &str = r#"{"unit":"cm","euler":"R = Rz*Ry*Rx","joints":[
 {"name":"Root","offset":[0,95,0],"dofs":["tx","ty"],"limits_deg":[[-1000,1000],[0,200]]},
 {"name":"Knee","parent":"Root","offset":[0,-43,0.5],"dofs":["rx"],"limits_deg":[[0,150]]},
 {"name":"Toe","parent":"Knee","offset":[0,-40,0]}],
 "variant_still":{"Root":{"dofs":[]}},
 "markers":{"Step":[0,8,30]},
 "poses":{"bent":{"Root.ty":80,"Knee.rx":90,"Root.rz":5}}}"#;

#[test]
fn units_ranges_and_poses() {
    let file = read_skeleton(LEG.as_bytes(), None, "leg.json").unwrap();
    assert_eq!(file.variants, ["still"]);
    assert_eq!(file.markers, [("Step".to_owned(), DVec3::new(0.0, 0.08, 0.3))]);
    let root = &file.rig.joints()[0];
    // Limits are coordinates; those of a rig count from rest.
    assert!((root.dofs[1].range[0] + 0.95).abs() < 1e-12 && (root.dofs[1].range[1] - 1.05).abs() < 1e-12);
    let mut world = Vec::new();
    file.rig.forward(&file.poses[0].1, &mut world).unwrap();
    // Bent by a right angle the shin points backwards.
    let toe = world[2].translation;
    assert!((toe - DVec3::new(0.0, 0.8 - 0.43, 0.005 - 0.4)).length() < 1e-12, "{toe}");
    let still = read_skeleton(LEG.as_bytes(), Some("still"), "leg.json").unwrap();
    assert!(still.rig.joints()[0].dofs.is_empty());
}

#[test]
fn faults_name_their_place() {
    let bad = [
        ("{", "expected {\"joints\""),
        (r#"{"joints":[],"mark":{}}"#, "/mark: unknown key"),
        (r#"{"unit":"ell","joints":[]}"#, "/unit: unit \"ell\" is unknown"),
        (r#"{"euler":"xxz","joints":[]}"#, "/euler"),
        (r#"{"joints":[{"name":"a","parent":"b"},{"name":"b"}]}"#, "/joints/0/parent"),
        (r#"{"joints":[{"name":"a"},{"name":"a"}]}"#, "there are two joints named \"a\""),
        (r#"{"joints":[{"name":"a","dofs":["rw"]}]}"#, "/joints/0/dofs/0"),
        (r#"{"joints":[{"name":"a","dofs":["rx","rx"]}]}"#, "is listed twice"),
        (r#"{"joints":[{"name":"a","dofs":["rx"],"limits_deg":[[1,0]]}]}"#, "are empty"),
        (r#"{"joints":[{"name":"a","dofs":["rx"],"limits_deg":[[1,2],[1,2]]}]}"#, "2 limits for 1 dofs"),
        (r#"{"joints":[{"name":"a"}],"markers":{"m":[1,2]}}"#, "/markers/m"),
        (r#"{"joints":[{"name":"a"}],"poses":{"p":{"b.rx":1}}}"#, "/poses/p/b.rx"),
        (r#"{"joints":[{"name":"a"}],"poses":{"p":3}}"#, "/poses/p"),
    ];
    for (text, part) in bad {
        let error = read_skeleton(text.as_bytes(), None, "a.json").unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let error = read_skeleton(LEG.as_bytes(), Some("flying"), "a.json").unwrap_err().to_string();
    assert!(error.contains("there are still"), "{error}");
}
