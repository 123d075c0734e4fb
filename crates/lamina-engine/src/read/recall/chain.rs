//! Chains: a question that names its subject through another, resolved hop by hop over the facts that are current for it.
//!
//! `lamina_core::read::chain` decides which facts to follow. Here are the entities that a question names, and the facts
//! about each, with the permit of the question. Where no extractor knows a relation, a plain sentence is the fact; of
//! two that say the same relation of the same name the later one is current.

use std::collections::{BTreeMap, HashMap};

use lamina_core::derive::facts::Superseded;
use lamina_core::read::answer::cut;
use lamina_core::read::chain::statement::{Statement, statement_about};
use lamina_core::read::chain::{Chain, ChainStart, ChainStep, FactGraph, Hop, find_chain};
use lamina_core::read::words::{is_empty_word, stem, words};
use lamina_models::relation::relation;
use lamina_types::layer::Object;
use lamina_types::recall::Layer;
use lamina_types::{ActorId, Content, EntityId, EventId, ValidAt};

use super::gate::EventGate;
use super::plan::{Frame, SILENT};
use super::retrieve::Hits;
use crate::Error;
use crate::derive::revoked::INSTRUCTION;
use crate::engine::Inner;
use crate::read::answer::Nearness;
use crate::read::facts::{FactRecord, FactsQuery};
use crate::read::render::{fact_words, object, term};

/// Names of a question that a chain may begin at.
const STARTS_MAX: usize = 4;
/// Words of one name.
const NAME_WORDS_MAX: usize = 8;
/// Words of a question that is taken for one about a chain.
const QUESTION_WORDS_MAX: usize = 48;
/// Facts about one entity that are followed, the last learned first.
const FACTS_READ_MAX: usize = 24;
/// Words of a sentence that tells a fact beside its subject and its value; in a longer one they tell other things.
const RELATION_WORDS_MAX: usize = 8;
/// Events that are searched for statements about one entity.
const STATEMENTS_SEARCHED_MAX: usize = 40;
/// Entities whose statements are searched for one question.
const SEARCHES_MAX: usize = 12;
/// A chain that meets this share of a question stands before everything else that was found.
const LEADS_COVERAGE_MIN: f64 = 0.5;
/// Sides of a conflict that are told.
const SIDES_MAX: usize = 3;

/// A fact that a chain goes through, or a statement of a relation that no extractor knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HopRecord {
    /// The fact; nothing if a sentence alone says it.
    pub fact: Option<FactRecord>,
    /// Which of its values, if it is a conflict.
    pub side: usize,
    /// The event that says it: the last one.
    pub event: Option<EventId>,
    /// What it says, in words.
    pub words: String,
    /// Its value, in words.
    pub value: String,
}

/// What a chain of facts says about a question.
#[derive(Debug, Clone, PartialEq)]
pub struct FactChain {
    /// The hops, from the entity that the question names.
    pub hops: Vec<HopRecord>,
    /// The hops with each value of the first conflict among them; nothing if there is none.
    pub branches: Vec<Vec<HopRecord>>,
    /// The words of the question that no fact meets; nothing if the chain answers.
    pub missing: Vec<String>,
    /// The share of the question that it meets.
    pub coverage: f64,
}

impl FactChain {
    /// Whether it answers the question with one value.
    pub fn answers(&self) -> bool {
        self.missing.is_empty() && self.branches.is_empty()
    }

    /// Every hop, those of branches too.
    pub fn all_hops(&self) -> impl Iterator<Item = &HopRecord> {
        self.hops.iter().chain(self.branches.iter().flatten())
    }
}

