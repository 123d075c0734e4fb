//! Erasures in a log that was restored from a backup of before they ended: the ledger had what they did since.
//!
//! Of one that had begun only later there is nothing but its certificate. One that was at work is carried on: what the
//! restore has erased again of it is its own, and if the ledger has its certificate it is over.

use std::collections::BTreeSet;

use lamina_store::certificate::{self, Told};
use lamina_store::codec::control::{ErasureBegun, ErasureCertified};
use lamina_store::entry::{Entry, Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::log::{self, ErasePayload};
use lamina_types::{ErasureId, EventId, ScopePath};

use super::plan::Wanted;
use super::reach::Reach;
use super::run::Job;
use super::{ErasureCounts, ErasureStatus, Outcome, PHASES};
use crate::derive::key::forget as key;
use crate::derive::read::get;
use crate::engine::Inner;
use crate::{Engine, Error};

/// Scopes read at a time.
const SCOPES_AT_ONCE: usize = 256;

impl Engine {
    /// What an erasure came to of which there is nothing but a certificate.
    pub(super) async fn erasure_told(
        &self,
        tenant: u32,
        id: ErasureId,
    ) -> Result<ErasureStatus, Error> {
        self.blocking(move |inner| {
            let (what, told) = inner.certified_alone(tenant, id)?;
            let took = u64::try_from(told.issued_at.0.0 - told.began_at.0.0).unwrap_or(0);
            Ok(ErasureStatus {
                id,
                outcome: Outcome::Completed,
                phase: PHASES.len() - 1,
                done: 10_000,
                counts: told.counts,
                bytes: what.bytes,
                elapsed_ms: took / 1_000,
                audit_id: told.audit,
            })
        })
        .await
    }

    /// The scope of such an erasure, if there is one by that path: the certificate has no more than a commitment.
    pub(super) async fn erasure_home_told(
        &self,
        tenant: u32,
        id: ErasureId,
    ) -> Result<ScopePath, Error> {
        self.blocking(move |inner| {
            let (_, told) = inner.certified_alone(tenant, id)?;
            let salt = inner.scope_salt(tenant, id)?;
            let mut after = None;
            loop {
                let some = inner.views.scopes(tenant, after, SCOPES_AT_ONCE)?;
                let Some(last) = some.last() else { return Err(Error::NotFound) };
                after = Some(*last);
                for scope in some {
                    let path = inner.scope_path(tenant, scope)?;
                    if certificate::commitment(&salt, path.as_str()) == told.scope {
                        return Ok(path);
                    }
                }
            }
        })
        .await
    }
}

impl Engine {
    /// What a job came to that has a certificate already: there is nothing left to do.
    pub(super) async fn certified_before(&self, job: &Job) -> Result<Option<ErasureCounts>, Error> {
        let (tenant, id) = (job.wanted.tenant, job.id);
        self.blocking(move |inner| match inner.certified_alone(tenant, id) {
            Ok((_, told)) => Ok(Some(told.counts)),
            Err(Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Events that are deleted and redacted for a job which has not noted so itself.
    pub(super) async fn gone_before(&self, job: &Job) -> Result<(u64, u64), Error> {
        let (tenant, id) = (job.wanted.tenant, job.id);
        self.blocking(move |inner| {
            let begun = inner.erasure_row(tenant, id)?.begun;
            Ok(inner.trail(tenant, id, begun)?.counted())
        })
        .await
    }
}

/// What restores have erased again since an erasure began.
#[derive(Debug)]
pub(super) struct Restored {
    /// Where a life of the log begins that a restore began, the last first.
    begins: Vec<u64>,
    /// Since then nobody has begun to erase.
    within: bool,
    /// What the erasure is about.
    wanted: Wanted,
    scopes: BTreeSet<u64>,
}

impl Restored {
    /// Whether a restore appended an entry. To be asked of each in their order.
    pub(super) fn is_in(&mut self, entry: &Entry) -> bool {
        while self.begins.pop_if(|begins| *begins <= entry.head.offset).is_some() {
            self.within = true;
        }
        let begins = [control::ERASURE_STEP, control::FORGET_BEGUN, control::FORGET_PLANNED];
        let begins = begins.contains(&entry.head.sub);
        self.within &= !(entry.head.kind == Kind::Control && begins);
        self.within
    }

    /// Whether an entry erases something that the erasure is about.
    pub(super) fn is_own(&self, inner: &Inner, entry: &Entry) -> bool {
        let payload = entry.what.live().and_then(ErasePayload::decode);
        let targets = payload.map(|payload| payload.targets).unwrap_or_default();
        targets.iter().any(|target| {
            let Ok(found) = inner.reader.entry(target.offset, target.place) else { return false };
            let named = || self.wanted.events.contains(&EventId::from_bytes(found.head.id));
            found.head.kind == Kind::Experience
                && found.head.tenant == self.wanted.tenant
                && target.offset < self.wanted.up_to
                && self.scopes.contains(&found.head.scope)
                && (self.wanted.events.is_empty() || named())
        })
    }
}

impl Inner {
    /// What restores have erased again since an erasure began; `None` if there was none.
    pub(super) fn restored_since(
        &self,
        tenant: u32,
        id: ErasureId,
        begun: u64,
    ) -> Result<Option<Restored>, Error> {
        let files = log::segment_files(&*self.env.disk, &self.settings.data)?;
        let lives = files.iter().zip(files.iter().skip(1));
        let later =
            lives.filter(|(before, after)| before.epoch < after.epoch && after.first > begun);
        let begins: Vec<u64> = later.map(|(_, after)| after.first).rev().collect();
        let row = self.erasure_row(tenant, id)?;
        if begins.is_empty() || row.scope == SYSTEM_SCOPE {
            return Ok(None);
        }
        let entry = self.reader.entry(row.begun, row.place)?;
        let what = entry.what.live().and_then(|bytes| ErasureBegun::decode(bytes).ok());
        let what = what.ok_or(Error::Undecodable { what: "an erasure" })?;
        let scope = self.scope_path(tenant, row.scope)?;
        let reach = Reach::of(&scope, what.reach);
        let events = what.events.into_iter().collect();
        let wanted = Wanted { tenant, scope, events, up_to: what.up_to, reach };
        let scopes = self.scopes_erased(&wanted)?;
        Ok(Some(Restored { begins, within: false, wanted, scopes }))
    }

    /// The certificate of an erasure, and what it tells.
    fn certified_alone(
        &self,
        tenant: u32,
        id: ErasureId,
    ) -> Result<(ErasureCertified, Told), Error> {
        let stored = get(&self.views, Space::Records, &key::certificate(tenant, id))?;
        let what = self.certified_at(&stored.ok_or(Error::NotFound)?)?;
        let told = Told::read(&what.certificate);
        told.map(|told| (what, told)).ok_or(Error::Undecodable { what: "a certificate" })
    }
}
