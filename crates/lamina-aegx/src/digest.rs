//! The hashes of the format: ids of records, hashes of entries, names of blobs.

use lamina_portable::canon::{self, CanonError};
use lamina_portable::json::{Member, Value};
use lamina_types::stdx::hex;
use sha2::{Digest as _, Sha256};

use crate::instant;
use crate::model::{BlobReference, Hash};

/// The content of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// A value in the record.
    Inline(Value),
    /// A blob beside the records.
    Blob(BlobReference),
}

/// The members of a record that its id covers. Type, principal and taints are texts, because a verifier
/// hashes what stands there.
#[derive(Debug, Clone, Copy)]
pub struct RecordParts<'a> {
    /// The type.
    pub kind: &'a str,
    /// The principal.
    pub principal: &'a str,
    /// The taints, in their order.
    pub taint: &'a [String],
    /// The ids of the parents as hex, in their order.
    pub parents: &'a [String],
    /// The metadata with the time `ts`.
    pub meta: &'a Value,
    /// The content.
    pub payload: PayloadParts<'a>,
}

/// The content of a record as it is hashed.
#[derive(Debug, Clone, Copy)]
pub enum PayloadParts<'a> {
    /// A value.
    Inline(&'a Value),
    /// A blob.
    Blob {
        /// Its name.
        blob: &'a str,
        /// Its media type.
        mime: &'a str,
        /// Its size.
        size: u64,
    },
}

/// The bytes whose hash is the id of a record.
pub fn record_canonical(parts: &RecordParts<'_>) -> Result<Vec<u8>, CanonError> {
    let mut out = b"{\"meta\":".to_vec();
    match normalized_meta(parts.meta) {
        Some(meta) => out.extend(canon::aegx(&meta)?),
        None => out.extend(canon::aegx(parts.meta)?),
    }
    out.extend_from_slice(b",\"parents\":");
    push_texts(&mut out, parts.parents)?;
    out.extend_from_slice(b",\"payload\":{");
    match parts.payload {
        PayloadParts::Inline(value) => {
            out.extend_from_slice(b"\"inline\":");
            out.extend(canon::aegx(value)?);
        }
        PayloadParts::Blob { blob, mime, size } => {
            out.extend_from_slice(b"\"blob\":");
            push_text(&mut out, blob)?;
            out.extend_from_slice(b",\"mime\":");
            push_text(&mut out, mime)?;
            out.extend_from_slice(format!(",\"size\":{size}").as_bytes());
        }
    }
    out.extend_from_slice(b"},\"principal\":");
    push_text(&mut out, parts.principal)?;
    out.extend_from_slice(b",\"schema\":\"0.1\",\"taint\":");
    push_texts(&mut out, parts.taint)?;
    out.extend_from_slice(b",\"type\":");
    push_text(&mut out, parts.kind)?;
    out.push(b'}');
    Ok(out)
}

/// The id of a record.
pub fn record_id(parts: &RecordParts<'_>) -> Result<Hash, CanonError> {
    record_canonical(parts).map(|bytes| sha256(&bytes))
}

/// The hash of an entry of the audit log. All texts are in their shape: hex and a time.
pub fn entry_hash(index: u64, at: &str, record: &str, previous: &str) -> Hash {
    let text = format!(
        "{{\"idx\":{index},\"prev\":\"{previous}\",\"recordId\":\"{record}\",\"ts\":\"{at}\"}}"
    );
    sha256(text.as_bytes())
}

/// SHA-256.
pub fn sha256(bytes: &[u8]) -> Hash {
    Sha256::digest(bytes).into()
}

/// The hash that 64 lower-case digits stand for.
pub fn parse_hash(text: &str) -> Option<Hash> {
    let is_lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_lower { hex::decode_array(text) } else { None }
}

/// The metadata with its time in UTC, if that differs from what stands there.
fn normalized_meta(meta: &Value) -> Option<Value> {
    let stated = meta.get("ts")?.as_str()?;
    let normal = instant::normalize(stated).filter(|normal| normal != stated)?;
    let members = meta.as_object()?.iter().map(|member| match member.key.as_str() {
        Some("ts") => Member::new("ts", Value::from(normal.as_str())),
        _ => member.clone(),
    });
    Some(Value::Object(members.collect()))
}

fn push_text(out: &mut Vec<u8>, text: &str) -> Result<(), CanonError> {
    let is_plain =
        text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\'));
    if is_plain {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        out.extend(canon::aegx(&Value::from(text))?);
    }
    Ok(())
}

fn push_texts(out: &mut Vec<u8>, texts: &[String]) -> Result<(), CanonError> {
    out.push(b'[');
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        push_text(out, text)?;
    }
    out.push(b']');
    Ok(())
}
