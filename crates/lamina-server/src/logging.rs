//! Log lines: coloured on a terminal, JSON for programs, always on standard error, so that standard
//! output belongs to the answers of the command line.
//!
//! Payload text never reaches the log at `info`: lines name ids, counts, routes and codes.

use std::io::{IsTerminal, stderr};

use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// The filter is not in the syntax of `tracing`.
#[derive(Debug, thiserror::Error)]
#[error(
    "`log.filter` cannot be `{filter}`: expected for example `info` or `info,lamina_engine=debug`"
)]
pub struct FilterError {
    filter: String,
    #[source]
    source: tracing_subscriber::filter::ParseError,
}

/// Starts writing log lines. Once per process; a second call keeps the first.
pub fn start(filter: &str, format: LogFormat) -> Result<(), FilterError> {
    let filter = EnvFilter::try_new(filter)
        .map_err(|source| FilterError { filter: filter.to_owned(), source })?;
    let human = match format {
        LogFormat::Human => true,
        LogFormat::Json => false,
        LogFormat::Auto => stderr().is_terminal(),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    let started = if human {
        let builder = builder.with_ansi(stderr().is_terminal());
        builder.with_target(false).try_init()
    } else {
        builder.json().flatten_event(true).try_init()
    };
    if started.is_err() {
        tracing::debug!("log lines were already started in this process");
    }
    log_panics();
    Ok(())
}

/// A panic is a bug: it belongs in the log with its place, in the same format as everything else.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let place = place.unwrap_or_default();
        tracing::error!(message = panic_text(panic.payload()), place, "panic");
    }));
}

/// The words a panic came with.
pub(crate) fn panic_text(payload: &(dyn std::any::Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
