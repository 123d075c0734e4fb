//! Which words of an event a checkout quotes: sentences that say something, still stand and fit the question.

use std::collections::BTreeSet;

use super::line;
use crate::read::answer::{Said, sentences};
use crate::read::words::{is_empty_word, stem, words};
use crate::write::injected::blank;

/// Characters of one quotation.
const CHARS_MAX: usize = 220;

/// The words of an event, and what of them is not to be told.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// The words.
    pub text: &'a str,
    /// Bytes of claims that are over.
    pub over: &'a [(usize, usize)],
    /// Texts that are told elsewhere, such as an instruction in its own section.
    pub told: &'a [&'a str],
}

/// A quotation, and how many sentences were passed over because what they claim is over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quotation {
    /// The sentences, in their order; empty if there is nothing to quote.
    pub text: String,
    /// Sentences whose claims are over.
    pub superseded: usize,
}

/// Quotes what of an event fits a question. Questions are no statements. What was injected into a prompt is nobody's
/// statement.
pub fn quote(spoken: &Spoken<'_>, question: &str) -> Quotation {
    let clean = blank(spoken.text);
    let said = Said {
        text: &clean,
        speaker: "",
        score: 0.0,
        after: None,
        known: Vec::new(),
        claims: Vec::new(),
        at: 0,
        in_lines: false,
        is_asker: false,
    };
    let asked = stems(question);
    let mut quotation = Quotation::default();
    let mut fitting: Vec<(usize, usize, &str)> = Vec::new();
    let said = [said];
    for (place, sentence) in sentences(&said).into_iter().enumerate() {
        let (start, end) = (sentence.start, sentence.start + sentence.text.len());
        if spoken.over.iter().any(|(from, to)| *from < end && start < *to) {
            quotation.superseded += 1;
            continue;
        }
        let asks = sentence.text.trim_end().ends_with(['?', '\u{ff1f}']);
        let is_told = spoken.told.iter().any(|told| told.contains(sentence.text));
        if !asks && !is_told && !is_markup(sentence.text) {
            let shared = stems(sentence.text).intersection(&asked).count();
            fitting.push((shared, place, sentence.text));
        }
    }
    // The best first, of equals the earlier.
    fitting.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let best = fitting.first().map_or(0, |(shared, ..)| *shared);
    let mut chars = 0;
    let mut chosen: Vec<(usize, &str)> = Vec::new();
    for (shared, place, text) in fitting {
        let length = text.chars().count();
        // Beside a sentence with words of the question, one without any is chance.
        let fits = chosen.is_empty() || (chars + length <= CHARS_MAX && (shared > 0 || best == 0));
        if fits {
            chars += length;
            chosen.push((place, text));
        }
    }
    chosen.sort_unstable();
    let texts: Vec<&str> = chosen.into_iter().map(|(_, text)| text).collect();
    quotation.text = line(&texts.join(" "), CHARS_MAX);
    quotation
}

/// Whether a sentence is a piece of a document, with braces or quotes where words should begin.
fn is_markup(sentence: &str) -> bool {
    sentence.trim_start().starts_with(['{', '[', '}', ']']) || sentence.contains("\":")
}

fn stems(text: &str) -> BTreeSet<String> {
    words(text).iter().filter(|word| !is_empty_word(word)).map(|word| stem(word)).collect()
}
