//! Chains: a question that names its subject through another, such as `the spouse of the author of X`, walked fact by
//! fact.
//!
//! The walk begins at an entity that the question names and follows facts about it, about the object of such a fact,
//! and so on. Each hop has to meet a word of the question that no other hop meets as well. The path that meets the
//! question best answers it; where a path ends early, the words that it does not meet say which hop is missing.

pub mod statement;

use std::collections::BTreeSet;

use crate::read::answer::{Meaning, is_alike, rooted};
use crate::read::words::{is_empty_word, words};

/// Facts that one answer goes through.
pub const HOPS_MAX: usize = 5;
/// Entities whose facts are read for one question.
pub const ENTITIES_READ_MAX: usize = 40;
/// Paths that are followed at once.
const PATHS_MAX: usize = 8;
/// A word of the question is met by a relation from here on.
const WORD_MET_MIN: f64 = 0.35;
/// What a hop has to add to how far some word of the question is met.
const HOP_ADDS_MIN: f64 = 0.3;
/// How far a word is met that the relation is also said by.
const ALSO_MET: f64 = 0.85;
/// What each hop costs.
const HOP_COST: f64 = 0.03;
/// What each word of a relation costs that the question does not ask for.
const UNASKED_COST: f64 = 0.02;
/// What it gives or costs that hops stand in the order of the question.
const ORDER_WORTH: f64 = 0.05;
/// A path of several hops that meets this share of the question answers it: each hop is asked for by itself.
const COVERAGE_MIN: f64 = 0.35;
/// The same for a single fact.
const FACT_COVERAGE_MIN: f64 = 0.6;
/// A longer path has to meet this much more of the question than a shorter one.
const LONGER_GAIN_MIN: f64 = 0.05;
/// Two words that begin with so many equal letters, and with this share of the longer one, are of one family.
const FAMILY_LETTERS_MIN: usize = 5;
const FAMILY_SHARE_MIN: f64 = 0.55;
/// Words before an `of` among which the noun is that it belongs to.
const LINK_WORDS: usize = 3;
/// A first hop that meets its words less than this says nothing about a missing one.
const KNOWN_HOP_MIN: f64 = 0.75;
/// Two words are near in meaning from here on.
const NEAR_MIN: f64 = 0.3;
/// The weight of a word that says what kind of thing is asked for.
const ASKED_FOR_WEIGHT: f64 = 0.3;
/// The weight of a word that names no relation.
const GENERIC_WEIGHT: f64 = 0.25;

/// Words of a question that name no relation by themselves.
const GENERIC: &[&str] = &[
    "called",
    "current",
    "currently",
    "exactly",
    "individual",
    "kind",
    "location",
    "moment",
    "name",
    "named",
    "now",
    "person",
    "people",
    "place",
    "somebody",
    "someone",
    "thing",
    "title",
    "today",
    "type",
];
/// Words that begin a noun phrase.
const DETERMINERS: &[&str] = &["a", "an", "her", "his", "its", "my", "our", "the", "their"];
/// Abbreviations that are said for several words.
const SPELLED_OUT: &[(&str, &[&str])] = &[
    ("ceo", &["chief", "executive", "officer"]),
    ("cfo", &["chief", "financial", "officer"]),
    ("coo", &["chief", "operating", "officer"]),
    ("cto", &["chief", "technology", "officer"]),
    ("hq", &["headquarters"]),
    ("birthplace", &["born", "place"]),
    ("birthday", &["born", "date"]),
];

/// A word of the question that a hop may meet.
#[derive(Debug, Clone, PartialEq)]
struct AskedWord {
    word: String,
    root: String,
    weight: f64,
    place: usize,
}

/// An entity that a question names, and which words of the question name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStart {
    /// Its number in the graph.
    pub entity: usize,
    /// The places of its words among [`words`] of the question: the first, and the one after the last.
    pub words: (usize, usize),
}

