//! Tests of the glTF reader and writer on real, broken, random and judged files.

#![allow(clippy::unwrap_used)] // A test may fail anywhere.

mod bad;
mod data;
mod features;
mod host;
mod judges;
mod packed;
mod round_trip;
mod support;
