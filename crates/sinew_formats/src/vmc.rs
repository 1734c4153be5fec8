//! Virtual Motion Capture: bones of a person over UDP, in packets of Open Sound Control.
//!
//! Understood are `/VMC/Ext/Bone/Pos` and `/VMC/Ext/Root/Pos` (name, position, rotation), alone or in bundles, and
//! `/VMC/Ext/T` and `/VMC/Ext/OK` as ends of a frame; everything else is ignored. Bones are those of Unity's
//! humanoid, local to their parents, in a left-handed space with +Y up. As in VRM, all bones are unrotated at rest: the
//! body has its arms stretched out and faces +Z. Missing positions are replaced by those of an adult.
//!
//! Bytes only: sockets are the caller's.

use crate::names::Names;
use glam::{DQuat, DVec3};
use rosc::{OscMessage, OscPacket, OscType};
use sinew_geom::{Joint, Pose, Rig, Transform};
use std::sync::OnceLock;

/// Port that performers send to by default.
pub const VMC_PORT: u16 = 39539;
/// Nesting of bundles in one packet; no sender uses more, and deeper ones would exhaust the stack.
const MAX_BUNDLES: usize = 8;
/// Largest coordinate of a position, in metres.
const MAX_METRES: f32 = 1e4;
const BONE: &str = "/VMC/Ext/Bone/Pos";
const ROOT: &str = "/VMC/Ext/Root/Pos";

