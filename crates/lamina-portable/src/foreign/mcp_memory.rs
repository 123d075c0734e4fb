//! The file of the MCP memory server: entities with observations, and relations, one per line. It has no
//! times.

use lamina_types::ErrorCode;

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{text_of, texts_of};
use super::row::{ForeignRow, ForeignTriple, Place, TripleTerm};
use super::sink::{RowSink, name_hash};
use crate::json::Value;
use crate::source::SourceEntry;

const ARRAYS: &[&str] = &["entities", "relations"];

pub(super) struct McpMemoryMapper;

impl Mapper for McpMemoryMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        steps_for(entries, FileLayout::Json(ARRAYS), |entry| {
            let name = entry.file_name().to_ascii_lowercase();
            is_single || name.ends_with(".jsonl") || name.ends_with(".json")
        })
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { member, body, place, .. } = input;
        let value = match body {
            InputBody::Element(value) => value,
            InputBody::Object { value, has_elements: false } => value,
            _ => return,
        };
        let kind = match member {
            Some("entities") => Some("entity"),
            Some("relations") => Some("relation"),
            _ => text_of(&value, &["type"]),
        };
        match kind {
            Some("entity") => map_entity(&value, &place, sink),
            Some("relation") => map_relation(&value, &place, sink),
            _ => {
                let detail = "the line is neither an `entity` nor a `relation`";
                sink.fail(&place, ErrorCode::InvalidEnvelope, detail);
            }
        }
    }
}

fn map_entity(entity: &Value, place: &Place, sink: &mut RowSink) {
    let Some(name) = text_of(entity, &["name"]) else {
        return sink.fail(place, ErrorCode::MissingRequiredField, "an entity has no `name`");
    };
    let kind = text_of(entity, &["entityType", "entity_type"]);
    if let Some(kind) = kind {
        sink.account.keep("entityType", "facts with the predicate is_a");
        let triple = ForeignTriple::new(TripleTerm::entity(name), "is_a", TripleTerm::text(kind));
        let row = ForeignRow::triple(place, triple).with_id(format!("entity/{name}"));
        sink.push(row);
    }
    for observation in texts_of(entity, "observations") {
        sink.account.keep("observations", "texts that begin with the entity's name");
        let id = format!("entity/{name}/observation/{}", name_hash(&observation));
        let mut row = ForeignRow::text(place, observed_sentence(name, &observation));
        row.label(format!("entity:{name}"));
        row.origin = sink.origin([
            ("entity", Value::from(name)),
            ("entity_type", kind.map_or(Value::Null, Value::from)),
            ("observation", Value::from(observation.as_str())),
        ]);
        sink.push(row.with_id(id));
    }
}

/// An observation is written without its subject; the name goes in front of it.
pub(super) fn observed_sentence(name: &str, observation: &str) -> String {
    match observation.to_lowercase().starts_with(&name.to_lowercase()) {
        true => observation.to_owned(),
        false => format!("{name}: {observation}"),
    }
}

fn map_relation(relation: &Value, place: &Place, sink: &mut RowSink) {
    let ends = (text_of(relation, &["from"]), text_of(relation, &["to"]));
    let predicate = text_of(relation, &["relationType", "relation_type"]);
    let ((Some(from), Some(to)), Some(predicate)) = (ends, predicate) else {
        let detail = "a relation needs `from`, `relationType` and `to`";
        return sink.fail(place, ErrorCode::MissingRequiredField, detail);
    };
    sink.account.keep("relations", "facts, the predicate is the relation's type");
    let triple = ForeignTriple::new(TripleTerm::entity(from), predicate, TripleTerm::entity(to));
    let row = ForeignRow::triple(place, triple);
    sink.push(row.with_id(format!("relation/{from}/{predicate}/{to}")));
}
