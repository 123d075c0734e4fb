//! Exports (R329, R330): a request, the job it becomes, and its bytes.

use lamina_types::{ErrorCode, Micros, ScopePath, ScopeView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::json::Obj;
use crate::time;

mod selector;

pub use selector::{EntrySelection, EntrySelectorBody, Selection, SelectorBody, SessionOrder};

/// Characters of a URL or of the name of a credential.
const PLACE_CHARS_MAX: usize = 2_048;
/// Characters of the id or time of a base.
const BASE_CHARS_MAX: usize = 64;
/// Layers that one request names.
const LAYERS_MAX: usize = 16;

/// The body of `POST /v1/export`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "export_request")]
pub struct ExportRequest {
    /// The scope.
    pub scope: String,
    /// `jsonl`, `mem0`, `zep`, `letta`, `zaxy`, `eventloom`, `pam` or another of the server; `jsonl` unless said.
    pub format: Option<String>,
    /// Of `events`, `facts`, `beliefs`, `episodes`, `concepts`; unless said, `events`, and all for `pam`.
    #[schemars(length(max = 16))]
    pub layers: Option<Vec<String>>,
    /// The same under another name.
    #[schemars(length(max = 16))]
    pub include: Option<Vec<String>>,
    /// Only knowledge recorded until then; unless said, until now.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: Option<String>,
    /// `local`: the scope; `descend`: with everything below it that the caller may read.
    pub view: Option<String>,
    /// Where the bytes go; unless said, the caller fetches them.
    pub destination: Option<Obj<ExportDestination>>,
    /// `pam`: only changes since this export, by its `export_id`, or since this time.
    #[schemars(length(max = 64))]
    pub base: Option<String>,
    /// `pam`: `current`, the versions of facts that are believed, or `full`, all versions.
    pub history: Option<String>,
    /// `pam`: with vectors of the words of each memory, by the embedder that is compiled in.
    pub embeddings: Option<bool>,
    /// Bundles of evidence: names of people and scopes become keyed hashes, whose key nobody keeps.
    pub pseudonymous: Option<bool>,
    /// `zaxy`, `eventloom`: the name of the session in the bundle and its log; unless said, that of the scope.
    #[schemars(length(min = 1, max = 128))]
    pub session_id: Option<String>,
    /// `zaxy`, `eventloom`: which events of the scope.
    pub selector: Option<Obj<SelectorBody>>,
    /// `zaxy`: sign with the key of the server.
    pub sign: Option<bool>,
    /// `zaxy`: sign the selection, and give only these entries of it, each with the proof that it belongs to it.
    pub disclose: Option<Obj<EntrySelectorBody>>,
}

/// Where an export goes.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "export_destination")]
pub struct ExportDestination {
    /// `url`.
    pub kind: String,
    /// An `https://` URL that takes a `PUT`, on a host that the operator has named.
    #[schemars(length(max = 2048))]
    pub url: String,
    /// The name of a credential in the configuration of the server.
    #[schemars(length(max = 2048))]
    pub credentials_ref: Option<String>,
}

/// A layer of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExportLayer {
    /// Events, with the decisions about them.
    Events,
    /// All versions of facts.
    Facts,
    /// Beliefs.
    Beliefs,
    /// Episodes.
    Episodes,
    /// Concepts.
    Concepts,
}

impl ExportLayer {
    /// All layers, in the order of an export.
    pub const ALL: [ExportLayer; 5] = [
        ExportLayer::Events,
        ExportLayer::Facts,
        ExportLayer::Beliefs,
        ExportLayer::Episodes,
        ExportLayer::Concepts,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            ExportLayer::Events => "events",
            ExportLayer::Facts => "facts",
            ExportLayer::Beliefs => "beliefs",
            ExportLayer::Episodes => "episodes",
            ExportLayer::Concepts => "concepts",
        }
    }

    fn find(name: &str) -> Option<ExportLayer> {
        // Both names of the last layer are in use.
        let name = if name == "understanding" { "concepts" } else { name };
        ExportLayer::ALL.into_iter().find(|layer| layer.as_str() == name)
    }
}

/// A request that was checked. Whether its format is one is for the reader of formats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportOrder {
    /// The scope.
    pub scope: ScopePath,
    /// The name of the format.
    pub format: String,
    /// The layers, in the order of an export; none: those that the format has by itself.
    pub layers: Option<Vec<ExportLayer>>,
    /// The knowledge that is asked for; none: that of now.
    pub as_of: Option<Micros>,
    /// How far it reaches.
    pub view: ScopeView,
    /// Where it goes.
    pub destination: Option<DestinationOrder>,
    /// How a session leaves as a whole.
    pub session: SessionOrder,
    /// The export or time that a delta begins at.
    pub base: Option<String>,
    /// Whether all versions of facts are asked for.
    pub history: Option<ExportHistory>,
    /// Whether vectors are asked for, if the request says so.
    pub embeddings: Option<bool>,
    /// Whether names are replaced, if the request says so.
    pub pseudonymous: Option<bool>,
}

/// Which versions of facts are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportHistory {
    /// Those that are believed.
    Current,
    /// All.
    Full,
}

/// A destination that was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct DestinationOrder {
    /// The URL, which may hold a signature.
    pub url: String,
    /// The name of a credential.
    pub credentials_ref: Option<String>,
}

/// Without the URL: it may hold a signature.
impl std::fmt::Debug for DestinationOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DestinationOrder").finish_non_exhaustive()
    }
}

