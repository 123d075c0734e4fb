//! `GET /v1/conflicts`, `GET /v1/conflicts/{conflict_id}` and `POST /v1/conflicts/{conflict_id}/resolve`.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::time;
use lamina_api::v1::conflicts::{
    Action, ConflictBody, ConflictsPage, ConflictsQuery, ResolutionBody, ResolveRequest, recorded,
};
use lamina_core::policy::Caller;
use lamina_engine::Error as EngineError;
use lamina_engine::read::conflicts::{
    ConflictRecord, ConflictStatus, ConflictsQuery as Question, Resolve,
};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{ConflictId, ScopePath};

use super::claims::record;
use super::facts::name;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// How sure a conflict is between values that differ by a slip of spelling.
const NEAR: f64 = 0.5;

/// One page of conflicts.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = ConflictsQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let ConflictsQuery { scope, view: _, open_only, recorded, before, limit } = query;
    let question = Question { scope, open_only, recorded, before, limit };
    let page = call.app.engine.conflicts(permit, question).await?;
    let body = ConflictsPage {
        conflicts: page.items.iter().map(shown).collect(),
        total: page.total as u64,
        next_cursor: page.next.map(|at| at.0.0),
    };
    reply::json(StatusCode::OK, &body)
}

/// One conflict.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: ConflictId = call.path_id("conflict_id").await?;
    let pairs = call.pairs()?;
    let recorded = recorded(&Params::new(&pairs))?;
    let caller = call.caller()?;
    let scope = home(call.desk.clone(), caller.clone(), id).await?;
    call.desk.alike::<ScopeReadLocal>(&caller, &scope).await?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, Some(&scope)).await?;
    let found = call.app.engine.conflict(&permit, id, recorded).await?;
    reply::json(StatusCode::OK, &shown(&found))
}

/// Decides a conflict.
pub(super) async fn resolve(mut call: Call) -> Result<Response, Failure> {
    let id: ConflictId = call.path_id("conflict_id").await?;
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let (action, reason) = ResolveRequest::read(&body)?;
    let scope = home(call.desk.clone(), caller.clone(), id).await?;
    let permit = call.desk.permit_write_to(&caller, &scope).await?;
    let resolve = match action {
        Action::Pick { winner } => Resolve::Pick { winner },
        Action::Split { boundary, earlier, later } => Resolve::Split { boundary, earlier, later },
        Action::NewInformation { record } => Resolve::NewInformation { record },
        Action::Dismiss => Resolve::Dismiss,
    };
    let noted = call.noted(&reason);
    let decided = call.app.engine.conflict_resolve(&permit, id, resolve, &noted).await?;
    reply::json(StatusCode::OK, &shown(&decided))
}

/// The scope of a conflict. Whoever may read nothing does not learn whether it exists.
async fn home(desk: Desk, caller: Caller, id: ConflictId) -> Result<ScopePath, Failure> {
    let engine = &desk.app.engine;
    let own = engine.conflict_scope(caller.tenant, id).await;
    let shared = |tenant| engine.conflict_scope(tenant, id);
    match desk.found::<ScopeReadLocal, _, _>(&caller, own, shared, |scope| scope).await {
        Err(EngineError::NotFound) => {
            desk.permit::<ScopeReadLocal>(&caller, None).await?;
            desk.record.forget();
            Err(EngineError::NotFound.into())
        }
        found => Ok(found?),
    }
}

/// A conflict as it is shown.
pub(super) fn shown(conflict: &ConflictRecord) -> ConflictBody {
    let ConflictRecord { id, fact, detected, status, near } = conflict;
    let (word, resolved_at, resolved_by, resolution) = match status {
        ConflictStatus::Open => ("open", None, None, None),
        ConflictStatus::Overtaken { at } => ("overtaken", Some(at), None, None),
        ConflictStatus::Resolved { at, by, reason, action } => {
            let word = match action {
                Resolve::Dismiss => "dismissed",
                _ => "manually_resolved",
            };
            (word, Some(at), by.as_ref(), Some(resolution(*action, reason)))
        }
    };
    ConflictBody {
        id: id.to_string(),
        scope: fact.scope.to_string(),
        subject: name(&fact.subject.term),
        subject_id: fact.subject.id.to_string(),
        predicate: fact.predicate.clone(),
        kind: "value_disagreement",
        status: word,
        records: fact.claims().iter().map(record).collect(),
        valid_from: fact.valid_from.map(|at| time::print(at.0)),
        valid_to: fact.valid_to.map(|at| time::print(at.0)),
        detected_at: time::print(detected.0),
        resolved_at: resolved_at.map(|at| time::print(at.0)),
        resolved_by: resolved_by.map(ToString::to_string),
        resolution,
        confidence: near.then_some(NEAR),
    }
}

fn resolution(action: Resolve, reason: &str) -> ResolutionBody {
    let reason = (!reason.is_empty()).then(|| reason.to_owned());
    let body = ResolutionBody { reason, ..ResolutionBody::default() };
    match action {
        Resolve::Pick { winner } => {
            ResolutionBody { action: "pick", winner: Some(winner.to_string()), ..body }
        }
        Resolve::Split { boundary, earlier, later } => ResolutionBody {
            action: "split",
            boundary: Some(time::print(boundary.0)),
            earlier: Some(earlier.to_string()),
            later: Some(later.to_string()),
            ..body
        },
        Resolve::NewInformation { record } => {
            ResolutionBody { action: "new_information", record: Some(record.to_string()), ..body }
        }
        Resolve::Dismiss => ResolutionBody { action: "dismiss", ..body },
    }
}
