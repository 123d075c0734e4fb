//! `GET /v1/entities`, `POST /v1/entities/{entity_id}/merge` and `POST /v1/entities/{entity_id}/split`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::entities::{
    AliasBody, EntitiesPage, EntitiesQuery, KnownEntityBody, MergeRequest, SplitRequest,
};
use lamina_engine::read::entities::{EntitiesQuery as Question, EntityRecord};
use lamina_types::EntityId;
use lamina_types::capability::PolicyAdministerTenant;
use lamina_types::layer::EntityKind;

use super::facts::name;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

/// One page of entities.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = EntitiesQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let EntitiesQuery { scope, view: _, name, after, limit } = query;
    let question = Question { scope, called: name, after, limit };
    let page = call.app.engine.entities(permit, question).await?;
    let last = page.items.last().map(|last| last.id.to_string());
    let body = EntitiesPage {
        items: page.items.iter().map(shown).collect(),
        next_cursor: last.filter(|_| page.has_more),
        has_more: page.has_more,
    };
    reply::json(StatusCode::OK, &body)
}

/// Two entities are one.
pub(super) async fn merge(mut call: Call) -> Result<Response, Failure> {
    let id: EntityId = call.path_id("entity_id").await?;
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let into = MergeRequest::read(&body)?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    let noted = call.noted("");
    let merged = call.app.engine.entity_merge(&permit, id, into, &noted).await?;
    reply::json(StatusCode::OK, &shown(&merged))
}

/// An entity stands for itself again.
pub(super) async fn split(mut call: Call) -> Result<Response, Failure> {
    let id: EntityId = call.path_id("entity_id").await?;
    let caller = call.caller()?;
    let body = call.optional_json_body(call.app.limits.body_bytes).await?;
    SplitRequest::read(&body)?;
    let permit = call.desk.permit::<PolicyAdministerTenant>(&caller, None).await?;
    let noted = call.noted("");
    let split = call.app.engine.entity_split(&permit, id, &noted).await?;
    reply::json(StatusCode::OK, &shown(&split))
}

fn shown(entity: &EntityRecord) -> KnownEntityBody {
    let EntityRecord { id, kind, name: term, names, merged_into, merged } = entity;
    let alias = |(name, sure): &(String, u16)| AliasBody {
        name: name.clone(),
        confidence: f64::from(*sure) / 10_000.0,
    };
    KnownEntityBody {
        r#type: "entity",
        id: id.to_string(),
        name: term.as_ref().map(name),
        kind: kind_word(*kind),
        aliases: names.iter().map(alias).collect(),
        merged_into: merged_into.map(|home| home.to_string()),
        merged: merged.iter().map(ToString::to_string).collect(),
    }
}

pub(crate) fn kind_word(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Thing => "thing",
        EntityKind::Person => "person",
        EntityKind::Organization => "organization",
        EntityKind::Place => "place",
        EntityKind::Product => "product",
        EntityKind::Occasion => "occasion",
        EntityKind::Animal => "animal",
        EntityKind::Identifier => "identifier",
    }
}
