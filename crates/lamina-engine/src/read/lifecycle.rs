//! Lifecycle history: what happened to an event, and how far it has come.

use std::time::Duration;

use lamina_core::policy::Permit;
use lamina_store::codec::control::By;
use lamina_store::kv::Direction;
use lamina_store::view::LifecycleRow;
use lamina_types::capability::{LifecycleSubscribe, ScopeReadLocal};
use lamina_types::{
    EventId, LifecycleEvent, LifecycleId, LifecycleKind, ScopePath, Stage, lifecycle::Payload,
};

use crate::admin::Sight;
use crate::engine::Inner;
use crate::read::{LifecycleFilter, LifecyclePage, MemoryEvent, Progress, Shown};
use crate::write::Until;
use crate::{Engine, Error};

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = 20_000;
/// The stages that every event goes through; `compressed` belongs to its episode.
const STAGES: &[Stage] = &[Stage::Captured, Stage::Extracted, Stage::Indexed, Stage::Consolidated];

impl Engine {
    /// One lifecycle event.
    pub fn lifecycle_event(
        &self,
        permit: &Permit<LifecycleSubscribe>,
        id: LifecycleId,
    ) -> Result<Shown, Error> {
        let tenant = permit.caller().tenant;
        let row = self.inner.views.lifecycle_get(tenant, id)?;
        self.inner.show(tenant, &row.ok_or(Error::NotFound)?)
    }

    /// Where a lifecycle event belongs, to ask the policy for a permit.
    pub fn lifecycle_home(&self, tenant: u32, id: LifecycleId) -> Result<ScopePath, Error> {
        let row = self.inner.views.lifecycle_get(tenant, id)?;
        Ok(self.inner.show(tenant, &row.ok_or(Error::NotFound)?)?.event.scope)
    }

    /// One page of lifecycle events in sight, oldest first, after `after`. Of what the caller may not
    /// read nothing is told, not even that something became of it (C35).
    pub fn lifecycle_list(
        &self,
        (sight, reads): (&mut Sight<LifecycleSubscribe>, &mut Sight<ScopeReadLocal>),
        filter: &LifecycleFilter,
        after: Option<LifecycleId>,
        limit: usize,
    ) -> Result<LifecyclePage, Error> {
        let filter = LifecycleFilter { tenant: sight.caller().tenant, ..filter.clone() };
        let mut sees = |scope| Ok(sight.sees(scope)? && reads.sees(scope)?);
        self.inner.lifecycle_page(&filter, after, limit, &mut sees)
    }

    /// Everything the lifecycle knows about an event.
    pub async fn memory_event(
        &self,
        permit: &Permit<LifecycleSubscribe>,
        event: EventId,
    ) -> Result<MemoryEvent, Error> {
        let tenant = permit.caller().tenant;
        let progress = self.progress(tenant, event).await?;
        if self.inner.event_row(tenant, event)?.is_erased() {
            return Err(Error::Deleted);
        }
        let rows = self.inner.views.lifecycle_of_event(tenant, event)?;
        let rows =
            rows.iter().map(|row| self.inner.show(tenant, row)).collect::<Result<Vec<_>, _>>()?;
        Ok(MemoryEvent { event_id: event, progress, rows })
    }

    /// How far an event has come.
    pub async fn progress(&self, tenant: u32, event: EventId) -> Result<Progress, Error> {
        self.inner.caught_up().await;
        let row = self.inner.event_row(tenant, event)?;
        // Rows last: an event that is through has all of them.
        let watermark = self.inner.views.pipeline_watermark()?;
        let exception = self.inner.views.exception(tenant, event)?;
        let through = row.offset < watermark && exception.is_none();
        let rows = self.inner.views.lifecycle_of_event(tenant, event)?;
        Ok(progress_of(&rows, through, row.is_excluded()))
    }

