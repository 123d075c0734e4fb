//! Recall: a question to all layers at once.
//!
//! Events are searched, because every other record stands on them: what is derived is reached through
//! the events that were found, and seen with the knowledge that is asked with. So nothing can be recalled
//! whose evidence cannot, and a question about the past gets the records of that time.

mod alone;
mod authority;
mod authors;
mod closer;
mod derived;
mod feedback;
mod excerpt;
mod fates;
pub(in crate::read) mod frame;
mod gate;
mod latest;
mod lookup;
mod pack;
mod retrieve;
mod scan;
pub(in crate::read) mod standing;
mod surround;
pub(crate) mod texts;
mod variants;
mod verbatim;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use lamina_core::policy::Permit;
use lamina_core::read::abstain::WhyNot;
use lamina_core::read::fuse::Signals;
use lamina_core::read::plan::{Plan, plan};
use lamina_core::read::prompt::AuthorList;
use lamina_core::read::tuning::Tuning;
use lamina_models::asked::Window;
use lamina_store::view::remembering;
use lamina_types::capability::UnderstandingRead;
use lamina_types::recall::{Detail, Layer, Recall};
use lamina_types::{ActorId, BeliefId, EventId, EventRecord, Micros, RecordedAt};

use crate::derive::echo::Shows;
use crate::engine::Inner;
use crate::read::beliefs::BeliefRecord;
use crate::read::episodes::EpisodeRecord;
use crate::read::facts::FactRecord;
use crate::read::understanding::ConceptRecord;
use crate::read::{ReadPermit, Traversed};
use crate::{Engine, Error};

pub use alone::{RecallAlone, RecallOver};
pub use authority::StandingOffices;
use authors::AuthorReader;
pub use excerpt::{Excerpt, Fragment};
pub use fates::Knowledge;
use frame::Frame;
pub use pack::{Cited, belief_words, fact_words};
pub(in crate::read) use pack::{claim_words, object, said_words_in, term, term_in};
pub(crate) use pack::{held_words, said_words};
pub use standing::Applies;
use variants::Finding;
pub use verbatim::VERBATIM_MAX;

/// How long a recall waits for the index to have everything that was answered.
pub(in crate::read) const INDEX_WAIT_MAX: Duration = Duration::from_secs(1);

/// What a recall takes: how far it reaches, and whether concepts may be read.
#[derive(Debug)]
pub struct MayRecall {
    /// Which scopes.
    pub reach: Arc<ReadPermit>,
    /// Leave to read concepts; without it the layer stays empty.
    pub concepts: Option<Permit<UnderstandingRead>>,
    /// Who may write instructions for others.
    pub standing: StandingOffices,
}

/// A record with how well it fits.
#[derive(Debug, Clone)]
pub struct Ranked<T> {
    /// The record.
    pub record: T,
    /// How well it fits, 0 to 1: the best of the pack is 1.
    pub score: f64,
}

/// What was recalled.
#[derive(Debug, Clone)]
pub struct Recalled {
    /// How the question was gone about.
    pub plan: Plan,
    /// The knowledge it was asked with.
    pub recorded: RecordedAt,
    /// The same, for whoever asks what of it still stands.
    pub knowledge: Option<Knowledge>,
    /// Who asks.
    pub asker: Option<ActorId>,
    /// Nobody said how much the pack may hold: its text has what is needed, and little else.
    pub is_usual_size: bool,
    /// The stretch of time it was asked about, if there is one.
    pub window: Option<Window>,
    /// Events, the best first.
    pub events: Vec<Ranked<EventRecord>>,
    /// Episodes.
    pub episodes: Vec<Ranked<EpisodeRecord>>,
    /// Facts.
    pub facts: Vec<Ranked<FactRecord>>,
    /// Beliefs.
    pub beliefs: Vec<Ranked<BeliefRecord>>,
    /// Those of the beliefs that are not to be told as so.
    pub refuted: BTreeSet<BeliefId>,
    /// Concepts.
    pub concepts: Vec<Ranked<ConceptRecord>>,
    /// What applies whatever is asked; none of it is in the layers.
    pub standing: Vec<Applies>,
    /// What each derived record of the pack stands on.
    pub citations: BTreeMap<String, Vec<Cited>>,
    /// Who said the words of each derived record of the pack.
    pub authors: BTreeMap<String, AuthorList>,
    /// How sure it is that any of it has to do with the question.
    pub relevance: f64,
    /// Why there is nothing, if there is nothing.
    pub why_not: Option<WhyNot>,
    /// Events of which a part is shown, because all of it would not fit.
    pub excerpts: BTreeMap<EventId, Excerpt>,
    /// Records that had a place and did not fit the tokens.
    pub evicted: usize,
    /// Tokens of all records together.
    pub tokens: u64,
    /// Of a walk down: where the records are from, and what was left out.
    pub traversed: Option<Vec<Traversed>>,
    /// Layers that could not be read.
    pub failed: Vec<Layer>,
    /// The search index does not follow: events were found by reading them.
    pub unindexed: bool,
    /// The embedding model does not answer: words and built-in vectors were asked.
    pub unembedded: bool,
    /// The embedding model that was asked beside the built-in vectors.
    pub embedded_by: Option<String>,
    /// What was done, and how long it took.
    pub trail: Trail,
    /// Every event that was looked at, the best first.
    pub considered: Vec<Considered>,
    /// Those of them that are not in the pack, and why; only if all details are asked for.
    pub dropped: Vec<(EventId, Dropped)>,
}

