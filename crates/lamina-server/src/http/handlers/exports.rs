//! `POST /v1/export`, `GET /v1/export/{export_id}` and its `/data` (R329, R330).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_TYPE, VARY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use lamina_api::ApiError;
use lamina_api::v1::exports::{DestinationOrder, ExportRequest, SessionOrder, unknown_format};
use lamina_core::policy::{Caller, others_scope_needs};
use lamina_engine::Error as EngineError;
use lamina_engine::read::export::ExportPoint;
use lamina_env::rng::draw;
use lamina_portable::export::ExportFormat;
use lamina_types::capability::{Capability as _, PolicyAdministerScope};
use lamina_types::{ErrorCode, ExportId, RecordedAt, ScopeView};
use tokio::sync::mpsc;

use crate::http::call::{Call, Desk};
use crate::http::failure::Failure;
use crate::http::reply;
use crate::transfer::export::format::{default_layers, file_end, is_text, media};
use crate::transfer::export::jobs::{EXPORT_INLINE_BYTES_MAX, ExportJob, NewExport};
use crate::transfer::export::output::PIECES_WAITING_MAX;
use crate::transfer::export::pam::{PamClock, pam_terms};
use crate::transfer::export::send::{SendPlace, send};
use crate::transfer::export::session::{entry_selector_of, selector_of, session_of};
use crate::transfer::export::{
    Compression, ExportPlan, ExportReach, ExportStop, ExportSummary, PieceSender, PlannedSignature,
    SessionPlan, evidence_terms, walk,
};
use crate::transfer::places::Direction;

/// Begins an export.
pub(super) async fn create(mut call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let body = call.json_body(call.app.limits.body_bytes).await?;
    let order = ExportRequest::read(&body)?;
    let format = ExportFormat::find(&order.format).ok_or_else(|| {
        let known: Vec<&str> = ExportFormat::ALL.iter().map(|format| format.name()).collect();
        unknown_format(&known)
    })?;
    let engine = call.app.engine.clone();
    let now = engine.log_time();
    if order.as_of.is_some_and(|at| at > now) {
        let reason = "lies in the future: knowledge is exported until now at the latest";
        return Err(ApiError::at(ErrorCode::InvalidTimestamp, "as_of", reason).into());
    }
    let plan = ExportPlan {
        point: ExportPoint {
            scope: order.scope.clone(),
            recorded: RecordedAt(order.as_of.unwrap_or(now)),
            in_the_past: order.as_of.is_some(),
        },
        view: order.view,
        format,
        layers: order.layers.clone().unwrap_or_else(|| default_layers(format)),
        session: None,
        pam: None,
        evidence: None,
    };
    let mut reach = ExportReach::ask(call.desk.clone(), caller.clone(), &plan).await?;
    let mut plan = with_session(&call, plan, &order.session)?;
    let clock =
        PamClock { now: engine.now(), draw: draw(&*call.app.env.rng), tenant: caller.tenant };
    plan.pam = pam_terms(&order, &plan, clock)?;
    plan.evidence = evidence_terms(&order, &plan, engine.now(), draw(&*call.app.env.rng))?;
    let place = order.destination.as_ref().map(|place| send_place(&call, place)).transpose()?;
    let turn = call.app.exports.turn(&caller)?;
    let events_total = engine.export_events_count(reach.permit(), &plan.point).await?;
    let id = ExportId::mint(call.app.env.clock.wall(), draw(&*call.app.env.rng));
    let destination = place.as_ref().map(|place| place.endpoint.to_string());
    let new = NewExport { plan, events_total, destination };
    let job = Arc::new(ExportJob::new(id, &caller, engine.now(), new));
    let begun = begin(&job, &mut reach).await?;
    let mut shown = None;
    match (begun, place) {
        (_, Some(place)) => {
            let (app, job) = (Arc::clone(&call.app), Arc::clone(&job));
            let desk = Desk { app: Arc::clone(&app), record: Arc::default() };
            let reach = ExportReach::ask(desk, caller, &job.plan).await?;
            job.begin();
            call.app.exports.spawn(send(app, job, reach, place, turn));
        }
        (Begun::Whole { data, summary }, None) => {
            let step = job.end(&Ok(*summary));
            job.announce(&engine, reach.permit(), step);
            shown = data;
        }
        (Begun::Larger, None) => {}
    }
    call.app.exports.put(Arc::clone(&job), engine.now());
    let mut body = job.body();
    body.data = shown;
    reply::json(StatusCode::ACCEPTED, &body)
}

