//! Recognising what an agent writes back of its memory, before its answer is appended.
//!
//! Which events a pack has shown is remembered for a while, by where it was asked and by whom (`served`); their words are
//! read when something is written that could repeat them. The verdict is part of the answer, so a replay takes the
//! same steps without knowing what was ever shown. What was shown before a restart is not remembered.

mod served;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::read::words::words;
use lamina_core::write::echo::{Piece, Said, Shown, echoed, pieces, said, shown};
use lamina_index::{StaticEmbedder, Vector, frequency};
use lamina_store::codec::answer::{Answer, Echo};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::log::LogReader;
use lamina_store::view::derived::Rows;
use lamina_store::view::{ViewError, Views};
use lamina_types::layer::{ByteSpan, Extraction, Mention};
use lamina_types::{Content, EventId, FactId, Role};

use crate::derive::fold::Given;
use crate::derive::key::{self, Layer};
use crate::derive::read::{self, walk};
use crate::derive::rows::FactRow;
use crate::index::document::speaker;

pub(crate) use served::{Served, Shows};

/// Sentences of one event that are looked at.
const SENTENCES_MAX: usize = 64;
/// Sentences of an event that was shown which are held against others.
const SHOWN_SENTENCES_MAX: usize = 32;

/// Whose words something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice {
    /// An agent's, or an observation that nobody says: what it remembers may be in it.
    Agent,
    /// A person's: saying something again is saying it.
    Person,
    /// A tool's or a document's: it knows nothing of our memory.
    Source,
}

/// Recognises echoes.
#[derive(Debug)]
pub(crate) struct Guard {
    served: Arc<Served>,
    views: Arc<Views>,
    reader: Arc<dyn LogReader>,
}

/// What of an event is an echo.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) echoes: Vec<Echo>,
    /// Nothing else is said.
    pub(crate) is_all: bool,
}

/// An event that was shown, as sentences.
pub(crate) type Digested = Vec<(u64, Shown)>;

impl Guard {
    /// Over what was served.
    pub(crate) fn new(served: Arc<Served>, views: Arc<Views>, reader: Arc<dyn LogReader>) -> Guard {
        Guard { served, views, reader }
    }

    /// What of an event only says again what its writer was shown in its scope before.
    pub(crate) fn verdict(
        &self,
        entry: &Entry,
        who: &ExperienceWho,
        what: &ExperienceWhat,
        nouns: &[Mention],
    ) -> Verdict {
        let voice = voice(who, what);
        let text = match &what.content {
            Content::Message { text, .. } | Content::Text { text, .. } => text.as_str(),
            _ => return Verdict::default(),
        };
        let shows = Shows {
            tenant: entry.head.tenant,
            scope: &what.scope,
            caller: &who.caller,
            at: entry.head.recorded_at.0,
        };
        let events = self.served.before(&shows);
        if events.is_empty() {
            return Verdict::default();
        }
        let known: Vec<(EventId, Arc<Digested>)> = events
            .into_iter()
            .filter_map(|event| Some((event, self.digest(shows.tenant, event)?)))
            .collect();
        let mut heard =
            Heard { guard: self, tenant: shows.tenant, known, near: Nearness::default() };
        let mut verdict = Verdict::default();
        let mut others = 0_usize;
        for piece in pieces(text).iter().take(SENTENCES_MAX) {
            let nouns = nouns_in(text, piece, nouns);
            let said = said(piece.text, &nouns, |word| f64::from(frequency::weight(word)));
            match heard.echo(&said, piece, voice) {
                Some(of) => verdict.echoes.extend(span(piece).map(|span| Echo { span, of })),
                None => others += usize::from(said.can_echo()),
            }
        }
        verdict.is_all = others == 0 && !verdict.echoes.is_empty();
        verdict
    }

    /// The verdict that stands in the answer to an event.
    pub(crate) fn standing(&self, entry: &Entry) -> Vec<Echo> {
        let tenant = entry.head.tenant;
        let answer = || {
            let first = read::answers_placed(&self.views, tenant, entry.head.offset).ok()?;
            let (offset, place) = first.last().copied()?;
            let answer = self.reader.entry(offset, place).ok()?;
            Answer::decode(answer.what.live()?).ok()
        };
        answer().map(|answer| answer.echoes).unwrap_or_default()
    }

