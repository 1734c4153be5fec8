//! Tests of the glTF reader and writer on real, broken, random and judged files.

mod bad;
mod data;
mod judges;
mod round_trip;
mod support;
