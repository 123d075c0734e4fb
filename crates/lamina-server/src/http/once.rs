//! A change with an idempotency key is made once (R197, R210, R429).
//!
//! Experiences, blobs, forgetting, erasures and jobs keep their keys in the log. Every other change is small
//! and rare: what it was answered is kept here for a day while the server runs, and a request with the same
//! key of the same caller to the same route is answered with it. After a restart such a request is made
//! again, and comes to what it would come to without a key.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use lamina_api::ApiError;
use lamina_api::v1::keyed::{self, Keyed};
use lamina_core::policy::Caller;
use lamina_types::{ErrorCode, Micros, ScopePath};
use parking_lot::Mutex;

use super::answer::Handler;
use super::body::{self, Bounds};
use super::call::{Call, Desk};
use super::failure::{Failure, internal};
use super::record::{Condition, Decision};
use super::reply;
use super::shares::TenantShares;
use super::site::Site;

/// How long an answer is kept.
const LIFE_US: i64 = 24 * 3_600 * 1_000_000;
/// Bytes of all kept answers; the largest tenant makes room.
const ANSWERS_BYTES_MAX: usize = 32 << 20;

/// Whose key, for which route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    tenant: u32,
    actor: String,
    route: String,
    key: String,
}

/// What was answered.
#[derive(Debug, Clone)]
struct Kept {
    /// Of everything but the key that was sent.
    asked: [u8; 32],
    status: StatusCode,
    content_type: Option<HeaderValue>,
    body: Bytes,
    decision: Option<Decision>,
    /// What the caller needed, and needs to be told the same again.
    conditions: Vec<Condition>,
}

/// The place of a key. Whoever comes second waits for the first.
type Slot = Arc<tokio::sync::Mutex<Option<Kept>>>;

#[derive(Debug)]
struct State {
    slots: BTreeMap<Name, Slot>,
    shares: TenantShares<Name>,
}

impl Default for State {
    fn default() -> State {
        State { slots: BTreeMap::new(), shares: TenantShares::new(ANSWERS_BYTES_MAX) }
    }
}

/// The answers of a server to requests with a key.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<State>);

impl Answers {
    fn slot(&self, name: &Name, now: Micros) -> Slot {
        let mut state = self.0.lock();
        state.expire(now);
        Arc::clone(state.slots.entry(name.clone()).or_default())
    }

    fn keep(&self, name: &Name, slot: Slot, bytes: usize, now: Micros) {
        let mut state = self.0.lock();
        // What was there is a turn that came to nothing, or was cleared meanwhile.
        state.slots.insert(name.clone(), slot);
        for evicted in state.shares.admit(name.tenant, name.clone(), bytes, now) {
            state.slots.remove(&evicted);
        }
    }

    /// Drops the answers that a deletion of a tenant, or of all, may touch: those of the tenant, and those about
    /// shared scopes.
    pub(crate) fn clear(&self, tenant: Option<u32>) {
        let mut state = self.0.lock();
        let is_of_shared = |slot: &Slot| {
            slot.try_lock().is_ok_and(|kept| kept.as_ref().is_some_and(Kept::is_of_shared_scope))
        };
        state.slots.retain(|name, slot| {
            tenant.is_some_and(|tenant| tenant != name.tenant) && !is_of_shared(slot)
        });
        let State { slots, shares } = &mut *state;
        shares.retain(|name| slots.contains_key(name));
    }

    /// Drops the answers that are over their time.
    pub(crate) fn expire(&self, now: Micros) {
        self.0.lock().expire(now);
    }
}

/// A request that goes first. If nothing comes of it, or its caller leaves, its key is free again.
struct Turn<'a> {
    answers: &'a Answers,
    name: &'a Name,
    kept: bool,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.answers.0.lock().slots.remove(self.name);
        }
    }
}

impl State {
    fn expire(&mut self, now: Micros) {
        for expired in self.shares.expire(Micros(now.0 - LIFE_US)) {
            self.slots.remove(&expired);
        }
    }
}

