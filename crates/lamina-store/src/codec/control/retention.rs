//! How long a tenant keeps events: all its rules in one entry, so that the newest is all there is to know.

use lamina_types::retention::{Keep, Rule};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, once, parsed, required, string};

/// The rules of the head's tenant were changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetentionSet {
    /// All that are in force.
    pub rules: Vec<Rule>,
}

impl RetentionSet {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        for rule in &self.rules {
            let Rule { scope, keep, sources } = rule;
            let mut one = FieldWriter::new(VERSION, 64);
            one.field(1, scope.as_str().as_bytes());
            if let Keep::Days(days) = keep {
                one.field(2, &days.to_le_bytes());
            }
            for (name, days) in sources {
                let mut source = days.to_le_bytes().to_vec();
                source.extend_from_slice(name.as_bytes());
                one.field(3, &source);
            }
            out.field(1, &one.finish());
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<RetentionSet, CodecError> {
        let mut rules = Vec::new();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            if tag == 1 {
                rules.push(rule(value)?);
            }
        }
        Ok(RetentionSet { rules })
    }
}

fn rule(bytes: &[u8]) -> Result<Rule, CodecError> {
    let (mut scope, mut days) = (None, None);
    let mut sources = std::collections::BTreeMap::new();
    let mut fields = fields(bytes, VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            1 => once(&mut scope, parsed(value, "scope")?, "scope")?,
            2 => once(&mut days, u32::from_le_bytes(array(value, "days")?), "days")?,
            3 => {
                let (days, name) = value.split_first_chunk().ok_or(CodecError::Truncated)?;
                sources.insert(string(name, "source")?, u32::from_le_bytes(*days));
            }
            _ => {}
        }
    }
    let keep = days.map_or(Keep::Forever, Keep::Days);
    Ok(Rule { scope: required(scope, "scope")?, keep, sources })
}

#[cfg(test)]
mod tests;
