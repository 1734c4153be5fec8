//! Tests of the readers of meshes, motions and recordings on good, bad, random and damaged files.

#![allow(clippy::unwrap_used)] // A test may fail anywhere.

mod bvh;
mod caches;
mod hostile;
mod judges;
mod obj;
mod off;
mod ply;
mod recording;
mod sequence;
mod skeleton;
mod stl;
mod support;
mod sweeps;
mod usd;
