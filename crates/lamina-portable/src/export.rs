//! Exports: records of every layer as JSONL lines, and in the shapes of mem0, Zep and Letta.
//!
//! A writer takes records one by one, in the order of [`LineKind::ALL`], and writes as it goes. Formats
//! that cannot hold a record count it in the loss account.

use std::io::{self, Write};

use lamina_types::Micros;

use crate::json::Value;
use crate::loss::LossAccount;

mod jsonl;
mod letta;
mod line;
mod mem0;
mod object;
mod record;
mod zep;

pub use jsonl::line_of;
pub use line::LineKind;
pub(crate) use line::{LINE_MEMBER, LINE_VERSION};
pub use record::{
    ConceptSupports, ExportBelief, ExportConcept, ExportControl, ExportEpisode, ExportEvent,
    ExportFact, ExportHeader, ExportRecord, ExportSupport, ExportTerm, ExportThing,
};

/// A format that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// Our own lines: nothing is lost.
    Jsonl,
    /// A page of mem0 results.
    Mem0,
    /// Episodes, edges and nodes of Zep.
    Zep,
    /// A Letta agent file of version 2.
    Letta,
    /// A bundle of the memory export contract.
    Zaxy,
    /// An Eventloom log.
    Eventloom,
    /// A portable memory store: several files.
    Pam,
    /// An evidence bundle: several files.
    #[cfg(feature = "aegx")]
    Aegx,
}

/// A format that is written record by record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordFormat {
    /// Our own lines.
    Jsonl,
    /// A page of mem0 results.
    Mem0,
    /// Episodes, edges and nodes of Zep.
    Zep,
    /// A Letta agent file.
    Letta,
}

impl ExportFormat {
    /// All formats.
    pub const ALL: &'static [ExportFormat] = &[
        ExportFormat::Jsonl,
        ExportFormat::Mem0,
        ExportFormat::Zep,
        ExportFormat::Letta,
        ExportFormat::Zaxy,
        ExportFormat::Eventloom,
        ExportFormat::Pam,
        #[cfg(feature = "aegx")]
        ExportFormat::Aegx,
    ];

    /// The writer of its records; `None` for a format that is made of a whole session at once.
    pub fn records(self) -> Option<RecordFormat> {
        match self {
            ExportFormat::Jsonl => Some(RecordFormat::Jsonl),
            ExportFormat::Mem0 => Some(RecordFormat::Mem0),
            ExportFormat::Zep => Some(RecordFormat::Zep),
            ExportFormat::Letta => Some(RecordFormat::Letta),
            ExportFormat::Zaxy | ExportFormat::Eventloom | ExportFormat::Pam => None,
            #[cfg(feature = "aegx")]
            ExportFormat::Aegx => None,
        }
    }

    /// Whether it is a bundle of evidence, which holds the chain of a scope.
    pub fn is_evidence(self) -> bool {
        #[cfg(feature = "aegx")]
        return self == ExportFormat::Aegx;
        #[cfg(not(feature = "aegx"))]
        false
    }

    /// The name in requests and in the capability `export.format.<name>`.
    pub fn name(self) -> &'static str {
        match self {
            ExportFormat::Jsonl => "jsonl",
            ExportFormat::Mem0 => "mem0",
            ExportFormat::Zep => "zep",
            ExportFormat::Letta => "letta",
            ExportFormat::Zaxy => "zaxy",
            ExportFormat::Eventloom => "eventloom",
            ExportFormat::Pam => "pam",
            #[cfg(feature = "aegx")]
            ExportFormat::Aegx => "aegx",
        }
    }

    /// The format of this name.
    pub fn find(name: &str) -> Option<ExportFormat> {
        ExportFormat::ALL.iter().copied().find(|format| format.name() == name)
    }
}

/// The frame of an export, known before its first record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFrame {
    /// The scope that is exported.
    pub scope: String,
    /// The knowledge that is exported: everything recorded until then.
    pub as_of: Micros,
}

/// Why an export stopped.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The output does not take more.
    #[error("the export could not be written")]
    Io(#[from] io::Error),
    /// A record of an earlier kind came after one of a later kind.
    #[error("a record `{kind}` came too late: records are written in the order of their kinds")]
    Order {
        /// The kind of the record.
        kind: &'static str,
    },
}

