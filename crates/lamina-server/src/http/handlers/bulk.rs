//! `POST /v1/experience/bulk`: all items or none, in one append.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::ApiError;
use lamina_api::v1::experience::response::batch_stream;
use lamina_api::v1::experience::{AdmittedBulk, BulkAccepted, BulkResult, Wait, read_bulk};
use lamina_core::policy::{Caller, Permit, SystemSpeech};
use lamina_engine::{BulkCaptured, Captured, Error as EngineError, Write};
use lamina_types::capability::ScopeWrite;
use lamina_types::limits::WAIT_MS_MAX;
use lamina_types::{ScopePath, Stage};

use super::experience::{
    Referred, begin_consolidation, permit, refers, status, until, used_key, wait_of, with_context,
    with_replay_warning,
};
use crate::http::app::App;
use crate::http::call::{Call, Desk};
use crate::http::failure::{Failure, internal};
use crate::http::reply;
use crate::meters;

/// What is kept of an item after it was given to the engine, in the order of the request.
#[derive(Debug)]
struct Kept {
    key: String,
    warnings: Vec<String>,
    referred: Referred,
}

/// Writes up to a thousand experiences.
pub(super) async fn write(mut call: Call) -> Result<Response, Failure> {
    let wait = wait_of(&call)?;
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.bulk_body_bytes).await?;
    let bulk = with_context(&call, &caller, |context| read_bulk(&body, context))?;
    drop(body);
    let permits = permits(&call.desk, &caller, &bulk).await?;
    // Position in the log to position in the request.
    let order = bulk.append_order();
    let shared = shared_scope(&call.desk, &bulk);
    let (kept, writes) = split(bulk, &order, call.id.as_str());
    let captured = call.app.engine.experience_bulk(&permits, writes).await;
    let captured = match captured {
        Ok(captured) => captured,
        Err(error) => {
            let placed = PlacedItems { order: &order, kept: &kept };
            return Err(explain(&call.desk, &caller, error, placed).await);
        }
    };
    let BulkCaptured { batch_id, items, replayed } = captured;
    if let Some(first) = items.first() {
        call.record.audit_id(first.audit_id);
    }
    let new = items.iter().filter(|item| !item.replayed).count();
    metrics::counter!(meters::EXPERIENCES).increment(new as u64);
    let items = in_request_order(items, &order)?;
    let tenant = permits.first().map_or(caller.tenant, |permit| permit.caller().tenant);
    let statuses = statuses(&call.app, tenant, wait, &items).await;
    let results: Vec<BulkResult> = kept
        .into_iter()
        .zip(&items)
        .zip(statuses)
        .enumerate()
        .map(|(index, ((kept, item), status))| result(index, kept, item, status))
        .collect();
    let shape = BulkAccepted {
        batch_id: batch_id.to_string(),
        accepted: results.len(),
        lifecycle_stream: match shared {
            None => batch_stream(batch_id),
            Some(scope) => format!("{}&scope={scope}", batch_stream(batch_id)),
        },
        results,
    };
    let mut response = reply::json(StatusCode::ACCEPTED, &shape)?;
    if replayed {
        response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
    }
    Ok(response)
}

fn result(index: usize, kept: Kept, item: &Captured, status: String) -> BulkResult {
    BulkResult {
        index,
        event_id: item.event_id.to_string(),
        status,
        wal_offset: item.wal_offset,
        idempotency_key: kept.key,
        warnings: with_replay_warning(kept.warnings, item),
        replayed_from_idempotency: item.replayed,
    }
}

/// What the permission for an item depends on.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Asked<'a> {
    scope: &'a ScopePath,
    actor: &'a str,
    subject: &'a str,
    second: Option<&'a ScopePath>,
    as_system: bool,
}

/// One permit per kind of write; items that need the same share it.
async fn permits(
    desk: &Desk,
    caller: &Caller,
    bulk: &AdmittedBulk,
) -> Result<Vec<Permit<ScopeWrite>>, Failure> {
    // What a write needs depends on who did it and whom it is about, not only on where it goes.
    let mut asked: BTreeMap<Asked<'_>, Permit<ScopeWrite>> = BTreeMap::new();
    in_one_place(desk, bulk)?;
    for (index, item) in bulk.items.iter().enumerate() {
        let experience = &item.experience;
        let what = Asked {
            scope: &experience.scope,
            actor: experience.observed_actor.id.as_str(),
            subject: experience.subject.as_str(),
            second: experience.directives.consolidate_into.as_ref(),
            as_system: SystemSpeech::of(experience).is_some(),
        };
        if let Entry::Vacant(new) = asked.entry(what) {
            new.insert(permit(desk, caller, experience, &format!("items[{index}].")).await?);
        }
        if !experience.content.blobs().is_empty() {
            let permit = permit(desk, caller, experience, "").await?;
            refers(desk, &permit, experience, &format!("items[{index}].")).await?;
        }
    }
    let mut begun: BTreeSet<&ScopePath> = BTreeSet::new();
    for item in &bulk.items {
        let into = item.experience.directives.consolidate_into.as_ref();
        if into.is_some_and(|into| begun.insert(into)) {
            begin_consolidation(desk, caller, &item.experience).await?;
        }
    }
    Ok(asked.into_values().collect())
}

