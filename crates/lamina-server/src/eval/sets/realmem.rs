//! RealMem: long project dialogues of one person with an assistant, in sessions. A question is a turn of a session, and
//! its evidence is earlier sessions; it is asked as of the beginning of its own.

use std::path::Path;

use anyhow::anyhow;
use lamina_env::Disk;
use serde_json::Value;

use super::{Conversation, Question, Record, digits, files, json, list, names, text, turn};

pub(super) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let files = files(disk, path, ".json");
    let conversations = files.iter().map(|file| {
        let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        conversation(name.unwrap_or_default(), &json(disk, file)?)
    });
    conversations.collect()
}

fn conversation(name: String, set: &Value) -> anyhow::Result<Conversation> {
    let (mut records, mut questions) = (Vec::new(), Vec::new());
    for session in list(set, "dialogues")? {
        let id = text(session, "session_uuid")?;
        let began = digits(text(session, "current_time")?)?;
        let turns = list(session, "dialogue_turns")?;
        for (place, said) in turns.iter().enumerate() {
            // Some turns have no words.
            if text(said, "content")?.trim().is_empty() {
                continue;
            }
            let is_person = text(said, "speaker")? == "User";
            records.push(Record {
                unit: id.to_owned(),
                session: Some(id.to_owned()),
                actor: if is_person { "user:user" } else { "agent:assistant" }.to_owned(),
                role: if is_person { "user" } else { "assistant" }.to_owned(),
                at: turn(began, place)?,
                text: text(said, "content")?.to_owned(),
            });
            // What a question needs stands beside its answer.
            let used = turns.get(place + 1).and_then(|next| next.get("memory_session_uuids"));
            if let Some(used) = used.filter(|_| said.get("is_query") == Some(&Value::Bool(true))) {
                questions.push(question(said, (id, &format!("{began}Z")), used)?);
            }
        }
    }
    match records.is_empty() {
        true => Err(anyhow!("it has no turns")),
        false => Ok(Conversation { name, records, questions }),
    }
}

fn question(said: &Value, (session, at): (&str, &str), used: &Value) -> anyhow::Result<Question> {
    let mut evidence = names(used);
    evidence.remove(session);
    Ok(Question {
        text: text(said, "content")?.to_owned(),
        category: said.get("category_name").and_then(Value::as_str).unwrap_or("other").to_owned(),
        evidence,
        at: Some(at.to_owned()),
        ..Question::default()
    })
}
