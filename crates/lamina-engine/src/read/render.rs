//! Records as words: the sentences by which packs, answers, checkouts and exports tell facts and beliefs. No other module
//! makes words of a record, so that one claim reads the same everywhere.

use lamina_core::derive::speakers::spoken_name;
use lamina_models::sentence;
use lamina_types::ScopePath;
use lamina_types::layer::{Claim, Effect, Object, Term};

use crate::read::beliefs::{BeliefRecord, BeliefSubject};
use crate::read::facts::FactRecord;

/// A fact as words.
pub fn fact_words(fact: &FactRecord) -> String {
    let sides = fact.objects.iter().map(|side| (side.negated, &side.object));
    said_words_in(Some(&fact.scope), &fact.subject.term, &fact.predicate, sides)
}

/// The same from what it says: whether each side is denied, and the side.
pub(crate) fn said_words<'a>(
    subject: &Term,
    predicate: &str,
    sides: impl Iterator<Item = (bool, &'a Object)>,
) -> String {
    said_words_in(None, subject, predicate, sides)
}

/// The same, of what a scope knows.
pub(in crate::read) fn said_words_in<'a>(
    scope: Option<&ScopePath>,
    subject: &Term,
    predicate: &str,
    sides: impl Iterator<Item = (bool, &'a Object)>,
) -> String {
    let spoken = |side: &Object| match side {
        Object::Entity(called) => term_in(scope, called),
        other => object(other),
    };
    let sides: Vec<(bool, String)> = sides.map(|(negated, side)| (negated, spoken(side))).collect();
    let all_denied = !sides.is_empty() && sides.iter().all(|(negated, _)| *negated);
    let side = |(negated, side): &(bool, String)| match *negated && !all_denied {
        true => format!("not {side}"),
        false => side.clone(),
    };
    let sides: Vec<String> = sides.iter().map(side).collect();
    let said = sentence(&term_in(scope, subject), predicate, &sides.join(" or "));
    if all_denied { format!("it is not so that {said}") } else { said }
}

/// A claim as words.
pub(in crate::read) fn claim_words(claim: &Claim) -> String {
    let negated = claim.effect == Effect::Negated;
    said_words(&claim.subject, &claim.predicate, std::iter::once((negated, &claim.object)))
}

/// A belief as words.
pub fn belief_words(belief: &BeliefRecord) -> String {
    held_words_in(Some(&belief.scope), &belief.subject, &belief.predicate, &belief.object)
}

/// The same from what it says.
pub(crate) fn held_words(subject: &BeliefSubject, predicate: &str, held: &Object) -> String {
    held_words_in(None, subject, predicate, held)
}

/// The same, of what a scope knows.
fn held_words_in(
    scope: Option<&ScopePath>,
    subject: &BeliefSubject,
    predicate: &str,
    held: &Object,
) -> String {
    let subject = match subject {
        BeliefSubject::Entity { name, .. } => term_in(scope, name),
        BeliefSubject::Named(name) => name.clone(),
        BeliefSubject::Scope => String::new(),
    };
    match subject.as_str() {
        "" => format!("{} {}", predicate.replace('_', " "), object(held)),
        subject => sentence(subject, predicate, &object(held)),
    }
}

pub(in crate::read) fn term(term: &Term) -> String {
    term_in(None, term)
}

/// What somebody or something is called in a sentence about what a scope knows.
pub(in crate::read) fn term_in(scope: Option<&ScopePath>, term: &Term) -> String {
    match term {
        Term::Actor(actor) => spoken_name(actor, scope),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}'s {relation}", term_in(scope, owner)),
    }
}

pub(in crate::read) fn object(object: &Object) -> String {
    match object {
        Object::Entity(called) => term(called),
        Object::Text(text) | Object::Date(text) => text.clone(),
        Object::Number { value, unit: Some(unit) } => format!("{value} {unit}"),
        Object::Number { value, unit: None } => value.clone(),
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
    }
}
