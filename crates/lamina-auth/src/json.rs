//! JSON objects of strangers, read strictly.
//!
//! Two members of one name are refused: one reader takes the first, another the last, and a token
//! that two programs read differently is a hole. Values stay text until they are asked for.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Members of one object. Tokens of identity providers have some dozen.
const MEMBERS_MAX: usize = 128;

/// The members of an object, by name.
#[derive(Debug, Clone)]
pub(crate) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    /// Reads an object; `None` if the text is anything else, or an object with a name twice.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Members> {
        serde_json::from_str(std::str::from_utf8(bytes).ok()?).ok()
    }

    /// The value of a member; `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.get(name).map(|value| &**value).filter(|value| value.get() != "null")
    }

    /// The value of a member as this type; `None` if it is absent, an error if it is another type.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, WrongType> {
        let Some(value) = self.get(name) else { return Ok(None) };
        serde_json::from_str(value.get()).map(Some).map_err(|_| WrongType)
    }

    /// Whether a member of this name is there, `null` or not.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

/// The member is there, and is of another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WrongType;

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Members, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = BTreeMap<String, Box<RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
            if members.len() >= MEMBERS_MAX {
                return Err(A::Error::custom("too many members"));
            }
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member twice"));
            }
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests;
