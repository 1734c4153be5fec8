//! What the program is made of, and under which licences. Collected while it was built.

use crate::standard::standard_texts;
use anyhow::Context;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;

static CRATES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/licenses.json.gz"));
/// Between texts of one package.
const RULE: &str = "\n\n----------------------------------------\n\n";

/// A part of the program.
pub struct Package {
    /// `sinew` for our own, `crate`, `toolchain`, `npm` or `model`.
    pub kind: String,
    pub name: String,
    pub version: String,
    /// As SPDX has it.
    pub license: String,
    /// Where it comes from.
    pub source: Option<String>,
    /// Further statements that its licence requires, such as changes.
    pub note: Option<String>,
    pub texts: Vec<String>,
}

impl Package {
    pub fn text(&self) -> String {
        self.texts.join(RULE)
    }

    pub fn as_json(&self) -> Value {
        json!({
            "kind": self.kind,
            "name": self.name,
            "version": self.version,
            "license": self.license,
            "source": self.source,
            "note": self.note,
            "text": self.text(),
        })
    }
}

/// All of them: our own and other crates, then what the page carries.
///
/// # Errors
/// If the program is damaged.
pub fn packages() -> anyhow::Result<Vec<Package>> {
    let mut bytes = Vec::new();
    GzDecoder::new(CRATES).read_to_end(&mut bytes).context("the list of licences is damaged")?;
    let list: Value = serde_json::from_slice(&bytes)?;
    let texts: Vec<&str> = array(&list["texts"]).filter_map(Value::as_str).collect();
    let text_at = |place: &Value| Some((*texts.get(usize::try_from(place.as_u64()?).ok()?)?).to_owned());
    let crates = array(&list["packages"])
        .map(|entry| package(entry, array(&entry["texts"]).filter_map(text_at).collect()));
    Ok(crates.chain(of_page()?).collect())
}

/// What is in the page of the studio.
#[cfg(feature = "studio")]
fn of_page() -> anyhow::Result<Vec<Package>> {
    let list: Value = serde_json::from_slice(&sinew_studio::page_licenses()?)?;
    let texts =
        |entry: &Value| array(&entry["texts"]).filter_map(|text| text.as_str().map(str::to_owned)).collect();
    Ok(array(&list).map(|entry| package(entry, texts(entry))).collect())
}

#[cfg(not(feature = "studio"))]
fn of_page() -> anyhow::Result<Vec<Package>> {
    Ok(Vec::new())
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn package(entry: &Value, texts: Vec<String>) -> Package {
    let text = |key: &str| entry[key].as_str().map(str::to_owned);
    let [name, license] = ["name", "license"].map(|key| text(key).unwrap_or_default());
    let texts = if texts.is_empty() {
        standard_texts(&license, &format!("the authors of {name}")).unwrap_or_default()
    } else {
        texts
    };
    Package {
        kind: text("kind").unwrap_or_default(),
        version: text("version").unwrap_or_default(),
        source: text("source"),
        note: text("note"),
        name,
        license,
        texts,
    }
}

/// The one object of `sinew licenses --json`, which the studio shows as well.
pub fn as_json(packages: &[Package]) -> Value {
    let list: Vec<Value> = packages.iter().map(Package::as_json).collect();
    json!({
        "name": "sinew",
        "version": env!("CARGO_PKG_VERSION"),
        "license": env!("CARGO_PKG_LICENSE"),
        "packages": list,
    })
}
