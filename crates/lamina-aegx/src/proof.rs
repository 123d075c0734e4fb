//! The native proof: evidence that no event of a scope is missing from a bundle.
//!
//! The format has no such thing, so the proof travels as a blob that other readers ignore. Its lines:
//!
//! ```text
//! {"proof":1,"log_id":…,"epoch":…,"scope":…,"after":{"seq":0,"events":0,"seal":zeros},"tip":…}
//! {"seq":1,"event":1,"head":…,"seal":…,"who":{"salt":…,"bytes":…},"what":…}   each entry of the scope
//! {"batch":7,"seals":[…]}                                                      up to the checkpoint
//! {"checkpoint":…}
//! {"entries":…,"events":…,"records_sha256":…,"manifest_sha256":…}
//! ```
//!
//! A head is the sealed part of a log entry, so the verifier computes every seal anew, follows the chain
//! of the scope without a gap, counts the memory events in it, and wants a record for each. Batches lead
//! from the last seal, which stands over all before it, to the tip that a checkpoint signs. The last line
//! covers the records before the proof and the members of the manifest that no hash of the format covers.

use std::collections::{HashSet, VecDeque};

use lamina_portable::canon;
use lamina_portable::json::{Value, to_compact};
use lamina_portable::sign::PublicKey;
use lamina_types::stdx::hex;

use crate::blobs::Inventory;
use crate::digest::{parse_hash, sha256};
use crate::lines::{Lines, read_value};
use crate::model::{Hash, RecordType, ZERO_HASH};
use crate::records::{Records, open};
use crate::report::{Finding, FindingClass, FindingCode, Place, ProofSummary, Report};
use crate::shape::ManifestShape;
use crate::source::BundleSource;
use crate::verify::VerifyMode;

mod chain;

pub use chain::{EntryHead, seal_of, section_commitment, tip_after};

/// The media type of a native proof.
pub const PROOF_MIME: &str = "application/vnd.lamina.proof";
const PROOF_VERSION: i64 = 1;

/// A point of the chain of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainPoint {
    /// The position, from 1; 0 before the first entry.
    pub seq: u64,
    /// Memory events up to there.
    pub events: u64,
    /// The seal there; zeros before the first entry.
    pub seal: [u8; 32],
}

impl ChainPoint {
    /// Before the first entry.
    pub const START: ChainPoint = ChainPoint { seq: 0, events: 0, seal: [0; 32] };
}

/// What a reader knows from elsewhere, such as from a citation or a copy of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProofExpectation {
    /// The proof must reach this position with this seal.
    pub head: Option<ChainPoint>,
    /// The checkpoint must be signed by this key.
    pub public_key: Option<[u8; 32]>,
}

impl ProofExpectation {
    /// Nothing is known.
    pub const NONE: ProofExpectation = ProofExpectation { head: None, public_key: None };
}

/// The scope and the log that a proof is about.
#[derive(Debug, Clone, Copy)]
pub struct ProofHeader<'a> {
    /// The log.
    pub log_id: [u8; 16],
    /// Its life.
    pub epoch: u32,
    /// The path of the scope, or its pseudonym.
    pub scope: &'a str,
    /// The point after which the proof begins. Earlier entries are not proven.
    pub after: ChainPoint,
    /// The tip of the log before the first batch that follows, if batches follow. The batches begin at or
    /// before that of the last entry.
    pub tip: Option<[u8; 32]>,
}

/// One entry of the chain of the scope.
#[derive(Debug, Clone, Copy)]
pub struct ProofEntry<'a> {
    /// The head without its seal, as it lies in the log.
    pub head: &'a [u8],
    /// The section that says who, if it is disclosed.
    pub who: Option<DisclosedSection<'a>>,
    /// The section that says what, if it is disclosed.
    pub what: Option<DisclosedSection<'a>>,
}

/// The plaintext of a section and the salt of its commitment.
#[derive(Debug, Clone, Copy)]
pub struct DisclosedSection<'a> {
    /// The salt.
    pub salt: [u8; 32],
    /// The plaintext.
    pub bytes: &'a [u8],
}