    /// Waits until an event has come that far, or will not, or time is up.
    pub async fn wait_for(
        &self,
        tenant: u32,
        event: EventId,
        until: Until,
        timeout: Duration,
    ) -> Result<Progress, Error> {
        let deadline = tokio::time::Instant::now() + timeout;
        let waiter = self.inner.hub.waiter(event);
        loop {
            let notified = waiter.notify.notified();
            tokio::pin!(notified);
            // Registered before the state is read, so that nothing can happen in between unseen.
            notified.as_mut().enable();
            let progress = self.progress(tenant, event).await?;
            if reached(&progress, until)
                || tokio::time::timeout_at(deadline, notified).await.is_err()
            {
                return Ok(progress);
            }
        }
    }
}

impl Progress {
    /// The stages of every event that this one has neither completed nor given up on.
    pub(crate) fn never_ran(&self) -> Vec<Stage> {
        let ran = |stage: &Stage| {
            self.completed.contains(stage) || self.failed.iter().any(|(failed, _)| failed == stage)
        };
        STAGES.iter().copied().filter(|stage| !ran(stage)).collect()
    }
}

fn reached(progress: &Progress, until: Until) -> bool {
    match until {
        Until::Settled => progress.settled,
        Until::Stage(stage) => {
            progress.settled
                || progress.completed.contains(&stage)
                || progress.failed.iter().any(|(failed, _)| *failed == stage)
        }
    }
}

/// `through`: the pipeline has finished with the event; its rows may have expired since.
fn progress_of(rows: &[LifecycleRow], through: bool, excluded: bool) -> Progress {
    let mut progress = Progress {
        completed: vec![Stage::Captured],
        settled: through,
        cancelled: excluded,
        ..Progress::default()
    };
    let mut last_at = None;
    for row in rows {
        match row.kind {
            LifecycleKind::Stage(stage) => {
                if !progress.completed.contains(&stage) {
                    progress.completed.push(stage);
                }
                progress
                    .elapsed_us
                    .extend(last_at.map(|last: lamina_types::Micros| (stage, row.at.0 - last.0)));
                last_at = Some(row.at);
            }
            LifecycleKind::Failed(stage) => {
                let attempts = match row.payload {
                    Payload::Failed { attempts } => attempts,
                    _ => 0,
                };
                progress.failed.push((stage, attempts));
            }
            LifecycleKind::Cancelled => {
                progress.cancelled = true;
                progress.settled = true;
            }
            _ => {}
        }
    }
    let missing = progress.never_ran();
    // Rows say so before the watermark does, which waits for every event before this one, also for
    // those of other tenants.
    progress.settled |= missing.is_empty();
    if through && !progress.cancelled {
        progress.completed.extend(missing);
    } else if !progress.settled {
        progress.pending = missing;
    }
    progress.completed.sort_unstable();
    progress
}

impl Inner {
    /// The last thing that was announced in a tenant.
    pub(crate) fn lifecycle_last(&self, tenant: u32) -> Result<Option<LifecycleId>, Error> {
        let mut last = None;
        self.views.lifecycle_scan(tenant, None, Direction::Backward, 1, &mut |row| {
            last = Some(row.id);
            std::ops::ControlFlow::Break(())
        })?;
        Ok(last)
    }

