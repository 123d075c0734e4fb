//! Evidence bundles of the AEGX format, version 0.1: reading, verifying and writing them.
//!
//! A bundle is a list of files: a manifest, records, a hash chain over the records, and blobs. Bytes
//! come in, values and reports go out; nothing here opens a file, asks the time or draws a number. The
//! crate stands alone so that a build can leave it out (see `NOTICE` beside `Cargo.toml`).

pub mod model;
pub mod instant;
pub mod digest;
pub mod source;
pub mod report;
mod lines;
mod shape;
mod blobs;
mod records;
mod audit;
pub mod verify;
pub mod read;
pub mod proof;
pub mod pseudonym;
pub mod write;
pub mod targets;

pub use digest::Payload;
pub use model::{BlobReference, Hash, Principal, RecordType, Taint, TaintSet, ZERO_HASH};
pub use report::{Finding, FindingClass, FindingCode, Report};
pub use source::{BundleEntry, BundleSource, EntryKind, MemoryBundle, ZipBundle};
pub use verify::{VerifyLimits, VerifyMode, VerifyOptions, verify, verify_zip};

/// The file of the manifest.
pub const MANIFEST: &str = "manifest.json";
/// The file of the records.
pub const RECORDS: &str = "records.jsonl";
/// The file of the audit log.
pub const AUDIT_LOG: &str = "audit-log.jsonl";
/// The folder of the blobs.
pub const BLOBS: &str = "blobs";
/// The file that keeps an empty folder of blobs.
pub const KEEP: &str = "blobs/.keep";

#[cfg(test)]
mod tests;