/// Why a proof cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// Bytes that are no head.
    #[error("entry {0} of the proof is no head of a log entry")]
    Head(u64),
    /// An entry that does not follow the one before it.
    #[error("entry {0} of the proof does not follow the one before it")]
    Order(u64),
}

/// Writes a proof line by line.
#[derive(Debug)]
pub struct ProofBuilder {
    bytes: Vec<u8>,
    last: ChainPoint,
    entries: u64,
}

impl ProofBuilder {
    /// Begins a proof.
    pub fn new(header: &ProofHeader<'_>) -> ProofBuilder {
        let mut line = Value::object([
            ("proof", Value::integer(PROOF_VERSION)),
            ("log_id", hex::encode(&header.log_id).into()),
            ("epoch", Value::count(u64::from(header.epoch))),
            ("scope", header.scope.into()),
            (
                "after",
                Value::object([
                    ("seq", Value::count(header.after.seq)),
                    ("events", Value::count(header.after.events)),
                    ("seal", hex::encode(&header.after.seal).into()),
                ]),
            ),
        ]);
        line.push_some("tip", header.tip.map(|tip| hex::encode(&tip)));
        let mut builder = ProofBuilder { bytes: Vec::new(), last: header.after, entries: 0 };
        builder.line(&line);
        builder
    }

    /// Appends the next entry of the chain.
    pub fn entry(&mut self, entry: &ProofEntry<'_>) -> Result<(), ProofError> {
        let seq = self.last.seq + 1;
        let head = EntryHead::read(entry.head).ok_or(ProofError::Head(seq))?;
        if head.scope_seq != seq || head.prev_seal != self.last.seal {
            return Err(ProofError::Order(seq));
        }
        let seal = seal_of(&head.prev_seal, entry.head);
        let events = self.last.events + u64::from(head.is_event());
        let mut line = Value::object([("seq", Value::count(seq))]);
        line.push_some("event", head.is_event().then(|| Value::count(events)));
        line.push("head", hex::encode(entry.head));
        line.push("seal", hex::encode(&seal));
        for (name, section) in [("who", entry.who), ("what", entry.what)] {
            line.push_some(
                name,
                section.map(|section| {
                    Value::object([
                        ("salt", hex::encode(&section.salt).into()),
                        ("bytes", hex::encode(section.bytes).into()),
                    ])
                }),
            );
        }
        self.line(&line);
        self.last = ChainPoint { seq, events, seal };
        self.entries += 1;
        Ok(())
    }

    /// Appends the seals of a batch of the log, in their order.
    pub fn batch(&mut self, number: u64, seals: &[[u8; 32]]) {
        let seals: Vec<String> = seals.iter().map(|seal| hex::encode(seal)).collect();
        let line =
            Value::object([("batch", Value::count(number)), ("seals", Value::strings(&seals))]);
        self.line(&line);
    }

    /// Appends the payload of a signed checkpoint.
    pub fn checkpoint(&mut self, payload: &[u8]) {
        self.line(&Value::object([("checkpoint", hex::encode(payload).into())]));
    }

    /// The last entry so far.
    pub fn last(&self) -> ChainPoint {
        self.last
    }

    pub(crate) fn finish(mut self, records: Hash, manifest: Hash) -> Vec<u8> {
        let line = Value::object([
            ("entries", Value::count(self.entries)),
            ("events", Value::count(self.last.events)),
            ("records_sha256", hex::encode(&records).into()),
            ("manifest_sha256", hex::encode(&manifest).into()),
        ]);
        self.line(&line);
        self.bytes
    }

    fn line(&mut self, value: &Value) {
        self.bytes.extend_from_slice(to_compact(value).as_bytes());
        self.bytes.push(b'\n');
    }
}

/// The hash over the members of a manifest that no hash of the format covers.
pub(crate) fn manifest_digest(
    created_at: &str,
    meta: Option<&Value>,
    extensions: Option<&Value>,
) -> Hash {
    let form = Value::object([
        ("created_at", created_at.into()),
        ("meta", meta.cloned().unwrap_or_default()),
        ("extensions", extensions.cloned().unwrap_or_default()),
    ]);
    // A value that was read has a canonical form.
    canon::aegx(&form).map_or(ZERO_HASH, |bytes| sha256(&bytes))
}

