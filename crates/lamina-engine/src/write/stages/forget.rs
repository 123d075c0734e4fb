//! What is announced when records are forgotten, and what becomes of events that were still under way.

use lamina_core::write::pipeline::Input;
use lamina_store::codec::control::{By, Forgotten};
use lamina_store::entry::Entry;
use lamina_store::log::ErasePayload;
use lamina_store::view::ViewError;
use lamina_types::lifecycle::Payload;
use lamina_types::recall::Layer;
use lamina_types::{LifecycleKind, ScopePath};

use super::{Flight, Stages, Words};

impl Stages {
    /// Announces what was forgotten, layer by layer, once.
    pub(super) fn forgotten(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let head = &entry.head;
        let what = entry.what.live().and_then(|bytes| Forgotten::decode(bytes).ok());
        let Some(Forgotten { cascade, deleted, .. }) = what else { return Ok(()) };
        let mut flight = Flight {
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
        };
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
