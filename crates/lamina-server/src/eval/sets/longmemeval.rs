//! LongMemEval: one haystack of sessions per question; evidence is sessions.

use std::path::Path;

use anyhow::anyhow;
use lamina_env::Disk;
use serde_json::Value;

use super::{Conversation, Question, Record, digits, json, list, names, text, turn};

pub(super) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let set = json(disk, path)?;
    let items = set.as_array().ok_or_else(|| anyhow!("it is not a list"))?;
    items.iter().map(conversation).collect()
}

fn conversation(item: &Value) -> anyhow::Result<Conversation> {
    let (ids, dates) = (list(item, "haystack_session_ids")?, list(item, "haystack_dates")?);
    let mut sessions = Vec::new();
    for ((id, date), turns) in ids.iter().zip(dates).zip(list(item, "haystack_sessions")?) {
        let id = id.as_str().ok_or_else(|| anyhow!("the id of a session is not a text"))?;
        let began = digits(date.as_str().unwrap_or_default())?;
        sessions.push((began, id, turns.as_array().ok_or_else(|| anyhow!("no turns"))?));
    }
    sessions.sort_by_key(|(began, _, _)| *began);
    let mut records = Vec::new();
    for (began, id, turns) in sessions {
        for (place, said) in turns.iter().enumerate() {
            let role = text(said, "role")?;
            records.push(Record {
                unit: id.to_owned(),
                session: Some(id.to_owned()),
                actor: match role {
                    "assistant" => "agent:assistant".to_owned(),
                    _ => "user:user".to_owned(),
                },
                role: role.to_owned(),
                at: turn(began, place)?,
                text: text(said, "content")?.to_owned(),
            });
        }
    }
    let name = text(item, "question_id")?.to_owned();
    let mut questions = vec![question(item, text(item, "question_type")?)?];
    // Abstention is marked in the id of the question.
    if let Some(first) = questions.first_mut().filter(|_| name.ends_with("_abs")) {
        first.evidence.clear();
    }
    for extra in item.get("extra_questions").and_then(Value::as_array).into_iter().flatten() {
        questions.push(question(extra, "extra")?);
    }
    Ok(Conversation { name, records, questions })
}

fn question(asked: &Value, category: &str) -> anyhow::Result<Question> {
    Ok(Question {
        text: text(asked, "question")?.to_owned(),
        category: category.to_owned(),
        evidence: asked.get("answer_session_ids").map(names).unwrap_or_default(),
        ..Question::default()
    })
}
