//! Imports: the job that begins, the steps that write rows, the end.
//!
//! A step carries the keyed identity of each row that it wrote. Identities hold no words, do not expire
//! and survive the erasure of their events, so that a later import of the same file knows its rows.

use lamina_types::ImportId;

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{
    Cursor, FieldWriter, array, fields, number, once, put_varint, required, string,
};

/// An import begins. `who` names its caller and the capability that let it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportBegun {
    /// Its id.
    pub id: ImportId,
    /// The name of the format.
    pub format: String,
    /// The target: a scope path, or a template.
    pub target: String,
    /// The options of the request, as compact JSON.
    pub options: String,
    /// The name of the staged file.
    pub file: [u8; 16],
    /// The length of the staged file.
    pub bytes: u64,
    /// SHA-256 of the staged file.
    pub sha256: [u8; 32],
    /// The version of the policy that let it in.
    pub policy_version: u64,
    /// Keyed hashes of the idempotency key and of the request.
    pub key: Option<ImportIdentity>,
    /// The limits of the token that began it; `None` where no token is needed.
    pub token: Option<ImportToken>,
}

/// The limits of a token, so that a job that goes on after a restart stays within them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportToken {
    /// The id of the token.
    pub jti: String,
    /// Its issuer.
    pub iss: String,
    /// When it ends, in microseconds.
    pub exp: i64,
    /// The capabilities that it is for; `None` is all that the policy gives.
    pub caps: Option<Vec<String>>,
    /// Capabilities that it limits to scopes, as `CAPABILITY:PREFIX`.
    pub scopes: Vec<String>,
}

/// A keyed hash of a name and one of the content under that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportIdentity {
    /// The name: format, source id and scope of a row, or an idempotency key.
    pub name: [u8; 16],
    /// The content.
    pub body: [u8; 16],
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ImportCounts {
    /// Rows consumed, in the order of writing.
    pub position: u64,
    /// The share that is done, in ten-thousandths.
    pub fraction: u16,
    /// Rows in all, if that is known.
    pub total: Option<u64>,
    /// Rows that became new events.
    pub written: u64,
    /// Rows that were there already.
    pub known: u64,
    /// Rows that became a new version of an older event.
    pub replaced: u64,
    /// Rows whose earlier event was erased.
    pub erased: u64,
    /// Rows left out on purpose.
    pub skipped: u64,
    /// Rows that could not be taken, with the erased ones.
    pub failed: u64,
}

/// A row that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportFailure {
    /// Its line, where lines tell the place.
    pub line: Option<u64>,
    /// The error code.
    pub code: String,
}

/// Rows of an import were written, or its progress is noted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportStep {
    /// Which import.
    pub id: ImportId,
    /// The progress after the step.
    pub counts: ImportCounts,
    /// Rows that were refused since the last step.
    pub failures: Vec<ImportFailure>,
    /// The identity of each row written, in the order of the head's causes.
    pub identities: Vec<ImportIdentity>,
    /// Rows that replaced an older version, by their index among the identities.
    pub replaced: Vec<u64>,
}

/// The outcome of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ImportOutcome {
    /// The whole source was read.
    Completed = 1,
    /// It cannot go on.
    Failed = 2,
    /// Somebody stopped it.
    Cancelled = 3,
}

/// An import is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportEnded {
    /// Which import.
    pub id: ImportId,
    /// Its outcome.
    pub outcome: ImportOutcome,
    /// The last progress.
    pub counts: ImportCounts,
    /// The loss report, as compact JSON.
    pub report: String,
}

impl ImportOutcome {
    /// The outcome with this number.
    pub fn from_u8(value: u8) -> Result<ImportOutcome, CodecError> {
        [ImportOutcome::Completed, ImportOutcome::Failed, ImportOutcome::Cancelled]
            .into_iter()
            .find(|outcome| *outcome as u8 == value)
            .ok_or(CodecError::Malformed { field: "outcome" })
    }
}

