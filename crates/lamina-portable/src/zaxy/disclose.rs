//! Disclosing some entries of a signed bundle, each with the proof that it belongs to the signed set.

use super::bundle::SIGNED_MEMBERS;
use super::selector::EntrySelector;
use super::verify::{Verdict, VerifyOptions, verify_bundle};
use crate::canon::python_utf8;
use crate::json::Value;
use crate::merkle::{MerkleTree, Side, leaf_hash};
use lamina_types::stdx::hex;

/// A subset and its size.
#[derive(Debug, Clone)]
pub struct Disclosure {
    /// The subset.
    pub subset: Value,
    /// How many entries it discloses.
    pub disclosed_count: usize,
    /// How many entries the bundle has.
    pub entries_count: usize,
}

/// Why nothing can be disclosed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscloseError {
    /// Not a signed bundle.
    #[error(
        "disclosure requires a signed bundle (merkle_root + signature); export with a private key"
    )]
    Unsigned,
    /// A bundle that does not verify would yield proofs that nobody accepts.
    #[error("the bundle does not verify: {0}")]
    Invalid(String),
}

/// Cuts the selected entries out of a signed bundle. The bundle is verified first.
pub fn disclose(bundle: &Value, selector: &EntrySelector) -> Result<Disclosure, DiscloseError> {
    if bundle.get("merkle_root").is_none() || bundle.get("signature").is_none() {
        return Err(DiscloseError::Unsigned);
    }
    match verify_bundle(bundle, VerifyOptions::default()) {
        Verdict::Valid { .. } => {}
        Verdict::Invalid(reason) | Verdict::Malformed(reason) => {
            return Err(DiscloseError::Invalid(reason));
        }
    }
    let entries = bundle.get("entries").and_then(Value::as_array).unwrap_or_default();
    let contents: Vec<&Value> = entries.iter().filter_map(|entry| entry.get("content")).collect();
    let leaves = contents.iter().filter_map(|content| python_utf8(content).ok());
    let tree = MerkleTree::new(leaves.map(|bytes| leaf_hash(&bytes)).collect());
    let mut disclosed = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let Some(proof) = tree.as_ref().and_then(|tree| tree.proof(index)) else { continue };
        if !selector.matches(content) {
            continue;
        }
        let steps = proof.iter().map(|step| {
            let side = match step.side {
                Side::Left => "L",
                Side::Right => "R",
            };
            Value::strings(&[hex::encode(&step.sibling).as_str(), side])
        });
        disclosed.push(Value::object([
            ("index", Value::count(index as u64)),
            ("content", (*content).clone()),
            ("proof", Value::Array(steps.collect())),
        ]));
    }
    let mut subset = Value::Object(Vec::new());
    for member in SIGNED_MEMBERS.into_iter().chain(["signature"]) {
        subset.push_some(member, bundle.get(member).cloned());
    }
    let disclosed_count = disclosed.len();
    subset.push("disclosed", disclosed);
    Ok(Disclosure { subset, disclosed_count, entries_count: contents.len() })
}
