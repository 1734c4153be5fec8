//! The studio as a page sees it, over real sockets.

#![allow(clippy::unwrap_used)]

#[path = "studio/assets.rs"]
mod assets;
#[path = "studio/examples.rs"]
mod examples;
#[path = "studio/guard.rs"]
mod guard;
#[path = "studio/hostile.rs"]
mod hostile;
#[path = "studio/server.rs"]
mod server;
#[path = "studio/wire.rs"]
mod wire;

use serde_json::{Value, json};
use server::{Page, Server, sections, word};
use sinew_studio::StudioOptions;
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};
use tungstenite::Message;

fn raise(degrees: f64) -> Value {
    json!({ "rotate": { "main": "elbow.L", "handles": [], "axis": [0, 0, 1], "degrees": degrees } })
}

/// Looks at the whole figure from the front, without perspective: x and y halved, depth small.
const VIEW: [f64; 16] = [0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, -0.1, 0.0, 0.0, -0.45, 0.0, 1.0];

#[test]
fn a_drag_moves_the_surface_and_is_one_step() {
    let server = Server::sample("drag");
    let mut page = server.page();
    assert_eq!(page.state["name"], "biped");
    let geometry = page.frames[0].clone();
    assert_eq!(word(&geometry, 0), 1);
    let n = page.state["vertices"].as_u64().unwrap() as u32;
    let tags: Vec<u32> = sections(&geometry).iter().map(|s| s.0).collect();
    assert!([1, 5, 7, 8, 9, 11].iter().all(|tag| tags.contains(tag)), "{tags:?}");
    assert_eq!(word(&geometry, 3), n);
    for degrees in 1..=20 {
        page.drag(7, raise(f64::from(degrees)), degrees == 20);
    }
    let degrees = |page: &Page| page.state["moves"][0]["rotate"]["degrees"].as_f64().unwrap_or(0.0);
    page.until(|page| (degrees(page) - 20.0).abs() < 1e-9);
    assert_eq!(page.state["history"]["steps"], json!(["Opened", "Rotate elbow.L"]));
    // Only what moved is sent: the legs stay where they are.
    let sent: u32 = sections(page.last_frame()).iter().filter(|s| s.0 == 5).map(|s| s.2).sum();
    assert!(sent > 0 && sent < n, "{sent} of {n}");
    // Back, and all is as it was.
    let before = page.frames.len();
    page.ask(json!({ "type": "undo" })).unwrap();
    page.until(|page| page.frames.len() > before && page.state["history"]["at"] == 0);
    assert_eq!(page.state["n_moves"], 0);
    // A drag that is cancelled leaves no trace; an invalid one is reported.
    page.drag(8, raise(90.0), false);
    page.ask(json!({ "type": "cancel_drag", "drag": 8 })).unwrap();
    // What was undone before can be done again.
    page.until(|page| {
        page.state["history"] == json!({ "first": 0, "steps": ["Opened", "Rotate elbow.L"], "at": 0 })
    });
    page.drag(9, json!({ "rotate": { "main": "tail", "axis": [0, 0, 1], "degrees": 1 } }), true);
    page.until(|page| !page.notices.is_empty());
    assert!(page.notices[0]["text"].as_str().unwrap().contains("tail"));
}

#[test]
fn two_pages_stay_in_step() {
    let server = Server::sample("two");
    let (mut one, mut two) = (server.page(), server.page());
    let n_frames = two.frames.len();
    one.drag(1, raise(45.0), true);
    two.until(|page| page.state["n_moves"] == 1 && page.frames.len() > n_frames);
    two.ask(json!({ "type": "undo" })).unwrap();
    one.until(|page| page.state["history"]["at"] == 0);
    assert_eq!(one.state["n_moves"], 0);
    // A page that goes away takes nothing with it, and one that comes sees everything.
    drop(one);
    two.ask(json!({ "type": "redo" })).unwrap();
    let three = server.page();
    assert_eq!(three.state["n_moves"], 1);
}

