//! From a request to a response: the one path that every route takes.
//!
//! Request id, gates, handler, and the headers and numbers that no response may lack, whatever
//! became of the request.

use std::pin::Pin;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{HOST, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use lamina_api::{ApiError, Tier};
use lamina_core::policy::Caller;
use lamina_types::{ErrorCode, Micros};

use super::app::App;
use super::audited::{Asked, End};
use super::call::{Call, Desk};
use super::caught::Caught;
use super::cors::Word;
use super::failure::{Failure, internal};
use super::listen::Peer;
use super::origin::Foreign;
use super::record::{Decision, Record};
use super::request_id::Id;
use super::site::Site;
use super::{body, once, origin, reply};
use crate::auth::rate::{Standing, Usage};
use crate::logging;
use crate::mcp::{access, endpoint};

/// What a handler promises.
pub(crate) type Answer = Pin<Box<dyn Future<Output = Result<Response, Failure>> + Send>>;
/// A handler of one route.
pub(crate) type Handler = fn(Call) -> Answer;

/// Bytes of all request headers; a longer head is refused with an envelope, one far longer by the
/// connection itself.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// Headers of a request. An HTTP/1 connection refuses more of them by itself.
const HEADERS_MAX: usize = 100;

/// Answers one request.
pub(crate) async fn answer(
    app: Arc<App>,
    site: Arc<Site>,
    handler: Handler,
    request: Request,
) -> Response {
    let started = app.env.clock.monotonic();
    let (head, body) = request.into_parts();
    let id = Id::of(&head.headers, &app.env);
    let word = app.cors.word(&head);
    let record = Arc::new(Record::default());
    let mut standing = None;
    let mut asked = None;
    let mut expires = None;
    let admitted = admit(&app, &site, &head, &word).await;
    record.authenticated(app.env.clock.monotonic().0 - started.0);
    let result = match admitted {
        Err(error) => Err(error.into()),
        Ok(identity) => {
            let grant = identity.as_ref().ok().and_then(|caller| caller.grant.as_ref());
            expires = grant.map(|grant| grant.exp);
            if let (true, Ok(caller)) = (site.asks_callers(), &identity) {
                asked = Some(Asked::of(&app, caller, &head));
            }
            let (app, record) = (Arc::clone(&app), Arc::clone(&record));
            let desk = Desk { app: Arc::clone(&app), record: Arc::clone(&record) };
            let request = id.clone();
            let (rest, named) = (None, None);
            let call = Call { app, id: request, head, body, identity, record, rest, desk, named };
            standing = charge(&call, &site);
            match standing.and_then(|standing| standing.refusal()) {
                Some(refusal) => {
                    // A client that is still sending would see a broken connection and not the
                    // answer that tells it when to come back.
                    body::drain(&call.head.headers, call.body).await;
                    Err(refusal.into())
                }
                None => without_panic(handled(&site, call, handler)).await,
            }
        }
    };
    let mut response =
        result.unwrap_or_else(|failure| refusal(failure, &site, &id, app.pages.as_deref()));
    let known = record.take();
    site.dress(&mut response, known.experimental);
    if let Some(decision) = known.decision.as_ref().and_then(Decision::header) {
        response.headers_mut().insert(reply::POLICY, decision);
    }
    add_headers(&mut response, &app, expires, standing);
    if let (StatusCode::UNAUTHORIZED, true, Some(metadata)) =
        (response.status(), site.speaks_mcp(), &app.mcp.metadata)
        && let Some(challenge) = metadata.challenge()
    {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    word.say(&mut response);
    response.headers_mut().insert(reply::REQUEST_ID, id.header());
    let status = response.status();
    let took_us = app.env.clock.monotonic().0 - started.0;
    site.count(status, took_us);
    if let Some(asked) = asked {
        let end = End { status: status.as_u16(), took_us };
        asked.write(&app, &site, &id, known, end).await;
    }
    let (request_id, route, status) = (id.as_str(), site.label(), status.as_u16());
    tracing::debug!(request_id, route, status, took_us, "answered");
    response
}

/// Adds what the caller's token and rate are, and what keeps browsers from misusing a body.
fn add_headers(
    response: &mut Response,
    app: &App,
    expires: Option<Micros>,
    standing: Option<Standing>,
) {
    if let Some(expires) = expires {
        reply::add_expiry(response, expires, app.engine.now());
    }
    reply::add_rate(response, standing, app.env.clock.wall());
    reply::protect_json(response);
}

/// A failure in the form that the route speaks.
fn refusal(failure: Failure, site: &Site, id: &Id, pages: Option<&str>) -> Response {
    match site.speaks_mcp() {
        true => endpoint::refusal(failure, id),
        false => failure.into_response(id, pages),
    }
}

/// A handler that panics has failed.
async fn without_panic(handling: Answer) -> Result<Response, Failure> {
    Caught(handling)
        .await
        .unwrap_or_else(|panic| Err(internal(format!("panic: {}", logging::panic_text(&*panic)))))
}

/// Runs the handler. A read takes a place among those that are under way, and gives it back with its answer.
fn handled(site: &Arc<Site>, call: Call, handler: Handler) -> Answer {
    if Usage::of(&call.head.method, site.capability()) != Some(Usage::Read) {
        return handled_once(site, call, handler);
    }
    match call.app.reads.begin() {
        Ok(place) => {
            let answering = handled_once(site, call, handler);
            Box::pin(async move {
                let answered = answering.await;
                drop(place);
                answered
            })
        }
        Err(error) => Box::pin(async move {
            body::drain(&call.head.headers, call.body).await;
            Err(error.into())
        }),
    }
}

/// A change with a key is made once.
fn handled_once(site: &Arc<Site>, call: Call, handler: Handler) -> Answer {
    match site.keeps_answers() {
        true => Box::pin(once::handle(Arc::clone(site), call, handler)),
        false => handler(call),
    }
}

/// Takes from the bucket of whoever calls. A caller that cannot be told is the handler's to refuse.
fn charge(call: &Call, site: &Site) -> Option<Standing> {
    let caller = call.caller().ok()?;
    let usage = Usage::of(&call.head.method, site.capability());
    let usage =
        usage.or_else(|| (site.tells_callers() || site.speaks_mcp()).then_some(Usage::Read));
    Some(call.app.rates.charge(&caller, usage, &call.app.quotas(&caller)))
}

/// Who calls, if the request is let through at all. A route that needs a permission needs to know;
/// others are told why it is not known, should they ask.
async fn admit(
    app: &App,
    site: &Site,
    head: &Parts,
    word: &Word,
) -> Result<Result<Caller, ApiError>, ApiError> {
    gate(app, site, head, word)?;
    let peer = head.extensions.get::<Peer>().map(|peer| peer.0.ip());
    let identity = match site.speaks_mcp() {
        true => access::caller(app, &head.headers, peer).await,
        false => app.gate.caller(&head.headers, peer, &app.engine).await,
    };
    let identity = identity.map_err(|failure| failure.error);
    match (site.asks_callers(), identity) {
        (true, Err(error)) => Err(error),
        (_, identity) => Ok(identity),
    }
}

/// What is refused before a handler sees it.
fn gate(app: &App, site: &Site, head: &Parts, word: &Word) -> Result<(), ApiError> {
    if header_bytes(&head.headers) > HEADER_BYTES_MAX || head.headers.len() > HEADERS_MAX {
        return Err(ApiError::of(ErrorCode::HeadersTooLarge));
    }
    if head.headers.get_all(HOST).iter().nth(1).is_some() {
        return Err(ApiError::at(
            ErrorCode::MalformedRequest,
            "Host",
            "a request has one `Host` header",
        ));
    }
    check_sender(app, site, head, word).map_err(|foreign| refused_sender(app, site, foreign))?;
    if site.tier() == Tier::Experimental && !app.experimental_enabled {
        return Err(ApiError::of(ErrorCode::ExperimentalDisabled));
    }
    Ok(())
}

/// Whether a web page of a stranger may have sent the request.
fn check_sender(app: &App, site: &Site, head: &Parts, word: &Word) -> Result<(), Foreign> {
    let (headers, authority) = (&head.headers, head.uri.authority());
    if app.is_local() {
        return origin::check(headers, authority, word.is_listed());
    }
    origin::check_host(headers, authority, &app.hosts)?;
    match site.speaks_mcp() {
        true => origin::check_page(headers, authority, word.is_listed()),
        false => Ok(()),
    }
}

fn refused_sender(app: &App, site: &Site, foreign: Foreign) -> ApiError {
    let (message, remediation) = if app.is_local() {
        (
            format!("The preset dev_local serves this machine only: {}.", foreign.reason()),
            "call it by address or as localhost; list the origin of a web page in http.cors_origins",
        )
    } else {
        (
            format!("The sender is not served: {}.", foreign.reason()),
            "list the host name in http.hosts, and the origin of a web page in http.cors_origins",
        )
    };
    ApiError::new(ErrorCode::PolicyDenied, message)
        .with("capability", site.capability())
        .with("denied_by_tier", "deployment")
        .with("decided_by_tier", "deployment")
        .with("deployment_preset", app.preset().as_str())
        .with("reason", foreign.reason())
        .with("remediation", remediation)
}

fn header_bytes(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}
