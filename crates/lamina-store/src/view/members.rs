//! Who belongs to a scope, and by which registration.
//!
//! The scope is known from the head, so every entry replaces the whole of what stood before: an
//! erased one too, after which nobody belongs to the scope.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lamina_types::{ActorId, MemberRole, RecordedAt};

use crate::codec::CodecError;
use crate::codec::control::{ScopeSet, role_number, role_of};
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::{Entry, Place};
use crate::kv::{Direction, Space};
use crate::view::fold::{Fold, contradiction, row_error, section};
use crate::view::row::{Made, done, instant, put_instant};
use crate::view::{Tag, ViewError, Views, key};

/// How a scope is registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registration {
    /// By the first write into it.
    Auto,
    /// By request.
    Explicit,
    /// Not any more.
    Removed,
    /// The words of the registration are gone.
    Erased,
}

impl Registration {
    fn number(self) -> u8 {
        match self {
            Registration::Auto => 0,
            Registration::Explicit => 1,
            Registration::Removed => 2,
            Registration::Erased => 3,
        }
    }

    fn from_number(number: u8) -> Result<Registration, CodecError> {
        use Registration::{Auto, Erased, Explicit, Removed};
        [Auto, Explicit, Removed, Erased]
            .into_iter()
            .find(|known| known.number() == number)
            .ok_or(CodecError::Malformed { field: "registration" })
    }
}

/// The standing of one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandingRow {
    /// The last entry that changed it.
    pub offset: u64,
    /// Where the log keeps that entry.
    pub place: Place,
    /// When the log accepted it.
    pub recorded_at: RecordedAt,
    /// How the scope is registered.
    pub registration: Registration,
    /// How many belong to it.
    pub members: u64,
}

impl StandingRow {
    /// Whether only members may use the scope: one without any is for nobody, and so is one whose
    /// members are erased, because forgetting must not let anybody in.
    pub fn is_closed(&self) -> bool {
        match self.registration {
            Registration::Explicit | Registration::Erased => true,
            Registration::Auto | Registration::Removed => false,
        }
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(32);
        put_varint(&mut out, self.offset);
        put_varint(&mut out, self.place.0);
        put_instant(&mut out, self.recorded_at.0);
        out.push(self.registration.number());
        put_varint(&mut out, self.members);
        out
    }

    fn decode(bytes: &[u8]) -> Result<StandingRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = StandingRow {
            offset: from.varint()?,
            place: Place(from.varint()?),
            recorded_at: RecordedAt(instant(&mut from)?),
            registration: Registration::from_number(from.byte()?)?,
            members: from.varint()?,
        };
        done(&from, row)
    }
}

/// By keyed hash of the actor.
type Members = BTreeMap<Tag, MemberRole>;

fn encode_members(members: &Members) -> Vec<u8> {
    let mut out = Vec::with_capacity(members.len() * 17);
    for (actor, role) in members {
        out.extend_from_slice(actor);
        out.push(role_number(*role));
    }
    out
}

fn decode_members(bytes: &[u8]) -> Result<Members, CodecError> {
    let mut from = Cursor::new(bytes);
    let mut members = Members::new();
    while !from.is_done() {
        members.insert(from.array()?, role(from.byte()?)?);
    }
    Ok(members)
}

fn role(number: u8) -> Result<MemberRole, CodecError> {
    role_of(number).ok_or(CodecError::Malformed { field: "role" })
}

impl Fold<'_> {
    pub(crate) fn scope_set(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        self.registered(entry)?;
        match section(head.offset, &entry.what, ScopeSet::decode)? {
            Some(ScopeSet { members, auto, .. }) => {
                let registration = if auto { Registration::Auto } else { Registration::Explicit };
                self.stand(entry, head.scope, registration, &members)?;
            }
            None => self.stand(entry, head.scope, Registration::Erased, &[])?,
        }
        self.made(entry, Made::Members(head.scope));
        Ok(())
    }

    pub(crate) fn scope_removed(&mut self, entry: &Entry) -> Result<(), ViewError> {
        self.registered(entry)?;
        self.stand(entry, entry.head.scope, Registration::Removed, &[])
    }

    fn registered(&self, entry: &Entry) -> Result<(), ViewError> {
        let scope = key::scope(entry.head.tenant, entry.head.scope);
        match self.get(Space::Scopes, &scope)? {
            Some(_) => Ok(()),
            None => Err(contradiction(entry, "the scope is not registered")),
        }
    }

    /// From this entry on the scope stands like this.
    pub(crate) fn stand(
        &mut self,
        entry: &Entry,
        ordinal: u64,
        registration: Registration,
        members: &[(ActorId, MemberRole)],
    ) -> Result<(), ViewError> {
        let tenant = entry.head.tenant;
        let mut after = Members::new();
        for (actor, role) in members {
            after.insert(self.tags.actor(tenant, actor.as_str())?, *role);
        }
        let row = StandingRow {
            offset: entry.head.offset,
            place: entry.place,
            recorded_at: entry.head.recorded_at,
            registration,
            members: after.len() as u64,
        };
        self.put_standing(tenant, ordinal, &row, &after)
    }

    fn put_standing(
        &mut self,
        tenant: u32,
        ordinal: u64,
        row: &StandingRow,
        after: &Members,
    ) -> Result<(), ViewError> {
        let list = key::scope_members(tenant, ordinal);
        let before = self.get(Space::Scopes, &list)?.map(|bytes| decode_members(&bytes));
        let before = before.transpose().map_err(row_error(Space::Scopes))?.unwrap_or_default();
        for actor in before.keys().filter(|actor| !after.contains_key(*actor)) {
            self.delete(Space::Scopes, key::member_of(tenant, actor, ordinal));
        }
        for (actor, role) in after {
            let member_of = key::member_of(tenant, actor, ordinal);
            self.put(Space::Scopes, member_of, [role_number(*role)]);
        }
        match after.is_empty() {
            true => self.delete(Space::Scopes, list),
            false => self.put(Space::Scopes, list, encode_members(after)),
        }
        self.put(Space::Scopes, key::scope_standing(tenant, ordinal), row.encode());
        Ok(())
    }

    /// The words of an entry are gone: if nothing came after it, nobody belongs to the scope.
    pub(crate) fn erase_standing(
        &mut self,
        tenant: u32,
        ordinal: u64,
        offset: u64,
    ) -> Result<(), ViewError> {
        let key = key::scope_standing(tenant, ordinal);
        let row = self.get(Space::Scopes, &key)?.map(|bytes| StandingRow::decode(&bytes));
        let Some(row) = row.transpose().map_err(row_error(Space::Scopes))? else {
            return Ok(());
        };
        if row.offset != offset {
            return Ok(());
        }
        let row = StandingRow { registration: Registration::Erased, members: 0, ..row };
        self.put_standing(tenant, ordinal, &row, &Members::new())
    }
}