/// Two tabs drag, each its own handle: neither takes what the other does.
#[test]
fn two_pages_may_drag_at_once() {
    let server = Server::sample("hands");
    let (mut one, mut two) = (server.page(), server.page());
    let nod = |degrees: i32| json!({ "rotate": { "main": "head", "handles": [], "axis": [1, 0, 0], "degrees": degrees } });
    for degrees in 1..=20 {
        let end = degrees == 20;
        one.send(&json!({ "type": "drag", "drag": 11, "move": raise(f64::from(degrees)), "end": end }));
        two.send(&json!({ "type": "drag", "drag": 22, "move": nod(degrees), "end": end }));
        std::thread::sleep(Duration::from_millis(5));
    }
    let turn = |page: &Page, main: &str| {
        let moves = page.state["moves"].as_array().cloned().unwrap_or_default();
        let of = |step: &Value| {
            (step["rotate"]["main"] == main).then(|| step["rotate"]["degrees"].as_f64().unwrap())
        };
        moves.iter().filter_map(of).sum::<f64>().round() as i32
    };
    for page in [&mut one, &mut two] {
        page.until(|page| turn(page, "elbow.L") == 20 && turn(page, "head") == 20);
        assert_eq!(page.state["n_moves"], 2, "{}", page.state["moves"]);
    }
    // A page that goes in the middle of a move has let go: the next move is a step of its own.
    two.drag(33, nod(5), false);
    let steps = |page: &Page| page.state["history"]["steps"].as_array().unwrap().len();
    drop(two);
    one.until(|page| turn(page, "head") == 25);
    let before = steps(&one);
    one.drag(44, raise(3.0), true);
    one.until(|page| steps(page) == before + 1);
}

/// A list that grows with every step must not be sent with every step.
#[test]
fn only_what_changed_of_the_state_is_reported() {
    let server = Server::sample("news");
    let mut page = server.page();
    for k in 0..30 {
        page.ask(json!({ "type": "do", "command": { "rename": { "name": format!("name {k}") } } })).unwrap();
        page.until(|page| page.state["name"] == format!("name {k}"));
    }
    page.until(|page| page.state["history"]["at"] == 30);
    let last = page.heard.last().unwrap();
    assert!(
        last.to_string().len() < 300 && last.get("handles").is_none() && last.get("moves").is_none(),
        "{last}"
    );
    assert_eq!(page.state["history"]["steps"].as_array().unwrap().len(), 31);
    // One more move is one more move on the wire.
    for k in 1..=5 {
        let handle = ["head", "hand.L"][k as usize % 2];
        page.drag(k, json!({ "translate": { "handles": [handle], "vector": [0, 0.01, 0] } }), true);
        page.until(|page| page.state["n_moves"] == k);
    }
    let reported = page.heard.iter().rev().find(|news| news.get("moves").is_some()).unwrap();
    assert_eq!(
        (reported["moves"]["keep"].as_u64(), reported["moves"]["moves"].as_array().unwrap().len()),
        (Some(4), 1)
    );
    assert_eq!(page.state["moves"].as_array().unwrap().len(), 5);
    // Going back takes away and adds nothing; going on from there forgets what was undone.
    page.ask(json!({ "type": "jump", "step": 2 })).unwrap();
    page.until(|page| page.state["history"]["at"] == 2 && page.state["name"] == "name 1");
    assert_eq!(page.state["history"]["steps"].as_array().unwrap().len(), 36);
    page.ask(json!({ "type": "do", "command": { "rename": { "name": "other" } } })).unwrap();
    page.until(|page| page.state["history"]["steps"].as_array().unwrap().len() == 4);
    assert_eq!(page.state["history"]["steps"][3], "Rename to other");
    assert_eq!(page.state["n_moves"], 0);
    // A page that comes later hears everything, and the same.
    let other = server.page();
    for key in [
        "history",
        "moves",
        "handles",
        "name",
        "examples",
        "clips",
        "edit",
        "materials",
        "display",
        "document",
    ] {
        assert_eq!(other.state[key], page.state[key], "{key}");
    }
}

