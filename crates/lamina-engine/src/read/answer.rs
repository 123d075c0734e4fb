//! Answering from what was recalled, by quoting it.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_core::read::answer::{
    Claimed, FieldAnswer, Grounds, Judged, Meaning, QuestionTime, Said, Sentence,
    answer_from_fields, judge, put_in_force, quoted, sentences, without_time_clause,
};
use lamina_core::read::plan::asks_of_past;
use lamina_core::read::prompt::{AuthorList, PromptTag, RecordAuthor};
use lamina_index::{StaticEmbedder, Vector};
use lamina_models::asked;
use lamina_models::structured::{json_lines, triple_lines};
use lamina_types::layer::{ByteSpan, Claim, Effect, Term};
use lamina_types::recall::Layer;
use lamina_types::{Content, EventId, Micros};

use crate::engine::Inner;
use crate::index::document::speaker;
use crate::read::beliefs::BeliefRecord;
use crate::read::facts::Answers;
use crate::read::recall::{FactChain, Knowledge, Ranked, Recalled};
use crate::read::render::{belief_words, claim_words, fact_words, object, term};
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
    /// They stand like this in the record, and are not made from a document.
    pub verbatim: bool,
    /// Who said them.
    pub authors: AuthorList,
    /// What the record is.
    pub tag: PromptTag,
    /// When.
    pub at: Micros,
    /// The time that the words speak of without naming it in full, such as `yesterday`.
    pub spoken: Option<(Micros, Micros)>,
    /// How well it answers, and why.
    pub judged: Judged,
    /// Yes or no, if that was asked and a record says it.
    pub verdict: Option<bool>,
}

/// What answers a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quotes {
    /// The sentences that answer, the best first; none if nothing does.
    pub answering: Vec<Quote>,
    /// The best of all that were looked at.
    pub considered: Vec<Quote>,
    /// The chain of facts that says more than any sentence.
    pub chain: Option<FactChain>,
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
        self.quote_in(QuoteOrder { question, most, time: QuoteTime::InForce }, recalled).await
    }

    /// The same for whoever wants the whole history: statements that others replaced count like theirs.
    pub async fn quote_history(
        &self,
        question: String,
        recalled: Arc<Recalled>,
        most: usize,
    ) -> Result<Quotes, Error> {
        self.quote_in(QuoteOrder { question, most, time: QuoteTime::Any }, recalled).await
    }

    async fn quote_in(&self, order: QuoteOrder, recalled: Arc<Recalled>) -> Result<Quotes, Error> {
        self.blocking(move |inner| {
            let claims = inner.claims_of(&order.question, &recalled)?;
            Ok(quotes(&order, &recalled, claims))
        })
        .await
    }
}

/// A question, how many sentences may answer it, and of which time.
struct QuoteOrder {
    question: String,
    most: usize,
    time: QuoteTime,
}

/// Which statements count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuoteTime {
    /// Those in force at the time that the question is about.
    InForce,
    /// All.
    Any,
}

/// What a sentence can be taken from.
struct Record {
    layer: Layer,
    id: String,
    text: String,
    /// Made from a document: a line for each of its scalars.
    in_lines: bool,
    speaker: String,
    authors: AuthorList,
    tag: PromptTag,
    at: Micros,
    score: f64,
    after: Option<usize>,
    known: Vec<String>,
    claims: Vec<Claimed>,
    /// Who asks said it.
    is_asker: bool,
}

impl Inner {
    /// What the events of a pack claim, and what became of it: in the order of the events. Nothing if the past is
    /// asked for, where it does not matter.
    fn claims_of(&self, question: &str, recalled: &Recalled) -> Result<Vec<Vec<Claimed>>, Error> {
        let Some(knowledge) = &recalled.knowledge else { return Ok(Vec::new()) };
        let is_ahead = knowledge.at().is_some_and(|now| {
            question_time(question, recalled).now.is_some_and(|then| then > now.0.0)
        });
        let any_time = knowledge.wants_history || asks_of_past(question) || is_ahead;
        let place: HashMap<EventId, usize> =
            recalled.events.iter().enumerate().map(|(at, event)| (event.record.id, at)).collect();
        let mut answers = Answers::new();
        let mut all = Vec::with_capacity(recalled.events.len());
        for found in &recalled.events {
            let id = found.record.id;
            let mut claims = Vec::new();
            for fate in self.fates(knowledge, id)? {
                let by: Vec<usize> =
                    fate.by.iter().filter_map(|event| place.get(event).copied()).collect();
                let stands = fate.stands || any_time;
                for claim in self.claims_in(knowledge, &fate.fact, id, &mut answers)? {
                    claims.push(claimed(&claim, stands, by.clone()));
                }
            }
            all.push(claims);
        }
        Ok(all)
    }
}

fn claimed(claim: &Claim, stands: bool, by: Vec<usize>) -> Claimed {
    let ByteSpan { start, end } =
        if claim.clause.start < claim.clause.end { claim.clause } else { claim.span };
    Claimed {
        bytes: (start as usize, end as usize),
        subject: term(&claim.subject),
        is_own: matches!(claim.subject, Term::Actor(_)),
        words: claim_words(claim),
        ends: (claim.effect == Effect::Ends).then(|| object(&claim.object)),
        stands,
        by,
    }
}

