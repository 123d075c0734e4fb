//! Quotes as a document: under the headings that are asked for, or by the month.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_api::time;
use lamina_api::v1::answer::Composition;
use lamina_core::read::tokens::estimate;
use lamina_engine::Engine;
use lamina_engine::read::answer::Quote;
use lamina_engine::read::recall::Recalled;

use super::told::{Sources, Told, line};
use crate::http::failure::Failure;

/// Sentences under one heading.
const SECTION_MAX: usize = 8;
/// Sentences of a document without headings.
const SENTENCES_MAX: usize = 200;
/// What stands under a heading of which nothing is known.
const INSUFFICIENT: &str = "_Nothing that was recalled speaks of this._";

/// Writes the document, as long as it may be.
pub(super) async fn write(
    engine: &Engine,
    wanted: &Composition,
    recalled: &Arc<Recalled>,
) -> Result<Told, Failure> {
    let brief = &wanted.answering.question;
    let mut page = Page::new(wanted, brief);
    if wanted.structure.is_empty() {
        let all = engine.quote_history(brief.clone(), Arc::clone(recalled), SENTENCES_MAX).await?;
        let mut quotes = all.considered_or_answering();
        quotes.sort_by_key(|quote| quote.at);
        page.months(&quotes);
    }
    for heading in &wanted.structure {
        let question = format!("{heading} {brief}");
        let quotes = engine.quote_history(question, Arc::clone(recalled), SECTION_MAX).await?;
        let own = engine.quote_history(heading.clone(), Arc::clone(recalled), SECTION_MAX).await?;
        let found = if own.answering.is_empty() { quotes.answering } else { own.answering };
        page.section(heading, &found);
    }
    Ok(page.done())
}

/// A document under way.
struct Page {
    text: String,
    sources: Sources,
    seen: BTreeSet<String>,
    tokens: u64,
    most: u64,
    cites: bool,
}

impl Page {
    fn new(wanted: &Composition, brief: &str) -> Page {
        let text = format!("# {}\n", brief.lines().next().unwrap_or_default());
        Page {
            tokens: estimate(&text),
            text,
            sources: Sources::new("S"),
            seen: BTreeSet::new(),
            most: wanted.tokens_max,
            cites: wanted.cites,
        }
    }

    /// One heading and what is known under it.
    fn section(&mut self, heading: &str, quotes: &[Quote]) {
        self.put(&format!("\n## {heading}\n\n"));
        let before = self.sources.citations.len();
        for quote in quotes {
            self.quote(quote);
        }
        if self.sources.citations.len() == before && quotes.is_empty() {
            self.put(&format!("{INSUFFICIENT}\n"));
        }
    }

    /// What happened, month by month.
    fn months(&mut self, quotes: &[Quote]) {
        if quotes.is_empty() {
            self.put(&format!("\n{INSUFFICIENT}\n"));
        }
        let mut current = String::new();
        for quote in quotes {
            let month = time::print(quote.at).get(..7).unwrap_or_default().to_owned();
            if month != current {
                if !self.put(&format!("\n## {month}\n\n")) {
                    return;
                }
                current = month;
            }
            self.quote(quote);
        }
    }

    fn quote(&mut self, quote: &Quote) {
        if !self.seen.insert(quote.text.clone()) {
            return;
        }
        let line = line(quote);
        if self.tokens + estimate(&line) + 4 > self.most {
            return;
        }
        let marker =
            if self.cites { format!(" {}", self.sources.mark(quote)) } else { String::new() };
        self.put(&format!("- {line}{marker}\n"));
    }

    /// Adds a piece, if it fits.
    fn put(&mut self, piece: &str) -> bool {
        let cost = estimate(piece);
        let fits = self.tokens + cost <= self.most;
        if fits {
            self.tokens += cost;
            self.text.push_str(piece);
        }
        fits
    }

    fn done(mut self) -> Told {
        if self.cites && !self.sources.citations.is_empty() {
            self.text.push_str("\n## Sources\n\n");
            self.text.push_str(&self.sources.list().replace('\n', "  \n"));
            self.text.push('\n');
        }
        Told { text: self.text, citations: self.sources.citations, is_unanswered: false }
    }
}