impl Inner {
    /// The chain of facts that a question asks for; nothing if it asks for none. A filter tests events, which a chain
    /// passes by, so a filtered question has none.
    pub(super) fn chain(&self, frame: &Frame<'_>) -> Result<Option<FactChain>, Error> {
        let question = frame.question;
        let is_asked = question.wants(Layer::Facts)
            && frame.is_of_any_time()
            && !frame.plan.wants_variety()
            && !frame.plan.wants_history()
            && EventGate::new(self, frame).is_open()
            && asks_through_another(&question.query);
        if !is_asked {
            return Ok(None);
        }
        let mut graph = FactReader::new(self, frame);
        let starts = graph.starts(&question.query)?;
        if starts.is_empty() {
            return Ok(None);
        }
        let mut nearness = Nearness::to(&question.query);
        let found = find_chain(&question.query, &starts, &mut graph, &mut nearness)?;
        let Some(chain) = found else { return Ok(None) };
        let hops = graph.hops(&chain);
        let mut branches = Vec::new();
        if let Some(conflict) = chain.hops.iter().find(|hop| graph.sides(hop.fact) > 1) {
            for side in 0..graph.sides(conflict.fact).min(SIDES_MAX) {
                graph.sides_followed.insert(conflict.fact, side);
                let found = find_chain(&question.query, &starts, &mut graph, &mut nearness)?;
                let goes_through = |chain: &Chain| {
                    chain.hops.iter().any(|hop| (hop.fact, hop.side) == (conflict.fact, side))
                };
                branches.extend(found.filter(goes_through).map(|chain| graph.hops(&chain)));
            }
        }
        let Chain { coverage, missing, .. } = chain;
        Ok(Some(FactChain { hops, branches, missing, coverage }))
    }

    /// Puts the events of a chain that answers before everything else, and says whether there is one.
    pub(super) fn lead_with_chain(
        &self,
        frame: &Frame<'_>,
        chain: &FactChain,
        (hits, order): (&mut Hits, &mut Vec<usize>),
    ) -> Result<bool, Error> {
        let is_sure = chain.missing.is_empty() && chain.coverage >= LEADS_COVERAGE_MIN;
        if !is_sure || chain.hops.len() < 2 {
            return Ok(false);
        }
        let best = hits.events.iter().map(|found| found.score).fold(0.0, f64::max).max(1.0);
        let mut events: Vec<EventId> = Vec::new();
        for event in chain.all_hops().filter_map(|hop| hop.event) {
            if !events.contains(&event) {
                events.push(event);
            }
        }
        let mut first = Vec::with_capacity(events.len());
        for event in events {
            let Some(at) = self.event_in(frame, hits, event)? else { continue };
            if let Some(found) = hits.events.get_mut(at) {
                let lift = (best - found.score).max(0.0);
                found.contributions.graph += lift;
                found.score += lift;
            }
            first.push(at);
        }
        order.retain(|at| !first.contains(at));
        order.splice(..0, first);
        Ok(true)
    }
}

/// Whether a question may name its subject through another.
fn asks_through_another(question: &str) -> bool {
    let said = words(question);
    if said.len() > QUESTION_WORDS_MAX {
        return false;
    }
    let links = ["of", "by", "that", "which", "who", "whose", "whom", "where", "my", "our"];
    let within = said.iter().skip(1).any(|word| links.contains(&word.as_str()));
    let possessive = ["'s ", "\u{2019}s ", "s' ", "s\u{2019} "];
    let telling = said.iter().filter(|word| !is_empty_word(word)).count();
    telling >= 2 && (within || possessive.iter().any(|mark| question.contains(mark)))
}

/// Reads the facts about the entities of a walk, each once.
struct FactReader<'a> {
    inner: &'a Inner,
    frame: &'a Frame<'a>,
    query: FactsQuery,
    entities: Vec<Node>,
    /// Numbers of entities by the words of their names.
    numbers: BTreeMap<String, usize>,
    links: Vec<Link>,
    /// Numbers of events.
    sources: BTreeMap<EventId, usize>,
    searches: usize,
    steps: HashMap<usize, Vec<ChainStep>>,
    /// Of a conflict, the one value that is followed.
    sides_followed: HashMap<usize, usize>,
}

/// What a hop goes through.
#[derive(Debug)]
enum Link {
    Fact(Box<FactRecord>),
    Statement { event: EventId, at: ValidAt, words: String, relation: Vec<String>, value: String },
}

/// An entity by its name, with its id where that is known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Node {
    name: String,
    id: Option<EntityId>,
}

impl Node {
    fn named(name: &str) -> Node {
        Node { name: name.to_owned(), id: None }
    }
}

