//! Units, up and facing: how coordinates of a file become those of Sinew (metres, +Y up, facing +Z), and what a body says of
//! the ones it came in.

use crate::{SessionError, has_skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3, Quat, Vec3};
use sinew_geom::{
    Character, Clip, GeomError, Handle, Morph, Rig, Skin, Surface,
    body_map::{BodyClass, BodyMap},
    rig::{JointTrack, Keys},
};

/// Sizes in metres between which a body is taken for what it is, however small or large its kind usually is.
const PLAUSIBLE_BODIES: [f64; 2] = [0.05, 20.0];
/// Size in metres of what is not a body, beyond which its unit is doubted.
const LARGEST_THING: f64 = 60.0;
/// Size in metres beyond which a thing is rather in millimetres than in centimetres.
const LARGEST_IN_CENTIMETRES: f64 = 600.0;
/// Confidence of a body map below which it is not quoted.
const LEAST_CONFIDENCE: f64 = 0.5;
/// The same for where it faces, which depends on which of its limbs are left ones.
const LEAST_FACING_CONFIDENCE: f64 = 0.8;

/// A turn about the origin, then a factor of all lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// The turn.
    pub turn: DQuat,
    /// The factor.
    pub scale: f64,
}

impl Placement {
    /// Bring `up` to +Y and `facing` to +Z, then multiply lengths. What is absent follows by the shortest turn.
    ///
    /// # Errors
    /// If up and facing lie on one line, or a number makes no sense.
    pub fn new(up: Option<DVec3>, facing: Option<DVec3>, scale: f64) -> Result<Self, SessionError> {
        crate::command::within("scale", scale, [1e-9, 1e9])?;
        let turn = match (up, facing) {
            (None, None) => DQuat::IDENTITY,
            (Some(up), None) => shortest(up.normalize(), DVec3::Y),
            (up, Some(facing)) => {
                let (up, facing) = (up.unwrap_or(DVec3::Y).normalize(), facing.normalize());
                let side = up.cross(facing);
                if side.length() < 0.1 {
                    let cause =
                        "up and facing lie on one line; they are two axes, such as up z and facing -y";
                    return Err(SessionError::Value { what: "facing", cause: cause.into() });
                }
                let side = side.normalize();
                DQuat::from_mat3(&DMat3::from_cols(side, up, side.cross(up)).transpose())
            }
        };
        Ok(Self { turn: turn.normalize(), scale })
    }

    /// Whether it changes nothing.
    pub fn is_identity(&self) -> bool {
        !self.turns() && self.scale == 1.0
    }

    fn turns(&self) -> bool {
        self.turn.w.abs() < 1.0 - 1e-12
    }

    /// Where a point goes.
    pub fn point(&self, point: DVec3) -> DVec3 {
        self.turn * point * self.scale
    }

    /// Where a character goes, with everything that moves it.
    ///
    /// # Errors
    /// If a length overflows.
    pub fn apply(&self, character: &Character) -> Result<Character, SessionError> {
        let turned = if self.turns() { turned(character, self.turn)? } else { character.clone() };
        Ok(if self.scale == 1.0 { turned } else { turned.scaled(self.scale)? })
    }
}

/// The shortest turn from one direction to another; half a turn is made about +X or +Z, so that what faced sideways stays
/// upright.
fn shortest(from: DVec3, to: DVec3) -> DQuat {
    if from.dot(to) < -0.999_999 {
        return DQuat::from_rotation_z(std::f64::consts::PI);
    }
    DQuat::from_rotation_arc(from, to)
}

