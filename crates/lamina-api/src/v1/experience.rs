//! `POST /v1/experience` and its family: the envelope as it is written, and the answers.
//!
//! The envelope is read into the shapes of this file, in which everything is optional, and becomes
//! an [`Experience`](lamina_types::Experience) through [`admit`](admit::admit), which fills defaults
//! and checks every rule. The doc comments of the fields are the descriptions in the schema.

pub mod admit;
pub mod bulk;
mod content;
mod context;
mod directives;
pub mod identity;
pub mod response;
mod source;
pub mod wait;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::{FreeJson, Obj, OrText};

pub use admit::{AdmitContext, Admitted, Strictness, admit, read, read_line};
pub use bulk::{AdmittedBulk, BulkBody, Ordering, read_bulk};
pub use content::{ContentBody, MediaBody, RoleBody, TripleBody, TypedValue};
pub use context::ReferredTime;
pub use identity::identity;
pub use response::{
    BulkAccepted, BulkResult, ByIdempotencyKey, ElapsedMs, ExperienceAccepted, ExperienceCompleted,
    WriteStatus,
};
pub use source::{ByteRange, FragmentBody, LocatorBody, SourceBody};
pub use wait::Wait;

pub(crate) use content::ContentInput;

/// The body of `POST /v1/experience`: one experience, of any modality.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "experience_envelope")]
pub struct ExperienceEnvelope {
    /// The home scope, a path of `type:id` segments such as `org:acme/user:alice`.
    #[schemars(
        required,
        length(min = 3, max = 4096),
        regex(pattern = r"^[a-z][a-z0-9_]*:[A-Za-z0-9_-]+(/[a-z][a-z0-9_]*:[A-Za-z0-9_-]+)*$")
    )]
    pub scope: Option<String>,
    /// Who performed the experience. Defaults to the caller.
    pub observed_actor: Option<OrText<ActorBody>>,
    /// Alias of `observed_actor` in bulk items and import lines (C13).
    #[schemars(skip)]
    pub actor: Option<OrText<ActorBody>>,
    /// Who or what the experience is about. Defaults to the observed actor.
    pub subject: Option<OrText<SubjectBody>>,
    /// How the experience reached the caller. `conversation`, `document`, `tool_result`,
    /// `observation`, `feedback` and `imported` are extracted from; other values are kept verbatim.
    #[schemars(required, length(min = 1, max = 128))]
    pub modality: Option<String>,
    /// What was experienced.
    #[schemars(required, with = "Option<ContentBody>")]
    pub content: Option<OrText<ContentInput>>,
    /// When, why, after what.
    #[schemars(required)]
    pub context: Option<Obj<ContextBody>>,
    /// What the caller asks of derivation.
    pub directives: Option<Obj<DirectivesBody>>,
    /// Where the content was taken from, version 2 of the descriptor.
    #[schemars(with = "Option<SourceBody>")]
    pub source: Option<FreeJson>,
    /// BCP 47 tag of the content's language. A hint: not part of the identity of the body.
    #[schemars(length(max = 64))]
    pub language: Option<String>,
    /// ISO 15924 codes of the scripts used. A hint: not part of the identity of the body.
    #[schemars(length(max = 16))]
    pub scripts: Option<Vec<String>>,
    /// The caller's own key for this write. A repetition within 24 hours answers with the first
    /// event. May be sent as the header `X-Cortex-Idempotency-Key` instead.
    #[schemars(required, length(min = 1, max = 64))]
    pub idempotency_key: Option<String>,
}

/// An actor of an envelope.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "observed_actor")]
pub struct ActorBody {
    /// The actor, `type:id`.
    #[schemars(required, length(max = 256))]
    pub id: Option<String>,
    /// The type of the actor; must agree with the id.
    pub r#type: Option<String>,
    /// The run or session the act belongs to.
    #[schemars(length(min = 1, max = 256))]
    pub session: Option<String>,
}

/// The subject of an envelope.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "subject")]
pub struct SubjectBody {
    /// The subject, `type:id`.
    #[schemars(required, length(max = 256))]
    pub id: Option<String>,
    /// The type of the subject; must agree with the id.
    pub r#type: Option<String>,
}

/// The circumstances of an experience.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "experience_context")]
pub struct ContextBody {
    /// When it happened, RFC 3339 with an offset.
    #[schemars(required, extend("format" = "date-time"))]
    pub observed_at: Option<String>,
    /// When an upstream store recorded it (imports).
    #[schemars(extend("format" = "date-time"))]
    pub source_recorded_at: Option<String>,
    /// Where it happened: a text or an object.
    #[schemars(with = "Option<LocationBody>")]
    pub location: Option<FreeJson>,
    /// Events it follows from.
    #[schemars(length(max = 64), inner(regex(pattern = "^evt_")))]
    pub preceded_by: Option<Vec<String>>,
    /// What the actor was after.
    #[schemars(length(max = 256))]
    pub intent: Option<String>,
    /// Free labels.
    #[schemars(length(max = 64), inner(length(min = 1, max = 256)))]
    pub labels: Option<Vec<String>>,
    /// IANA time zone of the actor. A hint: not part of the identity of the body.
    #[schemars(length(max = 64))]
    pub timezone: Option<String>,
    /// The times the content speaks of.
    #[schemars(with = "Option<Vec<ReferredTime>>", length(max = 64))]
    pub refers_to: Option<FreeJson>,
}

/// A place: a text, or an object of the caller's own shape.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(untagged, rename = "location")]
#[expect(dead_code, reason = "describes the shape in the schema; never built")]
enum LocationBody {
    /// A name.
    Text(String),
    /// Any object.
    Object(serde_json::Map<String, serde_json::Value>),
}

/// What the caller asks of derivation.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "directives")]
pub struct DirectivesBody {
    /// Which stages of extraction to run: any of `facts`, `entities`, `beliefs`.
    #[schemars(inner(regex(pattern = "^(facts|entities|beliefs)$")))]
    pub extract: Option<Vec<String>>,
    /// A second scope to consolidate into.
    #[schemars(length(max = 4096))]
    pub consolidate_into: Option<String>,
    /// Beliefs under this confidence are not kept.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub confidence_floor: Option<f64>,
    /// How long beliefs drawn from it live, an ISO 8601 duration such as `P30D`.
    pub ttl_for_belief_layer: Option<String>,
    /// How long the event itself is kept, an ISO 8601 duration such as `P30D`; then its words are forgotten.
    pub ttl_for_event_layer: Option<String>,
    /// When to embed: `lazy` or `eager`.
    #[schemars(regex(pattern = "^(lazy|eager)$"))]
    pub embed: Option<String>,
    /// What is learned from it stands beside what is known and does not end it: where it would replace
    /// a value, it opens a conflict.
    pub no_supersede: Option<bool>,
}

#[cfg(test)]
mod tests;
