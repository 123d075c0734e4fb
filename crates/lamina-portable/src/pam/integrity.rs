//! The checksum of the memories: over the array as it stands in the file, and over the form that the
//! published toolkit makes of it before it hashes.

use super::forms::{Instant, sha256_text};
use crate::canon::{CanonError, jcs};
use crate::json::{Member, Value};

/// The checksum of an `integrity` block: RFC 8785 of the memories in the order of their ids.
pub fn checksum(memories: &[Value]) -> Result<String, CanonError> {
    checksum_by(memories, jcs)
}

/// The checksum that the published toolkit computes.
pub(super) fn toolkit_checksum(memories: &[Value]) -> Result<String, CanonError> {
    checksum_by(memories, |memory| jcs(&toolkit_form(memory)))
}

fn checksum_by(
    memories: &[Value],
    canonical: impl Fn(&Value) -> Result<Vec<u8>, CanonError>,
) -> Result<String, CanonError> {
    let mut sorted: Vec<&Value> = memories.iter().collect();
    sorted.sort_by_key(|memory| memory.get("id").and_then(Value::as_str).unwrap_or_default());
    let mut text = b"[".to_vec();
    for (index, memory) in sorted.into_iter().enumerate() {
        if index > 0 {
            text.push(b',');
        }
        text.extend(canonical(memory)?);
    }
    text.push(b']');
    Ok(sha256_text(&text))
}

/// The memory as the toolkit writes it back: without nulls, with defaults, times rewritten.
fn toolkit_form(memory: &Value) -> Value {
    let mut form = without_nulls(memory);
    add_missing(&mut form, "status", || Value::from("active"));
    add_missing(&mut form, "tags", || Value::Array(Vec::new()));
    let Value::Object(members) = &mut form else { return form };
    for Member { key, value } in members {
        match key.as_str() {
            Some("temporal") => rewrite_block(value, &TEMPORAL_TIMES),
            Some("provenance") => rewrite_block(value, &["extracted_at"]),
            Some("confidence") => rewrite_block(value, &["last_reinforced"]),
            Some("metadata") => *value = without_nulls(value),
            Some("access") => {
                *value = without_nulls(value);
                add_missing(value, "visibility", || Value::from("private"));
                add_missing(value, "exportable", || Value::Bool(true));
                add_missing(value, "shared_with", || Value::Array(Vec::new()));
            }
            _ => {}
        }
    }
    form
}

const TEMPORAL_TIMES: [&str; 4] = ["created_at", "updated_at", "valid_from", "valid_until"];

fn rewrite_block(block: &mut Value, times: &[&str]) {
    *block = without_nulls(block);
    let Value::Object(members) = block else { return };
    for Member { key, value } in members {
        let is_time = key.as_str().is_some_and(|key| times.contains(&key));
        if let Some(instant) = value.as_str().filter(|_| is_time).and_then(Instant::parse) {
            *value = Value::from(instant.rewritten);
        }
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            Value::Object(members.iter().filter(|m| !m.value.is_null()).cloned().collect())
        }
        other => other.clone(),
    }
}

fn add_missing(value: &mut Value, key: &str, default: impl FnOnce() -> Value) {
    if value.get(key).is_none() {
        value.push(key, default());
    }
}
