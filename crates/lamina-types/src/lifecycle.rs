//! Stages of an event and the lifecycle events that announce them.
//!
//! A memory event (`evt_`) passes through several lifecycle events (`lce_`); the two words are
//! never mixed.

use std::fmt;

use crate::error_code::ErrorCode;
use crate::forget::Cascade;
use crate::ids::{
    AuditId, BatchId, BeliefId, ConceptId, EpisodeId, ErasureId, EventId, ExportId, FactId,
    ImportId, LifecycleId,
};
use crate::model_fault::ModelFault;
use crate::recall::Layer;
use crate::scope::ScopePath;
use crate::time::Micros;

/// A stage of the write path, in the only order it runs (R423).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stage {
    /// In the log.
    Captured = 1,
    /// Candidates were taken from it.
    Extracted = 2,
    /// Search can find it.
    Indexed = 3,
    /// Facts and beliefs reflect it.
    Consolidated = 4,
    /// Its episode or concept was sealed.
    Compressed = 5,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: &'static [Stage] = &[
        Stage::Captured,
        Stage::Extracted,
        Stage::Indexed,
        Stage::Consolidated,
        Stage::Compressed,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Captured => "captured",
            Stage::Extracted => "extracted",
            Stage::Indexed => "indexed",
            Stage::Consolidated => "consolidated",
            Stage::Compressed => "compressed",
        }
    }

    /// The stage with this number.
    pub fn from_u8(value: u8) -> Option<Stage> {
        Stage::ALL.iter().copied().find(|stage| *stage as u8 == value)
    }

    /// The stage that follows.
    pub fn next(self) -> Option<Stage> {
        Stage::from_u8(self as u8 + 1)
    }
}

/// What a lifecycle event announces. The names are those of the stream's `event:` field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum LifecycleKind {
    /// A stage of an event was completed.
    Stage(Stage),
    /// A stage failed for good; the event stays searchable.
    Failed(Stage),
    /// The remaining stages were cancelled.
    Cancelled,
    /// A later answer has come in the place of the first.
    Revised,
    /// A language model gave no answer that could be used; the first one stands.
    ModelFailed,
    /// Records of a scope were forgotten; not about one memory event.
    Forgotten,
    /// An erasure has come further (R388).
    ErasureProgress,
    /// An erasure is over (R388).
    ErasureComplete,
    /// An import has come further (R386).
    ImportProgress,
    /// An import is over (R386).
    ImportComplete,
    /// A row of an import was refused (R386).
    ImportError,
    /// An export has come further (R387).
    ExportProgress,
    /// An export is over (R387).
    ExportComplete,
}

impl LifecycleKind {
    /// The name in the stream's `event:` field.
    pub fn as_str(self) -> &'static str {
        match self {
            LifecycleKind::Stage(stage) => stage.as_str(),
            LifecycleKind::Failed(_) => "failed",
            LifecycleKind::Cancelled => "cancelled",
            LifecycleKind::Revised => "revised",
            LifecycleKind::ModelFailed => "model_failed",
            LifecycleKind::Forgotten => "forgotten",
            LifecycleKind::ErasureProgress => "erasure_progress",
            LifecycleKind::ErasureComplete => "erasure_complete",
            LifecycleKind::ImportProgress => "import_progress",
            LifecycleKind::ImportComplete => "import_complete",
            LifecycleKind::ImportError => "import_error",
            LifecycleKind::ExportProgress => "export_progress",
            LifecycleKind::ExportComplete => "export_complete",
        }
    }

    /// The stage it is about, if any.
    pub fn stage(self) -> Option<Stage> {
        match self {
            LifecycleKind::Stage(stage) | LifecycleKind::Failed(stage) => Some(stage),
            LifecycleKind::Cancelled
            | LifecycleKind::Revised
            | LifecycleKind::ModelFailed
            | LifecycleKind::Forgotten
            | LifecycleKind::ErasureProgress
            | LifecycleKind::ErasureComplete
            | LifecycleKind::ImportProgress
            | LifecycleKind::ImportComplete
            | LifecycleKind::ImportError
            | LifecycleKind::ExportProgress
            | LifecycleKind::ExportComplete => None,
        }
    }

    /// Whether it is about a memory event, and not about a scope.
    pub fn is_of_event(self) -> bool {
        !matches!(
            self,
            LifecycleKind::Forgotten
                | LifecycleKind::ErasureProgress
                | LifecycleKind::ErasureComplete
                | LifecycleKind::ImportProgress
                | LifecycleKind::ImportComplete
                | LifecycleKind::ImportError
                | LifecycleKind::ExportProgress
                | LifecycleKind::ExportComplete
        )
    }
}

