//! Body maps of other people's rigs: a table that was checked by eye.

use glam::DVec3;
use sinew::{
    formats::read_any,
    geom::{
        Warnings,
        body_map::{
            BodyClass::{Arthropod, Biped, HorizontalBiped, Quadruped, Swimmer, Tree},
            BodyMap,
            Part::{
                self, Fin, Foot, Forearm, Hand, Head, HipBone, Hips, Leg, Shin, Shoulder, Spine, Tail, Thigh,
                UpperArm,
            },
        },
        rig::Side::{self, Left, Middle, Right},
    },
};
use std::path::PathBuf;

/// File, class, facing, and some joints; all of them have Y up.
type Row = (&'static str, sinew::geom::body_map::BodyClass, DVec3, &'static [(&'static str, Part, Side)]);

const TABLE: [Row; 22] = [
    (
        "data/rigs/khronos/CesiumMan.glb",
        Biped,
        DVec3::Z,
        &[("Skeleton_arm_joint_L__3_", Forearm, Left), ("leg_joint_R_2", Shin, Right)],
    ),
    ("data/rigs/khronos/RiggedFigure.glb", Biped, DVec3::Z, &[("arm_joint_L_1", UpperArm, Left)]),
    ("data/rigs/khronos/RiggedSimple.glb", Tree, DVec3::Z, &[]),
    ("data/rigs/khronos/RecursiveSkeletons.glb", Tree, DVec3::Z, &[]),
    (
        "data/rigs/khronos/Fox.glb",
        Quadruped,
        DVec3::Z,
        &[("b_LeftLeg02_016", Shin, Left), ("b_RightHand_08", Hand, Right), ("b_Tail01_012", Tail, Middle)],
    ),
    (
        "data/rigs/quaternius/Casual.glb",
        Biped,
        DVec3::Z,
        &[("LowerLeg.L", Shin, Left), ("Hips", Hips, Middle)],
    ),
    (
        "data/rigs/quaternius/Horse.glb",
        Quadruped,
        DVec3::Z,
        &[
            ("FrontLowerLeg.L", Forearm, Left),
            ("BackUpperLeg.R", Shin, Right),
            ("BackShoulder.L", HipBone, Left),
        ],
    ),
    ("data/rigs/quaternius/Husky.glb", Quadruped, DVec3::Z, &[("BackLeg.L", Thigh, Left)]),
    ("data/rigs/quaternius/Manta_ray.glb", Swimmer, DVec3::Z, &[("TopFlipper.L", Fin, Left)]),
    ("data/rigs/quaternius/Snake.glb", Swimmer, DVec3::Z, &[("Tail2", Tail, Middle), ("Head", Head, Middle)]),
    ("data/rigs/quaternius/Spider.glb", Arthropod, DVec3::Z, &[("MidBackLeg2.R", Leg, Right)]),
    (
        "data/rigs/quaternius/Trex.glb",
        HorizontalBiped,
        DVec3::Z,
        // `BackLeg.L` leads sideways from the middle to the hip, and `FrontLeg.R` to the shoulder.
        &[
            ("BackLeg.L", HipBone, Left),
            ("BackUpLeg.L", Thigh, Left),
            ("BackLowLeg.L", Shin, Left),
            ("FrontLeg.R", Shoulder, Right),
            ("FrontUpLeg.R", UpperArm, Right),
        ],
    ),
    ("data/rigs/threejs/RobotExpressive.glb", Biped, DVec3::Z, &[("LowerArm.R", Forearm, Right)]),
    ("data/rigs/vrm/Example.vrm", Biped, DVec3::Z, &[("lower_leg.L", Shin, Left)]),
    ("corpus/rigs/KnightCharacter.glb", Biped, DVec3::Z, &[("Palm.L", Hand, Left), ("Foot.R", Foot, Right)]),
    ("corpus/rigs/Soldier.glb", Biped, DVec3::NEG_Z, &[("mixamorig:LeftForeArm", Forearm, Left)]),
    ("corpus/rigs/Stag.glb", Quadruped, DVec3::Z, &[("FrontUpperLeg.R", UpperArm, Right)]),
    ("corpus/rigs/ShibaInu.glb", Quadruped, DVec3::Z, &[("Head", Head, Middle)]),
    ("interop/character/Knight.glb", Biped, DVec3::Z, &[("lowerarm.l", Forearm, Left)]),
    ("interop/character/Koi.glb", Swimmer, DVec3::Z, &[("Main3", Spine, Middle)]),
    ("interop/character/godot_platformer_player.glb", Biped, DVec3::NEG_Z, &[("r-leg", Shin, Right)]),
    ("interop/vrm/Godette_vrm_v4.vrm", Biped, DVec3::NEG_Z, &[("lowerarm.l_Armature", Forearm, Left)]),
];

#[test]
fn rigs_of_other_people_are_understood() {
    let (Some(data), Some(corpus), Some(interop)) =
        (sinew_outside::data(), sinew_outside::corpus(), sinew_outside::interop())
    else {
        return;
    };
    let mut wrong = Vec::new();
    for (file, class, facing, joints) in TABLE {
        let (root, rest) = file.split_once('/').unwrap();
        let path: PathBuf = match root {
            "data" => data.join(rest),
            "corpus" => corpus.join(rest),
            _ => interop.join(rest),
        };
        let character = read_any(&path, &mut Warnings::default()).unwrap().into_character().unwrap();
        let rig = character.rig.unwrap();
        let map = BodyMap::read(&rig, &character.clips);
        if map.class != class || map.up.y < 0.99 || map.forward.dot(facing) < 0.99 {
            wrong.push(format!("{file}: {} up {} facing {}", map.class.name(), map.up, map.forward));
        }
        if (class == Tree) != (map.confidence < 0.3) {
            wrong.push(format!("{file}: confidence {:.2}", map.confidence));
        }
        for &(name, part, side) in joints {
            let found = rig.find(name).map(|k| (map.joints[k].part, map.joints[k].side));
            if found != Some((part, side)) {
                wrong.push(format!("{file}: {name} is {found:?}"));
            }
        }
        let left = map.up.cross(map.forward);
        for part in [UpperArm, Thigh, Shin] {
            let place = |side| map.find(part, side).map(|k| map.places[k].dot(left));
            if let (Some(l), Some(r)) = (place(Left), place(Right))
                && l <= r
            {
                wrong.push(format!("{file}: left and right of {} are swapped", part.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
