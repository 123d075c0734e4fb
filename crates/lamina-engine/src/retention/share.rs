//! The plan of an automatic sweep: how much would go, and whether that is too much.
//!
//! A sweep that runs every hour takes events that have just become due. If many have been due for days, something
//! is out of the ordinary: the clock, a rule, or a server that was off for long. So a sweep counts the events that
//! have been due for more than three days. If they are more than a set share of a scope or of the tenant, it takes
//! nothing and waits until an operator confirms it. Events that have just become due never count: all events of a
//! short conversation may become due in the same hour. Up to ten events never count either: they would be a large
//! share of any small scope.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lamina_core::policy::{Permit, Retain};
use lamina_env::rng::draw;
use lamina_store::kv::Direction;
use lamina_store::view::EventScan;
use lamina_types::capability::{AdminCompact, DiagnosticsRead};
use lamina_types::limits::SWEEP_OVERDUE_FREE_MAX;
use lamina_types::{EventId, JobId, Micros, RecordedAt, ScopePath};

use super::sweep::{Purpose, Terms};
use super::{Cursor, RetentionDesk, SweepAsked};
use crate::clock::DeletionVerdict;
use crate::derive::misdated::MisdatedSpans;
use crate::derive::retention::{Ended, Rules};
use crate::engine::Inner;
use crate::{Engine, Error};

/// Events that have been due for longer are overdue: a weekend is not enough.
const OVERDUE_US: i64 = 3 * 24 * 3_600 * 1_000_000;
/// Events and scopes counted in one step.
const COUNT_STEP: usize = 512;

/// An automatic sweep that may run: the clock is believed, and it does not take too much.
#[derive(Debug, Clone)]
pub struct DueSweep {
    permit: Permit<Retain>,
    rules: u64,
    now: Micros,
}

impl DueSweep {
    /// The permit that it runs with.
    pub fn permit(&self) -> &Permit<Retain> {
        &self.permit
    }

    /// The time that it goes by.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// The entry with the rules that it was planned under.
    pub(super) fn rules(&self) -> u64 {
        self.rules
    }
}

/// An automatic sweep that would take too much and waits for confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedSweep {
    /// Names it to whoever confirms it.
    pub id: JobId,
    /// Its tenant.
    pub tenant: u32,
    /// The scope of which too much would go; `None`: the whole tenant.
    pub scope: Option<ScopePath>,
    /// Overdue events in it.
    pub overdue: u64,
    /// All events in it.
    pub events: u64,
    /// The share that goes without confirmation, in percent.
    pub share_percent_max: u8,
    /// The time that it went by.
    pub at: Micros,
    /// The entry with the rules that it was planned under.
    rules: u64,
}

/// What became of planning an automatic sweep.
#[derive(Debug, Clone)]
pub enum SweepPlan {
    /// The clock guard does not allow it.
    Waits(DeletionVerdict),
    /// It would take too much.
    Stopped(Arc<StoppedSweep>),
    /// It may run.
    Due(DueSweep),
}

/// Overdue events of a tenant, by scope.
type OverdueCounts = BTreeMap<ScopePath, u64>;

/// A place of which too much would go.
#[derive(Debug)]
struct Excess {
    scope: Option<ScopePath>,
    overdue: u64,
    events: u64,
}

impl Engine {
    /// Plans an automatic sweep. Nothing is removed because of its age without a plan or an operator's request.
    pub async fn retention_plan(&self, permit: &Permit<Retain>) -> Result<SweepPlan, Error> {
        let verdict = self.clock().deletion;
        if verdict != DeletionVerdict::Allowed {
            return Ok(SweepPlan::Waits(verdict));
        }
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let desk = &self.inner.admin.retention;
        let (rules, now) = (self.retention_rules(tenant), self.inner.guard.machine());
        let counts = self.overdue(tenant, &rules, now).await?;
        let percent = self.inner.settings.sweep_share_percent_max;
        let excess = self.blocking(move |inner| inner.excess(tenant, &counts, percent)).await?;
        let rules = rules.offset();
        let Some(Excess { scope, overdue, events }) = excess else {
            desk.set_stopped(tenant, None);
            return Ok(SweepPlan::Due(DueSweep { permit: permit.clone(), rules, now }));
        };
        let stopped = StoppedSweep {
            id: JobId::mint(now, draw::<8>(&*self.inner.env.rng)),
            tenant,
            scope,
            overdue,
            events,
            share_percent_max: percent,
            at: now,
            rules,
        };
        Ok(SweepPlan::Stopped(desk.stop(stopped)))
    }

    /// The automatic sweeps of all tenants that wait for confirmation.
    pub fn stopped_sweeps(&self, _permit: &Permit<DiagnosticsRead>) -> Vec<Arc<StoppedSweep>> {
        self.inner.admin.retention.stopped()
    }

    /// Lets a stopped sweep take what it would have taken. The next automatic sweep carries it out, unless the rules
    /// change before.
    pub fn sweep_confirm(&self, _permit: &Permit<AdminCompact>, id: JobId) -> Result<(), Error> {
        self.inner.admin.retention.approve(id).ok_or(Error::NotFound)?;
        self.inner.admin.retention.wake.notify_one();
        Ok(())
    }

    /// Waits until somebody confirms the clock or a sweep.
    pub async fn sweep_confirmed(&self) {
        self.inner.admin.retention.wake.notified().await;
    }

