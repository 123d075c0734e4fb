//! The part of a long text that has to do with a question, as long as it may be.

use std::collections::BTreeSet;

use crate::read::answer::cut;
use crate::read::tokens::estimate;
use crate::read::words::{is_empty_word, stem, words};

/// The bytes of a text around the sentence that has most of the question, in as many tokens as it may have; the whole
/// text if that fits. `None` if not even a word does.
pub fn excerpt(text: &str, question: &str, tokens_max: u64) -> Option<(usize, usize)> {
    if estimate(text) <= tokens_max {
        return Some((0, text.len()));
    }
    let spans = sentences(text);
    let asked = matter(question);
    let meets = |span: &(usize, usize)| {
        let said = text.get(span.0..span.1).map(matter).unwrap_or_default();
        said.intersection(&asked).count()
    };
    let most = spans.iter().map(meets).max().unwrap_or(0);
    let best = spans.iter().position(|span| meets(span) == most)?;
    let fits = |from: usize, to: usize| {
        text.get(from..to).is_some_and(|part| estimate(part) <= tokens_max)
    };
    let (mut first, mut last) = (best, best);
    let (start, end) = *spans.get(best)?;
    if !fits(start, end) {
        return shortened(text, start, end, tokens_max);
    }
    let (mut from, mut to) = (start, end);
    loop {
        let after = spans.get(last + 1).filter(|next| fits(from, next.1));
        let before = first.checked_sub(1).and_then(|at| spans.get(at));
        match (after, before.filter(|next| fits(next.0, to))) {
            (Some(next), _) => (last, to) = (last + 1, next.1),
            (None, Some(next)) => (first, from) = (first - 1, next.0),
            (None, None) => return Some((from, to)),
        }
    }
}

/// Which of some texts has most of a question: the first, if several do.
pub fn nearest(texts: &[&str], question: &str) -> usize {
    if texts.len() <= 1 {
        return 0;
    }
    let asked = matter(question);
    let meets = texts.iter().map(|text| matter(text).intersection(&asked).count());
    let mut best = (0, 0);
    for (at, meets) in meets.enumerate() {
        if meets > best.1 {
            best = (at, meets);
        }
    }
    best.0
}

/// The beginning of a sentence that is too long, between words.
fn shortened(text: &str, start: usize, end: usize, tokens_max: u64) -> Option<(usize, usize)> {
    let sentence = text.get(start..end)?;
    let breaks = sentence.char_indices().filter(|(_, c)| c.is_whitespace()).map(|(at, _)| at);
    let breaks: Vec<usize> = breaks.collect();
    let fits = |at: &usize| sentence.get(..*at).is_some_and(|part| estimate(part) <= tokens_max);
    let words = breaks.partition_point(fits);
    let cut = breaks.get(words.checked_sub(1)?).copied()?;
    (cut > 0).then_some((start, start + cut))
}

fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut from = 0;
    for sentence in cut(text) {
        let Some(at) = text.get(from..).and_then(|rest| rest.find(sentence)) else { continue };
        spans.push((from + at, from + at + sentence.len()));
        from += at + sentence.len();
    }
    spans
}

fn matter(text: &str) -> BTreeSet<String> {
    words(text).iter().filter(|word| !is_empty_word(word)).map(|word| stem(word)).collect()
}

#[cfg(test)]
mod tests;
