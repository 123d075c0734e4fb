//! `POST /v1/understanding/synthesize` (R300).

use lamina_types::ScopePath;
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;

/// Topics of one request.
const TOPICS_MAX: usize = 100;
/// Characters of a topic.
const TOPIC_CHARS_MAX: usize = 512;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "synthesize_request")]
pub struct SynthesizeRequest {
    /// The scope.
    pub scope: String,
    /// Only concepts that gather one of these; empty or absent: all.
    #[schemars(length(max = 100))]
    pub topics: Option<Vec<String>>,
    /// Also those that know of everything; false by default.
    pub force: Option<bool>,
    /// The same key again is the same job.
    #[schemars(length(max = 64))]
    pub idempotency_key: Option<String>,
}

/// A request that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The scope.
    pub scope: ScopePath,
    /// Only concepts that gather one of these; empty: all.
    pub topics: Vec<String>,
    /// Also those that know of everything.
    pub force: bool,
    /// The same key again is the same job.
    pub idempotency_key: Option<String>,
}

impl SynthesizeRequest {
    /// Reads the body; `key` is the one from the header, which the body's wins over.
    pub fn read(body: &[u8], key: Option<&str>) -> Result<Wanted, ApiError> {
        let SynthesizeRequest { scope, topics, force, idempotency_key } = json::read(body)?;
        let topics = topics.unwrap_or_default();
        if topics.len() > TOPICS_MAX {
            let reason = format!("has more than {TOPICS_MAX} entries");
            return Err(ApiError::invalid_shape("topics", reason));
        }
        for (index, topic) in topics.iter().enumerate() {
            check::short(topic, TOPIC_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_shape(format!("topics[{index}]"), reason))?;
        }
        let key = idempotency_key.or_else(|| key.map(str::to_owned));
        if let Some(key) = &key {
            check::short(key, IDEMPOTENCY_KEY_CHARS_MAX)
                .map_err(|reason| ApiError::invalid_shape("idempotency_key", reason))?;
        }
        Ok(Wanted {
            scope: check::scope("scope", &scope)?,
            topics,
            force: force.unwrap_or(false),
            idempotency_key: key.filter(|key| !key.is_empty()),
        })
    }
}

/// The job.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "synthesize_accepted")]
pub struct Synthesized {
    /// Its id.
    #[schemars(regex(pattern = "^job_[0-9a-f]{32}$"))]
    pub job_id: String,
    /// Always `completed`: the built-in synthesizer is done when it answers.
    pub status: &'static str,
    /// The scope.
    pub scope: String,
    /// Where what happens in the scope is announced.
    pub lifecycle_stream: String,
}
