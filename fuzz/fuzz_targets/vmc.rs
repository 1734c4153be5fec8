//! Any bytes as packets of VMC, one after the other: nothing breaks, and what comes out is finite.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew_formats::vmc::{VmcPacket, VmcReceiver};

fuzz_target!(|bytes: &[u8]| {
    let mut receiver = VmcReceiver::default();
    for packet in [bytes].into_iter().chain(bytes.chunks(97)) {
        if let VmcPacket::Frame(pose) = receiver.take(packet) {
            assert!(pose.locals.iter().all(|local| local.is_finite()));
        }
    }
});