/// The record that names the blob of a proof.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProofReference {
    pub(crate) line: u64,
    pub(crate) blob: Hash,
    pub(crate) has_extensions: bool,
    pub(crate) records_digest: Hash,
    pub(crate) records_before: u64,
}

impl ProofReference {
    pub(crate) fn new(line: u64, blob: Hash, has_extensions: bool) -> ProofReference {
        ProofReference { line, blob, has_extensions, records_digest: ZERO_HASH, records_before: 0 }
    }
}

pub(crate) fn is_proof(kind: &str, mime: &str) -> bool {
    kind == RecordType::Snapshot.name() && mime == PROOF_MIME
}

/// Verifies the proof of a bundle, if it has one.
pub(crate) fn check(
    source: &dyn BundleSource,
    inventory: &Inventory,
    (records, manifest): (&Records, Option<&ManifestShape>),
    expected: &ProofExpectation,
    report: &mut Report,
) {
    let Some(reference) = &records.proof else {
        if *expected != ProofExpectation::NONE {
            let message = "the bundle has no native proof to hold against the expectation";
            add(report, 0, FindingCode::ProofCoverage, message.to_owned());
        }
        return;
    };
    // A missing blob was reported with its record.
    let Some(state) = inventory.blobs.get(&reference.blob) else { return };
    let Some(reader) = open(source, Some(state.entry), "the native proof", report) else { return };
    let mut lines = Lines::new(reader, "the native proof", VerifyMode::Strict);
    let mut walk = ProofWalk::new(records, *expected, report);
    let mut faults = Vec::new();
    while let Some(line) = lines.next(&mut faults) {
        faults.drain(..).for_each(|finding| walk.report.add(finding));
        walk.number = line.number;
        match read_value(&line.bytes, "the native proof", VerifyMode::Strict) {
            Ok(value) => {
                if walk.line(&value).is_none() {
                    walk.add(FindingCode::ProofShape, "the line has not the form of a proof");
                }
            }
            Err(fault) => {
                walk.report.add(Finding {
                    code: FindingCode::ProofShape,
                    class: FindingClass::Shape,
                    place: Place::line("the native proof", line.number),
                    message: fault.message,
                });
            }
        }
    }
    faults.drain(..).for_each(|finding| walk.report.add(finding));
    walk.finish(reference, manifest);
}

fn add(report: &mut Report, line: u64, code: FindingCode, message: String) {
    let class = match code {
        FindingCode::ProofShape => FindingClass::Shape,
        _ => FindingClass::Evidence,
    };
    report.add(Finding { code, class, place: Place::line("the native proof", line), message });
}

/// The state of a verification.
struct ProofWalk<'a> {
    records: &'a Records,
    report: &'a mut Report,
    number: u64,
    log_id: Option<[u8; 16]>,
    epoch: u64,
    scope: String,
    scope_number: Option<(u32, u64)>,
    last: ChainPoint,
    entries: u64,
    /// Records of the events so far.
    found: HashSet<u32>,
    /// Batch and seal of entries that no batch line has shown yet.
    open: VecDeque<(u64, [u8; 32])>,
    tip: Option<[u8; 32]>,
    last_batch: Option<u64>,
    signed_by: Option<[u8; 32]>,
    has_reached: bool,
    closing: Option<Closing>,
    expected: ProofExpectation,
}

#[derive(Debug, Clone, Copy)]
struct Closing {
    entries: u64,
    events: u64,
    records: Hash,
    manifest: Hash,
}

