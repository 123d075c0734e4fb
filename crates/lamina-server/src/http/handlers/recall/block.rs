//! The pack as text for a prompt. Clients take it apart again: records are separated by lines of `---`, and each
//! begins with `[YYYY-MM-DD HH:MM UTC] [tag] [actor]`. What keeps stored text from forging either is in
//! `lamina-core/read/prompt`.

use std::collections::HashSet;

use lamina_api::time;
use lamina_core::read::prompt::{
    AuthorList, PromptTag, RecordAuthor, RecordHeader, SEPARATOR, quote_inline, render_record,
};
use lamina_engine::read::beliefs::Ground;
use lamina_engine::read::facts::FactRecord;
use lamina_engine::read::recall::Recalled;
use lamina_engine::read::render::{belief_words, fact_words};
use lamina_types::recall::CitationMode;
use lamina_types::{EventId, EventRecord, FactId, Micros};

/// A belief that is less sure is told beside what it doubts.
const DOUBTED_BELOW: f64 = 0.5;

/// Events that the text of a pack always has, and those that it has at most if nobody asks for a size.
const BLOCK_EVENTS_MIN: usize = 5;
const BLOCK_EVENTS_MAX: usize = 10;
/// An event beyond the first that scores less than this beside the best is left to its layer.
const BLOCK_SCORE_MIN: f64 = 0.6;
/// Facts of the text that no event in it says in these words.
const BLOCK_DERIVED_MAX: usize = 4;

/// One memory: what it is, and which record says so.
struct Piece {
    text: String,
    id: String,
}

/// The records as text, the best first: events, then what is known and believed as far as it says something else, then
/// the profile of the person who asks, and last, marked as `standing`, what applies whatever is asked.
pub(in crate::http::handlers) fn of(recalled: &Recalled, citations: CitationMode) -> String {
    let pieces = pieces(recalled);
    let sources = (citations == CitationMode::BlockAtEnd && !pieces.is_empty()).then(|| {
        let list =
            pieces.iter().enumerate().map(|(at, piece)| format!("[{}] {}", at + 1, piece.id));
        format!("Sources:\n{}", list.collect::<Vec<_>>().join("\n"))
    });
    let mark = |(at, piece): (usize, Piece)| match citations {
        CitationMode::InlineWithMarkers => format!("{} [{}]", piece.text, at + 1),
        _ => piece.text,
    };
    let texts = pieces.into_iter().enumerate().map(mark).chain(sources);
    texts.collect::<Vec<String>>().join(SEPARATOR)
}

/// How many records of each layer the text of a pack has. A pack of a size that was asked for is told whole.
struct BlockCut {
    events: usize,
    facts: usize,
    beliefs: usize,
    wider: usize,
}

impl BlockCut {
    fn of(recalled: &Recalled) -> BlockCut {
        if !recalled.is_usual_size || recalled.events.len() <= BLOCK_EVENTS_MIN {
            let all = usize::MAX;
            return BlockCut { events: all, facts: all, beliefs: all, wider: all };
        }
        // The best is 1.
        let near = recalled.events.iter().take_while(|found| found.score >= BLOCK_SCORE_MIN);
        let events = near.count().clamp(BLOCK_EVENTS_MIN, BLOCK_EVENTS_MAX);
        BlockCut { events, facts: BLOCK_DERIVED_MAX, beliefs: 1, wider: 1 }
    }
}

