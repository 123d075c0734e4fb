//! Beliefs that somebody declares.

use lamina_types::layer::Confidence;
use lamina_types::{EntityId, EventId, FactId, Micros, ValidAt};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required, string};

/// A belief was declared in the head's scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeliefDeclared {
    /// What is believed, in the words of its author.
    pub statement: String,
    /// Whom or what it is about, if that was known.
    pub subject: Option<EntityId>,
    /// As its author calls it; none if it is about nothing in particular.
    pub subject_name: Option<String>,
    /// The relation.
    pub predicate: String,
    /// How sure its author is.
    pub confidence: Confidence,
    /// What its author names in support.
    pub supports: Vec<NamedSupport>,
    /// From when it holds.
    pub valid_from: ValidAt,
}

/// A record that a declaration names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedSupport {
    /// An event.
    Event(EventId),
    /// A fact.
    Fact(FactId),
}

impl BeliefDeclared {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let BeliefDeclared {
            statement,
            subject,
            subject_name,
            predicate,
            confidence,
            supports,
            valid_from,
        } = self;
        let mut out = FieldWriter::new(VERSION, 128 + statement.len());
        out.field(1, statement.as_bytes());
        out.optional(2, subject.as_ref().map(|id| id.as_bytes().as_slice()));
        out.optional(3, subject_name.as_deref().map(str::as_bytes));
        out.field(4, predicate.as_bytes());
        out.number(5, u64::from(confidence.get()));
        for support in supports {
            match support {
                NamedSupport::Event(id) => out.field(6, id.as_bytes()),
                NamedSupport::Fact(id) => out.field(7, id.as_bytes()),
            }
        }
        out.field(8, &valid_from.0.0.to_le_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<BeliefDeclared, CodecError> {
        let (mut statement, mut subject, mut subject_name) = (None, None, None);
        let (mut predicate, mut confidence, mut valid_from) = (None, None, None);
        let mut supports = Vec::new();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut statement, string(value, "statement")?, "statement")?,
                2 => once(&mut subject, array(value, "subject")?, "subject")?,
                3 => once(&mut subject_name, string(value, "subject_name")?, "subject_name")?,
                4 => once(&mut predicate, string(value, "predicate")?, "predicate")?,
                5 => {
                    let number = u16::try_from(number(value, "confidence")?)
                        .map_err(|_| CodecError::Malformed { field: "confidence" })?;
                    once(&mut confidence, Confidence::new(number), "confidence")?;
                }
                6 => {
                    let id = EventId::from_bytes(array(value, "supports")?);
                    supports.push(NamedSupport::Event(id));
                }
                7 => {
                    let id = FactId::from_bytes(array(value, "supports")?);
                    supports.push(NamedSupport::Fact(id));
                }
                8 => {
                    let at = i64::from_le_bytes(array(value, "valid_from")?);
                    once(&mut valid_from, ValidAt(Micros(at)), "valid_from")?;
                }
                _ => {}
            }
        }
        Ok(BeliefDeclared {
            statement: required(statement, "statement")?,
            subject: subject.map(EntityId::from_bytes),
            subject_name,
            predicate: required(predicate, "predicate")?,
            confidence: required(confidence, "confidence")?,
            supports,
            valid_from: required(valid_from, "valid_from")?,
        })
    }
}
