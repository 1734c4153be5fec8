//! A body at rest in one pose, on which templates are placed and fitted while the user drags the surface.
//!
//! # Source
//! The methods are those of `sinew_flesh::muscle_fit` (Capell (2004), §6.4 and §6.5); this file defines their inputs and what
//! is stored.
//! # Cost
//! new: flesh comes to rest, one sparse Cholesky factorisation. place and fit: back-substitutions, and a search over a
//! few parameters.

use super::muscles::pose_in;
use crate::{Display, Document, FleshSettings, MuscleData, SessionError};
use glam::DVec3;
use sinew_flesh::{
    FleshError, StaticSolver,
    muscle::{Control, Guide, Muscle, MuscleError, MuscleSet, MuscleShape, Template},
    muscle_fit::{PosedBody, TemplateFitParams, TemplateFitter},
};
use sinew_geom::{Character, Pose, Warnings};
use std::sync::Arc;

/// Radius of a new template, in diagonals of the body.
const RADIUS: f64 = 0.08;
/// How far a new template moves the skin, in diagonals of the body.
const OUT: f64 = 0.02;

/// A body on which muscles are made.
#[derive(Debug)]
pub struct MuscleBench {
    body: Arc<Character>,
    settings: FleshSettings,
    paint: Option<Arc<Vec<f32>>>,
    pose: Option<Pose>,
    posed: PosedBody,
    statics: StaticSolver,
}

/// Where a template is put: the vertex under the pointer, and the ray through it.
#[derive(Debug, Clone, PartialEq)]
pub struct MusclePlace {
    /// `bump`, `bulge`, `radial` or `torus`.
    pub template: String,
    /// `skin`, `bone` or `free`.
    pub guide: String,
    /// Vertex nearest to the pointer.
    pub vertex: usize,
    /// Origin and direction of the ray, at rest.
    pub ray: [DVec3; 2],
}

impl MuscleBench {
    /// Fill a document with flesh and let it come to rest in the pose it shows.
    ///
    /// # Errors
    /// If it has no skeleton or inside, or a setting is invalid.
    pub fn new(document: &Document, display: &Display) -> Result<Self, SessionError> {
        let params = document.flesh.params(document)?;
        let mut posed = PosedBody::new(&document.body, &params.simulation, &mut Warnings::default())?;
        let pose = pose_in(document, display);
        if let Some(pose) = &pose {
            posed.set_pose(pose)?;
        }
        let statics = posed.statics()?;
        let (body, settings) = (document.body.clone(), document.flesh.settings.clone());
        Ok(Self { body, settings, paint: document.flesh.paint.clone(), pose, posed, statics })
    }

    /// Whether it is of a document as it is now, in the pose it shows.
    pub fn serves(&self, document: &Document, display: &Display) -> bool {
        let (own, other) = (&self.body, &document.body);
        let is_same_body = Arc::ptr_eq(own, other)
            || (own.mesh == other.mesh && own.rig == other.rig && own.skin == other.skin);
        is_same_body
            && self.settings == document.flesh.settings
            && self.paint == document.flesh.paint
            && self.pose == pose_in(document, display)
    }

