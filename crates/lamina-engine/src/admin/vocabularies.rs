//! Registering and changing vocabularies. They are changed one after the other, so that what a change
//! is merged into is what it replaces.

use std::sync::Arc;

use lamina_core::policy::{Caller, Permit};
use lamina_store::codec::control::VocabularySet;
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::log::{NewEntry, Section};
use lamina_types::ScopePath;
use lamina_types::capability::{PolicyAdministerTenant, VocabularyRead, VocabularyWrite};
use lamina_types::limits::VOCABULARIES_MAX;
use lamina_types::vocabulary::Vocabulary;
use tokio::sync::oneshot;

use super::{Noted, by};
use crate::derive::vocabularies::{Difference, Vocabularies, VocabularyRecord, answers_under};
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// Answers that say something under the terms that one change takes away, or brings back: what is believed
/// because of them follows in one step, and nothing else is folded meanwhile.
pub(crate) const VOCABULARY_ANSWERS_MAX: usize = if cfg!(test) { 40 } else { 20_000 };

/// The right to change vocabularies: either of two grants it (C24).
#[derive(Debug)]
pub enum VocabularyPermit {
    /// `vocabulary.write`.
    Write(Permit<VocabularyWrite>),
    /// `policy.administer.tenant`.
    Tenant(Permit<PolicyAdministerTenant>),
}

impl VocabularyPermit {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        match self {
            VocabularyPermit::Write(permit) => permit.caller(),
            VocabularyPermit::Tenant(permit) => permit.caller(),
        }
    }
}

/// A vocabulary after a change.
#[derive(Debug, Clone)]
pub struct VocabularyChanged {
    /// What is in force now.
    pub record: Arc<VocabularyRecord>,
    /// There was none of this name.
    pub created: bool,
}

impl Engine {
    /// Changes the vocabulary of a name in a place, or makes one: `change` is given what is in force and says
    /// what is to be. It may be in another place then, unless there is one. When it returns, the vocabulary
    /// is durable and names the predicates of all that is written after.
    pub async fn vocabulary_change<E: From<Error>>(
        &self,
        permit: &VocabularyPermit,
        (name, place): (&str, Option<&ScopePath>),
        change: impl FnOnce(Option<&VocabularyRecord>) -> Result<Vocabulary, E> + Send,
        noted: &Noted,
    ) -> Result<VocabularyChanged, E> {
        let _turn = self.inner.admin.naming.lock().await;
        let tenant = permit.caller().tenant;
        let known = self.vocabularies(tenant);
        let before = known.get(name, place);
        let vocabulary = change(before.map(|record| &**record))?;
        let to = vocabulary.scope.clone();
        let taken = known.get(name, to.as_ref());
        if taken.is_some_and(|taken| before.is_none_or(|before| before.offset != taken.offset)) {
            return Err(Error::VocabularyExists.into());
        }
        if before.is_none() && known.len() >= VOCABULARIES_MAX {
            return Err(Error::LimitReached { limit: "VOCABULARIES_MAX" }.into());
        }
        let difference = before.map(|before| known.difference(before, &vocabulary));
        let Difference { withdrawn, returned, left } = difference.unwrap_or_default();
        for terms in [&withdrawn, &returned] {
            let under = (tenant, name);
            let max = VOCABULARY_ANSWERS_MAX;
            let views = &self.inner.views;
            let count = answers_under(views, under, terms, max + 1).map_err(Error::from)?;
            if count > max {
                return Err(Error::LimitReached { limit: "VOCABULARY_ANSWERS_MAX" }.into());
            }
        }
        let set = VocabularySet {
            vocabulary,
            version: before.map_or(0, |before| before.version) + 1,
            created: before.map(|before| before.created),
            withdrawn,
            returned,
            left,
        };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::VOCABULARY_SET,
            tenant,
            scope: SYSTEM_SCOPE,
            causes: before.map(|before| before.offset).into_iter().collect(),
            who: self.named_by(permit, noted),
            what: section(&*self.inner.env.rng, &set.encode()),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        let now = self.vocabularies(tenant);
        let record = now.get(name, to.as_ref()).ok_or(Error::NotFound)?;
        Ok(VocabularyChanged { record: Arc::clone(record), created: before.is_none() })
    }

    /// Where there are vocabularies of a name: the whole tenant first, then scopes by path.
    pub fn vocabulary_places(
        &self,
        permit: &VocabularyPermit,
        name: &str,
    ) -> Vec<Option<ScopePath>> {
        let known = self.vocabularies(permit.caller().tenant);
        known.named(name).map(|record| record.vocabulary.scope.clone()).collect()
    }

    /// The vocabularies of a name: the whole tenant's first, then by path.
    pub fn vocabularies_named(
        &self,
        permit: &Permit<VocabularyRead>,
        name: &str,
    ) -> Vec<Arc<VocabularyRecord>> {
        self.vocabularies(permit.caller().tenant).named(name).cloned().collect()
    }

    /// All vocabularies of the tenant, by name.
    pub fn vocabulary_list(&self, permit: &Permit<VocabularyRead>) -> Vec<Arc<VocabularyRecord>> {
        self.vocabularies(permit.caller().tenant).all().cloned().collect()
    }

    /// The vocabularies in force in a tenant.
    pub(crate) fn vocabularies(&self, tenant: u32) -> Arc<Vocabularies> {
        self.inner.admin.standing.vocabularies(tenant)
    }

    fn named_by(&self, permit: &VocabularyPermit, noted: &Noted) -> Section {
        match permit {
            VocabularyPermit::Write(permit) => by(&self.inner.env, permit, noted),
            VocabularyPermit::Tenant(permit) => by(&self.inner.env, permit, noted),
        }
    }
}