    pub(crate) fn lifecycle_page(
        &self,
        filter: &LifecycleFilter,
        after: Option<LifecycleId>,
        limit: usize,
        sees: &mut dyn FnMut(u64) -> Result<bool, Error>,
    ) -> Result<LifecyclePage, Error> {
        let mut page = LifecyclePage { items: Vec::new(), has_more: false, next: after };
        if filter.nothing {
            return Ok(page);
        }
        let scope = match &filter.scope {
            None => None,
            Some(scope) => match self.views.scope_ordinal(filter.tenant, scope)? {
                None => return Ok(page),
                found => found,
            },
        };
        let mut looked_at = 0;
        let mut rows = Vec::new();
        let mut failed = None;
        self.views.lifecycle_scan(
            filter.tenant,
            after,
            Direction::Forward,
            usize::MAX,
            &mut |row| {
                looked_at += 1;
                if looked_at > ROWS_LOOKED_AT_MAX {
                    page.has_more = true;
                    return std::ops::ControlFlow::Break(());
                }
                let passes = scope.is_none_or(|scope| scope == row.scope)
                    && filter.event.is_none_or(|event| event == row.event_id)
                    && filter.is_of_erasure(&row.payload)
                    && filter.is_of_import(&row.payload)
                    && filter.is_of_export(&row.payload)
                    && filter.batch.is_none_or(|batch| Some(batch) == row.batch_id)
                    && filter
                        .kinds
                        .as_ref()
                        .is_none_or(|kinds| kinds.iter().any(|kind| kind == row.kind.as_str()));
                match passes.then(|| sees(row.scope)) {
                    // There is more only if there is more to show.
                    Some(Ok(true)) if rows.len() == limit => {
                        page.has_more = true;
                        return std::ops::ControlFlow::Break(());
                    }
                    Some(Ok(true)) => {
                        page.next = Some(row.id);
                        rows.push(row);
                        return std::ops::ControlFlow::Continue(());
                    }
                    Some(Err(error)) => {
                        failed = Some(error);
                        return std::ops::ControlFlow::Break(());
                    }
                    Some(Ok(false)) | None => page.next = Some(row.id),
                }
                std::ops::ControlFlow::Continue(())
            },
        )?;
        if let Some(error) = failed {
            return Err(error);
        }
        for row in &rows {
            page.items.push(self.show(filter.tenant, row)?);
        }
        Ok(page)
    }

    /// A row with its words, fetched from the log while they are there.
    pub(crate) fn show(&self, tenant: u32, row: &LifecycleRow) -> Result<Shown, Error> {
        let captured = matches!(row.kind, LifecycleKind::Stage(Stage::Captured));
        let entry = self.reader.entry(row.event_offset, row.event_place)?;
        if !row.kind.is_of_event() {
            let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
            let scope = self.scope_path(tenant, row.scope)?;
            let event = shown_event(row, scope);
            return Ok(Shown { tenant, event, actor: by.map(|by| by.caller), modality: None });
        }
        let what = match self.decode_what(&entry) {
            Ok(what) => Some(what),
            Err(Error::Deleted) => None,
            Err(error) => return Err(error),
        };
        let who = if captured { self.decode_who(&entry).ok() } else { None };
        let (scope, modality) = match what {
            Some(what) => (what.scope, Some(what.modality.0)),
            None => (self.scope_path(tenant, row.scope)?, None),
        };
        Ok(Shown {
            tenant,
            event: shown_event(row, scope),
            actor: who.map(|who| who.observed_actor.id),
            modality: modality.filter(|_| captured),
        })
    }

    /// The path of a scope, from the entry that registered it.
    pub(crate) fn scope_path(&self, tenant: u32, ordinal: u64) -> Result<ScopePath, Error> {
        let asked = match self.shared.texts.path(tenant, ordinal) {
            Ok(path) => return Ok(path),
            Err(asked) => asked,
        };
        let row = self.views.scope_row(tenant, ordinal)?.ok_or(Error::NotFound)?;
        let entry = self.reader.entry(row.offset, row.place)?;
        let bytes = entry.what.live().ok_or(Error::Deleted)?;
        let scope = lamina_store::codec::control::Scope::decode(bytes);
        let path = scope.map_err(|_| Error::Undecodable { what: "a scope" })?.path;
        self.shared.texts.put_path(tenant, ordinal, asked, &path);
        Ok(path)
    }
}

fn shown_event(row: &LifecycleRow, scope: ScopePath) -> LifecycleEvent {
    LifecycleEvent {
        id: row.id,
        kind: row.kind,
        event_id: row.event_id,
        scope,
        at: row.at,
        seq: row.seq,
        batch_id: row.batch_id,
        payload: row.payload.clone(),
    }
}

#[cfg(test)]
mod tests;
