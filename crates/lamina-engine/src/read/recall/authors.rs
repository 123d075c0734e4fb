//! Who said the words of the records of a pack: the actors of the events behind them, and their callers.

use std::collections::{BTreeMap, HashMap};

use lamina_core::derive::beliefs::Polarity;
use lamina_core::read::prompt::{AuthorList, RecordAuthor};
use lamina_types::{EventId, FactId};

use super::Recalled;
use super::plan::Frame;
use crate::Error;
use crate::engine::Inner;
use crate::read::beliefs::{BeliefRecord, Ground};
use crate::read::facts::FactRecord;
use crate::read::understanding::ConceptRecord;

/// Events behind one record whose authors are read, the newest first.
const EVENTS_READ_MAX: usize = 16;

/// Reads the authors of events, each event once.
pub(super) struct AuthorReader<'a> {
    inner: &'a Inner,
    frame: &'a Frame<'a>,
    known: HashMap<EventId, Option<RecordAuthor>>,
}

impl<'a> AuthorReader<'a> {
    pub(super) fn new(inner: &'a Inner, frame: &'a Frame<'a>) -> AuthorReader<'a> {
        AuthorReader { inner, frame, known: HashMap::new() }
    }

    /// The authors of every derived record of a pack, by its id.
    pub(super) fn read_pack(
        &mut self,
        recalled: &Recalled,
    ) -> Result<BTreeMap<String, AuthorList>, Error> {
        for found in &recalled.events {
            self.known.insert(found.record.id, Some(RecordAuthor::of(&found.record)));
        }
        let mut authors = BTreeMap::new();
        for fact in recalled.facts.iter().map(|found| &found.record).chain(&recalled.profile) {
            authors.insert(fact.id.to_string(), self.read_fact(fact)?);
        }
        for found in &recalled.beliefs {
            authors.insert(found.record.id.to_string(), self.read_belief(&found.record)?);
        }
        for found in &recalled.episodes {
            authors.insert(found.record.id.to_string(), found.record.authors.clone());
        }
        for found in &recalled.concepts {
            authors.insert(found.record.id.to_string(), self.read_concept(&found.record)?);
        }
        Ok(authors)
    }

    fn read_fact(&mut self, fact: &FactRecord) -> Result<AuthorList, Error> {
        self.read_newest(&fact.supports)
    }

    /// A declaration is its author's; any other belief is of those who said what supports it.
    fn read_belief(&mut self, belief: &BeliefRecord) -> Result<AuthorList, Error> {
        if let Some(author) = &belief.declared_by {
            let author = RecordAuthor { actor: author.clone(), caller: author.clone() };
            return Ok(author.into());
        }
        let mut events = Vec::new();
        let supporting = belief.supports.iter().filter(|one| one.polarity == Polarity::Supports);
        for support in supporting.take(EVENTS_READ_MAX) {
            match support.id {
                Ground::Event(event) => events.push(event),
                Ground::Fact(fact) => events.extend(self.events_of(fact)?),
            }
        }
        self.read_newest(&events)
    }

    fn read_concept(&mut self, concept: &ConceptRecord) -> Result<AuthorList, Error> {
        let mut events = Vec::new();
        for fact in concept.facts.iter().take(EVENTS_READ_MAX) {
            events.extend(self.events_of(*fact)?);
        }
        self.read_newest(&events)
    }

    fn events_of(&self, fact: FactId) -> Result<Vec<EventId>, Error> {
        self.inner.fact_events(self.frame.tenant, fact, self.frame.recorded)
    }

    /// The authors of the newest of these events.
    fn read_newest(&mut self, events: &[EventId]) -> Result<AuthorList, Error> {
        let mut events = events.to_vec();
        events.sort_unstable();
        events.dedup();
        let mut authors = AuthorList::default();
        for event in events.iter().rev().take(EVENTS_READ_MAX) {
            if let Some(author) = self.read(*event)? {
                authors.add(author);
            }
        }
        Ok(authors)
    }

    /// The author of an event; `None` once that is erased.
    pub(super) fn read(&mut self, event: EventId) -> Result<Option<RecordAuthor>, Error> {
        if let Some(known) = self.known.get(&event) {
            return Ok(known.clone());
        }
        let inner = self.inner;
        let row = inner.views.event_again(self.frame.tenant, event)?;
        let row = row.filter(|row| !row.is_erased() && !inner.is_hidden(row));
        let author = match row {
            Some(row) => match inner.sound_entry(row.offset, row.place)? {
                Some(entry) => match inner.decode_who(&entry) {
                    Ok(who) => {
                        Some(RecordAuthor { actor: who.observed_actor.id, caller: who.caller })
                    }
                    Err(Error::Deleted) => None,
                    Err(error) => return Err(error),
                },
                None => None,
            },
            None => None,
        };
        self.known.insert(event, author.clone());
        Ok(author)
    }
}
