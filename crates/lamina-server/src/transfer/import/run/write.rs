//! Steps of a job: rows are planned, found again or written.

use lamina_engine::Error as EngineError;
use lamina_engine::import::{
    ErasedRows, ImportRow, ImportStepRequest, PlannedRows, RowOutcome, RowPlan,
};
use lamina_portable::foreign::Place;
use lamina_types::ErrorCode;

use super::{CONFLICT, JobMode, JobRun, PlacedRow, STEP_ATTEMPTS_MAX, STEP_PAUSE, Stop};
use crate::http::failure::Failure;
use crate::transfer::import::envelope::RowRefusal;
use crate::transfer::import::order::RowTaker as _;
use crate::transfer::import::permission::RowPermits;

impl JobRun {
    /// Writes the rows that wait, or says what would become of them.
    pub(super) fn flush(&mut self) -> Result<(), Stop> {
        self.look()?;
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        if batch.is_empty() && self.failures.is_empty() {
            self.plan.live.advance(self.counts);
            return Ok(());
        }
        match (&self.plan.mode, self.is_replayed()) {
            (JobMode::Dry(_), _) => self.plan_rows(&batch)?,
            (JobMode::Real(_), true) => self.replay_rows(&batch)?,
            (JobMode::Real(_), false) => {
                self.check_grant()?;
                let batch = self.drop_conflicts(batch)?;
                self.write_rows(batch)?;
            }
        }
        self.permits = RowPermits::new(&self.plan.app, &self.plan.caller);
        self.plan.live.advance(self.counts);
        Ok(())
    }

    fn erased_rows(&self) -> ErasedRows {
        match self.plan.spec.options.restore_erased {
            Some(true) => ErasedRows::Restore,
            _ => ErasedRows::Refuse,
        }
    }

    fn plans(&self, batch: &[PlacedRow], planned: &mut PlannedRows) -> Result<Vec<RowPlan>, Stop> {
        let rows: Vec<ImportRow> = batch.iter().map(|placed| placed.row.clone()).collect();
        let (tenant, format, erased) = (self.tenant(), self.format().name(), self.erased_rows());
        let engine = &self.plan.app.engine;
        Ok(self.handle.block_on(engine.import_plan(tenant, format, &rows, erased, planned))?)
    }

    fn skips_conflicts(&self) -> bool {
        self.plan.spec.options.skip_on_conflict == Some(true)
    }

    /// Leaves out rows that are known with another content.
    fn drop_conflicts(&mut self, batch: Vec<PlacedRow>) -> Result<Vec<PlacedRow>, Stop> {
        if !self.skips_conflicts() {
            return Ok(batch);
        }
        let plans = self.plans(&batch, &mut PlannedRows::default())?;
        let mut kept = Vec::with_capacity(batch.len());
        for (placed, plan) in batch.into_iter().zip(plans) {
            match plan {
                RowPlan::Replaced => self.refuse(&placed.place, RowRefusal::Skip(CONFLICT)),
                _ => kept.push(placed),
            }
        }
        Ok(kept)
    }

    /// Counts the outcomes that rows would have.
    fn plan_rows(&mut self, batch: &[PlacedRow]) -> Result<(), Stop> {
        let JobMode::Dry(planned) = &mut self.plan.mode else { return Ok(()) };
        let mut planned = std::mem::take(planned);
        let plans = self.plans(batch, &mut planned)?;
        self.plan.mode = JobMode::Dry(planned);
        self.failures.clear();
        for (placed, plan) in batch.iter().zip(plans) {
            match plan {
                RowPlan::Written => self.counts.written += 1,
                RowPlan::Known => self.counts.known += 1,
                RowPlan::Replaced if self.skips_conflicts() => {
                    self.refuse(&placed.place, RowRefusal::Skip(CONFLICT));
                }
                RowPlan::Replaced => self.counts.replaced += 1,
                RowPlan::Erased => self.refuse_erased(&placed.place),
            }
        }
        Ok(())
    }

