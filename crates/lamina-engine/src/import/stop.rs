//! Jobs that an erasure ends: the staged source holds words of the scope, and later steps would bring
//! them back.

use lamina_store::codec::control::ImportOutcome;
use lamina_types::ScopePath;

use super::{ImportEnd, ImportJob};
use crate::engine::Inner;
use crate::{Engine, Error};

/// The report of a job that an erasure ended.
const ERASED: &str = r#"{"error":"the target of the import was erased"}"#;

impl Engine {
    /// Whether an erasure has ended a job that is at work.
    pub fn import_is_stopped(&self, job: &ImportJob) -> bool {
        self.inner.admin.importing.stopped.lock().contains(&job.id)
    }

    /// Ends the jobs whose rows may belong to a scope that is about to be erased, and removes their
    /// sources. When it returns, no further row of theirs is written.
    pub(crate) async fn imports_stop(&self, tenant: u32, scope: &ScopePath) -> Result<(), Error> {
        let running = move |inner: &Inner| inner.running_imports_of(tenant);
        let _turn = self.inner.admin.importing.turn.lock().await;
        self.inner.caught_up().await;
        for job in self.blocking(running).await? {
            if !may_reach(&job.target, scope) {
                continue;
            }
            self.inner.admin.importing.stopped.lock().insert(job.id);
            let (outcome, report) = (ImportOutcome::Failed, ERASED.to_owned());
            let end = ImportEnd { outcome, counts: job.counts, report };
            self.end_import(&job, end).await?;
        }
        Ok(())
    }
}

/// Whether rows of an import with this target may belong to a scope or to scopes below it. Of a template
/// only the segments before its first placeholder are known.
fn may_reach(target: &str, scope: &ScopePath) -> bool {
    let fixed = match target.find('{') {
        Some(placeholder) => target.get(..placeholder).unwrap_or_default(),
        None => target,
    };
    // A segment that the placeholder is part of is not known either.
    let fixed = match (fixed.len() < target.len(), fixed.rfind('/')) {
        (false, _) => fixed,
        (true, Some(slash)) => fixed.get(..slash).unwrap_or_default(),
        (true, None) => "",
    };
    let is_within = |below: &str, above: &str| {
        above.is_empty()
            || below == above
            || below.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
    };
    is_within(scope.as_str(), fixed) || is_within(fixed, scope.as_str())
}

#[cfg(test)]
mod tests;
