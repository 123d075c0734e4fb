//! What has to be taken back, and never made again of the same events, for derived records to be gone.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::concepts::Item;
use lamina_core::derive::facts::{AssertionId, Input, Saying, ValueKey};
use lamina_store::codec::control::{Suppress, SuppressedBelief, SuppressedFact};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId};
use lamina_types::recall::Layer;
use lamina_types::{EpisodeId, EventId};

use super::falls::Removal;
use super::select::{Place, Selected};
use crate::Error;
use crate::derive::beliefs::rows::MadeRow;
use crate::derive::concepts::key as concept_key;
use crate::derive::key;
use crate::derive::key::beliefs::{self as belief_key, ClaimKey};
use crate::derive::read::{answer_row, answers_to, events_of, row, walk};
use crate::derive::rows::InputRow;
use crate::derive::suppress::{BELIEF, FACT, belief_parts, fact_parts};

/// Names in one entry: more are written as several.
const NAMED_AT_ONCE: usize = if cfg!(test) { 3 } else { 8_192 };

/// Puts together what an entry says.
struct Gathering<'a> {
    place: Place<'a>,
    /// Words go too.
    redacts: bool,
    gone: Removal,
    entry: Suppress,
}

impl Place<'_> {
    /// What forgetting a selection takes away, and the entries that say so.
    pub(super) fn removal(
        self,
        forget: &Forget,
        selected: &Selected,
        up_to: u64,
    ) -> Result<(Removal, Vec<Suppress>), Error> {
        let mut gone = Removal { concepts: selected.concepts.clone(), ..Removal::default() };
        if forget.cascade == Cascade::RedactEvents {
            gone.words = self.words_of(selected, &forget.selector.memory_ids)?;
        }
        let mut entry = Suppress { up_to, ..Suppress::default() };
        if forget.selector.is_empty() {
            let derived = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Events);
            entry.whole = Layers::of(derived.filter(|layer| forget.layers.has(*layer)));
        }
        let redacts = forget.cascade == Cascade::RedactEvents;
        let mut gathering = Gathering { place: self, redacts, gone, entry };
        for id in &selected.facts {
            gathering.fact(*id)?;
        }
        for id in &selected.beliefs {
            gathering.belief(*id)?;
        }
        for id in &selected.episodes {
            gathering.episode(*id)?;
        }
        for id in &selected.concepts {
            gathering.concept(*id)?;
        }
        if forget.cascade == Cascade::DerivedOnly {
            for id in &forget.selector.memory_ids {
                if let MemoryId::Event(event) = id {
                    gathering.event(*event, forget.layers)?;
                }
            }
        }
        let Gathering { gone, entry, .. } = gathering;
        Ok((gone, split(entry)))
    }

    /// Where an event stands in the log.
    fn offset(self, event: EventId) -> Result<Option<u64>, Error> {
        Ok(self.inner.views.event(self.tenant, event)?.map(|row| row.offset))
    }
}

