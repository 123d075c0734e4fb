//! A Letta agent file of version 2: messages as history, current facts as the block `human`, concepts as
//! blocks of their name, other events as passages.
//!
//! History is written as it comes. Blocks and passages stand behind it in the file and wait in memory,
//! up to a limit.

use std::collections::BTreeMap;

use lamina_types::{Content, Micros};

use super::mem0::event_text;
use super::record::{ExportEvent, ExportFact, ExportRecord};
use super::{ExportFrame, lose_control, scope_id};
use crate::json::{Value, to_compact, write_compact};
use crate::loss::LossAccount;
use crate::time;

/// Characters of one block.
const BLOCK_CHARS_MAX: usize = 20_000;
/// Bytes of passages that wait for the end of the history.
const PASSAGE_BYTES_MAX: usize = 64 << 20;

#[derive(Debug)]
pub(super) struct LettaShape {
    frame: ExportFrame,
    name: String,
    messages: u64,
    blocks: BTreeMap<String, String>,
    /// Elements of an array, without its brackets.
    passages: String,
}

impl LettaShape {
    pub(super) fn new(frame: ExportFrame) -> LettaShape {
        let agent = scope_id(&frame.scope, "agent").map(str::to_owned);
        let name = agent.unwrap_or_else(|| frame.scope.replace(['/', ':'], "-"));
        LettaShape { frame, name, messages: 0, blocks: BTreeMap::new(), passages: String::new() }
    }

    pub(super) fn push(
        &mut self,
        record: &ExportRecord,
        out: &mut String,
        account: &mut LossAccount,
    ) {
        match record {
            ExportRecord::Event(event) => self.push_event(event, out, account),
            ExportRecord::Fact(fact) => self.push_fact(fact, account),
            ExportRecord::Concept(concept) => {
                account.count_row("concept");
                self.extend_block(&concept.name, &concept.summary, account);
            }
            ExportRecord::Belief(_) => account.skip("Letta has no beliefs", 1),
            ExportRecord::Episode(_) => account.skip("Letta has no episodes", 1),
            ExportRecord::Header(_) => {}
            ExportRecord::Control(_) => lose_control(record, account),
        }
    }

    fn push_event(&mut self, event: &ExportEvent, out: &mut String, account: &mut LossAccount) {
        let experience = &event.experience;
        let text = event_text(&experience.content);
        if text.trim().is_empty() {
            return account.skip("the event has no words", 1);
        }
        account.count_row("event");
        if !experience.content.media().is_empty() {
            account.lose("content.media", "media is not exported");
        }
        let created = time::print(experience.context.observed_at.0);
        account
            .change("recorded_at", "Letta has one axis of time; the time in the world was written");
        let Content::Message { role, .. } = &experience.content else {
            return self.push_passage(event, text, created, account);
        };
        out.push_str(&self.separator());
        let part = Value::object([("type", Value::from("text")), ("text", Value::from(text))]);
        let message = Value::object([
            ("type", Value::from("message")),
            ("role", Value::from(role.as_str())),
            ("content", Value::Array(vec![part])),
            ("id", Value::from(format!("message-{}", self.messages))),
            ("agent_id", Value::from("agent-0")),
            ("tool_calls", Value::Null),
            ("tool_returns", Value::Array(Vec::new())),
            ("created_at", Value::from(created)),
        ]);
        write_compact(&message, out);
        self.messages += 1;
    }

    /// The text before the next message: the head of the file, or a comma.
    fn separator(&self) -> String {
        match self.messages {
            0 => {
                let name = to_compact(&Value::from(self.name.as_str()));
                format!(
                    "{{\"agents\":[{{\"id\":\"agent-0\",\"name\":{name},\"system\":\"\",\"agent_type\":\"letta_v1_agent\",\"messages\":[\n"
                )
            }
            _ => ",\n".to_owned(),
        }
    }

    fn push_passage(
        &mut self,
        event: &ExportEvent,
        text: String,
        created: String,
        account: &mut LossAccount,
    ) {
        let passage = Value::object([
            ("id", Value::from(event.id.as_str())),
            ("text", Value::from(text)),
            ("created_at", Value::from(created)),
            ("tags", Value::strings(&event.experience.context.labels)),
        ]);
        if self.passages.len() > PASSAGE_BYTES_MAX {
            return account.lose("passages", "there are more than one agent file holds");
        }
        account
            .change("events that are no messages", "Letta reads passages from a file of their own");
        if !self.passages.is_empty() {
            self.passages.push_str(",\n");
        }
        write_compact(&passage, &mut self.passages);
    }

    fn push_fact(&mut self, fact: &ExportFact, account: &mut LossAccount) {
        let is_current =
            fact.recorded_to.is_none() && fact.valid_to.is_none_or(|to| to > self.as_of());
        match is_current {
            true => {
                account.count_row("fact");
                account.change("fact", "a fact became a sentence of the block `human`");
                self.extend_block("human", &fact.sentence, account);
            }
            false => account.skip("the fact has ended; a block holds what is so now", 1),
        }
    }

    fn as_of(&self) -> Micros {
        self.frame.as_of
    }

    fn extend_block(&mut self, label: &str, text: &str, account: &mut LossAccount) {
        let block = self.blocks.entry(label.to_owned()).or_default();
        if block.chars().count() + text.chars().count() + 1 > BLOCK_CHARS_MAX {
            return account.lose(&format!("block {label}"), "it is full");
        }
        if !block.is_empty() {
            block.push('\n');
        }
        block.push_str(text);
    }

    pub(super) fn finish(&mut self, out: &mut String, _account: &mut LossAccount) {
        if self.messages == 0 {
            out.push_str(&self.separator());
        }
        for label in ["human", "persona"] {
            self.blocks.entry(label.to_owned()).or_default();
        }
        let ids: Vec<String> =
            (0..self.blocks.len()).map(|index| format!("block-{index}")).collect();
        let blocks = self.blocks.iter().zip(&ids).map(|((label, value), id)| {
            Value::object([
                ("id", Value::from(id.as_str())),
                ("label", Value::from(label.as_str())),
                ("value", Value::from(value.as_str())),
                ("limit", Value::count(BLOCK_CHARS_MAX as u64)),
            ])
        });
        let blocks = to_compact(&Value::Array(blocks.collect()));
        let (ids, passages) = (to_compact(&Value::strings(&ids)), &self.passages);
        let created = time::print(self.as_of());
        out.push_str(&format!(
            "\n],\"block_ids\":{ids},\"tool_ids\":[],\"in_context_message_ids\":[]}}],\"groups\":[],\
             \"blocks\":{blocks},\"files\":[],\"sources\":[],\"tools\":[],\"mcp_servers\":[],\
             \"passages\":[{passages}],\"metadata\":{{}},\"created_at\":\"{created}\"}}\n"
        ));
    }
}