/// The sentences of what was recalled that answer a question.
fn quotes(order: &QuoteOrder, recalled: &Recalled, claims: Vec<Vec<Claimed>>) -> Quotes {
    let QuoteOrder { question, most, time: wanted } = order;
    let records = records(recalled, claims);
    let said: Vec<Said<'_>> = records
        .iter()
        .map(|record| Said {
            text: &record.text,
            is_asker: record.is_asker,
            speaker: &record.speaker,
            score: record.score,
            after: record.after,
            known: record.known.clone(),
            claims: record.claims.clone(),
            at: record.at.0,
            in_lines: record.in_lines,
        })
        .collect();
    let sentences = sentences(&said);
    let time = question_time(question, recalled);
    let asked = undated(question, recalled);
    let judged = judge(&asked, &said, &sentences, &mut Nearness::to(&asked));
    let mut begins = |sentence: &Sentence<'_>| {
        let record = records.get(sentence.said)?;
        asked::begins(sentence.text, record.at, None).map(|from| from.0)
    };
    let judged = match wanted {
        QuoteTime::InForce => {
            put_in_force(question, (&said, &sentences), judged, time, &mut begins)
        }
        QuoteTime::Any => judged,
    };
    let quote = |one: &Judged| {
        let sentence = sentences.get(one.sentence)?;
        let record = records.get(sentence.said)?;
        Some(Quote {
            layer: record.layer,
            id: record.id.clone(),
            text: sentence.text.to_owned(),
            verbatim: !record.in_lines,
            authors: record.authors.clone(),
            tag: record.tag,
            at: record.at,
            spoken: spoken(sentence.text, record.at),
            judged: *one,
            verdict: None,
        })
    };
    let mut answering: Vec<Quote> =
        quoted(&judged, &sentences, *most).iter().filter_map(quote).collect();
    if *wanted == QuoteTime::InForce
        && let Some(found) = answer_from_fields(&asked, &said, time)
        && let Some(record) = records.get(found.said)
        && !answering.first().is_some_and(|best| is_later_word(best, record))
    {
        answering = vec![field_quote(found, record)];
    }
    if recalled.is_below_floor() {
        // The closest there is answers nothing.
        answering.clear();
    }
    let chain = recalled.chain.as_ref().filter(|_| *wanted == QuoteTime::InForce);
    let chain = chain.filter(|chain| says_more(chain, answering.first())).cloned();
    let considered = judged.iter().take(TOLD_MAX).filter_map(quote).collect();
    Quotes { answering, considered, chain }
}

/// A sentence that has this share of a question, and every name of it, needs no chain.
const WHOLE_COVERAGE_MIN: f64 = 0.9;
/// A fact that is no chain answers what no sentence does from this share of the question on.
const FACT_COVERAGE_MIN: f64 = 0.75;

/// Whether a chain of facts answers rather than the best sentence.
fn says_more(chain: &FactChain, best: Option<&Quote>) -> bool {
    let is_whole = |best: &Quote| {
        let Grounds { coverage, names, .. } = best.judged.grounds;
        names >= 1.0 && coverage >= WHOLE_COVERAGE_MIN
    };
    match (chain.missing.is_empty(), chain.hops.len()) {
        (false, _) => best.is_none(),
        (true, 0 | 1) => best.is_none() && chain.coverage >= FACT_COVERAGE_MIN,
        (true, _) => !best.is_some_and(is_whole),
    }
}

/// A sentence that is sure enough to stand before the field of an earlier record.
const WORD_STRENGTH_MIN: f64 = 0.8;

/// Whether a person's word is newer than a record, and sure.
fn is_later_word(best: &Quote, record: &Record) -> bool {
    best.verbatim && best.at.0 > record.at.0 && best.judged.strength >= WORD_STRENGTH_MIN
}

/// The field of a record as a quote.
fn field_quote(found: FieldAnswer, record: &Record) -> Quote {
    Quote {
        layer: record.layer,
        id: record.id.clone(),
        text: found.text,
        verbatim: false,
        authors: record.authors.clone(),
        tag: record.tag,
        at: record.at,
        spoken: None,
        judged: Judged {
            sentence: 0,
            strength: 1.0,
            grounds: Grounds {
                coverage: 1.0,
                names: 1.0,
                score: record.score,
                ..Grounds::default()
            },
            is_over: false,
            is_hearsay: false,
        },
        verdict: found.verdict,
    }
}

