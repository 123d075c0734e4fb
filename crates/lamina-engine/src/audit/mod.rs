//! The audit log as the rest of the system sees it: a place for rows, and questions to it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use lamina_core::policy::{Caller, Permit};
use lamina_store::audit::{AuditReader, Peppers};
use lamina_store::entry::Entry;
use lamina_types::capability::{AuditRead, AuditReadCrossActor, Capability};
use lamina_types::limits::AUDIT_TEXT_BYTES_MAX;
use lamina_types::{ActorId, AuditId, AuditRow, AuditWho, Micros, ScopePath};
use parking_lot::Mutex;
use tokio::sync::oneshot;

pub(crate) mod auditor;
pub(crate) mod carried;
pub(crate) mod open;
pub(crate) mod pin;
mod alone;
pub(crate) mod queue;
pub(crate) mod retention;

pub use alone::AuditAlone;
pub use lamina_store::audit::{
    AuditFilter, AuditOptions, Chain, Pepper, StoredRow, Verified, words_of,
};
pub use lamina_store::keys::Pieces;
pub use pin::PinTime;

use crate::admin::Boot;
use crate::{Engine, Error};
use auditor::AuditStatus;
use queue::{Message, Queue};
use retention::Retention;

/// The name of the hash that bodies and headers are hashed with.
pub const HASH: &str = "sha256";
/// The name of the chain that rows are in.
pub const CHAIN: &str = "sha256-chain-v1";

/// The engine's end of the audit log.
#[derive(Debug)]
pub(crate) struct Audit {
    pub(crate) queue: Arc<Queue>,
    pub(crate) status: Arc<AuditStatus>,
    pub(crate) reader: AuditReader,
    pub(crate) peppers: Arc<Peppers>,
    pub(crate) retention: Arc<Retention>,
    /// Rows of writes that were made again at open.
    pub(crate) recovered: u64,
    pub(crate) thread: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Tells the audit thread what the log has accepted.
#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) queue: Arc<Queue>,
    pub(crate) status: Arc<AuditStatus>,
}

impl Tap {
    /// These entries are durable.
    pub(crate) fn written(&self, entries: &[Entry]) {
        let Some(last) = entries.last() else { return };
        let next_offset = last.head.offset + 1;
        let message = Message::Written { carried: carried::carried(entries), next_offset };
        if !self.queue.push(message) {
            self.status.untold.store(true, Ordering::Release);
        }
    }
}

/// A question to the audit log.
#[derive(Debug, Clone, Default)]
pub struct AuditQuery {
    /// Which rows.
    pub filter: AuditFilter,
    /// Rows with a number below this, newest first.
    pub before: Option<u64>,
    /// Rows on a page.
    pub limit: usize,
}

/// A page of rows, newest first.
#[derive(Debug, Clone, Default)]
pub struct AuditRows {
    /// The rows.
    pub items: Vec<AuditRow>,
    /// The number of the row to go on after; `None`: there are no more. A page may be short, or empty, and still
    /// have one, when many rows had to be looked at.
    pub next: Option<u64>,
}

/// Whether a body is the one that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyVerdict {
    /// Whether it is.
    pub matches: bool,
    /// When it was hashed.
    pub hashed_at: Micros,
    /// Which pepper of the tenant it was hashed with.
    pub pepper_version: u32,
}

/// Whether the chain holds, and what there is of it for who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainVerdict {
    /// The chain, or the caller's own rows in it.
    pub chain: Chain,
    /// Every row of the tenant is as it was written.
    pub holds: bool,
    /// The first row that is not, counted from 0, for who may see all rows.
    pub first_broken_index: Option<u64>,
}

/// The right to see rows: one's own, or everybody's.
#[derive(Debug, Clone)]
pub struct AuditPermit {
    /// The right to see one's own.
    pub own: Permit<AuditRead>,
    /// The right to see others'.
    pub others: Option<Permit<AuditReadCrossActor>>,
}

