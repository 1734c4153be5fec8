//! py-dem-bones, as its own process on one thread.

use super::data::Sequence;
use crate::places;
use anyhow::{Context, ensure};
use std::process::Command;

/// What the peer reached.
pub struct Peer {
    pub error: f64,
    pub cpu: f64,
}

impl Peer {
    /// Fit a sequence at 30 iterations and 4 influences.
    pub fn run(sequence: &Sequence, bones: usize, trans_affine: f64) -> anyhow::Result<Self> {
        let python = places::tools("SINEW_PEERS_FIT", "peers-fit").join("bin/python");
        let install = places::peer("install");
        ensure!(python.exists(), "{}: not there; run {}", python.display(), install.display());
        let file = std::env::temp_dir().join(format!("sinew-{}-{}.bin", sequence.name, std::process::id()));
        std::fs::write(&file, sequence.to_bytes())?;
        let output = Command::new(python)
            .arg(places::peer("dem_bones.py"))
            .arg(&file)
            .args([bones.to_string(), trans_affine.to_string()])
            .env("OMP_NUM_THREADS", "1")
            .output()?;
        std::fs::remove_file(&file)?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |key: &str| -> anyhow::Result<f64> {
            let (_, rest) = text.split_once(&format!("\"{key}\": ")).with_context(|| format!("no {key}"))?;
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            Ok(rest[..end].trim().parse()?)
        };
        Ok(Self { error: number("E_RMS_diag1")?, cpu: number("cpu")? })
    }
}
