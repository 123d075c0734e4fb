//! Beliefs in the sides of a conflict that somebody decided: what lost is kept for questions about the
//! past, and what holds for a part of the time only says so. A decision that is taken back, or that
//! decides nothing any more, leaves no trace.

use std::collections::BTreeMap;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::conflicts::Verdict;
use lamina_core::derive::facts::{AssertionId, ValueKey};
use lamina_store::entry::Place;
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::RecordedAt;
use lamina_types::layer::SourceClass;

use super::again::{Going, without};
use super::claims::{self, At, belief_row};
use super::made_row;
use super::rows::{About, MadeRow, PieceRow};
use crate::derive::facts;
use crate::derive::fold::row_error;
use crate::derive::key::beliefs::{self as key, ClaimKey};

/// A decision about the track of a subject and a predicate.
#[derive(Debug, Clone, Copy)]
pub(in crate::derive) struct Decided {
    /// Its entry.
    pub(in crate::derive) offset: u64,
    /// When it was made.
    pub(in crate::derive) recorded: RecordedAt,
}

/// Lets beliefs follow what a decision means for the sides of its conflict, in the place of what it
/// meant before.
pub(in crate::derive) fn decided(
    rows: &mut Rows<'_, '_>,
    at: facts::At,
    by: Decided,
    verdicts: &BTreeMap<ValueKey, Verdict>,
) -> Result<(), ViewError> {
    let facts::At { tenant, scope, subject, predicate, .. } = at;
    let said = facts::said(rows, tenant, subject, &predicate)?;
    let known = made_row(rows, tenant, by.offset)?;
    let mut made = known.clone().unwrap_or_default();
    let is_here = |claim: &ClaimKey| claim.scope == scope && claim.said == said;
    for claim in made.claims.clone().into_iter().filter(is_here) {
        if !verdicts.contains_key(&ValueKey(claim.value)) {
            without(rows, tenant, claim, by.offset, Going::Never)?;
            made.claims.retain(|other| *other != claim);
        }
    }
    for (value, verdict) in verdicts {
        let claim = ClaimKey { scope, said, value: value.0 };
        if decide(rows, (tenant, claim), by, *verdict)? && !made.claims.contains(&claim) {
            made.claims.push(claim);
        }
    }
    made.touched = u32::try_from(made.claims.len()).unwrap_or(u32::MAX);
    made.updated = made.touched;
    let row = key::made(tenant, by.offset);
    match (made.claims.is_empty(), known) {
        (true, Some(_)) => rows.delete(Space::Sources, row),
        (false, known) if known.as_ref() != Some(&made) => {
            rows.put(Space::Sources, row, MadeRow::encode(&made));
        }
        _ => {}
    }
    Ok(())
}

/// One side; whether there is a belief in it.
fn decide(
    rows: &mut Rows<'_, '_>,
    (tenant, claim): (u32, ClaimKey),
    by: Decided,
    verdict: Verdict,
) -> Result<bool, ViewError> {
    let at = by.recorded;
    let piece = match verdict {
        Verdict::Lost => Piece::Decided { at, from: None },
        Verdict::From(from) => Piece::Decided { at, from: Some(from) },
        Verdict::Until(newer) => Piece::Closed { at, newer },
    };
    let source = AssertionId { offset: by.offset, ordinal: 0 };
    let bytes = rows.get(Space::Sources, &key::piece(tenant, &claim, source))?;
    let before = bytes.map(|bytes| PieceRow::decode(&bytes)).transpose();
    if let Some(before) = before.map_err(row_error(Space::Sources))? {
        if before.piece == piece {
            return Ok(true);
        }
        without(rows, tenant, claim, by.offset, Going::Never)?;
    }
    let unknown =
        About { subject: [0; 16], is_entity: false, predicate: [0; 16], is_single: false };
    let unknown = At { tenant, claim, about: unknown };
    let Some(row) = belief_row(rows, &unknown)? else { return Ok(false) };
    let piece = PieceRow {
        belief: row.id,
        piece,
        event: None,
        class: SourceClass::Said,
        weight: 0,
        place: Place::default(),
        gone: None,
        origin: None,
        redacted: None,
    };
    claims::take(rows, &At { about: row.about, ..unknown }, source, piece, row.id)?;
    Ok(true)
}
