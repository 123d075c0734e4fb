//! Previews that can still be referred to. Nothing of them outlives the process, and none says what it
//! showed: a keyed hash tells whether the same is there.

use std::collections::BTreeMap;

use lamina_types::limits::FORGET_PREVIEW_TTL_US;
use lamina_types::{ForgetPreviewId, Micros};
use parking_lot::Mutex;

use crate::Error;

/// Previews that are kept; the oldest make room.
const PREVIEWS_MAX: usize = if cfg!(test) { 2 } else { 4_096 };

/// What a preview was of: the caller, what was asked, and what was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Previewed {
    pub(super) tenant: u32,
    pub(super) actor: String,
    pub(super) asked: [u8; 32],
    pub(super) shown: [u8; 32],
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

    /// Whether a preview is somebody's and can still be referred to.
    pub(super) fn knows(
        &self,
        id: ForgetPreviewId,
        (tenant, actor): (u32, &str),
        now: Micros,
    ) -> Result<(), Error> {
        let kept = self.0.lock();
        let found = kept.get(&id).filter(|(until, _)| *until > now);
        match found.is_some_and(|(_, of)| of.tenant == tenant && of.actor == actor) {
            true => Ok(()),
            false => Err(Error::UnknownPreview),
        }
    }

    /// Whether a preview was of this, and showed it.
    pub(super) fn check(
        &self,
        id: ForgetPreviewId,
        now_there: &Previewed,
        now: Micros,
    ) -> Result<(), Error> {
        let kept = self.0.lock();
        let Some((_, of)) = kept.get(&id).filter(|(until, _)| *until > now) else {
            return Err(Error::UnknownPreview);
        };
        let Previewed { tenant, actor, asked, shown } = now_there;
        // Whose it is and what it was of: neither is told to somebody else.
        if (of.tenant, &of.actor, &of.asked) != (*tenant, actor, asked) {
            return Err(Error::UnknownPreview);
        }
        if of.shown != *shown { Err(Error::PreviewDrifted) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
