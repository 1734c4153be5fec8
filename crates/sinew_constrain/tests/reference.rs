//! The reference page of the language is made of the table the parser uses.

#![allow(clippy::unwrap_used)] // A test may fail anywhere.

use sinew_constrain::language::reference;

#[test]
fn the_reference_page_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/rules.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, reference()).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        written == reference(),
        "docs/rules.md is old; run UPDATE_GOLDEN=1 cargo test -p sinew_constrain --test reference"
    );
}
