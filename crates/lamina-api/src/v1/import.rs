//! `/v1/import`: requests that bring memory from another program, and the state of such a job (R321-R328).
//!
//! A request is read as strictly as an erasure: unknown fields are refused. The same options can stand in the
//! query of an upload, whose body is the file itself.

mod options;
mod query;
mod template;

use lamina_types::ScopePath;
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json::{self, FreeJson, Obj};

pub use options::{ImportOptions, ImportOrdering, NaiveZone};
pub use query::read_upload;
pub use template::{PLACEHOLDERS, ScopeTemplate, TemplateError};

/// Characters of the name of a file.
const NAME_CHARS_MAX: usize = 255;

/// The body of `POST /v1/import` and of the importers below it: where to, and one source.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "import_request")]
pub struct ImportRequest {
    /// The scope that receives the rows. Lines that name a scope at or below it keep theirs.
    #[schemars(length(min = 3, max = 4096))]
    pub scope: Option<String>,
    /// The scope of each row, with placeholders such as `org:acme/user:{user_id}`.
    #[schemars(length(min = 3, max = 4096))]
    pub scope_template: Option<String>,
    /// The format, where the path does not say it; `jsonl` unless said.
    pub format: Option<String>,
    /// The source: a document in the request, or a place to fetch it from.
    pub source: Option<Obj<ImportSourceBody>>,
    /// The source as lines: objects, or texts that hold one object each.
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub lines: Option<Vec<FreeJson>>,
    /// The source as records.
    #[schemars(with = "Option<Vec<serde_json::Value>>")]
    pub rows: Option<Vec<FreeJson>>,
    /// The source as one text, such as JSON lines, or as one document.
    #[schemars(with = "Option<serde_json::Value>")]
    pub data: Option<FreeJson>,
    /// How it is read and written.
    pub options: Option<Obj<ImportOptions>>,
    /// The name of the file, for the report.
    #[schemars(length(max = 255))]
    pub name: Option<String>,
    /// Report what an import would do, and write nothing.
    pub dry_run: Option<bool>,
    /// The same key again is the same import. Each importer has keys of its own.
    #[schemars(length(max = 64))]
    pub idempotency_key: Option<String>,
}

/// A source that is given in the request or fetched.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "import_source")]
pub struct ImportSourceBody {
    /// The format, such as `mem0_export_v3`.
    pub format: Option<String>,
    /// `https://` to a host that the operator has listed in `import.sources`.
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// The document itself: a text, or JSON.
    #[schemars(with = "Option<serde_json::Value>")]
    pub inline: Option<FreeJson>,
    /// The name of credentials in the configuration, such as `secret:reader`.
    #[schemars(length(max = 128))]
    pub credentials_ref: Option<String>,
}

/// The scopes that receive the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportTarget {
    /// This one.
    Scope(ScopePath),
    /// One for each row.
    Template(ScopeTemplate),
    /// The scope that each line names.
    Lines,
}

impl ImportTarget {
    /// The target as text; empty where lines name it.
    pub fn as_str(&self) -> &str {
        match self {
            ImportTarget::Scope(scope) => scope.as_str(),
            ImportTarget::Template(template) => template.as_str(),
            ImportTarget::Lines => "",
        }
    }

    /// Reads the text of a target again.
    pub fn parse(text: &str) -> Result<ImportTarget, ApiError> {
        match text {
            "" => Ok(ImportTarget::Lines),
            text if text.contains('{') => {
                Ok(ImportTarget::Template(ScopeTemplate::parse("scope_template", text)?))
            }
            text => Ok(ImportTarget::Scope(check::scope("scope", text)?)),
        }
    }

    /// The scope, if there is one for all rows.
    pub fn scope(&self) -> Option<&ScopePath> {
        match self {
            ImportTarget::Scope(scope) => Some(scope),
            ImportTarget::Template(_) | ImportTarget::Lines => None,
        }
    }
}

/// The source of a checked request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportInput {
    /// A document that came with the request.
    Inline(String),
    /// A place to fetch it from.
    Url {
        /// The address.
        url: String,
        /// The name of credentials in the configuration.
        credentials_ref: Option<String>,
    },
    /// The body of the request.
    Upload,
}

/// A request that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedImport {
    /// Where to.
    pub target: ImportTarget,
    /// The format, if the request names it.
    pub format: Option<String>,
    /// What to read.
    pub input: ImportInput,
    /// How.
    pub options: ImportOptions,
    /// The name of the file.
    pub name: Option<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
    /// The same key again is the same import.
    pub idempotency_key: Option<String>,
}

