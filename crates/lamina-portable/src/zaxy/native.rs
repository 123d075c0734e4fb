//! Events of our own in the words of the contract: a type, an actor, a thread and a payload, cited by
//! number and seal.
//!
//! An event that came from an Eventloom log is the event it was, with its number and hash, as long as it
//! stands at the same place; its record travels in `origin`.

use lamina_types::stdx::hex;
use lamina_types::{Content, EventRecord, Experience, RecordedAt, ScopePath};

use super::entry::FORGOTTEN_KEY;
use super::event::{Envelope, LogEvent, SecurityRecord, sha256_hex};
use crate::json::{ReadPolicy, Value, parse};
use crate::time;

/// The type of an event whose words are gone.
const FORGOTTEN_KIND: &str = "lamina.event.erased";
/// The actor of such an event.
const FORGOTTEN_ACTOR: &str = "lamina";
/// What stands in place of the words.
const FORGOTTEN_TEXT: &str = "[FORGOTTEN]";
/// The label that names a tier.
const SENSITIVITY_LABEL: &str = "sensitivity:";
/// Characters of the summary of a tool's result.
const SUMMARY_CHARS_MAX: usize = 240;

/// The source of an event's semantic entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SemanticSource {
    /// The rule of its type.
    Rule,
    /// The facts that the engine derived.
    Facts,
}

/// An event of a scope as the contract shows it.
#[derive(Debug, Clone)]
pub struct ScopeEvent {
    /// The event.
    pub event: LogEvent,
    /// The source of its semantic entries.
    pub semantics: SemanticSource,
    /// The line of the Eventloom log that it came from, if it stands where it stood there.
    pub line: Option<String>,
}

/// The number and seal of an event of a scope.
#[derive(Debug, Clone, Copy)]
pub struct EventSeal {
    /// Its number, from 1.
    pub number: u64,
    /// The seal of its entry.
    pub seal: [u8; 32],
    /// When it was recorded.
    pub recorded_at: RecordedAt,
}

/// The thread of a scope in citations.
pub fn thread_of(scope: &ScopePath) -> String {
    scope.as_str().replace('%', "%25").replace('/', "%2F")
}

impl ScopeEvent {
    /// An event with its words.
    pub fn of(record: &EventRecord) -> ScopeEvent {
        if let Some(event) = original(record) {
            return event;
        }
        let experience = &record.experience;
        let seal =
            EventSeal { number: record.number, seal: record.seal, recorded_at: record.recorded_at };
        let (kind, payload) = typed(record);
        let sensitivity = experience
            .context
            .labels
            .iter()
            .find_map(|label| label.strip_prefix(SENSITIVITY_LABEL))
            .unwrap_or(SecurityRecord::PUBLIC);
        let words = EventWords {
            kind,
            actor: experience.observed_actor.id.to_string(),
            timestamp: time::print(experience.context.observed_at.0),
            payload,
            sensitivity: sensitivity.to_owned(),
        };
        let event = native(&experience.scope, seal, words);
        let semantics = match is_typed_json(experience) {
            true => SemanticSource::Rule,
            false => SemanticSource::Facts,
        };
        ScopeEvent { event, semantics, line: None }
    }

    /// An event whose words were erased: it keeps its place.
    pub fn forgotten(scope: &ScopePath, seal: EventSeal) -> ScopeEvent {
        let payload =
            Value::object([("content", FORGOTTEN_TEXT.into()), (FORGOTTEN_KEY, Value::Bool(true))]);
        let words = EventWords {
            kind: FORGOTTEN_KIND.to_owned(),
            actor: FORGOTTEN_ACTOR.to_owned(),
            timestamp: time::print(seal.recorded_at.0),
            payload,
            sensitivity: SecurityRecord::PUBLIC.to_owned(),
        };
        let event = native(scope, seal, words);
        ScopeEvent { event, semantics: SemanticSource::Facts, line: None }
    }
}

