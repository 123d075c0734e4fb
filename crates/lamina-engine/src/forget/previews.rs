//! Previews that can still be referred to. Nothing of them outlives the process, and none says what it
//! showed: hashes tell whether a request selects the same records.

use std::collections::BTreeMap;

use lamina_core::policy::Caller;
use lamina_types::limits::FORGET_PREVIEW_TTL_US;
use lamina_types::{ForgetPreviewId, Micros};
use parking_lot::Mutex;

use super::binding::PreviewBinding;
use crate::Error;

/// Previews that are kept; the oldest make room.
const PREVIEWS_MAX: usize = if cfg!(test) { 2 } else { 4_096 };

/// A preview: its caller, and the records it matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Previewed {
    pub(super) tenant: u32,
    pub(super) actor: String,
    pub(super) binding: PreviewBinding,
}

/// The previews of a process, in the order of their making: ids grow.
#[derive(Debug, Default)]
pub(super) struct Previews(Mutex<BTreeMap<ForgetPreviewId, (Micros, Previewed)>>);

impl Previews {
    /// Keeps a preview, and says until when.
    pub(super) fn keep(&self, id: ForgetPreviewId, of: Previewed, now: Micros) -> Micros {
        let expires = now.plus(FORGET_PREVIEW_TTL_US);
        let mut kept = self.0.lock();
        kept.retain(|_, (until, _)| *until > now);
        while kept.len() >= PREVIEWS_MAX && kept.pop_first().is_some() {}
        kept.insert(id, (expires, of));
        expires
    }

    /// The records that a preview matched, if it is the caller's and can still be referred to.
    pub(super) fn binding(
        &self,
        id: ForgetPreviewId,
        caller: &Caller,
        now: Micros,
    ) -> Result<PreviewBinding, Error> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|(until, _)| *until > now);
        let own =
            found.filter(|(_, of)| of.tenant == caller.tenant && of.actor == caller.actor.as_str());
        own.map(|(_, of)| of.binding.clone()).ok_or(Error::UnknownPreview)
    }
}

#[cfg(test)]
mod tests;
