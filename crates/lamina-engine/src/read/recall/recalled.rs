//! What a recall gives: the records of a pack, and what was done to find them.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::read::abstain::{Certainty, WhyNot};
use lamina_core::read::plan::Plan;
use lamina_core::read::prompt::AuthorList;
use lamina_core::read::score::Signals;
use lamina_models::asked::Window;
use lamina_types::recall::Layer;
use lamina_types::{ActorId, BeliefId, EventId, EventRecord, Micros, RecordedAt};

use super::chain::FactChain;
use super::excerpt::Excerpt;
use super::fates::Knowledge;
use super::pack::Cited;
use super::standing::Applies;
use crate::read::Traversed;
use crate::read::beliefs::BeliefRecord;
use crate::read::episodes::EpisodeRecord;
use crate::read::facts::FactRecord;
use crate::read::understanding::ConceptRecord;

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
    /// How sure it is that the memory knows what is asked.
    pub certainty: Certainty,
    /// Why nothing is relevant enough, if that is so: then the events are the closest there are.
    pub why_not: Option<WhyNot>,
    /// What is known of the person who asks.
    pub profile: Vec<FactRecord>,
    /// The facts that a question goes through whose subject is named through another.
    pub chain: Option<FactChain>,
    /// Events of which a part is shown, because all of it would not fit.
    pub excerpts: BTreeMap<EventId, Excerpt>,
    /// Records that had a place and did not fit the tokens.
    pub evicted: usize,
    /// Records that had a place and are too weak beside the best.
    pub cut: usize,
    /// Tokens of all records together.
    pub tokens: u64,
    /// Of a walk down: where the records are from, and what was left out.
    pub traversed: Option<Vec<Traversed>>,
    /// Records that could not be read because stored bytes are damaged, by their ids.
    pub damaged: BTreeSet<String>,
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
    /// It is too weak beside the best.
    TailCut,
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

impl Recalled {
    /// Whether its events are not relevant enough, and only the closest there are.
    pub fn is_below_floor(&self) -> bool {
        self.why_not.is_some()
    }

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
            certainty: Certainty::Unknown,
            why_not: None,
            profile: Vec::new(),
            chain: None,
            excerpts: BTreeMap::new(),
            evicted: 0,
            cut: 0,
            tokens: 0,
            traversed: None,
            damaged: BTreeSet::new(),
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
