//! Portable memory stores: a directory, a ZIP or one document. Every finding names its rule, file and place.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_env::{Disk as _, RealDisk};
use lamina_portable::json::Value;
use lamina_portable::pam::{
    BundleFile, Container, Level, Report, Rule, SignatureState, read as read_bundle, read_source,
};
use lamina_portable::sign::PublicKey;
use lamina_portable::source::{ImportSource, SourceLimits};
use serde_json::json;

use super::exhibit::{Exhibit, ExhibitContent, read};
use super::zaxy::public_key;
use crate::cli::args::VerifyArgs;
use crate::cli::disk_bytes::DiskBytes;
use crate::cli::exit::{Exit, Failure};
use crate::cli::print;

const STORE_FILE: &str = "memory-store.json";
const CONVERSATIONS: &str = "conversations";
/// Files of a directory that are read.
const FILES_MAX: usize = 100_000;
/// Bytes of all files of a directory.
const BYTES_MAX: u64 = 2 << 30;

/// Whether a file or a directory is a store.
pub(super) fn is_store(exhibit: &Exhibit) -> bool {
    match &exhibit.content {
        ExhibitContent::Directory { names } => names.iter().any(|name| name == STORE_FILE),
        ExhibitContent::Archive => open(&exhibit.path).is_ok_and(|source| {
            source.entries().iter().any(|entry| entry.file_name() == STORE_FILE)
        }),
        ExhibitContent::Document(document) => {
            let schema = document.get("schema").and_then(Value::as_str).unwrap_or_default();
            schema.starts_with("portable-ai-memory")
        }
        _ => false,
    }
}

pub(super) fn open(path: &Path) -> Result<ImportSource, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let unreadable = || format!("{} cannot be read", path.display());
    let bytes = DiskBytes::open(path).with_context(unreadable).map_err(Failure::unreadable)?;
    let source = ImportSource::open(&name, Arc::new(bytes), &SourceLimits::IMPORT);
    source.with_context(unreadable).map_err(Failure::unreadable)
}

/// Checks it and prints the findings.
pub(super) fn check(args: &VerifyArgs, exhibit: &Exhibit) -> Result<Exit, Failure> {
    let report = match &exhibit.content {
        ExhibitContent::Directory { .. } => {
            read_bundle(Container::Directory, &directory_files(&exhibit.path)?).report
        }
        _ => {
            let read = read_source(&open(&exhibit.path)?).context("the archive cannot be read");
            read.map_err(Failure::unreadable)?.report
        }
    };
    let expected = args.trust.expect_public_key.as_deref().map(did_key).transpose()?;
    let verdict = Verdict { report: &report, pin: pin_fault(&report, expected.as_deref(), args) };
    print(&if args.json { verdict.as_json() } else { verdict.as_text() })?;
    Ok(verdict.exit())
}

/// The documents of a directory. A symbolic link is none.
fn directory_files(path: &Path) -> Result<Vec<BundleFile>, Failure> {
    let mut names = Vec::new();
    for folder in ["", CONVERSATIONS] {
        let directory = path.join(folder);
        if !folder.is_empty() && !RealDisk.exists(&directory) {
            continue;
        }
        let listed = RealDisk.list(&directory);
        let listed = listed.with_context(|| format!("{} cannot be read", directory.display()));
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let listed = listed.map_err(Failure::unreadable)?.into_iter();
        names.extend(listed.map(|name| format!("{prefix}{name}")));
    }
    names.sort_unstable();
    if names.len() > FILES_MAX {
        let error = anyhow!("{} has more than {FILES_MAX} files", path.display());
        return Err(Failure::unreadable(error));
    }
    let (mut files, mut bytes) = (Vec::new(), 0);
    for name in names {
        let place = path.join(&name);
        let kind = place.symlink_metadata().map_err(Failure::unreadable)?.file_type();
        if kind.is_symlink() {
            let error = anyhow!("{} is a symbolic link, which is not followed", place.display());
            return Err(Failure::unreadable(error));
        }
        if !kind.is_file() {
            continue;
        }
        let file = BundleFile { bytes: read(&place)?, name };
        bytes += file.bytes.len() as u64;
        if bytes > BYTES_MAX {
            let error = anyhow!("{} has more than {BYTES_MAX} bytes", path.display());
            return Err(Failure::unreadable(error));
        }
        files.push(file);
    }
    Ok(files)
}

