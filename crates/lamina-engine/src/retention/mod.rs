//! Retention: how long events are kept, and the sweeps that let them go.
//!
//! Rules are entries of the log. A sweep looks for events that are past their time and has their words forgotten by the
//! same code as `POST /v1/forget`, so everything it does is in the log and nothing is decided when a log is replayed. What
//! time it is comes in with the request. One sweep runs at a time; each looks at a bounded number of events and goes on
//! where the last one stopped. A sweep that nobody asks for needs a plan first: `share.rs` makes one only if the clock is
//! believed and not too much of a scope or a tenant would go.

mod rules;
mod share;
mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::policy::{Caller, Permit};
use lamina_store::view::ScanKey;
use lamina_types::capability::{AdminCompact, DiagnosticsRead};
use lamina_types::retention::{Keep, Rule};
use lamina_types::{Micros, ScopePath};
use parking_lot::Mutex as Quick;
use tokio::sync::{Mutex, Notify};

use crate::forget::ForgetPermit;

pub use share::{DueSweep, StoppedSweep, SweepPlan};
pub use sweep::BUDGET_US;

/// The right to sweep.
#[derive(Debug, Clone)]
pub enum SweepPermit {
    /// Nobody asks: it is time, and a plan says that it may run.
    Due(DueSweep),
    /// An operator asks.
    Asked(Permit<AdminCompact>),
    /// Somebody wants to know what would go.
    Report(Permit<DiagnosticsRead>),
}

impl SweepPermit {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        match self {
            SweepPermit::Due(due) => due.permit().caller(),
            SweepPermit::Asked(permit) => permit.caller(),
            SweepPermit::Report(permit) => permit.caller(),
        }
    }

    /// An automatic sweep goes by the time that it was planned at, and nothing else.
    fn at_its_time(&self, asked: SweepAsked) -> SweepAsked {
        match self {
            SweepPermit::Due(due) => SweepAsked { now: due.now(), ..asked },
            SweepPermit::Asked(_) | SweepPermit::Report(_) => asked,
        }
    }

    /// The entry with the rules that an automatic sweep was planned under.
    fn planned_rules(&self) -> Option<u64> {
        match self {
            SweepPermit::Due(due) => Some(due.rules()),
            SweepPermit::Asked(_) | SweepPermit::Report(_) => None,
        }
    }

    /// The right to forget what is past its time; `None` for who may only look.
    fn forgets(&self) -> Option<ForgetPermit> {
        match self {
            SweepPermit::Due(due) => Some(ForgetPermit::Retention(due.permit().clone())),
            SweepPermit::Asked(permit) => Some(ForgetPermit::Operator(permit.clone())),
            SweepPermit::Report(_) => None,
        }
    }
}

/// What a sweep is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepAsked {
    /// Nothing goes; it is only counted.
    pub dry_run: bool,
    /// Only this scope and what is below it.
    pub scope: Option<ScopePath>,
    /// In place of all rules: whatever was recorded this long ago.
    pub older_than_us: Option<i64>,
    /// Events that are looked at.
    pub events_max: u64,
    /// From the beginning, and not from where the last sweep stopped.
    pub rescan: bool,
    /// What time it is.
    pub now: Micros,
}

/// Why a sweep ended before it had seen everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// It had looked at as many events as it may.
    Events,
    /// It had taken as long as it may.
    Time,
    /// The rules changed since it was planned.
    Rules,
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// Nothing went.
    pub dry_run: bool,
    /// What time it was.
    pub at: Micros,
    /// Events that were looked at.
    pub scanned: u64,
    /// Those that are past their time.
    pub expired: u64,
    /// Those whose words are gone now.
    pub erased: u64,
    /// Those among the ones looked at that no rule lets go.
    pub kept_forever: u64,
    /// Those that are past their time and stay, because of a legal hold.
    pub held: u64,
    /// Where it began; `None` is the beginning.
    pub cursor_before: Option<Cursor>,
    /// Where the next one begins.
    pub cursor_after: Option<Cursor>,
    /// Everything before this offset was in sight.
    pub watermark: u64,
    /// Why it is not through.
    pub stopped: Option<Stopped>,
    /// How long it took.
    pub elapsed_us: i64,
    /// What could not be forgotten, a sentence each.
    pub errors: Vec<String>,
}

/// Where a sweep stands: in a scope, after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    /// The ordinal of the scope.
    pub scope: u64,
    /// After this event of it.
    pub after: Option<ScanKey>,
}

/// One rule, with what it comes to where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleShown {
    /// The rule.
    pub rule: Rule,
    /// What holds in its scope, with what is said above.
    pub effective: Keep,
}

/// How retention stands in a tenant.
#[derive(Debug, Clone)]
pub struct RetentionStatus {
    /// Where nobody has said anything.
    pub deployment: Keep,
    /// All rules, by scope.
    pub rules: Vec<RuleShown>,
    /// A sweep runs.
    pub running: bool,
    /// Where the next one begins.
    pub cursor: Option<Cursor>,
    /// Everything before this offset is in sight.
    pub watermark: u64,
    /// The last sweep of the tenant since the start.
    pub last: Option<Arc<Swept>>,
}

/// What retention keeps in memory.
#[derive(Debug, Default)]
pub(crate) struct RetentionDesk {
    /// Rules are changed one after the other.
    ruling: Mutex<()>,
    /// One sweep at a time.
    turn: Mutex<()>,
    tenants: Quick<BTreeMap<u32, Remembered>>,
    /// Somebody confirmed the clock or a sweep: automatic sweeps need not wait for their next turn.
    pub(crate) wake: Notify,
}

#[derive(Debug, Default, Clone)]
struct Remembered {
    cursor: Option<Cursor>,
    /// The rules that the cursor was made under.
    rules: u64,
    last: Option<Arc<Swept>>,
    /// The automatic sweep that would take too much.
    stopped: Option<Arc<StoppedSweep>>,
    /// An automatic sweep may take the events that were due by then, under the rules of this entry.
    approved: Option<(Micros, u64)>,
}

impl RetentionDesk {
    /// Keeps sweeps from running, for tests.
    #[cfg(test)]
    pub(crate) async fn hold(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Where the next sweep begins under these rules.
    fn cursor(&self, tenant: u32, rules: u64) -> Option<Cursor> {
        let tenants = self.tenants.lock();
        tenants.get(&tenant).filter(|known| known.rules == rules)?.cursor
    }

    fn last(&self, tenant: u32) -> Option<Arc<Swept>> {
        self.tenants.lock().get(&tenant)?.last.clone()
    }

    /// Notes what a sweep did, and where it stopped if that is where the next one goes on.
    fn swept(&self, tenant: u32, rules: u64, done: &Arc<Swept>, moves: bool) {
        let mut tenants = self.tenants.lock();
        let known = tenants.entry(tenant).or_default();
        known.last = Some(Arc::clone(done));
        if moves && done.stopped.is_none() {
            known.stopped = None;
        }
        if moves {
            (known.cursor, known.rules) = (done.cursor_after, rules);
        }
    }
}

#[cfg(test)]
mod tests;
