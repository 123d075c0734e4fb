//! Concepts: what is understood over many episodes.
//!
//! Things that keep occurring together are one matter: a customer, its renewal and the people who
//! negotiate it. Co-occurrence is counted per sealed episode; what is strongly connected gathers
//! around the thing that occurs most; a gathering of at least two things with at least three
//! supports from at least two episodes is a concept. A name that a label of an event gives
//! (`concept:NAME`) is one from its first episode on. One episode touches a bounded neighbourhood
//! only, and the result equals counting everything again. Ids outlive what they stand for: concepts
//! are versioned, merged and split, never lost.

pub mod things;
pub mod graph;
pub mod cluster;
pub mod settle;
pub mod edges;
pub mod read;
pub mod explore;

pub use cluster::{Closeness, Supports, supports};
pub use edges::{Edge, edges};
pub use graph::{
    Bond, Change, Concept, Digest, Direction, Fact, Graph, GraphMut, Item, Memory, Relation,
    Standing,
};
pub use read::{Described, Gathering, Reading, describe, name, read};
pub use settle::{When, absorb, renew, revise, settle, staleness, support_loss, withdraw};

/// Supports a concept has at least: facts and episodes.
pub const SUPPORTS_MIN: u32 = 3;
/// Episodes those come from at least.
pub const EPISODES_MIN: u32 = 2;
/// Things a concept gathers at least: one thing alone is an entity.
pub const MEMBERS_MIN: usize = 2;
/// Things of one episode that are counted.
pub const ITEMS_MAX: usize = 20;
/// Concepts that labels of one episode name.
pub const LABELS_MAX: usize = 256;
/// Facts of one episode that are counted.
pub const FACTS_MAX: usize = 256;
/// Facts of one thing that are looked at for edges.
pub const LINKS_MAX: usize = 256;
/// Edges of a concept.
pub const EDGES_MAX: usize = 32;
/// The share of supports lost beyond which a concept is deprecated, in ten-thousandths.
pub const SUPPORT_LOSS_MAX: u32 = 5_000;
/// The share of new supports from which a concept is synthesized again, in ten-thousandths.
pub const STALENESS_MAX: u32 = 2_000;
