//! The write path, in the order it runs: prepare (caller's thread), capture (writer thread: decide,
//! append, sync), apply (views), stages (pipeline and lifecycle).

pub mod prepare;
pub mod capture;
mod recent;
mod request;
pub mod room;
pub mod stall;
pub mod writer;
pub mod applied;
pub mod apply;
pub mod stages;
pub mod hub;
pub(crate) mod experience;
pub mod episodes;
pub(crate) mod resolve;
pub mod understanding;
mod declare;
pub(crate) mod entities;
#[cfg(test)]
pub(crate) mod testing;

pub use declare::{BeliefSupportId, BeliefToDeclare};
use lamina_types::{AuditId, BatchId, EventId, Experience, RecordedAt, Stage};

/// One experience to write.
#[derive(Debug, Clone)]
pub struct Write {
    /// What was experienced.
    pub experience: Experience,
    /// Its idempotency key was drawn for it, so no event before it can have the same.
    pub key_drawn: bool,
    /// Canonical bytes of the body's identity: a retry has the same ones.
    pub identity: Vec<u8>,
    /// The id of the request, for the entry's `who`.
    pub request_id: String,
}

/// What became of one experience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Its id.
    pub event_id: EventId,
    /// The tenant's sequence number.
    pub wal_offset: u64,
    /// When the log accepted it.
    pub recorded_at: RecordedAt,
    /// It had been written before under the same key.
    pub replayed: bool,
    /// It had been written before, with other hints.
    pub hints_conflict: bool,
    /// The audit row of the write.
    pub audit_id: AuditId,
}

/// What became of a bulk write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkCaptured {
    /// The batch.
    pub batch_id: BatchId,
    /// One per item, in order.
    pub items: Vec<Captured>,
    /// Every item had been written before.
    pub replayed: bool,
}

/// What became of a cancellation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// The event.
    pub event_id: EventId,
    /// Stages that will not run any more.
    pub cancelled: Vec<Stage>,
    /// Stages that had run.
    pub completed: Vec<Stage>,
    /// The audit row of the cancellation.
    pub audit_id: AuditId,
}

/// How long a writer wants to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// Until this stage is done or will never be.
    Stage(Stage),
    /// Until nothing more will happen.
    Settled,
}
