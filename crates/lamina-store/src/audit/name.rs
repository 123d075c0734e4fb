//! A row by name, for whoever reads that something is wrong with it.

use std::path::Path;

use lamina_env::Disk;

use super::{ROWS, row};
use crate::log::locate::{Located, locate};

/// The row at a position of a segment of the audit log: its number in the chain of its tenant, as
/// [`Verified`](super::Verified) counts it, and its id if that can still be read.
pub fn row_at(disk: &dyn Disk, dir: &Path, file: &str, position: u64) -> String {
    let Some(Located { head, what, after }) = locate(disk, dir, file, position) else {
        return "at the first row of the segment".to_owned();
    };
    if head.scope != ROWS {
        return format!("at entry {} of the audit log, which is no row", head.offset);
    }
    let id = what.and_then(|what| row::decode_what(head.tenant, &what).ok()).map(|row| row.id);
    let id = id.map(|id| format!(" ({id})")).unwrap_or_default();
    let place = if after { "after row" } else { "at row" };
    // The first row has the index 0.
    let index = head.scope_seq.saturating_sub(1);
    format!("{place} {index} of tenant {}{id}", head.tenant)
}
