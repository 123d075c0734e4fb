//! The evidence of a scope: its chain, the blobs that its events name, and refusals that the caller may see.

use std::collections::BTreeMap;

use lamina_core::policy::Caller;
use lamina_engine::audit::{AuditFilter, AuditPermit, AuditQuery};
use lamina_engine::read::export::{ChainItem, ChainRest, ChainSubject, SignedEnd};
use lamina_types::audit::Decision;
use lamina_types::capability::{AuditRead, AuditReadCrossActor, BlobRead};
use lamina_types::{AuditRow, BlobId, Content, Micros};

use super::super::ExportPlan;
use super::super::reach::ExportReach;
use super::super::walk::ExportStop;
use super::{BLOB_BYTES_MAX, BLOBS_MAX, BUNDLE_BYTES_MAX, RECORDS_MAX, too_large};
use crate::http::failure::internal;

/// Refusals of a bundle; older ones are left out.
const REFUSALS_MAX: usize = 10_000;
/// Rows of the audit log on a page.
const ROWS_PAGE: usize = 500;
/// Bytes of a blob that are read at once.
const BLOB_PIECE_BYTES: usize = 256 << 10;
/// Memory of an entry beside its words.
const ENTRY_BYTES: u64 = 512;

/// The parts of a bundle.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// The chain, in the order of the log.
    pub(super) items: Vec<ChainItem>,
    /// The way to a signed checkpoint.
    pub(super) end: Option<Box<SignedEnd>>,
    /// Blobs by their ids.
    pub(super) blobs: BTreeMap<BlobId, BlobEvidence>,
    /// Refused requests, oldest first.
    pub(super) refusals: Vec<AuditRow>,
    /// The actors of these refusals.
    pub(super) refusals_of: RefusalsOf,
}

/// The actors whose refusals a bundle has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum RefusalsOf {
    /// The caller may not read the audit log.
    #[default]
    Nobody,
    /// The caller's own.
    Caller,
    /// Everybody's.
    Everybody,
}

/// A blob that an event names.
#[derive(Debug, Clone)]
pub(super) enum BlobEvidence {
    /// It travels along.
    Whole { content_type: String, bytes: Vec<u8> },
    /// Its hash alone does.
    Hash { content_type: String, size: u64, sha256: [u8; 32] },
    /// Nothing is known of it.
    Missing,
}

/// Reads the evidence of a scope.
pub(super) async fn gather(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    progress: &(dyn Fn(u64) + Send + Sync),
) -> Result<Evidence, ExportStop> {
    let mut evidence = Evidence::default();
    let engine = reach.desk().app.engine.clone();
    let (mut after, mut bytes, mut events) = (None, 0, 0);
    loop {
        reach.renew(plan).await?;
        let page = engine.export_chain(reach.permit(), &plan.point, after).await?;
        for item in page.items {
            if let ChainSubject::Event(event) = &item.subject {
                events += 1;
                let record = event.record.as_ref().map(|(record, _)| &record.experience);
                bytes += record.map_or(0, |own| own.content.flattened_bytes()) as u64;
            }
            bytes += ENTRY_BYTES + item.head.len() as u64;
            evidence.items.push(item);
        }
        if bytes > BUNDLE_BYTES_MAX || evidence.items.len() as u64 > RECORDS_MAX {
            return Err(too_large().into());
        }
        progress(events);
        match page.rest {
            ChainRest::Page(cursor) => after = Some(cursor),
            ChainRest::End(end) => {
                evidence.end = Some(end);
                break;
            }
            ChainRest::Empty => break,
        }
    }
    gather_blobs(reach, plan, &mut evidence, bytes).await?;
    gather_refusals(reach, plan, &mut evidence).await?;
    Ok(evidence)
}