/// One lifecycle event. Ids and counts only: no words.
#[derive(Debug, Clone, PartialEq)]
pub struct LifecycleEvent {
    /// Its id; the resume cursor.
    pub id: LifecycleId,
    /// What it announces.
    pub kind: LifecycleKind,
    /// The memory event; of what was forgotten, the entry that says so.
    pub event_id: EventId,
    /// The home scope of the event.
    pub scope: ScopePath,
    /// When it was announced.
    pub at: Micros,
    /// The position within the lifecycle of this event, from 1 (R423).
    pub seq: u32,
    /// The bulk write the event came with.
    pub batch_id: Option<BatchId>,
    /// What the stage reports.
    pub payload: Payload,
}

/// What a stage reports, beyond the event id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Payload {
    /// R378. Actor and modality are fetched from the log when the row is shown.
    Captured {
        /// The tenant's sequence number.
        wal_offset: u64,
    },
    /// R379.
    Extracted {
        /// Facts derived.
        facts: u32,
        /// Entities found.
        entities: u32,
        /// Beliefs touched.
        beliefs: u32,
        /// Episodes touched.
        episodes: u32,
    },
    /// R380.
    Indexed {
        /// Which layers search can now find it in, as a bit set of the five layers (events = 1).
        layers: u8,
    },
    /// R381.
    Consolidated {
        /// Beliefs revised.
        beliefs_updated: u32,
        /// Conflicts resolved.
        conflicts_resolved: u32,
        /// Facts superseded.
        superseded_facts: u32,
    },
    /// R382.
    Compressed {
        /// The episode that was sealed.
        episode: EpisodeId,
        /// Concepts that have a new version for it.
        understanding: Vec<ConceptId>,
    },
    /// A stage gave up.
    Failed {
        /// How often it was tried.
        attempts: u32,
    },
    /// Stages that will not run any more.
    Cancelled {
        /// They start with this stage; `None`: every stage had run.
        from: Option<Stage>,
        /// What became of the records that stood on the event.
        dependants: Box<Dependants>,
    },
    /// What the answer that came in the place of the first has found, and what it took.
    Revised {
        /// Facts derived.
        facts: u32,
        /// Entities found.
        entities: u32,
        /// Claims that the words do not bear out.
        ungrounded: u32,
        /// Tokens that the model was shown for this event.
        input_tokens: u64,
        /// Tokens that it answered with.
        output_tokens: u64,
        /// Money, in millionths of its unit.
        cost_micros: u64,
    },
    /// R383. Who asked for it is fetched from the log when the row is shown.
    Forgotten {
        /// The layer.
        layer: Layer,
        /// Records of it that are gone.
        count: u64,
        /// How far it went.
        cascade: Cascade,
    },
    /// R388. How far an erasure has come.
    Erasure(Box<ErasureReached>),
    /// R386. The progress of an import.
    Import(Box<ImportReached>),
    /// R386. A row of an import that was refused.
    ImportError {
        /// Which import.
        import: ImportId,
        /// The line of the row, where lines tell the place.
        line: Option<u64>,
        /// The error.
        code: ErrorCode,
    },
    /// R387. How far an export has come. It has no row: exports leave nothing in the data directory.
    Export(Box<ExportReached>),
    /// Why the model gave no answer that could be used.
    ModelFailed {
        /// What went wrong last.
        fault: ModelFault,
        /// How often it was asked.
        attempts: u32,
    },
}