#[test]
fn handles_that_grow_and_shrink_keep_their_weights() {
    let server = Server::sample("weights");
    let mut page = server.page();
    let mut paint = |region: Value, op: &str, weight: f64| {
        let before = page.frames.len();
        page.ask(json!({ "type": "paint", "handle": "new", "op": op, "region": region, "weight": weight }))
            .unwrap();
        page.until(|page| page.frames[before..].iter().any(|frame| word(frame, 0) == 3));
        let frame = page.frames.iter().rev().find(|frame| word(frame, 0) == 3).unwrap().clone();
        page.until(|page| !page.handle("new").is_null());
        let index =
            page.state["handles"].as_array().unwrap().iter().position(|h| h["name"] == "new").unwrap();
        let of = |tag: u32| sections(&frame).into_iter().find(|s| s.0 == tag).unwrap().3.to_vec();
        let (owners, weights) = (of(8), of(9));
        let is_own = |v: &usize| u16::from_le_bytes([owners[2 * v], owners[2 * v + 1]]) as usize == index;
        let mut found: Vec<u8> = (0..weights.len()).filter(is_own).map(|v| weights[v]).collect();
        found.sort_unstable();
        found
    };
    let side = json!({ "box": { "view": VIEW, "from": [0.3, -1.0], "to": [1.0, 1.0], "mode": "all" } });
    let soft = paint(side, "add", 0.5);
    assert!(soft.len() > 50 && soft.iter().all(|&w| w == 128), "{soft:?}");
    let grown = paint(json!({ "grow": 1 }), "replace", 1.0);
    // What was there stays soft, the new ring is firm.
    assert_eq!(grown.iter().filter(|&&w| w == 128).count(), soft.len());
    assert!(grown.len() > soft.len() && grown[soft.len()..].iter().all(|&w| w == 255));
    let shrunk = paint(json!({ "shrink": 3 }), "replace", 1.0);
    assert!(
        !shrunk.is_empty() && shrunk.len() < soft.len() && shrunk.iter().all(|&w| w == 128),
        "{shrunk:?}"
    );
}

#[test]
fn an_export_goes_to_the_page_that_asked() {
    let server = Server::sample("whose");
    let (mut one, mut two) = (server.page(), server.page());
    let made = one.ask(json!({ "type": "export", "format": "obj", "what": "posed" })).unwrap();
    assert!(made["url"].as_str().unwrap().starts_with("/download/"));
    // Everything the other one has heard until it is answered itself.
    two.next = 1000;
    two.send(&json!({ "type": "list", "id": 999 }));
    loop {
        let heard = two.hear();
        assert!(!heard.to_string().contains("/download/"), "{heard}");
        if heard["id"] == 999 {
            break;
        }
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_root() {
    let server = Server::sample("links");
    let mut page = server.page();
    let root = server.folder.join("root");
    std::fs::write(server.folder.join("secret.bin"), [0u8; 36]).unwrap();
    let gltf = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0] }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }], "buffers": [{ "uri": "side.bin", "byteLength": 36 }],
    });
    std::fs::write(root.join("a.gltf"), gltf.to_string()).unwrap();
    std::os::unix::fs::symlink("../secret.bin", root.join("side.bin")).unwrap();
    let error = page.ask(json!({ "type": "open", "path": "a.gltf" })).unwrap_err();
    assert!(error.contains("outside"), "{error}");
    // The same with the file itself.
    std::fs::remove_file(root.join("side.bin")).unwrap();
    std::fs::copy(server.folder.join("secret.bin"), root.join("side.bin")).unwrap();
    page.ask(json!({ "type": "open", "path": "a.gltf" })).unwrap();
    // Frames of a sequence may be links, too.
    std::fs::create_dir(root.join("frames")).unwrap();
    let cube = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(root.join("frames/f1.obj"), cube).unwrap();
    std::fs::write(server.folder.join("f2.obj"), cube).unwrap();
    std::os::unix::fs::symlink("../../f2.obj", root.join("frames/f2.obj")).unwrap();
    let listed = page.ask(json!({ "type": "list", "folder": "frames" })).unwrap();
    assert_eq!(listed["frames"], 2);
    let error = page.ask(json!({ "type": "open", "path": "frames" })).unwrap_err();
    assert!(error.contains("outside"), "{error}");
    std::fs::remove_file(root.join("frames/f2.obj")).unwrap();
    std::fs::write(root.join("frames/f2.obj"), b"v 0 0 0\nv 1 0 1\nv 0 1 0\nf 1 2 3\n").unwrap();
    page.ask(json!({ "type": "open", "path": "frames" })).unwrap();
    page.until(|page| page.state["name"] == "frames" && page.state["clips"].as_array().unwrap().len() == 1);
}

