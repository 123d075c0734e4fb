//! What a stream is told of policies (R384, R385): rows like all others, of no event, and not kept.

use lamina_types::{LifecycleId, Micros, ScopePath};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::LifecycleBody;
use crate::time;

/// The payload of `policy_changed`: a policy that bears on the stream is another one now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_policy_changed")]
pub struct PolicyChanged {
    /// `deployment`, `tenant`, `scope` or `actor`.
    #[schemars(regex(pattern = "^(deployment|tenant|scope|actor)$"))]
    pub tier: String,
    /// The scope or the actor whose policy it is, the tenant's name, or null for the deployment.
    pub scope_or_actor: Option<String>,
    /// What the tier says now and did not before.
    pub capability_diff: CapabilityDiff,
}

/// What a tier gives and takes, against what it said before. Other tiers may deny what it gives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "capability_diff")]
pub struct CapabilityDiff {
    /// Capabilities that the tier denied and does not any more.
    pub allowed: Vec<String>,
    /// Capabilities that it denies from now on.
    pub denied: Vec<String>,
}

/// The payload of `policy_revoked`, after which the stream closes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "lifecycle_policy_revoked")]
pub struct PolicyRevoked {
    /// Why the stream is no longer allowed.
    pub reason: String,
}

/// Where and when a word is said.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// Its id: the place in the stream to resume from.
    pub id: LifecycleId,
    /// The scope it is about, if it is about one.
    pub scope: Option<&'a ScopePath>,
    /// When.
    pub at: Micros,
}

impl LifecycleBody {
    /// That a policy has changed, for the `version`th time.
    pub fn policy_changed(said: Said<'_>, version: u64, changed: &PolicyChanged) -> LifecycleBody {
        let PolicyChanged { tier, scope_or_actor, capability_diff } = changed;
        let CapabilityDiff { allowed, denied } = capability_diff;
        let payload = json!({
            "tier": tier,
            "scope_or_actor": scope_or_actor,
            "capability_diff": { "allowed": allowed, "denied": denied },
        });
        word("policy_changed", said, version, payload)
    }

    /// That the stream ends, and why.
    pub fn policy_revoked(said: Said<'_>, revoked: &PolicyRevoked) -> LifecycleBody {
        let PolicyRevoked { reason } = revoked;
        word("policy_revoked", said, 1, json!({ "reason": reason }))
    }
}

fn word(event: &str, said: Said<'_>, seq: u64, payload: Value) -> LifecycleBody {
    let Said { id, scope, at } = said;
    let ts = time::print(at);
    LifecycleBody {
        lifecycle_id: id.to_string(),
        event: event.to_owned(),
        stage: None,
        event_id: None,
        batch_id: None,
        scope: scope.map(ToString::to_string),
        timestamp: ts.clone(),
        ts,
        seq: u32::try_from(seq).unwrap_or(u32::MAX),
        payload,
    }
}
