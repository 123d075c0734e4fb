//! A chain of facts as an answer: its value first, then every hop with the event that says it.

use lamina_core::read::prompt::quote_inline;
use lamina_engine::read::recall::{FactChain, HopRecord};
use lamina_types::recall::{CitationMode, Layer};

use super::told::{Sources, Told};

/// Tells a chain: the answer, both sides of a conflict, or which hop is missing.
pub(super) fn tell(chain: &FactChain, mode: CitationMode) -> Told {
    let mut sources = Sources::new("");
    let mut text = match (chain.missing.is_empty(), chain.branches.is_empty()) {
        (false, _) => missing(chain, mode, &mut sources),
        (true, false) => disputed(chain, mode, &mut sources),
        (true, true) => {
            let value = chain.hops.last().map(|hop| hop.value.clone()).unwrap_or_default();
            let hops = hops(&chain.hops, chain.coverage, mode, &mut sources);
            format!("{}: {hops}.", quote_inline(&value))
        }
    };
    if mode == CitationMode::BlockAtEnd {
        text.push_str("\n\nSources:\n");
        text.push_str(&sources.list());
    }
    Told { text, citations: sources.citations, is_unanswered: !chain.answers() }
}

/// The hops in words, each with the marker of its event.
fn hops(hops: &[HopRecord], coverage: f64, mode: CitationMode, sources: &mut Sources) -> String {
    let told = hops.iter().map(|hop| {
        let words = quote_inline(&hop.words);
        match (cite(hop, coverage, sources), mode) {
            (Some(marker), CitationMode::InlineWithMarkers) => format!("{words} {marker}"),
            _ => words,
        }
    });
    told.collect::<Vec<String>>().join("; ")
}

fn missing(chain: &FactChain, mode: CitationMode, sources: &mut Sources) -> String {
    let words: Vec<String> = chain.missing.iter().map(|word| quote_inline(word)).collect();
    let last = chain.hops.last().map(|hop| hop.value.clone()).unwrap_or_default();
    let known = hops(&chain.hops, chain.coverage, mode, sources);
    format!(
        "I do not know: {known}, and nothing that is known of {} says \u{201c}{}\u{201d}.",
        quote_inline(&last),
        words.join(" "),
    )
}

fn disputed(chain: &FactChain, mode: CitationMode, sources: &mut Sources) -> String {
    let branches = chain.branches.iter().map(|branch| {
        let value = branch.last().map(|hop| hop.value.clone()).unwrap_or_default();
        let hops = hops(branch, chain.coverage, mode, sources);
        format!("{}: {hops}.", quote_inline(&value))
    });
    let branches: Vec<String> = branches.collect();
    format!("I do not know: sources disagree on a hop.\n{}", branches.join("\n"))
}

/// The marker of the event that says a hop.
fn cite(hop: &HopRecord, coverage: f64, sources: &mut Sources) -> Option<String> {
    let id = hop.event?.to_string();
    Some(sources.mark_record(Layer::Events, id, coverage))
}
