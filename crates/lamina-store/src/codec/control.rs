//! The sections of control entries: tenants, scopes, cancellations, blobs; and in `admin`, whatever
//! decides who may do what; and in `derive`, what changes derived records.
//!
//! What a fold must still know after the words are erased stands in the head instead: the tenant's
//! ordinal is the head's tenant, and the event of a cancellation and the blob of a removal are the
//! head's causes.

use lamina_types::{ActorId, AuditId, BlobId, EventId, ScopePath};

use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, parsed, required, string};

mod admin;
mod audit_pin;
mod beliefs;
mod derive;
mod erasure;
mod forget;
mod import;
mod rederive;
mod retention;
mod entities;
mod phrases;
mod synthesis;
mod vocabulary;

pub use admin::{By, PolicySet, PolicyTarget, ScopeRemoved, ScopeSet, TokenRevoked};
pub(crate) use admin::{role_number, role_of};
pub use audit_pin::AuditPin;
pub use beliefs::{BeliefDeclared, NamedSupport};
pub use derive::{ConflictResolved, ResolvedAs, Side};
pub use entities::{EntityMerged, EntitySplit, NamedEntity};
pub use erasure::{
    ErasedElsewhere, ErasureBegun, ErasureCertified, ErasureCounts, ErasurePromise, ErasureReach,
    ErasureStep, LegalHold,
};
pub use forget::{
    ForgetBegun, ForgetPart, ForgetPlan, ForgetRun, Forgotten, Suppress, SuppressedBelief,
    SuppressedFact,
};
pub use import::{
    ImportBegun, ImportCounts, ImportEnded, ImportFailure, ImportIdentity, ImportOutcome,
    ImportStep, ImportToken,
};
pub use phrases::PhrasesSet;
pub use rederive::{RederiveBegun, RederiveEnded};
pub use retention::RetentionSet;
pub use synthesis::Synthesize;
pub use vocabulary::{Left, VocabularySet};

const VERSION: u8 = 1;

/// A tenant exists. The head's tenant is its ordinal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    /// Its name.
    pub name: String,
    /// The check value of its key; a tenant of an earlier version has none.
    pub key_check: Option<[u8; 16]>,
}

impl Tenant {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.name.as_bytes());
        if let Some(key_check) = &self.key_check {
            out.field(2, key_check);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Tenant, CodecError> {
        let (mut name, mut key_check) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut name, string(value, "name")?, "name")?,
                2 => once(&mut key_check, array(value, "key_check")?, "key_check")?,
                _ => {}
            }
        }
        Ok(Tenant { name: required(name, "name")?, key_check })
    }
}

/// A scope was registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Its path.
    pub path: ScopePath,
    /// Its ordinal within the tenant: dense from 1, in the order of registration.
    pub ordinal: u64,
    /// Who owns it.
    pub owner: ActorId,
    /// Registered by a write into it, not by request.
    pub auto: bool,
}

impl Scope {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        out.field(1, self.path.as_str().as_bytes());
        out.number(2, self.ordinal);
        out.field(3, self.owner.as_str().as_bytes());
        out.field(4, &[u8::from(self.auto)]);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Scope, CodecError> {
        let (mut path, mut ordinal, mut owner, mut auto) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut path, parsed(value, "path")?, "path")?,
                2 => once(&mut ordinal, number(value, "ordinal")?, "ordinal")?,
                3 => once(&mut owner, parsed(value, "owner")?, "owner")?,
                4 => once(&mut auto, flag(value, "auto")?, "auto")?,
                _ => {}
            }
        }
        Ok(Scope {
            path: required(path, "path")?,
            ordinal: required(ordinal, "ordinal")?,
            owner: required(owner, "owner")?,
            auto: required(auto, "auto")?,
        })
    }
}

/// The remaining stages of an event are cancelled. The head's causes name the event's entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// The event.
    pub event_id: EventId,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// Why, in the caller's words. Nobody can read it again, so it is empty; older entries may have one.
    pub note: String,
}

