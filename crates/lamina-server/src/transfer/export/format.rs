//! The formats of an export: those that are written record by record, and bundles of files.

use lamina_api::v1::exports::ExportLayer;
use lamina_portable::export::ExportFormat;

/// A format of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlanFormat {
    /// Written record by record, as one text.
    Records(ExportFormat),
    /// A portable memory store: an archive of files.
    Pam,
}

impl PlanFormat {
    const PAM: &'static str = "pam";

    /// The format of this name.
    pub(crate) fn find(name: &str) -> Option<PlanFormat> {
        match name {
            PlanFormat::PAM => Some(PlanFormat::Pam),
            name => ExportFormat::find(name).map(PlanFormat::Records),
        }
    }

    /// The names of all formats.
    pub(crate) fn names() -> Vec<&'static str> {
        let records = ExportFormat::ALL.iter().map(|format| format.name());
        records.chain([PlanFormat::PAM]).collect()
    }

    /// The name in requests and in the capability `export.format.<name>`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            PlanFormat::Records(format) => format.name(),
            PlanFormat::Pam => PlanFormat::PAM,
        }
    }

    /// The media type of the bytes.
    pub(crate) fn media(self) -> &'static str {
        match self {
            PlanFormat::Records(ExportFormat::Jsonl) => "application/x-ndjson",
            PlanFormat::Records(_) => "application/json",
            PlanFormat::Pam => "application/zip",
        }
    }

    /// The end of a file name.
    pub(crate) fn file_end(self) -> &'static str {
        match self {
            PlanFormat::Records(ExportFormat::Jsonl) => "jsonl",
            PlanFormat::Records(ExportFormat::Letta) => "af",
            PlanFormat::Records(ExportFormat::Mem0 | ExportFormat::Zep) => "json",
            PlanFormat::Pam => "zip",
        }
    }

    /// The layers of an export that names none.
    pub(crate) fn layers(self) -> Vec<ExportLayer> {
        match self {
            PlanFormat::Records(_) => vec![ExportLayer::Events],
            PlanFormat::Pam => ExportLayer::ALL.to_vec(),
        }
    }

    /// Whether the bytes are text, which can stand in an answer.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, PlanFormat::Records(_))
    }
}
