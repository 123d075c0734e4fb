//! From versions of pieces to rows and back: what the algebra of tracks says is written here, with
//! everything by which a version is found.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::facts::{
    AssertionId, Change, Content, Piece, PieceId, Pieces, Support, Valid, Value, ValueKey,
};
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{FactId, RecordedAt, ValidAt};
use sha2::{Digest, Sha256};

use super::At;
use crate::derive::conflicts::{self, Buried};
use crate::derive::entities;
use crate::derive::fold::{answer_row, row_error};
use crate::derive::key::{self, Layer};
use crate::derive::rows::{AnswerRow, FactRow};

/// Does to the rows what the algebra says. Gives the number of conflicts that are open no more.
pub(super) fn apply(
    rows: &mut Rows<'_, '_>,
    at: At,
    changes: Vec<Change>,
) -> Result<u32, ViewError> {
    let mut settled: BTreeSet<AssertionId> = BTreeSet::new();
    for change in changes {
        match change {
            Change::Assert(piece) => assert_row(rows, at, piece)?,
            Change::Retire { piece, .. } | Change::Support { piece, .. } => {
                let id = fact_id(rows, at, piece)?;
                let mut row = fact_row(rows, at.tenant, id)?.ok_or_else(gone)?;
                let was_current = row.piece.recorded_to.is_none();
                row.piece.apply(&change);
                if was_current && row.piece.recorded_to.is_some() {
                    let from = row.piece.from();
                    let current = key::current(at.tenant, at.scope, &at.track, from, id);
                    rows.delete(Space::Sources, current);
                    if matches!(row.piece.content, Content::Conflict(_)) {
                        settled.insert(row.piece.id.fact);
                    }
                }
                // What it stood on before is noted already.
                if let Change::Support { support, .. } = &change {
                    link(rows, at, id, std::slice::from_ref(support))?;
                }
                rows.put(Space::Records, key::fact(at.tenant, id), row.encode());
            }
        }
    }
    let mut count = 0;
    for origin in settled {
        count += u32::from(conflicts::settle(rows, at, origin)?);
    }
    Ok(count)
}

/// Writes a version of a fact and everything that finds it.
pub(super) fn assert_row(rows: &mut Rows<'_, '_>, at: At, piece: Piece) -> Result<(), ViewError> {
    let id = fact_id(rows, at, piece.id)?;
    let At { tenant, scope, track, subject, predicate } = at;
    if piece.recorded_to.is_none() {
        let current = key::current(tenant, scope, &track, piece.from(), id);
        rows.put(Space::Sources, current, Vec::new());
    }
    let learned = piece.recorded_from;
    rows.put(Space::Records, key::fact_listed(tenant, scope, learned, id), Vec::new());
    rows.put(Space::Records, key::fact_about(tenant, scope, subject, learned, id), Vec::new());
    link(rows, at, id, &piece.supports)?;
    if matches!(piece.content, Content::Conflict(_)) {
        conflicts::note(rows, at, &piece, id)?;
    }
    let row = FactRow { scope, track, subject, predicate, piece };
    rows.put(Space::Records, key::fact(tenant, id), row.encode());
    Ok(())
}

/// The versions that are what they were: their rows stay where they are. Those in dispute are written again,
/// because of what finds them.
pub(super) fn kept(before: &[Piece], after: &[Piece]) -> BTreeSet<PieceId> {
    let known: BTreeMap<PieceId, &Piece> = before.iter().map(|piece| (piece.id, piece)).collect();
    let is_same = |piece: &&Piece| {
        !matches!(piece.content, Content::Conflict(_))
            && known.get(&piece.id).is_some_and(|known| known == piece)
    };
    after.iter().filter(is_same).map(|piece| piece.id).collect()
}

/// Takes versions away but those that are kept, and the conflicts among them, which it gives.
pub(super) fn drop_rows(
    rows: &mut Rows<'_, '_>,
    at: At,
    pieces: &[Piece],
    kept: &BTreeSet<PieceId>,
) -> Result<Vec<Buried>, ViewError> {
    let mut origins: BTreeSet<AssertionId> = BTreeSet::new();
    for piece in pieces.iter().filter(|piece| !kept.contains(&piece.id)) {
        let id = fact_id(rows, at, piece.id)?;
        drop_row(rows, at, piece, id)?;
        if matches!(piece.content, Content::Conflict(_)) {
            conflicts::forget(rows, at, piece, id)?;
            origins.insert(piece.id.fact);
        }
    }
    let mut buried = Vec::new();
    for origin in origins {
        buried.extend(conflicts::bury(rows, at, origin, pieces)?);
    }
    Ok(buried)
}

fn drop_row(rows: &mut Rows<'_, '_>, at: At, piece: &Piece, id: FactId) -> Result<(), ViewError> {
    let At { tenant, scope, track, subject, .. } = at;
    let learned = piece.recorded_from;
    rows.delete(Space::Sources, key::current(tenant, scope, &track, piece.from(), id));
    rows.delete(Space::Records, key::fact_listed(tenant, scope, learned, id));
    rows.delete(Space::Records, key::fact_about(tenant, scope, subject, learned, id));
    rows.delete(Space::Records, key::fact(tenant, id));
    for support in &piece.supports {
        if let Some(answer) = said_in(rows, tenant, support.source)? {
            let link = key::of_event(tenant, answer.event, Layer::Fact, id.as_bytes());
            rows.delete(Space::Records, link);
        }
    }
    Ok(())
}

