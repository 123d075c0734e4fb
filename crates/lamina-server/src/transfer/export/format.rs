//! The formats of an export: those that are written record by record, whole sessions, and bundles of
//! files.

use lamina_api::v1::exports::ExportLayer;
use lamina_portable::export::{ExportFormat, RecordFormat};

/// A format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFormat {
    /// Written record by record, as one text.
    Records(RecordFormat),
    /// Made of a whole session at once, as one text.
    Session(SessionFormat),
    /// A portable memory store: an archive of files.
    Pam,
}

/// A format that is made of a whole session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionFormat {
    /// A bundle of the memory export contract.
    Zaxy,
    /// An Eventloom log.
    Eventloom,
}

impl PlanFormat {
    const PAM: &'static str = "pam";

    /// The format of this name.
    pub(crate) fn find(name: &str) -> Option<PlanFormat> {
        match name {
            PlanFormat::PAM => Some(PlanFormat::Pam),
            name => ExportFormat::find(name).map(PlanFormat::of),
        }
    }

    fn of(format: ExportFormat) -> PlanFormat {
        match format {
            ExportFormat::Jsonl => PlanFormat::Records(RecordFormat::Jsonl),
            ExportFormat::Mem0 => PlanFormat::Records(RecordFormat::Mem0),
            ExportFormat::Zep => PlanFormat::Records(RecordFormat::Zep),
            ExportFormat::Letta => PlanFormat::Records(RecordFormat::Letta),
            ExportFormat::Zaxy => PlanFormat::Session(SessionFormat::Zaxy),
            ExportFormat::Eventloom => PlanFormat::Session(SessionFormat::Eventloom),
        }
    }

    /// The names of all formats.
    pub(crate) fn names() -> Vec<&'static str> {
        let texts = ExportFormat::ALL.iter().map(|format| format.name());
        texts.chain([PlanFormat::PAM]).collect()
    }

    /// The name in requests and in the capability `export.format.<name>`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PlanFormat::Records(RecordFormat::Jsonl) => ExportFormat::Jsonl.name(),
            PlanFormat::Records(RecordFormat::Mem0) => ExportFormat::Mem0.name(),
            PlanFormat::Records(RecordFormat::Zep) => ExportFormat::Zep.name(),
            PlanFormat::Records(RecordFormat::Letta) => ExportFormat::Letta.name(),
            PlanFormat::Session(SessionFormat::Zaxy) => ExportFormat::Zaxy.name(),
            PlanFormat::Session(SessionFormat::Eventloom) => ExportFormat::Eventloom.name(),
            PlanFormat::Pam => PlanFormat::PAM,
        }
    }

    /// The media type of the bytes.
    pub(crate) fn media(self) -> &'static str {
        match self {
            PlanFormat::Records(RecordFormat::Jsonl)
            | PlanFormat::Session(SessionFormat::Eventloom) => "application/x-ndjson",
            PlanFormat::Records(RecordFormat::Mem0 | RecordFormat::Zep | RecordFormat::Letta)
            | PlanFormat::Session(SessionFormat::Zaxy) => "application/json",
            PlanFormat::Pam => "application/zip",
        }
    }

    /// The end of a file name.
    pub(crate) fn file_end(self) -> &'static str {
        match self {
            PlanFormat::Records(RecordFormat::Jsonl)
            | PlanFormat::Session(SessionFormat::Eventloom) => "jsonl",
            PlanFormat::Records(RecordFormat::Letta) => "af",
            PlanFormat::Records(RecordFormat::Mem0 | RecordFormat::Zep)
            | PlanFormat::Session(SessionFormat::Zaxy) => "json",
            PlanFormat::Pam => "zip",
        }
    }

    /// The layers of an export that names none.
    pub(crate) fn layers(self) -> Vec<ExportLayer> {
        match self {
            PlanFormat::Records(_) | PlanFormat::Session(_) => vec![ExportLayer::Events],
            PlanFormat::Pam => ExportLayer::ALL.to_vec(),
        }
    }

    /// Whether the bytes are text, which can stand in an answer.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, PlanFormat::Records(_) | PlanFormat::Session(_))
    }
}
