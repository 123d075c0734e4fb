//! Portable memory stores. Every document is validated before a row of it is made; a document that breaks
//! a rule costs all of its rows, and the error names the rule and the place.
//!
//! Our own records come back as they were: events by their lines, derived records by deriving them again.
//! A memory of another program becomes a text whose `origin` holds the rest of it.

use std::collections::{BTreeMap, BTreeSet};

use lamina_types::{ErrorCode, EventId};
use sha2::{Digest as _, Sha256};

use super::driver::{FileLayout, Input, InputBody, Mapper, ReadStep, steps_for};
use super::jsonl;
use super::row::{ForeignRow, Place, RowContent};
use super::sink::RowSink;
use crate::export::LineKind;
use crate::json::{ReadPolicy, Value, parse, to_compact};
use crate::pam::{
    BundleFile, Container, Document, DocumentKind, Finding, Level, NativeRecord, SignatureState,
    read,
};
use crate::source::SourceEntry;

mod conversations;
mod memories;

const STORE: u8 = 0;
const CONVERSATION: u8 = 1;
const EMBEDDINGS: u8 = 2;

const DERIVED: &str = "a derived record; it is derived again from its events";
/// Findings of one document that are reported one by one.
const FINDINGS_SHOWN_MAX: usize = 10;

#[derive(Default)]
pub(super) struct PamMapper {
    /// Whether a signature that holds is demanded.
    requires_signature: bool,
    /// Whether the store was refused: then its conversations are not taken either.
    is_refused: bool,
    /// Facts that may have no events in the bundle.
    facts: Vec<memories::NativeFact>,
    /// Events of the bundle.
    events: BTreeSet<String>,
    /// Entries of the index by id: the title and times of conversations that are kept elsewhere.
    index: BTreeMap<String, Value>,
}

impl PamMapper {
    pub(super) fn new(requires_signature: bool) -> PamMapper {
        PamMapper { requires_signature, ..PamMapper::default() }
    }
}

fn phase_of(entry: &SourceEntry, is_single: bool) -> Option<u8> {
    match entry.file_name() {
        _ if is_single => Some(STORE),
        "memory-store.json" => Some(STORE),
        "embeddings.json" => Some(EMBEDDINGS),
        name if name.ends_with(".json") && entry.name.contains("conversations/") => {
            Some(CONVERSATION)
        }
        _ => None,
    }
}

impl Mapper for PamMapper {
    fn steps(&self, entries: &[SourceEntry]) -> Vec<ReadStep> {
        let is_single = entries.len() == 1;
        let is_wanted = |entry: &SourceEntry| phase_of(entry, is_single).is_some();
        let mut steps = steps_for(entries, FileLayout::Text, is_wanted);
        for step in &mut steps {
            let entry = entries.get(step.entry);
            step.phase = entry.and_then(|entry| phase_of(entry, is_single)).unwrap_or(STORE);
        }
        // The store says whether the rest may be read.
        steps.sort_by_key(|step| (step.phase, step.entry));
        steps
    }

    fn map(&mut self, input: Input, sink: &mut RowSink) {
        let Input { phase, body: InputBody::Text(text), place, .. } = input else { return };
        if phase == EMBEDDINGS {
            return sink.account.lose("embeddings", "vectors are computed again");
        }
        if self.is_refused {
            return sink.account.lose("conversations", "the store of the bundle was refused");
        }
        let Some(document) = self.document(text, &place, sink) else { return };
        match document.kind {
            DocumentKind::Store => self.map_store(&document.value, &place, sink),
            DocumentKind::Conversation => self.map_conversation(&document.value, &place, sink),
            DocumentKind::Embeddings => {
                sink.account.lose("embeddings", "vectors are computed again");
            }
        }
    }

    fn finish(&mut self, sink: &mut RowSink) {
        for fact in std::mem::take(&mut self.facts) {
            match fact.supports.iter().any(|id| self.events.contains(id)) {
                true => sink.account.skip(DERIVED, 1),
                false => memories::push_fact(fact, sink),
            }
        }
        let kept = self.index.len() as u64;
        for _ in 0..kept {
            let why = "a conversation that is kept elsewhere is not fetched";
            sink.account.lose("conversations_index[].storage", why);
        }
    }
}

