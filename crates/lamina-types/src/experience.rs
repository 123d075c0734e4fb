//! An admitted experience: the envelope with every default filled in and every limit checked.
//!
//! `lamina-api` is the only maker of these from the wire; the log stores them and gives them back
//! whole.

use crate::actor::{Actor, ActorId};
use crate::content::{Content, Modality};
use crate::ids::EventId;
use crate::scope::ScopePath;
use crate::time::ValidAt;

/// What is written to the log for one experience.
#[derive(Debug, Clone, PartialEq)]
pub struct Experience {
    /// The home scope.
    pub scope: ScopePath,
    /// Who did it (R078).
    pub observed_actor: Actor,
    /// Whom it is about (R079).
    pub subject: ActorId,
    /// How it reached us.
    pub modality: Modality,
    /// What it was.
    pub content: Content,
    /// When, why, after what.
    pub context: Context,
    /// What the caller asks of derivation.
    pub directives: Directives,
    /// The source descriptor (version 2), compact JSON as submitted.
    pub source: Option<String>,
    /// The parts of an imported record that have no field here, compact JSON of at most
    /// [`ORIGIN_BYTES_MAX`](crate::limits::ORIGIN_BYTES_MAX) bytes. No envelope can set it.
    pub origin: Option<String>,
    /// Hints outside the identity of the body.
    pub hints: Hints,
    /// The caller's key; unique per caller and endpoint family.
    pub idempotency_key: String,
}

/// The circumstances of an experience.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// When it happened, by the caller's account.
    pub observed_at: ValidAt,
    /// When an upstream store had recorded it (imports).
    pub source_recorded_at: Option<ValidAt>,
    /// Where, as compact JSON (a string or an object).
    pub location: Option<String>,
    /// Events it follows from.
    pub preceded_by: Vec<EventId>,
    /// What the actor was after.
    pub intent: Option<String>,
    /// Free labels.
    pub labels: Vec<String>,
    /// The times the text speaks of, as compact JSON of an array.
    pub refers_to: Option<String>,
}

/// Hints that help reading but are not part of what was said: a retry may differ in them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hints {
    /// BCP 47 language tag.
    pub language: Option<String>,
    /// ISO 15924 scripts.
    pub scripts: Vec<String>,
    /// IANA time zone of the actor.
    pub timezone: Option<String>,
}

/// What the caller asks of derivation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Directives {
    /// Which stages of extraction to run (`facts`, `entities`, `beliefs`); `None` is the default.
    pub extract: Option<Vec<String>>,
    /// A second scope to consolidate into.
    pub consolidate_into: Option<ScopePath>,
    /// Beliefs under this are not kept.
    pub confidence_floor: Option<f64>,
    /// ISO-8601 duration, as submitted.
    pub ttl_for_belief_layer: Option<String>,
    /// How long the event itself is kept, an ISO-8601 duration, as submitted.
    pub ttl_for_event_layer: Option<String>,
    /// When to embed (`lazy`, `eager`), as submitted.
    pub embed: Option<String>,
    /// What is learned from it stands beside what is known and does not end it.
    pub no_supersede: bool,
}
