//! Portable memory stores: what a scope knows as memories, relations and conversations.
//!
//! The format has one checksum over all memories, so a store is made whole in memory, within a bound, and
//! sent as a ZIP whose bytes depend on the plan and the records alone.

mod delta;
mod events;
mod facts;
mod gather;
mod layers;
mod snapshot;
mod terms;

use lamina_api::ApiError;
use lamina_engine::read::export::ExportPoint;
use lamina_portable::pam::{
    BUNDLE_BYTES_MAX, Embedding, ExportSpan, MemoryKind, StoreExport, WriteError, WrittenBundle,
    owner_id,
};
use lamina_portable::zip::{StoredFile, ZipWriter};
use lamina_types::{ErrorCode, Micros, RecordedAt};

use super::ExportPlan;
use super::output::{PieceBuffer, PieceSender, PieceWriter};
use super::reach::ExportReach;
use super::walk::{ExportStop, ExportSummary};
use crate::http::failure::internal;

use snapshot::{Snapshot, SnapshotFrame};
pub(crate) use terms::{PamClock, pam_terms};

/// The program in `exported_by`.
const EXPORTER: &str = concat!("lamina/", env!("CARGO_PKG_VERSION"));
/// The model of vectors.
const EMBEDDING_MODEL: &str = "lamina-static-256/1";
/// The status of a memory that is gone.
const RETRACTED: &str = "retracted";
/// Bytes of a file that are written between two pieces.
const WRITE_BYTES: usize = 64 << 10;

/// The terms of a portable memory store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PamTerms {
    /// The id of the export.
    pub(crate) export_id: String,
    /// When it was asked for.
    pub(crate) exported_at: Micros,
    /// The export before it, for a delta.
    pub(crate) base: Option<PamBase>,
    /// Which versions of facts are in it.
    pub(crate) history: PamHistory,
    /// Whether each memory has a vector of its words.
    pub(crate) has_embeddings: bool,
}

/// The base of a delta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PamBase {
    /// The id of the full export, if it was named by its id.
    pub(crate) export_id: Option<String>,
    /// Everything recorded until then was in it.
    pub(crate) since: RecordedAt,
}

/// Which versions of facts are in a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PamHistory {
    /// Those that are believed.
    Current,
    /// All versions that were ever recorded.
    Full,
}

