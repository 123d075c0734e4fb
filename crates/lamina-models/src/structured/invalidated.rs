//! `memory.invalidated`: an event that says of each value of an entity that it ends at an instant.

use lamina_types::layer::extraction::{
    ByteSpan, Claim, Confidence, Effect, EntityKind, Normaliser, Object, Term,
};
use lamina_types::{ActorId, Micros, ValidAt};

use super::scan::{Leaf, Scalar, Step, scan};
use super::{CLAIMS_MAX, text_at};
use crate::relation::cardinality;
use crate::source::Source;

/// The type of the event.
pub(super) const KIND: &str = "memory.invalidated";

/// The kinds of entities by the words that the event uses.
const KINDS: [(&str, EntityKind); 8] = [
    ("thing", EntityKind::Thing),
    ("person", EntityKind::Person),
    ("organization", EntityKind::Organization),
    ("place", EntityKind::Place),
    ("product", EntityKind::Product),
    ("occasion", EntityKind::Occasion),
    ("animal", EntityKind::Animal),
    ("identifier", EntityKind::Identifier),
];

/// What the event says of the whole entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalidation {
    /// Its name.
    pub entity_name: String,
    /// The instant from which what is known of it is over.
    pub at: ValidAt,
}

/// Reads an event of the type, if a document is one.
pub fn invalidation(text: &str) -> Option<Invalidation> {
    let leaves = scan(text)?;
    if !is_closure(&leaves) {
        return None;
    }
    let (name, _) = text_at(&leaves, &["payload", "entity_name"])?;
    let (at, _) = text_at(&leaves, &["payload", "invalid_at"])?;
    Some(Invalidation { entity_name: name.to_owned(), at: instant(at)? })
}

/// Whether a document is an event of the type.
pub(super) fn is_closure(leaves: &[Leaf]) -> bool {
    text_at(leaves, &["type"]).is_some_and(|(kind, _)| kind == KIND)
}

/// One ending for each member of `payload.ends`.
pub(super) fn claims(source: &Source<'_>, leaves: &[Leaf]) -> Vec<Claim> {
    let until = text_at(leaves, &["payload", "invalid_at"]).and_then(|(text, _)| instant(text));
    let Some(until) = until else { return Vec::new() };
    (0..CLAIMS_MAX).map_while(|at| ending(source, leaves, (at, until))).flatten().collect()
}

/// The ending at a place of the list: `None` behind its end, nothing for one that cannot be read.
fn ending(
    source: &Source<'_>,
    leaves: &[Leaf],
    (at, until): (usize, ValidAt),
) -> Option<Option<Claim>> {
    let end = End { leaves, at };
    let (predicate, _) = end.text(&["predicate"])?;
    let stated = end.term("subject").zip(end.object());
    Some(stated.map(|((subject, _), (object, leaf))| Claim {
        subject,
        cardinality: cardinality(predicate),
        predicate: predicate.to_owned(),
        object,
        effect: Effect::Ends,
        valid_from: None,
        valid_to: Some(until),
        confidence: Confidence::FULL,
        span: leaf.span,
        normaliser: Normaliser::Given,
        clause: ByteSpan { start: 0, end: source.text.len() as u32 },
    }))
}

/// One member of `payload.ends`.
struct End<'a> {
    leaves: &'a [Leaf],
    at: usize,
}

impl<'a> End<'a> {
    fn leaf(&self, keys: &[&str]) -> Option<&'a Leaf> {
        self.leaves.iter().find(|leaf| {
            let [Step::Key(payload), Step::Key(ends), Step::Index(at), rest @ ..] =
                leaf.path.as_slice()
            else {
                return false;
            };
            let is_here = payload == "payload" && ends == "ends" && *at == self.at;
            let same = rest.len() == keys.len()
                && rest
                    .iter()
                    .zip(keys)
                    .all(|(step, key)| matches!(step, Step::Key(known) if known == key));
            is_here && same
        })
    }

    fn text(&self, keys: &[&str]) -> Option<(&'a str, &'a Leaf)> {
        let leaf = self.leaf(keys)?;
        match &leaf.value {
            Scalar::Text(text) => Some((text.as_str(), leaf)),
            _ => None,
        }
    }

    fn term(&self, part: &str) -> Option<(Term, &'a Leaf)> {
        if let Some((id, leaf)) = self.text(&[part, "actor"]) {
            let actor: ActorId = id.parse().ok()?;
            return Some((Term::Actor(actor), leaf));
        }
        let (name, leaf) = self.text(&[part, "name"])?;
        let (word, _) = self.text(&[part, "kind"])?;
        let kind = KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)?;
        Some((Term::Named { name: name.to_owned(), kind }, leaf))
    }

    fn object(&self) -> Option<(Object, &'a Leaf)> {
        if let Some((term, leaf)) = self.term("object") {
            return Some((Object::Entity(term), leaf));
        }
        let text = |key: &str| self.text(&["object", key]);
        if let Some((words, leaf)) = text("text") {
            return Some((Object::Text(words.to_owned()), leaf));
        }
        if let Some((date, leaf)) = text("date") {
            return Some((Object::Date(date.to_owned()), leaf));
        }
        if let Some((amount, leaf)) = text("amount") {
            let (currency, _) = text("currency")?;
            let money = Object::Money { amount: amount.to_owned(), currency: currency.to_owned() };
            return Some((money, leaf));
        }
        if let Some((value, leaf)) = text("number") {
            let unit = text("unit").map(|(unit, _)| unit.to_owned());
            return Some((Object::Number { value: value.to_owned(), unit }, leaf));
        }
        let leaf = self.leaf(&["object", "bool"])?;
        match &leaf.value {
            Scalar::Bool(value) => Some((Object::Bool(*value), leaf)),
            _ => None,
        }
    }
}

fn instant(text: &str) -> Option<ValidAt> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(ValidAt(Micros(at.as_microsecond())))
}
