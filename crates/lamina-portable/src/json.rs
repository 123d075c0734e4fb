//! JSON that keeps number tokens and the order of members.
//!
//! Foreign formats disagree about numbers, duplicate keys, lone surrogates and `NaN`, and some of them
//! are hashed byte by byte. A general parser decides these questions once for a whole program, so this
//! module has its own reader: numbers stay tokens, a [`ReadPolicy`] decides the rest, and every error
//! names its place. Files larger than memory are read by [`ElementStream`] and [`LineReader`].

mod build;
mod elements;
mod error;
mod lines;
mod policy;
mod read;
mod text;
mod write;

pub use elements::{ElementStream, StreamError, StreamItem, StreamOptions};
pub use error::{JsonError, JsonFault, Position};
pub use lines::{LineError, LineReader, TextLine};
pub use policy::{DuplicateKeys, LoneSurrogates, NonFinite, ReadPolicy};
pub use read::{parse, parse_at};
pub use text::JsonText;
pub(crate) use write::{push_escape, write_plain};
pub use write::{to_compact, write_compact};

/// A JSON value. Numbers are tokens; members keep their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, as it was written.
    Number(NumberToken),
    /// A string.
    String(JsonText),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name.
    pub key: JsonText,
    /// Its value.
    pub value: Value,
}

/// The text of a number: an RFC 8259 number, or `NaN`, `Infinity`, `-Infinity` where the policy of the
/// reader accepts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberToken(Box<str>);

impl NumberToken {
    /// The token.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is written without a fraction and an exponent.
    pub fn is_integer(&self) -> bool {
        self.0.bytes().all(|c| c.is_ascii_digit() || c == b'-')
    }

    /// The double nearest to it; `NaN` and the infinities as themselves.
    pub fn to_f64(&self) -> f64 {
        match self.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            token => token.parse().unwrap_or(f64::NAN),
        }
    }

    pub(crate) fn new(token: &str) -> NumberToken {
        NumberToken(token.into())
    }
}

impl Value {
    /// The member of this name, if it is an object that has one.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_object()?.iter().find(|member| member.key.as_str() == Some(key)).map(|m| &m.value)
    }

    /// Takes the member of this name out of an object.
    pub fn take(&mut self, key: &str) -> Option<Value> {
        let Value::Object(members) = self else { return None };
        let at = members.iter().position(|member| member.key.as_str() == Some(key))?;
        Some(members.remove(at).value)
    }

    /// The member at the end of a chain of names.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// The text, if it is a string without lone surrogates.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[Member]> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number.
    pub fn as_number(&self) -> Option<&NumberToken> {
        match self {
            Value::Number(token) => Some(token),
            _ => None,
        }
    }

    /// The number, if it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_str().parse().ok()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Whether it says nothing: `null`, `""`, `[]` or `{}`.
    pub fn is_blank(&self) -> bool {
        match self {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(elements) => elements.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The name of its type in messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
