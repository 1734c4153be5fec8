//! What a user should know about a fit: where it will be seen that it is one, and whether it is worth it.

use sinew_skin::{SkinErrors, SkinFitter};

/// What shading shows: degrees that one facet of a hundred exceeds, and percent that are flipped.
const MOST_NORMALS: f64 = 15.0;
const MOST_FLIPPED: f64 = 0.01;
/// Factor by which an edge of the bind pose may differ.
const MOST_STRETCH: f64 = 4.0;
/// Factor by which an error that was asked for may be missed.
const MISSED: f64 = 1.02;

/// A fit as it is judged.
#[derive(Debug, Clone, Copy)]
pub struct FitOutcome<'a> {
    /// How far what is played is from the frames.
    pub errors: &'a SkinErrors,
    /// Number of bones.
    pub bones: usize,
    /// Largest factor by which an edge of the bind pose differs.
    pub bind_max: f64,
    /// Bytes of the positions of all frames, and of the file.
    pub bytes: [usize; 2],
    /// The error that was asked for, in percent of the diagonal.
    pub target: Option<f64>,
}

impl FitOutcome<'_> {
    /// What is wrong with it, in words; nothing if it is good.
    pub fn warnings(&self) -> Vec<String> {
        [self.missed(), self.shading(), self.torn(), self.large()].into_iter().flatten().collect()
    }

    fn missed(&self) -> Option<String> {
        let (n, reached) = (self.bones, self.errors.e_rms_diag1);
        let target = self.target.filter(|target| reached > MISSED * target)?;
        Some(format!("{n} bones reach {reached:.4} %, not the {target} % asked for"))
    }

    fn shading(&self) -> Option<String> {
        let normals = &self.errors.normals;
        (normals.p99 > MOST_NORMALS || normals.flipped > MOST_FLIPPED).then(|| {
            format!(
                "facet normals are off by {:.1}° on average, 1 % of them by more than {:.1}°, and {:.3} % of the facets are \
                 flipped; shading will show it where it is worst; more bones help",
                normals.mean, normals.p99, normals.flipped
            )
        })
    }

    fn torn(&self) -> Option<String> {
        (self.bind_max > MOST_STRETCH).then(|| {
            format!(
                "the bind pose is torn: an edge differs by × {:.1}; keeping the rest pose prevents it",
                self.bind_max
            )
        })
    }

    fn large(&self) -> Option<String> {
        let [from, to] = self.bytes;
        (to > from).then(|| {
            format!(
                "the file has {to} bytes, more than the {from} of the frames: a sequence this short is not worth a skin"
            )
        })
    }
}

/// What is wrong with frames of which bones are to be made.
pub fn warn_of_frames(fitter: &SkinFitter) -> Option<&'static str> {
    match fitter.n_frames() {
        1 => Some("there is only one frame, so nothing moves"),
        _ => fitter.is_still().then_some("all frames are identical, so nothing moves"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_seen_is_said() {
        let errors = SkinErrors {
            de: 1.0,
            e_rms: 0.1,
            e_rms_diag1: 0.2,
            d_avg: 0.0,
            max: 0.1,
            normals: Default::default(),
            per_frame: Vec::new(),
            per_vertex: Vec::new(),
        };
        let good =
            FitOutcome { errors: &errors, bones: 9, bind_max: 1.1, bytes: [2_000, 1_000], target: Some(0.2) };
        assert!(good.warnings().is_empty(), "{:?}", good.warnings());
        let mut errors = errors.clone();
        errors.normals.p99 = 20.0;
        let bad = FitOutcome { errors: &errors, bind_max: 9.0, bytes: [1, 2], target: Some(0.1), ..good };
        let said = bad.warnings().join("\n");
        for word in ["not the 0.1 % asked for", "shading will show it", "torn", "not worth a skin"] {
            assert!(said.contains(word), "{word}: {said}");
        }
    }
}
