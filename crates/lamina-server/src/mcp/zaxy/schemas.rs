//! The schemas of the profile: inputs as agents of Zaxy know them, and what the answers hold.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The input schemas, by tool.
const INPUTS: &str = include_str!("schemas.json");
/// The schemas of the structured answers, by tool.
const ANSWERS: &str = include_str!("answers.json");

/// The input schema of a tool.
pub(super) fn input(tool: &str) -> Value {
    static PARSED: OnceLock<Map<String, Value>> = OnceLock::new();
    of(PARSED.get_or_init(|| parse(INPUTS)), tool)
}

/// The schema of the structured answer of a tool.
pub(super) fn output(tool: &str) -> Value {
    static PARSED: OnceLock<Map<String, Value>> = OnceLock::new();
    of(PARSED.get_or_init(|| parse(ANSWERS)), tool)
}

fn parse(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect("the schemas of the profile are JSON objects")
}

fn of(schemas: &Map<String, Value>, tool: &str) -> Value {
    schemas.get(tool).cloned().expect("every tool of the profile has its schemas")
}
