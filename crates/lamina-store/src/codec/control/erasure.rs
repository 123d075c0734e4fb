//! Erasures of what belongs to a scope and everything below it, and holds that keep them off. The scope is
//! the head's. Ids, numbers and keyed hashes: no word of what goes is kept.

use lamina_types::{AuditId, ErasureId, EventId};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, required, string};

/// An erasure begins; `who` says on whose request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureBegun {
    /// Its id.
    pub id: ErasureId,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// Only what stands before this offset goes.
    pub up_to: u64,
    /// Only these events are meant; none: all.
    pub events: Vec<EventId>,
    /// The right to reach beyond the scope was there.
    pub crosses: bool,
    /// A keyed hash of the idempotency key, and one of what was asked for under it.
    pub key: Option<([u8; 16], [u8; 16])>,
    /// What was promised; an erasure from before there were certificates has none of it.
    pub promise: Option<ErasurePromise>,
    /// How far it reaches, as was decided when it began. One that does not say reaches nothing outside.
    pub reach: ErasureReach,
}

/// How far an erasure reaches beyond the scope that it names, and what it leaves alone below. Decided once:
/// whoever carries the erasure on takes the same events, whatever roles and settings have changed since.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ErasureReach {
    /// Scopes below that others have.
    pub left_alone: Vec<u64>,
    /// Events elsewhere of the person that the scope is named for.
    pub elsewhere: ErasedElsewhere,
}

/// Which events of a person go that stand outside of their scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ErasedElsewhere {
    /// None.
    #[default]
    Nothing,
    /// All of which the person is the observed actor.
    Everything,
    /// Of these, those that the person wrote or had written, and those in places that the person owns.
    Own {
        /// Keyed hashes of the callers that count as the person.
        authors: Vec<[u8; 16]>,
        /// Scopes that the person owns.
        scopes: Vec<u64>,
    },
}

/// What an erasure promised when it began, for its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasurePromise {
    /// The hash of the manifest.
    pub manifest: [u8; 32],
    /// Where the checkpoint before it stands.
    pub checkpoint: u64,
    /// Holds that keep something.
    pub holds: u64,
    /// Scopes outside that refer to something.
    pub references: u64,
}

/// An erasure has a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureCertified {
    /// Which.
    pub id: ErasureId,
    /// Bytes of files that held something of it, and bytes written to be rid of it.
    pub bytes: (u64, u64),
    /// The certificate.
    pub certificate: String,
}

/// How far an erasure has come, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErasureCounts {
    /// Events that are gone as if never said.
    pub deleted_events: u64,
    /// Events whose words are gone while others refer to them.
    pub redacted_events: u64,
    /// Events under a legal hold.
    pub held_events: u64,
    /// Versions of facts that are gone.
    pub deleted_facts: u64,
    /// Beliefs that are gone.
    pub deleted_beliefs: u64,
    /// Beliefs that no words are left under: half as sure as they were.
    pub demoted_beliefs: u64,
    /// Episodes that are gone.
    pub deleted_episodes: u64,
}

/// An erasure has reached a boundary between two phases, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureStep {
    /// Which.
    pub id: ErasureId,
    /// The number of the phase that it is in, from 1.
    pub phase: u8,
    /// What was done.
    pub counts: ErasureCounts,
    /// It was cancelled; only at its end.
    pub cancelled: bool,
    /// How much of it is done, in ten-thousandths. Older entries do not say.
    pub done: Option<u16>,
    /// Events that are to be deleted and redacted in all; said when words begin to go.
    pub planned: Option<(u64, u64)>,
}

/// Nothing that belongs to the head's scope is erased while this stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegalHold {
    /// Why; nothing when it is lifted.
    pub reason: String,
    /// The scope, as a keyed hash of its path: a restore knows scopes by it. Older entries do not say.
    pub scope: Option<[u8; 16]>,
}

impl ErasureCounts {
    /// All of them, in one order.
    pub fn in_order(self) -> [u64; 7] {
        let ErasureCounts {
            deleted_events,
            redacted_events,
            held_events,
            deleted_facts,
            deleted_beliefs,
            demoted_beliefs,
            deleted_episodes,
        } = self;
        [
            deleted_events,
            redacted_events,
            held_events,
            deleted_facts,
            deleted_beliefs,
            demoted_beliefs,
            deleted_episodes,
        ]
    }

