//! Whose instructions stand: decided when they are recalled, because configuration and members change and the log does
//! not know of either.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use lamina_core::read::prompt::RecordAuthor;
use lamina_store::view::Registration;
use lamina_types::recall::StandingChoice;
use lamina_types::{ActorId, MemberRole, ScopePath};

use super::plan::Frame;
use crate::Error;
use crate::engine::Inner;

/// Who may write instructions for others, as the configuration says it.
#[derive(Clone)]
pub struct StandingOffices {
    /// `None`: every caller counts as owner and delegate.
    delegates: Option<Arc<IsDelegate>>,
}

/// Whether an actor is a delegate.
type IsDelegate = dyn Fn(&ActorId) -> bool + Send + Sync;

impl StandingOffices {
    /// Every caller counts as owner and delegate.
    pub fn everybody() -> StandingOffices {
        StandingOffices { delegates: None }
    }

    /// Those whom the configuration names are delegates.
    pub fn of_delegates(is_delegate: Arc<IsDelegate>) -> StandingOffices {
        StandingOffices { delegates: Some(is_delegate) }
    }
}

impl fmt::Debug for StandingOffices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let everybody = self.delegates.is_none();
        f.debug_struct("StandingOffices").field("everybody", &everybody).finish_non_exhaustive()
    }
}

/// The right by which an instruction stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authority {
    /// Its actor owns the scope.
    Owner,
    /// Its actor is the one who recalls.
    Own,
}

/// Tells whose instructions stand in the scopes of a question.
pub(super) struct AuthorityReader<'a> {
    inner: &'a Inner,
    frame: &'a Frame<'a>,
    offices: &'a StandingOffices,
    roles: HashMap<(ActorId, ScopePath), Option<MemberRole>>,
    explicit: HashMap<ScopePath, bool>,
}

impl<'a> AuthorityReader<'a> {
    pub(super) fn new(
        inner: &'a Inner,
        frame: &'a Frame<'a>,
        offices: &'a StandingOffices,
    ) -> AuthorityReader<'a> {
        let (roles, explicit) = (HashMap::new(), HashMap::new());
        AuthorityReader { inner, frame, offices, roles, explicit }
    }

    /// Whether everybody counts as owner.
    pub(super) fn is_everybodys(&self) -> bool {
        self.offices.delegates.is_none()
    }

    /// The right by which an instruction of this author stands in a scope; `None` if it does not. From a scope above
    /// only its owners are heard, and only if somebody registered it or it bears the actor's own name.
    pub(super) fn standing_authority(
        &mut self,
        scope: &ScopePath,
        author: &RecordAuthor,
    ) -> Result<Option<Authority>, Error> {
        let is_own = author.actor == self.frame.reach.caller().actor;
        if self.frame.question.standing == StandingChoice::Own && !is_own {
            return Ok(None);
        }
        if self.is_everybodys() {
            return Ok(Some(Authority::Owner));
        }
        let owns = self.role(&author.actor, scope)? == Some(MemberRole::Owner);
        let is_above = *scope != self.frame.question.scope;
        let is_heard = match is_above {
            false => owns || is_own,
            true => {
                owns && (self.is_explicit(scope)? || scope.person() == Some(author.actor.clone()))
            }
        };
        if !is_heard || !self.speaks_for(scope, author)? {
            return Ok(None);
        }
        Ok(Some(if owns { Authority::Owner } else { Authority::Own }))
    }

    /// Whether a caller may give instructions in the name of an actor: it is that actor, a delegate, or a writer whom an
    /// owner has added to the scope.
    fn speaks_for(&mut self, scope: &ScopePath, author: &RecordAuthor) -> Result<bool, Error> {
        let RecordAuthor { actor, caller } = author;
        if actor == caller || self.offices.delegates.as_ref().is_some_and(|is| is(caller)) {
            return Ok(true);
        }
        Ok(self.is_explicit(scope)? && self.role(caller, scope)?.is_some_and(MemberRole::writes))
    }

    fn role(&mut self, actor: &ActorId, scope: &ScopePath) -> Result<Option<MemberRole>, Error> {
        let key = (actor.clone(), scope.clone());
        if let Some(known) = self.roles.get(&key) {
            return Ok(*known);
        }
        let role = self.inner.part(self.frame.tenant, actor, scope)?.membership.role;
        self.roles.insert(key, role);
        Ok(role)
    }

    /// Whether somebody registered a scope, and not only wrote to it.
    fn is_explicit(&mut self, scope: &ScopePath) -> Result<bool, Error> {
        if let Some(known) = self.explicit.get(scope) {
            return Ok(*known);
        }
        let views = &self.inner.views;
        let row = match views.scope_ordinal(self.frame.tenant, scope)? {
            Some(ordinal) => views.scope_standing(self.frame.tenant, ordinal)?,
            None => None,
        };
        let is_explicit = row.is_some_and(|row| row.registration == Registration::Explicit);
        self.explicit.insert(scope.clone(), is_explicit);
        Ok(is_explicit)
    }
}
