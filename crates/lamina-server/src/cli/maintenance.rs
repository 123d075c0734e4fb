//! `lamina rebuild`: work on a data directory that nobody else has open.

use std::io::{IsTerminal as _, Write as _, stderr};

use lamina_engine::maintenance::{self, RebuildReport};
use lamina_env::Env;

use super::exit::{Exit, Failure};
use super::{opening, print};
use crate::config::Config;

/// Drops the views and derives them again.
pub(super) fn rebuild(config: &Config) -> Result<Exit, Failure> {
    let env = Env::real();
    must_exist(config, &env)?;
    let mut progress = Progress::new("rebuilding");
    let report =
        maintenance::rebuild(&config.data, &env, &mut |done, all| progress.show(done, all));
    progress.clear();
    let RebuildReport { entries, .. } =
        report.map_err(|error| opening::failure(error, &config.data))?;
    print(&format!(
        "{}\n  every view was derived again from {entries} entries of the log\n",
        config.data.display()
    ))?;
    Ok(Exit::Fine)
}

/// A misspelt directory must not be created by looking at it.
fn must_exist(config: &Config, env: &Env) -> Result<(), Failure> {
    if env.disk.exists(&config.data) {
        return Ok(());
    }
    Err(Failure::unreadable(anyhow::anyhow!(
        "there is no data directory at {}",
        config.data.display()
    )))
}

/// One line that rewrites itself, for people only.
struct Progress {
    doing: &'static str,
    shown: Option<u64>,
    wanted: bool,
}

impl Progress {
    fn new(doing: &'static str) -> Progress {
        Progress { doing, shown: None, wanted: stderr().is_terminal() }
    }

    fn show(&mut self, done: u64, all: u64) {
        let percent = done.saturating_mul(100).checked_div(all).unwrap_or(100);
        if self.wanted && self.shown != Some(percent) {
            self.shown = Some(percent);
            // A terminal that went away needs no progress.
            let _ = write!(stderr(), "\r{} {percent:3} %", self.doing);
        }
    }

    fn clear(&mut self) {
        if self.shown.take().is_some() {
            let _ = write!(stderr(), "\r{:30}\r", "");
        }
    }
}
