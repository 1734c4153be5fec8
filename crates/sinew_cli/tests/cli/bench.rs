//! `sinew bench` hands over to the program beside it.

use super::{Folder, SINEW};
use serde_json::{Value, json};
use std::process::{Command, Output};

/// A copy of `sinew` in a folder of its own, with a bench that runs `script` beside it. Another process makes them: what this one has open
/// for writing, a process that another test starts at that moment has open too, and a program that is being written cannot be run.
fn bench(folder: &Folder, script: Option<&str>, args: &[&str]) -> Output {
    let program = folder.at("sinew");
    assert!(Command::new("cp").args([SINEW, &program]).status().unwrap().success());
    if let Some(script) = script {
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$2\" && chmod 755 \"$2\"";
        let path = folder.at("sinew_bench");
        assert!(Command::new("sh").args(["-c", write, "sh", script, &path]).status().unwrap().success());
    }
    Command::new(program).arg("bench").args(args).env("PATH", "/usr/bin:/bin").output().unwrap()
}

#[test]
fn areas_and_options_reach_the_bench() {
    let folder = Folder::new("bench");
    let output = bench(&folder, Some("echo \"$@\""), &["fit", "--peers", "--bones", "20,50"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "fit --peers --bones 20,50\n");
}

#[test]
fn scripts_get_one_object() {
    let folder = Folder::new("bench-json");
    let output = bench(&folder, Some("echo one; echo two"), &["fit", "--peers", "--json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value, json!({ "arguments": ["fit", "--peers"], "output": ["one", "two"] }));
}

#[test]
fn a_bench_that_fails_or_is_absent_is_reported() {
    let folder = Folder::new("bench-absent");
    let absent = bench(&folder, None, &[]);
    assert_eq!(absent.status.code(), Some(1));
    let said = String::from_utf8_lossy(&absent.stderr).into_owned();
    assert!(said.contains("cargo build --release -p sinew_bench"), "{said}");
    let failed = bench(&folder, Some("exit 3"), &["fit"]);
    assert_eq!(failed.status.code(), Some(1));
}
