//! What flesh meets, and what moves it besides bones, after `sinew flesh`.

use clap::Args;
use std::path::PathBuf;

/// Solid things.
#[derive(Args)]
pub struct ObstacleArgs {
    /// Let flesh meet a floor at this height
    #[arg(long, value_name = "HEIGHT", allow_hyphen_values = true)]
    pub floor: Option<f64>,
    /// A wall: a point of it, and the direction of the side that is free
    #[arg(long, value_name = "X,Y,Z,NX,NY,NZ", allow_hyphen_values = true)]
    pub wall: Vec<String>,
    /// A box in the way: two opposite corners
    #[arg(long = "box", value_name = "X,Y,Z,X,Y,Z", allow_hyphen_values = true)]
    pub boxes: Vec<String>,
    /// A room that flesh stays in: two opposite corners
    #[arg(long, value_name = "X,Y,Z,X,Y,Z", allow_hyphen_values = true)]
    pub room: Option<String>,
    /// A ball in the way: its middle and its radius
    #[arg(long, value_name = "X,Y,Z,R", allow_hyphen_values = true)]
    pub ball: Vec<String>,
    /// A rod with round ends in the way: its ends and its radius
    #[arg(long, value_name = "X,Y,Z,X,Y,Z,R", allow_hyphen_values = true)]
    pub rod: Vec<String>,
    /// Ground that rises and falls: a mesh, seen from above
    #[arg(long, value_name = "FILE")]
    pub terrain: Option<PathBuf>,
    /// Hold a vertex exactly at a place, counted from 0
    #[arg(long, value_name = "VERTEX=X,Y,Z", conflicts_with_all = ["muscles", "moves"])]
    pub pin: Vec<String>,
    /// Friction of everything in the way
    #[arg(long, value_name = "MU", default_value_t = 0.6, allow_hyphen_values = true)]
    pub friction: f64,
}

/// Handles instead of bones.
#[derive(Args)]
pub struct HandleArgs {
    /// Flesh follows handles instead of bones: what to do with them (moves.json)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["clip", "stiffen", "smooth", "muscles", "belts"])]
    pub moves: Option<PathBuf>,
    /// Handles (handles.json) [default: those the model carries, else found as by `handles auto`]
    #[arg(long, value_name = "FILE", requires = "moves")]
    pub handles: Option<PathBuf>,
    /// Seconds the moves take
    #[arg(long, value_name = "S", default_value_t = 1.0, requires = "moves", allow_hyphen_values = true)]
    pub moves_seconds: f64,
}
