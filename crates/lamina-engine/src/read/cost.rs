//! What a language model has taken for a scope, and what it would take.

use std::ops::ControlFlow;

use lamina_store::codec::models::Cost;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::EventScan;
use lamina_types::ScopePath;

use crate::derive::key;
use crate::derive::models::budget::Budget;
use crate::derive::models::fold::CostRow;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::{Engine, Error};

/// Days that are listed one by one.
const DAYS_MAX: usize = 31;
/// Events that wait and are counted one by one.
const WAITING_COUNTED_MAX: u64 = 100_000;
/// Events whose words are looked at for an estimate.
const ESTIMATED_MAX: usize = 5_000;

/// Calls, events and what they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spending {
    /// Calls.
    pub calls: u64,
    /// Calls of which nothing came.
    pub failed: u64,
    /// Events that calls were about.
    pub events: u64,
    /// Events that were given up.
    pub gave_up: u64,
    /// What it took; a call under way counts with the most it can take.
    pub cost: Cost,
}

/// What a model has taken for a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CostReport {
    /// What the model's answers are signed with; `None` if none is asked.
    pub model: Option<String>,
    /// Events that wait, counted up to a bound.
    pub waiting: u64,
    /// All days together.
    pub total: Spending,
    /// By day since the epoch, in UTC, the last first.
    pub days: Vec<(u64, Spending)>,
    /// What one scope may take in a day.
    pub budget: Budget,
    /// What went wrong with the last call.
    pub last_fault: Option<&'static str>,
    /// What it would take to ask about every event.
    pub estimate: Option<Estimate>,
}

/// What it would take to ask about the events of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Events.
    pub events: u64,
    /// Calls.
    pub calls: u64,
    /// Probably so much.
    pub cost: Cost,
    /// At most so much.
    pub most: Cost,
    /// There are more events than were looked at.
    pub truncated: bool,
}

impl Engine {
    /// What a model has taken for a scope; with an estimate of what it would take, if that is asked.
    pub async fn cost(
        &self,
        permit: ReadPermit,
        scope: ScopePath,
        with_estimate: bool,
    ) -> Result<CostReport, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.cost(&permit, &scope, with_estimate)).await
    }
}

impl Inner {
    fn cost(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
        with_estimate: bool,
    ) -> Result<CostReport, Error> {
        let (tenant, scopes) = self.scopes_of(permit, scope)?;
        let mut report = CostReport::default();
        // Who waits comes first: whoever is seen to wait no more is seen to be paid for.
        for scope in &scopes {
            let (from, to) = key::all_awaiting(tenant, *scope);
            walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |_, _| {
                report.waiting += 1;
                match report.waiting < WAITING_COUNTED_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        if let Some(desk) = &self.desk {
            report.model = Some(desk.models.model.name().to_owned());
            report.budget = desk.models.budget_scope;
            report.last_fault = desk.status.last_fault().map(|fault| fault.as_str());
        }
        let mut days = std::collections::BTreeMap::<u64, CostRow>::new();
        for scope in &scopes {
            let (from, to) = key::costs(tenant, *scope);
            walk(
                &self.views,
                Space::Sources,
                (&from, &to),
                Direction::Forward,
                &mut |key, row| {
                    if let (Some(day), Ok(row)) = (key::tail_number(key), CostRow::decode(row)) {
                        let sum = days.entry(day).or_default();
                        *sum = sum.plus(row);
                    }
                    ControlFlow::Continue(())
                },
            )?;
        }
        let all = days.values().fold(CostRow::default(), |all, day| all.plus(*day));
        report.total = spending(all);
        let last = days.into_iter().rev().take(DAYS_MAX);
        report.days = last.map(|(day, row)| (day, spending(row))).collect();
        if with_estimate {
            report.estimate = self.estimate(tenant, scopes)?;
        }
        Ok(report)
    }

    /// Reads the words of the newest events and counts them; nothing is asked.
    fn estimate(&self, tenant: u32, scopes: Vec<u64>) -> Result<Option<Estimate>, Error> {
        let Some(desk) = &self.desk else { return Ok(None) };
        let mut estimate = Estimate::default();
        if scopes.is_empty() {
            return Ok(Some(estimate));
        }
        let page = self.views.event_scan(&EventScan::recorded(
            tenant,
            scopes,
            Direction::Backward,
            ESTIMATED_MAX,
        ))?;
        estimate.truncated = page.rows.len() >= ESTIMATED_MAX;
        let mut bytes = 0;
        let mut most = Cost::default();
        let models = &desk.models;
        for row in &page.rows {
            let entry = self.reader.entry(row.offset, row.place)?;
            let Some(words) = crate::derive::answer::words(&entry) else { continue };
            estimate.events += 1;
            bytes += lamina_models::llm::shown_bytes(words.text()) as u64;
            let alone =
                models.prices.bound(std::iter::once(words.text()), models.output_tokens_max);
            most = most.plus(alone);
        }
        estimate.calls = estimate.events.div_ceil(models.batch_events.max(1) as u64);
        estimate.cost = models.prices.estimate(bytes, estimate.calls, models.output_tokens_max);
        estimate.most = most;
        Ok(Some(estimate))
    }
}

fn spending(row: CostRow) -> Spending {
    let CostRow { calls, failed, events, gave_up, cost } = row;
    Spending { calls, failed, events, gave_up, cost }
}