    /// From all of them, in the same order.
    pub fn of(numbers: [u64; 7]) -> ErasureCounts {
        let [
            deleted_events,
            redacted_events,
            held_events,
            deleted_facts,
            deleted_beliefs,
            demoted_beliefs,
            deleted_episodes,
        ] = numbers;
        ErasureCounts {
            deleted_events,
            redacted_events,
            held_events,
            deleted_facts,
            deleted_beliefs,
            demoted_beliefs,
            deleted_episodes,
        }
    }
}

impl ErasureBegun {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96 + self.events.len() * 18);
        out.field(1, self.id.as_bytes());
        out.field(2, self.audit_id.as_bytes());
        out.number(3, self.up_to);
        for event in &self.events {
            out.field(4, event.as_bytes());
        }
        out.number(5, u64::from(self.crosses));
        if let Some((key, body)) = &self.key {
            out.field(6, key);
            out.field(7, body);
        }
        if let Some(ErasurePromise { manifest, checkpoint, holds, references }) = &self.promise {
            out.field(8, manifest);
            out.number(9, *checkpoint);
            out.number(10, *holds);
            out.number(11, *references);
        }
        self.reach.put(&mut out);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ErasureBegun, CodecError> {
        let (mut id, mut audit, mut up_to, mut crosses) = (None, None, None, None);
        let (mut key, mut body, mut events) = (None, None, Vec::new());
        let (mut manifest, mut checkpoint) = (None, None);
        let (mut holds, mut references) = (None, None);
        let mut reach = ReachFields::default();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "erasure")?, "erasure")?,
                2 => once(&mut audit, array(value, "audit")?, "audit")?,
                3 => once(&mut up_to, number(value, "up_to")?, "up_to")?,
                4 => events.push(EventId::from_bytes(array(value, "event")?)),
                5 => once(&mut crosses, number(value, "crosses")?, "crosses")?,
                6 => once(&mut key, array(value, "key")?, "key")?,
                7 => once(&mut body, array(value, "body")?, "body")?,
                8 => once(&mut manifest, array(value, "manifest")?, "manifest")?,
                9 => once(&mut checkpoint, number(value, "checkpoint")?, "checkpoint")?,
                10 => once(&mut holds, number(value, "holds")?, "holds")?,
                11 => once(&mut references, number(value, "references")?, "references")?,
                tag => reach.take(tag, value)?,
            }
        }
        Ok(ErasureBegun {
            id: ErasureId::from_bytes(required(id, "erasure")?),
            audit_id: AuditId::from_bytes(required(audit, "audit")?),
            up_to: required(up_to, "up_to")?,
            events,
            crosses: required(crosses, "crosses")? != 0,
            key: key.zip(body),
            promise: manifest.zip(checkpoint).map(|(manifest, checkpoint)| ErasurePromise {
                manifest,
                checkpoint,
                holds: holds.unwrap_or_default(),
                references: references.unwrap_or_default(),
            }),
            reach: reach.read()?,
        })
    }
}

/// Numbers of [`ErasedElsewhere`].
const EVERYTHING: u64 = 1;
const OWN: u64 = 2;

impl ErasureReach {
    fn put(&self, out: &mut FieldWriter) {
        for scope in &self.left_alone {
            out.number(12, *scope);
        }
        match &self.elsewhere {
            ErasedElsewhere::Nothing => {}
            ErasedElsewhere::Everything => out.number(13, EVERYTHING),
            ErasedElsewhere::Own { authors, scopes } => {
                out.number(13, OWN);
                for author in authors {
                    out.field(14, author);
                }
                for scope in scopes {
                    out.number(15, *scope);
                }
            }
        }
    }
}

/// The fields of a reach while they are read.
#[derive(Debug, Default)]
struct ReachFields {
    left_alone: Vec<u64>,
    elsewhere: Option<u64>,
    authors: Vec<[u8; 16]>,
    scopes: Vec<u64>,
}