#[test]
fn handles_are_painted_mirrored_and_found() {
    let server = Server::sample("paint");
    let mut page = server.page();
    page.ask(json!({ "type": "do", "command": { "clear_handles": {} } })).unwrap();
    page.until(|page| page.state["handles"].as_array().unwrap().is_empty());
    let paint = |region: Value, op: &str, stroke: u32| json!({ "type": "paint", "handle": "arm.L", "op": op, "region": region, "stroke": stroke });
    // Everything right of the middle on the screen is the figure's left: +x.
    let side = json!({ "box": { "view": VIEW, "from": [0.15, -1.0], "to": [1.0, 1.0], "mode": "all" } });
    page.ask(paint(side, "add", 1)).unwrap();
    page.until(|page| page.handle("arm.L")["vertices"].as_u64().unwrap_or(0) > 100);
    let n_arm = page.handle("arm.L")["vertices"].as_u64().unwrap();
    let grown = page.ask(paint(json!({ "grow": 2 }), "replace", 2));
    grown.unwrap();
    page.until(|page| page.handle("arm.L")["vertices"].as_u64().is_some_and(|n| n > n_arm));
    assert!(page.ask(json!({ "type": "auto_handles", "count": u64::MAX, "from_shape": true })).is_ok());
    page.ask(json!({ "type": "undo" })).unwrap();
    let lasso = json!({ "lasso": { "view": VIEW, "points": [[0.3, -1.0], [1.0, -1.0], [1.0, 1.0], [0.3, 1.0]], "mode": "all" } });
    page.ask(paint(lasso, "remove", 3)).unwrap();
    page.until(|page| page.handle("arm.L")["vertices"].as_u64().is_some_and(|n| n < n_arm));
    let brush = json!({ "brush": { "view": VIEW, "at": [[0.0, 0.0], [0.0, 0.05]], "radius": 0.05 } });
    page.ask(json!({ "type": "paint", "handle": "belly", "op": "add", "region": brush, "stroke": 4 }))
        .unwrap();
    page.until(|page| page.handle("belly")["vertices"].as_u64().unwrap_or(0) > 3);
    let twin = page.ask(json!({ "type": "mirror_handle", "handle": "arm.L" })).unwrap();
    assert_eq!(twin["handle"], "arm.R");
    page.until(|page| page.handle("arm.R")["vertices"].as_u64().unwrap_or(0) > 0);
    let [left, right] = ["arm.L", "arm.R"].map(|name| page.handle(name)["center"][0].as_f64().unwrap());
    assert!((left + right).abs() < 0.02 && left > 0.0, "{left} {right}");
    let hit = page.ask(json!({ "type": "pick", "view": VIEW, "at": [0.0, 0.02] })).unwrap();
    assert_eq!(hit["handle"], "belly");
    assert!(page.ask(json!({ "type": "pick", "view": VIEW, "at": [0.99, 0.99] })).unwrap().is_null());
    let found = page.ask(json!({ "type": "auto_handles", "from_shape": true })).unwrap();
    assert!(found["handles"].as_u64().unwrap() >= 5 && page.jobs > 0);
    // One stroke each, and all can be undone.
    page.until(|page| page.state["history"]["steps"].as_array().unwrap().len() == 8);
}

#[test]
fn projects_are_saved_opened_and_exported() {
    let server = Server::sample("files");
    let mut page = server.page();
    page.drag(1, raise(60.0), true);
    page.ask(json!({ "type": "do", "command": { "save_example": { "name": "up" } } })).unwrap();
    let error = page.ask(json!({ "type": "save" })).unwrap_err();
    assert!(error.contains("choose a name"), "{error}");
    assert!(page.ask(json!({ "type": "save", "path": "../outside" })).is_err());
    let saved = page.ask(json!({ "type": "save", "path": "mine" })).unwrap();
    assert!(saved["path"].as_str().unwrap().ends_with("mine.sinew.glb"));
    page.until(|page| page.state["dirty"] == false);
    page.ask(json!({ "type": "save", "path": "mine" })).unwrap();
    page.ask(json!({ "type": "sample", "name": "sack", "vertices": 1000 })).unwrap();
    page.until(|page| page.state["name"] == "sack");
    // The project of another document is not replaced without a word.
    let error = page.ask(json!({ "type": "save", "path": "mine" })).unwrap_err();
    assert!(error.contains("exists already"), "{error}");
    let listed = page.ask(json!({ "type": "list" })).unwrap();
    assert_eq!(listed["entries"][0]["name"], "mine.sinew.glb");
    page.ask(json!({ "type": "open", "path": listed["entries"][0]["path"] })).unwrap();
    page.until(|page| page.state["name"] == "biped");
    assert_eq!(
        (page.state["n_moves"].as_u64(), page.state["examples"][3]["name"].as_str()),
        (Some(1), Some("up"))
    );
    assert!(page.ask(json!({ "type": "open", "path": "/etc/passwd" })).is_err());
    for (format, what) in [
        ("glb", "character"),
        ("glb", "posed"),
        ("glb", "skin"),
        ("glb", "clip"),
        ("obj", "posed"),
        ("ply", "posed"),
        ("bvh", "clip"),
        ("moves", "posed"),
        ("handles", "posed"),
    ] {
        let made = page.ask(json!({ "type": "export", "format": format, "what": what })).unwrap();
        let (status, text) = server.get(made["url"].as_str().unwrap());
        assert!(
            status == 200 && text.contains("attachment; filename=\"biped."),
            "{format} {what}: {text:.200}"
        );
    }
    assert!(page.ask(json!({ "type": "export", "format": "glb", "what": "clip", "clip": "none" })).is_err());
}

