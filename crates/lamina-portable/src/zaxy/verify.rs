//! Judging a signed bundle or a disclosed subset. The tests, their order and the reasons are those of
//! Zaxy's verifier; parts that no signature covers become warnings.

use super::SIGNED_VERSION;
use super::bundle::{SIGNED_MEMBERS, signed_message};
use super::coerce::write_quoted;
use super::event::sha256_hex;
use crate::canon::python_utf8;
use crate::json::Value;
use crate::merkle::{Hash, MerkleTree, ProofStep, Side, leaf_hash, proves};
use crate::sign::{SignatureAlgorithm, verify_signature};
use lamina_types::stdx::hex;

/// The shape of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleKind {
    /// A bundle without a signature.
    Unsigned,
    /// A signed bundle.
    Signed,
    /// A disclosed subset of a signed bundle.
    Subset,
}

impl BundleKind {
    /// The shape by version and members; `None` if it is none of the three.
    pub fn detect(bundle: &Value) -> Option<BundleKind> {
        match bundle.get("version")?.as_str()? {
            super::UNSIGNED_VERSION => Some(BundleKind::Unsigned),
            SIGNED_VERSION if bundle.get("disclosed").is_some() => Some(BundleKind::Subset),
            SIGNED_VERSION => Some(BundleKind::Signed),
            _ => None,
        }
    }
}

/// What the caller trusts.
#[derive(Debug, Clone, Copy, Default)]
pub struct VerifyOptions<'a> {
    /// The public key that must have signed, in hexadecimal digits.
    pub expect_public_key: Option<&'a str>,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that is covered holds.
    Valid {
        /// How many entries were proven.
        entries_count: usize,
        /// Whether the public key was compared with the one that the caller trusts.
        pinned: bool,
        /// Parts of the file that no signature covers.
        warnings: Vec<Warning>,
    },
    /// A test failed.
    Invalid(String),
    /// The file is not of this form.
    Malformed(String),
}

/// A part of a file that the format leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// Members outside of the format.
    #[error("the file has members that the signature does not cover")]
    UnknownMembers,
    /// An anchor.
    #[error("the anchor is not covered by the signature")]
    Anchor,
    /// Positions inside of the tree.
    #[error("index and number of the disclosed entries are not covered by the signature")]
    Positions,
    /// Hexadecimal digits in capitals or with white space.
    #[error("the signature is not written in plain lower-case hexadecimal digits")]
    SignatureSpelling,
    /// Any word but `R` for the right side.
    #[error("a proof spells the right side differently from `R`")]
    SideSpelling,
}

/// A failed test, or a missing part.
enum Failure {
    Invalid(String),
    Malformed(String),
}

fn missing(member: &str) -> Failure {
    Failure::Malformed(format!("'{member}'"))
}

/// Judges a signed bundle.
pub fn verify_bundle(bundle: &Value, options: VerifyOptions<'_>) -> Verdict {
    let result = check_head(bundle, options).and_then(|()| check_entries(bundle));
    finish(result, "bundle", options)
}

/// Judges a disclosed subset.
pub fn verify_subset(subset: &Value, options: VerifyOptions<'_>) -> Verdict {
    let result = check_head(subset, options).and_then(|()| check_disclosed(subset));
    finish(result, "subset", options)
}

/// What a successful check found.
struct Proven {
    entries_count: usize,
    warnings: Vec<Warning>,
}

fn finish(result: Result<Proven, Failure>, noun: &str, options: VerifyOptions<'_>) -> Verdict {
    match result {
        Ok(Proven { entries_count, warnings }) => {
            let pinned = options.expect_public_key.is_some();
            Verdict::Valid { entries_count, pinned, warnings }
        }
        Err(Failure::Invalid(reason)) => Verdict::Invalid(reason),
        Err(Failure::Malformed(detail)) => {
            Verdict::Malformed(format!("malformed {noun}: {detail}"))
        }
    }
}

