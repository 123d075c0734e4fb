//! One record of an Eventloom log, in either of its two envelopes, and the hash that seals it.

use sha2::{Digest as _, Sha256};

use lamina_types::stdx::hex;

use super::fields::Fields;
use crate::canon::python_ascii;
use crate::json::{JsonError, JsonText, Member, ReadPolicy, Value, parse};

/// The member of a payload that holds the security record.
pub(super) const SECURITY_KEY: &str = "__zaxy_security";
/// The prefix of hashes in the newer envelope.
pub(super) const HASH_PREFIX: &str = "sha256:";
const V1_MEMBERS: [&str; 7] =
    ["id", "type", "actorId", "threadId", "timestamp", "payload", "integrity"];

/// The shape of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// `eventloom.v1`.
    EventloomV1,
    /// `zaxy.legacy`.
    Legacy,
}

/// The sensitivity of an event and the members that were redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityRecord {
    /// The tier.
    pub sensitivity: Value,
    /// Paths of redacted members.
    pub redacted_paths: Value,
}

impl SecurityRecord {
    /// The tier of an event without a record.
    pub const PUBLIC: &'static str = "public";

    fn from_value(value: &Value) -> SecurityRecord {
        let sensitivity = value.get("sensitivity").cloned();
        let redacted_paths = value.get("redacted_paths").cloned();
        SecurityRecord {
            sensitivity: sensitivity.unwrap_or_else(|| Value::from(SecurityRecord::PUBLIC)),
            redacted_paths: redacted_paths.unwrap_or_else(|| Value::Array(Vec::new())),
        }
    }

    pub(super) fn to_value(&self) -> Value {
        Value::object([
            ("sensitivity", self.sensitivity.clone()),
            ("redacted_paths", self.redacted_paths.clone()),
        ])
    }
}

/// One event of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// The shape it was read from.
    pub envelope: Envelope,
    /// Its number.
    pub seq: u64,
    /// Its id, if it has one.
    pub id: Option<String>,
    /// The time as it is written.
    pub timestamp: String,
    /// Its type.
    pub kind: String,
    /// Its actor.
    pub actor: String,
    /// Its thread.
    pub thread: String,
    /// The payload without its security record. Always an object.
    pub payload: Value,
    /// The security record.
    pub security: Option<SecurityRecord>,
    /// The hash of the predecessor, without a prefix.
    pub previous_hash: Option<String>,
    /// Its hash as it is written, without a prefix.
    pub hash: String,
    /// The hash of its content.
    pub computed_hash: String,
}

/// Why a line is no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// Not an object.
    #[error("the record is {0}, not an object")]
    NotAnObject(&'static str),
    /// A member that is absent or of another type.
    #[error("the member `{member}` is {found}, not {expected}")]
    Member {
        /// The member.
        member: &'static str,
        /// Its type.
        found: &'static str,
        /// The type it should have.
        expected: &'static str,
    },
    /// A timestamp that is no ISO 8601 time.
    #[error("the timestamp `{}` is no ISO 8601 time", crate::quote(.0))]
    Timestamp(String),
}

/// Whether a JSON value has the members of a record, in either envelope. Its hash may be wrong.
pub fn is_log_record(value: &Value) -> bool {
    const LEGACY_MEMBERS: [&str; 5] = ["seq", "timestamp", "type", "actor", "hash"];
    let has = |members: &[&str]| members.iter().all(|name| value.get(name).is_some());
    has(&V1_MEMBERS) || has(&LEGACY_MEMBERS)
}

impl LogEvent {
    /// Reads one line. The position is its number among the lines that are not blank, from 1.
    pub fn parse(line: &[u8], position: u64) -> Result<LogEvent, RecordError> {
        let record = parse(line, &ReadPolicy::PYTHON)?;
        let Some(members) = record.as_object() else {
            return Err(RecordError::NotAnObject(record.type_name()));
        };
        let has = |name: &str| members.iter().any(|member| member.key.as_str() == Some(name));
        let event = match V1_MEMBERS.iter().all(|name| has(name)) {
            true => read_v1(&record, position)?,
            false => read_legacy(&record)?,
        };
        match super::timestamp::is_iso_8601(&event.timestamp) {
            true => Ok(event),
            false => Err(RecordError::Timestamp(event.timestamp)),
        }
    }

    /// The reference to this event in full: thread, number and hash.
    pub fn citation(&self) -> String {
        format!("eventloom://{}/events/{}#{}", self.thread, self.seq, self.hash)
    }

    /// The sensitivity tier.
    pub fn sensitivity(&self) -> &str {
        let stated = self.security.as_ref().and_then(|record| record.sensitivity.as_str());
        stated.unwrap_or(SecurityRecord::PUBLIC)
    }

    /// The members of the payload.
    pub(super) fn fields(&self) -> Fields<'_> {
        Fields::new(&self.payload)
    }
}

fn read_v1(record: &Value, position: u64) -> Result<LogEvent, RecordError> {
    let id = string(record, "id")?;
    let mut payload = object(record, "payload")?.clone();
    let security = payload.take(SECURITY_KEY).filter(|value| value.as_object().is_some());
    let security = security.as_ref().map(SecurityRecord::from_value);
    let integrity = object(record, "integrity")?;
    let hash = string(integrity, "hash")?;
    let previous_hash = optional_string(integrity, "previousHash")?;
    let bare = |hash: &str| hash.strip_prefix(HASH_PREFIX).unwrap_or(hash).to_owned();
    let previous_hash = previous_hash.as_deref().map(bare);
    let caused_by = record.get("causedBy").filter(|value| super::coerce::is_truthy(value));
    let mut event = LogEvent {
        envelope: Envelope::EventloomV1,
        seq: seq_of_id(&id).unwrap_or(position),
        timestamp: string(record, "timestamp")?,
        kind: string(record, "type")?,
        actor: string(record, "actorId")?,
        thread: string(record, "threadId")?,
        id: Some(id),
        payload,
        security,
        previous_hash,
        hash: bare(&hash),
        computed_hash: String::new(),
    };
    let parent = record.get("parentEventId").cloned().unwrap_or_default();
    let caused_by = caused_by.cloned().unwrap_or_else(|| Value::Array(Vec::new()));
    event.computed_hash = v1_hash(&event, parent, caused_by);
    Ok(event)
}

