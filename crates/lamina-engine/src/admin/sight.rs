//! What a caller may see, scope by scope, under the policies of one moment.
//!
//! A list that reaches more than one scope asks here before it pages: what the caller may not see is
//! passed over like what no filter lets through, and a page is as long as it can be.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use lamina_core::policy::{Caller, Document, Permit, Preset, Stack};
use lamina_types::ScopePath;
use lamina_types::capability::Capability;

use super::PolicyBook;
use crate::engine::Inner;
use crate::{Engine, Error};

/// What the operator booted with, before anything narrower.
#[derive(Debug, Clone)]
pub struct Boot {
    /// The preset.
    pub preset: Preset,
    /// Its document; a deployment policy that was set since replaces it.
    pub document: Arc<Document>,
}

/// What one caller may use `C` on. The answers of one sight agree with each other, whatever changes
/// meanwhile (R187).
#[derive(Debug)]
pub struct Sight<C> {
    inner: Arc<Inner>,
    boot: Boot,
    book: Arc<PolicyBook>,
    caller: Caller,
    known: HashMap<u64, bool>,
    capability: PhantomData<C>,
}

impl Engine {
    /// What the holder of a permit may use a capability on, beyond the place the permit was asked for.
    pub async fn sight<C: Capability, D: Capability>(
        &self,
        boot: Boot,
        permit: &Permit<D>,
    ) -> Sight<C> {
        self.inner.caught_up().await;
        Sight {
            inner: Arc::clone(&self.inner),
            boot,
            book: self.policies(),
            caller: permit.caller().clone(),
            known: HashMap::new(),
            capability: PhantomData,
        }
    }
}

impl<C: Capability> Sight<C> {
    /// Whether the scope of this ordinal is in sight. One whose path is erased is not: nobody can
    /// tell who was to see it.
    pub(crate) fn sees(&mut self, ordinal: u64) -> Result<bool, Error> {
        if let Some(known) = self.known.get(&ordinal) {
            return Ok(*known);
        }
        let seen = match self.inner.scope_path(self.caller.tenant, ordinal) {
            Ok(path) => {
                let stack = self.inner.stack(&self.boot, &self.book, &self.caller, &path)?;
                stack.permit::<C>(&self.caller, Some(&path)).is_ok()
            }
            Err(Error::Deleted | Error::NotFound) => false,
            Err(error) => return Err(error),
        };
        self.known.insert(ordinal, seen);
        Ok(seen)
    }

    /// Whether every caller counts as the owner of everything: where nobody proves who they are.
    pub(crate) fn is_of_everybody(&self) -> bool {
        self.boot.preset == Preset::DevLocal
    }

    /// Whose sight it is.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }
}

impl Inner {
    /// Everything that decides what a caller may do in a scope, by these policies and the views as
    /// they are.
    pub(crate) fn stack(
        &self,
        boot: &Boot,
        book: &PolicyBook,
        caller: &Caller,
        scope: &ScopePath,
    ) -> Result<Stack, Error> {
        let part = self.part(caller.tenant, &caller.actor, scope)?;
        Ok(super::policies::stack(boot, book, caller, Some((scope, &part))))
    }
}
