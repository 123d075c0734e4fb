//! How far the audit log had come when an entry of the log was written, so that an audit log that is missing, exchanged
//! or shortened is noticed.

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required};

/// A position of the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditPin {
    /// The id of the audit log.
    pub log_id: [u8; 16],
    /// Its next offset.
    pub next_offset: u64,
    /// Its tip.
    pub tip: [u8; 32],
    /// The life of the log in which it was there: a restore brings back an audit log of before.
    pub epoch: u32,
}

impl AuditPin {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, &self.log_id);
        out.number(2, self.next_offset);
        out.field(3, &self.tip);
        out.number(4, u64::from(self.epoch));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<AuditPin, CodecError> {
        let (mut log_id, mut next_offset, mut tip, mut epoch) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut log_id, array(value, "log_id")?, "log_id")?,
                2 => once(&mut next_offset, number(value, "next_offset")?, "next_offset")?,
                3 => once(&mut tip, array(value, "tip")?, "tip")?,
                4 => once(&mut epoch, number(value, "epoch")?, "epoch")?,
                _ => {}
            }
        }
        let epoch = u32::try_from(required(epoch, "epoch")?);
        Ok(AuditPin {
            log_id: required(log_id, "log_id")?,
            next_offset: required(next_offset, "next_offset")?,
            tip: required(tip, "tip")?,
            epoch: epoch.map_err(|_| CodecError::Malformed { field: "epoch" })?,
        })
    }
}

#[cfg(test)]
mod tests;
