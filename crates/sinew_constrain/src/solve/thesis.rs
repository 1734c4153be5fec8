//! The 33-joint skeleton of Abdelhay (2008), §3.4, and the test cases of ch. 4: 175 cm tall, with markers and poses, in
//! centimetres and degrees.

use crate::{Skeleton, compile::Scene};
use glam::DVec3;
use sinew_geom::{Dof, DofKind, Joint, Rig, Transform};

/// Name, parent, offset, degrees of freedom with their ranges.
const JOINTS: &str = "\
Root - 0 95 0 tx:-1000:1000 ty:-1000:1000 tz:-1000:1000
Spine Root 0 10 -1 rx:-30:60 ry:-40:40 rz:-35:35
Spine2 Spine 0 12 -0.5
Chest Spine2 0 13 0 rx:-20:40 rz:-25:25
Neck Chest 0 18 1
Head Neck 0 9 2
HeadTop Head 0 18 0
ClavicleL Chest 3 14 1
ShoulderL ClavicleL 15 2 -1.5 rx:-90:90 ry:-130:45 rz:-95:95
ElbowL ShoulderL 29 0 -0.5 ry:-150:0
WristL ElbowL 26 0 0.5
ThumbL WristL 4 -1 4
IndexL WristL 9 0 2
MiddleL WristL 9.5 0 0
ClavicleR Chest -3 14 1
ShoulderR ClavicleR -15 2 -1.5 rx:-90:90 ry:-45:130 rz:-95:95
ElbowR ShoulderR -29 0 -0.5 ry:0:150
WristR ElbowR -26 0 0.5
ThumbR WristR -4 -1 4
IndexR WristR -9 0 2
MiddleR WristR -9.5 0 0
HipL Root 9 -4 0 rx:-120:30 ry:-45:45 rz:-45:45
KneeL HipL 0 -43 0.5 rx:0:150
AnkleL KneeL 0 -41 -1.5 rx:-30:50 rz:-25:25
FootL AnkleL 0 -7 -3 rx:-60:30
MiddleToeL FootL 0 0 20
BigToeL FootL -3 0 21
HipR Root -9 -4 0 rx:-120:30 ry:-45:45 rz:-45:45
KneeR HipR 0 -43 0.5 rx:0:150
AnkleR KneeR 0 -41 -1.5 rx:-30:50 rz:-25:25
FootR AnkleR 0 -7 -3 rx:-60:30
MiddleToeR FootR 0 0 20
BigToeR FootR 3 0 21";

/// What the root that also turns has instead.
const TURNING: &str = "\
Root tx:-1000:1000 ty:-1000:1000 tz:-1000:1000 rx:-45:60 ry:-180:180 rz:-45:45
Spine rx:-30:60 rz:-35:35
Chest ";

const MARKERS: &str = "\
StepMarker -9 8.038475772933682 30
FloorMarker1 -9 0 0
FloorMarker2 -9 10.35276180410083 38.63703305156273
FloorNormal1 -9 8.038475772933682 30
FloorNormal2 -9 17.697734035824364 27.411809548974794
BoxMarker1 -17.5 110 45
BoxMarker2 17.5 110 45";

const NEAR: &str = "Root.tx:0 Root.ty:96 Root.tz:12 HipR.rx:-28 KneeR.rx:12 AnkleR.rx:2 HipL.rx:12 KneeL.rx:18 AnkleL.rx:-8 Spine.rx:4 ShoulderL.rz:-70 ShoulderR.rz:70 ShoulderL.ry:-25 ShoulderR.ry:25 ElbowL.ry:-75 ElbowR.ry:75";
const FAR: &str = "Root.tx:30 Root.ty:95 Root.tz:-60";

pub(crate) const CASES: [&str; 6] = [
    "pin FootR to StepMarker",
    "aim FootR -> MiddleToeR along FloorMarker1 -> FloorMarker2",
    "distance WristL WristR = distance BoxMarker1 BoxMarker2",
    "distance FootL FootR = 40 cm\nput FootL on Floor",
    "dot(Root - ankles, AnkleL - AnkleR) = 0",
    "aim Root -> Spine along ankles -> Root",
];