impl<'a> FactReader<'a> {
    fn new(inner: &'a Inner, frame: &'a Frame<'a>) -> FactReader<'a> {
        let query = inner.facts_asked(frame, Superseded::Hidden);
        FactReader {
            inner,
            frame,
            query: FactsQuery { limit: FACTS_READ_MAX, ..query },
            entities: Vec::new(),
            numbers: BTreeMap::new(),
            links: Vec::new(),
            sources: BTreeMap::new(),
            searches: 0,
            steps: HashMap::new(),
            sides_followed: HashMap::new(),
        }
    }

    fn number(&mut self, node: Node) -> usize {
        let next = self.entities.len();
        let key = words(&node.name).join(" ");
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.entities.push(node);
        } else if let Some(known) = self.entities.get_mut(number) {
            known.id = known.id.or(node.id);
        }
        number
    }

    /// The number of an event; what has none gets one of its own.
    fn source(&mut self, event: Option<EventId>) -> usize {
        let next = self.sources.len();
        match event {
            Some(event) => *self.sources.entry(event).or_insert(next),
            None => usize::MAX - self.links.len(),
        }
    }

    fn sides(&self, link: usize) -> usize {
        match self.links.get(link) {
            Some(Link::Fact(fact)) => fact.objects.len(),
            Some(Link::Statement { .. }) => 1,
            None => 0,
        }
    }

    fn hops(&self, chain: &Chain) -> Vec<HopRecord> {
        let hop = |hop: &Hop| match self.links.get(hop.fact)? {
            Link::Fact(fact) => {
                let said = fact.objects.get(hop.side)?;
                Some(HopRecord {
                    side: hop.side,
                    event: said.supports.last().or(fact.supports.last()).copied(),
                    words: fact_words(fact),
                    value: object(&said.object),
                    fact: Some(FactRecord::clone(fact)),
                })
            }
            Link::Statement { event, words, value, .. } => Some(HopRecord {
                fact: None,
                side: 0,
                event: Some(*event),
                words: words.clone(),
                value: value.clone(),
            }),
        };
        chain.hops.iter().filter_map(hop).collect()
    }

    /// The entities that a question names, the longest names first, and whoever asks if the question speaks of them.
    fn starts(&mut self, question: &str) -> Result<Vec<ChainStart>, Error> {
        let mut starts: Vec<ChainStart> = Vec::new();
        for (from, to) in names_in(question) {
            let place = |at: usize| words(question.get(..at).unwrap_or_default()).len();
            let words = (place(from), place(to));
            let is_taken = |start: &ChainStart| start.words.0 < words.1 && words.0 < start.words.1;
            if starts.len() == STARTS_MAX || starts.iter().any(is_taken) {
                continue;
            }
            let name = question.get(from..to).unwrap_or_default();
            let (tenant, recorded) = (self.frame.tenant, self.frame.recorded);
            let found = self.inner.entities_asked(tenant, &self.frame.scopes, name, recorded)?;
            let entity = self.number(Node::named(name));
            // A name that facts do not know may stand in statements.
            if !found.is_empty() || !self.steps_from(entity)?.is_empty() {
                starts.push(ChainStart { entity, words });
            }
        }
        let own = |word: &String| matches!(word.as_str(), "my" | "our" | "i" | "we");
        if let Some(at) = words(question).iter().position(own) {
            let asker: &ActorId = &self.frame.reach.caller().actor;
            let entity = self.number(Node::named(asker.as_str()));
            starts.push(ChainStart { entity, words: (at, at + 1) });
        }
        Ok(starts)
    }

    /// The facts about an entity, by its id and by its name.
    fn read(&self, node: &Node) -> Result<Vec<FactRecord>, Error> {
        let mut facts: Vec<FactRecord> = Vec::new();
        let subjects = [Some(node.name.clone()), node.id.map(|id| id.to_string())];
        for subject in subjects.into_iter().flatten() {
            let query = FactsQuery { subject: Some(subject), ..self.query.clone() };
            for fact in self.inner.facts(self.frame.reach, &query)?.items {
                let is_known = facts.iter().any(|known| known.id == fact.id);
                if !is_known
                    && fact.predicate != INSTRUCTION
                    && !fact.is_redacted()
                    && self.frame.reach.covers(&fact.scope)
                    && self.frame.admits_confidence(fact.confidence.as_f64())
                {
                    facts.push(fact);
                }
            }
        }
        Ok(facts)
    }

