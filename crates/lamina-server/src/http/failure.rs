//! Why a request is refused: what the caller is told, and what only the log is told.
//!
//! A 4xx explains itself. A 5xx says a fixed sentence and the request id; its cause goes to the log
//! under that id, because paths and states of the disk are nobody else's business.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::ApiError;
use lamina_core::policy::{Denial, DenialCode};
use lamina_engine::Error as EngineError;
use lamina_types::ErrorCode;
use lamina_types::limits::FORGET_RECORDS_MAX;

use super::reply;
use super::request_id::Id;

/// A refusal and its cause.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: ApiError,
    cause: Option<String>,
}

impl Failure {
    /// The refusal as a response; a server's own fault is logged here, once. `pages` is the address of
    /// the documentation.
    pub(crate) fn into_response(self, id: &Id, pages: Option<&str>) -> Response {
        let Failure { error, cause } = self;
        if error.status >= 500 {
            let code = error.code.as_str();
            let cause = cause.unwrap_or_default();
            let request_id = id.as_str();
            if error.code == ErrorCode::Internal {
                tracing::error!(request_id, code, cause, "the request failed");
            } else {
                tracing::warn!(request_id, code, cause, "the request was refused");
            }
        }
        let status =
            StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&error.envelope(id.as_str(), pages)).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, reply::JSON);
        if let Some(seconds) = error.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Failure {
        Failure { error, cause: None }
    }
}

impl From<Denial> for Failure {
    fn from(denial: Denial) -> Failure {
        denied(&denial).into()
    }
}

/// The refusal of a policy, which names tier and capability (R154, C02, C53).
pub(crate) fn denied(denial: &Denial) -> ApiError {
    let code = match denial.code {
        DenialCode::PolicyDenied => ErrorCode::PolicyDenied,
        DenialCode::NotAMember => ErrorCode::NotAMember,
        DenialCode::UnregisteredScopeType => ErrorCode::UnregisteredScopeType,
    };
    ApiError::new(code, format!("{denial}; {}.", denial.remediation))
        .with("capability", denial.capability)
        .with("denied_by_tier", denial.tier.as_str())
        .with("decided_by_tier", denial.tier.as_str())
        .with("deployment_preset", denial.preset.as_str())
        .with("remediation", denial.remediation.as_str())
}

/// Something that should not have happened, with its cause for the log.
pub(crate) fn internal(cause: impl Into<String>) -> Failure {
    Failure { error: ApiError::of(ErrorCode::Internal), cause: Some(cause.into()) }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        let cause = Some(chain(&error));
        let code = error.code();
        let error = match &error {
            EngineError::Denied(denial) => denied(denial),
            EngineError::BlobTooLarge { max } => {
                ApiError::new(code, format!("A blob has at most {max} bytes."))
                    .with("limit_bytes", *max)
            }
            EngineError::ImportTooLarge { max } => {
                ApiError::new(code, format!("The source of an import has at most {max} bytes."))
                    .with("limit_bytes", *max)
            }
            EngineError::BlobInUse { events } => {
                ApiError::new(code, format!("The blob is referred to by {events} events."))
                    .with("events", *events)
            }
            EngineError::ScopeHasRecords { events } => {
                let text = "The scope has records; say with records=keep or records=forget what \
                            becomes of them.";
                ApiError::new(code, text).with("records", *events)
            }
            EngineError::Held { scope } => {
                let text = format!("A legal hold on `{scope}` keeps the words of this scope.");
                ApiError::new(code, text).with("held_scope", scope.as_str())
            }
            EngineError::TooManyScopes { max } => ApiError::at(
                code,
                "view",
                format!("there are more than {max} scopes below; name a deeper one"),
            ),
            EngineError::LedgerUnavailable { is_done } => unnoted(*is_done),
            EngineError::NoSuchSide { field } => ApiError::invalid_shape(
                *field,
                "is not a record that this conflict can be decided with",
            ),
            EngineError::UnknownPreview => ApiError::at(
                code,
                "from_preview_id",
                "is no preview of yours, or has expired; ask for a new one",
            ),
            EngineError::OtherSelection => ApiError::at(
                code,
                "from_preview_id",
                "is a preview of another selection: it matched other events or records than this \
                 request selects; ask for a preview of this scope and selector",
            ),
            EngineError::LimitReached { limit: "FORGET_RECORDS_MAX" } => ApiError::at(
                code,
                "selector",
                format!("selects more than {FORGET_RECORDS_MAX} records; name stretches of time"),
            ),
            EngineError::LimitReached { limit: "VOCABULARY_ANSWERS_MAX" } => ApiError::at(
                code,
                "predicates",
                "takes away or brings back terms that too many answers say something under; change fewer at a time",
            ),
            EngineError::TooLarge { limit } => {
                ApiError::new(code, format!("The write exceeds the limit {limit}."))
                    .with("limit", *limit)
            }
            _ if code.retriable() => ApiError::of(code).retry_after(1),
            _ => ApiError::of(code),
        };
        Failure { error, cause }
    }
}

/// The ledger of erasures cannot be written: whether it was done all the same, and what to do.
fn unnoted(is_done: bool) -> ApiError {
    let text = match is_done {
        true => {
            "It is done in this directory and durable, but the ledger of erasures cannot be written: a restore of an \
             older backup would bring it back. Make space on the disk of the ledger; it is noted then by itself."
        }
        false => {
            "Nothing was done: the ledger of erasures cannot be written, and a restore of an older backup would bring \
             back what is taken back now. Make space on the disk of the ledger and send the same request again."
        }
    };
    ApiError::new(ErrorCode::WalUnavailable, text).with("done", is_done).retry_after(1)
}

/// The whole line: what failed, and because of what.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}