fn turned(character: &Character, turn: DQuat) -> Result<Character, GeomError> {
    let single = turn.as_quat();
    let mesh =
        character.mesh.with_positions(character.mesh.positions().iter().map(|p| turn * *p).collect())?;
    let normals = character.surface.normals.as_ref().map(|list| list.iter().map(|n| single * *n).collect());
    let morph = |m: &Morph| Morph { offsets: m.offsets.iter().map(|o| single * *o).collect(), ..m.clone() };
    let handle = |h: &Handle| Handle { center: turn * h.center, ..h.clone() };
    let is_root = |joint: usize| {
        let rig = character.rig.as_ref();
        rig.and_then(|rig| rig.joints().get(joint)).is_some_and(|joint| joint.parent.is_none())
    };
    let clip = |clip: &Clip| turned_clip(clip, single, &is_root);
    Ok(Character {
        mesh,
        surface: Surface { normals, ..character.surface.clone() },
        rig: character.rig.as_ref().map(|rig| turned_rig(rig, turn)).transpose()?,
        skin: character.skin.clone().map(|skin| turned_skin(skin, turn)),
        morphs: character.morphs.iter().map(morph).collect(),
        clips: character.clips.iter().map(clip).collect::<Result<_, _>>()?,
        handles: character.handles.iter().map(handle).collect(),
        ..character.clone()
    })
}

fn turned_rig(rig: &Rig, turn: DQuat) -> Result<Rig, GeomError> {
    let mut joints = rig.joints().to_vec();
    for joint in joints.iter_mut().filter(|joint| joint.parent.is_none()) {
        joint.rest.translation = turn * joint.rest.translation;
        joint.rest.rotation = (turn * joint.rest.rotation).normalize();
    }
    Rig::new(joints)
}

fn turned_skin(mut skin: Skin, turn: DQuat) -> Skin {
    let back = DAffine3::from_quat(turn.inverse());
    skin.slots.iter_mut().for_each(|slot| slot.inverse_bind *= back);
    skin
}

/// Curves of roots are turned; those of other joints are relative to their parents.
fn turned_clip(clip: &Clip, turn: Quat, is_root: &dyn Fn(usize) -> bool) -> Result<Clip, GeomError> {
    let shift = |keys: &Keys<Vec3>| {
        let values = keys.values().iter().map(|v| turn * *v).collect();
        Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1)
    };
    let rotate = |keys: &Keys<Quat>| {
        let values = keys.values().iter().map(|q| turn * *q).collect();
        Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1)
    };
    let track = |track: &JointTrack| {
        if !is_root(track.joint) {
            return Ok(track.clone());
        }
        Ok(JointTrack {
            translation: track.translation.as_ref().map(shift).transpose()?,
            rotation: track.rotation.as_ref().map(rotate).transpose()?,
            ..track.clone()
        })
    };
    Ok(Clip { joints: clip.joints.iter().map(track).collect::<Result<_, GeomError>>()?, ..clip.clone() })
}

/// What makes us doubt that a character is in metres with +Y up.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Doubts {
    /// Its largest extent, as if it were in metres.
    pub size: f64,
    /// Metres that one of its units seems to be.
    pub unit: Option<f64>,
    /// The axis that seems to be up.
    pub up: Option<&'static str>,
    /// The axis along which it seems to face.
    pub facing: Option<&'static str>,
}

impl Doubts {
    /// The doubt about the unit as a question: how large it would be, and in what it seems to be.
    pub fn question(&self) -> Option<String> {
        self.unit
            .map(|unit| format!("The model is {} large. Is it in {}?", metres(self.size), unit_name(unit)))
    }
}

