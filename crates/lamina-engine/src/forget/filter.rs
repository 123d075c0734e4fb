//! The filters of a selector, with names resolved.

use std::collections::BTreeSet;

use lamina_core::derive::facts::{Content, Piece};
use lamina_store::view::Tag;
use lamina_types::{ActorId, EntityId, RecordedAt, ValidAt};

use crate::derive::rows::FactRow;

/// What a record has to be, all of it. A name that means nobody is an empty set, which admits nothing.
#[derive(Debug, Default)]
pub(super) struct Filter {
    /// Entities that the subject can be.
    pub(super) subjects: Option<BTreeSet<EntityId>>,
    /// The same as beliefs know it.
    pub(super) believed: Option<BTreeSet<Tag>>,
    /// The subject as a thing that concepts gather.
    pub(super) subject_thing: Option<Tag>,
    /// The subject, if it is an actor.
    pub(super) actor: Option<ActorId>,
    /// Entities that have to be spoken of.
    pub(super) entities: Option<BTreeSet<EntityId>>,
    /// What is said of somebody if it is one of them.
    pub(super) values: BTreeSet<Tag>,
    /// The same as a thing that concepts gather.
    pub(super) entity_thing: Option<Tag>,
    pub(super) predicate: Option<Tag>,
    pub(super) valid: Option<(ValidAt, ValidAt)>,
    pub(super) recorded: Option<(RecordedAt, RecordedAt)>,
}

impl Filter {
    /// Whether it asks for more than a time.
    pub(super) fn is_about_something(&self) -> bool {
        self.subjects.is_some() || self.entities.is_some() || self.predicate.is_some()
    }

    /// Whether a fact speaks of what is meant, of whatever time.
    pub(super) fn speaks(&self, fact: &FactRow) -> bool {
        self.subjects.as_ref().is_none_or(|named| named.contains(&fact.subject))
            && self.predicate.is_none_or(|predicate| predicate == fact.predicate)
            && self.entities.as_ref().is_none_or(|named| {
                named.contains(&fact.subject)
                    || values(&fact.piece.content).iter().any(|value| self.values.contains(value))
            })
    }

    /// Whether a fact is of the time that is meant: it held at some time in there, and was learned in
    /// there.
    pub(super) fn in_time(&self, piece: &Piece) -> bool {
        let holds = self.valid.is_none_or(|(start, end)| {
            piece.from().is_none_or(|from| from < end) && piece.to().is_none_or(|to| start < to)
        });
        holds && self.was_recorded(piece.recorded_from)
    }

    /// Whether something happened in the time that is meant.
    pub(super) fn meets(&self, at: ValidAt) -> bool {
        self.valid.is_none_or(|(from, to)| from <= at && at < to)
    }

    /// Whether something was recorded in the time that is meant.
    pub(super) fn was_recorded(&self, at: RecordedAt) -> bool {
        self.recorded.is_none_or(|(from, to)| from <= at && at < to)
    }
}

/// What a piece says.
fn values(content: &Content) -> Vec<Tag> {
    match content {
        Content::One(value) => vec![value.key().0],
        Content::Ended(value) => value.iter().map(|key| key.0).collect(),
        Content::Conflict(values) => values.iter().map(|value| value.key().0).collect(),
    }
}
