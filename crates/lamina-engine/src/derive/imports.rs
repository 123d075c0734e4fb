//! Imports as rows: the progress of each job, and the identity of every row that an import wrote.
//!
//! Identities are keyed hashes. They have no expiry and outlive the erasure of their events: a row whose
//! event is gone is recognized and not written again by mistake.

use std::collections::BTreeSet;

use lamina_store::codec::CodecError;
use lamina_store::codec::control::{
    ImportBegun, ImportCounts, ImportEnded, ImportIdentity, ImportOutcome, ImportStep,
};
use lamina_store::codec::wire::{Cursor, put_varint};
use lamina_store::entry::{Entry, Place, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{EventId, ImportId, RecordedAt};

use crate::derive::fold::row_error;
use crate::derive::key::imports as key;
use crate::derive::rows::{Read, done, instant, optional, put_instant, put_optional};

/// An import job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImportJobRow {
    /// The scope of its entries.
    pub(crate) scope: u64,
    /// The scope that its progress is announced in: its target, or that of its first event.
    pub(crate) home: u64,
    /// The entry it began with.
    pub(crate) begun: EntryAt,
    pub(crate) began_at: RecordedAt,
    /// When its last entry was recorded.
    pub(crate) changed_at: RecordedAt,
    pub(crate) counts: ImportCounts,
    /// The outcome and the entry that has it; `None` while it runs.
    pub(crate) ended: Option<ImportEndRow>,
}

/// The end of an import job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ImportEndRow {
    pub(crate) outcome: ImportOutcome,
    pub(crate) at: EntryAt,
}

/// An entry and its place in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryAt {
    pub(crate) offset: u64,
    pub(crate) place: Place,
}

/// The event that a row of a source became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IdentityRow {
    pub(crate) event: EventId,
    /// The keyed hash of the row's content.
    pub(crate) body: [u8; 16],
}

impl EntryAt {
    fn of(entry: &Entry) -> EntryAt {
        EntryAt { offset: entry.head.offset, place: entry.place }
    }

    fn put(self, out: &mut Vec<u8>) {
        put_varint(out, self.offset);
        put_varint(out, self.place.0);
    }

    fn read(from: &mut Cursor<'_>) -> Read<EntryAt> {
        Ok(EntryAt { offset: from.varint()?, place: Place(from.varint()?) })
    }
}

impl ImportJobRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        put_varint(&mut out, self.scope);
        put_varint(&mut out, self.home);
        self.begun.put(&mut out);
        put_instant(&mut out, self.began_at.0);
        put_instant(&mut out, self.changed_at.0);
        self.counts.put(&mut out);
        put_optional(&mut out, self.ended.as_ref(), |out, ended| {
            out.push(ended.outcome as u8);
            ended.at.put(out);
        });
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<ImportJobRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = ImportJobRow {
            scope: from.varint()?,
            home: from.varint()?,
            begun: EntryAt::read(&mut from)?,
            began_at: RecordedAt(instant(&mut from)?),
            changed_at: RecordedAt(instant(&mut from)?),
            counts: ImportCounts::read(&mut from)?,
            ended: optional(&mut from, |from| {
                let outcome = ImportOutcome::from_u8(from.byte()?)?;
                Ok(ImportEndRow { outcome, at: EntryAt::read(from)? })
            })?,
        };
        done(&from, row)
    }
}

impl IdentityRow {
    fn encode(&self) -> Vec<u8> {
        [self.event.as_bytes().as_slice(), &self.body].concat()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<IdentityRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = IdentityRow { event: EventId::from_bytes(from.array()?), body: from.array()? };
        done(&from, row)
    }
}

/// Folds an entry of an import job.
pub(super) fn control(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(what) = entry.what.live() else { return Ok(()) };
    let bad = |source| ViewError::Entry { offset: entry.head.offset, source };
    match entry.head.sub {
        control::IMPORT_BEGUN => {
            begin(rows, entry, &ImportBegun::decode(what).map_err(bad)?);
            Ok(())
        }
        control::IMPORT_STEP => {
            let step = ImportStep::decode(what).map_err(bad)?;
            let first = remember(rows, entry, &step)?;
            change(rows, entry, step.id, |row| {
                row.counts = step.counts;
                row.home = first.filter(|_| row.home == SYSTEM_SCOPE).unwrap_or(row.home);
            })
        }
        _ => {
            let ImportEnded { id, outcome, counts, .. } = ImportEnded::decode(what).map_err(bad)?;
            let ended = Some(ImportEndRow { outcome, at: EntryAt::of(entry) });
            change(rows, entry, id, |row| (row.counts, row.ended) = (counts, ended))
        }
    }
}