/// Bones, their parents (the first that is sent), and their rest positions: metres from the parent, left at +X.
type BoneRow = (&'static str, &'static [&'static str], [f64; 3]);
const BONES: [BoneRow; 24] = [
    ("Hips", &[], [0.0, 0.95, 0.0]),
    ("Spine", &["Hips"], [0.0, 0.1, 0.0]),
    ("Chest", &["Spine"], [0.0, 0.12, 0.0]),
    ("UpperChest", &["Chest", "Spine"], [0.0, 0.12, 0.0]),
    ("Neck", &["UpperChest", "Chest", "Spine"], [0.0, 0.16, 0.0]),
    ("Head", &["Neck", "UpperChest", "Chest", "Spine"], [0.0, 0.1, 0.0]),
    ("LeftShoulder", &["UpperChest", "Chest", "Spine"], [0.04, 0.12, 0.0]),
    ("LeftUpperArm", &["LeftShoulder", "UpperChest", "Chest", "Spine"], [0.13, 0.0, 0.0]),
    ("LeftLowerArm", &["LeftUpperArm"], [0.28, 0.0, 0.0]),
    ("LeftHand", &["LeftLowerArm"], [0.25, 0.0, 0.0]),
    ("LeftMiddleProximal", &["LeftHand"], [0.09, 0.0, 0.0]),
    ("RightShoulder", &["UpperChest", "Chest", "Spine"], [-0.04, 0.12, 0.0]),
    ("RightUpperArm", &["RightShoulder", "UpperChest", "Chest", "Spine"], [-0.13, 0.0, 0.0]),
    ("RightLowerArm", &["RightUpperArm"], [-0.28, 0.0, 0.0]),
    ("RightHand", &["RightLowerArm"], [-0.25, 0.0, 0.0]),
    ("RightMiddleProximal", &["RightHand"], [-0.09, 0.0, 0.0]),
    ("LeftUpperLeg", &["Hips"], [0.09, -0.04, 0.0]),
    ("LeftLowerLeg", &["LeftUpperLeg"], [0.0, -0.43, 0.0]),
    ("LeftFoot", &["LeftLowerLeg"], [0.0, -0.41, 0.0]),
    ("LeftToes", &["LeftFoot"], [0.0, -0.05, 0.12]),
    ("RightUpperLeg", &["Hips"], [-0.09, -0.04, 0.0]),
    ("RightLowerLeg", &["RightUpperLeg"], [0.0, -0.43, 0.0]),
    ("RightFoot", &["RightLowerLeg"], [0.0, -0.41, 0.0]),
    ("RightToes", &["RightFoot"], [0.0, -0.05, 0.12]),
];

/// Bones without which there is no body.
const NEEDED: [&str; 14] = [
    "Hips",
    "Head",
    "LeftUpperArm",
    "LeftLowerArm",
    "LeftHand",
    "RightUpperArm",
    "RightLowerArm",
    "RightHand",
    "LeftUpperLeg",
    "LeftLowerLeg",
    "LeftFoot",
    "RightUpperLeg",
    "RightLowerLeg",
    "RightFoot",
];

/// Result of a packet.
#[derive(Debug, Clone, PartialEq)]
pub enum VmcPacket {
    /// Not of the protocol: broken, a number too large, or something else.
    Garbage,
    /// Accepted; the frame is incomplete.
    Taken,
    /// A frame is complete: the pose of [`VmcReceiver::rig`], in our space.
    Frame(Pose),
}

/// Combines packets into poses of a person.
#[derive(Debug, Clone)]
pub struct VmcReceiver {
    rig: Rig,
    locals: [Option<Transform>; BONES.len()],
    root: Transform,
    /// Bones received since the last frame.
    fresh: [bool; BONES.len()],
}

impl Default for VmcReceiver {
    fn default() -> Self {
        Self {
            rig: rest_rig().clone(),
            locals: [None; BONES.len()],
            root: Transform::IDENTITY,
            fresh: [false; BONES.len()],
        }
    }
}

/// The root, then the bones, each under its usual parent.
fn rest_rig() -> &'static Rig {
    static RIG: OnceLock<Rig> = OnceLock::new();
    RIG.get_or_init(|| {
        let mut joints = vec![Joint::new("root", None, Transform::IDENTITY)];
        for (name, parents, rest) in BONES {
            let parent = parents.first().and_then(|first| place(first)).map_or(0, |at| at + 1);
            joints.push(Joint::new(name, Some(parent), Transform::from_translation(DVec3::from_array(rest))));
        }
        // The table is sorted, so that this is a rig.
        Rig::new(joints).unwrap_or_default()
    })
}

fn place(bone: &str) -> Option<usize> {
    BONES.iter().position(|(name, ..)| *name == bone)
}

impl VmcReceiver {
    /// The skeleton of the poses.
    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// Bones of a body that have not been sent yet.
    pub fn missing(&self) -> Vec<&'static str> {
        let is_missing = |name: &&str| place(name).is_none_or(|at| self.locals[at].is_none());
        NEEDED.into_iter().filter(is_missing).collect()
    }

    /// Receive a packet.
    pub fn take(&mut self, bytes: &[u8]) -> VmcPacket {
        let n_bundles = bytes.windows(7).filter(|window| *window == b"#bundle").count();
        if n_bundles > MAX_BUNDLES {
            return VmcPacket::Garbage;
        }
        let Ok((_, packet)) = rosc::decoder::decode_udp(bytes) else { return VmcPacket::Garbage };
        let mut messages = Vec::new();
        flatten(packet, &mut messages);
        if !messages.iter().any(|message| message.addr.starts_with("/VMC/")) {
            return VmcPacket::Garbage;
        }
        let sent = |name: &&str| {
            messages
                .iter()
                .any(|message| matches!(message.args.first(), Some(OscType::String(s)) if s == name))
        };
        let is_whole = NEEDED.iter().all(sent);
        let (mut ended, mut broken) = (None, false);
        for message in messages {
            match message.addr.as_str() {
                BONE => match bone(&message) {
                    Some((name, local)) => ended = self.put(name, local).or(ended),
                    None => broken = true,
                },
                ROOT => match transform(&message) {
                    Some(root) => self.root = root,
                    None => broken = true,
                },
                "/VMC/Ext/T" | "/VMC/Ext/OK" => ended = self.end().or(ended),
                _ => {}
            }
        }
        // Many send a frame as one bundle; others end it by the time, or by the first bone of the next.
        if is_whole {
            ended = self.end().or(ended);
        }
        match (ended, broken) {
            (Some(pose), _) => VmcPacket::Frame(pose),
            (None, true) => VmcPacket::Garbage,
            (None, false) => VmcPacket::Taken,
        }
    }

    /// A bone that is received again begins the next frame.
    fn put(&mut self, name: &str, local: Transform) -> Option<Pose> {
        let at = place(name)?;
        let ended = if self.fresh[at] { self.end() } else { None };
        self.locals[at] = Some(local);
        self.fresh[at] = true;
        ended
    }

    /// The pose, if there is new data and the body is complete.
    fn end(&mut self) -> Option<Pose> {
        let is_new = self.fresh.iter().any(|fresh| *fresh);
        self.fresh = [false; BONES.len()];
        (is_new && self.missing().is_empty()).then(|| self.pose())
    }

    fn pose(&self) -> Pose {
        let mut pose = self.rig.rest_pose();
        pose.locals[0] = self.root;
        for (at, (_, _, rest)) in BONES.iter().enumerate() {
            let Some(local) = self.locals[at] else { continue };
            // The hips may be at the origin; other bones have a length.
            let is_bare = at > 0 && local.translation.length_squared() < 1e-8;
            let translation = if is_bare { DVec3::from_array(*rest) } else { local.translation };
            pose.locals[at + 1] = Transform { translation, ..local };
        }
        // Bones that this sender leaves out have no length: the next ones start at their default place.
        for (at, (name, parents, rest)) in
            BONES.iter().enumerate().filter(|(at, _)| self.locals[*at].is_none())
        {
            let is_carried = BONES.iter().enumerate().any(|(child, (_, parents, _))| {
                parents.first() == Some(name) && self.locals[child].is_some()
            });
            let kept = if is_carried || parents.is_empty() { DVec3::ZERO } else { DVec3::from_array(*rest) };
            pose.locals[at + 1] = Transform::from_translation(kept);
        }
        pose
    }
}