    /// The sentences of an event that was shown; `None` if its words are gone, or it has none.
    fn digest(&self, tenant: u32, event: EventId) -> Option<Arc<Digested>> {
        if let Some(known) = self.served.digest(tenant, event) {
            return Some(known);
        }
        let since = self.served.erased();
        let row = self.views.event(tenant, event).ok().flatten()?;
        row.listed()?;
        let entry = self.reader.entry(row.offset, row.place).ok()?;
        let what = ExperienceWhat::decode(entry.what.live()?).ok()?;
        let who = ExperienceWho::decode(entry.who.live()?).ok()?;
        let mut goes_without = lamina_models::asked::day_words(what.context.observed_at.0);
        let name = speaker(who.observed_actor.id.as_str());
        goes_without.extend(name.split_whitespace().map(str::to_lowercase));
        let sentences = pieces(what.content.text());
        let sentences = sentences.iter().take(SHOWN_SENTENCES_MAX);
        let digested = sentences.map(|piece| {
            let shown = shown(piece.text, &goes_without);
            (shown.signature(), shown)
        });
        let digested = Arc::new(digested.collect::<Digested>());
        self.served.keep_digest((tenant, event), &digested, since);
        Some(digested)
    }

    /// Whether what an event said is still so. If it was replaced since, saying it again is news.
    fn holds(&self, tenant: u32, event: EventId) -> Result<bool, ViewError> {
        let (from, to) = key::all_of_event(tenant, event);
        let mut facts = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            if key::layer_of(key) == Some(Layer::Fact) {
                facts.extend(key::tail_id(key).map(FactId::from_bytes));
            }
            ControlFlow::Continue(())
        })?;
        let mut replaced = false;
        for id in facts {
            let fact = key::fact(tenant, id);
            let row = read::row(&self.views, Space::Records, &fact, FactRow::decode)?;
            let Some(FactRow { piece, .. }) = row else { continue };
            if piece.recorded_to.is_none() && piece.to().is_none() {
                return Ok(true);
            }
            replaced = true;
        }
        Ok(!replaced)
    }
}

/// What was shown, to be held against what is said.
struct Heard<'a> {
    guard: &'a Guard,
    tenant: u32,
    known: Vec<(EventId, Arc<Digested>)>,
    near: Nearness,
}

impl Heard<'_> {
    /// The event that a sentence repeats.
    fn echo(&mut self, said: &Said, piece: &Piece<'_>, voice: Voice) -> Option<EventId> {
        if !said.can_echo() {
            return None;
        }
        let wanted = said.signature();
        // Half of its words at least, or it is none.
        let enough = wanted.count_ones().div_ceil(3).max(1);
        let candidates: Vec<(EventId, &Shown)> = self
            .known
            .iter()
            .flat_map(|(event, shown)| shown.iter().map(move |(bits, shown)| (event, bits, shown)))
            .filter(|(_, bits, _)| (*bits & wanted).count_ones() >= enough)
            .map(|(event, _, shown)| (*event, shown))
            .collect();
        let found = match (piece.is_framed, voice) {
            (true, _) | (_, Voice::Agent) => {
                let shown: Vec<&Shown> = candidates.iter().map(|(_, shown)| *shown).collect();
                let near = &mut self.near;
                echoed(said, &shown, &mut |one, other| near.words(one, other))
            }
            (false, Voice::Person | Voice::Source) => Vec::new(),
        };
        let events: Vec<EventId> =
            found.iter().filter_map(|at| candidates.get(*at)).map(|(event, _)| *event).collect();
        // A line of a context block carries its date: it is never news, also of a fact that was replaced since. Of
        // other sentences, an event that cannot be read is heard rather than passed over.
        let holds = |event: &EventId| self.guard.holds(self.tenant, *event).unwrap_or(false);
        let is_echo = piece.is_framed || events.iter().all(holds);
        is_echo.then(|| events.first().copied()).flatten()
    }
}

