//! The studio: a local server, and the page it serves.
//!
//! ```text
//! browser ◄─ socket ─► Studio ─► Session (document, history, journal)
//!    ▲                   │ newest drag, newest display
//!    └── frames ◄── engine thread (prepares, solves)     jobs on threads of their own
//! ```
//! `PROTOCOL.md` says what goes over the wire.

mod assets;
mod engine;
mod examples;
mod files;
mod fit;
mod flesh;
mod frames;
mod guard;
mod news;
mod painter;
mod puppet;
mod requests;
mod rules;
mod server;
mod socket;
mod state;
mod studio;
#[cfg(test)]
mod tests;
mod wire;

pub use assets::page_licenses;
pub use server::{StudioOptions, serve};
