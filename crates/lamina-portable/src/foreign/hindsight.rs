//! Archives of a Hindsight bank: documents with their facts, observations, mental models and directives.

use lamina_types::{ErrorCode, Micros};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::{text_of, texts_of, word_of};
use super::row::{ForeignRow, Place, TimeBasis};
use super::sink::{RowSink, name_hash};
use crate::json::Value;
use crate::source::SourceEntry;

/// The kinds of files in an archive.
const DOCUMENT: u8 = 0;
const OBSERVATION: u8 = 1;
const MENTAL_MODEL: u8 = 2;
const DIRECTIVE: u8 = 3;

/// The layout version that is read.
const SCHEMA_VERSION: i64 = 1;
const MANIFEST: u8 = 4;

pub(super) struct HindsightMapper;

fn phase_of(entry: &SourceEntry) -> Option<u8> {
    match entry.file_name() {
        "manifest.json" => Some(MANIFEST),
        "observations.json" => Some(OBSERVATION),
        "mental_models.json" => Some(MENTAL_MODEL),
        "directives.json" => Some(DIRECTIVE),
        name if name.ends_with(".json") && entry.name.contains("documents/") => Some(DOCUMENT),
        _ => None,
    }
}

impl Mapper for HindsightMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let layout = FileLayout::Json(&["observations", "mental_models", "directives"]);
        let mut steps = steps_for(entries, layout, |entry| phase_of(entry).is_some());
        for step in &mut steps {
            step.phase = entries.get(step.entry).and_then(phase_of).unwrap_or(DOCUMENT);
        }
        // The manifest decides whether the rest can be read; observations stand on documents.
        steps.sort_by_key(|step| (step.phase != MANIFEST, step.phase, step.entry));
        steps
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { phase, body, place, .. } = input;
        let value = match body {
            InputBody::Element(value) | InputBody::Object { value, has_elements: false } => value,
            _ => return,
        };
        match phase {
            MANIFEST => check_manifest(&value, &place, sink),
            DOCUMENT => map_document(value, &place, sink),
            OBSERVATION => map_observation(value, &place, sink),
            MENTAL_MODEL => map_named(value, "mental_model", "concept", &place, sink),
            _ => map_named(value, "directive", "instruction", &place, sink),
        }
    }
}

fn check_manifest(manifest: &Value, place: &Place, sink: &mut RowSink) {
    let version = manifest.get("schema_version").and_then(Value::as_i64).unwrap_or(SCHEMA_VERSION);
    if version > SCHEMA_VERSION {
        let detail = format!("the archive has the layout {version}; {SCHEMA_VERSION} is read");
        sink.fail(place, ErrorCode::UnsupportedMediaType, detail);
    }
}

fn map_document(mut document: Value, place: &Place, sink: &mut RowSink) {
    let id = word_of(&document, "id").unwrap_or_else(|| place.file.clone());
    let Ok(created) = sink.time(document.get("created_at"), place) else { return };
    let facts = match document.take("facts") {
        Some(Value::Array(facts)) => facts,
        _ => Vec::new(),
    };
    let text = match text_of(&document, &["original_text"]) {
        Some(text) => text.to_owned(),
        None => joined_chunks(&document),
    };
    let tags = texts_of(&document, "tags");
    sink.account.keep("documents", "texts of modality document");
    let has_text = !text.trim().is_empty();
    let mut row = ForeignRow::text(place, text).at(created, TimeBasis::Stated);
    row.modality = "document";
    row.recorded_at = created;
    row.labels = tags.iter().map(|tag| format!("tag:{tag}")).collect();
    for name in ["id", "original_text", "chunks", "tags", "created_at"] {
        document.take(name);
    }
    let rest = sink.carry("documents[].", document);
    row.origin = sink.origin([("document", rest)]);
    sink.push(row.with_id(id.clone()));
    let frame = DocumentFrame { id: has_text.then_some(id.clone()), created };
    for (index, fact) in facts.into_iter().enumerate() {
        let place = place.part(format_args!("facts/{index}"));
        let fact_id = word_of(&fact, "source_id").unwrap_or_else(|| format!("{id}/fact/{index}"));
        map_fact(fact, fact_id, &frame, &place, sink);
    }
}

