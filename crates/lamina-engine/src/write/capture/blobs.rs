//! What the writer decides about blobs: whether a key was used before, whether one is there, whether
//! it may go.

use lamina_store::codec::control::{BlobKey, BlobRemoved};
use lamina_store::entry::control;
use lamina_store::log::{NewEntry, Section};
use lamina_types::BlobId;

use super::{Capture, Due, Group, PreparedWrite, system_entry};
use crate::Error;
use crate::write::prepare::section;
use crate::write::request::{BlobPlaced, Reply};

/// References to a blob that are counted before we stop: one is enough to keep it.
const REFERENCES_COUNTED_MAX: usize = 1_000;

impl Capture {
    /// Announces a blob, unless its key was used before: then it is the blob of that upload.
    pub(super) fn take_blob(
        &mut self,
        blob: BlobId,
        key: Option<BlobKey>,
        entry: NewEntry,
        reply: Reply<BlobPlaced>,
        group: &mut Group,
    ) {
        let known = match &key {
            None => Ok(None),
            Some(key) => self.known_upload(entry.tenant, key, group),
        };
        let placed = match known {
            Ok(Some(id)) => BlobPlaced { id, replayed: true },
            Ok(None) => {
                if let Some(BlobKey { idem_mac, body_mac }) = key {
                    group.blob_keys.insert(idem_mac, (group.entries.len(), blob, body_mac));
                }
                group.entries.push(entry);
                BlobPlaced { id: blob, replayed: false }
            }
            Err(error) => return drop(reply.send(Err(error))),
        };
        group.due.push(Due::Blob { placed, reply });
    }

    /// The blob that was uploaded under a key, in this group, since, or as the views know.
    fn known_upload(
        &self,
        tenant: u32,
        key: &BlobKey,
        group: &Group,
    ) -> Result<Option<BlobId>, Error> {
        let mac = &key.idem_mac;
        let appended = group.blob_keys.get(mac).map(|(_, blob, body)| (*blob, *body));
        let appended = appended
            .or_else(|| self.recent.blob_keys.get(mac).map(|(blob, body, _)| (*blob, *body)));
        let known = match appended {
            Some(known) => Some(known),
            None => {
                let used = self.views.blob_by_key(tenant, mac)?;
                let used = used.filter(|used| !used.is_expired(self.log.tip().recorded_at));
                used.map(|used| (used.id, used.body_mac))
            }
        };
        match known {
            Some((blob, _)) if self.is_removed(blob, group) => Ok(None),
            Some((_, body)) if body != key.body_mac => Err(Error::IdempotencyConflict { index: 0 }),
            known => Ok(known.map(|(blob, _)| blob)),
        }
    }

    pub(super) fn take_blob_removal(
        &mut self,
        tenant: u32,
        blob: BlobId,
        who: Section,
        reply: Reply<()>,
        group: &mut Group,
    ) {
        match self.decide_blob_remove(tenant, blob, group) {
            Ok(added) => {
                let what = section(&*self.rng, &BlobRemoved { id: blob }.encode());
                // The fold finds the blob by its entry: words may be erased by then.
                let entry = system_entry(control::BLOB_REMOVED, tenant, who, what);
                group.removed_blobs.insert(blob, group.entries.len());
                group.entries.push(NewEntry { causes: vec![added], ..entry });
                group.due.push(Due::Plain { reply });
            }
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    pub(super) fn check_blobs(
        &self,
        index: usize,
        item: &PreparedWrite,
        group: &Group,
    ) -> Result<(), Error> {
        for (blob, id) in item.blobs.iter().enumerate() {
            let known = self.views.blob(item.tenant, *id)?.is_some();
            if !known || self.is_removed(*id, group) {
                return Err(Error::UnknownBlob { index, blob });
            }
        }
        Ok(())
    }

    /// Whether the blob is removed though the views may still have it.
    fn is_removed(&self, blob: BlobId, group: &Group) -> bool {
        self.recent.removed_blobs.contains(&blob) || group.removed_blobs.contains_key(&blob)
    }

    /// The offset of the entry that added the blob, if nothing refers to it: in the views, since, or
    /// in this very group.
    fn decide_blob_remove(&self, tenant: u32, blob: BlobId, group: &Group) -> Result<u64, Error> {
        let row = self.views.blob(tenant, blob)?.ok_or(Error::NotFound)?;
        if self.is_removed(blob, group) {
            return Err(Error::NotFound);
        }
        let pending = group.blobs.iter().filter(|(id, _)| *id == blob).count() as u64
            + u64::from(self.recent.blobs.contains_key(&blob));
        let stored = self.views.blob_references(tenant, blob, REFERENCES_COUNTED_MAX)?.len() as u64;
        match stored + pending {
            0 => Ok(row.offset),
            events => Err(Error::BlobInUse { events }),
        }
    }
}
