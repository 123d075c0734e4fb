//! Beliefs about entities that became one, or are two again.
//!
//! A belief about somebody who is one with another is kept for questions about the past, and what it
//! stood on counts for the other one from then on. A split takes that back, from then on: the belief goes on
//! with its id and with everything that was said since, and between the two it is known that they were one.

use std::collections::BTreeMap;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::facts::AssertionId;
use lamina_store::entry::Place;
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::layer::SourceClass;

use super::again::without_some_from;
use super::claims::{self, At, belief_row, mint, pieces};
use super::rows::{About, MadeRow, PieceRow};
use crate::derive::entities::merge::Operation;
use crate::derive::entities::rows::put_origin;
use crate::derive::facts::Moved;
use crate::derive::fold::row_error;
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::key::carried;

/// The claims that an operation moves, and where to.
type Ways = BTreeMap<ClaimKey, (ClaimKey, About)>;

/// What an operation brings, one piece after the other.
struct Bringing {
    by: Operation,
    /// The place of the next piece among what the operation does.
    next: u16,
    made: MadeRow,
}

/// Whole claims are about somebody else from now on.
pub(in crate::derive) fn merged(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    moved: &[Moved],
) -> Result<(), ViewError> {
    let mut bringing = Bringing::new(by, moved);
    for (from, (to, about)) in ways(moved) {
        let unknown = At { tenant: by.tenant, claim: from, about };
        let row = belief_row(rows, &unknown)?;
        let Some(row) = row.filter(|row| row.held.is_held() && !row.declared) else { continue };
        let old = At { about: row.about, ..unknown };
        let new = At { tenant: by.tenant, claim: to, about };
        for (source, piece) in pieces(rows, by.tenant, &from)? {
            if piece.belief == row.id && piece.gone.is_none() {
                bringing.bring(rows, &new, source, piece)?;
            }
        }
        let closed = PieceRow {
            belief: row.id,
            piece: Piece::Moved { at: by.recorded },
            event: None,
            class: SourceClass::Said,
            weight: 0,
            place: Place::default(),
            gone: None,
            origin: None,
            redacted: None,
        };
        let source = AssertionId { offset: by.offset, ordinal: 0 };
        claims::take(rows, &old, source, closed, row.id)?;
        bringing.touch(from);
    }
    bringing.done(rows);
    Ok(())
}

/// What a merge did is taken back, and what was said since goes to whom it is about.
pub(in crate::derive) fn split(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    merged_by: u64,
    moved: &[Moved],
) -> Result<(), ViewError> {
    super::retire(rows, by.tenant, merged_by, by.recorded)?;
    let mut bringing = Bringing::new(by, moved);
    for one in moved.iter().filter(|one| one.origin.offset > merged_by) {
        let Some((from, (to, about))) = way(one) else { continue };
        let unknown = At { tenant: by.tenant, claim: from, about };
        let is_it = |source: AssertionId, piece: &PieceRow| {
            piece.origin.unwrap_or(source) == one.origin
                && piece.gone.is_none()
                && matches!(piece.piece, Piece::Said(_))
        };
        let said =
            pieces(rows, by.tenant, &from)?.into_iter().find(|(source, row)| is_it(*source, row));
        let Some((source, piece)) = said else { continue };
        without_some_from(rows, by.tenant, from, by.recorded, is_it)?;
        bringing.bring(rows, &At { claim: to, ..unknown }, source, piece)?;
    }
    bringing.done(rows);
    Ok(())
}

impl Bringing {
    fn new(by: &Operation, moved: &[Moved]) -> Bringing {
        // What it brings to tracks comes first.
        let next = u16::try_from(moved.len() + 1).unwrap_or(u16::MAX);
        Bringing { by: *by, next, made: MadeRow::default() }
    }

    /// Lets what was said count for another claim.
    fn bring(
        &mut self,
        rows: &mut Rows<'_, '_>,
        to: &At,
        source: AssertionId,
        piece: PieceRow,
    ) -> Result<(), ViewError> {
        let Piece::Said(mut said) = piece.piece.clone() else { return Ok(()) };
        let (tenant, recorded) = (self.by.tenant, self.by.recorded);
        let origin = piece.origin.unwrap_or(source);
        let source = AssertionId { offset: self.by.offset, ordinal: self.next };
        self.next = self.next.saturating_add(1);
        said.evidence.recorded = recorded;
        let id = mint(&self.by.seed, recorded, &to.claim, source);
        let (belief, piece) = (id, PieceRow { piece: Piece::Said(said), ..piece });
        let piece = PieceRow { belief, origin: Some(origin), ..piece };
        rows.put(Space::Sources, carried(tenant, source), put_origin(origin));
        if claims::take(rows, to, source, piece, id)?.is_some() {
            self.touch(to.claim);
            note(rows, tenant, origin.offset, to.claim)?;
        } else {
            rows.delete(Space::Sources, carried(tenant, source));
        }
        Ok(())
    }

    fn touch(&mut self, claim: ClaimKey) {
        if !self.made.claims.contains(&claim) {
            self.made.claims.push(claim);
            self.made.touched += 1;
        }
    }

    fn done(self, rows: &mut Rows<'_, '_>) {
        if self.made != MadeRow::default() {
            let made = key::made(self.by.tenant, self.by.offset);
            rows.put(Space::Sources, made, self.made.encode());
        }
    }
}

/// What an answer said counts for one more claim: it is taken back there too.
fn note(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    answer: u64,
    claim: ClaimKey,
) -> Result<(), ViewError> {
    let made = key::made(tenant, answer);
    let row = rows.get(Space::Sources, &made)?.map(|bytes| MadeRow::decode(&bytes)).transpose();
    let mut row = row.map_err(row_error(Space::Sources))?.unwrap_or_default();
    if !row.claims.contains(&claim) {
        row.claims.push(claim);
        rows.put(Space::Sources, made, row.encode());
    }
    Ok(())
}

fn ways(moved: &[Moved]) -> Ways {
    moved.iter().filter_map(way).collect()
}

fn way(moved: &Moved) -> Option<(ClaimKey, (ClaimKey, About))> {
    let Moved { scope, predicate, single, old, new, .. } = *moved;
    let from = ClaimKey { scope, said: old.said, value: old.value?.0 };
    let to = ClaimKey { scope, said: new.said, value: new.value?.0 };
    let subject = *new.subject.as_bytes();
    let about = About { subject, is_entity: true, predicate, is_single: single };
    (from != to).then_some((from, (to, about)))
}
