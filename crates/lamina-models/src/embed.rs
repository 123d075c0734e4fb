//! Meaning as numbers, made by a model: one behind the network, or one whose weights lie in a directory.
//!
//! `wire` speaks the two protocols, `remote` is the only place that touches the network, `transformer` runs
//! a model in this process. What comes out are plain numbers; whoever stores them decides how.

mod wire;
mod remote;
#[cfg(feature = "transformer")]
pub mod transformer;

pub use remote::{RemoteEmbedder, RemoteSettings, Speed};
pub use wire::{EmbedProvider, EmbedWire};

/// Numbers of one vector at most.
pub const DIMS_MAX: usize = 4_096;

#[cfg(test)]
mod tests;