/// Nearness of words by the vectors that are compiled in; each is looked up once.
#[derive(Default)]
struct Nearness {
    embedder: StaticEmbedder,
    words: HashMap<String, Option<Vector>>,
}

impl Nearness {
    fn learn(&mut self, word: &str) {
        if !self.words.contains_key(word) {
            self.words.insert(word.to_owned(), self.embedder.embed_one(word));
        }
    }

    fn words(&mut self, one: &str, other: &str) -> f64 {
        self.learn(one);
        self.learn(other);
        let known = |word: &str| self.words.get(word).and_then(Option::as_ref);
        known(one).zip(known(other)).map_or(0.0, |(one, other)| f64::from(one.cosine(other)))
    }
}

fn voice(who: &ExperienceWho, what: &ExperienceWhat) -> Voice {
    let role = match &what.content {
        Content::Message { role, .. } => Some(*role),
        _ => None,
    };
    let is_agent = who.observed_actor.id.as_str().starts_with("agent:");
    match (role, what.modality.as_str()) {
        (_, "tool_result" | "document" | "imported" | "feedback") | (Some(Role::Tool), _) => {
            Voice::Source
        }
        (Some(Role::Assistant), _) => Voice::Agent,
        _ if is_agent => Voice::Agent,
        (None, "observation") => Voice::Agent,
        _ => Voice::Person,
    }
}

fn span(piece: &Piece<'_>) -> Option<ByteSpan> {
    Some(ByteSpan { start: u32::try_from(piece.start).ok()?, end: u32::try_from(piece.end).ok()? })
}

/// The words of a sentence that are nouns.
fn nouns_in(text: &str, piece: &Piece<'_>, nouns: &[Mention]) -> Vec<String> {
    let within =
        |span: &ByteSpan| piece.start <= span.start as usize && span.end as usize <= piece.end;
    let nouns = nouns.iter().filter(|noun| within(&noun.span));
    let said = nouns.filter_map(|noun| text.get(noun.span.start as usize..noun.span.end as usize));
    said.flat_map(words).collect()
}

/// Takes out of an extraction what stands in echoes, and says which of its claims do.
pub(crate) fn withhold(extraction: &mut Extraction, echoes: &[Echo]) -> Vec<u16> {
    if echoes.is_empty() {
        return Vec::new();
    }
    let is_in = |at: &ByteSpan| {
        echoes.iter().any(|echo| echo.span.start <= at.start && at.end <= echo.span.end)
    };
    extraction.mentions.retain(|mention| !is_in(&mention.span));
    extraction.nouns.retain(|noun| !is_in(&noun.span));
    extraction.bonds.retain(|bond| !is_in(&bond.from) && !is_in(&bond.to));
    let claims = extraction.claims.iter().enumerate();
    let echoed = claims.filter(|(_, claim)| is_in(&claim.clause));
    echoed.filter_map(|(at, _)| u16::try_from(at).ok()).collect()
}

/// Notes which events an event repeats.
pub(super) fn learn(rows: &mut Rows<'_, '_>, given: &Given<'_>) {
    let at = key::echo(given.tenant, given.event.id);
    let mut of: Vec<EventId> = given.answer.echoes.iter().map(|echo| echo.of).collect();
    of.sort_unstable();
    of.dedup();
    match of.is_empty() {
        true => rows.delete(Space::Records, at),
        false => {
            let bytes = of.iter().flat_map(|event| *event.as_bytes()).collect();
            rows.put(Space::Records, at, bytes);
        }
    }
}

/// The event is gone.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, tenant: u32, event: EventId) {
    rows.delete(Space::Records, key::echo(tenant, event));
}

/// The events that an event repeats.
pub(crate) fn echoes_of(
    views: &Views,
    tenant: u32,
    event: EventId,
) -> Result<Vec<EventId>, ViewError> {
    let bytes = read::get(views, Space::Records, &key::echo(tenant, event))?.unwrap_or_default();
    let (ids, _) = bytes.as_chunks::<16>();
    Ok(ids.iter().map(|id| EventId::from_bytes(*id)).collect())
}

#[cfg(test)]
mod tests;
