//! Limits and defaults that every front end shares.

use crate::SessionError;
use sinew_geom::Clip;

/// Frames per second where nothing else determines them.
pub const DEFAULT_FPS: f64 = 30.0;
/// How many cells flesh may have.
pub(crate) const FLESH_CELLS: [f64; 2] = [1.0, 200_000.0];
/// Thickness of bones, as a share of the way to the surface: at 1 there would be no flesh.
pub(crate) const BONE_RADIUS: [f64; 2] = [0.0, 0.95];
/// Longest step of flesh in seconds.
pub(crate) const FLESH_STEP_SECS: [f64; 2] = [1e-4, 1.0];
/// Coulomb's coefficient of everything solid.
pub(crate) const FRICTION: [f64; 2] = [0.0, 100.0];
/// How soft flesh is, relative to what is usual.
pub(crate) const SOFTNESS: [f64; 2] = [1e-3, 100.0];
/// Seconds that are simulated without a clip to say how long.
pub const DEFAULT_FLESH_SECS: f64 = 2.0;
/// Most frames of a sequence; more are taken for a typing error.
pub const MAX_FRAMES: usize = 100_000;
/// Most frames of a recorded body, which are small; more are taken for a mistake.
pub(crate) const MAX_RECORDED_FRAMES: usize = 1_000_000;
/// Bytes of vertices over time that are computed at once. A file of them needs several times as much memory while it is
/// written, and readers of our own files accept as much.
pub const MAX_SEQUENCE_BYTES: usize = 1 << 30;
/// Frames of vertices that a document holds as one clip of morph targets, all of them in memory and in the project file.
pub(crate) const MAX_CLIP_FRAMES: usize = 3_000;
/// Bytes of such a clip.
pub(crate) const MAX_CLIP_BYTES: usize = 1 << 29;
/// Bytes of a vertex in a frame.
pub(crate) const VERTEX_BYTES: usize = 12;

/// Frames from the start of a clip to its end, or one without a clip. Compared before it becomes an integer, which would saturate.
///
/// # Errors
/// A frame rate that is none, or makes too many.
pub fn count_frames(clip: Option<&Clip>, fps: f64) -> Result<usize, SessionError> {
    let n_frames = clip.map_or(1.0, |clip| (f64::from(clip.duration_secs()) * fps).round() + 1.0);
    if fps.is_finite() && fps > 0.0 && n_frames <= MAX_FRAMES as f64 {
        return Ok(n_frames as usize);
    }
    let cause = format!("{fps} fps would make {n_frames} frames; choose one that makes at most {MAX_FRAMES}");
    Err(SessionError::Value { what: "frame rate", cause })
}

/// Check that this many frames of vertices can be computed at once, and return their number. It is compared before it
/// becomes an integer, which would saturate.
///
/// # Errors
/// Too many frames, or too many bytes of them, with the number that would do.
pub fn check_sequence(n_frames: f64, n_vertices: usize) -> Result<usize, SessionError> {
    if !(1.0..=MAX_FRAMES as f64).contains(&n_frames) {
        let cause =
            format!("{n_frames} are not between 1 and {MAX_FRAMES}; choose another frame rate or duration");
        return Err(SessionError::Value { what: "frames", cause });
    }
    let frame_bytes = (n_vertices * VERTEX_BYTES).max(1);
    if n_frames as usize > (MAX_SEQUENCE_BYTES / frame_bytes).max(1) {
        let cause = format!(
            "{n_frames} frames of {n_vertices} vertices are {:.1} GB, more than the {:.1} GB that fit; choose at most {} \
             frames (a lower frame rate or a shorter duration)",
            n_frames * frame_bytes as f64 / 1e9,
            MAX_SEQUENCE_BYTES as f64 / 1e9,
            (MAX_SEQUENCE_BYTES / frame_bytes).max(1)
        );
        return Err(SessionError::Value { what: "frames", cause });
    }
    Ok(n_frames as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_frames_are_refused_with_the_number_that_fits() {
        assert_eq!(check_sequence(31.0, 1000).unwrap(), 31);
        assert!(check_sequence(f64::NAN, 10).is_err() && check_sequence(1e300, 10).is_err());
        let said = check_sequence(2000.0, 1_000_000).unwrap_err().to_string();
        assert!(said.contains("at most 89 frames"), "{said}");
    }
}