/// A text with some of the cases, counted from 1.
pub(crate) fn text(cases: &[usize]) -> String {
    let mut text = String::from(
        "plane Floor = through StepMarker normal FloorNormal1 -> FloorNormal2\npoint ankles = mid(AnkleL, AnkleR)\n",
    );
    for &case in cases {
        text += &format!("case {case}\n{}\n", CASES[case - 1]);
    }
    text
}

/// The six cases exactly as printed in Abdelhay (2008), §4.2.
pub(crate) const THESIS: &str = "\
point ankles = mid(AnkleL, AnkleR)
FootR = StepMarker
dot(MiddleToeR - FootR, normalize(FloorMarker2 - FloorMarker1)) = length(MiddleToeR - FootR)
distance(WristL, WristR)^2 = distance(BoxMarker1, BoxMarker2)^2
distance(FootL, FootR)^2 = 40^2
dot(FootL - StepMarker, FloorNormal2 - FloorNormal1) = 0
dot(Root - ankles, AnkleL - AnkleR) = 0
z(cross(Spine - Root, ankles - Root)) = 0
x(cross(Spine - Root, ankles - Root)) = 0
";

fn dofs(words: &[&str], offset: DVec3) -> Vec<Dof> {
    words
        .iter()
        .map(|word| {
            let parts: Vec<&str> = word.split(':').collect();
            let kind = DofKind::from_suffix(parts[0]).unwrap();
            let at = |text: &str| {
                let x: f64 = text.parse().unwrap();
                if kind < DofKind::Rx { 0.01 * x - offset[kind as usize] } else { x.to_radians() }
            };
            Dof { kind, range: [at(parts[1]), at(parts[2])] }
        })
        .collect()
}

/// The skeleton, whose root only shifts (`root3`) or also turns (`root6`).
pub(crate) fn skeleton(turns: bool) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for line in JOINTS.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<f64>().unwrap() * 0.01;
        let offset = DVec3::new(number(2), number(3), number(4));
        let parent = joints.iter().position(|joint| joint.name == words[1]);
        let mut joint = Joint::new(words[0], parent, Transform::from_translation(offset));
        joint.dofs = dofs(&words[5..], offset);
        if let Some(line) = TURNING.lines().find(|line| turns && line.split(' ').next() == Some(words[0])) {
            let words: Vec<&str> = line.split(' ').skip(1).filter(|word| !word.is_empty()).collect();
            joint.dofs = dofs(&words, offset);
        }
        joints.push(joint);
    }
    Skeleton::from_rig(&Rig::new(joints).unwrap()).unwrap()
}

pub(crate) fn scene() -> Scene {
    let marker = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [x, y, z] = [1, 2, 3].map(|i| words[i].parse::<f64>().unwrap() * 0.01);
        (words[0].to_owned(), DVec3::new(x, y, z))
    };
    Scene { markers: MARKERS.lines().map(marker).collect(), ..Scene::default() }
}

fn pose(skeleton: &Skeleton, text: &str) -> Vec<f64> {
    let mut values = skeleton.rest_values();
    for word in text.split(' ') {
        let (name, value) = word.split_once(':').unwrap();
        if let Some(dof) = (0..values.len()).find(|&dof| skeleton.dof_name(dof) == name) {
            let x: f64 = value.parse().unwrap();
            values[dof] = if skeleton.dofs()[dof].is_rotation() { x.to_radians() } else { 0.01 * x };
        }
    }
    values
}

pub(crate) fn near(skeleton: &Skeleton) -> Vec<f64> {
    pose(skeleton, NEAR)
}

pub(crate) fn far(skeleton: &Skeleton) -> Vec<f64> {
    pose(skeleton, FAR)
}

/// Poses within four fifths of the ranges, the root within a metre.
pub(crate) fn random(skeleton: &Skeleton, n: usize) -> Vec<Vec<f64>> {
    let mut state = 7u32;
    let mut next = |low: f64, high: f64| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        low + (high - low) * f64::from(state >> 8) / f64::from(1 << 24)
    };
    let root = [[-0.5, 0.5], [0.6, 1.1], [-0.6, 0.8]];
    (0..n)
        .map(|_| {
            let dofs = skeleton.dofs().iter().enumerate();
            dofs.map(|(index, dof)| {
                let [low, high] = if index < 3 { root[index] } else { dof.range };
                let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
                let share = if index < 3 { 1.0 } else { 0.8 };
                next(middle - share * half, middle + share * half)
            })
            .collect()
        })
        .collect()
}
