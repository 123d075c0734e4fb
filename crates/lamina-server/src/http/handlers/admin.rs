//! The server about itself: health, readiness, metrics, version, and its own description.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use lamina_api::query::Params;
use lamina_api::v1::admin::{
    CAPABILITIES, Health, HealthCheck, HealthStatus, LayerStat, LayerStats, Ready, Version,
};
use lamina_api::{openapi as contract, time};
use lamina_core::policy::Caller;
use lamina_engine::clock::DeletionVerdict;
use lamina_engine::read::layers::{Counted, LayerStats as EngineStats};
use lamina_engine::{Health as EngineHealth, Status};
use lamina_types::capability::{AdminHealth, DiagnosticsRead};
use serde_json::Value;

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::meters;
use crate::watching;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `GET /v1/admin/health` and `GET /v1/health`: open; details only for those who may see them (C21).
pub(super) async fn health(call: Call) -> Result<Response, Failure> {
    let app = &*call.app;
    let mut health = app.engine.health();
    let complaints = app.gate.complaints();
    if !complaints.is_empty() && health.status == Status::Healthy {
        health.status = Status::Degraded;
    }
    health.reasons.extend(complaints);
    health.reasons.extend(watching::complaints(&health));
    let status = status_of(health.status);
    let mut shape = Health {
        status,
        version: VERSION.to_owned(),
        reasons: Vec::new(),
        deployment_preset: None,
        uptime_ms: None,
        checks: BTreeMap::new(),
    };
    let who = call.caller().ok();
    let detailed = match &who {
        Some(who) => call.desk.permit::<AdminHealth>(who, None).await.is_ok(),
        None => false,
    };
    // The answer does not depend on a permission, only its length.
    call.record.forget();
    if detailed {
        let uptime_us = app.env.clock.monotonic().0 - app.started_at.0;
        shape.checks = checks(&health, numbers_for(who.as_ref()));
        shape.reasons = health.reasons;
        shape.deployment_preset = Some(app.preset().as_str().to_owned());
        shape.uptime_ms = Some((uptime_us / 1_000).max(0).unsigned_abs());
    }
    reply::json(fine_or_not(status != HealthStatus::Unhealthy), &shape)
}

/// Numbers of the whole deployment: how much is written, whoever writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    /// For those who run it.
    Shown,
    /// For tenants, to whom they would tell what other tenants do.
    Hidden,
}

fn numbers_for(caller: Option<&Caller>) -> Numbers {
    if caller.is_some_and(|caller| caller.operator) { Numbers::Shown } else { Numbers::Hidden }
}

/// `GET /v1/admin/ready` and `GET /v1/ready`.
pub(super) async fn ready(call: Call) -> Result<Response, Failure> {
    let app = &*call.app;
    let health = app.engine.health();
    let ready = app.engine.ready() && !*app.closing.borrow();
    let status = if ready { status_of(health.status) } else { HealthStatus::Unhealthy };
    let checks = checks(&health, numbers_for(call.caller().ok().as_ref()));
    reply::json(fine_or_not(ready), &Ready { ready, status, checks })
}

/// `GET /v1/admin/metrics`, as Prometheus text or as JSON.
pub(super) async fn metrics(call: Call) -> Result<Response, Failure> {
    let pairs = call.pairs()?;
    let as_json = Params::new(&pairs).choice("format", &[("prometheus", false), ("json", true)])?;
    let caller = call.caller()?;
    call.desk.permit::<AdminHealth>(&caller, None).await?;
    meters::gauge(&call.app.engine.health());
    let text = match numbers_for(Some(&caller)) {
        Numbers::Shown => call.app.meters.text(),
        Numbers::Hidden => call.app.meters.text_for_tenants(),
    };
    if as_json {
        return reply::json(StatusCode::OK, &meters::json(&text));
    }
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    Ok(response)
}

