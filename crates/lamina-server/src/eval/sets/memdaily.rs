//! MemDaily: short lists of daily messages in Chinese; evidence is messages.

use std::path::Path;

use anyhow::anyhow;
use lamina_env::Disk;

use super::{Conversation, Question, Record, digits, files, json, list, name, names, text};

pub(super) fn read(disk: &dyn Disk, path: &Path) -> anyhow::Result<Vec<Conversation>> {
    let mut conversations = Vec::new();
    for file in files(disk, path, ".json") {
        let category = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let category = category.unwrap_or_default();
        let set = json(disk, &file)?;
        for (number, item) in set.as_array().into_iter().flatten().enumerate() {
            let mut records = Vec::new();
            for said in list(item, "message_list")? {
                records.push(Record {
                    unit: said.get("mid").and_then(name).ok_or_else(|| anyhow!("no `mid`"))?,
                    session: None,
                    actor: "user:user".to_owned(),
                    role: "user".to_owned(),
                    at: digits(text(said, "time")?)?,
                    text: text(said, "message")?.to_owned(),
                });
            }
            let mut questions = Vec::new();
            for asked in list(item, "question_list")? {
                questions.push(Question {
                    text: text(asked, "question")?.to_owned(),
                    category: category.clone(),
                    evidence: asked.get("target_step_id").map(names).unwrap_or_default(),
                    ..Question::default()
                });
            }
            let name = format!("{category}-{number}");
            conversations.push(Conversation { name, records, questions });
        }
    }
    Ok(conversations)
}
