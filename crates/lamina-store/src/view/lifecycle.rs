//! Lifecycle rows: ids and counts, kept for a week beside the replayed views.
//!
//! They are history of this machine's work, not of the world, so a replay does not make them anew.
//! They are put into a batch together with the progress they announce and committed with it.
//!
//! Most events go through all their stages in one round, so rows that follow each other and belong
//! to one event are stored as one run, under the id of the first. Ids grow, and no other event's
//! row has an id within a run: runs in key order are rows in order.

use std::ops::ControlFlow;

use lamina_types::forget::{Cascade, Layers};
use lamina_types::lifecycle::{ErasureReached, ImportReached, Payload};
use lamina_types::recall::Layer;
use lamina_types::{
    AuditId, BatchId, ConceptId, EpisodeId, ErasureId, ErrorCode, EventId, ImportId, LifecycleId,
    LifecycleKind, Micros, ModelFault, Stage,
};

use crate::codec::CodecError;
use crate::codec::dependants::{dependants, put_dependants};
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Place;
use crate::kv::{Batch, Direction, Space};
use crate::view::fold::row_error;
use crate::view::row::{batch, instant, put_batch, put_instant, small};
use crate::view::{ViewError, Views, key};

/// One lifecycle event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleRow {
    /// Its id.
    pub id: LifecycleId,
    /// What it announces.
    pub kind: LifecycleKind,
    /// The memory event.
    pub event_id: EventId,
    /// The ordinal of the event's home scope.
    pub scope: u64,
    /// When it was announced.
    pub at: Micros,
    /// The position within the lifecycle of this event, from 1.
    pub seq: u32,
    /// The bulk write the event came with.
    pub batch_id: Option<BatchId>,
    /// What the stage reports.
    pub payload: Payload,
    /// The event's entry.
    pub event_offset: u64,
    /// Where the log keeps it.
    pub event_place: Place,
}

/// What to do with each row of a walk: go on or stop.
pub type VisitLifecycle<'a> = dyn FnMut(LifecycleRow) -> ControlFlow<()> + 'a;

impl Views {
    /// Puts rows into a batch. They are newer than every stored row and in order.
    pub fn lifecycle_put(
        &self,
        batch: &mut Batch,
        tenant: u32,
        rows: &[LifecycleRow],
    ) -> Result<(), ViewError> {
        for run in rows.chunk_by(|a, b| a.event_id == b.event_id) {
            let Some(first) = run.first() else { continue };
            let bytes = encode_run(first, run).map_err(row_error(Space::Lifecycle))?;
            batch.put(Space::Lifecycle, key::lifecycle(tenant, &first.id), bytes);
            let by_event = key::lifecycle_of_event(tenant, &first.event_id, &first.id);
            batch.put(Space::Lifecycle, by_event, []);
        }
        Ok(())
    }

    /// A row by its id.
    pub fn lifecycle_get(
        &self,
        tenant: u32,
        id: LifecycleId,
    ) -> Result<Option<LifecycleRow>, ViewError> {
        let run = self.run_at_or_before(tenant, &id)?;
        Ok(run.into_iter().find(|row| row.id == id))
    }

    /// The rows of one event, oldest first.
    pub fn lifecycle_of_event(
        &self,
        tenant: u32,
        event: EventId,
    ) -> Result<Vec<LifecycleRow>, ViewError> {
        let least = LifecycleId::from_bytes([0; 16]);
        let most = LifecycleId::from_bytes([0xFF; 16]);
        let from = key::lifecycle_of_event(tenant, &event, &least);
        let to = key::after(key::lifecycle_of_event(tenant, &event, &most));
        let mut runs = Vec::new();
        self.walk(Space::Lifecycle, (&from, &to), &mut |key, _| {
            let id = key::tail_id(key).ok_or(CodecError::Truncated)?;
            runs.push(LifecycleId::from_bytes(id));
            Ok(ControlFlow::Continue(()))
        })?;
        let mut rows = Vec::new();
        for first in runs {
            if let Some(bytes) = self.get(Space::Lifecycle, &key::lifecycle(tenant, &first))? {
                rows.extend(decode_run(first, &bytes).map_err(row_error(Space::Lifecycle))?);
            }
        }
        Ok(rows)
    }