#[test]
fn dropped_files_are_opened_or_refused_with_a_reason() {
    let server = Server::sample("drop");
    let mut page = server.page();
    let cube = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
    assert_eq!(server.upload("5", "cube.obj", cube), 200);
    page.ask(json!({ "type": "open_upload", "drop": "5", "name": "cube.obj" })).unwrap();
    page.until(|page| page.state["name"] == "cube");
    assert_eq!((page.state["vertices"].as_u64(), page.state["path"].is_null()), (Some(4), true));
    for (name, content, word) in [
        ("broken.obj", &b"v 0 0 0\nf 1 2 3\n"[..], "vertex 2"),
        ("empty.ply", b"", "empty"),
        ("film.mp4", b"....", "picture or a video"),
        ("walk.bvh", b"HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n", "no surface"),
    ] {
        assert_eq!(server.upload("6", name, content), 200);
        let error = page.ask(json!({ "type": "open_upload", "drop": "6", "name": name })).unwrap_err();
        assert!(error.contains(word) && error.contains(name), "{error}");
    }
    // What was there is still there.
    assert_eq!(page.state["name"], "cube");
    // Words that are none.
    assert!(page.ask(json!({ "type": "dance" })).is_err());
    page.socket.send(Message::text("{")).unwrap();
    page.until(|page| !page.notices.is_empty());
    // A clip of a folder of frames.
    for frame in 0..3 {
        let text = String::from_utf8_lossy(cube).replace("v 1 0 0", &format!("v 1 0 {frame}"));
        assert_eq!(server.upload("8", &format!("run%2Ff{frame}.obj"), text.as_bytes()), 200);
    }
    page.ask(json!({ "type": "open_upload", "drop": "8", "name": "run" })).unwrap();
    page.until(|page| page.state["name"] == "run");
    let clip = page.state["clips"][0]["name"].clone();
    let before = page.frames.len();
    page.ask(json!({ "type": "display", "what": "clip", "clip": clip, "time": 0.05 })).unwrap();
    page.until(|page| page.frames.len() > before && page.state["display"]["what"] == "clip");
}

#[test]
fn unsaved_work_of_a_server_that_died_is_offered() {
    let server = Server::start("recover", |folder| {
        // What a server leaves behind that was killed: a journal nobody holds.
        let home = folder.join("home/unsaved");
        let mut session = sinew::session::Session::new(
            sinew::session::Document::new(
                sinew::geom::sample::build_character(sinew::geom::sample::Sample::Sack, 1000).unwrap(),
            ),
            None,
            Some(home),
        );
        session.apply(&sinew::session::Command::Rename { name: "lost".into() }, None).unwrap();
        session.flush();
        StudioOptions::default()
    });
    let mut page = server.page();
    assert_eq!(page.state["recoveries"].as_array().unwrap().len(), 1);
    let id = page.state["recoveries"][0]["recovery"].clone();
    let (status, picture) = server.get(&format!("/recovery/{}", id.as_str().unwrap()));
    assert!(status == 200 && picture.contains("content-type: image/png") && picture.contains("PNG"));
    page.ask(json!({ "type": "recover", "recovery": id })).unwrap();
    page.until(|page| page.state["name"] == "lost");
    assert!(page.state["dirty"] == true && page.state["recoveries"].as_array().unwrap().is_empty());
    assert!(page.ask(json!({ "type": "discard", "recovery": "none" })).is_err());
    let _ = std::fs::remove_dir_all(&server.folder);
}

/// Where a folder becomes a file, nothing can be written any more.
#[test]
fn pages_hear_at_once_when_unsaved_work_is_not_safe() {
    let server = Server::sample("unprotected");
    let mut page = server.page();
    assert!(page.state["unprotected"].is_null());
    std::fs::remove_dir_all(server.folder.join("home/unsaved")).unwrap();
    std::fs::write(server.folder.join("home/unsaved"), b"").unwrap();
    page.ask(json!({ "type": "do", "command": { "rename": { "name": "endangered" } } })).unwrap();
    // Nothing else happens: the page does not ask again.
    page.until(|page| page.state["unprotected"].is_string() && !page.notices.is_empty());
    assert!(page.notices[0]["text"].as_str().unwrap().contains("not kept"), "{:?}", page.notices);
    let _ = std::fs::remove_dir_all(&server.folder);
}

