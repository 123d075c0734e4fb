//! Importers as a whole.

mod bad_input;
mod interop;
mod laws;
mod more_sources;
mod sources;

use lamina_types::capability;

use super::Format;

/// A file of the fixtures.
macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!("../../../../fixtures/import/", $path))
    };
}

/// One JSON file of each format.
const FIXTURES: &[(Format, &str)] = &[
    (Format::Jsonl, fixture!("jsonl/export.jsonl")),
    (Format::Mem0, fixture!("mem0/page.json")),
    (Format::Mem0, fixture!("mem0/get_all.json")),
    (Format::Zep, fixture!("zep/graph.json")),
    (Format::Letta, fixture!("letta/version2.af")),
    (Format::ChatGpt, fixture!("chatgpt/conversations.json")),
    (Format::Claude, fixture!("claude/conversations.json")),
    (Format::McpMemory, fixture!("mcp-memory/memory.jsonl")),
    (Format::Gemini, fixture!("gemini/MyActivity.json")),
    (Format::Grok, fixture!("grok/prod-grok-backend.json")),
    (Format::LangGraph, fixture!("langgraph/items.jsonl")),
    (Format::Copilot, fixture!("copilot/copilot-activity-history.csv")),
    (Format::Csv, fixture!("csv/triples.csv")),
    (Format::BasicMemory, fixture!("basic-memory/boat.md")),
];

/// The policy can say about each format whether it may be imported.
#[test]
fn every_format_has_a_capability() {
    for format in Format::all() {
        assert!(capability::import_from(format.name()).is_some(), "{format}");
    }
    let named = capability::NAMES.iter().filter(|name| name.starts_with("import.from."));
    assert_eq!(named.count(), Format::all().count());
}
