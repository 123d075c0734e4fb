//! Who or what a name means.
//!
//! Resolution is decided from words, so it runs where words are read and its result is logged with
//! the answer; the fold only sees ids. Careful rather than clever: a wrong merge puts one person's
//! facts on another, a missed one only leaves a duplicate that can be merged later. Merging is
//! recorded and can be taken back, because nothing is moved: one id forwards to the other.

mod name;
mod evidence;
mod meant;
mod near;
mod resolve;
mod registry;
#[cfg(test)]
mod tests;

pub use evidence::{STATED, kind_of_name, kind_of_subject, names_by};
pub use meant::{Bearer, agree, is_same_sort, meant};
pub use name::{NameKey, RelationKey};
pub use near::near_keys;
pub use registry::{Operation, Registry, Row, Statement, What, identify};
pub use resolve::{
    FLOOR, How, Known, Mentioned, Nearness, Resolution, resolve, resolve_possession,
};
