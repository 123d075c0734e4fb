//! Reading one segment: which documents pass a filter, and how often they have each word.
//!
//! Everything that the filter lets through is looked at, none is skipped for its score: what is
//! counted is exact, and the order of hits does not depend on how documents lie in segments.

use std::sync::Arc;

use tantivy::columnar::ColumnValues;
use tantivy::postings::{Postings as _, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet as _, InvertedIndexReader, SegmentReader, TERMINATED, Term};

use super::listed::{Listed, Lists};
use super::schema::{Fields, NUMBERS, Numbers};
use crate::document::{Layer, Layers, Record};
use crate::error::Error;
use crate::filter::{Filter, Reach};

/// Looking up one document in a list costs about as much as reading so many of its entries.
const SEEK_COST: usize = 16;

/// An open segment, its columns included.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    words: Arc<InvertedIndexReader>,
    scopes: Arc<InvertedIndexReader>,
    labels: Arc<InvertedIndexReader>,
    records: Arc<InvertedIndexReader>,
    columns: [Arc<dyn ColumnValues<u64>>; 8],
    lists: Lists,
}

impl Segment {
    pub(super) fn open(segment: &tantivy::Segment, fields: &Fields) -> Result<Segment, Error> {
        let reader = SegmentReader::open(segment)?;
        let mut columns = Vec::with_capacity(NUMBERS.len());
        for name in NUMBERS {
            columns.push(reader.fast_fields().column_first_or_default::<u64>(name)?);
        }
        Ok(Segment {
            words: reader.inverted_index(fields.word)?,
            scopes: reader.inverted_index(fields.scope)?,
            labels: reader.inverted_index(fields.label)?,
            records: reader.inverted_index(fields.record)?,
            columns: columns.try_into().map_err(|_| Error::Damaged("the columns of a segment"))?,
            reader,
            lists: Lists::default(),
        })
    }

    /// Whether this is that segment, with the same documents deleted.
    pub(super) fn is(&self, segment: &tantivy::Segment) -> bool {
        self.reader.segment_id() == segment.id()
            && self.reader.delete_opstamp() == segment.meta().delete_opstamp()
    }

    pub(super) fn numbers(&self, doc: DocId) -> Result<Numbers, Error> {
        let columns = std::array::from_fn(|index| {
            self.columns.get(index).map_or(0, |column| column.get_val(doc))
        });
        Numbers::from_columns(columns).ok_or(Error::Damaged("the numbers of a document"))
    }

    /// How many terms each of these documents has.
    fn lens(&self, docs: &[DocId]) -> Vec<u32> {
        let [len, ..] = &self.columns;
        let mut lens = vec![0; docs.len()];
        len.get_vals(docs, &mut lens);
        lens.into_iter().map(|len| u32::try_from(len).unwrap_or(u32::MAX)).collect()
    }

    /// Whether no document is of another layer than these.
    fn is_within(&self, layers: Layers) -> bool {
        let [_, what, ..] = &self.columns;
        let layer = |what: u64| u8::try_from(what >> 32).ok().and_then(Layer::from_number);
        let (first, last) = (layer(what.min_value()), layer(what.max_value()));
        first == last && first.is_some_and(|layer| layers.holds(layer))
    }

    /// Documents that have a term, deleted ones included.
    pub(super) fn documents_with(&self, term: &str, fields: &Fields) -> Result<Vec<DocId>, Error> {
        let mut docs = Vec::new();
        add_docs(&self.words, &fields.word_term(term), &mut docs)?;
        Ok(docs)
    }

    /// Live documents of a record.
    pub(super) fn docs_of(&self, record: Record, fields: &Fields) -> Result<Vec<DocId>, Error> {
        let mut docs = Vec::new();
        add_docs(&self.records, &fields.record_term(record), &mut docs)?;
        docs.retain(|doc| self.is_alive(*doc));
        Ok(docs)
    }

    fn is_alive(&self, doc: DocId) -> bool {
        self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
    }

    /// Documents that pass the filter and are not in `masked` (sorted).
    pub(super) fn passing(
        &self,
        filter: &Filter<'_>,
        masked: &[DocId],
        fields: &Fields,
    ) -> Result<Arc<Listed>, Error> {
        let reached = self.reached(&filter.within, fields)?;
        let looks_inside = filter.looks_inside()
            || !(filter.layers == Layers::ALL || self.is_within(filter.layers));
        let whole = filter.except.is_empty() && filter.labels.is_empty() && !looks_inside;
        if reached.docs.is_empty() || (whole && masked.is_empty()) {
            return Ok(reached);
        }
        let mut docs = reached.docs.clone();
        if !filter.except.is_empty() {
            subtract(&mut docs, &self.reached(&filter.except, fields)?.docs);
        }
        for any in &filter.labels {
            let mut labelled = Vec::new();
            for label in any {
                add_docs(&self.labels, &fields.label_term(*label), &mut labelled)?;
            }
            labelled.sort_unstable();
            intersect(&mut docs, &labelled);
        }
        subtract(&mut docs, masked);
        if looks_inside {
            let mut failed = None;
            docs.retain(|doc| match self.numbers(*doc) {
                Ok(numbers) => filter.passes(&numbers.candidate),
                Err(error) => {
                    failed = Some(error);
                    false
                }
            });
            if let Some(error) = failed {
                return Err(error);
            }
        }
        let lens = self.lens(&docs);
        Ok(Arc::new(Listed::new(docs, lens)))
    }

