//! The fields of a document as tantivy holds them: terms to find it by, numbers to filter and rank it.
//!
//! No text is stored, and no position: a document is a bag of terms and a few numbers.

use lamina_types::{Micros, RecordedAt, ScopePath, ValidAt};
use tantivy::schema::{
    BytesOptions, FAST, Field, INDEXED, IndexRecordOption, NumericOptions, Schema,
    TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{TantivyDocument, Term};

use crate::document::{LabelHash, Layer, Record, RecordKey};
use crate::filter::{Candidate, Reach};

/// Changes with every change of what is indexed or how text becomes terms.
pub(crate) const LAYOUT: u16 = 2;

/// The fields.
#[derive(Debug, Clone)]
pub(super) struct Fields {
    pub(super) schema: Schema,
    /// Layer and id; deleted by.
    pub(super) record: Field,
    /// Terms of the text, with counts.
    pub(super) word: Field,
    /// The scope itself, and each scope above it.
    pub(super) scope: Field,
    pub(super) label: Field,
    numbers: [Field; 8],
}

/// Names of the numbers, in the order of [`Numbers`].
pub(super) const NUMBERS: [&str; 8] =
    ["len", "what", "id_high", "id_low", "offset", "recorded", "from", "until"];

/// What a document holds besides its terms; one column each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// Terms of the text.
    pub(super) len: u32,
    pub(super) candidate: Candidate,
}

impl Fields {
    pub(super) fn new() -> Fields {
        let mut schema = Schema::builder();
        let record = schema.add_bytes_field("record", BytesOptions::default().set_indexed());
        let words = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::WithFreqs)
            .set_fieldnorms(false);
        let word =
            schema.add_text_field("word", TextOptions::default().set_indexing_options(words));
        let raw = TextFieldIndexing::default()
            .set_tokenizer("raw")
            .set_index_option(IndexRecordOption::Basic)
            .set_fieldnorms(false);
        let scope =
            schema.add_text_field("scope", TextOptions::default().set_indexing_options(raw));
        let label = schema.add_u64_field("label", INDEXED);
        let fast: NumericOptions = FAST.into();
        let numbers = NUMBERS.map(|name| schema.add_u64_field(name, fast.clone()));
        Fields { schema: schema.build(), record, word, scope, label, numbers }
    }

    pub(super) fn document(
        &self,
        numbers: &Numbers,
        scope: &ScopePath,
        labels: &[LabelHash],
        terms: &[(Box<str>, u32)],
    ) -> TantivyDocument {
        let mut document = TantivyDocument::new();
        document.add_bytes(self.record, &numbers.candidate.key.record().bytes());
        let tokens = terms.iter().flat_map(|(term, count)| {
            // Positions are not indexed; the default one is there to be overwritten.
            let token = Token { text: String::from(&**term), position: 0, ..Token::default() };
            std::iter::repeat_n(token, *count as usize)
        });
        let text = PreTokenizedString { text: String::new(), tokens: tokens.collect() };
        document.add_pre_tokenized_text(self.word, text);
        document.add_text(self.scope, exact(scope));
        for above in scope.self_and_ancestors() {
            document.add_text(self.scope, subtree(&above));
        }
        for label in labels {
            document.add_u64(self.label, label.0);
        }
        for (field, number) in self.numbers.iter().zip(numbers.columns()) {
            document.add_u64(*field, number);
        }
        document
    }

    pub(super) fn record_term(&self, record: Record) -> Term {
        Term::from_field_bytes(self.record, &record.bytes())
    }

    pub(super) fn word_term(&self, term: &str) -> Term {
        Term::from_field_text(self.word, term)
    }

    pub(super) fn reach_term(&self, reach: &Reach) -> Term {
        let text = match reach {
            Reach::Exact(path) => exact(path),
            Reach::Subtree(path) => subtree(path),
        };
        Term::from_field_text(self.scope, &text)
    }

    pub(super) fn label_term(&self, label: LabelHash) -> Term {
        Term::from_field_u64(self.label, label.0)
    }
}

impl Numbers {
    pub(super) fn columns(&self) -> [u64; 8] {
        let Candidate { key, offset, recorded, valid_from, valid_until } = &self.candidate;
        let (high, low) = key.id.split_at(8);
        let half = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        [
            u64::from(self.len),
            u64::from(key.layer as u8) << 32 | u64::from(key.part),
            half(high),
            half(low),
            *offset,
            ordered(recorded.0),
            ordered(valid_from.0),
            valid_until.map_or(u64::MAX, |until| ordered(until.0)),
        ]
    }

    /// The numbers back from their columns; none if no document has these.
    pub(super) fn from_columns(columns: [u64; 8]) -> Option<Numbers> {
        let [len, what, high, low, offset, recorded, from, until] = columns;
        let mut id = [0; 16];
        for (to, byte) in id.iter_mut().zip(high.to_be_bytes().into_iter().chain(low.to_be_bytes()))
        {
            *to = byte;
        }
        let layer = Layer::from_number(u8::try_from(what >> 32).ok()?)?;
        let part = u32::try_from(what & u64::from(u32::MAX)).ok()?;
        Some(Numbers {
            len: u32::try_from(len).ok()?,
            candidate: Candidate {
                key: RecordKey { layer, id, part },
                offset,
                recorded: RecordedAt(instant(recorded)),
                valid_from: ValidAt(instant(from)),
                valid_until: (until != u64::MAX).then(|| ValidAt(instant(until))),
            },
        })
    }
}

/// Signed instants as numbers in the same order.
fn ordered(at: Micros) -> u64 {
    at.0.cast_unsigned() ^ (1 << 63)
}

fn instant(number: u64) -> Micros {
    Micros((number ^ (1 << 63)).cast_signed())
}

/// No path contains these signs, so the two kinds of terms cannot be confused.
fn exact(path: &ScopePath) -> String {
    format!("={}", path.as_str())
}

fn subtree(path: &ScopePath) -> String {
    format!("^{}", path.as_str())
}
