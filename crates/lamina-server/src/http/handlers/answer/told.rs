//! Quotes as an answer: each with its day, who said it, and a marker.

use lamina_api::v1::answer::{AnswerBody, CitationBody};
use lamina_core::read::plan::Plan;
use lamina_core::read::prompt::quote_inline;
use lamina_core::read::tokens::estimate;
use lamina_engine::read::answer::{Quote, Quotes};
use lamina_types::Micros;
use lamina_types::recall::{CitationMode, Layer};

use serde_json::{Value, json};

use super::chain;
use crate::http::failure::{Failure, internal};
use crate::http::handlers::recall::block::{day, speaker};
use crate::http::handlers::recall::rounded;
use crate::http::handlers::recall::stream::{Events, put, words};

/// What is said when nothing that was recalled answers.
pub(super) const UNKNOWN: &str = "I do not know: nothing that was recalled answers this.";

const DAY_US: i64 = 86_400 * 1_000_000;

/// An answer, and what its markers stand for.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) text: String,
    pub(super) citations: Vec<CitationBody>,
    /// What is cited is only the closest record.
    pub(super) is_unanswered: bool,
}

/// Tells what was quoted. What does not fit the tokens is left out; of the best as much as fits is told.
pub(super) fn tell(
    plan: Plan,
    quotes: &Quotes,
    mode: CitationMode,
    tokens_max: Option<u64>,
) -> Told {
    if let Some(chain) = &quotes.chain {
        return chain::tell(chain, mode);
    }
    let mut quoted: Vec<&Quote> = quotes.answering.iter().collect();
    if quoted.is_empty() {
        return unknown(quotes, mode);
    }
    if plan.wants_variety() || plan.wants_history() {
        quoted.sort_by_key(|quote| quote.at);
    }
    let most = tokens_max.unwrap_or(u64::MAX);
    let mut sources = Sources::new("");
    let mut lines: Vec<String> = Vec::new();
    let mut tokens = 0;
    for quote in quoted {
        let line = line(quote);
        let cost = estimate(&line) + 3;
        if tokens + cost > most {
            if lines.is_empty() {
                lines.push(format!("{} {}", fitting(&line, most), sources.mark(quote)));
            }
            break;
        }
        tokens += cost;
        lines.push(match mode {
            CitationMode::InlineWithMarkers => format!("{line} {}", sources.mark(quote)),
            _ => {
                sources.mark(quote);
                line
            }
        });
    }
    let mut text = lines.join("\n");
    if mode == CitationMode::BlockAtEnd {
        text.push_str("\n\nSources:\n");
        text.push_str(&sources.list());
    }
    Told { text, citations: sources.citations, is_unanswered: false }
}

/// A record that has less of the question than this is not offered.
const CLOSEST_COVERAGE_MIN: f64 = 0.4;

/// Words of a sentence that says anything by itself.
const CLOSEST_WORDS_MIN: usize = 3;

/// Nothing answers: the closest record is offered as such, and the answer stays unanswered.
fn unknown(quotes: &Quotes, mode: CitationMode) -> Told {
    let close = |quote: &&Quote| {
        let is_sentence = quote.text.split_whitespace().nth(CLOSEST_WORDS_MIN - 1).is_some();
        is_sentence
            && !quote.judged.is_over
            && quote.judged.grounds.coverage >= CLOSEST_COVERAGE_MIN
    };
    let by_grounds = |quote: &Quote| {
        quote.judged.strength + quote.judged.grounds.coverage + quote.judged.grounds.nearness
    };
    let found = quotes.considered.iter().filter(close);
    let found = found.max_by(|one, other| by_grounds(one).total_cmp(&by_grounds(other)));
    let Some(closest) = found else {
        return Told { text: UNKNOWN.to_owned(), ..Told::default() };
    };
    let mut sources = Sources::new("");
    let marker = sources.mark(closest);
    let said = line(closest);
    let text = match mode {
        CitationMode::InlineWithMarkers => {
            format!("{UNKNOWN}\nClosest I have: {said} {marker}")
        }
        _ => format!("{UNKNOWN}\nClosest I have: {said}"),
    };
    Told { text, citations: sources.citations, is_unanswered: true }
}

