//! Taking a fitted skin as the character. What is needed of it is kept as a GLB file in the command itself, so that a
//! journal can be replayed without fitting again, and gives the same even if the user stopped the fit.

use crate::{Document, Fitted, SessionError};
use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sinew_formats::{
    gltf::{GlbOptions, read_gltf, write_glb},
    no_side_files,
};
use sinew_geom::{Character, Surface, Warnings};
use std::sync::Arc;

/// Bones, weights, rest pose and clips.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SkinData {
    /// How many bones were fitted, for the history.
    pub bones: usize,
    /// A GLB file of the character, without its look.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub file: Arc<Vec<u8>>,
}

impl SkinData {
    /// Of a fit.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(fitted: &Fitted) -> Result<Self, SessionError> {
        let bare = Character { surface: Surface::default(), ..fitted.character.clone() };
        let options = GlbOptions { max_influences: fitted.skin.influences, ..GlbOptions::default() };
        let file = Arc::new(write_glb(&bare, &options, &mut Warnings::default())?);
        Ok(Self { bones: fitted.skin.n_bones, file })
    }
}

fn to_text<S: Serializer>(file: &Arc<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(&**file))
}

fn from_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Vec<u8>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64_STANDARD.decode(text).map(Arc::new).map_err(D::Error::custom)
}

/// Exchange bones, weights, rest pose and clips. Handles, poses and the look stay: the mesh has the same vertices.
pub(super) fn take(document: &mut Document, skin: &SkinData) -> Result<(), SessionError> {
    let read = read_gltf(&skin.file, &no_side_files, "skin", &mut Warnings::default())?.character;
    let (own, given) = (document.mesh().n_vertices(), read.mesh.n_vertices());
    if own != given || document.mesh().faces() != read.mesh.faces() {
        let cause = format!("it is of another mesh, with {given} vertices instead of {own}; fit again");
        return Err(SessionError::Value { what: "skin", cause });
    }
    document.body = Arc::new(Character {
        mesh: document.mesh().with_positions(read.mesh.positions().to_vec())?,
        surface: Surface { normals: None, ..document.body.surface.clone() },
        rig: read.rig,
        skin: read.skin,
        ..Character::default()
    });
    document.clips = read.clips.into_iter().map(Arc::new).collect();
    Ok(())
}
