//! Signed checkpoints: "at this batch the log had this tip", under the log's key.
//!
//! The same statement is an entry in the log and a small file beside it. Someone who keeps a copy
//! of the file elsewhere can prove later that nothing before it was changed or cut.

use ed25519_dalek::{Signature, Signer, SigningKey, Verifier, VerifyingKey};
use lamina_types::stdx::hex;
use lamina_types::{Micros, RecordedAt};

use super::bytes::Take;

const VERSION: u8 = 1;
const LABEL: &[u8] = b"lamina checkpoint 1\0";

/// A signed statement about the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub log_id: [u8; 16],
    /// Which life of it; grows on restore.
    pub epoch: u32,
    /// The last batch it covers.
    pub batch: u64,
    /// The offset after the last entry it covers.
    pub next_offset: u64,
    /// The tip after that batch.
    pub tip: [u8; 32],
    /// `recorded_at` of the last entry it covers.
    pub recorded_at: RecordedAt,
    /// The key that signed.
    pub public_key: [u8; 32],
    /// Ed25519 over all of the above.
    pub signature: [u8; 64],
}

impl Checkpoint {
    /// Signs; `public_key` and `signature` of `self` are replaced.
    pub(super) fn sign(mut self, key: &SigningKey) -> Checkpoint {
        self.public_key = key.verifying_key().to_bytes();
        self.signature = key.sign(&self.message()).to_bytes();
        self
    }

    /// Whether the signature holds under the key that the checkpoint itself names.
    pub fn is_signed(&self) -> bool {
        VerifyingKey::from_bytes(&self.public_key).is_ok_and(|key| {
            key.verify(&self.message(), &Signature::from_bytes(&self.signature)).is_ok()
        })
    }

    fn message(&self) -> Vec<u8> {
        let mut bytes = LABEL.to_vec();
        self.encode_unsigned(&mut bytes);
        bytes
    }

    fn encode_unsigned(&self, bytes: &mut Vec<u8>) {
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.log_id);
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.batch.to_le_bytes());
        bytes.extend_from_slice(&self.next_offset.to_le_bytes());
        bytes.extend_from_slice(&self.tip);
        bytes.extend_from_slice(&self.recorded_at.0.0.to_le_bytes());
        bytes.extend_from_slice(&self.public_key);
    }

    /// The payload of a `checkpoint` entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.encode_unsigned(&mut bytes);
        bytes.extend_from_slice(&self.signature);
        bytes
    }

    /// Reads the payload of a `checkpoint` entry. Does not verify the signature.
    pub fn decode(bytes: &[u8]) -> Option<Checkpoint> {
        let mut take = Take::new(bytes);
        if take.u8()? != VERSION {
            return None;
        }
        let checkpoint = Checkpoint {
            log_id: take.array()?,
            epoch: take.u32()?,
            batch: take.u64()?,
            next_offset: take.u64()?,
            tip: take.array()?,
            recorded_at: RecordedAt(Micros(take.i64()?)),
            public_key: take.array()?,
            signature: take.array()?,
        };
        take.rest().is_empty().then_some(checkpoint)
    }

    /// The file beside the log.
    pub fn to_json(&self) -> String {
        format!(
            "{{\n  \"version\": {VERSION},\n  \"log_id\": \"{}\",\n  \"epoch\": {},\n  \
             \"batch\": {},\n  \"next_offset\": {},\n  \"tip\": \"{}\",\n  \"recorded_at\": {},\n  \
             \"public_key\": \"{}\",\n  \"signature\": \"{}\"\n}}\n",
            hex::encode(&self.log_id),
            self.epoch,
            self.batch,
            self.next_offset,
            hex::encode(&self.tip),
            self.recorded_at.0.0,
            hex::encode(&self.public_key),
            hex::encode(&self.signature),
        )
    }

    /// Reads the file beside the log, or a copy of it. Does not verify the signature.
    pub fn from_json(text: &str) -> Option<Checkpoint> {
        // A flat object of plain fields: a parser of our own is smaller than a dependency.
        let body = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        let mut fields = std::collections::BTreeMap::new();
        for field in body.split(',') {
            let (name, value) = field.split_once(':')?;
            let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
            fields.insert(name, value.trim().trim_matches('"'));
        }
        let get = |name| fields.get(name).copied();
        if get("version")?.parse::<u8>().ok()? != VERSION {
            return None;
        }
        Some(Checkpoint {
            log_id: hex::decode_array(get("log_id")?)?,
            epoch: get("epoch")?.parse().ok()?,
            batch: get("batch")?.parse().ok()?,
            next_offset: get("next_offset")?.parse().ok()?,
            tip: hex::decode_array(get("tip")?)?,
            recorded_at: RecordedAt(Micros(get("recorded_at")?.parse().ok()?)),
            public_key: hex::decode_array(get("public_key")?)?,
            signature: hex::decode_array(get("signature")?)?,
        })
    }
}

#[cfg(test)]
mod tests;
