//! `GET /v1/events` and `GET /v1/events/{event_id}`.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::v1::events::{
    CitationQuery, DeniedScope, EventBody, EventOrder, EventSort, EventsPage, EventsQuery,
    EventsRequest, ReadScope, TraversedScope,
};
use lamina_api::{ApiError, Page, PageStart};
use lamina_core::policy::Caller;
use lamina_engine::{
    Axis, Error as EngineError, EventsQuery as Question, ReadPermit, ScanKey, Traversed,
};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::{
    ActorId, ErrorCode, EventId, EventRecord, ForeignCitation, Micros, ScopePath, ScopeView,
};

use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;

/// One page of events, or the one event of a citation.
pub(super) async fn list(call: Call) -> Result<Response, Failure> {
    match EventsRequest::parse(&call.pairs()?)? {
        EventsRequest::List(query) => page(call, *query).await,
        EventsRequest::Cited(query) => cited(call, query).await,
    }
}

/// Events with one foreign citation that are shown.
const FOREIGN_SHOWN_MAX: usize = 32;

/// The event of a citation as a page of one; of a foreign citation, the events that came with it. Where the caller may
/// not read there is nothing, as if there were no such event; a caller that may read nowhere is refused.
async fn cited(call: Call, query: CitationQuery) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let desk = call.desk.clone();
    let CitationQuery { own, foreign, scope } = query;
    let mut items = Vec::new();
    let mut is_decided = false;
    if let Some(citation) = own {
        let engine = &desk.app.engine;
        if let Some(permit) = may_read(&desk, &caller, &citation.scope).await? {
            is_decided = true;
            if let Some(record) = engine.event_by_citation(&permit, &citation).await? {
                items.push(shown(&desk, &permit, &record).await?);
            }
        }
    }
    if let Some(citation) = foreign.filter(|_| items.is_empty()) {
        let found = foreign_events(&desk, &caller, &citation, scope.as_ref()).await?;
        is_decided |= !found.is_empty();
        items.extend(found);
    }
    if !is_decided {
        desk.permit::<ScopeReadLocal>(&caller, None).await?;
        desk.record.forget();
    }
    reply::json(StatusCode::OK, &EventsPage::new(Page::new(items, None), None))
}

/// The permit to read in a scope, if there is one. A refusal is no answer: it would say that something is there.
async fn may_read(
    desk: &Desk,
    caller: &Caller,
    scope: &ScopePath,
) -> Result<Option<ReadPermit>, Failure> {
    let engine = &desk.app.engine;
    let decided = engine.read_permit(&desk.app.boot(), caller, scope, ScopeView::Local).await?.ok();
    if let Some(permit) = &decided {
        desk.record.allowed(permit.capability(), permit.decided_by(), Some(scope));
    }
    Ok(decided)
}

async fn shown(
    desk: &Desk,
    permit: &ReadPermit,
    record: &EventRecord,
) -> Result<EventBody, Failure> {
    let engine = &desk.app.engine;
    desk.record.event(record.id);
    let mut sight = engine.sight_of(desk.app.boot(), permit).await;
    let derives = engine.derived_in_sight(&mut sight, record.id).await?;
    let echoes = engine.echoes_in_sight(&mut sight, record.id).await?;
    Ok(EventBody::new(record, derives).echoing(&echoes).with_origin(record))
}

/// The events that came with a foreign citation, as far as the caller may read.
async fn foreign_events(
    desk: &Desk,
    caller: &Caller,
    citation: &ForeignCitation,
    wanted: Option<&ScopePath>,
) -> Result<Vec<EventBody>, Failure> {
    let engine = &desk.app.engine;
    let tenants = [Some(caller.tenant), engine.shared_tenant(&desk.app.boot())];
    let mut permits: BTreeMap<ScopePath, Option<ReadPermit>> = BTreeMap::new();
    let mut items = Vec::new();
    for tenant in tenants.into_iter().flatten() {
        for (event, scope) in engine.events_by_foreign_citation(tenant, citation).await? {
            if wanted.is_some_and(|wanted| *wanted != scope) || items.len() == FOREIGN_SHOWN_MAX {
                continue;
            }
            if !permits.contains_key(&scope) {
                permits.insert(scope.clone(), may_read(desk, caller, &scope).await?);
            }
            let Some(Some(permit)) = permits.get(&scope) else { continue };
            let ReadPermit::Local(local) = permit else { continue };
            let record = match engine.event(local, event).await {
                Err(EngineError::Deleted | EngineError::NotFound) => continue,
                record => record?,
            };
            items.push(shown(desk, permit, &record).await?);
        }
    }
    Ok(items)
}

async fn page(call: Call, query: EventsQuery) -> Result<Response, Failure> {
    let caller = call.caller()?;
    // How far it reaches, scope by scope, before anything is read (R072, R164).
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let engine = call.app.engine.clone();
    let mut sight = engine.sight_of(call.app.boot(), &permit).await;
    let question =
        question(&query, query.start(&|bytes| engine.cursor_mac(caller.tenant, bytes))?)?;
    let page = engine.events(permit, question).await?;
    let mut items = Vec::with_capacity(page.items.len());
    for record in &page.items {
        let derives = engine.derived_in_sight(&mut sight, record.id).await?;
        let echoes = engine.echoes_in_sight(&mut sight, record.id).await?;
        items.push(EventBody::new(record, derives).echoing(&echoes));
    }
    let next = page.next.map(|key| {
        let position = position(key, page.skip_left);
        query.next_cursor(&position, &|bytes| engine.cursor_mac(caller.tenant, bytes))
    });
    let scopes = page.traversed.map(|scopes| scopes.into_iter().map(traversed).collect());
    let shown = EventsPage::new(Page::new(items, next), scopes).with_damaged(&page.damaged);
    reply::json(StatusCode::OK, &shown)
}

