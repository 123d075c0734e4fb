//! The writer: records with lineage of taint, their audit log, blobs and manifest.
//!
//! It stays inside the part of the format that every reader hashes alike: integers below 2^53 and
//! strings. The same input gives the same bytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use lamina_portable::canon::{self, CanonError};
use lamina_portable::json::{JsonText, Member, Value, to_compact};
use lamina_portable::time;
use lamina_portable::zip::{ZipError, ZipWriter};
use lamina_types::Micros;
use lamina_types::stdx::hex;

use crate::digest::{Payload, PayloadParts, RecordParts, entry_hash, record_id, sha256};
use crate::model::{BlobReference, Hash, Principal, RecordType, TaintSet, ZERO_HASH};
use crate::proof::{PROOF_MIME, ProofBuilder, manifest_digest};
use crate::pseudonym::PseudonymKey;
use crate::source::MemoryBundle;
use crate::{AUDIT_LOG, BLOBS, MANIFEST, RECORDS};

mod safe;

/// Bytes of a payload that stands in its record; a larger one becomes a blob.
pub const INLINE_BYTES_MAX: usize = 1 << 20;
/// Integers that every reader keeps exact end before this.
const SAFE_INTEGER_MAX: u64 = (1 << 53) - 1;

/// The settings of a bundle.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The time of the manifest.
    pub created_at: Micros,
    /// Members of the manifest about the bundle.
    pub meta: Vec<(String, Value)>,
    /// The key of pseudonyms, if people are not to be named.
    pub pseudonyms: Option<PseudonymKey>,
}

/// The kind of log entry that a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeEntry {
    /// A memory event of the scope of the bundle.
    Experience,
    /// A memory event of another scope, which the bundle needs as a parent.
    Related,
    /// An answer of an extractor.
    Answer,
    /// A change of state.
    Control,
    /// No entry: the record was made for the bundle.
    Derived,
}

impl NativeEntry {
    fn name(self) -> &'static str {
        match self {
            NativeEntry::Experience => "experience",
            NativeEntry::Related => "related",
            NativeEntry::Answer => "answer",
            NativeEntry::Control => "control",
            NativeEntry::Derived => "derived",
        }
    }
}

/// The metadata of a record.
#[derive(Debug, Clone)]
pub struct NativeMeta {
    /// The kind of entry.
    pub entry: NativeEntry,
    /// When it was recorded: the time of the record.
    pub recorded_at: Micros,
    /// When it happened.
    pub observed_at: Option<Micros>,
    /// The id of the event.
    pub event_id: Option<String>,
    /// The seal of the entry.
    pub seal: Option<[u8; 32]>,
    /// The seal before it.
    pub prev_seal: Option<[u8; 32]>,
    /// The position in the chain of the scope.
    pub scope_seq: Option<u64>,
    /// The path of the scope.
    pub scope: Option<String>,
    /// The actor.
    pub actor: Option<String>,
    /// Parents that the bundle does not hold.
    pub missing_parents: u64,
    /// Further members, in order.
    pub further: Vec<(String, Value)>,
}

impl NativeMeta {
    /// Metadata with nothing but its entry and its time.
    pub fn new(entry: NativeEntry, recorded_at: Micros) -> NativeMeta {
        NativeMeta {
            entry,
            recorded_at,
            observed_at: None,
            event_id: None,
            seal: None,
            prev_seal: None,
            scope_seq: None,
            scope: None,
            actor: None,
            missing_parents: 0,
            further: Vec::new(),
        }
    }
}

/// A record to write.
#[derive(Debug, Clone)]
pub struct RecordDraft {
    /// The type.
    pub kind: RecordType,
    /// The party that acted.
    pub principal: Principal,
    /// Its own taints; those of its parents are added.
    pub taint: TaintSet,
    /// Earlier records of the bundle.
    pub parents: Vec<Hash>,
    /// The metadata.
    pub meta: NativeMeta,
    /// The content.
    pub payload: Payload,
    /// Identifiers of people that the payload may name, for pseudonyms.
    pub identifiers: Vec<String>,
}