fn flatten(packet: OscPacket, messages: &mut Vec<OscMessage>) {
    match packet {
        OscPacket::Message(message) => messages.push(message),
        OscPacket::Bundle(bundle) => bundle.content.into_iter().for_each(|inner| flatten(inner, messages)),
    }
}

fn bone(message: &OscMessage) -> Option<(&str, Transform)> {
    match message.args.first()? {
        OscType::String(name) => Some((name, transform(message)?)),
        _ => None,
    }
}

/// Seven numbers after the name, converted to our space.
fn transform(message: &OscMessage) -> Option<Transform> {
    let mut numbers = [0.0; 7];
    for (number, arg) in numbers.iter_mut().zip(message.args.get(1..8)?) {
        *number = match arg {
            OscType::Float(x) => *x,
            OscType::Double(x) => *x as f32,
            OscType::Int(x) => *x as f32,
            _ => return None,
        };
        if !number.is_finite() || number.abs() > MAX_METRES {
            return None;
        }
    }
    let [x, y, z, qx, qy, qz, qw] = numbers.map(f64::from);
    let rotation = DQuat::from_xyzw(qx, qy, qz, qw);
    if rotation.length_squared() < 1e-6 {
        return None;
    }
    Some(mirrored(&Transform {
        translation: DVec3::new(x, y, z),
        rotation: rotation.normalize(),
        scale: DVec3::ONE,
    }))
}

/// From a left-handed space to ours, and back: x is negated.
fn mirrored(local: &Transform) -> Transform {
    let (t, r) = (local.translation, local.rotation);
    Transform {
        translation: DVec3::new(-t.x, t.y, t.z),
        rotation: DQuat::from_xyzw(r.x, -r.y, -r.z, r.w),
        scale: local.scale,
    }
}

/// Sends poses of a skeleton.
#[derive(Debug, Clone)]
pub struct VmcSender {
    names: Vec<String>,
    /// Rotation of each joint's parent at rest, in the world, and of the joint about its parent.
    rest: Vec<(DQuat, DQuat)>,
    is_root: Vec<bool>,
}

