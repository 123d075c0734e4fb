//! The read path: events by id and by scope, lifecycle history and live streams.

pub mod walk;
pub mod events;
pub mod episodes;
pub mod facts;
pub mod entities;
pub mod conflicts;
pub mod claims;
pub mod understanding;
pub mod cost;
pub mod layers;
pub mod render;
pub mod recall;
pub mod answer;
pub mod checkout;
pub mod indexed;
pub mod beliefs;
pub mod export;
pub mod session;
mod derives;
pub mod lifecycle;
pub mod stream;

use lamina_types::lifecycle::Payload;
use lamina_types::{
    ActorId, BatchId, ErasureId, EventId, EventRecord, ExportId, ImportId, LifecycleEvent, Micros,
    ScopePath, Stage,
};

pub use stream::{StreamItem, Subscription};
pub use walk::{ReadPermit, Traversed, Walked};

/// Which time orders a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// When it happened.
    Observed,
    /// When the log accepted it.
    Recorded,
}

/// A question for events.
#[derive(Debug, Clone)]
pub struct EventsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// Which time orders the list.
    pub axis: Axis,
    /// Newest first, or oldest first.
    pub newest_first: bool,
    /// Happened in `from..to`.
    pub observed: (Option<Micros>, Option<Micros>),
    /// Recorded in `from..to`.
    pub recorded: (Option<Micros>, Option<Micros>),
    /// Done by this actor.
    pub actor: Option<ActorId>,
    /// Of this modality.
    pub modality: Option<String>,
    /// With any of these labels; empty is any.
    pub labels: Vec<String>,
    /// After this position of an earlier page.
    pub after: Option<ScanKey>,
    /// Leave out so many first.
    pub skip: usize,
    /// At most so many.
    pub limit: usize,
}

/// A position in a list: the time it is ordered by, and the tenant's sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanKey {
    /// Microseconds on the list's axis.
    pub at: i64,
    /// The tenant's sequence number.
    pub seq: u64,
}

/// One page of events.
#[derive(Debug, Clone)]
pub struct EventsPage {
    /// The events.
    pub items: Vec<EventRecord>,
    /// Events of the page whose stored bytes are damaged.
    pub damaged: Vec<EventId>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ScanKey>,
    /// What the next page still has to leave out: more than 0 only if this one ended early, before
    /// it had passed over all that the question leaves out.
    pub skip_left: usize,
    /// Of a walk down: where the events are from, and on the first page what was left out.
    pub traversed: Option<Vec<Traversed>>,
}

/// Which lifecycle events to show.
#[derive(Debug, Clone, Default)]
pub struct LifecycleFilter {
    /// The tenant.
    pub tenant: u32,
    /// Of events in exactly this scope.
    pub scope: Option<ScopePath>,
    /// Of this event.
    pub event: Option<EventId>,
    /// Of this bulk write.
    pub batch: Option<BatchId>,
    /// With one of these names.
    pub kinds: Option<Vec<String>>,
    /// Of this erasure.
    pub erasure: Option<ErasureId>,
    /// Of this import.
    pub import: Option<ImportId>,
    /// Of this export.
    pub export: Option<ExportId>,
    /// Of a job that has no lifecycle events.
    pub nothing: bool,
}

impl LifecycleFilter {
    pub(crate) fn passes(&self, shown: &Shown) -> bool {
        !self.nothing
            && self.tenant == shown.tenant
            && self.scope.as_ref().is_none_or(|scope| *scope == shown.event.scope)
            && self.event.is_none_or(|event| event == shown.event.event_id)
            && self.is_of_erasure(&shown.event.payload)
            && self.is_of_import(&shown.event.payload)
            && self.is_of_export(&shown.event.payload)
            && self.batch.is_none_or(|batch| Some(batch) == shown.event.batch_id)
            && self
                .kinds
                .as_ref()
                .is_none_or(|kinds| kinds.iter().any(|kind| kind == shown.event.kind.as_str()))
    }

    /// Whether it is of the import that is asked about, if one is.
    pub(crate) fn is_of_import(&self, payload: &Payload) -> bool {
        self.import.is_none_or(|id| match payload {
            Payload::Import(reached) => reached.import == id,
            Payload::ImportError { import, .. } => *import == id,
            _ => false,
        })
    }

    /// Whether it is of the export that is asked about, if one is.
    pub(crate) fn is_of_export(&self, payload: &Payload) -> bool {
        self.export
            .is_none_or(|id| matches!(payload, Payload::Export(reached) if reached.export == id))
    }

    /// Whether it is of the erasure that is asked about, if one is.
    pub(crate) fn is_of_erasure(&self, payload: &Payload) -> bool {
        self.erasure
            .is_none_or(|id| matches!(payload, Payload::Erasure(reached) if reached.erasure == id))
    }
}

/// A lifecycle event with the words that its rows do not hold.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The tenant.
    pub tenant: u32,
    /// The lifecycle event.
    pub event: LifecycleEvent,
    /// Who did it; only with `captured`, and only while the words are there.
    pub actor: Option<ActorId>,
    /// How it reached us; likewise.
    pub modality: Option<String>,
}

/// One page of lifecycle events.
#[derive(Debug, Clone)]
pub struct LifecyclePage {
    /// The lifecycle events, oldest first.
    pub items: Vec<Shown>,
    /// There are more.
    pub has_more: bool,
    /// Where to go on: the last row that was looked at.
    pub next: Option<lamina_types::LifecycleId>,
}

/// How far an event has come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Stages that are done, in order.
    pub completed: Vec<Stage>,
    /// Stages that will still run.
    pub pending: Vec<Stage>,
    /// Stages that gave up, and after how many tries.
    pub failed: Vec<(Stage, u32)>,
    /// The remaining stages were cancelled.
    pub cancelled: bool,
    /// Nothing more will happen.
    pub settled: bool,
    /// How long each stage took, where known.
    pub elapsed_us: Vec<(Stage, i64)>,
}

/// Everything the lifecycle knows about an event.
#[derive(Debug, Clone)]
pub struct MemoryEvent {
    /// The event.
    pub event_id: EventId,
    /// How far it has come.
    pub progress: Progress,
    /// Its lifecycle events, in order.
    pub rows: Vec<Shown>,
}