/// Why a bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// A parent that was not written before.
    #[error("the parent {} was not written before its child", hex::encode(.0))]
    UnknownParent(Hash),
    /// A blob that was not written before.
    #[error("the blob {} was not written before the record that names it", hex::encode(.0))]
    UnknownBlob(Hash),
    /// Two keys of one object that are one text.
    #[error("two keys of one object are one text after normalization")]
    Keys,
    /// A value that is nested too deep.
    #[error("a value is nested deeper than {0} levels")]
    Depth(usize),
    /// A record after the native proof.
    #[error("the native proof is the last record")]
    AfterProof,
    /// A value without a canonical form.
    #[error("a value has no canonical form")]
    Canon(#[from] CanonError),
    /// A sink that failed.
    #[error("writing the bundle failed")]
    Io(#[from] io::Error),
}

/// Takes the parts of a bundle while they are made.
pub trait BundleSink {
    /// A line of the records, with its end.
    fn record(&mut self, line: &[u8]) -> io::Result<()>;
    /// A line of the audit log, with its end.
    fn audit_entry(&mut self, line: &[u8]) -> io::Result<()>;
    /// A blob. Each is given once.
    fn blob(&mut self, name: &str, bytes: &[u8]) -> io::Result<()>;
    /// The manifest, at the end.
    fn manifest(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// A sink in memory.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    files: BTreeMap<String, Vec<u8>>,
}

impl MemorySink {
    /// The bundle, its files sorted by path.
    pub fn into_bundle(mut self) -> MemoryBundle {
        self.files.entry(RECORDS.to_owned()).or_default();
        self.files.entry(AUDIT_LOG.to_owned()).or_default();
        MemoryBundle::new(self.files)
    }

    fn append(&mut self, file: &str, bytes: &[u8]) {
        self.files.entry(file.to_owned()).or_default().extend_from_slice(bytes);
    }
}

impl BundleSink for MemorySink {
    fn record(&mut self, line: &[u8]) -> io::Result<()> {
        self.append(RECORDS, line);
        Ok(())
    }

    fn audit_entry(&mut self, line: &[u8]) -> io::Result<()> {
        self.append(AUDIT_LOG, line);
        Ok(())
    }

    fn blob(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.append(&format!("{BLOBS}/{name}"), bytes);
        Ok(())
    }

    fn manifest(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.append(MANIFEST, bytes);
        Ok(())
    }
}

/// Writes a bundle as a ZIP archive: sorted, deflated, without times.
pub fn write_zip<W: io::Write>(bundle: &MemoryBundle, out: W) -> Result<W, ZipError> {
    let files: BTreeMap<&str, &[u8]> = bundle.files().collect();
    let mut zip = ZipWriter::new(out);
    for (path, bytes) in files {
        zip.add_deflated(path, bytes)?;
    }
    zip.finish()
}

/// Writes a bundle record by record.
#[derive(Debug)]
pub struct BundleWriter<S> {
    sink: S,
    options: WriteOptions,
    taints: HashMap<Hash, TaintSet>,
    blobs: HashSet<Hash>,
    roots: Vec<String>,
    records: u64,
    head: Hash,
    digest: sha2::Sha256,
    changed_numbers: u64,
    is_proven: bool,
}

impl<S: BundleSink> BundleWriter<S> {
    /// A writer of an empty bundle.
    pub fn new(sink: S, mut options: WriteOptions) -> BundleWriter<S> {
        let mut changed_numbers = 0;
        for (_, value) in &mut options.meta {
            safe::make_safe(value, &mut changed_numbers);
        }
        BundleWriter {
            sink,
            options,
            taints: HashMap::new(),
            blobs: HashSet::new(),
            roots: Vec::new(),
            records: 0,
            head: ZERO_HASH,
            digest: sha2::Digest::new(),
            changed_numbers,
            is_proven: false,
        }
    }

    /// Numbers that were written as strings, because not every reader keeps them exact.
    pub fn changed_numbers(&self) -> u64 {
        self.changed_numbers
    }

    /// Writes a blob, once.
    pub fn blob(&mut self, bytes: &[u8], mime: &str) -> Result<BlobReference, WriteError> {
        let hash = sha256(bytes);
        if self.blobs.insert(hash) {
            self.sink.blob(&hex::encode(&hash), bytes)?;
        }
        Ok(BlobReference { hash, mime: mime.to_owned(), size: bytes.len() as u64 })
    }

    /// Writes a record and its audit entry.
    pub fn record(&mut self, draft: RecordDraft) -> Result<Hash, WriteError> {
        if self.is_proven {
            return Err(WriteError::AfterProof);
        }
        let mut taint = draft.taint;
        for parent in &draft.parents {
            let inherited = self.taints.get(parent).ok_or(WriteError::UnknownParent(*parent))?;
            taint = taint.union(*inherited);
        }
        let at = seconds(draft.meta.recorded_at);
        let mut payload = draft.payload;
        if let (Some(key), Payload::Inline(value)) = (&self.options.pseudonyms, &mut payload) {
            let own = [draft.meta.scope.as_deref(), draft.meta.actor.as_deref()];
            let named = draft.identifiers.iter().map(String::as_str);
            let identifiers: Vec<&str> = named.chain(own.into_iter().flatten()).collect();
            key.replace(value, &identifiers);
        }
        let payload = self.place_payload(payload)?;
        let meta = self.meta(draft.meta, &at)?;
        let line = RecordLine {
            kind: draft.kind.name(),
            principal: draft.principal.name(),
            taint: taint.iter().map(|taint| taint.name().to_owned()).collect(),
            parents: draft.parents.iter().map(|parent| hex::encode(parent)).collect(),
            meta,
            payload,
        };
        let id = line.id()?;
        self.taints.insert(id, taint);
        if draft.parents.is_empty() {
            self.roots.push(hex::encode(&id));
        }
        self.append(&line, id, &at)?;
        Ok(id)
    }

    /// Writes the native proof as the last record, a snapshot. The payload of the draft is replaced.
    pub fn prove(&mut self, proof: ProofBuilder, draft: RecordDraft) -> Result<Hash, WriteError> {
        let manifest = self.manifest_meta();
        let created_at = seconds(self.options.created_at);
        let records = sha2::Digest::finalize(self.digest.clone()).into();
        let bytes = proof.finish(records, manifest_digest(&created_at, Some(&manifest), None));
        let blob = self.blob(&bytes, PROOF_MIME)?;
        let payload = Payload::Blob(blob);
        let id = self.record(RecordDraft { kind: RecordType::Snapshot, payload, ..draft })?;
        self.is_proven = true;
        Ok(id)
    }

    /// Writes the manifest and gives the sink back.
    pub fn finish(mut self) -> Result<S, WriteError> {
        let manifest = Value::object([
            ("aegx_version", "0.1".into()),
            ("audit_head", hex::encode(&self.head).into()),
            ("blob_count", Value::count(self.blobs.len() as u64)),
            ("canonicalization", "AEGX_CANON_0_1".into()),
            ("created_at", seconds(self.options.created_at).into()),
            ("hash_alg", "sha256".into()),
            ("meta", self.manifest_meta()),
            ("record_count", Value::count(self.records)),
            ("root_records", Value::strings(&self.roots)),
        ]);
        let mut text = to_compact(&manifest);
        text.push('\n');
        self.sink.manifest(text.as_bytes())?;
        Ok(self.sink)
    }

    fn manifest_meta(&self) -> Value {
        let members = self.options.meta.iter();
        Value::Object(members.map(|(key, value)| Member::new(key, value.clone())).collect())
    }

    fn append(&mut self, line: &RecordLine, id: Hash, at: &str) -> Result<(), WriteError> {
        let mut text = to_compact(&line.value(&id));
        text.push('\n');
        sha2::Digest::update(&mut self.digest, text.as_bytes());
        self.sink.record(text.as_bytes())?;
        let (record, previous) = (hex::encode(&id), hex::encode(&self.head));
        self.head = entry_hash(self.records, at, &record, &previous);
        let entry = Value::object([
            ("idx", Value::count(self.records)),
            ("ts", at.into()),
            ("recordId", record.into()),
            ("prev", previous.into()),
            ("entryHash", hex::encode(&self.head).into()),
        ]);
        let mut text = to_compact(&entry);
        text.push('\n');
        self.sink.audit_entry(text.as_bytes())?;
        self.records += 1;
        Ok(())
    }

    /// Makes an inline value safe, and a blob of one that is too large for a line.
    fn place_payload(&mut self, payload: Payload) -> Result<Payload, WriteError> {
        let mut value = match payload {
            Payload::Blob(blob) if self.blobs.contains(&blob.hash) => {
                return Ok(Payload::Blob(blob));
            }
            Payload::Blob(blob) => return Err(WriteError::UnknownBlob(blob.hash)),
            Payload::Inline(value) => value,
        };
        safe::make_safe(&mut value, &mut self.changed_numbers);
        safe::check(&value)?;
        let text = to_compact(&value);
        match text.len() > INLINE_BYTES_MAX || safe::has_many_values(text.as_bytes()) {
            true => self.blob(text.as_bytes(), "application/json").map(Payload::Blob),
            false => Ok(Payload::Inline(value)),
        }
    }

    fn meta(&mut self, meta: NativeMeta, at: &str) -> Result<Value, WriteError> {
        let NativeMeta {
            entry,
            recorded_at,
            observed_at,
            event_id,
            seal,
            prev_seal,
            scope_seq,
            scope,
            actor,
            missing_parents,
            further,
        } = meta;
        let key = self.options.pseudonyms.as_ref();
        let person = |text: Option<String>| {
            text.map(|text| key.map_or_else(|| text.clone(), |key| key.pseudonym(&text)))
        };
        let mut native = Value::object([("entry", entry.name().into())]);
        native.push_some("event_id", event_id);
        native.push_some("seal", seal.map(|seal| hex::encode(&seal)));
        native.push_some("prev_seal", prev_seal.map(|seal| hex::encode(&seal)));
        native.push_some("scope_seq", scope_seq.map(Value::count));
        native.push("recorded_at", time::print(recorded_at));
        native.push_some("observed_at", observed_at.map(time::print));
        native.push_some("scope", person(scope));
        native.push_some("actor", person(actor));
        native.push_some(
            "missing_parents",
            Some(missing_parents).filter(|count| *count > 0).map(Value::count),
        );
        for (name, value) in further {
            native.push(&name, value);
        }
        safe::make_safe(&mut native, &mut self.changed_numbers);
        safe::check(&native)?;
        Ok(Value::object([("lamina", native), ("ts", at.into())]))
    }
}

/// The instant in whole seconds.
fn seconds(at: Micros) -> String {
    time::print(Micros(at.0.div_euclid(1_000_000) * 1_000_000))
}

struct RecordLine {
    kind: &'static str,
    principal: &'static str,
    taint: Vec<String>,
    parents: Vec<String>,
    meta: Value,
    payload: Payload,
}

impl RecordLine {
    fn id(&self) -> Result<Hash, CanonError> {
        let name;
        let payload = match &self.payload {
            Payload::Inline(value) => PayloadParts::Inline(value),
            Payload::Blob(blob) => {
                name = hex::encode(&blob.hash);
                PayloadParts::Blob { blob: &name, mime: &blob.mime, size: blob.size }
            }
        };
        record_id(&RecordParts {
            kind: self.kind,
            principal: self.principal,
            taint: &self.taint,
            parents: &self.parents,
            meta: &self.meta,
            payload,
        })
    }

    fn value(&self, id: &Hash) -> Value {
        let payload = match &self.payload {
            Payload::Inline(value) => Value::object([("inline", value.clone())]),
            Payload::Blob(blob) => Value::object([
                ("blob", hex::encode(&blob.hash).into()),
                ("mime", blob.mime.as_str().into()),
                ("size", Value::count(blob.size)),
            ]),
        };
        Value::object([
            ("recordId", hex::encode(id).into()),
            ("type", self.kind.into()),
            ("principal", self.principal.into()),
            ("taint", Value::strings(&self.taint)),
            ("parents", Value::strings(&self.parents)),
            ("meta", self.meta.clone()),
            ("payload", payload),
            ("schema", "0.1".into()),
        ])
    }
}