impl VmcSender {
    /// Joints of a rig, sent under their own names, or those of Unity's bones where `bone_of` knows one.
    pub fn new(rig: &Rig, bone_of: impl Fn(usize) -> Option<&'static str>) -> Self {
        let world = rig.rest_world();
        let turn = |at: usize| Transform::from_affine(world[at]).0.rotation;
        let row = |joint: &Joint| {
            let parent = joint.parent.map_or(DQuat::IDENTITY, turn);
            (parent, joint.rest.rotation)
        };
        let mut names = Names::default();
        let name = |(at, joint): (usize, &Joint)| names.unique(bone_of(at).unwrap_or(&joint.name));
        Self {
            names: rig.joints().iter().enumerate().map(name).collect(),
            rest: rig.joints().iter().map(row).collect(),
            is_root: rig.joints().iter().map(|joint| joint.parent.is_none()).collect(),
        }
    }

    /// A frame as packets, each small enough for any network: the status, the bones, and the time as the end.
    pub fn packets(&self, time: f64, pose: &Pose) -> Vec<Vec<u8>> {
        let message = |addr: &str, args| OscMessage { addr: addr.into(), args };
        let mut messages = vec![message("/VMC/Ext/OK", vec![OscType::Int(1)])];
        for (at, local) in pose.locals.iter().enumerate().take(self.names.len()) {
            let (parent, rest) = self.rest[at];
            // As if all joints were unrotated at rest.
            let rotation = parent * local.rotation * rest.inverse() * parent.inverse();
            let even = mirrored(&Transform { translation: parent * local.translation, rotation, ..*local });
            let addr = if self.is_root[at] && self.names[at] == "root" { ROOT } else { BONE };
            let (t, r) = (even.translation.as_vec3(), even.rotation.as_quat());
            let numbers = [t.x, t.y, t.z, r.x, r.y, r.z, r.w].map(OscType::Float);
            let args = std::iter::once(OscType::String(self.names[at].clone())).chain(numbers).collect();
            messages.push(message(addr, args));
        }
        messages.push(message("/VMC/Ext/T", vec![OscType::Float(time as f32)]));
        messages.chunks(PER_PACKET).filter_map(packet).collect()
    }
}

/// Messages per packet: about 1200 bytes, which no network fragments.
const PER_PACKET: usize = 14;

