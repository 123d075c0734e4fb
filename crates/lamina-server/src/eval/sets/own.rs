//! The own layout: one JSON object per line, either something that was said or a question.
//!
//! ```text
//! {"conversation":"a","id":"1","said":"The roof leaks.","at":"2026-03-01 10:00","speaker":"Ada","session":"s1"}
//! {"conversation":"a","question":"What leaks?","evidence":["1"],"category":"lookup"}
//! ```
//!
//! A question may have `original` and `updated`, or `first` and `second`, which name what was said as
//! `evidence` does. Without evidence it is one that nothing answers.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_env::Disk;
use serde_json::Value;

use super::{Conversation, Question, Record, actor, bytes, digits, name, names, text};

pub(super) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let bytes = bytes(disk, path)?;
    let lines = std::str::from_utf8(&bytes)?.lines().enumerate();
    let mut conversations: BTreeMap<String, Conversation> = BTreeMap::new();
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        take(line, &mut conversations).with_context(|| format!("line {}", number + 1))?;
    }
    Ok(conversations.into_values().collect())
}

fn take(line: &str, into: &mut BTreeMap<String, Conversation>) -> anyhow::Result<()> {
    let item: Value = serde_json::from_str(line)?;
    let named = item.get("conversation").and_then(Value::as_str).unwrap_or("all");
    let conversation = into.entry(named.to_owned()).or_default();
    conversation.name = named.to_owned();
    if let Some(said) = item.get("said").and_then(Value::as_str) {
        let speaker = item.get("speaker").and_then(Value::as_str);
        conversation.records.push(Record {
            unit: item.get("id").and_then(name).ok_or_else(|| anyhow!("`id` is missing"))?,
            session: item.get("session").and_then(name),
            actor: speaker.map_or_else(|| "user:user".to_owned(), actor),
            role: item.get("role").and_then(Value::as_str).unwrap_or("user").to_owned(),
            at: digits(text(&item, "at")?)?,
            text: said.to_owned(),
        });
        return Ok(());
    }
    let pair = |one: &str, other: &str| Some((names(item.get(one)?), names(item.get(other)?)));
    let question = Question {
        at: None,
        text: text(&item, "question").context("neither `said` nor a question")?.to_owned(),
        category: item.get("category").and_then(Value::as_str).unwrap_or("all").to_owned(),
        evidence: item.get("evidence").map(names).unwrap_or_default(),
        update: pair("original", "updated"),
        sides: pair("first", "second"),
    };
    conversation.questions.push(question);
    Ok(())
}