    /// What plain sentences say of an entity: of one relation what was said last.
    fn statements(&mut self, name: &str) -> Result<Vec<Link>, Error> {
        if self.searches == SEARCHES_MAX || name.parse::<ActorId>().is_ok() {
            return Ok(Vec::new());
        }
        self.searches += 1;
        let asked = format!("{name} {}", self.frame.question.query);
        let hits = self.inner.by_words(self.frame, &asked, STATEMENTS_SEARCHED_MAX)?.hits;
        let mut found: BTreeMap<Vec<String>, Link> = BTreeMap::new();
        for (id, ..) in hits {
            let row = self.inner.views.event_again(self.frame.tenant, id)?;
            let Some(row) = row.filter(|row| !self.inner.is_hidden(row)) else { continue };
            let Some(observed) = row.listed().map(|facets| facets.observed_at) else { continue };
            if !self.frame.in_time(observed, row.recorded_at) {
                continue;
            }
            let event = match self.inner.record(&row) {
                Ok(event) => event,
                Err(Error::Deleted) => continue,
                Err(error) => return Err(error),
            };
            let experience = &event.experience;
            let is_told = self.frame.reach.covers(&experience.scope)
                && !SILENT.contains(&experience.modality.as_str())
                && matches!(experience.content, Content::Message { .. } | Content::Text { .. });
            if !is_told {
                continue;
            }
            for sentence in cut(experience.content.text()) {
                let Some(said) = statement_about(sentence, name) else { continue };
                let mut key: Vec<String> = said.relation.iter().map(|word| stem(word)).collect();
                key.sort_unstable();
                let is_newer = found.get(&key).is_none_or(|known| match known {
                    Link::Statement { at, .. } => *at <= observed,
                    Link::Fact(_) => false,
                });
                if is_newer {
                    let words = sentence.trim().trim_end_matches('.').to_owned();
                    let Statement { relation, value } = said;
                    let at = observed;
                    found.insert(key, Link::Statement { event: id, at, words, relation, value });
                }
            }
        }
        Ok(found.into_values().collect())
    }

    /// The words of the sentence that tells a fact, without its subject and its value.
    fn told(&self, fact: &FactRecord, value: &str) -> Result<Vec<String>, Error> {
        let Some(event) = fact.supports.last() else { return Ok(Vec::new()) };
        let Some(row) = self.inner.views.event_again(self.frame.tenant, *event)? else {
            return Ok(Vec::new());
        };
        let event = match self.inner.record(&row) {
            Ok(event) => event,
            Err(Error::Deleted) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let text = event.experience.content.text();
        let (subject, value) = (words(&term(&fact.subject.term)), words(value));
        let is_it = |sentence: &&str| {
            let said = words(sentence);
            !value.is_empty() && value.iter().all(|word| said.contains(word))
        };
        let sentence = cut(text).into_iter().find(is_it);
        let said = words(sentence.unwrap_or_default());
        let mut telling: Vec<String> = said
            .into_iter()
            .filter(|word| !is_empty_word(word) && !subject.contains(word) && !value.contains(word))
            .collect();
        if telling.len() > RELATION_WORDS_MAX {
            telling.clear();
        }
        Ok(telling)
    }

    fn steps_of(&mut self, fact: FactRecord) -> Result<Vec<ChainStep>, Error> {
        let number = self.links.len();
        let mut also: Vec<String> = Vec::new();
        if let Some(known) = relation(&fact.predicate) {
            also.extend(words(known.said_as).into_iter().filter(|word| !is_empty_word(word)));
        }
        if let Some(mapping) = &fact.mapping {
            also.extend(words(&mapping.predicate.replace(['_', ':'], " ")));
        }
        let mut steps = Vec::with_capacity(fact.objects.len());
        for (side, said) in fact.objects.iter().enumerate().filter(|(_, side)| !side.negated) {
            let value = object(&said.object);
            let mut relation: Vec<String> = words(&fact.predicate.replace(['_', ':'], " "));
            for word in self.told(&fact, &value)? {
                if !relation.contains(&word) {
                    relation.push(word);
                }
            }
            relation.retain(|word| !is_empty_word(word));
            let entity = match (&said.object, said.entity) {
                (_, Some(id)) => Some(self.number(Node { name: value.clone(), id: Some(id) })),
                (Object::Text(text), None) if words(text).len() <= NAME_WORDS_MAX => {
                    Some(self.number(Node::named(text)))
                }
                _ => None,
            };
            let value = words(&value);
            let source = self.source(said.supports.last().or(fact.supports.last()).copied());
            steps.push(ChainStep {
                fact: number,
                side,
                source,
                relation,
                also: also.clone(),
                value,
                entity,
            });
        }
        self.links.push(Link::Fact(Box::new(fact)));
        Ok(steps)
    }

    fn step_of_statement(&mut self, link: Link) -> Option<ChainStep> {
        let Link::Statement { event, relation, value, .. } = &link else { return None };
        let (event, relation, told) = (*event, relation.clone(), words(value));
        let is_name = told.len() <= NAME_WORDS_MAX;
        let entity = is_name.then(|| value.clone()).map(|name| self.number(Node::named(&name)));
        let source = self.source(Some(event));
        let fact = self.links.len();
        self.links.push(link);
        Some(ChainStep { fact, side: 0, source, relation, also: Vec::new(), value: told, entity })
    }

    /// The steps from an entity, from before if it was passed.
    fn steps_from(&mut self, entity: usize) -> Result<Vec<ChainStep>, Error> {
        if let Some(known) = self.steps.get(&entity) {
            return Ok(known.clone());
        }
        let Some(node) = self.entities.get(entity).cloned() else { return Ok(Vec::new()) };
        let mut steps = Vec::new();
        for fact in self.read(&node)? {
            steps.extend(self.steps_of(fact)?);
        }
        for statement in self.statements(&node.name)? {
            steps.extend(self.step_of_statement(statement));
        }
        self.steps.insert(entity, steps.clone());
        Ok(steps)
    }
}

impl FactGraph for FactReader<'_> {
    type Error = Error;

