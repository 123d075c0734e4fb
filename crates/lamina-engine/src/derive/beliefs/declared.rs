//! Beliefs that somebody declares: a control entry becomes a belief, and closes what was declared under
//! the same subject and predicate before.

use std::ops::ControlFlow;

use lamina_core::derive::beliefs::declare::Declaration;
use lamina_core::derive::beliefs::ledger::Piece;
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::control::BeliefDeclared;
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;
use lamina_types::layer::SourceClass;

use super::claims::{self, At, belief_row, mint};
use super::rows::{About, MadeRow, PieceRow};
use crate::derive::facts;
use crate::derive::fold::seed;
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::words;
use crate::derive::words::declared::Known;

/// Takes a declaration.
pub(in crate::derive) fn declared(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some((what, known)) = words::declared::read(rows, entry)? else { return Ok(()) };
    let head = &entry.head;
    let tenant = head.tenant;
    let (subject, is_entity) = subject(rows, tenant, head.scope, (&what, &known))?;
    let predicate = known.predicate;
    let said = facts::said(rows, tenant, EntityId::from_bytes(subject), &predicate)?;
    let claim = ClaimKey { scope: head.scope, said, value: known.value };
    let at = At { tenant, claim, about: About { subject, is_entity, predicate, is_single: false } };
    let recorded = head.recorded_at;
    let source = AssertionId { offset: head.offset, ordinal: 0 };
    let mut made = MadeRow { claims: vec![claim], touched: 1, updated: 1, ..MadeRow::default() };
    // Without a subject nothing was asked that another declaration could answer anew.
    if what.subject_name.is_some() || what.subject.is_some() {
        for other in closed(rows, tenant, &claim, &what)? {
            let other = At { claim: other, ..at };
            let Some(row) = belief_row(rows, &other)?.filter(|row| row.declared) else { continue };
            let piece = PieceRow {
                belief: row.id,
                piece: Piece::Closed { at: recorded, newer: what.valid_from },
                event: None,
                class: SourceClass::Said,
                weight: 0,
                place: entry.place,
                gone: None,
                origin: None,
                redacted: None,
            };
            let about = row.about;
            claims::take(rows, &At { about, ..other }, source, piece, row.id)?;
            made.claims.push(other.claim);
            made.touched += 1;
            made.updated += 1;
        }
        rows.put(Space::Sources, key::declared(tenant, &claim, what.valid_from), Vec::new());
    }
    let supports = u32::try_from(what.supports.len()).unwrap_or(u32::MAX);
    let id = mint(&seed(&head.seal), recorded, &claim, source);
    let piece = PieceRow {
        belief: id,
        piece: Piece::Declared(Declaration {
            confidence: what.confidence,
            valid_from: what.valid_from,
            supports_count: supports,
            at: recorded,
            expires: None,
        }),
        event: None,
        class: SourceClass::Said,
        weight: 0,
        place: entry.place,
        gone: None,
        origin: None,
        redacted: None,
    };
    claims::take(rows, &at, source, piece, id)?;
    rows.put(Space::Sources, key::made(tenant, head.offset), made.encode());
    Ok(())
}

/// Whom or what it is about: an entity, a name that nobody has spoken of, or the scope itself.
fn subject(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    (what, known): (&BeliefDeclared, &Known),
) -> Result<(Tag, bool), ViewError> {
    if let Some(entity) = what.subject {
        return Ok((*entity.as_bytes(), true));
    }
    let tag = match known.subject {
        Some(name) => name,
        None => rows.tag(tenant, "derive.declared.scope", &[&scope.to_be_bytes()])?,
    };
    Ok((tag, false))
}

/// The domain of names that only declarations know.
pub(crate) const SUBJECT: &str = "derive.declared.subject";

/// A name that only declarations know, without what people write differently.
pub(crate) fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// The declarations that a new one closes: all that begin when it does or later, and the one before.
fn closed(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: &ClaimKey,
    what: &BeliefDeclared,
) -> Result<Vec<ClaimKey>, ViewError> {
    let [earlier, later] = key::all_declared(tenant, claim.scope, &claim.said, what.valid_from);
    let mut found = Vec::new();
    let mut over = Vec::new();
    rows.scan(Space::Sources, (&later.0, &later.1), Direction::Forward, &mut |key, _| {
        over.push(key.to_vec());
        found.extend(crate::derive::key::tail_id(key));
        ControlFlow::Continue(())
    })?;
    rows.scan(Space::Sources, (&earlier.0, &earlier.1), Direction::Backward, &mut |key, _| {
        found.extend(crate::derive::key::tail_id(key));
        ControlFlow::Break(())
    })?;
    // What begins later is not the answer at any time any more.
    for key in over {
        rows.delete(Space::Sources, key);
    }
    found.retain(|value| *value != claim.value);
    Ok(found.into_iter().map(|value| ClaimKey { value, ..*claim }).collect())
}
