//! Bundles of the memory export contract: signed ones, disclosed subsets, and unsigned ones, which prove
//! nothing.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use lamina_env::RealDisk;
use lamina_env::disk::read_file;
use lamina_portable::json::Value;
use lamina_portable::zaxy::{
    BundleKind, Verdict, VerifyOptions, Warning, verify_bundle, verify_subset,
};
use serde_json::json;

use super::exhibit::Exhibit;
use crate::cli::args::{TrustArgs, VerifyArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::{print, say};

/// Bytes of a file with a public key.
const KEY_BYTES_MAX: u64 = 16 << 10;
const UNSIGNED: &str = "the bundle is not signed: nothing proves where it comes from";

/// Whether a JSON document is a bundle, or says that it is one.
pub(super) fn is_bundle(document: &Value) -> bool {
    let version = document.get("version").and_then(Value::as_str).unwrap_or_default();
    let is_versioned =
        version.starts_with("zaxy.portable.") || version.starts_with("zaxy.export.unsigned.");
    is_versioned || (document.get("merkle_root").is_some() && document.get("signature").is_some())
}

/// Checks a bundle of the kind that the file says it is.
pub(super) fn check(args: &VerifyArgs, exhibit: &Exhibit) -> Result<Exit, Failure> {
    let Some(document) = exhibit.document() else { return Ok(Exit::Schema) };
    let kind = match BundleKind::detect(document) {
        Some(kind) => kind,
        // Another version, or a subset whose entries are missing: its members say which check refuses it.
        None if document.get("disclosed").is_some() => BundleKind::Subset,
        None => BundleKind::Signed,
    };
    check_as(document, kind, &args.trust, args.json)
}

/// Checks a bundle as one kind.
pub(super) fn check_as(
    document: &Value,
    kind: BundleKind,
    trust: &TrustArgs,
    as_json: bool,
) -> Result<Exit, Failure> {
    let expected = trust.expect_public_key.as_deref().map(public_key).transpose()?;
    let options = VerifyOptions { expect_public_key: expected.as_deref() };
    let verdict = match kind {
        BundleKind::Signed => verify_bundle(document, options),
        BundleKind::Subset => verify_subset(document, options),
        BundleKind::Unsigned => check_unsigned(document, expected.is_some()),
    };
    let report = BundleReport { document, kind, verdict, requires_pin: trust.require_pin };
    match as_json {
        true => print(&report.as_json())?,
        false => print(&report.as_text())?,
    }
    report.warn();
    Ok(report.exit())
}

/// An unsigned bundle is what it says, and proves nothing: somebody who trusts a key does not trust it.
fn check_unsigned(document: &Value, is_pinned: bool) -> Verdict {
    match document.get("entries").and_then(Value::as_array) {
        Some(_) if is_pinned => Verdict::Invalid(UNSIGNED.to_owned()),
        Some(entries) => {
            let warnings = Vec::new();
            Verdict::Valid { entries_count: entries.len(), pinned: false, warnings }
        }
        None => Verdict::Malformed("malformed bundle: 'entries'".to_owned()),
    }
}

/// A public key: hexadecimal digits, or a file that holds them.
pub(super) fn public_key(given: &str) -> Result<String, Failure> {
    let is_hex = !given.is_empty() && given.bytes().all(|c| c.is_ascii_hexdigit());
    if is_hex && !Path::new(given).is_file() {
        return Ok(given.to_owned());
    }
    let bytes = read_file(&RealDisk, Path::new(given), KEY_BYTES_MAX);
    let bytes = bytes.with_context(|| {
        format!("the key {given} is neither hexadecimal digits nor a file that can be read")
    });
    let bytes = bytes.map_err(Failure::unreadable)?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    match !text.is_empty() && text.bytes().all(|c| c.is_ascii_hexdigit()) {
        true => Ok(text),
        false => Err(Failure::usage(anyhow!("{given} holds no public key in hexadecimal digits"))),
    }
}

/// The result of one check.
struct BundleReport<'a> {
    document: &'a Value,
    kind: BundleKind,
    verdict: Verdict,
    requires_pin: bool,
}

