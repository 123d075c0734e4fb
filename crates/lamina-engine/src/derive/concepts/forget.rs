//! Concepts that were forgotten: their things are not counted for the episodes they were found in, and
//! nothing of them is left. Episodes to come count as ever.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::concepts::{Item, When};
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{ConceptId, EpisodeId, RecordedAt, ValidAt};

use super::rows::{ConceptRow, DigestRow};
use super::{Mint, Step, change, digest, key};
use crate::derive::fold::row_error;
use crate::derive::key::forget as forget_key;

/// Takes things out of what episodes were counted for.
pub(in crate::derive) fn things(
    rows: &mut Rows<'_, '_>,
    (tenant, scope): (u32, u64),
    named: &BTreeMap<EpisodeId, BTreeSet<Tag>>,
    at: RecordedAt,
) -> Result<(), ViewError> {
    let mut changed: Vec<(EpisodeId, DigestRow, &BTreeSet<Tag>)> = Vec::new();
    for (episode, gone) in named {
        changed.extend(digest(rows, tenant, scope, *episode)?.map(|row| (*episode, row, gone)));
    }
    changed.sort_by_key(|(_, before, _)| before.place());
    for (episode, before, gone) in changed {
        let after = without_things(&before, |tag| gone.contains(tag));
        let when = When { at, valid: ValidAt(at.0) };
        let step = Step { tenant, when, seed: *episode.as_bytes() };
        let mut mint = Mint::new(&step.seed, scope, at);
        change(rows, &step, &mut mint, (scope, episode), &before, after)?;
    }
    Ok(())
}

/// A digest without what an episode is not counted for any more.
pub(super) fn counted_for(
    rows: &Rows<'_, '_>,
    (tenant, scope, episode): (u32, u64, EpisodeId),
    digest: DigestRow,
) -> Result<DigestRow, ViewError> {
    let (from, to) = forget_key::things(tenant, scope, episode);
    let mut gone: BTreeSet<Tag> = BTreeSet::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        gone.extend(crate::derive::key::tail_id(key));
        ControlFlow::Continue(())
    })?;
    Ok(if gone.is_empty() { digest } else { without_things(&digest, |tag| gone.contains(tag)) })
}

fn without_things(digest: &DigestRow, is_gone: impl Fn(&Tag) -> bool) -> DigestRow {
    let mut after = digest.clone();
    let stays = |item: &Item| match item {
        Item::Value(tag) | Item::Label(tag) => !is_gone(tag),
        Item::Entity(_) | Item::Predicate(_) => true,
    };
    after.items.retain(stays);
    after.facts.retain(|fact| stays(&fact.subject));
    for fact in &mut after.facts {
        fact.object = fact.object.filter(stays);
    }
    after.bonds.retain(|bond| stays(&bond.from) && stays(&bond.to));
    after
}

/// Removes a concept with all its versions.
pub(in crate::derive) fn concept(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    id: [u8; 16],
) -> Result<(), ViewError> {
    let id = ConceptId::from_bytes(id);
    let Some(bytes) = rows.get(Space::Records, &key::concept(tenant, id))? else { return Ok(()) };
    let row = ConceptRow::decode(&bytes).map_err(row_error(Space::Records))?;
    for version in 1..=row.concept.version {
        let stored = key::version(tenant, id, version);
        if let Some(bytes) = rows.get(Space::Records, &stored)? {
            let old = ConceptRow::decode(&bytes).map_err(row_error(Space::Records))?;
            rows.delete(Space::Records, key::version_id(tenant, old.version_id()));
            for item in &old.concept.members {
                release(rows, tenant, scope, *item, id)?;
            }
        }
        rows.delete(Space::Records, stored);
    }
    for item in &row.concept.members {
        release(rows, tenant, scope, *item, id)?;
    }
    rows.delete(Space::Records, key::listed(tenant, scope, row.concept.created, id));
    rows.delete(Space::Records, key::concept(tenant, id));
    Ok(())
}

/// Something does not belong to a concept any more.
fn release(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    item: Item,
    id: ConceptId,
) -> Result<(), ViewError> {
    let member = key::member(tenant, scope, item);
    if rows.get(Space::Sources, &member)?.is_some_and(|known| known == id.as_bytes()) {
        rows.delete(Space::Sources, member);
    }
    Ok(())
}
