//! How far an erasure reaches: what it leaves alone below its scope, and what goes elsewhere (R366).
//!
//! A scope that bears no person's name reaches nothing outside. That of a person reaches the events whose
//! observed actor is that person: all of them for an administrator; for the person, those that the person or
//! a delegate wrote and those in scopes that the person owns. A role that somebody else's list of members
//! gives is no ownership here. It is decided once and noted in the log with the erasure.

use std::collections::BTreeSet;

use lamina_core::policy::{Caller, Preset};
use lamina_store::codec::control::{By, ErasedElsewhere, ErasureReach};
use lamina_store::kv::Direction;
use lamina_store::view::{Axis, EventRow, EventScan, Registration, StandingRow};
use lamina_types::capability::{Capability as _, ForgetGdprCrossWorkspace, ScopeReadLocal};
use lamina_types::{ActorId, MemberRole, ScopePath};

use super::plan::Plan;
use crate::Error;
use crate::admin::{Boot, PolicyBook};
use crate::engine::Inner;

/// Scopes and events read at a time.
const SCOPES_AT_ONCE: usize = 256;
const EVENTS_AT_ONCE: usize = 1_000;

/// What decides how far an erasure reaches.
#[derive(Debug, Clone)]
pub struct ErasureRights {
    /// The policy that the deployment was started with.
    pub boot: Boot,
    /// The actors that write for the persons of the tenant.
    pub delegates: Vec<ActorId>,
}

/// The reach of an erasure, as it is planned with.
#[derive(Debug, Clone, Default)]
pub(super) struct Reach {
    /// Scopes below that others have.
    pub(super) left_alone: BTreeSet<u64>,
    /// The person that the scope is named for.
    pub(super) person: Option<ActorId>,
    elsewhere: ErasedElsewhere,
}

/// What becomes of an event outside of which the person is the observed actor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It goes.
    Taken,
    /// Somebody else wrote it down: it stays, and is counted as a mention.
    Mention,
}

impl Reach {
    /// As the entry of an erasure of this scope says.
    pub(super) fn of(scope: &ScopePath, noted: ErasureReach) -> Reach {
        let ErasureReach { left_alone, elsewhere } = noted;
        Reach { left_alone: left_alone.into_iter().collect(), person: scope.person(), elsewhere }
    }

    /// Whether the person, or an administrator for the person, asks: what is the person's goes elsewhere too.
    pub(super) fn reaches_elsewhere(&self) -> bool {
        self.elsewhere != ErasedElsewhere::Nothing
    }

    /// As the entry says it.
    pub(super) fn noted(&self) -> ErasureReach {
        ErasureReach {
            left_alone: self.left_alone.iter().copied().collect(),
            elsewhere: self.elsewhere.clone(),
        }
    }
}

impl Inner {
    /// How far an erasure of a scope reaches on request of this caller.
    pub(super) fn erasure_reach(
        &self,
        caller: &Caller,
        rights: &ErasureRights,
        scope: &ScopePath,
    ) -> Result<Reach, Error> {
        let person = scope.person();
        let left_alone = match rights.boot.preset {
            Preset::DevLocal => BTreeSet::new(),
            _ => self.left_alone(caller, scope)?,
        };
        let elsewhere = match &person {
            Some(_) if caller.administers() => ErasedElsewhere::Everything,
            Some(person) if caller.actor == *person => {
                self.own_elsewhere(caller.tenant, person, rights, scope)?
            }
            _ => ErasedElsewhere::Nothing,
        };
        Ok(Reach { left_alone, person, elsewhere })
    }

