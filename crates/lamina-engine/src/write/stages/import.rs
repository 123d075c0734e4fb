//! Announcements of imports: progress, rows that were refused, the end.

use lamina_store::codec::control::{ImportCounts, ImportEnded, ImportOutcome, ImportStep};
use lamina_store::entry::{Entry, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_types::lifecycle::{ImportReached, Payload};
use lamina_types::{ErrorCode, ImportId, LifecycleKind};

use super::Stages;
use super::forget::of_scope;
use crate::derive::imports::ImportJobRow;
use crate::derive::key;
use crate::derive::read::row;

impl Stages {
    /// Announces the progress of an import, once.
    pub(super) fn importing(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let Some(what) = entry.what.live() else { return Ok(()) };
        let step = match head.sub {
            control::IMPORT_STEP => ImportStep::decode(what).ok(),
            _ => None,
        };
        let ended = match head.sub {
            control::IMPORT_ENDED => ImportEnded::decode(what).ok(),
            _ => None,
        };
        let (id, counts) = match (&step, &ended) {
            (Some(step), _) => (step.id, step.counts),
            (_, Some(ended)) => (ended.id, ended.counts),
            _ => return Ok(()),
        };
        let stored = key::imports::import(head.tenant, id);
        let Some(job) = row(&self.views, Space::Records, &stored, ImportJobRow::decode)? else {
            return Ok(());
        };
        // Before its first row an import with a template is of no scope.
        if job.home == SYSTEM_SCOPE {
            return Ok(());
        }
        let mut flight = of_scope(entry);
        flight.scope_ordinal = job.home;
        if head.offset < self.recheck_below && !self.rows_of(&flight)?.is_empty() {
            return Ok(());
        }
        for failure in step.iter().flat_map(|step| &step.failures) {
            let found = ErrorCode::ALL.iter().find(|code| code.as_str() == failure.code);
            let code = found.copied().unwrap_or(ErrorCode::Internal);
            let payload = Payload::ImportError { import: id, line: failure.line, code };
            self.announce(&mut flight, LifecycleKind::ImportError, payload)?;
        }
        let kind = match ended {
            Some(_) => LifecycleKind::ImportComplete,
            None => LifecycleKind::ImportProgress,
        };
        let reached = reached(id, counts, ended.map(|ended| ended.outcome));
        self.announce(&mut flight, kind, Payload::Import(Box::new(reached)))
    }
}

fn reached(
    import: ImportId,
    counts: ImportCounts,
    outcome: Option<ImportOutcome>,
) -> ImportReached {
    let ImportCounts {
        position,
        fraction,
        total,
        written,
        known,
        replaced,
        erased: _,
        skipped,
        failed,
    } = counts;
    ImportReached {
        import,
        done: fraction,
        processed: position,
        total,
        counts: [written, known, replaced, skipped, failed],
        outcome: outcome.map_or(0, |outcome| outcome as u8),
    }
}
