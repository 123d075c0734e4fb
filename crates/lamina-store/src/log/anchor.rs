//! The anchor: a signed statement of where the log stood before its first segment, once the
//! segments before it were dropped.
//!
//! It is durable before the first of them goes. What stands in it beside the tip is for its owner
//! to say; the log only vouches for it.

use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use lamina_env::Disk;
use lamina_types::{Micros, RecordedAt};

use super::bytes::Take;
use super::paths::Paths;
use super::scan::Standing;

const MAGIC: [u8; 8] = *b"LANCHR\x01\x0a";
const LABEL: &[u8] = b"lamina anchor 1\0";
/// More than the chains of a million tenants.
const BYTES_MAX: u64 = 128 * 1_024 * 1_024;

/// Where the log stood before the first segment that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) log_id: [u8; 16],
    /// The last batch that is gone.
    pub(crate) batch: u64,
    /// The first offset that is left.
    pub(crate) next_offset: u64,
    pub(crate) tip: [u8; 32],
    pub(crate) recorded_at: RecordedAt,
    /// The owner's words.
    pub(crate) payload: Vec<u8>,
}

impl Anchor {
    pub(super) fn standing(&self) -> Standing {
        Standing {
            next_offset: self.next_offset,
            next_batch: self.batch + 1,
            tip: Some(self.tip),
            recorded_at: self.recorded_at,
        }
    }

    /// The bytes of the file, signed.
    pub(super) fn encode(&self, key: &SigningKey) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.log_id);
        bytes.extend_from_slice(&self.batch.to_le_bytes());
        bytes.extend_from_slice(&self.next_offset.to_le_bytes());
        bytes.extend_from_slice(&self.tip);
        bytes.extend_from_slice(&self.recorded_at.0.0.to_le_bytes());
        bytes.extend_from_slice(&key.verifying_key().to_bytes());
        bytes.extend_from_slice(&self.payload);
        let signature = key.sign(&[LABEL, &bytes].concat()).to_bytes();
        bytes.extend_from_slice(&signature);
        bytes
    }

    /// Reads the bytes of the file. Without a key, the one it names must have signed it.
    pub(super) fn decode(bytes: &[u8], public_key: Option<[u8; 32]>) -> Option<Anchor> {
        let (signed, signature) = bytes.split_last_chunk::<64>()?;
        let mut take = Take::new(signed);
        if take.array::<8>()? != MAGIC {
            return None;
        }
        let log_id = take.array()?;
        let (batch, next_offset, tip) = (take.u64()?, take.u64()?, take.array()?);
        let recorded_at = RecordedAt(Micros(take.i64()?));
        let named: [u8; 32] = take.array()?;
        if public_key.is_some_and(|key| key != named) {
            return None;
        }
        let key = VerifyingKey::from_bytes(&named).ok()?;
        let message = [LABEL, signed].concat();
        key.verify(&message, &Signature::from_bytes(signature)).ok()?;
        let payload = take.rest().to_vec();
        Some(Anchor { log_id, batch, next_offset, tip, recorded_at, payload })
    }

    /// The anchor of the log, if it has one: `Err` if there is a file that does not hold.
    pub(super) fn find(
        disk: &dyn Disk,
        paths: &Paths,
        public_key: Option<[u8; 32]>,
    ) -> Result<Option<Anchor>, super::LogError> {
        let path = paths.anchor();
        if !disk.exists(&path) {
            return Ok(None);
        }
        let bytes = lamina_env::disk::read_file(disk, &path, BYTES_MAX);
        let bytes = bytes.map_err(super::open::opening)?;
        let anchor = Anchor::decode(&bytes, public_key);
        let damaged =
            || super::open::corrupt_at("anchor", 0, "the anchor is not signed, or damaged");
        anchor.ok_or_else(damaged).map(Some)
    }
}

#[cfg(test)]
mod tests;
