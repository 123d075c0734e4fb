//! Items of a LangGraph store, as JSON or JSON lines: `{namespace, key, value, created_at, updated_at}`,
//! or rows of its table with a `prefix`. Checkpoints are binary and hold no memory of their own.

use lamina_types::ErrorCode;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{text_of, word_of};
use super::row::{ForeignRow, Place, RowContent, TimeBasis};
use super::sink::RowSink;
use crate::json::{Value, to_compact};
use crate::source::SourceEntry;

/// Members of a value that hold its words if it has nothing else.
const WORDS: &[&str] = &["text", "content", "memory", "data", "fact"];

pub(super) struct LangGraphMapper;

impl Mapper for LangGraphMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(&["items"]), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || [".jsonl", ".ndjson", ".json"].iter().any(|end| name.ends_with(end))
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body, place, .. } = input;
        match body {
            InputBody::Element(value) | InputBody::Object { value, has_elements: false } => {
                map_item(value, &place, sink);
            }
            _ => {}
        }
    }
}

/// The parts of a namespace: an array, or a text with points between them.
fn namespace_of(item: &Value) -> Vec<String> {
    match item.get("namespace").or_else(|| item.get("prefix")) {
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.as_str().map(str::to_owned)).collect()
        }
        Some(Value::String(text)) => text.to_lossy().split('.').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn map_item(mut item: Value, place: &Place, sink: &mut RowSink) {
    let (Some(key), Some(value)) = (word_of(&item, "key"), item.take("value")) else {
        let detail = "an item needs a `key` and a `value`; checkpoints cannot be imported";
        return sink.fail(place, ErrorCode::MissingRequiredField, detail);
    };
    let Ok(created) = sink.time(item.get("created_at"), place) else { return };
    let updated = sink.optional_time(item.get("updated_at"), "updated_at");
    let namespace = namespace_of(&item).join("/");
    sink.account.keep("value", "content");
    sink.account.keep("namespace, key", "label namespace:<a/b>, {namespace} of the scope template");
    let words = match &value {
        Value::String(text) => Some(text.to_lossy().into_owned()),
        Value::Object(members) if members.len() == 1 => text_of(&value, WORDS).map(str::to_owned),
        _ => None,
    };
    let row = match words {
        Some(words) => ForeignRow::text(place, words),
        None => ForeignRow::new(place, RowContent::Json { data: to_compact(&value) }),
    };
    let mut row = row.at(updated.or(created), TimeBasis::Stated);
    row.recorded_at = created;
    row.label(format!("namespace:{namespace}"));
    row.variables.insert("namespace", namespace.clone());
    row.expires_at = sink.optional_time(item.get("expires_at"), "expires_at");
    row = row.with_id(format!("{namespace}/{key}"));
    for name in ["namespace", "prefix", "key", "created_at", "updated_at", "expires_at"] {
        item.take(name);
    }
    let rest = sink.carry("", item);
    row.origin = sink.origin([
        ("namespace", Value::from(namespace)),
        ("key", Value::from(key)),
        ("item", rest),
    ]);
    sink.push(row);
}