/// Notes with each event which facts stand on it.
fn link(
    rows: &mut Rows<'_, '_>,
    at: At,
    id: FactId,
    supports: &[Support],
) -> Result<(), ViewError> {
    for support in supports {
        if let Some(answer) = said_in(rows, at.tenant, support.source)? {
            let link = key::of_event(at.tenant, answer.event, Layer::Fact, id.as_bytes());
            rows.put(Space::Records, link, Vec::new());
        }
    }
    Ok(())
}

/// The id of a version: minted from the entry that made it.
pub(crate) fn mint(
    seed: &[u8; 16],
    recorded: RecordedAt,
    (scope, track): (u64, &Tag),
    piece: PieceId,
) -> FactId {
    let hash = Sha256::new()
        .chain_update(seed)
        .chain_update([Layer::Fact as u8])
        .chain_update(scope.to_be_bytes())
        .chain_update(track)
        .chain_update(piece.fact.offset.to_be_bytes())
        .chain_update(piece.fact.ordinal.to_be_bytes())
        .chain_update(piece.by.ordinal.to_be_bytes())
        .chain_update(piece.part.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    FactId::mint(recorded.0, *hash.first_chunk().expect("32 bytes have a first quarter"))
}

fn fact_id(rows: &Rows<'_, '_>, at: At, piece: PieceId) -> Result<FactId, ViewError> {
    let (seed, recorded) = maker(rows, at.tenant, piece.by.offset)?.ok_or_else(gone)?;
    Ok(mint(&seed, recorded, (at.scope, &at.track), piece))
}

/// The entry that made a version: an answer, a decision about a conflict, or a merge or split.
pub(crate) fn maker(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<Option<([u8; 16], RecordedAt)>, ViewError> {
    if let Some(answer) = answer_row(rows, tenant, offset)? {
        return Ok(Some((answer.seed, answer.recorded)));
    }
    if let Some(decision) = conflicts::decision_row(rows, tenant, offset)? {
        return Ok(Some((decision.seed, decision.recorded)));
    }
    let operation = entities::merge::operation_row(rows, tenant, offset)?;
    Ok(operation.map(|operation| (operation.seed, operation.recorded)))
}

/// The answer in which evidence was said.
fn said_in(
    rows: &Rows<'_, '_>,
    tenant: u32,
    source: AssertionId,
) -> Result<Option<AnswerRow>, ViewError> {
    match answer_row(rows, tenant, source.offset)? {
        Some(answer) => Ok(Some(answer)),
        None => answer_row(rows, tenant, origin(rows, tenant, source)?.offset),
    }
}

/// Where it was said what was brought to a track; anything else where it is.
pub(crate) fn origin(
    rows: &Rows<'_, '_>,
    tenant: u32,
    source: AssertionId,
) -> Result<AssertionId, ViewError> {
    let bytes = rows.get(Space::Sources, &key::carried(tenant, source))?;
    let origin = bytes.map(|bytes| entities::rows::read_origin(&bytes)).transpose();
    Ok(origin.map_err(row_error(Space::Sources))?.unwrap_or(source))
}

fn fact_row(rows: &Rows<'_, '_>, tenant: u32, id: FactId) -> Result<Option<FactRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::fact(tenant, id))?;
    bytes.map(|bytes| FactRow::decode(&bytes)).transpose().map_err(row_error(Space::Records))
}

fn gone() -> ViewError {
    row_error(Space::Records)(CodecError::Missing { field: "fact" })
}

/// The first current piece of a track that satisfies a condition.
pub(crate) fn current(
    rows: &Rows<'_, '_>,
    at: At,
    is_it: impl Fn(&Piece) -> bool,
) -> Result<Option<Piece>, ViewError> {
    Stored { rows, at }.find((None, None), Direction::Forward, is_it)
}

/// The current pieces of a track, from their rows.
pub(super) struct Stored<'a, 'r, 'f> {
    pub(super) rows: &'a Rows<'r, 'f>,
    pub(super) at: At,
}

impl Stored<'_, '_, '_> {
    /// The first current piece between two instants that satisfies a condition, in a direction.
    fn find(
        &self,
        (from, to): (Option<ValidAt>, Option<ValidAt>),
        direction: Direction,
        is_it: impl Fn(&Piece) -> bool,
    ) -> Result<Option<Piece>, ViewError> {
        let At { tenant, scope, track, .. } = self.at;
        let (from, to) = key::currents(tenant, scope, &track, from, to);
        let mut found = Ok(None);
        self.rows.scan(Space::Sources, (&from, &to), direction, &mut |key, _| {
            let id = key::tail_id(key).map(FactId::from_bytes);
            let row = id.map_or(Ok(None), |id| fact_row(self.rows, tenant, id));
            match row {
                Ok(Some(row)) if is_it(&row.piece) => found = Ok(Some(row.piece)),
                Ok(_) => return ControlFlow::Continue(()),
                Err(error) => found = Err(error),
            }
            ControlFlow::Break(())
        })?;
        found
    }
}

impl Pieces for Stored<'_, '_, '_> {
    type Error = ViewError;

    fn before(&self, at: ValidAt) -> Result<Option<Piece>, ViewError> {
        self.find((None, Some(at)), Direction::Backward, |piece| piece.from().is_some())
    }

    fn after(&self, at: ValidAt) -> Result<Option<Piece>, ViewError> {
        self.find((Some(at), None), Direction::Forward, |piece| piece.from().is_some())
    }

    fn undated(&self, value: ValueKey) -> Result<Option<Piece>, ViewError> {
        let is_it = |piece: &Piece| {
            matches!(piece.valid, Valid::Before { .. })
                && piece.content == Content::One(Value::Is(value))
        };
        let first = ValidAt(lamina_types::Micros(i64::MIN + 1));
        self.find((None, Some(first)), Direction::Forward, is_it)
    }
}
