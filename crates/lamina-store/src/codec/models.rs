//! The sections of control entries about calls to a model: what may be spent, what was spent, and what
//! was given up. No words: which events were given up stands in the head's causes.

use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required, string};

const VERSION: u8 = 1;

/// What a call took, or may take at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cost {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Money, in millionths of the unit that the prices are in.
    pub micros: u64,
}

/// A call is about to be made: it counts as spent until it is known what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelReserved {
    /// Which call.
    pub call: [u8; 16],
    /// At most so much.
    pub cost: Cost,
    /// Events it asks about.
    pub events: u64,
    /// Which model, with its instructions.
    pub model: String,
}

/// What a call took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSettled {
    /// Which call.
    pub call: [u8; 16],
    /// So much.
    pub cost: Cost,
    /// What went wrong, by number; 0 if nothing did.
    pub fault: u8,
}

/// A model will not be asked about the events of the head's causes any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelGaveUp {
    /// What went wrong last, by number.
    pub fault: u8,
    /// How often it was asked.
    pub attempts: u32,
}

impl Cost {
    /// The bytes of a cost within another section.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 32);
        out.number(1, self.input_tokens);
        out.number(2, self.output_tokens);
        out.number(3, self.micros);
        out.finish()
    }

    /// Reads them.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Cost, CodecError> {
        let (mut input, mut output, mut micros) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut input, number(value, "input_tokens")?, "input_tokens")?,
                2 => once(&mut output, number(value, "output_tokens")?, "output_tokens")?,
                3 => once(&mut micros, number(value, "micros")?, "micros")?,
                _ => {}
            }
        }
        Ok(Cost {
            input_tokens: required(input, "input_tokens")?,
            output_tokens: required(output, "output_tokens")?,
            micros: required(micros, "micros")?,
        })
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micros: self.micros.saturating_add(other.micros),
        }
    }

    /// This without the other.
    #[must_use]
    pub fn minus(self, other: Cost) -> Cost {
        Cost {
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            micros: self.micros.saturating_sub(other.micros),
        }
    }

    /// Tokens in both directions.
    pub fn tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl ModelReserved {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96);
        out.field(1, &self.call);
        out.field(2, &self.cost.encode());
        out.number(3, self.events);
        out.field(4, self.model.as_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ModelReserved, CodecError> {
        let (mut call, mut cost, mut events, mut model) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut call, array(value, "call")?, "call")?,
                2 => once(&mut cost, Cost::decode(value)?, "cost")?,
                3 => once(&mut events, number(value, "events")?, "events")?,
                4 => once(&mut model, string(value, "model")?, "model")?,
                _ => {}
            }
        }
        Ok(ModelReserved {
            call: required(call, "call")?,
            cost: required(cost, "cost")?,
            events: required(events, "events")?,
            model: required(model, "model")?,
        })
    }
}

impl ModelSettled {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, &self.call);
        out.field(2, &self.cost.encode());
        out.field(3, &[self.fault]);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ModelSettled, CodecError> {
        let (mut call, mut cost, mut fault) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut call, array(value, "call")?, "call")?,
                2 => once(&mut cost, Cost::decode(value)?, "cost")?,
                3 => once(&mut fault, array::<1>(value, "fault")?, "fault")?,
                _ => {}
            }
        }
        let [fault] = required(fault, "fault")?;
        Ok(ModelSettled { call: required(call, "call")?, cost: required(cost, "cost")?, fault })
    }
}

impl ModelGaveUp {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 16);
        out.field(1, &[self.fault]);
        out.number(2, u64::from(self.attempts));
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ModelGaveUp, CodecError> {
        let (mut fault, mut attempts) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut fault, array::<1>(value, "fault")?, "fault")?,
                2 => once(&mut attempts, number(value, "attempts")?, "attempts")?,
                _ => {}
            }
        }
        let [fault] = required(fault, "fault")?;
        let attempts = u32::try_from(required(attempts, "attempts")?);
        let attempts = attempts.map_err(|_| CodecError::Malformed { field: "attempts" })?;
        Ok(ModelGaveUp { fault, attempts })
    }
}

#[cfg(test)]
mod tests;