impl ImportBegun {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 192 + self.target.len() + self.options.len());
        out.field(1, self.id.as_bytes());
        out.field(2, self.format.as_bytes());
        out.field(3, self.target.as_bytes());
        out.field(4, self.options.as_bytes());
        out.field(5, &self.file);
        out.number(6, self.bytes);
        out.field(7, &self.sha256);
        out.number(8, self.policy_version);
        if let Some(ImportIdentity { name, body }) = &self.key {
            out.field(9, name);
            out.field(10, body);
        }
        if let Some(token) = &self.token {
            out.field(11, &token.encode());
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ImportBegun, CodecError> {
        let (mut id, mut format, mut target, mut options) = (None, None, None, None);
        let (mut file, mut length, mut sha256, mut version) = (None, None, None, None);
        let (mut name, mut body, mut token) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "import")?, "import")?,
                2 => once(&mut format, string(value, "format")?, "format")?,
                3 => once(&mut target, string(value, "target")?, "target")?,
                4 => once(&mut options, string(value, "options")?, "options")?,
                5 => once(&mut file, array(value, "file")?, "file")?,
                6 => once(&mut length, number(value, "bytes")?, "bytes")?,
                7 => once(&mut sha256, array(value, "sha256")?, "sha256")?,
                8 => once(&mut version, number(value, "policy_version")?, "policy_version")?,
                9 => once(&mut name, array(value, "key")?, "key")?,
                10 => once(&mut body, array(value, "body")?, "body")?,
                11 => once(&mut token, ImportToken::decode(value)?, "token")?,
                _ => {}
            }
        }
        Ok(ImportBegun {
            id: ImportId::from_bytes(required(id, "import")?),
            format: required(format, "format")?,
            target: required(target, "target")?,
            options: required(options, "options")?,
            file: required(file, "file")?,
            bytes: required(length, "bytes")?,
            sha256: required(sha256, "sha256")?,
            policy_version: required(version, "policy_version")?,
            key: name.zip(body).map(|(name, body)| ImportIdentity { name, body }),
            token,
        })
    }
}

impl ImportToken {
    fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.jti.as_bytes());
        out.field(2, self.iss.as_bytes());
        out.field(3, &self.exp.to_le_bytes());
        if let Some(caps) = &self.caps {
            // A token for no capability differs from one without a list.
            out.field(4, &[]);
            caps.iter().for_each(|name| out.field(5, name.as_bytes()));
        }
        self.scopes.iter().for_each(|entry| out.field(6, entry.as_bytes()));
        out.finish()
    }

    fn decode(bytes: &[u8]) -> Result<ImportToken, CodecError> {
        let (mut jti, mut iss, mut exp, mut is_listed) = (None, None, None, None);
        let (mut caps, mut scopes) = (Vec::new(), Vec::new());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut jti, string(value, "jti")?, "jti")?,
                2 => once(&mut iss, string(value, "iss")?, "iss")?,
                3 => once(&mut exp, i64::from_le_bytes(array(value, "exp")?), "exp")?,
                4 => once(&mut is_listed, (), "caps")?,
                5 => caps.push(string(value, "caps")?),
                6 => scopes.push(string(value, "scopes")?),
                // An unknown limit may not be left out.
                _ => return Err(CodecError::Malformed { field: "token" }),
            }
        }
        Ok(ImportToken {
            jti: required(jti, "jti")?,
            iss: required(iss, "iss")?,
            exp: required(exp, "exp")?,
            caps: is_listed.map(|()| caps),
            scopes,
        })
    }
}

impl ImportCounts {
    /// Appends the numbers.
    pub fn put(&self, out: &mut Vec<u8>) {
        let ImportCounts {
            position,
            fraction,
            total,
            written,
            known,
            replaced,
            erased,
            skipped,
            failed,
        } = *self;
        // One more than the total: 0 says that it is not known.
        let total = total.map_or(0, |total| total.saturating_add(1));
        let fraction = u64::from(fraction);
        for count in [position, fraction, total, written, known, replaced, erased, skipped, failed]
        {
            put_varint(out, count);
        }
    }