#[test]
fn materials_are_fetched_by_their_address() {
    let server = Server::sample("appearance");
    let page = server.page();
    let address = page.state["appearance"].as_str().unwrap().to_owned();
    let (status, text) = server.get(&address);
    assert!(status == 200 && text.contains("\"materials\":[{"), "{text}");
    for wrong in ["/appearance/none".to_owned(), format!("{address}/image/0"), format!("{address}/uv/1")] {
        assert_eq!(server.get(&wrong).0, 404, "{wrong}");
    }
    let _ = std::fs::remove_dir_all(&server.folder);
}

/// Clips of the first character as a skin: reported, drawn beside it, taken, undone, exported.
#[test]
fn clips_are_fitted_and_seen_beside_the_document() {
    let server = Server::sample("fit");
    let mut page = server.page();
    assert!(page.state["fit"].is_null() && page.state["compare"] == false);
    page.ask(json!({ "type": "sample", "name": "flag", "vertices": 1000 })).unwrap();
    page.until(|page| page.state["name"] == "flag");
    let error = page.ask(json!({ "type": "fit", "settings": { "bones": 0 } })).unwrap_err();
    assert!(error.contains("at least 1"), "{error}");
    assert!(page.ask(json!({ "type": "take_fit" })).unwrap_err().contains("fit again"));
    page.ask(json!({ "type": "fit", "settings": { "bones": 6, "rigid": true } })).unwrap();
    page.until(|page| page.state["fit"]["version"] == 1 && page.state["compare"] == true);
    let fit = page.state["fit"].clone();
    assert_eq!((&fit["bones"], &fit["current"], &fit["stopped"]), (&json!(6), &json!(true), &json!(false)));
    assert!(fit["dE"].as_f64().unwrap() > 0.0 && fit["per_frame"].as_array().unwrap().len() > 10, "{fit}");
    // Values of every vertex: 16 bytes, two numbers per vertex, four bones and weights.
    let n = page.state["vertices"].as_u64().unwrap() as usize;
    let mut stream = TcpStream::connect(&server.host).unwrap();
    let head = format!(
        "GET /fit/1 HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nConnection: close\r\n\r\n",
        server.host, server.cookie
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let body = &bytes[bytes.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4..];
    assert_eq!((body.len(), word(body, 0) as usize, word(body, 1)), (16 + 8 * n + 12 * n, n, 6));
    assert_eq!(server.get("/fit/2").0, 404);
    // The clip and the fit beside it, in every frame, near to each other.
    let clip = page.state["clips"][0]["name"].clone();
    let twin = |page: &Page| {
        let sections = sections(page.last_frame());
        let found = sections.iter().find(|(tag, ..)| *tag == 12)?;
        assert_eq!((found.1, found.2 as usize), (0, n));
        Some(found.3.to_vec())
    };
    page.until(|page| twin(page).is_some());
    let at_rest = twin(&page);
    page.ask(json!({ "type": "display", "what": "clip", "clip": clip, "time": 0.5 })).unwrap();
    page.until(|page| twin(page).is_some() && twin(page) != at_rest);
    page.ask(json!({ "type": "compare", "on": false })).unwrap();
    page.until(|page| twin(page).is_none());
    // Taken and undone: the fit is of the document again.
    page.ask(json!({ "type": "take_fit" })).unwrap();
    page.until(|page| page.state["joints"].as_u64() > Some(5) && page.state["fit"]["current"] == false);
    assert_eq!(page.state["history"]["steps"][1], "Use fitted skin (6 bones)");
    page.ask(json!({ "type": "undo" })).unwrap();
    page.until(|page| page.state["joints"] == 0 && page.state["fit"]["current"] == true);
    let made = page.ask(json!({ "type": "export", "format": "glb", "what": "fit" })).unwrap();
    assert_eq!(made["bytes"], fit["bytes_out"]);
    // Another document has nothing of it.
    page.ask(json!({ "type": "sample", "name": "bar", "vertices": 1000 })).unwrap();
    page.until(|page| page.state["name"] == "bar" && page.state["fit"].is_null());
}
