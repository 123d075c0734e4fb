//! The begin and the end of a job.

use std::sync::Arc;

use lamina_core::policy::{Grant, JobGrant, Permit};
use lamina_store::codec::control::{
    By, ImportBegun, ImportCounts, ImportEnded, ImportIdentity, ImportToken,
};
use lamina_store::entry::{Kind, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::log::{NewEntry, Section};
use lamina_types::capability::Capability;
use lamina_types::{ImportId, Micros, ScopePath};
use tokio::sync::oneshot;

use super::decide::cut;
use super::{
    IMPORT_REPORT_BYTES_MAX, ImportAccepted, ImportEnd, ImportJob, ImportRequest, StagedFile,
};
use crate::admin::{Noted, by};
use crate::derive::imports::ImportJobRow;
use crate::derive::key::imports as key;
use crate::derive::read::{get, row};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

impl Engine {
    /// Begins a job. The target scope, if it is no template, is there already
    /// ([`Engine::scope_begin`]), so that the words of the job go with it.
    pub async fn import_begin<C: Capability>(
        &self,
        permit: &Permit<C>,
        request: ImportRequest,
        noted: &Noted,
    ) -> Result<ImportAccepted, Error> {
        let caller = permit.caller();
        let tenant = caller.tenant;
        let _turn = self.inner.admin.importing.turn.lock().await;
        self.inner.caught_up().await;
        let key = self.inner.import_key(tenant, caller.actor.as_str(), &request)?;
        if let Some(job) = self.inner.repeated_import(tenant, key.as_ref())? {
            self.import_discard(&request.staged);
            return Ok(ImportAccepted { job, replayed: true });
        }
        let ImportRequest { staged, format, target, scope, options, policy_version, .. } = request;
        let ordinal = match &scope {
            Some(scope) => self.inner.views.scope_ordinal(tenant, scope)?.unwrap_or(SYSTEM_SCOPE),
            None => SYSTEM_SCOPE,
        };
        let begun = ImportBegun {
            id: staged.id,
            format: format.clone(),
            target: target.clone(),
            options: options.clone(),
            file: staged.file,
            bytes: staged.bytes,
            sha256: staged.sha256,
            policy_version,
            key,
            token: caller.grant.as_deref().map(record_token),
        };
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::IMPORT_BEGUN,
            tenant,
            scope: ordinal,
            causes: Vec::new(),
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &begun.encode()),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        let job = ImportJob {
            id: staged.id,
            grant: permit.job_grant(policy_version, noted.audit_id),
            request_id: noted.request_id.clone(),
            format,
            target,
            scope,
            options,
            staged,
            counts: ImportCounts::default(),
            ordinal,
        };
        Ok(ImportAccepted { job, replayed: false })
    }

    /// Ends a job and removes its source. Ending one that is over changes nothing.
    pub async fn import_end(&self, job: &ImportJob, end: ImportEnd) -> Result<(), Error> {
        let _turn = self.inner.admin.importing.turn.lock().await;
        self.end_import(job, end).await
    }

    /// The same, for a caller that has the turn.
    pub(super) async fn end_import(&self, job: &ImportJob, end: ImportEnd) -> Result<(), Error> {
        self.inner.caught_up().await;
        let is_over = match self.inner.import_row(job.grant.tenant, job.id)? {
            Some(row) => row.ended.is_some(),
            // It went with its scope.
            None => true,
        };
        if !is_over {
            let ImportEnd { outcome, counts, report } = end;
            if report.len() > IMPORT_REPORT_BYTES_MAX {
                return Err(Error::TooLarge { limit: "IMPORT_REPORT_BYTES_MAX" });
            }
            let ended = ImportEnded { id: job.id, outcome, counts, report };
            let entry = NewEntry {
                kind: Kind::Control,
                sub: control::IMPORT_ENDED,
                tenant: job.grant.tenant,
                scope: job.ordinal,
                causes: Vec::new(),
                who: Section::absent(),
                what: section(&*self.inner.env.rng, &ended.encode()),
            };
            let (reply, answer) = oneshot::channel();
            // Taken also when room runs out: it frees the staged source.
            let request = Request::TakeBack { entry: Box::new(entry), reply };
            self.inner.submit(request, answer).await?;
        }
        let file = job.staged.file;
        self.blocking(move |inner| {
            inner.unstage(file);
            Ok(())
        })
        .await
    }
}

