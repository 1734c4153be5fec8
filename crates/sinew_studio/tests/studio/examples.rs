//! Reaching, sculpting, paths and baking, as a page asks for them.

use super::*;

fn reach(goal: Value) -> Value {
    json!({ "reach": goal })
}

fn command(command: Value) -> Value {
    json!({ "type": "do", "command": command })
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
}

#[test]
fn targets_are_reached_for_and_taken_or_dropped_without_a_trace() {
    let server = Server::sample("reach");
    let (mut page, mut other) = (server.page(), server.page());
    assert_eq!(page.state["reach"], Value::Null);
    page.drag(1, reach(json!({ "targets": [{ "handle": "hand.L" }] })), true);
    page.until(|page| !page.state["reach"].is_null());
    let start = numbers(&page.state["reach"]["targets"][0]["position"]);
    let before = page.state["reach"]["weights"].clone();
    for k in 1..=8 {
        let place = [start[0] - 0.01 * f64::from(k), start[1] + 0.05 * f64::from(k), start[2]];
        let goal = json!({ "targets": [{ "handle": "hand.L", "position": place }] });
        page.drag(2, reach(goal), k == 8);
    }
    page.until(|page| page.state["reach"]["weights"] != before);
    // Every page sees it; nothing has been done.
    other.until(|page| page.state["reach"]["weights"] != before && !page.state["reach"].is_null());
    assert_eq!(page.state["history"]["steps"], json!(["Opened"]));
    // A slider edited by hand: the others stay, and the pose is the blend.
    page.drag(3, reach(json!({ "targets": [], "weights": [["wave", 0.25]] })), true);
    page.until(|page| page.state["reach"]["weights"][0] == 0.25);
    // Dropped: as if nothing had been.
    page.ask(json!({ "type": "reach_end", "accept": false })).unwrap();
    page.until(|page| page.state["reach"].is_null());
    assert_eq!((&page.state["n_moves"], &page.state["history"]["at"]), (&json!(0), &json!(0)));
    assert!(
        page.ask(json!({ "type": "reach_end", "accept": true })).unwrap_err().contains("there is no target")
    );
    // Taken: a step that can be undone.
    page.drag(4, reach(json!({ "targets": [], "weights": [["bow", 1.0]] })), true);
    page.ask(json!({ "type": "reach_end", "accept": true })).unwrap();
    page.until(|page| {
        page.state["reach"].is_null() && page.state["history"]["steps"] == json!(["Opened", "Reach"])
    });
    assert!(page.state["n_moves"].as_u64().unwrap() > 0);
    page.ask(json!({ "type": "undo" })).unwrap();
    page.until(|page| page.state["n_moves"] == 0);
    // Whoever poses otherwise meanwhile ends it.
    page.drag(5, reach(json!({ "targets": [{ "handle": "head" }] })), true);
    page.until(|page| !page.state["reach"].is_null());
    page.ask(command(json!({ "load_example": { "name": "wave" } }))).unwrap();
    page.until(|page| page.state["reach"].is_null());
}

#[test]
fn what_cannot_be_reached_is_reported() {
    let server = Server::sample("unreachable");
    let mut page = server.page();
    let far = json!({ "targets": [{ "handle": "hand.L", "position": [9.0, 9.0, 9.0] }] });
    page.ask(command(json!({ "set_search": { "residual": false } }))).unwrap();
    page.drag(1, reach(far), true);
    page.until(|page| page.state["reach"]["reached"] == false);
    assert!(page.state["reach"]["missed"].as_f64().unwrap() > 1.0);
    let mut wrong = |number: u32, goal: Value, expected: &str| {
        page.notices.clear();
        page.drag(number, reach(goal), true);
        page.until(|page| !page.notices.is_empty());
        let text = page.notices[0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains(expected), "{text}");
    };
    wrong(2, json!({ "targets": [{ "handle": "tail" }] }), "\"tail\"");
    wrong(3, json!({ "targets": [{ "handle": "head", "position": [null, 0, 0] }] }), "null");
    wrong(4, json!({ "weights": [["nobody", 1]] }), "nobody");
    wrong(5, json!({ "target": [] }), "unknown field");
    for name in ["wave", "bow", "step"] {
        page.ask(command(json!({ "remove_example": { "name": name } }))).unwrap();
    }
    page.notices.clear();
    page.drag(6, reach(json!({ "targets": [{ "handle": "head" }] })), true);
    page.until(|page| !page.notices.is_empty());
    assert!(page.notices[0]["text"].as_str().unwrap().contains("no example pose"));
    let error = page.ask(command(json!({ "set_search": { "objective": "dtt+foo" } }))).unwrap_err();
    assert!(error.contains("\"foo\"") && error.contains("omsow"), "{error}");
}