/// The present of a question, and the time that it names.
fn question_time(question: &str, recalled: &Recalled) -> QuestionTime {
    let Some(now) = recalled.knowledge.as_ref().and_then(Knowledge::at) else {
        return QuestionTime::default();
    };
    let is_now = [" now", "still", "currently", "at the moment"].iter();
    if !is_now.into_iter().any(|word| question.contains(word)) {
        let middle = asked::middle_of_month(question, now.0, None);
        let window = middle.or_else(|| asked::spoken(question, now.0, None).map(|found| found.0));
        let until = window.and_then(|window| window.to).map(|to| to.0.0);
        let until = until.filter(|until| *until <= now.0.0);
        if until.is_some() && (asks_of_past(question) || is_near(until, now.0)) {
            return QuestionTime { now: Some(now.0.0), until };
        }
    }
    if asks_of_past(question) {
        return QuestionTime { now: Some(now.0.0), until: None };
    }
    // Of a time to come: what will be so then.
    let then = asked::begins(question, now.0, None).filter(|then| *then > now.0);
    QuestionTime { now: Some(then.unwrap_or(now.0).0), until: None }
}

/// A month of the last half year is the past; `in July` asked in March is one to come.
fn is_near(until: Option<i64>, now: Micros) -> bool {
    const HALF_A_YEAR_US: i64 = 183 * 86_400 * 1_000_000;
    until.is_some_and(|until| now.0.saturating_sub(until) < HALF_A_YEAR_US)
}

/// A question about a time of the past without the words that only say which time.
fn undated(question: &str, recalled: &Recalled) -> String {
    let head = without_time_clause(question);
    let now = recalled.knowledge.as_ref().and_then(Knowledge::at);
    let found = now
        .filter(|_| question_time(question, recalled).until.is_some())
        .and_then(|now| asked::spoken(head, now.0, None))
        .map(|(_, bytes)| bytes);
    let parts = found.and_then(|(from, to)| Some((head.get(..from)?, head.get(to..)?)));
    match parts {
        Some((before, after)) if before.split_whitespace().count() >= 3 => {
            format!("{} {}", before.trim_end(), after.trim_start())
        }
        _ => head.to_owned(),
    }
}

/// What was said, and what is known of which nobody's words are in the pack.
fn records(recalled: &Recalled, claims: Vec<Vec<Claimed>>) -> Vec<Record> {
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
    let claims = claims.into_iter().chain(std::iter::repeat_with(Vec::new));
    for (found, claims) in recalled.events.iter().zip(claims) {
        let event = &found.record;
        let before = place
            .get(&event.id)
            .and_then(|(thread, position)| at.get(&(*thread, position.checked_sub(1)?)).copied());
        let (text, in_lines) = told(&event.experience.content);
        records.push(Record {
            layer: Layer::Events,
            id: event.id.to_string(),
            text,
            in_lines,
            // Bytes of a document are not those of its lines.
            claims: if in_lines { Vec::new() } else { claims },
            speaker: speaker(event.experience.observed_actor.id.as_str()),
            authors: RecordAuthor::of(event).into(),
            tag: PromptTag::of_event(event),
            at: event.experience.context.observed_at.0,
            score: found.score,
            after: before,
            known: known.remove(&event.id).unwrap_or_default(),
            is_asker: recalled.asker.as_ref() == Some(&event.experience.observed_actor.id),
        });
    }
    let is_said = |id: &EventId| recalled.events.iter().any(|event| event.record.id == *id);
    for found in &recalled.facts {
        let fact = &found.record;
        if !fact.supports.iter().any(is_said) {
            let at = fact.valid_from.map_or(fact.recorded_from.0, |at| at.0);
            let words = format!("{}.", fact_words(fact));
            let id = fact.id.to_string();
            let authors = recalled.authors.get(&id).cloned().unwrap_or_default();
            let record = Record::derived(PromptTag::Fact, id, words, at);
            records.push(Record { score: found.score, authors, ..record });
        }
    }
    if recalled.events.is_empty() {
        let held = |found: &&Ranked<BeliefRecord>| !recalled.refuted.contains(&found.record.id);
        for found in recalled.beliefs.iter().filter(held) {
            let belief = &found.record;
            let words = format!("{}.", belief_words(belief));
            let (id, at) = (belief.id.to_string(), belief.valid_from.0);
            let authors = recalled.authors.get(&id).cloned().unwrap_or_default();
            let record = Record::derived(PromptTag::Belief, id, words, at);
            records.push(Record { score: found.score, authors, ..record });
        }
    }
    records
}

impl Record {
    /// A record that nobody said like this.
    fn derived(tag: PromptTag, id: String, text: String, at: Micros) -> Record {
        Record {
            layer: if tag == PromptTag::Fact { Layer::Facts } else { Layer::Beliefs },
            id,
            text,
            in_lines: false,
            speaker: String::new(),
            authors: AuthorList::default(),
            tag,
            at,
            score: 0.0,
            after: None,
            known: Vec::new(),
            claims: Vec::new(),
            is_asker: false,
        }
    }
}

/// What an event says, and whether it is a document in lines: these stand in it otherwise.
fn told(content: &Content) -> (String, bool) {
    let lines = match content {
        Content::Json { data, .. } => json_lines(data),
        Content::Triple { triple, .. } => triple_lines(triple),
        other => return (other.text().to_owned(), false),
    };
    (lines.join("\n"), true)
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
pub(in crate::read) struct Nearness {
    embedder: StaticEmbedder,
    question: Option<Vector>,
    words: HashMap<String, Option<Vector>>,
}

impl Nearness {
    pub(in crate::read) fn to(question: &str) -> Nearness {
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
