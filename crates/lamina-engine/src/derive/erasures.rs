//! Erasures and legal holds as rows: how far each has come, so that a crash does not lose one.

use lamina_store::certificate;
use lamina_store::codec::CodecError;
use lamina_store::codec::control::{ErasureBegun, ErasureCertified, ErasureCounts, ErasureStep};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Place, control};
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{AuditId, Micros, RecordedAt};

use crate::derive::fold::row_error;
use crate::derive::key::forget as key;
use crate::derive::rows::{optional, put_optional};

/// What became of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is at work, or will be again.
    Running,
    /// Everything that it named is gone.
    Completed,
    /// It stopped at a boundary between two phases.
    Cancelled,
}

/// An erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ErasureRow {
    /// The scope whose subtree it is about.
    pub(crate) scope: u64,
    pub(crate) audit_id: AuditId,
    /// The entry it began with.
    pub(crate) begun: u64,
    pub(crate) place: Place,
    pub(crate) began_at: RecordedAt,
    /// When it came to where it is.
    pub(crate) changed_at: RecordedAt,
    pub(crate) phase: u8,
    pub(crate) outcome: Outcome,
    pub(crate) counts: ErasureCounts,
    /// Bytes of files that held something of it, and bytes written to be rid of it.
    pub(crate) bytes: (u64, u64),
    /// Events that are to be deleted and redacted in all, once that is known.
    pub(crate) planned: Option<(u64, u64)>,
}

/// The last certificate there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chained {
    pub(crate) number: u64,
    pub(crate) hash: [u8; 32],
}

impl Chained {
    fn encode(self) -> Vec<u8> {
        [self.number.to_be_bytes().as_slice(), &self.hash].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Chained> {
        let (number, hash) = bytes.split_first_chunk::<8>()?;
        Some(Chained { number: u64::from_be_bytes(*number), hash: hash.try_into().ok()? })
    }
}

impl ErasureRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(96);
        out.extend_from_slice(self.audit_id.as_bytes());
        for at in [self.began_at, self.changed_at] {
            out.extend_from_slice(&at.0.0.to_le_bytes());
        }
        out.push(self.phase);
        out.push(match self.outcome {
            Outcome::Running => 0,
            Outcome::Completed => 1,
            Outcome::Cancelled => 2,
        });
        for number in [self.scope, self.begun, self.place.0] {
            put_varint(&mut out, number);
        }
        for number in self.counts.in_order() {
            put_varint(&mut out, number);
        }
        put_optional(&mut out, self.planned.as_ref(), |out, (deleted, redacted)| {
            put_varint(out, *deleted);
            put_varint(out, *redacted);
        });
        put_varint(&mut out, self.bytes.0);
        put_varint(&mut out, self.bytes.1);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<ErasureRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let audit_id = AuditId::from_bytes(from.array()?);
        let began_at = RecordedAt(Micros(i64::from_le_bytes(from.array()?)));
        let changed_at = RecordedAt(Micros(i64::from_le_bytes(from.array()?)));
        let phase = from.byte()?;
        let outcome = match from.byte()? {
            0 => Outcome::Running,
            1 => Outcome::Completed,
            2 => Outcome::Cancelled,
            _ => return Err(CodecError::Malformed { field: "outcome" }),
        };
        let (scope, begun, place) = (from.varint()?, from.varint()?, Place(from.varint()?));
        let mut counts = [0; 7];
        for count in &mut counts {
            *count = from.varint()?;
        }
        let counts = ErasureCounts::of(counts);
        let planned = optional(&mut from, |from| Ok((from.varint()?, from.varint()?)))?;
        let bytes = (from.varint()?, from.varint()?);
        match from.is_done() {
            true => Ok(ErasureRow {
                scope,
                audit_id,
                begun,
                place,
                began_at,
                changed_at,
                phase,
                outcome,
                counts,
                bytes,
                planned,
            }),
            false => Err(CodecError::Malformed { field: "erasure" }),
        }
    }
}

/// Keeps what an entry says about erasures or holds.
pub(super) fn control(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let head = &entry.head;
    let unreadable = |source| ViewError::Entry { offset: head.offset, source };
    match head.sub {
        control::LEGAL_HOLD_SET => {
            let mut row = Vec::with_capacity(20);
            put_varint(&mut row, head.offset);
            put_varint(&mut row, entry.place.0);
            rows.put(Space::Records, key::hold(head.tenant, head.scope), row);
        }
        control::LEGAL_HOLD_LIFTED => {
            rows.delete(Space::Records, key::hold(head.tenant, head.scope));
        }
        control::ERASURE_BEGUN => {
            let Some(bytes) = entry.what.live() else { return Ok(()) };
            let begun = ErasureBegun::decode(bytes).map_err(unreadable)?;
            let row = ErasureRow {
                scope: head.scope,
                audit_id: begun.audit_id,
                begun: head.offset,
                place: entry.place,
                began_at: head.recorded_at,
                changed_at: head.recorded_at,
                phase: 1,
                outcome: Outcome::Running,
                counts: ErasureCounts::default(),
                bytes: (0, 0),
                planned: None,
            };
            rows.put(Space::Records, key::erasure(head.tenant, begun.id), row.encode());
            if let Some((used, body)) = begun.key {
                let known = [begun.id.as_bytes().as_slice(), &body].concat();
                rows.put(Space::Records, key::erasure_key(head.tenant, &used), known);
            }
        }
        _ => {
            let Some(bytes) = entry.what.live() else { return Ok(()) };
            let step = ErasureStep::decode(bytes).map_err(unreadable)?;
            let stored = key::erasure(head.tenant, step.id);
            let Some(bytes) = rows.get(Space::Records, &stored)? else { return Ok(()) };
            let mut row = ErasureRow::decode(&bytes).map_err(row_error(Space::Records))?;
            (row.phase, row.counts, row.changed_at) = (step.phase, step.counts, head.recorded_at);
            row.planned = row.planned.or(step.planned);
            if head.sub == control::ERASURE_ENDED {
                row.outcome = if step.cancelled { Outcome::Cancelled } else { Outcome::Completed };
            }
            rows.put(Space::Records, stored, row.encode());
        }
    }
    Ok(())
}

/// Keeps where a certificate stands, and that it is the last.
pub(super) fn certified(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let head = &entry.head;
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let what = ErasureCertified::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: head.offset, source })?;
    let stored = key::erasure(head.tenant, what.id);
    if let Some(bytes) = rows.get(Space::Records, &stored)? {
        let mut row = ErasureRow::decode(&bytes).map_err(row_error(Space::Records))?;
        row.bytes = what.bytes;
        rows.put(Space::Records, stored, row.encode());
    }
    let last = key::certificate_last(head.tenant);
    let before = rows.get(Space::Records, &last)?.as_deref().and_then(Chained::decode);
    let number = before.map_or(1, |before| before.number + 1);
    let chained = Chained { number, hash: certificate::hash(&what.certificate) };
    rows.put(Space::Records, last, chained.encode());
    let place = head.offset.to_be_bytes().to_vec();
    rows.put(Space::Records, key::certificate(head.tenant, what.id), place);
    Ok(())
}
