//! The memory export contract of Zaxy: Eventloom logs, `zaxy.export.v1` entries, and the three bundles in
//! which they travel.
//!
//! A log is read by [`EventLog::read`] and checked by [`EventLog::verify`]. [`project`] turns its events
//! into entries by a [`Selector`]. [`unsigned_bundle`] and [`signed_bundle`] wrap them, [`disclose`] cuts a
//! verifiable subset out of a signed bundle, and [`verify_bundle`] judges a file as Zaxy's verifier does.

mod bm25;
mod bundle;
mod coerce;
mod disclose;
mod entry;
mod event;
mod extract;
mod fields;
mod log;
mod native;
mod selector;
mod timestamp;
mod verify;

pub use bundle::{BundleError, SignatureInputs, signed_bundle, to_file, to_line, unsigned_bundle};
pub use coerce::double;
pub use disclose::{DiscloseError, Disclosure, disclose};
pub use entry::{
    OwnSemantics, Projection, ProjectionError, ProjectionWarning, SemanticParts, project,
    project_with,
};
pub use event::{Envelope, LogEvent, RecordError, SecurityRecord, is_log_record};
pub use extract::{Edge, Entity, Extraction, MissingMember, extract};
pub use log::{
    BrokenChain, ChainFault, EventLog, LogError, LogRecord, LogWriter, is_session_name,
    session_name, trim_line,
};
pub use native::{EventSeal, ScopeEvent, SemanticSource, thread_of};
pub use selector::{EntrySelector, Grain, GrainSet, Selector, SelectorError};
pub use verify::{BundleKind, Verdict, VerifyOptions, Warning, verify_bundle, verify_subset};

/// The schema of entries.
pub const ENTRY_SCHEMA: &str = "zaxy.export.v1";
/// The label of imported events whose chain did not hold.
pub const UNVERIFIED_LABEL: &str = "zaxy:unverified";
/// The version of unsigned bundles.
pub const UNSIGNED_VERSION: &str = "zaxy.export.unsigned.v1";
/// The version of signed bundles and of disclosed subsets.
pub const SIGNED_VERSION: &str = "zaxy.portable.v1";

#[cfg(test)]
mod tests;
