//! The bytes of each format: media type, file name, and whether they are text.

use lamina_api::v1::exports::ExportLayer;
use lamina_portable::export::ExportFormat;

/// The media type.
pub(crate) fn media(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Jsonl | ExportFormat::Eventloom => "application/x-ndjson",
        ExportFormat::Pam => "application/zip",
        #[cfg(feature = "aegx")]
        ExportFormat::Aegx => "application/zip",
        ExportFormat::Mem0 | ExportFormat::Zep | ExportFormat::Letta | ExportFormat::Zaxy => {
            "application/json"
        }
    }
}

/// The end of a file name.
pub(crate) fn file_end(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Jsonl | ExportFormat::Eventloom => "jsonl",
        ExportFormat::Letta => "af",
        ExportFormat::Pam => "zip",
        #[cfg(feature = "aegx")]
        ExportFormat::Aegx => "aegx.zip",
        ExportFormat::Mem0 | ExportFormat::Zep | ExportFormat::Zaxy => "json",
    }
}

/// Whether the bytes are text, which can stand in an answer.
pub(crate) fn is_text(format: ExportFormat) -> bool {
    format != ExportFormat::Pam && !format.is_evidence()
}

/// The layers of an export that names none.
pub(crate) fn default_layers(format: ExportFormat) -> Vec<ExportLayer> {
    match format {
        ExportFormat::Pam => ExportLayer::ALL.to_vec(),
        _ => vec![ExportLayer::Events],
    }
}
