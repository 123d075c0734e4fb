//! What concepts are called, and what is said about them: looked up in the log, each answer once.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lamina_core::derive::concepts::{Concept, Described, Graph as _, Item, describe, name};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::answer::Answer;
use lamina_store::kv::Space;
use lamina_store::view::Tag;
use lamina_types::{EpisodeId, EventId, FactId, Micros, RecordedAt};

use super::{KnownAt, Seen};
use crate::Error;
use crate::derive::concepts::key;
use crate::derive::concepts::rows::DigestRow;
use crate::derive::concepts::things::{self, THING};
use crate::derive::read::answer_row;
use crate::engine::Inner;
use crate::read::recall::text_cache::{Answered, Named};

/// Things of one concept that are named.
const THINGS_NAMED_MAX: usize = 64;
/// Sentences that a description may quote.
const QUOTES_MAX: usize = 3;
/// Characters of a sentence that is quoted.
const QUOTE_CHARS_MAX: usize = 240;
/// Episodes that are searched for how a thing is called.
const EPISODES_SEARCHED_MAX: usize = 4;

/// Everything that was said is known.
const ALWAYS: RecordedAt = RecordedAt(Micros(i64::MAX));

/// The offset of an answer and the place of a name in it, and the name.
type Called = ((u64, usize), Option<String>);

/// The words of one page.
pub(crate) struct Words<'a> {
    inner: &'a Inner,
    pub(crate) tenant: u32,
    answers: HashMap<u64, Option<Arc<Answered>>>,
    called: HashMap<(u64, Item), Option<String>>,
    /// What was said after this is not known.
    until: RecordedAt,
    /// Words of these events alone, if not of all.
    admits: Option<&'a Admits<'a>>,
}

/// Whether the words of an event may be used.
type Admits<'a> = dyn Fn(EventId) -> Result<bool, Error> + 'a;

