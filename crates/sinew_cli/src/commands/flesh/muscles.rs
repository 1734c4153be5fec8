//! Muscles that act on flesh: their file, and what drives them.

use super::FleshArgs;
use anyhow::{Context, ensure};
use sinew::{
    flesh::{
        Baker,
        muscle::{Belt, Control, ControlSource, Curve, MuscleDrive, MuscleSet},
    },
    geom::Character,
    session,
};
use std::path::Path;

/// Read a muscle file.
pub fn read_muscles(path: &Path) -> anyhow::Result<MuscleSet> {
    let shown = path.display();
    let bytes = std::fs::read(path).with_context(|| shown.to_string())?;
    Ok(session::read_muscles(&bytes, &shown.to_string())?)
}

/// Radians of what was typed, where a control follows a joint.
pub fn typed(control: &Control, value: f64) -> f64 {
    if control.source == ControlSource::Free { value } else { value.to_radians() }
}

/// Muscles, values, curves and belts of a command.
pub fn muscle_drive(
    args: &FleshArgs,
    set: MuscleSet,
    baker: &Baker,
    character: &Character,
) -> anyhow::Result<MuscleDrive> {
    let mut curves: Vec<(String, Curve)> = Vec::new();
    let control = |name: &str| -> anyhow::Result<&Control> { Ok(&set.controls[set.control(name)?]) };
    for text in &args.set {
        let parts =
            text.split_once('=').and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
        let (name, value): (&str, f64) = parts.with_context(|| {
            format!("--set {text:?}: give a control parameter and a value, such as smile=1")
        })?;
        curves.push((name.to_owned(), Curve::new(vec![(0.0, typed(control(name)?, value))])?));
    }
    for text in &args.curves {
        let wrong = || format!("--curve {text:?}: give seconds and values, such as smile=0:0,1:1,2:0");
        let (name, keys) = text.split_once('=').with_context(wrong)?;
        let of = control(name.trim())?;
        let key = |key: &str| -> Option<(f64, f64)> {
            let (time, value) = key.split_once(':')?;
            Some((time.trim().parse().ok()?, typed(of, value.trim().parse().ok()?)))
        };
        let keys: Option<Vec<(f64, f64)>> = keys.split(',').map(key).collect();
        curves.push((name.trim().to_owned(), Curve::new(keys.with_context(wrong)?)?));
    }
    for (at, (name, _)) in curves.iter().enumerate() {
        ensure!(
            !curves[..at].iter().any(|(other, _)| other == name),
            "the control parameter {name:?} is set twice"
        );
    }
    let belts = args.belts.iter().map(|text| belt(text, baker, character)).collect::<anyhow::Result<_>>()?;
    Ok(MuscleDrive::new(&set, &baker.body().lattice, curves, belts)?)
}

/// `spine:0.5:0.9`; names may hold colons.
fn belt(text: &str, baker: &Baker, character: &Character) -> anyhow::Result<Belt> {
    let mut parts: Vec<&str> = text.rsplitn(3, ':').collect();
    parts.reverse();
    let is_joint = |name: &str| character.rig.as_ref().is_some_and(|rig| rig.find(name).is_some());
    let (joint, numbers) = if is_joint(text) { (text, &[][..]) } else { (parts[0], &parts[1..]) };
    let number = |at: usize, usual: f64| -> anyhow::Result<f64> {
        let Some(text) = numbers.get(at) else { return Ok(usual) };
        text.trim().parse().with_context(|| format!("--belt {text:?}: give a number, such as spine:0.5:0.9"))
    };
    let (place, factor) = (number(0, 0.5)?, number(1, 1.0)?);
    let made = Belt::around(baker.simulation(), &character.mesh, (joint, place), factor);
    made.with_context(|| format!("--belt {text}"))
}
