//! Collects the licences of what goes into the binary: every crate that it links or that its macros run, with its texts,
//! as one packed JSON object: `{"texts":[…],"packages":[{kind,name,version,license,source,"texts":[indices]}]}`.

mod collect;
#[path = "../src/standard.rs"]
mod standard;

use flate2::{Compression, write::GzEncoder};
use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

fn main() {
    link_options();
    let manifest = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("licenses.json.gz");
    let done = collect::packages(&manifest).and_then(|list| {
        write(&list.to_string(), &out).map_err(|error| format!("{}: {error}", out.display()))
    });
    if let Err(message) = done {
        // In one line, for which cargo ends the build.
        println!("cargo::error=the licences cannot be collected: {}", message.replace('\n', "; "));
    }
}

fn write(text: &str, path: &Path) -> std::io::Result<()> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes())?;
    fs::write(path, packed.finish()?)
}

/// What makes the binary people download a megabyte smaller. Functions whose code came out the same are kept once: LLD does that, which
/// Rust brings along for this system alone. And the program has a fixed place in memory (its stack, heap and libraries have not), which
/// saves the table of what to adjust elsewhere; packing that table instead would need glibc 2.36.
fn link_options() {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let is_linux = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    if is("PROFILE", "release") && is_linux && is("CARGO_CFG_TARGET_ARCH", "x86_64") {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