fn did_key(given: &str) -> Result<String, Failure> {
    if given.starts_with("did:key:") {
        return Ok(given.to_owned());
    }
    let hex = public_key(given)?;
    PublicKey::from_hex(&hex).map(PublicKey::to_did_key).map_err(Failure::usage)
}

/// Why the signature is not the one that was asked for.
fn pin_fault(report: &Report, expected: Option<&str>, args: &VerifyArgs) -> Option<&'static str> {
    let is_verified = report.signature == SignatureState::Verified;
    match expected {
        Some(_) if !is_verified => Some("the store has no signature that holds"),
        Some(expected) if report.signer.as_deref() != Some(expected) => {
            Some("another key has signed than the one that was named")
        }
        None if args.trust.require_pin => Some("no key was named by --expect-public-key"),
        _ => None,
    }
}

struct Verdict<'a> {
    report: &'a Report,
    pin: Option<&'static str>,
}

impl Verdict<'_> {
    fn exit(&self) -> Exit {
        let errors = self.report.findings().iter().filter(|f| f.level == Level::Error);
        let is_shape = |rule: Rule| {
            matches!(rule, Rule::Json | Rule::SchemaId | Rule::SchemaVersion | Rule::StoreMissing)
        };
        let errors: Vec<Rule> = errors.map(|finding| finding.rule).collect();
        match self.pin {
            None if errors.is_empty() => Exit::Fine,
            // A document that is none says less than one that breaks a rule.
            None if errors.into_iter().all(is_shape) => Exit::Schema,
            _ => Exit::Damage,
        }
    }

    fn signature(&self) -> &'static str {
        match self.report.signature {
            SignatureState::Unsigned => "unsigned",
            SignatureState::Verified => "verified",
            SignatureState::Failed => "failed",
        }
    }

    fn as_text(&self) -> String {
        let report = self.report;
        let mut text = String::new();
        for finding in report.findings() {
            let place = if finding.place.is_empty() { "/" } else { &finding.place };
            let (level, rule) = (finding.level.name(), finding.rule.name());
            let _ = writeln!(text, "{level} {rule}: {} {place}: {}", finding.file, finding.message);
        }
        if let Some(pin) = self.pin {
            let _ = writeln!(text, "error pin: {pin}");
        }
        let signer = report.signer.as_ref().map(|key| format!(" by {key}")).unwrap_or_default();
        let verdict = if self.exit() == Exit::Fine { "OK" } else { "FAIL" };
        let _ = writeln!(
            text,
            "verify: {verdict} - {} memories, {} conversations, {} errors, {} warnings, {}{signer}",
            report.memories,
            report.conversations,
            report.count(Level::Error),
            report.count(Level::Warning),
            self.signature(),
        );
        text
    }

    fn as_json(&self) -> String {
        let report = self.report;
        let findings = report.findings().iter().map(|finding| {
            json!({"level": finding.level.name(), "rule": finding.rule.name(),
                "file": finding.file, "place": finding.place, "message": finding.message})
        });
        let shown = json!({
            "ok": self.exit() == Exit::Fine,
            "format": "pam",
            "memories": report.memories,
            "conversations": report.conversations,
            "errors": report.count(Level::Error),
            "warnings": report.count(Level::Warning),
            "signature": self.signature(),
            "signer": report.signer,
            "pin": self.pin,
            "findings": findings.collect::<Vec<_>>(),
        });
        format!("{shown:#}\n")
    }
}
