//! `sinew puppet --listen`: a performer's bones over the network move the character, as they come.

use super::PuppetArgs;
use super::perform::{Tally, write_take};
use crate::{console::Console, interrupt::Interrupt};
use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use sinew::{
    formats::vmc::{VMC_PORT, VmcPacket, VmcReceiver, VmcSender},
    geom::{Pose, Rig, Warnings},
    puppet::{BodyJoint, BodyPose, RigBody},
    session::{Acted, ActedShape, Actor, ActorSource, DEFAULT_FPS, Document, MAX_TAKE_FRAMES, Puppet},
};
use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs, UdpSocket},
    time::{Duration, Instant},
};

/// Packets per second that are processed; a performer sends up to some thousand.
const MAX_PACKETS: u32 = 8_000;
/// Frames per second that are performed.
const MAX_FRAMES: f64 = 240.0;
/// How long silence may keep it from ending; a packet is taken the moment it comes.
const MAX_SILENCE: Duration = Duration::from_millis(50);

/// Listen until Ctrl-C or the end of `--seconds`, then write what was recorded.
pub fn listen(
    document: &Document,
    args: &PuppetArgs,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Value> {
    let address = args.listen.as_deref().map_or(Ok(default_address()), |text| parse(text, VMC_PORT))?;
    let from = args.from.as_deref().map(parse_sender).transpose()?;
    let to = args.send.as_deref().map(|text| parse(text, VMC_PORT + 1)).transpose()?;
    if let Some(seconds) = args.seconds {
        ensure!(seconds.is_finite() && seconds > 0.0, "--seconds is {seconds}; give more than 0");
    }
    let mut performance = LivePerformance::new(document, from)?;
    run(&mut performance, address, to, args.seconds, console)?;
    let mut report = performance.report();
    if let (Some(output), false) = (&args.output, performance.frames.is_empty()) {
        let actor = Actor {
            frames: std::mem::take(&mut performance.frames),
            fps: DEFAULT_FPS,
            source: ActorSource::TRACKED,
        };
        report["bytes"] = json!(write_take(document, &actor, output, warnings)?);
        report["written"] = json!(output.display().to_string());
    }
    Ok(report)
}

fn default_address() -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), VMC_PORT)
}

/// `ADDR:PORT`, `ADDR` or `PORT`.
fn parse(text: &str, port: u16) -> anyhow::Result<SocketAddr> {
    if text.is_empty() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    if let Ok(ip) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(ip, port));
    }
    let found = text.to_socket_addrs().ok().and_then(|mut found| found.next());
    found.with_context(|| format!("{text:?} is not an address; write it as 127.0.0.1:{port}"))
}

/// Who may move the character: an address, with or without its port.
fn parse_sender(text: &str) -> anyhow::Result<(IpAddr, Option<u16>)> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok((address.ip(), Some(address.port())));
    }
    match text.parse::<IpAddr>() {
        Ok(ip) => Ok((ip, None)),
        Err(_) => bail!("--from {text:?} is not an address; write it as 192.168.1.5 or 192.168.1.5:39539"),
    }
}

fn run(
    performance: &mut LivePerformance<'_>,
    address: SocketAddr,
    to: Option<SocketAddr>,
    seconds: Option<f64>,
    console: &Console,
) -> anyhow::Result<()> {
    let socket = UdpSocket::bind(address)
        .with_context(|| format!("cannot listen on {address}; choose another with --listen ADDR:PORT"))?;
    socket.set_read_timeout(Some(MAX_SILENCE))?;
    let interrupt = Interrupt::listen();
    console.note(&format!("listening on {}; Ctrl-C ends", socket.local_addr()?));
    // A duration beyond what the clock can hold means no end.
    let end = seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .and_then(|seconds| Instant::now().checked_add(seconds));
    let mut buffer = vec![0; 1 << 16];
    // Asked before each packet, so that a flood cannot keep it from ending.
    while !interrupt.is_pressed() && end.is_none_or(|end| Instant::now() < end) {
        // A time-out, a signal, or a peer that closed its socket, for which some systems fail once: the next packet may still arrive.
        let Ok((n, sender)) = socket.recv_from(&mut buffer) else { continue };
        if let (Some(packets), Some(to)) = (performance.receive(sender, &buffer[..n])?, to) {
            for packet in packets {
                performance.n_sent += u64::from(socket.send_to(&packet, to).is_ok());
            }
        }
    }
    Ok(())
}

