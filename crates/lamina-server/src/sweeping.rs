//! Sweeps that nobody asks for: from time to time every tenant is looked through for events that are past their time.
//!
//! Each needs a plan of the engine, which makes none while the clock is not believed or while too much would go.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lamina_core::policy::{Caller, Permit, Retain};
use lamina_engine::clock::DeletionVerdict;
use lamina_engine::retention::{
    DueSweep, Stopped, StoppedSweep, SweepAsked, SweepPermit, SweepPlan,
};
use lamina_engine::{Error, Noted};
use lamina_types::JobId;
use lamina_types::limits::RETENTION_EVENTS_MAX;
use tokio::time::sleep;

use crate::http::App;

/// Who sweeps when nobody asks.
const SWEEPER: &str = "system:retention";
/// How long an automatic sweep waits at most before it looks again whether the clock is believed.
const DOUBT_LOOK_US: i64 = 60 * 1_000_000;

/// Runs until it is dropped.
pub(crate) async fn keep(app: Arc<App>, every: Duration) {
    let mut told = BTreeMap::new();
    loop {
        turn(&app, &mut told).await;
        let wait = match app.engine.clock().deletion {
            DeletionVerdict::Allowed => every,
            DeletionVerdict::Waits { us, .. } => every.min(micros(us)),
            DeletionVerdict::Doubted(_) => every.min(micros(DOUBT_LOOK_US)),
        };
        tokio::select! {
            () = sleep(wait) => {}
            () = app.engine.sweep_confirmed() => {}
        }
    }
}

fn micros(us: i64) -> Duration {
    Duration::from_micros(us.max(0).unsigned_abs())
}

/// Looks through every tenant in which something may be past its time. `told` has the sweeps that were stopped, by
/// tenant: each is told once.
async fn turn(app: &App, told: &mut BTreeMap<u32, JobId>) {
    if app.engine.clock().deletion != DeletionVerdict::Allowed {
        return;
    }
    let due = match app.engine.retention_due().await {
        Ok(due) => due,
        Err(error) => {
            tracing::warn!(%error, "nobody can tell whose events are past their time; trying again");
            return;
        }
    };
    for tenant in due {
        match sweep(app, tenant, told).await {
            Ok(()) | Err(Error::SweepRunning | Error::ShuttingDown) => {}
            Err(error) => tracing::warn!(%error, tenant, "a sweep failed; trying again"),
        }
    }
}

/// Looks through one tenant.
async fn sweep(app: &App, tenant: u32, told: &mut BTreeMap<u32, JobId>) -> Result<(), Error> {
    let actor = SWEEPER.parse().expect("the name is well formed");
    let caller = Caller::local(actor, tenant);
    let stack = app.engine.stack(&app.boot(), &caller, None).await?;
    let permit = stack.permit_retain(tenant);
    match app.engine.retention_plan(&permit).await? {
        SweepPlan::Waits(_) => Ok(()),
        SweepPlan::Stopped(stopped) => {
            if told.insert(tenant, stopped.id) != Some(stopped.id) {
                tell_stopped(app, &permit, &stopped);
            }
            Ok(())
        }
        SweepPlan::Due(due) => carry_out(app, &due).await,
    }
}

/// Says that a sweep would take too much: in the log, and in the audit log of its tenant.
fn tell_stopped(app: &App, permit: &Permit<Retain>, stopped: &StoppedSweep) {
    let id = app.engine.audit_id();
    let scope = stopped.scope.as_ref();
    app.engine.audit(app.engine.audit_row_of(permit, scope, "retention sweep stopped", id));
    tracing::warn!(
        sweep = %stopped.id,
        tenant = stopped.tenant,
        overdue = stopped.overdue,
        events = stopped.events,
        share_max = stopped.share_percent_max,
        "an automatic sweep would take too much and is stopped; `lamina clock --confirm --sweep ID` \
         lets it run"
    );
}

/// Carries a planned sweep out, in as many pieces as it takes.
async fn carry_out(app: &App, due: &DueSweep) -> Result<(), Error> {
    let permit = SweepPermit::Due(due.clone());
    let tenant = due.permit().caller().tenant;
    loop {
        let audit_id = app.engine.audit_id();
        let noted = Noted { audit_id, request_id: String::new(), note: String::new() };
        let asked = SweepAsked {
            dry_run: false,
            scope: None,
            older_than_us: None,
            events_max: RETENTION_EVENTS_MAX,
            rescan: false,
            now: due.now(),
        };
        let done = app.engine.retention_sweep(&permit, asked, &noted).await?;
        if done.erased > 0 {
            app.forget_packs_of(tenant);
            let row = app.engine.audit_row_of(due.permit(), None, "retention sweep", audit_id);
            app.engine.audit(row);
            tracing::info!(tenant, erased = done.erased, "events were past their time");
        }
        for error in &done.errors {
            tracing::warn!(error, tenant, "events that are past their time could not be forgotten");
        }
        if matches!(done.stopped, None | Some(Stopped::Rules)) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests;
