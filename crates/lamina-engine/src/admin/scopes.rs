//! Scopes: registering, showing, listing, changing members, removing, pruning (R301-R307).

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_store::codec::control::{Scope, ScopeSet};
use lamina_store::entry::{Entry, control};
use lamina_store::view::{Registration, StandingRow};
use lamina_types::capability::{
    Capability, ForgetGdpr, PolicyAdministerScope, PolicyAdministerTenant, ScopeReadLocal,
    ScopeWrite,
};
use lamina_types::limits::{MEMBERS_MAX, PAGE_MAX, POLICY_BYTES_MAX};
use lamina_types::{ActorId, MemberRole, Micros, ScopePath};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::memberships::members;
use super::shared::meant;
use super::{Noted, Sight, by};
use crate::engine::Inner;
use crate::write::capture::{Request, ScopeChange, ScopeRequest};
use crate::{Engine, Error};

/// Events of one scope that are counted before we stop.
const EVENTS_COUNTED_MAX: u64 = 1_000_000;
/// Scopes that one page looks at before it ends early with a position to go on from.
const SCOPES_LOOKED_AT_MAX: usize = 10_000;
/// Scopes read from the views at a time.
const SCOPES_READ: usize = 256;
/// Scopes that a prune removes at a time.
const REMOVED_AT_ONCE: usize = 256;
/// Candidates that a prune names; it counts all of them.
const CANDIDATES_NAMED_MAX: usize = PAGE_MAX;

/// A scope as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRecord {
    /// Its path.
    pub path: ScopePath,
    /// It was registered by the first write into it, and nobody has claimed it since.
    pub auto_provisioned: bool,
    /// Who belongs to it.
    pub members: Vec<(ActorId, MemberRole)>,
    /// What it asks of derivation; may be empty.
    pub policies: String,
    /// When it was first registered.
    pub registered_at: Micros,
    /// When its members were last changed.
    pub changed_at: Micros,
    /// When the last event was written into it.
    pub last_write: Option<Micros>,
    /// Events in it, counted up to a million.
    pub events: u64,
}

/// What became of the members of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MembersChanged {
    /// The scope after.
    pub scope: ScopeRecord,
    /// Who belongs to it now and did not before.
    pub added: Vec<ActorId>,
    /// Who did and does not.
    pub removed: Vec<ActorId>,
    /// Whose role is another.
    pub changed: Vec<ActorId>,
}

/// What becomes of the records of a scope that is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// They stay and can be read.
    Keep,
    /// They are forgotten.
    Forget,
}

/// A question for scopes.
#[derive(Debug, Clone)]
pub struct ScopesQuery {
    /// At and below this path.
    pub prefix: Option<ScopePath>,
    /// Only those that are, or are not, auto-provisioned.
    pub auto_provisioned: Option<bool>,
    /// After this position of an earlier page.
    pub after: Option<u64>,
    /// So many.
    pub limit: usize,
}

/// One scope of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeListed {
    /// Its path.
    pub path: ScopePath,
    /// As in [`ScopeRecord`].
    pub auto_provisioned: bool,
    /// How many belong to it.
    pub members: u64,
    /// When it was first registered.
    pub registered_at: Micros,
    /// When the last event was written into it.
    pub last_write: Option<Micros>,
}

/// One page of scopes, in the order they were registered.
#[derive(Debug, Clone, Default)]
pub struct ScopePage {
    /// The scopes.
    pub items: Vec<ScopeListed>,
    /// There may be more.
    pub has_more: bool,
    /// Where to go on.
    pub next: Option<u64>,
}

/// A scope that nobody needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneCandidate {
    /// Its path.
    pub path: ScopePath,
    /// When the last event was written into it.
    pub last_write: Option<Micros>,
    /// Events in it, counted up to a million.
    pub events: u64,
    /// Versions of facts in it, counted up to 100,000.
    pub facts: u64,
}

/// What a prune found.
#[derive(Debug, Clone, Default)]
pub struct Pruned {
    /// The first thousand.
    pub candidates: Vec<PruneCandidate>,
    /// How many there are.
    pub total: u64,
}

