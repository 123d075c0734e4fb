//! Erasing sections of entries, and with them the answers that were made of their words.

use lamina_store::log::{Appended, EraseTarget, LogError};
use lamina_types::limits::CAUSES_MAX;

use super::{Capture, Committed, Due};
use crate::Error;
use crate::derive::traces;
use crate::write::request::Reply;

impl Capture {
    /// Erases sections of entries that are applied, and with them the answers that were made of
    /// their words: on return the bytes are gone.
    pub fn erase(
        &mut self,
        tenant: u32,
        targets: &[EraseTarget],
        residue: &[u8],
    ) -> Result<Committed, LogError> {
        let all = self.with_answers(tenant, targets)?;
        let appended = self.log.erase(tenant, &all, residue)?;
        self.note_erased(targets);
        Ok(Committed { appended, due: Vec::new() })
    }

    /// Does what a request asks for. However many answers there are, an event goes with its own.
    pub(super) fn take_erasure(
        &mut self,
        tenant: u32,
        targets: &[EraseTarget],
        reply: Reply<()>,
        committed: &mut Committed,
    ) {
        match self.erase_all(tenant, targets, &mut committed.appended) {
            Ok(()) => committed.due.push(Due::Plain { reply }),
            Err(error) => drop(reply.send(Err(Error::LogUnavailable(Box::new(error))))),
        }
    }

    /// What was appended before something failed is durable, and has to reach the views.
    fn erase_all(
        &mut self,
        tenant: u32,
        targets: &[EraseTarget],
        appended: &mut Vec<Appended>,
    ) -> Result<(), LogError> {
        let mut batch: Vec<EraseTarget> = Vec::new();
        for target in targets {
            let with = self.with_answers(tenant, std::slice::from_ref(target))?;
            if batch.len() + with.len() > CAUSES_MAX {
                appended.extend(self.log.erase(tenant, &batch, &[])?);
                batch.clear();
            }
            batch.extend(with);
        }
        for some in batch.chunks(CAUSES_MAX) {
            appended.extend(self.log.erase(tenant, some, &[])?);
        }
        self.note_erased(targets);
        Ok(())
    }

    /// The targets, and every answer that was made of one of them.
    fn with_answers(
        &self,
        tenant: u32,
        targets: &[EraseTarget],
    ) -> Result<Vec<EraseTarget>, LogError> {
        let mut all = targets.to_vec();
        for target in targets {
            // An erasure that leaves words behind is none: without the views it is not begun.
            let known = traces::of_event(&self.views, tenant, target.offset)
                .map_err(|error| LogError::Views(error.to_string()))?;
            let recent = self.recent.answers.get(&target.offset).into_iter().flatten().copied();
            for (offset, place) in known.into_iter().chain(recent) {
                if all.iter().all(|other| other.offset != offset) {
                    all.push(EraseTarget { offset, place, who: true, what: true });
                }
            }
        }
        Ok(all)
    }

    /// An answer that is under way must not bring the words back.
    fn note_erased(&mut self, targets: &[EraseTarget]) {
        self.recent.erased.extend(targets.iter().map(|target| target.offset));
    }
}
