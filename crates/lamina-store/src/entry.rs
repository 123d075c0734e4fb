//! A log entry as the rest of the system sees it: a sealed head and two erasable sections.
//!
//! The head holds no personal data, only ordinals and commitments. `who` and `what` hold the words;
//! each can be zeroed on its own without breaking a seal.

use lamina_types::{EventId, Micros, RecordedAt};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A memory event.
    Experience = 1,
    /// What rules or a model made of one event.
    Answer = 2,
    /// A change of state that is not an experience; see [`control`].
    Control = 3,
    /// Time passed while a deadline was due and nothing else was written.
    Tick = 4,
    /// The writer was idle: what stands before this was complete.
    Mark = 5,
}

impl Kind {
    /// The kind with this number.
    pub fn from_u8(value: u8) -> Option<Kind> {
        [Kind::Experience, Kind::Answer, Kind::Control, Kind::Tick, Kind::Mark]
            .into_iter()
            .find(|kind| *kind as u8 == value)
    }
}

/// The `sub` numbers of control entries. A number is never reused.
pub mod control {
    /// A tenant exists; `what` has its name.
    pub const TENANT: u16 = 1;
    /// A scope was registered; `what` has its path, its ordinal and its owner.
    pub const SCOPE: u16 = 2;
    /// The remaining stages of an event are cancelled.
    pub const CANCEL: u16 = 3;
    /// Sections are about to be zeroed: the point of no return.
    pub const ERASE: u16 = 4;
    /// The sections named by an `ERASE` are zero.
    pub const ERASED: u16 = 5;
    /// A signed tip.
    pub const CHECKPOINT: u16 = 6;
    /// A blob was stored; `what` has its metadata.
    pub const BLOB: u16 = 7;
    /// A blob was removed.
    pub const BLOB_REMOVED: u16 = 8;
    /// A policy was set; `what` has its target and its document.
    pub const POLICY_SET: u16 = 9;
    /// A token was revoked; `what` has its keyed hash.
    pub const TOKEN_REVOKED: u16 = 10;
    /// The members of the head's scope were set.
    pub const SCOPE_SET: u16 = 11;
    /// The head's scope is not registered any more.
    pub const SCOPE_REMOVED: u16 = 12;
    /// A belief was declared in the head's scope.
    pub const BELIEF_DECLARED: u16 = 20;
    /// The episodes of the head's scope are over, and nothing joins them any more.
    pub const EPISODES_SEALED: u16 = 25;
    /// What is understood of the head's scope is to be made again; `what` says which of it.
    pub const UNDERSTANDING_SYNTHESIZED: u16 = 30;

    /// An open conflict was decided; `what` has which and how.
    pub const CONFLICT_RESOLVED: u16 = 13;
    /// A vocabulary was registered or changed; `what` has it whole.
    pub const VOCABULARY_SET: u16 = 14;

    /// A model is about to be asked; `what` has the most that may take.
    pub const MODEL_RESERVED: u16 = 35;
    /// A model was asked; `what` has what it took.
    pub const MODEL_SETTLED: u16 = 36;
    /// A model is not asked about the events of the head's causes any more.
    pub const MODEL_GAVE_UP: u16 = 37;

    /// The events of the head's scope are read again; answers of the run name this entry.
    pub const REDERIVE_BEGUN: u16 = 40;
    /// They are read; the head's causes name the entry that the run began with.
    pub const REDERIVE_ENDED: u16 = 41;

    /// Two entities are one; `what` has which.
    pub const ENTITY_MERGED: u16 = 45;
    /// An entity that was merged stands for itself again; `what` has which.
    pub const ENTITY_SPLIT: u16 = 46;

    /// The tenant's words for stretches of time were changed; `what` has them whole.
    pub const PHRASES_SET: u16 = 60;

    /// Derived records of the head's scope are forgotten, and not made again of the same events; `what`
    /// has which.
    pub const SUPPRESS: u16 = 70;
    /// Records of the head's scope are about to be forgotten; `who` has on whose request.
    pub const FORGET_BEGUN: u16 = 71;
    /// They are; `what` has the run that it ends.
    pub const FORGOTTEN: u16 = 72;
    /// A part of the plan of a request to forget. It stands before the entry that begins the run.
    pub const FORGET_PLANNED: u16 = 78;
    /// How long events are kept.
    pub const RETENTION_SET: u16 = 79;

    /// What belongs to the head's scope is about to be erased; `who` has on whose request.
    pub const ERASURE_BEGUN: u16 = 73;
    /// An erasure has come to its next phase.
    pub const ERASURE_STEP: u16 = 74;
    /// It is through, or was cancelled.
    pub const ERASURE_ENDED: u16 = 75;
    /// It has a certificate; `what` has it whole.
    pub const ERASURE_CERTIFIED: u16 = 85;
    /// Nothing that belongs to the head's scope may be erased.
    pub const LEGAL_HOLD_SET: u16 = 76;
    /// It may again.
    pub const LEGAL_HOLD_LIFTED: u16 = 77;

