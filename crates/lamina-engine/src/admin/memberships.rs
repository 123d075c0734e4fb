//! What registrations say about an actor: its part in a scope, its natural level.

use std::collections::HashMap;
use std::sync::Arc;

use lamina_core::policy::{self, Membership};
use lamina_store::entry::{Entry, control};
use lamina_store::view::{Registration, StandingRow, Tag};
use lamina_types::{ActorId, MemberRole, ScopePath};
use parking_lot::RwLock;

use super::scopes::words;
use crate::engine::Inner;
use crate::{Engine, Error};

/// Answers kept in memory.
const CACHED_MAX: usize = 65_536;
/// Scopes of one actor that are looked at for its natural level.
const MEMBERSHIPS_MAX: usize = 10_000;

/// An actor's part in a scope.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// What registrations say of the actor.
    pub(crate) membership: Membership,
    /// Scopes whose rules hold there too, beside those above it.
    pub(crate) inherited: Arc<[ScopePath]>,
}

/// Answers, for as long as no scope changes.
#[derive(Debug, Default)]
pub(crate) struct Cache(RwLock<Answers>);

#[derive(Debug, Default)]
struct Answers {
    version: u64,
    answers: HashMap<(u32, ActorId, ScopePath), Part>,
}

impl Cache {
    fn get(&self, version: u64, key: &(u32, ActorId, ScopePath)) -> Option<Part> {
        let cache = self.0.read();
        if cache.version == version { cache.answers.get(key).cloned() } else { None }
    }

    /// Keeps an answer that was found while scopes had this version.
    fn put(&self, version: u64, key: (u32, ActorId, ScopePath), answer: Part) {
        let mut cache = self.0.write();
        if cache.version > version {
            return;
        }
        if cache.version < version || cache.answers.len() >= CACHED_MAX {
            cache.answers.clear();
        }
        cache.version = version;
        cache.answers.insert(key, answer);
    }
}

impl Engine {
    /// An actor's part in a scope, by the registrations of the scope and those above it.
    pub async fn membership(
        &self,
        tenant: u32,
        actor: &ActorId,
        scope: &ScopePath,
    ) -> Result<Membership, Error> {
        Ok(self.part(tenant, actor, scope).await?.membership)
    }

    /// The same, and whose rules hold there too.
    pub(crate) async fn part(
        &self,
        tenant: u32,
        actor: &ActorId,
        scope: &ScopePath,
    ) -> Result<Part, Error> {
        let found = self.inner.part(tenant, actor, scope)?;
        let Membership { registered, role, .. } = found.membership;
        if registered && role.is_some_and(MemberRole::writes) {
            return Ok(found);
        }
        // A write is answered before it is folded: whoever has just made the scope by writing to it
        // must not be told that it is not theirs.
        if self.inner.caught_up_by_now() {
            return Ok(found);
        }
        self.inner.caught_up().await;
        self.inner.part(tenant, actor, scope)
    }

