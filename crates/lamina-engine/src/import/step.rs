//! A step: rows that are new are written together with their identities.

use std::collections::HashMap;

use lamina_core::policy::Permit;
use lamina_store::codec::control::{ImportCounts, ImportFailure, ImportIdentity, ImportStep};
use lamina_store::entry::{Kind, control};
use lamina_store::log::{NewEntry, Section};
use lamina_store::view::Tag;
use lamina_types::capability::ScopeWrite;
use lamina_types::{AuditId, EventId};
use tokio::sync::oneshot;

use super::decide::{DecidedRow, Earlier};
use super::{
    IMPORT_APPEND_BYTES_MAX, IMPORT_STEP_ROWS_MAX, ImportJob, ImportRow, ImportStepRequest,
    ImportStepped, PlannedRows, RowOutcome,
};
use crate::write::Write;
use crate::write::capture::{Placed, PreparedWrite, Request};
use crate::write::experience::{is_forged, seated};
use crate::write::prepare::{Provenance, prepare_row, section};
use crate::{Engine, Error};

/// Rows of one append.
#[derive(Debug, Default)]
struct Append {
    writes: Vec<RowWrite>,
    bytes: usize,
}

/// A row that is about to be written.
#[derive(Debug)]
struct RowWrite {
    /// Its index in the step.
    index: usize,
    decided: DecidedRow,
    is_replacement: bool,
}

/// A row that is to be encoded and sealed.
#[derive(Debug)]
struct PendingRow {
    provenance: Provenance,
    row: Write,
    identity: ImportIdentity,
}

/// A step at work.
#[derive(Debug)]
struct StepState<'a> {
    job: &'a ImportJob,
    permits: &'a [Permit<ScopeWrite>],
    counts: ImportCounts,
    failures: Vec<ImportFailure>,
    outcomes: Vec<Option<RowOutcome>>,
    /// Rows that this step has put into an append.
    taken: PlannedRows,
    /// The newest events of rows that this step has written.
    fresh: HashMap<Tag, EventId>,
    append: Append,
}

impl Engine {
    /// Writes the rows that are new. Each append has its events and their identities, all or none; a
    /// step with many words is several appends.
    pub async fn import_step(
        &self,
        job: &ImportJob,
        permits: &[Permit<ScopeWrite>],
        step: ImportStepRequest,
    ) -> Result<ImportStepped, Error> {
        let ImportStepRequest { rows, before, fraction, failures, erased } = step;
        if rows.len() > IMPORT_STEP_ROWS_MAX {
            return Err(Error::TooLarge { limit: "IMPORT_STEP_ROWS_MAX" });
        }
        if !rows.iter().all(|row| self.is_row_permitted(job, permits, row)) {
            return Err(Error::OutsidePermit);
        }
        let _turn = self.inner.admin.importing.turn.lock().await;
        if self.import_is_stopped(job) {
            return Err(Error::ImportStopped);
        }
        self.inner.caught_up().await;
        let names = self.inner.row_names(job.grant.tenant, &job.format)?;
        let decided = move |inner: &crate::engine::Inner| inner.decide_rows(&names, rows, erased);
        let decided = self.blocking(decided).await?;
        let mut state = StepState {
            job,
            permits,
            counts: before,
            failures,
            outcomes: vec![None; decided.len()],
            taken: PlannedRows::default(),
            fresh: HashMap::new(),
            append: Append::default(),
        };
        for (index, row) in decided.into_iter().enumerate() {
            self.take_row(&mut state, index, row).await?;
        }
        state.counts.fraction = fraction;
        self.append_rows(&mut state).await?;
        let outcomes = state.outcomes.into_iter().map(|outcome| outcome.ok_or(Error::NotFound));
        Ok(ImportStepped { outcomes: outcomes.collect::<Result<_, _>>()?, counts: state.counts })
    }

