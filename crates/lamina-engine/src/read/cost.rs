//! What a language model has taken for a scope, and what it would take.

use std::ops::ControlFlow;

use lamina_core::policy::{Derive, Permit};
use lamina_store::codec::models::Cost;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::EventScan;
use lamina_types::ScopePath;

use crate::derive::key;
use crate::derive::models::Models;
use crate::derive::models::budget::{Budget, Prices};
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

/// How a model would be asked, as far as it costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asking {
    /// Events of one call.
    pub batch_events: u64,
    /// Tokens that an answer may have.
    pub output_tokens_max: u64,
    /// What tokens cost.
    pub prices: Prices,
}

impl Asking {
    fn of(models: &Models) -> Asking {
        Asking {
            batch_events: models.batch_events as u64,
            output_tokens_max: models.output_tokens_max,
            prices: models.prices,
        }
    }
}

impl Engine {
    /// What it would take to ask a model about every event of a scope, whether or not one is set up.
    pub async fn model_estimate(
        &self,
        permit: Permit<Derive>,
        scope: ScopePath,
        asking: Asking,
    ) -> Result<Estimate, Error> {
        self.inner.caught_up().await;
        if !permit.covers(&scope) {
            return Err(Error::OutsidePermit);
        }
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| {
            let ordinal = inner.views.scope_ordinal(tenant, &scope)?.ok_or(Error::NotFound)?;
            inner.estimate(tenant, vec![ordinal], asking, None)
        })
        .await
    }

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
            let asking = self.desk.as_ref().map(|desk| Asking::of(&desk.models));
            let estimate =
                asking.map(|asking| self.estimate(tenant, scopes, asking, Some(ESTIMATED_MAX)));
            report.estimate = estimate.transpose()?;
        }
        Ok(report)
    }

    /// Reads the words of the newest events and counts them; nothing is asked.
    fn estimate(
        &self,
        tenant: u32,
        scopes: Vec<u64>,
        asking: Asking,
        events_max: Option<usize>,
    ) -> Result<Estimate, Error> {
        let mut estimate = Estimate::default();
        if scopes.is_empty() {
            return Ok(estimate);
        }
        let direction = Direction::Backward;
        let mut scan = EventScan::recorded(tenant, scopes, direction, ESTIMATED_MAX);
        let (mut bytes, mut seen) = (0, 0);
        loop {
            let page = self.views.event_scan(&scan)?;
            seen += page.rows.len();
            for row in &page.rows {
                let entry = self.reader.entry(row.offset, row.place)?;
                let Some(words) = crate::derive::answer::words(&entry) else { continue };
                estimate.events += 1;
                bytes += lamina_models::llm::shown_bytes(words.text()) as u64;
                let text = std::iter::once(words.text());
                let alone = asking.prices.bound(text, asking.output_tokens_max);
                estimate.most = estimate.most.plus(alone);
            }
            estimate.truncated = events_max.is_some_and(|most| seen >= most);
            match page.next {
                Some(next) if !estimate.truncated => scan.after = Some(next),
                _ => break,
            }
        }
        estimate.calls = estimate.events.div_ceil(asking.batch_events.max(1));
        estimate.cost = asking.prices.estimate(bytes, estimate.calls, asking.output_tokens_max);
        Ok(estimate)
    }
}

fn spending(row: CostRow) -> Spending {
    let CostRow { calls, failed, events, gave_up, cost } = row;
    Spending { calls, failed, events, gave_up, cost }
}
