//! Policies of the four tiers, and what they come to (R187-R196).

use std::collections::BTreeMap;

use lamina_types::limits::{POLICY_DEFAULTS_MAX, POLICY_PATTERN_CHARS_MAX, POLICY_PATTERNS_MAX};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::v1::auth::shape;

/// The rules of one tier, as they are put and shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "policy")]
pub struct PolicyBody {
    /// Capabilities this tier allows; `scope.read.*` and `*` are patterns. Below the deployment an
    /// entry takes back a wider denial of the same tier, and never widens what is above.
    #[schemars(length(max = 256))]
    pub allow: Vec<String>,
    /// Capabilities this tier denies.
    #[schemars(length(max = 256))]
    pub deny: Vec<String>,
    /// Settings such as `rate_limit.write` and `audit.retention`.
    pub defaults: BTreeMap<String, Value>,
}

impl PolicyBody {
    /// Reads the body of a PUT. What the rules and settings mean is for the policy to say.
    pub fn read(body: &[u8]) -> Result<PolicyBody, ApiError> {
        let policy: PolicyBody = json::read(body)?;
        for (field, rules) in [("allow", &policy.allow), ("deny", &policy.deny)] {
            if rules.len() > POLICY_PATTERNS_MAX {
                let reason = format!("has more than {POLICY_PATTERNS_MAX} entries");
                return Err(ApiError::invalid_shape(field, reason));
            }
            for (index, rule) in rules.iter().enumerate() {
                let at = format!("{field}[{index}]");
                shape(&at, check::short(rule, POLICY_PATTERN_CHARS_MAX))?;
            }
        }
        if policy.defaults.len() > POLICY_DEFAULTS_MAX {
            let reason = format!("has more than {POLICY_DEFAULTS_MAX} entries");
            return Err(ApiError::invalid_shape("defaults", reason));
        }
        Ok(policy)
    }
}

/// The policy of one tier, with where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "policy_record")]
pub struct PolicyRecord {
    /// `deployment`, `tenant`, `scope` or `actor`.
    pub tier: String,
    /// The tenant, scope or actor it is of; null for the deployment.
    pub target: Option<String>,
    /// The preset the deployment was started with.
    pub preset: String,
    /// Grows with each change; 0 if nothing was ever put.
    pub version: u64,
    /// When it was last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub updated_at: Option<String>,
    /// The rules.
    #[serde(flatten)]
    pub policy: PolicyBody,
}

/// `GET /v1/policy/effective`: what is left after all tiers and the token.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "capability_set")]
pub struct Effective {
    /// Of whom.
    pub actor: String,
    /// Where; null for the whole tenant.
    pub scope: Option<String>,
    /// The preset in force.
    pub deployment_preset: String,
    /// What is allowed.
    pub allowed: Vec<String>,
    /// What is not, and who says so.
    pub denied: Vec<DeniedCapability>,
    /// The same by name.
    pub capabilities: BTreeMap<String, CapabilityDecision>,
    /// How fast the actor may call.
    pub rate_limits: RateLimits,
    /// The deepest scope where the actor is owner or writer; null if there is none.
    pub natural_level: Option<String>,
}

/// A capability that is denied.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "denied_capability")]
pub struct DeniedCapability {
    /// Its name.
    pub capability: String,
    /// The outermost tier that denies it.
    pub denied_by_tier: String,
}

/// What was decided about a capability.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "capability_decision")]
pub struct CapabilityDecision {
    /// `allow` or `deny`.
    pub decision: String,
    /// By which tier.
    pub decided_by_tier: String,
}

/// How fast an actor may call, such as `100/s`; null where nothing limits it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "rate_limits")]
pub struct RateLimits {
    /// Writes.
    pub write: Option<String>,
    /// Reads.
    pub read: Option<String>,
}

#[cfg(test)]
mod tests;
