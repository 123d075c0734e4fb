//! Which records may be in a pack at all. Asked before anything is ranked: a record that does not pass
//! takes nobody's place.

use lamina_types::recall::{Field, Filter, Test};

/// What of a record can be asked for. What a record does not have is absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facets<'a> {
    /// Who did it.
    pub observed_actor: Option<&'a str>,
    /// Who wrote it.
    pub caller: Option<&'a str>,
    /// Whom it is about.
    pub subject: Option<&'a str>,
    /// How it reached us.
    pub modality: Option<&'a str>,
    /// Its labels.
    pub labels: &'a [String],
    /// What the actor was after.
    pub intent: Option<&'a str>,
    /// Who speaks.
    pub role: Option<&'a str>,
    /// How sure it is; a record without one is not held to it.
    pub confidence: Option<f64>,
    /// When it happened, in microseconds.
    pub observed_at: Option<i64>,
    /// When it became known, in microseconds.
    pub recorded_at: Option<i64>,
}

/// Whether a record passes.
pub fn passes(filter: &Filter, facets: &Facets<'_>) -> bool {
    match filter {
        Filter::All(parts) => parts.iter().all(|part| passes(part, facets)),
        Filter::Any(parts) => parts.iter().any(|part| passes(part, facets)),
        Filter::Not(inner) => !passes(inner, facets),
        Filter::Is(field, test) => is(*field, test, facets),
    }
}

fn is(field: Field, test: &Test, facets: &Facets<'_>) -> bool {
    let text = |value: Option<&str>| match test {
        Test::In(wanted) => value.is_some_and(|value| wanted.iter().any(|one| one == value)),
        Test::NotIn(unwanted) => {
            !value.is_some_and(|value| unwanted.iter().any(|one| one == value))
        }
        _ => true,
    };
    let number = |value: Option<f64>| match (value, test) {
        (Some(value), Test::AtLeast(bound)) => value >= *bound,
        (Some(value), Test::Above(bound)) => value > *bound,
        (Some(value), Test::AtMost(bound)) => value <= *bound,
        (Some(value), Test::Below(bound)) => value < *bound,
        _ => true,
    };
    let instant = |value: Option<i64>| number(value.map(|value| value as f64));
    match field {
        Field::ObservedActor => text(facets.observed_actor),
        Field::Caller => text(facets.caller),
        Field::Subject => text(facets.subject),
        Field::Modality => text(facets.modality),
        Field::Intent => text(facets.intent),
        Field::Role => text(facets.role),
        Field::Labels => match test {
            Test::In(wanted) => facets.labels.iter().any(|label| wanted.contains(label)),
            Test::NotIn(unwanted) => !facets.labels.iter().any(|label| unwanted.contains(label)),
            _ => true,
        },
        Field::Confidence => number(facets.confidence),
        Field::ObservedAt => instant(facets.observed_at),
        Field::RecordedAt => instant(facets.recorded_at),
    }
}

#[cfg(test)]
mod tests;