impl Views {
    /// The standing of a scope.
    pub fn scope_standing(
        &self,
        tenant: u32,
        ordinal: u64,
    ) -> Result<Option<StandingRow>, ViewError> {
        let row = self.get(Space::Scopes, &key::scope_standing(tenant, ordinal))?;
        let row = row.map(|bytes| StandingRow::decode(&bytes)).transpose();
        row.map_err(row_error(Space::Scopes))
    }

    /// The role of an actor in exactly this scope. The actor is given as its keyed hash, because
    /// whoever asks, asks for several scopes.
    pub fn member_role(
        &self,
        tenant: u32,
        actor: &Tag,
        ordinal: u64,
    ) -> Result<Option<MemberRole>, ViewError> {
        let row = self.get(Space::Scopes, &key::member_of(tenant, actor, ordinal))?;
        let role = row.map(|bytes| match bytes.as_slice() {
            [number] => role(*number),
            _ => Err(CodecError::Truncated),
        });
        role.transpose().map_err(row_error(Space::Scopes))
    }

    /// The scopes that an actor belongs to, in order of ordinals, at most `limit`.
    pub fn memberships(
        &self,
        tenant: u32,
        actor: &Tag,
        limit: usize,
    ) -> Result<Vec<(u64, MemberRole)>, ViewError> {
        let from = key::member_of(tenant, actor, 0);
        let to = key::after(key::member_of(tenant, actor, u64::MAX));
        let mut found = Vec::new();
        self.walk(Space::Scopes, (&from, &to), &mut |key, value| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            let number = value.first().copied().ok_or(CodecError::Truncated)?;
            found.push((key::tail_number(key).ok_or(CodecError::Truncated)?, role(number)?));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Registered scopes of a tenant in order of ordinals, at most `limit`, after the ordinal
    /// `after`.
    pub fn scopes(
        &self,
        tenant: u32,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<u64>, ViewError> {
        let from = key::scope(tenant, after.map_or(0, |after| after.saturating_add(1)));
        let to = key::after(key::scope(tenant, u64::MAX));
        let mut found = Vec::new();
        self.walk(Space::Scopes, (&from, &to), &mut |key, _| {
            if found.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            found.push(key::tail_number(key).ok_or(CodecError::Truncated)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// When the last event that lists show was written into exactly this scope.
    pub fn scope_written(
        &self,
        tenant: u32,
        ordinal: u64,
    ) -> Result<Option<RecordedAt>, ViewError> {
        let (from, to) = key::axis_of(tenant, ordinal);
        let mut last = None;
        self.kv
            .scan(Space::ByRecorded, &from, &to, Direction::Backward, &mut |key, _| {
                last = Some(key::axis_position(key).ok_or(CodecError::Truncated));
                ControlFlow::Break(())
            })
            .map_err(|source| ViewError::Kv { doing: "looking for the last event", source })?;
        let last = last.transpose().map_err(row_error(Space::ByRecorded))?;
        Ok(last.map(|(at, _)| RecordedAt(lamina_types::Micros(at))))
    }

    /// How many events lists show of exactly this scope; counts no further than `max`.
    pub fn scope_events(&self, tenant: u32, ordinal: u64, max: u64) -> Result<u64, ViewError> {
        let (from, to) = key::axis_of(tenant, ordinal);
        let mut count = 0;
        self.walk(Space::ByRecorded, (&from, &to), &mut |_, _| {
            count += 1;
            Ok(if count < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
