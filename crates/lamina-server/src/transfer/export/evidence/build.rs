//! The records of a bundle, in the order of the log, with their parents.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use lamina_aegx::proof::{ProofBuilder, ProofEntry, ProofHeader};
use lamina_aegx::pseudonym::PseudonymKey;
use lamina_aegx::write::{
    BundleSink, BundleWriter, MemorySink, NativeEntry, NativeMeta, RecordDraft, WriteOptions,
};
use lamina_aegx::{Hash, MemoryBundle, Payload, Principal, RecordType, Taint, TaintSet};
use lamina_engine::read::export::{
    AnswerNote, ChainEvent, ChainItem, ChainSubject, ControlAction, ControlNote, EventAdmission,
    SignedEnd,
};
use lamina_portable::json::Value;
use lamina_portable::loss::LossAccount;
use lamina_portable::time;
use lamina_types::audit::AuditRow;
use lamina_types::stdx::hex;
use lamina_types::{ActorId, BlobId, EventId, EventRecord, Micros};

use super::super::ExportPlan;
use super::super::evidence_terms::EvidenceTerms;
use super::gather::{BlobEvidence, Evidence, RefusalsOf, blobs_of};
use super::origin::{EventOrigin, UNKNOWN_ORIGIN, principal_of};
use super::{BUNDLE_BYTES_MAX, RECORDS_MAX, failure_of, payload, too_large};
use crate::http::failure::{Failure, internal};

/// The program in the manifest.
const GENERATOR: &str = concat!("lamina/", env!("CARGO_PKG_VERSION"));
/// The type of a session in pseudonyms.
const SESSION_KIND: &str = "session:";

/// A bundle that was made.
pub(super) struct BuiltBundle {
    pub(super) bundle: MemoryBundle,
    pub(super) account: LossAccount,
}

/// Makes the bundle of a scope.
pub(super) fn build(
    evidence: Evidence,
    plan: &ExportPlan,
    terms: &EvidenceTerms,
) -> Result<BuiltBundle, Failure> {
    let Evidence { items, end, blobs, refusals, refusals_of } = evidence;
    let pseudonyms = terms.pseudonym_key.map(PseudonymKey::new);
    let meta = manifest_meta(plan, &items, end.as_deref(), (refusals_of, pseudonyms.as_ref()));
    let options = WriteOptions { created_at: terms.created_at, meta, pseudonyms };
    let mut builder = Builder {
        writer: BundleWriter::new(BoundedSink::default(), options),
        pseudonyms,
        scope: plan.point.scope.to_string(),
        blobs,
        written_blobs: HashMap::new(),
        sessions: HashMap::new(),
        by_offset: HashMap::new(),
        by_event: HashMap::new(),
        session_of: HashMap::new(),
        first: None,
        last: None,
        records: 0,
        account: LossAccount::default(),
    };
    let mut refusals = refusals.iter().peekable();
    for item in &items {
        while let Some(row) = refusals.next_if(|row| row.at <= item.recorded_at.0) {
            builder.refusal(row)?;
        }
        builder.item(item)?;
    }
    for row in refusals {
        builder.refusal(row)?;
    }
    if let Some(end) = &end {
        builder.prove(&items, end)?;
    }
    builder.finish()
}