/// Makes a store and sends it.
pub(super) async fn walk(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    terms: &PamTerms,
    out: PieceSender,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<ExportSummary, ExportStop> {
    let frame = SnapshotFrame::new(plan, terms);
    let records = gather::gather(reach, plan, &plan.point, progress).await?;
    let mut snapshot = Snapshot::build(records, &frame);
    let mut span = ExportSpan::Full;
    if let Some(base) = &terms.base {
        let point = ExportPoint {
            scope: plan.point.scope.clone(),
            recorded: base.since,
            in_the_past: true,
        };
        let records = gather::gather(reach, plan, &point, &|_| ()).await?;
        let engine = reach.desk().app.engine.clone();
        for id in engine.export_erased(reach.permit(), &point).await? {
            let kind = MemoryKind::Custom(events::CUSTOM_TYPE.to_owned());
            snapshot.erased.insert(id.to_string(), kind);
        }
        let before = Snapshot::build(records, &SnapshotFrame { as_of: base.since, ..frame });
        let live = snapshot.memories.keys().chain(snapshot.conversations.keys());
        let live = live.chain(snapshot.index_entries.keys()).cloned().collect();
        snapshot = delta::between(&before, snapshot, base.since, plan.point.recorded);
        let base_export_id = base.export_id.clone();
        span = ExportSpan::Incremental { base_export_id, since: base.since.0, live };
    }
    let embeddings = match terms.has_embeddings {
        true => embed(reach, &mut snapshot, terms).await?,
        false => Vec::new(),
    };
    let Snapshot { memories, relations, conversations, index_entries, mut account, .. } = snapshot;
    let export = StoreExport {
        owner_id: owner_id(plan.point.scope.as_str()),
        owner_did: None,
        export_id: terms.export_id.clone(),
        exported_at: terms.exported_at,
        exported_by: EXPORTER.to_owned(),
        span,
        memories: memories.into_values().collect(),
        relations: relations.into_values().collect(),
        conversations: conversations.into_values().collect(),
        index_entries: index_entries.into_values().collect(),
        embeddings,
        key: None,
    };
    let WrittenBundle { files, withheld_memories, dropped_relations } =
        export.write().map_err(stop_of)?;
    account.skip("the memory is not to be exported", withheld_memories);
    account.skip("the relation has an end outside of the export", dropped_relations);
    let buffer = PieceBuffer::default();
    let writer = PieceWriter::new(buffer.clone(), out.compression);
    let mut archive = ZipWriter::new(writer);
    let mut sender = Sender { out, buffer, bytes: 0 };
    for file in files {
        let head = StoredFile { name: &file.name, bytes: file.bytes.len() as u64, modified: None };
        archive.add(head, &mut file.bytes.as_slice()).map_err(|e| internal(e.to_string()))?;
        sender.send_full().await?;
    }
    let writer = archive.finish().map_err(|error| internal(error.to_string()))?;
    writer.finish().map_err(|error| internal(error.to_string()))?;
    let bytes = sender.send_rest().await?;
    Ok(ExportSummary { bytes, account })
}

/// Gives each memory a vector of its words; one without a known word has none.
async fn embed(
    reach: &ExportReach,
    snapshot: &mut Snapshot,
    terms: &PamTerms,
) -> Result<Vec<Embedding>, ExportStop> {
    let engine = reach.desk().app.engine.clone();
    let texts = snapshot.memories.values().map(|memory| memory.content.clone()).collect();
    let meanings = engine.export_meanings(texts).await?;
    let mut embeddings = Vec::new();
    for (memory, vector) in snapshot.memories.values_mut().zip(meanings) {
        let Some(vector) = vector.filter(|_| memory.status != RETRACTED) else { continue };
        let id = format!("vec-{}", memory.id);
        memory.embedding_ref = Some(id.clone());
        let (memory_id, model) = (memory.id.clone(), EMBEDDING_MODEL.to_owned());
        embeddings.push(Embedding { id, memory_id, model, created_at: terms.exported_at, vector });
    }
    Ok(embeddings)
}

/// A store that is too large is the asker's to narrow; everything else is ours.
fn stop_of(error: WriteError) -> ExportStop {
    match error {
        WriteError::TooLarge => too_large(),
        error => ExportStop::Failed(internal(error.to_string())),
    }
}

fn too_large() -> ExportStop {
    let text = format!(
        "The store would have a document of more than {BUNDLE_BYTES_MAX} bytes; export the scopes below \
         one by one, fewer layers, or the format jsonl."
    );
    ExportStop::Failed(ApiError::new(ErrorCode::BodyTooLarge, text).into())
}

struct Sender {
    out: PieceSender,
    buffer: PieceBuffer,
    bytes: u64,
}

impl Sender {
    async fn send_full(&mut self) -> Result<(), ExportStop> {
        match self.buffer.full() {
            Some(piece) => self.send(piece).await,
            None => Ok(()),
        }
    }

    async fn send_rest(mut self) -> Result<u64, ExportStop> {
        let rest = self.buffer.rest();
        if !rest.is_empty() {
            self.send(rest).await?;
        }
        Ok(self.bytes)
    }

    async fn send(&mut self, piece: bytes::Bytes) -> Result<(), ExportStop> {
        self.bytes += piece.len() as u64;
        for start in (0..piece.len()).step_by(WRITE_BYTES) {
            let end = piece.len().min(start + WRITE_BYTES);
            let part = piece.slice(start..end);
            self.out.pieces.send(Ok(part)).await.map_err(|_| ExportStop::Closed)?;
        }
        Ok(())
    }
}