impl AuditPermit {
    fn tenant(&self) -> u32 {
        self.own.caller().tenant
    }

    /// The only actor whose rows may be seen; `None`: everybody's.
    fn only(&self) -> Option<&ActorId> {
        match &self.others {
            Some(others) if others.caller().tenant == self.tenant() => None,
            _ => Some(&self.own.caller().actor),
        }
    }

    /// Whether a row may be seen.
    fn shows(&self, row: &AuditRow) -> bool {
        let who = row.who.as_ref();
        let actor = who.and_then(|who| who.actor.as_ref());
        let scope = who.and_then(|who| who.scope.as_ref());
        self.only().is_none_or(|only| actor == Some(only))
            && match scope {
                Some(scope) => self.own.covers(scope),
                None => self.own.scope().is_none(),
            }
    }
}

impl Engine {
    /// A new id for a row.
    pub fn audit_id(&self) -> AuditId {
        self.inner.audit_id()
    }

    /// Puts a row into the audit log. Returns at once; the row is on disk about a second later.
    /// Without room for it, it is counted as lost: the row of a write is made again from the log.
    pub fn audit(&self, row: AuditRow) {
        if !self.inner.audit.queue.push(Message::Row(Box::new(cut(row)))) {
            self.inner.audit.status.lost.fetch_add(1, Ordering::Relaxed);
            metrics::counter!("lamina_audit_rows_lost").increment(1);
        }
    }

    /// The row of something that no request asked for, done with a permit. Its entry carries enough to make it
    /// again.
    pub fn audit_row_of<C: Capability>(
        &self,
        permit: &Permit<C>,
        scope: Option<&ScopePath>,
        endpoint: &str,
        id: AuditId,
    ) -> AuditRow {
        AuditRow {
            who: Some(AuditWho {
                actor: Some(permit.caller().actor.clone()),
                scope: scope.cloned(),
                ..AuditWho::default()
            }),
            endpoint: endpoint.to_owned(),
            capability: permit.capability().to_owned(),
            decided_by_tier: permit.decided_by().as_str().to_owned(),
            ..AuditRow::blank(id, self.log_time(), permit.caller().tenant)
        }
    }

    /// After a row was put in: where calls are audited in full, waits until it is on disk.
    pub async fn audit_kept(&self, boot: &Boot, caller: &Caller, scope: &ScopePath) {
        let tenant = match boot.preset.is_shared() && scope.is_shared() {
            true => self.shared_tenant(boot),
            false => Some(caller.origin().0),
        };
        let Some(tenant) = tenant else { return };
        // What cannot be told is kept: a disk that fails will say so by itself.
        if self.inner.audits_in_full(tenant, scope).unwrap_or(true) {
            self.audit_flush().await;
        }
    }

    /// Waits until everything that was put in before is in the log, or cannot be.
    async fn audit_flush(&self) {
        let (reply, flushed) = oneshot::channel();
        if self.inner.audit.queue.push(Message::Flush(reply)) {
            // A thread that is gone has left its reason in the health report.
            drop(flushed.await);
        }
    }

    /// The pepper that a tenant hashes bodies and headers with now.
    pub fn audit_pepper(&self, tenant: u32) -> Result<Pepper, Error> {
        let period = self.inner.audit.retention.rotation_us(tenant);
        let pepper = self.inner.audit.peppers.current(tenant, self.inner.env.clock.wall(), period);
        pepper.map_err(|error| Error::Keys(Box::new(error)))
    }

    /// A page of rows, newest first. Sees every row that was put in before.
    pub async fn audit_rows(
        &self,
        permit: &AuditPermit,
        query: AuditQuery,
    ) -> Result<AuditRows, Error> {
        let tenant = permit.tenant();
        let AuditQuery { mut filter, before, limit } = query;
        if let Some(only) = permit.only() {
            if filter.actor.as_ref().is_some_and(|actor| actor != only) {
                return Err(Error::OutsidePermit);
            }
            filter.actor = Some(only.clone());
        }
        let permit = permit.clone();
        self.audit_read(move |reader| {
            let page = reader.query(tenant, &filter, before, limit)?;
            let shown = page.items.into_iter().map(|stored| stored.row);
            let items = shown.filter(|row| permit.shows(row)).collect();
            Ok(AuditRows { items, next: page.next.map(|next| next.seq) })
        })
        .await
    }

