//! From what a model says to an extraction. The object of a claim is never the model's: it is made from
//! the bytes that the model quotes, by the normaliser of the relation, and then judged by the gate.
//!
//! The model's claims stand beside those of the rules. Where both speak of the one value that a relation
//! can have, the model is believed. So a model that finds nothing takes nothing away.

use lamina_types::ValidAt;
use lamina_types::layer::extraction::{
    ByteSpan, Cardinality, Claim, Confidence, Effect, EntityKind, Extraction, Normaliser, Object,
    Term,
};

use super::candidate::Candidate;
use crate::ground::{Gate, fold, says_ending};
use crate::relation::{ObjectKind, relation};
use crate::rules::{normal, observed};
use crate::source::Source;

/// Claims that the words do not bear out and that are kept to be seen.
const UNGROUNDED_MAX: usize = 16;
/// Bytes that are kept of a quote that stands nowhere.
const INVENTED_BYTES_MAX: usize = 128;
/// A model is not as sure as it says.
const CONFIDENCE_MAX: u16 = 9_500;

/// What was made of a model's answer about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What is said: by the words, as far as rules and model together see.
    pub extraction: Extraction,
    /// Claims that failed the gate, by position.
    pub ungrounded: Vec<u16>,
}

/// Holds candidates against the words. `base` is what the rules found in the same source.
pub fn read(
    source: &Source<'_>,
    base: Extraction,
    candidates: &[Candidate],
    extractor: &str,
) -> Read {
    let gate = Gate::new(source);
    let english = base.language.as_deref() == Some("en");
    let mut claims: Vec<Claim> = base.claims.clone();
    let mut refused: Vec<Claim> = Vec::new();
    let mut believed: Vec<Claim> = Vec::new();
    for candidate in candidates {
        match claim(source, &base, candidate, english) {
            Ok(claim) if gate.grounded(&claim).is_ok() => {
                if !believed.iter().any(|known| says_same(known, &claim)) {
                    believed.push(claim);
                }
            }
            Ok(claim) => refused.push(claim),
            Err(Unfounded) => refused.push(invented(candidate)),
        }
    }
    claims.retain(|rule| !believed.iter().any(|claim| replaces(claim, rule)));
    for claim in believed {
        if !claims.iter().any(|known| says_same(known, &claim)) {
            claims.push(claim);
        }
    }
    claims.truncate(crate::rules::CLAIMS_MAX);
    let first = claims.len();
    refused.truncate(UNGROUNDED_MAX);
    let ungrounded = (first..first + refused.len()).filter_map(|at| u16::try_from(at).ok());
    let ungrounded = ungrounded.collect();
    claims.extend(refused);
    Read { extraction: Extraction { extractor: extractor.to_owned(), claims, ..base }, ungrounded }
}

/// The words do not have what the candidate says of them.
struct Unfounded;

fn claim(
    source: &Source<'_>,
    base: &Extraction,
    candidate: &Candidate,
    english: bool,
) -> Result<Claim, Unfounded> {
    let text = super::shown(source.text);
    let clause = locate(text, &candidate.clause, 0).ok_or(Unfounded)?;
    let clause_words = part(text, clause).ok_or(Unfounded)?;
    let span = locate(clause_words, &candidate.quote, clause.start).ok_or(Unfounded)?;
    let words = part(text, span).ok_or(Unfounded)?;
    if is_asked(text, clause) {
        return Err(Unfounded);
    }
    let effect = match candidate.effect.as_str() {
        "holds" => Effect::Holds,
        "ends" => Effect::Ends,
        "negated" => Effect::Negated,
        "corrects" => Effect::Corrects,
        _ => return Err(Unfounded),
    };
    // Which words end something is known of one language only.
    if english && matches!(effect, Effect::Ends | Effect::Negated) && !says_ending(clause_words) {
        return Err(Unfounded);
    }
    let known = relation(&candidate.predicate).ok_or(Unfounded)?;
    let (object, normaliser) = object(known.object, words, source).ok_or(Unfounded)?;
    let since = candidate.since.as_deref().map(|words| instant(text, words, source, Edge::From));
    let until = candidate.until.as_deref().map(|words| instant(text, words, source, Edge::To));
    Ok(Claim {
        subject: subject(source, base, candidate, english)?,
        predicate: candidate.predicate.clone(),
        object,
        effect,
        valid_from: since.flatten(),
        valid_to: until.flatten(),
        cardinality: Some(known.cardinality),
        confidence: Confidence::new(candidate.confidence.min(CONFIDENCE_MAX)),
        span,
        normaliser,
        clause,
    })
}

