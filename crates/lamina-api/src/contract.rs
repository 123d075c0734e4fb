//! The files of the contract, as text: schemas, the OpenAPI document, a page per error code.
//!
//! They are committed under `docs/` and compared with this in a test, so that a change of the
//! contract shows as a file in the diff.

use std::collections::BTreeMap;

use lamina_types::ErrorCode;
use serde_json::Value;

use crate::error::ApiError;
use crate::help::help;
use crate::{openapi, schema};

/// Every file of the contract: its path under `docs/`, and its text.
pub fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for name in schema::names() {
        let document = schema::document(name).unwrap_or_default();
        files.insert(format!("schemas/{name}.schema.json"), pretty(&document));
    }
    files.insert("openapi.json".to_owned(), pretty(&openapi::document()));
    for code in ErrorCode::ALL {
        files.insert(format!("errors/{}.md", code.as_str()), error_page(*code));
    }
    files.insert("errors/README.md".to_owned(), error_index());
    files
}

fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn statuses(code: ErrorCode) -> String {
    match code {
        ErrorCode::InvalidBody => "400 or 422".to_owned(),
        code => code.status().to_string(),
    }
}

fn error_page(code: ErrorCode) -> String {
    let text = help(code);
    let retriable = match code.retriable() {
        true => "yes, the same request may succeed later",
        false => "no, the same request will fail again",
    };
    let when: Vec<String> = text.when.iter().map(|line| format!("- {line}\n")).collect();
    let example =
        ApiError::new(code, text.example).envelope("req_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b", None);
    let example = serde_json::to_value(example).unwrap_or_default();
    format!(
        "# {name}\n\n{meaning}\n\n- Status: {statuses}\n- Retriable: {retriable}\n\n## When\n\n{when}\n## What to do\n\n{remedy}\n\n## Example\n\n```json\n{example}```\n",
        name = code.as_str(),
        meaning = text.meaning,
        statuses = statuses(code),
        when = when.concat(),
        remedy = text.remedy,
        example = pretty(&example),
    )
}

fn error_index() -> String {
    let rows: Vec<String> = ErrorCode::ALL
        .iter()
        .map(|code| {
            format!(
                "| [{name}]({name}.md) | {statuses} | {retriable} | {meaning} |\n",
                name = code.as_str(),
                statuses = statuses(*code),
                retriable = if code.retriable() { "yes" } else { "no" },
                meaning = help(*code).meaning,
            )
        })
        .collect();
    format!(
        "# Error codes\n\nEvery refusal has the same envelope (`docs/schemas/error_envelope.schema.json`). Programs branch on `error_code`; people read `message`.\n\n| Code | Status | Retriable | Meaning |\n|---|---|---|---|\n{}",
        rows.concat(),
    )
}
