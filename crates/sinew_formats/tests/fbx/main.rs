//! Tests of the FBX reader: on files made here, on files of other programs with their own poses, and on damaged ones.

#![allow(clippy::unwrap_used)] // A test may fail anywhere.
#![cfg(feature = "fbx")]

mod bad;
mod made;
mod others;
mod support;
