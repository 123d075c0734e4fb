//! Strings of JSON. An escape can name half of a surrogate pair, which no UTF-8 text can hold, so a
//! string is either plain text or the UTF-16 units that were escaped.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A JSON string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum JsonText {
    /// Text.
    Plain(String),
    /// UTF-16 units with at least one lone surrogate among them.
    Broken(Vec<u16>),
}

impl JsonText {
    /// Text of UTF-16 units: plain if they are well formed.
    pub fn from_units(units: Vec<u16>) -> JsonText {
        match String::from_utf16(&units) {
            Ok(text) => JsonText::Plain(text),
            Err(_) => JsonText::Broken(units),
        }
    }

    /// The text, unless it has a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            JsonText::Plain(text) => Some(text),
            JsonText::Broken(_) => None,
        }
    }

    /// The text, each lone surrogate replaced by U+FFFD.
    pub fn to_lossy(&self) -> Cow<'_, str> {
        match self {
            JsonText::Plain(text) => Cow::Borrowed(text),
            JsonText::Broken(units) => Cow::Owned(String::from_utf16_lossy(units)),
        }
    }

    /// Whether it has no characters.
    pub fn is_empty(&self) -> bool {
        match self {
            JsonText::Plain(text) => text.is_empty(),
            JsonText::Broken(units) => units.is_empty(),
        }
    }

    /// The code points; a lone surrogate is one of its own.
    pub fn code_points(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            JsonText::Plain(text) => Box::new(text.chars().map(u32::from)),
            JsonText::Broken(units) => {
                Box::new(char::decode_utf16(units.iter().copied()).map(|unit| match unit {
                    Ok(c) => u32::from(c),
                    Err(lone) => u32::from(lone.unpaired_surrogate()),
                }))
            }
        }
    }

    /// The UTF-16 units.
    pub fn units(&self) -> Box<dyn Iterator<Item = u16> + '_> {
        match self {
            JsonText::Plain(text) => Box::new(text.encode_utf16()),
            JsonText::Broken(units) => Box::new(units.iter().copied()),
        }
    }

    /// The order of code points, by which Python sorts keys.
    pub fn cmp_code_points(&self, other: &JsonText) -> Ordering {
        match (self, other) {
            // UTF-8 sorts like code points.
            (JsonText::Plain(own), JsonText::Plain(other)) => own.cmp(other),
            _ => self.code_points().cmp(other.code_points()),
        }
    }

    /// The order of UTF-16 units, by which RFC 8785 sorts keys.
    pub fn cmp_units(&self, other: &JsonText) -> Ordering {
        match (self, other) {
            (JsonText::Plain(own), JsonText::Plain(other))
                if own.is_ascii() && other.is_ascii() =>
            {
                own.cmp(other)
            }
            _ => self.units().cmp(other.units()),
        }
    }
}

impl From<&str> for JsonText {
    fn from(text: &str) -> JsonText {
        JsonText::Plain(text.to_owned())
    }
}

impl From<String> for JsonText {
    fn from(text: String) -> JsonText {
        JsonText::Plain(text)
    }
}
