//! The operator's routes of the clock. It is the clock of the whole deployment, so an operator of any tenant may
//! confirm it; of a sweep that waits in another tenant an operator sees the numbers and not the scope.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::time;
use lamina_api::v1::clock::{ClockBody, ConfirmRequest, DeletionBody, StoppedSweepBody};
use lamina_core::policy::Permit;
use lamina_engine::clock::{ClockDoubt, ClockVoucher, DeletionVerdict, WaitReason};
use lamina_engine::retention::StoppedSweep;
use lamina_types::capability::{AdminCompact, DiagnosticsRead};

use super::retention::looks;
use crate::http::App;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::watching::seconds;

/// `GET /v1/admin/clock`.
pub(super) async fn status(call: Call) -> Result<Response, Failure> {
    let caller = call.caller()?;
    let permit = looks(&call.desk, &caller).await?;
    reply::json(StatusCode::OK, &body(&call.app, &permit))
}

/// `POST /v1/admin/clock/confirm`.
pub(super) async fn confirm(mut call: Call) -> Result<Response, Failure> {
    let body_bytes = call.optional_json_body(call.app.limits.body_bytes).await?;
    let sweep = ConfirmRequest::read(&body_bytes)?;
    let caller = call.caller()?;
    let permit = call.desk.permit::<AdminCompact>(&caller, None).await?;
    let sees = looks(&call.desk, &caller).await?;
    let actor = &caller.actor;
    match sweep {
        Some(id) => {
            call.app.engine.sweep_confirm(&permit, id)?;
            tracing::info!(%actor, sweep = %id, "an operator confirmed a sweep");
        }
        None => {
            let now = call.app.engine.clock_confirm(&permit).await?;
            tracing::info!(%actor, wall = time::print(now.wall), "an operator confirmed the clock");
        }
    }
    reply::json(StatusCode::OK, &body(&call.app, &sees))
}

fn body(app: &App, permit: &Permit<DiagnosticsRead>) -> ClockBody {
    let report = app.engine.clock();
    let tenant = permit.caller().tenant;
    let stopped = app.engine.stopped_sweeps(permit);
    ClockBody {
        wall_at: time::print(report.wall),
        log_at: time::print(report.log),
        recorded_at: time::print(report.recorded),
        segment_modified_at: report.modified.map(time::print),
        log_ahead_secs: seconds(report.log_ahead_us),
        doubt: report.doubt.map(|doubt| match doubt {
            ClockDoubt::Ahead => "ahead",
            ClockDoubt::Behind => "behind",
        }),
        confirmed_by: report.voucher.map(|voucher| match voucher {
            ClockVoucher::Operator => "operator",
            ClockVoucher::System => "system",
        }),
        automatic_deletion: deletion(report.deletion),
        stopped_sweeps: stopped.iter().map(|sweep| shown(app, sweep, tenant)).collect(),
    }
}

fn deletion(verdict: DeletionVerdict) -> DeletionBody {
    match verdict {
        DeletionVerdict::Allowed => DeletionBody { allowed: true, reason: None, wait_secs: None },
        DeletionVerdict::Doubted(_) => {
            DeletionBody { allowed: false, reason: Some("clock"), wait_secs: None }
        }
        DeletionVerdict::Waits { us, reason } => {
            let reason = match reason {
                WaitReason::Start => "start",
                WaitReason::Pause => "pause",
                WaitReason::Jump => "jump",
            };
            DeletionBody { allowed: false, reason: Some(reason), wait_secs: Some(seconds(us)) }
        }
    }
}

fn shown(app: &App, sweep: &StoppedSweep, tenant: u32) -> StoppedSweepBody {
    let own = sweep.scope.as_ref().filter(|_| sweep.tenant == tenant);
    StoppedSweepBody {
        sweep_id: sweep.id.to_string(),
        tenant: app.engine.tenant_name(sweep.tenant),
        of: if sweep.scope.is_some() { "scope" } else { "tenant" },
        scope: own.map(ToString::to_string),
        overdue: sweep.overdue,
        events: sweep.events,
        share_max: sweep.share_percent_max,
        planned_at: time::print(sweep.at),
    }
}
