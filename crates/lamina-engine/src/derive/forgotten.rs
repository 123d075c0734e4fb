//! Requests to forget as rows: the runs that have not ended, so that a restart finishes them, and the answers by
//! idempotency key, so that the same request gets the same answer.

use lamina_store::codec::CodecError;
use lamina_store::codec::control::{ForgetBegun, Forgotten};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Place};
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;

use crate::derive::key;

/// Points to the entry that began a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForgettingRow {
    pub(crate) begun: u64,
    pub(crate) place: Place,
}

impl ForgettingRow {
    fn encode(self) -> Vec<u8> {
        let mut out = Vec::with_capacity(12);
        put_varint(&mut out, self.begun);
        put_varint(&mut out, self.place.0);
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<ForgettingRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = ForgettingRow { begun: from.varint()?, place: Place(from.varint()?) };
        match from.is_done() {
            true => Ok(row),
            false => Err(CodecError::Malformed { field: "forgetting" }),
        }
    }
}

/// Notes the run that an entry begins.
pub(super) fn begin(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let begun = ForgetBegun::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
    if let Some(run) = begun.run {
        let row = ForgettingRow { begun: entry.head.offset, place: entry.place };
        let stored = key::forget::forgetting(entry.head.tenant, &run.id);
        rows.put(Space::Records, stored, row.encode());
    }
    Ok(())
}

/// Ends the run that an entry names, and keeps its answer under its key; the first answer stands.
pub(super) fn keep(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(bytes) = entry.what.live() else { return Ok(()) };
    let forgotten = Forgotten::decode(bytes)
        .map_err(|source| ViewError::Entry { offset: entry.head.offset, source })?;
    if let Some(run) = &forgotten.run {
        rows.delete(Space::Records, key::forget::forgetting(entry.head.tenant, run));
    }
    let Some((used, _)) = &forgotten.key else { return Ok(()) };
    let row = key::forget::forgotten(entry.head.tenant, used);
    if rows.get(Space::Records, &row)?.is_none() {
        rows.put(Space::Records, row, bytes.to_vec());
    }
    Ok(())
}