impl<'a> Words<'a> {
    pub(crate) fn new(inner: &'a Inner, tenant: u32) -> Words<'a> {
        let (answers, called) = (HashMap::new(), HashMap::new());
        Words { inner, tenant, answers, called, until: ALWAYS, admits: None }
    }

    /// Uses words of admitted events alone from now on.
    pub(crate) fn take_only(&mut self, admits: &'a Admits<'a>) {
        self.called.clear();
        self.admits = Some(admits);
    }

    /// Whether some events are not admitted.
    pub(super) fn is_filtered(&self) -> bool {
        self.admits.is_some()
    }

    /// Whether the words of an answer may be used.
    pub(super) fn admits_answer(&self, offset: u64) -> Result<bool, Error> {
        let Some(admits) = self.admits else { return Ok(true) };
        match answer_row(&self.inner.views, self.tenant, offset)? {
            Some(row) => admits(row.event),
            None => Ok(false),
        }
    }

    /// Whether any event behind a fact is admitted.
    pub(super) fn admits_fact(&self, fact: FactId) -> Result<bool, Error> {
        let Some(admits) = self.admits else { return Ok(true) };
        for event in self.inner.fact_events(self.tenant, fact, self.until)? {
            if admits(event)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The words as they were known.
    pub(crate) fn at(inner: &'a Inner, tenant: u32, at: KnownAt) -> Words<'a> {
        let words = Words::new(inner, tenant);
        Words { until: at.past().unwrap_or(words.until), ..words }
    }

    /// The name of a concept.
    pub(super) fn name(
        &mut self,
        graph: &Seen<'_>,
        scope: u64,
        concept: &Concept,
    ) -> Result<Option<String>, Error> {
        let order = |item| (graph.together(concept.leader, item), graph.first(item));
        self.named_by(scope, concept, &order)
    }

    /// The same as it was at an instant.
    pub(super) fn name_then(
        &mut self,
        graph: &Seen<'_>,
        scope: u64,
        concept: &Concept,
        then: RecordedAt,
    ) -> Result<Option<String>, Error> {
        let with = |item| self.inner.episodes_with(self.tenant, scope, item, then);
        let leader: HashSet<EpisodeId> = with(concept.leader)?.into_iter().collect();
        let mut together: HashMap<Item, u32> = HashMap::new();
        for item in concept.members.iter().take(THINGS_NAMED_MAX) {
            let both = with(*item)?.into_iter().filter(|episode| leader.contains(episode)).count();
            together.insert(*item, u32::try_from(both).unwrap_or(u32::MAX));
        }
        let together = |item| together.get(&item).copied().unwrap_or(0);
        self.named_by(scope, concept, &|item| (together(item), graph.first(item)))
    }

    fn named_by(
        &mut self,
        scope: u64,
        concept: &Concept,
        order: &dyn Fn(Item) -> (u32, u64),
    ) -> Result<Option<String>, Error> {
        let mut called = HashMap::new();
        for item in concept.members.iter().take(THINGS_NAMED_MAX) {
            called.insert(*item, self.called(scope, *item)?);
        }
        Ok(name(concept, order, &|item| called.get(&item).cloned().flatten()))
    }

    /// The things of a concept, the one it gathers around first.
    pub(super) fn things(
        &mut self,
        graph: &Seen<'_>,
        scope: u64,
        concept: &Concept,
    ) -> Result<Vec<String>, Error> {
        let mut members = concept.members.clone();
        members.sort_by_key(|item| (*item != concept.leader, graph.first(*item), *item));
        let mut named = Vec::new();
        for item in members.into_iter().take(THINGS_NAMED_MAX) {
            named.extend(self.called(scope, item)?);
        }
        Ok(named)
    }

    /// A description, with the clauses that say most.
    pub(super) fn summary(
        &mut self,
        name: Option<&str>,
        found: Described,
        said: &[AssertionId],
    ) -> Result<Option<String>, Error> {
        let Some(name) = name else { return Ok(None) };
        let mut quotes: Vec<String> = Vec::new();
        for source in said {
            if quotes.len() >= QUOTES_MAX {
                break;
            }
            let quote = self.quote(*source)?;
            quotes.extend(quote.filter(|quote| !quotes.contains(quote)));
        }
        Ok(Some(describe(name, found, &quotes)))
    }

    /// How a thing is called where it occurred last.
    fn called(&mut self, scope: u64, item: Item) -> Result<Option<String>, Error> {
        if let Some(known) = self.called.get(&(scope, item)) {
            return Ok(known.clone());
        }
        let found = self.find(scope, item)?;
        self.called.insert((scope, item), found.clone());
        Ok(found)
    }

    /// The same, from where it was found before if that can still be read.
    fn find(&mut self, scope: u64, item: Item) -> Result<Option<String>, Error> {
        let tag = match item {
            Item::Value(tag) => tag,
            Item::Label(tag) => return self.label(scope, item, tag),
            Item::Entity(_) | Item::Predicate(_) => return Ok(None),
        };
        let inner = self.inner;
        // What is hidden is passed over, and comes back if it is not erased after all. What was called so
        // once is looked for where it was.
        if inner.hides_any(self.tenant) || self.until != ALWAYS || self.is_filtered() {
            let place = self.place(scope, item, tag)?;
            return Ok(place.and_then(|(_, shown)| shown));
        }
        let name = [b"called ".as_slice(), &key::item(self.tenant, scope, item)].concat();
        let mut shown = None;
        let place = inner.views.made_again(
            &name,
            |_| 0,
            || {
                let found = self.place(scope, item, tag)?;
                Ok::<_, Error>(found.map(|(place, said)| {
                    shown = said;
                    place
                }))
            },
        )?;
        let Some((offset, place)) = *place else { return Ok(None) };
        if shown.is_some() {
            return Ok(shown);
        }
        let answer = self.answer(offset)?;
        match answer.and_then(|answer| things::called(answer).nth(place)) {
            Some(said) => Ok(Some(said.shown)),
            None => Ok(self.place(scope, item, tag)?.and_then(|(_, shown)| shown)),
        }
    }

    /// A name as the latest label says it that may be read.
    fn label(&mut self, scope: u64, item: Item, tag: Tag) -> Result<Option<String>, Error> {
        let keyed = self.inner.keyed(self.tenant)?;
        let episodes = self.inner.episodes_with(self.tenant, scope, item, self.until)?;
        for episode in episodes.into_iter().take(EPISODES_SEARCHED_MAX) {
            let stored = key::digest(self.tenant, scope, episode);
            let views = &self.inner.views;
            let digest = views.derived_record(Space::Sources, &stored, DigestRow::decode)?;
            let Some(digest) = digest else { continue };
            for offset in digest.answers.iter().copied() {
                if !self.admits_answer(offset)? {
                    continue;
                }
                let Some(answer) = self.answer(offset)? else { continue };
                let found = things::labelled(answer).find(|said| {
                    let mac = keyed.mac(THING, &[said.folded.as_bytes()]);
                    mac.starts_with(&tag)
                });
                if let Some(said) = found {
                    return Ok(Some(said.shown));
                }
            }
        }
        Ok(None)
    }

    /// Which name of which answer a thing has, and that name.
    fn place(&mut self, scope: u64, item: Item, tag: Tag) -> Result<Option<Called>, Error> {
        let episodes = self.inner.episodes_with(self.tenant, scope, item, self.until)?;
        for episode in episodes.into_iter().take(EPISODES_SEARCHED_MAX) {
            let stored = key::digest(self.tenant, scope, episode);
            let views = &self.inner.views;
            let digest = views.derived_record(Space::Sources, &stored, DigestRow::decode)?;
            let Some(digest) = digest else { continue };
            for offset in digest.answers.iter().copied() {
                if !self.admits_answer(offset)? {
                    continue;
                }
                let named = self.named(offset)?;
                let Ok(found) = named.binary_search_by(|(name, _)| name.cmp(&tag)) else {
                    continue;
                };
                let Some((_, place)) = named.get(found) else { continue };
                let said =
                    self.answer(offset)?.and_then(|answer| things::called(answer).nth(*place));
                if let Some(said) = said {
                    return Ok(Some(((offset, *place), Some(said.shown))));
                }
            }
        }
        Ok(None)
    }

    /// What an answer gives names, hashed once for all things that are sought in it.
    fn named(&mut self, offset: u64) -> Result<Arc<Named>, Error> {
        let asked = match self.inner.shared.texts.named(offset) {
            Ok(named) => return Ok(named),
            Err(asked) => asked,
        };
        let keyed = self.inner.keyed(self.tenant)?;
        let mut named: Vec<(Tag, usize)> = Vec::new();
        let Some(answer) = self.answer(offset)? else { return Ok(Arc::default()) };
        for (place, said) in things::called(answer).enumerate() {
            let mac = keyed.mac(THING, &[said.folded.as_bytes()]);
            named.extend(mac.first_chunk().map(|tag| (*tag, place)));
        }
        // Of two of the same name the first is shown.
        named.sort_unstable();
        named.dedup_by_key(|(tag, _)| *tag);
        let named = Arc::new(named.into_boxed_slice());
        self.inner.shared.texts.put_named(offset, asked, &named);
        Ok(named)
    }

    /// The words of the clause that a claim stands on.
    fn quote(&mut self, source: AssertionId) -> Result<Option<String>, Error> {
        let source = self.inner.origin(self.tenant, source)?;
        if !self.admits_answer(source.offset)? {
            return Ok(None);
        }
        let claim = self.answer(source.offset)?;
        let claim = claim
            .and_then(|answer| answer.extraction.claims.get(usize::from(source.ordinal)).cloned());
        let Some(claim) = claim else { return Ok(None) };
        let Some(answer) = answer_row(&self.inner.views, self.tenant, source.offset)? else {
            return Ok(None);
        };
        let Some(event) = self.inner.views.event_again(self.tenant, answer.event)? else {
            return Ok(None);
        };
        let Some(entry) = self.inner.sound_entry(event.offset, event.place)? else {
            return Ok(None);
        };
        let Some(bytes) = entry.what.live() else { return Ok(None) };
        let what = lamina_store::codec::experience::ExperienceWhat::decode(bytes)
            .map_err(|_| Error::Undecodable { what: "an event" })?;
        let clause = claim.clause.start as usize..claim.clause.end as usize;
        let words = what.content.text().get(clause).unwrap_or("").trim();
        let words: String = words.chars().take(QUOTE_CHARS_MAX).collect();
        Ok((!words.is_empty()).then_some(words))
    }

    fn answer(&mut self, offset: u64) -> Result<Option<&Answer>, Error> {
        let slot = match self.answers.entry(offset) {
            Slot::Occupied(known) => return Ok(known.into_mut().as_ref().map(|said| &said.0)),
            Slot::Vacant(slot) => slot,
        };
        let row = answer_row(&self.inner.views, self.tenant, offset)?;
        let answer = match row.map(|row| self.inner.answer_at(self.tenant, offset, &row)) {
            Some(Err(error)) if error.is_damage() => None,
            answer => answer.transpose()?,
        };
        Ok(slot.insert(answer.flatten()).as_ref().map(|said| &said.0))
    }
}
