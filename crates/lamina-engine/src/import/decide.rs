//! Which rows are new: the identity of a row, and what an earlier import made of it.

use std::collections::HashSet;

use lamina_store::codec::CodecError;
use lamina_store::codec::control::ImportIdentity;
use lamina_store::keys::KeyedHash;
use lamina_store::kv::Space;
use lamina_store::view::{Tag, ViewError, Views};
use lamina_types::{EventId, ScopePath};

use super::{ErasedRows, ImportRow};
use crate::derive::imports::IdentityRow;
use crate::derive::key::imports as key;
use crate::derive::read::row;
use crate::engine::Inner;
use crate::{Engine, Error};

/// The outcome that a row would have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPlan {
    /// A new event.
    Written,
    /// The event is there already.
    Known,
    /// A new version of an older event.
    Replaced,
    /// Its event was erased.
    Erased,
}

/// Rows that a run has written or would have written, in memory.
#[derive(Debug, Default)]
pub struct PlannedRows {
    /// The name of each row, and for each content the two in one.
    seen: HashSet<Tag>,
}

impl PlannedRows {
    pub(super) fn has_name(&self, name: &Tag) -> bool {
        self.seen.contains(name)
    }

    pub(super) fn has(&self, identity: &ImportIdentity) -> bool {
        self.seen.contains(&combine(identity))
    }

    pub(super) fn add(&mut self, identity: &ImportIdentity) {
        self.seen.insert(identity.name);
        self.seen.insert(combine(identity));
    }
}

/// One value for name and content. Both are keyed hashes, so that no two pairs meet by design.
fn combine(identity: &ImportIdentity) -> Tag {
    let mut both = identity.name;
    for (byte, other) in both.iter_mut().zip(identity.body.iter().rev()) {
        *byte ^= other;
    }
    both
}

/// What an earlier import made of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Earlier {
    /// Nothing.
    Nothing,
    /// This event, with the same content.
    Same(EventId),
    /// This event, with other content.
    Other(EventId),
    /// An event that was erased.
    Erased,
}

/// A row with its identity and its past.
#[derive(Debug)]
pub(super) struct DecidedRow {
    pub(super) row: ImportRow,
    pub(super) identity: ImportIdentity,
    pub(super) earlier: Earlier,
    /// Rows that it follows from: their names, and the events of those that are known.
    pub(super) precedes: Vec<Preceding>,
}

/// A row that another follows from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preceding {
    pub(super) name: Tag,
    pub(super) event: Option<EventId>,
}

impl Earlier {
    pub(super) fn plan(self) -> RowPlan {
        match self {
            Earlier::Nothing => RowPlan::Written,
            Earlier::Same(_) => RowPlan::Known,
            Earlier::Other(_) => RowPlan::Replaced,
            Earlier::Erased => RowPlan::Erased,
        }
    }
}

/// The rows of one format in one tenant.
#[derive(Debug, Clone)]
pub(super) struct RowNames {
    keyed: KeyedHash,
    tenant: u32,
    format: String,
}

impl RowNames {
    /// The name of a row, in this tenant only.
    fn name(&self, source_id: &str, scope: &ScopePath) -> Tag {
        let parts = [self.format.as_bytes(), source_id.as_bytes(), scope.as_str().as_bytes()];
        cut(self.keyed.mac("import.row", &parts))
    }

    fn identity(&self, row: &ImportRow) -> ImportIdentity {
        let name = self.name(&row.source_id, &row.experience.scope);
        // Keyed beside the name: equal rows of two files do not show that they are equal.
        let body = cut(self.keyed.mac("import.body", &[&name, &row.identity]));
        ImportIdentity { name, body }
    }
}

/// The first half of a keyed hash.
pub(super) fn cut(mac: [u8; 32]) -> Tag {
    *mac.first_chunk().expect("32 bytes have a first half")
}