    /// Walks the rows of a tenant in order of ids, beyond `after` in that direction, at most
    /// `limit` of them.
    pub fn lifecycle_scan(
        &self,
        tenant: u32,
        after: Option<LifecycleId>,
        direction: Direction,
        limit: usize,
        visit: &mut VisitLifecycle<'_>,
    ) -> Result<(), ViewError> {
        let (mut from, mut to) = key::lifecycles(tenant);
        if let Some(id) = after {
            match direction {
                Direction::Backward => to = key::lifecycle(tenant, &id),
                // The run that holds `after` may hold rows behind it too.
                Direction::Forward => {
                    let run = self.run_at_or_before(tenant, &id)?;
                    from = run.first().map_or(from, |first| key::lifecycle(tenant, &first.id));
                }
            }
        }
        let mut left = limit;
        self.runs((&from, &to), direction, &mut |mut run| {
            run.retain(|row| match (after, direction) {
                (None, _) => true,
                (Some(after), Direction::Forward) => row.id > after,
                (Some(after), Direction::Backward) => row.id < after,
            });
            if direction == Direction::Backward {
                run.reverse();
            }
            for row in run {
                if left == 0 {
                    return ControlFlow::Break(());
                }
                left -= 1;
                visit(row)?;
            }
            ControlFlow::Continue(())
        })
    }

    /// Removes runs of rows announced before an instant, oldest first, at most `max`; says how many.
    pub fn lifecycle_prune(
        &self,
        tenant: u32,
        before: Micros,
        max: usize,
    ) -> Result<usize, ViewError> {
        let mut batch = Batch::default();
        let mut pruned = 0;
        let (from, to) = key::lifecycles(tenant);
        self.runs((&from, &to), Direction::Forward, &mut |run| {
            // Ids sort by the time they were minted at, so the first young row ends the walk.
            let (Some(first), Some(last)) = (run.first(), run.last()) else {
                return ControlFlow::Break(());
            };
            if pruned == max || last.at >= before {
                return ControlFlow::Break(());
            }
            let by_event = key::lifecycle_of_event(tenant, &first.event_id, &first.id);
            batch.delete(Space::Lifecycle, key::lifecycle(tenant, &first.id));
            batch.delete(Space::Lifecycle, by_event);
            pruned += 1;
            ControlFlow::Continue(())
        })?;
        if pruned > 0 {
            self.commit(batch)?;
        }
        Ok(pruned)
    }

    /// Forgets what was announced of entries, and how far they had come, from an offset on. They are of a longer
    /// log than the one that is there: an older one was put back, and others will be written in their place.
    pub fn forget_past(&self, next_offset: u64) -> Result<(), ViewError> {
        if self.applied().is_none_or(|applied| applied.next_offset <= next_offset) {
            return Ok(());
        }
        for tenant in self.tenants()? {
            let tenant = tenant.ordinal;
            let mut batch = Batch::default();
            let (from, to) = key::lifecycles(tenant);
            self.runs((&from, &to), Direction::Forward, &mut |run| {
                if let Some(first) = run.first().filter(|first| first.event_offset >= next_offset) {
                    let by_event = key::lifecycle_of_event(tenant, &first.event_id, &first.id);
                    batch.delete(Space::Lifecycle, key::lifecycle(tenant, &first.id));
                    batch.delete(Space::Lifecycle, by_event);
                }
                ControlFlow::Continue(())
            })?;
            self.commit(batch)?;
        }
        let mut batch = Batch::default();
        self.exceptions(&mut |row| {
            if row.offset >= next_offset {
                self.exception_delete(&mut batch, row.tenant, row.event_id);
            }
            ControlFlow::Continue(())
        })?;
        let watermark = self.pipeline_watermark()?.min(next_offset);
        self.pipeline_watermark_put(&mut batch, watermark);
        self.commit(batch)
    }