fn packet(messages: &[OscMessage]) -> Option<Vec<u8>> {
    let content = messages.iter().cloned().map(OscPacket::Message).collect();
    let timetag = rosc::OscTime { seconds: 0, fractional: 1 };
    rosc::encoder::encode(&OscPacket::Bundle(rosc::OscBundle { timetag, content })).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(name: &str, numbers: [f32; 7]) -> Vec<u8> {
        let args = std::iter::once(OscType::String(name.into())).chain(numbers.map(OscType::Float)).collect();
        rosc::encoder::encode(&OscPacket::Message(OscMessage { addr: BONE.into(), args })).unwrap()
    }

    fn frame(receiver: &mut VmcReceiver, numbers: impl Fn(&str) -> [f32; 7]) -> Option<Pose> {
        for name in NEEDED {
            assert_eq!(receiver.take(&one(name, numbers(name))), VmcPacket::Taken);
        }
        let args = vec![OscType::Float(1.0)];
        let end = OscPacket::Message(OscMessage { addr: "/VMC/Ext/T".into(), args });
        match receiver.take(&rosc::encoder::encode(&end).unwrap()) {
            VmcPacket::Frame(pose) => Some(pose),
            _ => None,
        }
    }

    /// Without positions the body is an adult with its arms stretched out: left at +X, facing +Z.
    #[test]
    fn a_body_at_rest_stands_with_its_arms_out() {
        let mut receiver = VmcReceiver::default();
        let pose = frame(&mut receiver, |_| [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let mut world = Vec::new();
        receiver.rig().forward(&pose, &mut world).unwrap();
        let at = |name: &str| world[place(name).unwrap() + 1].translation;
        assert!(at("LeftHand").x > 0.6 && at("RightHand").x < -0.6);
        assert!((at("LeftHand").y - at("LeftUpperArm").y).abs() < 1e-9);
        assert!(at("Head").y - at("Hips").y > 0.2 && at("Hips").y - at("LeftFoot").y > 0.8);
    }

    /// A turn about +Z in a left-handed space that lifts Unity's left arm (which is at −X there) lifts ours.
    #[test]
    fn a_lifted_arm_is_lifted() {
        let mut receiver = VmcReceiver::default();
        let lift = DQuat::from_rotation_z(-1.0).as_quat();
        let pose = frame(&mut receiver, |name| match name {
            "LeftUpperArm" => [0.0, 0.0, 0.0, lift.x, lift.y, lift.z, lift.w],
            _ => [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        })
        .unwrap();
        let mut world = Vec::new();
        receiver.rig().forward(&pose, &mut world).unwrap();
        let at = |name: &str| world[place(name).unwrap() + 1].translation;
        assert!(at("LeftHand").y - at("LeftUpperArm").y > 0.3, "{:?}", at("LeftHand"));
        assert!((at("RightHand").y - at("RightUpperArm").y).abs() < 1e-9);
    }

    /// What is sent is received: positions of all bones agree.
    #[test]
    fn what_is_sent_is_received() {
        let rig = rest_rig();
        let mut pose = rig.rest_pose();
        for (k, local) in pose.locals.iter_mut().enumerate().skip(1) {
            local.rotation =
                DQuat::from_scaled_axis(DVec3::new((k as f64).sin(), (k as f64).cos(), 0.3) * 0.7);
        }
        pose.locals[0].translation = DVec3::new(0.3, 0.0, -2.0);
        let sender = VmcSender::new(rig, |_| None);
        let mut receiver = VmcReceiver::default();
        let mut received = None;
        for packet in sender.packets(0.5, &pose) {
            assert!(packet.len() < 1400, "{}", packet.len());
            if let VmcPacket::Frame(pose) = receiver.take(&packet) {
                received = Some(pose);
            }
        }
        let (mut a, mut b) = (Vec::new(), Vec::new());
        rig.forward(&pose, &mut a).unwrap();
        rig.forward(&received.unwrap(), &mut b).unwrap();
        for (a, b) in a.iter().zip(&b) {
            assert!(a.translation.distance(b.translation) < 1e-5);
        }
    }

    #[test]
    fn garbage_is_distinguished() {
        let mut receiver = VmcReceiver::default();
        let other = OscPacket::Message(OscMessage { addr: "/avatar/x".into(), args: Vec::new() });
        let long = "#bundle\0\0\0\0\0\0\0\0\u{1}\0\0\0\u{14}".repeat(3000);
        let bad: [&[u8]; 6] = [
            b"",
            b"hello",
            &one("Hips", [f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
            &one("Hips", [0.0; 7]),
            &rosc::encoder::encode(&other).unwrap(),
            long.as_bytes(),
        ];
        for bytes in bad {
            assert_eq!(receiver.take(bytes), VmcPacket::Garbage);
        }
        assert_eq!(receiver.missing().len(), NEEDED.len());
        // Unknown bones are no fault.
        assert_eq!(receiver.take(&one("LeftEye", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])), VmcPacket::Taken);
    }

    proptest! {
        #[test]
        fn nothing_breaks_it(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..120) {
            let mut receiver = VmcReceiver::default();
            receiver.take(&bytes);
            let whole = one("LeftUpperArm", [0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0]);
            receiver.take(&whole[..cut.min(whole.len())]);
            let mut broken = whole.clone();
            for (at, byte) in bytes.iter().enumerate().take(8) {
                let at = (at * 31 + *byte as usize) % broken.len();
                broken[at] = *byte;
            }
            receiver.take(&broken);
        }
    }
}
