//! Scopes: registration, members, lists, pruning (R301-R307).

use lamina_types::limits::{MEMBERS_MAX, SCOPE_POLICY_CHARS_MAX};
use lamina_types::{ActorId, ErrorCode, MemberRole, ScopePath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::check;
use crate::error::ApiError;
use crate::json;
use crate::v1::auth::{actor, shape};

/// A member of a scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scope_member")]
pub struct Member {
    /// Who.
    pub actor: String,
    /// `owner`, `writer` or `reader`.
    #[schemars(regex(pattern = "^(owner|writer|reader)$"))]
    pub role: String,
}

/// What a scope says about what is derived in it. Kept and shown; honoured where the feature exists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scope_policies")]
pub struct ScopePolicies {
    /// How beliefs are merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidation: Option<String>,
    /// How conflicts are settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict_resolution: Option<String>,
    /// Registered scopes whose members and rules hold here too, beside those above.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub inherit_from: Option<Vec<String>>,
    /// `full`: the row of every call here, also of a read, is on disk before the call is answered;
    /// `standard`: as elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^(full|standard)$"))]
    pub audit: Option<String>,
    /// Rules for the scopes below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub children: Option<ChildPolicies>,
}

/// Rules for the scopes below.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scope_child_policies")]
pub struct ChildPolicies {
    /// Whether a first write registers a scope below this one.
    pub auto_register: Option<bool>,
}

/// Scopes an `inherit_from` may name.
const INHERIT_MAX: usize = 32;
/// What `audit` may be.
const AUDITED: &[&str] = &["full", "standard"];

/// `POST /v1/scopes`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scope_registration")]
pub struct ScopeRegistration {
    /// The scope.
    pub path: String,
    /// Its members; the caller is made owner if the list names none.
    #[schemars(length(max = 1000))]
    pub members: Option<Vec<Member>>,
    /// An owner, instead of the list.
    pub owner: Option<String>,
    /// What holds in it.
    pub policies: Option<ScopePolicies>,
}

/// A registration that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Registration {
    /// The scope.
    pub path: ScopePath,
    /// Its members, each once.
    pub members: Vec<(ActorId, MemberRole)>,
    /// What holds in it.
    pub policies: Option<ScopePolicies>,
}

impl ScopeRegistration {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Registration, ApiError> {
        let request: ScopeRegistration = json::read(body)?;
        let path = check::scope("path", &request.path)?;
        let mut members = roles(request.members.as_deref().unwrap_or_default())?;
        if let Some(owner) = &request.owner {
            let owner = actor("owner", owner)?;
            members.retain(|(member, _)| *member != owner);
            members.push((owner, MemberRole::Owner));
        }
        if let Some(policies) = &request.policies {
            policies.check()?;
        }
        Ok(Registration { path, members, policies: request.policies })
    }
}

