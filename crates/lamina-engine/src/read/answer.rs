//! Answering from what was recalled, by quoting it.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_core::read::answer::{Judged, Meaning, Said, judge, quoted, sentences};
use lamina_index::{StaticEmbedder, Vector};
use lamina_models::asked;
use lamina_types::recall::Layer;
use lamina_types::{EventId, Micros};

use crate::index::document::{readable, speaker};
use crate::read::recall::{Recalled, belief_words, fact_words};
use crate::{Engine, Error};

/// Sentences that are told about beside those that are quoted.
const TOLD_MAX: usize = 20;
/// A time in words that reaches over more than this says nothing exact.
const SPOKEN_US_MAX: i64 = 366 * 86_400 * 1_000_000;

/// Words of a time that is relative to when they are said. Of `May 31` nobody knows which year is meant.
const RELATIVE: &[&str] =
    &["yesterday", "today", "tomorrow", "tonight", "ago", "last", "next", "this"];

/// A sentence of a record, and how well it answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Quote {
    /// The layer of the record.
    pub layer: Layer,
    /// The record.
    pub id: String,
    /// The words.
    pub text: String,
    /// Who said them, as words.
    pub speaker: String,
    /// When.
    pub at: Micros,
    /// The time that the words speak of without naming it in full, such as `yesterday`.
    pub spoken: Option<(Micros, Micros)>,
    /// How well it answers, and why.
    pub judged: Judged,
}

/// What answers a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quotes {
    /// The sentences that answer, the best first; none if nothing does.
    pub answering: Vec<Quote>,
    /// The best of all that were looked at.
    pub considered: Vec<Quote>,
}

impl Quotes {
    /// What answers, and if nothing does, whatever was looked at: for whoever wants to know everything.
    pub fn considered_or_answering(&self) -> Vec<Quote> {
        if self.answering.is_empty() { self.considered.clone() } else { self.answering.clone() }
    }
}

impl Engine {
    /// The sentences of what was recalled that answer a question, at most so many.
    pub async fn quote(
        &self,
        question: String,
        recalled: Arc<Recalled>,
        most: usize,
    ) -> Result<Quotes, Error> {
        self.blocking(move |_| Ok(quotes(&question, &recalled, most))).await
    }
}

/// What a sentence can be taken from.
struct Record {
    layer: Layer,
    id: String,
    text: String,
    speaker: String,
    at: Micros,
    score: f64,
    after: Option<usize>,
    known: Vec<String>,
}

/// The sentences of what was recalled that answer a question.
fn quotes(question: &str, recalled: &Recalled, most: usize) -> Quotes {
    let records = records(recalled);
    let said: Vec<Said<'_>> = records
        .iter()
        .map(|record| Said {
            text: &record.text,
            speaker: &record.speaker,
            score: record.score,
            after: record.after,
            known: record.known.clone(),
        })
        .collect();
    let sentences = sentences(&said);
    let judged = judge(question, &said, &sentences, &mut Nearness::to(question));
    let quote = |one: &Judged| {
        let sentence = sentences.get(one.sentence)?;
        let record = records.get(sentence.said)?;
        Some(Quote {
            layer: record.layer,
            id: record.id.clone(),
            text: sentence.text.to_owned(),
            speaker: record.speaker.clone(),
            at: record.at,
            spoken: spoken(sentence.text, record.at),
            judged: *one,
        })
    };
    Quotes {
        answering: quoted(&judged, &sentences, most).iter().filter_map(quote).collect(),
        considered: judged.iter().take(TOLD_MAX).filter_map(quote).collect(),
    }
}

