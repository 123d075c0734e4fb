//! A language model that answers from a pack: what it is shown, and what is left of what it says.

use lamina_api::v1::answer::CitationBody;
use lamina_core::read::answer::verify::verify;
use lamina_core::read::prompt::{AuthorList, PromptTag, RecordAuthor};
use lamina_engine::read::recall::Recalled;
use lamina_engine::read::render::{belief_words, fact_words};
use lamina_models::llm::{Fault, Llm, Shown, Spent, Task};
use lamina_types::Micros;
use lamina_types::recall::Layer;

use super::told::Told;
use crate::http::handlers::recall::block::{authors_of, day};
use crate::http::handlers::recall::rounded;

/// Tokens of an answer, if nobody says how many.
const TOKENS: u64 = 1_024;

/// What a model is asked.
pub(super) struct Asked<'a> {
    pub(super) task: &'a str,
    pub(super) wishes: Option<String>,
    pub(super) tokens_max: Option<u64>,
    /// Markers begin with this.
    pub(super) prefix: &'static str,
}

/// What it said, held against the pack.
pub(super) struct Heard {
    pub(super) told: Told,
    pub(super) removed: Vec<String>,
    /// Tokens of the question and of the answer, if it says.
    pub(super) usage: Option<(u64, u64)>,
}

/// Asks the model. An error says what went wrong with it.
pub(super) async fn ask(llm: &Llm, asked: &Asked<'_>, recalled: &Recalled) -> Result<Heard, Fault> {
    let records = records(recalled, asked.prefix);
    let most = u64::from(llm.output_tokens_max());
    let tokens_max = asked.tokens_max.unwrap_or(TOKENS).min(most);
    let task = Task {
        task: asked.task.to_owned(),
        wishes: asked.wishes.clone(),
        records: records.iter().map(|record| record.shown.clone()).collect(),
        tokens_max: u32::try_from(tokens_max).unwrap_or(u32::MAX),
    };
    let words = llm.tell(&task).await;
    let usage = match words.spent {
        Spent::Tokens(usage) => Some((usage.input, usage.output)),
        Spent::Nothing | Spent::Unknown => None,
    };
    let said = words.said.map_err(|trouble| trouble.fault)?;
    let texts: Vec<String> = records
        .iter()
        .map(|record| format!("{} {} {}", record.shown.day, record.shown.who, record.shown.text))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let verified = verify(&said, asked.prefix, &texts);
    let citations = verified.cited.iter().filter_map(|(at, support)| {
        let record = records.get(*at)?;
        Some(CitationBody {
            marker: record.shown.marker.clone(),
            layer: record.layer.singular(),
            id: record.id.clone(),
            support_strength: rounded(*support),
        })
    });
    let told = Told { citations: citations.collect(), text: verified.text, is_unanswered: false };
    Ok(Heard { told, removed: verified.removed, usage })
}

/// A record of the pack.
struct Record {
    layer: Layer,
    id: String,
    shown: Shown,
}

/// What of a record a model is shown.
struct Pick<'a> {
    layer: Layer,
    id: String,
    at: Micros,
    tag: PromptTag,
    authors: &'a AuthorList,
    text: String,
}

fn records(recalled: &Recalled, prefix: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    let mut put = |pick: Pick<'_>| {
        let shown = Shown {
            marker: format!("[{prefix}{}]", records.len() + 1),
            day: day(pick.at),
            kind: pick.tag.as_str(),
            who: pick.authors.to_string(),
            text: pick.text,
        };
        records.push(Record { layer: pick.layer, id: pick.id, shown });
    };
    for event in recalled.events.iter().map(|found| &found.record) {
        put(Pick {
            layer: Layer::Events,
            id: event.id.to_string(),
            at: event.experience.context.observed_at.0,
            tag: PromptTag::of_event(event),
            authors: &RecordAuthor::of(event).into(),
            text: event.experience.content.text().to_owned(),
        });
    }
    for fact in recalled.facts.iter().map(|found| &found.record) {
        let id = fact.id.to_string();
        put(Pick {
            layer: Layer::Facts,
            at: fact.valid_from.map_or(fact.recorded_from.0, |at| at.0),
            tag: PromptTag::Fact,
            authors: authors_of(recalled, &id),
            id,
            text: fact_words(fact),
        });
    }
    for found in recalled.beliefs.iter().filter(|one| !recalled.refuted.contains(&one.record.id)) {
        let id = found.record.id.to_string();
        put(Pick {
            layer: Layer::Beliefs,
            at: found.record.valid_from.0,
            tag: PromptTag::Belief,
            authors: authors_of(recalled, &id),
            id,
            text: belief_words(&found.record),
        });
    }
    for episode in recalled.episodes.iter().map(|found| &found.record) {
        let Some(summary) = &episode.summary else { continue };
        let id = episode.id.to_string();
        put(Pick {
            layer: Layer::Episodes,
            at: episode.started.0,
            tag: PromptTag::Episode,
            authors: authors_of(recalled, &id),
            id,
            text: summary.clone(),
        });
    }
    records
}