impl ScopePolicies {
    /// What was checked when it was put, as it was stored.
    pub fn stored(text: &str) -> ScopePolicies {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The scopes that `inherit_from` names, which were checked.
    pub fn inherited(&self) -> Vec<ScopePath> {
        let paths = self.inherit_from.iter().flatten();
        paths.filter_map(|path| path.parse().ok()).collect()
    }

    /// Whether a first write below the scope registers what it writes to.
    pub fn registers_children(&self) -> bool {
        self.children.as_ref().and_then(|children| children.auto_register) != Some(false)
    }

    fn check(&self) -> Result<(), ApiError> {
        let words = [
            ("policies.consolidation", &self.consolidation),
            ("policies.conflict_resolution", &self.conflict_resolution),
        ];
        for (field, word) in words {
            if let Some(word) = word {
                shape(field, check::short(word, SCOPE_POLICY_CHARS_MAX))?;
            }
        }
        if self.audit.as_ref().is_some_and(|audit| !AUDITED.contains(&audit.as_str())) {
            let reason = "must be one of full, standard";
            return Err(ApiError::invalid_shape("policies.audit", reason));
        }
        let inherited = self.inherit_from.as_deref().unwrap_or_default();
        if inherited.len() > INHERIT_MAX {
            let reason = format!("has more than {INHERIT_MAX} entries");
            return Err(ApiError::invalid_shape("policies.inherit_from", reason));
        }
        for (index, path) in inherited.iter().enumerate() {
            check::scope(&format!("policies.inherit_from[{index}]"), path)?;
        }
        Ok(())
    }
}

/// `PUT /v1/scopes/members`: the whole list.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "scope_members")]
pub struct MembersBody {
    /// All members from now on.
    #[schemars(length(max = 1000))]
    pub members: Vec<Member>,
}

impl MembersBody {
    /// Reads the body.
    pub fn read(body: &[u8]) -> Result<Vec<(ActorId, MemberRole)>, ApiError> {
        let request: MembersBody = json::read(body)?;
        roles(&request.members)
    }
}

fn roles(members: &[Member]) -> Result<Vec<(ActorId, MemberRole)>, ApiError> {
    if members.len() > MEMBERS_MAX {
        let reason = format!("has more than {MEMBERS_MAX} entries");
        return Err(ApiError::invalid_shape("members", reason));
    }
    let mut known: Vec<(ActorId, MemberRole)> = Vec::with_capacity(members.len());
    for (index, member) in members.iter().enumerate() {
        let who = actor(&format!("members[{index}].actor"), &member.actor)?;
        let role = member.role.parse().map_err(|_| {
            let reason = "must be one of owner, writer, reader";
            ApiError::invalid_shape(format!("members[{index}].role"), reason)
        })?;
        if known.iter().any(|(other, _)| *other == who) {
            let at = format!("members[{index}].actor");
            return Err(ApiError::invalid_shape(at, "is listed twice"));
        }
        known.push((who, role));
    }
    Ok(known)
}

/// A scope.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "scope")]
pub struct ScopeBody {
    /// The scope.
    pub path: String,
    /// Its first owner; null if it has none.
    pub owner: Option<String>,
    /// Who belongs to it; lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<Member>>,
    /// How many that are.
    pub member_count: u64,
    /// What holds in it.
    pub policies: ScopePolicies,
    /// Whether a first write made it, and nobody registered it since.
    pub auto_provisioned: bool,
    /// When it was first seen.
    #[schemars(extend("format" = "date-time"))]
    pub created_at: String,
    /// When something was last written to it.
    #[schemars(extend("format" = "date-time"))]
    pub last_write: Option<String>,
    /// Events written to it; lists leave it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub records: Option<u64>,
}

/// `POST /v1/scopes/prune`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "prune_request")]
pub struct PruneRequest {
    /// Only scopes without a write for so long, an ISO 8601 duration such as `P90D`.
    pub older_than: String,
    /// Only say what would go; true unless given.
    pub dry_run: Option<bool>,
}

impl PruneRequest {
    /// Reads the body: the age in microseconds, and whether to look only.
    pub fn read(body: &[u8]) -> Result<(i64, bool), ApiError> {
        let request: PruneRequest = json::read(body)?;
        let age = crate::time::duration_us(&request.older_than).ok_or_else(|| {
            let reason = "must be a positive ISO 8601 duration such as P90D";
            ApiError::invalid_shape("older_than", reason)
        })?;
        Ok((age, request.dry_run.unwrap_or(true)))
    }
}

/// What a prune removed, or would.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "pruned")]
pub struct Pruned {
    /// The scopes, up to a thousand of them.
    pub candidates: Vec<PruneCandidate>,
    /// How many there are in all.
    pub total: u64,
    /// Whether nothing was removed.
    pub dry_run: bool,
}

/// A scope that nobody uses.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "prune_candidate")]
pub struct PruneCandidate {
    /// The scope.
    pub path: String,
    /// When something was last written to it.
    #[schemars(extend("format" = "date-time"))]
    pub last_write: Option<String>,
    /// What is in it.
    pub records: PrunedRecords,
}

/// The records of a scope that nobody uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "pruned_records")]
pub struct PrunedRecords {
    /// Events, counted up to a million.
    pub events: u64,
    /// Versions of facts, counted up to 100,000.
    pub facts: u64,
}

/// The scope that a request names with `path`.
pub fn path_of(text: Option<&str>) -> Result<ScopePath, ApiError> {
    let Some(text) = text else {
        let reason = "this parameter is required";
        return Err(ApiError::at(ErrorCode::MissingRequiredField, "path", reason));
    };
    check::scope("path", text)
}

/// The scope that lists begin at, as `prefix` names it, with or without a slash at its end.
pub fn prefix_of(text: &str) -> Result<ScopePath, ApiError> {
    check::scope("prefix", text.trim_end_matches('/'))
}

#[cfg(test)]
mod tests;
