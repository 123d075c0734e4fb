//! What a free predicate is called in a vocabulary, if it is in one.
//!
//! Predicates are words of the extractor until a scope has a vocabulary; then they are mapped to its
//! terms, with a confidence, and those that fit none stay what they are. Decided where the words are,
//! before the answer is logged.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use lamina_types::layer::extraction::{Cardinality, Confidence, Object};
pub use lamina_types::vocabulary::Datatype;

use super::naming::{slips, words};

/// A list of terms that predicates are mapped to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// What it is called.
    pub name: String,
    /// Its terms.
    pub terms: Vec<Term>,
}

/// One term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The predicate as it is stored.
    pub id: String,
    /// What people call it.
    pub label: Option<String>,
    /// What else they call it.
    pub synonyms: Vec<String>,
    /// What its objects are, if that is declared.
    pub datatype: Option<Datatype>,
    /// The only objects it can have; any, if there are none.
    pub values: Vec<String>,
    /// How many objects a subject has at a time, if that is declared.
    pub cardinality: Option<Cardinality>,
}

/// A vocabulary whose names are folded once, to be compared with many predicates.
#[derive(Debug, Clone)]
pub struct Lexicon {
    vocabulary: Vocabulary,
    names: Vec<Names>,
}

/// What became of a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mapping<'a> {
    /// It is this term.
    Mapped {
        /// Of which vocabulary.
        vocabulary: &'a str,
        /// Which term.
        term: &'a Term,
        /// The value among those that the term lists.
        value: Option<&'a str>,
        /// How sure that is.
        confidence: Confidence,
        /// Why.
        how: How,
    },
    /// It stays what it is.
    Free(Unmapped),
}

/// Why a predicate is a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum How {
    /// It is its id.
    Id = 0,
    /// It is its label or a synonym.
    Label = 1,
    /// The same words in another order or number.
    Words = 2,
    /// Nearly the same letters.
    NearSpelling = 3,
}

/// Why a predicate is no term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Unmapped {
    /// None is called so.
    NoTerm = 0,
    /// More than one is.
    Ambiguous = 1,
    /// The object is not of the declared kind.
    Datatype = 2,
    /// The object is none of those that the term can have.
    Value = 3,
}

/// Words that do not tell predicates apart.
const FILLERS: &[&str] = &["a", "an", "the", "of", "is", "are", "has", "have", "in", "at", "to"];

/// Maps a predicate with its object; an ending may have none. Of several vocabularies the first one
/// counts most.
pub fn map<'a>(
    predicate: &str,
    object: Option<&Object>,
    lexicons: impl IntoIterator<Item = &'a Lexicon>,
) -> Mapping<'a> {
    let said = Phrase::new(predicate);
    let mut best: Option<(How, &Vocabulary, Vec<&Term>)> = None;
    for Lexicon { vocabulary, names } in lexicons {
        for (term, names) in vocabulary.terms.iter().zip(names) {
            let Some(how) = said.means(names) else { continue };
            match &mut best {
                Some((known, of, terms)) if *known == how && of.name == vocabulary.name => {
                    terms.push(term);
                }
                Some((known, ..)) if *known <= how => {}
                _ => best = Some((how, vocabulary, vec![term])),
            }
        }
    }
    let Some((how, vocabulary, terms)) = best else { return Mapping::Free(Unmapped::NoTerm) };
    let [term] = terms.as_slice() else { return Mapping::Free(Unmapped::Ambiguous) };
    let is_admitted = |object| term.datatype.is_none_or(|datatype| admits(datatype, object));
    if !object.is_none_or(is_admitted) {
        return Mapping::Free(Unmapped::Datatype);
    }
    let value = match (term.values.as_slice(), object) {
        ([], _) | (_, None) => None,
        (values, Some(Object::Text(text))) => match listed(text, values) {
            Some(value) => Some(value),
            None => return Mapping::Free(Unmapped::Value),
        },
        _ => return Mapping::Free(Unmapped::Value),
    };
    let confidence = Confidence::new(how.ten_thousandths());
    Mapping::Mapped { vocabulary: &vocabulary.name, term, value, confidence, how }
}

/// The value of a list that a text means.
fn listed<'a>(text: &str, values: &'a [String]) -> Option<&'a str> {
    let said = words(text);
    values.iter().find(|value| words(value) == said).map(String::as_str)
}

impl How {
    fn ten_thousandths(self) -> u16 {
        match self {
            How::Id => 10_000,
            How::Label => 9_500,
            How::Words => 8_000,
            How::NearSpelling => 7_000,
        }
    }
}

/// Whether an object is of a declared kind.
fn admits(datatype: Datatype, object: &Object) -> bool {
    match (datatype, object) {
        (Datatype::Entity, object) => matches!(object, Object::Entity(_)),
        (Datatype::String, object) => !matches!(object, Object::Entity(_)),
        (Datatype::Integer, Object::Number { value, .. }) => value.parse::<i64>().is_ok(),
        (Datatype::Integer, _) => false,
    }
}

impl Lexicon {
    /// Folds the names of a vocabulary.
    pub fn new(vocabulary: Vocabulary) -> Lexicon {
        let names = vocabulary.terms.iter().map(Names::of).collect();
        Lexicon { vocabulary, names }
    }
}

/// What a term is called, folded.
#[derive(Debug, Clone)]
struct Names {
    id: Phrase,
    labels: Vec<Phrase>,
}

impl Names {
    fn of(term: &Term) -> Names {
        let labels = term.label.iter().chain(&term.synonyms);
        Names {
            id: Phrase::new(&term.id),
            labels: labels.map(|label| Phrase::new(label)).collect(),
        }
    }
}

/// A predicate as words.
#[derive(Debug, Clone)]
struct Phrase {
    words: Vec<String>,
    /// What tells it apart, in no order.
    core: BTreeSet<String>,
}

impl Phrase {
    fn new(text: &str) -> Phrase {
        let words = words(&spaced(text));
        let telling = words.iter().filter(|word| !FILLERS.contains(&word.as_str()));
        let core = telling.map(|word| singular(word)).collect();
        Phrase { words, core }
    }

    fn means(&self, Names { id, labels }: &Names) -> Option<How> {
        if self.words.is_empty() {
            return None;
        }
        if self.words == id.words {
            return Some(How::Id);
        }
        if labels.iter().any(|label| label.words == self.words) {
            return Some(How::Label);
        }
        let mut all = labels.iter().chain([id]);
        if !self.core.is_empty() && all.clone().any(|phrase| phrase.core == self.core) {
            return Some(How::Words);
        }
        all.any(|phrase| self.is_near(phrase)).then_some(How::NearSpelling)
    }

    /// One slip in one word.
    fn is_near(&self, other: &Phrase) -> bool {
        if self.words.len() != other.words.len() {
            return false;
        }
        let pairs = self.words.iter().zip(&other.words);
        let total = pairs.map(|(one, other)| slips(one, other)).sum::<Option<usize>>();
        total == Some(1)
    }
}

/// `dealStage` is two words.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut was_small = false;
    for character in text.chars() {
        if was_small && character.is_uppercase() {
            out.push(' ');
        }
        was_small = character.is_lowercase() || character.is_ascii_digit();
        out.push(character);
    }
    out
}

fn singular(word: &str) -> String {
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    if is_plural { word.trim_end_matches('s').to_owned() } else { word.to_owned() }
}
