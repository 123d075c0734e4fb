//! The lifecycle of events: live, listed, one by one, and cancelled.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::experience::response::stage_names;
use lamina_api::v1::lifecycle::{
    CancelRequest, CancelResponse, CapturedDetail, Lagging, LifecycleAggregate, LifecycleBody,
    LifecycleFailure, LifecycleQuery, StreamQuery,
};
use lamina_api::{ApiError, Page, PageStart, time};
use lamina_engine::{LifecycleFilter, MemoryEvent, Shown, StreamItem, Subscription};
use lamina_types::capability::{LifecycleSubscribe, ScopeWrite};
use lamina_types::{ErrorCode, EventId, LifecycleId, LifecycleKind};

use super::blocking;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::{reply, sse};

/// `GET /v1/lifecycle/stream`.
pub(super) async fn stream(call: Call) -> Result<Response, Failure> {
    let query = StreamQuery::parse(&call.pairs()?, call.header_text("last-event-id")?)?;
    let caller = call.caller()?;
    let permit = call.permit::<LifecycleSubscribe>(&caller, query.scope.as_ref())?;
    let since = query.since;
    let subscription = call.app.engine.subscribe(&permit, filter(caller.tenant, query), since)?;
    Ok(sse::response(Listener { subscription, last: since }, call.app.closing.clone()))
}

struct Listener {
    subscription: Subscription,
    last: Option<LifecycleId>,
}

impl sse::Source for Listener {
    async fn next(&mut self) -> sse::Next {
        match self.subscription.next().await {
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

/// `GET /v1/lifecycle`.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    let query = LifecycleQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.permit::<LifecycleSubscribe>(&caller, query.filter.scope.as_ref())?;
    let engine = call.app.engine.clone();
    let after = match query.start(&|bytes| engine.cursor_mac(bytes))? {
        PageStart::Begin | PageStart::Offset(0) => query.filter.since,
        PageStart::After(position) => Some(id_of(&position)?),
        PageStart::Offset(_) => {
            let reason = "this list takes only the cursors it has given out";
            return Err(ApiError::at(ErrorCode::InvalidCursor, "cursor", reason).into());
        }
    };
    let filter = filter(caller.tenant, query.filter.clone());
    let (reading, limit) = (engine.clone(), query.limit);
    let page = blocking(move || reading.lifecycle_list(&permit, &filter, after, limit)).await??;
    let next = page.next.filter(|_| page.has_more);
    let next = next.map(|id| query.next_cursor(id.as_bytes(), &|bytes| engine.cursor_mac(bytes)));
    reply::json(StatusCode::OK, &Page::new(page.items.iter().map(row).collect(), next))
}

/// `GET /v1/lifecycle/event/{lifecycle_id}`.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: LifecycleId = call.path_id("lifecycle_id").await?;
    let caller = call.caller()?;
    let permit = call.permit::<LifecycleSubscribe>(&caller, None)?;
    let shown = call.app.engine.lifecycle_event(&permit, id)?;
    reply::json(StatusCode::OK, &row(&shown))
}

/// `GET /v1/lifecycle/memory-event/{event_id}`.
pub(super) async fn memory_event(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let permit = call.permit::<LifecycleSubscribe>(&caller, None)?;
    let MemoryEvent { event_id, progress, rows } =
        call.app.engine.memory_event(&permit, id).await?;
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
        derives: Vec::new(),
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
    let CancelRequest { audit_note } = CancelRequest::read(&body)?;
    let engine = &call.app.engine;
    let scope = engine.event_scope(caller.tenant, id).await?;
    let permit = call.permit::<ScopeWrite>(&caller, Some(&scope))?;
    let cancelled = engine.cancel(&permit, id, audit_note).await?;
    let shape = CancelResponse {
        event_id: cancelled.event_id.to_string(),
        stages_cancelled: stage_names(&cancelled.cancelled),
        stages_already_completed: stage_names(&cancelled.completed),
        excluded_from_recall: true,
        audit_id: cancelled.audit_id.to_string(),
    };
    reply::json(StatusCode::OK, &shape)
}

fn filter(tenant: u32, query: StreamQuery) -> LifecycleFilter {
    let names: Vec<String> = query.events.iter().map(|name| (*name).to_owned()).collect();
    LifecycleFilter {
        tenant,
        // Jobs are not built, so nothing can have come of one yet.
        nothing: query.asks_for_job(),
        scope: query.scope,
        event: query.event_id,
        batch: query.batch_id,
        kinds: Some(names).filter(|names| !names.is_empty()),
    }
}

fn row(shown: &Shown) -> LifecycleBody {
    let detail = shown.actor.as_ref().zip(shown.modality.as_ref());
    let detail = detail.map(|(actor, modality)| CapturedDetail { actor: actor.as_str(), modality });
    LifecycleBody::new(&shown.event, detail)
}

fn id_of(position: &[u8]) -> Result<LifecycleId, ApiError> {
    let bytes = position.try_into().map_err(|_| ApiError::of(ErrorCode::InvalidCursor))?;
    Ok(LifecycleId::from_bytes(bytes))
}
