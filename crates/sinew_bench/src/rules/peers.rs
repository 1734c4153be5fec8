//! CasADi and Pinocchio from PyPI on the same skeleton, rules and poses.

use super::{Ours, files};
use crate::places;
use anyhow::{Context, ensure};
use std::process::Command;

pub fn run(ours: &[Ours]) -> anyhow::Result<()> {
    let python = places::tools("SINEW_PEERS_RULES", "peers-rules").join("bin/python");
    ensure!(python.exists(), "the peers are missing; run {}", places::peer("install-rules").display());
    for ours in ours {
        let output = Command::new(&python)
            .arg(places::peer("rules.py"))
            .arg(files().join("skeleton.json"))
            .arg(ours.variant)
            .output()
            .context("the peers cannot be started")?;
        ensure!(output.status.success(), "the peers failed: {}", String::from_utf8_lossy(&output.stderr));
        println!("{}: beside peers, microseconds", ours.variant);
        println!("  {:<44} {:>12} {:>10} {:>8}", "work", "peer", "ours", "ratio");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            // what|which of ours|microseconds
            let mut parts = line.split('|');
            let (Some(what), Some(which), Some(Ok(us))) =
                (parts.next(), parts.next(), parts.next().map(str::parse::<f64>))
            else {
                continue;
            };
            let own = match which {
                "build" => ours.build,
                "symbolic" => ours.build + ours.symbolic,
                "evaluate" => ours.evaluate,
                "iteration" => ours.iteration,
                "solve near" => ours.solve[0],
                "nearest near" => ours.nearest[0],
                "nearest far" => ours.nearest[1],
                _ => f64::NAN,
            };
            println!("  {what:<44} {us:12.2} {own:10.2} {:7.1}x", us / own);
        }
    }
    Ok(())
}