impl<'a> ProofWalk<'a> {
    fn new(
        records: &'a Records,
        expected: ProofExpectation,
        report: &'a mut Report,
    ) -> ProofWalk<'a> {
        ProofWalk {
            records,
            report,
            number: 0,
            log_id: None,
            epoch: 0,
            scope: String::new(),
            scope_number: None,
            last: ChainPoint::START,
            entries: 0,
            found: HashSet::new(),
            open: VecDeque::new(),
            tip: None,
            last_batch: None,
            signed_by: None,
            has_reached: false,
            closing: None,
            expected,
        }
    }

    fn add(&mut self, code: FindingCode, message: &str) {
        add(self.report, self.number, code, message.to_owned());
    }

    /// Reads one line; `None` if it has not the form.
    fn line(&mut self, value: &Value) -> Option<()> {
        if self.log_id.is_none() {
            return self.header(value);
        }
        if self.closing.is_some() {
            return None;
        }
        if value.get("seq").is_some() {
            self.entry(value)
        } else if value.get("batch").is_some() {
            self.batch(value)
        } else if value.get("checkpoint").is_some() {
            self.checkpoint(value)
        } else {
            self.closing = Some(Closing {
                entries: count(value, "entries")?,
                events: count(value, "events")?,
                records: hash(value, "records_sha256")?,
                manifest: hash(value, "manifest_sha256")?,
            });
            Some(())
        }
    }

    fn header(&mut self, value: &Value) -> Option<()> {
        if value.get("proof")?.as_i64()? != PROOF_VERSION {
            return None;
        }
        self.epoch = count(value, "epoch")?;
        value.get("scope")?.as_str()?.clone_into(&mut self.scope);
        let after = value.get("after")?;
        self.last = ChainPoint {
            seq: count(after, "seq")?,
            events: count(after, "events")?,
            seal: hash(after, "seal")?,
        };
        if value.get("tip").is_some() {
            self.tip = Some(hash(value, "tip")?);
        }
        self.log_id = Some(hex::decode_array(value.get("log_id")?.as_str()?)?);
        Some(())
    }

    fn entry(&mut self, value: &Value) -> Option<()> {
        let bytes = decode_hex(value.get("head")?.as_str()?)?;
        let stated = hash(value, "seal")?;
        let head = EntryHead::read(&bytes)?;
        let seq = self.last.seq + 1;
        if count(value, "seq")? != seq || head.scope_seq != seq {
            self.add(FindingCode::ProofChain, "a position of the chain is missing or repeated");
        }
        if head.prev_seal != self.last.seal {
            self.add(FindingCode::ProofChain, "the entry does not follow the one before it");
        }
        let seal = seal_of(&head.prev_seal, &bytes);
        if seal != stated {
            self.add(FindingCode::ProofChain, "the seal does not hold");
        }
        let place = (head.tenant, head.scope);
        if *self.scope_number.get_or_insert(place) != place {
            self.add(FindingCode::ProofChain, "the entry is of another scope");
        }
        let events = self.last.events + u64::from(head.is_event());
        if value.get("event").is_some() != head.is_event()
            || head.is_event() && count(value, "event")? != events
        {
            self.add(FindingCode::ProofChain, "an event has not the next number");
        }
        if head.is_event() {
            match self.records.seals.get(&seal) {
                Some(record) => {
                    self.found.insert(*record);
                }
                None => {
                    let message = format!("event {events} of the scope has no record");
                    self.add(FindingCode::ProofEventMissing, &message);
                }
            }
        }
        for (name, commitment) in [("who", head.who_commit), ("what", head.what_commit)] {
            if let Some(section) = value.get(name) {
                let salt = hash(section, "salt")?;
                let words = decode_hex(section.get("bytes")?.as_str()?)?;
                if section_commitment(&salt, &words) != commitment {
                    let message = "a disclosed section is not what its head commits to";
                    self.add(FindingCode::ProofSection, message);
                }
            }
        }
        self.open.push_back((head.batch, seal));
        self.last = ChainPoint { seq: head.scope_seq, events, seal };
        self.entries += 1;
        let expected = self.expected.head;
        self.has_reached |= expected.is_some_and(|head| head.seq == seq && head.seal == seal);
        Some(())
    }

    fn batch(&mut self, value: &Value) -> Option<()> {
        let number = count(value, "batch")?;
        let seals = value.get("seals")?.as_array()?;
        let seals: Option<Vec<Hash>> =
            seals.iter().map(|seal| parse_hash(seal.as_str()?)).collect();
        let seals = seals?;
        if self.last_batch.is_some_and(|last| last + 1 != number) {
            self.add(FindingCode::ProofCheckpoint, "a batch is missing or repeated");
        }
        if self.last_batch.is_none() {
            // Each seal covers the one before it: earlier entries need no batch, the last one does.
            let last = self.open.back().copied();
            self.open.retain(|(own, _)| *own >= number);
            self.open.extend(last.filter(|(own, _)| *own < number));
        }
        self.last_batch = Some(number);
        self.tip = self.tip.map(|tip| tip_after(&tip, &seals));
        let mut rest = seals.iter();
        while let Some((_, seal)) = self.open.front().copied().filter(|(own, _)| *own == number) {
            self.open.pop_front();
            if !rest.any(|own| *own == seal) {
                let message = "an entry of the scope is not in the batch that it names";
                self.add(FindingCode::ProofCheckpoint, message);
                break;
            }
        }
        Some(())
    }

    fn checkpoint(&mut self, value: &Value) -> Option<()> {
        let bytes = decode_hex(value.get("checkpoint")?.as_str()?)?;
        let checkpoint = chain::SignedTip::read(&bytes)?;
        let key = PublicKey::from_hex(&hex::encode(&checkpoint.public_key));
        let is_signed =
            key.is_ok_and(|key| key.verifies(&checkpoint.message, &checkpoint.signature));
        if !is_signed {
            self.add(FindingCode::ProofCheckpoint, "the signature of the checkpoint does not hold");
        }
        let is_same = Some(checkpoint.log_id) == self.log_id
            && u64::from(checkpoint.epoch) == self.epoch
            && Some(checkpoint.batch) == self.last_batch
            && Some(checkpoint.tip) == self.tip;
        if !is_same {
            self.add(FindingCode::ProofCheckpoint, "the batches do not lead to the signed tip");
        }
        if !self.open.is_empty() {
            let message = "the checkpoint does not cover every entry of the proof";
            self.add(FindingCode::ProofCheckpoint, message);
        }
        if is_signed && is_same && self.open.is_empty() {
            self.signed_by = Some(checkpoint.public_key);
        }
        Some(())
    }

    fn finish(mut self, reference: &ProofReference, manifest: Option<&ManifestShape>) {
        let Some(closing) = self.closing else {
            self.add(FindingCode::ProofShape, "the proof is not complete");
            return;
        };
        if closing.entries != self.entries || closing.events != self.last.events {
            self.add(FindingCode::ProofChain, "the proof ends before its last entry");
        }
        let is_last = reference.records_before + 1 == self.records.count;
        if !is_last || closing.records != reference.records_digest || reference.has_extensions {
            let message = "the records are not those for which the proof was made";
            self.add(FindingCode::ProofCoverage, message);
        }
        if let Some(manifest) = manifest {
            let ManifestShape { created_at, meta, extensions, .. } = manifest;
            let digest = manifest_digest(created_at, meta.as_ref(), extensions.as_ref());
            if closing.manifest != digest {
                let message = "the manifest is not the one for which the proof was made";
                self.add(FindingCode::ProofCoverage, message);
            }
        }
        let mut unknown: Vec<u32> =
            self.records.seals.values().copied().filter(|r| !self.found.contains(r)).collect();
        unknown.sort_unstable();
        for record in unknown {
            let message = format!("record {record} is of an event that the chain does not have");
            self.add(FindingCode::ProofEventUnknown, &message);
        }
        self.check_expected();
        self.report.proof = Some(ProofSummary {
            scope: self.scope,
            last_seq: self.last.seq,
            last_seal: self.last.seal,
            events: self.last.events,
            signed_by: self.signed_by,
        });
    }

    fn check_expected(&mut self) {
        let expected = self.expected;
        if expected.public_key.is_some() && expected.public_key != self.signed_by {
            let message = "the proof leads to no checkpoint that the expected key signed";
            self.add(FindingCode::ProofCheckpoint, message);
        }
        if expected.head.is_some() && !self.has_reached {
            self.add(FindingCode::ProofChain, "the proof does not pass the expected seal");
        }
    }
}

fn count(value: &Value, name: &str) -> Option<u64> {
    let token = value.get(name)?.as_number()?;
    if token.is_integer() { token.as_str().parse().ok() } else { None }
}

fn hash(value: &Value, name: &str) -> Option<Hash> {
    parse_hash(value.get(name)?.as_str()?)
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|pair| {
        let pair = std::str::from_utf8(pair).ok()?;
        hex::decode_array::<1>(pair).map(|[byte]| byte)
    });
    if rest.is_empty() { bytes.collect() } else { None }
}