#[test]
fn detail_is_sculpted_on_a_stored_pose() {
    let server = Server::sample("sculpt");
    let mut page = server.page();
    page.ask(command(json!({ "load_example": { "name": "bow" } }))).unwrap();
    page.until(|page| page.state["n_moves"] == 2 && word(page.frames.last().unwrap(), 0) == 2);
    let frames = page.frames.len();
    let sculpt = |op: &str, example: Value, strength: f64| {
        json!({
            "type": "sculpt", "example": example, "op": op, "view": VIEW, "at": [[0.0, 0.1], [0.02, 0.1]],
            "radius": 0.15, "strength": strength, "stroke": 5,
        })
    };
    for _ in 0..3 {
        page.ask(sculpt("pull", json!("bow"), 0.8)).unwrap();
    }
    page.until(|page| page.state["detail"] == true && page.state["examples"][1]["detail"] == true);
    page.until(|page| page.frames.len() > frames);
    // One stroke is one step.
    let steps = page.state["history"]["steps"].as_array().unwrap().clone();
    assert_eq!(steps[1..], [json!("Load pose bow"), json!("Sculpt bow")]);
    page.ask(sculpt("smooth", json!("bow"), 1.0)).unwrap();
    assert!(page.ask(sculpt("pull", json!("wave"), 0.5)).unwrap_err().contains("load it first"));
    assert!(page.ask(sculpt("pull", json!("bow"), 7.0)).unwrap_err().contains("strength"));
    page.ask(json!({ "type": "undo" })).unwrap();
    page.until(|page| page.state["detail"] == false && page.state["examples"][1]["detail"] == false);
    page.ask(json!({ "type": "display", "what": "rest" })).unwrap();
    assert!(page.ask(sculpt("pull", Value::Null, 0.5)).unwrap_err().contains("on the pose"));
}

#[test]
fn a_walk_is_drawn_baked_played_and_exported() {
    let server = Server::sample("walk");
    let mut page = server.page();
    // Straight down on the ground: the view looks along −y, x to the right, z down.
    let above = [0.25, 0.0, 0.0, 0.0, 0.0, 0.0, -0.1, 0.0, 0.0, -0.25, 0.0, 0.0, 0.0, 0.0, 0.5, 1.0];
    let hit = page.ask(json!({ "type": "pick_ground", "view": above, "at": [0.25, -0.5] })).unwrap();
    let place = numbers(&hit["position"]);
    assert!((place[0] - 1.0).abs() < 1e-6 && place[1] == 0.0 && (place[2] - 2.0).abs() < 1e-6, "{place:?}");
    assert_eq!(
        page.ask(json!({ "type": "pick_ground", "view": VIEW, "at": [0.0, 0.0] })).unwrap(),
        Value::Null
    );
    let walk = |line: Value| json!({ "line": line, "feet": ["foot.L", "foot.R"], "stride": 0.6, "seconds": 1.2, "lift": 0.06, "stance": 0.5 });
    let bake = |clip: &str| command(json!({ "bake": { "clip": clip, "fps": 10, "follow": "paths" } }));
    assert!(page.ask(bake("stroll")).unwrap_err().contains("draw a walk"));
    let hills = json!({ "hills": { "height": 0.2, "length": 3 } });
    page.ask(command(
        json!({ "set_paths": { "paths": { "walk": walk(json!([[0, 0]])), "ground": hills } } }),
    ))
    .unwrap();
    assert!(page.ask(bake("stroll")).unwrap_err().contains("two points"));
    let line = json!([[0, 0], [0, 0.9]]);
    page.ask(command(json!({ "set_paths": { "paths": { "walk": walk(line), "ground": hills } } }))).unwrap();
    page.until(|page| page.state["drawn"]["feet"].as_array().is_some_and(|feet| feet.len() == 2));
    assert!(page.state["drawn"]["ground"]["heights"].as_array().unwrap().len() > 10);
    let revision = page.state["revision"].clone();
    let done = page.ask(bake("stroll")).unwrap();
    let n_frames = done["frames"].as_u64().unwrap();
    assert!(n_frames > 10 && done["target_error"][1].as_f64().unwrap() < 0.1, "{done}");
    page.until(|page| page.state["clips"].as_array().unwrap().iter().any(|clip| clip["name"] == "stroll"));
    page.ask(json!({ "type": "display", "what": "clip", "clip": "stroll", "time": 0.5 })).unwrap();
    page.until(|page| page.state["display"]["clip"] == "stroll");
    assert_eq!(page.state["revision"], revision, "the surface is the same");
    let made = page
        .ask(json!({ "type": "export", "format": "glb", "what": "clip", "clip": "stroll", "fps": 10 }))
        .unwrap();
    assert!(made["bytes"].as_u64().unwrap() > 100_000);
    assert!(page.ask(bake("walk")).unwrap_err().contains("taken"));
    let odd = json!({ "paths": { "paths": [{ "handle": "tail", "points": [[0, 0, 0]] }] } });
    assert!(page.ask(command(json!({ "set_paths": odd }))).unwrap_err().contains("tail"));
    page.ask(json!({ "type": "undo" })).unwrap();
    page.until(|page| page.state["clips"].as_array().unwrap().iter().all(|clip| clip["name"] != "stroll"));
}