impl Gathering<'_> {
    /// A fact goes with all that was said for it.
    fn fact(&mut self, id: lamina_types::FactId) -> Result<(), Error> {
        let Place { inner, tenant, .. } = self.place;
        let Some(fact) = inner.fact_row(tenant, id)? else { return Ok(()) };
        for support in &fact.piece.supports {
            self.said(fact.track, support.source)?;
        }
        self.entry.gone.push((Layers::of([Layer::Facts]), *id.as_bytes()));
        Ok(())
    }

    /// Something that was said about a track of the scope.
    fn said(&mut self, track: Tag, source: AssertionId) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self.place;
        let stored = key::input(tenant, scope, &track, source);
        let decode = |bytes: &[u8]| InputRow::decode(source, bytes);
        let Some(input) = row(&inner.views, Space::Sources, &stored, decode)? else {
            return Ok(());
        };
        let origin = input.origin.unwrap_or(source);
        let event = answer_row(&inner.views, tenant, origin.offset)?.map(|answer| answer.event);
        if event.is_some_and(|event| self.gone.words.contains(&event))
            || !self.gone.facts.insert((track, source))
        {
            return Ok(());
        }
        self.gone.touched.extend(event);
        let at = match event {
            Some(event) => self.place.offset(event)?.unwrap_or(origin.offset),
            // Decided, and not said in an event.
            None => source.offset,
        };
        let value = match &input.input {
            Input::Said(assertion) => value(assertion.saying),
            Input::Resolved(_) => None,
        };
        let parts = fact_parts(scope, &track, value, at);
        let known = inner.views.derived_tag(tenant, FACT, &[&parts])?;
        let said = (source.offset, source.ordinal);
        self.entry.facts.push(SuppressedFact { track, said, key: known });
        self.unheard(origin, event)
    }

    /// What was said for a fact that goes is evidence for no belief either: what stood on it alone goes with it,
    /// whatever layers the filters look in.
    fn unheard(&mut self, origin: AssertionId, event: Option<EventId>) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self.place;
        let stored = belief_key::made(tenant, origin.offset);
        let made = row(&inner.views, Space::Sources, &stored, MadeRow::decode)?;
        for claim in made.into_iter().flat_map(|made| made.claims) {
            if claim.scope != scope {
                continue;
            }
            for (source, piece) in inner.said_about(tenant, &claim)? {
                let said = piece.origin.unwrap_or(source);
                // A decision weighs once, over however many stretches it was made.
                let is_it = event.is_none() || said.ordinal == origin.ordinal;
                if said.offset == origin.offset && is_it {
                    self.heard(claim, source, piece.event)?;
                }
            }
        }
        Ok(())
    }

    /// A belief goes with all that was said about it.
    fn belief(&mut self, id: lamina_types::BeliefId) -> Result<(), Error> {
        let Some((claim, _)) = self.place.claim_of(id)? else { return Ok(()) };
        let said = self.place.inner.said_about(self.place.tenant, &claim)?;
        for (source, piece) in said.iter().filter(|(_, piece)| piece.belief == id) {
            self.heard(claim, *source, piece.event)?;
            if self.redacts && matches!(piece.piece, Piece::Declared(_)) {
                self.gone.declarations.insert(source.offset, piece.place);
            }
        }
        self.gone.declared.insert(id);
        self.entry.gone.push((Layers::of([Layer::Beliefs]), *id.as_bytes()));
        Ok(())
    }

    /// Something that was said about a claim.
    fn heard(
        &mut self,
        claim: ClaimKey,
        source: AssertionId,
        event: Option<EventId>,
    ) -> Result<(), Error> {
        let Place { inner, tenant, .. } = self.place;
        if event.is_some_and(|event| self.gone.words.contains(&event))
            || !self.gone.beliefs.insert((claim, source))
        {
            return Ok(());
        }
        self.gone.touched.extend(event);
        let at = match event {
            Some(event) => self.place.offset(event)?.unwrap_or(source.offset),
            None => source.offset,
        };
        let known = inner.views.derived_tag(tenant, BELIEF, &[&belief_parts(&claim, at)])?;
        let ClaimKey { said: question, value, .. } = claim;
        let said = (source.offset, source.ordinal);
        self.entry.beliefs.push(SuppressedBelief { question, value, said, key: known });
        Ok(())
    }

    /// An episode goes when all its events are in none.
    fn episode(&mut self, id: EpisodeId) -> Result<(), Error> {
        let Place { inner, tenant, .. } = self.place;
        for (_, event, _) in events_of(&inner.views, tenant, id)? {
            self.leaves(event, Layers::of([Layer::Episodes]))?;
        }
        self.entry.gone.push((Layers::of([Layer::Episodes]), *id.as_bytes()));
        Ok(())
    }

    /// Nothing is made of an event any more in these layers.
    fn leaves(&mut self, event: EventId, layers: Layers) -> Result<(), Error> {
        if self.gone.words.contains(&event) {
            return Ok(());
        }
        let Some(offset) = self.place.offset(event)? else { return Ok(()) };
        let known = self.entry.events.iter_mut().find(|(_, known)| *known == offset);
        match known {
            Some((known, _)) => *known = Layers::from_bits(known.bits() | layers.bits()),
            None => self.entry.events.push((layers, offset)),
        }
        if layers.has(Layer::Episodes) {
            self.gone.leaving.insert(event);
        }
        Ok(())
    }

    /// A concept goes, and its things are not counted for the episodes it was found in.
    fn concept(&mut self, id: lamina_types::ConceptId) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self.place;
        let Some(found) = self.place.concept(id)? else { return Ok(()) };
        for item in &found.concept.members {
            let (Item::Value(thing) | Item::Label(thing)) = item else { continue };
            let (from, to) = concept_key::item_episodes(tenant, scope, *item);
            let mut episodes: BTreeSet<[u8; 16]> = BTreeSet::new();
            walk(&inner.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
                episodes.extend(key::tail_id(key));
                ControlFlow::Continue(())
            })?;
            self.entry.things.extend(episodes.into_iter().map(|episode| (episode, *thing)));
        }
        self.entry.gone.push((Layers::of([Layer::Understanding]), *id.as_bytes()));
        Ok(())
    }

    /// Everything that was made of an event, in these layers.
    fn event(&mut self, event: EventId, layers: Layers) -> Result<(), Error> {
        let Place { inner, tenant, scope } = self.place;
        let Some(found) = inner.views.event(tenant, event)?.filter(|row| row.scope == scope) else {
            return Ok(());
        };
        for answer in answers_to(&inner.views, tenant, found.offset)? {
            let Some(made) = answer_row(&inner.views, tenant, answer)? else { continue };
            if layers.has(Layer::Facts) {
                let tracks = made.tracks.iter().filter(|(of, _)| *of == scope);
                for (_, track) in tracks.chain(&self.carried(answer)?) {
                    for source in self.inputs(track, answer)? {
                        self.said(*track, source)?;
                    }
                }
            }
            if layers.has(Layer::Beliefs) {
                let stored = belief_key::made(tenant, answer);
                let made = row(&inner.views, Space::Sources, &stored, MadeRow::decode)?;
                for claim in made.into_iter().flat_map(|made| made.claims) {
                    if claim.scope != scope {
                        continue;
                    }
                    let said = inner.said_about(tenant, &claim)?;
                    for (source, _) in said.iter().filter(|(at, one)| one.is_of(*at, answer)) {
                        self.heard(claim, *source, Some(event))?;
                    }
                }
            }
        }
        let derived = Layer::ALL.into_iter().filter(|layer| *layer != Layer::Events);
        let layers = Layers::of(derived.filter(|layer| layers.has(*layer)));
        self.gone.touched.insert(event);
        self.leaves(event, layers)
    }

    /// The tracks of the scope that what an answer said was brought to.
    fn carried(&self, answer: u64) -> Result<Vec<(u64, Tag)>, Error> {
        let Place { inner, tenant, scope } = self.place;
        let (from, to) = key::all_carries(tenant, answer);
        let mut tracks = Vec::new();
        walk(&inner.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
            tracks.extend(key::tail_track(key).filter(|(of, _)| *of == scope));
            ControlFlow::Continue(())
        })?;
        Ok(tracks)
    }

    /// What an answer said about a track.
    fn inputs(&self, track: &Tag, answer: u64) -> Result<Vec<AssertionId>, Error> {
        let Place { inner, tenant, scope } = self.place;
        let (from, to) = key::inputs(tenant, scope, track);
        let mut found = Vec::new();
        walk(&inner.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
            let source = key::tail_source(key);
            let input = source.and_then(|source| InputRow::decode(source, value).ok());
            found.extend(
                source.filter(|_| input.is_some_and(|input| input.entries().contains(&answer))),
            );
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }
}

