//! The vendor block of a memory or message: our own record as text, and a hash of the members that other
//! programs show and edit. A reader takes the record while the hash fits, and the members otherwise.

use super::forms::sha256_text;
use super::model::{Memory, Message, print_time};
use super::write::write_memory;
use crate::canon::jcs;
use crate::json::{Member, Value};

/// The name of the block in `metadata` and `raw_metadata`.
pub(super) const VENDOR: &str = "x-lamina";
const RAW_METADATA: &str = "raw_metadata";
const VERSION: i64 = 1;
/// The members whose edit makes a memory another one.
const SEEN: [&str; 8] =
    ["type", "custom_type", "status", "content", "summary", "tags", "confidence", "temporal"];

/// Our own record behind a memory or a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeRecord {
    /// `event`, `fact`, `belief`, `episode`, `concept` or `decision`.
    pub layer: String,
    /// Its scope.
    pub scope: String,
    /// The record as compact JSON. It is kept as a text: numbers of any size stay as they are.
    pub record: String,
    /// The citation of an event.
    pub citation: Option<String>,
}

impl NativeRecord {
    fn to_block(&self, seen: String) -> Value {
        let mut block = Value::object([
            ("v", Value::integer(VERSION)),
            ("layer", self.layer.as_str().into()),
            ("scope", self.scope.as_str().into()),
            ("record", self.record.as_str().into()),
            ("seen", seen.into()),
        ]);
        block.push_some("citation", self.citation.as_deref());
        block
    }

    /// Reads a block, if its hash is this one.
    fn of_block(block: &Value, seen: &str) -> Option<NativeRecord> {
        let member = |name: &str| block.get(name).and_then(Value::as_str);
        let is_ours = block.get("v").and_then(Value::as_i64) == Some(VERSION);
        (is_ours && member("seen") == Some(seen)).then_some(())?;
        Some(NativeRecord {
            layer: member("layer")?.to_owned(),
            scope: member("scope")?.to_owned(),
            record: member("record")?.to_owned(),
            citation: member("citation").map(str::to_owned),
        })
    }

    /// Puts the record into the metadata of a memory that is complete otherwise.
    pub fn attach(&self, memory: &mut Memory) {
        let block = self.to_block(seen_memory(memory));
        match &mut memory.metadata {
            Some(metadata) => metadata.push(VENDOR, block),
            none => *none = Some(Value::object([(VENDOR, block)])),
        }
    }

    /// The record behind a memory that nobody edited.
    pub fn of_memory(memory: &Memory) -> Option<NativeRecord> {
        let block = memory.metadata.as_ref()?.get(VENDOR)?;
        NativeRecord::of_block(block, &seen_memory(memory))
    }

    /// Puts the record into a message that is complete otherwise.
    pub fn attach_to_message(&self, message: &mut Message) {
        let block = self.to_block(seen_message(message));
        let raw = message.others.iter_mut().find(|m| m.key.as_str() == Some(RAW_METADATA));
        match raw {
            Some(raw) => raw.value.push(VENDOR, block),
            None => {
                message.others.push(Member::new(RAW_METADATA, Value::object([(VENDOR, block)])))
            }
        }
    }

    /// The record behind a message that nobody edited.
    pub fn of_message(message: &Message) -> Option<NativeRecord> {
        let raw = message.others.iter().find(|m| m.key.as_str() == Some(RAW_METADATA))?;
        NativeRecord::of_block(raw.value.get(VENDOR)?, &seen_message(message))
    }
}

/// Takes our block out of the members of a message.
pub fn take_message_block(message: &mut Message) {
    for member in &mut message.others {
        if member.key.as_str() == Some(RAW_METADATA) {
            member.value.take(VENDOR);
        }
    }
    message.others.retain(|m| m.key.as_str() != Some(RAW_METADATA) || !m.value.is_blank());
}

/// The hash of what other programs see of a memory. References are left out: a writer drops those whose
/// target is not in the export.
fn seen_memory(memory: &Memory) -> String {
    let mut written = write_memory(memory);
    let shown = SEEN.iter().filter_map(|name| Some(Member::new(name, written.take(name)?)));
    let mut shown = Value::Object(shown.collect());
    if let Some(mut temporal) = shown.take("temporal") {
        temporal.take("superseded_by");
        shown.push("temporal", temporal);
    }
    hash(&shown)
}

fn seen_message(message: &Message) -> String {
    let mut shown = Value::object([
        ("role", message.role.as_str().into()),
        ("created_at", print_time(message.created_at).into()),
    ]);
    shown.push_some("text", message.text.as_deref());
    hash(&shown)
}

/// A value without a canonical form has no hash, and so no record is taken for it.
fn hash(value: &Value) -> String {
    jcs(value).map(|bytes| sha256_text(&bytes)).unwrap_or_default()
}
