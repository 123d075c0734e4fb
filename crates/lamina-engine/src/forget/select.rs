//! From a selector to records: the one function that previews and executions share.
//!
//! A filter that a layer knows nothing of admits none of its records: a wrong guess here would remove
//! what nobody named.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::Polarity;
use lamina_core::derive::beliefs::ledger::Piece as BeliefPiece;
use lamina_core::derive::concepts::Item;
use lamina_core::derive::concepts::things::folded as folded_thing;
use lamina_core::derive::facts::Piece;
use lamina_core::policy::Caller;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::{EventRow, EventScan, Tag};
use lamina_types::forget::{Cascade, Forget, MemoryId, Selector};
use lamina_types::limits::FORGET_RECORDS_MAX;
use lamina_types::recall::Layer;
use lamina_types::{ActorId, BeliefId, ConceptId, EntityId, EpisodeId, EventId, FactId};

use super::filter::Filter;
use crate::Error;
use crate::admin::shared::meant;
use crate::derive::beliefs::rows::{BeliefRow, Found};
use crate::derive::concepts::key as concept_key;
use crate::derive::concepts::rows::ConceptRow;
use crate::derive::concepts::things::THING;
use crate::derive::key;
use crate::derive::key::beliefs::{self as belief_key, ClaimKey};
use crate::derive::read::{answer_row, answers_to, episode, events_of, row, walk};
use crate::engine::Inner;
use crate::read::conflicts::FOREVER;

/// Events read from a list at a time.
const EVENTS_AT_ONCE: usize = 1_000;

/// The records of a scope that a selector means.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selected {
    pub(crate) events: BTreeSet<EventId>,
    pub(crate) episodes: BTreeSet<EpisodeId>,
    pub(crate) facts: BTreeSet<FactId>,
    pub(crate) beliefs: BTreeSet<BeliefId>,
    pub(crate) concepts: BTreeSet<ConceptId>,
}

impl Selected {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
            + self.episodes.len()
            + self.facts.len()
            + self.beliefs.len()
            + self.concepts.len()
    }

    fn take(&mut self, id: MemoryId) -> Result<(), Error> {
        match id {
            MemoryId::Event(id) => self.events.insert(id),
            MemoryId::Episode(id) => self.episodes.insert(id),
            MemoryId::Fact(id) => self.facts.insert(id),
            MemoryId::Belief(id) => self.beliefs.insert(id),
            MemoryId::Concept(id) => self.concepts.insert(id),
        };
        match self.len() > FORGET_RECORDS_MAX {
            true => Err(Error::LimitReached { limit: "FORGET_RECORDS_MAX" }),
            false => Ok(()),
        }
    }
}

/// Where records are looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) inner: &'a Inner,
    pub(crate) tenant: u32,
    pub(crate) scope: u64,
}

