//! A fact as tables write it, and when two are the same.

use anyhow::Context;
use lamina_types::ValidAt;
use lamina_types::layer::extraction::{Claim, Effect, Object, Term};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fact {
    subject: String,
    predicate: String,
    object: String,
    from: Option<String>,
    to: Option<String>,
    end: bool,
    negated: bool,
    correction: bool,
}

impl Fact {
    /// As a table states it.
    pub(super) fn expected(value: &Value) -> anyhow::Result<Fact> {
        let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(false);
        Ok(Fact {
            subject: text("s").context("a fact without s")?,
            predicate: text("p").context("a fact without p")?,
            object: text("o").unwrap_or_default(),
            from: text("from"),
            to: text("to"),
            end: flag("end"),
            negated: flag("negated"),
            correction: flag("correction"),
        })
    }

    /// As the extractor claims it; times are local.
    pub(super) fn found(claim: &Claim, zone: &str) -> Fact {
        Fact {
            subject: term(&claim.subject),
            predicate: claim.predicate.clone(),
            object: object(&claim.object),
            from: claim.valid_from.map(|at| local(at, zone)),
            to: claim.valid_to.map(|at| local(at, zone)),
            end: claim.effect == Effect::Ends,
            negated: claim.effect == Effect::Negated,
            correction: claim.effect == Effect::Corrects,
        }
    }

    /// Whether `found` is this expected fact. Times count only where the table states them.
    pub(super) fn is_met_by(&self, found: &Fact) -> bool {
        let time = |expected: &Option<String>, found: &Option<String>| {
            expected
                .as_ref()
                .is_none_or(|day| found.as_ref().is_some_and(|found| same_day(day, found)))
        };
        fold(&self.subject) == fold(&found.subject)
            && fold(&self.predicate) == fold(&found.predicate)
            && fold(&self.object) == fold(&found.object)
            && (self.end, self.negated, self.correction)
                == (found.end, found.negated, found.correction)
            && time(&self.from, &found.from)
            && time(&self.to, &found.to)
    }
}

impl std::fmt::Display for Fact {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} | {} | {}", self.subject, self.predicate, self.object)?;
        if let Some(from) = &self.from {
            write!(f, " from {from}")?;
        }
        if let Some(to) = &self.to {
            write!(f, " to {to}")?;
        }
        for (is, name) in
            [(self.end, "end"), (self.negated, "negated"), (self.correction, "correction")]
        {
            if is {
                write!(f, " {name}")?;
            }
        }
        Ok(())
    }
}

fn term(term: &Term) -> String {
    match term {
        Term::Actor(actor) => actor.to_string(),
        Term::Named { name, .. } => name.clone(),
        Term::Of { owner, relation } => format!("{}/{relation}", self::term(owner)),
    }
}

fn object(object: &Object) -> String {
    match object {
        Object::Entity(entity) => term(entity),
        Object::Text(text) => text.clone(),
        Object::Number { value, unit: Some(unit) } => format!("{value} {unit}"),
        Object::Number { value, unit: None } => value.clone(),
        Object::Money { amount, currency } => format!("{amount} {currency}"),
        Object::Date(date) => date.clone(),
        Object::Bool(value) => value.to_string(),
    }
}

fn local(at: ValidAt, zone: &str) -> String {
    let instant = jiff::Timestamp::from_microsecond(at.0.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    match instant.in_tz(zone) {
        Ok(zoned) => zoned.date().to_string(),
        Err(_) => instant.to_string(),
    }
}

fn same_day(expected: &str, found: &str) -> bool {
    expected.get(..10) == found.get(..10)
}

/// Case, articles and white space do not count.
fn fold(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.collect::<Vec<_>>().join(" ")
}