/// A character that follows a performer live.
struct LivePerformance<'a> {
    rig: Option<&'a Rig>,
    puppet: Puppet,
    receiver: VmcReceiver,
    body: RigBody,
    sender: Option<VmcSender>,
    from: Option<(IpAddr, Option<u16>)>,
    /// The first sender, if none was named.
    first: Option<SocketAddr>,
    began: Instant,
    frames: Vec<(f64, BodyPose)>,
    tally: Tally,
    /// The current second, and how many packets were processed in it.
    window: (u64, u32),
    n_packets: u64,
    n_garbage: u64,
    n_foreign: u64,
    n_flood: u64,
    n_skipped: u64,
    n_sent: u64,
}

impl<'a> LivePerformance<'a> {
    fn new(document: &'a Document, from: Option<(IpAddr, Option<u16>)>) -> anyhow::Result<Self> {
        let puppet = Puppet::new(document, ActorSource::TRACKED)?;
        let receiver = VmcReceiver::default();
        let rig = document.body.rig.as_ref().filter(|_| !puppet.is_by_handles());
        Ok(Self {
            rig,
            body: RigBody::find(receiver.rig())?,
            receiver,
            sender: rig.map(|rig| {
                let human = RigBody::find(rig).ok();
                VmcSender::new(rig, |joint| human.as_ref().and_then(|body| bone_of(body, joint)))
            }),
            puppet,
            from,
            first: None,
            began: Instant::now(),
            frames: Vec::new(),
            tally: Tally::default(),
            window: (0, 0),
            n_packets: 0,
            n_garbage: 0,
            n_foreign: 0,
            n_flood: 0,
            n_skipped: 0,
            n_sent: 0,
        })
    }

    /// Process a packet; returns the packets to send on if it ended a frame.
    fn receive(&mut self, sender: SocketAddr, bytes: &[u8]) -> anyhow::Result<Option<Vec<Vec<u8>>>> {
        self.n_packets += 1;
        if !self.is_ours(sender) {
            self.n_foreign += 1;
            return Ok(None);
        }
        let time = self.began.elapsed().as_secs_f64();
        if self.is_flooded(time) {
            self.n_flood += 1;
            return Ok(None);
        }
        let pose = match self.receiver.take(bytes) {
            VmcPacket::Garbage => {
                self.n_garbage += 1;
                return Ok(None);
            }
            VmcPacket::Taken => None,
            VmcPacket::Frame(pose) => Some(pose),
        };
        // From the first valid packet on, only its sender is listened to.
        self.first.get_or_insert(sender);
        pose.map_or(Ok(None), |pose| self.follow(time, &pose))
    }

    fn is_ours(&self, sender: SocketAddr) -> bool {
        match (self.from, self.first) {
            (Some((ip, port)), _) => sender.ip() == ip && port.is_none_or(|port| sender.port() == port),
            (None, first) => first.is_none_or(|first| first == sender),
        }
    }

    fn is_flooded(&mut self, time: f64) -> bool {
        let second = time as u64;
        if self.window.0 != second {
            self.window = (second, 0);
        }
        self.window.1 = self.window.1.saturating_add(1);
        self.window.1 > MAX_PACKETS
    }

