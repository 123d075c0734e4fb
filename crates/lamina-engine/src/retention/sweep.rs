//! A sweep: which events are past their time, and that they go.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lamina_store::kv::Direction;
use lamina_store::view::{EventRow, EventScan, ScanKey, Tag};
use lamina_types::forget::{Cascade, Forget, Layers, MemoryId, Selector};
use lamina_types::retention::{Keep, Lasting};
use lamina_types::{EventId, Micros, RecordedAt, ScopePath};

use super::{Cursor, Stopped, SweepAsked, SweepPermit, Swept};
use crate::admin::Noted;
use crate::derive::misdated::MisdatedSpans;
use crate::derive::retention::{Ended, Rules, end_of, past};
use crate::engine::Inner;
use crate::forget::ForgetAsked;
use crate::{Engine, Error};

/// Scopes read from the views at a time.
const SCOPES_READ: usize = 64;
/// Events looked at in one step, and forgotten together.
const STEP: usize = if cfg!(test) { 4 } else { 512 };
/// How long a sweep goes on before it leaves the rest to the next.
pub const BUDGET_US: i64 = 20 * 1_000_000;

impl Swept {
    fn begun(asked: &SweepAsked, from: Option<Cursor>, watermark: u64) -> Swept {
        Swept {
            dry_run: asked.dry_run,
            at: asked.now,
            scanned: 0,
            expired: 0,
            erased: 0,
            kept_forever: 0,
            held: 0,
            cursor_before: from,
            cursor_after: None,
            watermark,
            stopped: None,
            elapsed_us: 0,
            errors: Vec::new(),
        }
    }
}

/// What one step found.
#[derive(Debug, Default)]
pub(super) struct Step {
    /// Events past their time, by scope.
    pub(super) gone: BTreeMap<ScopePath, Vec<EventId>>,
    scanned: u64,
    kept_forever: u64,
    /// Where the next step begins; `None` when everything was looked at.
    pub(super) next: Option<Cursor>,
}

impl Step {
    fn expired(&self) -> u64 {
        self.gone.values().map(|ids| ids.len() as u64).sum()
    }
}