impl Kept {
    fn is_of_shared_scope(&self) -> bool {
        let decided = self.decision.iter().filter_map(|decision| decision.scope.as_ref());
        let needed = self.conditions.iter().filter_map(|condition| condition.scope.as_ref());
        decided.chain(needed).any(ScopePath::is_shared)
    }
}

/// Hands the call to its handler, unless its key was used before.
pub(crate) async fn handle(
    site: Arc<Site>,
    mut call: Call,
    handler: Handler,
) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let header = call.idempotency_key()?.map(str::to_owned);
    let body = body(&mut call).await?;
    let Keyed { key, rest } = keyed::split(&body, header.as_deref())?;
    let Some(key) = key else { return handler(call).await };
    let name = name(&site, &caller, key);
    let target = call.head.uri.path_and_query().map_or("", |target| target.as_str());
    let asked = keyed::fingerprint(target, rest.as_deref().unwrap_or(&body));
    call.rest = rest.map(Bytes::from);
    let (app, record) = (Arc::clone(&call.app), Arc::clone(&call.record));
    let slot = app.answers.slot(&name, app.env.clock.wall());
    let mut held = Arc::clone(&slot).lock_owned().await;
    if let Some(kept) = held.as_ref() {
        return again(kept, asked, &call.desk, &caller, &name).await;
    }
    let mut turn = Turn { answers: &app.answers, name: &name, kept: false };
    let response = handler(call).await?;
    if !response.status().is_success() {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = body.collect().await.map_err(|error| internal(error.to_string()))?.to_bytes();
    let bytes = body.len() + name.key.len() + name.actor.len() + name.route.len();
    *held = Some(Kept {
        asked,
        status: head.status,
        content_type: head.headers.get(CONTENT_TYPE).cloned(),
        body: body.clone(),
        decision: record.decision(),
        conditions: record.conditions(),
    });
    app.answers.keep(&name, slot, bytes, app.env.clock.wall());
    turn.kept = true;
    Ok(Response::from_parts(head, Body::from(body)))
}

fn name(site: &Site, caller: &Caller, key: String) -> Name {
    let (tenant, actor) = (caller.tenant, caller.actor.to_string());
    Name { tenant, actor, route: site.endpoint(), key }
}

/// The whole body, which stays there for the handler.
async fn body(call: &mut Call) -> Result<Bytes, Failure> {
    if call.body.is_end_stream() {
        return Ok(Bytes::new());
    }
    let bounds = Bounds { bytes: call.app.limits.body_bytes, time: call.app.body_timeout() };
    let body = std::mem::take(&mut call.body);
    let bytes = body::read(&call.head.headers, body, bounds).await?;
    call.body = Body::from(bytes.clone());
    Ok(bytes)
}

/// The answer of before, if it is the same that is asked for and the caller may still ask for it.
async fn again(
    kept: &Kept,
    asked: [u8; 32],
    desk: &Desk,
    caller: &Caller,
    name: &Name,
) -> Result<Response, Failure> {
    if kept.asked != asked {
        let reason = "the key was used for another request to this route";
        let error = ApiError::at(ErrorCode::IdempotencyConflict, "idempotency_key", reason);
        return Err(error.with("idempotency_key", name.key.as_str()).into());
    }
    if let Some(Decision { capability, tier, scope, .. }) = &kept.decision {
        for Condition { capability, scope } in &kept.conditions {
            desk.ask(caller, &[capability], scope.as_ref()).await?;
        }
        desk.record.allowed(capability, *tier, scope.as_ref());
    }
    let mut response = Response::new(Body::from(kept.body.clone()));
    *response.status_mut() = kept.status;
    if let Some(content_type) = &kept.content_type {
        response.headers_mut().insert(CONTENT_TYPE, content_type.clone());
    }
    response.headers_mut().insert(reply::REPLAY, HeaderValue::from_static("true"));
    Ok(response)
}
