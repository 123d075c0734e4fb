//! Somebody asked for what is understood of a scope to be made again. The scope is the head's.

use lamina_types::JobId;

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required};

/// What was asked for. Words of topics are keyed hashes already: a fold compares nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synthesize {
    /// The job.
    pub job: JobId,
    /// A keyed hash of the idempotency key, and one of what was asked for under it.
    pub key: Option<([u8; 16], [u8; 16])>,
    /// Also what does not need it.
    pub force: bool,
    /// Only concepts that gather one of these; empty: all.
    pub topics: Vec<[u8; 16]>,
    /// Only concepts created from here on, in microseconds: a scope may have more than one entry can
    /// take.
    pub from: i64,
    /// And before this.
    pub to: i64,
}

impl Synthesize {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        out.field(1, self.job.as_bytes());
        if let Some((key, body)) = &self.key {
            out.field(2, key);
            out.field(3, body);
        }
        out.number(4, u64::from(self.force));
        for topic in &self.topics {
            out.field(5, topic);
        }
        out.field(6, &self.from.to_le_bytes());
        out.field(7, &self.to.to_le_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<Synthesize, CodecError> {
        let (mut job, mut key, mut body, mut force) = (None, None, None, None);
        let (mut from, mut to, mut topics) = (None, None, Vec::new());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut job, array(value, "job")?, "job")?,
                2 => once(&mut key, array(value, "key")?, "key")?,
                3 => once(&mut body, array(value, "body")?, "body")?,
                4 => once(&mut force, number(value, "force")? != 0, "force")?,
                5 => topics.push(array(value, "topic")?),
                6 => once(&mut from, i64::from_le_bytes(array(value, "from")?), "from")?,
                7 => once(&mut to, i64::from_le_bytes(array(value, "to")?), "to")?,
                _ => {}
            }
        }
        Ok(Synthesize {
            job: JobId::from_bytes(required(job, "job")?),
            key: key.zip(body),
            force: required(force, "force")?,
            topics,
            from: required(from, "from")?,
            to: required(to, "to")?,
        })
    }
}

#[cfg(test)]
mod tests;