impl ImportRequest {
    /// Reads a JSON body; `key` is the one from the header, which the body's wins over.
    pub fn read(body: &[u8], key: Option<&str>) -> Result<CheckedImport, ApiError> {
        let request: ImportRequest = json::read(body)?;
        let ImportRequest {
            scope,
            scope_template,
            format,
            source,
            lines,
            rows,
            data,
            options,
            name,
            dry_run,
            idempotency_key,
        } = request;
        let source = source.map(|Obj(source)| source).unwrap_or_default();
        let target = target(scope, scope_template)?;
        let format = named_format(format, source.format)?;
        let inputs = InlineParts { lines, rows, data, inline: source.inline };
        let input = input(inputs, source.url, source.credentials_ref)?;
        let options = options.map(|Obj(options)| options).unwrap_or_default();
        options.check()?;
        let key = idempotency_key.or_else(|| key.map(str::to_owned));
        Ok(CheckedImport {
            target,
            format,
            input,
            options,
            name: checked_name(name)?,
            dry_run: dry_run.unwrap_or(false),
            idempotency_key: checked_key(key)?,
        })
    }

    /// The format that a body names, before anything else of it is looked at.
    pub fn peek_format(body: &[u8]) -> Option<String> {
        #[derive(Deserialize)]
        struct Peeked {
            format: Option<String>,
            source: Option<PeekedSource>,
        }
        #[derive(Deserialize)]
        struct PeekedSource {
            format: Option<String>,
        }
        let Peeked { format, source } = serde_json::from_slice(body).ok()?;
        format.or(source.and_then(|source| source.format)).filter(|name| !name.is_empty())
    }
}

/// The one target of a request.
fn target(scope: Option<String>, template: Option<String>) -> Result<ImportTarget, ApiError> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    match (given(scope), given(template)) {
        (Some(_), Some(_)) => {
            let reason = "give `scope` or `scope_template`, not both";
            Err(ApiError::invalid_shape("scope_template", reason))
        }
        (Some(scope), None) => Ok(ImportTarget::Scope(check::scope("scope", &scope)?)),
        (None, Some(template)) if !template.contains('{') => {
            Ok(ImportTarget::Scope(check::scope("scope_template", &template)?))
        }
        (None, Some(template)) => {
            Ok(ImportTarget::Template(ScopeTemplate::parse("scope_template", &template)?))
        }
        (None, None) => Ok(ImportTarget::Lines),
    }
}

fn named_format(
    format: Option<String>,
    of_source: Option<String>,
) -> Result<Option<String>, ApiError> {
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    match (given(format), given(of_source)) {
        (Some(a), Some(b)) if a != b => {
            let reason = "differs from `format`; send one of them";
            Err(ApiError::invalid_shape("source.format", reason))
        }
        (a, b) => Ok(a.or(b)),
    }
}

fn checked_name(name: Option<String>) -> Result<Option<String>, ApiError> {
    let name = name.filter(|name| !name.is_empty());
    if let Some(name) = &name {
        check::short(name, NAME_CHARS_MAX)
            .map_err(|reason| ApiError::invalid_shape("name", reason))?;
    }
    Ok(name)
}

fn checked_key(key: Option<String>) -> Result<Option<String>, ApiError> {
    let key = key.filter(|key| !key.is_empty());
    if let Some(key) = &key {
        check::short(key, IDEMPOTENCY_KEY_CHARS_MAX)
            .map_err(|reason| ApiError::invalid_shape("idempotency_key", reason))?;
    }
    Ok(key)
}

/// The places in which a document can stand.
struct InlineParts {
    lines: Option<Vec<FreeJson>>,
    rows: Option<Vec<FreeJson>>,
    data: Option<FreeJson>,
    inline: Option<FreeJson>,
}

fn input(
    parts: InlineParts,
    url: Option<String>,
    credentials_ref: Option<String>,
) -> Result<ImportInput, ApiError> {
    let InlineParts { lines, rows, data, inline } = parts;
    let is_null = |value: &FreeJson| value.as_str() == "null";
    let (data, inline) = (data.filter(|v| !is_null(v)), inline.filter(|v| !is_null(v)));
    let url = url.filter(|url| !url.is_empty());
    let given = [
        ("lines", lines.is_some()),
        ("rows", rows.is_some()),
        ("data", data.is_some()),
        ("source.inline", inline.is_some()),
        ("source.url", url.is_some()),
    ];
    let mut named = given.iter().filter(|(_, is_given)| *is_given).map(|(name, _)| *name);
    let first = named.next().ok_or_else(|| {
        let reason = "no source: send `lines`, `rows`, `data`, `source.inline` or `source.url`, \
                      or the file as the body";
        ApiError::invalid_shape("source", reason)
    })?;
    if let Some(second) = named.next() {
        return Err(ApiError::invalid_shape(second, format!("`{first}` is a source already")));
    }
    if let Some(url) = url {
        return Ok(ImportInput::Url { url, credentials_ref });
    }
    if credentials_ref.is_some_and(|name| !name.is_empty()) {
        let reason = "is only for `source.url`";
        return Err(ApiError::invalid_shape("source.credentials_ref", reason));
    }
    let text = match (lines.or(rows), data.or(inline)) {
        (Some(lines), _) => joined(&lines, first)?,
        (None, Some(document)) => text_of(&document),
        (None, None) => String::new(),
    };
    Ok(ImportInput::Inline(text))
}

