//! mem0: pages of the platform (v1 to v3), `get_all` and the migration file of the library, and the
//! Markdown of its plugin.

use std::collections::BTreeSet;

use lamina_types::ErrorCode;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{is_true, text_of, texts_of, word_of};
use super::row::{ForeignRow, ForeignTriple, Place, TimeBasis, TripleTerm};
use super::sink::{BadRow, RowSink, actor_id};
use crate::json::{Member, Value};
use crate::source::SourceEntry;

const ARRAYS: &[&str] = &["results", "records", "memories", "relations"];
/// Members that a page of results has and a record does not.
const PAGE_MEMBERS: &[&str] = &["count", "next", "previous", "kind", "exported_at", "version"];

pub(super) struct Mem0Mapper;

impl Mapper for Mem0Mapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        let is_markdown = |entry: &SourceEntry| {
            let name = entry.file_name().to_ascii_lowercase();
            name.ends_with(".md") || name.ends_with(".markdown")
        };
        let mut steps = steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            let is_json = [".jsonl", ".ndjson", ".json"].iter().any(|end| name.ends_with(end));
            is_json || is_single && !is_markdown(entry)
        });
        steps.extend(steps_for(entries, FileLayout::Text, is_markdown));
        steps.sort_by_key(|step| step.entry);
        steps
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { member, body, place, .. } = input;
        match body {
            InputBody::Element(value) if member == Some("relations") => {
                map_relation(value, &place, sink);
            }
            InputBody::Element(value @ Value::Object(_)) => map_record(value, &place, sink),
            InputBody::Object { value, has_elements } => {
                let is_page =
                    has_elements || PAGE_MEMBERS.iter().any(|name| value.get(name).is_some());
                if !is_page || text_of(&value, &["memory"]).is_some() {
                    map_record(value, &place, sink);
                }
            }
            InputBody::Element(Value::String(text)) => {
                let row = ForeignRow::text(&place, text.to_lossy());
                sink.push(row);
            }
            InputBody::Element(other) => {
                let detail = format!("a memory is {}, not an object", other.type_name());
                sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
            InputBody::Text(text) => map_markdown(&text, &place, sink),
            InputBody::Record(_) | InputBody::FileEnd => {}
        }
    }
}

fn map_record(mut record: Value, place: &Place, sink: &mut RowSink) {
    let text = text_of(&record, &["memory", "data", "content", "text"]).map(str::to_owned);
    let Some(text) = text else {
        let detail = "a mem0 record has no `memory`";
        return sink.fail(place, ErrorCode::MissingRequiredField, detail);
    };
    let Ok(mut row) = dated_row(text, &record, place, sink) else { return };
    if let Some(id) = word_of(&record, "id") {
        row.label(format!("mem0_source_id:{id}"));
        row = row.with_id(id);
        sink.account.keep("id", "label mem0_source_id");
    }
    if let Some(hash) = word_of(&record, "hash") {
        row.label(format!("mem0_hash:{hash}"));
        sink.account.keep("hash", "label mem0_hash");
    }
    place_row(&mut row, &record, sink);
    label_categories(&mut row, &record, sink);
    row.no_supersede = is_true(&record, "immutable");
    if row.no_supersede {
        sink.account.keep("immutable", "directives.no_supersede");
    }
    row.expires_at = sink.optional_time(record.get("expiration_date"), "expiration_date");
    if row.expires_at.is_some() {
        sink.account.keep("expiration_date", "directives.ttl_for_event_layer");
    }
    row.replaced_by = word_of(&record, "replaced_by");
    if row.replaced_by.is_some() {
        row.label("mem0_superseded");
        sink.account.keep("replaced_by", "the event that follows it, label mem0_superseded");
    }
    if record.take("score").is_some_and(|score| !score.is_null()) {
        sink.account.lose("score", "it is the score of one search, not a property of the memory");
    }
    if let Some(metadata) = record.take("metadata") {
        flatten_metadata(&mut row, &metadata, sink);
        record.push("metadata", metadata);
    }
    for name in [
        "memory",
        "data",
        "content",
        "text",
        "id",
        "hash",
        "created_at",
        "updated_at",
        "immutable",
        "expiration_date",
        "replaced_by",
        "categories",
        "user_id",
        "app_id",
        "agent_id",
        "run_id",
        "session_id",
    ] {
        record.take(name);
    }
    let rest = sink.carry("", record);
    row.origin = sink.origin([("id", Value::from(row.source_id.as_str())), ("record", rest)]);
    sink.push(row);
}

/// The row with its times. A text that was updated is as old as its last update; that it was first
/// recorded earlier is kept beside it.
fn dated_row(
    text: String,
    record: &Value,
    place: &Place,
    sink: &mut RowSink,
) -> Result<ForeignRow, BadRow> {
    let created = sink.time(record.get("created_at"), place)?;
    let updated = sink.optional_time(record.get("updated_at"), "updated_at");
    sink.account.keep("memory", "content.text");
    let mut row = ForeignRow::text(place, text);
    row.recorded_at = created.or(updated);
    match (created, updated) {
        (Some(created), Some(updated)) if updated > created => {
            sink.account.keep("created_at", "context.source_recorded_at");
            sink.account.keep("updated_at", "context.observed_at");
            Ok(row.at(Some(updated), TimeBasis::Stated))
        }
        (created, updated) => {
            sink.account.keep("created_at", "context.observed_at, context.source_recorded_at");
            Ok(row.at(created.or(updated), TimeBasis::Stated))
        }
    }
}

