//! The lifecycle of events: live, listed, one by one, and cancelled.

mod listener;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::experience::response::stage_names;
use lamina_api::v1::lifecycle::{
    CancelRequest, CancelResponse, CapturedDetail, LifecycleAggregate, LifecycleBody,
    LifecycleFailure, LifecycleQuery, StreamQuery,
};
use lamina_api::{ApiError, Page, PageStart, time};
use lamina_core::policy::{Caller, Permit};
use lamina_engine::{Error as EngineError, LifecycleFilter, MemoryEvent, Shown};
use lamina_types::capability::{
    LifecycleSubscribe, PolicyAdministerScope, ScopeReadLocal, ScopeWrite,
};
use lamina_types::{ActorId, ErrorCode, EventId, LifecycleId, LifecycleKind, ScopePath};

use super::{blocking, events};
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::{reply, sse};
use listener::{Listener, Place};

/// `GET /v1/lifecycle/stream`.
pub(super) async fn stream(call: Call) -> Result<Response, Failure> {
    let query = StreamQuery::parse(&call.pairs()?, call.header_text("last-event-id")?)?;
    let caller = call.caller()?;
    let scope = place(&call.desk, &caller, &query).await?;
    let permit = permit(&call.desk, &caller, scope.as_ref()).await?;
    let since = query.since;
    let hears = query.events.is_empty() || query.events.contains(&"policy_changed");
    // Taken before the stream begins, so that nothing falls between the two.
    let policies = call.app.engine.policies_watch();
    let export = query.export_id;
    let mut subscription =
        call.app.engine.subscribe(&permit, filter(caller.tenant, query), since)?;
    let now = call.app.engine.now();
    if let Some(job) = export.and_then(|id| call.app.exports.find(caller.tenant, id, now)) {
        // A short export is over before anybody listens.
        let there = permit.caller().tenant;
        let scope = &job.plan.point.scope;
        subscription.tell(&call.app.engine.export_shown(there, scope, job.standing()));
    }
    let place = Place { caller, there: permit.caller().clone(), scope };
    let mut listener = Listener::new(subscription, policies, call.desk.clone(), place);
    (listener.last, listener.hears) = (since, hears);
    Ok(sse::response(listener, call.app.closing.clone()))
}

/// The right to hear of what becomes of events. In a scope it takes the right to read there: whose words
/// one may not read, of those one hears nothing (C35, ruling 10).
async fn permit(
    desk: &Desk,
    caller: &Caller,
    scope: Option<&ScopePath>,
) -> Result<Permit<LifecycleSubscribe>, Failure> {
    if scope.is_some() {
        desk.permit::<ScopeReadLocal>(caller, scope).await?;
    }
    desk.permit(caller, scope).await
}

/// `GET /v1/lifecycle`.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = LifecycleQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let scope = place(&call.desk, &caller, &query.filter).await?;
    let permit = permit(&call.desk, &caller, scope.as_ref()).await?;
    let engine = call.app.engine.clone();
    let after = match query.start(&|bytes| engine.cursor_mac(caller.tenant, bytes))? {
        PageStart::Begin | PageStart::Offset(0) => query.filter.since,
        PageStart::After(position) => Some(id_of(&position)?),
        PageStart::Offset(_) => {
            let reason = "this list takes only the cursors it has given out";
            return Err(ApiError::at(ErrorCode::InvalidCursor, "cursor", reason).into());
        }
    };
    let filter = filter(caller.tenant, query.filter.clone());
    let (reading, limit) = (engine.clone(), query.limit);
    let mut sight = engine.sight(call.app.boot(), &permit).await;
    let mut reads = engine.sight(call.app.boot(), &permit).await;
    let page =
        blocking(move || reading.lifecycle_list((&mut sight, &mut reads), &filter, after, limit));
    let page = page.await??;
    let next = page.next.filter(|_| page.has_more);
    let next = next.map(|id| {
        query.next_cursor(id.as_bytes(), &|bytes| engine.cursor_mac(caller.tenant, bytes))
    });
    let items = page.items.iter().map(row).collect();
    reply::json(StatusCode::OK, &Page::new(items, next))
}

/// `GET /v1/lifecycle/event/{lifecycle_id}`.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: LifecycleId = call.path_id("lifecycle_id").await?;
    let caller = call.caller()?;
    call.desk.permit::<LifecycleSubscribe>(&caller, None).await?;
    let engine = call.app.engine.clone();
    let own = engine.lifecycle_home(caller.tenant, id);
    let shared = |tenant| std::future::ready(engine.lifecycle_home(tenant, id));
    let scope = call.desk.clone();
    let scope = scope.found::<ScopeReadLocal, _, _>(&caller, own, shared, |scope| scope).await;
    let scope = match scope {
        // Whoever may read nowhere is told the same of an id that is there (C35).
        Err(EngineError::NotFound) => {
            call.desk.permit::<ScopeReadLocal>(&caller, None).await?;
            call.record.forget();
            return Err(EngineError::NotFound.into());
        }
        found => found?,
    };
    call.desk.alike::<ScopeReadLocal>(&caller, &scope).await?;
    let permit = permit(&call.desk, &caller, Some(&scope)).await?;
    let shown = engine.lifecycle_event(&permit, id)?;
    reply::json(StatusCode::OK, &row(&shown))
}

