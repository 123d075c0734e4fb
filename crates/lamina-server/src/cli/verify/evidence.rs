//! Evidence bundles: a directory or a ZIP archive. Every finding names its code, file, line and member.

use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_aegx::proof::ProofExpectation;
use lamina_aegx::{
    AUDIT_LOG, BundleEntry, BundleSource, EntryKind, MANIFEST, RECORDS, Report, VerifyMode,
    VerifyOptions, verify, verify_zip,
};
use lamina_env::{Disk as _, Env, RealDisk};
use lamina_portable::json::Value;
use lamina_types::stdx::hex;
use serde_json::json;

use super::certificate::public_key;
use super::exhibit::{Exhibit, ExhibitContent};
use crate::cli::args::VerifyArgs;
use crate::cli::disk_bytes::{DiskBytes, DiskReader};
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;

const ARCHIVE_END: &str = ".aegx.zip";
/// Paths of a directory that are looked at.
const PATHS_MAX: usize = 1_000_000;
/// Directories inside each other.
const DEPTH_MAX: usize = 16;
/// Findings that are printed; a report has all of them.
const FINDINGS_SHOWN_MAX: usize = 1_000;

/// Whether the name of an archive says that it is a bundle. Nothing of it is read.
pub(super) fn is_named_bundle(exhibit: &Exhibit) -> bool {
    matches!(exhibit.content, ExhibitContent::Archive) && exhibit.is_named(ARCHIVE_END)
}

/// Whether a file or a directory is a bundle. An archive that no other format knows is judged as one.
pub(super) fn is_bundle(exhibit: &Exhibit) -> bool {
    match &exhibit.content {
        ExhibitContent::Directory { names } => {
            let has = |name: &str| names.iter().any(|own| own == name);
            let is_manifest = || {
                let manifest = Exhibit::open(&exhibit.path.join(MANIFEST));
                manifest.is_ok_and(|found| found.document().is_some_and(is_manifest))
            };
            has(RECORDS) || has(AUDIT_LOG) || (has(MANIFEST) && is_manifest())
        }
        ExhibitContent::Archive => archive_is_bundle(exhibit),
        _ => exhibit.is_named(ARCHIVE_END),
    }
}

/// Whether an archive has a file of a bundle, or cannot be read: then this verifier says why.
fn archive_is_bundle(exhibit: &Exhibit) -> bool {
    let Ok(archive) = super::pam::open(&exhibit.path) else { return true };
    let names = [MANIFEST, RECORDS, AUDIT_LOG];
    archive.entries().iter().any(|entry| names.contains(&entry.file_name()))
}

fn is_manifest(document: &Value) -> bool {
    document.get("aegx_version").is_some()
}

/// Checks it and prints the findings.
pub(super) fn check(args: &VerifyArgs, _: &Exhibit) -> Result<Exit, Failure> {
    check_path(args)
}

/// Checks a path, whatever it looks like.
pub(super) fn check_path(args: &VerifyArgs) -> Result<Exit, Failure> {
    let mode = if args.reference { VerifyMode::Reference } else { VerifyMode::Strict };
    let named = args.trust.expect_public_key.as_deref();
    let expected = named.map(|key| public_key(&Env::real(), key)).transpose()?;
    if args.reference && (expected.is_some() || args.trust.require_pin) {
        let error = anyhow!("--reference reads no proof and knows no keys");
        return Err(Failure::usage(error));
    }
    let options = VerifyOptions {
        mode,
        expected: ProofExpectation { public_key: expected, ..ProofExpectation::NONE },
        ..VerifyOptions::STRICT
    };
    let unreadable = || format!("{} cannot be read", args.path.display());
    let report = match args.path.is_dir() {
        true => {
            let source = DirectoryBundle::open(&args.path).with_context(unreadable);
            verify(&source.map_err(Failure::unreadable)?, &options)
        }
        false => {
            let bytes = DiskBytes::open(&args.path).with_context(unreadable);
            verify_zip(Arc::new(bytes.map_err(Failure::unreadable)?), &options)
        }
    };
    let is_pinned = expected.is_some() && report.exit_code() == 0;
    let pin_fault = (args.trust.require_pin && expected.is_none())
        .then_some("no key was named by --expect-public-key");
    let verdict = Verdict { report: &report, is_pinned, pin_fault };
    print(&if args.json { verdict.as_json() } else { verdict.as_text() })?;
    Ok(verdict.exit())
}

/// A bundle in a directory, read file by file.
struct DirectoryBundle {
    root: PathBuf,
    entries: Vec<BundleEntry>,
}

impl DirectoryBundle {
    fn open(root: &Path) -> io::Result<DirectoryBundle> {
        let mut bundle = DirectoryBundle { root: root.to_owned(), entries: Vec::new() };
        bundle.list("", 0)?;
        Ok(bundle)
    }

