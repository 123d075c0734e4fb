//! The state of jobs, and those that a stop of the server left unfinished.

use std::collections::HashSet;
use std::ops::ControlFlow;

use lamina_store::codec::control::{ImportEnded, ImportOutcome};
use lamina_store::kv::{Direction, Space};
use lamina_types::ImportId;

use super::{ImportEnd, ImportJob, ImportStatus};
use crate::derive::imports::{EntryAt, ImportJobRow};
use crate::derive::key;
use crate::derive::read::walk;
use crate::engine::Inner;
use crate::{Engine, Error};

/// The report of a job whose staged source is gone.
const SOURCE_GONE: &str = r#"{"error":"the staged source is gone"}"#;

impl Engine {
    /// The state of a job.
    pub async fn import_status(&self, tenant: u32, id: ImportId) -> Result<ImportStatus, Error> {
        self.inner.caught_up().await;
        let row = self.inner.import_row(tenant, id)?.ok_or(Error::NotFound)?;
        let job = self.inner.import_job(tenant, id, &row)?;
        let report = row.ended.map(|ended| self.inner.import_report(ended.at)).transpose()?;
        Ok(ImportStatus {
            job,
            outcome: row.ended.map(|ended| ended.outcome),
            counts: row.counts,
            report: report.flatten(),
            began_at: row.began_at,
            changed_at: row.changed_at,
        })
    }

    /// Jobs that are not over, oldest first; to be asked for at the start, before sources arrive. A job
    /// without its source ends here; a source without a job is removed.
    pub async fn imports_unfinished(&self) -> Result<Vec<ImportJob>, Error> {
        self.inner.caught_up().await;
        let jobs = self.blocking(Inner::running_imports).await?;
        let mut unfinished = Vec::new();
        for job in jobs {
            if self.import_file(&job.staged).is_ok() {
                unfinished.push(job);
                continue;
            }
            let (outcome, report) = (ImportOutcome::Failed, SOURCE_GONE.to_owned());
            let end = ImportEnd { outcome, counts: job.counts, report };
            self.import_end(&job, end).await?;
        }
        let named: HashSet<[u8; 16]> = unfinished.iter().map(|job| job.staged.file).collect();
        self.blocking(move |inner| inner.sweep_staging(&named)).await?;
        Ok(unfinished)
    }
}

impl Inner {
    /// The report of a job that is over; `None` if it was erased.
    fn import_report(&self, at: EntryAt) -> Result<Option<String>, Error> {
        let entry = self.reader.entry(at.offset, at.place)?;
        let ended = entry.what.live().map(ImportEnded::decode).transpose();
        let ended = ended.map_err(|_| Error::Undecodable { what: "the end of an import" })?;
        Ok(ended.map(|ended| ended.report))
    }

    /// Jobs that are not over, of all tenants.
    pub(super) fn running_imports(&self) -> Result<Vec<ImportJob>, Error> {
        let mut jobs = Vec::new();
        for tenant in self.views.tenants()? {
            jobs.extend(self.running_imports_of(tenant.ordinal)?);
        }
        Ok(jobs)
    }

    /// Jobs of a tenant that are not over.
    pub(super) fn running_imports_of(&self, tenant: u32) -> Result<Vec<ImportJob>, Error> {
        let (from, to) = key::imports::imports(tenant);
        let mut found: Vec<(ImportId, ImportJobRow)> = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
            let id = key::tail_id(key).map(ImportId::from_bytes);
            found.extend(id.zip(ImportJobRow::decode(value).ok()));
            ControlFlow::Continue(())
        })?;
        found.retain(|(_, row)| row.ended.is_none());
        let jobs = found.iter().map(|(id, row)| self.import_job(tenant, *id, row));
        jobs.collect()
    }
}