fn pieces(recalled: &Recalled) -> Vec<Piece> {
    let cut = BlockCut::of(recalled);
    let mut told = Told::default();
    let mut pieces = Vec::new();
    let applies: HashSet<EventId> = recalled.standing.iter().map(|one| one.id).collect();
    let events = recalled.events.iter().filter(|found| !applies.contains(&found.record.id));
    for found in events.take(cut.events) {
        told.adds(found.record.experience.content.text());
        let event = &found.record;
        let at = event.experience.context.observed_at.0;
        let authors = RecordAuthor::of(event).into();
        let tag = PromptTag::of_event(event);
        let is_closest = recalled.is_below_floor();
        let header = RecordHeader { minute: "", tag, authors: &authors, is_closest };
        let text = render(at, header, event.experience.content.text());
        pieces.push(Piece { text, id: event.id.to_string() });
    }
    let applied = facts((recalled, &cut), &applies, &mut told, &mut pieces);
    // What the evidence is against is in its layer, and not told as if it were so.
    let held = recalled.beliefs.iter().filter(|one| !recalled.refuted.contains(&one.record.id));
    for found in held.take(cut.beliefs) {
        let is_applied = |ground: &Ground| match ground {
            Ground::Fact(fact) => applied.contains(fact),
            Ground::Event(event) => applies.contains(event),
        };
        let mut grounds = found.record.supports.iter().map(|support| &support.id).peekable();
        if grounds.peek().is_some() && grounds.all(is_applied) {
            continue;
        }
        let words = belief_words(&found.record);
        let confidence = found.record.shown.confidence;
        // That something is doubted was not said before, whoever said it.
        if told.adds(&words) || confidence < DOUBTED_BELOW {
            let sure = (confidence * 100.0).round();
            let words = match found.record.is_unsupported() {
                true => format!("{words} ({sure}% sure, declared without support)"),
                false => format!("{words} ({sure}% sure)"),
            };
            let (at, id) = (found.record.valid_from.0, found.record.id.to_string());
            let text = record(at, PromptTag::Belief, authors_of(recalled, &id), &words);
            pieces.push(Piece { text, id });
        }
    }
    wider((recalled, &cut), &applies, &mut told, &mut pieces);
    for fact in &recalled.profile {
        let words = fact_words(fact);
        if told.adds(&words) {
            let at = fact.valid_from.map_or(fact.recorded_from.0, |at| at.0);
            let id = fact.id.to_string();
            let text = record(at, PromptTag::Fact, authors_of(recalled, &id), &words);
            pieces.push(Piece { text, id });
        }
    }
    for applies in &recalled.standing {
        let authors = applies.author.clone().into();
        let text = record(applies.observed_at.0, PromptTag::Standing, &authors, &applies.text);
        pieces.push(Piece { text, id: applies.id.to_string() });
    }
    pieces
}

/// Adds what is known, as far as it says something else, and gives the facts that only say what applies anyway.
fn facts(
    (recalled, cut): (&Recalled, &BlockCut),
    applies: &HashSet<EventId>,
    told: &mut Told,
    pieces: &mut Vec<Piece>,
) -> HashSet<FactId> {
    let mut applied: HashSet<FactId> = HashSet::new();
    let mut facts_told = 0;
    for found in &recalled.facts {
        let supports = &found.record.supports;
        if !supports.is_empty() && supports.iter().all(|event| applies.contains(event)) {
            applied.insert(found.record.id);
            continue;
        }
        let words = fact_words(&found.record);
        if facts_told < cut.facts && told.adds(&words) {
            let at = found.record.valid_from.map_or(found.record.recorded_from.0, |at| at.0);
            let words = format!("{words}{}", until(&found.record, recalled.recorded.0));
            let id = found.record.id.to_string();
            let text = record(at, PromptTag::Fact, authors_of(recalled, &id), &words);
            pieces.push(Piece { text, id });
            facts_told += 1;
        }
    }
    applied
}

/// Episodes and concepts.
fn wider(
    (recalled, cut): (&Recalled, &BlockCut),
    applies: &HashSet<EventId>,
    told: &mut Told,
    pieces: &mut Vec<Piece>,
) {
    let all_apply = |events: &[EventId]| {
        !events.is_empty() && events.iter().all(|event| applies.contains(event))
    };
    for found in recalled.episodes.iter().take(cut.wider) {
        let Some(summary) = &found.record.summary else { continue };
        if !all_apply(&found.record.events) && told.adds(summary) {
            let (at, id) = (found.record.started.0, found.record.id.to_string());
            let text = record(at, PromptTag::Episode, authors_of(recalled, &id), summary);
            pieces.push(Piece { text, id });
        }
    }
    for found in recalled.concepts.iter().take(cut.wider) {
        let Some(summary) = &found.record.summary else { continue };
        let (at, id) = (found.record.valid_from.0, found.record.id.to_string());
        let text = record(at, PromptTag::Concept, authors_of(recalled, &id), summary);
        pieces.push(Piece { text, id });
    }
}