/// The plan of a format that is a whole session; other formats take none of its members.
fn with_session(
    call: &Call,
    mut plan: ExportPlan,
    order: &SessionOrder,
) -> Result<ExportPlan, Failure> {
    let SessionOrder { session_id, selection, sign, disclose, named } = order;
    let is_bundle = plan.format == ExportFormat::Zaxy;
    let is_session = matches!(plan.format, ExportFormat::Zaxy | ExportFormat::Eventloom);
    if !is_session {
        return match named {
            Some(name) => {
                let reason = "is for the formats zaxy and eventloom";
                Err(ApiError::invalid_shape(*name, reason).into())
            }
            None => Ok(plan),
        };
    }
    if plan.view == ScopeView::Descend {
        let reason = "must be `local`: a session is one scope; export each scope for itself";
        return Err(ApiError::invalid_shape("view", reason).into());
    }
    if !is_bundle && (*sign || disclose.is_some()) {
        let reason = "is for the format zaxy: a log is chained, not signed";
        let field = if *sign { "sign" } else { "disclose" };
        return Err(ApiError::invalid_shape(field, reason).into());
    }
    let disclose = disclose.as_ref().map(|entries| entry_selector_of(entries, "disclose"));
    let disclose = disclose.transpose()?;
    let signature = match *sign || disclose.is_some() {
        false => None,
        true => {
            let signer = call.app.places.signer()?;
            let inputs = signer.inputs();
            Some(PlannedSignature { signer, inputs })
        }
    };
    let own = session_of(&plan);
    if signature.is_some() && session_id.as_ref().is_some_and(|named| *named != own) {
        // Whoever trusts the key of the server must not read a name that its caller has chosen.
        let reason =
            format!("must be left out, or be `{own}`: the server signs its own name for the scope");
        return Err(ApiError::invalid_shape("session_id", reason).into());
    }
    let session_id = session_id.clone().unwrap_or(own);
    let selector = selector_of(selection)?;
    plan.session = Some(Box::new(SessionPlan { session_id, selector, signature, disclose }));
    Ok(plan)
}

/// A destination that may be called.
fn send_place(call: &Call, place: &DestinationOrder) -> Result<SendPlace, Failure> {
    let DestinationOrder { url, credentials_ref } = place;
    let places = &call.app.places;
    let endpoint = places.endpoint(url, "destination.url", Direction::Out)?;
    let field = "destination.credentials_ref";
    let credential = credentials_ref.as_ref().map(|name| places.credential(name, field));
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let compression = match path.ends_with(".gz") {
        true => Compression::Gzip,
        false => Compression::None,
    };
    Ok(SendPlace { endpoint, credential: credential.transpose()?, compression })
}

/// The first bytes of an export.
enum Begun {
    /// All of them.
    Whole { data: Option<String>, summary: Box<ExportSummary> },
    /// There are more than an answer holds.
    Larger,
}

/// Makes bytes until an answer is full, and estimates the rest.
async fn begin(job: &ExportJob, reach: &mut ExportReach) -> Result<Begun, Failure> {
    let (pieces, mut receiver) = mpsc::channel(PIECES_WAITING_MAX);
    let out = PieceSender { pieces, compression: Compression::None };
    let events = AtomicU64::new(0);
    let progress = |count| events.store(count, Ordering::Relaxed);
    let mut data = Vec::new();
    let (mut length, is_text) = (0_usize, is_text(job.plan.format));
    let collecting = async {
        while let Some(Ok(piece)) = receiver.recv().await {
            length += piece.len();
            // A bundle is made whole in any case; its bytes are no text and stand in no answer.
            if is_text {
                data.extend_from_slice(&piece);
                if length > EXPORT_INLINE_BYTES_MAX {
                    receiver.close();
                }
            }
        }
    };
    let (walked, ()) = tokio::join!(walk(reach, &job.plan, out, &progress), collecting);
    match walked {
        Err(ExportStop::Failed(failure)) => Err(failure),
        Ok(summary) if data.len() <= EXPORT_INLINE_BYTES_MAX => {
            job.estimate(length as u64);
            let data = is_text.then(|| String::from_utf8_lossy(&data).into_owned());
            Ok(Begun::Whole { data, summary: Box::new(summary) })
        }
        _ => {
            let seen = events.load(Ordering::Relaxed).max(1);
            let whole = data.len() as u64 * job.events_total.max(seen) / seen;
            job.estimate(whole);
            Ok(Begun::Larger)
        }
    }
}