/// The value that something is said about.
fn value(saying: Saying) -> Option<ValueKey> {
    match saying {
        Saying::Holds(value) | Saying::Corrects(value) | Saying::Negated(value) => Some(value),
        Saying::Ends(value) => value,
    }
}

/// An entry as several of a bounded size.
fn split(entry: Suppress) -> Vec<Suppress> {
    let Suppress { up_to, whole, events, facts, beliefs, things, gone } = entry;
    let empty = || Suppress { up_to, ..Suppress::default() };
    let mut all: Vec<Suppress> = Vec::new();
    if whole != Layers::default() {
        all.push(Suppress { whole, ..empty() });
    }
    all.extend(
        events.chunks(NAMED_AT_ONCE).map(|some| Suppress { events: some.to_vec(), ..empty() }),
    );
    all.extend(
        facts.chunks(NAMED_AT_ONCE).map(|some| Suppress { facts: some.to_vec(), ..empty() }),
    );
    all.extend(
        beliefs.chunks(NAMED_AT_ONCE).map(|some| Suppress { beliefs: some.to_vec(), ..empty() }),
    );
    all.extend(
        things.chunks(NAMED_AT_ONCE).map(|some| Suppress { things: some.to_vec(), ..empty() }),
    );
    // Last: when these are gone, nothing brings them back.
    all.extend(gone.chunks(NAMED_AT_ONCE).map(|some| Suppress { gone: some.to_vec(), ..empty() }));
    all
}