/// Lines as one text. A line is JSON, or a text that holds it.
fn joined(lines: &[FreeJson], field: &str) -> Result<String, ApiError> {
    let mut out = String::new();
    for (index, line) in lines.iter().enumerate() {
        let text = text_of(line);
        if text.contains(['\n', '\r']) {
            let reason = "a line has no line break inside";
            return Err(ApiError::invalid_shape(format!("{field}[{index}]"), reason));
        }
        out.push_str(&text);
        out.push('\n');
    }
    Ok(out)
}

/// The text that a JSON string holds, or the JSON itself.
fn text_of(value: &FreeJson) -> String {
    match value.as_str().starts_with('"') {
        true => serde_json::from_str(value.as_str()).unwrap_or_default(),
        false => value.as_str().to_owned(),
    }
}

/// A row that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "import_row_error")]
pub struct ImportErrorBody {
    /// Its line in the source, where lines tell the place.
    pub line: Option<u64>,
    /// The error code, in upper case.
    #[schemars(regex(pattern = "^[A-Z][A-Z0-9_]*$"))]
    pub error: String,
    /// The fault and its place, for a person.
    pub detail: String,
}

/// 202: the import runs, or is over already if it was small (R322).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "import_accepted")]
pub struct ImportAccepted {
    /// Its id.
    #[schemars(regex(pattern = "^imp_[0-9a-f]{32}$"))]
    pub import_id: String,
    /// `queued`, `running`, `completed`, `failed` or `cancelled`.
    #[schemars(regex(pattern = "^(queued|running|completed|failed|cancelled)$"))]
    pub status: String,
    /// Rows of the source, as far as that is known.
    pub estimated_items: Option<u64>,
    /// Rows taken so far: written, known already or replaced.
    pub accepted: u64,
    /// Rows refused so far.
    pub failed: u64,
    /// The first refused row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<ImportErrorBody>,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Where its state can be read.
    pub status_url: String,
    /// Where its progress is announced.
    pub lifecycle_stream: String,
    /// The loss report, if the import is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub report: Option<serde_json::Value>,
}

/// The state of an import (R327).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "import_job")]
pub struct ImportJobBody {
    /// Its id.
    #[schemars(regex(pattern = "^imp_[0-9a-f]{32}$"))]
    pub import_id: String,
    /// The name of the format.
    pub format: String,
    /// The scope or template that receives the rows; empty where lines name theirs.
    pub target: String,
    /// `queued`, `running`, `completed`, `failed` or `cancelled`.
    #[schemars(regex(pattern = "^(queued|running|completed|failed|cancelled)$"))]
    pub status: String,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// The share that is done.
    #[schemars(range(min = 0, max = 1))]
    pub fraction_complete: f64,
    /// Rows that were handled.
    pub processed: u64,
    /// Rows of the source, if that is known.
    pub total: Option<u64>,
    /// Rows that became events.
    pub written: u64,
    /// Rows that were there already.
    pub known: u64,
    /// Rows that became a new version of an older event.
    pub replaced: u64,
    /// Rows left out on purpose.
    pub skipped: u64,
    /// Rows that were refused.
    pub failed: u64,
    /// Rows per second since this server runs the job.
    pub rows_per_second: Option<f64>,
    /// Seconds until the end, as far as that can be told.
    pub seconds_left: Option<u64>,
    /// The first refused rows.
    pub errors: Vec<ImportErrorBody>,
    /// The loss report, when the import is over.
    #[schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")]
    pub report: Option<serde_json::Value>,
}

/// Whether an import stops (R328).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "import_cancelled")]
pub struct ImportCancelled {
    /// Which.
    #[schemars(regex(pattern = "^imp_[0-9a-f]{32}$"))]
    pub import_id: String,
    /// It stops after the rows that are being written; `false` if it is over already.
    pub cancellation_accepted: bool,
    /// Its status now.
    #[schemars(regex(pattern = "^(queued|running|completed|failed|cancelled)$"))]
    pub status: String,
}

#[cfg(test)]
mod tests;