impl Cancel {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.event_id.as_bytes());
        out.field(2, self.audit_id.as_bytes());
        if !self.note.is_empty() {
            out.field(3, self.note.as_bytes());
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Cancel, CodecError> {
        let (mut event, mut audit, mut note) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut event, array(value, "event_id")?, "event_id")?,
                2 => once(&mut audit, array(value, "audit_id")?, "audit_id")?,
                3 => once(&mut note, string(value, "note")?, "note")?,
                _ => {}
            }
        }
        Ok(Cancel {
            event_id: EventId::from_bytes(required(event, "event_id")?),
            audit_id: AuditId::from_bytes(required(audit, "audit_id")?),
            note: note.unwrap_or_default(),
        })
    }
}

/// A blob was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Its id.
    pub id: BlobId,
    /// Its bytes.
    pub size: u64,
    /// Its media type, as uploaded.
    pub content_type: String,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Perceptual hash, of an image.
    pub perceptual_hash: Option<u64>,
    /// The random name of its file.
    pub file: [u8; 16],
    /// Who uploaded it.
    pub uploader: ActorId,
    /// The idempotency key of the upload, if it had one.
    pub key: Option<BlobKey>,
}

/// The idempotency key of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobKey {
    /// Keyed hash of caller, family and key.
    pub idem_mac: [u8; 32],
    /// Keyed hash of what was uploaded.
    pub body_mac: [u8; 32],
}

impl Blob {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 192);
        out.field(1, self.id.as_bytes());
        out.number(2, self.size);
        out.field(3, self.content_type.as_bytes());
        out.field(4, &self.sha256);
        let hash = self.perceptual_hash.map(u64::to_le_bytes);
        out.optional(5, hash.as_ref().map(<[u8; 8]>::as_slice));
        out.field(6, &self.file);
        out.field(7, self.uploader.as_str().as_bytes());
        if let Some(BlobKey { idem_mac, body_mac }) = &self.key {
            out.field(8, idem_mac);
            out.field(9, body_mac);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Blob, CodecError> {
        let (mut id, mut size, mut content_type, mut sha256) = (None, None, None, None);
        let (mut hash, mut file, mut uploader) = (None, None, None);
        let (mut idem_mac, mut body_mac) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "id")?, "id")?,
                2 => once(&mut size, number(value, "size")?, "size")?,
                3 => {
                    let media_type = string(value, "content_type")?;
                    once(&mut content_type, media_type, "content_type")?;
                }
                4 => once(&mut sha256, array(value, "sha256")?, "sha256")?,
                5 => {
                    let bits = u64::from_le_bytes(array(value, "perceptual_hash")?);
                    once(&mut hash, bits, "perceptual_hash")?;
                }
                6 => once(&mut file, array(value, "file")?, "file")?,
                7 => once(&mut uploader, parsed(value, "uploader")?, "uploader")?,
                8 => once(&mut idem_mac, array(value, "idem_mac")?, "idem_mac")?,
                9 => once(&mut body_mac, array(value, "body_mac")?, "body_mac")?,
                _ => {}
            }
        }
        Ok(Blob {
            id: BlobId::from_bytes(required(id, "id")?),
            size: required(size, "size")?,
            content_type: required(content_type, "content_type")?,
            sha256: required(sha256, "sha256")?,
            perceptual_hash: hash,
            file: required(file, "file")?,
            uploader: required(uploader, "uploader")?,
            key: match (idem_mac, body_mac) {
                (Some(idem_mac), Some(body_mac)) => Some(BlobKey { idem_mac, body_mac }),
                (None, None) => None,
                _ => return Err(CodecError::Malformed { field: "key" }),
            },
        })
    }
}

/// A blob was removed. The head's causes name the entry that stored it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRemoved {
    /// Its id.
    pub id: BlobId,
}

impl BlobRemoved {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 32);
        out.field(1, self.id.as_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<BlobRemoved, CodecError> {
        let mut id = None;
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            if tag == 1 {
                once(&mut id, array(value, "id")?, "id")?;
            }
        }
        Ok(BlobRemoved { id: BlobId::from_bytes(required(id, "id")?) })
    }
}

fn flag(value: &[u8], field: &'static str) -> Result<bool, CodecError> {
    match value {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(CodecError::Malformed { field }),
    }
}

#[cfg(test)]
mod tests;