/// The parts of an event that its words say.
struct EventWords {
    kind: String,
    actor: String,
    timestamp: String,
    payload: Value,
    sensitivity: String,
}

fn native(scope: &ScopePath, seal: EventSeal, words: EventWords) -> LogEvent {
    let EventWords { kind, actor, timestamp, payload, sensitivity } = words;
    let hash = hex::encode(&seal.seal);
    LogEvent {
        envelope: Envelope::EventloomV1,
        seq: seal.number,
        id: None,
        timestamp,
        kind,
        actor,
        thread: thread_of(scope),
        payload,
        security: Some(SecurityRecord {
            sensitivity: Value::from(sensitivity),
            redacted_paths: Value::Array(Vec::new()),
        }),
        previous_hash: None,
        computed_hash: hash.clone(),
        hash,
    }
}

/// The event that an imported one was, if its record is whole, its hash holds and its place is the same.
fn original(record: &EventRecord) -> Option<ScopeEvent> {
    let origin =
        parse(record.experience.origin.as_deref()?.as_bytes(), &ReadPolicy::STRICT).ok()?;
    if origin.get("format").and_then(Value::as_str) != Some("eventloom") {
        return None;
    }
    let is_labelled = |label: &str| record.experience.context.labels.iter().any(|own| own == label);
    let line = origin.get("line").and_then(Value::as_str)?;
    let position = u64::try_from(origin.get("seq").and_then(Value::as_i64)?).ok()?;
    let event = LogEvent::parse(line.as_bytes(), position).ok()?;
    let is_same = event.hash == event.computed_hash
        && event.seq == record.number
        && !is_labelled(super::UNVERIFIED_LABEL);
    let line = Some(line.to_owned());
    is_same.then_some(ScopeEvent { event, semantics: SemanticSource::Rule, line })
}

/// The `{type, payload}` of a JSON content that is an event of the contract and nothing else.
fn typed_json(data: &str) -> Option<(String, Value)> {
    let mut value = parse(data.as_bytes(), &ReadPolicy::STRICT).ok()?;
    let kind = value.get("type").and_then(Value::as_str)?.to_owned();
    let has_dots = kind.contains('.') && kind.split('.').all(is_type_part);
    let is_whole = value.as_object().is_some_and(|members| members.len() == 2);
    let payload = value.take("payload").filter(|payload| payload.as_object().is_some())?;
    (has_dots && is_whole).then_some((kind, payload))
}

fn is_type_part(part: &str) -> bool {
    let is_letter = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    part.bytes().next().is_some_and(|c| c.is_ascii_lowercase()) && part.bytes().all(is_letter)
}

fn is_typed_json(experience: &Experience) -> bool {
    matches!(&experience.content, Content::Json { data, .. } if typed_json(data).is_some())
}

/// The type and payload of an event.
fn typed(record: &EventRecord) -> (String, Value) {
    let experience = &record.experience;
    let modality = experience.modality.as_str();
    if modality == "tool_result" {
        return ("tool.call.completed".to_owned(), tool_payload(experience));
    }
    match &experience.content {
        Content::Message { role, text, .. } => {
            let mut payload =
                Value::object([("role", role.as_str().into()), ("content", text.as_str().into())]);
            turn(record, &mut payload);
            ("transcript.turn".to_owned(), payload)
        }
        Content::Text { text, .. } => match modality {
            "conversation" => {
                let mut payload = Value::object([("content", text.as_str().into())]);
                turn(record, &mut payload);
                ("transcript.turn".to_owned(), payload)
            }
            "document" | "imported" => document(record, None, text),
            "feedback" => ("feedback.recorded".to_owned(), content_payload(text)),
            _ => ("observation.recorded".to_owned(), content_payload(text)),
        },
        Content::BlobRef { blob_id, transcript, .. } => {
            document(record, Some(blob_id.to_string()), transcript.as_deref().unwrap_or_default())
        }
        Content::Json { data, .. } => match typed_json(data) {
            Some(typed) => typed,
            None => ("json.recorded".to_owned(), Value::object([("data", json_of(data))])),
        },
        Content::Triple { triple, .. } => {
            ("inference.edge.generated".to_owned(), triple_payload(&json_of(triple)))
        }
    }
}