    /// The run that holds an id, if any does: the last that starts at or before it.
    fn run_at_or_before(
        &self,
        tenant: u32,
        id: &LifecycleId,
    ) -> Result<Vec<LifecycleRow>, ViewError> {
        let from = key::lifecycles(tenant).0;
        let to = key::after(key::lifecycle(tenant, id));
        let mut found = Vec::new();
        self.runs((&from, &to), Direction::Backward, &mut |run| {
            found = run;
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    fn runs(
        &self,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        visit: &mut dyn FnMut(Vec<LifecycleRow>) -> ControlFlow<()>,
    ) -> Result<(), ViewError> {
        let mut failed = None;
        let mut each = |key: &[u8], value: &[u8]| {
            let first = key::tail_id(key).map(LifecycleId::from_bytes);
            match first.ok_or(CodecError::Truncated).and_then(|first| decode_run(first, value)) {
                Ok(run) => visit(run),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        self.kv
            .scan(Space::Lifecycle, from, to, direction, &mut each)
            .map_err(|source| ViewError::Kv { doing: "walking lifecycle rows", source })?;
        failed.map_or(Ok(()), |error| Err(row_error(Space::Lifecycle)(error)))
    }
}

const FAILED: u8 = 16;
const CANCELLED: u8 = 32;
const REVISED: u8 = 33;
const MODEL_FAILED: u8 = 34;
const FORGOTTEN: u8 = 35;
const ERASURE_PROGRESS: u8 = 36;
const ERASURE_COMPLETE: u8 = 37;
const IMPORT_PROGRESS: u8 = 38;
const IMPORT_COMPLETE: u8 = 39;
const IMPORT_ERROR: u8 = 40;
/// Rows of an event that goes through its stages without a stop.
const STAGES_USUAL: usize = 4;

/// What the rows of a run share, then each of them.
fn encode_run(first: &LifecycleRow, run: &[LifecycleRow]) -> Result<Vec<u8>, CodecError> {
    let mut out = Vec::with_capacity(48 + 32 * run.len());
    out.extend_from_slice(first.event_id.as_bytes());
    put_varint(&mut out, first.scope);
    put_batch(&mut out, first.batch_id);
    put_varint(&mut out, first.event_offset);
    put_varint(&mut out, first.event_place.0);
    put_instant(&mut out, first.at);
    for (index, row) in run.iter().enumerate() {
        // The key has the first id, and instants grow along a run.
        if index > 0 {
            out.extend_from_slice(row.id.as_bytes());
            let passed = row.at.0.checked_sub(first.at.0).and_then(|us| u64::try_from(us).ok());
            put_varint(&mut out, passed.ok_or(CodecError::Malformed { field: "at" })?);
        }
        out.push(match row.kind {
            LifecycleKind::Stage(stage) => stage as u8,
            LifecycleKind::Failed(stage) => FAILED + stage as u8,
            LifecycleKind::Cancelled => CANCELLED,
            LifecycleKind::Revised => REVISED,
            LifecycleKind::ModelFailed => MODEL_FAILED,
            LifecycleKind::Forgotten => FORGOTTEN,
            LifecycleKind::ErasureProgress => ERASURE_PROGRESS,
            LifecycleKind::ErasureComplete => ERASURE_COMPLETE,
            LifecycleKind::ImportProgress => IMPORT_PROGRESS,
            LifecycleKind::ImportComplete => IMPORT_COMPLETE,
            LifecycleKind::ImportError => IMPORT_ERROR,
            _ => return Err(CodecError::Malformed { field: "kind" }),
        });
        put_varint(&mut out, u64::from(row.seq));
        put_payload(&mut out, &row.payload)?;
    }
    Ok(out)
}

fn decode_run(first: LifecycleId, bytes: &[u8]) -> Result<Vec<LifecycleRow>, CodecError> {
    let mut from = Cursor::new(bytes);
    let event_id = EventId::from_bytes(from.array()?);
    let scope = from.varint()?;
    let batch_id = batch(&mut from)?;
    let event_offset = from.varint()?;
    let event_place = Place(from.varint()?);
    let start = instant(&mut from)?;
    let mut rows = Vec::with_capacity(STAGES_USUAL);
    let (mut id, mut at) = (first, start);
    loop {
        rows.push(LifecycleRow {
            id,
            at,
            kind: kind(from.byte()?)?,
            seq: small(&mut from)?,
            payload: payload(&mut from)?,
            event_id,
            scope,
            batch_id,
            event_offset,
            event_place,
        });
        if from.is_done() {
            return Ok(rows);
        }
        id = LifecycleId::from_bytes(from.array()?);
        let passed = i64::try_from(from.varint()?).ok().and_then(|us| start.0.checked_add(us));
        at = Micros(passed.ok_or(CodecError::Malformed { field: "at" })?);
    }
}

fn kind(number: u8) -> Result<LifecycleKind, CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "kind" };
    match number {
        CANCELLED => Ok(LifecycleKind::Cancelled),
        REVISED => Ok(LifecycleKind::Revised),
        MODEL_FAILED => Ok(LifecycleKind::ModelFailed),
        FORGOTTEN => Ok(LifecycleKind::Forgotten),
        ERASURE_PROGRESS => Ok(LifecycleKind::ErasureProgress),
        ERASURE_COMPLETE => Ok(LifecycleKind::ErasureComplete),
        IMPORT_PROGRESS => Ok(LifecycleKind::ImportProgress),
        IMPORT_COMPLETE => Ok(LifecycleKind::ImportComplete),
        IMPORT_ERROR => Ok(LifecycleKind::ImportError),
        FAILED..CANCELLED => {
            Stage::from_u8(number - FAILED).map(LifecycleKind::Failed).ok_or(MALFORMED)
        }
        _ => Stage::from_u8(number).map(LifecycleKind::Stage).ok_or(MALFORMED),
    }
}

/// In place of a stage: none. Stages are numbered from 1.
const NO_STAGE: u64 = 0;

fn stage_of(number: u64) -> Result<Stage, CodecError> {
    let stage = u8::try_from(number).ok().and_then(Stage::from_u8);
    stage.ok_or(CodecError::Malformed { field: "payload" })
}

fn put_payload(out: &mut Vec<u8>, payload: &Payload) -> Result<(), CodecError> {
    let mut put = |form: u8, numbers: &[u64]| {
        out.push(form);
        for number in numbers {
            put_varint(out, *number);
        }
    };
    match *payload {
        Payload::Compressed { episode, ref understanding } => {
            put(5, &[understanding.len() as u64]);
            out.extend_from_slice(episode.as_bytes());
            for concept in understanding {
                out.extend_from_slice(concept.as_bytes());
            }
        }
        Payload::Captured { wal_offset } => put(1, &[wal_offset]),
        Payload::Extracted { facts, entities, beliefs, episodes } => {
            put(2, &[facts, entities, beliefs, episodes].map(u64::from));
        }
        Payload::Indexed { layers } => put(3, &[u64::from(layers)]),
        Payload::Consolidated { beliefs_updated, conflicts_resolved, superseded_facts } => {
            put(4, &[beliefs_updated, conflicts_resolved, superseded_facts].map(u64::from));
        }
        Payload::Failed { attempts } => put(6, &[u64::from(attempts)]),
        Payload::Cancelled { from, ref dependants } => {
            put(11, &[from.map_or(NO_STAGE, |stage| u64::from(stage as u8))]);
            put_dependants(out, dependants);
        }
        Payload::Revised {
            facts,
            entities,
            ungrounded,
            input_tokens,
            output_tokens,
            cost_micros,
        } => {
            let [facts, entities, ungrounded] = [facts, entities, ungrounded].map(u64::from);
            put(8, &[facts, entities, ungrounded, input_tokens, output_tokens, cost_micros]);
        }
        Payload::ModelFailed { fault, attempts } => {
            put(9, &[u64::from(fault as u8), u64::from(attempts)]);
        }
        Payload::Forgotten { layer, count, cascade } => {
            put(10, &[u64::from(Layers::of([layer]).bits()), count, u64::from(cascade as u8)]);
        }
        Payload::Erasure(ref reached) => {
            let ErasureReached { erasure, phase, done, cancelled, counts, audit_id } = **reached;
            put(12, &[u64::from(phase), u64::from(done), u64::from(cancelled)]);
            counts.iter().for_each(|count| put_varint(out, *count));
            out.extend_from_slice(erasure.as_bytes());
            out.extend_from_slice(audit_id.as_bytes());
        }
        Payload::Import(ref reached) => put_import(out, reached),
        Payload::ImportError { import, line, code } => {
            let number = ErrorCode::ALL.iter().position(|other| *other == code).unwrap_or(0);
            put(14, &[number as u64, line.map_or(0, |line| line.saturating_add(1))]);
            out.extend_from_slice(import.as_bytes());
        }
        _ => return Err(CodecError::Malformed { field: "payload" }),
    }
    Ok(())
}

fn put_import(out: &mut Vec<u8>, reached: &ImportReached) {
    let ImportReached { import, done, processed, total, counts, outcome } = *reached;
    out.push(13);
    // One more than the total: 0 says that it is not known.
    let total = total.map_or(0, |total| total.saturating_add(1));
    for number in [u64::from(done), processed, total, u64::from(outcome)] {
        put_varint(out, number);
    }
    counts.iter().for_each(|count| put_varint(out, *count));
    out.extend_from_slice(import.as_bytes());
}

fn import(from: &mut Cursor<'_>) -> Result<ImportReached, CodecError> {
    let (done, processed) = (small(from)?, from.varint()?);
    let (total, outcome) = (from.varint()?.checked_sub(1), small(from)?);
    let mut counts = [0; 5];
    for count in &mut counts {
        *count = from.varint()?;
    }
    let import = ImportId::from_bytes(from.array()?);
    Ok(ImportReached { import, done, processed, total, counts, outcome })
}

fn import_error(from: &mut Cursor<'_>) -> Result<Payload, CodecError> {
    let code = usize::try_from(from.varint()?).ok().and_then(|at| ErrorCode::ALL.get(at));
    let code = *code.ok_or(CodecError::Malformed { field: "payload" })?;
    let line = from.varint()?.checked_sub(1);
    Ok(Payload::ImportError { import: ImportId::from_bytes(from.array()?), line, code })
}

fn payload(from: &mut Cursor<'_>) -> Result<Payload, CodecError> {
    Ok(match from.byte()? {
        1 => Payload::Captured { wal_offset: from.varint()? },
        2 => Payload::Extracted {
            facts: small(from)?,
            entities: small(from)?,
            beliefs: small(from)?,
            episodes: small(from)?,
        },
        3 => Payload::Indexed { layers: small(from)? },
        4 => Payload::Consolidated {
            beliefs_updated: small(from)?,
            conflicts_resolved: small(from)?,
            superseded_facts: small(from)?,
        },
        5 => {
            let concepts = from.varint()?;
            let episode = EpisodeId::from_bytes(from.array()?);
            let understanding = (0..concepts).map(|_| from.array().map(ConceptId::from_bytes));
            Payload::Compressed { episode, understanding: understanding.collect::<Result<_, _>>()? }
        }
        6 => Payload::Failed { attempts: small(from)? },
        form @ (7 | 11) => Payload::Cancelled {
            from: match from.varint()? {
                NO_STAGE => None,
                stage => Some(stage_of(stage)?),
            },
            // Older rows do not say.
            dependants: match form {
                7 => Box::default(),
                _ => Box::new(dependants(from)?),
            },
        },
        8 => Payload::Revised {
            facts: small(from)?,
            entities: small(from)?,
            ungrounded: small(from)?,
            input_tokens: from.varint()?,
            output_tokens: from.varint()?,
            cost_micros: from.varint()?,
        },
        9 => Payload::ModelFailed {
            fault: ModelFault::from_u8(small(from)?)
                .ok_or(CodecError::Malformed { field: "payload" })?,
            attempts: small(from)?,
        },
        10 => forgotten(from).ok_or(CodecError::Malformed { field: "payload" })?,
        12 => Payload::Erasure(Box::new(erasure(from)?)),
        13 => Payload::Import(Box::new(import(from)?)),
        14 => import_error(from)?,
        _ => return Err(CodecError::Malformed { field: "payload" }),
    })
}

fn erasure(from: &mut Cursor<'_>) -> Result<ErasureReached, CodecError> {
    let (phase, done, cancelled) = (small(from)?, small(from)?, from.varint()? != 0);
    let mut counts = [0; 7];
    for count in &mut counts {
        *count = from.varint()?;
    }
    let erasure = ErasureId::from_bytes(from.array()?);
    let audit_id = AuditId::from_bytes(from.array()?);
    Ok(ErasureReached { erasure, phase, done, cancelled, counts, audit_id })
}

fn forgotten(from: &mut Cursor<'_>) -> Option<Payload> {
    let layers = Layers::from_bits(small(from).ok()?);
    let layer = Layer::ALL.into_iter().find(|layer| Layers::of([*layer]) == layers)?;
    let count = from.varint().ok()?;
    Some(Payload::Forgotten { layer, count, cascade: Cascade::from_u8(small(from).ok()?)? })
}

#[cfg(test)]
mod tests;
