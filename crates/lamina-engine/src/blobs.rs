//! Blobs: bytes in files of their own, metadata as a control entry.
//!
//! The file and its directory are durable before the entry is appended; a file that no entry names
//! is garbage and goes after a day.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_env::rng::draw;
use lamina_store::blob::{BlobFile, BlobSum, BlobWriter};
use lamina_store::codec::control::{Blob, BlobKey};
use lamina_types::capability::{
    BlobRead, BlobUpload as UploadCapability, PolicyAdministerDeployment, ScopeReadLocal,
};
use lamina_types::{ActorId, BlobId};
use tokio::sync::oneshot;

use crate::admin::{Noted, Sight, by};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::write::room::{self, Room};
use crate::{Engine, Error};

/// Keys of uploads are apart from those of writes (R429), which have the numbers before.
const FAMILY: u8 = 2;
/// Events whose scopes are asked for to see whether a caller may read a blob.
const REFERENCES_ASKED_MAX: usize = 10_000;
/// Images larger than this get no perceptual hash.
const HASHED_BYTES_MAX: u64 = 32 * 1_024 * 1_024;
/// Pixels of an image that is decoded.
const HASHED_PIXELS_MAX: u64 = 40_000_000;
/// Memory that a decoder may take.
const DECODED_BYTES_MAX: u64 = 64 * 1_024 * 1_024;
/// The first bytes of a blob, of which its format is guessed.
const FORMAT_BYTES: usize = 64;

/// A blob's metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobRecord {
    /// Its id.
    pub id: BlobId,
    /// Its length.
    pub size_bytes: u64,
    /// The content type it was uploaded with.
    pub content_type: String,
    /// SHA-256 of its bytes.
    pub sha256: [u8; 32],
    /// Difference hash, if it is an image we can decode.
    pub perceptual_hash: Option<u64>,
}

/// What an upload came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobStored {
    /// The blob.
    pub record: BlobRecord,
    /// The key was used before for the same: this is the blob of that upload.
    pub replayed: bool,
}

/// What is said about an upload beside its bytes.
#[derive(Debug, Clone)]
pub struct BlobSaid {
    /// The content type.
    pub content_type: String,
    /// The idempotency key, if it has one.
    pub key: Option<String>,
}

/// An upload under way. Dropped without being finished, it leaves nothing.
#[derive(Debug)]
pub struct BlobUpload {
    writer: BlobWriter,
    room: Room,
    written: u64,
    max: u64,
}

impl BlobUpload {
    /// Adds bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.written += bytes.len() as u64;
        if self.written > self.max {
            return Err(Error::BlobTooLarge { max: self.max });
        }
        if self.room.is_low() {
            return Err(room::refusal());
        }
        self.writer.write(bytes).map_err(Error::BlobStore)
    }
}

/// Reads a blob's bytes.
#[derive(Debug)]
pub struct BlobReader {
    file: BlobFile,
}

impl BlobReader {
    /// Reads up to the buffer's length; fewer bytes only at the end.
    pub fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.file.read_at(buffer, position)
    }
}

impl Engine {
    /// Begins an upload.
    pub fn blob_start(&self, _permit: &Permit<UploadCapability>) -> Result<BlobUpload, Error> {
        let writer = self.inner.blobs.start().map_err(Error::BlobStore)?;
        let room = self.inner.room.clone();
        Ok(BlobUpload { writer, room, written: 0, max: self.inner.settings.blob_bytes_max })
    }