impl Engine {
    /// Looks for events that are past their time and, unless told otherwise, has their words forgotten.
    pub async fn retention_sweep(
        &self,
        permit: &SweepPermit,
        asked: SweepAsked,
        noted: &Noted,
    ) -> Result<Arc<Swept>, Error> {
        let asked = permit.at_its_time(asked);
        let desk = &self.inner.admin.retention;
        let Ok(_turn) = desk.turn.try_lock() else { return Err(Error::SweepRunning) };
        let forgets = permit.forgets();
        if forgets.is_none() && !asked.dry_run {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let began = self.inner.env.clock.monotonic();
        let tenant = permit.caller().tenant;
        let rules = self.retention_rules(tenant);
        // A sweep of a part does not know of the whole, and one that removes nothing has not been anywhere.
        let moves = asked.scope.is_none() && asked.older_than_us.is_none() && !asked.dry_run;
        let from = match asked.scope.is_some() || asked.older_than_us.is_some() || asked.rescan {
            true => None,
            false => desk.cursor(tenant, rules.offset()),
        };
        let mut done = Swept::begun(&asked, from, self.inner.shared.applied.offset());
        if permit.planned_rules().is_some_and(|planned| planned != rules.offset()) {
            return Ok(Arc::new(Swept { stopped: Some(Stopped::Rules), ..done }));
        }
        let held = self.held(tenant).await?;
        let over = Ended { after: None, by: RecordedAt(asked.now) };
        let ended = self.ended_by_themselves(tenant, over, &asked).await?;
        let counted: Arc<BTreeSet<EventId>> =
            Arc::new(ended.gone.values().flatten().copied().collect());
        self.let_go(forgets.as_ref().filter(|_| !asked.dry_run), noted, (ended, &held), &mut done)
            .await?;
        let mut at = Some(from.unwrap_or(Cursor { scope: 0, after: None }));
        while let Some(cursor) = at {
            if done.scanned >= asked.events_max {
                done.stopped = Some(Stopped::Events);
            } else if self.inner.env.clock.monotonic().0 - began.0 >= BUDGET_US {
                done.stopped = Some(Stopped::Time);
            }
            if done.stopped.is_some() {
                break;
            }
            let (rules, question, counted) =
                (Arc::clone(&rules), asked.clone(), Arc::clone(&counted));
            let deployment = self.retention_default();
            let step = self.blocking(move |inner| {
                let (rules, asked, counted) = (&*rules, &question, &*counted);
                let spans = &MisdatedSpans::read(&inner.views)?;
                let purpose = Purpose::Sweep;
                let terms = Terms { rules, asked, deployment, counted, spans, purpose };
                inner.retention_step(tenant, &terms, cursor)
            });
            let step = step.await?;
            at = step.next;
            self.let_go(
                forgets.as_ref().filter(|_| !asked.dry_run),
                noted,
                (step, &held),
                &mut done,
            )
            .await?;
        }
        done.cursor_after = at.filter(|_| done.stopped.is_some());
        done.elapsed_us = self.inner.env.clock.monotonic().0 - began.0;
        let done = Arc::new(done);
        desk.swept(tenant, rules.offset(), &done, moves);
        Ok(done)
    }

    /// Has what a step found forgotten, and counts it. What cannot be forgotten is told and stays for the next sweep.
    async fn let_go(
        &self,
        forgets: Option<&crate::forget::ForgetPermit>,
        noted: &Noted,
        (mut step, held): (Step, &[ScopePath]),
        done: &mut Swept,
    ) -> Result<(), Error> {
        done.expired += step.expired();
        step.gone.retain(|scope, ids| {
            let stays = held.iter().any(|above| above.contains(scope));
            done.held += if stays { ids.len() as u64 } else { 0 };
            !stays
        });
        done.scanned += step.scanned;
        done.kept_forever += step.kept_forever;
        let Some(permit) = forgets else { return Ok(()) };
        for (scope, ids) in step.gone {
            let memory_ids: Vec<MemoryId> = ids.into_iter().map(MemoryId::Event).collect();
            let requested = memory_ids.len() as u64;
            let selector = Selector { memory_ids, ..Selector::default() };
            let forget =
                Forget { scope, layers: Layers::ALL, selector, cascade: Cascade::RedactEvents };
            let asked = ForgetAsked { forget, requested, preview: None, idempotency_key: None };
            match self.forget_unawaited(permit.clone(), asked, noted.clone()).await {
                Ok(forgotten) => done.erased += forgotten.deleted.events,
                Err(Error::ShuttingDown) => return Err(Error::ShuttingDown),
                Err(error) => done.errors.push(error.to_string()),
            }
        }
        Ok(())
    }

    /// The scopes that a legal hold is on, as far as they have a path; it holds below them too.
    pub(crate) async fn held(&self, tenant: u32) -> Result<Vec<ScopePath>, Error> {
        self.blocking(move |inner| {
            let mut held = Vec::new();
            for scope in inner.hold_scopes(tenant)? {
                held.extend(inner.path_within(tenant, scope, None)?);
            }
            Ok(held)
        })
        .await
    }

    /// The events that came with a time of their own and are past it.
    pub(super) async fn ended_by_themselves(
        &self,
        tenant: u32,
        ended: Ended,
        asked: &SweepAsked,
    ) -> Result<Step, Error> {
        let (within, now) = (asked.scope.clone(), asked.now);
        let most = usize::try_from(asked.events_max).unwrap_or(usize::MAX);
        self.blocking(move |inner| {
            let mut step = Step::default();
            let spans = MisdatedSpans::read(&inner.views)?;
            for offset in past(&inner.views, tenant, ended, most)? {
                let Some((_, id)) = inner.views.event_at(offset)? else { continue };
                let Some(row) = inner.views.event(tenant, id)? else { continue };
                let Some(path) = inner.path_within(tenant, row.scope, within.as_ref())? else {
                    continue;
                };
                let recorded = spans.recorded_by(offset, row.recorded_at, now);
                let younger_us = recorded.0.saturating_sub(row.recorded_at.0.0);
                if younger_us > 0
                    && end_of(&inner.views, tenant, offset)?
                        .is_some_and(|end| end.plus(younger_us) > ended.by.0)
                {
                    continue;
                }
                step.scanned += 1;
                step.gone.entry(path).or_default().push(id);
            }
            Ok(step)
        })
        .await
    }
}

/// What events are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To let them go.
    Sweep,
    /// To count them, but for those that were due by then: they are approved.
    Plan(Option<Micros>),
}

/// By what a sweep judges.
pub(super) struct Terms<'a> {
    pub(super) rules: &'a Rules,
    pub(super) asked: &'a SweepAsked,
    pub(super) deployment: Keep,
    /// Events that are past a time of their own, and need not be looked at again.
    pub(super) counted: &'a BTreeSet<EventId>,
    /// Where events are younger than their dates.
    pub(super) spans: &'a MisdatedSpans,
    pub(super) purpose: Purpose,
}

impl Terms<'_> {
    fn is_new(&self, row: &EventRow) -> bool {
        !self.counted.contains(&row.id)
    }
}

/// What holds for the events of one scope: how long, for those of a source and for the rest.
struct Judge {
    now: Micros,
    /// What was due by then does not count.
    approved: Option<Micros>,
    rest_us: Option<i64>,
    sources: Vec<(Tag, Option<i64>)>,
}

impl Judge {
    /// How long an event is kept; `None` for good.
    fn lasts_us(&self, row: &EventRow) -> Option<i64> {
        let tags = row.facets.as_ref().map(|facets| facets.tags.as_slice()).unwrap_or_default();
        let mut own = self.sources.iter().filter(|(tag, _)| tags.contains(tag)).peekable();
        if own.peek().is_none() {
            return self.rest_us;
        }
        // Of several sources the shortest counts; one that is kept for good does not shorten the others.
        own.filter_map(|(_, us)| *us).min()
    }

