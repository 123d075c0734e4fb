//! Merging and splitting: two ids are of one thing, or are not after all.
//!
//! Names, ids and words stay what they are. An entity has a *home*, the one it is one with, and homes
//! are dated, so that a question about the past finds the past. What was said about it is brought to
//! its home, and back again by a split (`facts::rehome`).

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_store::codec::control::{EntityMerged, EntitySplit, NamedEntity};
use lamina_store::entry::Entry;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::{EntityId, RecordedAt};

use super::rows::{HomeRow, OperationRow};
use super::{each_name, entity_row, first_bearer};
use crate::derive::fold::{answer_row, row_error, section, seed};
use crate::derive::{beliefs, concepts, facts, key};

/// Entities that are one; more are not followed.
pub(crate) const GROUP_MAX: usize = 1_024;

/// A merge or a split, as the layers see it.
#[derive(Debug, Clone, Copy)]
pub(in crate::derive) struct Operation {
    pub(in crate::derive) tenant: u32,
    pub(in crate::derive) offset: u64,
    pub(in crate::derive) seed: [u8; 16],
    pub(in crate::derive) recorded: RecordedAt,
}

/// Two entities are one from now on.
pub(in crate::derive) fn merged(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(what) = section(entry, &entry.what, EntityMerged::decode)? else { return Ok(()) };
    let by = begin(rows, entry);
    let from = found(rows, by.tenant, &what.from)?;
    let into = found(rows, by.tenant, &what.into)?;
    let (Some(from), Some(into)) = (from, into) else { return Ok(()) };
    let (from, into) = (home(rows, by.tenant, from)?, home(rows, by.tenant, into)?);
    if from == into {
        return Ok(());
    }
    let movers = group(rows, by.tenant, from)?;
    rows.put(Space::Sources, key::merged(by.tenant, into, from), Vec::new());
    let row = HomeRow { home: into, into, by: by.offset };
    rows.put(Space::Sources, key::home(by.tenant, from), row.encode());
    let moved = relocate(rows, &by, &movers, into)?;
    beliefs::moved::merged(rows, &by, &moved)?;
    concepts::moved::moved(rows, &by, &moved)
}

/// An entity that was merged stands for itself again. One that was merged further comes back from
/// there first: then what it was merged into is its own home.
pub(in crate::derive) fn split(rows: &mut Rows<'_, '_>, entry: &Entry) -> Result<(), ViewError> {
    let Some(what) = section(entry, &entry.what, EntitySplit::decode)? else { return Ok(()) };
    let by = begin(rows, entry);
    let Some(id) = found(rows, by.tenant, &what.entity)? else { return Ok(()) };
    let Some(row) = home_row(rows, by.tenant, id)? else { return Ok(()) };
    if home_row(rows, by.tenant, row.into)?.is_some() {
        return Ok(());
    }
    let movers = group(rows, by.tenant, id)?;
    rows.delete(Space::Sources, key::merged(by.tenant, row.into, id));
    rows.delete(Space::Sources, key::home(by.tenant, id));
    let moved = relocate(rows, &by, &movers, id)?;
    beliefs::moved::split(rows, &by, row.by, &moved)?;
    concepts::moved::moved(rows, &by, &moved)
}

/// Notes an operation: versions that it makes are named after it.
fn begin(rows: &mut Rows<'_, '_>, entry: &Entry) -> Operation {
    let head = &entry.head;
    let (seed, recorded) = (seed(&head.seal), head.recorded_at);
    let row = OperationRow { seed, recorded };
    rows.put(Space::Records, key::operation(head.tenant, head.offset), row.encode());
    Operation { tenant: head.tenant, offset: head.offset, seed, recorded }
}

/// Gives entities another home, and brings there what was said about them.
fn relocate(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    movers: &[EntityId],
    to: EntityId,
) -> Result<Vec<facts::Moved>, ViewError> {
    let Operation { tenant, recorded, .. } = *by;
    let mut tracks: BTreeSet<(u64, Tag)> = BTreeSet::new();
    for id in movers {
        let dated = key::home_from(tenant, *id, recorded);
        rows.put(Space::Records, dated, to.as_bytes().to_vec());
        if let Some(row) = home_row(rows, tenant, *id)? {
            let row = HomeRow { home: to, ..row };
            rows.put(Space::Sources, key::home(tenant, *id), row.encode());
        }
        let Some(row) = entity_row(rows, tenant, *id)? else { continue };
        each_name(rows, tenant, &row, |bearer| {
            if bearer.id == *id {
                bearer.home = to;
            }
        })?;
        for (domain, name) in &row.names {
            let (from, until) = key::name_uses(tenant, *domain, name, *id);
            let mut answers = Vec::new();
            rows.scan(Space::Sources, (&from, &until), Direction::Forward, &mut |key, _| {
                answers.extend(key::tail_number(key));
                ControlFlow::Continue(())
            })?;
            for answer in answers {
                let said = answer_row(rows, tenant, answer)?;
                tracks.extend(said.into_iter().flat_map(|row| row.tracks));
                tracks.extend(facts::carried_tracks(rows, tenant, answer)?);
            }
        }
    }
    let movers: BTreeSet<EntityId> = movers.iter().copied().collect();
    facts::rehome(rows, by, &movers, to, &tracks)
}

/// An entity and all that were merged into it, and into those.
pub(in crate::derive) fn group(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: EntityId,
) -> Result<Vec<EntityId>, ViewError> {
    let mut all = vec![id];
    let mut at = 0;
    while let Some(into) = all.get(at).copied()
        && all.len() < GROUP_MAX
    {
        let (from, to) = key::all_merged(tenant, into);
        rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
            all.extend(key::tail_id(key).map(EntityId::from_bytes));
            ControlFlow::Continue(())
        })?;
        at += 1;
    }
    Ok(all)
}

/// With whom an entity is one.
fn home(rows: &Rows<'_, '_>, tenant: u32, id: EntityId) -> Result<EntityId, ViewError> {
    Ok(home_row(rows, tenant, id)?.map_or(id, |row| row.home))
}

fn home_row(rows: &Rows<'_, '_>, tenant: u32, id: EntityId) -> Result<Option<HomeRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::home(tenant, id))?;
    bytes.map(|bytes| HomeRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

/// A merge or a split, by its entry.
pub(in crate::derive) fn operation_row(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<Option<OperationRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::operation(tenant, offset))?;
    let row = bytes.map(|bytes| OperationRow::decode(&bytes)).transpose();
    row.map_err(row_error(Space::Records))
}

/// The entity that an entry names: by its id, or by the name it had then.
fn found(
    rows: &Rows<'_, '_>,
    tenant: u32,
    named: &NamedEntity,
) -> Result<Option<EntityId>, ViewError> {
    if entity_row(rows, tenant, named.id)?.is_some() {
        return Ok(Some(named.id));
    }
    let Some((domain, name)) = &named.name else { return Ok(None) };
    Ok(first_bearer(rows, tenant, *domain, name)?.map(|bearer| bearer.id))
}