impl PamMapper {
    /// Validates a document.
    fn document(&mut self, text: String, place: &Place, sink: &mut RowSink) -> Option<Document> {
        let file = BundleFile { name: place.file.clone(), bytes: text.into_bytes() };
        let bundle = read(Container::File, std::slice::from_ref(&file));
        drop(file);
        let report = bundle.report;
        let document = bundle.documents.into_iter().next();
        let is_store = document.as_ref().is_none_or(|one| one.kind == DocumentKind::Store);
        let mut errors = report.findings().iter().filter(|found| found.level == Level::Error);
        if !report.is_valid() {
            for finding in errors.by_ref().take(FINDINGS_SHOWN_MAX) {
                sink.fail(place, ErrorCode::InvalidBody, sentence(finding));
            }
            self.is_refused |= is_store;
            return None;
        }
        for finding in report.findings() {
            let why = match finding.level {
                Level::Note => "the document is valid, with a note of the validator",
                _ => "the document is valid, with a warning of the validator",
            };
            sink.account.change(finding.rule.name(), why);
        }
        if is_store {
            match report.signature {
                SignatureState::Verified => sink.account.keep("signature", "verified"),
                SignatureState::Unsigned | SignatureState::Failed if self.requires_signature => {
                    let detail = "the store has no signature that holds, and one is required";
                    sink.fail(place, ErrorCode::InvalidBody, detail);
                    self.is_refused = true;
                    return None;
                }
                SignatureState::Unsigned => {}
                SignatureState::Failed => {
                    sink.account.change("signature", "the signature does not hold");
                }
            }
        }
        document
    }

    /// Takes one of our own records. `false` if it is not one that is read back.
    fn take_native(&mut self, native: &NativeRecord, place: &Place, sink: &mut RowSink) -> bool {
        let Ok(line) = parse(native.record.as_bytes(), &ReadPolicy::STRICT) else { return false };
        let mark = line.get("lamina");
        let kind = mark.and_then(|mark| mark.get("line")).and_then(Value::as_str);
        let kind = kind.and_then(LineKind::find);
        let id = mark.and_then(|mark| mark.get("id")).and_then(Value::as_str).unwrap_or_default();
        match (native.layer.as_str(), kind) {
            ("event", Some(LineKind::Event)) => {
                self.events.insert(id.to_owned());
                jsonl::map_line(line, place, sink);
            }
            ("decision", Some(kind)) if !kind.is_derived() && kind != LineKind::Event => {
                jsonl::map_line(line, place, sink);
            }
            ("fact", Some(LineKind::Fact)) => {
                let id = id.to_owned();
                self.facts.extend(memories::NativeFact::read(&line, id, place));
            }
            ("belief" | "episode" | "concept", Some(kind)) if kind.is_derived() => {
                sink.account.skip(DERIVED, 1);
            }
            _ => return false,
        }
        true
    }
}

/// The source id of a memory: the id of our own event, else one that is made from the id.
fn source_id(id: &str) -> String {
    if id.parse::<EventId>().is_ok() {
        return id.to_owned();
    }
    let digest: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    let (short, _) = digest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
    EventId::from_bytes(*short).to_string()
}

/// Cancels the event of a row, once all rows are written.
fn push_cancellation(id: &str, place: &Place, sink: &mut RowSink) {
    let body = Value::object([("event", Value::from(id))]);
    let line = RowContent::Line { line: LineKind::Cancellation.as_str(), body: to_compact(&body) };
    sink.push(ForeignRow::new(place, line).with_id(format!("{id}/cancelled")));
}

fn sentence(finding: &Finding) -> String {
    let Finding { rule, place, message, .. } = finding;
    let place = if place.is_empty() { "/" } else { place };
    format!("{} at {}: {message}", rule.name(), crate::quote(place))
}