/// What was said, and what is known of which nobody's words are in the pack.
fn records(recalled: &Recalled) -> Vec<Record> {
    let mut known: HashMap<EventId, Vec<String>> = HashMap::new();
    for fact in &recalled.facts {
        for support in &fact.record.supports {
            known.entry(*support).or_default().push(fact_words(&fact.record));
        }
    }
    let place: HashMap<EventId, (u64, u64)> = recalled
        .considered
        .iter()
        .filter_map(|considered| Some((considered.id, considered.thread?)))
        .collect();
    let at: HashMap<(u64, u64), usize> = recalled
        .events
        .iter()
        .enumerate()
        .filter_map(|(at, event)| Some((*place.get(&event.record.id)?, at)))
        .collect();
    let mut records = Vec::new();
    for found in &recalled.events {
        let event = &found.record;
        let before = place
            .get(&event.id)
            .and_then(|(thread, position)| at.get(&(*thread, position.checked_sub(1)?)).copied());
        records.push(Record {
            layer: Layer::Events,
            id: event.id.to_string(),
            text: readable(&event.experience.content),
            speaker: speaker(event.experience.observed_actor.id.as_str()),
            at: event.experience.context.observed_at.0,
            score: found.score,
            after: before,
            known: known.remove(&event.id).unwrap_or_default(),
        });
    }
    let is_said = |id: &EventId| recalled.events.iter().any(|event| event.record.id == *id);
    for found in &recalled.facts {
        let fact = &found.record;
        if !fact.supports.iter().any(is_said) {
            let at = fact.valid_from.map_or(fact.recorded_from.0, |at| at.0);
            let words = format!("{}.", fact_words(fact));
            records.push(Record::derived(
                Layer::Facts,
                fact.id.to_string(),
                words,
                at,
                found.score,
            ));
        }
    }
    if recalled.events.is_empty() {
        for found in &recalled.beliefs {
            let belief = &found.record;
            let words = format!("{}.", belief_words(belief));
            let (id, at) = (belief.id.to_string(), belief.valid_from.0);
            records.push(Record::derived(Layer::Beliefs, id, words, at, found.score));
        }
    }
    records
}

impl Record {
    fn derived(layer: Layer, id: String, text: String, at: Micros, score: f64) -> Record {
        let (speaker, known) = (String::new(), Vec::new());
        Record { layer, id, text, speaker, at, score, after: None, known }
    }
}

/// The time that a sentence speaks of in words that are relative to when it was said.
fn spoken(sentence: &str, at: Micros) -> Option<(Micros, Micros)> {
    let (window, (start, end)) = asked::spoken(sentence, at, None)?;
    let phrase = sentence.get(start..end)?.to_lowercase();
    let relative = phrase.split_whitespace().any(|word| RELATIVE.contains(&word));
    let (from, to) = (window.from?.0, window.to?.0);
    (relative && to.0 - from.0 <= SPOKEN_US_MAX).then_some((from, to))
}

/// Nearness in meaning by the vectors that are compiled in. Each word is looked up once.
struct Nearness {
    embedder: StaticEmbedder,
    question: Option<Vector>,
    words: HashMap<String, Option<Vector>>,
}

impl Nearness {
    fn to(question: &str) -> Nearness {
        let embedder = StaticEmbedder::new();
        Nearness { question: embedder.embed_one(question), embedder, words: HashMap::new() }
    }

    fn learn(&mut self, word: &str) {
        if !self.words.contains_key(word) {
            let vector = self.embedder.embed_one(word);
            self.words.insert(word.to_owned(), vector);
        }
    }
}

impl Meaning for Nearness {
    fn words(&mut self, one: &str, other: &str) -> f64 {
        self.learn(one);
        self.learn(other);
        let known = |word: &str| self.words.get(word).and_then(Option::as_ref);
        known(one).zip(known(other)).map_or(0.0, |(one, other)| f64::from(one.cosine(other)))
    }

    fn question(&mut self, sentence: &str) -> f64 {
        let sentence = self.embedder.embed_one(sentence);
        let both = self.question.as_ref().zip(sentence.as_ref());
        both.map_or(0.0, |(question, sentence)| f64::from(question.cosine(sentence)))
    }
}
