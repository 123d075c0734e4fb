//! `POST`, `GET` and `DELETE /v1/blobs` (R331, R332).

use lamina_types::BlobId;
use lamina_types::limits::IDEMPOTENCY_KEY_CHARS_MAX;
use lamina_types::stdx::hex;
use schemars::JsonSchema;
use serde::Serialize;

use crate::check;
use crate::error::ApiError;

/// The idempotency key of an upload, whose body is taken by its bytes: it comes as a header (R210).
pub fn upload_key(header: &str) -> Result<String, ApiError> {
    check::short(header, IDEMPOTENCY_KEY_CHARS_MAX)
        .map_err(|reason| ApiError::invalid_parameter("X-Cortex-Idempotency-Key", reason))?;
    Ok(header.to_owned())
}

/// 201: the blob is stored.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "blob_uploaded")]
pub struct BlobUploaded {
    /// Refer to it with this, from `content.blob_id` or `content.media`.
    #[schemars(regex(pattern = "^blob_[0-9a-f]{32}$"))]
    pub blob_id: String,
    /// Its size.
    pub size_bytes: u64,
    /// Its content type, as uploaded.
    pub content_type: String,
    /// SHA-256 of its bytes, in hex.
    #[schemars(regex(pattern = "^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// For images: a hash that similar pictures share, 16 hex digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perceptual_hash: Option<String>,
}

/// 200: the blob is gone.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "blob_deleted")]
pub struct BlobDeleted {
    /// The blob.
    #[schemars(regex(pattern = "^blob_[0-9a-f]{32}$"))]
    pub blob_id: String,
    /// How much was freed.
    pub bytes_deleted: u64,
}

/// What is known of a stored blob.
#[derive(Debug, Clone, Copy)]
pub struct BlobFacts<'a> {
    /// Its id.
    pub id: BlobId,
    /// Its size.
    pub size_bytes: u64,
    /// Its content type.
    pub content_type: &'a str,
    /// SHA-256 of its bytes.
    pub sha256: &'a [u8; 32],
    /// For images.
    pub perceptual_hash: Option<u64>,
}

impl From<BlobFacts<'_>> for BlobUploaded {
    fn from(facts: BlobFacts<'_>) -> BlobUploaded {
        let BlobFacts { id, size_bytes, content_type, sha256, perceptual_hash } = facts;
        BlobUploaded {
            blob_id: id.to_string(),
            size_bytes,
            content_type: content_type.to_owned(),
            sha256: hex::encode(sha256),
            perceptual_hash: perceptual_hash.map(|hash| format!("{hash:016x}")),
        }
    }
}