/// A fact as a step from one entity to what it says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainStep {
    /// The number of the fact.
    pub fact: usize,
    /// Which of its values, if there are several.
    pub side: usize,
    /// The number of the event that says it: one event is one hop.
    pub source: usize,
    /// The words of its relation.
    pub relation: Vec<String>,
    /// Other words by which the same relation is said.
    pub also: Vec<String>,
    /// The words of its value.
    pub value: Vec<String>,
    /// The number of the entity that the value is; nothing if facts about it cannot be asked for.
    pub entity: Option<usize>,
}

/// Gives the current facts about an entity.
pub trait FactGraph {
    /// Why it cannot.
    type Error;

    /// The steps from an entity.
    fn steps(&mut self, entity: usize) -> Result<Vec<ChainStep>, Self::Error>;
}

/// A path through facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The number of the fact.
    pub fact: usize,
    /// Which of its values.
    pub side: usize,
}

/// What a walk found.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The facts, from the entity that the question names to the answer.
    pub hops: Vec<Hop>,
    /// The share of the question that it meets.
    pub coverage: f64,
    /// The words of the question that nothing meets; if there are some the chain does not answer.
    pub missing: Vec<String>,
}

impl Chain {
    /// Whether it answers the question.
    pub fn answers(&self) -> bool {
        self.missing.is_empty()
    }
}

/// A path that is being walked.
#[derive(Debug, Clone)]
struct Path {
    hops: Vec<Hop>,
    entity: Option<usize>,
    passed: BTreeSet<usize>,
    sources: BTreeSet<usize>,
    /// How far each word of the question is met, and by which hop.
    met: Vec<(f64, usize)>,
    unasked: usize,
    coverage: f64,
    score: f64,
}

/// The best chain for a question from any of the entities that it names; nothing if no fact has to do with it.
pub fn find_chain<G: FactGraph>(
    question: &str,
    starts: &[ChainStart],
    graph: &mut G,
    meaning: &mut dyn Meaning,
) -> Result<Option<Chain>, G::Error> {
    let mut best: Option<(f64, Chain)> = None;
    let mut left = ENTITIES_READ_MAX;
    for start in starts {
        let asked = asked_words(question, start);
        if asked.is_empty() {
            continue;
        }
        let walk = Walk { question, asked: &asked, start, meaning: &mut *meaning };
        let Some((score, chain)) = walk.best(graph, &mut left)? else { continue };
        let is_better =
            |(known, other): &(f64, Chain)| (chain.answers(), score) > (other.answers(), *known);
        if best.as_ref().is_none_or(is_better) {
            best = Some((score, chain));
        }
    }
    Ok(best.map(|(_, chain)| chain))
}

/// The words of a question that hops may meet, without those that name the start.
fn asked_words(question: &str, start: &ChainStart) -> Vec<AskedWord> {
    let mut asked: Vec<AskedWord> = Vec::new();
    let said = words(question);
    for (place, word) in said.iter().cloned().enumerate() {
        let before = place.checked_sub(1).and_then(|before| said.get(before));
        let is_asked_for = before.is_some_and(|word| word == "what" || word == "which");
        if (start.words.0..start.words.1).contains(&place) || is_empty_word(&word) {
            continue;
        }
        let spelled = SPELLED_OUT.iter().find(|(short, _)| *short == word);
        let parts: Vec<String> = match spelled {
            Some((_, long)) => long.iter().map(|word| (*word).to_owned()).collect(),
            None => vec![word],
        };
        let share = 1.0 / parts.len() as f64;
        for word in parts {
            let root = rooted(&word);
            if asked.iter().any(|known| known.root == root && known.place + 1 >= place) {
                continue;
            }
            let is_generic = GENERIC.contains(&word.as_str());
            let weight = match (is_generic, is_asked_for) {
                (true, _) => GENERIC_WEIGHT,
                (_, true) => share.min(ASKED_FOR_WEIGHT),
                _ => share,
            };
            asked.push(AskedWord { word, root, weight, place });
        }
    }
    asked
}

/// A walk from one entity.
struct Walk<'a> {
    question: &'a str,
    asked: &'a [AskedWord],
    start: &'a ChainStart,
    meaning: &'a mut dyn Meaning,
}