    /// The deepest scope where an actor is owner or writer (R425).
    pub async fn natural_level(
        &self,
        tenant: u32,
        actor: &ActorId,
    ) -> Result<Option<ScopePath>, Error> {
        self.inner.caught_up().await;
        let inner = &self.inner;
        let tag = inner.views.tag_actor(tenant, actor.as_str())?;
        let mut deepest = (0, Vec::new());
        for (ordinal, role) in inner.views.memberships(tenant, &tag, MEMBERSHIPS_MAX)? {
            let Some(row) = inner.views.scope_row(tenant, ordinal)? else { continue };
            let depth = row.paths.len();
            if role.writes() && depth > deepest.0 {
                deepest = (depth, vec![(ordinal, role)]);
            } else if role.writes() && depth == deepest.0 && depth > 0 {
                deepest.1.push((ordinal, role));
            }
        }
        let mut roles = Vec::with_capacity(deepest.1.len());
        for (ordinal, role) in deepest.1 {
            match inner.scope_path(tenant, ordinal) {
                // A first write to the scope of somebody else gives nothing there.
                Ok(path) if path.person().is_some_and(|person| person != *actor) => {
                    let part = self.inner.part(tenant, actor, &path)?;
                    roles.extend(part.membership.role.map(|role| (path, role)));
                }
                Ok(path) => roles.push((path, role)),
                Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        let roles = roles.iter().map(|(path, role)| (path, *role));
        Ok(policy::natural_level(roles, None).cloned())
    }
}

impl Inner {
    /// By the views as they are.
    pub(crate) fn part(
        &self,
        tenant: u32,
        actor: &ActorId,
        scope: &ScopePath,
    ) -> Result<Part, Error> {
        let version = self.admin.standing.scopes_version();
        let key = (tenant, actor.clone(), scope.clone());
        if let Some(known) = self.admin.memberships.get(version, &key) {
            return Ok(known);
        }
        let tag = self.views.tag_actor(tenant, actor.as_str())?;
        let mut found = Membership { personal: scope.is_personal(), ..Membership::OPEN };
        let (mut inherited, mut granting) = (Vec::new(), Vec::new());
        let (mut nearer, mut barrier) = (Nearer::Nothing, Barrier::None);
        // A scope of one's name that is not there yet is one's own unless it lies in what others have.
        let mut named_anew = false;
        for (depth, path) in scope.self_and_ancestors().iter().enumerate() {
            let person = path.person();
            let named = person.as_ref() == Some(actor);
            let row = self.registered(tenant, path)?;
            let reaches = barrier.lets_through(path) && nearer != Nearer::Registered;
            barrier = barrier.with(path);
            named_anew &= named || person.is_none();
            if named && reaches {
                named_anew |= row.is_none();
                found.role = found.role.max(row.is_some().then_some(MemberRole::Owner));
            }
            let Some((ordinal, row)) = row else { continue };
            found.registered |= depth == 0;
            let said = self.said(&row)?;
            inherited.extend(said.inherit_from.iter().cloned());
            let role = self.views.member_role(tenant, &tag, ordinal)?;
            named_anew &= named || row.registration == Registration::Auto || role.is_some();
            if reaches {
                granting.extend(said.inherit_from.iter().cloned());
                let role = match row.registration {
                    Registration::Auto => first_writer_role(path, scope, role),
                    _ => role,
                };
                found.role = found.role.max(reaching(role, row.registration, nearer));
            }
            nearer = nearer.max(Nearer::Written);
            if row.registration != Registration::Auto && nearer != Nearer::Registered {
                nearer = Nearer::Registered;
                found.closed = row.is_closed();
            }
        }
        if named_anew {
            found.role = Some(MemberRole::Owner);
        }
        inherited.sort_unstable();
        inherited.dedup();
        for path in &granting {
            found.role = found.role.max(self.inherited_role(tenant, &tag, path)?);
        }
        let part = Part { membership: found, inherited: inherited.into() };
        // What is not there yet will often be there at the next call.
        if found.registered {
            self.admin.memberships.put(version, key, part.clone());
        }
        Ok(part)
    }

    /// The role in a scope that another inherits from. Only what somebody registered has members to hand
    /// on: an owner by a first write could otherwise let themselves in.
    fn inherited_role(
        &self,
        tenant: u32,
        tag: &Tag,
        path: &ScopePath,
    ) -> Result<Option<MemberRole>, Error> {
        let mut role = None;
        for path in path.self_and_ancestors() {
            if let Some((ordinal, row)) = self.registered(tenant, &path)?
                && row.registration == Registration::Explicit
            {
                role = role.max(self.views.member_role(tenant, tag, ordinal)?);
            }
        }
        Ok(role)
    }

    fn registered(
        &self,
        tenant: u32,
        path: &ScopePath,
    ) -> Result<Option<(u64, StandingRow)>, Error> {
        let Some(ordinal) = self.views.scope_ordinal(tenant, path)? else { return Ok(None) };
        let row = self.views.scope_standing(tenant, ordinal)?;
        let row = row.filter(|row| row.registration != Registration::Removed);
        Ok(row.map(|row| (ordinal, row)))
    }
}

/// What lies between a scope and one above it, the scope itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearer {
    /// Nothing that is anybody's.
    Nothing,
    /// What somebody has by a first write.
    Written,
    /// What somebody registered.
    Registered,
}

/// The persons between a scope and one above it, the scope itself included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Barrier {
    /// Nobody.
    None,
    /// Agents and services, whose scopes below a user's are that user's too.
    Agents,
    /// A user.
    User,
}

impl Barrier {
    /// Whether a role at a scope above reaches past these persons.
    fn lets_through(self, above: &ScopePath) -> bool {
        match self {
            Barrier::None => true,
            Barrier::Agents => above.person().is_some() && above.leaf_type() == "user",
            Barrier::User => false,
        }
    }

    /// The same with one scope more.
    fn with(self, path: &ScopePath) -> Barrier {
        match path.person() {
            None => self,
            Some(person) if person.kind() == "user" => Barrier::User,
            Some(_) => self.max(Barrier::Agents),
        }
    }
}

/// The role in `scope` that a first write to `path`, at or above it, gives. A scope of a person belongs to
/// that person, however it began; an organization, a department or a team to those whom an administrator
/// names.
fn first_writer_role(
    path: &ScopePath,
    scope: &ScopePath,
    role: Option<MemberRole>,
) -> Option<MemberRole> {
    if path.person().is_some() {
        None
    } else if path.is_group() || scope.is_group() {
        role.min(Some(MemberRole::Writer))
    } else {
        role
    }
}

/// The worth of a role above a scope in that scope. The first writer of a place above has that place and
/// everything below it that nobody has.
fn reaching(role: Option<MemberRole>, how: Registration, nearer: Nearer) -> Option<MemberRole> {
    match (how, nearer) {
        (Registration::Auto, Nearer::Written) => role.min(Some(MemberRole::Writer)),
        _ => role,
    }
}

/// The members of a scope by its last entry and its name: the person whose name it bears owns it, however
/// it began, and the first writer of an organization, a department or a team writes there.
pub(super) fn members(
    path: &ScopePath,
    entry: &Entry,
) -> Result<(Vec<(ActorId, MemberRole)>, String), Error> {
    let (mut members, policies) = words(entry)?;
    let by_first_write = entry.head.sub == control::SCOPE;
    if let Some(person) = path.person() {
        if by_first_write {
            members.clear();
        }
        members.retain(|(member, _)| *member != person);
        members.insert(0, (person, MemberRole::Owner));
    } else if by_first_write && path.is_group() {
        members.iter_mut().for_each(|(_, role)| *role = MemberRole::Writer);
    }
    Ok((members, policies))
}
