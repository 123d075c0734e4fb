//! The pack as text for a prompt. Clients take it apart again: memories are separated by lines of `---`,
//! and each begins with `[YYYY-MM-DD HH:MM UTC] [role]`.

use std::collections::HashSet;

use lamina_api::time;
use lamina_engine::read::beliefs::Ground;
use lamina_engine::read::facts::FactRecord;
use lamina_engine::read::recall::{Recalled, belief_words, fact_words};
use lamina_types::recall::CitationMode;
use lamina_types::{Content, EventId, EventRecord, FactId, Micros};

const SEPARATOR: &str = "\n---\n";
/// A belief that is less sure is told beside what it doubts.
const DOUBTED_BELOW: f64 = 0.5;

/// One memory: what it is, and which record says so.
struct Piece {
    text: String,
    id: String,
}

/// The records as text, the best first: events, then what is known and believed as far as it says something else, and
/// last, marked as `standing`, what applies whatever is asked.
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

fn pieces(recalled: &Recalled) -> Vec<Piece> {
    let mut told = Told::default();
    let mut pieces = Vec::new();
    let applies: HashSet<EventId> = recalled.standing.iter().map(|one| one.id).collect();
    let all_apply = |events: &[EventId]| {
        !events.is_empty() && events.iter().all(|event| applies.contains(event))
    };
    for found in recalled.events.iter().filter(|found| !applies.contains(&found.record.id)) {
        told.adds(found.record.experience.content.text());
        let text = said(&found.record);
        pieces.push(Piece { text, id: found.record.id.to_string() });
    }
    // What only says what applies anyway.
    let mut applied: HashSet<FactId> = HashSet::new();
    for found in &recalled.facts {
        if all_apply(&found.record.supports) {
            applied.insert(found.record.id);
            continue;
        }
        let words = fact_words(&found.record);
        if told.adds(&words) {
            let at = found.record.valid_from.map_or(found.record.recorded_from.0, |at| at.0);
            let words = format!("{words}{}", until(&found.record, recalled.recorded.0));
            let text = line(at, "fact", &words);
            pieces.push(Piece { text, id: found.record.id.to_string() });
        }
    }
    // What the evidence is against is in its layer, and not told as if it were so.
    for found in recalled.beliefs.iter().filter(|one| !recalled.refuted.contains(&one.record.id)) {
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
            let text =
                line(found.record.valid_from.0, "belief", &format!("{words} ({sure}% sure)"));
            pieces.push(Piece { text, id: found.record.id.to_string() });
        }
    }
    wider(recalled, &applies, &mut told, &mut pieces);
    // Nothing that answers is nothing to be put into a prompt.
    let derived = recalled.facts.len() + recalled.beliefs.len() + recalled.episodes.len();
    if !pieces.is_empty() || derived > 0 {
        for applies in &recalled.standing {
            let text = line(applies.observed_at.0, "standing", &applies.text);
            pieces.push(Piece { text, id: applies.id.to_string() });
        }
    }
    pieces
}

/// Episodes and concepts.
fn wider(
    recalled: &Recalled,
    applies: &HashSet<EventId>,
    told: &mut Told,
    pieces: &mut Vec<Piece>,
) {
    let all_apply = |events: &[EventId]| {
        !events.is_empty() && events.iter().all(|event| applies.contains(event))
    };
    for found in &recalled.episodes {
        let Some(summary) = &found.record.summary else { continue };
        if !all_apply(&found.record.events) && told.adds(summary) {
            let text = line(found.record.started.0, "episode", summary);
            pieces.push(Piece { text, id: found.record.id.to_string() });
        }
    }
    for found in &recalled.concepts {
        let Some(summary) = &found.record.summary else { continue };
        let text = line(found.record.valid_from.0, "concept", summary);
        pieces.push(Piece { text, id: found.record.id.to_string() });
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

/// An event as it is shown to a model.
fn said(event: &EventRecord) -> String {
    let experience = &event.experience;
    let role = match &experience.content {
        Content::Message { role, .. } => role.as_str(),
        _ => experience.modality.as_str(),
    };
    let actor = experience.observed_actor.id.as_str();
    let tag = match actor == event.caller.as_str() {
        true => role.to_owned(),
        // Other tags than the first two are dropped by those who take the text apart.
        false => format!("{role}] [{actor}"),
    };
    line(experience.context.observed_at.0, &tag, experience.content.text())
}

fn line(at: Micros, tag: &str, text: &str) -> String {
    let date = time::print(at);
    let (day, clock) = date.split_once('T').unwrap_or((date.as_str(), ""));
    let clock = clock.get(..5).unwrap_or("00:00");
    // A line of the text that looks like the separator would end the memory.
    let text = text.trim().replace("\n---", "\n- - -");
    format!("[{day} {clock} UTC] [{tag}] {text}")
}

/// The events as a story: in the order in which they happened, each with its day.
pub(super) fn story(recalled: &Recalled) -> String {
    let mut events: Vec<&EventRecord> = recalled.events.iter().map(|found| &found.record).collect();
    events.sort_by_key(|event| event.experience.context.observed_at);
    let mut day = String::new();
    let mut story: Vec<String> = Vec::new();
    for event in events {
        let date = time::print(event.experience.context.observed_at.0);
        let date = date.get(..10).unwrap_or_default().to_owned();
        let actor = event.experience.observed_actor.id.as_str();
        let name = actor.split_once(':').map_or(actor, |(_, name)| name);
        let text = event.experience.content.text().trim();
        let sentence = format!("{name}: \u{201c}{text}\u{201d}");
        if date == day {
            story.push(sentence);
        } else {
            story.push(format!("On {date}, {sentence}"));
            day = date;
        }
    }
    story.join(" ")
}

#[cfg(test)]
mod tests;