fn json_of(text: &str) -> Value {
    parse(text.as_bytes(), &ReadPolicy::PYTHON).unwrap_or_else(|_| Value::from(text))
}

fn content_payload(text: &str) -> Value {
    Value::object([("content", text.into())])
}

/// The conversation and the place of a turn in it.
fn turn(record: &EventRecord, payload: &mut Value) {
    let experience = &record.experience;
    let session = experience.observed_actor.session.as_deref();
    payload.push("source", session.unwrap_or(experience.scope.as_str()));
    payload.push("turn_index", Value::count(record.number));
}

fn document(record: &EventRecord, path: Option<String>, content: &str) -> (String, Value) {
    let lines = content.lines().count().max(1) as u64;
    let path =
        path.or_else(|| source_path(&record.experience)).unwrap_or_else(|| record.id.to_string());
    let payload = Value::object([
        ("path", path.into()),
        ("content", content.into()),
        ("start_line", Value::count(1)),
        ("end_line", Value::count(lines)),
        ("sha256", sha256_hex(content.as_bytes()).into()),
    ]);
    ("document.indexed".to_owned(), payload)
}

/// The name of a document in its source.
fn source_path(experience: &Experience) -> Option<String> {
    let stated = experience.source.as_deref().map(json_of);
    let named = ["source_id", "path", "url", "id"]
        .iter()
        .find_map(|name| Some(stated.as_ref()?.get(name)?.as_str()?.to_owned()));
    named.or_else(|| {
        let origin = json_of(experience.origin.as_deref()?);
        let text = |name: &str| origin.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(format!("import:{}:{}", text("format")?, text("id")?))
    })
}

fn tool_payload(experience: &Experience) -> Value {
    let data = match &experience.content {
        Content::Json { data, .. } => Some(json_of(data)),
        _ => None,
    };
    let named = ["tool_name", "tool", "name"]
        .iter()
        .find_map(|name| Some(data.as_ref()?.get(name)?.as_str()?.to_owned()));
    let summary: String = experience.content.text().chars().take(SUMMARY_CHARS_MAX).collect();
    let mut payload = Value::object([
        ("tool_name", named.unwrap_or_else(|| "tool".to_owned()).into()),
        ("status", "succeeded".into()),
        ("result_summary", summary.into()),
    ]);
    payload.push("data", data.unwrap_or_else(|| experience.content.text().into()));
    payload
}

/// A stated triple as a generated edge.
fn triple_payload(triple: &Value) -> Value {
    let term = |name: &str| {
        let term = triple.get(name).cloned().unwrap_or_default();
        let text = |key: &str| term.get(key).and_then(Value::as_str).map(str::to_owned);
        let (kind, said) = match text("type").as_deref() {
            Some("entity") => ("entity".to_owned(), text("name").or_else(|| text("id"))),
            _ => {
                let value = term.get("value").map(|value| match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => crate::json::to_compact(value),
                });
                (text("datatype").unwrap_or_else(|| "value".to_owned()), value)
            }
        };
        Value::object([("name", said.unwrap_or_default().into()), ("entity_type", kind.into())])
    };
    let predicate = triple.get("predicate").and_then(Value::as_str).unwrap_or("related_to");
    let mut payload = Value::object([
        ("source", term("subject")),
        ("target", term("object")),
        ("relation_type", predicate.into()),
        (
            "confidence",
            triple.get("confidence").cloned().unwrap_or_else(|| super::coerce::double(1.0)),
        ),
        ("inference_method", "stated".into()),
        ("evidence", Value::Object(Vec::new())),
    ]);
    for member in ["valid_from", "valid_to"] {
        payload.push_some(member, triple.get(member).cloned());
    }
    payload
}
