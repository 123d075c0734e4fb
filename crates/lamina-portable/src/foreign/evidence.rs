//! Evidence bundles: messages, results of tools and documents become events. Their taints become labels,
//! and the rest of each record travels along. A caller verifies the bundle before it is read.

use std::collections::{HashMap, HashSet};

use lamina_types::{ActorId, ErrorCode, Role};

use super::BrokenChains;
use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::fields::text_of;
use super::row::{ForeignRow, Place, RowContent, TimeBasis};
use super::sink::RowSink;
use crate::json::{Value, to_compact};
use crate::source::SourceEntry;
use crate::time::{NaiveTimes, parse as parse_time};

/// The member of a manifest that names the version of the format.
pub(super) const MANIFEST_MEMBER: &str = "aegx_version";
const RECORDS: &str = "records.jsonl";
/// Files that verification reads, and nobody else.
const PROOFS: [&str; 3] = ["manifest.json", "audit-log.jsonl", ".keep"];
const TAINT_LABEL: &str = "taint:";
/// The label of events from a bundle that does not verify.
const UNVERIFIED_LABEL: &str = "evidence:unverified";
/// Names of members that hold the words of a message, in the order in which they are tried.
const WORDS: [&str; 5] = ["text", "content", "message", "body", "output"];

const NO_MEMORY: &str = "evidence about events, not a memory; verify the bundle to read it";
const BLOB: &str = "its content is a blob, which an import does not take";

pub(super) struct EvidenceMapper {
    broken_chains: BrokenChains,
    /// The session of each record, by its id.
    sessions: HashMap<String, String>,
    /// Records that became rows.
    rows: HashSet<String>,
}

impl EvidenceMapper {
    pub(super) fn new(broken_chains: BrokenChains) -> EvidenceMapper {
        EvidenceMapper { broken_chains, sessions: HashMap::new(), rows: HashSet::new() }
    }

    /// The session that a record belongs to: the one that it begins, or that of its first parent.
    fn note_session(&mut self, record: &EvidenceRecord<'_>) {
        let stated = ["session", "sessionId", "session_id"];
        let own = record.native().and_then(|native| text_of(native, &stated));
        let own = own.or_else(|| text_of(record.value.get("meta")?, &stated));
        let session = match (own, record.kind) {
            (Some(own), _) => Some(own.to_owned()),
            // A bundle of Lamina names its sessions; events without one stay without.
            (None, "SessionStart") if record.native().is_none() => {
                Some(record.id.get(..12).unwrap_or(record.id).to_owned())
            }
            _ => record.parents().find_map(|parent| self.sessions.get(parent).cloned()),
        };
        if let Some(session) = session {
            self.sessions.insert(record.id.to_owned(), session);
        }
    }
}

impl Mapper for EvidenceMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        steps_for(entries, FileLayout::Json(&[]), |entry| entry.file_name() == RECORDS)
    }

    fn needs(&self, entry: &SourceEntry) -> bool {
        PROOFS.contains(&entry.file_name())
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { body: InputBody::Object { value, .. }, place, .. } = input else { return };
        let Some(record) = EvidenceRecord::read(&value) else {
            return sink.fail(&place, ErrorCode::InvalidBody, "the line is no record of a bundle");
        };
        self.note_session(&record);
        let row = match record.row(&place, sink) {
            Ok(row) => row,
            Err(why) => return sink.account.skip(why, 1),
        };
        let Ok(at) = parse_time(record.time(), NaiveTimes::Refuse) else {
            return sink.fail(&place, ErrorCode::InvalidTimestamp, "the record has no time");
        };
        let mut row = row.at(Some(at.at), TimeBasis::Stated);
        row.session = self.sessions.get(record.id).cloned();
        row.actor = record.actor();
        for taint in record.texts("taint") {
            row.label(format!("{TAINT_LABEL}{taint}"));
        }
        if self.broken_chains == BrokenChains::Label {
            row.label(UNVERIFIED_LABEL);
        }
        let parents = record.parents().filter(|parent| self.rows.contains(*parent));
        row.preceded_by = parents.map(str::to_owned).collect();
        row.origin = sink.origin([("record", record.without_words())]);
        self.rows.insert(record.id.to_owned());
        sink.account.keep("taint", "labels");
        sink.account.keep("principal, meta, parents", "origin");
        sink.push(row.with_id(record.id));
    }
}

