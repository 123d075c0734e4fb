//! What became of a write: by its key, by its event.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::ApiError;
use lamina_api::query::Params;
use lamina_api::v1::experience::response::stage_names;
use lamina_api::v1::experience::{ByIdempotencyKey, WriteStatus};
use lamina_core::policy::{Caller, Permit};
use lamina_engine::{Error as EngineError, Progress};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{ErrorCode, EventId, EventRecord, ScopePath, Stage};

use super::experience;
use crate::http::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// `GET /v1/experience/by-idempotency-key/{key}`: the caller's own keys only.
pub(super) async fn by_key(mut call: Call) -> Result<Response, Failure> {
    let key = call.path_text("key").await?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, None).await?;
    let found = by_own_key(&call.app, &permit, &key).await?;
    let event_id = found.ok_or_else(|| ApiError::of(ErrorCode::NotFound))?;
    let (record, progress) = known(&call.desk, &caller, event_id).await?;
    let shape = ByIdempotencyKey {
        idempotency_key: key,
        event_id: event_id.to_string(),
        status: experience::status(&progress),
        wal_offset: record.wal_offset,
    };
    reply::json(StatusCode::OK, &shape)
}

/// `GET /v1/experience/status`: 200 whether or not the write is known.
pub(super) async fn status(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let params = Params::new(&pairs);
    let caller = call.caller()?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, None).await?;
    let event_id = match (params.id::<EventId>("event_id")?, params.one("idempotency_key")?) {
        (Some(event_id), _) => Some(event_id),
        (None, Some(key)) => by_own_key(&call.app, &permit, key).await?,
        (None, None) => {
            let reason = "give either idempotency_key or event_id";
            let code = ErrorCode::MissingRequiredField;
            return Err(ApiError::at(code, "idempotency_key", reason).into());
        }
    };
    let found_event = match event_id {
        Some(event_id) => Some((event_id, known(&call.desk, &caller, event_id).await)),
        None => None,
    };
    let shape = match found_event {
        None | Some((_, Err(EngineError::NotFound))) => WriteStatus {
            note: "no such write; a key is remembered for at least 24 hours".to_owned(),
            ..WriteStatus::default()
        },
        Some((event_id, Err(EngineError::Deleted))) => WriteStatus {
            event_id: Some(event_id.to_string()),
            note: "the event was erased".to_owned(),
            ..WriteStatus::default()
        },
        Some((_, Err(error))) => return Err(error.into()),
        Some((event_id, Ok((_, progress)))) => found(event_id, &progress),
    };
    reply::json(StatusCode::OK, &shape)
}

/// The event behind a key or an id, if the caller may read it, and how far it has come.
async fn known(
    desk: &Desk,
    caller: &Caller,
    event_id: EventId,
) -> Result<(EventRecord, Progress), EngineError> {
    let engine = &desk.app.engine;
    let own = engine.event_scope(caller.tenant, event_id).await;
    let shared = |tenant| engine.event_scope(tenant, event_id);
    let scope = desk.found::<ScopeReadLocal, _, _>(caller, own, shared, |scope| scope).await?;
    let stack = desk.app.stack(caller, Some(&scope)).await?;
    let permit = stack.permit::<ScopeReadLocal>(caller, Some(&scope))?;
    let record = engine.event(&permit, event_id).await?;
    Ok((record, engine.progress(permit.caller().tenant, event_id).await?))
}

/// The scope in which the caller used a key first, if the caller may read there.
pub(super) async fn first_use(desk: &Desk, caller: &Caller, key: &str) -> Option<ScopePath> {
    let app = &desk.app;
    let stack = app.stack(caller, None).await.ok()?;
    let permit = stack.permit::<ScopeReadLocal>(caller, None).ok()?;
    let event = by_own_key(app, &permit, key).await.ok()??;
    let scope = app.engine.event_scope(caller.tenant, event).await.ok()?;
    let stack = app.stack(caller, Some(&scope)).await.ok()?;
    stack.permit::<ScopeReadLocal>(caller, Some(&scope)).ok().map(|_| scope)
}

/// The event that the caller wrote under a key, wherever it wrote it.
async fn by_own_key(
    app: &App,
    permit: &Permit<ScopeReadLocal>,
    key: &str,
) -> Result<Option<EventId>, EngineError> {
    match app.engine.by_idempotency_key(permit, key).await? {
        None => app.engine.shared_by_idempotency_key(&app.boot(), permit, key).await,
        found => Ok(found),
    }
}

/// The three words that clients of this route know; `stages_completed` has the rest.
fn word(progress: &Progress) -> &'static str {
    if !progress.failed.is_empty() {
        "failed"
    } else if progress.completed.contains(&Stage::Indexed) {
        "indexed"
    } else {
        "captured"
    }
}

fn found(event_id: EventId, progress: &Progress) -> WriteStatus {
    let failed = progress.failed.first();
    let note = match failed {
        Some(_) => "a stage gave up; the event itself is durable and readable",
        None if progress.cancelled => "the remaining stages were cancelled",
        None if progress.settled => "every stage is done",
        None => "the event is durable; stages are still to come",
    };
    WriteStatus {
        found: true,
        event_id: Some(event_id.to_string()),
        status: Some(word(progress).to_owned()),
        stages_completed: stage_names(&progress.completed),
        note: note.to_owned(),
        failure_reason: failed.map(|(stage, attempts)| {
            format!("the stage {} gave up after {attempts} tries", stage.as_str())
        }),
    }
}