/// Writes an export record by record.
#[derive(Debug)]
pub struct ExportWriter<W> {
    out: W,
    shape: Shape,
    account: LossAccount,
    /// Where the last record stands in the order of kinds.
    rank: usize,
}

#[derive(Debug)]
enum Shape {
    Jsonl,
    Mem0(mem0::Mem0Shape),
    Zep(Box<zep::ZepShape>),
    Letta(Box<letta::LettaShape>),
}

impl<W: Write> ExportWriter<W> {
    /// Begins an export.
    pub fn new(format: RecordFormat, frame: ExportFrame, out: W) -> ExportWriter<W> {
        let shape = match format {
            RecordFormat::Jsonl => Shape::Jsonl,
            RecordFormat::Mem0 => Shape::Mem0(mem0::Mem0Shape::default()),
            RecordFormat::Zep => Shape::Zep(Box::new(zep::ZepShape::new(&frame))),
            RecordFormat::Letta => Shape::Letta(Box::new(letta::LettaShape::new(frame))),
        };
        ExportWriter { out, shape, account: LossAccount::default(), rank: 0 }
    }

    /// Writes a record.
    pub fn push(&mut self, record: &ExportRecord) -> Result<(), ExportError> {
        let kind = record.kind();
        let rank = LineKind::ALL.iter().position(|other| *other == kind).unwrap_or_default();
        if rank < self.rank {
            return Err(ExportError::Order { kind: kind.as_str() });
        }
        self.rank = rank;
        let mut piece = String::new();
        let account = &mut self.account;
        match &mut self.shape {
            Shape::Jsonl => {
                piece = line_of(record);
                account.count_row(kind.as_str());
                lose_blobs(record, account);
            }
            Shape::Mem0(shape) => shape.push(record, &mut piece, account),
            Shape::Zep(shape) => shape.push(record, &mut piece, account),
            Shape::Letta(shape) => shape.push(record, &mut piece, account),
        }
        self.out.write_all(piece.as_bytes())?;
        Ok(())
    }

    /// The account so far.
    pub fn account(&self) -> &LossAccount {
        &self.account
    }

    /// Writes the end.
    pub fn finish(mut self) -> Result<FinishedExport<W>, ExportError> {
        let mut piece = String::new();
        match &mut self.shape {
            Shape::Jsonl => {}
            Shape::Mem0(shape) => shape.finish(&mut piece),
            Shape::Zep(shape) => shape.finish(&mut piece),
            Shape::Letta(shape) => shape.finish(&mut piece, &mut self.account),
        }
        self.out.write_all(piece.as_bytes())?;
        self.out.flush()?;
        Ok(FinishedExport { out: self.out, account: self.account })
    }
}

/// An export that was written.
#[derive(Debug)]
pub struct FinishedExport<W> {
    /// The output.
    pub out: W,
    /// The account of all records.
    pub account: LossAccount,
}

/// Kinds that no other program has, with the reason of a report.
fn lose_control(record: &ExportRecord, account: &mut LossAccount) {
    if let ExportRecord::Control(control) = record {
        account.skip("the format has no place for decisions, merges and cancellations", 1);
        account.lose(control.kind.as_str(), "the format has no place for it");
    }
}

/// Blobs do not travel with the lines that name them.
fn lose_blobs(record: &ExportRecord, account: &mut LossAccount) {
    let ExportRecord::Event(event) = record else { return };
    let content = &event.experience.content;
    let is_blob = matches!(content, lamina_types::Content::BlobRef { .. });
    if is_blob || !content.media().is_empty() {
        account.lose("content.media", "the bytes of blobs are not in an export");
    }
}

/// A member that is absent instead of null.
fn push_text(object: &mut Value, key: &str, text: Option<&str>) {
    object.push_some(key, text);
}

/// The id behind the last segment of this type in a scope path.
fn scope_id<'a>(scope: &'a str, kind: &str) -> Option<&'a str> {
    let segments = scope.rsplit('/').filter_map(|segment| segment.split_once(':'));
    segments.into_iter().find(|(own, _)| *own == kind).map(|(_, id)| id)
}

#[cfg(test)]
mod tests;