impl BundleReport<'_> {
    fn is_signed(&self) -> bool {
        self.kind != BundleKind::Unsigned
    }

    fn exit(&self) -> Exit {
        match &self.verdict {
            Verdict::Valid { pinned: false, .. } if self.requires_pin => Exit::Damage,
            Verdict::Valid { .. } => Exit::Fine,
            Verdict::Invalid(_) => Exit::Damage,
            Verdict::Malformed(_) => Exit::Schema,
        }
    }

    /// The sentence of a failure.
    fn reason(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Valid { pinned: false, .. } if self.requires_pin => {
                Some("no trusted public key was named (--expect-public-key)")
            }
            Verdict::Valid { .. } => None,
            Verdict::Invalid(reason) | Verdict::Malformed(reason) => Some(reason),
        }
    }

    fn member(&self, name: &str) -> &str {
        self.document.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn shape(&self) -> &'static str {
        match self.kind {
            BundleKind::Unsigned => "unsigned",
            BundleKind::Signed => "signed",
            BundleKind::Subset => "subset",
        }
    }

    fn as_text(&self) -> String {
        let word = if self.kind == BundleKind::Subset { "verify-subset" } else { "verify" };
        if let Some(reason) = self.reason() {
            return format!("{word}: FAIL - {reason}\n");
        }
        let Verdict::Valid { entries_count, pinned, .. } = &self.verdict else {
            return String::new();
        };
        let mut text = format!("{word}: OK\n");
        let mut row = |name: &str, value: &str| {
            let _ = writeln!(text, "  {name:12} {value}");
        };
        row("kind", self.shape());
        row("session", self.member("session_id"));
        row("entries", &entries_count.to_string());
        if self.is_signed() {
            row("algorithm", self.member("algorithm"));
            row("signed at", self.member("created_at"));
            row("public key", &short_key(self.member("public_key")));
            row("pinned", if *pinned { "true" } else { "false" });
        }
        text
    }

    fn as_json(&self) -> String {
        let (entries, pinned) = match &self.verdict {
            Verdict::Valid { entries_count, pinned, .. } => (Some(*entries_count), *pinned),
            Verdict::Invalid(_) | Verdict::Malformed(_) => (None, false),
        };
        let mut report = json!({
            "ok": self.exit() == Exit::Fine,
            "format": "zaxy",
            "kind": self.shape(),
            "entries": entries,
            "signed": self.is_signed(),
            "pinned": pinned,
            "reason": self.reason(),
            "warnings": self.warnings(),
        });
        for name in ["version", "session_id", "algorithm", "public_key", "created_at"] {
            if let (Some(text), Some(members)) =
                (self.document.get(name).and_then(Value::as_str), report.as_object_mut())
            {
                members.insert(name.to_owned(), json!(text));
            }
        }
        format!("{report:#}\n")
    }

    /// Parts of a good file that nothing proves.
    fn warnings(&self) -> Vec<String> {
        let Verdict::Valid { pinned, warnings, .. } = &self.verdict else { return Vec::new() };
        let mut said = Vec::new();
        if !self.is_signed() {
            said.push(UNSIGNED.to_owned());
        } else if !pinned {
            said.push(
                "the signature holds, but nobody said whose it must be: compare the public key, or name it with \
                 --expect-public-key"
                    .to_owned(),
            );
        }
        // Every subset has open positions; only what is unusual is worth a line.
        let unusual = warnings.iter().filter(|warning| **warning != Warning::Positions);
        said.extend(unusual.map(ToString::to_string));
        if warnings.contains(&Warning::Positions) {
            said.push(Warning::Positions.to_string());
        }
        said
    }

    fn warn(&self) {
        for warning in self.warnings() {
            say(&format!("warning: {warning}"));
        }
    }
}

/// The first digits of a key, with its length where it is long.
fn short_key(key: &str) -> String {
    const SHOWN: usize = 64;
    match key.get(..SHOWN) {
        Some(head) if key.len() > SHOWN => format!("{head}… ({} digits)", key.len()),
        _ => key.to_owned(),
    }
}
