//! What is announced when records are forgotten, and what becomes of events that were still under way.

use lamina_core::write::pipeline::Input;
use lamina_store::codec::control::{By, ErasureBegun, ErasureCounts, ErasureStep, Forgotten};
use lamina_store::entry::{Entry, SYSTEM_SCOPE, control};
use lamina_store::kv::Space;
use lamina_store::log::ErasePayload;
use lamina_store::view::ViewError;
use lamina_types::lifecycle::{ErasureReached, Payload};
use lamina_types::recall::Layer;
use lamina_types::{LifecycleKind, ScopePath};

use super::{Flight, Stages, Words};
use crate::derive::erasures::ErasureRow;
use crate::derive::key;
use crate::derive::read::row;

/// What is announced about a scope, and not about an event.
pub(super) fn of_scope(entry: &Entry) -> Flight {
    let head = &entry.head;
    Flight {
        event_id: head.event_id(),
        offset: head.offset,
        place: entry.place,
        tenant: head.tenant,
        scope_ordinal: head.scope,
        wal_offset: head.tenant_seq,
        batch_id: None,
        words: None,
        seq: 0,
        excepted: false,
    }
}

impl Stages {
    /// Announces what was forgotten, layer by layer, once.
    pub(super) fn forgotten(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let what = entry.what.live().and_then(|bytes| Forgotten::decode(bytes).ok());
        let Some(Forgotten { cascade, deleted, .. }) = what else { return Ok(()) };
        let mut flight = of_scope(entry);
        if head.offset < self.recheck_below && !self.rows_of(&flight)?.is_empty() {
            return Ok(());
        }
        flight.words = self.words_of_forgotten(entry)?.filter(|_| self.hub.has_listeners());
        for (layer, count) in Layer::ALL.into_iter().zip(deleted) {
            if count > 0 {
                let payload = Payload::Forgotten { layer, count, cascade };
                self.announce(&mut flight, LifecycleKind::Forgotten, payload)?;
            }
        }
        Ok(())
    }

    /// Announces how far an erasure has come, once.
    pub(super) fn erasing(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let Some(bytes) = entry.what.live() else { return Ok(()) };
        let step = match head.sub {
            control::ERASURE_BEGUN => ErasureBegun::decode(bytes).ok().map(|begun| ErasureStep {
                id: begun.id,
                phase: 1,
                counts: ErasureCounts::default(),
                cancelled: false,
                done: Some(0),
                planned: None,
            }),
            _ => ErasureStep::decode(bytes).ok(),
        };
        // One of a scope that nobody ever wrote to has nothing to tell, and nobody to tell it to.
        let Some(step) = step.filter(|_| head.scope != SYSTEM_SCOPE) else { return Ok(()) };
        let stored = key::forget::erasure(head.tenant, step.id);
        let Some(row) = row(&self.views, Space::Records, &stored, ErasureRow::decode)? else {
            return Ok(());
        };
        let mut flight = of_scope(entry);
        if head.offset < self.recheck_below && !self.rows_of(&flight)?.is_empty() {
            return Ok(());
        }
        // Who listens reads the rows: the entries of a job do not say who asked.
        flight.words = None;
        let is_over = head.sub == control::ERASURE_ENDED;
        let of_phase = u16::from(step.phase.saturating_sub(1)) * 2_000;
        let reached = ErasureReached {
            erasure: step.id,
            phase: step.phase,
            done: if is_over && !step.cancelled { 10_000 } else { step.done.unwrap_or(of_phase) },
            cancelled: step.cancelled,
            counts: step.counts.in_order(),
            audit_id: row.audit_id,
        };
        let kind = match is_over {
            true => LifecycleKind::ErasureComplete,
            false => LifecycleKind::ErasureProgress,
        };
        self.announce(&mut flight, kind, Payload::Erasure(Box::new(reached)))
    }

    /// Who asked, and where.
    fn words_of_forgotten(&self, entry: &Entry) -> Result<Option<Words>, ViewError> {
        let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
        let Some(registered) = self.views.scope_row(entry.head.tenant, entry.head.scope)? else {
            return Ok(None);
        };
        let scope = self.reader.entry(registered.offset, registered.place).ok();
        let scope = scope.as_ref().and_then(|entry| entry.what.live());
        let scope = scope.and_then(|bytes| {
            lamina_store::codec::control::Scope::decode(bytes).ok().map(|scope| scope.path)
        });
        let words = |(by, scope): (By, ScopePath)| Words {
            scope,
            actor: by.caller,
            modality: String::new(),
        };
        Ok(by.zip(scope).map(words))
    }

    /// An event whose words are gone has nothing left to wait for: no answer to it is appended any more.
    pub(super) fn erased(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let payload = entry.what.live().and_then(ErasePayload::decode);
        for target in payload.into_iter().flat_map(|payload| payload.targets) {
            if let Some(event) = self.waiting.get(&target.offset).copied() {
                let actions = self.pipeline.on(Input::Cancel { event });
                self.perform(actions)?;
            }
        }
        Ok(())
    }
}