    fn judge(&self, spans: &MisdatedSpans, row: &EventRow, path: &ScopePath, step: &mut Step) {
        step.scanned += 1;
        let recorded = spans.recorded_by(row.offset, row.recorded_at, self.now);
        match self.lasts_us(row) {
            None => step.kept_forever += 1,
            Some(us) if self.is_due(recorded.plus(us)) => {
                step.gone.entry(path.clone()).or_default().push(row.id);
            }
            Some(_) => {}
        }
    }

    fn is_due(&self, end: Micros) -> bool {
        end <= self.now && self.approved.is_none_or(|approved| end > approved)
    }
}

impl Inner {
    /// The path of a scope, if it is within another one; `None` also if its words are gone.
    fn path_within(
        &self,
        tenant: u32,
        ordinal: u64,
        within: Option<&ScopePath>,
    ) -> Result<Option<ScopePath>, Error> {
        match self.scope_path(tenant, ordinal) {
            Ok(path) => Ok(Some(path).filter(|path| within.is_none_or(|all| all.contains(path)))),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Looks at the next events from a position on.
    pub(super) fn retention_step(
        &self,
        tenant: u32,
        terms: &Terms<'_>,
        from: Cursor,
    ) -> Result<Step, Error> {
        let mut step = Step::default();
        let mut scopes = match from.after {
            Some(_) => vec![from.scope],
            None => self.scopes_from(tenant, terms, from.scope)?,
        };
        let mut after = from.after;
        while let Some(scope) = scopes.first().copied() {
            let left = STEP.saturating_sub(usize::try_from(step.scanned).unwrap_or(STEP));
            if left == 0 {
                step.next = Some(Cursor { scope, after });
                return Ok(step);
            }
            let paused = self.retention_scope(tenant, terms, (scope, after), left, &mut step)?;
            if let Some(paused) = paused {
                step.next = Some(Cursor { scope, after: Some(paused) });
                return Ok(step);
            }
            after = None;
            scopes.remove(0);
            if scopes.is_empty() {
                scopes = self.scopes_from(tenant, terms, scope + 1)?;
            }
        }
        Ok(step)
    }

    /// The next scopes, from an ordinal on.
    fn scopes_from(&self, tenant: u32, terms: &Terms<'_>, from: u64) -> Result<Vec<u64>, Error> {
        let after = from.checked_sub(1);
        Ok(match &terms.asked.scope {
            Some(scope) => self.views.scopes_below(tenant, scope, after, SCOPES_READ)?,
            None => self.views.scopes(tenant, after, SCOPES_READ)?,
        })
    }

    /// Looks at the next events of one scope; gives where to go on in it.
    fn retention_scope(
        &self,
        tenant: u32,
        terms: &Terms<'_>,
        (scope, after): (u64, Option<ScanKey>),
        left: usize,
        step: &mut Step,
    ) -> Result<Option<ScanKey>, Error> {
        let Some(path) = self.path_within(tenant, scope, terms.asked.scope.as_ref())? else {
            return Ok(None);
        };
        let Some((judge, shortest_us)) = self.judge(tenant, terms, &path)? else { return Ok(None) };
        let before = RecordedAt(terms.asked.now.plus(1 - shortest_us));
        if after.is_none() && terms.purpose == Purpose::Sweep {
            // What was cancelled is in no list; its words are there all the same.
            for row in self.views.events_cancelled(tenant, scope)? {
                if !row.is_erased() && row.recorded_at < before && terms.is_new(&row) {
                    judge.judge(terms.spans, &row, &path, step);
                }
            }
        }
        let scan = EventScan {
            recorded_to: Some(before),
            after,
            ..EventScan::recorded(tenant, vec![scope], Direction::Forward, left)
        };
        let page = self.views.event_scan(&scan)?;
        for row in page.rows.iter().filter(|row| terms.is_new(row)) {
            judge.judge(terms.spans, row, &path, step);
        }
        Ok(page.next)
    }

    /// What holds in a scope; `None` if nothing there ever goes.
    fn judge(
        &self,
        tenant: u32,
        terms: &Terms<'_>,
        path: &ScopePath,
    ) -> Result<Option<(Judge, i64)>, Error> {
        let now = terms.asked.now;
        let approved = match terms.purpose {
            Purpose::Sweep => None,
            Purpose::Plan(approved) => approved,
        };
        if let Some(us) = terms.asked.older_than_us {
            return Ok(Some((Judge { now, approved, rest_us: Some(us), sources: Vec::new() }, us)));
        }
        let lasting = Lasting::of(terms.rules.all().iter(), path, terms.deployment);
        let Some(shortest) = lasting.shortest_us() else { return Ok(None) };
        let mut sources = Vec::with_capacity(lasting.sources.len());
        for (name, keep) in &lasting.sources {
            let label = format!("source:{name}");
            sources.push((self.views.tag_label(tenant, &label)?, keep.micros()));
        }
        Ok(Some((Judge { now, approved, rest_us: lasting.keep.micros(), sources }, shortest)))
    }
}