    /// The events elsewhere that count as a person's own.
    fn own_elsewhere(
        &self,
        tenant: u32,
        person: &ActorId,
        rights: &ErasureRights,
        scope: &ScopePath,
    ) -> Result<ErasedElsewhere, Error> {
        let authors = std::iter::once(person).chain(&rights.delegates);
        let authors = authors.map(|author| self.views.tag_actor(tenant, author.as_str()));
        let mut authors = authors.collect::<Result<Vec<_>, _>>()?;
        authors.sort_unstable();
        authors.dedup();
        let inside = self.scopes_under(tenant, scope)?;
        let mut homes = BTreeSet::new();
        self.each_elsewhere(tenant, person, &inside, &mut |row| {
            homes.insert(row.scope);
            Ok(())
        })?;
        let mut scopes = Vec::new();
        for home in homes {
            match self.scope_path(tenant, home) {
                Ok(path) if self.owns(tenant, person, &path, None)? => scopes.push(home),
                Ok(_) | Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ErasedElsewhere::Own { authors, scopes })
    }

    /// The scopes below one that somebody else has.
    fn left_alone(&self, caller: &Caller, scope: &ScopePath) -> Result<BTreeSet<u64>, Error> {
        let tenant = caller.tenant;
        let mut owners: Vec<ActorId> = scope.person().into_iter().collect();
        let role = self.part(tenant, &caller.actor, scope)?.membership.role;
        if role == Some(MemberRole::Owner) {
            owners.push(caller.actor.clone());
        } else if let Some(ordinal) = self.views.scope_ordinal(tenant, scope)? {
            owners.extend(self.owners_of(tenant, ordinal)?);
        }
        let mut left = BTreeSet::new();
        for ordinal in self.scopes_under(tenant, scope)? {
            match self.scope_path(tenant, ordinal) {
                Ok(path) if path == *scope => {}
                Ok(path) => {
                    let mut own = !self.is_somebodys(tenant, &path, scope)?;
                    for owner in &owners {
                        own = own || self.owns(tenant, owner, &path, Some(scope))?;
                    }
                    if !own {
                        left.insert(ordinal);
                    }
                }
                Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(left)
    }

    /// Whether a scope, or one between it and a scope above, belongs to anybody.
    fn is_somebodys(
        &self,
        tenant: u32,
        path: &ScopePath,
        above: &ScopePath,
    ) -> Result<bool, Error> {
        for at in path.self_and_ancestors().iter().take_while(|at| *at != above) {
            if at.person().is_some() || self.registered(tenant, at)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a scope is an actor's own: by its name, by a first write, or registered by that actor or for
    /// that actor alone. Below `above`, the ownership of that scope reaches as roles do.
    fn owns(
        &self,
        tenant: u32,
        actor: &ActorId,
        path: &ScopePath,
        above: Option<&ScopePath>,
    ) -> Result<bool, Error> {
        if self.part(tenant, actor, path)?.membership.role != Some(MemberRole::Owner) {
            return Ok(false);
        }
        let tag = self.views.tag_actor(tenant, actor.as_str())?;
        for at in path.self_and_ancestors() {
            if Some(&at) == above || at.person().as_ref() == Some(actor) {
                return Ok(true);
            }
            let Some((ordinal, row)) = self.registered(tenant, &at)? else { continue };
            if row.registration == Registration::Explicit {
                let owners = self.owners_of(tenant, ordinal)?;
                return Ok(
                    owners == [actor.clone()] || self.registrar(&row)? == Some(actor.clone())
                );
            }
            if self.views.member_role(tenant, &tag, ordinal)? == Some(MemberRole::Owner) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Who registered a scope, or changed its members last.
    fn registrar(&self, row: &StandingRow) -> Result<Option<ActorId>, Error> {
        let entry = self.reader.entry(row.offset, row.place)?;
        let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
        Ok(by.map(|by| by.caller))
    }

    /// Visits the events of which a person is the observed actor outside of some scopes.
    pub(super) fn each_elsewhere(
        &self,
        tenant: u32,
        person: &ActorId,
        inside: &BTreeSet<u64>,
        visit: &mut dyn FnMut(EventRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let tag = self.views.tag_actor(tenant, person.as_str())?;
        let mut after = None;
        loop {
            let some = self.views.scopes(tenant, after, SCOPES_AT_ONCE)?;
            let Some(last) = some.last() else { break };
            after = Some(*last);
            let outside = some.into_iter().filter(|scope| !inside.contains(scope)).collect();
            let scan = EventScan {
                axis: Axis::Observed,
                tags: vec![vec![tag]],
                ..EventScan::recorded(tenant, outside, Direction::Forward, EVENTS_AT_ONCE)
            };
            self.each_event(scan, visit)?;
        }
        // A cancelled event is in no list; its words are there all the same.
        let mut cancelled = Vec::new();
        self.views.each_cancelled(tenant, &mut |row| {
            let is_theirs = row.facets.as_ref().is_some_and(|facets| facets.tags.contains(&tag));
            if is_theirs && !inside.contains(&row.scope) {
                cancelled.push(row);
            }
        })?;
        cancelled.into_iter().try_for_each(visit)
    }

    pub(super) fn each_event(
        &self,
        mut scan: EventScan,
        visit: &mut dyn FnMut(EventRow) -> Result<(), Error>,
    ) -> Result<(), Error> {
        loop {
            let page = self.views.event_scan(&scan)?;
            page.rows.into_iter().try_for_each(&mut *visit)?;
            match page.next {
                Some(next) => scan.after = Some(next),
                None => return Ok(()),
            }
        }
    }

    /// What becomes of an event outside of which the person is the observed actor.
    pub(super) fn verdict(&self, reach: &Reach, row: &EventRow) -> Result<Verdict, Error> {
        let taken = match &reach.elsewhere {
            ErasedElsewhere::Nothing => false,
            ErasedElsewhere::Everything => true,
            ErasedElsewhere::Own { scopes, .. } if scopes.contains(&row.scope) => true,
            ErasedElsewhere::Own { authors, .. } => {
                let entry = self.reader.entry(row.offset, row.place)?;
                match self.decode_who(&entry) {
                    Ok(who) => {
                        let author = self.views.tag_actor(row.tenant, who.caller.as_str())?;
                        authors.contains(&author)
                    }
                    Err(Error::Deleted) => false,
                    Err(error) => return Err(error),
                }
            }
        };
        Ok(if taken { Verdict::Taken } else { Verdict::Mention })
    }

    /// Asks for the right to reach beyond the scope: in the scope itself, and in every scope outside in which
    /// events go, by the policy of that scope. The caller wrote these events, owns the scope or administers
    /// the tenant, so no role is asked for there.
    pub(super) fn permit_reach(
        &self,
        caller: &Caller,
        rights: &ErasureRights,
        book: &PolicyBook,
        scope: &ScopePath,
        plan: &Plan,
    ) -> Result<Option<lamina_core::policy::Tier>, Error> {
        if plan.reaches.is_empty() {
            return Ok(None);
        }
        let stack = self.stack(&rights.boot, book, caller, scope)?;
        let mut decided = stack
            .allows(caller, ForgetGdprCrossWorkspace::NAME, Some(scope))
            .map_err(Error::Denied)?;
        for home in &plan.homes_outside {
            let path = self.scope_path(caller.tenant, *home)?;
            let stack = self.stack(&rights.boot, book, caller, &path)?;
            let reached = stack.allows_reach(caller, &path).map_err(|mut denial| {
                // A scope that the caller may not read is not named.
                if stack.allows(caller, ScopeReadLocal::NAME, Some(&path)).is_err() {
                    denial.remediation = HIDDEN_DENIAL.to_owned();
                }
                Error::Denied(denial)
            })?;
            decided = decided.max(reached);
        }
        Ok(Some(decided))
    }
}

/// What a caller is told whose erasure a scope refuses that they may not read.
const HIDDEN_DENIAL: &str = "a scope that you may not read refuses erasures that come from elsewhere; name \
    the events to erase, or ask an administrator of the tenant";
