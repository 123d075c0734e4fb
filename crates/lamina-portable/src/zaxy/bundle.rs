//! The unsigned and the signed bundle. The signature covers the Merkle root of the entries and the
//! bundle's own head; the root covers every entry and their order.

use lamina_types::stdx::hex;

use super::event::sha256_hex;
use super::{ENTRY_SCHEMA, SIGNED_VERSION, UNSIGNED_VERSION};
use crate::canon::{CanonError, python_indented, python_spaced, python_utf8};
use crate::json::Value;
use crate::merkle::{MerkleTree, leaf_hash};
use crate::sign::BundleKey;

/// The members of a bundle that its signature covers, besides the entries.
pub(super) const SIGNED_MEMBERS: [&str; 7] =
    ["version", "algorithm", "public_key", "session_id", "created_at", "nonce", "merkle_root"];

/// The inputs of a signature that the caller draws.
#[derive(Debug, Clone)]
pub struct SignatureInputs {
    /// The time of the signature, as text.
    pub created_at: String,
    /// 32 hexadecimal digits that were never used before.
    pub nonce: String,
    /// Random bytes that ML-DSA mixes in.
    pub randomness: [u8; 32],
}

/// Why entries cannot be signed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// An entry that has no canonical bytes.
    #[error("entry {index} has no canonical form: {source}")]
    Entry {
        /// Its place, from 0.
        index: usize,
        /// The cause.
        source: CanonError,
    },
    /// No entries.
    #[error("nothing was selected, and an empty set cannot be signed; widen the selector")]
    Empty,
}

/// The canonical bundle without a signature.
pub fn unsigned_bundle(session_id: &str, entries: Vec<Value>) -> Value {
    Value::object([
        ("version", UNSIGNED_VERSION.into()),
        ("schema_version", ENTRY_SCHEMA.into()),
        ("session_id", session_id.into()),
        ("signed", false.into()),
        ("entries", entries.into()),
    ])
}

/// The bundle with the signature of a key. The key decides the algorithm and the public key.
pub fn signed_bundle(
    session_id: &str,
    entries: Vec<Value>,
    key: &BundleKey,
    inputs: SignatureInputs,
) -> Result<Value, BundleError> {
    let mut leaves = Vec::with_capacity(entries.len());
    let mut wrapped = Vec::with_capacity(entries.len());
    for (index, content) in entries.into_iter().enumerate() {
        let bytes = python_utf8(&content).map_err(|source| BundleError::Entry { index, source })?;
        leaves.push(leaf_hash(&bytes));
        wrapped.push(Value::object([("id", sha256_hex(&bytes).into()), ("content", content)]));
    }
    let tree = MerkleTree::new(leaves).ok_or(BundleError::Empty)?;
    let mut bundle = Value::object([
        ("version", SIGNED_VERSION.into()),
        ("algorithm", key.algorithm().name().into()),
        ("public_key", key.public_hex().into()),
        ("session_id", session_id.into()),
        ("created_at", inputs.created_at.into()),
        ("nonce", inputs.nonce.into()),
        ("merkle_root", hex::encode(&tree.root()).into()),
    ]);
    let message =
        signed_message(&bundle).map_err(|source| BundleError::Entry { index: 0, source })?;
    let signature = key.sign(&message, &inputs.randomness);
    bundle.push("anchor", Value::Null);
    bundle.push("entries", wrapped);
    bundle.push("signature", hex::encode(&signature));
    Ok(bundle)
}

/// The bytes that are signed: the canonical form of the head. Absent members stay absent.
pub(super) fn signed_message(bundle: &Value) -> Result<Vec<u8>, CanonError> {
    let mut head = Value::Object(Vec::new());
    for member in SIGNED_MEMBERS {
        head.push_some(member, bundle.get(member).cloned());
    }
    python_utf8(&head)
}

/// The text of a bundle's file: indented by two spaces, without a final newline.
pub fn to_file(bundle: &Value) -> Result<String, CanonError> {
    python_indented(bundle)
}

/// The text of a bundle in one line, as a webhook receives it.
pub fn to_line(bundle: &Value) -> Result<String, CanonError> {
    python_spaced(bundle)
}
