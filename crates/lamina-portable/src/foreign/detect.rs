//! Which format a source is in, by the names of its files and the keys in their first bytes.

use std::collections::BTreeSet;

use super::Format;
use super::chatgpt::is_conversation_file;
use crate::source::{ImportSource, SourceEntry, SourceError};

/// Bytes of a file that are looked at.
const HEAD_BYTES: usize = 65_536;
/// Files of an archive that are opened to look.
const FILES_SEEN_MAX: usize = 20;

/// The result of a detection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The format, if one is recognized.
    pub format: Option<Format>,
    /// A sentence that names the format, the file and the evidence.
    pub sentence: String,
}

/// Looks at a source. Files that say more come first: a conversation file before a list of accounts.
pub fn detect(source: &ImportSource) -> Result<Detection, SourceError> {
    let mut files: Vec<(usize, &SourceEntry)> =
        source.entries().iter().enumerate().filter(|(_, entry)| !entry.is_clutter()).collect();
    files.sort_by_key(|(index, entry)| (file_rank(entry), *index));
    // A file that cannot be read matters only if no other tells the format.
    let mut first_error = None;
    for (index, entry) in files.iter().take(FILES_SEEN_MAX) {
        let head = match source.head(*index, HEAD_BYTES) {
            Ok(head) => head,
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        if let Some(found) = recognize(&entry.name, &head) {
            let title = found.format.title();
            let count = match source.entries().len() {
                1 => String::new(),
                count => format!(" among {count} files"),
            };
            let (name, why) = (crate::quote(&entry.name), found.why);
            let sentence = format!("This is {title}: `{name}`{count} {why}.");
            return Ok(Detection { format: Some(found.format), sentence });
        }
    }
    if let Some(error) = first_error {
        return Err(error);
    }
    let names: Vec<String> =
        files.iter().take(5).map(|(_, entry)| format!("`{}`", crate::quote(&entry.name))).collect();
    let sentence = match names.is_empty() {
        true => "The source has no files.".to_owned(),
        false => {
            format!("No format was recognized in {}. Name it with --format.", names.join(", "))
        }
    };
    Ok(Detection { format: None, sentence })
}

/// Which files are looked at first.
fn file_rank(entry: &SourceEntry) -> u8 {
    let name = entry.file_name().to_ascii_lowercase();
    let ends = |end: &str| name.ends_with(end);
    match name.as_str() {
        "prod-grok-backend.json" | "manifest.json" | "memory-store.json" => 0,
        name if is_conversation_file(name) => 1,
        name if name.starts_with("myactivity") || name.starts_with("minha") => 1,
        _ if ends(".af") => 1,
        _ if ends(".jsonl") || ends(".ndjson") || ends(".json") => 2,
        _ if ends(".csv") || ends(".tsv") || ends(".md") => 3,
        _ => 4,
    }
}

pub(super) struct Recognized {
    pub(super) format: Format,
    /// The evidence, as the rest of a sentence.
    pub(super) why: &'static str,
}

/// The format of a file by its name and first bytes.
pub(super) fn recognize(name: &str, head: &[u8]) -> Option<Recognized> {
    let file = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let text = String::from_utf8_lossy(head);
    let trimmed = text.trim_start();
    if trimmed.starts_with('{') && trimmed.contains("\"portable-ai-memory") {
        return Some(Recognized { format: Format::Pam, why: "is a document of such a store" });
    }
    match trimmed.bytes().next()? {
        b'{' | b'[' => recognize_json(&HeadKeys::of(trimmed)),
        // A JSON string that holds JSON.
        b'"' => {
            let inner = trimmed.get(1..)?.replace("\\\"", "\"").replace("\\n", "\n");
            recognize_json(&HeadKeys::of(inner.trim_start()))
        }
        _ => recognize_text(&file, trimmed),
    }
}

/// The format by the keys of a document. The first rule that fits wins.
fn recognize_json(keys: &HeadKeys) -> Option<Recognized> {
    let found = |format, why| Some(Recognized { format, why });
    let top = |name: &str| keys.top.contains(name);
    let record = |name: &str| keys.record.contains(name);
    #[cfg(feature = "aegx")]
    if top(super::evidence::MANIFEST_MEMBER) || (record("recordId") && record("principal")) {
        return found(Format::Aegx, "has the evidence of a bundle");
    }
    if record("lamina") {
        return found(Format::Jsonl, "has the lines of an export of Lamina");
    }
    let is_v1 = record("threadId") && record("integrity") && record("actorId");
    if is_v1 || (record("envelope_version") && record("hash")) {
        return found(Format::Eventloom, "has sealed records");
    }
    if (top("merkle_root") && top("signature")) || (top("schema_version") && top("signed")) {
        return found(Format::Zaxy, "has entries of an export bundle");
    }
    if record("mapping") && (record("current_node") || record("create_time") || record("title")) {
        return found(Format::ChatGpt, "has conversations with a `mapping`");
    }
    if record("chat_messages") {
        return found(Format::Claude, "has conversations with `chat_messages`");
    }
    if record("conversations_memory") || record("project_memories") || record("prompt_template") {
        return found(Format::Claude, "has memories or projects of Claude");
    }
    if top("agents") && (top("blocks") || top("mcp_servers") || record("block_ids")) {
        return found(Format::Letta, "is an agent file of version 2");
    }
    if top("core_memory") || top("agent_type") {
        return found(Format::Letta, "is an agent file of version 1");
    }
    let is_graph = top("edges") || top("nodes") || top("episodes");
    if is_graph || record("source_node_uuid") || record("role_type") {
        return found(Format::Zep, "has nodes, edges or episodes");
    }
    if record("entityType") || record("relationType") {
        return found(Format::McpMemory, "has entities and relations");
    }
    if top("source_bank_id") || top("archive_type") {
        return found(Format::Hindsight, "is the manifest of a bank");
    }
    if record("header") && (record("time") || record("title")) {
        return found(Format::Gemini, "has activities");
    }
    if top("conversations") && (record("responses") || top("media_posts")) {
        return found(Format::Grok, "has conversations with `responses`");
    }
    let is_item = record("key") && record("value");
    if is_item && (record("namespace") || record("prefix")) {
        return found(Format::LangGraph, "has items with a namespace");
    }
    if record("scope") && (record("modality") || record("content")) {
        return found(Format::Jsonl, "has envelopes");
    }
    if record("memory") && (record("id") || record("user_id") || record("hash")) {
        return found(Format::Mem0, "has records with a `memory`");
    }
    if top("memories") && record("text") {
        return found(Format::ChatGpt, "has a list of `memories`");
    }
    None
}

/// Markdown, HTML and tables.
fn recognize_text(file: &str, text: &str) -> Option<Recognized> {
    let found = |format, why| Some(Recognized { format, why });
    let is_markdown = file.ends_with(".md") || file.ends_with(".markdown");
    if text.starts_with("---") || is_markdown {
        let front: Vec<&str> = match text.starts_with("---") {
            true => text.lines().skip(1).take_while(|line| line.trim_end() != "---").collect(),
            false => Vec::new(),
        };
        let has = |name: &str| front.iter().any(|line| line.starts_with(name));
        if !has("permalink:") && (has("id:") || text.contains("\n---\nid:")) {
            return found(Format::Mem0, "has blocks with an `id`");
        }
        let is_note =
            has("permalink:") || has("title:") || text.contains("\n- [") || text.contains("[[");
        return if is_note {
            found(Format::BasicMemory, "is a note with front matter or links")
        } else {
            None
        };
    }
    if text.starts_with('<') {
        let is_activity = text.contains("outer-cell") && text.contains("Gemini");
        return if is_activity { found(Format::Gemini, "has cells of activities") } else { None };
    }
    let header = text.lines().next()?.to_ascii_lowercase();
    let columns: BTreeSet<&str> =
        header.split([',', ';', '\t']).map(|name| name.trim().trim_matches('"')).collect();
    let is_copilot = [
        "conversation,time,author,message",
        "createdat,messagecontent",
        "timestamp,clientapp,prompt",
    ];
    if is_copilot.iter().any(|head| header.trim().starts_with(head)) {
        return found(Format::Copilot, "has the columns of the privacy dashboard");
    }
    let is_table = file.ends_with(".csv") || file.ends_with(".tsv") || columns.contains("text");
    if is_table && columns.len() > 1 {
        return found(Format::Csv, "is a table");
    }
    None
}

/// Keys in the first bytes of a document that need not be whole.
#[derive(Debug, Default)]
pub(super) struct HeadKeys {
    /// Of a top-level object.
    top: BTreeSet<String>,
    /// Of records: top-level objects, elements of arrays, and elements of arrays in a top-level object.
    record: BTreeSet<String>,
}

impl HeadKeys {
    fn of(text: &str) -> HeadKeys {
        let mut keys = HeadKeys::default();
        let mut stack: Vec<u8> = Vec::new();
        let mut chars = text.bytes().enumerate();
        let mut last: Option<&str> = None;
        while let Some((at, byte)) = chars.next() {
            match byte {
                b'{' | b'[' => stack.push(byte),
                b'}' | b']' => drop(stack.pop()),
                b'"' => {
                    let start = at + 1;
                    let mut is_escaped = false;
                    let end = chars.by_ref().find(|(_, c)| {
                        let is_end = *c == b'"' && !is_escaped;
                        is_escaped = *c == b'\\' && !is_escaped;
                        is_end
                    });
                    last = end.and_then(|(end, _)| text.get(start..end));
                    continue;
                }
                b':' => {
                    if let Some(key) = last {
                        keys.put(key, &stack);
                    }
                }
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                _ => {}
            }
            last = None;
        }
        keys
    }

    fn put(&mut self, key: &str, stack: &[u8]) {
        match stack {
            b"{" => {
                self.top.insert(key.to_owned());
                self.record.insert(key.to_owned());
            }
            b"[{" | b"{[{" => drop(self.record.insert(key.to_owned())),
            _ => {}
        }
    }
}
