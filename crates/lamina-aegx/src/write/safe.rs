//! Values that every reader of the format hashes alike.

use std::collections::HashSet;

use super::{CanonError, JsonText, Member, SAFE_INTEGER_MAX, Value, WriteError, canon};
use crate::lines::LINE_VALUES_MAX;

/// Levels of a payload, below those of the format.
const DEPTH_MAX: usize = 100;

/// Writes numbers as strings that some reader rounds, and text without halves of characters.
pub(super) fn make_safe(value: &mut Value, changed: &mut u64) {
    match value {
        Value::Number(token) => {
            let digits = token.as_str().trim_start_matches('-');
            let is_zero_with_sign = token.as_str() == "-0";
            let number: Option<u64> = digits.parse().ok();
            let is_safe =
                !is_zero_with_sign && number.is_some_and(|number| number <= SAFE_INTEGER_MAX);
            if !is_safe {
                *value = Value::from(token.as_str());
                *changed += 1;
            }
        }
        Value::String(text) => repair(text),
        Value::Array(items) => items.iter_mut().for_each(|item| make_safe(item, changed)),
        Value::Object(members) => {
            for Member { key, value } in members {
                repair(key);
                make_safe(value, changed);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn repair(text: &mut JsonText) {
    if text.as_str().is_none() {
        *text = JsonText::from(text.to_lossy().into_owned());
    }
}

/// Refuses keys that are one text for some reader, and values that are too deep.
pub(super) fn check(value: &Value) -> Result<(), WriteError> {
    check_below(value, DEPTH_MAX)
}

fn check_below(value: &Value, depth: usize) -> Result<(), WriteError> {
    let below = || depth.checked_sub(1).ok_or(WriteError::Depth(DEPTH_MAX));
    match value {
        Value::Array(items) => {
            let depth = below()?;
            items.iter().try_for_each(|item| check_below(item, depth))
        }
        Value::Object(members) => {
            let depth = below()?;
            let mut seen = HashSet::new();
            for Member { key, value } in members {
                let form: Result<_, CanonError> = canon::aegx(&Value::String(key.clone()));
                if !seen.insert(form?) {
                    return Err(WriteError::Keys);
                }
                check_below(value, depth)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether a value may be refused in a line for the number of its parts.
pub(super) fn has_many_values(text: &[u8]) -> bool {
    let separators = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    separators > LINE_VALUES_MAX / 2
}