fn check_head(bundle: &Value, options: VerifyOptions<'_>) -> Result<(), Failure> {
    if bundle.as_object().is_none() {
        return Err(Failure::Malformed(format!("it is {}, not an object", bundle.type_name())));
    }
    match bundle.get("version") {
        Some(Value::String(version)) if version.as_str() == Some(SIGNED_VERSION) => {}
        version => {
            let shown = match version {
                Some(Value::String(text)) => {
                    let mut quoted = String::new();
                    write_quoted(&text.to_lossy(), &mut quoted);
                    quoted
                }
                Some(other) => super::coerce::display(other),
                None => "None".to_owned(),
            };
            return Err(Failure::Invalid(format!("unsupported bundle version {shown}")));
        }
    }
    let key = bundle.get("public_key").and_then(Value::as_str);
    match options.expect_public_key {
        Some(expected) if key != Some(expected) => {
            Err(Failure::Invalid("public key does not match the pinned/expected key".to_owned()))
        }
        _ => Ok(()),
    }
}

fn check_entries(bundle: &Value) -> Result<Proven, Failure> {
    let entries = list(bundle, "entries")?;
    let mut leaves = Vec::with_capacity(entries.len());
    let mut warnings = Vec::new();
    for entry in entries {
        let content = entry.get("content").ok_or_else(|| missing("content"))?;
        let bytes = canonical(content)?;
        let id = entry.get("id").ok_or_else(|| missing("id"))?;
        if id.as_str() != Some(sha256_hex(&bytes).as_str()) {
            let reason = "entry id does not match its content (tampered)";
            return Err(Failure::Invalid(reason.to_owned()));
        }
        warn_unknown(entry, &["id", "content"], &mut warnings);
        leaves.push(leaf_hash(&bytes));
    }
    let tree = MerkleTree::new(leaves)
        .ok_or_else(|| Failure::Malformed("merkle_root requires at least one leaf".to_owned()))?;
    let root = bundle.get("merkle_root").ok_or_else(|| missing("merkle_root"))?;
    if root.as_str() != Some(hex::encode(&tree.root()).as_str()) {
        let reason = "merkle root mismatch (entries added/removed/altered)";
        return Err(Failure::Invalid(reason.to_owned()));
    }
    if !check_signature(bundle, &mut warnings)? {
        let reason = "signature invalid (forged, tampered, or wrong key)";
        return Err(Failure::Invalid(reason.to_owned()));
    }
    if bundle.get("anchor").is_some_and(|anchor| !anchor.is_null()) {
        warnings.push(Warning::Anchor);
    }
    let known: Vec<&str> =
        SIGNED_MEMBERS.into_iter().chain(["anchor", "entries", "signature"]).collect();
    warn_unknown(bundle, &known, &mut warnings);
    Ok(Proven { entries_count: entries.len(), warnings })
}

fn check_disclosed(subset: &Value) -> Result<Proven, Failure> {
    let mut warnings = Vec::new();
    if !check_signature(subset, &mut warnings)? {
        return Err(Failure::Invalid("signature invalid".to_owned()));
    }
    let disclosed = list(subset, "disclosed")?;
    let root = subset.get("merkle_root").and_then(Value::as_str);
    let root = python_hex(root.ok_or_else(|| missing("merkle_root"))?)?;
    let root = Hash::try_from(root.as_slice()).ok();
    for entry in disclosed {
        let content = entry.get("content").ok_or_else(|| missing("content"))?;
        let leaf = leaf_hash(&canonical(content)?);
        let proof = proof_steps(entry, &mut warnings)?;
        let index = entry.get("index").ok_or_else(|| missing("index"))?;
        if !root.is_some_and(|root| proves(leaf, &proof, root)) {
            let index = super::coerce::display(index);
            return Err(Failure::Invalid(format!("inclusion proof failed for index {index}")));
        }
        warn_unknown(entry, &["index", "content", "proof"], &mut warnings);
    }
    let known: Vec<&str> = SIGNED_MEMBERS.into_iter().chain(["signature", "disclosed"]).collect();
    warn_unknown(subset, &known, &mut warnings);
    warn(Warning::Positions, &mut warnings);
    Ok(Proven { entries_count: disclosed.len(), warnings })
}

/// The largest number of steps of a proof; no tree that fits a machine is higher.
const PROOF_STEPS_MAX: usize = 64;

