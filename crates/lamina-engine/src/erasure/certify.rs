//! The certificate of an erasure: made when everything was read again and is gone, kept as an entry of the log.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use lamina_index::{Layer, RecordKey};
use lamina_store::certificate::{self, Certificate, Purge};
use lamina_store::codec::control::{
    By, ErasureBegun, ErasureCertified, ErasureCounts, ErasurePromise, ErasureStep,
};
use lamina_store::entry::{Entry, Kind, SectionState, control};
use lamina_store::kv::Space;
use lamina_store::log::{Checkpoint, ErasePayload};
use lamina_store::view::Residue;
use lamina_types::{ActorId, ErasureId, RecordedAt};
use tokio::sync::oneshot;

use super::manifest::WholeManifest;
use super::run::Job;
use crate::derive::erasures::{Chained, ErasureRow};
use crate::derive::key::forget as key;
use crate::derive::read::{get, row};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::{Engine, Error};

/// Entries and bytes of the log that are read at a time.
const ENTRIES_AT_ONCE: usize = 4_096;
const BYTES_AT_ONCE: usize = 8 * 1_024 * 1_024;

/// A certificate, and the salt of its scope for whoever asked for the erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certified {
    /// Canonical JSON, signed.
    pub certificate: String,
    /// With the scope's path it gives the commitment; only for whoever asked for the erasure.
    pub salt: Option<[u8; 32]>,
}

/// What is known of an erasure when everything is gone.
#[derive(Debug, Clone, Copy)]
struct ErasureProof {
    counts: ErasureCounts,
    /// The search index was rewritten.
    index: bool,
    /// Bytes of files that held something of it, and those written to be rid of it.
    bytes: (u64, u64),
    /// Blobs that a legal hold keeps.
    blobs_held: u64,
    /// The checkpoint after the last word went.
    after: u64,
}

/// What the log says about the entries of an erasure.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// Seals of the entries that erased.
    erased: Vec<[u8; 32]>,
    /// Sections that they name.
    sections: u64,
    /// All of these are zero.
    all_zero: bool,
    /// The events among them.
    events: BTreeSet<[u8; 16]>,
    /// Those of them that others refer to.
    redacted: BTreeSet<[u8; 16]>,
}

impl Trail {
    /// How many events were deleted, and how many redacted.
    pub(super) fn counted(&self) -> (u64, u64) {
        let redacted = self.redacted.len();
        ((self.events.len() - redacted) as u64, redacted as u64)
    }
}

impl Engine {
    /// What an erasure promises, with the checkpoint that stands before it.
    pub(super) async fn promised(
        &self,
        manifest: &WholeManifest,
        holds: usize,
        references: usize,
    ) -> Result<ErasurePromise, Error> {
        Ok(ErasurePromise {
            manifest: hash_of(manifest),
            checkpoint: self.checkpointed().await?,
            holds: holds as u64,
            references: references as u64,
        })
    }

    /// Has the log sign where it stands; gives the offset of the entry.
    pub(crate) async fn checkpointed(&self) -> Result<u64, Error> {
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Checkpoint { reply }, answer).await
    }

    /// Makes the certificate of a job that has done everything, unless it has one.
    pub(super) async fn certify(
        &self,
        job: &Job,
        counts: ErasureCounts,
        index: bool,
        bytes: (u64, u64),
    ) -> Result<(), Error> {
        let (tenant, id) = (job.wanted.tenant, job.id);
        if get(&self.inner.views, Space::Records, &key::certificate(tenant, id))?.is_some() {
            return Ok(());
        }
        let after = self.checkpointed().await?;
        self.inner.caught_up().await;
        let wanted = job.wanted.clone();
        let made = self.blocking(move |inner| {
            let blobs_held = inner.uploaded_blobs(&wanted)?.held;
            let proof = ErasureProof { counts, index, bytes, blobs_held, after };
            inner.certificate(tenant, id, &proof)
        });
        // One that began before there were certificates has promised nothing.
        let Some(certificate) = made.await? else { return Ok(()) };
        let what = ErasureCertified { id, bytes, certificate };
        self.note_erasure(job, control::ERASURE_CERTIFIED, &what.encode()).await?;
        self.inner.caught_up().await;
        Ok(())
    }

    /// The certificate of an erasure, and its salt for whoever asked for the erasure. One that ended before
    /// there were certificates has none.
    pub async fn erasure_certificate(
        &self,
        tenant: u32,
        id: ErasureId,
        caller: &ActorId,
    ) -> Result<Option<Certified>, Error> {
        self.inner.caught_up().await;
        let caller = caller.clone();
        self.blocking(move |inner| inner.certified(tenant, id, &caller)).await
    }
}

