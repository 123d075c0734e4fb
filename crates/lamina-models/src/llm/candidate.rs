//! What the output of a model says, before it is held against the words: bounded, typed, believed by
//! nobody.

use serde_json::Value;

use super::CLAIMS_MAX;
use super::Fault;
use super::prompt::Item;

/// Bytes of a text within a claim; none that stands in an event's words needs more.
const FIELD_BYTES_MAX: usize = 1_024;

/// One claim as the model makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub(super) subject: String,
    pub(super) subject_relation: Option<String>,
    pub(super) subject_kind: String,
    pub(super) predicate: String,
    pub(super) quote: String,
    pub(super) clause: String,
    pub(super) effect: String,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
    /// In ten-thousandths.
    pub(super) confidence: u16,
}

/// What a model said about the events it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// In the order of the question; `None` for one it says nothing about.
    pub events: Vec<Option<Vec<Candidate>>>,
    /// Entries about nothing that was asked, said twice, or not readable; and claims beyond the limit.
    pub ignored: usize,
}

/// Reads the words of a model that was asked about these events.
pub fn read_output(words: &str, items: &[Item]) -> Result<Output, Fault> {
    let value = serde_json::from_str(words).map_err(|_| Fault::NotJson)?;
    output(&value, items)
}

/// Reads the output to a question about these events.
pub(super) fn output(value: &Value, items: &[Item]) -> Result<Output, Fault> {
    let listed = value.get("events").and_then(Value::as_array).ok_or(Fault::WrongShape)?;
    let mut output = Output { events: vec![None; items.len()], ignored: 0 };
    for entry in listed {
        let id = entry.get("id").and_then(Value::as_str);
        let claims = entry.get("claims").and_then(Value::as_array);
        let at = items.iter().position(|item| Some(item.id.as_str()) == id);
        let place = at.and_then(|at| output.events.get_mut(at));
        match (place, claims) {
            // Of two entries about one event the first counts.
            (Some(place @ None), Some(claims)) => {
                let read: Vec<Candidate> =
                    claims.iter().take(CLAIMS_MAX).filter_map(candidate).collect();
                output.ignored += claims.len() - read.len();
                *place = Some(read);
            }
            _ => output.ignored += 1,
        }
    }
    match output.events.iter().any(Option::is_some) {
        true => Ok(output),
        false if listed.is_empty() => Err(Fault::Empty),
        false => Err(Fault::WrongShape),
    }
}

fn candidate(value: &Value) -> Option<Candidate> {
    let text = |name: &str| {
        let text = value.get(name)?.as_str()?.trim();
        (text.len() <= FIELD_BYTES_MAX).then(|| text.to_owned())
    };
    let said = |name: &str| text(name).filter(|text| !text.is_empty());
    let confidence = value.get("confidence").and_then(Value::as_f64).filter(|c| c.is_finite());
    Some(Candidate {
        subject: said("subject")?,
        subject_relation: said("subject_relation"),
        subject_kind: text("subject_kind").unwrap_or_default(),
        predicate: said("predicate")?,
        quote: said("quote")?,
        clause: said("clause")?,
        effect: said("effect")?,
        since: said("since"),
        until: said("until"),
        confidence: (confidence.unwrap_or(0.5).clamp(0.0, 1.0) * 10_000.0) as u16,
    })
}