fn proof_steps(entry: &Value, warnings: &mut Vec<Warning>) -> Result<Vec<ProofStep>, Failure> {
    let steps = list(entry, "proof")?;
    if steps.len() > PROOF_STEPS_MAX {
        let detail = format!("a proof has more than {PROOF_STEPS_MAX} steps");
        return Err(Failure::Malformed(detail));
    }
    let steps = steps.iter().map(|step| {
        let Some([sibling, side]) = step.as_array() else {
            return Err(Failure::Malformed("a proof step is a hash and a side".to_owned()));
        };
        let sibling = sibling.as_str().ok_or_else(|| Failure::Malformed("sibling".to_owned()))?;
        let sibling = Hash::try_from(python_hex(sibling)?.as_slice()).map_err(|_| {
            Failure::Malformed("a hash of a proof does not have 32 bytes".to_owned())
        })?;
        let side = match side.as_str() {
            Some("L") => Side::Left,
            Some("R") => Side::Right,
            _ => {
                warn(Warning::SideSpelling, warnings);
                Side::Right
            }
        };
        Ok(ProofStep { sibling, side })
    });
    steps.collect()
}

/// Whether the signature of the head holds. An unknown algorithm and a bad key hold nothing.
fn check_signature(bundle: &Value, warnings: &mut Vec<Warning>) -> Result<bool, Failure> {
    for member in SIGNED_MEMBERS {
        bundle.get(member).ok_or_else(|| missing(member))?;
    }
    let text = |member: &str| {
        let value = bundle.get(member).ok_or_else(|| missing(member))?;
        let expected = || Failure::Malformed(format!("`{member}` is {}", value.type_name()));
        value.as_str().ok_or_else(expected)
    };
    let signature_text = text("signature")?;
    let signature = python_hex(signature_text)?;
    let key = python_hex(text("public_key")?)?;
    let message = signed_message(bundle).map_err(|error| Failure::Malformed(error.to_string()))?;
    if signature_text != hex::encode(&signature) {
        warn(Warning::SignatureSpelling, warnings);
    }
    let algorithm = bundle.get("algorithm").and_then(Value::as_str);
    let algorithm = algorithm.and_then(SignatureAlgorithm::from_name);
    Ok(algorithm.is_some_and(|algorithm| verify_signature(algorithm, &key, &message, &signature)))
}

fn list<'a>(value: &'a Value, member: &str) -> Result<&'a [Value], Failure> {
    let found = value.get(member).ok_or_else(|| missing(member))?;
    let wrong = || Failure::Malformed(format!("`{member}` is {}", found.type_name()));
    found.as_array().ok_or_else(wrong)
}

fn canonical(content: &Value) -> Result<Vec<u8>, Failure> {
    python_utf8(content).map_err(|error| Failure::Malformed(error.to_string()))
}

/// Reads hexadecimal digits as Python does: either case, white space between bytes.
fn python_hex(text: &str) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut rest = text.bytes().enumerate();
    while let Some((at, high)) = rest.next() {
        if matches!(high, b' ' | 0x09..=0x0d) {
            continue;
        }
        let low = rest.next().map(|(_, low)| low);
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|n| u8::try_from(n).ok());
        match (digit(high), low.and_then(digit)) {
            (Some(high), Some(low)) => bytes.push(high << 4 | low),
            (high, _) => {
                let at = at + usize::from(high.is_some());
                let reason =
                    format!("non-hexadecimal number found in fromhex() arg at position {at}");
                return Err(Failure::Malformed(reason));
            }
        }
    }
    Ok(bytes)
}

fn warn(warning: Warning, warnings: &mut Vec<Warning>) {
    if !warnings.contains(&warning) {
        warnings.push(warning);
    }
}

fn warn_unknown(value: &Value, known: &[&str], warnings: &mut Vec<Warning>) {
    let members = value.as_object().unwrap_or_default();
    let is_known = |name: Option<&str>| name.is_some_and(|name| known.contains(&name));
    if !members.iter().all(|member| is_known(member.key.as_str())) {
        warn(Warning::UnknownMembers, warnings);
    }
}
