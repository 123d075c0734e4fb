//! Policies: where the newest document of each target is.
//!
//! The target stands in the words of an entry, so an erased one cannot say what it was about. It
//! names the entry it replaces in its causes instead: whether an entry is erased after it was folded
//! or found erased, in the end neither it nor what it replaced is in force.

use std::ops::ControlFlow;

use crate::codec::CodecError;
use crate::codec::control::{PolicySet, PolicyTarget};
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::{Entry, Place};
use crate::kv::Space;
use crate::view::fold::{Fold, row_error, section};
use crate::view::row::{Made, PolicyKey, done};
use crate::view::tag::Tags;
use crate::view::{ViewError, Views, key};

/// Where the newest policy of one target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyRow {
    /// The entry with the document.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// How often this target's policy was set.
    pub version: u64,
}

impl PolicyRow {
    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(24);
        for number in [self.offset, self.place.0, self.version] {
            put_varint(&mut out, number);
        }
        out
    }

    fn decode(bytes: &[u8]) -> Result<PolicyRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = PolicyRow {
            offset: from.varint()?,
            place: Place(from.varint()?),
            version: from.varint()?,
        };
        done(&from, row)
    }
}

impl Fold<'_> {
    pub(crate) fn policy(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        for replaced in &head.causes {
            if let Some((tenant, Made::Policy(Some(target)))) = self.made_by(*replaced)? {
                self.drop_policy(tenant, &target, *replaced)?;
            }
        }
        let payload = section(head.offset, &entry.what, PolicySet::decode)?;
        let target = match &payload {
            None => None,
            Some(payload) => Some(policy_key(self.tags, head.tenant, &payload.target)?),
        };
        if let (Some(payload), Some(target)) = (&payload, &target) {
            let version = payload.version;
            let row = PolicyRow { offset: head.offset, place: entry.place, version };
            self.put(Space::Scopes, key::policy(head.tenant, target), row.encode());
        }
        self.made(entry, Made::Policy(target));
        Ok(())
    }

    /// Takes a policy back if no later one is in force.
    pub(crate) fn drop_policy(
        &mut self,
        tenant: u32,
        target: &PolicyKey,
        offset: u64,
    ) -> Result<(), ViewError> {
        let key = key::policy(tenant, target);
        let row = self.get(Space::Scopes, &key)?.map(|bytes| PolicyRow::decode(&bytes));
        let row = row.transpose().map_err(row_error(Space::Scopes))?;
        if row.is_some_and(|row| row.offset == offset) {
            self.delete(Space::Scopes, key);
        }
        Ok(())
    }
}

fn policy_key(tags: &Tags, tenant: u32, target: &PolicyTarget) -> Result<PolicyKey, ViewError> {
    let word = match target {
        PolicyTarget::Deployment | PolicyTarget::Tenant => [0; 16],
        PolicyTarget::Scope(path) => tags.path(tenant, path.as_str())?,
        PolicyTarget::Actor(actor) => tags.actor(tenant, actor.as_str())?,
    };
    Ok(PolicyKey { tier: target.tier(), word })
}

impl Views {
    /// The newest policy of one target.
    pub fn policy(
        &self,
        tenant: u32,
        target: &PolicyTarget,
    ) -> Result<Option<PolicyRow>, ViewError> {
        let key = key::policy(tenant, &policy_key(&self.tags, tenant, target)?);
        let row = self.get(Space::Scopes, &key)?.map(|bytes| PolicyRow::decode(&bytes));
        row.transpose().map_err(row_error(Space::Scopes))
    }

    /// The newest policies of all targets of a tenant.
    pub fn policies(&self, tenant: u32) -> Result<Vec<PolicyRow>, ViewError> {
        let (from, to) = key::policies(tenant);
        let mut rows = Vec::new();
        self.walk(Space::Scopes, (&from, &to), &mut |_, value| {
            rows.push(PolicyRow::decode(value)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }
}

#[cfg(test)]
mod tests;
