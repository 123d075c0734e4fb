//! Commands that only print: the settings in force, the version.

use std::fmt::Write as _;

use super::exit::{Exit, Failure};
use super::print;
use crate::config::Config;

/// `lamina config`: every setting, its value, where it came from. No setting is a secret.
pub(super) fn config(config: &Config) -> Result<Exit, Failure> {
    let rows = config.shown();
    let width = |of: fn(&crate::config::Shown) -> usize| rows.iter().map(of).max().unwrap_or(0);
    let key_width = width(|row| row.key.len());
    let value_width = width(|row| row.value.chars().count());
    let mut text = String::new();
    for row in rows {
        let _ =
            writeln!(text, "{:key_width$}  {:value_width$}  {}", row.key, row.value, row.origin);
    }
    print(&text)?;
    Ok(Exit::Fine)
}

/// `lamina version`.
pub(super) fn version() -> Result<Exit, Failure> {
    print(&format!("lamina {}\n", env!("CARGO_PKG_VERSION")))?;
    Ok(Exit::Fine)
}
