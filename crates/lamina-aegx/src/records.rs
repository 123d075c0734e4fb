//! The records of a bundle: every line by itself, and its parents and blobs.

use std::collections::HashMap;

use lamina_portable::json::Value;
use lamina_types::stdx::hex;
use sha2::{Digest as _, Sha256};

use crate::RECORDS;
use crate::blobs::Inventory;
use crate::digest::{PayloadParts, RecordParts, parse_hash, record_id};
use crate::instant;
use crate::lines::{Lines, NumberedLine, read_value};
use crate::model::{Hash, ZERO_HASH};
use crate::proof::{ProofReference, is_proof};
use crate::report::{Finding, FindingClass, FindingCode, Place, Report};
use crate::shape::{Fault, Judge, PayloadShape, RecordShape};
use crate::source::BundleSource;
use crate::verify::{VerifyLimits, VerifyMode};

/// Bytes of a time of the format.
const TIME_BYTES: usize = 20;

/// What is kept of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordState {
    pub(crate) id: Hash,
    /// The normalized time, or zeros.
    pub(crate) at: [u8; TIME_BYTES],
    pub(crate) is_root: bool,
    pub(crate) is_audited: bool,
}

/// The records of a bundle.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) states: Vec<RecordState>,
    /// The first record of each id.
    pub(crate) index: HashMap<Hash, u32>,
    /// Parents that no earlier record is: the line and the id.
    forward: Vec<(u64, Hash)>,
    /// Seals of memory events that records say they are.
    pub(crate) seals: HashMap<[u8; 32], u32>,
    /// Lines, with those that could not be read.
    pub(crate) count: u64,
    pub(crate) proof: Option<ProofReference>,
    is_full: bool,
}

impl Records {
    /// Reads the file.
    pub(crate) fn read(
        source: &dyn BundleSource,
        inventory: &mut Inventory,
        settings: (VerifyMode, &VerifyLimits),
        report: &mut Report,
    ) -> Records {
        let (mode, limits) = settings;
        let mut records = Records::default();
        let Some(reader) = open(source, inventory.records, RECORDS, report) else { return records };
        let mut lines = Lines::new(reader, RECORDS, mode);
        let mut digest = Sha256::new();
        let mut faults = Vec::new();
        while let Some(line) = lines.next(&mut faults) {
            faults.drain(..).for_each(|finding| report.add(finding));
            records.count += 1;
            if records.states.len() >= limits.records_max {
                records.refuse_more(line.number, limits, report);
                break;
            }
            let bytes_before = digest.clone();
            digest.update(&line.bytes);
            digest.update(b"\n");
            records.line(&line, mode, inventory, report);
            if let Some(proof) = records.proof.as_mut().filter(|proof| proof.line == line.number) {
                proof.records_digest = bytes_before.finalize().into();
                proof.records_before = records.count - 1;
            }
        }
        faults.drain(..).for_each(|finding| report.add(finding));
        report.records = records.count;
        records.check_forward_parents(limits, report);
        records
    }

    fn refuse_more(&mut self, line: u64, limits: &VerifyLimits, report: &mut Report) {
        self.is_full = true;
        report.add(Finding {
            code: FindingCode::Limit,
            class: FindingClass::Unreadable,
            place: Place::line(RECORDS, line),
            message: format!("more than {} records", limits.records_max),
        });
    }

    fn line(
        &mut self,
        line: &NumberedLine,
        mode: VerifyMode,
        inventory: &mut Inventory,
        report: &mut Report,
    ) {
        let mut judge = Judge::new(mode);
        let record = match read_value(&line.bytes, RECORDS, mode) {
            Ok(value) => judge.record(value),
            Err(fault) => {
                judge.faults.push(fault);
                None
            }
        };
        add_faults(report, RECORDS, line.number, judge.faults);
        let Some(record) = record else {
            // Keeps the positions of the records after it.
            self.push(RecordState { is_audited: true, ..RecordState::UNREADABLE });
            return;
        };
        let stated = parse_hash(&record.stated_id);
        check_id(&record, stated, line.number, report);
        self.check_parents(&record, line.number);
        if let PayloadShape::Blob { blob, size, .. } = &record.payload {
            check_blob(inventory, (blob, *size), (mode, line.number), report);
        }
        let at = record.meta.get("ts").and_then(Value::as_str).and_then(instant::normalize);
        let at = at.and_then(|at| at.as_bytes().try_into().ok()).unwrap_or([0; TIME_BYTES]);
        if mode == VerifyMode::Strict {
            self.note_native(&record, line.number);
        }
        self.push(RecordState {
            id: stated.unwrap_or(ZERO_HASH),
            at,
            is_root: record.parents.is_empty(),
            is_audited: false,
        });
    }

    fn push(&mut self, state: RecordState) {
        let position = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        if state.id != ZERO_HASH {
            self.index.entry(state.id).or_insert(position);
        }
        self.states.push(state);
    }