/// `GET /v1/lifecycle/memory-event/{event_id}`.
pub(super) async fn memory_event(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let scope = home(&call, &caller, id).await?.0;
    call.desk.alike::<ScopeReadLocal>(&caller, &scope).await?;
    let permit = permit(&call.desk, &caller, Some(&scope)).await?;
    let MemoryEvent { event_id, progress, rows } =
        call.app.engine.memory_event(&permit, id).await?;
    let mut sight = call.app.engine.sight(call.app.boot(), &permit).await;
    let derives = call.app.engine.derived_in_sight(&mut sight, id).await?;
    let errors = rows.iter().filter_map(|shown| {
        let LifecycleKind::Failed(stage) = shown.event.kind else {
            return None;
        };
        let tries = progress.failed.iter().find(|(failed, _)| *failed == stage);
        Some(LifecycleFailure {
            stage: stage.as_str().to_owned(),
            attempts: tries.map_or(0, |(_, tries)| *tries),
            ts: time::print(shown.event.at),
        })
    });
    let shape = LifecycleAggregate {
        event_id: event_id.to_string(),
        stages_completed: stage_names(&progress.completed),
        stages_pending: stage_names(&progress.pending),
        lifecycle_event_ids: rows.iter().map(|shown| shown.event.id.to_string()).collect(),
        derives,
        errors: errors.collect(),
        excluded_from_recall: progress.cancelled,
    };
    reply::json(StatusCode::OK, &shape)
}

/// `POST /v1/lifecycle/memory-event/{event_id}/cancel`.
pub(super) async fn cancel(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let body = call.optional_json_body(call.app.limits.body_bytes).await?;
    CancelRequest::read(&body)?;
    let engine = &call.app.engine;
    let (scope, writer) = home(&call, &caller, id).await?;
    // Somebody else's event is for who looks after the scope (R314, C23).
    let there = engine.seat(&call.app.boot(), &caller, Some(&scope)).await?;
    if writer != Some(there.actor) {
        call.desk.permit::<PolicyAdministerScope>(&caller, Some(&scope)).await?;
    }
    let permit = call.desk.permit::<ScopeWrite>(&caller, Some(&scope)).await?;
    call.record.event(id);
    let noted = call.noted("");
    let cancelled = engine.cancel(&permit, id, &noted).await?;
    // No pack of before is quoted any more.
    call.app.forget_packs(caller.tenant, &scope, &id.to_string());
    let shape = CancelResponse {
        event_id: cancelled.event_id.to_string(),
        stages_cancelled: stage_names(&cancelled.cancelled),
        stages_already_completed: stage_names(&cancelled.completed),
        excluded_from_recall: true,
        audit_id: cancelled.audit_id.to_string(),
    };
    reply::json(StatusCode::OK, &shape)
}

/// Where an event belongs and who wrote it.
fn home(
    call: &Call,
    caller: &Caller,
    id: EventId,
) -> impl Future<Output = Result<(ScopePath, Option<ActorId>), Failure>> + Send + use<> {
    events::home(call.desk.clone(), caller.clone(), id)
}

/// Where what is asked for comes from: a scope, or the tenant. An event that all tenants share is asked
/// for by its id alone, too.
async fn place(
    desk: &Desk,
    caller: &Caller,
    query: &StreamQuery,
) -> Result<Option<ScopePath>, EngineError> {
    let (None, Some(event)) = (&query.scope, query.event_id) else {
        return Ok(query.scope.clone());
    };
    let engine = &desk.app.engine;
    if !matches!(engine.event_scope(caller.tenant, event).await, Err(EngineError::NotFound)) {
        return Ok(None);
    }
    let shared = |tenant| engine.event_scope(tenant, event);
    let nowhere = Err(EngineError::NotFound);
    let found = desk.found::<ScopeReadLocal, _, _>(caller, nowhere, shared, |scope| scope);
    Ok(found.await.ok())
}

fn filter(tenant: u32, query: StreamQuery) -> LifecycleFilter {
    let names: Vec<String> = query.events.iter().map(|name| (*name).to_owned()).collect();
    LifecycleFilter {
        tenant,
        erasure: query.erasure_id,
        import: query.import_id,
        export: query.export_id,
        // Other jobs announce nothing.
        nothing: query.asks_for_job(),
        scope: query.scope,
        event: query.event_id,
        batch: query.batch_id,
        kinds: Some(names).filter(|names| !names.is_empty()),
    }
}

fn row(shown: &Shown) -> LifecycleBody {
    let modality = shown.modality.as_deref().unwrap_or_default();
    let actor = shown.actor.as_ref().map(ActorId::as_str);
    let detail = actor.map(|actor| CapturedDetail { actor, modality });
    LifecycleBody::new(&shown.event, detail)
}

fn id_of(position: &[u8]) -> Result<LifecycleId, ApiError> {
    let bytes = position.try_into().map_err(|_| ApiError::of(ErrorCode::InvalidCursor))?;
    Ok(LifecycleId::from_bytes(bytes))
}