/// Where words stand in a part of the text that begins at `start`, not inside a longer word.
fn locate(text: &str, words: &str, start: u32) -> Option<ByteSpan> {
    let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let edge = |c: Option<char>| !inner(c);
    let (first, last) = (words.chars().next(), words.chars().next_back());
    let (at, _) = text.match_indices(words).find(|(at, found)| {
        let before = text.get(..*at).and_then(|text| text.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
        (edge(first) || edge(before)) && (edge(last) || edge(after))
    })?;
    let from = start.checked_add(u32::try_from(at).ok()?)?;
    Some(ByteSpan { start: from, end: from.checked_add(u32::try_from(words.len()).ok()?)? })
}

fn part(text: &str, span: ByteSpan) -> Option<&str> {
    text.get(span.start as usize..span.end as usize)
}

/// What is asked is not said.
fn is_asked(text: &str, clause: ByteSpan) -> bool {
    let inside = part(text, clause).is_some_and(|clause| clause.contains('?'));
    let rest = text.get(clause.end as usize..).unwrap_or_default();
    let end = rest.chars().find(|c| matches!(c, '.' | '!' | '?' | '\n'));
    inside || end == Some('?')
}

/// The object that the words make under a relation.
fn object(kind: ObjectKind, words: &str, source: &Source<'_>) -> Option<(Object, Normaliser)> {
    Some(match kind {
        ObjectKind::Entity(kind) => {
            let named = Term::Named { name: fold(words), kind };
            (Object::Entity(named), Normaliser::Identity)
        }
        ObjectKind::Text => (Object::Text(fold(words)), Normaliser::Identity),
        ObjectKind::Number => match normal::quantity(words) {
            Some(quantity) => (quantity, Normaliser::Quantity),
            None => (normal::number(words)?, Normaliser::Number),
        },
        ObjectKind::Money => (normal::money(words)?, Normaliser::Money),
        ObjectKind::Date => {
            let date = normal::dates(words, &observed(source)).into_iter().next()?;
            (Object::Date(date), Normaliser::Date)
        }
    })
}

fn subject(
    source: &Source<'_>,
    base: &Extraction,
    candidate: &Candidate,
    english: bool,
) -> Result<Term, Unfounded> {
    let owner = if candidate.subject == "speaker" {
        if english && !speaks_of_itself(source.text) {
            return Err(Unfounded);
        }
        Term::Actor(source.speaker.clone())
    } else {
        let name = fold(&candidate.subject);
        // The rules know kinds by their lexicon; the same name is the same thing.
        let known = base.mentions.iter().find(|mention| mention.name == name);
        let kind = known.map_or_else(|| kind(&candidate.subject_kind), |mention| mention.kind);
        Term::Named { name, kind }
    };
    Ok(match &candidate.subject_relation {
        Some(relation) => {
            Term::Of { owner: Box::new(owner), relation: fold(relation).to_lowercase() }
        }
        None => owner,
    })
}

/// Whether somebody speaks of themselves here.
fn speaks_of_itself(text: &str) -> bool {
    const FIRST: &[&str] =
        &["i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "im", "ive"];
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.map(str::to_lowercase).any(|word| FIRST.contains(&word.as_str()))
}

fn kind(word: &str) -> EntityKind {
    match word {
        "person" => EntityKind::Person,
        "organization" => EntityKind::Organization,
        "place" => EntityKind::Place,
        "product" => EntityKind::Product,
        "occasion" => EntityKind::Occasion,
        "animal" => EntityKind::Animal,
        "identifier" => EntityKind::Identifier,
        _ => EntityKind::Thing,
    }
}

/// Which end of a time is meant.
#[derive(Clone, Copy)]
enum Edge {
    From,
    To,
}

/// The instant that words of the text mean. Words that it does not have mean none: a claim without a
/// time says less, and is still true.
fn instant(text: &str, words: &str, source: &Source<'_>, edge: Edge) -> Option<ValidAt> {
    locate(text, words, 0)?;
    match edge {
        Edge::From => normal::begins(words, &observed(source)),
        Edge::To => normal::is_over(words, &observed(source)),
    }
}

/// A claim that points nowhere, kept to be seen.
fn invented(candidate: &Candidate) -> Claim {
    let cut = |text: &str| {
        text.get(..text.floor_char_boundary(INVENTED_BYTES_MAX)).unwrap_or_default().to_owned()
    };
    Claim {
        subject: Term::Named { name: cut(&candidate.subject), kind: EntityKind::Thing },
        predicate: cut(&candidate.predicate),
        object: Object::Text(cut(&candidate.quote)),
        effect: Effect::Holds,
        valid_from: None,
        valid_to: None,
        cardinality: None,
        confidence: Confidence::new(0),
        span: ByteSpan::default(),
        normaliser: Normaliser::Identity,
        clause: ByteSpan::default(),
    }
}

fn says_same(one: &Claim, other: &Claim) -> bool {
    let effect = one.effect == other.effect;
    effect && is_about_same(one, other) && object_words(&one.object) == object_words(&other.object)
}

/// Both name the one value there can be, and not the same.
fn replaces(claim: &Claim, rule: &Claim) -> bool {
    claim.cardinality == Some(Cardinality::One)
        && is_about_same(claim, rule)
        && !says_same(claim, rule)
}

fn is_about_same(one: &Claim, other: &Claim) -> bool {
    one.predicate == other.predicate && term_words(&one.subject) == term_words(&other.subject)
}

/// A term without its kind, on which rules and model may differ.
fn term_words(term: &Term) -> String {
    match term {
        Term::Actor(actor) => format!("actor {actor}"),
        Term::Named { name, .. } => name.to_lowercase(),
        Term::Of { owner, relation } => format!("{} / {relation}", term_words(owner)),
    }
}

fn object_words(object: &Object) -> String {
    match object {
        Object::Entity(term) => term_words(term),
        Object::Text(text) | Object::Date(text) => text.to_lowercase(),
        Object::Number { value, unit } => format!("{value} {}", unit.as_deref().unwrap_or("")),
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Bool(yes) => yes.to_string(),
    }
}
