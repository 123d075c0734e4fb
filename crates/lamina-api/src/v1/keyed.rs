//! The idempotency key of a change: in the header, or as a field of any body (R197, R210).

use std::fmt;

use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::check;
use crate::error::ApiError;
use crate::json;

/// The name of the field.
pub const FIELD: &str = "idempotency_key";

/// A body and its key, apart from each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyed {
    /// The key, if there is one.
    pub key: Option<String>,
    /// The body without it, if it was in the body.
    pub rest: Option<Vec<u8>>,
}

/// Takes the key out of a body; the header is the other way to say it. A body that is no object is left as
/// it is: whoever reads it says what is wrong with it.
pub fn split(body: &[u8], header: Option<&str>) -> Result<Keyed, ApiError> {
    let members = serde_json::from_slice::<Members<'_>>(body);
    let members = members.map_or_else(|_| Vec::new(), |members| members.0);
    let (keys, others): (Vec<_>, Vec<_>) = members.into_iter().partition(|(name, _)| name == FIELD);
    let (given, rest) = match keys.as_slice() {
        [] => (None, None),
        [(_, value)] => (text(value)?, Some(without(&others))),
        _ => return Err(ApiError::invalid_shape(FIELD, "is there more than once")),
    };
    if let (Some(given), Some(header)) = (given.as_deref(), header)
        && given != header
    {
        let reason = "differs from the header X-Cortex-Idempotency-Key; send one of them";
        return Err(ApiError::invalid_shape(FIELD, reason));
    }
    let key = given.or_else(|| header.map(str::to_owned));
    if let Some(key) = &key {
        check::short(key, IDEMPOTENCY_KEY_CHARS_MAX)
            .map_err(|reason| ApiError::invalid_shape(FIELD, reason))?;
    }
    Ok(Keyed { key, rest })
}

/// Nothing is to be said: an empty body, or an empty object.
pub fn nothing(body: &[u8]) -> Result<(), ApiError> {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}
    if body.is_empty() {
        return Ok(());
    }
    json::read::<Nothing>(body).map(|Nothing {}| ())
}

/// What is asked for, whatever its key: a hash of where it goes and of the body. Spaces and the order of
/// names do not matter.
pub fn fingerprint(target: &str, rest: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((target.len() as u64).to_le_bytes());
    hash.update(target);
    match std::str::from_utf8(rest) {
        Ok(text) => hash.update(json::canonical(text)),
        Err(_) => hash.update(rest),
    }
    hash.finalize().into()
}

fn text(value: &RawValue) -> Result<Option<String>, ApiError> {
    serde_json::from_str(value.get()).map_err(|_| ApiError::invalid_shape(FIELD, "must be a text"))
}

fn without(others: &[(String, &RawValue)]) -> Vec<u8> {
    let mut out = String::from("{");
    for (index, (name, value)) in others.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&serde_json::to_string(name).unwrap_or_default());
        out.push(':');
        out.push_str(value.get());
    }
    out.push('}');
    out.into_bytes()
}

/// The members of an object as they were written, repeated ones too.
struct Members<'a>(Vec<(String, &'a RawValue)>);

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Members(members))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

#[cfg(test)]
mod tests;