/// How far an erasure has come, or what it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureReached {
    /// Which.
    pub erasure: ErasureId,
    /// The number of its phase, from 1.
    pub phase: u8,
    /// How much of it is done, in ten-thousandths.
    pub done: u16,
    /// It was cancelled.
    pub cancelled: bool,
    /// Events deleted, redacted and held; facts and beliefs deleted; beliefs demoted; episodes deleted.
    pub counts: [u64; 7],
    /// The row of the audit log.
    pub audit_id: AuditId,
}

/// The progress of an import, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportReached {
    /// Which import.
    pub import: ImportId,
    /// The share that is done, in ten-thousandths.
    pub done: u16,
    /// Rows consumed.
    pub processed: u64,
    /// Rows in all, if that is known.
    pub total: Option<u64>,
    /// Rows written, known, replaced, skipped and failed.
    pub counts: [u64; 5],
    /// 0 while it runs; then 1 completed, 2 failed, 3 cancelled.
    pub outcome: u8,
}

/// How far an export has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportReached {
    /// Which.
    pub export: ExportId,
    /// How much of it is done, in ten-thousandths.
    pub done: u16,
    /// Where its bytes are, without a query that could hold a secret.
    pub url: String,
    /// Its bytes so far.
    pub size_bytes: u64,
}

/// Records that a lifecycle event names of one fate; more are counted only.
pub const DEPENDANTS_NAMED_MAX: usize = 32;

/// A derived record, of whatever layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derived {
    /// What belongs together.
    Episode(EpisodeId),
    /// What is so.
    Fact(FactId),
    /// What is believed.
    Belief(BeliefId),
    /// What is understood.
    Concept(ConceptId),
}

impl fmt::Display for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Derived::Episode(id) => id.fmt(f),
            Derived::Fact(id) => id.fmt(f),
            Derived::Belief(id) => id.fmt(f),
            Derived::Concept(id) => id.fmt(f),
        }
    }
}

/// What became of records when something was taken back that they stood on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Fate {
    /// It was made again from what is left, or came to be in the place of another.
    Rederived = 0,
    /// It is less sure than before, or is shown to those only who ask for what was given up.
    Demoted = 1,
    /// It stands, and says that it does not know of the loss yet.
    Stale = 2,
    /// It is gone.
    Removed = 3,
}

impl Fate {
    /// All of them.
    pub const ALL: [Fate; 4] = [Fate::Rederived, Fate::Demoted, Fate::Stale, Fate::Removed];

    /// As lifecycle events say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Fate::Rederived => "rederived",
            Fate::Demoted => "demoted",
            Fate::Stale => "stale",
            Fate::Removed => "removed",
        }
    }
}

/// The records that stood on something that was taken back, by what became of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dependants([Fated; 4]);

/// The records of one fate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fated {
    /// How many.
    pub count: u32,
    /// The first of them, at most [`DEPENDANTS_NAMED_MAX`].
    pub named: Vec<Derived>,
}

impl Dependants {
    /// Those of one fate.
    pub fn of(&self, fate: Fate) -> &Fated {
        let [rederived, demoted, stale, removed] = &self.0;
        match fate {
            Fate::Rederived => rederived,
            Fate::Demoted => demoted,
            Fate::Stale => stale,
            Fate::Removed => removed,
        }
    }

    /// The same, to change them.
    pub fn of_mut(&mut self, fate: Fate) -> &mut Fated {
        let [rederived, demoted, stale, removed] = &mut self.0;
        match fate {
            Fate::Rederived => rederived,
            Fate::Demoted => demoted,
            Fate::Stale => stale,
            Fate::Removed => removed,
        }
    }

    /// One more.
    pub fn add(&mut self, fate: Fate, record: Derived) {
        let fated = self.of_mut(fate);
        fated.count = fated.count.saturating_add(1);
        if fated.named.len() < DEPENDANTS_NAMED_MAX {
            fated.named.push(record);
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|fated| fated.count == 0)
    }
}
