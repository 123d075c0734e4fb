//! The lexical filter of a selector: BM25 over all events of a session, with the order of Zaxy on ties.

use std::collections::{BTreeSet, HashMap};

use super::coerce::trim;
use super::event::LogEvent;
use crate::canon::python_spaced_sorted;

const K1: f64 = 1.5;
const B: f64 = 0.75;

/// One event as a bag of words.
struct Document {
    seq: u64,
    length: f64,
    frequencies: HashMap<String, f64>,
}

/// The numbers of the events that match the query best.
pub(super) fn best(events: &[LogEvent], query: &str, limit: usize) -> BTreeSet<u64> {
    let documents: Vec<Document> = events.iter().filter_map(document).collect();
    let count = documents.len() as f64;
    let total: f64 = documents.iter().map(|document| document.length).sum();
    let average = if documents.is_empty() { 1.0 } else { (total / count).max(1.0) };
    let mut terms: Vec<String> = Vec::new();
    for term in tokens(query) {
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    let mut order: Vec<usize> = Vec::new();
    let mut is_listed = vec![false; documents.len()];
    let mut weights = Vec::new();
    for term in &terms {
        let mut frequency = 0.0;
        for (at, listed) in is_listed.iter_mut().enumerate() {
            if !documents.get(at).is_some_and(|d| d.frequencies.contains_key(term)) {
                continue;
            }
            frequency += 1.0;
            if !*listed {
                *listed = true;
                order.push(at);
            }
        }
        weights.push((1.0 + (count - frequency + 0.5) / (frequency + 0.5)).ln());
    }
    let mut scored = Vec::new();
    for document in order.into_iter().filter_map(|at| documents.get(at)) {
        let norm = K1 * (1.0 - B + B * (document.length / average));
        let mut score = 0.0;
        for (term, weight) in terms.iter().zip(&weights) {
            if let Some(frequency) = document.frequencies.get(term) {
                score += weight * ((frequency * (K1 + 1.0)) / (frequency + norm));
            }
        }
        if score > 0.0 {
            scored.push((score, document.seq));
        }
    }
    // A stable sort: ties keep the order in which the terms found the documents.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(limit).map(|(_, seq)| seq).collect()
}

fn document(event: &LogEvent) -> Option<Document> {
    let text = indexed_text(event)?;
    let words = tokens(&text);
    let mut frequencies: HashMap<String, f64> = HashMap::new();
    let length = words.len() as f64;
    for word in words {
        *frequencies.entry(word).or_default() += 1.0;
    }
    Some(Document { seq: event.seq, length, frequencies })
}

/// The text of an event that is searched.
fn indexed_text(event: &LogEvent) -> Option<String> {
    let fields = event.fields();
    let stripped = |key: &str| {
        let text = fields.raw(key)?.as_str()?;
        Some(trim(text).to_owned()).filter(|text| !text.is_empty())
    };
    match event.kind.as_str() {
        "memory.reinforcement" => None,
        "document.indexed" => stripped("content"),
        "transcript.turn" => {
            let content = stripped("content")?;
            let role = stripped("role").unwrap_or_else(|| event.actor.clone());
            Some(format!("{role}: {content}"))
        }
        "llm.packet.projected" => stripped("summary"),
        _ if fields.members().is_empty() => None,
        _ => Some(python_spaced_sorted(&event.payload)),
    }
}

/// Runs of letters, digits and `_$./:-`, without punctuation around them, in lower case.
fn tokens(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_$./:-".contains(c);
    let punctuation = |c: char| ".,;!?()[]{}\"'`".contains(c);
    text.split(|c| !is_part(c))
        .map(|word| word.trim_matches(punctuation).to_ascii_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}
