//! A tenant's words for stretches of time: they stand in the entry whole, so that the newest one is all
//! there is to know.

use lamina_types::recall::Phrase;
use lamina_types::{Micros, ValidAt};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, once, required, string};

/// The phrases of the head's tenant were changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhrasesSet {
    /// All that are in force.
    pub phrases: Vec<Phrase>,
}

impl PhrasesSet {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        for phrase in &self.phrases {
            let Phrase { name, pattern, from, to } = phrase;
            let mut one = FieldWriter::new(VERSION, 64);
            one.field(1, name.as_bytes());
            one.field(2, pattern.as_bytes());
            one.field(3, &from.0.0.to_le_bytes());
            one.field(4, &to.0.0.to_le_bytes());
            out.field(1, &one.finish());
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<PhrasesSet, CodecError> {
        let mut phrases = Vec::new();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            if tag == 1 {
                phrases.push(phrase(value)?);
            }
        }
        Ok(PhrasesSet { phrases })
    }
}

fn phrase(bytes: &[u8]) -> Result<Phrase, CodecError> {
    let (mut name, mut pattern, mut from, mut to) = (None, None, None, None);
    let mut fields = fields(bytes, VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            1 => once(&mut name, string(value, "name")?, "name")?,
            2 => once(&mut pattern, string(value, "pattern")?, "pattern")?,
            3 => once(&mut from, i64::from_le_bytes(array(value, "from")?), "from")?,
            4 => once(&mut to, i64::from_le_bytes(array(value, "to")?), "to")?,
            _ => {}
        }
    }
    Ok(Phrase {
        name: required(name, "name")?,
        pattern: required(pattern, "pattern")?,
        from: ValidAt(Micros(required(from, "from")?)),
        to: ValidAt(Micros(required(to, "to")?)),
    })
}

#[cfg(test)]
mod tests;