    /// Remembers the seal of an event, and the blob of a native proof.
    fn note_native(&mut self, record: &RecordShape, line: u64) {
        let position = u32::try_from(self.states.len()).unwrap_or(u32::MAX);
        let seal = record.meta.at(&["lamina", "seal"]).and_then(Value::as_str);
        let is_event =
            record.meta.at(&["lamina", "entry"]).and_then(Value::as_str) == Some("experience");
        if let Some(seal) = seal.filter(|_| is_event).and_then(parse_hash) {
            self.seals.entry(seal).or_insert(position);
        }
        if let PayloadShape::Blob { blob, mime, .. } = &record.payload
            && is_proof(&record.kind, mime)
            && let Some(blob) = parse_hash(blob)
        {
            self.proof = Some(ProofReference::new(line, blob, record.extensions.is_some()));
        }
    }

    fn check_parents(&mut self, record: &RecordShape, line: u64) {
        // The limit is checked when all records are known.
        for parent in record.parents.iter().filter_map(|parent| parse_hash(parent)) {
            if !self.index.contains_key(&parent) && self.forward.len() <= FORWARD_MAX {
                self.forward.push((line, parent));
            }
        }
    }

    fn check_forward_parents(&mut self, limits: &VerifyLimits, report: &mut Report) {
        if self.forward.len() > FORWARD_MAX {
            self.refuse_more(0, limits, report);
        }
        for (line, parent) in std::mem::take(&mut self.forward) {
            if !self.index.contains_key(&parent) {
                report.add(Finding {
                    code: FindingCode::ParentMissing,
                    class: FindingClass::Evidence,
                    place: Place::line(RECORDS, line),
                    message: format!("the parent {} is not in the bundle", hex::encode(&parent)),
                });
            }
        }
    }

    /// Names the records that no entry of the audit log names.
    pub(crate) fn check_audited(&self, report: &mut Report) {
        for (position, state) in self.states.iter().enumerate().filter(|(_, s)| !s.is_audited) {
            report.add(Finding {
                code: FindingCode::RecordNotAudited,
                class: FindingClass::Evidence,
                place: Place::file(RECORDS),
                message: format!(
                    "the audit log does not name record {position}, {}",
                    hex::encode(&state.id)
                ),
            });
        }
    }
}

/// Parents that stand after their children, or nowhere.
const FORWARD_MAX: usize = 250_000;

impl RecordState {
    const UNREADABLE: RecordState =
        RecordState { id: ZERO_HASH, at: [0; TIME_BYTES], is_root: false, is_audited: false };
}

fn check_id(record: &RecordShape, stated: Option<Hash>, line: u64, report: &mut Report) {
    let payload = match &record.payload {
        PayloadShape::Inline(value) => PayloadParts::Inline(value),
        PayloadShape::Blob { blob, mime, size } => PayloadParts::Blob { blob, mime, size: *size },
    };
    let parts = RecordParts {
        kind: &record.kind,
        principal: &record.principal,
        taint: &record.taint,
        parents: &record.parents,
        meta: &record.meta,
        payload,
    };
    let computed = record_id(&parts);
    // An id that is no hash is a fault of the shape.
    let (Ok(computed), Some(stated)) = (computed, stated) else { return };
    if computed != stated {
        report.add(Finding {
            code: FindingCode::RecordId,
            class: FindingClass::Evidence,
            place: Place::line(RECORDS, line),
            message: format!(
                "the content has the id {}, the record states {}",
                hex::encode(&computed),
                hex::encode(&stated)
            ),
        });
    }
}

fn check_blob(
    inventory: &mut Inventory,
    (blob, size): (&str, u64),
    (mode, line): (VerifyMode, u64),
    report: &mut Report,
) {
    let Some(name) = parse_hash(blob) else { return };
    let (code, message) = match inventory.blobs.get_mut(&name) {
        Some(state) => {
            state.is_referenced = true;
            if mode == VerifyMode::Reference || state.bytes == size {
                return;
            }
            (FindingCode::BlobSize, format!("{blob} has {} bytes, not {size}", state.bytes))
        }
        None => (FindingCode::BlobMissing, format!("the blob {blob} is not in the bundle")),
    };
    let (class, place) = (FindingClass::Evidence, Place::line(RECORDS, line));
    report.add(Finding { code, class, place, message });
}

/// Reports the faults of a line.
pub(crate) fn add_faults(report: &mut Report, file: &str, line: u64, faults: Vec<Fault>) {
    for Fault { code, class, member, message } in faults {
        let place =
            Place { member: Some(member).filter(|m| !m.is_empty()), ..Place::line(file, line) };
        report.add(Finding { code, class, place, message });
    }
}

/// Opens a file that must be there.
pub(crate) fn open<'a>(
    source: &'a dyn BundleSource,
    index: Option<usize>,
    file: &str,
    report: &mut Report,
) -> Option<Box<dyn std::io::Read + 'a>> {
    let (code, message) = match index.map(|index| source.open(index)) {
        Some(Ok(reader)) => return Some(reader),
        Some(Err(error)) => {
            (FindingCode::FileUnreadable, format!("the file cannot be read: {error}"))
        }
        None => (FindingCode::FileMissing, "the file is missing".to_owned()),
    };
    let (class, place) = (FindingClass::Unreadable, Place::file(file));
    report.add(Finding { code, class, place, message });
    None
}
