//! One question against segments and tail: gather, count, score, keep the best.

use std::collections::HashSet;
use std::sync::Arc;

use lamina_types::{RecordedAt, ValidAt};
use tantivy::DocId;

use super::listed::Listed;
use super::schema::{Fields, Numbers};
use super::score::{Counted, Scale, Statistics};
use super::segment::Segment;
use super::tail::Prepared;
use crate::analyze::{self, Asked, Language, QUESTION_WORDS_MAX};
use crate::document::{Record, RecordKey};
use crate::error::Error;
use crate::filter::Filter;

/// A question by words.
#[derive(Debug)]
pub struct LexicalQuery<'a> {
    /// As it was asked.
    pub text: &'a str,
    /// Other wordings; what they add counts by their weight.
    pub also: &'a [(&'a str, f32)],
    /// The language, if the caller knows it.
    pub language: Option<Language>,
    /// What may be seen.
    pub filter: Filter<'a>,
    /// Where the rarity of words comes from.
    pub statistics: Statistics,
    /// Hits at most.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct LexicalAnswer {
    /// Best first; equal scores in the order of their keys.
    pub hits: Vec<LexicalHit>,
    /// The words that were looked for.
    pub terms: Vec<QueryTerm>,
    /// Documents that the filter lets through.
    pub documents: u64,
    /// Those of them that have at least one word.
    pub matched: u64,
    /// What a document would score that has every word as often as it counts.
    pub best_possible: f64,
}

/// A document that has words of the question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LexicalHit {
    /// Which one.
    pub key: RecordKey,
    /// Comparable within one answer.
    pub score: f64,
    /// Bit `i`: it has word `i` of the answer.
    pub terms: u64,
    /// Of the entry that made it.
    pub offset: u64,
    /// When this database learned of it.
    pub recorded: RecordedAt,
    /// From when on it is so, or when it happened.
    pub valid_from: ValidAt,
}

/// A word that was looked for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// In lower case.
    pub word: String,
    /// How much it tells, times the weight of the wording it is from.
    pub rarity: f64,
    /// Documents that have it, among those that may be seen.
    pub documents: u64,
}

/// What is searched: it does not change while a search uses it.
#[derive(Debug, Clone, Default)]
pub(super) struct Snapshot {
    pub(super) segments: Vec<Arc<Segment>>,
    /// Documents of each segment that are replaced or removed since; ascending.
    pub(super) masked: Vec<Vec<DocId>>,
    pub(super) tail: Vec<Arc<Prepared>>,
    /// Records that have parts in the tail.
    pub(super) in_tail: HashSet<Record>,
}

/// What one segment, or the tail, has for a question.
struct Gathered {
    /// The documents that pass.
    listed: Arc<Listed>,
    /// For each word: which of the documents have it, and how often.
    counts: Vec<Vec<(u32, u32)>>,
    place: Place,
}

enum Place {
    Segment { number: usize },
    Tail { prepared: Vec<Arc<Prepared>> },
}

/// A scored document before it is known which it is.
#[derive(Clone, Copy)]
struct Scored {
    score: f64,
    terms: u64,
    gathered: u32,
    index: u32,
}

impl Snapshot {
    pub(super) fn search(
        &self,
        query: &LexicalQuery<'_>,
        fields: &Fields,
    ) -> Result<LexicalAnswer, Error> {
        let words = words(query);
        let gathered = self.gather(&query.filter, &words, fields)?;
        let mut counted = Counted::default();
        let mut having = vec![0_u64; words.len()];
        for part in &gathered {
            counted.documents += part.listed.docs.len() as u64;
            counted.len += part.listed.len;
            for (having, counts) in having.iter_mut().zip(&part.counts) {
                *having += counts.len() as u64;
            }
        }
        let scale = Scale::new(query.statistics, counted);
        let terms: Vec<QueryTerm> = words
            .iter()
            .zip(&having)
            .map(|((asked, weight), having)| QueryTerm {
                word: asked.word.clone(),
                rarity: f64::from(*weight) * scale.rarity(&asked.word, &asked.terms, *having),
                documents: *having,
            })
            .collect();
        let mut scored = Vec::new();
        for (number, part) in (0_u32..).zip(&gathered) {
            score(part, number, &terms, &scale, &mut scored);
        }
        let matched = scored.len() as u64;
        let hits = self.best(scored, &gathered, query.limit)?;
        let best_possible = terms.iter().map(|term| Scale::gain_max(term.rarity)).sum();
        Ok(LexicalAnswer { hits, terms, documents: counted.documents, matched, best_possible })
    }