impl Walk<'_> {
    fn best<G: FactGraph>(
        mut self,
        graph: &mut G,
        left: &mut usize,
    ) -> Result<Option<(f64, Chain)>, G::Error> {
        let nowhere = Path {
            hops: Vec::new(),
            entity: Some(self.start.entity),
            passed: BTreeSet::from([self.start.entity]),
            sources: BTreeSet::new(),
            met: vec![(0.0, 0); self.asked.len()],
            unasked: 0,
            coverage: 0.0,
            score: 0.0,
        };
        let mut paths = vec![nowhere];
        let mut best: Option<Path> = None;
        for _ in 0..HOPS_MAX {
            let mut next: Vec<Path> = Vec::new();
            for path in &paths {
                let Some(entity) = path.entity else { continue };
                if *left == 0 {
                    break;
                }
                *left -= 1;
                for step in graph.steps(entity)? {
                    next.extend(self.follow(path, &step));
                }
            }
            next.sort_by(|one, other| other.score.total_cmp(&one.score));
            next.truncate(PATHS_MAX);
            for path in &next {
                let longer = |known: &Path| match known.hops.len() < path.hops.len() {
                    true => path.coverage >= known.coverage + LONGER_GAIN_MIN,
                    false => path.score > known.score,
                };
                if best.as_ref().is_none_or(longer) {
                    best = Some(path.clone());
                }
            }
            paths = next;
        }
        Ok(best.and_then(|path| self.judged(path)))
    }

    /// A path with one step more; nothing if the step meets no word that is not met already.
    fn follow(&mut self, path: &Path, step: &ChainStep) -> Option<Path> {
        let is_passed = step.entity.is_some_and(|entity| path.passed.contains(&entity));
        if is_passed || path.sources.contains(&step.source) {
            return None;
        }
        let hop = path.hops.len();
        let relation: Vec<(&String, String)> =
            step.relation.iter().map(|word| (word, rooted(word))).collect();
        let value: BTreeSet<String> = step.value.iter().map(|word| rooted(word)).collect();
        let mut met = path.met.clone();
        let mut added: f64 = 0.0;
        let mut is_asked = vec![false; relation.len()];
        for (asked, met) in self.asked.iter().zip(&mut met) {
            let mut here: f64 = if value.contains(&asked.root) { 0.9 } else { 0.0 };
            for (place, (word, root)) in relation.iter().enumerate() {
                let share = self.alike(asked, word, root);
                if share >= WORD_MET_MIN
                    && let Some(is_asked) = is_asked.get_mut(place)
                {
                    *is_asked = true;
                }
                here = here.max(share);
            }
            if step.also.iter().any(|word| rooted(word) == asked.root) {
                here = here.max(ALSO_MET);
            }
            if here >= WORD_MET_MIN && here > met.0 {
                if asked.weight > GENERIC_WEIGHT {
                    added = added.max(here - met.0);
                }
                *met = (here, hop);
            }
        }
        // A hop that another one makes superfluous is none.
        let is_used = (0..=hop).all(|hop| met.iter().any(|met| met.0 > 0.0 && met.1 == hop));
        if added < HOP_ADDS_MIN || !is_used {
            return None;
        }
        let mut hops = path.hops.clone();
        hops.push(Hop { fact: step.fact, side: step.side });
        let mut passed = path.passed.clone();
        passed.extend(step.entity);
        let mut sources = path.sources.clone();
        sources.insert(step.source);
        let unasked = path.unasked + is_asked.iter().filter(|is_asked| !**is_asked).count();
        let total: f64 = self.asked.iter().map(|asked| asked.weight).sum();
        let sum: f64 = self.asked.iter().zip(&met).map(|(asked, met)| asked.weight * met.0).sum();
        let coverage = sum / total.max(f64::EPSILON);
        let score = coverage - HOP_COST * hops.len() as f64 - UNASKED_COST * unasked as f64
            + ORDER_WORTH * self.in_order(&met, hops.len());
        Some(Path { hops, entity: step.entity, passed, sources, met, unasked, coverage, score })
    }

    /// How far a word of a relation says what a word of the question says, 0 to 1.
    fn alike(&mut self, asked: &AskedWord, word: &str, root: &str) -> f64 {
        if asked.root == root {
            return 1.0;
        }
        if is_alike(&asked.root, root) || is_family(&asked.word, word) {
            return 0.9;
        }
        let near = self.meaning.words(&asked.word, word);
        ((near - NEAR_MIN) / (1.0 - NEAR_MIN)).clamp(0.0, 0.85)
    }

    /// Whether the hops stand in the order of the question: what is nearer to the name that it begins with is nearer to
    /// the beginning of the path. 1 if all do, -1 if none does.
    fn in_order(&self, met: &[(f64, usize)], hops: usize) -> f64 {
        let (from, to) = self.start.words;
        let distance = |place: usize| match place < from {
            true => from - place,
            false => place.saturating_sub(to) + 1,
        };
        let mean = |hop: usize| {
            let of = self.asked.iter().zip(met).filter(|(_, met)| met.0 > 0.0 && met.1 == hop);
            let (sum, weight) = of.fold((0.0, 0.0), |(sum, weight), (asked, met)| {
                let share = asked.weight * met.0;
                (sum + share * distance(asked.place) as f64, weight + share)
            });
            sum / f64::max(weight, f64::EPSILON)
        };
        let means: Vec<f64> = (0..hops).map(mean).collect();
        let pairs = means.windows(2).map(|pair| match pair {
            [one, other] if one <= other => 1.0,
            _ => -1.0,
        });
        let count = hops.saturating_sub(1).max(1) as f64;
        pairs.sum::<f64>() / count
    }

    /// What a path comes to: an answer, or what is missing.
    fn judged(&self, path: Path) -> Option<(f64, Chain)> {
        let Path { hops, met, coverage, score, .. } = path;
        let least = if hops.len() > 1 { COVERAGE_MIN } else { FACT_COVERAGE_MIN };
        let link = self.missing_link(&met);
        if coverage >= least && link.is_none() {
            return Some((score, Chain { hops, coverage, missing: Vec::new() }));
        }
        let first = self.asked.iter().zip(&met);
        let known = first.filter(|(_, met)| met.1 == 0).map(|(_, met)| met.0).fold(0.0, f64::max);
        let unmet = |word: &&(&AskedWord, &(f64, usize))| {
            word.1.0 < WORD_MET_MIN && word.0.weight > ASKED_FOR_WEIGHT
        };
        let words: Vec<(&AskedWord, &(f64, usize))> = self.asked.iter().zip(&met).collect();
        let missing: Vec<String> = match link {
            Some(link) => vec![link],
            None => words.iter().filter(unmet).map(|(asked, _)| asked.word.clone()).collect(),
        };
        let is_known = known >= KNOWN_HOP_MIN && !missing.is_empty();
        is_known.then_some((score, Chain { hops, coverage, missing }))
    }

    /// The noun that the whole question asks for, where it says `the salary of the ...` and no hop meets it.
    fn missing_link(&self, met: &[(f64, usize)]) -> Option<String> {
        let said = words(self.question);
        let at = (0..said.len()).find(|at| {
            let next = said.get(at + 1).map_or("", String::as_str);
            said.get(*at).is_some_and(|word| word == "of")
                && (DETERMINERS.contains(&next) || at + 1 == self.start.words.0)
        })?;
        let from = at.saturating_sub(LINK_WORDS);
        let near: Vec<(&AskedWord, &(f64, usize))> = self
            .asked
            .iter()
            .zip(met)
            .filter(|(asked, _)| (from..at).contains(&asked.place))
            .collect();
        let is_met = near.iter().any(|(_, met)| met.0 >= WORD_MET_MIN);
        let noun = near.last().filter(|(asked, _)| asked.weight > ASKED_FOR_WEIGHT);
        noun.filter(|_| !is_met).map(|(asked, _)| asked.word.clone())
    }
}

/// Whether two words are of one family: `citizen` and `citizenship`.
fn is_family(one: &str, other: &str) -> bool {
    let equal = one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longer = one.chars().count().max(other.chars().count());
    equal >= FAMILY_LETTERS_MIN && equal as f64 >= FAMILY_SHARE_MIN * longer as f64
}

#[cfg(test)]
mod tests;