/// The members of the manifest about the bundle.
fn manifest_meta(
    plan: &ExportPlan,
    items: &[ChainItem],
    end: Option<&SignedEnd>,
    (refusals, pseudonyms): (RefusalsOf, Option<&PseudonymKey>),
) -> Vec<(String, Value)> {
    let scope = plan.point.scope.as_str();
    let scope = pseudonyms.map_or_else(|| scope.to_owned(), |key| key.pseudonym(scope));
    let refusals = match refusals {
        RefusalsOf::Nobody => "none",
        RefusalsOf::Caller => "own",
        RefusalsOf::Everybody => "all",
    };
    let mut meta: Vec<(&str, Value)> = vec![
        ("generator", GENERATOR.into()),
        ("scope", scope.into()),
        ("as_of", time::print(plan.point.recorded.0).into()),
        ("refusals", refusals.into()),
        ("pseudonymous", pseudonyms.is_some().into()),
    ];
    if let (Some(first), Some(last)) = (items.first(), items.last()) {
        let range = Value::object([
            ("from", Value::count(first.scope_seq)),
            ("to", Value::count(last.scope_seq)),
        ]);
        meta.push(("range", range));
    }
    if let Some(end) = end {
        meta.push(("log_id", hex::encode(&end.tip.log_id).into()));
        meta.push(("epoch", Value::count(end.tip.epoch.into())));
        meta.push(("checkpoint", payload::checkpoint(&end.tip)));
    }
    meta.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

struct Builder {
    writer: BundleWriter<BoundedSink>,
    pseudonyms: Option<PseudonymKey>,
    scope: String,
    blobs: BTreeMap<BlobId, BlobEvidence>,
    written_blobs: HashMap<BlobId, Hash>,
    /// The record that begins each session.
    sessions: HashMap<String, Hash>,
    by_offset: HashMap<u64, Hash>,
    by_event: HashMap<EventId, Hash>,
    /// The session of each event, to find parents in other sessions.
    session_of: HashMap<EventId, String>,
    /// The first record. Others without a parent of their own hang on it: a manifest lists its roots in one line.
    first: Option<Hash>,
    last: Option<Hash>,
    records: u64,
    account: LossAccount,
}

impl Builder {
    fn item(&mut self, item: &ChainItem) -> Result<(), Failure> {
        match &item.subject {
            ChainSubject::Event(event) => self.event(item, event),
            ChainSubject::Answer(note) => self.answer(item, note.as_ref()),
            ChainSubject::Control(note) => self.control(item, note),
            // The proof has its head, and it has no other content.
            ChainSubject::Other => Ok(()),
        }
    }

    fn event(&mut self, item: &ChainItem, event: &ChainEvent) -> Result<(), Failure> {
        let id = match &event.record {
            Some((record, admission)) => self.live_event(item, record, admission)?,
            None => {
                self.account.count_row("erased");
                let mut draft = self.draft(item, NativeEntry::Experience, payload::erased(item));
                draft.meta.event_id = Some(event.id.to_string());
                self.write(with_origin(draft, UNKNOWN_ORIGIN))?
            }
        };
        self.by_offset.insert(item.offset, id);
        self.by_event.insert(event.id, id);
        Ok(())
    }

    fn live_event(
        &mut self,
        item: &ChainItem,
        record: &EventRecord,
        admission: &EventAdmission,
    ) -> Result<Hash, Failure> {
        self.account.count_row("event");
        let own = &record.experience;
        let origin = EventOrigin::of(record);
        let session = own.observed_actor.session.clone().unwrap_or_default();
        let start = self.session_start(&session, item)?;
        let mut parents = vec![start];
        let mut is_crossing = false;
        let mut missing = 0;
        for before in &own.context.preceded_by {
            match self.by_event.get(before) {
                Some(parent) => parents.push(*parent),
                None => missing += 1,
            }
            is_crossing |= self.session_of.get(before).is_some_and(|other| *other != session);
        }
        for blob in blobs_of(&own.content) {
            parents.push(self.blob(blob, item, (origin.principal, start))?);
        }
        let mut draft = self.draft(item, NativeEntry::Experience, payload::event(record));
        draft.parents = parents;
        draft.identifiers = vec![own.subject.to_string(), record.caller.to_string()];
        let meta = &mut draft.meta;
        meta.observed_at = Some(own.context.observed_at.0);
        meta.event_id = Some(record.id.to_string());
        meta.actor = Some(own.observed_actor.id.to_string());
        meta.missing_parents = missing;
        meta.further = self.event_members(record, admission, &session);
        draft = with_origin(draft, origin);
        if is_crossing {
            draft.taint = draft.taint.union(TaintSet::new(&[Taint::CrossSession]));
        }
        self.session_of.insert(record.id, session);
        self.write(draft)
    }

    fn event_members(
        &self,
        record: &EventRecord,
        admission: &EventAdmission,
        session: &str,
    ) -> Vec<(String, Value)> {
        let caller = self.shown(record.caller.as_str());
        let mut members: Vec<(&str, Value)> = vec![("caller", caller.into())];
        if !session.is_empty() {
            members.push(("session", self.shown_session(session).into()));
        }
        if !admission.decision.is_empty() {
            members.push(("decision", admission.decision.as_str().into()));
        }
        members.push(("audit_id", admission.audit_id.as_str().into()));
        members.push(("number", Value::count(record.number)));
        members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// An identifier, or its pseudonym.
    fn shown(&self, identifier: &str) -> String {
        let key = self.pseudonyms.as_ref();
        key.map_or_else(|| identifier.to_owned(), |key| key.pseudonym(identifier))
    }

    fn shown_session(&self, session: &str) -> String {
        match &self.pseudonyms {
            Some(key) => key.pseudonym(&format!("{SESSION_KIND}{}", session.replace('/', "-"))),
            None => session.to_owned(),
        }
    }

    /// The record that begins a session, written with its first event.
    fn session_start(&mut self, session: &str, item: &ChainItem) -> Result<Hash, Failure> {
        if let Some(start) = self.sessions.get(session) {
            return Ok(*start);
        }
        let mut meta = NativeMeta::new(NativeEntry::Derived, item.recorded_at.0);
        meta.scope = Some(self.scope.clone());
        if !session.is_empty() {
            let shown = self.shown_session(session);
            meta.further.push(("session".to_owned(), shown.into()));
        }
        let start = self.write(RecordDraft {
            kind: RecordType::SessionStart,
            principal: Principal::System,
            taint: TaintSet::NONE,
            parents: Vec::new(),
            meta,
            payload: Payload::Inline(Value::object([])),
            identifiers: Vec::new(),
        })?;
        self.sessions.insert(session.to_owned(), start);
        Ok(start)
    }

    /// The record of a blob, written with the first event that names it.
    fn blob(
        &mut self,
        id: BlobId,
        item: &ChainItem,
        (principal, session): (Principal, Hash),
    ) -> Result<Hash, Failure> {
        if let Some(written) = self.written_blobs.get(&id) {
            return Ok(*written);
        }
        let shape = |content_type: &str, size: u64, sha256: &[u8; 32]| {
            Value::object([
                ("blob_id", id.to_string().into()),
                ("content_type", content_type.into()),
                ("size", Value::count(size)),
                ("sha256", hex::encode(sha256).into()),
            ])
        };
        let content = match self.blobs.remove(&id) {
            Some(BlobEvidence::Whole { content_type, bytes }) => {
                self.account.count_row("blob");
                let reference = self.writer.blob(&bytes, &content_type).map_err(failure_of)?;
                Payload::Blob(reference)
            }
            Some(BlobEvidence::Hash { content_type, size, sha256 }) => {
                self.account.lose("blobs", "a blob of more than 16 MiB leaves as its hash");
                Payload::Inline(shape(&content_type, size, &sha256))
            }
            Some(BlobEvidence::Missing) | None => {
                self.account.lose("blobs", "the bytes are gone or may not be read");
                Payload::Inline(Value::object([("blob_id", id.to_string().into())]))
            }
        };
        let mut meta = NativeMeta::new(NativeEntry::Derived, item.recorded_at.0);
        meta.further.push(("blob_id".to_owned(), id.to_string().into()));
        let taints: &[Taint] = match principal {
            Principal::User | Principal::System => &[],
            _ => &[Taint::Untrusted],
        };
        let written = self.write(RecordDraft {
            kind: RecordType::FileWrite,
            principal,
            taint: TaintSet::new(taints),
            parents: vec![session],
            meta,
            payload: content,
            identifiers: Vec::new(),
        })?;
        self.written_blobs.insert(id, written);
        Ok(written)
    }

    /// The records of an answer: a commit, after the output of a model, and before the verdict of the gate.
    fn answer(&mut self, item: &ChainItem, note: Option<&AnswerNote>) -> Result<(), Failure> {
        self.account.count_row("answer");
        let mut parents = self.causes(item);
        let content = note.map_or_else(|| payload::erased(item), payload::answer);
        if note.is_some_and(|note| note.is_model) {
            let mut result = self.draft(item, NativeEntry::Derived, content.clone());
            result.meta.seal = None;
            result.meta.prev_seal = None;
            result.kind = RecordType::ToolResult;
            result.principal = Principal::Tool;
            result.taint = TaintSet::new(&[Taint::ToolOutput, Taint::Untrusted]);
            result.parents.clone_from(&parents);
            parents.push(self.write(result)?);
        }
        let mut draft = self.draft(item, NativeEntry::Answer, content);
        draft.kind = RecordType::MemoryCommitRequest;
        draft.parents = parents;
        let commit = self.write(draft)?;
        self.by_offset.insert(item.offset, commit);
        if let Some(note) = note.filter(|note| note.refused + note.echoes > 0) {
            let mut draft = self.draft(item, NativeEntry::Derived, payload::gate(note));
            draft.meta.seal = None;
            draft.meta.prev_seal = None;
            draft.kind = RecordType::GuardDecision;
            draft.parents = vec![commit];
            self.write(draft)?;
        }
        Ok(())
    }

    fn control(&mut self, item: &ChainItem, note: &ControlNote) -> Result<(), Failure> {
        self.account.count_row("change");
        let principal = principal_of(note.caller.as_ref());
        let tool = TaintSet::new(&[Taint::ToolOutput]);
        let (kind, principal, taint) = match note.action {
            ControlAction::Remove => (RecordType::FileDelete, principal, TaintSet::NONE),
            ControlAction::Rule => {
                (RecordType::ControlPlaneChangeRequest, principal, TaintSet::NONE)
            }
            ControlAction::Ask => (RecordType::ToolCall, Principal::System, TaintSet::NONE),
            ControlAction::Answer => (RecordType::ToolResult, Principal::Tool, tool),
            ControlAction::Decide => (RecordType::GuardDecision, principal, TaintSet::NONE),
            ControlAction::Commit | ControlAction::Note => {
                (RecordType::MemoryCommitRequest, principal, TaintSet::NONE)
            }
        };
        let mut draft = self.draft(item, NativeEntry::Control, payload::control(note, item));
        (draft.kind, draft.principal, draft.taint) = (kind, principal, taint);
        draft.parents = self.causes(item);
        draft.meta.actor = note.caller.as_ref().map(ActorId::to_string);
        let id = self.write(draft)?;
        self.by_offset.insert(item.offset, id);
        Ok(())
    }

    /// A request that the policy refused.
    fn refusal(&mut self, row: &AuditRow) -> Result<(), Failure> {
        self.account.count_row("refusal");
        let mut meta = NativeMeta::new(NativeEntry::Derived, row.at);
        meta.scope = Some(self.scope.clone());
        let actor = row.who.as_ref().and_then(|who| who.actor.as_ref());
        meta.actor = actor.map(ActorId::to_string);
        self.write(RecordDraft {
            kind: RecordType::GuardDecision,
            principal: Principal::System,
            taint: TaintSet::NONE,
            parents: Vec::new(),
            meta,
            payload: Payload::Inline(payload::refusal(row)),
            identifiers: Vec::new(),
        })?;
        Ok(())
    }

    /// The records of the entries that an entry stands on, each once.
    fn causes(&self, item: &ChainItem) -> Vec<Hash> {
        let mut seen = HashSet::new();
        let known = item.causes.iter().filter_map(|offset| self.by_offset.get(offset).copied());
        known.filter(|id| seen.insert(*id)).collect()
    }

    /// A record of an entry of the chain.
    fn draft(&self, item: &ChainItem, entry: NativeEntry, content: Value) -> RecordDraft {
        let mut meta = NativeMeta::new(entry, item.recorded_at.0);
        meta.seal = Some(item.seal);
        meta.prev_seal = Some(item.prev_seal);
        meta.scope_seq = Some(item.scope_seq);
        meta.scope = Some(self.scope.clone());
        RecordDraft {
            kind: RecordType::MemoryCommitRequest,
            principal: Principal::System,
            taint: TaintSet::NONE,
            parents: Vec::new(),
            meta,
            payload: Payload::Inline(content),
            identifiers: Vec::new(),
        }
    }

    fn write(&mut self, mut draft: RecordDraft) -> Result<Hash, Failure> {
        self.records += 1;
        if self.records > RECORDS_MAX {
            return Err(too_large());
        }
        if draft.parents.is_empty() {
            draft.parents.extend(self.first);
        }
        let id = self.writer.record(draft).map_err(failure_of)?;
        self.first.get_or_insert(id);
        self.last = Some(id);
        Ok(id)
    }

    /// Writes the checkpoint, and as the last record the proof that leads to it.
    fn prove(&mut self, items: &[ChainItem], end: &SignedEnd) -> Result<(), Failure> {
        let scope = self.shown(&self.scope);
        let header = ProofHeader {
            log_id: end.tip.log_id,
            epoch: end.tip.epoch,
            scope: &scope,
            after: lamina_aegx::proof::ChainPoint::START,
            tip: Some(end.tip_before),
        };
        let mut proof = ProofBuilder::new(&header);
        for item in items {
            let entry = ProofEntry { head: &item.head, who: None, what: None };
            proof.entry(&entry).map_err(|error| internal(error.to_string()))?;
        }
        for batch in &end.batches {
            proof.batch(batch.number, &batch.seals);
        }
        proof.checkpoint(&end.checkpoint);
        let at: Micros = items.last().map_or(end.tip.recorded_at, |last| last.recorded_at).0;
        let snapshot = |parents| RecordDraft {
            kind: RecordType::Snapshot,
            principal: Principal::System,
            taint: TaintSet::NONE,
            parents,
            meta: NativeMeta::new(NativeEntry::Derived, at),
            payload: Payload::Inline(payload::checkpoint(&end.tip)),
            identifiers: Vec::new(),
        };
        let checkpoint = self.write(snapshot(self.last.into_iter().collect()))?;
        self.writer.prove(proof, snapshot(vec![checkpoint])).map_err(failure_of)?;
        Ok(())
    }

    fn finish(mut self) -> Result<BuiltBundle, Failure> {
        let changed = self.writer.changed_numbers();
        for _ in 0..changed {
            self.account.change("numbers", "a number that readers round is written as a string");
        }
        let sink = self.writer.finish().map_err(failure_of)?;
        Ok(BuiltBundle { bundle: sink.files.into_bundle(), account: self.account })
    }
}

fn with_origin(draft: RecordDraft, origin: EventOrigin) -> RecordDraft {
    let EventOrigin { kind, principal, taint } = origin;
    RecordDraft { kind, principal, taint, ..draft }
}

/// A sink in memory that refuses more bytes than a bundle may have.
#[derive(Debug, Default)]
struct BoundedSink {
    files: MemorySink,
    bytes: u64,
}

impl BoundedSink {
    fn count(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        match self.bytes > BUNDLE_BYTES_MAX {
            true => Err(io::ErrorKind::FileTooLarge.into()),
            false => Ok(()),
        }
    }
}

impl BundleSink for BoundedSink {
    fn record(&mut self, line: &[u8]) -> io::Result<()> {
        self.count(line)?;
        self.files.record(line)
    }

    fn audit_entry(&mut self, line: &[u8]) -> io::Result<()> {
        self.count(line)?;
        self.files.audit_entry(line)
    }

    fn blob(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.count(bytes)?;
        self.files.blob(name, bytes)
    }

    fn manifest(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.files.manifest(bytes)
    }
}