struct DocumentFrame {
    /// The document, if its text was imported.
    id: Option<String>,
    created: Option<Micros>,
}

fn joined_chunks(document: &Value) -> String {
    let chunks = document.get("chunks").and_then(Value::as_array).unwrap_or_default();
    let texts: Vec<&str> =
        chunks.iter().filter_map(|chunk| text_of(chunk, &["chunk_text"])).collect();
    texts.join("\n")
}

const FACT_MEMBERS: &[&str] = &[
    "text",
    "source_id",
    "fact_type",
    "occurred_start",
    "mentioned_at",
    "event_date",
    "tags",
    "entities",
    "created_at",
];

fn map_fact(mut fact: Value, id: String, frame: &DocumentFrame, place: &Place, sink: &mut RowSink) {
    let text = text_of(&fact, &["text"]).unwrap_or_default().to_owned();
    let dates = ["occurred_start", "event_date", "mentioned_at"];
    let date =
        dates.iter().find_map(|name| fact.get(name).filter(|value| !value.is_blank())).cloned();
    let Ok(stated) = sink.time(date.as_ref(), place) else { return };
    sink.account.keep("facts", "texts with the labels entity:<name>, fact_type:<type>");
    let basis = if stated.is_some() { TimeBasis::Stated } else { TimeBasis::Context };
    let mut row = ForeignRow::text(place, text).at(stated.or(frame.created), basis);
    row.recorded_at = sink.optional_time(fact.get("created_at"), "created_at").or(frame.created);
    row.preceded_by.extend(frame.id.clone());
    if let Some(kind) = text_of(&fact, &["fact_type"]) {
        row.label(format!("fact_type:{kind}"));
    }
    row.labels.extend(texts_of(&fact, "entities").iter().map(|name| format!("entity:{name}")));
    row.labels.extend(texts_of(&fact, "tags").iter().map(|tag| format!("tag:{tag}")));
    for name in FACT_MEMBERS {
        fact.take(name);
    }
    let rest = sink.carry("facts[].", fact);
    row.origin = sink.origin([("fact", rest)]);
    sink.push(row.with_id(id));
}

fn map_observation(observation: Value, place: &Place, sink: &mut RowSink) {
    let text = text_of(&observation, &["text"]).unwrap_or_default().to_owned();
    let id = word_of(&observation, "source_id");
    let id = id.unwrap_or_else(|| format!("observation/{}", name_hash(&text)));
    let frame = DocumentFrame { id: None, created: None };
    let mut observation = observation;
    observation.push("fact_type", "observation");
    map_fact(observation, id, &frame, place, sink);
}

/// A mental model or a directive: a name and its text.
fn map_named(mut record: Value, kind: &str, label: &str, place: &Place, sink: &mut RowSink) {
    let names = ["content", "text", "summary", "description"];
    let text = text_of(&record, &names).unwrap_or_default().to_owned();
    let name = text_of(&record, &["name", "title"]).unwrap_or(kind).to_owned();
    let Ok(created) = sink.time(record.get("created_at"), place) else { return };
    let updated = sink.optional_time(record.get("updated_at"), "updated_at");
    sink.account.keep(
        "mental_models, directives",
        "texts with the label concept:<name> or instruction:<name>",
    );
    let mut row = ForeignRow::text(place, text).at(updated.or(created), TimeBasis::Stated);
    row.recorded_at = created;
    row.label(format!("{label}:{name}"));
    let id = word_of(&record, "id").unwrap_or_else(|| name.clone());
    for name in ["content", "text", "id", "created_at", "updated_at", "bank_id"] {
        record.take(name);
    }
    let rest = sink.carry(&format!("{kind}[]."), record);
    row.origin = sink.origin([("record", rest)]);
    sink.push(row.with_id(format!("{kind}/{id}")));
}
