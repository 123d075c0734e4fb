//! Records as words.

use lamina_models::sentence;
use lamina_types::ScopePath;
use lamina_types::layer::{Claim, Effect, Object, Term};

use crate::read::beliefs::{BeliefRecord, BeliefSubject};
use crate::read::facts::FactRecord;

/// Whoever calls a server without authentication and does not say who they are.
const UNNAMED_ACTOR: &str = "user:local";
/// How text names them where no scope tells their name.
const UNNAMED_WORDS: &str = "the user";

/// The name of a subject in a scope: of somebody who did not say who they are it is that of the person whose scope it
/// is.
fn named(subject: &Term, scope: &ScopePath) -> Term {
    match subject {
        Term::Actor(actor) if actor.as_str() == UNNAMED_ACTOR => {
            Term::Actor(scope.person().unwrap_or_else(|| actor.clone()))
        }
        Term::Of { owner, relation } => {
            Term::Of { owner: Box::new(named(owner, scope)), relation: relation.clone() }
        }
        other => other.clone(),
    }
}

/// A fact as words.
pub fn fact_words(fact: &FactRecord) -> String {
    let sides = fact.objects.iter().map(|side| (side.negated, &side.object));
    said_words(&named(&fact.subject.term, &fact.scope), &fact.predicate, sides)
}

/// The same from what it says: whether each side is denied, and the side.
pub(crate) fn said_words<'a>(
    subject: &Term,
    predicate: &str,
    sides: impl Iterator<Item = (bool, &'a Object)>,
) -> String {
    let sides: Vec<(bool, String)> = sides.map(|(negated, side)| (negated, object(side))).collect();
    let all_denied = !sides.is_empty() && sides.iter().all(|(negated, _)| *negated);
    let side = |(negated, side): &(bool, String)| match *negated && !all_denied {
        true => format!("not {side}"),
        false => side.clone(),
    };
    let sides: Vec<String> = sides.iter().map(side).collect();
    let said = sentence(&term(subject), predicate, &sides.join(" or "));
    if all_denied { format!("it is not so that {said}") } else { said }
}

/// A claim as words.
pub(in crate::read) fn claim_words(claim: &Claim) -> String {
    let negated = claim.effect == Effect::Negated;
    said_words(&claim.subject, &claim.predicate, std::iter::once((negated, &claim.object)))
}

/// A belief as words.
pub fn belief_words(belief: &BeliefRecord) -> String {
    let subject = match &belief.subject {
        BeliefSubject::Entity { id, name } => {
            BeliefSubject::Entity { id: *id, name: named(name, &belief.scope) }
        }
        other => other.clone(),
    };
    held_words(&subject, &belief.predicate, &belief.object)
}

/// The same from what it says.
pub(crate) fn held_words(subject: &BeliefSubject, predicate: &str, held: &Object) -> String {
    let subject = match subject {
        BeliefSubject::Entity { name, .. } => term(name),
        BeliefSubject::Named(name) => name.clone(),
        BeliefSubject::Scope => String::new(),
    };
    match subject.as_str() {
        "" => format!("{} {}", predicate.replace('_', " "), object(held)),
        subject => sentence(subject, predicate, &object(held)),
    }
}

pub(in crate::read) fn term(term: &Term) -> String {
    match term {
        Term::Actor(actor) if actor.as_str() == UNNAMED_ACTOR => UNNAMED_WORDS.to_owned(),
        Term::Actor(actor) => {
            let actor = actor.as_str();
            actor.split_once(':').map_or(actor, |(_, name)| name).to_owned()
        }
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}'s {relation}", self::term(owner)),
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
