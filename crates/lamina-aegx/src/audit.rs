//! The audit log: a chain of hashes, and its agreement with the records.

use lamina_types::stdx::hex;

use crate::AUDIT_LOG;
use crate::blobs::Inventory;
use crate::digest::entry_hash;
use crate::lines::{Lines, read_value};
use crate::model::{Hash, ZERO_HASH};
use crate::records::{Records, add_faults, open};
use crate::report::{Finding, FindingClass, FindingCode, Place, Report};
use crate::shape::{EntryShape, Judge};
use crate::source::BundleSource;
use crate::verify::{VerifyLimits, VerifyMode};

/// The end of the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AuditEnd {
    /// The hash of the last entry; `None` if that could not be read.
    pub(crate) head: Option<Hash>,
    /// Entries, with those that could not be read.
    pub(crate) count: u64,
}

/// Reads the log and holds it against the records.
pub(crate) fn check_audit_log(
    source: &dyn BundleSource,
    inventory: &Inventory,
    (mode, limits): (VerifyMode, &VerifyLimits),
    records: &mut Records,
    report: &mut Report,
) -> AuditEnd {
    let mut end = AuditEnd { head: Some(ZERO_HASH), count: 0 };
    let Some(reader) = open(source, inventory.audit_log, AUDIT_LOG, report) else {
        end.head = None;
        return end;
    };
    let mut lines = Lines::new(reader, AUDIT_LOG, mode);
    let mut findings = Vec::new();
    while let Some(line) = lines.next(&mut findings) {
        findings.drain(..).for_each(|finding| report.add(finding));
        if end.count >= limits.records_max as u64 {
            report.add(Finding {
                code: FindingCode::Limit,
                class: FindingClass::Unreadable,
                place: Place::line(AUDIT_LOG, line.number),
                message: format!("more than {} entries", limits.records_max),
            });
            break;
        }
        let mut judge = Judge::new(mode);
        let entry = match read_value(&line.bytes, AUDIT_LOG, mode) {
            Ok(value) => judge.entry(value),
            Err(fault) => {
                judge.faults.push(fault);
                None
            }
        };
        add_faults(report, AUDIT_LOG, line.number, judge.faults);
        if let Some(entry) = &entry {
            let mut check = EntryCheck { entry, line: line.number, report };
            check.chain(&end);
            if mode == VerifyMode::Strict {
                check.record(end.count, records);
            }
        }
        end.head = entry.map(|entry| entry.hash);
        end.count += 1;
    }
    findings.drain(..).for_each(|finding| report.add(finding));
    report.audit_entries = end.count;
    if mode == VerifyMode::Strict {
        records.check_audited(report);
    }
    end
}

struct EntryCheck<'a> {
    entry: &'a EntryShape,
    line: u64,
    report: &'a mut Report,
}

impl EntryCheck<'_> {
    fn evidence(&mut self, code: FindingCode, message: String) {
        let (class, place) = (FindingClass::Evidence, Place::line(AUDIT_LOG, self.line));
        self.report.add(Finding { code, class, place, message });
    }

    fn chain(&mut self, end: &AuditEnd) {
        let EntryShape { index, at, record, previous, hash } = self.entry;
        if *index != end.count {
            let message = format!("entry {} says that it is entry {index}", end.count);
            self.evidence(FindingCode::AuditIndex, message);
        }
        if end.head.is_some_and(|head| head != *previous) {
            let message = "the entry does not follow the one before it".to_owned();
            self.evidence(FindingCode::AuditPrevious, message);
        }
        let computed = entry_hash(*index, at, &hex::encode(record), &hex::encode(previous));
        if computed != *hash {
            let message = format!("the entry has the hash {}", hex::encode(&computed));
            self.evidence(FindingCode::AuditHash, message);
        }
    }

    /// The record at the same position has the same id and the same time.
    fn record(&mut self, position: u64, records: &mut Records) {
        let EntryShape { at, record, .. } = self.entry;
        let slot = usize::try_from(position).ok().and_then(|at| records.states.get_mut(at));
        if let Some(state) = slot.filter(|state| state.id == *record) {
            state.is_audited = true;
            if state.at != at.as_bytes() {
                let message = "the entry has another time than its record".to_owned();
                self.evidence(FindingCode::AuditTime, message);
            }
            return;
        }
        match records.index.get(record) {
            None => {
                let message = format!("the record {} is not in the bundle", hex::encode(record));
                self.evidence(FindingCode::AuditUnknownRecord, message);
            }
            Some(found) => {
                let found = *found as usize;
                if let Some(state) = records.states.get_mut(found) {
                    state.is_audited = true;
                }
                let message = format!("the entry at {position} names the record at {found}");
                self.evidence(FindingCode::AuditOrder, message);
            }
        }
    }
}
