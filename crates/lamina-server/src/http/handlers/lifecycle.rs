//! The lifecycle of events: live, listed, one by one, and cancelled.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;
use lamina_api::v1::experience::response::stage_names;
use lamina_api::v1::lifecycle::{
    CancelRequest, CancelResponse, CapturedDetail, Lagging, LifecycleAggregate, LifecycleBody,
    LifecycleFailure, LifecycleQuery, StreamQuery,
};
use lamina_api::{ApiError, Page, PageStart, time};
use lamina_core::policy::Caller;
use lamina_engine::{
    Error as EngineError, LifecycleFilter, MemoryEvent, PolicyBook, Shown, StreamItem, Subscription,
};
use lamina_types::capability::{
    Capability as _, LifecycleSubscribe, PolicyAdministerScope, ScopeWrite,
};
use lamina_types::{ActorId, ErrorCode, EventId, LifecycleId, LifecycleKind, ScopePath};
use serde_json::json;
use tokio::sync::watch;

use super::{blocking, events};
use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::{reply, sse};

/// `GET /v1/lifecycle/stream`.
pub(super) async fn stream(call: Call) -> Result<Response, Failure> {
    let query = StreamQuery::parse(&call.pairs()?, call.header_text("last-event-id")?)?;
    let caller = call.caller()?;
    let scope = place(&call.desk, &caller, &query).await?;
    let permit = call.desk.permit::<LifecycleSubscribe>(&caller, scope.as_ref()).await?;
    let since = query.since;
    let subscription = call.app.engine.subscribe(&permit, filter(caller.tenant, query), since)?;
    let policies = call.app.engine.policies_watch();
    let there = permit.caller().clone();
    let seen = policies.borrow().version_at(&there);
    let listener = Listener {
        subscription,
        last: since,
        policies,
        seen,
        desk: call.desk.clone(),
        caller,
        there,
        scope,
    };
    Ok(sse::response(listener, call.app.closing.clone()))
}

/// A stream outlives the decision that let it begin, so it asks again (R188).
struct Listener {
    subscription: Subscription,
    last: Option<LifecycleId>,
    policies: watch::Receiver<Arc<PolicyBook>>,
    /// The version of the policies that the stream was last held against.
    seen: u64,
    desk: Desk,
    caller: Caller,
    /// The same caller where the stream is from.
    there: Caller,
    scope: Option<ScopePath>,
}

impl Listener {
    /// Whether the stream may go on, and a word about it if it may not.
    async fn goes_on(&self) -> Result<(), Bytes> {
        let allowed = allows(&self.desk, &self.caller, self.scope.as_ref()).await;
        let gone = self.caller.grant.as_ref().is_some_and(|grant| {
            let engine = &self.desk.app.engine;
            grant.exp <= engine.now() || engine.is_revoked(&grant.iss, &grant.jti).unwrap_or(true)
        });
        match allowed && !gone {
            true => Ok(()),
            false => Err(self.word("policy_revoked", self.version())),
        }
    }

    /// The version of the policies that can concern the caller.
    fn version(&self) -> u64 {
        self.policies.borrow().version_at(&self.there)
    }

    fn word(&self, event: &str, version: u64) -> Bytes {
        let scope = self.scope.as_ref().map(ScopePath::as_str);
        let data = json!({"scope": scope, "policy_version": version}).to_string();
        sse::frame(None, event, data.as_bytes())
    }
}

impl sse::Source for Listener {
    async fn next(&mut self) -> sse::Next {
        let item = loop {
            let item = tokio::select! {
                item = self.subscription.next() => item,
                changed = self.policies.changed() => {
                    if changed.is_err() {
                        return sse::Next::Done;
                    }
                    let version = self.version();
                    // What another tenant decides is not told, not even that it decided something.
                    if std::mem::replace(&mut self.seen, version) == version {
                        continue;
                    }
                    return match self.goes_on().await {
                        Ok(()) => sse::Next::Frame(self.word("policy_changed", version)),
                        Err(word) => sse::Next::Last(word),
                    };
                }
            };
            let Some(StreamItem::Event(shown)) = &item else { break item };
            if let Err(word) = self.goes_on().await {
                return sse::Next::Last(word);
            }
            // Of a whole tenant only what the caller may see.
            if allows(&self.desk, &self.caller, Some(&shown.event.scope)).await {
                break item;
            }
        };
        match item {
            None => sse::Next::Done,
            Some(StreamItem::Event(shown)) => {
                self.last = Some(shown.event.id);
                let row = row(&shown);
                // A shape of ours serializes; if one did not, the stream would end and be resumed,
                // not go on with a hole in it.
                match serde_json::to_vec(&row) {
                    Ok(data) => {
                        sse::Next::Frame(sse::frame(Some(&row.lifecycle_id), &row.event, &data))
                    }
                    Err(_) => sse::Next::Done,
                }
            }
            Some(StreamItem::Lagging { behind_ms }) => {
                let shape = Lagging::new(behind_ms, self.last);
                let data = serde_json::to_vec(&shape).unwrap_or_default();
                sse::Next::Last(sse::frame(None, "lagging", &data))
            }
        }
    }
}

/// Whether a caller may see the lifecycle of a scope.
async fn allows(desk: &Desk, caller: &Caller, scope: Option<&ScopePath>) -> bool {
    match desk.app.stack(caller, scope).await {
        Ok(stack) => stack.allows(caller, LifecycleSubscribe::NAME, scope).is_ok(),
        Err(_) => false,
    }
}

/// `GET /v1/lifecycle`.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = LifecycleQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let scope = place(&call.desk, &caller, &query.filter).await?;
    let permit = call.desk.permit::<LifecycleSubscribe>(&caller, scope.as_ref()).await?;
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
    let page = blocking(move || reading.lifecycle_list(&mut sight, &filter, after, limit));
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
    let scope = scope.found::<LifecycleSubscribe, _, _>(&caller, own, shared, |scope| scope);
    let scope = scope.await?;
    let permit = call.desk.permit::<LifecycleSubscribe>(&caller, Some(&scope)).await?;
    let shown = engine.lifecycle_event(&permit, id)?;
    reply::json(StatusCode::OK, &row(&shown))
}

/// `GET /v1/lifecycle/memory-event/{event_id}`.
pub(super) async fn memory_event(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let scope = home(&call, &caller, id).await?.0;
    let permit = call.desk.permit::<LifecycleSubscribe>(&caller, Some(&scope)).await?;
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
    call.app.forget_packs(&scope, &id.to_string());
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
    let found = desk.found::<LifecycleSubscribe, _, _>(caller, nowhere, shared, |scope| scope);
    Ok(found.await.ok())
}

fn filter(tenant: u32, query: StreamQuery) -> LifecycleFilter {
    let names: Vec<String> = query.events.iter().map(|name| (*name).to_owned()).collect();
    LifecycleFilter {
        tenant,
        erasure: query.erasure_id,
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
