//! Cargo is asked twice: `cargo tree` knows which crates are in this binary with these features on this target,
//! `cargo metadata` where they are. Neither takes the lock of the build that runs this.

use crate::standard::standard_texts;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
    process::Command,
};

/// How names of files with licences begin.
const NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// Name and version.
type Id = (String, String);

/// Texts, each once.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Texts {
    fn place(&mut self, text: &str) -> usize {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let text = lines.join("\n").trim_matches('\n').to_owned();
        *self.places.entry(text).or_insert_with_key(|text| {
            self.list.push(text.clone());
            self.list.len() - 1
        })
    }
}

/// Everything, as one object.
///
/// # Errors
/// If cargo does not answer, or a crate has neither a text nor a licence whose text is known.
pub fn packages(manifest: &Path) -> Result<Value, String> {
    let linked = linked(manifest)?;
    let metadata = metadata(manifest)?;
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    watch(&metadata, root);
    let mut texts = Texts::default();
    let mut found = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let id = (text_of(package, "name"), text_of(package, "version"));
        if linked.contains(&id) {
            let entry = describe(package, &id, root, &mut texts)?;
            found.insert(id, entry);
        }
    }
    if let Some((name, version)) = linked.iter().find(|id| !found.contains_key(*id)) {
        return Err(format!("cargo does not say where {name} {version} is"));
    }
    let mut list: Vec<Value> = found.into_values().collect();
    list.push(library(&mut texts)?);
    Ok(json!({ "texts": texts.list, "packages": list }))
}

/// Which crates are in the binary.
fn linked(manifest: &Path) -> Result<BTreeSet<Id>, String> {
    let target = env::var("TARGET").unwrap_or_default();
    let is_on = |feature: &&str| env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_some();
    let features = ["fbx", "studio"].into_iter().filter(is_on).collect::<Vec<_>>().join(",");
    let args = ["tree", "--package", env!("CARGO_PKG_NAME"), "--edges", "normal", "--prefix", "none"];
    let more = ["--format", "{p}", "--target", &target, "--no-default-features", "--features", &features];
    let tree = cargo(manifest, &[&args[..], &more].concat())?;
    let ids = tree.lines().filter_map(|line| {
        let (name, rest) = line.split_once(" v")?;
        Some((name.to_owned(), rest.split(' ').next()?.to_owned()))
    });
    Ok(ids.collect())
}

fn metadata(manifest: &Path) -> Result<Value, String> {
    let target = env::var("TARGET").unwrap_or_default();
    let text = cargo(manifest, &["metadata", "--format-version", "1", "--filter-platform", &target])?;
    serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))
}

/// Without the network if it can be; crates that only tests need may never have been fetched.
fn cargo(manifest: &Path, args: &[&str]) -> Result<String, String> {
    let program = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut said = String::new();
    for offline in [&["--offline"][..], &[]] {
        let mut command = Command::new(&program);
        command
            .args(args)
            .args(["--locked", "--manifest-path"])
            .arg(manifest.join("Cargo.toml"))
            .args(offline);
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    }
    Err(format!("`cargo {}` failed; with the network, run `cargo fetch --locked` once ({said})", args[0]))
}

/// Collect again when a dependency changes, and not otherwise.
fn watch(metadata: &Value, root: &str) {
    let own =
        metadata["packages"].as_array().into_iter().flatten().filter(|package| package["source"].is_null());
    let manifests = own.map(|package| text_of(package, "manifest_path"));
    let more = ["Cargo.lock", "Cargo.toml"].map(|name| format!("{root}/{name}"));
    for path in manifests.chain(more).chain(["build", "licenses", "src/standard.rs"].map(str::to_owned)) {
        println!("cargo::rerun-if-changed={path}");
    }
}

fn describe(package: &Value, (name, version): &Id, root: &str, texts: &mut Texts) -> Result<Value, String> {
    let is_own = package["source"].is_null();
    let manifest = text_of(package, "manifest_path");
    let folder =
        if is_own { Path::new(root) } else { Path::new(&manifest).parent().unwrap_or(Path::new("")) };
    let license = text_of(package, "license");
    let mut own = files(folder, package["license_file"].as_str())?;
    if own.is_empty() {
        own = standard_texts(&license, &holder(package, name)).ok_or_else(|| {
            format!("{name} {version} ({license}) brings no text; put that of its licence into crates/sinew_cli/licenses")
        })?;
    }
    let places: Vec<usize> = own.iter().map(|text| texts.place(text)).collect();
    let source = ["repository", "homepage"].iter().find_map(|key| package[*key].as_str());
    let kind = if is_own { "sinew" } else { "crate" };
    Ok(
        json!({ "kind": kind, "name": name, "version": version, "license": license, "source": source, "texts": places }),
    )
}

/// Who is named in a text that has a place for it; addresses of authors are left out.
fn holder(package: &Value, name: &str) -> String {
    let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let names: Vec<&str> = authors.map(|author| author.split('<').next().unwrap_or(author).trim()).collect();
    if names.is_empty() { format!("the authors of {name}") } else { names.join(", ") }
}

fn files(folder: &Path, named: Option<&str>) -> Result<Vec<String>, String> {
    let fault = |error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let name = entry.file_name().to_string_lossy().to_ascii_uppercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) && entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.extend(named.map(|name| folder.join(name)));
    // In an order that no file system decides.
    paths.sort();
    paths.dedup();
    let read = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(fault);
    paths.into_iter().map(read).collect()
}

/// What the compiler adds to every program.
fn library(texts: &mut Texts) -> Result<Value, String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().map_err(|error| format!("rustc: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = said.split(' ').nth(1).unwrap_or("unknown").to_owned();
    let license = "MIT OR Apache-2.0";
    let own = standard_texts(license, "The Rust Project Contributors").unwrap_or_default();
    let places: Vec<usize> = own.iter().map(|text| texts.place(text)).collect();
    let source = "https://github.com/rust-lang/rust";
    Ok(
        json!({ "kind": "toolchain", "name": "Rust standard library", "version": version, "license": license, "source": source, "texts": places }),
    )
}

fn text_of(package: &Value, key: &str) -> String {
    package[key].as_str().unwrap_or_default().to_owned()
}