    /// From here on entries are not dated by the machine's clock, because nobody vouches for it.
    pub const CLOCK_DOUBTED: u16 = 90;
    /// From here on they are.
    pub const CLOCK_TRUSTED: u16 = 91;

    /// How far the audit log has come; `what` has its id and its tip.
    pub const AUDIT_PINNED: u16 = 92;

    /// An import begins; `what` has its format and target, `who` its caller.
    pub const IMPORT_BEGUN: u16 = 95;
    /// Rows of an import were written: the head's causes name their events, `what` has the keyed
    /// identity of each row and the progress.
    pub const IMPORT_STEP: u16 = 96;
    /// An import is over; `what` has its outcome and its report.
    pub const IMPORT_ENDED: u16 = 97;

    /// A row of the audit log. Only there.
    pub const AUDIT_ROW: u16 = 100;
    /// How far the audit log has the rows of the log's entries. Only there.
    pub const AUDIT_COVERED: u16 = 101;

    /// Those that the log appends for itself, and that cannot be erased.
    pub const OF_THE_LOG: [u16; 3] = [ERASE, ERASED, CHECKPOINT];
}

/// The ordinal of the deployment itself; tenants start at 1.
pub const DEPLOYMENT: u32 = 0;
/// The ordinal of the scope that tenant-wide entries use.
pub const SYSTEM_SCOPE: u64 = 0;

/// Where the log keeps an entry. Opaque: only the log that made it can read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Place(pub u64);

/// The sealed part of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Version of the head's layout.
    pub version: u8,
    /// What the entry is.
    pub kind: Kind,
    /// Which kind of control entry (0 otherwise).
    pub sub: u16,
    /// Reserved, 0.
    pub flags: u8,
    /// How `who` is encoded: 0 clear.
    pub codec_who: u8,
    /// How `what` is encoded: 0 clear.
    pub codec_what: u8,
    /// The key the sections are encrypted with: 0 none.
    pub key_id: u32,
    /// Position in the log, dense from 0.
    pub offset: u64,
    /// The batch it was committed with.
    pub batch: u64,
    /// The tenant's ordinal.
    pub tenant: u32,
    /// Position in the tenant, dense from 1. Public as `wal_offset`.
    pub tenant_seq: u64,
    /// The scope's ordinal within the tenant.
    pub scope: u64,
    /// Position in the scope, dense from 1.
    pub scope_seq: u64,
    /// The UUIDv7 of the entry.
    pub id: [u8; 16],
    /// When the log accepted it; strictly increasing.
    pub recorded_at: RecordedAt,
    /// Offsets of the entries it stands on.
    pub causes: Vec<u64>,
    /// Bytes of the `who` section on disk, a multiple of 64 (0: absent).
    pub who_len: u32,
    /// Bytes of the `what` section on disk, a multiple of 64 (0: absent).
    pub what_len: u32,
    /// Commitment to the plaintext of `who` (zeros: absent).
    pub who_commit: [u8; 32],
    /// Commitment to the plaintext of `what` (zeros: absent).
    pub what_commit: [u8; 32],
    /// Seal of the previous entry of this (tenant, scope); zeros for the first.
    pub prev_seal: [u8; 32],
    /// `H("ent1", prev_seal, head without seal)`.
    pub seal: [u8; 32],
}

impl Head {
    /// The id, read as an event's.
    pub fn event_id(&self) -> EventId {
        EventId::from_bytes(self.id)
    }

    /// Whether it closes what stands before it: a mark, or a checkpoint.
    pub fn is_closing(&self) -> bool {
        self.kind == Kind::Mark || (self.kind == Kind::Control && self.sub == control::CHECKPOINT)
    }

    /// When the log accepted it, as a bare instant.
    pub fn at(&self) -> Micros {
        self.recorded_at.0
    }
}

/// What is left of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionState {
    /// The entry never had one.
    Absent,
    /// Checksum and commitment hold; this is the plaintext.
    Live(Vec<u8>),
    /// Zeroed by an erasure.
    Erased,
}

impl SectionState {
    /// The plaintext, if it is live.
    pub fn live(&self) -> Option<&[u8]> {
        match self {
            SectionState::Live(bytes) => Some(bytes),
            SectionState::Absent | SectionState::Erased => None,
        }
    }
}

/// One entry, read back and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The sealed part.
    pub head: Head,
    /// Who: caller, actors, session, request, decision.
    pub who: SectionState,
    /// What: content, context, labels, directives, keys, paths, answers.
    pub what: SectionState,
    /// Where the log keeps it.
    pub place: Place,
}