impl Inner {
    fn certified(
        &self,
        tenant: u32,
        id: ErasureId,
        caller: &ActorId,
    ) -> Result<Option<Certified>, Error> {
        let Some(stored) = get(&self.views, Space::Records, &key::certificate(tenant, id))? else {
            return Ok(None);
        };
        let what = self.certified_at(&stored)?;
        let by = match self.erasure_row(tenant, id) {
            Ok(row) => {
                let begun = self.reader.entry(row.begun, row.place)?;
                begun.who.live().and_then(|bytes| By::decode(bytes).ok())
            }
            // Who asked is not known in a log that was restored from before it began.
            Err(Error::NotFound) => None,
            Err(error) => return Err(error),
        };
        let salt = match by.is_some_and(|by| by.caller == *caller) {
            true => Some(self.scope_salt(tenant, id)?),
            false => None,
        };
        Ok(Some(Certified { certificate: what.certificate, salt }))
    }

    /// The certificate that a row says the place of.
    pub(super) fn certified_at(&self, stored: &[u8]) -> Result<ErasureCertified, Error> {
        let offset = stored.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes));
        let entry = self.read_one(offset.ok_or(Error::NotFound)?)?;
        let what = entry.what.live().and_then(|bytes| ErasureCertified::decode(bytes).ok());
        what.ok_or(Error::Undecodable { what: "a certificate" })
    }

    pub(super) fn erasure_row(&self, tenant: u32, id: ErasureId) -> Result<ErasureRow, Error> {
        let stored = key::erasure(tenant, id);
        row(&self.views, Space::Records, &stored, ErasureRow::decode)?.ok_or(Error::NotFound)
    }

    fn read_one(&self, offset: u64) -> Result<Entry, Error> {
        let entries = self.reader.read(offset, None, 1, usize::MAX)?;
        entries.into_iter().next().ok_or(Error::NotFound)
    }

    /// Removes what recovery cut off the logs and kept: it was never acknowledged, may have anybody's words, and
    /// no erasure reaches into it.
    pub(super) fn quarantine_emptied(&self) -> Result<(), Error> {
        let disk = &*self.env.disk;
        let emptied = |dir: &Path| -> io::Result<()> {
            if !disk.exists(dir) {
                return Ok(());
            }
            for name in disk.list(dir)? {
                let path = dir.join(name);
                let file = disk.open(&path)?;
                let length = usize::try_from(file.len()?).unwrap_or(usize::MAX);
                file.write_at(&vec![0; length], 0)?;
                file.sync()?;
                disk.remove(&path)?;
            }
            disk.sync_dir(dir)
        };
        for dir in ["quarantine", "audit/quarantine"] {
            if let Err(error) = emptied(&self.settings.data.join(dir)) {
                tracing::warn!(%error, "what was cut off a log is still in quarantine");
            }
        }
        Ok(())
    }

    /// The salt of an erasure's scope: made with the tenant's key, so that it needs no place of its own.
    pub(super) fn scope_salt(&self, tenant: u32, id: ErasureId) -> Result<[u8; 32], Error> {
        Ok(self.keyed(tenant)?.mac("erasure.salt", &[id.as_bytes()]))
    }

    fn certificate(
        &self,
        tenant: u32,
        id: ErasureId,
        proof: &ErasureProof,
    ) -> Result<Option<String>, Error> {
        let ErasureProof { counts, index, bytes, blobs_held, after } = *proof;
        let row = self.erasure_row(tenant, id)?;
        let begun = self.reader.entry(row.begun, row.place)?;
        let what = begun.what.live().and_then(|bytes| ErasureBegun::decode(bytes).ok());
        let Some(promise) = what.and_then(|what| what.promise) else { return Ok(None) };
        let scope = self.scope_path(tenant, row.scope)?;
        let trail = self.trail(tenant, id, row.begun)?;
        let chained = self.chained(tenant)?;
        let after = self.checkpoint_at(after)?;
        let certificate = Certificate {
            number: chained.map_or(1, |chained| chained.number + 1),
            previous: chained.map(|chained| chained.hash),
            erasure: id,
            audit: row.audit_id,
            began_at: row.began_at,
            issued_at: RecordedAt(after.recorded_at.0),
            scope: certificate::commitment(&self.scope_salt(tenant, id)?, scope.as_str()),
            manifest: promise.manifest,
            counts,
            holds: promise.holds,
            blobs_held,
            references: promise.references,
            before: self.checkpoint_at(promise.checkpoint)?,
            begun: begun.head.seal,
            after,
            purge: Purge {
                log: trail.all_zero,
                index: index && !self.is_found(tenant, &trail)?,
                bytes_held: bytes.0,
                bytes_rewritten: bytes.1,
            },
            erased: trail.erased,
            sections: trail.sections,
        };
        Ok(Some(certificate.issue(&self.keys)))
    }

    /// The last certificate of a tenant. Each has a chain of its own: their numbers tell nobody about others.
    fn chained(&self, tenant: u32) -> Result<Option<Chained>, Error> {
        let last = get(&self.views, Space::Records, &key::certificate_last(tenant))?;
        Ok(last.as_deref().and_then(Chained::decode))
    }

    fn checkpoint_at(&self, offset: u64) -> Result<Checkpoint, Error> {
        let entry = self.read_one(offset)?;
        let checkpoint = entry.what.live().and_then(Checkpoint::decode);
        checkpoint.ok_or(Error::Undecodable { what: "a checkpoint" })
    }

    /// The entries that erased for this job, and whether what they name is zero. With each of its steps it has the
    /// turn of all that forgets, so what erases in its tenant is its own: until somebody else begins to forget,
    /// which happens between a crash and the step that carries it on. What a restore erases again it erases for all:
    /// there the events tell whose it is.
    pub(super) fn trail(&self, tenant: u32, id: ErasureId, begun: u64) -> Result<Trail, Error> {
        let mut trail = Trail { all_zero: true, ..Trail::default() };
        let (mut next, mut start, mut place, mut turn) = (begun, begun, None, false);
        let mut restored = self.restored_since(tenant, id, begun)?;
        loop {
            let entries = self.reader.read(start, place, ENTRIES_AT_ONCE, BYTES_AT_ONCE)?;
            for entry in entries.iter().filter(|entry| entry.head.offset >= next) {
                let is = |sub| entry.head.kind == Kind::Control && entry.head.sub == sub;
                if is(control::ERASURE_STEP) {
                    let step = entry.what.live().and_then(|bytes| ErasureStep::decode(bytes).ok());
                    turn = step.is_some_and(|step| step.id == id);
                }
                let again = restored.as_mut().is_some_and(|restored| restored.is_in(entry));
                turn &= !is(control::FORGET_BEGUN) && !is(control::FORGET_PLANNED) && !again;
                if entry.head.tenant != tenant || !is(control::ERASE) {
                    continue;
                }
                let own = again && restored.as_ref().is_some_and(|all| all.is_own(self, entry));
                if turn || own {
                    self.follow(tenant, entry, &mut trail)?;
                }
            }
            let Some(last) = entries.last().filter(|last| last.head.offset >= next) else {
                return Ok(trail);
            };
            // The next read begins with this entry again, because its place is known.
            (next, start, place) = (last.head.offset + 1, last.head.offset, Some(last.place));
        }
    }

    fn follow(&self, tenant: u32, entry: &Entry, trail: &mut Trail) -> Result<(), Error> {
        let payload = entry.what.live().and_then(ErasePayload::decode);
        trail.erased.push(entry.head.seal);
        let Some(payload) = payload else { return Ok(()) };
        let residue = Residue::decode(&payload.residue).unwrap_or_default();
        for target in payload.targets {
            trail.sections += u64::from(target.who) + u64::from(target.what);
            let found = self.reader.entry(target.offset, target.place)?;
            let is_gone = |named: bool, section: &SectionState| !named || section.live().is_none();
            trail.all_zero &= is_gone(target.who, &found.who) && is_gone(target.what, &found.what);
            if found.head.kind == Kind::Experience && found.head.tenant == tenant {
                trail.events.insert(found.head.id);
                if residue.stays(target.offset).is_some() {
                    trail.redacted.insert(found.head.id);
                }
            }
        }
        Ok(())
    }

    /// Whether the search index still has something of an erased event.
    fn is_found(&self, tenant: u32, trail: &Trail) -> Result<bool, Error> {
        let Some(search) = &self.search else { return Ok(false) };
        let keys = trail.events.iter().map(|id| RecordKey::first(Layer::Event, *id));
        let held = search.index.holds(tenant, &keys.collect::<Vec<_>>()).map_err(Error::from)?;
        Ok(held.iter().any(|held| held.lexical || held.vector))
    }
}

/// The hash of a manifest, as whoever has its text can make it.
fn hash_of(manifest: &WholeManifest) -> [u8; 32] {
    let deleted = manifest.delete.iter().map(|id| ("delete", id.to_string()));
    let redacted = manifest.redact.iter().map(|id| ("redact", id.to_string()));
    let held = manifest.held.iter().map(|id| ("held", id.to_string()));
    certificate::manifest(deleted.chain(redacted).chain(held))
}