impl Inner {
    pub(super) fn import_row(
        &self,
        tenant: u32,
        id: ImportId,
    ) -> Result<Option<ImportJobRow>, Error> {
        let stored = key::import(tenant, id);
        Ok(row(&self.views, Space::Records, &stored, ImportJobRow::decode)?)
    }

    fn import_key(
        &self,
        tenant: u32,
        caller: &str,
        request: &ImportRequest,
    ) -> Result<Option<ImportIdentity>, Error> {
        let Some(key) = &request.key else { return Ok(None) };
        let keyed = self.keyed(tenant)?;
        let parts = [caller.as_bytes(), request.format.as_bytes(), key.as_bytes()];
        Ok(Some(ImportIdentity {
            name: cut(keyed.mac("import.key", &parts)),
            body: cut(keyed.mac("import.request", &[&request.body])),
        }))
    }

    /// The job that an idempotency key was used for.
    fn repeated_import(
        &self,
        tenant: u32,
        used: Option<&ImportIdentity>,
    ) -> Result<Option<ImportJob>, Error> {
        let Some(used) = used else { return Ok(None) };
        let stored = key::import_key(tenant, &used.name);
        let Some(known) = get(&self.views, Space::Records, &stored)? else { return Ok(None) };
        let (id, body) = known.split_first_chunk::<16>().ok_or(Error::NotFound)?;
        if body != used.body.as_slice() {
            return Err(Error::IdempotencyConflict { index: 0 });
        }
        let id = ImportId::from_bytes(*id);
        let found = self.import_row(tenant, id)?.ok_or(Error::Deleted)?;
        self.import_job(tenant, id, &found).map(Some)
    }

    /// A job as its first entry describes it.
    pub(super) fn import_job(
        &self,
        tenant: u32,
        id: ImportId,
        row: &ImportJobRow,
    ) -> Result<ImportJob, Error> {
        let entry = self.reader.entry(row.begun.offset, row.begun.place)?;
        let (what, who) = (entry.what.live(), entry.who.live());
        let (Some(what), Some(who)) = (what, who) else { return Err(Error::Deleted) };
        let undecodable = |_| Error::Undecodable { what: "an import" };
        let begun = ImportBegun::decode(what).map_err(undecodable)?;
        let by = By::decode(who).map_err(undecodable)?;
        let token = begun.token.as_ref().map(read_token).transpose()?.map(Arc::new);
        let scope: Option<ScopePath> = begun.target.parse().ok();
        Ok(ImportJob {
            id,
            grant: JobGrant {
                actor: by.caller,
                tenant,
                capability: by.decision,
                scope: scope.clone(),
                policy_version: begun.policy_version,
                audit_id: by.audit_id,
                token,
            },
            request_id: by.request_id,
            format: begun.format,
            target: begun.target,
            scope,
            options: begun.options,
            staged: StagedFile { id, bytes: begun.bytes, sha256: begun.sha256, file: begun.file },
            counts: row.counts,
            ordinal: row.scope,
        })
    }
}

/// The limits of a token as the log keeps them.
fn record_token(grant: &Grant) -> ImportToken {
    let Grant { jti, iss, exp, caps, scopes } = grant;
    ImportToken {
        jti: jti.clone(),
        iss: iss.clone(),
        exp: exp.0,
        caps: caps.as_ref().map(|caps| caps.iter().cloned().collect()),
        scopes: scopes.iter().map(|(name, prefix)| format!("{name}:{prefix}")).collect(),
    }
}

/// The limits again. A limit that this version does not know ends the job: without it the job could do more.
fn read_token(token: &ImportToken) -> Result<Grant, Error> {
    let undecodable = |_| Error::Undecodable { what: "the token of an import" };
    let ImportToken { jti, iss, exp, caps, scopes } = token;
    let caps = caps.as_ref().map(|caps| Grant::read_caps(caps.iter().map(String::as_str)));
    let scopes = Grant::read_scopes(scopes.iter().map(String::as_str));
    Ok(Grant {
        jti: jti.clone(),
        iss: iss.clone(),
        exp: Micros(*exp),
        caps: caps.transpose().map_err(undecodable)?,
        scopes: scopes.map_err(undecodable)?,
    })
}
