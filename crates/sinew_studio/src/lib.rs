//! The studio: a local server, and the page it serves.
//!
//! ```text
//! page ◄─ socket ─► wire::Page ─► registry ─► capabilities ─► Session (document, history, journal)
//!   ▲                                             │ newest drag, newest display
//!   └────────────── frames ◄── engine thread (prepares, solves)     jobs on threads of their own
//! ```
//! `PROTOCOL.md` describes the messages; it and the page's `protocol.ts` are generated from the types in `wire` and
//! `capabilities`.

mod assets;
mod capabilities;
mod door;
mod engine;
mod files;
mod frames;
mod guard;
mod locks;
mod news;
mod painter;
mod server;
mod socket;
mod studio;
#[cfg(test)]
mod tests;
mod wire;

pub use assets::page_licenses;
pub use server::{StudioOptions, serve};