/// `GET /v1/admin/version`. Capabilities are what is built, not what is planned.
pub(super) async fn version(_: Call) -> Result<Response, Failure> {
    let shape = Version {
        version: VERSION.to_owned(),
        crate_version: VERSION.to_owned(),
        git_sha: option_env!("LAMINA_GIT_SHA").map(str::to_owned),
        built_at: option_env!("LAMINA_BUILT_AT").map(str::to_owned),
        api: "v1".to_owned(),
        capabilities: CAPABILITIES.iter().map(|name| (*name).to_owned()).collect(),
    };
    reply::json(StatusCode::OK, &shape)
}

/// `GET /v1/admin/layers/stats`: of what the caller may read of its tenant.
pub(super) async fn layers(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = call.desk.permit::<DiagnosticsRead>(&caller, None).await?;
    let sight = call.app.engine.sight(call.app.boot(), &permit).await;
    let EngineStats { events, episodes, facts, beliefs, understanding, waiting } =
        call.app.engine.layer_stats(&permit, sight).await?;
    let layers = [
        ("events", events, 0),
        ("episodes", episodes, waiting),
        ("facts", facts, waiting),
        ("beliefs", beliefs, waiting),
        ("understanding", understanding, waiting),
    ];
    let layers = layers.into_iter().map(|(name, Counted { count, more }, lag)| {
        (name.to_owned(), LayerStat { count, lag, partial: more })
    });
    reply::json(StatusCode::OK, &LayerStats { layers: layers.collect() })
}

/// `GET /v1/openapi.json`.
pub(super) async fn openapi(_: Call) -> Result<Response, Failure> {
    reply::json(StatusCode::OK, &contract::document())
}

fn fine_or_not(fine: bool) -> StatusCode {
    if fine { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}

fn status_of(status: Status) -> HealthStatus {
    match status {
        Status::Healthy => HealthStatus::Healthy,
        Status::Degraded => HealthStatus::Degraded,
        Status::Unhealthy => HealthStatus::Unhealthy,
    }
}

/// The parts of the engine, each with its numbers. The sentences are in `reasons`.
fn checks(health: &EngineHealth, shown: Numbers) -> BTreeMap<String, HealthCheck> {
    let log = &health.log;
    let checkpoint = log.checkpoint_at.map_or(Value::Null, |at| time::print(at.0).into());
    let log_status =
        if log.poisoned || log.full { HealthStatus::Unhealthy } else { HealthStatus::Healthy };
    let clock_trouble = log.clock_held || health.clock.doubt.is_some();
    let clock_status = if clock_trouble { HealthStatus::Degraded } else { HealthStatus::Healthy };
    let clock = [
        ("wall_at", time::print(health.clock.wall).into()),
        ("recorded_at", time::print(health.clock.recorded).into()),
        ("log_ahead_secs", watching::seconds(health.clock.log_ahead_us).into()),
        ("automatic_deletion", (health.clock.deletion == DeletionVerdict::Allowed).into()),
    ];
    let numbers = [
        ("batches", log.batches.into()),
        ("segments", log.segments.into()),
        ("bytes", log.bytes.into()),
        ("last_checkpoint_at", checkpoint),
    ];
    let pipeline = [
        ("in_flight", health.pipeline_in_flight.into()),
        ("writes_queued", health.writes_queued.into()),
    ];
    let parts = [
        ("log", check(log_status, numbers)),
        ("views", check(HealthStatus::Healthy, [("applied_lag", health.applied_lag.into())])),
        ("clock", check(clock_status, clock)),
        ("pipeline", check(HealthStatus::Healthy, pipeline)),
    ];
    let parts = parts.into_iter().map(|(name, mut check)| {
        if shown == Numbers::Hidden {
            check.values.clear();
        }
        (name.to_owned(), check)
    });
    parts.collect()
}

fn check<const N: usize>(status: HealthStatus, values: [(&str, Value); N]) -> HealthCheck {
    let values = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    HealthCheck { status, reason: None, values }
}