fn begin(rows: &mut Rows<'_, '_>, entry: &Entry, begun: &ImportBegun) {
    let head = &entry.head;
    let row = ImportJobRow {
        scope: head.scope,
        home: head.scope,
        begun: EntryAt::of(entry),
        began_at: head.recorded_at,
        changed_at: head.recorded_at,
        counts: ImportCounts::default(),
        ended: None,
    };
    rows.put(Space::Records, key::import(head.tenant, begun.id), row.encode());
    if let Some(ImportIdentity { name, body }) = begun.key {
        let known = [begun.id.as_bytes().as_slice(), &body].concat();
        rows.put(Space::Records, key::import_key(head.tenant, &name), known);
    }
    let mut named = begun.id.as_bytes().to_vec();
    named.extend(begun.key.iter().flat_map(|key| key.name));
    rows.put(Space::Sources, key::begun_at(head.tenant, head.offset), named);
}

/// Keeps the identity of each row of a step. Gives the scope of its first event.
fn remember(
    rows: &mut Rows<'_, '_>,
    entry: &Entry,
    step: &ImportStep,
) -> Result<Option<u64>, ViewError> {
    let (tenant, offset) = (entry.head.tenant, entry.head.offset);
    let contradiction = |what| ViewError::Contradiction { offset, what };
    if step.identities.len() != entry.head.causes.len() {
        return Err(contradiction("a step of an import names other rows than it wrote"));
    }
    let mut first = None;
    let replaced: BTreeSet<u64> = step.replaced.iter().copied().collect();
    for (index, (identity, event)) in step.identities.iter().zip(&entry.head.causes).enumerate() {
        let event = rows.event_of(*event)?;
        let event = event.ok_or(contradiction("a step of an import names no event"))?;
        first = first.or(Some(event.scope));
        let stored = key::identity(tenant, &identity.name);
        if replaced.contains(&(index as u64))
            && let Some(bytes) = rows.get(Space::Sources, &stored)?
        {
            let before = IdentityRow::decode(&bytes).map_err(row_error(Space::Sources))?;
            let earlier = key::earlier(tenant, &identity.name, &before.body);
            rows.put(Space::Sources, earlier, before.event.as_bytes().to_vec());
        }
        let row = IdentityRow { event: event.id, body: identity.body };
        rows.put(Space::Sources, stored, row.encode());
    }
    Ok(first)
}

/// Changes a job, unless it went with its scope.
fn change(
    rows: &mut Rows<'_, '_>,
    entry: &Entry,
    id: ImportId,
    change: impl FnOnce(&mut ImportJobRow),
) -> Result<(), ViewError> {
    let stored = key::import(entry.head.tenant, id);
    let Some(bytes) = rows.get(Space::Records, &stored)? else { return Ok(()) };
    let mut row = ImportJobRow::decode(&bytes).map_err(row_error(Space::Records))?;
    row.changed_at = entry.head.recorded_at;
    change(&mut row);
    rows.put(Space::Records, stored, row.encode());
    Ok(())
}

/// Drops the job that an erased entry began. The identities of its rows stay.
pub(super) fn drop_at(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64) -> Result<(), ViewError> {
    let begun_at = key::begun_at(tenant, offset);
    let Some(bytes) = rows.get(Space::Sources, &begun_at)? else { return Ok(()) };
    let mut from = Cursor::new(&bytes);
    let id = from.array().map_err(row_error(Space::Sources))?;
    rows.delete(Space::Records, key::import(tenant, ImportId::from_bytes(id)));
    if let Ok(name) = from.array() {
        rows.delete(Space::Records, key::import_key(tenant, &name));
    }
    rows.delete(Space::Sources, begun_at);
    Ok(())
}