/// A record of a bundle as it was read.
struct EvidenceRecord<'a> {
    value: &'a Value,
    id: &'a str,
    kind: &'a str,
    principal: &'a str,
}

impl<'a> EvidenceRecord<'a> {
    fn read(value: &'a Value) -> Option<EvidenceRecord<'a>> {
        Some(EvidenceRecord {
            value,
            id: value.get("recordId")?.as_str()?,
            kind: value.get("type")?.as_str()?,
            principal: value.get("principal")?.as_str()?,
        })
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &'a str> {
        let elements = self.value.get(name).and_then(Value::as_array).unwrap_or_default();
        elements.iter().filter_map(Value::as_str)
    }

    fn parents(&self) -> impl Iterator<Item = &'a str> {
        self.texts("parents")
    }

    /// The metadata that Lamina wrote.
    fn native(&self) -> Option<&'a Value> {
        self.value.get("meta")?.get("lamina")
    }

    /// When it happened, as far as the record says.
    fn time(&self) -> &'a str {
        let observed = self.native().and_then(|native| text_of(native, &["observed_at"]));
        let stated = || self.value.get("meta").and_then(|meta| text_of(meta, &["ts"]));
        observed.or_else(stated).unwrap_or_default()
    }

    /// The row, or why there is none.
    fn row(&self, place: &Place, sink: &mut RowSink) -> Result<ForeignRow, &'static str> {
        let role = match (self.kind, self.principal) {
            ("SessionMessage", "SKILL") => Role::Assistant,
            ("SessionMessage", "TOOL") | ("ToolResult", _) => Role::Tool,
            ("SessionMessage", _) => Role::User,
            ("FileRead", _) => return self.document(place),
            _ => return Err(NO_MEMORY),
        };
        let content = self.content()?;
        if content.get("erased").is_some() {
            return Err("its words were erased before the bundle was made");
        }
        if let Some(words) = words_of(content) {
            let stated = text_of(content, &["role"]);
            let stated = Role::ALL.iter().copied().find(|own| Some(own.as_str()) == stated);
            sink.account.keep("payload", "words of messages");
            // A caller speaks for itself: words never come in as those of the system.
            let role = stated.filter(|role| *role != Role::System).unwrap_or(role);
            return Ok(ForeignRow::message(place, role, words));
        }
        sink.account.keep("payload", "JSON");
        Ok(ForeignRow::new(place, RowContent::Json { data: to_compact(content) }))
    }

    fn document(&self, place: &Place) -> Result<ForeignRow, &'static str> {
        let content = self.content()?;
        let text = words_of(content).map_or_else(|| to_compact(content), str::to_owned);
        Ok(ForeignRow { modality: "document", ..ForeignRow::text(place, text) })
    }

    fn content(&self) -> Result<&'a Value, &'static str> {
        self.value.get("payload").and_then(|payload| payload.get("inline")).ok_or(BLOB)
    }

    fn actor(&self) -> Option<ActorId> {
        self.native().and_then(|native| text_of(native, &["actor"])?.parse().ok())
    }

    /// The record without the words that stand in the event.
    fn without_words(&self) -> Value {
        let mut rest = self.value.clone();
        drop(rest.take("payload"));
        rest
    }
}

/// The words of a payload: itself, or a member that is named for them.
fn words_of(content: &Value) -> Option<&str> {
    let words = content.as_str().or_else(|| text_of(content, &WORDS));
    words.filter(|words| !words.trim().is_empty())
}