    fn gather(
        &self,
        filter: &Filter<'_>,
        words: &[(Asked, f32)],
        fields: &Fields,
    ) -> Result<Vec<Gathered>, Error> {
        let mut gathered = Vec::with_capacity(self.segments.len() + 1);
        let unmasked = Vec::new();
        for (number, segment) in self.segments.iter().enumerate() {
            let masked = self.masked.get(number).unwrap_or(&unmasked);
            let listed = segment.passing(filter, masked, fields)?;
            if listed.docs.is_empty() {
                continue;
            }
            let counts_of =
                |(asked, _): &(Asked, f32)| segment.counts(&listed.docs, &asked.terms, fields);
            let counts = words.iter().map(counts_of).collect::<Result<_, _>>()?;
            gathered.push(Gathered { listed, counts, place: Place::Segment { number } });
        }
        let prepared: Vec<Arc<Prepared>> =
            self.tail.iter().filter(|prepared| prepared.passes(filter)).cloned().collect();
        if !prepared.is_empty() {
            let counts_of = |(asked, _): &(Asked, f32)| {
                (0_u32..)
                    .zip(&prepared)
                    .map(|(index, prepared)| (index, prepared.count(&asked.terms)))
                    .filter(|(_, count)| *count > 0)
                    .collect()
            };
            let counts = words.iter().map(counts_of).collect();
            let (docs, lens) =
                (0..).zip(&prepared).map(|(place, prepared)| (place, prepared.numbers.len)).unzip();
            let listed = Arc::new(Listed::new(docs, lens));
            gathered.push(Gathered { listed, counts, place: Place::Tail { prepared } });
        }
        Ok(gathered)
    }

    /// The best of them by score, then by key.
    fn best(
        &self,
        mut scored: Vec<Scored>,
        gathered: &[Gathered],
        limit: usize,
    ) -> Result<Vec<LexicalHit>, Error> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        if scored.len() > limit {
            let order = |left: &Scored, right: &Scored| right.score.total_cmp(&left.score);
            let (_, last, _) = scored.select_nth_unstable_by(limit - 1, order);
            let least = last.score;
            // Those that tie with the last one are told apart by their keys.
            scored.retain(|scored| scored.score >= least);
        }
        let mut hits = Vec::with_capacity(scored.len());
        for Scored { score, terms, gathered: part, index } in scored {
            let numbers = self.numbers(gathered.get(part as usize), index as usize)?;
            let candidate = numbers.candidate;
            hits.push(LexicalHit {
                key: candidate.key,
                score,
                terms,
                offset: candidate.offset,
                recorded: candidate.recorded,
                valid_from: candidate.valid_from,
            });
        }
        hits.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then_with(|| left.key.cmp(&right.key))
        });
        hits.truncate(limit);
        Ok(hits)
    }

    fn numbers(&self, part: Option<&Gathered>, index: usize) -> Result<Numbers, Error> {
        let doc = part.and_then(|part| Some((&part.place, *part.listed.docs.get(index)?)));
        let found = match doc {
            Some((Place::Segment { number }, doc)) => {
                let segment = self.segments.get(*number);
                segment.map(|segment| segment.numbers(doc)).transpose()?
            }
            Some((Place::Tail { prepared }, _)) => {
                prepared.get(index).map(|prepared| prepared.numbers)
            }
            None => None,
        };
        Ok(found.expect("a scored document is one of those that were gathered"))
    }
}

/// The answer of a tenant that has nothing.
pub(crate) fn nothing(query: &LexicalQuery<'_>) -> Result<LexicalAnswer, Error> {
    Snapshot::default().search(query, &Fields::new())
}

/// The words of the question and of its other wordings, each with its weight.
fn words(query: &LexicalQuery<'_>) -> Vec<(Asked, f32)> {
    let mut words: Vec<(Asked, f32)> = analyze::question(query.text, query.language)
        .into_iter()
        .map(|asked| (asked, 1.0))
        .collect();
    for (text, weight) in query.also {
        for asked in analyze::question(text, query.language) {
            let known = words.iter().any(|(earlier, _)| earlier.overlaps(&asked));
            if !known && words.len() < QUESTION_WORDS_MAX {
                words.push((asked, *weight));
            }
        }
    }
    words
}

/// Adds up what every word gives to the documents that have it, in the order of the words.
fn score(
    part: &Gathered,
    number: u32,
    terms: &[QueryTerm],
    scale: &Scale,
    scored: &mut Vec<Scored>,
) {
    let lens = &part.listed.lens;
    let mut sums = vec![(0.0_f64, 0_u64); lens.len()];
    for (word, (term, counts)) in terms.iter().zip(&part.counts).enumerate() {
        for (index, count) in counts {
            let index = *index as usize;
            if let (Some(sum), Some(len)) = (sums.get_mut(index), lens.get(index)) {
                sum.0 += scale.gain(term.rarity, *count, *len);
                sum.1 |= 1 << word;
            }
        }
    }
    let found = (0_u32..).zip(sums).filter(|(_, (_, terms))| *terms != 0);
    scored.extend(found.map(|(index, (score, terms))| Scored {
        score,
        terms,
        gathered: number,
        index,
    }));
}
