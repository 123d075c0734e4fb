//! Tables of envelopes and what becomes of them.

mod accept;
mod refuse;
mod bulk;
mod laws;
mod source;

use lamina_types::{ActorId, Micros};

use super::{AdmitContext, Admitted, Strictness, read};
use crate::error::ApiError;

pub(super) const NOW: Micros = Micros(1_778_688_000_000_000);

/// Calls the gate in the one place the tests of this family do.
pub(super) fn with<T>(
    strictness: Strictness,
    header: Option<&str>,
    run: impl Fn(&AdmitContext<'_>) -> T,
) -> T {
    let caller: ActorId = "user:caller".parse().unwrap();
    run(&AdmitContext {
        caller: &caller,
        now: NOW,
        strictness,
        header_idempotency_key: header,
        generated_key: &|| "generated".to_owned(),
        scope_type_allowed: &|kind| kind == "ns",
    })
}

pub(super) fn strict(body: &str) -> Result<Admitted, ApiError> {
    with(Strictness::Strict, None, |ctx| read(body.as_bytes(), ctx))
}

pub(super) fn lenient(body: &str) -> Result<Admitted, ApiError> {
    with(Strictness::Lenient, None, |ctx| read(body.as_bytes(), ctx))
}

/// A full envelope with one field replaced (or added) by this JSON text.
pub(super) fn envelope(field: &str, json: &str) -> String {
    let fields = [
        ("scope", r#""org:acme/user:alice""#),
        ("modality", r#""conversation""#),
        ("content", r#"{"kind":"message","role":"user","text":"hi"}"#),
        ("context", r#"{"observed_at":"2026-05-13T15:42:00Z"}"#),
        ("idempotency_key", r#""key-1""#),
    ];
    let mut members: Vec<String> = fields
        .iter()
        .filter(|(name, _)| *name != field)
        .map(|(name, value)| format!("{name:?}:{value}"))
        .collect();
    if !field.is_empty() && json != "-" {
        members.push(format!("{field:?}:{json}"));
    }
    format!("{{{}}}", members.join(","))
}

/// What the strict gate accepts, the schema accepts: a client that validates first loses nothing.
#[track_caller]
pub(super) fn assert_in_schema(body: &str) {
    static SCHEMA: std::sync::OnceLock<jsonschema::Validator> = std::sync::OnceLock::new();
    let schema = SCHEMA.get_or_init(|| crate::schema::tests::validator("experience_envelope"));
    let value: serde_json::Value = serde_json::from_str(body).unwrap();
    let errors: Vec<String> = schema.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{body}");
}

/// `status CODE field` of a refusal, or `ok`.
pub(super) fn verdict(result: &Result<Admitted, ApiError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => {
            format!("{} {} {}", error.status, error.code.as_str(), error.field().unwrap_or("-"))
        }
    }
}
