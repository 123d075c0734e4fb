//! Beliefs under the terms of a vocabulary that changed.
//!
//! What is believed under a term that its vocabulary does not have any more, or means something else by, is
//! kept for questions about the past; if the term comes back it is held again, from then on. Either is a piece
//! of every claim under the term, whatever the belief is by then: so taking back one of two changes comes to the same
//! as if there had been the other one only.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::CodecError;
use lamina_store::entry::Place;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::SourceClass;

use super::claims::{self, At, belief_row};
use super::made_row;
use super::rows::{About, MadeRow, PieceRow};
use crate::derive::fold::row_error;
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::key::tail_number;

/// A term, and what happens to it.
#[derive(Debug, Clone)]
pub(in crate::derive) struct Change {
    /// The name of its vocabulary.
    pub(in crate::derive) vocabulary: Tag,
    /// The predicate.
    pub(in crate::derive) predicate: Tag,
    /// What is said about every claim under it.
    pub(in crate::derive) piece: Piece,
}

/// Lets the beliefs under terms follow an entry that changes them, in the scopes that it is about.
pub(in crate::derive) fn renamed(
    rows: &mut Rows<'_, '_>,
    (tenant, offset): (u32, u64),
    changes: &[Change],
    is_about: &dyn Fn(&Rows<'_, '_>, &Change, u64) -> Result<bool, ViewError>,
) -> Result<(), ViewError> {
    let source = AssertionId { offset, ordinal: 0 };
    let mut made: BTreeSet<ClaimKey> = BTreeSet::new();
    for change in changes {
        for claim in claims_under(rows, tenant, change)? {
            if !is_about(rows, change, claim.scope)? {
                continue;
            }
            let unknown =
                About { subject: [0; 16], is_entity: false, predicate: [0; 16], is_single: false };
            let unknown = At { tenant, claim, about: unknown };
            let row = belief_row(rows, &unknown)?;
            let Some(row) = row.filter(|row| row.about.predicate == change.predicate) else {
                continue;
            };
            let piece = PieceRow {
                belief: row.id,
                piece: change.piece.clone(),
                event: None,
                class: SourceClass::Said,
                weight: 0,
                place: Place::default(),
                gone: None,
                origin: None,
                redacted: None,
            };
            claims::take(rows, &At { about: row.about, ..unknown }, source, piece, row.id)?;
            made.insert(claim);
        }
    }
    if !made.is_empty() {
        let touched = u32::try_from(made.len()).unwrap_or(u32::MAX);
        let claims = made.into_iter().collect();
        let made = MadeRow { claims, touched, updated: touched, ..MadeRow::default() };
        rows.put(Space::Sources, key::made(tenant, offset), made.encode());
    }
    Ok(())
}

/// The claims that were said under a term, wherever they are.
fn claims_under(
    rows: &Rows<'_, '_>,
    tenant: u32,
    change: &Change,
) -> Result<BTreeSet<ClaimKey>, ViewError> {
    let (from, to) = key::all_termed(tenant, &change.vocabulary, &change.predicate);
    let mut offsets = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        offsets.push(tail_number(key));
        ControlFlow::Continue(())
    })?;
    let mut claims = BTreeSet::new();
    for offset in offsets {
        let offset = offset.ok_or_else(|| row_error(Space::Sources)(CodecError::Truncated))?;
        claims.extend(made_row(rows, tenant, offset)?.unwrap_or_default().claims);
    }
    Ok(claims)
}
