//! What registrations say about an actor: its part in a scope, its natural level.

use std::collections::HashMap;

use lamina_core::policy::{self, Membership};
use lamina_store::view::Registration;
use lamina_types::{ActorId, MemberRole, ScopePath};
use parking_lot::RwLock;

use crate::engine::Inner;
use crate::{Engine, Error};

/// Answers kept in memory.
const CACHED_MAX: usize = 65_536;
/// Scopes of one actor that are looked at for its natural level.
const MEMBERSHIPS_MAX: usize = 10_000;

/// Answers, for as long as no scope changes.
#[derive(Debug, Default)]
pub(crate) struct Cache(RwLock<Answers>);

#[derive(Debug, Default)]
struct Answers {
    version: u64,
    answers: HashMap<(u32, ActorId, ScopePath), Membership>,
}

impl Cache {
    fn get(&self, version: u64, key: &(u32, ActorId, ScopePath)) -> Option<Membership> {
        let cache = self.0.read();
        if cache.version == version { cache.answers.get(key).copied() } else { None }
    }

    /// Keeps an answer that was found while scopes had this version.
    fn put(&self, version: u64, key: (u32, ActorId, ScopePath), answer: Membership) {
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
        let found = self.inner.membership(tenant, actor, scope)?;
        if found.registered && found.role.is_some_and(MemberRole::writes) {
            return Ok(found);
        }
        // A write is answered before it is folded: whoever has just made the scope by writing to it
        // must not be told that it is not theirs.
        if self.inner.caught_up_by_now() {
            return Ok(found);
        }
        self.inner.caught_up().await;
        self.inner.membership(tenant, actor, scope)
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
    pub(super) fn membership(
        &self,
        tenant: u32,
        actor: &ActorId,
        scope: &ScopePath,
    ) -> Result<Membership, Error> {
        let version = self.admin.standing.scopes_version();
        let key = (tenant, actor.clone(), scope.clone());
        if let Some(known) = self.admin.memberships.get(version, &key) {
            return Ok(known);
        }
        let tag = self.views.tag_actor(tenant, actor.as_str())?;
        let mut found = Membership::OPEN;
        let mut decided = false;
        for (depth, path) in scope.self_and_ancestors().iter().enumerate() {
            let Some(ordinal) = self.views.scope_ordinal(tenant, path)? else { continue };
            let Some(row) = self.views.scope_standing(tenant, ordinal)? else { continue };
            let registered = row.registration != Registration::Removed;
            found.registered |= depth == 0 && registered;
            if !decided && registered && row.registration != Registration::Auto {
                decided = true;
                found.closed = row.is_closed();
            }
            found.role = found.role.max(self.views.member_role(tenant, &tag, ordinal)?);
        }
        // What is not there yet will often be there at the next call.
        if found.registered {
            self.admin.memberships.put(version, key, found);
        }
        Ok(found)
    }
}
