//! An Eventloom log: one JSON record per line, each sealed with the hash of its predecessor.

use super::event::{
    Envelope, HASH_PREFIX, LogEvent, RecordError, SecurityRecord, sealed_payload, sha256_hex,
    v1_hash,
};
use crate::canon::{python_ascii, python_compact_ascii};
use crate::json::Value;

/// A log in memory, in the order of its lines.
#[derive(Debug, Clone, Default)]
pub struct EventLog {
    /// Its events.
    pub events: Vec<LogEvent>,
}

/// Why a file is no log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// A line that is no record.
    #[error("line {line} is no record: {source}")]
    Record {
        /// The line, from 1.
        line: u64,
        /// The cause.
        source: RecordError,
    },
    /// Bytes that are no text.
    #[error("line {line} is not UTF-8")]
    Utf8 {
        /// The line, from 1.
        line: u64,
    },
}

/// The first place where a chain does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct BrokenChain {
    /// The number of the event.
    pub seq: u64,
    /// The violation.
    pub fault: ChainFault,
}

/// A violation of the chain. The texts are those of Zaxy, so that reports can be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChainFault {
    /// A number is missing, repeated or out of order.
    #[error("Event sequence expected {expected} but found {found}")]
    Sequence {
        /// The next number.
        expected: u64,
        /// The number of the record.
        found: u64,
    },
    /// The content was changed.
    #[error("Event {0} hash mismatch")]
    Hash(u64),
    /// Something is missing before the first event.
    #[error("First event has prev_hash set")]
    FirstHasPrevious,
    /// The event belongs to another chain.
    #[error("Event {0} prev_hash does not link to previous")]
    Link(u64),
}

impl EventLog {
    /// Reads every line that is not blank. Lines end with `\n`, `\r` or both.
    pub fn read(bytes: &[u8]) -> Result<EventLog, LogError> {
        let mut events = Vec::new();
        let mut line = 0;
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let end = end.unwrap_or(rest.len());
            let (content, after) = rest.split_at(end);
            let end_bytes = if after.starts_with(b"\r\n") { 2 } else { 1 };
            rest = after.get(end_bytes..).unwrap_or_default();
            line += 1;
            let text = std::str::from_utf8(content).map_err(|_| LogError::Utf8 { line })?;
            let text = super::coerce::trim(text);
            if !text.is_empty() {
                let position = events.len() as u64 + 1;
                let event = LogEvent::parse(text.as_bytes(), position);
                events.push(event.map_err(|source| LogError::Record { line, source })?);
            }
        }
        Ok(EventLog { events })
    }

    /// Checks numbers, hashes and links, in this order for each event.
    pub fn verify(&self) -> Result<(), BrokenChain> {
        match self.first_broken() {
            None => Ok(()),
            Some((_, broken)) => Err(broken),
        }
    }

    /// The place of the first event that does not hold, from 0, and its violation.
    pub fn first_broken(&self) -> Option<(usize, BrokenChain)> {
        let mut previous: Option<&LogEvent> = None;
        for (index, event) in self.events.iter().enumerate() {
            if let Some(fault) = fault_of(event, index as u64 + 1, previous) {
                return Some((index, BrokenChain { seq: event.seq, fault }));
            }
            previous = Some(event);
        }
        None
    }
}

/// The violation of one event that should have this number and follow this predecessor.
fn fault_of(event: &LogEvent, expected: u64, previous: Option<&LogEvent>) -> Option<ChainFault> {
    if event.seq != expected {
        return Some(ChainFault::Sequence { expected, found: event.seq });
    }
    if event.hash != event.computed_hash {
        return Some(ChainFault::Hash(event.seq));
    }
    match previous {
        None if event.previous_hash.is_some() => Some(ChainFault::FirstHasPrevious),
        Some(previous) if event.previous_hash.as_ref() != Some(&previous.hash) => {
            Some(ChainFault::Link(event.seq))
        }
        _ => None,
    }
}

/// The content of a record that is about to be sealed.
#[derive(Debug, Clone)]
pub struct LogRecord {
    /// The time as text.
    pub timestamp: String,
    /// Its type.
    pub kind: String,
    /// Its actor.
    pub actor: String,
    /// Its thread.
    pub thread: String,
    /// An object.
    pub payload: Value,
    /// The sensitivity tier.
    pub sensitivity: String,
}

