//! Importers: one module per source. Each turns a staged source into rows, row errors with their place,
//! and a running loss account.
//!
//! [`read`] gives an iterator. The same source and options give the same rows in the same order, so that
//! a job can stop at any row and go on later, and a dry run reports the same as a real one.

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_types::Micros;

use crate::csv::ColumnMap;
use crate::source::ImportSource;
use crate::time::NaiveTimes;

mod row;
mod sink;
mod driver;
mod parts;
mod fields;
mod detect;
mod format;
mod jsonl;
mod mem0;
mod zep;
mod letta;
mod chatgpt;
mod claude;
mod mcp_memory;
mod gemini;
mod html;
mod grok;
mod langgraph;
mod basic_memory;
mod hindsight;
mod csv;
mod eventloom;
mod pam;
mod zaxy_bundle;
#[cfg(feature = "aegx")]
mod evidence;

pub use detect::{Detection, detect};
pub use driver::{ForeignRows, ReadProgress};
pub use format::{Format, FormatError};
pub use row::{
    ErrorCost, ForeignRow, ForeignTriple, IdBasis, Place, RowContent, RowError, TimeBasis,
    TripleTerm,
};

/// How a source is read.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The time of rows whose source has none: when the file was changed, or now.
    pub fallback_time: Micros,
    /// How times without a zone are read; `None` leaves it to the format.
    pub naive_times: Option<NaiveTimes>,
    /// Zep: the predicate of each edge type.
    pub ontology: BTreeMap<String, String>,
    /// CSV: the column of each field.
    pub columns: ColumnMap,
    /// Portable memory: only a store whose signature holds is read.
    pub require_signature: bool,
    /// Eventloom and evidence bundles: what becomes of a log whose chain does not hold.
    pub broken_chains: BrokenChains,
}

/// What becomes of a log whose chain does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokenChains {
    /// Nothing of it is taken.
    Refuse,
    /// It is taken; events from the broken place on are labelled.
    Label,
}

impl ImportOptions {
    /// The options of an import that says nothing.
    pub fn new(fallback_time: Micros) -> ImportOptions {
        ImportOptions {
            fallback_time,
            naive_times: None,
            ontology: BTreeMap::new(),
            columns: ColumnMap::default(),
            require_signature: false,
            broken_chains: BrokenChains::Refuse,
        }
    }
}

/// The rows of a source in this format.
pub fn read(source: Arc<ImportSource>, format: Format, options: ImportOptions) -> ForeignRows {
    ForeignRows::new(source, format, options)
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