/// What is over is not told as if it were so.
fn until(fact: &FactRecord, now: Micros) -> String {
    match fact.valid_to.filter(|to| to.0 <= now).map(|to| time::print(to.0)) {
        Some(to) => format!(" (until {})", to.get(..10).unwrap_or_default()),
        None if fact.recorded_to.is_some() => " (superseded)".to_owned(),
        None => String::new(),
    }
}

/// The sentences that a block has so far: what says nothing else is not repeated.
#[derive(Debug, Default)]
struct Told(HashSet<String>);

impl Told {
    /// Takes the sentences of a text, and says whether one of them was not there.
    fn adds(&mut self, text: &str) -> bool {
        let mut is_new = false;
        for sentence in text.split(['.', '!', '?', '\n']) {
            let mut words = String::with_capacity(sentence.len());
            for c in sentence.chars() {
                match c.is_alphanumeric() {
                    true => words.extend(c.to_lowercase()),
                    false if words.is_empty() || words.ends_with(' ') => {}
                    false => words.push(' '),
                }
            }
            words.truncate(words.trim_end().len());
            is_new |= !words.is_empty() && self.0.insert(words);
        }
        is_new
    }
}

/// The authors of a derived record of a pack.
pub(in crate::http::handlers) fn authors_of<'a>(
    recalled: &'a Recalled,
    id: &str,
) -> &'a AuthorList {
    static NOBODY: AuthorList = AuthorList::nobody();
    recalled.authors.get(id).unwrap_or(&NOBODY)
}

/// A record as it stands in the block.
fn record(at: Micros, tag: PromptTag, authors: &AuthorList, text: &str) -> String {
    render(at, RecordHeader { minute: "", tag, authors, is_closest: false }, text)
}

fn render(at: Micros, header: RecordHeader<'_>, text: &str) -> String {
    let date = time::print(at);
    let (day, clock) = date.split_once('T').unwrap_or((date.as_str(), ""));
    let clock = clock.get(..5).unwrap_or("00:00");
    let minute = format!("{day} {clock}");
    render_record(RecordHeader { minute: &minute, ..header }, text)
}

/// The events as a story: in the order in which they happened, each on a line of its own with its day and its author.
pub(super) fn story(recalled: &Recalled) -> String {
    if recalled.is_below_floor() {
        // The closest there is makes no story.
        return String::new();
    }
    let mut events: Vec<&EventRecord> = recalled.events.iter().map(|found| &found.record).collect();
    events.sort_by_key(|event| event.experience.context.observed_at);
    let told = events.iter().map(|event| {
        let authors = RecordAuthor::of(event).into();
        let at = event.experience.context.observed_at.0;
        let text = quote_inline(event.experience.content.text());
        let speaker = speaker(PromptTag::of_event(event), &authors);
        format!("On {}, {speaker}: \u{201c}{text}\u{201d}", day(at))
    });
    told.collect::<Vec<String>>().join("\n")
}

/// The day of an instant.
pub(in crate::http::handlers) fn day(at: Micros) -> String {
    time::print(at).get(..10).unwrap_or_default().to_owned()
}

/// Who speaks, in a sentence: a message that is no person's says so.
pub(in crate::http::handlers) fn speaker(tag: PromptTag, authors: &AuthorList) -> String {
    match tag {
        PromptTag::Assistant | PromptTag::Tool | PromptTag::System | PromptTag::Note => {
            format!("{authors} ({})", tag.as_str())
        }
        _ => authors.to_string(),
    }
}

#[cfg(test)]
mod tests;
