//! Which parts of the surface (hair, eyes, clothes) are shown, and which are exported.

use crate::{Document, SessionError};
use sinew_formats::gltf::SurfaceParts;
use sinew_geom::Warnings;
use std::{collections::BTreeSet, sync::Arc};

/// The parts of a document, as it shows them.
pub fn surface_parts(document: &Document) -> SurfaceParts {
    let mut found = SurfaceParts::of(document.host.as_deref(), &document.body);
    for part in &mut found.parts {
        part.is_visible = !document.hidden.contains(&part.name);
    }
    found
}

/// Names of the hidden parts that there still are: a repaired mesh, for one, does not have the parts of its file any more.
pub fn hidden_parts(document: &Document) -> BTreeSet<String> {
    if document.hidden.is_empty() {
        return BTreeSet::new();
    }
    let parts = surface_parts(document).parts;
    parts.into_iter().filter(|part| !part.is_visible).map(|part| part.name).collect()
}

/// Name the parts that were hidden and are no parts any more, so that they are seen.
pub(crate) fn warn_gone(document: &Document, warnings: &mut Warnings) {
    let left = hidden_parts(document);
    let gone: Vec<&str> = document.hidden.difference(&left).map(String::as_str).collect();
    if !gone.is_empty() {
        warnings.push(format!(
            "{} was hidden, but the mesh does not have the parts of its file any more; what it was is shown",
            gone.join(", ")
        ));
    }
}

/// Tells which faces of a document belong to hidden parts.
pub fn is_hidden(document: &Document) -> impl Fn(usize) -> bool + use<> {
    let parts = (!document.hidden.is_empty()).then(|| surface_parts(document));
    move |face| {
        let found = parts.as_ref().and_then(|found| found.parts.get(*found.of_faces.get(face)? as usize));
        found.is_some_and(|part| !part.is_visible)
    }
}

/// The parts that texts name: each text is a name (that of a node means all of its parts), or several with commas between.
///
/// # Errors
/// If there is no such part.
pub fn find_parts(parts: &SurfaceParts, texts: &[String]) -> Result<BTreeSet<String>, SessionError> {
    let mut found = BTreeSet::new();
    for text in texts {
        let whole = parts.find(text);
        let pieces: Vec<&str> =
            if whole.is_empty() { text.split(',').map(str::trim).collect() } else { vec![text] };
        for name in pieces {
            let named = parts.find(name);
            if named.is_empty() {
                let known = parts.parts.iter().map(|part| part.name.as_str());
                return Err(SessionError::absent("part", name, known));
            }
            found.extend(named.into_iter().map(str::to_owned));
        }
    }
    Ok(found)
}

/// Show or hide parts.
pub(crate) fn show_parts(
    document: &mut Document,
    names: &[String],
    visible: bool,
) -> Result<(), SessionError> {
    let found = find_parts(&surface_parts(document), names)?;
    let mut hidden = hidden_parts(document);
    match visible {
        true => hidden.retain(|name| !found.contains(name)),
        false => hidden.extend(found),
    }
    document.hidden = Arc::new(hidden);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, ExportParams, MotionStack, Stage, export, read_project, write_project};
    use serde_json::json;
    use sinew_geom::{
        Character, Material, Surface, Warnings,
        sample::{Sample, build_character},
    };
    use std::{ops::ControlFlow, path::Path};

    /// A body whose faces have two materials in turn.
    fn dressed() -> Document {
        let bar = build_character(Sample::Bar, 1_000).unwrap();
        let material = |name: &str| Material { name: name.into(), ..Material::default() };
        let face_materials = (0..bar.mesh.n_faces()).map(|face| (face % 2) as u16).collect();
        let surface =
            Surface { materials: vec![material("skin"), material("coat")], face_materials, ..bar.surface };
        Document::new(Character { surface, ..bar })
    }

    #[test]
    fn parts_are_hidden_undone_and_kept_in_the_project() {
        let before = dressed();
        let names = |document: &Document| {
            let parts = surface_parts(document).parts;
            parts.into_iter().filter(|part| part.is_visible).map(|part| part.name).collect::<Vec<_>>()
        };
        assert_eq!(names(&before), ["skin", "coat"]);
        let hide = Command::ShowParts { parts: vec!["Coat".into()], visible: false };
        let after = hide.apply(&before).unwrap();
        assert_eq!(names(&after), ["skin"]);
        assert!(after.changes_since(&before).visibility && !after.changes_since(&before).surface);
        let bytes = write_project(&after, &mut Warnings::default()).unwrap();
        let back = read_project(&bytes, Path::new("x"), &mut Warnings::default()).unwrap();
        assert_eq!(names(&back), ["skin"]);
        let show = Command::ShowParts { parts: vec!["coat, skin".into()], visible: true };
        assert_eq!(names(&show.apply(&back).unwrap()), ["skin", "coat"]);
        let absent = Command::ShowParts { parts: vec!["shoes".into()], visible: true };
        assert!(absent.apply(&back).unwrap_err().to_string().contains("skin, coat"));
    }

    #[test]
    fn what_is_shown_against_the_choice_is_named_once() {
        let mut document = dressed();
        document.hidden = Arc::new(["coat", "hat"].map(str::to_owned).into());
        let go_on = |_| ControlFlow::Continue(());
        for format in ["obj", "ply", "glb"] {
            let params: ExportParams = serde_json::from_value(json!({ "format": format })).unwrap();
            let (mut stack, mut stage) = (MotionStack::default(), Stage::default());
            let mut warnings = Warnings::default();
            export(&document, &params, &mut stack, &mut stage, &go_on, &mut warnings).unwrap();
            let said = |text: &str| warnings.messages.iter().filter(|message| message.contains(text)).count();
            // There is no hat.
            assert_eq!((said("visibly"), said("coat"), said("hat was")), (1, 1, 1), "{format}: {warnings:?}");
        }
        let mut warnings = Warnings::default();
        let bytes = write_project(&document, &mut warnings).unwrap();
        assert!(warnings.messages.len() == 1 && warnings.messages[0].contains("hat was"), "{warnings:?}");
        let back = read_project(&bytes, Path::new("x"), &mut Warnings::default()).unwrap();
        assert!(back.hidden.iter().eq(["coat"]), "{:?}", back.hidden);
    }
}