impl Engine {
    /// Registers a scope by request. The person whose name it bears owns it; of any
    /// other scope the caller is the owner if the list names none. A scope that a
    /// write had registered becomes an explicit one.
    pub async fn scope_register(
        &self,
        permit: &Permit<PolicyAdministerScope>,
        path: &ScopePath,
        mut members: Vec<(ActorId, MemberRole)>,
        policies: String,
        noted: &Noted,
    ) -> Result<ScopeRecord, Error> {
        let caller = &permit.caller().actor;
        members = self.meant(permit, members)?;
        if let Some(person) = path.person() {
            members.retain(|(member, _)| *member != person);
            members.insert(0, (person, MemberRole::Owner));
        } else if !members.iter().any(|(_, role)| *role == MemberRole::Owner) {
            members.retain(|(member, _)| member != caller);
            members.push((caller.clone(), MemberRole::Owner));
        }
        let turn = self.inner.admin.administering.lock().await;
        self.inner.caught_up().await;
        if let Some((_, _, row)) = self.inner.scope_standing(permit.caller().tenant, path)?
            && row.registration == Registration::Explicit
        {
            return Err(Error::ScopeExists);
        }
        self.scope_change(permit, path, ScopeChange::Set { members, policies }, noted).await?;
        drop(turn);
        self.scope_get(permit, path).await
    }

    /// Sets the members of a registered scope, all of them at once. A list without an owner keeps the
    /// caller, if it is one, or else those that there are: a scope is never locked to everybody.
    pub async fn scope_members_set(
        &self,
        permit: &Permit<PolicyAdministerScope>,
        path: &ScopePath,
        members: Vec<(ActorId, MemberRole)>,
        noted: &Noted,
    ) -> Result<MembersChanged, Error> {
        let mut members = self.meant(permit, members)?;
        let turn = self.inner.admin.administering.lock().await;
        let before = self.scope_get(permit, path).await?;
        keep_owner(&mut members, &before, &permit.caller().actor);
        let policies = before.policies.clone();
        self.scope_change(permit, path, ScopeChange::Set { members, policies }, noted).await?;
        drop(turn);
        let scope = self.scope_get(permit, path).await?;
        Ok(difference(&before.members, scope))
    }

    /// A registered scope. Any permit that reaches it will do.
    pub async fn scope_get<C: Capability>(
        &self,
        permit: &Permit<C>,
        path: &ScopePath,
    ) -> Result<ScopeRecord, Error> {
        if !permit.covers(path) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let (tenant, path) = (permit.caller().tenant, path.clone());
        self.blocking(move |inner| inner.scope_record(tenant, &path)).await
    }

    /// What the registered scopes above one say about what is below them, nearest first. For whoever
    /// is about to write the first event into it.
    pub async fn scope_policies_above(
        &self,
        permit: &Permit<ScopeWrite>,
        path: &ScopePath,
    ) -> Result<Vec<String>, Error> {
        if !permit.covers(path) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let tenant = permit.caller().tenant;
        let mut found = Vec::new();
        for above in path.self_and_ancestors().iter().skip(1) {
            if let Some((_, _, row)) = self.inner.scope_standing(tenant, above)? {
                let (_, policies) = words(&self.inner.reader.entry(row.offset, row.place)?)?;
                found.push(policies);
            }
        }
        Ok(found)
    }

    /// Removes a scope: nobody belongs to it, and its next write registers it anew. Its records are forgotten before,
    /// if that is asked for and `forgets` allows it (R305).
    pub async fn scope_remove(
        &self,
        permit: &Permit<PolicyAdministerScope>,
        path: &ScopePath,
        (records, forgets): (Option<Records>, Option<&Permit<ForgetGdpr>>),
        noted: &Noted,
    ) -> Result<(), Error> {
        let _turn = self.inner.admin.administering.lock().await;
        let scope = self.scope_get(permit, path).await?;
        let records = match records {
            None if scope.events > 0 => {
                return Err(Error::ScopeHasRecords { events: scope.events });
            }
            None => Records::Keep,
            Some(records) => records,
        };
        match (records, forgets) {
            (Records::Forget, Some(forgets)) => self.forget_scope(forgets, path, noted).await?,
            (Records::Forget, None) if scope.events > 0 => {
                return Err(Error::ScopeHasRecords { events: scope.events });
            }
            (Records::Forget, None) | (Records::Keep, _) => {}
        }
        self.scope_change(permit, path, ScopeChange::Remove, noted).await
    }