/// Why an event that was looked at is not in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dropped {
    /// What was found does not have enough to do with the question.
    BelowFloor,
    /// It is not what the filter asks for, or its words are gone.
    Filtered,
    /// Others had its place in the layer.
    LayerLimit,
    /// It did not fit the tokens, or said nothing that others do not say.
    TokenBudget,
}

/// What a recall did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trail {
    /// Events that share words with the question.
    pub lexical_hits: u64,
    /// Events near in meaning.
    pub vector_hits: u64,
    /// Events that came in beside a hit.
    pub neighbours: u64,
    /// Records that were reached through events.
    pub derived: u64,
    /// Microseconds of each step: planning, searching, expanding, ranking, derived layers, packing.
    pub plan_us: i64,
    /// Searching.
    pub search_us: i64,
    /// Looking around hits.
    pub expand_us: i64,
    /// Ranking.
    pub rank_us: i64,
    /// Derived layers.
    pub derive_us: i64,
    /// Reading words and packing.
    pub pack_us: i64,
}

/// An event that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Considered {
    /// The event.
    pub id: EventId,
    /// Its score.
    pub score: f64,
    /// What each signal contributed.
    pub contributions: Signals,
    /// Its place by score alone, from 0; the newer then goes above what it replaced.
    pub fused: usize,
    /// Which ways to ask have found it, as bits: the question itself is the first.
    pub ways: u8,
    /// Its score by words, as the index gives it.
    pub lexical: Option<f64>,
    /// Its nearness in meaning.
    pub semantic: Option<f64>,
    /// The same by the embedding model that was asked.
    pub further: Option<f64>,
    /// Ordinal of its conversation within this recall, and its place there.
    pub thread: Option<(u64, u64)>,
    /// Which words of the question it has, as bits.
    pub terms: u64,
    /// When it happened.
    pub observed: Micros,
}

impl Engine {
    /// What is known about a question.
    pub async fn recall(&self, may: MayRecall, question: Recall) -> Result<Recalled, Error> {
        let answered = self.inner.caught_up().await;
        if let Some(search) = &self.inner.search {
            // An index that is made again takes a while; then events are found by reading.
            search.reached(answered, INDEX_WAIT_MAX).await;
        }
        self.blocking(move |inner| {
            remembering(|| inner.recall(&may, &question, answered, &Tuning::USUAL))
        })
        .await
    }
}