    /// Ends an upload: when it returns, the blob is durable and can be referred to.
    pub async fn blob_finish(
        &self,
        permit: &Permit<UploadCapability>,
        upload: BlobUpload,
        said: BlobSaid,
        noted: &Noted,
    ) -> Result<BlobStored, Error> {
        let caller = permit.caller();
        let BlobSaid { content_type, key } = said;
        let panicked = |_| Error::BlobStore(io::Error::other("the upload panicked"));
        let finished = tokio::task::spawn_blocking(move || upload.writer.finish());
        let stored = finished.await.map_err(panicked)?.map_err(Error::BlobStore)?;
        let (inner, file, size) = (Arc::clone(&self.inner), stored.file, stored.size);
        let is_picture = tokio::task::spawn_blocking(move || inner.is_picture(file, size));
        let perceptual_hash = if is_picture.await.map_err(panicked)? {
            // Only pictures wait for the decoder.
            let place = Arc::clone(&self.inner.turns.pictures).acquire_owned().await;
            let place = place.map_err(|_| Error::ShuttingDown)?;
            let (inner, file, size) = (Arc::clone(&self.inner), stored.file, stored.size);
            let hashed = tokio::task::spawn_blocking(move || {
                // Taken along: the work goes on even if the caller is gone.
                let _place = place;
                inner.perceptual_hash(file, size)
            });
            hashed.await.map_err(panicked)?
        } else {
            None
        };
        let id = BlobId::mint(self.now(), draw::<8>(&*self.inner.env.rng));
        let keyed = self.inner.keyed(caller.tenant)?;
        let key = key.map(|key| {
            let parts = [caller.actor.as_str().as_bytes(), &[FAMILY], key.as_bytes()];
            let idem_mac = keyed.mac("idempotency", &parts);
            let body = [content_type.as_bytes(), &stored.sha256];
            BlobKey { idem_mac, body_mac: keyed.mac("body", &body) }
        });
        let meta = Blob {
            id,
            size: stored.size,
            content_type: content_type.clone(),
            sha256: stored.sha256,
            perceptual_hash,
            file: stored.file,
            uploader: caller.actor.clone(),
            key,
        };
        let (reply, answer) = oneshot::channel();
        let what = section(&*self.inner.env.rng, &meta.encode());
        let who = by(&self.inner.env, permit, noted);
        let tenant = caller.tenant;
        let request = Request::BlobAdd { tenant, blob: id, key, who, what, reply };
        let placed = self.inner.submit(request, answer).await?;
        if !placed.replayed {
            return Ok(BlobStored { record: record(meta), replayed: false });
        }
        // No entry names the file that was just written.
        if let Err(error) = self.inner.blobs.remove(stored.file) {
            tracing::warn!(%error, "the file of a repeated upload is still there");
        }
        self.inner.caught_up().await;
        let record = record(self.inner.blob_meta(tenant, placed.id)?);
        Ok(BlobStored { record, replayed: true })
    }

    /// Whether a blob is the caller's own, or of an event in a scope in sight. One that is neither is as
    /// absent as one that is not there.
    pub async fn blob_is_seen(
        &self,
        mut sight: Sight<ScopeReadLocal>,
        id: BlobId,
    ) -> Result<bool, Error> {
        self.blocking(move |inner| inner.blob_is_seen(&mut sight, id)).await
    }

    /// A blob's metadata and its bytes, for a caller by whom it is seen.
    pub async fn blob(
        &self,
        permit: &Permit<BlobRead>,
        sight: Sight<ScopeReadLocal>,
        id: BlobId,
    ) -> Result<(BlobRecord, BlobReader), Error> {
        if sight.caller() != permit.caller() {
            return Err(Error::OutsidePermit);
        }
        if !self.blob_is_seen(sight, id).await? {
            return Err(Error::NotFound);
        }
        let tenant = permit.caller().tenant;
        let meta = match self.inner.blob_meta(tenant, id) {
            // Its bytes were erased, and an event that stays refers to them.
            Err(Error::NotFound)
                if !self.inner.views.blob_references(tenant, id, 1)?.is_empty() =>
            {
                return Err(Error::Deleted);
            }
            found => found?,
        };
        self.blocking(move |inner| inner.verified_blob(meta)).await
    }

