//! Version 1 of the API, one file per family of routes.

pub mod experience;
pub mod events;
pub mod lifecycle;
pub mod blobs;
pub mod admin;