pub(super) fn traversed(scope: Traversed) -> TraversedScope {
    match scope {
        Traversed::Read { scope, items } => {
            TraversedScope::Read(ReadScope { scope: scope.to_string(), items })
        }
        Traversed::Denied { scope, item_count, denial } => TraversedScope::Denied(DeniedScope {
            scope: scope.to_string(),
            denied: true,
            item_count,
            denied_reason: denial.to_string(),
        }),
    }
}

/// One event, also a cancelled one.
pub(super) async fn one(mut call: Call) -> Result<Response, Failure> {
    let id: EventId = call.path_id("event_id").await?;
    let caller = call.caller()?;
    let engine = &call.app.engine;
    let (scope, _) = home(call.desk.clone(), caller.clone(), id).await?;
    call.desk.alike::<ScopeReadLocal>(&caller, &scope).await?;
    let permit = call.desk.permit::<ScopeReadLocal>(&caller, Some(&scope)).await?;
    call.record.event(id);
    let record = engine.event(&permit, id).await;
    let mut sight = engine.sight(call.app.boot(), &permit).await;
    let mut derives = engine.derived_in_sight(&mut sight, id).await?;
    let record = match record {
        // What was derived from it is told without what that was (R422).
        Err(EngineError::Deleted) => {
            derives.extend(engine.redacted_records(&permit, id).await?);
            let gone = ApiError::of(ErrorCode::ResourceDeleted);
            return Err(match derives.is_empty() {
                true => gone.into(),
                false => gone.with("derives", derives).into(),
            });
        }
        record => record?,
    };
    let echoes = engine.echoes_in_sight(&mut sight, id).await?;
    let body = EventBody::new(&record, derives).echoing(&echoes).with_origin(&record);
    reply::json(StatusCode::OK, &body)
}

/// Where an event belongs and who wrote it. An id that is not there is not found only for those who
/// could have read it anywhere; others are refused alike whether it exists or not (C35).
pub(super) async fn home(
    desk: Desk,
    caller: Caller,
    id: EventId,
) -> Result<(ScopePath, Option<ActorId>), Failure> {
    let engine = &desk.app.engine;
    let own = engine.event_home(caller.tenant, id).await;
    let shared = |tenant| engine.event_home(tenant, id);
    match desk.found::<ScopeReadLocal, _, _>(&caller, own, shared, |(scope, _)| scope).await {
        Err(EngineError::NotFound) => {
            desk.permit::<ScopeReadLocal>(&caller, None).await?;
            desk.record.forget();
            Err(EngineError::NotFound.into())
        }
        found => Ok(found?),
    }
}

fn question(query: &EventsQuery, start: PageStart) -> Result<Question, ApiError> {
    let (after, skip) = match start {
        PageStart::Begin => (None, 0),
        PageStart::Offset(offset) => (None, usize::try_from(offset).unwrap_or(usize::MAX)),
        PageStart::After(position) => {
            let (key, skip) = key_of(&position)?;
            (Some(key), skip)
        }
    };
    // `as_of` includes its instant, the interval excludes its end.
    let as_of = query.as_of.map(|at| at.0.plus(1));
    let until = query.recorded_until.map(|at| at.0);
    Ok(Question {
        scope: query.scope.clone(),
        axis: match query.sort {
            EventSort::Observed => Axis::Observed,
            EventSort::Recorded => Axis::Recorded,
        },
        newest_first: query.order == EventOrder::Desc,
        observed: (query.since.map(|at| at.0), query.until.map(|at| at.0)),
        recorded: (query.recorded_since.map(|at| at.0), earlier(until, as_of)),
        actor: query.observed_actor.clone(),
        modality: query.modality.clone(),
        labels: query.labels.clone(),
        after,
        skip,
        limit: query.limit,
    })
}

fn earlier(left: Option<Micros>, right: Option<Micros>) -> Option<Micros> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (one, other) => one.or(other),
    }
}

/// A position as a cursor carries it, and what is still to be left out after it, if anything is.
fn position(key: ScanKey, skip: usize) -> Vec<u8> {
    let mut bytes = [key.at.to_le_bytes(), key.seq.to_le_bytes()].concat();
    if skip > 0 {
        bytes.extend((skip as u64).to_le_bytes());
    }
    bytes
}

fn key_of(position: &[u8]) -> Result<(ScanKey, usize), ApiError> {
    let (numbers, rest) = position.as_chunks::<8>();
    match (numbers, rest) {
        ([at, seq, skip @ ..], []) if skip.len() <= 1 => {
            let key = ScanKey { at: i64::from_le_bytes(*at), seq: u64::from_le_bytes(*seq) };
            let skip = skip.first().map_or(0, |skip| u64::from_le_bytes(*skip));
            Ok((key, usize::try_from(skip).unwrap_or(usize::MAX)))
        }
        _ => Err(ApiError::of(ErrorCode::InvalidCursor)),
    }
}

#[cfg(test)]
mod tests;
