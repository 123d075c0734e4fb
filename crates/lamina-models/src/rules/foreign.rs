//! The plainest sentences of other languages: who somebody is, where they live and work, what they
//! like, cannot eat, plan and decide, and how things are to be done.
//!
//! Each language is a table of phrases with a gap for the value. A phrase must open its clause, so that
//! "er sagt, ich wohne in Rom" states nothing. Languages without spaces are read by what stands before
//! and behind the gap. No tense, no time, no third person: what is not in a table is not claimed.

mod phrases;
mod spaced;
mod unspaced;

use lamina_types::layer::extraction::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Normaliser, Object, Term,
};

use self::phrases::Phrase;
use crate::ground::Gate;
use crate::relation::{ObjectKind, cardinality, relation};
use crate::source::Source;

/// How sure a phrase of a table is, in ten-thousandths.
const CONFIDENCE: u16 = 8_000;
/// Bytes that a value may have.
const VALUE_BYTES_MAX: usize = 160;

/// A part of the text, by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a phrase found: the value, and the clause it stands in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    phrase: Phrase,
    value: Part,
    clause: Part,
}

/// The claims of a text in a language that has a table.
pub(super) fn claims(source: &Source<'_>, text: &str, language: &str) -> Vec<Claim> {
    let found = match language {
        "zh" | "ja" => unspaced::found(text, phrases::unspaced(language)),
        _ => match phrases::spaced(language) {
            Some(table) => spaced::found(text, table),
            None => Vec::new(),
        },
    };
    let gate = Gate::new(source);
    let mut claims: Vec<Claim> = Vec::new();
    for claim in found.iter().filter_map(|found| claim(source, text, found)) {
        let is_known = claims
            .iter()
            .any(|known| known.predicate == claim.predicate && known.object == claim.object);
        if !is_known && claims.len() < super::CLAIMS_MAX && gate.grounded(&claim).is_ok() {
            claims.push(claim);
        }
    }
    claims
}

fn claim(source: &Source<'_>, text: &str, found: &Found) -> Option<Claim> {
    let Found { phrase, value, clause } = found;
    let words = text.get(value.start..value.end)?;
    let name = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() || name.len() > VALUE_BYTES_MAX {
        return None;
    }
    let kind = relation(phrase.predicate).map(|relation| relation.object);
    let object = match kind {
        Some(ObjectKind::Entity(kind)) => {
            let is_name = words.chars().next().is_some_and(|first| !first.is_lowercase());
            let proper = matches!(kind, EntityKind::Place | EntityKind::Organization);
            if proper && !is_name {
                return None;
            }
            Object::Entity(Term::Named { name, kind })
        }
        _ => Object::Text(name),
    };
    let span = |part: &Part| ByteSpan { start: part.start as u32, end: part.end as u32 };
    Some(Claim {
        subject: Term::Actor(source.speaker.clone()),
        predicate: phrase.predicate.to_owned(),
        object,
        effect: if phrase.ends { Effect::Ends } else { Effect::Holds },
        valid_from: None,
        valid_to: None,
        cardinality: cardinality(phrase.predicate).or(Some(Cardinality::Many)),
        confidence: Confidence::new(CONFIDENCE),
        span: span(value),
        normaliser: Normaliser::Identity,
        clause: span(clause),
    })
}

#[cfg(test)]
mod tests;
