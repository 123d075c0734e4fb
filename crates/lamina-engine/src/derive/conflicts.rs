//! Conflicts: how they are found, and what decides them.
//!
//! The pieces of a track say what is disputed and since when. Here a conflict gets an id of its own, made
//! from what opened it, and a place in the list of its scope; a decision about it is one more input of
//! its track, and is taken back like everything that is said.

pub(crate) mod rows;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::facts::{
    Action, AssertionId, Content, NewInformation, Piece, Resolution, Value, ValueKey,
};
use lamina_store::codec::CodecError;
use lamina_store::codec::control::{ConflictResolved, ResolvedAs, Side};
use lamina_store::codec::wire::put_varint;
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{ConflictId, FactId, RecordId, RecordedAt};
use sha2::{Digest, Sha256};

use crate::derive::beliefs;
use crate::derive::conflicts::rows::{ConflictRow, DecisionRow};
use crate::derive::facts::{self, At};
use crate::derive::fold::{answer_row, row_error, section, seed};
use crate::derive::key;

/// What ids of conflicts are made with, so that no other id is made of the same bytes.
const DOMAIN: &[u8] = b"conflict1";
/// Sides that make a conflict.
const SIDES_MIN: usize = 2;
/// The same for the sides of one.
const SIDE_DOMAIN: &[u8] = b"side1";

/// Notes a version of a conflict; the first of them makes it.
pub(super) fn note(
    rows: &mut Rows<'_, '_>,
    at: At,
    piece: &Piece,
    version: FactId,
) -> Result<(), ViewError> {
    let origin = key::conflict_of(at.tenant, at.scope, &at.track, piece.id.fact);
    let id = match conflict_at(rows, &origin)? {
        Some(id) => id,
        None => {
            let (seed, _) = facts::maker(rows, at.tenant, piece.id.by.offset)?.ok_or_else(gone)?;
            mint(&seed, piece.recorded_from, at, piece.id.fact)
        }
    };
    let detected = match conflict_row(rows, at.tenant, id)? {
        Some(row) => row.detected,
        None => {
            let At { tenant, scope, track, subject, predicate } = at;
            let detected = piece.recorded_from;
            let row =
                ConflictRow { scope, track, subject, predicate, origin: piece.id.fact, detected };
            rows.put(Space::Sources, origin, id.as_bytes().to_vec());
            rows.put(Space::Records, key::conflict(tenant, id), row.encode());
            let listed = key::conflict_listed(tenant, scope, detected, id);
            rows.put(Space::Records, listed, Vec::new());
            detected
        }
    };
    rows.put(Space::Records, key::conflict_version(at.tenant, id, version), Vec::new());
    if piece.recorded_to.is_none() {
        let open = key::conflict_open(at.tenant, at.scope, detected, id);
        rows.put(Space::Records, open, Vec::new());
    }
    Ok(())
}

/// A version of a conflict was retired: without another one that is current it is open no more.
/// Whether that is so.
pub(super) fn settle(
    rows: &mut Rows<'_, '_>,
    at: At,
    origin: AssertionId,
) -> Result<bool, ViewError> {
    let is_it =
        |piece: &Piece| piece.id.fact == origin && matches!(piece.content, Content::Conflict(_));
    if facts::current(rows, at, is_it)?.is_some() {
        return Ok(false);
    }
    let origin = key::conflict_of(at.tenant, at.scope, &at.track, origin);
    if let Some(id) = conflict_at(rows, &origin)?
        && let Some(row) = conflict_row(rows, at.tenant, id)?
    {
        rows.delete(Space::Records, key::conflict_open(at.tenant, at.scope, row.detected, id));
        return Ok(true);
    }
    Ok(false)
}

/// Takes away a version of a conflict.
pub(super) fn forget(
    rows: &mut Rows<'_, '_>,
    at: At,
    piece: &Piece,
    version: FactId,
) -> Result<(), ViewError> {
    let origin = key::conflict_of(at.tenant, at.scope, &at.track, piece.id.fact);
    if let Some(id) = conflict_at(rows, &origin)? {
        rows.delete(Space::Records, key::conflict_version(at.tenant, id, version));
    }
    Ok(())
}

/// A conflict whose versions were taken away.
#[derive(Debug)]
pub(super) struct Buried {
    id: ConflictId,
    origin: AssertionId,
    /// What its sides were said by.
    sources: BTreeSet<AssertionId>,
}

/// Takes away a conflict whose versions are gone.
pub(super) fn bury(
    rows: &mut Rows<'_, '_>,
    at: At,
    origin: AssertionId,
    pieces: &[Piece],
) -> Result<Option<Buried>, ViewError> {
    let opened = key::conflict_of(at.tenant, at.scope, &at.track, origin);
    let Some(id) = conflict_at(rows, &opened)? else { return Ok(None) };
    if let Some(row) = conflict_row(rows, at.tenant, id)? {
        let (tenant, scope, detected) = (at.tenant, at.scope, row.detected);
        rows.delete(Space::Records, key::conflict_listed(tenant, scope, detected, id));
        rows.delete(Space::Records, key::conflict_open(tenant, scope, detected, id));
    }
    rows.delete(Space::Records, key::conflict(at.tenant, id));
    rows.delete(Space::Sources, opened);
    Ok(Some(Buried { id, origin, sources: sources(pieces, origin) }))
}

