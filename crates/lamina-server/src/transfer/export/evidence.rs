//! Evidence bundles: the chain of a scope as records, with a proof that none of its events is missing.
//!
//! A record names its parents by their hashes and the last record covers all others, so a bundle is made whole in
//! memory, within a bound, and sent as a ZIP whose bytes depend on the plan and the log alone.

mod build;
mod gather;
mod origin;
mod payload;

use lamina_aegx::write::{WriteError, write_zip};
use lamina_api::ApiError;
use lamina_types::ErrorCode;

use super::ExportPlan;
use super::evidence_terms::EvidenceTerms;
use super::output::{PieceBuffer, PieceSender, PieceWriter};
use super::reach::ExportReach;
use super::walk::{ExportStop, ExportSummary};
use crate::http::failure::{Failure, internal};
use build::{BuiltBundle, build};
use gather::gather;

/// Bytes of the records and blobs of a bundle.
pub(super) const BUNDLE_BYTES_MAX: u64 = 256 << 20;
/// Records of a bundle: as many as verifiers take from an archive.
pub(super) const RECORDS_MAX: u64 = 200_000;
/// Blobs of a bundle: an archive has a file for each.
pub(super) const BLOBS_MAX: usize = 40_000;
/// Bytes of a blob that travels; of a larger one there is the hash.
pub(super) const BLOB_BYTES_MAX: u64 = 16 << 20;
/// Bytes that are sent between two looks at the receiver.
const PIECE_BYTES: usize = 64 << 10;

/// Makes a bundle and sends it.
pub(super) async fn walk(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    terms: &EvidenceTerms,
    out: PieceSender,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<ExportSummary, ExportStop> {
    let evidence = gather(reach, plan, progress).await?;
    let (plan, terms) = (plan.clone(), terms.clone());
    let made = tokio::task::spawn_blocking(move || {
        let BuiltBundle { bundle, account } = build(evidence, &plan, &terms)?;
        let archive = write_zip(&bundle, Vec::new()).map_err(|e| internal(e.to_string()))?;
        Ok::<_, Failure>((archive, account))
    });
    let made = made.await.map_err(|error| internal(error.to_string()))?;
    let (archive, account) = made?;
    let bytes = send(&archive, out).await?;
    Ok(ExportSummary { bytes, account })
}

async fn send(archive: &[u8], out: PieceSender) -> Result<u64, ExportStop> {
    use std::io::Write as _;

    let failed = |error: std::io::Error| internal(error.to_string());
    let buffer = PieceBuffer::default();
    let mut writer = PieceWriter::new(buffer.clone(), out.compression);
    let mut bytes = 0;
    for piece in archive.chunks(PIECE_BYTES) {
        writer.write_all(piece).map_err(failed)?;
        if let Some(piece) = buffer.full() {
            bytes += piece.len() as u64;
            out.pieces.send(Ok(piece)).await.map_err(|_| ExportStop::Closed)?;
        }
    }
    writer.finish().map_err(failed)?;
    let rest = buffer.rest();
    bytes += rest.len() as u64;
    if !rest.is_empty() {
        out.pieces.send(Ok(rest)).await.map_err(|_| ExportStop::Closed)?;
    }
    Ok(bytes)
}

fn too_large() -> Failure {
    let text = format!(
        "The bundle would have more than {RECORDS_MAX} records, {BLOBS_MAX} blobs or {} MiB; use an earlier as_of or the format jsonl.",
        BUNDLE_BYTES_MAX >> 20
    );
    ApiError::new(ErrorCode::BodyTooLarge, text).into()
}

/// A record that does not fit ends the export; everything else is ours.
fn failure_of(error: WriteError) -> Failure {
    match error {
        WriteError::Io(error) if error.kind() == std::io::ErrorKind::FileTooLarge => too_large(),
        error => internal(error.to_string()),
    }
}