    fn follow(&mut self, time: f64, pose: &Pose) -> anyhow::Result<Option<Vec<Vec<u8>>>> {
        let is_early = self.frames.last().is_some_and(|(last, _)| time - last < 1.0 / MAX_FRAMES);
        if is_early || self.frames.len() >= MAX_TAKE_FRAMES {
            self.n_skipped += 1;
            return Ok(None);
        }
        let begun = Instant::now();
        let body = self.body.pose(self.receiver.rig(), pose, &mut Vec::new())?;
        let acted = self.puppet.step(time, &body)?;
        self.tally.secs += begun.elapsed().as_secs_f64();
        self.frames.push((time, body));
        let Some(acted) = acted else { return Ok(None) };
        self.tally.note(&acted);
        Ok(self.packets(time, &acted))
    }

    fn packets(&self, time: f64, acted: &Acted) -> Option<Vec<Vec<u8>>> {
        match (&acted.shape, &self.sender) {
            (ActedShape::Joints { pose, .. }, Some(sender)) => Some(sender.packets(time, pose)),
            _ => None,
        }
    }

    fn report(&self) -> Value {
        let mut report = self.tally.report(DEFAULT_FPS);
        let performer = self.first.map(|first| first.to_string());
        let missing = self.receiver.missing();
        let parts = [
            ("packets", json!(self.n_packets)),
            (
                "ignored",
                json!({ "garbage": self.n_garbage, "foreign": self.n_foreign, "flood": self.n_flood }),
            ),
            ("skipped_frames", json!(self.n_skipped)),
            ("sent_packets", json!(self.n_sent)),
            ("performer", json!(performer)),
            ("missing_bones", json!(missing)),
            ("sends_joints", json!(self.rig.map_or(0, Rig::n_joints))),
        ];
        parts.into_iter().for_each(|(key, value)| report[key] = value);
        report
    }
}

/// Joints of a person with the names that receivers know.
const BONES: [(BodyJoint, &str); 18] = [
    (BodyJoint::HipCenter, "Hips"),
    (BodyJoint::Spine, "Spine"),
    (BodyJoint::ShoulderCenter, "Neck"),
    (BodyJoint::Head, "Head"),
    (BodyJoint::ShoulderLeft, "LeftUpperArm"),
    (BodyJoint::ElbowLeft, "LeftLowerArm"),
    (BodyJoint::WristLeft, "LeftHand"),
    (BodyJoint::ShoulderRight, "RightUpperArm"),
    (BodyJoint::ElbowRight, "RightLowerArm"),
    (BodyJoint::WristRight, "RightHand"),
    (BodyJoint::HipLeft, "LeftUpperLeg"),
    (BodyJoint::KneeLeft, "LeftLowerLeg"),
    (BodyJoint::AnkleLeft, "LeftFoot"),
    (BodyJoint::FootLeft, "LeftToes"),
    (BodyJoint::HipRight, "RightUpperLeg"),
    (BodyJoint::KneeRight, "RightLowerLeg"),
    (BodyJoint::AnkleRight, "RightFoot"),
    (BodyJoint::FootRight, "RightToes"),
];

fn bone_of(body: &RigBody, joint: usize) -> Option<&'static str> {
    BONES.iter().find(|(of, _)| body.joint(*of) == Some(joint)).map(|(_, name)| *name)
}

/// What happened, in words.
pub fn as_text(report: &Value) -> String {
    let ignored = &report["ignored"];
    let mut lines = vec![format!(
        "{} frames performed of {} packets; ignored: {} of other senders, {} garbage, {} too many",
        report["frames"], report["packets"], ignored["foreign"], ignored["garbage"], ignored["flood"]
    )];
    if let Some(missing) = report["missing_bones"].as_array().filter(|list| !list.is_empty()) {
        let names: Vec<&str> = missing.iter().filter_map(Value::as_str).collect();
        lines.push(format!("  bones never received: {}", names.join(", ")));
    }
    if let Some(written) = report["written"].as_str() {
        lines.push(format!("  {written}  {} bytes", report["bytes"]));
    }
    lines.join("\n")
}