    /// Reads the numbers.
    pub fn read(from: &mut Cursor<'_>) -> Result<ImportCounts, CodecError> {
        let mut next = || from.varint();
        let (position, fraction, total) = (next()?, next()?, next()?);
        let fraction = u16::try_from(fraction);
        Ok(ImportCounts {
            position,
            fraction: fraction.map_err(|_| CodecError::Malformed { field: "fraction" })?,
            total: total.checked_sub(1),
            written: next()?,
            known: next()?,
            replaced: next()?,
            erased: next()?,
            skipped: next()?,
            failed: next()?,
        })
    }

    fn field(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(32);
        self.put(&mut bytes);
        bytes
    }

    fn of_field(value: &[u8]) -> Result<ImportCounts, CodecError> {
        let mut from = Cursor::new(value);
        let counts = ImportCounts::read(&mut from)?;
        match from.is_done() {
            true => Ok(counts),
            false => Err(CodecError::Malformed { field: "counts" }),
        }
    }
}

impl ImportFailure {
    fn field(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.code.len());
        put_varint(&mut bytes, self.line.map_or(0, |line| line.saturating_add(1)));
        bytes.extend_from_slice(self.code.as_bytes());
        bytes
    }

    fn of_field(value: &[u8]) -> Result<ImportFailure, CodecError> {
        let mut from = Cursor::new(value);
        let line = from.varint()?.checked_sub(1);
        Ok(ImportFailure { line, code: string(from.rest(), "code")? })
    }
}

impl ImportStep {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96 + self.identities.len() * 32);
        out.field(1, self.id.as_bytes());
        out.field(2, &self.counts.field());
        for failure in &self.failures {
            out.field(3, &failure.field());
        }
        let identities = self.identities.iter();
        let identities: Vec<u8> =
            identities.flat_map(|identity| [identity.name, identity.body].concat()).collect();
        out.field(4, &identities);
        for index in &self.replaced {
            out.number(5, *index);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ImportStep, CodecError> {
        let (mut id, mut counts, mut identities) = (None, None, None);
        let (mut failures, mut replaced) = (Vec::new(), Vec::new());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "import")?, "import")?,
                2 => once(&mut counts, ImportCounts::of_field(value)?, "counts")?,
                3 => failures.push(ImportFailure::of_field(value)?),
                4 => once(&mut identities, identities_of(value)?, "identities")?,
                5 => replaced.push(number(value, "replaced")?),
                _ => {}
            }
        }
        Ok(ImportStep {
            id: ImportId::from_bytes(required(id, "import")?),
            counts: required(counts, "counts")?,
            failures,
            identities: required(identities, "identities")?,
            replaced,
        })
    }
}

fn identities_of(value: &[u8]) -> Result<Vec<ImportIdentity>, CodecError> {
    let (pairs, rest) = value.as_chunks::<32>();
    if !rest.is_empty() {
        return Err(CodecError::Truncated);
    }
    let identity = |pair: &[u8; 32]| {
        let mut from = Cursor::new(pair);
        Ok(ImportIdentity { name: from.array()?, body: from.array()? })
    };
    pairs.iter().map(identity).collect()
}

impl ImportEnded {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 96 + self.report.len());
        out.field(1, self.id.as_bytes());
        out.field(2, &[self.outcome as u8]);
        out.field(3, &self.counts.field());
        out.field(4, self.report.as_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ImportEnded, CodecError> {
        let (mut id, mut outcome, mut counts, mut report) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut id, array(value, "import")?, "import")?,
                2 => {
                    let [number] = array(value, "outcome")?;
                    let found = ImportOutcome::from_u8(number)?;
                    once(&mut outcome, found, "outcome")?;
                }
                3 => once(&mut counts, ImportCounts::of_field(value)?, "counts")?,
                4 => once(&mut report, string(value, "report")?, "report")?,
                _ => {}
            }
        }
        Ok(ImportEnded {
            id: ImportId::from_bytes(required(id, "import")?),
            outcome: required(outcome, "outcome")?,
            counts: required(counts, "counts")?,
            report: required(report, "report")?,
        })
    }
}

#[cfg(test)]
mod tests;
