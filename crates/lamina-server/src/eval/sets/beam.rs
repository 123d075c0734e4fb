//! BEAM: one directory per chat with a person and an assistant; evidence is messages.

use std::path::Path;

use anyhow::{Context as _, anyhow};
use jiff::civil::DateTime;
use lamina_env::Disk;
use serde_json::Value;

use super::{Conversation, Question, Record, date, json, list, name, names, text, turn};

/// The ability whose questions have no answer in the chat.
const ABSTENTION: &str = "abstention";
/// When a chat begins that does not say when.
const BEGINS: (i16, i8, i8) = (2024, 1, 1);

pub(super) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let mut chats = disk.list(path)?;
    chats.retain(|chat| disk.exists(&path.join(chat).join("chat.json")));
    chats.sort_by_key(|chat| (chat.parse::<u32>().unwrap_or(u32::MAX), chat.clone()));
    if chats.is_empty() {
        return Err(anyhow!("no directory in it has a `chat.json`"));
    }
    let chat = |chat: &String| {
        conversation(disk, &path.join(chat), chat).with_context(|| format!("chat {chat}"))
    };
    chats.iter().map(chat).collect()
}

fn conversation(disk: &dyn Disk, dir: &Path, chat: &str) -> anyhow::Result<Conversation> {
    let mut records = Vec::new();
    let (year, month, day) = BEGINS;
    let mut began = DateTime::new(year, month, day, 0, 0, 0, 0)?;
    let mut since = 0;
    let batches = json(disk, &dir.join("chat.json"))?;
    for batch in batches.as_array().ok_or_else(|| anyhow!("`chat.json` is not a list"))? {
        let session = batch.get("batch_number").and_then(name);
        let turns = list(batch, "turns")?.iter().filter_map(Value::as_array).flatten();
        for message in turns {
            let anchor = message.get("time_anchor").and_then(Value::as_str);
            if let Some(at) = anchor.and_then(|anchor| date("%B-%d-%Y", anchor).ok())
                && at > turn(began, since)?
            {
                (began, since) = (at, 0);
            }
            since += 1;
            let role = text(message, "role")?;
            records.push(Record {
                unit: message.get("id").and_then(name).ok_or_else(|| anyhow!("no `id`"))?,
                session: session.clone(),
                actor: match role {
                    "assistant" => "agent:assistant".to_owned(),
                    _ => "user:user".to_owned(),
                },
                role: role.to_owned(),
                at: turn(began, since)?,
                text: said(text(message, "content")?).to_owned(),
            });
        }
    }
    let asked = json(disk, &dir.join("probing_questions.json"))?;
    let abilities = asked.as_object().ok_or_else(|| anyhow!("questions are not an object"))?;
    let mut questions = Vec::new();
    for (ability, asked) in abilities {
        for asked in asked.as_array().into_iter().flatten() {
            questions.extend(question(ability, asked, &records)?);
        }
    }
    Ok(Conversation { name: chat.to_owned(), records, questions })
}

/// `None` if it should have evidence and has none.
fn question(ability: &str, asked: &Value, records: &[Record]) -> anyhow::Result<Option<Question>> {
    let sources = asked.get("source_chat_ids").unwrap_or(&Value::Null);
    let mut evidence = names(sources);
    evidence.retain(|unit| records.iter().any(|record| record.unit == *unit));
    if ability == ABSTENTION {
        evidence.clear();
    } else if evidence.is_empty() {
        return Ok(None);
    }
    let pair =
        |one: &str, other: &str| Some((names(sources.get(one)?), names(sources.get(other)?)));
    Ok(Some(Question {
        at: None,
        text: text(asked, "question")?.to_owned(),
        category: ability.to_owned(),
        evidence,
        update: pair("original_info", "updated_info"),
        sides: pair("first_statement", "second_statement"),
    }))
}

/// Without the mark of the generator at the end: ` ->-> 1,1`.
fn said(content: &str) -> &str {
    let marked = content.rsplit_once("->->");
    match marked {
        Some((before, mark))
            if mark.chars().all(|c| c.is_ascii_digit() || c == ',' || c.is_whitespace()) =>
        {
            before.trim_end()
        }
        _ => content,
    }
}