    fn list(&mut self, prefix: &str, depth: usize) -> io::Result<()> {
        let mut names = RealDisk.list(&self.root.join(prefix))?;
        names.sort_unstable();
        for name in names {
            let path = format!("{prefix}{name}");
            let metadata = self.root.join(&path).symlink_metadata()?;
            let kind = match metadata.file_type() {
                kind if kind.is_dir() => EntryKind::Folder,
                kind if kind.is_file() => EntryKind::File,
                _ => EntryKind::Link,
            };
            if self.entries.len() >= PATHS_MAX || depth > DEPTH_MAX {
                return Err(io::Error::other("the directory has too many paths"));
            }
            let bytes = match kind {
                EntryKind::File => metadata.len(),
                // The size of what a link leads to.
                EntryKind::Link => self.root.join(&path).metadata().map_or(0, |own| own.len()),
                EntryKind::Folder => 0,
            };
            self.entries.push(BundleEntry { path: path.clone(), kind, bytes });
            if kind == EntryKind::Folder {
                self.list(&format!("{path}/"), depth + 1)?;
            }
        }
        Ok(())
    }
}

impl BundleSource for DirectoryBundle {
    fn entries(&self) -> &[BundleEntry] {
        &self.entries
    }

    fn open(&self, index: usize) -> io::Result<Box<dyn Read + '_>> {
        let entry = self.entries.get(index).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(DiskReader::open(&self.root.join(&entry.path))?))
    }
}

struct Verdict<'a> {
    report: &'a Report,
    is_pinned: bool,
    pin_fault: Option<&'static str>,
}

impl Verdict<'_> {
    fn exit(&self) -> Exit {
        match self.report.exit_code() {
            0 if self.pin_fault.is_some() => Exit::Damage,
            0 => Exit::Fine,
            2 => Exit::Damage,
            3 => Exit::Schema,
            _ => Exit::Unreadable,
        }
    }

    fn mode(&self) -> &'static str {
        match self.report.mode {
            VerifyMode::Strict => "strict",
            VerifyMode::Reference => "reference",
        }
    }

    fn as_text(&self) -> String {
        let report = self.report;
        let mut text = String::new();
        for finding in report.findings.iter().take(FINDINGS_SHOWN_MAX) {
            let _ = writeln!(text, "error {finding}");
        }
        let shown = report.findings.len().min(FINDINGS_SHOWN_MAX) as u64;
        if report.findings_total > shown {
            let _ = writeln!(text, "and {} more", report.findings_total - shown);
        }
        if let Some(fault) = self.pin_fault {
            let _ = writeln!(text, "error pin: {fault}");
        }
        match (&report.proof, report.mode) {
            (Some(proof), _) => {
                let signed = match proof.signed_by {
                    Some(key) => format!("signed by {}", hex::encode(&key)),
                    None => "not signed".to_owned(),
                };
                let pin = if self.is_pinned { "" } else { ", a key that was not named" };
                let _ = writeln!(
                    text,
                    "proof: all {} events of {} up to entry {}, {signed}{pin}",
                    proof.events,
                    proof.scope.escape_debug(),
                    proof.last_seq,
                );
            }
            (None, VerifyMode::Strict) => {
                text.push_str("warning: no proof that nothing is missing\n");
            }
            (None, VerifyMode::Reference) => {}
        }
        let verdict = if self.exit() == Exit::Fine { "OK" } else { "FAIL" };
        let _ = writeln!(
            text,
            "verify: {verdict} - {} records, {} audit entries, {} blobs, {} errors, mode {}",
            report.records,
            report.audit_entries,
            report.blobs,
            report.findings_total,
            self.mode(),
        );
        text
    }

    fn as_json(&self) -> String {
        let report = self.report;
        let findings = report.findings.iter().map(|finding| {
            json!({"code": finding.code.as_str(), "class": finding.class.exit_code(),
                "file": finding.place.file, "line": finding.place.line,
                "member": finding.place.member, "message": finding.message})
        });
        let proof = report.proof.as_ref().map(|proof| {
            json!({"scope": proof.scope, "last_seq": proof.last_seq,
                "last_seal": hex::encode(&proof.last_seal), "events": proof.events,
                "signed_by": proof.signed_by.map(|key| hex::encode(&key))})
        });
        let shown = json!({
            "ok": self.exit() == Exit::Fine,
            "format": "aegx",
            "mode": self.mode(),
            "exit_code": self.exit() as u8,
            "records": report.records,
            "audit_entries": report.audit_entries,
            "blobs": report.blobs,
            "errors": report.findings_total,
            "proof": proof,
            "pinned": self.is_pinned,
            "pin": self.pin_fault,
            "findings": findings.collect::<Vec<_>>(),
        });
        format!("{shown:#}\n")
    }
}
