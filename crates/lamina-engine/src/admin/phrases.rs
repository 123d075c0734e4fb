//! Changing a tenant's words for stretches of time. They are changed one after the other, so that no
//! change is lost.

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_store::codec::control::PhrasesSet;
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::log::NewEntry;
use lamina_types::capability::{TemporalPhrasesRead, TemporalPhrasesWrite};
use lamina_types::limits::PHRASES_MAX;
use lamina_types::recall::Phrase;
use tokio::sync::oneshot;

use super::{Noted, by};
use crate::derive::phrases::Phrases;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

impl Engine {
    /// The phrases of the tenant.
    pub fn phrases(&self, permit: &Permit<TemporalPhrasesRead>) -> Arc<Phrases> {
        self.inner.admin.standing.phrases(permit.caller().tenant)
    }

    /// Registers a phrase; one of the same name is replaced. It is in force when this returns.
    pub async fn phrase_set(
        &self,
        permit: &Permit<TemporalPhrasesWrite>,
        phrase: Phrase,
        noted: &Noted,
    ) -> Result<(), Error> {
        let _turn = self.inner.admin.naming.lock().await;
        let known = self.inner.admin.standing.phrases(permit.caller().tenant);
        let others = known.all().iter().filter(|known| known.name != phrase.name);
        let mut phrases: Vec<Phrase> = others.cloned().collect();
        if phrases.len() >= PHRASES_MAX {
            return Err(Error::LimitReached { limit: "PHRASES_MAX" });
        }
        phrases.push(phrase);
        phrases.sort_by(|one, other| one.name.cmp(&other.name));
        self.phrases_set(permit, phrases, noted).await
    }

    /// Removes a phrase.
    pub async fn phrase_remove(
        &self,
        permit: &Permit<TemporalPhrasesWrite>,
        name: &str,
        noted: &Noted,
    ) -> Result<(), Error> {
        let _turn = self.inner.admin.naming.lock().await;
        let known = self.inner.admin.standing.phrases(permit.caller().tenant);
        let left: Vec<Phrase> =
            known.all().iter().filter(|known| known.name != name).cloned().collect();
        if left.len() == known.all().len() {
            return Err(Error::NotFound);
        }
        self.phrases_set(permit, left, noted).await
    }

    async fn phrases_set(
        &self,
        permit: &Permit<TemporalPhrasesWrite>,
        phrases: Vec<Phrase>,
        noted: &Noted,
    ) -> Result<(), Error> {
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::PHRASES_SET,
            tenant: permit.caller().tenant,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &PhrasesSet { phrases }.encode()),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        Ok(())
    }
}
