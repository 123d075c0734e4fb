//! The end of a job: its outcome and its report.

use std::sync::Arc;

use lamina_engine::import::{IMPORT_REPORT_BYTES_MAX, ImportCounts, ImportEnd, ImportOutcome};
use lamina_portable::loss::{LossAccount, LossReport, ReportSource, ReportedError, RowOutcomes};
use lamina_types::stdx::hex;

use super::{JobMode, JobRun, Stop};
use crate::http::failure::chain;
use crate::transfer::import::concepts;
use crate::transfer::import::job::JobStatus;

impl JobRun {
    pub(super) fn end(&mut self, ended: Result<LossAccount, Stop>) {
        let live = Arc::clone(&self.plan.live);
        let ended = match (ended, live.begin_end()) {
            (Ok(_), false) => Err(Stop::Cancelled),
            (ended, _) => ended,
        };
        let (outcome, status, account) = match ended {
            Ok(account) => (ImportOutcome::Completed, JobStatus::Completed, account),
            Err(Stop::Cancelled) => {
                (ImportOutcome::Cancelled, JobStatus::Cancelled, LossAccount::default())
            }
            Err(Stop::Failed { code, detail }) => {
                let error = ReportedError { line: None, code, detail };
                live.add_error(error.clone());
                self.refused.listed.insert(0, error);
                (ImportOutcome::Failed, JobStatus::Failed, LossAccount::default())
            }
            Err(Stop::Closing | Stop::Erased) => return,
        };
        if outcome == ImportOutcome::Completed {
            self.counts.fraction = 10_000;
            let wanted = std::mem::take(&mut self.concepts);
            if matches!(self.plan.mode, JobMode::Real(_)) {
                concepts::synthesize(&self.plan.app, &self.plan.caller, wanted, &self.handle);
            }
        }
        let report = self.report(account, outcome);
        live.advance(self.counts);
        let JobMode::Real(job) = &self.plan.mode else {
            return live.finish(status, Some(report));
        };
        let end = ImportEnd { outcome, counts: self.counts, report: report.clone() };
        match self.handle.block_on(self.plan.app.engine.import_end(job, end)) {
            Ok(()) => live.finish(status, Some(report)),
            Err(error) => {
                // The job has no end in the log: the next start goes on with it.
                tracing::error!(error = chain(&error), "the end of an import could not be written");
                live.leave();
            }
        }
    }

    /// The report. That of a job that did not come to the end counts only what it did.
    fn report(&mut self, mut account: LossAccount, outcome: ImportOutcome) -> String {
        let refused = std::mem::take(&mut self.refused);
        let unlisted = refused.count.saturating_sub(refused.listed.len() as u64);
        let filler = refused.listed.last().cloned();
        for error in refused.listed {
            account.fail_read_row(error);
        }
        for _ in 0..unlisted {
            if let Some(error) = &filler {
                account.fail_read_row(error.clone());
            }
        }
        for (why, rows) in refused.skipped {
            (0..rows).for_each(|_| account.skip_read_row(why));
        }
        for _ in 0..refused.moved {
            account.change(
                "scope",
                "the line names a scope outside of the target; it was written to the target",
            );
        }
        if outcome == ImportOutcome::Completed {
            // With the rows that the reader left out or could not read.
            (self.counts.skipped, self.counts.failed) = (account.skipped(), account.failed());
        }
        let ImportCounts { written, known, replaced, .. } = self.counts;
        let report = LossReport {
            format: self.format().name().to_owned(),
            detected: self.plan.spec.detected.clone(),
            source: ReportSource {
                name: self.plan.spec.name.clone(),
                sha256: Some(hex::encode(&self.plan.staged.sha256)),
                bytes: self.plan.staged.bytes,
            },
            dry_run: matches!(self.plan.mode, JobMode::Dry(_)),
            outcomes: RowOutcomes { written, known, replaced },
            account,
        };
        let text = report.to_json_text();
        if text.len() <= IMPORT_REPORT_BYTES_MAX {
            return text;
        }
        tracing::warn!(
            bytes = text.len(),
            ?outcome,
            "a report is too long and keeps its counts only"
        );
        let short = LossReport { account: LossAccount::default(), ..report };
        short.to_json_text()
    }
}
