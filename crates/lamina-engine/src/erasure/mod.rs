//! Erasing a person or a place: everything that belongs to a scope and what is below it, as far as nothing
//! outside refers to it.
//!
//! What goes and what stays is found by one function (`plan`), for the preview and for the execution. An
//! erasure is a job: its beginning, each of its phases and its end are entries of the log, so that one that
//! a crash cut short is taken up again by the next start and finishes, whatever has changed since.

mod blobs;
mod certify;
mod holds;
mod manifest;
mod plan;
mod preview;
mod previews;
mod reach;
mod restored;
mod run;
mod veil;
mod words;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use lamina_core::policy::Tier;
pub use lamina_store::codec::control::ErasureCounts;
use lamina_types::{
    ActorId, AuditId, ErasureId, ErasurePreviewId, EventId, ForgetPreviewId, ScopePath,
};
use parking_lot::Mutex;

pub use crate::derive::erasures::Outcome;
use crate::forget::Counts;
pub use certify::Certified;
pub use holds::Hold;
pub use manifest::{HiddenReach, Manifest};
use previews::{Manifests, Previews};
pub use reach::ErasureRights;
use veil::Veil;

/// The phases of an erasure, in their order (R366-R370).
pub const PHASES: [&str; 5] = ["enumerate", "refcount", "categorize", "delete", "demote"];

/// What is asked for.
#[derive(Debug, Clone)]
pub struct ErasureAsked {
    /// The scope, with everything below it.
    pub scope: ScopePath,
    /// Only these events; none: all.
    pub events: Vec<EventId>,
    /// Only if this preview showed what there still is.
    pub preview: Option<PreviewOf>,
    /// The same key again is the same erasure.
    pub idempotency_key: Option<String>,
}

/// A preview that a request refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviewOf {
    /// Of an erasure.
    Erasure(ErasurePreviewId),
    /// Of a request to forget.
    Forget(ForgetPreviewId),
}

/// A scope outside that an erasure reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Affected {
    /// The scope.
    pub scope: ScopePath,
    /// Events that it refers to or that were written into it.
    pub events: u64,
    /// Those who own it and not what is erased.
    pub co_owners: Vec<ActorId>,
}

/// Events that an erasure is about, in numbers, also of those that its caller may not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedEvents {
    /// Those that go as if never said.
    pub delete: u64,
    /// Those whose words go, and that others refer to.
    pub redact: u64,
    /// Those that a hold keeps.
    pub held: u64,
    /// Those of others that speak of the person: they stay.
    pub mentions: u64,
}

/// What an erasure would do.
#[derive(Debug, Clone)]
pub struct ErasurePreview {
    /// Its id.
    pub id: ErasurePreviewId,
    /// Records that would go, by layer.
    pub affected: Counts,
    /// Events, in numbers.
    pub events: PlannedEvents,
    /// Line by line, as far as the caller may read.
    pub manifest: Arc<Manifest>,
    /// The scopes outside that it reaches and the caller may read.
    pub reaches: Vec<Affected>,
    /// It reaches a scope outside, readable or not.
    pub crosses: bool,
    /// Scopes and events that the caller may not read.
    pub hidden: HiddenReach,
    /// Scopes below that others have: they are left alone.
    pub left_alone: u64,
    /// Holds on the scope, above it or below it.
    pub holds: Vec<Hold>,
    /// How long it would take, roughly.
    pub duration_ms: u64,
    /// The idempotency key was used before for the same: this is the preview of then.
    pub replayed: bool,
}

/// An erasure that was taken on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureAccepted {
    /// Its id.
    pub id: ErasureId,
    /// The idempotency key was used before for the same: this is the erasure of then.
    pub replayed: bool,
    /// The innermost tier that let it reach beyond the scope, if it does.
    pub crosses: Option<Tier>,
}

/// How far an erasure has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureStatus {
    /// Which.
    pub id: ErasureId,
    /// What became of it.
    pub outcome: Outcome,
    /// The number of its phase, from 0.
    pub phase: usize,
    /// How much of it is done, in ten-thousandths.
    pub done: u16,
    /// What was done.
    pub counts: ErasureCounts,
    /// Bytes of files that held something of it, and bytes written to be rid of it.
    pub bytes: (u64, u64),
    /// How long it took, or has taken so far.
    pub elapsed_ms: u64,
    /// The row of the audit log.
    pub audit_id: AuditId,
}

/// An erasure at work.
#[derive(Debug, Default)]
struct Work {
    /// Somebody wants it to stop at the next boundary.
    stop: AtomicBool,
    /// Events whose words are gone, and all that are to go.
    done: AtomicU64,
    all: AtomicU64,
    /// Events to delete and to redact in all, once that is known.
    planned: Mutex<Option<(u64, u64)>>,
}

/// What erasures keep in memory.
#[derive(Debug, Default)]
pub(crate) struct ErasureDesk {
    previews: Previews,
    manifests: Manifests,
    veil: Veil,
    at_work: Mutex<HashMap<ErasureId, Arc<Work>>>,
    /// They begin one after the other.
    beginning: tokio::sync::Mutex<()>,
}
