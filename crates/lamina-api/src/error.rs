//! The one error every route answers with, and its envelope on the wire (R202).
//!
//! An [`ApiError`] is made where the problem is known, with the field and the reason; the server
//! adds the request id and nothing else. Errors of 5xx carry a fixed sentence: what went wrong
//! inside belongs in the log, under the request id.

use lamina_types::ErrorCode;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::help::help;

/// A refusal, before it has a request id.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError {
    /// The public code.
    pub code: ErrorCode,
    /// The HTTP status: that of the code, unless a ruling names another.
    pub status: u16,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// What is wrong, for a program.
    pub details: Vec<(&'static str, Value)>,
    /// Seconds after which a retry makes sense, for `Retry-After`.
    pub retry_after_s: Option<u32>,
}

/// The body of every response that is not a success.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "error_envelope")]
pub struct ErrorEnvelope {
    /// Stable identifier in UPPER_SNAKE_CASE; programs branch on this.
    #[schemars(regex(pattern = "^[A-Z][A-Z0-9_]*$"))]
    pub error_code: String,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// The id of the request, as in `X-Cortex-Request-ID`.
    pub request_id: String,
    /// Structured facts about the error, such as `field` and `reason`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Map<String, Value>>,
    /// Whether the same request may succeed later.
    pub retriable: bool,
    /// The page about this code; left out where the server does not know where its pages are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation: Option<String>,
}

impl ApiError {
    /// An error with the code's own status.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> ApiError {
        ApiError {
            code,
            status: code.status(),
            message: message.into(),
            details: Vec::new(),
            retry_after_s: None,
        }
    }

    /// An error whose message is the sentence the code table has for it.
    pub fn of(code: ErrorCode) -> ApiError {
        let text = help(code);
        ApiError::new(code, format!("{} {}", text.meaning, text.remedy))
    }

    /// An error about one field: `details.field` and `details.reason` are set.
    pub fn at(code: ErrorCode, field: impl Into<String>, reason: impl Into<String>) -> ApiError {
        let (field, reason) = (field.into(), reason.into());
        let message = format!("`{field}`: {reason}");
        ApiError::new(code, message).with("field", field).with("reason", reason)
    }

    /// The envelope breaks a rule that has no code of its own.
    pub fn invalid_envelope(field: impl Into<String>, reason: impl Into<String>) -> ApiError {
        ApiError::at(ErrorCode::InvalidEnvelope, field, reason)
    }

    /// A body lacks a field (C34).
    pub fn missing(field: impl Into<String>) -> ApiError {
        ApiError::at(ErrorCode::MissingRequiredField, field, "this field is required")
    }

    /// The same error about an envelope: one that lacks a field is an invalid one (C34).
    pub(crate) fn in_envelope(self) -> ApiError {
        match (self.code, self.field(), self.reason()) {
            (ErrorCode::MissingRequiredField, Some(field), Some(reason)) => {
                ApiError::invalid_envelope(field, reason)
            }
            _ => self,
        }
    }

    /// JSON of the wrong shape: 422, because it is JSON (ruling 17).
    pub fn invalid_shape(field: impl Into<String>, reason: impl Into<String>) -> ApiError {
        ApiError::at(ErrorCode::InvalidBody, field, reason).with_status(422)
    }

    /// A query parameter that cannot be read.
    pub fn invalid_parameter(field: impl Into<String>, reason: impl Into<String>) -> ApiError {
        ApiError::at(ErrorCode::InvalidParameter, field, reason)
    }

    /// The same error with one more detail.
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> ApiError {
        self.details.push((key, value.into()));
        self
    }

    /// The same error with another status.
    pub fn with_status(mut self, status: u16) -> ApiError {
        self.status = status;
        self
    }

    /// The same error, retriable after so many seconds.
    pub fn retry_after(mut self, seconds: u32) -> ApiError {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The value of one detail, if it is a text.
    pub fn detail(&self, key: &str) -> Option<&str> {
        self.details.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.as_str())
    }

    /// The field it is about.
    pub fn field(&self) -> Option<&str> {
        self.detail("field")
    }

    /// Why that field was refused.
    pub fn reason(&self) -> Option<&str> {
        self.detail("reason")
    }

    /// The error as it goes over the wire. `pages` is the address of the project's documentation.
    pub fn envelope(&self, request_id: &str, pages: Option<&str>) -> ErrorEnvelope {
        let ApiError { code, status: _, message, details, retry_after_s: _ } = self;
        let details: Map<String, Value> =
            details.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
        ErrorEnvelope {
            error_code: code.as_str().to_owned(),
            message: message.clone(),
            request_id: request_id.to_owned(),
            details: (!details.is_empty()).then_some(details),
            retriable: code.retriable(),
            documentation: pages.map(|pages| documentation(pages, *code)),
        }
    }
}

/// The page about a code, given the address of the documentation.
pub fn documentation(pages: &str, code: ErrorCode) -> String {
    format!("{}/errors/{}.md", pages.trim_end_matches('/'), code.as_str())
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests;