    /// Finds the erased rows again among those that an earlier run took.
    fn replay_rows(&mut self, batch: &[PlacedRow]) -> Result<(), Stop> {
        let plans = self.plans(batch, &mut PlannedRows::default())?;
        for (placed, plan) in batch.iter().zip(plans) {
            match plan {
                RowPlan::Erased => self.refuse_erased(&placed.place),
                RowPlan::Replaced if self.skips_conflicts() => {
                    self.refuse(&placed.place, RowRefusal::Skip(CONFLICT));
                }
                RowPlan::Written | RowPlan::Known | RowPlan::Replaced => {}
            }
        }
        Ok(())
    }

    fn refuse_erased(&mut self, place: &Place) {
        self.counts.erased += 1;
        let detail = "the row was erased here; import it with restore_erased to write it again";
        self.refuse(place, RowRefusal::error(ErrorCode::ResourceDeleted, detail));
    }

    /// The permission of the job, asked again: an import stops when its grant is gone.
    fn check_grant(&mut self) -> Result<(), Stop> {
        let JobMode::Real(job) = &self.plan.mode else { return Ok(()) };
        let (app, caller, scope) = (&self.plan.app, &self.plan.caller, job.scope.clone());
        let stack = self.handle.block_on(app.stack(caller, scope.as_ref()))?;
        let decided = stack.permit_import(caller, scope.as_ref(), self.format().name());
        if let Some(token) = &caller.grant
            && app.engine.is_revoked(&token.iss, &token.jti)?
        {
            let detail = "the token that began the import was revoked".to_owned();
            return Err(Stop::Failed { code: ErrorCode::RevokedToken, detail });
        }
        decided.map(|_| ()).map_err(|denial| Stop::from(Failure::from(denial)))
    }

    /// Writes rows. If the engine refuses them together, each is written alone, so that one bad row costs
    /// one row.
    fn write_rows(&mut self, batch: Vec<PlacedRow>) -> Result<(), Stop> {
        let rows: Vec<ImportRow> = batch.iter().map(|placed| placed.row.clone()).collect();
        match self.step(rows) {
            Ok(outcomes) => {
                for (placed, outcome) in batch.iter().zip(outcomes) {
                    if outcome == RowOutcome::Erased {
                        // The step has counted it.
                        self.counts.failed -= 1;
                        self.counts.erased -= 1;
                        self.refuse_erased(&placed.place);
                    }
                }
                Ok(())
            }
            Err(error) if error.code().status() >= 500 || batch.is_empty() => Err(error.into()),
            Err(error) => {
                let mut batch = batch;
                if let (true, Some(alone)) = (batch.len() == 1, batch.pop()) {
                    let failure = Failure::from(error);
                    self.refuse(&alone.place, failure.error.into());
                    return Ok(());
                }
                let second = batch.split_off(batch.len() / 2);
                self.write_rows(batch)?;
                self.write_rows(second)
            }
        }
    }

    fn step(&mut self, rows: Vec<ImportRow>) -> Result<Vec<RowOutcome>, EngineError> {
        let JobMode::Real(job) = &self.plan.mode else { return Ok(Vec::new()) };
        let permits = self.permits.permits();
        let mut attempt = 1;
        loop {
            let request = ImportStepRequest {
                rows: rows.clone(),
                before: self.counts,
                fraction: self.counts.fraction,
                failures: self.failures.clone(),
                erased: self.erased_rows(),
            };
            let engine = &self.plan.app.engine;
            match self.handle.block_on(engine.import_step(job, &permits, request)) {
                Ok(stepped) => {
                    self.failures.clear();
                    self.counts = stepped.counts;
                    return Ok(stepped.outcomes);
                }
                Err(error) if is_passing(&error) && attempt < STEP_ATTEMPTS_MAX => {
                    self.handle.block_on(tokio::time::sleep(STEP_PAUSE * attempt));
                    attempt += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Whether the same step may succeed in a moment.
fn is_passing(error: &EngineError) -> bool {
    error.code().retriable() && !matches!(error, EngineError::ShuttingDown)
}