/// How far an export has come.
pub(super) async fn status(mut call: Call) -> Result<Response, Failure> {
    let (job, _) = found(&mut call).await?;
    reply::json(StatusCode::OK, &job.body())
}

/// The bytes of an export. They are made for whoever asks, with what they may read now.
pub(super) async fn data(mut call: Call) -> Result<Response, Failure> {
    let (job, caller) = found(&mut call).await?;
    let turn = call.app.exports.turn(&caller)?;
    let mut reach = ExportReach::ask(call.desk.clone(), caller, &job.plan).await?;
    let compression = match takes_gzip(call.headers()) {
        true => Compression::Gzip,
        false => Compression::None,
    };
    if call.head.method == Method::HEAD {
        return Ok(dressed(Body::empty(), &job, compression));
    }
    let (pieces, receiver) = mpsc::channel::<io::Result<Bytes>>(PIECES_WAITING_MAX);
    let out = PieceSender { pieces: pieces.clone(), compression };
    let (task, engine) = (Arc::clone(&job), call.app.engine.clone());
    call.app.exports.spawn(async move {
        task.begin();
        let permit = Arc::clone(reach.permit());
        let progress = |events| task.announce(&engine, &permit, task.advance(events));
        let outcome = walk(&mut reach, &task.plan, out, &progress).await;
        if let Err(ExportStop::Failed(failure)) = &outcome {
            tracing::info!(code = failure.error.code.as_str(), "an export was cut off");
            // The body ends without its end, so that nobody takes it for whole.
            drop(pieces.send(Err(io::Error::other("the export was cut off"))).await);
        }
        let step = task.end(&outcome);
        task.announce(&engine, &permit, step);
        drop(turn);
    });
    let body = stream::unfold(receiver, |mut receiver| async move {
        receiver.recv().await.map(|piece| (piece, receiver))
    });
    Ok(dressed(Body::from_stream(body), &job, compression))
}

fn dressed(body: Body, job: &ExportJob, compression: Compression) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let (media, end) = (media(job.plan.format), file_end(job.plan.format));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
    let name = format!("attachment; filename=\"{}.{end}\"", job.id);
    if let Ok(name) = HeaderValue::try_from(name) {
        headers.insert(CONTENT_DISPOSITION, name);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if compression == Compression::Gzip {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}

/// Whether the client asks for gzip and does not refuse it.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused = parts.any(|part| {
            let quality = part.strip_prefix("q=").and_then(|text| text.parse::<f64>().ok());
            quality == Some(0.0)
        });
        is_gzip && !is_refused
    })
}

/// An export of the path that the caller may look at: their own, one of a scope that they own, or any of
/// the tenant for administrators. Others are told what they are told of an id that is not there.
async fn found(call: &mut Call) -> Result<(Arc<ExportJob>, Caller), Failure> {
    let id: ExportId = call.path_id("export_id").await?;
    let caller = call.caller()?;
    let job = call.app.exports.find(caller.tenant, id, call.app.engine.now());
    if let Some(job) = job
        && is_for(&call.desk, &caller, &job).await?
    {
        // Administrators look after exports of scopes that they do not read.
        let scope = Some(&job.plan.point.scope).filter(|_| !caller.administers());
        call.desk.permit_export(&caller, scope, job.plan.format.name()).await?;
        return Ok((job, caller));
    }
    call.desk.permit_export(&caller, None, ExportFormat::Jsonl.name()).await?;
    call.record.forget();
    Err(EngineError::NotFound.into())
}

async fn is_for(desk: &Desk, caller: &Caller, job: &ExportJob) -> Result<bool, Failure> {
    if job.is_of(caller) || caller.administers() {
        return Ok(true);
    }
    let scope = &job.plan.point.scope;
    let stack = desk.app.stack(caller, Some(scope)).await?;
    let administers = stack.allows(caller, PolicyAdministerScope::NAME, Some(scope)).is_ok();
    Ok(administers && stack.membership.registered && others_scope_needs(&stack).is_none())
}
