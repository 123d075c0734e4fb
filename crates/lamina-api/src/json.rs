//! Strict JSON from bytes: the only way a request body becomes a value.
//!
//! The good path is one typed pass of serde over the text; depth is bounded by a count of brackets
//! before it, and repeated keys are refused by the derive for typed objects and by [`scan`] inside
//! free JSON. Only when that pass fails is the text read again, slowly, to say exactly what is wrong
//! and where. So a mistake costs the caller who made it and nobody else.
//!
//! What cannot be read as strict JSON is 400; what was read but has the wrong shape is 422.

mod canon;
mod free;
mod object;
pub(crate) mod scan;
mod words;

use lamina_types::ErrorCode;
use lamina_types::limits::JSON_DEPTH_MAX;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::ApiError;
use scan::ScanError;

pub use canon::canonical;
pub use free::FreeJson;
pub use object::{Obj, OrText};

/// Reads one JSON object of this shape from a request body.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let text = utf8(body)?;
    if may_be_too_deep(text) {
        scan::check(text).map_err(|error| unreadable(text, &error))?;
    }
    match serde_json::from_str::<Obj<T>>(text) {
        Ok(Obj(value)) => Ok(value),
        Err(_) => Err(diagnose::<T>(text)),
    }
}

/// Reads a value out of JSON that is a part of an envelope, at the given path of it.
pub(crate) fn read_part<T: DeserializeOwned>(text: &str, at: &str) -> Result<T, ApiError> {
    serde_json::from_str(text).map_err(|_| shape_error::<T>(text, at).in_envelope())
}

/// Stored JSON, ready to be sent. What the log holds was checked at admission; should it ever not be
/// JSON, it is shown as a text rather than lost.
pub(crate) fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap_or_else(|_| {
        let quoted = serde_json::to_string(json).unwrap_or_default();
        RawValue::from_string(quoted).unwrap_or_else(|_| RawValue::NULL.to_owned())
    })
}

fn utf8(body: &[u8]) -> Result<&str, ApiError> {
    let text = std::str::from_utf8(body).map_err(|error| {
        let valid = body.get(..error.valid_up_to()).unwrap_or_default();
        let (line, column) = line_column(valid, valid.len());
        bad_json("the body is not valid UTF-8", line, column)
    })?;
    if text.bytes().all(|c| c.is_ascii_whitespace()) {
        return Err(bad_json("the body is empty; send a JSON object", 1, 1));
    }
    Ok(text)
}

