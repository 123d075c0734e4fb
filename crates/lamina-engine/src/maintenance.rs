//! What an operator does to a directory that no server uses: check, repair, rebuild.

use std::path::Path;

use lamina_env::Env;

use crate::open::{Stored, lock, open_kv, open_reporting};
use crate::{OpenError, Settings};

/// What a rebuild did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildReport {
    /// Entries that were folded.
    pub entries: u64,
}

/// Drops the views and folds the whole log again. `progress` gets entries done and in all.
pub fn rebuild(
    data: &Path,
    env: &Env,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<RebuildReport, OpenError> {
    let settings = Settings::new(data);
    existing(data, env)?;
    let lock = lock(env, data)?;
    let kv = open_kv(env, data)?;
    let opened = open_reporting(&settings, env.clone(), kv, lock, Stored::Drop, progress)?;
    let mut parts = opened.into_parts();
    for appended in parts.log.close()? {
        parts.views.apply(&appended.entries, &appended.tip)?;
    }
    parts.views.persist()?;
    Ok(RebuildReport { entries: parts.report.entries_replayed })
}

/// A directory that is not there is a mistake in the command, not an empty database.
fn existing(data: &Path, env: &Env) -> Result<(), OpenError> {
    if env.disk.exists(&data.join("FORMAT")) {
        return Ok(());
    }
    Err(OpenError::Format { path: data.to_owned(), what: "not a Lamina data directory".to_owned() })
}
