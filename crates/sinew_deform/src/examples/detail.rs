//! The detail layer: offsets along the normal that belong to a pose and blend with it.
//!
//! # Source
//! Hansen (2006), §6.4.1 and §7.2.3: one offset per vertex, applied with the weight of its example.
//! # Cost
//! None without a layer; with one, a sum over the vertices for each example in use that has one.

use super::space::{Detail, PoseSpace};
use crate::{DeformError, error::check};
use glam::DVec3;

/// Weighted sum of layers; `None` if no layer has a weight. In double precision, so that the order hardly matters.
pub fn blend_details<'a>(layers: impl IntoIterator<Item = (f64, &'a [f32])>) -> Option<Vec<f32>> {
    let mut sum: Option<Vec<f64>> = None;
    for (weight, layer) in layers.into_iter().filter(|(weight, _)| *weight != 0.0) {
        let sum = sum.get_or_insert_with(|| vec![0.0; layer.len()]);
        sum.iter_mut().zip(layer).for_each(|(total, offset)| *total += weight * f64::from(*offset));
    }
    sum.map(|sum| sum.into_iter().map(|offset| offset as f32).collect())
}

/// Move vertices along their normals.
pub fn add_detail(offsets: &[f32], normals: &[DVec3], positions: &mut [DVec3]) {
    for ((position, normal), offset) in positions.iter_mut().zip(normals).zip(offsets) {
        if *offset != 0.0 {
            *position += *normal * f64::from(*offset);
        }
    }
}

impl PoseSpace {
    /// Set the detail layers of the examples, one each or none.
    ///
    /// # Errors
    /// If there are not as many as examples, one has another length than the mesh, or an offset is not finite.
    pub fn with_details(
        mut self,
        details: Vec<Option<Detail>>,
        n_vertices: usize,
    ) -> Result<Self, DeformError> {
        check("detail layers", self.n_examples(), details.len())?;
        for (detail, example) in details.iter().zip(&self.examples) {
            let named = |cause| DeformError::Example { name: example.name.clone(), cause: Box::new(cause) };
            let Some(detail) = detail else { continue };
            check("detail layer", n_vertices, detail.len()).map_err(named)?;
            if let Some(at) = detail.iter().position(|offset| !offset.is_finite()) {
                return Err(named(DeformError::NonFinite { what: format!("the detail of vertex {at}") }));
            }
        }
        self.details = details;
        Ok(self)
    }

    /// The layer of a blend; `None` if no example in use has one.
    pub fn detail(&self, weights: &[f64]) -> Option<Vec<f32>> {
        let layers = weights.iter().zip(&self.details);
        blend_details(layers.filter_map(|(w, layer)| Some((*w, layer.as_ref()?.as_slice()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        EditParams, HandleSet, SurfaceEditor,
        examples::{Blend, ExamplePose},
    };
    use sinew_geom::{
        Warnings,
        measure::compute_vertex_normals,
        sample::{PoseSet, build_character},
    };
    use std::sync::Arc;

    /// Weight 1 shows exactly what was sculpted, weight 0 nothing, between them it is linear, whatever the method; two
    /// layers add up; without a layer nothing is computed and the surface is the same to the last bit.
    #[test]
    fn a_layer_is_shown_by_the_weight_of_its_example() {
        let character = build_character(PoseSet::First.sample(), 1_500).unwrap();
        let (mesh, mut warnings) = (&character.mesh, Warnings::default());
        let handles = HandleSet::new(mesh, &character.handles, &mut warnings).unwrap();
        let poses = PoseSet::First.poses();
        let examples: Vec<_> = poses.iter().map(|(name, moves)| ExamplePose { name, moves }).collect();
        let n = mesh.n_vertices();
        let layer = |k: usize| (0..n).map(|v| ((v * (k + 3)) % 17) as f32 * 1e-3 - 8e-3).collect::<Vec<_>>();
        let plain = PoseSpace::new(mesh, &handles, &examples).unwrap();
        assert_eq!(plain.detail(&[1.0, 1.0, 1.0]), None);
        let details = vec![Some(Arc::new(layer(0))), None, Some(Arc::new(layer(1)))];
        let space = plain.clone().with_details(details, n).unwrap();
        assert_eq!(space.detail(&[0.0, 1.0, 0.0]), None, "an example without a layer costs nothing");
        assert_eq!(space.detail(&[1.0, 0.7, 0.0]).unwrap(), layer(0));
        let editor = SurfaceEditor::new(mesh, &handles, &EditParams::default(), &mut warnings).unwrap();
        let rest_normals = compute_vertex_normals(mesh.positions(), mesh.faces());
        for weights in [[1.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.25, 0.5, 1.0]] {
            let pose = space.blend(&Blend::Free, &weights);
            let (mut bare, mut normals) = (mesh.positions().to_vec(), rest_normals.clone());
            editor.solve_with_normals(&pose, &rest_normals, &mut bare, &mut normals).unwrap();
            let mut shown = bare.clone();
            let detail = space.detail(&weights);
            editor.solve_with_detail(&pose, &rest_normals, detail.as_deref(), &mut shown).unwrap();
            if weights[0] + weights[2] == 0.0 {
                assert_eq!((detail, &shown), (None, &bare));
            }
            for v in 0..n {
                let expected = weights[0] * f64::from(layer(0)[v]) + weights[2] * f64::from(layer(1)[v]);
                let along = bare[v] + normals[v] * expected;
                assert!(shown[v].distance(along) < 1e-8, "{weights:?} vertex {v}");
            }
        }
    }

    #[test]
    fn layers_that_do_not_fit_are_refused_by_name() {
        let character = build_character(PoseSet::Jump.sample(), 1_000).unwrap();
        let handles = HandleSet::new(&character.mesh, &character.handles, &mut Warnings::default()).unwrap();
        let poses = PoseSet::Jump.poses();
        let examples: Vec<_> = poses.iter().map(|(name, moves)| ExamplePose { name, moves }).collect();
        let space = PoseSpace::new(&character.mesh, &handles, &examples).unwrap();
        let n = character.mesh.n_vertices();
        let refused = |details: Vec<Option<Detail>>| space.clone().with_details(details, n).unwrap_err();
        assert!(refused(vec![None]).to_string().contains("detail layers has 1"));
        let error = refused(vec![None, Some(Arc::new(vec![0.0; n - 1]))]).to_string();
        assert!(error.contains(&poses[1].0) && error.contains("detail layer"), "{error}");
        let error = refused(vec![Some(Arc::new(vec![f32::NAN; n])), None]).to_string();
        assert!(error.contains(&poses[0].0) && error.contains("not finite"), "{error}");
    }
}
