//! The verifier: every error of a bundle, in one pass with bounded memory.
//!
//! It judges in one of two modes. [`VerifyMode::Reference`] gives the exit code of the reference
//! implementation, with its gaps. [`VerifyMode::Strict`] holds the audit log against the records in both
//! directions, looks at every file, and reads the native proof.

use std::io::Read as _;
use std::sync::Arc;

use lamina_portable::bytes::ByteSource;
use lamina_types::stdx::hex;

use crate::audit::{AuditEnd, check_audit_log};
use crate::blobs::Inventory;
use crate::lines::{LINE_BYTES_MAX, read_value};
use crate::model::{Hash, ZERO_HASH};
use crate::proof::{self, ProofExpectation};
use crate::records::{Records, add_faults, open};
use crate::report::{Finding, FindingClass, FindingCode, Place, Report};
use crate::shape::{Judge, ManifestShape};
use crate::source::{BundleSource, ZipBundle};
use crate::{AUDIT_LOG, MANIFEST};

/// How a bundle is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerifyMode {
    /// Everything that a byte of the bundle can show.
    Strict,
    /// The verdict of the reference implementation.
    Reference,
}

/// How much a bundle may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyLimits {
    /// Records, and entries of the audit log.
    pub records_max: usize,
}

impl VerifyLimits {
    /// For archives of strangers: verification stays below 64 MB of memory.
    pub const ARCHIVE: VerifyLimits = VerifyLimits { records_max: 200_000 };
    /// For directories: about 150 bytes of memory for each record.
    pub const DIRECTORY: VerifyLimits = VerifyLimits { records_max: 10_000_000 };
}

/// The settings of a verification.
#[derive(Debug, Clone, Copy)]
pub struct VerifyOptions {
    /// The mode.
    pub mode: VerifyMode,
    /// The limits.
    pub limits: VerifyLimits,
    /// What the reader knows from elsewhere and the native proof must agree with.
    pub expected: ProofExpectation,
}

impl VerifyOptions {
    /// Strict, without knowledge from elsewhere.
    pub const STRICT: VerifyOptions = VerifyOptions {
        mode: VerifyMode::Strict,
        limits: VerifyLimits::DIRECTORY,
        expected: ProofExpectation::NONE,
    };
    /// As the reference implementation.
    pub const REFERENCE: VerifyOptions =
        VerifyOptions { mode: VerifyMode::Reference, ..VerifyOptions::STRICT };
}

/// Verifies a ZIP archive. An archive that is refused gives a report with that one finding.
pub fn verify_zip(source: Arc<dyn ByteSource>, options: &VerifyOptions) -> Report {
    match ZipBundle::open(source, options.mode) {
        Ok(bundle) => {
            let records_max = options.limits.records_max.min(VerifyLimits::ARCHIVE.records_max);
            verify(&bundle, &VerifyOptions { limits: VerifyLimits { records_max }, ..*options })
        }
        Err(error) => {
            let mut report = Report::new(options.mode);
            report.add(Finding {
                code: FindingCode::Archive,
                class: FindingClass::Unreadable,
                place: Place::file("the archive"),
                message: error.to_string(),
            });
            report
        }
    }
}

/// Verifies a bundle.
pub fn verify(source: &dyn BundleSource, options: &VerifyOptions) -> Report {
    let VerifyOptions { mode, limits, expected } = options;
    let mut report = Report::new(*mode);
    let mut inventory = Inventory::take(source, *mode, &mut report);
    let manifest = read_manifest(source, &inventory, *mode, &mut report);
    let mut records = Records::read(source, &mut inventory, (*mode, limits), &mut report);
    let audit = check_audit_log(source, &inventory, (*mode, limits), &mut records, &mut report);
    inventory.check_blobs(source, *mode, &mut report);
    if let Some(manifest) = &manifest {
        let check = ManifestCheck { manifest, inventory: &inventory, records: &records, audit };
        check.counters(&mut report);
        check.roots(*mode, &mut report);
    }
    if *mode == VerifyMode::Strict {
        proof::check(source, &inventory, (&records, manifest.as_ref()), expected, &mut report);
    }
    report
}