    fn is_row_permitted(
        &self,
        job: &ImportJob,
        permits: &[Permit<ScopeWrite>],
        row: &ImportRow,
    ) -> bool {
        let own = permits.iter().find(|permit| permit.covers(&row.experience.scope));
        own.is_some_and(|permit| {
            permit.caller().actor == job.grant.actor
                && permit.caller().tenant == job.grant.tenant
                && !is_forged(&row.experience, permit.speaks_as_system())
        })
    }

    /// Counts a row, and puts it into the append if it is new.
    async fn take_row(
        &self,
        state: &mut StepState<'_>,
        index: usize,
        mut row: DecidedRow,
    ) -> Result<(), Error> {
        let position = row.row.position;
        // A row of this very append has no event yet that another could name.
        let waits = state.taken.has_name(&row.identity.name)
            && !state.fresh.contains_key(&row.identity.name);
        let follows = row.precedes.iter().any(|preceding| {
            state.taken.has_name(&preceding.name) && !state.fresh.contains_key(&preceding.name)
        });
        if waits || follows || state.append.is_full(&row) {
            self.append_rows(state).await?;
        }
        let fresh = state.fresh.get(&row.identity.name).copied();
        if let Some(event) = fresh.filter(|_| row.earlier != Earlier::Erased) {
            let is_same = state.taken.has(&row.identity);
            row.earlier = if is_same { Earlier::Same(event) } else { Earlier::Other(event) };
        }
        for preceding in &mut row.precedes {
            preceding.event = state.fresh.get(&preceding.name).copied().or(preceding.event);
        }
        let outcome = match row.earlier {
            Earlier::Same(event) => Some(RowOutcome::Known(event)),
            Earlier::Erased => Some(RowOutcome::Erased),
            Earlier::Nothing | Earlier::Other(_) => None,
        };
        match outcome {
            Some(RowOutcome::Erased) => {
                state.counts.erased += 1;
                state.counts.failed += 1;
            }
            Some(_) => state.counts.known += 1,
            None => {}
        }
        if outcome.is_some() {
            state.counts.position = position;
            if let Some(place) = state.outcomes.get_mut(index) {
                *place = outcome;
            }
            return Ok(());
        }
        state.taken.add(&row.identity);
        state.append.push(index, row);
        Ok(())
    }

    /// Appends the rows that were taken, with their identities and the progress.
    async fn append_rows(&self, state: &mut StepState<'_>) -> Result<(), Error> {
        let writes = std::mem::take(&mut state.append).writes;
        let mut step = ImportStep {
            id: state.job.id,
            counts: state.counts,
            failures: std::mem::take(&mut state.failures),
            identities: writes.iter().map(|write| write.decided.identity).collect(),
            replaced: Vec::new(),
        };
        let counts = &mut step.counts;
        for (at, write) in writes.iter().enumerate() {
            if write.is_replacement {
                step.replaced.push(at as u64);
            }
            counts.position = counts.position.max(write.decided.row.position);
        }
        counts.replaced += step.replaced.len() as u64;
        counts.written += (writes.len() - step.replaced.len()) as u64;
        let indexes: Vec<usize> = writes.iter().map(|write| write.index).collect();
        // One row of the audit log for each append, as for a bulk write.
        let audit_id = self.inner.audit_id();
        let items = self.prepare_rows(state, writes, audit_id).await?;
        let events = self.submit_step(state.job, items, &step).await?;
        if let Some(permit) = state.permits.first().filter(|_| !events.is_empty()) {
            let scope = state.job.scope.as_ref();
            self.audit(self.audit_row_of(permit, scope, "import", audit_id));
        }
        for (at, (index, placed)) in indexes.into_iter().zip(events).enumerate() {
            let event = placed.event_id;
            if let Some(identity) = step.identities.get(at) {
                state.fresh.insert(identity.name, event);
            }
            if let Some(outcome) = state.outcomes.get_mut(index) {
                *outcome = Some(match step.replaced.binary_search(&(at as u64)) {
                    Ok(_) => RowOutcome::Replaced(event),
                    Err(_) => RowOutcome::Written(event),
                });
            }
        }
        state.counts = step.counts;
        Ok(())
    }