impl Place<'_> {
    /// The records that a request means.
    pub(crate) fn selected(self, caller: &Caller, forget: &Forget) -> Result<Selected, Error> {
        let mut selected = Selected::default();
        for id in &forget.selector.memory_ids {
            if self.holds(*id)? {
                selected.take(*id)?;
            }
        }
        if forget.selector.filters() || forget.selector.is_empty() {
            let filter = self.filter(caller, &forget.selector)?;
            let facts = self.facts(&filter)?;
            // Events stay; what was made of one that is named goes as that of no other.
            if forget.layers.has(Layer::Events) && forget.cascade == Cascade::RedactEvents {
                let spoken = self.events_beneath(&facts.iter().map(|(id, _)| *id).collect())?;
                self.events(&filter, &spoken, &mut selected)?;
            }
            if forget.layers.has(Layer::Episodes) {
                let spoken = self.spoken_of(&filter, &facts)?;
                self.episodes(&filter, &spoken, &mut selected)?;
            }
            if forget.layers.has(Layer::Facts) {
                for (id, _) in facts.iter().filter(|(_, piece)| filter.in_time(piece)) {
                    selected.take(MemoryId::Fact(*id))?;
                }
            }
            if forget.layers.has(Layer::Beliefs) {
                self.beliefs(&filter, &mut selected)?;
            }
            if forget.layers.has(Layer::Understanding) {
                self.concepts(&filter, &mut selected)?;
            }
        }
        Ok(selected)
    }

    /// Whether a record is there, in this scope.
    fn holds(self, id: MemoryId) -> Result<bool, Error> {
        let Place { inner, tenant, scope } = self;
        Ok(match id {
            MemoryId::Event(id) => {
                inner.views.event(tenant, id)?.is_some_and(|row| self.has_event(&row))
            }
            MemoryId::Episode(id) => {
                episode(&inner.views, tenant, id)?.is_some_and(|row| row.scope == scope)
            }
            MemoryId::Fact(id) => inner.fact_row(tenant, id)?.is_some_and(|row| row.scope == scope),
            MemoryId::Belief(id) => {
                self.claim_of(id)?.is_some_and(|(claim, _)| claim.scope == scope)
            }
            MemoryId::Concept(id) => self.concept(id)?.is_some(),
        })
    }

    fn has_event(self, row: &EventRow) -> bool {
        row.scope == self.scope && !row.is_erased()
    }

    /// A belief that can be read: what it is about, and its row.
    pub(crate) fn claim_of(self, id: BeliefId) -> Result<Option<(ClaimKey, BeliefRow)>, Error> {
        let Place { inner, tenant, .. } = self;
        let found = belief_key::belief(tenant, id);
        match row(&inner.views, Space::Records, &found, Found::decode)? {
            Some(Found::Past(claim, past)) => Ok(Some((claim, *past))),
            Some(Found::Stands(claim)) => {
                let stands = belief_key::claim(tenant, &claim);
                let stands = row(&inner.views, Space::Sources, &stands, BeliefRow::decode)?;
                Ok(stands.map(|row| (claim, row)))
            }
            Some(Found::Gone(_)) | None => Ok(None),
        }
    }

    /// A concept of the scope.
    pub(super) fn concept(self, id: ConceptId) -> Result<Option<ConceptRow>, Error> {
        let stored = concept_key::concept(self.tenant, id);
        let found = row(&self.inner.views, Space::Records, &stored, ConceptRow::decode)?;
        Ok(found.filter(|found| found.scope == self.scope))
    }

    fn filter(self, caller: &Caller, selector: &Selector) -> Result<Filter, Error> {
        let Place { inner, tenant, scope } = self;
        // Whomever a question by this name is about: what such a question shows is what goes.
        let called = |name: &str| inner.entities_asked(tenant, &[scope], name, FOREVER);
        let thing = |name: &str| -> Result<Option<Tag>, Error> {
            let Some(name) = folded_thing(name) else { return Ok(None) };
            Ok(Some(inner.views.derived_tag(tenant, THING, &[name.as_bytes()])?))
        };
        let tag =
            |domain: &str, text: &str| inner.views.derived_tag(tenant, domain, &[text.as_bytes()]);
        let mut filter = Filter {
            valid: selector.valid_during,
            recorded: selector.recorded_during,
            ..Filter::default()
        };
        if let Some(subject) = &selector.about_subject {
            let entities = called(subject)?;
            let named = crate::derive::beliefs::declared::folded(subject);
            let named = tag(crate::derive::beliefs::declared::SUBJECT, &named)?;
            let subjects = entities.iter().map(|id| *id.as_bytes()).chain([named]);
            filter.believed = Some(subjects.collect());
            filter.subjects = Some(entities);
            filter.subject_thing = thing(subject)?;
            let actor = subject.parse::<ActorId>().ok();
            filter.actor = actor.map(|actor| meant(caller, &actor)).transpose()?;
        }
        if let Some(entity) = &selector.about_entity {
            let entities = called(entity)?;
            let mut values = BTreeSet::new();
            for id in &entities {
                let parts: [&[u8]; 2] = [b"entity", id.as_bytes()];
                values.insert(inner.views.derived_tag(tenant, "derive.value", &parts)?);
            }
            filter.values = values;
            filter.entities = Some(entities);
            filter.entity_thing = thing(entity)?;
        }
        if let Some(predicate) = &selector.predicate {
            filter.predicate = Some(tag("derive.predicate", predicate)?);
        }
        Ok(filter)
    }

    /// The facts that speak of what is meant, of whatever time.
    fn facts(self, filter: &Filter) -> Result<Vec<(FactId, Piece)>, Error> {
        let Place { inner, tenant, scope } = self;
        let mut found = Vec::new();
        for id in ids(inner, &key::facts_listed(tenant, scope))? {
            let id = FactId::from_bytes(id);
            let Some(fact) = inner.fact_row(tenant, id)? else { continue };
            if filter.speaks(&fact) {
                found.push((id, fact.piece.clone()));
            }
        }
        Ok(found)
    }

    fn events(
        self,
        filter: &Filter,
        spoken: &BTreeSet<EventId>,
        selected: &mut Selected,
    ) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self;
        let mut scan = EventScan {
            observed_from: filter.valid.map(|(from, _)| from),
            observed_to: filter.valid.map(|(_, to)| to),
            recorded_from: filter.recorded.map(|(from, _)| from),
            recorded_to: filter.recorded.map(|(_, to)| to),
            ..EventScan::recorded(tenant, vec![scope], Direction::Forward, EVENTS_AT_ONCE)
        };
        loop {
            let page = inner.views.event_scan(&scan)?;
            for event in &page.rows {
                if self.event_matches(event, filter, spoken)? {
                    selected.take(MemoryId::Event(event.id))?;
                }
            }
            match page.next {
                Some(next) => scan.after = Some(next),
                None => break,
            }
        }
        // What was cancelled is in no list; its words are there all the same.
        for event in inner.views.events_cancelled(tenant, scope)? {
            let in_time = event.facets.as_ref().is_some_and(|facets| {
                filter.meets(facets.observed_at) && filter.was_recorded(event.recorded_at)
            });
            if in_time && self.event_matches(&event, filter, spoken)? {
                selected.take(MemoryId::Event(event.id))?;
            }
        }
        Ok(())
    }

    /// Whether an event of the right time is about what is meant.
    fn event_matches(
        self,
        event: &EventRow,
        filter: &Filter,
        spoken: &BTreeSet<EventId>,
    ) -> Result<bool, Error> {
        if !filter.is_about_something() || spoken.contains(&event.id) {
            return Ok(true);
        }
        if filter.predicate.is_some() {
            return Ok(false);
        }
        if let Some(actor) = &filter.actor {
            let entry = self.inner.reader.entry(event.offset, event.place)?;
            if self.inner.decode_who(&entry)?.subject != *actor {
                return Ok(false);
            }
        } else if filter.subjects.is_some() {
            return Ok(false);
        }
        match &filter.entities {
            None => Ok(true),
            Some(entities) => self.mentions(event, entities),
        }
    }

    /// Whether something that was made of an event names one of these.
    fn mentions(self, event: &EventRow, entities: &BTreeSet<EntityId>) -> Result<bool, Error> {
        let Place { inner, tenant, .. } = self;
        for answer in answers_to(&inner.views, tenant, event.offset)? {
            let names = answer_row(&inner.views, tenant, answer)?.map(|row| row.names.clone());
            if names.into_iter().flatten().any(|used| entities.contains(&used.entity)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The events that say something of whomever the subject can be.
    fn spoken_of(
        self,
        filter: &Filter,
        facts: &[(FactId, Piece)],
    ) -> Result<BTreeSet<EventId>, Error> {
        if filter.subjects.is_none() || filter.predicate.is_some() {
            return Ok(BTreeSet::new());
        }
        let facts = match filter.entities {
            None => facts.iter().map(|(id, _)| *id).collect(),
            // Each filter is asked on its own: what is said of somebody need not be what names the entity.
            Some(_) => {
                let subject = Filter { subjects: filter.subjects.clone(), ..Filter::default() };
                self.facts(&subject)?.into_iter().map(|(id, _)| id).collect()
            }
        };
        self.events_beneath(&facts)
    }

    fn episodes(
        self,
        filter: &Filter,
        spoken: &BTreeSet<EventId>,
        selected: &mut Selected,
    ) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self;
        if filter.predicate.is_some() {
            return Ok(());
        }
        for id in ids(inner, &key::episodes::all_listed(tenant, scope))? {
            let id = EpisodeId::from_bytes(id);
            let Some(found) = episode(&inner.views, tenant, id)? else { continue };
            let overlaps =
                filter.valid.is_none_or(|(from, to)| found.first < to && found.last >= from);
            if !overlaps || !filter.was_recorded(found.opened) {
                continue;
            }
            let things: BTreeSet<EntityId> = ids(inner, &key::episodes::things(tenant, id))?
                .into_iter()
                .map(EntityId::from_bytes)
                .collect();
            let speaks = |named: &Option<BTreeSet<EntityId>>| {
                named.as_ref().is_none_or(|named| !named.is_disjoint(&things))
            };
            // What is only named by what is said of others is no subject.
            let mut of = events_of(&inner.views, tenant, id)?.into_iter();
            let is_subject =
                filter.subjects.is_none() || of.any(|(_, event, _)| spoken.contains(&event));
            if speaks(&filter.subjects) && is_subject && speaks(&filter.entities) {
                selected.take(MemoryId::Episode(id))?;
            }
        }
        Ok(())
    }

    fn beliefs(self, filter: &Filter, selected: &mut Selected) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self;
        for id in ids(inner, &belief_key::all_listed(tenant, scope))? {
            let id = BeliefId::from_bytes(id);
            let Some((claim, belief)) = self.claim_of(id)? else { continue };
            let subject = &belief.about.subject;
            let about = filter.believed.as_ref().is_none_or(|named| named.contains(subject))
                && filter.predicate.is_none_or(|predicate| predicate == belief.about.predicate)
                && filter.entities.as_ref().is_none_or(|entities| {
                    let is_it = |id: &EntityId| id.as_bytes() == subject;
                    (belief.about.is_entity && entities.iter().any(is_it))
                        || filter.values.contains(&claim.value)
                });
            let (from, to) = (belief.held.state.valid_from, belief.held.valid_to);
            let holds = filter
                .valid
                .is_none_or(|(start, end)| from < end && to.is_none_or(|to| start < to));
            if about && holds && filter.was_recorded(belief.since) {
                selected.take(MemoryId::Belief(id))?;
            }
        }
        Ok(())
    }

    fn concepts(self, filter: &Filter, selected: &mut Selected) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self;
        if filter.predicate.is_some() {
            return Ok(());
        }
        for id in ids(inner, &concept_key::all_listed(tenant, scope))? {
            let id = ConceptId::from_bytes(id);
            let Some(found) = self.concept(id)? else { continue };
            let concept = &found.concept;
            let gathers = |named: bool, thing: Option<Tag>| {
                let is_of = |tag| {
                    [Item::Value(tag), Item::Label(tag)]
                        .iter()
                        .any(|it| concept.members.contains(it))
                };
                !named || thing.is_some_and(is_of)
            };
            let holds = filter.valid.is_none_or(|(start, end)| {
                concept.valid_from < end && concept.valid_to.is_none_or(|to| start < to)
            });
            if gathers(filter.subjects.is_some(), filter.subject_thing)
                && gathers(filter.entities.is_some(), filter.entity_thing)
                && holds
                && filter.was_recorded(concept.created)
            {
                selected.take(MemoryId::Concept(id))?;
            }
        }
        Ok(())
    }

    /// The events of the scope that facts stand on.
    pub(crate) fn events_beneath(
        self,
        facts: &BTreeSet<FactId>,
    ) -> Result<BTreeSet<EventId>, Error> {
        let mut events = BTreeSet::new();
        for id in facts {
            if let Some(fact) = self.inner.fact_row(self.tenant, *id)? {
                events.extend(self.said_in(&fact.piece)?.into_iter().flatten());
            }
        }
        self.own(events)
    }

    /// The events that the evidence of a piece was said in; `None` for what was decided.
    pub(crate) fn said_in(self, piece: &Piece) -> Result<Vec<Option<EventId>>, Error> {
        let Place { inner, tenant, .. } = self;
        let mut events = Vec::with_capacity(piece.supports.len());
        for support in &piece.supports {
            let origin = inner.origin(tenant, support.source)?;
            let answer = answer_row(&inner.views, tenant, origin.offset)?;
            events.push(answer.map(|answer| answer.event));
        }
        Ok(events)
    }

    /// Those of these events that are at home in the scope.
    fn own(self, mut events: BTreeSet<EventId>) -> Result<BTreeSet<EventId>, Error> {
        let mut foreign = Vec::new();
        for event in &events {
            let found = self.inner.views.event(self.tenant, *event)?;
            if !found.is_some_and(|row| self.has_event(&row)) {
                foreign.push(*event);
            }
        }
        for event in foreign {
            events.remove(&event);
        }
        Ok(events)
    }

    /// The events whose words go with what was selected: those that were, those beneath selected facts and
    /// beliefs, and those of episodes that were named. What an episode or a concept is found by is only
    /// a part of it, and the rest was not named.
    pub(crate) fn words_of(
        self,
        selected: &Selected,
        named: &[MemoryId],
    ) -> Result<BTreeSet<EventId>, Error> {
        let Place { inner, tenant, .. } = self;
        let mut events = selected.events.clone();
        events.extend(self.events_beneath(&selected.facts)?);
        for id in &selected.beliefs {
            let Some((claim, _)) = self.claim_of(*id)? else { continue };
            let said = inner.said_about(tenant, &claim)?;
            // What speaks against it speaks of something else.
            let own = said.iter().filter(|(_, one)| one.belief == *id && supports(&one.piece));
            events.extend(own.filter_map(|(_, one)| one.event));
        }
        for id in &selected.episodes {
            if named.contains(&MemoryId::Episode(*id)) {
                let of_episode = events_of(&inner.views, tenant, *id)?;
                events.extend(of_episode.into_iter().map(|(_, event, _)| event));
            }
        }
        self.own(events)
    }
}

fn supports(piece: &BeliefPiece) -> bool {
    matches!(piece, BeliefPiece::Said(said) if said.evidence.polarity == Polarity::Supports)
}

/// The ids at the end of the keys of a list.
fn ids(inner: &Inner, (from, to): &(Vec<u8>, Vec<u8>)) -> Result<Vec<[u8; 16]>, Error> {
    let mut found = Vec::new();
    walk(&inner.views, Space::Records, (from, to), Direction::Forward, &mut |key, _| {
        found.extend(key::tail_id(key));
        match found.len() > FORGET_RECORDS_MAX {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    match found.len() > FORGET_RECORDS_MAX {
        true => Err(Error::LimitReached { limit: "FORGET_RECORDS_MAX" }),
        false => Ok(found),
    }
}