    /// One page of registered scopes, as far as they are in sight. The permit has to reach the
    /// prefix; without a prefix, the whole tenant.
    pub async fn scope_list(
        &self,
        permit: &Permit<ScopeReadLocal>,
        mut sight: Sight<ScopeReadLocal>,
        query: ScopesQuery,
    ) -> Result<ScopePage, Error> {
        let covered = match &query.prefix {
            Some(prefix) => permit.covers(prefix),
            None => permit.scope().is_none(),
        };
        if !covered || sight.caller() != permit.caller() {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.scope_page(&mut sight, &query)).await
    }

    /// Removes auto-provisioned scopes in sight that nobody has written to since `before`; their
    /// records stay. With `dry_run` it only says which.
    pub async fn scope_prune(
        &self,
        permit: &Permit<PolicyAdministerTenant>,
        mut sight: Sight<PolicyAdministerScope>,
        before: Micros,
        dry_run: bool,
        noted: &Noted,
    ) -> Result<Pruned, Error> {
        let _turn = self.inner.admin.administering.lock().await;
        self.inner.caught_up().await;
        if sight.caller() != permit.caller() {
            return Err(Error::OutsidePermit);
        }
        let found = self.blocking(move |inner| inner.prune_candidates(&mut sight, before)).await?;
        let (pruned, paths) = found;
        if !dry_run {
            // Many at a time, so that one sync serves many of them.
            for paths in paths.chunks(REMOVED_AT_ONCE) {
                let mut removals = JoinSet::new();
                for path in paths {
                    let request = self.scope_request(permit, path, ScopeChange::Remove, noted)?;
                    let inner = Arc::clone(&self.inner);
                    removals.spawn(async move { inner.change_scope(request).await });
                }
                while let Some(removed) = removals.join_next().await {
                    match removed.map_err(|_| Error::ShuttingDown)? {
                        Ok(()) | Err(Error::NotFound) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(pruned)
    }

    /// Whom the caller means by the names of members.
    fn meant<C: Capability>(
        &self,
        permit: &Permit<C>,
        members: Vec<(ActorId, MemberRole)>,
    ) -> Result<Vec<(ActorId, MemberRole)>, Error> {
        let members = members.iter();
        members.map(|(member, role)| Ok((meant(permit.caller(), member)?, *role))).collect()
    }

    async fn scope_change<C: Capability>(
        &self,
        permit: &Permit<C>,
        path: &ScopePath,
        change: ScopeChange,
        noted: &Noted,
    ) -> Result<(), Error> {
        let request = self.scope_request(permit, path, change, noted)?;
        self.inner.change_scope(request).await
    }

    fn scope_request<C: Capability>(
        &self,
        permit: &Permit<C>,
        path: &ScopePath,
        change: ScopeChange,
        noted: &Noted,
    ) -> Result<ScopeRequest, Error> {
        if !permit.covers(path) {
            return Err(Error::OutsidePermit);
        }
        if let ScopeChange::Set { members, policies } = &change {
            if members.len() > MEMBERS_MAX {
                return Err(Error::TooLarge { limit: "MEMBERS_MAX" });
            }
            if policies.len() > POLICY_BYTES_MAX {
                return Err(Error::TooLarge { limit: "POLICY_BYTES_MAX" });
            }
        }
        Ok(ScopeRequest {
            tenant: permit.caller().tenant,
            path: path.clone(),
            owner: permit.caller().actor.clone(),
            change,
            who: by(&self.inner.env, permit, noted),
        })
    }

    /// Reads that may take a while have a thread of their own meanwhile.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Inner) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let inner = Arc::clone(&self.inner);
        self.inner.read_in_turn(move || read(&inner)).await.unwrap_or(Err(Error::ShuttingDown))
    }
}

/// Keeps an owner in a list of members that names none.
fn keep_owner(members: &mut Vec<(ActorId, MemberRole)>, before: &ScopeRecord, caller: &ActorId) {
    let is_owner = |(_, role): &&(ActorId, MemberRole)| *role == MemberRole::Owner;
    if members.iter().any(|member| is_owner(&member)) {
        return;
    }
    let owners: Vec<ActorId> =
        before.members.iter().filter(is_owner).map(|(actor, _)| actor.clone()).collect();
    let kept = match owners.contains(caller) || owners.is_empty() {
        true => vec![caller.clone()],
        false => owners,
    };
    members.retain(|(member, _)| !kept.contains(member));
    members.extend(kept.into_iter().map(|owner| (owner, MemberRole::Owner)));
}

impl Inner {
    pub(super) async fn change_scope(&self, request: ScopeRequest) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Request::Scope { request: Box::new(request), reply }, answer).await
    }

    /// The ordinal and the standing of a scope that is registered, and when it first was.
    fn scope_standing(
        &self,
        tenant: u32,
        path: &ScopePath,
    ) -> Result<Option<(u64, Micros, StandingRow)>, Error> {
        let Some(ordinal) = self.views.scope_ordinal(tenant, path)? else { return Ok(None) };
        let row = self.views.scope_row(tenant, ordinal)?;
        let standing = self.views.scope_standing(tenant, ordinal)?;
        let standing = standing.filter(|row| row.registration != Registration::Removed);
        Ok(row.zip(standing).map(|(row, standing)| (ordinal, row.recorded_at.0, standing)))
    }

    /// Those who own a scope; nobody if it is not registered any more.
    pub(crate) fn owners_of(&self, tenant: u32, ordinal: u64) -> Result<Vec<ActorId>, Error> {
        match self.views.scope_standing(tenant, ordinal)? {
            Some(row) if row.registration != Registration::Removed => {
                let entry = self.reader.entry(row.offset, row.place)?;
                let path = match self.scope_path(tenant, ordinal) {
                    Ok(path) => path,
                    Err(Error::Deleted) => return Ok(Vec::new()),
                    Err(error) => return Err(error),
                };
                let (members, _) = members(&path, &entry)?;
                let owners = members.into_iter().filter(|(_, role)| *role == MemberRole::Owner);
                Ok(owners.map(|(actor, _)| actor).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// What a scope asks of derivation; empty if it asks nothing.
    pub(crate) fn scope_policies_of(&self, tenant: u32, ordinal: u64) -> Result<String, Error> {
        match self.views.scope_standing(tenant, ordinal)? {
            Some(row) if row.registration != Registration::Removed => {
                Ok(words(&self.reader.entry(row.offset, row.place)?)?.1)
            }
            _ => Ok(String::new()),
        }
    }

    fn scope_record(&self, tenant: u32, path: &ScopePath) -> Result<ScopeRecord, Error> {
        let found = self.scope_standing(tenant, path)?.ok_or(Error::NotFound)?;
        let (ordinal, registered_at, row) = found;
        let (members, policies) = members(path, &self.reader.entry(row.offset, row.place)?)?;
        Ok(ScopeRecord {
            path: path.clone(),
            auto_provisioned: row.registration == Registration::Auto,
            members,
            policies,
            registered_at,
            changed_at: row.recorded_at.0,
            last_write: self.views.scope_written(tenant, ordinal)?.map(|at| at.0),
            events: self.views.scope_events(tenant, ordinal, EVENTS_COUNTED_MAX)?,
        })
    }

    fn scope_page(
        &self,
        sight: &mut Sight<ScopeReadLocal>,
        query: &ScopesQuery,
    ) -> Result<ScopePage, Error> {
        let tenant = sight.caller().tenant;
        let mut page = ScopePage { next: query.after, ..ScopePage::default() };
        let mut looked_at = 0;
        loop {
            let ordinals = match &query.prefix {
                Some(path) => self.views.scopes_below(tenant, path, page.next, SCOPES_READ)?,
                None => self.views.scopes(tenant, page.next, SCOPES_READ)?,
            };
            if ordinals.is_empty() {
                return Ok(page);
            }
            for ordinal in ordinals {
                if looked_at == SCOPES_LOOKED_AT_MAX {
                    page.has_more = true;
                    return Ok(page);
                }
                looked_at += 1;
                let listed = self.scope_listed(tenant, ordinal)?;
                let asked = listed.filter(|listed| {
                    query.auto_provisioned.is_none_or(|auto| auto == listed.auto_provisioned)
                });
                let shown = if sight.sees(ordinal)? { asked } else { None };
                // There is more only if there is more to show: otherwise a page that follows and is
                // empty would tell of scopes that are out of sight.
                if shown.is_some() && page.items.len() >= query.limit {
                    page.has_more = true;
                    return Ok(page);
                }
                page.next = Some(ordinal);
                page.items.extend(shown);
            }
        }
    }

    /// A scope of a list; `None` if it is removed or erased.
    fn scope_listed(&self, tenant: u32, ordinal: u64) -> Result<Option<ScopeListed>, Error> {
        let Some(standing) = self.views.scope_standing(tenant, ordinal)? else { return Ok(None) };
        let Some(row) = self.views.scope_row(tenant, ordinal)? else { return Ok(None) };
        if standing.registration == Registration::Removed || row.paths.is_empty() {
            return Ok(None);
        }
        let path = match self.scope_path(tenant, ordinal) {
            Ok(path) => path,
            Err(Error::Deleted) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(ScopeListed {
            path,
            auto_provisioned: standing.registration == Registration::Auto,
            members: standing.members,
            registered_at: row.recorded_at.0,
            last_write: self.views.scope_written(tenant, ordinal)?.map(|at| at.0),
        }))
    }

    fn prune_candidates(
        &self,
        sight: &mut Sight<PolicyAdministerScope>,
        before: Micros,
    ) -> Result<(Pruned, Vec<ScopePath>), Error> {
        let tenant = sight.caller().tenant;
        let (mut pruned, mut paths) = (Pruned::default(), Vec::new());
        let mut after = None;
        loop {
            let ordinals = self.views.scopes(tenant, after, SCOPES_READ)?;
            let Some(last) = ordinals.last() else { return Ok((pruned, paths)) };
            after = Some(*last);
            for ordinal in ordinals {
                let Some(listed) = self.scope_listed(tenant, ordinal)? else { continue };
                let used = listed.last_write.unwrap_or(listed.registered_at);
                if !listed.auto_provisioned || used >= before || !sight.sees(ordinal)? {
                    continue;
                }
                pruned.total += 1;
                if pruned.candidates.len() < CANDIDATES_NAMED_MAX {
                    let events = self.views.scope_events(tenant, ordinal, EVENTS_COUNTED_MAX)?;
                    pruned.candidates.push(PruneCandidate {
                        path: listed.path.clone(),
                        last_write: listed.last_write,
                        events,
                        facts: self.facts_counted(tenant, ordinal)?,
                    });
                }
                paths.push(listed.path);
            }
        }
    }
}

/// What the last entry of a scope says: its members, and what it asks of derivation.
pub(super) fn words(entry: &Entry) -> Result<(Vec<(ActorId, MemberRole)>, String), Error> {
    // Closed to everybody, and nobody is left to be named.
    let Some(bytes) = entry.what.live() else { return Ok((Vec::new(), String::new())) };
    let undecodable = |_| Error::Undecodable { what: "a scope" };
    if entry.head.sub == control::SCOPE {
        let scope = Scope::decode(bytes).map_err(undecodable)?;
        return Ok((vec![(scope.owner, MemberRole::Owner)], String::new()));
    }
    let set = ScopeSet::decode(bytes).map_err(undecodable)?;
    Ok((set.members, set.policies))
}

fn difference(before: &[(ActorId, MemberRole)], scope: ScopeRecord) -> MembersChanged {
    let role = |list: &[(ActorId, MemberRole)], who: &ActorId| {
        list.iter().find(|(member, _)| member == who).map(|(_, role)| *role)
    };
    let mut changed = MembersChanged {
        added: Vec::new(),
        removed: Vec::new(),
        changed: Vec::new(),
        scope: scope.clone(),
    };
    for (member, now) in &scope.members {
        match role(before, member) {
            None => changed.added.push(member.clone()),
            Some(was) if was != *now => changed.changed.push(member.clone()),
            Some(_) => {}
        }
    }
    for (member, _) in before {
        if role(&scope.members, member).is_none() {
            changed.removed.push(member.clone());
        }
    }
    changed
}

#[cfg(test)]
mod tests;