    /// A blob that an event of an export refers to; `None` once its bytes are gone. The event must be one that
    /// the export has.
    pub async fn export_blob(
        &self,
        permit: &Permit<BlobRead>,
        id: BlobId,
    ) -> Result<Option<(BlobRecord, BlobReader)>, Error> {
        let tenant = permit.caller().tenant;
        self.blocking(move |inner| match inner.blob_meta(tenant, id) {
            Ok(meta) => inner.verified_blob(meta).map(Some),
            Err(Error::NotFound | Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    /// Who uploaded a blob.
    pub fn blob_uploader(
        &self,
        permit: &Permit<UploadCapability>,
        id: BlobId,
    ) -> Result<ActorId, Error> {
        Ok(self.inner.blob_meta(permit.caller().tenant, id)?.uploader)
    }

    /// Removes a blob that no event refers to: one's own, or with an operator's permit anybody's.
    pub async fn blob_delete(
        &self,
        permit: &Permit<UploadCapability>,
        operator: Option<&Permit<PolicyAdministerDeployment>>,
        id: BlobId,
        noted: &Noted,
    ) -> Result<BlobRecord, Error> {
        let tenant = permit.caller().tenant;
        let meta = self.inner.blob_meta(tenant, id)?;
        if meta.uploader != permit.caller().actor && operator.is_none() {
            return Err(Error::OutsidePermit);
        }
        let (reply, answer) = oneshot::channel();
        let who = by(&self.inner.env, permit, noted);
        let request = Request::BlobRemove { tenant, blob: id, who, reply };
        self.inner.going(&[meta.file], self.inner.submit(request, answer)).await?;
        Ok(record(meta))
    }
}

impl Inner {
    /// Removes files when what erases their entries is done. They are marked before, so that a crash in between
    /// leaves none behind.
    pub(crate) async fn going<T>(
        &self,
        files: &[[u8; 16]],
        erased: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.blobs.mark(files).map_err(Error::BlobStore)?;
        // If it fails, whoever looks next sees whether an entry names them.
        let erased = erased.await?;
        for file in files {
            if let Err(error) = self.blobs.remove(*file) {
                tracing::warn!(%error, "a file of a blob could not be removed yet");
            }
        }
        Ok(erased)
    }

    fn blob_is_seen(&self, sight: &mut Sight<ScopeReadLocal>, id: BlobId) -> Result<bool, Error> {
        let tenant = sight.caller().tenant;
        let own = match self.blob_meta(tenant, id) {
            Ok(meta) => meta.uploader == sight.caller().actor,
            // Who may read an event that refers to it is told that it is gone.
            Err(Error::Deleted | Error::NotFound) => false,
            Err(error) => return Err(error),
        };
        if own || sight.is_of_everybody() {
            return Ok(true);
        }
        let mut asked = BTreeSet::new();
        for event in self.views.blob_references(tenant, id, REFERENCES_ASKED_MAX)? {
            let Some(row) = self.views.event(tenant, event)? else { continue };
            if asked.insert(row.scope) && sight.sees(row.scope)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A blob whose bytes were held against their hash.
    fn verified_blob(&self, meta: Blob) -> Result<(BlobRecord, BlobReader), Error> {
        let id = meta.id;
        // Opened before it is verified: what is read then is what was verified, whatever happens to the name.
        let opened = self.blobs.open_file(meta.file);
        let sum = BlobSum { file: meta.file, size: meta.size, sha256: meta.sha256 };
        let verified = self.blobs.verify(&sum, &mut |_| true).map_err(Error::BlobStore)?;
        if let Err(fault) = verified {
            self.shared.scrub.found(format!("the blob {id}: {fault}"));
            return Err(Error::BlobDamaged { id, fault });
        }
        Ok((record(meta), BlobReader { file: opened.map_err(Error::BlobStore)? }))
    }

    fn blob_meta(&self, tenant: u32, id: BlobId) -> Result<Blob, Error> {
        let row = self.views.blob(tenant, id)?.ok_or(Error::NotFound)?;
        let entry = self.reader.entry(row.offset, row.place)?;
        let bytes = entry.what.live().ok_or(Error::Deleted)?;
        Blob::decode(bytes).map_err(|_| Error::Undecodable { what: "a blob" })
    }

    /// Whether a blob begins like an image of a known format and may have a perceptual hash.
    fn is_picture(&self, file: [u8; 16], size: u64) -> bool {
        if size == 0 || size > HASHED_BYTES_MAX {
            return false;
        }
        let mut first = [0; FORMAT_BYTES];
        let read = self.blobs.open_file(file).and_then(|reader| reader.read_at(&mut first, 0));
        let first = read.ok().and_then(|read| first.get(..read)).unwrap_or_default();
        image::guess_format(first).is_ok_and(|format| format.reading_enabled())
    }

    /// The difference hash of an image: 64 bits, one per neighbouring pair of a 9 x 8 grey picture.
    /// Anything that does not decode within the limits has none.
    fn perceptual_hash(&self, file: [u8; 16], size: u64) -> Option<u64> {
        let reader = self.blobs.open_file(file).ok()?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        let read = reader.read_at(&mut bytes, 0).ok()?;
        bytes.truncate(read);
        // A decoder that panics on hostile bytes must not take the upload with it.
        std::panic::catch_unwind(|| difference_hash(&bytes)).ok().flatten()
    }
}

fn difference_hash(bytes: &[u8]) -> Option<u64> {
    let reader = || image::ImageReader::new(io::Cursor::new(bytes)).with_guessed_format().ok();
    let (width, height) = reader()?.into_dimensions().ok()?;
    if u64::from(width) * u64::from(height) > HASHED_PIXELS_MAX {
        return None;
    }
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(DECODED_BYTES_MAX);
    let mut reader = reader()?;
    reader.limits(limits);
    let picture = reader.decode().ok()?;
    let grey =
        image::imageops::resize(&picture.to_luma8(), 9, 8, image::imageops::FilterType::Triangle);
    let mut hash = 0u64;
    for y in 0..8 {
        for x in 0..8 {
            let brighter = grey.get_pixel(x, y).0 < grey.get_pixel(x + 1, y).0;
            hash = (hash << 1) | u64::from(brighter);
        }
    }
    Some(hash)
}

fn record(meta: Blob) -> BlobRecord {
    let Blob { id, size, content_type, sha256, perceptual_hash, .. } = meta;
    BlobRecord { id, size_bytes: size, content_type, sha256, perceptual_hash }
}
