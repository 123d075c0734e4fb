//! The formats that are read, by name.

use std::fmt;
use std::str::FromStr;

use super::csv::{CsvFlavor, CsvMapper};
use super::driver::Mapper;
use super::{
    ImportOptions, basic_memory, chatgpt, claude, eventloom, gemini, grok, hindsight, jsonl,
    langgraph, letta, mcp_memory, mem0, pam, zaxy_bundle, zep,
};
use crate::time::NaiveTimes;

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Envelopes, one per line, and the lines of our own exports.
    Jsonl,
    /// mem0: pages of the platform, `get_all` of the library, Markdown.
    Mem0,
    /// Zep and Graphiti: nodes, edges, episodes, messages.
    Zep,
    /// Letta agent files.
    Letta,
    /// ChatGPT exports.
    ChatGpt,
    /// Claude exports.
    Claude,
    /// The file of the MCP memory server.
    McpMemory,
    /// Gemini activity of a Google Takeout.
    Gemini,
    /// Grok exports.
    Grok,
    /// CSV files of the Copilot privacy dashboard.
    Copilot,
    /// Items of a LangGraph store.
    LangGraph,
    /// Notes of basic-memory.
    BasicMemory,
    /// Archives of a Hindsight bank.
    Hindsight,
    /// CSV with a column map.
    Csv,
    /// Portable memory stores.
    Pam,
    /// Eventloom logs.
    Eventloom,
    /// Bundles of the memory export contract.
    Zaxy,
    /// Evidence bundles.
    #[cfg(feature = "aegx")]
    Aegx,
}

/// Each format: its name in `source.format` and in capabilities, its name for people, other names.
const FORMATS: &[(Format, &str, &str, &[&str])] = &[
    (Format::Jsonl, "jsonl", "JSONL", &["ndjson", "lamina"]),
    (Format::Mem0, "mem0", "a mem0 export", &["mem0_export_v3", "mem0_oss", "mem0_platform"]),
    (Format::Zep, "zep", "a Zep or Graphiti export", &["graphiti", "zep_graph"]),
    (Format::Letta, "letta", "a Letta export", &["letta_af", "af", "memgpt"]),
    (Format::ChatGpt, "openai", "a ChatGPT export", &["chatgpt", "openai_export"]),
    (Format::Claude, "claude", "a Claude export", &["anthropic"]),
    (Format::McpMemory, "mcp_memory", "a file of the MCP memory server", &["mcp", "mcp-memory"]),
    (Format::Gemini, "gemini", "a Gemini export", &["google", "takeout"]),
    (Format::Grok, "grok", "a Grok export", &["xai"]),
    (Format::Copilot, "copilot", "a Copilot export", &[]),
    (Format::LangGraph, "langgraph", "a LangGraph store", &["langmem"]),
    (Format::BasicMemory, "basic_memory", "a note of basic-memory", &["basic-memory"]),
    (Format::Hindsight, "hindsight", "a Hindsight bank", &[]),
    (Format::Csv, "csv", "CSV", &["tsv"]),
    (Format::Pam, "pam", "a portable memory store", &["portable-ai-memory", "portable_ai_memory"]),
    (Format::Eventloom, "eventloom", "an Eventloom log", &["eventloom.v1"]),
    (Format::Zaxy, "zaxy", "a bundle of the memory export contract", &["zaxy.portable.v1"]),
    #[cfg(feature = "aegx")]
    (Format::Aegx, "aegx", "an evidence bundle", &[]),
];

/// The name of no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no format that can be imported; there are {}", crate::quote(.0), names())]
pub struct FormatError(String);

fn names() -> String {
    FORMATS.iter().map(|(_, name, _, _)| *name).collect::<Vec<_>>().join(", ")
}

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Format> {
        FORMATS.iter().map(|(format, ..)| *format)
    }

    /// The name in `source.format` and in the capability `import.from.<name>`.
    pub fn name(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, ..)| name)
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        FORMATS.iter().find(|(format, ..)| *format == self).map_or("", |(_, _, title, _)| title)
    }

    /// Whether rows are written in the order of the source, whatever their times say: their chain depends on it.
    pub fn keeps_order(self) -> bool {
        #[cfg(feature = "aegx")]
        if self == Format::Aegx {
            return true;
        }
        matches!(self, Format::Eventloom | Format::Zaxy)
    }

    /// How times without a zone are read unless the caller says otherwise. These programs write UTC.
    pub(super) fn naive_times(self) -> NaiveTimes {
        match self {
            Format::Jsonl | Format::Csv | Format::Pam => NaiveTimes::Refuse,
            _ => NaiveTimes::UTC,
        }
    }

    pub(super) fn mapper(self, options: &ImportOptions) -> Box<dyn Mapper> {
        match self {
            Format::Jsonl => Box::new(jsonl::JsonlMapper),
            Format::Mem0 => Box::new(mem0::Mem0Mapper),
            Format::Zep => Box::new(zep::ZepMapper::new(&options.ontology)),
            Format::Letta => Box::new(letta::LettaMapper::default()),
            Format::ChatGpt => Box::new(chatgpt::ChatGptMapper::default()),
            Format::Claude => Box::new(claude::ClaudeMapper::default()),
            Format::McpMemory => Box::new(mcp_memory::McpMemoryMapper),
            Format::Gemini => Box::new(gemini::GeminiMapper::default()),
            Format::Grok => Box::new(grok::GrokMapper),
            Format::Copilot => Box::new(CsvMapper::new(CsvFlavor::Copilot, &options.columns)),
            Format::LangGraph => Box::new(langgraph::LangGraphMapper),
            Format::BasicMemory => Box::new(basic_memory::BasicMemoryMapper),
            Format::Hindsight => Box::new(hindsight::HindsightMapper),
            Format::Csv => Box::new(CsvMapper::new(CsvFlavor::Plain, &options.columns)),
            Format::Pam => Box::new(pam::PamMapper::new(options.require_signature)),
            Format::Eventloom => Box::new(eventloom::EventloomMapper::new(options.broken_chains)),
            Format::Zaxy => Box::new(zaxy_bundle::ZaxyBundleMapper),
            #[cfg(feature = "aegx")]
            Format::Aegx => Box::new(super::evidence::EvidenceMapper::new(options.broken_chains)),
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Format, FormatError> {
        let lower = text.to_ascii_lowercase();
        let found = FORMATS
            .iter()
            .find(|(_, name, _, others)| *name == lower || others.contains(&lower.as_str()));
        found.map(|(format, ..)| *format).ok_or_else(|| FormatError(text.to_owned()))
    }
}