    /// One row.
    pub async fn audit_row(&self, permit: &AuditPermit, id: AuditId) -> Result<AuditRow, Error> {
        let (tenant, permit) = (permit.tenant(), permit.clone());
        self.audit_read(move |reader| {
            let stored = reader.row(tenant, id)?.ok_or(Error::NotFound)?;
            Some(stored.row).filter(|row| permit.shows(row)).ok_or(Error::NotFound)
        })
        .await
    }

    /// Whether a body is the one that the call of a row came with.
    pub async fn audit_verify(
        &self,
        permit: &AuditPermit,
        id: AuditId,
        body: &[u8],
    ) -> Result<BodyVerdict, Error> {
        let row = self.audit_row(permit, id).await?;
        let verdict = |matches| BodyVerdict {
            matches,
            hashed_at: row.at,
            pepper_version: row.pepper_version,
        };
        let Some(hash) = row.body_hash else { return Ok(verdict(false)) };
        // Without its pepper nobody can tell any more.
        let pepper = self.inner.audit.peppers.version(row.tenant, row.pepper_version);
        Ok(verdict(pepper.ok_or(Error::Deleted)?.body(body) == hash))
    }

    /// The head and the length of the tenant's chain, or of what one actor has in it: for who sees only
    /// their own rows always the latter, because a length counts what the others do.
    pub async fn audit_chain(
        &self,
        permit: &AuditPermit,
        actor: Option<ActorId>,
    ) -> Result<Chain, Error> {
        let actor = match (permit.only(), actor) {
            (Some(only), Some(actor)) if *only != actor => return Err(Error::OutsidePermit),
            (Some(only), _) => Some(only.clone()),
            (None, actor) => actor,
        };
        let tenant = permit.tenant();
        self.audit_read(move |reader| match actor {
            Some(actor) => Ok(reader.chain_of(tenant, &actor)?),
            None => Ok(reader.chain(tenant)?),
        })
        .await
    }

    /// Reads the tenant's whole chain and everything that vouches for it. Who sees only their own rows
    /// is told whether all of it holds, and not where it breaks: that is a number of others' rows.
    pub async fn audit_chain_verify(&self, permit: &AuditPermit) -> Result<ChainVerdict, Error> {
        let (tenant, key) = (permit.tenant(), self.inner.keys.public());
        let only = permit.only().cloned();
        self.audit_read(move |reader| {
            let Verified { chain, first_broken_index } = reader.verify(tenant, key)?;
            let holds = first_broken_index.is_none();
            Ok(match only {
                None => ChainVerdict { chain, holds, first_broken_index },
                Some(only) => {
                    let chain = reader.chain_of(tenant, &only)?;
                    ChainVerdict { chain, holds, first_broken_index: None }
                }
            })
        })
        .await
    }

    /// Asks the audit log, after everything that was put in before is in it.
    async fn audit_read<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&AuditReader) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.audit_flush().await;
        let reader = self.inner.audit.reader.clone();
        let asked = tokio::task::spawn_blocking(move || ask(&reader)).await;
        asked.map_err(|_| Error::ShuttingDown)?
    }
}

/// Cuts what the client chose to a length that a row can keep.
fn cut(mut row: AuditRow) -> AuditRow {
    if let Some(AuditWho { token_jti, path, client_ip, user_agent, request_id, .. }) = &mut row.who
    {
        let optional = [token_jti, client_ip, user_agent].into_iter().flatten();
        for text in optional.chain([path, request_id]) {
            text.truncate(text.floor_char_boundary(AUDIT_TEXT_BYTES_MAX));
        }
    }
    row
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