    /// A new muscle with a control parameter of its own, as strong as moves the skin by a little.
    ///
    /// # Errors
    /// If there is no such template or guide, or it does not reach the body.
    pub fn place(&self, name: &str, place: &MusclePlace) -> Result<MuscleSet, SessionError> {
        let names = Template::ALL.map(Template::name).into_iter();
        let template = Template::from_name(&place.template)
            .ok_or_else(|| SessionError::absent("template", &place.template, names))?;
        let mesh = &self.body.mesh;
        let radius = RADIUS * mesh.diagonal();
        let skin = Guide::at_vertex(mesh, place.vertex);
        let fail = |cause: &str| SessionError::Value { what: "muscle", cause: cause.into() };
        let Some(Guide::Skin { point, normal }) = skin.clone() else {
            return Err(fail("that place of the surface has no normal; choose another"));
        };
        let (guide, rest) = match place.guide.as_str() {
            "skin" => (Guide::Skin { point, normal }, vec![-0.5 * radius, 0.0]),
            "bone" => {
                let near = Guide::near_ray(&self.posed.bones(), place.ray[0], place.ray[1]);
                let (guide, slide) = near.ok_or_else(|| fail("no bone lies there"))?;
                (guide, vec![slide.clamp(0.0, 1.0), 0.0, 0.0])
            }
            "free" => {
                let p = point - normal * (0.5 * radius);
                (Guide::Free, vec![p.x, p.y, p.z, 0.0, 0.0, 0.0])
            }
            other => return Err(SessionError::absent("guide", other, ["skin", "bone", "free"].into_iter())),
        };
        let mut eta = vec![1.0, radius];
        if template == Template::Torus {
            eta.push(radius);
        }
        eta.extend(rest);
        // Only the amplitude is sought.
        let keep = (0..eta.len()).map(|i| if i == 0 { 0.0 } else { f64::INFINITY }).collect();
        let params = TemplateFitParams { keep: Some(keep), ..TemplateFitParams::default() };
        let mesh_point = self.posed.point(place.vertex)?;
        let base = self.posed.place(&mesh_point);
        let lattice = &self.posed.body().lattice;
        let turns = self.posed.rotations();
        let fitter = TemplateFitter::new(&self.statics, lattice, (template, &guide), &[mesh_point], turns)?;
        let target = base + normal * (OUT * mesh.diagonal());
        let eta = fitter.fit(&eta, &[base], &[target], &params)?.eta;
        let muscle = Muscle::template(name, name, template, guide.clone(), eta);
        Ok(MuscleSet { controls: vec![Control::free(name)], muscles: vec![muscle] })
    }

    /// Parameters of a muscle that bring a vertex to a place, with all other muscles unchanged; `values`: what every control
    /// parameter is.
    ///
    /// # Errors
    /// If there is no such template muscle, or it does not reach the body.
    pub fn fit(
        &self,
        data: &MuscleData,
        muscle: &str,
        values: &dyn Fn(&str) -> f64,
        (vertex, to): (usize, DVec3),
    ) -> Result<Vec<f64>, SessionError> {
        let at = data.set.muscle(muscle).map_err(FleshError::from)?;
        let own = &data.set.muscles[at];
        let point = self.posed.point(vertex)?;
        let lattice = &self.posed.body().lattice;
        let fitter = |muscle: &Muscle| -> Result<Option<(Vec<f64>, DVec3)>, SessionError> {
            let MuscleShape::Template { template, guide, samples } = &muscle.shape else { return Ok(None) };
            let turns = self.posed.rotations();
            let made = TemplateFitter::new(&self.statics, lattice, (*template, guide), &[point], turns)?;
            let eta = samples.at(values(&muscle.control));
            let moved = made.moved(&eta).first().copied().unwrap_or_default();
            Ok(Some((eta, moved)))
        };
        let mut base = self.posed.place(&point);
        for other in data.set.muscles.iter().filter(|other| other.name != own.name) {
            if let Some((_, moved)) = fitter(other)? {
                base += moved;
            }
        }
        let MuscleShape::Template { template, guide, samples } = &own.shape else {
            let (muscle, what) = (own.name.clone(), "the shape".to_owned());
            let expected = "a muscle made from a surface has no template to fit";
            return Err(
                FleshError::from(MuscleError::Parameter { muscle, what, value: 0.0, expected }).into()
            );
        };
        let made = TemplateFitter::new(
            &self.statics,
            lattice,
            (*template, guide),
            &[point],
            self.posed.rotations(),
        )?;
        let eta = samples.at(values(&own.control));
        Ok(made.fit(&eta, &[base], &[to], &TemplateFitParams::default())?.eta)
    }
}