impl Engine {
    /// The outcome that each row would have. Writes nothing.
    pub async fn import_plan(
        &self,
        tenant: u32,
        format: &str,
        rows: &[ImportRow],
        erased: ErasedRows,
        planned: &mut PlannedRows,
    ) -> Result<Vec<RowPlan>, Error> {
        self.inner.caught_up().await;
        let names = self.inner.row_names(tenant, format)?;
        let identities: Vec<ImportIdentity> = rows.iter().map(|row| names.identity(row)).collect();
        let looked = identities.clone();
        let earlier = self.blocking(move |inner| {
            let earlier = looked.iter().map(|identity| inner.earlier(&names, identity, erased));
            earlier.collect::<Result<Vec<_>, Error>>()
        });
        let mut plans = Vec::with_capacity(rows.len());
        for (identity, earlier) in identities.iter().zip(earlier.await?) {
            let plan = match earlier {
                Earlier::Erased => RowPlan::Erased,
                _ if planned.has(identity) => RowPlan::Known,
                Earlier::Nothing if planned.has_name(&identity.name) => RowPlan::Replaced,
                earlier => earlier.plan(),
            };
            if matches!(plan, RowPlan::Written | RowPlan::Replaced) {
                planned.add(identity);
            }
            plans.push(plan);
        }
        Ok(plans)
    }

    /// The event that an import made of a row, if it is there.
    pub async fn import_event(
        &self,
        tenant: u32,
        format: &str,
        source_id: &str,
        scope: &ScopePath,
    ) -> Result<Option<EventId>, Error> {
        self.inner.caught_up().await;
        let names = self.inner.row_names(tenant, format)?;
        let name = names.name(source_id, scope);
        self.inner.live_event(tenant, &name)
    }
}

/// The newest event of a row, erased or not.
pub(super) fn identity_row(
    views: &Views,
    tenant: u32,
    name: &Tag,
) -> Result<Option<IdentityRow>, ViewError> {
    row(views, Space::Sources, &key::identity(tenant, name), IdentityRow::decode)
}

fn is_event_erased(views: &Views, tenant: u32, event: EventId) -> Result<bool, ViewError> {
    let event = views.event(tenant, event)?;
    Ok(event.is_none_or(|event| event.is_erased()))
}

/// What an earlier import made of a row, by the views.
pub(super) fn earlier(
    views: &Views,
    tenant: u32,
    identity: &ImportIdentity,
    erased: ErasedRows,
) -> Result<Earlier, ViewError> {
    let ImportIdentity { name, body } = identity;
    let Some(newest) = identity_row(views, tenant, name)? else {
        return Ok(Earlier::Nothing);
    };
    let same = match newest.body == *body {
        true => Some(newest.event),
        false => {
            let stored = key::earlier(tenant, name, body);
            let event = row(views, Space::Sources, &stored, |bytes| {
                bytes.try_into().map_err(|_| CodecError::Truncated)
            })?;
            event.map(EventId::from_bytes)
        }
    };
    let event = same.unwrap_or(newest.event);
    Ok(match (is_event_erased(views, tenant, event)?, same, erased) {
        (true, _, ErasedRows::Refuse) => Earlier::Erased,
        (true, _, ErasedRows::Restore) => Earlier::Nothing,
        (false, Some(event), _) => Earlier::Same(event),
        (false, None, _) => Earlier::Other(newest.event),
    })
}

impl Inner {
    pub(super) fn row_names(&self, tenant: u32, format: &str) -> Result<RowNames, Error> {
        Ok(RowNames { keyed: self.keyed(tenant)?, tenant, format: format.to_owned() })
    }

    /// The newest event of a row, if it is there.
    fn live_event(&self, tenant: u32, name: &Tag) -> Result<Option<EventId>, Error> {
        let Some(found) = identity_row(&self.views, tenant, name)? else { return Ok(None) };
        Ok((!is_event_erased(&self.views, tenant, found.event)?).then_some(found.event))
    }

    fn earlier(
        &self,
        names: &RowNames,
        identity: &ImportIdentity,
        erased: ErasedRows,
    ) -> Result<Earlier, Error> {
        Ok(earlier(&self.views, names.tenant, identity, erased)?)
    }

    /// The rows with their identities and their past.
    pub(super) fn decide_rows(
        &self,
        names: &RowNames,
        rows: Vec<ImportRow>,
        erased: ErasedRows,
    ) -> Result<Vec<DecidedRow>, Error> {
        let decide = |row: ImportRow| {
            let identity = names.identity(&row);
            let earlier = self.earlier(names, &identity, erased)?;
            let precedes = row.preceded_by.iter().map(|source_id| {
                let name = names.name(source_id, &row.experience.scope);
                Ok(Preceding { name, event: self.live_event(names.tenant, &name)? })
            });
            let precedes = precedes.collect::<Result<Vec<_>, Error>>()?;
            Ok(DecidedRow { row, identity, earlier, precedes })
        };
        rows.into_iter().map(decide).collect()
    }
}
