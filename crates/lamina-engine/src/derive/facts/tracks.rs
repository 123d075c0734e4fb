//! Which tracks a claim is about, and who wrote the record that it is a scalar of.

use std::ops::ControlFlow;

use lamina_core::derive::facts::{RecordSource, ValueKey};
use lamina_store::keys::KeyedHash;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;
use lamina_types::layer::{Cardinality, Claim, Effect, Normaliser, Term};

use super::TRACK;
use crate::derive::fold::Given;
use crate::derive::key;
use crate::derive::words::hash;

/// Who wrote the record that a claim is a scalar of: only a scalar of a named object has one value
/// at a time.
pub(super) fn author(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    claim: &Claim,
) -> Result<Option<RecordSource>, ViewError> {
    let is_record = claim.normaliser == Normaliser::JsonPath
        && claim.cardinality == Some(Cardinality::One)
        && matches!(claim.subject, Term::Named { .. });
    if !is_record {
        return Ok(None);
    }
    let hash = hash(rows, given.tenant);
    let source = given.answer.asked.source.as_deref();
    Ok(Some(RecordSource {
        actor: given.words.actor(&hash, &given.who.observed_actor)?,
        source: source.map(|source| given.words.source(&hash, source)).transpose()?,
    }))
}

/// A subject and a predicate.
pub(in crate::derive) fn said(
    rows: &Rows<'_, '_>,
    tenant: u32,
    subject: EntityId,
    predicate: &Tag,
) -> Result<Tag, ViewError> {
    rows.tag(tenant, "derive.said", &[subject.as_bytes(), predicate])
}

/// The same, outside the fold.
pub(crate) fn said_outside(keyed: &KeyedHash, subject: EntityId, predicate: &Tag) -> Tag {
    let mac = keyed.mac("derive.said", &[subject.as_bytes(), predicate]);
    *mac.first_chunk().expect("32 bytes have a first half")
}

/// The track of a relation with one value at a time.
pub(in crate::derive) fn single_track(
    rows: &Rows<'_, '_>,
    tenant: u32,
    said: &Tag,
) -> Result<Tag, ViewError> {
    rows.tag(tenant, TRACK, &[said])
}

/// The tracks that a claim is about: of a relation with many values each has its own, and an ending
/// that names none of them is about all.
pub(super) fn tracks(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    said: &Tag,
    claim: &Claim,
    value: Option<ValueKey>,
) -> Result<Vec<Tag>, ViewError> {
    match (claim.cardinality, value) {
        (Some(Cardinality::One), _) => Ok(vec![single_track(rows, tenant, said)?]),
        (_, Some(value)) => Ok(vec![rows.tag(tenant, TRACK, &[said, &value.0])?]),
        (_, None) if claim.effect == Effect::Ends => {
            let (from, to) = key::tracks(tenant, scope, said);
            let mut all = Vec::new();
            rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
                all.extend(key::tail_id(key));
                ControlFlow::Continue(())
            })?;
            Ok(all)
        }
        (_, None) => Ok(Vec::new()),
    }
}
