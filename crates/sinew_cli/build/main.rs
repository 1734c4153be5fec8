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