impl ExportRequest {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<ExportOrder, ApiError> {
        let request: ExportRequest = json::read(body)?;
        let scope = check::scope("scope", &request.scope)?;
        let layers = match (&request.layers, &request.include) {
            (Some(_), Some(_)) => {
                let reason = "is another name of `layers`: send one of the two";
                return Err(ApiError::invalid_shape("include", reason));
            }
            (Some(layers), None) => Some(read_layers("layers", layers)?),
            (None, Some(layers)) => Some(read_layers("include", layers)?),
            (None, None) => None,
        };
        let as_of = request.as_of.as_deref().map(|text| {
            let reason = |error: time::TimestampError| error.to_string();
            time::parse(text)
                .map_err(|error| ApiError::at(ErrorCode::InvalidTimestamp, "as_of", reason(error)))
        });
        let view = match request.view.as_deref() {
            None | Some("local") => ScopeView::Local,
            Some("descend") => ScopeView::Descend,
            Some(_) => {
                let reason = "must be `local`, the scope, or `descend`, with everything below it";
                return Err(ApiError::invalid_shape("view", reason));
            }
        };
        let destination = request.destination.map(|Obj(place)| read_destination(place));
        let session = SessionOrder::read(selector::SessionMembers {
            session_id: request.session_id,
            selector: request.selector.map(|Obj(selector)| selector),
            sign: request.sign,
            disclose: request.disclose.map(|Obj(selector)| selector),
        })?;
        Ok(ExportOrder {
            session,
            scope,
            format: request.format.unwrap_or_else(|| "jsonl".to_owned()),
            layers,
            as_of: as_of.transpose()?,
            view,
            destination: destination.transpose()?,
            base: read_base(request.base)?,
            history: request.history.as_deref().map(read_history).transpose()?,
            embeddings: request.embeddings,
            pseudonymous: request.pseudonymous,
        })
    }
}

fn read_base(base: Option<String>) -> Result<Option<String>, ApiError> {
    if base.as_ref().is_some_and(|base| base.chars().count() > BASE_CHARS_MAX) {
        let reason = format!("has more than {BASE_CHARS_MAX} characters");
        return Err(ApiError::invalid_shape("base", reason));
    }
    Ok(base)
}

fn read_history(history: &str) -> Result<ExportHistory, ApiError> {
    match history {
        "current" => Ok(ExportHistory::Current),
        "full" => Ok(ExportHistory::Full),
        _ => {
            let reason = "must be `current`, the versions that are believed, or `full`, all";
            Err(ApiError::invalid_shape("history", reason))
        }
    }
}

fn read_layers(field: &str, names: &[String]) -> Result<Vec<ExportLayer>, ApiError> {
    if names.is_empty() || names.len() > LAYERS_MAX {
        let reason = format!("must name 1 to {LAYERS_MAX} layers, or be left out");
        return Err(ApiError::invalid_shape(field, reason));
    }
    let mut layers = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        layers.push(ExportLayer::find(name).ok_or_else(|| {
            let known: Vec<&str> = ExportLayer::ALL.iter().map(|layer| layer.as_str()).collect();
            let reason = format!("must be of {}", known.join(", "));
            ApiError::invalid_shape(format!("{field}[{index}]"), reason)
        })?);
    }
    layers.sort_unstable();
    layers.dedup();
    Ok(layers)
}

fn read_destination(place: ExportDestination) -> Result<DestinationOrder, ApiError> {
    let ExportDestination { kind, url, credentials_ref } = place;
    if kind != "url" {
        let reason = "must be `url`: an https:// address that takes a PUT";
        return Err(ApiError::invalid_shape("destination.kind", reason));
    }
    for (field, text) in
        [("destination.url", Some(&url)), ("destination.credentials_ref", credentials_ref.as_ref())]
    {
        if text.is_some_and(|text| text.chars().count() > PLACE_CHARS_MAX) {
            let reason = format!("has more than {PLACE_CHARS_MAX} characters");
            return Err(ApiError::invalid_shape(field, reason));
        }
    }
    Ok(DestinationOrder { url, credentials_ref })
}

/// A format that nobody can write here.
pub fn unknown_format(known: &[&str]) -> ApiError {
    ApiError::invalid_shape("format", format!("must be of {}", known.join(", ")))
}

/// An export: the answer of `POST /v1/export` and of `GET /v1/export/{export_id}`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "export_job")]
pub struct ExportJobBody {
    /// Its id.
    #[schemars(regex(pattern = "^exp_[0-9a-f]{32}$"))]
    pub export_id: String,
    /// `ready`: its bytes can be fetched; `running`; `completed`; `failed`.
    pub status: &'static str,
    /// The scope.
    pub scope: String,
    /// The format.
    pub format: String,
    /// The layers that are in it.
    pub layers: Vec<&'static str>,
    /// `local` or `descend`.
    pub view: &'static str,
    /// The knowledge it holds: everything recorded until then.
    #[schemars(extend("format" = "date-time"))]
    pub as_of: String,
    /// When it was asked for.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// When the server forgets it.
    #[schemars(extend("format" = "date-time"))]
    pub expires_at: String,
    /// Bytes that it will have, about.
    pub estimated_size_bytes: u64,
    /// Bytes that it has, once all were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The share that is done, of the last time its bytes were made.
    pub fraction_complete: f64,
    /// Where its progress is told.
    pub lifecycle_stream: String,
    /// Where its bytes are. Not for one that goes to a destination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_url: Option<String>,
    /// Where its bytes go, without the query of the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination: Option<String>,
    /// Its bytes, if they are few; only in the answer of `POST /v1/export`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Records kept, changed, lost and skipped; once all bytes were made.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub report: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ExportFailureBody>,
}

/// Why an export failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "export_failure")]
pub struct ExportFailureBody {
    /// The code.
    pub error_code: String,
    /// What happened.
    pub message: String,
}

#[cfg(test)]
mod tests;
