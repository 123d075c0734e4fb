//! LoCoMo: a list of conversations between two people, in dated sessions; evidence is turns.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::anyhow;
use lamina_env::Disk;
use serde_json::Value;

use super::{Conversation, Question, Record, actor, date, json, list, text, turn};

/// Questions that are built to have no answer.
const ADVERSARIAL: u64 = 5;

pub(super) fn read(
    disk: &dyn Disk,
    path: &Path,
    corrections: Option<&Path>,
) -> anyhow::Result<Vec<Conversation>> {
    let corrected = match corrections {
        Some(path) => corrected(&json(disk, path)?),
        None => HashMap::new(),
    };
    let set = json(disk, path)?;
    let samples = set.as_array().ok_or_else(|| anyhow!("it is not a list"))?;
    samples.iter().map(|sample| conversation(sample, &corrected)).collect()
}

/// Evidence that was found wrong and put right, by question.
type Corrected = HashMap<String, BTreeSet<String>>;

/// By the text of the question: corrections count conversations in the full set, of which this file
/// may be a part.
fn corrected(value: &Value) -> Corrected {
    let mut corrected = HashMap::new();
    for item in value.as_array().into_iter().flatten() {
        let evidence = item.get("correct_evidence").map(turns).unwrap_or_default();
        if let Some(question) = item.get("question").and_then(Value::as_str)
            && !evidence.is_empty()
        {
            corrected.insert(question.to_owned(), evidence);
        }
    }
    corrected
}

fn conversation(sample: &Value, corrected: &Corrected) -> anyhow::Result<Conversation> {
    let talk = sample.get("conversation").ok_or_else(|| anyhow!("`conversation` is missing"))?;
    let mut records = Vec::new();
    let fields = talk.as_object().ok_or_else(|| anyhow!("`conversation` is not an object"))?;
    let numbers = fields.keys().filter_map(|key| key.strip_prefix("session_")?.parse::<u32>().ok());
    let sessions: BTreeSet<u32> = numbers.collect();
    for number in sessions {
        let session = format!("session_{number}");
        let began =
            date("%I:%M %p on %d %B, %Y", text(talk, &format!("session_{number}_date_time"))?)?;
        for (place, said) in list(talk, &session)?.iter().enumerate() {
            let mut words = text(said, "text")?.to_owned();
            if let Some(caption) = said.get("blip_caption").and_then(Value::as_str) {
                words.push_str(&format!(" [shares {caption}]"));
            }
            records.push(Record {
                unit: text(said, "dia_id")?.to_owned(),
                session: Some(session.clone()),
                actor: actor(text(said, "speaker")?),
                role: "user".to_owned(),
                at: turn(began, place)?,
                text: words,
            });
        }
    }
    let known: BTreeSet<&str> = records.iter().map(|record| record.unit.as_str()).collect();
    let mut questions = Vec::new();
    for asked in list(sample, "qa")? {
        let category = asked.get("category").and_then(Value::as_u64).unwrap_or_default();
        let words = text(asked, "question")?;
        let own = || asked.get("evidence").map(turns).unwrap_or_default();
        let mut evidence = corrected.get(words).cloned().unwrap_or_else(own);
        evidence.retain(|unit| known.contains(unit.as_str()));
        let adversarial = category == ADVERSARIAL;
        if evidence.is_empty() && !adversarial {
            continue;
        }
        questions.push(Question {
            text: words.to_owned(),
            category: named(category),
            evidence: if adversarial { BTreeSet::new() } else { evidence },
            ..Question::default()
        });
    }
    Ok(Conversation { name: text(sample, "sample_id")?.to_owned(), records, questions })
}

fn named(category: u64) -> String {
    match category {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        ADVERSARIAL => "adversarial",
        _ => "other",
    }
    .to_owned()
}

/// Turns are named like `D3:14`, sometimes several in one text.
fn turns(value: &Value) -> BTreeSet<String> {
    let whole = |part: &&str| {
        let rest = part.strip_prefix('D').and_then(|rest| rest.split_once(':'));
        rest.is_some_and(|(session, turn)| {
            session.parse::<u32>().is_ok() && turn.parse::<u32>().is_ok()
        })
    };
    let mut found = BTreeSet::new();
    for text in super::names(value) {
        let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != ':');
        found.extend(parts.filter(whole).map(str::to_owned));
    }
    found
}