/// A quote with its day and who said it, on one line.
pub(super) fn line(quote: &Quote) -> String {
    let day = day(quote.at);
    let meant = quote.spoken.map(|(from, to)| format!(" ({})", days(from, to))).unwrap_or_default();
    let text = quote_inline(&quote.text);
    let who = speaker(quote.tag, &quote.authors);
    let said = match quote.layer {
        // Nobody said it like this: no quotation marks.
        Layer::Events if !quote.verbatim => format!("On {day}, from {who}: {text}{meant}"),
        Layer::Events => format!("On {day}, {who} said: \u{201c}{text}\u{201d}{meant}"),
        _ => format!("Known since {day}, from {who}: {text}{meant}"),
    };
    match quote.verdict {
        Some(true) => format!("Yes. {said}"),
        Some(false) => format!("No. {said}"),
        None => said,
    }
}

/// The days of a stretch of time, the last of them included.
fn days(from: Micros, to: Micros) -> String {
    let (first, last) = (day(from), day(Micros(to.0 - 1)));
    if first == last || to.0 - from.0 <= DAY_US { first } else { format!("{first} to {last}") }
}

/// As many words of a text as fit.
fn fitting(text: &str, tokens: u64) -> String {
    let mut end = 0;
    for (at, _) in text.char_indices().filter(|(_, c)| c.is_whitespace()) {
        if estimate(text.get(..at).unwrap_or_default()) + 2 > tokens {
            break;
        }
        end = at;
    }
    format!("{}\u{2026}", text.get(..end).unwrap_or_default())
}

/// An answer as events: word by word, then what it stands on (R357).
pub(super) fn events(shape: &AnswerBody) -> Result<Events, Failure> {
    let mut events = words(&shape.answer);
    let body = serde_json::to_value(shape).map_err(|error| internal(error.to_string()))?;
    let of = |name: &str| body.get(name).cloned().unwrap_or(Value::Null);
    put(&mut events, "citations", &of("citations"));
    put(&mut events, "provenance", &of("provenance"));
    let told = shape.diagnostics.as_ref().map(|_| of("diagnostics"));
    put(&mut events, "diagnostics", &told.unwrap_or_else(|| json!({})));
    let mut done = json!({});
    for name in ["pack_id", "answered", "answer_model", "context_block", "as_of"] {
        if let Some((value, done)) = body.get(name).zip(done.as_object_mut()) {
            done.insert(name.to_owned(), value.clone());
        }
    }
    put(&mut events, "done", &done);
    Ok(events)
}

/// The records that are cited, each under one marker.
#[derive(Debug)]
pub(super) struct Sources {
    prefix: &'static str,
    pub(super) citations: Vec<CitationBody>,
}

impl Sources {
    /// Markers begin with this.
    pub(super) fn new(prefix: &'static str) -> Sources {
        Sources { prefix, citations: Vec::new() }
    }

    /// The marker of a quote's record.
    pub(super) fn mark(&mut self, quote: &Quote) -> String {
        self.mark_record(quote.layer, quote.id.clone(), quote.judged.strength)
    }

    /// The marker of a record.
    pub(super) fn mark_record(&mut self, layer: Layer, id: String, strength: f64) -> String {
        if let Some(known) = self.citations.iter().find(|citation| citation.id == id) {
            return known.marker.clone();
        }
        let marker = format!("[{}{}]", self.prefix, self.citations.len() + 1);
        self.citations.push(CitationBody {
            marker: marker.clone(),
            layer: layer.singular(),
            id,
            support_strength: rounded(strength),
        });
        marker
    }

    /// All of them, one per line.
    pub(super) fn list(&self) -> String {
        let line = |citation: &CitationBody| format!("{} {}", citation.marker, citation.id);
        self.citations.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests;