impl ReachFields {
    fn take(&mut self, tag: u8, value: &[u8]) -> Result<(), CodecError> {
        match tag {
            12 => self.left_alone.push(number(value, "left_alone")?),
            13 => once(&mut self.elsewhere, number(value, "elsewhere")?, "elsewhere")?,
            14 => self.authors.push(array(value, "author")?),
            15 => self.scopes.push(number(value, "scopes")?),
            _ => {}
        }
        Ok(())
    }

    fn read(self) -> Result<ErasureReach, CodecError> {
        let ReachFields { left_alone, elsewhere, authors, scopes } = self;
        let elsewhere = match elsewhere {
            None => ErasedElsewhere::Nothing,
            Some(EVERYTHING) => ErasedElsewhere::Everything,
            Some(OWN) => ErasedElsewhere::Own { authors, scopes },
            Some(_) => return Err(CodecError::Malformed { field: "elsewhere" }),
        };
        Ok(ErasureReach { left_alone, elsewhere })
    }
}

impl ErasureCertified {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64 + self.certificate.len());
        out.field(1, self.id.as_bytes());
        out.number(2, self.bytes.0);
        out.number(3, self.bytes.1);
        out.field(4, self.certificate.as_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ErasureCertified, CodecError> {
        let (mut id, mut held, mut rewritten, mut certificate) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "erasure")?, "erasure")?,
                2 => once(&mut held, number(value, "held")?, "held")?,
                3 => once(&mut rewritten, number(value, "rewritten")?, "rewritten")?,
                4 => once(&mut certificate, string(value, "certificate")?, "certificate")?,
                _ => {}
            }
        }
        Ok(ErasureCertified {
            id: ErasureId::from_bytes(required(id, "erasure")?),
            bytes: (required(held, "held")?, required(rewritten, "rewritten")?),
            certificate: required(certificate, "certificate")?,
        })
    }
}

impl ErasureStep {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.id.as_bytes());
        out.number(2, u64::from(self.phase));
        for count in self.counts.in_order() {
            out.number(3, count);
        }
        out.number(4, u64::from(self.cancelled));
        if let Some(done) = self.done {
            out.number(5, u64::from(done));
        }
        if let Some((deleted, redacted)) = self.planned {
            out.number(6, deleted);
            out.number(7, redacted);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ErasureStep, CodecError> {
        let (mut id, mut phase, mut cancelled, mut counts) = (None, None, None, Vec::new());
        let (mut done, mut deleted, mut redacted) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "erasure")?, "erasure")?,
                2 => once(&mut phase, number(value, "phase")?, "phase")?,
                3 => counts.push(number(value, "counts")?),
                4 => once(&mut cancelled, number(value, "cancelled")?, "cancelled")?,
                5 => once(&mut done, number(value, "done")?, "done")?,
                6 => once(&mut deleted, number(value, "planned")?, "planned")?,
                7 => once(&mut redacted, number(value, "planned")?, "planned")?,
                _ => {}
            }
        }
        let phase = u8::try_from(required(phase, "phase")?);
        let counts = counts.try_into().map_err(|_| CodecError::Malformed { field: "counts" })?;
        Ok(ErasureStep {
            id: ErasureId::from_bytes(required(id, "erasure")?),
            phase: phase.map_err(|_| CodecError::Malformed { field: "phase" })?,
            counts: ErasureCounts::of(counts),
            cancelled: required(cancelled, "cancelled")? != 0,
            done: done.and_then(|done| u16::try_from(done).ok()),
            planned: deleted.zip(redacted),
        })
    }
}

impl LegalHold {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 16 + self.reason.len());
        out.field(1, self.reason.as_bytes());
        if let Some(scope) = &self.scope {
            out.field(2, scope);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<LegalHold, CodecError> {
        let (mut reason, mut scope) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut reason, string(value, "reason")?, "reason")?,
                2 => once(&mut scope, array(value, "scope")?, "scope")?,
                _ => {}
            }
        }
        Ok(LegalHold { reason: required(reason, "reason")?, scope })
    }
}

#[cfg(test)]
mod tests;
