//! The lines of our own export. Every line is a JSON object with a member `lamina` that names its kind:
//! `{"lamina":{"line":"event","version":1,"id":"evt_…"},"scope":…}`. The other members of an event are its
//! envelope, so that a reader of envelopes understands it.

/// The version of the lines that are written.
pub(crate) const LINE_VERSION: i64 = 1;
/// The member that every line has.
pub(crate) const LINE_MEMBER: &str = "lamina";

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// The first line: scope, layers and point of the export.
    Header,
    /// A memory event.
    Event,
    /// A fact, derived.
    Fact,
    /// A belief, derived.
    Belief,
    /// An episode, derived.
    Episode,
    /// A concept, derived.
    Concept,
    /// A belief that somebody declared.
    DeclaredBelief,
    /// The decision of a conflict.
    ConflictDecision,
    /// Two entities that were merged.
    EntityMerge,
    /// A merge that was undone.
    EntitySplit,
    /// An event that was cancelled.
    Cancellation,
    /// A vocabulary of the scope.
    Vocabulary,
}

impl LineKind {
    /// All kinds, in the order in which an export writes them.
    pub const ALL: &'static [LineKind] = &[
        LineKind::Header,
        LineKind::Vocabulary,
        LineKind::Event,
        LineKind::Cancellation,
        LineKind::EntityMerge,
        LineKind::EntitySplit,
        LineKind::ConflictDecision,
        LineKind::DeclaredBelief,
        LineKind::Fact,
        LineKind::Belief,
        LineKind::Episode,
        LineKind::Concept,
    ];

    /// The name on the line.
    pub fn as_str(self) -> &'static str {
        match self {
            LineKind::Header => "header",
            LineKind::Event => "event",
            LineKind::Fact => "fact",
            LineKind::Belief => "belief",
            LineKind::Episode => "episode",
            LineKind::Concept => "concept",
            LineKind::DeclaredBelief => "declared_belief",
            LineKind::ConflictDecision => "conflict_decision",
            LineKind::EntityMerge => "entity_merge",
            LineKind::EntitySplit => "entity_split",
            LineKind::Cancellation => "cancellation",
            LineKind::Vocabulary => "vocabulary",
        }
    }

    /// The kind of this name.
    pub fn find(name: &str) -> Option<LineKind> {
        LineKind::ALL.iter().copied().find(|kind| kind.as_str() == name)
    }

    /// Whether records of this kind are derived from events, and so not imported.
    pub fn is_derived(self) -> bool {
        matches!(self, LineKind::Fact | LineKind::Belief | LineKind::Episode | LineKind::Concept)
    }
}
