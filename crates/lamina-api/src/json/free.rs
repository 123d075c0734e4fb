//! JSON whose shape is the caller's own: kept as submitted, without the white space.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;

use super::scan;

/// A JSON value of any shape, as compact text. Numbers and strings are spelled as submitted; keys
/// are unique in every object; the nesting is within the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeJson(String);

impl FreeJson {
    /// The compact text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The compact text, owned.
    pub fn into_string(self) -> String {
        self.0
    }

    /// The first character tells the type of a JSON value.
    pub(crate) fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether it is an array.
    pub(crate) fn is_array(&self) -> bool {
        self.0.starts_with('[')
    }

    /// Whether it is a string.
    pub(crate) fn is_string(&self) -> bool {
        self.0.starts_with('"')
    }
}

impl<'de> Deserialize<'de> for FreeJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        scan::compact(raw.get()).map(FreeJson).map_err(|error| D::Error::custom(error.reason))
    }
}

impl JsonSchema for FreeJson {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::default()
    }
}
