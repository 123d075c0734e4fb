//! Truth on disk: the sealed log, and the views folded from it.
//!
//! Synchronous, and the only crate that names the key-value engine. It does not know what a belief
//! means: it stores entries by offset and rows by key.

pub mod ballast;
pub mod entry;
pub mod log;
pub mod kv;
pub mod codec;
pub mod view;
pub mod keys;
pub mod blob;
pub mod audit;
pub mod ledger;
pub mod certificate;
