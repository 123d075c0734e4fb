//! The watch of the clock: says in the log and in health whether it is believed, with both times, and what waits
//! because of it.

use std::sync::Arc;
use std::time::Duration;

use lamina_api::time;
use lamina_engine::audit::PinTime;
use lamina_engine::clock::{ClockDoubt, ClockReport, ClockVoucher, DeletionVerdict, WaitReason};
use lamina_engine::{Engine, Error, Health};

use crate::http::App;

/// How often the clock is looked at. Nothing else asks a server without traffic, and a system that has synchronized
/// its clock is to be believed soon.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// What was last said about the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClockState {
    Doubted(ClockDoubt),
    Waits(WaitReason),
    Allowed,
}

impl ClockState {
    fn of(report: &ClockReport) -> ClockState {
        match report.deletion {
            DeletionVerdict::Doubted(doubt) => ClockState::Doubted(doubt),
            DeletionVerdict::Waits { reason, .. } => ClockState::Waits(reason),
            DeletionVerdict::Allowed => ClockState::Allowed,
        }
    }
}

/// Looks at the clock until it is dropped, and logs what changes.
pub(crate) async fn keep(app: Arc<App>) {
    let mut turn = tokio::time::interval(LOOK_EVERY);
    let mut said = None;
    loop {
        turn.tick().await;
        mark(&app.engine).await;
        let report = app.engine.clock();
        let state = ClockState::of(&report);
        if said != Some(state) {
            say(&report, state, said);
            said = Some(state);
        }
    }
}

/// Marks in the log whether it follows the clock.
pub(crate) async fn mark(engine: &Engine) {
    match engine.clock_mark().await {
        Ok(()) | Err(Error::ShuttingDown) => {}
        Err(error) => {
            tracing::warn!(%error, "the log cannot note whether it follows the clock; trying again");
        }
    }
    pin_audit(engine, PinTime::Hourly).await;
}

/// Has the log keep how far the audit log has come.
pub(crate) async fn pin_audit(engine: &Engine, time: PinTime) {
    match engine.audit_pin(time).await {
        Ok(()) | Err(Error::ShuttingDown) => {}
        Err(error) => tracing::warn!(%error, "the log cannot keep how far the audit log has come"),
    }
}

fn say(report: &ClockReport, state: ClockState, before: Option<ClockState>) {
    let (wall, recorded_at) = (time::print(report.wall), time::print(report.recorded));
    let segment_modified_at = report.modified.map(time::print);
    if matches!(before, Some(ClockState::Doubted(_))) && report.doubt.is_none() {
        let by =
            report.voucher.map_or(
                "nobody had to: it agrees with the log",
                |voucher| match voucher {
                    ClockVoucher::Operator => "an operator",
                    ClockVoucher::System => "the system: it is synchronized",
                },
            );
        tracing::info!(wall, recorded_at, by, "the clock is believed again");
    }
    match state {
        ClockState::Doubted(doubt) => tracing::warn!(
            wall,
            recorded_at,
            segment_modified_at,
            "{}; nothing is deleted because of its age until an operator confirms the clock \
             (`lamina clock --confirm`) or the system reports it as synchronized",
            finding(doubt)
        ),
        ClockState::Waits(WaitReason::Start) => tracing::info!(
            "nothing is deleted because of its age in the first ten minutes after the start"
        ),
        ClockState::Waits(WaitReason::Pause) => tracing::info!(
            wall,
            recorded_at,
            segment_modified_at,
            "the log ended more than a day ago: nothing is deleted because of its age in the first hour"
        ),
        ClockState::Waits(WaitReason::Jump) => tracing::warn!(
            wall,
            recorded_at,
            "the clock jumped by more than a day: nothing is deleted because of its age for an hour"
        ),
        ClockState::Allowed => tracing::info!("events past their time are deleted from now on"),
    }
}

fn finding(doubt: ClockDoubt) -> &'static str {
    match doubt {
        ClockDoubt::Ahead => "the clock is more than 45 days ahead of the log",
        ClockDoubt::Behind => "the clock is behind the log",
    }
}

/// Why health is degraded because of the clock, with both times.
pub(crate) fn complaints(health: &Health) -> Vec<String> {
    let clock = &health.clock;
    let mut complaints = Vec::new();
    if let Some(doubt) = clock.doubt {
        let modified =
            clock.modified.map(|at| format!(", its newest file is of {}", time::print(at)));
        complaints.push(format!(
            "{}: the clock says {}, the log ends at {}{}; nothing is deleted because of its age until \
             an operator confirms the clock (`lamina clock --confirm`) or the system reports it as \
             synchronized",
            finding(doubt),
            time::print(clock.wall),
            time::print(clock.recorded),
            modified.unwrap_or_default(),
        ));
    }
    if health.sweeps_stopped > 0 {
        complaints.push(
            "an automatic sweep would take too much of a scope or a tenant and waits for an operator; \
             `lamina clock` shows it"
                .to_owned(),
        );
    }
    complaints
}

/// Whole seconds.
pub(crate) fn seconds(us: i64) -> u64 {
    us.max(0).unsigned_abs().div_ceil(1_000_000)
}
