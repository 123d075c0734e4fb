//! The audit log: one row for each policy-gated call, in a log of its own.
//!
//! The same segments, records and checkpoints as the log, in `DATA/audit`: rows are chained for
//! each tenant, can be erased without breaking the chain, and signed checkpoints say where it
//! stood. It is not part of any replay.

use lamina_types::{AuditRow, Micros};

use crate::codec::CodecError;
use crate::entry::{Entry, Kind, SectionState, control};

mod row;
mod tags;
mod index;
mod shared;
mod log;
mod reader;
mod verify;
mod name;
mod retain;
mod pepper;
mod words;

pub use log::{AuditLog, AuditOpenReport, AuditOptions};
pub use name::row_at;
pub use pepper::{Pepper, Peppers};
pub use reader::{AuditCursor, AuditFilter, AuditPage, AuditReader, Chain};
pub use retain::Retained;
pub use row::{decode_what, decode_who, encode_what, encode_who};
pub use verify::Verified;
pub use words::words_of;

/// The scope ordinal that all rows of a tenant have, so that they are one chain. Entries of the
/// log itself are in the chain of the system scope.
pub const ROWS: u64 = 1;

/// A row as it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRow {
    /// The row.
    pub row: AuditRow,
    /// Its number in the tenant's chain, from 1.
    pub seq: u64,
    /// When the audit log took it.
    pub recorded_at: Micros,
    /// Its seal, which the next row of the tenant is chained to.
    pub seal: [u8; 32],
    /// The seal of the row before it.
    pub prev_seal: [u8; 32],
}

/// Whether the entry is a row.
fn is_row(entry: &Entry) -> bool {
    entry.head.kind == Kind::Control
        && entry.head.sub == control::AUDIT_ROW
        && entry.head.scope == ROWS
}

/// The row in an entry; `None` if it is no row, or its `what` was erased.
fn decode(entry: &Entry) -> Result<Option<AuditRow>, CodecError> {
    let Some(what) = entry.what.live().filter(|_| is_row(entry)) else {
        return Ok(None);
    };
    let row = row::decode_what(entry.head.tenant, what)?;
    let who = match &entry.who {
        SectionState::Live(who) => Some(row::decode_who(who)?),
        SectionState::Absent | SectionState::Erased => None,
    };
    Ok(Some(AuditRow { who, ..row }))
}

#[cfg(test)]
mod testing;
