//! The bounds of arguments that the schemas of the profile do not state.

use serde_json::Value;

use crate::mcp::tools::{ToolCall, ToolFailure};

/// Characters of a question.
pub(super) const QUERY_CHARS_MAX: usize = 4_096;
/// Results of one call.
pub(super) const LIMIT_MAX: u64 = 100;
/// Results, unless a number is asked for.
pub(super) const LIMIT_DEFAULT: u64 = 10;
/// Recent events of one call.
pub(super) const RECENT_MAX: u64 = 100;
/// Recent events, unless a number is asked for.
pub(super) const RECENT_DEFAULT: u64 = 20;

/// The question of a call: 1 to 4,096 characters.
pub(super) fn query(call: &ToolCall) -> Result<String, ToolFailure> {
    let query = call.text("query").map(str::trim).unwrap_or_default();
    checked_query(query)
}

/// Holds a question against its bounds.
pub(super) fn checked_query(query: &str) -> Result<String, ToolFailure> {
    match query.chars().count() {
        1..=QUERY_CHARS_MAX => Ok(query.to_owned()),
        count => Err(ToolFailure::mistake(
            "INVALID_ARGUMENT",
            format!("`query` has {count} characters; it must have 1 to {QUERY_CHARS_MAX}."),
        )),
    }
}

/// The number of results of a call: 1 to 100.
pub(super) fn limit(call: &ToolCall) -> Result<usize, ToolFailure> {
    number(call, "limit", LIMIT_DEFAULT, (1, LIMIT_MAX))
}

/// The number of recent events of a call: 0 to 100.
pub(super) fn recent(call: &ToolCall) -> Result<usize, ToolFailure> {
    number(call, "max_recent_events", RECENT_DEFAULT, (0, RECENT_MAX))
}

/// The number that the log is replayed from: 1 at least.
pub(super) fn from_seq(call: &ToolCall, name: &str) -> Result<u64, ToolFailure> {
    number(call, name, 1, (1, i64::MAX as u64)).map(|number| number as u64)
}

fn number(
    call: &ToolCall,
    name: &str,
    default: u64,
    (least, most): (u64, u64),
) -> Result<usize, ToolFailure> {
    let number = match call.arguments.get(name) {
        None | Some(Value::Null) => Some(default),
        Some(number) => number.as_u64(),
    };
    match number.filter(|number| (least..=most).contains(number)) {
        Some(number) => Ok(usize::try_from(number).unwrap_or(usize::MAX)),
        None => Err(ToolFailure::mistake(
            "INVALID_ARGUMENT",
            format!("`{name}` must be a whole number from {least} to {most}."),
        )),
    }
}
