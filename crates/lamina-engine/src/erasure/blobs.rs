//! The blobs of a person whose scope is erased: their bytes go, whoever else refers to them. The events of others
//! stay and answer that the blob is gone. A legal hold on a scope that refers to one keeps it.

use std::collections::BTreeSet;

use lamina_store::codec::control::Blob;
use lamina_store::log::EraseTarget;
use tokio::sync::oneshot;

use super::plan::Wanted;
use super::run::Job;
use crate::engine::Inner;
use crate::write::capture::{Remains, Request};
use crate::{Engine, Error};

/// Blobs looked at, and removed, at a time.
const BLOBS_AT_ONCE: usize = 256;
/// Events that refer to a blob whose scopes are asked for a hold. One with more of them is kept while any
/// hold stands.
const REFERENCES_MAX: usize = 10_000;

/// The blobs that a person uploaded.
#[derive(Debug, Default)]
pub(super) struct UploadedBlobs {
    /// Their entries.
    targets: Vec<EraseTarget>,
    /// Their files.
    files: Vec<[u8; 16]>,
    /// How many a legal hold keeps.
    pub(super) held: u64,
}

impl Engine {
    /// Removes the blobs of the person whose scope is erased as a whole.
    pub(super) async fn take_blobs(&self, job: &Job) -> Result<(), Error> {
        self.inner.caught_up().await;
        let wanted = job.wanted.clone();
        let found = self.blocking(move |inner| inner.uploaded_blobs(&wanted)).await?;
        let parts = found.targets.chunks(BLOBS_AT_ONCE).zip(found.files.chunks(BLOBS_AT_ONCE));
        for (targets, files) in parts {
            let (reply, answer) = oneshot::channel();
            let (tenant, remains) = (job.wanted.tenant, Remains::default());
            let request = Request::Erase { tenant, targets: targets.to_vec(), remains, reply };
            self.inner.going(files, self.inner.submit(request, answer)).await?;
        }
        Ok(())
    }
}

impl Inner {
    /// The blobs that the person uploaded before the erasure began, if the person or an administrator asks. None
    /// for a scope that bears no person's name, and for an erasure of single events.
    pub(super) fn uploaded_blobs(&self, wanted: &Wanted) -> Result<UploadedBlobs, Error> {
        let mut found = UploadedBlobs::default();
        let person = wanted.reach.person.as_ref().filter(|_| wanted.events.is_empty());
        let Some(person) = person.filter(|_| wanted.reach.reaches_elsewhere()) else {
            return Ok(found);
        };
        let tenant = wanted.tenant;
        let mut held = BTreeSet::new();
        for scope in self.hold_scopes(tenant)? {
            held.extend(self.scopes_under(tenant, &self.scope_path(tenant, scope)?)?);
        }
        let mut after = None;
        loop {
            let rows = self.views.blobs(tenant, after, BLOBS_AT_ONCE)?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = Some(last.id);
            for row in rows.iter().filter(|row| row.offset < wanted.up_to) {
                let entry = self.reader.entry(row.offset, row.place)?;
                let blob = entry.what.live().and_then(|bytes| Blob::decode(bytes).ok());
                if blob.is_none_or(|blob| blob.uploader != *person) {
                    continue;
                }
                let users = self.views.blob_references(tenant, row.id, REFERENCES_MAX)?;
                let mut kept = users.len() == REFERENCES_MAX && !held.is_empty();
                for user in users {
                    let scope = self.views.event(tenant, user)?.map(|event| event.scope);
                    kept |= scope.is_some_and(|scope| held.contains(&scope));
                }
                if kept {
                    found.held += 1;
                    continue;
                }
                let (offset, place) = (row.offset, row.place);
                found.targets.push(EraseTarget { offset, place, who: true, what: true });
                found.files.push(row.file);
            }
        }
    }
}
