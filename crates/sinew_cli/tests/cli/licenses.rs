//! What the program says it is made of is what it is made of.

use super::{fails, ok, sinew};
use serde_json::Value;
use std::{collections::BTreeSet, path::Path, process::Command};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn packages() -> Vec<Value> {
    let object = ok(&["licenses", "--json"]);
    assert_eq!(object["license"], "MIT OR Apache-2.0");
    object["packages"].as_array().unwrap().clone()
}

fn text<'a>(package: &'a Value, key: &str) -> &'a str {
    package[key].as_str().unwrap_or_else(|| panic!("{key} of {package}"))
}

/// `name version` of every crate in a build, as cargo lists them now.
fn crates(has_studio: bool) -> BTreeSet<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["tree", "--locked", "--offline", "-p", "sinew_cli", "-e", "normal", "--prefix", "none"]);
    if !has_studio {
        cargo.arg("--no-default-features");
    }
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ").replacen(" v", " ", 1);
    String::from_utf8(output.stdout).unwrap().lines().filter(|line| !line.is_empty()).map(words).collect()
}

#[test]
fn every_crate_is_listed_with_its_text_and_no_other() {
    let listed = packages();
    let is_crate = |package: &&Value| ["crate", "sinew"].contains(&text(package, "kind"));
    let named = |package: &Value| format!("{} {}", text(package, "name"), text(package, "version"));
    let names: BTreeSet<String> = listed.iter().filter(is_crate).map(named).collect();
    let wanted = crates(cfg!(feature = "studio"));
    assert!(wanted.len() > 100, "cargo lists {} crates", wanted.len());
    assert_eq!(names, wanted);
    for package in &listed {
        assert!(text(package, "text").len() > 200 && !text(package, "license").is_empty(), "{package}");
        assert!(!text(package, "text").contains("{holder}"), "{package}");
    }
}

#[test]
fn without_the_studio_there_is_no_server() {
    let is_server = |id: &&String| {
        ["tokio", "mio", "axum", "hyper"].iter().any(|name| id.starts_with(&format!("{name} ")))
    };
    assert_eq!(crates(false).iter().filter(is_server).count(), 0);
    assert_eq!(crates(true).iter().filter(is_server).count(), 4);
}

#[cfg(feature = "studio")]
#[test]
fn the_page_and_the_changed_networks_are_listed() {
    let listed = packages();
    let find = |name: &str| listed.iter().find(|package| package["name"] == name).unwrap();
    assert!(text(find("three"), "text").contains("three.js authors"));
    assert!(text(find("@mediapipe/tasks-vision"), "text").contains("Apache License"));
    let networks = find("@mediapipe/pose");
    assert_eq!((text(networks, "kind"), text(networks, "license")), ("model", "Apache-2.0"));
    assert!(text(networks, "note").contains("Changed by the build of Sinew"));
    assert!(text(networks, "text").contains("Apache License"));
}

#[test]
fn people_get_the_list_and_each_text_once() {
    let output = sinew(&["licenses"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && shown.contains("Sinew") && shown.contains("TERMS AND CONDITIONS"));
    let object = ok(&["licenses", "rayon", "--json"]);
    let only = object["packages"].as_array().unwrap();
    assert!(only.len() == 1 && only[0]["license"] == "MIT OR Apache-2.0", "{only:?}");
    assert!(fails(&["licenses", "nothing-of-ours"], 1).contains("nothing-of-ours"));
}

/// The list in the repository is that of this build. It is kept for one system; others have a few other crates.
#[cfg(all(feature = "studio", target_os = "linux", target_arch = "x86_64"))]
#[test]
fn third_party_md_is_fresh() {
    let is_kept = |package: &&Value| !["sinew", "toolchain"].contains(&text(package, "kind"));
    let row = |package: &Value| {
        let note = package["note"].as_str().unwrap_or_default();
        let [kind, name, version, license] =
            ["kind", "name", "version", "license"].map(|key| text(package, key));
        format!("| {name} | {version} | {kind} | {license} | {note} |\n")
    };
    let rows: String = packages().iter().filter(is_kept).map(row).collect();
    let made = format!(
        "# Third-party software\n\n<!-- Made by `UPDATE_GOLDEN=1 cargo test -p sinew_cli --test cli third_party`; do not edit. -->\n\n\
         What `sinew` for Linux on x86-64 is made of, besides the Rust standard library (MIT OR Apache-2.0) and our own crates. \
         `sinew licenses` prints this for any build, with the text of every licence; the studio shows it under Help, Licences.\n\n\
         | name | version | kind | licence | note |\n|---|---|---|---|---|\n{rows}"
    );
    let path = root().join("THIRD_PARTY.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == made,
        "THIRD_PARTY.md is old; run UPDATE_GOLDEN=1 cargo test -p sinew_cli --test cli third_party"
    );
}
