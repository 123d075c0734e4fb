//! The events of a scope were read again, or what that brought was taken back. The scope is the head's;
//! the answers name the entry of the run among their causes, after their event.

use lamina_types::JobId;

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required};

/// A run begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RederiveBegun {
    /// The run.
    pub run: JobId,
    /// It takes back what this one brought.
    pub undoes: Option<JobId>,
    /// Answers of models are replaced too.
    pub replaces_models: bool,
}

/// A run is through. The head's causes name the entry it began with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RederiveEnded {
    /// The run.
    pub run: JobId,
    /// Answers that it appended.
    pub answers: u64,
}

impl RederiveBegun {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 48);
        out.field(1, self.run.as_bytes());
        out.optional(2, self.undoes.as_ref().map(|run| run.as_bytes().as_slice()));
        out.number(3, u64::from(self.replaces_models));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<RederiveBegun, CodecError> {
        let (mut run, mut undoes, mut replaces) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut run, array(value, "run")?, "run")?,
                2 => once(&mut undoes, array(value, "undoes")?, "undoes")?,
                3 => once(&mut replaces, number(value, "models")? != 0, "models")?,
                _ => {}
            }
        }
        Ok(RederiveBegun {
            run: JobId::from_bytes(required(run, "run")?),
            undoes: undoes.map(JobId::from_bytes),
            replaces_models: required(replaces, "models")?,
        })
    }
}

impl RederiveEnded {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 32);
        out.field(1, self.run.as_bytes());
        out.number(2, self.answers);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<RederiveEnded, CodecError> {
        let (mut run, mut answers) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut run, array(value, "run")?, "run")?,
                2 => once(&mut answers, number(value, "answers")?, "answers")?,
                _ => {}
            }
        }
        Ok(RederiveEnded {
            run: JobId::from_bytes(required(run, "run")?),
            answers: required(answers, "answers")?,
        })
    }
}

#[cfg(test)]
mod tests;
