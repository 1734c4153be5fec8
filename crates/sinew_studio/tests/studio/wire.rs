//! Order, limits and gestures on the wire.

use crate::{
    raise,
    server::{Server, word},
};
use serde_json::json;

/// What a request changed is in the state when its reply comes.
#[test]
fn the_state_comes_before_the_reply() {
    let server = Server::sample("order");
    let mut page = server.page();
    for k in 0..20 {
        let name = format!("handle {k}");
        page.ask(json!({ "type": "do", "command": { "add_handle": { "name": name } } })).unwrap();
        assert!(!page.handle(&name).is_null(), "{name}");
    }
    page.ask(json!({ "type": "sample", "name": "bar", "vertices": 1000 })).unwrap();
    assert_eq!(page.state["name"], "bar");
    page.ask(json!({ "type": "fit", "settings": { "bones": 3 } })).unwrap();
    assert!(page.state["fit"]["version"] == 1 && page.state["compare"] == true);
    page.ask(json!({ "type": "puppet_demo", "name": "bar" })).unwrap();
    assert!(page.state["actor"]["frames"].as_u64().unwrap() > 100);
}

/// What one page drags ends when that page says so, whatever others do.
#[test]
fn pages_do_not_end_each_others_gestures() {
    let server = Server::sample("pages");
    let (mut one, mut two) = (server.page(), server.page());
    // The same number, of two pages.
    one.drag(7, raise(10.0), false);
    let turn = json!({ "rotate": { "main": "elbow.R", "handles": [], "axis": [0, 0, 1], "degrees": 20 } });
    two.drag(7, turn, true);
    one.drag(7, raise(30.0), true);
    let degrees = |name: &str, page: &crate::server::Page| {
        let moves = page.state["moves"].as_array().unwrap();
        let own = moves.iter().find(|step| step["rotate"]["main"] == name);
        own.and_then(|step| step["rotate"]["degrees"].as_f64()).unwrap_or(0.0).round()
    };
    one.until(|page| degrees("elbow.L", page) == 30.0 && degrees("elbow.R", page) == 20.0);
    // A frame says which of the page's own drags it shows.
    let n_frames = two.frames.len();
    one.drag(8, raise(1.0), true);
    two.until(|page| page.frames.len() > n_frames);
    assert_eq!(word(two.last_frame(), 5), 7);
}

/// Much at once is refused in words, and nothing breaks.
#[test]
fn what_is_too_much_is_refused() {
    let server = Server::sample("much");
    let mut page = server.page();
    let long = "x".repeat(1 << 20);
    let refused = page.ask(json!({ "type": "format_rules", "text": long })).unwrap_err();
    assert!(refused.contains("too large"), "{refused}");
    // Commands may be larger.
    let vertices: Vec<u32> = (0..300_000).map(|k| k % 1000).collect();
    let paint = json!({ "paint": { "handle": "big", "op": "add", "vertices": vertices, "weight": 1 } });
    page.ask(json!({ "type": "do", "command": paint })).unwrap();
    let first = 1_000_000;
    for id in first..first + 60 {
        page.send(&json!({ "type": "sample", "name": "quadruped", "vertices": 300_000, "id": id }));
    }
    let (mut n_refused, mut n_done) = (0, 0);
    while n_refused + n_done < 59 {
        let heard = page.hear();
        if heard["type"] == "reply" && heard["id"].as_u64() >= Some(first) {
            let is_refused = heard["error"]
                .as_str()
                .is_some_and(|why| why.contains("too many") || why.contains("already"));
            n_refused += usize::from(is_refused);
            n_done += usize::from(!is_refused);
        }
        if heard["type"] == "job" && heard["done"] == false {
            page.send(&json!({ "type": "cancel", "job": heard["job"] }));
        }
    }
    assert!(n_refused > 30, "{n_refused} of 60 were refused");
}

/// Cancelling and everything else is answered while an optimiser runs: no lock is held over it, which debug builds assert
/// whenever a job reports how far it is.
#[test]
fn requests_are_answered_while_an_optimiser_runs() {
    let server = Server::sample("cancel");
    let mut page = server.page();
    page.ask(json!({ "type": "sample", "name": "octopus", "vertices": 20_000 })).unwrap();
    let fit = json!({ "type": "fit", "id": 900_000, "settings": { "bones": 60 } });
    page.send(&fit);
    let job = loop {
        let heard = page.hear();
        if heard["type"] == "job" && heard["kind"] == "fit" && heard["share"].as_f64() > Some(0.01) {
            break heard["job"].clone();
        }
    };
    // Each needs locks that the fit has needed: the jobs, the session, the looks.
    page.ask(json!({ "type": "cancel", "job": 0 })).unwrap();
    page.ask(json!({ "type": "do", "command": { "add_handle": { "name": "meanwhile" } } })).unwrap();
    page.ask(json!({ "type": "display", "what": "rest" })).unwrap();
    let is_over = |page: &crate::server::Page| page.replies.contains(&json!(900_000));
    assert!(!is_over(&page), "the fit was over before the others were answered");
    page.ask(json!({ "type": "cancel", "job": job })).unwrap();
    page.until(is_over);
}
