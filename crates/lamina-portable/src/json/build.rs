//! Making values by hand, for the writers of this crate.

use super::{JsonText, Member, NumberToken, Value};
use crate::canon::ecma_double;

impl Value {
    /// An object with these members, in this order.
    pub fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
        Value::Object(members.into_iter().map(|(key, value)| Member::new(key, value)).collect())
    }

    /// An integer.
    pub fn integer(number: i64) -> Value {
        Value::Number(NumberToken::new(&number.to_string()))
    }

    /// A count.
    pub fn count(number: u64) -> Value {
        Value::Number(NumberToken::new(&number.to_string()))
    }

    /// A double in its shortest form; `null` if it is not finite.
    pub fn double(number: f64) -> Value {
        match number.is_finite() {
            true => Value::Number(NumberToken::new(&ecma_double(number))),
            false => Value::Null,
        }
    }

    /// An array of strings.
    pub fn strings<T: AsRef<str>>(items: &[T]) -> Value {
        Value::Array(items.iter().map(|item| Value::from(item.as_ref())).collect())
    }

    /// Appends a member to an object; anything else stays as it is.
    pub fn push(&mut self, key: &str, value: impl Into<Value>) {
        if let Value::Object(members) = self {
            members.push(Member::new(key, value.into()));
        }
    }

    /// Appends a member if there is a value.
    pub fn push_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.push(key, value);
        }
    }
}

impl Member {
    /// A member.
    pub fn new(key: &str, value: Value) -> Member {
        Member { key: JsonText::from(key), value }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(JsonText::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(JsonText::from(text))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(elements: Vec<Value>) -> Value {
        Value::Array(elements)
    }
}
