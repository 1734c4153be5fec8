//! Samples as things to draw.

use crate::raster::Item;
use glam::{DQuat, DVec3, Vec3};
use sinew::geom::{Character, MeshSequence};

/// Turn about the origin's vertical and move.
pub fn place_item(mut item: Item, degrees: f64, place: DVec3) -> Item {
    let turn = DQuat::from_rotation_y(degrees.to_radians());
    item.positions.iter_mut().for_each(|p| *p = turn * *p + place);
    item
}

/// One frame of a cloth.
pub fn cloth_item(sequence: &MeshSequence, frame: usize, place: impl Fn(DVec3) -> DVec3) -> Item {
    let positions = sequence.frames()[frame].iter().map(|&p| place(p.as_dvec3())).collect();
    let faces = sequence.rest().faces().to_vec();
    Item { colors: vec![[[0.62, 0.16, 0.14]; 3]; faces.len()], faces, positions }
}

/// A character at some positions, in its colours.
pub fn item(character: &Character, positions: &[Vec3]) -> Item {
    let positions = positions.iter().map(|p| p.as_dvec3()).collect();
    let surface = &character.surface;
    let color = |(f, face): (usize, &[u32; 3])| {
        let material = surface.face_materials.get(f).map_or(0, |&m| m as usize);
        let base = surface.materials.get(material).map_or([0.7; 4], |m| m.base_color);
        face.map(|v| {
            let tone = surface.colors.as_ref().map_or([1.0; 4], |colors| colors[v as usize]);
            std::array::from_fn(|k| base[k] * tone[k])
        })
    };
    let faces = character.mesh.faces().to_vec();
    Item { colors: faces.iter().enumerate().map(color).collect(), faces, positions }
}

/// The rest shape, each joint in a colour of its own, mixed by weight.
pub fn weight_item(character: &Character) -> Item {
    let hue = |joint: u16| {
        let h = f32::from(joint) * 0.381_966;
        [0.0, 0.33, 0.66].map(|o| 0.12 + 0.75 * (0.5 + 0.5 * (std::f32::consts::TAU * (h + o)).cos()))
    };
    let color = |v: u32| {
        let Some(skin) = &character.skin else { return [0.5; 3] };
        skin.vertex(v as usize).fold([0.0; 3], |mut sum: [f32; 3], (joint, w)| {
            sum.iter_mut().zip(hue(joint)).for_each(|(s, c)| *s += w * c);
            sum
        })
    };
    let faces = character.mesh.faces().to_vec();
    let colors = faces.iter().map(|face| face.map(color)).collect();
    Item { positions: character.mesh.positions().to_vec(), faces, colors }
}