    /// Counts the events of a tenant that are overdue, but for those that were approved and those under a hold.
    async fn overdue(
        &self,
        tenant: u32,
        rules: &Arc<Rules>,
        now: Micros,
    ) -> Result<OverdueCounts, Error> {
        let approved = self.inner.admin.retention.approved(tenant, rules.offset());
        let asked = SweepAsked {
            dry_run: true,
            scope: None,
            older_than_us: None,
            events_max: u64::MAX,
            rescan: true,
            now: now.plus(-OVERDUE_US),
        };
        let over = Ended { after: approved.map(RecordedAt), by: RecordedAt(asked.now) };
        let ended = self.ended_by_themselves(tenant, over, &asked).await?.gone;
        let counted: Arc<BTreeSet<EventId>> = Arc::new(ended.values().flatten().copied().collect());
        let mut counts = OverdueCounts::new();
        let mut count = |gone: BTreeMap<ScopePath, Vec<EventId>>| {
            for (scope, ids) in gone {
                *counts.entry(scope).or_default() += ids.len() as u64;
            }
        };
        count(ended);
        let deployment = self.retention_default();
        let mut at = Some(Cursor { scope: 0, after: None });
        while let Some(cursor) = at {
            let (rules, asked, counted) = (Arc::clone(rules), asked.clone(), Arc::clone(&counted));
            let step = self.blocking(move |inner| {
                let (rules, asked, counted) = (&*rules, &asked, &*counted);
                let spans = &MisdatedSpans::read(&inner.views)?;
                let purpose = Purpose::Plan(approved);
                let terms = Terms { rules, asked, deployment, counted, spans, purpose };
                inner.retention_step(tenant, &terms, cursor)
            });
            let step = step.await?;
            at = step.next;
            count(step.gone);
        }
        let held = self.held(tenant).await?;
        counts.retain(|scope, _| !held.iter().any(|above| above.contains(scope)));
        Ok(counts)
    }
}

impl Inner {
    /// The first scope of which too much is overdue, or the tenant.
    fn excess(
        &self,
        tenant: u32,
        counts: &OverdueCounts,
        percent: u8,
    ) -> Result<Option<Excess>, Error> {
        for (scope, overdue) in counts {
            let Some(ordinal) = self.views.scope_ordinal(tenant, scope)? else { continue };
            if let Some(enough) = needed(*overdue, percent) {
                let events = self.events_up_to(tenant, ordinal, enough)?;
                if events < enough {
                    let (scope, overdue) = (Some(scope.clone()), *overdue);
                    return Ok(Some(Excess { scope, overdue, events }));
                }
            }
        }
        let overdue = counts.values().sum();
        let Some(enough) = needed(overdue, percent) else { return Ok(None) };
        let (mut events, mut after) = (0, None);
        loop {
            let scopes = self.views.scopes(tenant, after, COUNT_STEP)?;
            for scope in &scopes {
                events += self.events_up_to(tenant, *scope, enough - events)?;
                if events >= enough {
                    return Ok(None);
                }
            }
            match scopes.last() {
                Some(last) => after = Some(*last),
                None => return Ok(Some(Excess { scope: None, overdue, events })),
            }
        }
    }

    /// Counts the events of a scope, and stops at so many.
    fn events_up_to(&self, tenant: u32, scope: u64, max: u64) -> Result<u64, Error> {
        let (mut count, mut after) = (0, None);
        loop {
            let scan = EventScan {
                after,
                ..EventScan::recorded(tenant, vec![scope], Direction::Forward, COUNT_STEP)
            };
            let page = self.views.event_scan(&scan)?;
            count += page.rows.len() as u64;
            after = page.next;
            if after.is_none() || count >= max {
                return Ok(count.min(max));
            }
        }
    }
}

/// How many events a place must have for so many overdue ones to go; `None` if they go from any place.
fn needed(overdue: u64, percent: u8) -> Option<u64> {
    if overdue <= SWEEP_OVERDUE_FREE_MAX {
        return None;
    }
    Some(overdue.saturating_mul(100).div_ceil(u64::from(percent.max(1))))
}

impl RetentionDesk {
    /// Notes a sweep that takes too much. The same one keeps its name until it is confirmed or takes less.
    fn stop(&self, found: StoppedSweep) -> Arc<StoppedSweep> {
        let mut tenants = self.tenants.lock();
        let known = tenants.entry(found.tenant).or_default();
        let same = known.stopped.as_ref().filter(|known| known.rules == found.rules);
        let id = same.map_or(found.id, |known| known.id);
        let stopped = Arc::new(StoppedSweep { id, ..found });
        known.stopped = Some(Arc::clone(&stopped));
        stopped
    }

    fn set_stopped(&self, tenant: u32, stopped: Option<Arc<StoppedSweep>>) {
        self.tenants.lock().entry(tenant).or_default().stopped = stopped;
    }

    /// The sweeps that wait for confirmation.
    pub(crate) fn stopped(&self) -> Vec<Arc<StoppedSweep>> {
        self.tenants.lock().values().filter_map(|known| known.stopped.clone()).collect()
    }

    /// Up to when events may go under these rules, because an operator confirmed it.
    fn approved(&self, tenant: u32, rules: u64) -> Option<Micros> {
        let (due_by, under) = self.tenants.lock().get(&tenant)?.approved?;
        (under == rules).then_some(due_by)
    }

    fn approve(&self, id: JobId) -> Option<()> {
        let mut tenants = self.tenants.lock();
        let known = tenants
            .values_mut()
            .find(|known| known.stopped.as_ref().is_some_and(|stopped| stopped.id == id))?;
        let stopped = known.stopped.take()?;
        known.approved = Some((stopped.at, stopped.rules));
        Some(())
    }
}
