//! What of an event can be found: its words, who spoke, when, under which labels.

use std::borrow::Cow;

use lamina_index::{Document, LabelHash, Layer, Part, Vector};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::entry::Entry;
use lamina_store::view::EventFacets;
use lamina_types::Content;

use crate::derive::answer;

/// A text longer than this is found in parts.
const PART_BYTES_MAX: usize = 1_200;
/// Parts of one event; what comes after them is found with the last.
const PARTS_MAX: usize = 1_024;

/// Telemetry of programs: it answers nothing, and many alike would crowd out what does.
const TELEMETRY: &str = "telemetry";

/// An event as it can be found; `None` once its words are gone, and for telemetry.
pub(crate) fn of_event(
    entry: &Entry,
    facets: &EventFacets,
    meaning: &dyn Fn(&str) -> Option<Vector>,
) -> Option<Document> {
    let what = ExperienceWhat::decode(entry.what.live()?).ok()?;
    let who = ExperienceWho::decode(entry.who.live()?).ok()?;
    if what.modality.as_str() == TELEMETRY || answer::is_telemetry_event(&what.content) {
        return None;
    }
    let speaker = speaker(who.observed_actor.id.as_str());
    let part = |text: &str| {
        let said = match speaker.is_empty() {
            true => text.to_owned(),
            false => format!("{speaker}: {text}"),
        };
        Part { vector: meaning(&said), text: said }
    };
    Some(Document {
        layer: Layer::Event,
        id: *entry.head.event_id().as_bytes(),
        parts: parts(&readable(&what.content)).into_iter().map(part).collect(),
        scope: what.scope,
        offset: entry.head.offset,
        recorded: entry.head.recorded_at,
        valid_from: facets.observed_at,
        valid_until: Some(facets.observed_at),
        labels: facets.tags.iter().map(label_of).collect(),
    })
}

/// The keyed hash of a label, as the index keeps it.
pub(crate) fn label_of(tag: &lamina_store::view::Tag) -> LabelHash {
    let (first, _) = tag.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    LabelHash(u64::from_le_bytes(*first))
}

/// What can be read of a content: of JSON its texts, without the marks around them.
pub(crate) fn readable(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Json { data, .. } => Cow::Owned(plain(data)),
        Content::Triple { triple, .. } => Cow::Owned(plain(triple)),
        other => Cow::Borrowed(other.text()),
    }
}

/// JSON as words: marks of the notation become spaces.
fn plain(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut escaped = false;
    for c in json.chars() {
        match c {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            'n' | 'r' | 't' if escaped => plain.push(' '),
            '{' | '}' | '[' | ']' | '"' if !escaped => plain.push(' '),
            c => plain.push(c),
        }
        escaped = false;
    }
    plain
}

/// The name of an actor as words; nothing for those that name nobody in particular.
pub(crate) fn speaker(actor: &str) -> String {
    const NOBODY: &[&str] =
        &["default", "local", "user", "assistant", "agent", "system", "tool", "me"];
    let name = actor.split_once(':').map_or(actor, |(_, name)| name);
    let name = name.split('@').next().unwrap_or(name);
    if NOBODY.contains(&name) {
        return String::new();
    }
    let words = name.split(['_', '-', '.', '+']).filter(|word| {
        // Numbers and hashes are no names.
        !word.is_empty() && !word.bytes().any(|c| c.is_ascii_digit())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Cuts a long text where a paragraph, a line or a sentence ends, or between words.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > PART_BYTES_MAX && parts.len() + 1 < PARTS_MAX {
        let cut = cut(rest);
        let (part, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        parts.push(part.trim());
        rest = after;
    }
    parts.push(rest.trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where a text is cut: as late as it may be, at the best kind of end.
fn cut(text: &str) -> usize {
    let mut limit = PART_BYTES_MAX;
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let head = text.get(..limit).unwrap_or(text);
    let late = limit / 3;
    let end_of = |mark: &str| head.rfind(mark).map(|at| at + mark.len()).filter(|at| *at > late);
    end_of("\n\n")
        .or_else(|| end_of("\n"))
        .or_else(|| end_of(". "))
        .or_else(|| end_of("\u{3002}"))
        .or_else(|| end_of(" "))
        .unwrap_or(limit)
}

#[cfg(test)]
mod tests;
