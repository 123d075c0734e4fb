//! Forged claims are refused: every part of a good claim is changed in turn.

use lamina_types::ValidAt;
use lamina_types::layer::extraction::{ByteSpan, Claim, EntityKind, Normaliser, Object, Term};
use lamina_types::{ActorId, Micros, Role};

use super::{Ungrounded, grounded};
use crate::{Source, extract};

const TEXT: &str =
    "My wife Sara moved to Oslo in January, has 200 books, weighs 61 kg, and the rent costs $900.";

fn ann() -> ActorId {
    "user:ann".parse().unwrap()
}

fn source<'a>(text: &'a str, ann: &'a ActorId) -> Source<'a> {
    Source {
        text,
        speaker: ann,
        addressee: None,
        role: Some(Role::User),
        observed_at: Micros(1_741_777_200_000_000),
        timezone: None,
    }
}

/// The claims of a text with the verdict on each after a change.
fn verdicts(text: &str, change: impl Fn(&mut Claim)) -> Vec<Result<(), Ungrounded>> {
    let ann = ann();
    let source = source(text, &ann);
    let claims = extract(&source).claims;
    assert!(!claims.is_empty(), "{text}");
    let changed = claims.into_iter().map(|mut claim| {
        change(&mut claim);
        grounded(&claim, &source)
    });
    changed.collect()
}

#[track_caller]
fn all_refused(text: &str, change: impl Fn(&mut Claim), reason: Ungrounded) {
    for verdict in verdicts(text, change) {
        assert_eq!(verdict, Err(reason));
    }
}

#[test]
fn what_the_rules_claim_is_grounded() {
    assert!(verdicts(TEXT, |_| {}).iter().all(Result::is_ok));
    assert!(verdicts(TEXT, |_| {}).len() >= 4);
}

#[test]
fn spans_outside_the_text_or_inside_a_character_are_refused() {
    all_refused(TEXT, |claim| claim.span.end = 100_000, Ungrounded::Span);
    all_refused(TEXT, |claim| claim.span.end = claim.span.start, Ungrounded::Span);
    all_refused(
        TEXT,
        |claim| std::mem::swap(&mut claim.span.start, &mut claim.span.end),
        Ungrounded::Span,
    );
    all_refused(TEXT, |claim| claim.clause.end = u32::MAX, Ungrounded::Span);
    all_refused("I live in Århus.", |claim| claim.span.start += 1, Ungrounded::Span);
}

#[test]
fn a_span_outside_its_clause_is_refused() {
    all_refused(TEXT, |claim| claim.clause = ByteSpan { start: 0, end: 2 }, Ungrounded::Clause);
}

#[test]
fn another_object_is_refused() {
    let forge = |claim: &mut Claim| {
        claim.object = match &claim.object {
            Object::Number { unit, .. } => {
                Object::Number { value: "7".to_owned(), unit: unit.clone() }
            }
            Object::Money { amount, .. } => {
                Object::Money { amount: amount.clone(), currency: "SEK".to_owned() }
            }
            Object::Entity(_) => {
                Object::Entity(Term::Named { name: "Bergen".to_owned(), kind: EntityKind::Place })
            }
            _ => Object::Text("Bergen".to_owned()),
        }
    };
    all_refused(TEXT, forge, Ungrounded::Object);
    all_refused(
        "The demo is on Friday.",
        |claim| claim.object = Object::Date("2025-03-15".to_owned()),
        Ungrounded::Object,
    );
    all_refused(
        "I'm unemployed now.",
        |claim| claim.object = Object::Text("Siemens".to_owned()),
        Ungrounded::Object,
    );
}

#[test]
fn another_normaliser_is_refused() {
    for normaliser in [
        Normaliser::Number,
        Normaliser::Money,
        Normaliser::Date,
        Normaliser::Speaker,
        Normaliser::JsonPath,
        Normaliser::Given,
    ] {
        all_refused("I live in Oslo.", |claim| claim.normaliser = normaliser, Ungrounded::Object);
    }
}

#[test]
fn a_subject_that_is_not_spoken_of_is_refused() {
    let named = |name: &str| Term::Named { name: name.to_owned(), kind: EntityKind::Person };
    all_refused(TEXT, |claim| claim.subject = named("Bob"), Ungrounded::Subject);
    // A part of a word is no name.
    all_refused(TEXT, |claim| claim.subject = named("Sar"), Ungrounded::Subject);
    all_refused(
        TEXT,
        |claim| claim.subject = Term::Actor("user:eve".parse().unwrap()),
        Ungrounded::Subject,
    );
    let sister = |claim: &mut Claim| {
        claim.subject =
            Term::Of { owner: Box::new(Term::Actor(ann())), relation: "sister".to_owned() };
    };
    all_refused(TEXT, sister, Ungrounded::Subject);
}

#[test]
fn predicates_that_the_text_does_not_give_are_refused() {
    all_refused(TEXT, |claim| claim.predicate = "count:cars".to_owned(), Ungrounded::Predicate);
    all_refused(TEXT, |claim| claim.predicate = "Lives In".to_owned(), Ungrounded::Predicate);
    all_refused(TEXT, |claim| claim.predicate = String::new(), Ungrounded::Predicate);
    all_refused(TEXT, |claim| claim.predicate = "x".repeat(97), Ungrounded::Predicate);
}

#[test]
fn times_that_the_text_does_not_say_are_refused() {
    let at = |day: i64| Some(ValidAt(Micros(1_741_777_200_000_000 + day * 86_400_000_000)));
    all_refused(TEXT, |claim| claim.valid_from = at(-3), Ungrounded::Time);
    all_refused(
        TEXT,
        |claim| (claim.valid_from, claim.valid_to) = (at(0), at(0)),
        Ungrounded::Time,
    );
    // The time of the event itself is always known.
    assert!(
        verdicts(TEXT, |claim| (claim.valid_from, claim.valid_to) = (at(0), None))
            .iter()
            .all(Result::is_ok)
    );
}