async fn gather_blobs(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    evidence: &mut Evidence,
    mut bytes: u64,
) -> Result<(), ExportStop> {
    let mut named = BTreeMap::new();
    for item in &evidence.items {
        let ChainSubject::Event(event) = &item.subject else { continue };
        let Some((record, _)) = &event.record else { continue };
        for id in blobs_of(&record.experience.content) {
            named.insert(id, ());
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    if named.len() > BLOBS_MAX {
        return Err(too_large().into());
    }
    let (desk, caller) = (reach.desk().clone(), reach.caller().clone());
    let permit = desk.app.stack(&caller, None).await?.permit::<BlobRead>(&caller, None);
    for id in named.into_keys() {
        reach.renew(plan).await?;
        let Ok(permit) = &permit else {
            evidence.blobs.insert(id, BlobEvidence::Missing);
            continue;
        };
        let found = desk.app.engine.export_blob(permit, id).await?;
        let Some((record, reader)) = found else {
            evidence.blobs.insert(id, BlobEvidence::Missing);
            continue;
        };
        let content_type = record.content_type;
        if record.size_bytes > BLOB_BYTES_MAX {
            let (size, sha256) = (record.size_bytes, record.sha256);
            evidence.blobs.insert(id, BlobEvidence::Hash { content_type, size, sha256 });
            continue;
        }
        bytes += record.size_bytes;
        if bytes > BUNDLE_BYTES_MAX {
            return Err(too_large().into());
        }
        let read = tokio::task::spawn_blocking(move || {
            let mut content = Vec::new();
            let mut piece = vec![0; BLOB_PIECE_BYTES];
            loop {
                let count = reader.read_at(&mut piece, content.len() as u64)?;
                if count == 0 {
                    return Ok::<_, std::io::Error>(content);
                }
                content.extend_from_slice(piece.get(..count).unwrap_or(&piece));
            }
        });
        let read = read.await.map_err(|error| internal(error.to_string()))?;
        let content = read.map_err(|error| internal(error.to_string()))?;
        evidence.blobs.insert(id, BlobEvidence::Whole { content_type, bytes: content });
    }
    Ok(())
}

/// The blobs that an event names.
pub(super) fn blobs_of(content: &Content) -> Vec<BlobId> {
    let own = match content {
        Content::BlobRef { blob_id, .. } => Some(*blob_id),
        _ => None,
    };
    own.into_iter().chain(content.media().iter().map(|media| media.blob_id)).collect()
}

/// Refused requests to the scope until the point of the export: one's own, and everybody's for those who may read
/// them.
async fn gather_refusals(
    reach: &mut ExportReach,
    plan: &ExportPlan,
    evidence: &mut Evidence,
) -> Result<(), ExportStop> {
    let Some(permit) = audit_permit(reach).await? else { return Ok(()) };
    evidence.refusals_of =
        if permit.others.is_some() { RefusalsOf::Everybody } else { RefusalsOf::Caller };
    let engine = reach.desk().app.engine.clone();
    let filter = AuditFilter {
        decision: Some(Decision::Deny),
        scope: Some(plan.point.scope.clone()),
        until: Some(Micros(plan.point.recorded.0.0.saturating_add(1))),
        ..AuditFilter::default()
    };
    let mut before = None;
    loop {
        reach.renew(plan).await?;
        let query = AuditQuery { filter: filter.clone(), before, limit: ROWS_PAGE };
        let page = engine.audit_rows(&permit, query).await?;
        let is_own = |row: &AuditRow| {
            row.who.as_ref().and_then(|who| who.scope.as_ref()) == Some(&plan.point.scope)
        };
        evidence.refusals.extend(page.items.into_iter().filter(is_own));
        before = page.next;
        if before.is_none() || evidence.refusals.len() >= REFUSALS_MAX {
            break;
        }
    }
    evidence.refusals.truncate(REFUSALS_MAX);
    evidence.refusals.reverse();
    evidence.refusals.sort_by_key(|row| row.at);
    Ok(())
}

async fn audit_permit(reach: &ExportReach) -> Result<Option<AuditPermit>, ExportStop> {
    let caller: &Caller = reach.caller();
    let stack = reach.desk().app.stack(caller, None).await?;
    let Ok(own) = stack.permit::<AuditRead>(caller, None) else { return Ok(None) };
    let others = stack.permit::<AuditReadCrossActor>(caller, None).ok();
    Ok(Some(AuditPermit { own, others }))
}