    fn steps(&mut self, entity: usize) -> Result<Vec<ChainStep>, Error> {
        let known = self.steps_from(entity)?;
        let followed = |step: &ChainStep| {
            self.sides_followed.get(&step.fact).is_none_or(|side| *side == step.side)
        };
        Ok(known.into_iter().filter(followed).collect())
    }
}

/// Where names may stand in a question, in bytes: what is quoted, and runs of words that begin and end with a capital
/// or a digit; the longest first. In a question without capitals any word and any pair may be a name.
fn names_in(question: &str) -> Vec<(usize, usize)> {
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    for piece in question.split_whitespace() {
        let Some(from) = piece.as_ptr().addr().checked_sub(question.as_ptr().addr()) else {
            continue;
        };
        let bare = piece.trim_start_matches(|c: char| !c.is_alphanumeric());
        let from = from + piece.len() - bare.len();
        // `U.S.A.` keeps its last full stop only within a question.
        let bare = bare.trim_end_matches(|c: char| !c.is_alphanumeric());
        let bare =
            ["'s", "\u{2019}s"].iter().find_map(|mark| bare.strip_suffix(mark)).unwrap_or(bare);
        if !bare.is_empty() {
            tokens.push((from, from + bare.len()));
        }
    }
    let text = |at: &(usize, usize)| question.get(at.0..at.1).unwrap_or_default();
    let is_name = |at: &(usize, usize)| {
        text(at).chars().any(|c| c.is_uppercase() || c.is_ascii_digit())
            && !is_empty_word(&text(at).to_lowercase())
    };
    let has_capitals = tokens.iter().skip(1).any(is_name);
    let mut found = Vec::new();
    for count in (1..=NAME_WORDS_MAX.min(tokens.len())).rev() {
        for run in tokens.windows(count) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let capital =
                |at: &(usize, usize)| text(at).chars().next().is_some_and(char::is_uppercase);
            let ends = match has_capitals {
                // An empty word may begin a title, but not as the first word of the question.
                true => (is_name(first) || (capital(first) && first.0 > 0)) && is_name(last),
                false => {
                    count <= 2 && run.iter().all(|at| !is_empty_word(&text(at).to_lowercase()))
                }
            };
            if ends {
                found.push((first.0, last.1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
