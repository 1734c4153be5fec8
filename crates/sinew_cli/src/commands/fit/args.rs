//! Arguments of `sinew fit`.

use crate::commands::names::one_of;
use clap::Args;
use sinew::session::Engine;
use sinew::skin::{Blending, BoneKind, Grouping};
use std::path::PathBuf;

/// Turn a deforming mesh into bones and weights: a compact skin for any glTF player
#[derive(Args)]
#[command(
    after_help = "E_RMS_diag1 is the root mean square error in percent of the diagonal of the rest pose; E_RMS, dE and \
                  d_avg are those of Antonopoulos (2010, eqs. 6.1 to 6.3). All are measured on the written file.\n\n\
                  Rigid bones rotate and translate, which every engine plays alike: one joint each, in a tree below a root. Affine bones \
                  (--transforms affine) also scale and shear: half to two thirds of the error, but two joints each and larger files. \
                  Unreal does not play shear, so the error there is many times larger; --for warns about this."
)]
pub struct FitArgs {
    /// Folders of numbered meshes, caches (abc, pc2, mdd), or glb files with an animation; several share bones and weights, and each becomes a
    /// clip
    #[arg(required = true)]
    pub sequences: Vec<PathBuf>,
    /// Mesh that the caches (pc2, mdd) deform [default: the mesh file of the same name beside each]
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Number of bones [default: 50 to 255 (127 affine), as predicted to keep 99 % of facet normals within 12°, fewer if the file
    /// would be larger than the frames; 50 with --decimate, --joints, --weights or --sample]
    #[arg(long, value_name = "K", conflicts_with = "error")]
    pub bones: Option<usize>,
    /// Instead of a number of bones: use as few as reach this error, such as 0.1% of the diagonal (E_RMS_diag1)
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub error: Option<f64>,
    /// Largest number of bones per vertex; many players ignore more than 4 [default: 4, which every program supports]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    pub influences: Option<u8>,
    /// Kind of bones: rigid ones play alike everywhere; affine ones also scale and shear
    #[arg(long, default_value = "rigid", value_parser = one_of(BoneKind::ALL, BoneKind::name))]
    pub transforms: BoneKind,
    /// Keep within the limits of a program: bones per vertex, joints per skin, shear
    #[arg(long = "for", value_name = "PROGRAM", value_parser = one_of(Engine::ALL, Engine::name))]
    pub engine: Option<Engine>,
    /// How firmly the corrected rest pose keeps its edges, as a length in percent of the diagonal; 0 corrects freely: slightly less
    /// error, but the bind pose may be torn
    /// [default: 0.5]
    #[arg(long, value_name = "PERCENT", value_parser = stiffness)]
    pub stiffness: Option<f64>,
    /// All joints of rigid bones below one root, instead of a tree
    #[arg(long)]
    pub flat: bool,
    /// Do not correct the rest pose
    #[arg(long)]
    pub keep_rest: bool,
    /// Largest number of refinement rounds
    #[arg(long, value_name = "N", default_value_t = 80, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub rounds: u16,
    /// Try several starts and refine the best to the end; about three times slower
    #[arg(long)]
    pub thorough: bool,
    /// Stop refining after this many seconds and write the best result so far
    #[arg(long, value_name = "S")]
    pub seconds: Option<f64>,
    /// Place proxy joints as in Antonopoulos (2010): denser where the surface deforms more (deform), or evenly (pcenter)
    #[arg(long, value_name = "WHERE", value_parser = ["deform", "pcenter"])]
    pub joints: Option<String>,
    /// Compute weights from proxy joints as in Antonopoulos (2010)
    #[arg(long, value_name = "HOW", value_parser = one_of(Blending::ALL, Blending::name))]
    pub weights: Option<Blending>,
    /// With --joints deform: how facets are grouped [default: growing]
    #[arg(long, value_name = "HOW", value_parser = one_of(Grouping::ALL, Grouping::name), requires = "joints")]
    pub grouping: Option<Grouping>,
    /// With --joints: how transforms are found [default: direct]
    #[arg(long, value_name = "HOW", value_parser = ["direct", "lsqr"], requires = "joints")]
    pub transforms_by: Option<String>,
    /// With --joints: enlargement of a joint's reach [default: 1.6]
    #[arg(long, value_name = "P", requires = "joints")]
    pub p_factor: Option<f64>,
    /// With --weights convolution: passes [default: 5]
    #[arg(long, value_name = "N", requires = "joints")]
    pub passes: Option<u16>,
    /// With --joints deform: number of regions of similar deformation [default: 20]
    #[arg(long, value_name = "N", requires = "joints")]
    pub regions: Option<u16>,
    /// With --joints: correct the weights after the transforms are found
    #[arg(long, requires = "joints")]
    pub correct_weights: bool,
    /// Fit the bones to a sequence with this share of its vertices removed
    #[arg(long, value_name = "SHARE", conflicts_with = "error")]
    pub decimate: Option<f64>,
    /// With --decimate: where merged vertices are placed [default: second]
    #[arg(long, value_name = "WHERE", value_parser = ["second", "optimal"], requires = "decimate")]
    pub merge: Option<String>,
    /// With --decimate and --joints deform: one queue of contractions, or one per region [default: global]
    #[arg(long, value_name = "WHICH", value_parser = ["global", "regions"], requires = "decimate")]
    pub queue: Option<String>,
    /// Number of corrections of the rest pose to add as morph targets (EigenSkin)
    #[arg(long, value_name = "F", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub eigenskin: u16,
    /// Hold only about N vertices in memory and read the frames three times; the rest pose is not corrected
    #[arg(long, value_name = "N", conflicts_with_all = ["error", "decimate", "joints", "weights", "report"])]
    pub sample: Option<usize>,
    /// Write a page that shows the errors on the surface (html)
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Frames per second, of all clips [default: as the first input, else 30]
    #[arg(long)]
    pub fps: Option<f64>,
    /// Largest vertex error when keys are removed, in percent of the diagonal [default: a tenth of the error]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub key_tolerance: Option<f64>,
    /// Write weights with 16 bits and normals with 8; done anyway if the file would be larger than the frames
    #[arg(long)]
    pub quantize: bool,
    /// File to write (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

/// A positive number, with or without a percent sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent > 0.0 => Ok(percent),
        _ => Err("give a positive percentage, such as 0.1%".to_owned()),
    }
}

/// A share of the diagonal that may be 0, with or without a percent sign.
fn stiffness(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("give a percentage from 0 to 100, such as 0.5".to_owned()),
    }
}
