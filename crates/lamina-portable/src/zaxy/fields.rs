//! Reading the members of a payload, and collecting the properties of an entity.

use super::coerce::{
    display, double, integer, is_truthy, optional, parse_float, parse_integer, text,
};
use crate::json::{Member, Value};

/// The members of an object, by the coercions of the extraction rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    /// The members of an object; anything else has none.
    pub(super) fn new(value: &'a Value) -> Fields<'a> {
        Fields(value)
    }

    pub(super) fn has(self, key: &str) -> bool {
        self.0.get(key).is_some()
    }

    pub(super) fn raw(self, key: &str) -> Option<&'a Value> {
        self.0.get(key)
    }

    /// The value as it is, or `null`.
    pub(super) fn value(self, key: &str) -> Value {
        self.raw(key).cloned().unwrap_or_default()
    }

    /// The value as it is, or a default where there is no such member.
    pub(super) fn value_or(self, key: &str, default: &str) -> Value {
        self.raw(key).cloned().unwrap_or_else(|| Value::from(default))
    }

    /// Trimmed text.
    pub(super) fn text(self, key: &str) -> Option<String> {
        text(self.raw(key))
    }

    pub(super) fn text_or(self, key: &str, default: &str) -> String {
        self.text(key).unwrap_or_else(|| default.to_owned())
    }

    /// Text of the first member that Python calls true, else of the last one.
    pub(super) fn text_of_any(self, keys: &[&str]) -> Option<String> {
        text(self.any(keys))
    }

    /// The first member that Python calls true, else the last one.
    pub(super) fn any(self, keys: &[&str]) -> Option<&'a Value> {
        let truthy = keys.iter().filter_map(|key| self.raw(key)).find(|value| is_truthy(value));
        truthy.or_else(|| self.raw(keys.last()?))
    }

    /// Texts of the items of a list.
    pub(super) fn texts(self, key: &str) -> Vec<String> {
        let items = self.raw(key).and_then(Value::as_array).unwrap_or_default();
        items.iter().filter_map(|item| text(Some(item))).collect()
    }

    /// The objects of a list.
    pub(super) fn objects(self, key: &str) -> Vec<Fields<'a>> {
        let items = self.raw(key).and_then(Value::as_array).unwrap_or_default();
        items.iter().filter(|item| item.as_object().is_some()).map(Fields).collect()
    }

    /// The members of an object; none if it is something else.
    pub(super) fn object(self, key: &str) -> Fields<'a> {
        const NOTHING: &Value = &Value::Null;
        Fields(self.raw(key).filter(|value| value.as_object().is_some()).unwrap_or(NOTHING))
    }

    pub(super) fn is_object(self, key: &str) -> bool {
        self.raw(key).is_some_and(|value| value.as_object().is_some())
    }

    pub(super) fn is_list(self, key: &str) -> bool {
        self.raw(key).is_some_and(|value| value.as_array().is_some())
    }

    /// The list, or an empty one.
    pub(super) fn list(self, key: &str) -> Value {
        match self.is_list(key) {
            true => self.value(key),
            false => Value::Array(Vec::new()),
        }
    }

    pub(super) fn list_length(self, key: &str) -> usize {
        self.raw(key).and_then(Value::as_array).map_or(0, <[Value]>::len)
    }

    /// A number from 0 to 1.
    pub(super) fn unit(self, key: &str) -> Option<f64> {
        let number = self.number(key)?;
        // The comparison order of Python's min and max, which makes 1 of NaN.
        let capped = if number < 1.0 { number } else { 1.0 };
        Some(if capped > 0.0 { capped } else { 0.0 })
    }

    /// A number, also inside a text; booleans are none.
    pub(super) fn number(self, key: &str) -> Option<f64> {
        match self.raw(key)? {
            Value::Null | Value::Bool(_) => None,
            value => parse_float(&display(value)),
        }
    }

    /// The digits of a positive integer, or the default.
    pub(super) fn positive(self, key: &str, default: impl ToString) -> String {
        let digits = parse_integer(self.raw(key)).filter(|digits| !digits.starts_with('-'));
        digits.filter(|digits| digits != "0").unwrap_or_else(|| default.to_string())
    }

    /// The digits of an integer that is not negative, or 0.
    pub(super) fn not_negative(self, key: &str) -> String {
        let digits = parse_integer(self.raw(key)).filter(|digits| !digits.starts_with('-'));
        digits.unwrap_or_else(|| "0".to_owned())
    }

    pub(super) fn is_true(self, key: &str) -> bool {
        self.raw(key).is_some_and(is_truthy)
    }

    /// Texts of these members, joined.
    pub(super) fn join(self, keys: &[&str]) -> Option<String> {
        join(&keys.iter().map(|key| self.value(key)).collect::<Vec<_>>())
    }

    /// The object itself.
    pub(super) fn members(self) -> &'a [Member] {
        self.0.as_object().unwrap_or_default()
    }

    pub(super) fn as_value(self) -> &'a Value {
        self.0
    }
}

/// Texts of the values and of the items of lists, joined by spaces.
pub(super) fn join(values: &[Value]) -> Option<String> {
    let mut parts = Vec::new();
    for value in values {
        match value {
            Value::Array(items) => parts.extend(items.iter().filter_map(|item| text(Some(item)))),
            value => parts.extend(text(Some(value))),
        }
    }
    (!parts.is_empty()).then(|| parts.join(" "))
}

/// The properties of an entity, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Properties(Vec<Member>);

impl Properties {
    pub(super) fn new() -> Properties {
        Properties::default()
    }

    /// Sets a property; one of this name keeps its place.
    pub(super) fn put(mut self, key: &str, value: impl Into<Value>) -> Properties {
        let value = value.into();
        match self.0.iter_mut().find(|member| member.key.as_str() == Some(key)) {
            Some(member) => member.value = value,
            None => self.0.push(Member::new(key, value)),
        }
        self
    }

    /// Sets a text, or `null`.
    pub(super) fn text(self, key: &str, text: Option<String>) -> Properties {
        self.put(key, optional(text))
    }

    /// Sets a text, unless there is none.
    pub(super) fn some(self, key: &str, text: Option<String>) -> Properties {
        match text {
            Some(text) => self.put(key, text),
            None => self,
        }
    }

    pub(super) fn texts(self, key: &str, texts: &[String]) -> Properties {
        self.put(key, Value::strings(texts))
    }

    pub(super) fn integer(self, key: &str, digits: &str) -> Properties {
        self.put(key, integer(digits))
    }

    pub(super) fn count(self, key: &str, count: usize) -> Properties {
        self.put(key, Value::count(count as u64))
    }

    pub(super) fn double(self, key: &str, number: Option<f64>) -> Properties {
        self.put(key, number.map_or(Value::Null, double))
    }

    /// Sets all of another list.
    pub(super) fn extend(mut self, other: Properties) -> Properties {
        for member in other.0 {
            if let Some(key) = member.key.as_str() {
                self = self.put(key, member.value);
            }
        }
        self
    }

    /// Without `null` and empty lists.
    pub(super) fn compact(mut self) -> Properties {
        let is_empty_list = |value: &Value| value.as_array().is_some_and(<[Value]>::is_empty);
        self.0.retain(|member| !member.value.is_null() && !is_empty_list(&member.value));
        self
    }

    /// The object, or `null` if it is empty.
    pub(super) fn or_null(self) -> Value {
        if self.0.is_empty() { Value::Null } else { Value::Object(self.0) }
    }
}

impl From<Properties> for Value {
    fn from(properties: Properties) -> Value {
        Value::Object(properties.0)
    }
}
