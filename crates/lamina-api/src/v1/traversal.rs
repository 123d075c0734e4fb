//! What a read says about the scopes it walked down through (R424).

use schemars::JsonSchema;
use serde::Serialize;

/// A scope of a walk down: read, or left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "traversed_scope")]
pub enum TraversedScope {
    /// It was read.
    Read(ReadScope),
    /// It is there and may not be read.
    Denied(DeniedScope),
}

/// A scope that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "read_scope")]
pub struct ReadScope {
    /// The scope.
    pub scope: String,
    /// Items of it on this page.
    pub items: u64,
}

/// A scope that may not be read: that it is there and how much is in it, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "denied_scope")]
pub struct DeniedScope {
    /// The scope.
    pub scope: String,
    /// Always true.
    pub denied: bool,
    /// Items in it, whatever was asked for; counted up to a thousand.
    pub item_count: u64,
    /// Which capability which tier denies.
    pub denied_reason: String,
}
