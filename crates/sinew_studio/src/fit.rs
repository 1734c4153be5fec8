//! Skins fitted to clips, as pages see them.

use crate::{
    news::Topic,
    studio::{Studio, lock},
};
use serde_json::{Value, json};
use sinew::{
    session::{Command, Document, FitSettings, Fitted, Job, SessionError, SkinData, Stage},
    skin::FitStatus,
};

/// Fit, telling the error as it falls. Stopping keeps the best so far.
///
/// # Errors
/// As the step of the motion stack.
pub fn run(studio: &Studio, job: &Job, settings: &FitSettings) -> Result<Value, SessionError> {
    let document = studio.session().document().clone();
    // A copy, whose steps are shared: opening something else does not wait for this.
    let (opened, mut stack) = (studio.n_opened(), lock(&studio.stack).clone());
    let hear = |status: FitStatus| {
        if status.error.is_finite() {
            job.say(format!("error {:.4} % of the diagonal", status.error));
        }
        job.update(status.share)
    };
    let fitted = stack.fit(&document, settings, &mut Stage::default(), &hear)?;
    if !studio.keep_stack(opened, stack) {
        return Err(SessionError::Cancelled);
    }
    let mut shared = lock(&studio.fit);
    *shared = (shared.0 + 1, Some(fitted.clone()));
    drop(shared);
    studio.change_looks(|looks| looks.compare = true);
    studio.raise(Topic::Fit);
    Ok(json!({ "stopped": fitted.report.cancelled }))
}

/// Take the newest fit as the document's character.
///
/// # Errors
/// If there is none, or the document has changed since.
pub fn take(studio: &Studio) -> Result<Value, SessionError> {
    let before = studio.session().document().clone();
    let fitted = studio.newest_fit().filter(|fitted| fitted.is_of(&before)).ok_or_else(|| {
        let cause = "there is none of the document as it is now; fit again".to_owned();
        SessionError::Value { what: "fit", cause }
    })?;
    let command = Command::TakeSkin { skin: SkinData::new(&fitted)? };
    let after = command.apply(&before)?;
    studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
    Ok(json!({}))
}

/// Which fit is the newest, and whether it is of a document as it is now.
pub fn summary(studio: &Studio, document: &Document) -> Option<(u32, bool)> {
    let (version, fitted) = lock(&studio.fit).clone();
    fitted.map(|fitted| (version, fitted.is_of(document)))
}

/// The newest fit in numbers; null if there is none.
pub fn state(studio: &Studio, document: &Document) -> Value {
    let (version, fitted) = lock(&studio.fit).clone();
    let Some(fitted) = fitted else { return Value::Null };
    let Fitted { errors, report, exported, skin, .. } = &*fitted;
    json!({
        "version": version,
        "current": fitted.is_of(document),
        "settings": fitted.settings(),
        "stopped": report.cancelled,
        "rounds": report.rounds,
        "bones": skin.n_bones,
        "joints": exported.joints,
        "frames": fitted.n_frames,
        "fps": fitted.fps,
        "dE": errors.de,
        "E_RMS": errors.e_rms,
        "E_RMS_diag1": errors.e_rms_diag1,
        "d_avg": errors.d_avg,
        "max": errors.max,
        "per_frame": errors.per_frame,
        "bytes_in": fitted.bytes[0],
        "bytes_out": fitted.bytes[1],
        "keys": exported.keys,
        "full_keys": exported.full_keys,
        "seconds": fitted.seconds,
    })
}

/// Values of every vertex: counts, errors, deformations, bones, weights; see `PROTOCOL.md`.
pub fn maps(studio: &Studio, version: u32) -> Option<Vec<u8>> {
    let (newest, fitted) = lock(&studio.fit).clone();
    let fitted = fitted.filter(|_| newest == version)?;
    let skin = &fitted.skin;
    let counts = [skin.n_vertices() as u32, skin.n_bones as u32, skin.influences as u32, 0];
    let mut bytes: Vec<u8> = counts.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(fitted.errors.per_vertex.iter().flat_map(|&e| (e as f32).to_le_bytes()));
    bytes.extend(fitted.deformation.iter().flat_map(|d| d.to_le_bytes()));
    bytes.extend(skin.indices.iter().flat_map(|bone| bone.to_le_bytes()));
    bytes.extend(skin.weights.iter().map(|w| (w * 255.0).round() as u8));
    Some(bytes)
}
