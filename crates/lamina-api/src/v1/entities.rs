//! `GET /v1/entities`, `POST /v1/entities/{entity_id}/merge` and `POST /v1/entities/{entity_id}/split`:
//! who and what is spoken of, and who is one with whom.

use lamina_types::limits::{AUDIT_NOTE_CHARS_MAX, PAGE_DEFAULT};
use lamina_types::{EntityId, ErrorCode, ScopePath, ScopeView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ApiError;
use crate::json;
use crate::query::Params;

/// A question for entities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntitiesQuery {
    /// The scope.
    pub scope: ScopePath,
    /// How far from it.
    pub view: ScopeView,
    /// Called so.
    pub name: Option<String>,
    /// After this one: `next_cursor` of the page before.
    pub after: Option<EntityId>,
    /// At most so many.
    pub limit: usize,
}

impl EntitiesQuery {
    /// Reads decoded query pairs.
    pub fn parse(pairs: &[(String, String)]) -> Result<EntitiesQuery, ApiError> {
        let params = Params::new(pairs);
        let after = params.one("cursor")?.map(str::parse).transpose();
        let after = after.map_err(|_| {
            let reason = "must be a `next_cursor` of this list";
            ApiError::at(ErrorCode::InvalidCursor, "cursor", reason)
        })?;
        Ok(EntitiesQuery {
            scope: params.scope()?,
            view: params.view()?,
            name: params.one("name")?.map(str::to_owned),
            after,
            limit: params.limit(PAGE_DEFAULT)?,
        })
    }
}

/// A page of entities.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "entity_page")]
pub struct EntitiesPage {
    /// The entities, the first that was heard of first.
    pub items: Vec<KnownEntityBody>,
    /// Ask with this for the next page; null on the last.
    pub next_cursor: Option<String>,
    /// Whether there is another page.
    pub has_more: bool,
}

/// Somebody or something that facts are about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "entity")]
pub struct KnownEntityBody {
    /// Always `entity`.
    pub r#type: &'static str,
    /// Its id, the same in every record of the tenant.
    #[schemars(regex(pattern = "^ent_[0-9a-f]{32}$"))]
    pub id: String,
    /// As it was called first; null if those words are gone.
    pub name: Option<String>,
    /// `person`, `organization`, `place`, `product`, `occasion`, `animal`, `identifier`, or `thing` if
    /// that is not known.
    pub kind: &'static str,
    /// Everything it is called, also by those that were merged into it.
    pub aliases: Vec<AliasBody>,
    /// The entity that it is one with; null if it stands for itself.
    #[schemars(regex(pattern = "^ent_[0-9a-f]{32}$"))]
    pub merged_into: Option<String>,
    /// Those that were merged into it, and can be split off again.
    #[schemars(inner(regex(pattern = "^ent_[0-9a-f]{32}$")))]
    pub merged: Vec<String>,
}

/// A name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "entity_alias")]
pub struct AliasBody {
    /// As it is said.
    pub name: String,
    /// How sure it is that it means the entity.
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
}

/// `POST /v1/entities/{entity_id}/merge`.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "entity_merge")]
pub struct MergeRequest {
    /// The entity that stays.
    #[schemars(regex(pattern = "^ent_[0-9a-f]{32}$"))]
    into: String,
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    reason: Option<String>,
}

/// `POST /v1/entities/{entity_id}/split`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "entity_split")]
pub struct SplitRequest {
    /// Why. It is not kept: the row of the audit log has the hash of the request.
    reason: Option<String>,
}

impl MergeRequest {
    /// Reads the body: what stays.
    pub fn read(body: &[u8]) -> Result<EntityId, ApiError> {
        let MergeRequest { into, reason } = json::read(body)?;
        let into = into.parse().map_err(|_| {
            ApiError::at(ErrorCode::InvalidId, "into", "must be the id of an entity (`ent_…`)")
        })?;
        check_reason(reason.as_deref())?;
        Ok(into)
    }
}

impl SplitRequest {
    /// Reads the body, which may be absent.
    pub fn read(body: &[u8]) -> Result<(), ApiError> {
        let request = if body.is_empty() { SplitRequest::default() } else { json::read(body)? };
        check_reason(request.reason.as_deref())
    }
}

fn check_reason(reason: Option<&str>) -> Result<(), ApiError> {
    if reason.unwrap_or_default().chars().count() > AUDIT_NOTE_CHARS_MAX {
        let most = format!("must have at most {AUDIT_NOTE_CHARS_MAX} characters");
        return Err(ApiError::invalid_shape("reason", most));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