/// What the sides of a conflict were said by.
fn sources(pieces: &[Piece], origin: AssertionId) -> BTreeSet<AssertionId> {
    let versions = pieces
        .iter()
        .filter(|piece| piece.id.fact == origin && matches!(piece.content, Content::Conflict(_)));
    versions.flat_map(|piece| piece.supports.iter().map(|support| support.source)).collect()
}

/// Where a track disagrees still without what was withdrawn, the conflict keeps its id: the same
/// opening, or else two sides that it had.
pub(super) fn renew(rows: &mut Rows<'_, '_>, at: At, buried: &[Buried], pieces: &[Piece]) {
    let disputed = pieces.iter().filter(|piece| matches!(piece.content, Content::Conflict(_)));
    let origins: BTreeSet<AssertionId> = disputed.map(|piece| piece.id.fact).collect();
    let mut taken: BTreeSet<ConflictId> = BTreeSet::new();
    let same = |origin: &AssertionId| buried.iter().find(|conflict| conflict.origin == *origin);
    for origin in &origins {
        if let Some(conflict) = same(origin) {
            taken.insert(conflict.id);
            put_origin(rows, at, *origin, conflict.id);
        }
    }
    for origin in origins.into_iter().filter(|origin| same(origin).is_none()) {
        let sides = sources(pieces, origin);
        let shared = |conflict: &Buried| conflict.sources.intersection(&sides).count();
        let free = buried.iter().filter(|conflict| !taken.contains(&conflict.id));
        let like = free.filter(|conflict| shared(conflict) >= SIDES_MIN);
        // Of equals the first: the order of origins is that of the log.
        if let Some(conflict) = like.min_by_key(|conflict| Reverse(shared(conflict))) {
            taken.insert(conflict.id);
            put_origin(rows, at, origin, conflict.id);
        }
    }
}

fn put_origin(rows: &mut Rows<'_, '_>, at: At, origin: AssertionId, id: ConflictId) {
    let opened = key::conflict_of(at.tenant, at.scope, &at.track, origin);
    rows.put(Space::Sources, opened, id.as_bytes().to_vec());
}

/// Leaves word of the conflicts that did not come again: their ids are known to somebody.
pub(super) fn leave(rows: &mut Rows<'_, '_>, at: At, buried: &[Buried]) -> Result<(), ViewError> {
    for Buried { id, .. } in buried {
        let gone = key::conflict_gone(at.tenant, *id);
        match conflict_row(rows, at.tenant, *id)? {
            Some(_) => rows.delete(Space::Records, gone),
            None => rows.put(Space::Records, gone, at.scope.to_be_bytes().to_vec()),
        }
    }
    Ok(())
}

/// A decision: one more input of the conflict's track for each stretch over which it was open. It is
/// noted whether or not the conflict is still there, so that what is taken back before or after it
/// leaves the same rows.
pub(super) fn decide(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let head = &entry.head;
    let Some(resolved) = read(rows, entry)? else { return Ok(()) };
    let ConflictResolved { conflict, track, subject, predicate, points, action } = resolved;
    let (tenant, scope, offset) = (head.tenant, head.scope, head.offset);
    let said = match action {
        ResolvedAs::NewInformation { said: (offset, ordinal), .. } => {
            Some(AssertionId { offset, ordinal })
        }
        _ => None,
    };
    // New information that was taken back while it was decided on: nothing is known of it.
    if let Some(said) = said
        && answer_row(rows, tenant, said.offset)?.is_none()
    {
        return Ok(());
    }
    let action = action_of(action);
    let row = DecisionRow {
        place: entry.place,
        seed: seed(&head.seal),
        recorded: head.recorded_at,
        conflict,
        scope,
        track,
        action,
        said,
    };
    rows.put(Space::Sources, key::decision(tenant, offset), row.encode());
    rows.put(Space::Sources, key::decided(tenant, conflict, offset), Vec::new());
    let mut place = Vec::with_capacity(10);
    put_varint(&mut place, entry.place.0);
    rows.put(Space::Sources, key::forget::decided(tenant, scope, &track, offset), place);
    if let Some(said) = said {
        rows.put(Space::Sources, key::cited(tenant, said.offset, offset), Vec::new());
    }
    let at = At { tenant, scope, track, subject, predicate };
    for (ordinal, point) in points.into_iter().enumerate() {
        let Ok(ordinal) = u16::try_from(ordinal) else { break };
        let source = AssertionId { offset, ordinal };
        let recorded = head.recorded_at;
        facts::resolve(rows, at, Resolution { source, recorded, at: point, action })?;
    }
    facts::judge(rows, at)
}