/// Who said it, in which session, for which scope template.
fn place_row(row: &mut ForeignRow, record: &Value, sink: &mut RowSink) {
    for name in ["user_id", "app_id", "agent_id", "run_id"] {
        if let Some(word) = word_of(record, name) {
            row.variables.insert(name, word);
        }
    }
    if row.variables.contains_key("user_id") {
        sink.account.keep("user_id", "{user_id} of the scope template");
    }
    if row.variables.contains_key("app_id") {
        sink.account.keep("app_id", "{app_id} of the scope template");
    }
    if let Some(agent) = row.variables.get("agent_id") {
        row.actor = actor_id("agent", agent);
        sink.account.keep("agent_id", "observed_actor.id");
    }
    row.session = word_of(record, "run_id").or_else(|| word_of(record, "session_id"));
    if row.session.is_some() {
        sink.account.keep("run_id", "observed_actor.session");
    }
}

fn label_categories(row: &mut ForeignRow, record: &Value, sink: &mut RowSink) {
    let categories = texts_of(record, "categories");
    if !categories.is_empty() {
        sink.account.keep("categories", "labels concept:<category>");
    }
    for category in categories {
        row.label(format!("concept:{category}"));
    }
}

/// Metadata as labels, one level deep. The whole of it stays in the origin.
fn flatten_metadata(row: &mut ForeignRow, metadata: &Value, sink: &mut RowSink) {
    for Member { key, value } in metadata.as_object().unwrap_or_default() {
        let word = match value {
            Value::String(text) => text.to_lossy().into_owned(),
            Value::Number(token) => token.as_str().to_owned(),
            Value::Bool(value) => value.to_string(),
            _ => continue,
        };
        let key = key.to_lossy();
        row.label(format!("mem0_metadata.{key}:{word}"));
        sink.account.keep("metadata", "labels mem0_metadata.<key>:<value>");
    }
}

/// An edge of the graph that older versions kept.
fn map_relation(relation: Value, place: &Place, sink: &mut RowSink) {
    let subject = text_of(&relation, &["source", "source_name"]);
    let object = text_of(&relation, &["target", "destination", "target_name"]);
    let predicate = text_of(&relation, &["relationship", "relation", "relatationship"]);
    let (Some(subject), Some(predicate), Some(object)) = (subject, predicate, object) else {
        let detail = "a relation needs `source`, `relationship` and `target`";
        return sink.fail(place, ErrorCode::MissingRequiredField, detail);
    };
    sink.account.keep("relations", "facts, the predicate is the edge's label");
    let triple =
        ForeignTriple::new(TripleTerm::entity(subject), predicate, TripleTerm::entity(object));
    let mut row = ForeignRow::triple(place, triple);
    for name in ["user_id", "app_id", "agent_id"] {
        row.variables.extend(word_of(&relation, name).map(|word| (name, word)));
    }
    row.origin = sink.origin([("relation", relation)]);
    sink.push(row);
}

/// Blocks of `---`, `name: value` lines, `---` and the text.
fn map_markdown(text: &str, place: &Place, sink: &mut RowSink) {
    let mut blocks: Vec<MarkdownBlock> = Vec::new();
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        let opens = line.trim_end() == "---"
            && lines.peek().is_some_and(|(_, next)| next.trim_start().starts_with("id:"));
        if !opens {
            if let Some(block) = blocks.last_mut() {
                block.text.push_str(line);
                block.text.push('\n');
            }
            continue;
        }
        let mut block =
            MarkdownBlock { line: number, record: Value::object([]), text: String::new() };
        let mut seen = BTreeSet::new();
        for (_, line) in lines.by_ref().take_while(|(_, line)| line.trim_end() != "---") {
            if let Some((name, value)) = line.split_once(':')
                && seen.insert(name.trim().to_owned())
            {
                block.put(name.trim(), value.trim());
            }
        }
        blocks.push(block);
    }
    if blocks.is_empty() {
        let detail = "the Markdown has no block of `---`, `id: …`, `---`";
        return sink.fail(place, ErrorCode::InvalidBody, detail);
    }
    for block in blocks {
        let mut place = place.clone();
        if let Some(position) = &mut place.position {
            position.line += block.line as u64;
        }
        let mut record = block.record;
        let text = block.text.trim();
        match text.is_empty() {
            true => sink.account.skip("the text is empty", 1),
            false => {
                record.push("memory", text);
                map_record(record, &place, sink);
            }
        }
    }
}

struct MarkdownBlock {
    /// The line of its first `---`, from 0.
    line: usize,
    record: Value,
    text: String,
}

impl MarkdownBlock {
    fn put(&mut self, name: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        let list = || {
            let items: Vec<&str> =
                value.split(',').map(str::trim).filter(|i| !i.is_empty()).collect();
            Value::strings(&items)
        };
        match name {
            "categories" | "files" => self.record.push(name, list()),
            _ => self.record.push(name, value),
        }
    }
}