impl Inner {
    pub(in crate::read) fn recall(
        &self,
        may: &MayRecall,
        question: &Recall,
        answered: u64,
        tuning: &Tuning,
    ) -> Result<Recalled, Error> {
        let mut trail = Trail::default();
        let mut watch = Watch::start(self);
        let plan = plan(&question.query);
        let frame = self.frame(may, question, plan, answered)?;
        trail.plan_us = watch.lap();
        let floor = question.floor.unwrap_or(lamina_core::read::abstain::FLOOR);
        let watched = (&mut trail, &mut watch);
        let found = self.find_all((may, answered, floor), &frame, tuning, watched)?;
        let Finding { hits: found, order, failed, relevance } = found;
        let abstains = !question.query.is_empty() && (relevance < floor || order.is_empty());
        let mut recalled = Recalled {
            plan,
            recorded: frame.recorded,
            knowledge: Some(self.knowledge(&frame)),
            asker: Some(may.reach.caller().actor.clone()),
            is_usual_size: question.tokens_max.is_none()
                && question.layer_limits.iter().all(Option::is_none),
            window: frame.window,
            relevance,
            why_not: abstains.then_some(WhyNot {
                candidates: order.len(),
                best_score: relevance,
                floor,
            }),
            considered: found.considered(&order),
            unindexed: found.unindexed
                || self.search.as_ref().is_none_or(|search| search.found.is_stopped()),
            unembedded: found.unembedded,
            embedded_by: found.further.as_ref().map(|(model, _)| model.clone()),
            failed,
            ..Recalled::nothing(plan, frame.recorded)
        };
        let standing::Applying { found: standing, tokens, over } =
            self.applying(&frame, &may.standing)?;
        (recalled.standing, recalled.tokens) = (standing, tokens);
        if !abstains {
            let derived = self.derived(may, &frame, tuning, &found, &order)?;
            trail.derived = derived.count;
            trail.derive_us = watch.lap();
            self.pack(&frame, &found, &order, derived, &mut recalled)?;
            recalled.refuted = self.refuted(&self.knowledge(&frame), &recalled.beliefs)?;
            gate::drop_hidden_rivals(&mut recalled, &frame);
        } else if question.detail == Detail::Full {
            let all = recalled.considered.iter().map(|event| (event.id, Dropped::BelowFloor));
            recalled.dropped = all.collect();
        }
        standing::but_answers(&mut recalled);
        standing::but_over(&mut recalled, &over);
        recalled.authors = AuthorReader::new(self, &frame).read_pack(&recalled)?;
        recalled.traversed = self.walked(&frame, &recalled)?;
        trail.pack_us = watch.lap();
        recalled.trail = trail;
        self.showed(&frame, &recalled);
        Ok(recalled)
    }
}

impl Inner {
    /// Remembers what was shown, so that it is recognised when it is written back.
    fn showed(&self, frame: &Frame<'_>, recalled: &Recalled) {
        let (tenant, scope) = (frame.tenant, &frame.question.scope);
        let caller = &frame.reach.caller().actor;
        let shows = Shows { tenant, scope, caller, at: frame.now };
        let facts = recalled.facts.iter().flat_map(|fact| fact.record.supports.iter().copied());
        let episodes = recalled.episodes.iter().flat_map(|one| one.record.events.iter().copied());
        let events = recalled.events.iter().map(|event| event.record.id);
        let standing = recalled.standing.iter().map(|one| one.id);
        self.shared.served.note(&shows, events.chain(standing).chain(facts).chain(episodes));
    }
}

impl Recalled {
    /// Nothing at all.
    pub fn nothing(plan: Plan, recorded: RecordedAt) -> Recalled {
        Recalled {
            plan,
            recorded,
            knowledge: None,
            asker: None,
            is_usual_size: false,
            window: None,
            events: Vec::new(),
            episodes: Vec::new(),
            facts: Vec::new(),
            beliefs: Vec::new(),
            refuted: BTreeSet::new(),
            concepts: Vec::new(),
            standing: Vec::new(),
            citations: BTreeMap::new(),
            authors: BTreeMap::new(),
            relevance: 0.0,
            why_not: None,
            excerpts: BTreeMap::new(),
            evicted: 0,
            tokens: 0,
            traversed: None,
            failed: Vec::new(),
            unindexed: false,
            unembedded: false,
            embedded_by: None,
            trail: Trail::default(),
            considered: Vec::new(),
            dropped: Vec::new(),
        }
    }
}

/// Measures steps.
struct Watch<'a> {
    inner: &'a Inner,
    last: Micros,
}

impl<'a> Watch<'a> {
    fn start(inner: &'a Inner) -> Watch<'a> {
        Watch { inner, last: inner.env.clock.monotonic() }
    }

    /// Microseconds since the last step.
    fn lap(&mut self) -> i64 {
        let now = self.inner.env.clock.monotonic();
        let step = now.0 - self.last.0;
        self.last = now;
        step
    }
}

#[cfg(test)]
pub(in crate::read) mod tests;