fn read_manifest(
    source: &dyn BundleSource,
    inventory: &Inventory,
    mode: VerifyMode,
    report: &mut Report,
) -> Option<ManifestShape> {
    let reader = open(source, inventory.manifest, MANIFEST, report)?;
    let mut bytes = Vec::new();
    let read = reader.take(LINE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    let refusal = match read {
        Err(error) => Some((FindingCode::FileUnreadable, format!("reading failed: {error}"))),
        Ok(_) if bytes.len() > LINE_BYTES_MAX => {
            Some((FindingCode::Limit, format!("the file has more than {LINE_BYTES_MAX} bytes")))
        }
        Ok(_) => None,
    };
    if let Some((code, message)) = refusal {
        let (class, place) = (FindingClass::Unreadable, Place::file(MANIFEST));
        report.add(Finding { code, class, place, message });
        return None;
    }
    let mut judge = Judge::new(mode);
    let manifest = match read_value(&bytes, MANIFEST, mode) {
        Ok(value) => judge.manifest(value),
        Err(fault) => {
            judge.faults.push(fault);
            None
        }
    };
    add_faults(report, MANIFEST, 1, judge.faults);
    manifest
}

struct ManifestCheck<'a> {
    manifest: &'a ManifestShape,
    inventory: &'a Inventory,
    records: &'a Records,
    audit: AuditEnd,
}

impl ManifestCheck<'_> {
    fn counters(&self, report: &mut Report) {
        let counters = [
            (FindingCode::RecordCount, "record_count", self.manifest.records, self.records.count),
            (FindingCode::BlobCount, "blob_count", self.manifest.blobs, self.inventory.blobs_count),
        ];
        for (code, member, stated, counted) in counters {
            if let Some(stated) = stated.filter(|stated| *stated != counted) {
                let message = format!("the manifest says {stated}, the bundle has {counted}");
                report.add(evidence(code, member, message));
            }
        }
        let stated = self.manifest.audit_head;
        if let Some(head) = self.audit.head.filter(|head| *head != stated) {
            let message = format!("{AUDIT_LOG} ends with {}", hex::encode(&head));
            report.add(evidence(FindingCode::AuditHead, "audit_head", message));
        }
    }

    /// Listed are exactly the records without parents, each as often as it occurs.
    fn roots(&self, mode: VerifyMode, report: &mut Report) {
        let mut listed = self.manifest.roots.clone();
        listed.sort_unstable();
        let mut add = |code, hash: &Hash, message: &str| {
            let message = format!("{} {message}", hex::encode(hash));
            report.add(evidence(code, "root_records", message));
        };
        for hash in listed.iter().filter(|hash| !self.records.index.contains_key(*hash)) {
            add(FindingCode::RootUnknown, hash, "is not in the bundle");
        }
        if mode == VerifyMode::Reference {
            return;
        }
        let states = self.records.states.iter();
        let mut roots: Vec<Hash> =
            states.filter(|state| state.is_root && state.id != ZERO_HASH).map(|s| s.id).collect();
        roots.sort_unstable();
        let (mut listed, mut roots) = (listed.iter().peekable(), roots.iter().peekable());
        loop {
            match (listed.peek().copied(), roots.peek().copied()) {
                (None, None) => return,
                (Some(own), Some(root)) if own == root => {
                    listed.next();
                    roots.next();
                }
                (Some(own), root) if root.is_none_or(|root| own < root) => {
                    listed.next();
                    if self.records.index.contains_key(own) {
                        add(FindingCode::RootExtra, own, "has parents or is listed too often");
                    }
                }
                (_, Some(root)) => {
                    roots.next();
                    add(FindingCode::RootMissing, root, "has no parents and is not listed");
                }
                (Some(_), None) => {
                    listed.next();
                }
            }
        }
    }
}

fn evidence(code: FindingCode, member: &str, message: String) -> Finding {
    let place = Place { member: Some(format!("/{member}")), ..Place::file(MANIFEST) };
    Finding { code, class: FindingClass::Evidence, place, message }
}
