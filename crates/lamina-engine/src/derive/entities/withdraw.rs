//! Taking back the names of an answer.
//!
//! Whoever is called so by others as well stays, known from the first of them that is left; what only
//! this answer knew of it (a name, what kind of thing it is) goes.

use std::ops::ControlFlow;

use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::EntityId;
use lamina_types::layer::EntityKind;

use super::rows::{EntityRow, SoughtRow, UseRow, put_bearers};
use super::{bearers, each_name, entity_row};
use crate::derive::fold::row_error;
use crate::derive::key;
use crate::derive::rows::{AnswerRow, NameUse};

/// A use of a name.
#[derive(Debug, Clone, Copy)]
struct Use {
    answer: u64,
    row: UseRow,
}

/// Takes back the names of an answer.
pub(in crate::derive) fn withdraw(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    for (domain, name) in &row.sought {
        let sought = key::sought(tenant, *domain, name);
        let Some(bytes) = rows.get(Space::Sources, &sought)? else { continue };
        let keys = SoughtRow::decode(&bytes).map_err(row_error(Space::Sources))?;
        if keys.answer != offset {
            continue;
        }
        for near in &keys.near {
            rows.delete(Space::Sources, key::near(tenant, *domain, near, name));
        }
        for part in &keys.parts {
            rows.delete(Space::Sources, key::part(tenant, *domain, part, name));
        }
        rows.delete(Space::Sources, sought);
    }
    for used in &row.names {
        unuse(rows, tenant, offset, used)?;
    }
    Ok(())
}

fn unuse(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    used: &NameUse,
) -> Result<(), ViewError> {
    let NameUse { domain, name, entity } = *used;
    let use_key = key::name_used(tenant, domain, &name, entity, offset);
    let was = rows.get(Space::Sources, &use_key)?.map(|bytes| UseRow::decode(&bytes)).transpose();
    let was = was.map_err(row_error(Space::Sources))?;
    rows.delete(Space::Sources, use_key);
    let Some(mut row) = entity_row(rows, tenant, entity)? else { return Ok(()) };
    if first_use(rows, tenant, used, |_| true)?.is_none() {
        let mut all = bearers(rows, tenant, domain, &name)?;
        all.retain(|bearer| bearer.id != entity);
        let alias = key::alias(tenant, domain, &name);
        match all.is_empty() {
            true => rows.delete(Space::Sources, alias),
            false => rows.put(Space::Sources, alias, put_bearers(&all)),
        }
        row.names.retain(|known| *known != (domain, name));
    }
    if row.names.is_empty() {
        rows.delete(Space::Records, key::entity(tenant, entity));
        return Ok(());
    }
    if row.answer == offset
        && let Some(first) = earliest(rows, tenant, entity, &row, |_| true)?
    {
        (row.answer, row.term, row.depth) = (first.answer, first.row.term, first.row.depth);
    }
    let told = was.is_some_and(|was| was.kind == row.kind && was.kind != EntityKind::Thing);
    if told {
        let specific = |kind| kind != EntityKind::Thing && kind != EntityKind::Identifier;
        let first = earliest(rows, tenant, entity, &row, specific)?;
        let kind = first.map_or(EntityKind::Thing, |first| first.row.kind);
        if kind != row.kind {
            row.kind = kind;
            each_name(rows, tenant, &row, |bearer| {
                if bearer.id == entity {
                    bearer.kind = kind;
                }
            })?;
        }
    }
    rows.put(Space::Records, key::entity(tenant, entity), row.encode());
    Ok(())
}

/// The earliest use of any name of an entity as such a kind of thing.
fn earliest(
    rows: &Rows<'_, '_>,
    tenant: u32,
    entity: EntityId,
    row: &EntityRow,
    is_it: impl Fn(EntityKind) -> bool,
) -> Result<Option<Use>, ViewError> {
    let mut first: Option<Use> = None;
    for (domain, name) in &row.names {
        let used = NameUse { domain: *domain, name: *name, entity };
        let found = first_use(rows, tenant, &used, &is_it)?;
        first = match (first, found) {
            (Some(one), Some(other)) if one.answer <= other.answer => Some(one),
            (one, other) => other.or(one),
        };
    }
    Ok(first)
}

/// The first use of a name as such a kind of thing.
fn first_use(
    rows: &Rows<'_, '_>,
    tenant: u32,
    used: &NameUse,
    is_it: impl Fn(EntityKind) -> bool,
) -> Result<Option<Use>, ViewError> {
    let (from, to) = key::name_uses(tenant, used.domain, &used.name, used.entity);
    let mut first = Ok(None);
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        let read = key::tail_number(key).ok_or(CodecError::Truncated);
        let read = read.and_then(|answer| Ok(Use { answer, row: UseRow::decode(value)? }));
        match read {
            Ok(found) if !is_it(found.row.kind) => return ControlFlow::Continue(()),
            Ok(found) => first = Ok(Some(found)),
            Err(error) => first = Err(error),
        }
        ControlFlow::Break(())
    })?;
    first.map_err(row_error(Space::Sources))
}