/// One append is for one place: what all tenants share is not written together with what is one's own.
fn in_one_place(desk: &Desk, bulk: &AdmittedBulk) -> Result<(), ApiError> {
    let mut scopes = bulk.items.iter().map(|item| &item.experience.scope);
    let Some(first) = scopes.next().filter(|_| desk.app.preset().is_shared()) else {
        return Ok(());
    };
    match scopes.position(|scope| scope.is_shared() != first.is_shared()) {
        None => Ok(()),
        Some(before) => {
            let field = format!("items[{}].scope", before + 1);
            let reason = "a batch is either for scopes that all tenants share or for one's own";
            Err(ApiError::invalid_envelope(field, reason))
        }
    }
}

/// The scope that a stream of this batch has to name: what all tenants share is not in the stream of
/// one of them.
fn shared_scope(desk: &Desk, bulk: &AdmittedBulk) -> Option<ScopePath> {
    let first = bulk.items.first().map(|item| &item.experience.scope)?;
    (desk.app.preset().is_shared() && first.is_shared()).then(|| first.clone())
}

fn split(bulk: AdmittedBulk, order: &[usize], request_id: &str) -> (Vec<Kept>, Vec<Write>) {
    let mut kept = Vec::with_capacity(bulk.items.len());
    let mut writes = Vec::with_capacity(bulk.items.len());
    let identities: Vec<Vec<u8>> = bulk.items.iter().map(|item| bulk.identity(item)).collect();
    for (item, identity) in bulk.items.into_iter().zip(identities) {
        kept.push(Kept {
            key: item.experience.idempotency_key.clone(),
            referred: Referred::by(&item.experience),
            warnings: item.warnings,
        });
        writes.push(Some(Write {
            identity,
            experience: item.experience,
            key_drawn: item.key_drawn,
            request_id: request_id.to_owned(),
        }));
    }
    let ordered = order.iter().filter_map(|index| writes.get_mut(*index)?.take()).collect();
    (kept, ordered)
}

fn in_request_order(items: Vec<Captured>, order: &[usize]) -> Result<Vec<Captured>, Failure> {
    let mut placed: Vec<(usize, Captured)> = order.iter().copied().zip(items).collect();
    if placed.len() != order.len() {
        return Err(internal("a bulk write answered for fewer items than it was given"));
    }
    placed.sort_by_key(|(index, _)| *index);
    Ok(placed.into_iter().map(|(_, item)| item).collect())
}

/// The items of a request: their places in the log, and what is kept of them.
#[derive(Debug, Clone, Copy)]
struct PlacedItems<'a> {
    order: &'a [usize],
    kept: &'a [Kept],
}

/// The refusal of one item, with its place in the request.
async fn explain(
    desk: &Desk,
    caller: &Caller,
    error: EngineError,
    placed: PlacedItems<'_>,
) -> Failure {
    let PlacedItems { order, kept } = placed;
    let (EngineError::UnknownBlob { index, .. } | EngineError::IdempotencyConflict { index }) =
        &error
    else {
        return error.into();
    };
    let index = order.get(*index).copied().unwrap_or(*index);
    match (kept.get(index), &error) {
        (Some(kept), EngineError::IdempotencyConflict { .. }) => {
            used_key(desk, caller, &kept.key, &format!("items[{index}].")).await.into()
        }
        (Some(kept), _) => kept.referred.explain(error, &format!("items[{index}].")),
        (None, _) => error.into(),
    }
}

/// How far each item has come, after waiting for all of them together no longer than for one.
async fn statuses(app: &App, tenant: u32, wait: Wait, items: &[Captured]) -> Vec<String> {
    let captured = || Stage::Captured.as_str().to_owned();
    if matches!(wait, Wait::Accepted | Wait::Captured) {
        return items.iter().map(|_| captured()).collect();
    }
    let clock = &app.env.clock;
    let longest_us = i64::try_from(WAIT_MS_MAX).unwrap_or(i64::MAX).saturating_mul(1_000);
    let deadline = clock.monotonic().plus(longest_us);
    let mut statuses = Vec::with_capacity(items.len());
    for item in items {
        let left = Duration::from_micros((deadline.0 - clock.monotonic().0).max(0).unsigned_abs());
        let progress = app.engine.wait_for(tenant, item.event_id, until(wait), left).await;
        statuses.push(progress.map_or_else(|_| captured(), |progress| status(&progress)));
    }
    statuses
}
