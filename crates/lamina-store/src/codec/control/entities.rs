//! Control entries about who is who: two entities are one, or are not after all.
//!
//! They hold ids and keyed hashes and no words; why it was decided stands in `who`. Beside the id of an
//! entity stands a name it was known by when that was written, so that a log that is read again by a
//! later version finds the same one even if ids are made otherwise.

use lamina_types::EntityId;

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{Cursor, FieldWriter, fields, once, put_varint, required};

/// An entity, as an entry names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedEntity {
    /// Its id.
    pub id: EntityId,
    /// A name that leads to it: how far the name is known, and its keyed hash.
    pub name: Option<(u64, [u8; 16])>,
}

/// Two ids are of one thing. Of the tenant, so the head's scope is the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityMerged {
    /// The one that is found under the other from now on.
    pub from: NamedEntity,
    /// The one that stays.
    pub into: NamedEntity,
}

/// An entity that was merged into another stands for itself again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntitySplit {
    /// The one that was merged.
    pub entity: NamedEntity,
}

impl NamedEntity {
    fn encode(&self) -> Vec<u8> {
        let mut out = self.id.as_bytes().to_vec();
        if let Some((domain, name)) = &self.name {
            put_varint(&mut out, *domain);
            out.extend_from_slice(name);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Result<NamedEntity, CodecError> {
        let mut from = Cursor::new(bytes);
        let id = EntityId::from_bytes(from.array()?);
        let name = if from.is_done() { None } else { Some((from.varint()?, from.array()?)) };
        match from.is_done() {
            true => Ok(NamedEntity { id, name }),
            false => Err(CodecError::Malformed { field: "entity" }),
        }
    }
}

impl EntityMerged {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96);
        out.field(1, &self.from.encode());
        out.field(2, &self.into.encode());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<EntityMerged, CodecError> {
        let (mut from, mut into) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut from, NamedEntity::decode(value)?, "from")?,
                2 => once(&mut into, NamedEntity::decode(value)?, "into")?,
                _ => {}
            }
        }
        Ok(EntityMerged { from: required(from, "from")?, into: required(into, "into")? })
    }
}

impl EntitySplit {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 48);
        out.field(1, &self.entity.encode());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<EntitySplit, CodecError> {
        let mut entity = None;
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            if tag == 1 {
                once(&mut entity, NamedEntity::decode(value)?, "entity")?;
            }
        }
        Ok(EntitySplit { entity: required(entity, "entity")? })
    }
}

#[cfg(test)]
mod tests;