fn read_legacy(record: &Value) -> Result<LogEvent, RecordError> {
    let payload = match record.get("payload") {
        None => Value::Object(Vec::new()),
        Some(_) => object(record, "payload")?.clone(),
    };
    let security = match record.get("security") {
        None | Some(Value::Null) => None,
        Some(_) => Some(SecurityRecord::from_value(object(record, "security")?)),
    };
    let seq = record.get("seq");
    let thread = optional_string(record, "thread")?;
    let mut event = LogEvent {
        envelope: Envelope::Legacy,
        seq: seq.and_then(|seq| seq.as_number()?.as_str().parse().ok()).ok_or(
            RecordError::Member {
                member: "seq",
                found: seq.map_or("absent", Value::type_name),
                expected: "a positive integer",
            },
        )?,
        id: record.get("id").and_then(Value::as_str).map(str::to_owned),
        timestamp: string(record, "timestamp")?,
        kind: string(record, "type")?,
        actor: string(record, "actor")?,
        thread: thread.unwrap_or_else(|| "default".to_owned()),
        payload,
        security,
        previous_hash: optional_string(record, "prev_hash")?,
        hash: string(record, "hash")?,
        computed_hash: String::new(),
    };
    event.computed_hash = legacy_hash(&event);
    Ok(event)
}

/// The number inside an id that Zaxy issued.
fn seq_of_id(id: &str) -> Option<u64> {
    let (seq, suffix) = id.strip_prefix("evt_zaxy_")?.split_once('_')?;
    let is_seq = seq.len() == 12 && seq.bytes().all(|c| c.is_ascii_digit());
    let is_suffix =
        suffix.len() == 16 && suffix.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    seq.parse().ok().filter(|_| is_seq && is_suffix)
}

/// The payload with the security record in it.
pub(super) fn sealed_payload(event: &LogEvent) -> Value {
    let mut payload = event.payload.clone();
    if let Some(security) = &event.security {
        payload.push(SECURITY_KEY, security.to_value());
    }
    payload
}

/// The hash of a record in the newer envelope.
pub(super) fn v1_hash(event: &LogEvent, parent: Value, caused_by: Value) -> String {
    let previous = event.previous_hash.as_ref();
    let sealed = Value::object([
        ("id", Value::from(event.id.as_deref().unwrap_or_default())),
        ("type", Value::from(event.kind.as_str())),
        ("actorId", Value::from(event.actor.as_str())),
        ("threadId", Value::from(event.thread.as_str())),
        ("parentEventId", parent),
        ("causedBy", caused_by),
        ("timestamp", Value::from(event.timestamp.as_str())),
        ("payload", sealed_payload(event)),
    ]);
    let previous = previous.map_or(Value::Null, |hash| Value::from(format!("{HASH_PREFIX}{hash}")));
    sha256_hex(&python_ascii(&Value::object([("event", sealed), ("previousHash", previous)])))
}

fn legacy_hash(event: &LogEvent) -> String {
    let previous = event.previous_hash.as_deref();
    let mut sealed = Value::object([
        ("seq", Value::count(event.seq)),
        ("timestamp", Value::from(event.timestamp.as_str())),
        ("type", Value::from(event.kind.as_str())),
        ("actor", Value::from(event.actor.as_str())),
        ("thread", Value::from(event.thread.as_str())),
        ("payload", event.payload.clone()),
        ("prev_hash", previous.map_or(Value::Null, Value::from)),
    ]);
    sealed.push_some("security", event.security.as_ref().map(SecurityRecord::to_value));
    sha256_hex(&python_ascii(&sealed))
}

/// A SHA-256 hash in hexadecimal digits.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

fn object<'a>(record: &'a Value, member: &'static str) -> Result<&'a Value, RecordError> {
    match record.get(member) {
        Some(value @ Value::Object(_)) => Ok(value),
        other => Err(wrong(member, other, "an object")),
    }
}

fn string(record: &Value, member: &'static str) -> Result<String, RecordError> {
    match record.get(member) {
        Some(Value::String(JsonText::Plain(text))) => Ok(text.clone()),
        Some(Value::String(JsonText::Broken(_))) => Err(RecordError::Member {
            member,
            found: "a string with half of a surrogate pair",
            expected: "text",
        }),
        other => Err(wrong(member, other, "a string")),
    }
}

fn optional_string(record: &Value, member: &'static str) -> Result<Option<String>, RecordError> {
    match record.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => string(record, member).map(Some),
    }
}

fn wrong(member: &'static str, found: Option<&Value>, expected: &'static str) -> RecordError {
    RecordError::Member { member, found: found.map_or("absent", Value::type_name), expected }
}

/// Whether a value holds half of a surrogate pair, which no exported file can hold.
pub(super) fn has_lone_surrogate(value: &Value) -> bool {
    match value {
        Value::String(text) => text.as_str().is_none(),
        Value::Array(elements) => elements.iter().any(has_lone_surrogate),
        Value::Object(members) => members
            .iter()
            .any(|Member { key, value }| key.as_str().is_none() || has_lone_surrogate(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
