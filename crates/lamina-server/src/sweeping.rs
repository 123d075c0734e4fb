//! Sweeps that nobody asks for: from time to time every tenant is looked through for events that are past their time.

use std::sync::Arc;
use std::time::Duration;

use lamina_core::policy::Caller;
use lamina_engine::retention::{SweepAsked, SweepPermit};
use lamina_engine::{Error, Noted};
use lamina_types::limits::RETENTION_EVENTS_MAX;
use tokio::time::{MissedTickBehavior, interval};

use crate::http::App;

/// Who sweeps when nobody asks.
const SWEEPER: &str = "system:retention";

/// Runs until it is dropped.
pub(crate) async fn keep(app: Arc<App>, every: Duration) {
    let mut turn = interval(every);
    turn.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        turn.tick().await;
        let due = match app.engine.retention_due().await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "nobody can tell whose events are past their time; trying again");
                continue;
            }
        };
        for tenant in due {
            match sweep(&app, tenant).await {
                Ok(()) | Err(Error::SweepRunning | Error::ShuttingDown) => {}
                Err(error) => tracing::warn!(%error, tenant, "a sweep failed; trying again"),
            }
        }
    }
}

/// Looks through one tenant, in as many pieces as it takes.
async fn sweep(app: &App, tenant: u32) -> Result<(), Error> {
    let actor = SWEEPER.parse().expect("the name is well formed");
    let caller = Caller::local(actor, tenant);
    let stack = app.engine.stack(&app.boot(), &caller, None).await?;
    let due = stack.permit_retain(tenant);
    let permit = SweepPermit::Due(due.clone());
    loop {
        let audit_id = app.engine.audit_id();
        let noted = Noted { audit_id, request_id: String::new(), note: String::new() };
        let asked = SweepAsked {
            dry_run: false,
            scope: None,
            older_than_us: None,
            events_max: RETENTION_EVENTS_MAX,
            rescan: false,
            now: app.engine.now(),
        };
        let done = app.engine.retention_sweep(&permit, asked, &noted).await?;
        if done.erased > 0 {
            app.forget_all_packs();
            let row = app.engine.audit_row_of(&due, None, "retention sweep", audit_id);
            app.engine.audit(row);
            tracing::info!(tenant, erased = done.erased, "events were past their time");
        }
        for error in &done.errors {
            tracing::warn!(error, tenant, "events that are past their time could not be forgotten");
        }
        if done.stopped.is_none() {
            return Ok(());
        }
    }
}
