//! Small readings that many formats share.

use lamina_types::Role;

use crate::json::Value;

/// The text of the first of these members that has one.
pub(super) fn text_of<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    let texts = names.iter().filter_map(|name| value.get(name)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty())
}

/// A member that is a text or a number, as text.
pub(super) fn word_of(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) => Some(text.to_lossy().into_owned()).filter(|text| !text.is_empty()),
        Value::Number(token) => Some(token.as_str().to_owned()),
        _ => None,
    }
}

/// The texts of an array member.
pub(super) fn texts_of(value: &Value, name: &str) -> Vec<String> {
    let elements = value.get(name).and_then(Value::as_array).unwrap_or_default();
    elements.iter().filter_map(|element| element.as_str().map(str::to_owned)).collect()
}

/// Whether a member is `true`.
pub(super) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

/// The role that another program calls so.
pub(super) fn role_of(name: &str) -> Option<Role> {
    Some(match name.to_ascii_lowercase().as_str() {
        "user" | "human" => Role::User,
        "assistant" | "ai" | "bot" | "model" | "agent" | "copilot" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        "system" | "developer" => Role::System,
        _ => return None,
    })
}
