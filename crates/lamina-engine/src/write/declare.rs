//! Declaring a belief: what somebody holds to be so, and how sure they are of it.

use lamina_core::policy::Permit;
use lamina_store::codec::control::{BeliefDeclared, NamedSupport};
use lamina_types::capability::ScopeWrite;
use lamina_types::layer::Confidence;
use lamina_types::{BeliefId, EventId, FactId, ScopePath, ValidAt};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::read::conflicts::FOREVER;
use crate::write::capture::{DeclareRequest, Request};
use crate::write::prepare::section;
use crate::{Engine, Error};

/// The most confidence that a declaration without support has, in ten-thousandths.
const UNSUPPORTED_MAX: u16 = 7_000;

/// A belief to be declared.
#[derive(Debug, Clone, PartialEq)]
pub struct BeliefToDeclare {
    /// Where.
    pub scope: ScopePath,
    /// What is believed.
    pub statement: String,
    /// Whom or what it is about: an id of an entity, an actor, or a name.
    pub subject: Option<String>,
    /// The relation.
    pub predicate: String,
    /// How sure its author is. Without support, no more than 0.7 of it counts.
    pub confidence: Confidence,
    /// What its author names in support, all of it readable by them.
    pub supports: Vec<BeliefSupportId>,
    /// From when it holds; none: from now on.
    pub valid_from: Option<ValidAt>,
}

/// A record that supports a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeliefSupportId {
    /// An event.
    Event(EventId),
    /// A fact.
    Fact(FactId),
}

/// How sure a declaration without support may be, for its claim and against it: nobody can look into its grounds.
fn without_support(given: Confidence) -> Confidence {
    given.clamp(Confidence::new(10_000 - UNSUPPORTED_MAX), Confidence::new(UNSUPPORTED_MAX))
}

impl Engine {
    /// Declares a belief. It closes what was declared under the same subject and predicate before.
    pub async fn declare_belief(
        &self,
        permit: &Permit<ScopeWrite>,
        belief: BeliefToDeclare,
        noted: &Noted,
    ) -> Result<BeliefId, Error> {
        if !permit.covers(&belief.scope) {
            return Err(Error::OutsidePermit);
        }
        self.inner.caught_up().await;
        let caller = permit.caller();
        let tenant = caller.tenant;
        let entity = match &belief.subject {
            None => None,
            Some(called) => {
                let scope = self.inner.views.scope_ordinal(tenant, &belief.scope)?;
                let scopes: Vec<u64> = scope.into_iter().collect();
                let known = self.inner.homes_called(tenant, &scopes, called, FOREVER)?;
                // Who is meant by a name that several bear cannot be told.
                let mut known = known.into_iter();
                known.next().filter(|_| known.next().is_none())
            }
        };
        let what = BeliefDeclared {
            statement: belief.statement,
            subject: entity,
            subject_name: belief.subject,
            predicate: belief.predicate,
            confidence: match belief.supports.is_empty() {
                true => without_support(belief.confidence),
                false => belief.confidence,
            },
            supports: belief
                .supports
                .into_iter()
                .map(|support| match support {
                    BeliefSupportId::Event(id) => NamedSupport::Event(id),
                    BeliefSupportId::Fact(id) => NamedSupport::Fact(id),
                })
                .collect(),
            valid_from: belief.valid_from.unwrap_or(ValidAt(self.now())),
        };
        let request = DeclareRequest {
            tenant,
            path: belief.scope,
            owner: caller.actor.clone(),
            registers: permit.registers(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &what.encode()),
        };
        let (reply, answer) = oneshot::channel();
        let request = Request::Declare { request: Box::new(request), reply };
        let placed = self.inner.submit(request, answer).await?;
        let placed = placed.first().ok_or(Error::NotFound)?;
        self.inner.caught_up().await;
        self.inner.declared_by(tenant, placed.offset)
    }

    /// The scope of a record that a declaration wants to name, to ask the policy whether its author may
    /// read it; `None` if there is no such record.
    pub async fn support_home(
        &self,
        tenant: u32,
        support: BeliefSupportId,
    ) -> Result<Option<ScopePath>, Error> {
        self.inner.caught_up().await;
        let scope = match support {
            BeliefSupportId::Event(id) => {
                let row = self.inner.views.event(tenant, id)?;
                row.filter(|row| row.listed().is_some()).map(|row| row.scope)
            }
            BeliefSupportId::Fact(id) => self.inner.fact_row(tenant, id)?.map(|row| row.scope),
        };
        scope.map(|scope| self.inner.scope_path(tenant, scope)).transpose()
    }
}
