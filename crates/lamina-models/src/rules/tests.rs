//! What the rules read out of sentences, one line per claim. The sentences are ours, by field of life;
//! the evaluation tables are kept apart.

mod laws;
mod people;
mod work;
mod life;
mod moods;
mod wider;
mod turns;

use expect_test::Expect;
use lamina_types::layer::extraction::{Claim, Effect, Extraction, Object, Term};
use lamina_types::{ActorId, Micros, Role, ValidAt};

use super::extract;
use crate::Source;

/// Wednesday, 12 March 2025, noon in Berlin.
pub(super) const NOON: Micros = Micros(1_741_777_200_000_000);

pub(super) fn actor(id: &str) -> ActorId {
    id.parse().unwrap()
}

/// The claims that Ann makes when she says this to an assistant.
pub(super) fn claims(text: &str) -> Vec<Claim> {
    read(text).claims
}

/// What is read out of this when Ann says it to an assistant.
fn read(text: &str) -> Extraction {
    let (ann, helper) = (actor("user:ann"), actor("agent:helper"));
    let source = Source {
        text,
        speaker: &ann,
        addressee: Some(&helper),
        role: Some(Role::User),
        observed_at: NOON,
        timezone: Some("Europe/Berlin"),
    };
    extract(&source)
}

/// Checks one utterance per line of `text`.
fn check(text: &str, expect: Expect) {
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        out.push_str(line);
        out.push('\n');
        for claim in claims(line) {
            out.push_str("    ");
            out.push_str(&show(&claim));
            out.push('\n');
        }
    }
    expect.assert_eq(&out);
}

pub(super) fn show(claim: &Claim) -> String {
    let mut line =
        format!("{} {} {}", term(&claim.subject), claim.predicate, object(&claim.object));
    for (mark, at) in [(" from", claim.valid_from), (" to", claim.valid_to)] {
        if let Some(ValidAt(Micros(at))) = at {
            let day =
                jiff::Timestamp::from_microsecond(at).unwrap().in_tz("Europe/Berlin").unwrap();
            line.push_str(&format!("{mark} {}", day.date()));
        }
    }
    line.push_str(match claim.effect {
        Effect::Holds => "",
        Effect::Ends => " (ends)",
        Effect::Negated => " (not)",
        Effect::Corrects => " (corrects)",
    });
    line
}

fn term(term: &Term) -> String {
    match term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => format!("[{name}]"),
        Term::Of { owner, relation } => format!("{}/{relation}", self::term(owner)),
    }
}

fn object(object: &Object) -> String {
    match object {
        Object::Entity(entity) => term(entity),
        Object::Text(text) => format!("\"{text}\""),
        Object::Number { value, unit } => {
            format!("{value} {}", unit.as_deref().unwrap_or("")).trim().to_owned()
        }
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Date(date) => date.clone(),
        Object::Bool(value) => value.to_string(),
    }
}
