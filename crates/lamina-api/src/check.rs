//! The small rules that many fields share: length in characters, no control characters, the syntax
//! of language tags, scripts and time zones.

use lamina_types::ErrorCode;
use lamina_types::limits::{LANGUAGE_CHARS_MAX, TIMEZONE_CHARS_MAX};
use lamina_types::scope::BUILT_IN_TYPES;
use lamina_types::{ActorId, ScopePath};

use crate::error::ApiError;

/// The result of a rule: why a value is refused.
pub(crate) type Rule = Result<(), String>;

/// A rule about one field, as an envelope error.
pub(crate) fn field(field: &str, rule: Rule) -> Result<(), ApiError> {
    rule.map_err(|reason| ApiError::invalid_envelope(field, reason))
}

/// A short text: not empty, at most so many characters, no control characters.
pub(crate) fn short(text: &str, chars_max: usize) -> Rule {
    if text.is_empty() {
        return Err("must not be empty".to_owned());
    }
    // Bytes bound characters from above, so most texts are never counted.
    if text.len() > chars_max && text.chars().count() > chars_max {
        return Err(format!("has more than {chars_max} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("contains a control character".to_owned());
    }
    Ok(())
}

/// A short text limited in bytes, without white space around it.
pub(crate) fn trimmed(text: &str, bytes_max: usize) -> Rule {
    if text.len() > bytes_max {
        return Err(format!("has more than {bytes_max} bytes"));
    }
    if text.is_empty() || text.trim() != text {
        return Err("must not be empty or surrounded by white space".to_owned());
    }
    short(text, bytes_max)
}

/// The syntax of a BCP 47 language tag; whether the language exists is not checked.
pub(crate) fn language(tag: &str) -> Rule {
    let mut parts = tag.split('-');
    let first = parts.next().unwrap_or_default();
    let first_ok = match first.len() {
        1 => matches!(first, "x" | "X" | "i" | "I") && tag.contains('-'),
        2..=8 => true,
        _ => false,
    };
    let rest_ok = parts.all(|part| {
        (1..=8).contains(&part.len()) && part.bytes().all(|c| c.is_ascii_alphanumeric())
    });
    let ok = tag.len() <= LANGUAGE_CHARS_MAX
        && first_ok
        && first.bytes().all(|c| c.is_ascii_alphabetic())
        && rest_ok;
    match ok {
        true => Ok(()),
        false => Err("is not a BCP 47 language tag such as `en` or `pt-BR`".to_owned()),
    }
}

/// The syntax of an ISO 15924 script code.
pub(crate) fn script(code: &str) -> Rule {
    match code.len() == 4 && code.bytes().all(|c| c.is_ascii_alphabetic()) {
        true => Ok(()),
        false => Err("is not an ISO 15924 script code such as `Latn`".to_owned()),
    }
}

/// The syntax of an IANA time zone name; whether the zone exists is not checked.
pub(crate) fn timezone(name: &str) -> Rule {
    let part_ok = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphanumeric())
            && part.bytes().all(|c| c.is_ascii_alphanumeric() || b"_+-".contains(&c))
    };
    let ok = name.len() <= TIMEZONE_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.split('/').all(part_ok);
    match ok {
        true => Ok(()),
        false => Err("is not an IANA time zone such as `Europe/Berlin`".to_owned()),
    }
}

/// A scope of a request. The grammar has a code of its own.
pub(crate) fn scope(field: &str, text: &str) -> Result<ScopePath, ApiError> {
    text.parse().map_err(|error: lamina_types::scope::ScopeError| {
        ApiError::at(ErrorCode::InvalidScopeGrammar, field, error.to_string())
    })
}

/// A scope that is about to be written to: its types must be known, and none may be `system` (R070,
/// C09).
pub(crate) fn writable_scope(
    field: &str,
    text: &str,
    type_allowed: &dyn Fn(&str) -> bool,
) -> Result<ScopePath, ApiError> {
    let path = scope(field, text)?;
    for (kind, _) in path.segments() {
        if kind == "system" {
            let reason = "scopes with a `system` segment are reserved for the server";
            return Err(ApiError::invalid_envelope(field, reason));
        }
        if !BUILT_IN_TYPES.contains(&kind) && !type_allowed(kind) {
            let reason = format!("the type `{kind}` is not registered");
            return Err(ApiError::at(ErrorCode::UnregisteredScopeType, field, reason)
                .with("type", kind.to_owned()));
        }
    }
    Ok(path)
}

/// An actor id of an envelope.
pub(crate) fn actor(field: &str, text: &str) -> Result<ActorId, ApiError> {
    text.parse().map_err(|error: lamina_types::actor::ActorError| {
        ApiError::invalid_envelope(field, error.to_string())
    })
}
