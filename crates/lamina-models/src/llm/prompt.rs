//! What a model is told. The texts are files beside this crate, compiled in; their hash is part of the
//! name that answers carry, so that it is known which words made a claim.

use std::sync::LazyLock;

use jiff::Timestamp;
use lamina_types::Micros;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::relation::RELATIONS;

const INSTRUCTIONS: &str = include_str!("../../prompts/extract-1.md");
const SCHEMA: &str = include_str!("../../prompts/extract-1.schema.json");
const NAME: &str = "extract-1";
/// Where the relations stand in the instructions.
const RELATIONS_HERE: &str = "{relations}";

/// One event, as it is shown. The id is good for one call and cannot be guessed from a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What the answer calls it.
    pub id: String,
    /// When it was said.
    pub observed_at: Micros,
    /// The words.
    pub text: String,
}

static FILLED: LazyLock<String> = LazyLock::new(|| {
    let lines: Vec<String> = RELATIONS
        .iter()
        .map(|relation| {
            format!("- {} ({}): {}", relation.predicate, relation.object.as_str(), relation.said_as)
        })
        .collect();
    INSTRUCTIONS.replace(RELATIONS_HERE, &lines.join("\n"))
});

static SCHEMA_VALUE: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(SCHEMA).expect("the schema is compiled in, and a test reads it")
});

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let hash = Sha256::new().chain_update(FILLED.as_bytes()).chain_update(SCHEMA).finalize();
    let short: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{NAME}.{short}")
});

/// The instructions, with the relations in them.
pub(super) fn instructions() -> &'static str {
    &FILLED
}

/// The schema of the answer.
pub(super) fn schema() -> &'static Value {
    &SCHEMA_VALUE
}

/// Which instructions and which schema: a name and a hash.
pub fn prompt_version() -> &'static str {
    &VERSION
}

/// Bytes that every question has, whatever it is about.
pub fn fixed_bytes() -> usize {
    FILLED.len() + SCHEMA.len()
}

/// Bytes that an event adds to a question, at most.
pub fn shown_bytes(text: &str) -> usize {
    // The id, the instant, and what JSON writes around them.
    const AROUND: usize = 96;
    AROUND + json!(super::shown(text)).to_string().len()
}

/// The events as one JSON document: no text can end it early.
pub(super) fn document(items: &[Item]) -> String {
    let events: Vec<Value> = items
        .iter()
        .map(|item| {
            let said_at = Timestamp::from_microsecond(item.observed_at.0).unwrap_or_default();
            json!({ "id": item.id, "said_at": format!("{said_at:.0}"), "text": item.text })
        })
        .collect();
    json!({ "events": events }).to_string()
}