/// What was decided: from its section, or from what was kept of it. It has no words.
fn read(rows: &Rows<'_, '_>, entry: &Entry) -> Result<Option<ConflictResolved>, ViewError> {
    if let Some(resolved) = section(entry, &entry.what, ConflictResolved::decode)? {
        return Ok(Some(resolved));
    }
    let kept = rows.residue(entry.head.offset).map(ConflictResolved::decode).transpose();
    kept.map_err(|source| ViewError::Entry { offset: entry.head.offset, source })
}

/// Whether an entry is a decision that stands.
pub(super) fn is_decision(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<bool, ViewError> {
    Ok(rows.get(Space::Sources, &key::decision(tenant, offset))?.is_some())
}

/// Takes back a decision, as if it had never been made.
pub(super) fn withdraw(rows: &mut Rows<'_, '_>, tenant: u32, offset: u64) -> Result<(), ViewError> {
    let Some(row) = decision_row(rows, tenant, offset)? else { return Ok(()) };
    beliefs::withdraw(rows, tenant, offset)?;
    facts::remake(rows, tenant, (row.scope, row.track), offset)?;
    for carried in facts::carried_tracks(rows, tenant, offset)? {
        facts::remake(rows, tenant, carried, offset)?;
        rows.delete(Space::Sources, key::carries(tenant, offset, carried.0, &carried.1));
    }
    rows.delete(Space::Sources, key::decision(tenant, offset));
    rows.delete(Space::Sources, key::decided(tenant, row.conflict, offset));
    rows.delete(Space::Sources, key::forget::decided(tenant, row.scope, &row.track, offset));
    if let Some(said) = row.said {
        rows.delete(Space::Sources, key::cited(tenant, said.offset, offset));
    }
    Ok(())
}

/// Takes back the decisions that stand on an answer, in the scopes that are meant.
pub(super) fn withdraw_citing(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    answer: u64,
    is_meant: &dyn Fn(u64) -> bool,
) -> Result<(), ViewError> {
    let (from, to) = key::citing(tenant, answer);
    let mut citing = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        citing.extend(key::tail_number(key));
        ControlFlow::Continue(())
    })?;
    for decision in citing {
        if decision_row(rows, tenant, decision)?.is_some_and(|row| is_meant(row.scope)) {
            withdraw(rows, tenant, decision)?;
        }
    }
    Ok(())
}

/// The id of a side of a conflict, by which somebody can pick it.
pub(crate) fn side_id(conflict: ConflictId, detected: RecordedAt, side: Value) -> RecordId {
    let negated = u8::from(matches!(side, Value::IsNot(_)));
    let hash = Sha256::new()
        .chain_update(SIDE_DOMAIN)
        .chain_update(conflict.as_bytes())
        .chain_update([negated])
        .chain_update(side.key().0);
    RecordId::mint(detected.0, first_eighth(hash))
}

fn mint(seed: &[u8; 16], detected: RecordedAt, at: At, origin: AssertionId) -> ConflictId {
    let hash = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(seed)
        .chain_update(at.scope.to_be_bytes())
        .chain_update(at.track)
        .chain_update(origin.offset.to_be_bytes())
        .chain_update(origin.ordinal.to_be_bytes());
    ConflictId::mint(detected.0, first_eighth(hash))
}

fn first_eighth(hash: Sha256) -> [u8; 8] {
    let hash: [u8; 32] = hash.finalize().into();
    *hash.first_chunk().expect("32 bytes have a first eighth")
}

/// What was decided, as the algebra of tracks takes it.
pub(crate) fn action_of(action: ResolvedAs) -> Action {
    let value = |side: Side| match side.negated {
        false => Value::Is(ValueKey(side.value)),
        true => Value::IsNot(ValueKey(side.value)),
    };
    match action {
        ResolvedAs::Pick(side) => Action::Pick(value(side)),
        ResolvedAs::Split { boundary, earlier, later } => {
            Action::Split { boundary, earlier: value(earlier), later: value(later) }
        }
        ResolvedAs::NewInformation { value, .. } => Action::NewInformation(NewInformation {
            value: ValueKey(value),
            // It takes the place of the conflict, from its beginning to its end.
            valid_from: None,
            valid_to: None,
        }),
        ResolvedAs::Dismiss => Action::Dismiss,
    }
}

fn conflict_at(rows: &Rows<'_, '_>, origin: &[u8]) -> Result<Option<ConflictId>, ViewError> {
    let Some(bytes) = rows.get(Space::Sources, origin)? else { return Ok(None) };
    let id = bytes
        .as_slice()
        .try_into()
        .map_err(|_| row_error(Space::Sources)(CodecError::Truncated))?;
    Ok(Some(ConflictId::from_bytes(id)))
}

fn conflict_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: ConflictId,
) -> Result<Option<ConflictRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::conflict(tenant, id))?;
    bytes.map(|bytes| ConflictRow::decode(&bytes)).transpose().map_err(row_error(Space::Records))
}

/// A decision, by its entry.
pub(super) fn decision_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<Option<DecisionRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::decision(tenant, offset))?;
    bytes.map(|bytes| DecisionRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

fn gone() -> ViewError {
    row_error(Space::Records)(CodecError::Missing { field: "conflict" })
}

#[cfg(test)]
mod tests;