/// A length that people can read, whatever its size.
fn metres(length: f64) -> String {
    let digits = (2.0 - length.max(1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{length:.digits$} m")
}

/// An axis by its name.
///
/// # Errors
/// If it is none.
pub fn parse_axis(text: &str) -> Result<DVec3, SessionError> {
    let (sign, letter) = text.strip_prefix('-').map_or((1.0, text), |letter| (-1.0, letter));
    let letter = letter.trim_start_matches('+').to_ascii_lowercase();
    let at = ["x", "y", "z"].iter().position(|axis| *axis == letter);
    let cause = || SessionError::Value { what: "axis", cause: "give x, y, z, -x, -y or -z".to_owned() };
    at.map(|at| sign * DVec3::AXES[at]).ok_or_else(cause)
}

/// What a character seems to be in if that is not metres with +Y up, in a sentence that says how to change it.
pub fn describe_doubts(character: &Character) -> Option<String> {
    let doubts = find_doubts(character);
    let unit = doubts.unit.map(|unit| doubt(doubts.size, unit));
    let up = doubts
        .up
        .map(|axis| format!("its up axis seems to be {axis}, not +Y: `sinew convert --up {axis}` turns it"));
    let facing = doubts
        .facing
        .map(|axis| format!("it seems to face {axis}, not +Z: `sinew convert --facing {axis}` turns it"));
    let said: Vec<String> = [unit, up, facing].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// Whether a character seems to be in another unit, another axis to be up, or another one ahead. By its skeleton where that says something, else
/// by its size alone.
pub fn find_doubts(character: &Character) -> Doubts {
    if character.mesh.n_faces() == 0 {
        return Doubts::default();
    }
    let [low, high] = character.mesh.bounds();
    let size = (high - low).max_element();
    let read = |rig: &Rig| BodyMap::read(rig, &character.clips);
    let map = character.rig.as_ref().filter(|_| has_skeleton(character)).map(read);
    match map.filter(|map| map.class != BodyClass::Tree && map.confidence >= LEAST_CONFIDENCE) {
        Some(map) => {
            let is_plausible = |size: f64| (PLAUSIBLE_BODIES[0]..=PLAUSIBLE_BODIES[1]).contains(&size);
            let unit = map.metres_per_unit.filter(|unit| !is_plausible(size) && is_plausible(unit * size));
            let up = (map.up.y < 0.7).then(|| axis_name(map.up));
            // What faces is asked of a body that stands: turning it upright changes it.
            let is_asked = up.is_none() && map.confidence >= LEAST_FACING_CONFIDENCE;
            let facing = (is_asked && map.forward.z < 0.7).then(|| axis_name(map.forward));
            Doubts { size, unit, up, facing }
        }
        None => {
            let large = (size > LARGEST_IN_CENTIMETRES).then_some(0.001);
            let unit = large.or((size > LARGEST_THING).then_some(0.01));
            Doubts { size, unit, ..Doubts::default() }
        }
    }
}

fn doubt(size: f64, unit: f64) -> String {
    let (name, metres) = (unit_name(unit), unit * size);
    format!(
        "it is {} large and may be in {name}; `sinew convert --unit {unit}`, or a scale of {unit}, makes it {metres:.2} m",
        self::metres(size)
    )
}

fn unit_name(metres: f64) -> &'static str {
    let known = [(0.001, "millimetres"), (0.01, "centimetres"), (0.0254, "inches"), (0.3048, "feet")];
    let found = known.iter().find(|(unit, _)| (metres / unit - 1.0).abs() < 0.05);
    found.map_or("another unit", |(_, name)| name)
}

fn axis_name(direction: DVec3) -> &'static str {
    let axes = [
        (DVec3::X, "x"),
        (DVec3::NEG_X, "-x"),
        (DVec3::Y, "y"),
        (DVec3::NEG_Y, "-y"),
        (DVec3::Z, "z"),
        (DVec3::NEG_Z, "-z"),
    ];
    let nearest = axes.iter().max_by(|a, b| a.0.dot(direction).total_cmp(&b.0.dot(direction)));
    nearest.map_or("y", |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Command, Document};
    use sinew_geom::sample::{Sample, build_character};

    /// A body that was turned and scaled moves as it did, turned and scaled; and comes back.
    #[test]
    fn a_character_is_placed_with_its_clips() {
        let biped = build_character(Sample::Biped, 1_500).unwrap();
        for (up, facing) in
            [(None, Some(DVec3::NEG_X)), (Some(DVec3::Z), None), (Some(DVec3::X), Some(DVec3::NEG_Z))]
        {
            let placement = Placement::new(up, facing, 0.01).unwrap();
            let there = placement.apply(&biped).unwrap();
            assert!(placement.point(up.unwrap_or(DVec3::Y)).distance(0.01 * DVec3::Y) < 1e-9);
            assert!(facing.is_none_or(|facing| placement.point(facing).distance(0.01 * DVec3::Z) < 1e-9));
            for (clip, placed) in biped.clips.iter().zip(&there.clips) {
                let wanted = biped.positions_at(Some(clip), 0.37).unwrap();
                let found = there.positions_at(Some(placed), 0.37).unwrap();
                let off = wanted
                    .iter()
                    .zip(&found)
                    .map(|(p, q)| placement.point(p.as_dvec3()).distance(q.as_dvec3()));
                assert!(off.fold(0.0, f64::max) < 1e-6, "{}", clip.name);
            }
        }
        assert!(Placement::new(None, None, 1.0).unwrap().is_identity());
        assert!(Placement::new(Some(DVec3::Z), Some(DVec3::NEG_Z), 1.0).is_err());
        assert!(Placement::new(None, None, 0.0).is_err());
        // A body that faces −Y in a world whose up is +Z, as Blender shows it, faces +Z afterwards.
        let blender = Placement::new(Some(DVec3::Z), None, 1.0).unwrap();
        assert!(blender.point(DVec3::NEG_Y).distance(DVec3::Z) < 1e-12);
    }

    #[test]
    fn doubts_about_unit_and_up_are_reported() {
        let biped = build_character(Sample::Biped, 1_500).unwrap();
        assert_eq!(describe_doubts(&biped), None);
        let large = describe_doubts(&biped.scaled(100.0).unwrap()).unwrap();
        assert!(large.contains("centimetres") && large.contains("0.01"), "{large}");
        let lying = Placement::new(Some(DVec3::Z), None, 1.0).unwrap();
        let lying = Placement { turn: lying.turn.inverse(), ..lying }.apply(&biped).unwrap();
        let said = describe_doubts(&lying).unwrap();
        assert!(said.contains("up axis") && said.contains("--up z"), "{said}");
        for (facing, name) in [(DVec3::NEG_Z, "-z"), (DVec3::X, "x")] {
            let turned = Placement::new(None, Some(facing), 1.0).unwrap();
            let turned = Placement { turn: turned.turn.inverse(), ..turned }.apply(&biped).unwrap();
            assert_eq!(find_doubts(&turned).facing, Some(name));
            assert!(describe_doubts(&turned).unwrap().contains(&format!("--facing {name}`")));
        }
        let bare = Character { rig: None, skin: None, clips: Vec::new(), ..biped };
        assert_eq!(describe_doubts(&bare), None);
        assert!(describe_doubts(&bare.scaled(100.0).unwrap()).unwrap().contains("centimetres"));
        assert!(describe_doubts(&bare.scaled(1000.0).unwrap()).unwrap().contains("millimetres"));
        // Small things and large animals are what they are.
        assert_eq!(describe_doubts(&bare.scaled(0.001).unwrap()), None);
        assert_eq!(
            describe_doubts(&build_character(Sample::Biped, 1_500).unwrap().scaled(3.0).unwrap()),
            None
        );
    }

    #[test]
    fn a_document_is_turned_before_work_begins() {
        let biped = build_character(Sample::Biped, 1_500).unwrap();
        let lying = Placement::new(Some(DVec3::Z), None, 1.0).unwrap();
        let lying = Placement { turn: lying.turn.inverse(), ..lying }.apply(&biped).unwrap();
        let document = Document::new(lying);
        let found = find_doubts(&document.character());
        assert_eq!((found.up, found.unit), (Some("z"), None));
        let turn = Command::Turn { up: Some("z".into()), facing: None };
        let upright = turn.apply(&document).unwrap();
        assert_eq!(find_doubts(&upright.character()).up, None);
        let far = upright.mesh().positions().iter().zip(biped.mesh.positions()).map(|(p, q)| p.distance(*q));
        assert!(far.fold(0.0, f64::max) < 1e-9);
        assert!(Command::Turn { up: Some("w".into()), facing: None }.apply(&document).is_err());
        // What the user made would stay as it was.
        let mut posed = document;
        posed.examples = crate::sample_poses(sinew_geom::sample::PoseSet::First).unwrap();
        let said = turn.apply(&posed).unwrap_err().to_string();
        assert!(said.contains("example poses would not turn"), "{said}");
    }

    #[test]
    fn the_question_about_the_unit_is_short() {
        let doubts = Doubts { size: 252.4, unit: Some(0.01), ..Doubts::default() };
        assert_eq!(doubts.question().unwrap(), "The model is 252 m large. Is it in centimetres?");
        assert_eq!(metres(0.0123), "0.0123 m");
    }
}