    /// Encodes and seals rows, beside the threads that serve requests.
    async fn prepare_rows(
        &self,
        state: &StepState<'_>,
        writes: Vec<RowWrite>,
        audit_id: AuditId,
    ) -> Result<Vec<PreparedWrite>, Error> {
        let Some(first) = state.permits.first() else { return Ok(Vec::new()) };
        let base = Provenance { audit_id, ..self.provenance(first, None) };
        let mut rows = Vec::with_capacity(writes.len());
        for write in writes {
            let scope = &write.decided.row.experience.scope;
            let permit = state.permits.iter().find(|permit| permit.covers(scope));
            let permit = permit.ok_or(Error::OutsidePermit)?;
            let provenance = Provenance {
                registers: permit.registers(),
                as_system: permit.speaks_as_system(),
                decision: permit.capability().to_owned(),
                ..base.clone()
            };
            let identity = write.decided.identity;
            let row = seated(first.caller(), row_write(state.job, write))?;
            rows.push(PendingRow { provenance, row, identity });
        }
        let tenant = base.tenant;
        self.blocking(move |inner| {
            let keyed = inner.keyed(tenant)?;
            let rng = &*inner.env.rng;
            let prepare = |pending: PendingRow| {
                let PendingRow { provenance, row, identity } = pending;
                prepare_row(rng, &keyed, &provenance, row, &identity)
            };
            Ok(rows.into_iter().map(prepare).collect())
        })
        .await
    }

    async fn submit_step(
        &self,
        job: &ImportJob,
        items: Vec<PreparedWrite>,
        step: &ImportStep,
    ) -> Result<Vec<Placed>, Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::IMPORT_STEP,
            tenant: job.grant.tenant,
            scope: job.ordinal,
            causes: Vec::new(),
            who: Section::absent(),
            what: section(&*self.inner.env.rng, &step.encode()),
        };
        let (reply, answer) = oneshot::channel();
        let request = Request::Import { items, step: Box::new(entry), reply };
        self.inner.submit(request, answer).await
    }
}

impl Append {
    /// Whether a further row belongs into the next append.
    fn is_full(&self, next: &DecidedRow) -> bool {
        !self.writes.is_empty() && self.bytes + words(&next.row) > IMPORT_APPEND_BYTES_MAX
    }

    fn push(&mut self, index: usize, decided: DecidedRow) {
        self.bytes += words(&decided.row);
        let is_replacement = matches!(decided.earlier, Earlier::Other(_));
        self.writes.push(RowWrite { index, decided, is_replacement });
    }
}

/// Bytes of the words of a row, roughly.
fn words(row: &ImportRow) -> usize {
    let experience = &row.experience;
    let labels: usize = experience.context.labels.iter().map(String::len).sum();
    let rest = [&experience.source, &experience.origin, &experience.context.refers_to];
    let rest: usize = rest.into_iter().flatten().map(String::len).sum();
    experience.content.text().len() + labels + rest
}

/// The write of a row: events that it follows from stand in its context.
fn row_write(job: &ImportJob, write: RowWrite) -> Write {
    let DecidedRow { row, earlier, precedes, .. } = write.decided;
    let mut experience = row.experience;
    let before = match earlier {
        Earlier::Other(event) => Some(event),
        _ => None,
    };
    let events = before.into_iter().chain(precedes.iter().filter_map(|found| found.event));
    for event in events {
        let preceded_by = &mut experience.context.preceded_by;
        let is_new = !preceded_by.contains(&event);
        if is_new && preceded_by.len() < lamina_types::limits::PRECEDED_BY_MAX {
            preceded_by.push(event);
        }
    }
    Write {
        experience,
        key_drawn: true,
        identity: row.identity,
        request_id: job.request_id.clone(),
    }
}