/// Whether the nesting exceeds the limit. A body with no more opening brackets than levels cannot,
/// and counting them is nearly free; only the others are walked, strings skipped.
fn may_be_too_deep(text: &str) -> bool {
    if text.bytes().filter(|c| matches!(c, b'{' | b'[')).count() <= JSON_DEPTH_MAX {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > JSON_DEPTH_MAX {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Says what is wrong with a body that the fast pass refused.
fn diagnose<T: DeserializeOwned>(text: &str) -> ApiError {
    match scan::check(text) {
        Err(error) => unreadable(text, &error),
        Ok(()) => shape_error::<Obj<T>>(text, ""),
    }
}

fn unreadable(text: &str, error: &ScanError) -> ApiError {
    let (line, column) = line_column(text.as_bytes(), error.offset);
    let refusal = bad_json(&error.reason, line, column);
    match error.path.as_str() {
        "" => refusal,
        path => refusal.with("field", path),
    }
}

fn bad_json(reason: &str, line: usize, column: usize) -> ApiError {
    ApiError::new(
        ErrorCode::InvalidBody,
        format!("The body cannot be read as JSON: {reason} (line {line}, column {column})."),
    )
    .with("reason", reason)
    .with("line", line)
    .with("column", column)
}

/// The position of a byte for a person: both counted from 1, columns in characters.
fn line_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.iter().filter(|c| **c == b'\n').count() + 1;
    let start = before.iter().rposition(|c| *c == b'\n').map_or(0, |at| at + 1);
    let column = before.get(start..).map_or("".into(), String::from_utf8_lossy).chars().count();
    (line, column + 1)
}

/// Reads again with the path tracked, to name the field of the wrong shape.
fn shape_error<T: DeserializeOwned>(text: &str, at: &str) -> ApiError {
    let deserializer = &mut serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, T>(deserializer) {
        Ok(_) => ApiError::invalid_shape(at, "does not have the expected shape"),
        Err(error) => {
            let path = join(at, &error.path().to_string());
            describe(&path, &error.inner().to_string())
        }
    }
}

fn join(at: &str, path: &str) -> String {
    match (at, path) {
        ("", ".") => "body".to_owned(),
        ("", path) => path.to_owned(),
        (at, ".") => at.to_owned(),
        (at, path) if path.starts_with('[') => format!("{at}{path}"),
        (at, path) => format!("{at}.{path}"),
    }
}

/// The longest reason that is sent back: serde repeats the offending value in it.
const REASON_CHARS_MAX: usize = 240;

fn describe(path: &str, message: &str) -> ApiError {
    let message = message.split(" at line ").next().unwrap_or(message);
    if let Some(rest) = message.strip_prefix("unknown field `") {
        let unknown = rest.split('`').next().unwrap_or(rest);
        let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
        return unknown_field(&named(path, unknown), unknown, &known);
    }
    if let Some(rest) = message.strip_prefix("missing field `") {
        let missing = rest.split('`').next().unwrap_or(rest);
        return ApiError::missing(named(path, missing));
    }
    let reason = words::in_json(message);
    ApiError::invalid_shape(path, reason.chars().take(REASON_CHARS_MAX).collect::<String>())
}

/// The path of a field that serde names but does not place.
fn named(path: &str, field: &str) -> String {
    match path {
        "body" => field.to_owned(),
        path if path == field || path.ends_with(&format!(".{field}")) => path.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// An unknown field is refused by name (ruling 8), with the name that was probably meant.
pub(crate) fn unknown_field(path: &str, unknown: &str, known: &[&str]) -> ApiError {
    let unknown: String = unknown.chars().take(64).collect();
    match suggestion(path, &unknown, known) {
        Some(meant) => {
            ApiError::invalid_shape(path, format!("unknown field; {}", meant.sentence()))
                .with("suggestion", meant.name())
        }
        None if known.is_empty() => ApiError::invalid_shape(path, "unknown field"),
        None => ApiError::invalid_shape(
            path,
            format!("unknown field; expected one of {}", known.join(", ")),
        ),
    }
}

enum Meant {
    /// A field of another name or place holds this.
    Moved(&'static str, &'static str),
    /// A field whose name is nearly the same.
    Close(String),
}

impl Meant {
    fn sentence(&self) -> String {
        match self {
            Meant::Moved(_, sentence) => (*sentence).to_owned(),
            Meant::Close(name) => format!("did you mean `{name}`?"),
        }
    }

    fn name(&self) -> String {
        match self {
            Meant::Moved(name, _) => (*name).to_owned(),
            Meant::Close(name) => name.clone(),
        }
    }
}

/// Fields that older clients and first attempts use, and where their value belongs (C12, C13).
const MOVED: &[(&str, &str, &str)] = &[
    ("happened_at", "context.observed_at", "use `context.observed_at`, the time of the event"),
    (
        "recorded_at",
        "context.source_recorded_at",
        "the server sets `recorded_at` itself; an upstream time goes into `context.source_recorded_at`",
    ),
    ("actor", "observed_actor", "use `observed_actor`"),
    ("text", "content", "the text goes into `content`"),
    ("role", "content.role", "the role goes into `content.role`"),
    ("labels", "context.labels", "labels go into `context.labels`"),
    ("observed_at", "context.observed_at", "it goes into `context.observed_at`"),
    ("timestamp", "context.observed_at", "use `context.observed_at`"),
    ("metadata", "context.labels", "use `context.labels`, or a content of kind json"),
];

fn suggestion(path: &str, unknown: &str, known: &[&str]) -> Option<Meant> {
    let moved = MOVED.iter().find(|(name, ..)| *name == unknown);
    if let Some((_, to, sentence)) = moved
        && known.contains(&to.split('.').next().unwrap_or(to))
    {
        return Some(Meant::Moved(to, sentence));
    }
    if path.starts_with("context.") || path.contains(".context.") {
        let retired = moved.filter(|(_, to, _)| to.starts_with("context."));
        if let Some((_, to, sentence)) = retired {
            return Some(Meant::Moved(to, sentence));
        }
    }
    let lower = unknown.to_ascii_lowercase();
    known
        .iter()
        .map(|name| (distance(&lower, name), *name))
        .filter(|(distance, name)| *distance <= 2 && *distance < name.len())
        .min()
        .map(|(_, name)| Meant::Close(name.to_owned()))
}

/// Edit distance with adjacent swaps counted as two; names are short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (to, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replace = diagonal + usize::from(from != *to);
            diagonal = *cell;
            left = replace.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