/// Writes a log in the envelope `eventloom.v1`: dense numbers, ids that Zaxy accepts, chained hashes.
#[derive(Debug, Default)]
pub struct LogWriter {
    seq: u64,
    previous_hash: Option<String>,
}

impl LogWriter {
    /// A writer of a new log.
    pub fn new() -> LogWriter {
        LogWriter::default()
    }

    /// A writer that continues a chain after an event.
    pub fn after(event: &LogEvent) -> LogWriter {
        LogWriter { seq: event.seq, previous_hash: Some(event.hash.clone()) }
    }

    /// Seals the next record.
    pub fn seal(&mut self, record: LogRecord) -> LogEvent {
        let LogRecord { timestamp, kind, actor, thread, payload, sensitivity } = record;
        self.seq += 1;
        let identity = Value::object([
            ("actor", Value::from(actor.as_str())),
            ("seq", Value::count(self.seq)),
            ("timestamp", Value::from(timestamp.as_str())),
            ("type", Value::from(kind.as_str())),
        ]);
        let suffix: String = sha256_hex(&python_ascii(&identity)).chars().take(16).collect();
        let mut event = LogEvent {
            envelope: Envelope::EventloomV1,
            seq: self.seq,
            id: Some(format!("evt_zaxy_{:012}_{suffix}", self.seq)),
            timestamp,
            kind,
            actor,
            thread,
            payload,
            security: Some(SecurityRecord {
                sensitivity: Value::from(sensitivity),
                redacted_paths: Value::Array(Vec::new()),
            }),
            previous_hash: self.previous_hash.take(),
            hash: String::new(),
            computed_hash: String::new(),
        };
        event.hash = v1_hash(&event, Value::Null, Value::Array(Vec::new()));
        event.computed_hash = event.hash.clone();
        self.previous_hash = Some(event.hash.clone());
        event
    }

    /// The line of a sealed record, with its end.
    pub fn line(event: &LogEvent) -> String {
        let prefixed = |hash: &String| Value::from(format!("{HASH_PREFIX}{hash}"));
        let record = Value::object([
            ("id", event.id.as_deref().map_or(Value::Null, Value::from)),
            ("type", Value::from(event.kind.as_str())),
            ("actorId", Value::from(event.actor.as_str())),
            ("threadId", Value::from(event.thread.as_str())),
            ("parentEventId", Value::Null),
            ("causedBy", Value::Array(Vec::new())),
            ("timestamp", Value::from(event.timestamp.as_str())),
            ("payload", sealed_payload(event)),
            (
                "integrity",
                Value::object([
                    ("hash", prefixed(&event.hash)),
                    ("previousHash", event.previous_hash.as_ref().map_or(Value::Null, prefixed)),
                ]),
            ),
        ]);
        let mut line = python_compact_ascii(&record);
        line.push('\n');
        line
    }
}

/// A line without the white space around it, as a reader of logs sees it.
pub fn trim_line(line: &str) -> &str {
    super::coerce::trim(line)
}

/// Whether Zaxy takes a text as the name of a session and of its file.
pub fn is_session_name(text: &str) -> bool {
    let is_letter = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'.' | b'-');
    (1..=SESSION_NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Characters of a session's name.
const SESSION_NAME_CHARS_MAX: usize = 128;
/// Characters of a scope that are kept in the name of its session.
const SCOPE_CHARS_KEPT_MAX: usize = 100;

/// The session name of a scope: other characters become `-`, and a hash keeps different scopes apart.
pub fn session_name(scope: &str) -> String {
    if is_session_name(scope) {
        return scope.to_owned();
    }
    let keep = |c: char| if is_session_name(c.encode_utf8(&mut [0; 4])) { c } else { '-' };
    let kept: String = scope.chars().take(SCOPE_CHARS_KEPT_MAX).map(keep).collect();
    let hash: String = sha256_hex(scope.as_bytes()).chars().take(8).collect();
    format!("{kept}-{hash}")
}
