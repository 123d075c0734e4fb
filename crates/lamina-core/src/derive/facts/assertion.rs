//! What reaches a track: claims as the fold sees them, and decisions about open conflicts.
//!
//! Both come from the log and carry their place in it, so that everything made of them can be named
//! by what caused it and made again by replay.

use lamina_types::layer::Settling;
use lamina_types::layer::extraction::{Confidence, Effect};
use lamina_types::{RecordedAt, ValidAt};

/// Where something was said: the answer entry and which of its claims. Grows with the log, so that
/// the smaller of two was said first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssertionId {
    /// The offset of the entry.
    pub offset: u64,
    /// Which of the claims in it.
    pub ordinal: u16,
}

/// A keyed hash of an object: all that a view may know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueKey(pub [u8; 16]);

/// Who wrote a structured record: its actor, and the source that its label names. A record of the
/// same author replaces the last one; a record of another author stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordSource {
    /// A keyed hash of the actor.
    pub actor: [u8; 16],
    /// A keyed hash of the source, if a label names one.
    pub source: Option<[u8; 16]>,
}

impl RecordSource {
    /// Whether both are the same system: the same actor, or records of the same source.
    pub fn is_same(self, other: RecordSource) -> bool {
        self.actor == other.actor || self.source.is_some() && self.source == other.source
    }
}

/// One claim about one track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    /// Where it was said.
    pub source: AssertionId,
    /// The id of the fact that this assertion creates, if an earlier withdrawn one had created it:
    /// a fact that other evidence keeps alive keeps its id.
    pub kept: Option<AssertionId>,
    /// When the log learned of it. The claims of one answer share it.
    pub recorded: RecordedAt,
    /// When it was said in the world.
    pub observed: ValidAt,
    /// What is claimed.
    pub saying: Saying,
    /// From when, if that was said.
    pub valid_from: Option<ValidAt>,
    /// Until when (exclusive), if that was said.
    pub valid_to: Option<ValidAt>,
    /// How sure the extractor is.
    pub confidence: Confidence,
    /// Whether it may only be put beside what is known (`directives.no_supersede`): where it would
    /// replace a value of a single-valued track, it opens a conflict with it instead.
    pub no_supersede: bool,
    /// What its scope asks to be done where something else is known to begin at the same instant.
    pub settles: Option<Settling>,
    /// Who wrote the record, if the claim is a scalar of a structured record.
    pub author: Option<RecordSource>,
}

/// What is claimed of the track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Saying {
    /// It is so.
    Holds(ValueKey),
    /// It is so, and what was known before never was.
    Corrects(ValueKey),
    /// It is not so.
    Negated(ValueKey),
    /// It was so and stops. Without a value: whatever it was ("I am unemployed now").
    Ends(Option<ValueKey>),
}

impl Saying {
    /// What a claim with this effect says about this object. Only an ending needs none.
    pub fn new(effect: Effect, value: Option<ValueKey>) -> Option<Saying> {
        match effect {
            Effect::Holds => value.map(Saying::Holds),
            Effect::Corrects => value.map(Saying::Corrects),
            Effect::Negated => value.map(Saying::Negated),
            Effect::Ends => Some(Saying::Ends(value)),
        }
    }
}

/// A decision about an open conflict, from a control entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// The control entry.
    pub source: AssertionId,
    /// When it was recorded.
    pub recorded: RecordedAt,
    /// A point inside the conflict, such as where it begins: the conflict that is open there now.
    pub at: ValidAt,
    /// What was decided.
    pub action: Action,
}

/// What was decided about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// One side is right, for as long as the conflict lasts.
    Pick(super::Value),
    /// Both are, one after the other.
    Split {
        /// Where one becomes the other.
        boundary: ValidAt,
        /// Before the boundary.
        earlier: super::Value,
        /// From the boundary on.
        later: super::Value,
    },
    /// Neither: this is.
    NewInformation(NewInformation),
    /// There is nothing to decide: what was said first stands.
    Dismiss,
}

/// What takes the place of a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewInformation {
    /// The value.
    pub value: ValueKey,
    /// From when, if not from where the conflict begins.
    pub valid_from: Option<ValidAt>,
    /// Until when, if not until where the conflict ends.
    pub valid_to: Option<ValidAt>,
}

/// Anything that changes a track.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A claim.
    Said(Assertion),
    /// A decision about a conflict.
    Resolved(Resolution),
}

impl Input {
    /// Where it comes from.
    pub fn source(&self) -> AssertionId {
        match self {
            Input::Said(assertion) => assertion.source,
            Input::Resolved(resolution) => resolution.source,
        }
    }

    /// When it was recorded.
    pub fn recorded(&self) -> RecordedAt {
        match self {
            Input::Said(assertion) => assertion.recorded,
            Input::Resolved(resolution) => resolution.recorded,
        }
    }

    /// The id of a fact that it creates.
    pub(super) fn creates(&self) -> AssertionId {
        match self {
            Input::Said(assertion) => assertion.kept.unwrap_or(assertion.source),
            Input::Resolved(resolution) => resolution.source,
        }
    }
}