    /// Live documents of these scopes.
    fn reached(&self, reaches: &[Reach], fields: &Fields) -> Result<Arc<Listed>, Error> {
        let mut reached: Vec<Arc<Listed>> = Vec::new();
        for reach in reaches {
            let listed = self.listed(reach, fields)?;
            if !listed.docs.is_empty() {
                reached.push(listed);
            }
        }
        if reached.len() <= 1 {
            return Ok(reached.pop().unwrap_or_default());
        }
        let mut docs: Vec<DocId> =
            reached.iter().flat_map(|listed| listed.docs.iter().copied()).collect();
        docs.sort_unstable();
        docs.dedup();
        let lens = self.lens(&docs);
        Ok(Arc::new(Listed::new(docs, lens)))
    }

    /// Live documents of a scope, perhaps from before.
    fn listed(&self, reach: &Reach, fields: &Fields) -> Result<Arc<Listed>, Error> {
        let documents = self.reader.max_doc() as usize;
        if let Some(known) = self.lists.get(reach, documents) {
            return Ok(known);
        }
        let mut docs = Vec::new();
        add_docs(&self.scopes, &fields.reach_term(reach), &mut docs)?;
        docs.retain(|doc| self.is_alive(*doc));
        let lens = self.lens(&docs);
        let listed = Arc::new(Listed::new(docs, lens));
        self.lists.put(reach, &listed, documents);
        Ok(listed)
    }

    /// How often each of `docs` (ascending) has any of the terms; those that have none are left out.
    /// A document is given by its place in `docs`.
    pub(super) fn counts(
        &self,
        docs: &[DocId],
        terms: &[String],
        fields: &Fields,
    ) -> Result<Vec<(u32, u32)>, Error> {
        let mut counts: Vec<(u32, u32)> = Vec::new();
        let mut several = false;
        for term in terms {
            let Some(postings) = postings(&self.words, &fields.word_term(term))? else { continue };
            several |= !counts.is_empty();
            let frequency = postings.doc_freq() as usize;
            if docs.len() == self.reader.max_doc() as usize {
                read_all(postings, &mut counts);
            } else if docs.len() * SEEK_COST < frequency {
                look_up(postings, docs, &mut counts);
            } else {
                read_through(postings, docs, &mut counts);
            }
        }
        if several {
            counts.sort_unstable();
            counts.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 = kept.1.saturating_add(next.1);
                }
                same
            });
        }
        Ok(counts)
    }
}

/// Few documents, many entries: each document is looked up.
fn look_up(mut postings: SegmentPostings, docs: &[DocId], counts: &mut Vec<(u32, u32)>) {
    for (place, doc) in (0_u32..).zip(docs) {
        // Seeking backwards is not allowed; the list may already stand beyond this document.
        if postings.doc() < *doc {
            postings.seek(*doc);
        }
        if postings.doc() == *doc {
            counts.push((place, postings.term_freq()));
        }
        if postings.doc() == TERMINATED {
            return;
        }
    }
}

/// Every document of the segment is looked at, so its place is its number.
fn read_all(mut postings: SegmentPostings, counts: &mut Vec<(u32, u32)>) {
    counts.reserve(postings.doc_freq() as usize);
    while postings.doc() != TERMINATED {
        counts.push((postings.doc(), postings.term_freq()));
        postings.advance();
    }
}

/// Both lists are read from beginning to end.
fn read_through(mut postings: SegmentPostings, docs: &[DocId], counts: &mut Vec<(u32, u32)>) {
    let mut waiting = (0_u32..).zip(docs).peekable();
    while postings.doc() != TERMINATED {
        let doc = postings.doc();
        while waiting.next_if(|(_, waits)| **waits < doc).is_some() {}
        match waiting.peek() {
            None => return,
            Some((place, waits)) if **waits == doc => counts.push((*place, postings.term_freq())),
            Some(_) => {}
        }
        postings.advance();
    }
}

fn postings(index: &InvertedIndexReader, term: &Term) -> Result<Option<SegmentPostings>, Error> {
    Ok(index.read_postings(term, IndexRecordOption::WithFreqs)?)
}

fn add_docs(index: &InvertedIndexReader, term: &Term, docs: &mut Vec<DocId>) -> Result<(), Error> {
    if let Some(mut postings) = index.read_postings(term, IndexRecordOption::Basic)? {
        while postings.doc() != TERMINATED {
            docs.push(postings.doc());
            postings.advance();
        }
    }
    Ok(())
}

/// Keeps what is in both; both are ascending.
fn intersect(docs: &mut Vec<DocId>, with: &[DocId]) {
    docs.retain(|doc| with.binary_search(doc).is_ok());
}

/// Keeps what is not in the other; both are ascending.
fn subtract(docs: &mut Vec<DocId>, without: &[DocId]) {
    if without.is_empty() {
        return;
    }
    docs.retain(|doc| without.binary_search(doc).is_err());
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({})", self.reader.segment_id())
    }
}
