//! Which events were shown where and to whom: the ids of the last packs of a scope, for a day at most, and in memory
//! only.
//!
//! It counts where it was asked and below. Somebody else's words in another scope are news there, and so are those that
//! are written further up. And it counts for the caller that asked: what one reads never changes what another is
//! heard to say.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use lamina_types::{ActorId, EventId, Micros, ScopePath};
use parking_lot::Mutex;

use super::Digested;

/// How long what was shown counts as shown.
const SHOWN_US_MAX: i64 = 24 * 3_600 * 1_000_000;
/// Packs that are remembered for each scope.
const PACKS_MAX: usize = 32;
/// Scopes that are remembered.
const SCOPES_MAX: usize = 4_096;
/// Events of one pack.
const EVENTS_MAX: usize = 48;
/// Events whose words are remembered.
const DIGESTS_MAX: usize = 4_096;

/// Where something is shown, or said, by whom, and when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shows<'a> {
    pub(crate) tenant: u32,
    pub(crate) scope: &'a ScopePath,
    /// The principal that asks, or writes.
    pub(crate) caller: &'a ActorId,
    pub(crate) at: Micros,
}

#[derive(Debug)]
struct Pack {
    at: Micros,
    caller: ActorId,
    events: Box<[EventId]>,
}

type Packs = HashMap<(u32, Box<str>), VecDeque<Pack>>;

/// What was shown.
#[derive(Debug, Default)]
pub(crate) struct Served(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    packs: Packs,
    digests: HashMap<(u32, EventId), Arc<Digested>>,
    /// Grows when anything is erased: what was read before that is not kept after it.
    erased: u64,
}

impl Served {
    /// Notes that these events were shown.
    pub(crate) fn note(&self, shows: &Shows<'_>, events: impl Iterator<Item = EventId>) {
        let events: Box<[EventId]> = events.take(EVENTS_MAX).collect();
        if events.is_empty() {
            return;
        }
        let pack = Pack { at: shows.at, caller: shows.caller.clone(), events };
        let mut state = self.0.lock();
        if state.packs.len() >= SCOPES_MAX {
            // Rarely: what is forgotten is only not recognised.
            state.packs.clear();
        }
        let here = state.packs.entry((shows.tenant, shows.scope.as_str().into())).or_default();
        if here.len() >= PACKS_MAX {
            here.pop_front();
        }
        here.push_back(pack);
    }

    /// The events that a caller was shown before an instant, in a scope or above it.
    pub(crate) fn before(&self, shows: &Shows<'_>) -> Vec<EventId> {
        let state = self.0.lock();
        if state.packs.is_empty() {
            return Vec::new();
        }
        let mut packs: Vec<&Pack> = Vec::new();
        for scope in shows.scope.self_and_ancestors() {
            let here = state.packs.get(&(shows.tenant, scope.as_str().into()));
            packs.extend(here.into_iter().flatten());
        }
        let lately = |pack: &&&Pack| {
            pack.caller == *shows.caller
                && pack.at <= shows.at
                && shows.at.0.saturating_sub(pack.at.0) <= SHOWN_US_MAX
        };
        let mut events: Vec<EventId> =
            packs.iter().filter(lately).flat_map(|pack| pack.events.iter().copied()).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    pub(super) fn digest(&self, tenant: u32, event: EventId) -> Option<Arc<Digested>> {
        self.0.lock().digests.get(&(tenant, event)).cloned()
    }

    pub(super) fn erased(&self) -> u64 {
        self.0.lock().erased
    }

    /// Keeps the words of an event, unless something was erased since they were read.
    pub(super) fn keep_digest(&self, at: (u32, EventId), digest: &Arc<Digested>, since: u64) {
        let mut state = self.0.lock();
        if state.digests.len() >= DIGESTS_MAX {
            state.digests.clear();
        }
        if state.erased == since {
            state.digests.insert(at, Arc::clone(digest));
        }
    }

    /// Forgets everything: it may have been taken back.
    pub(crate) fn forget(&self) {
        let mut state = self.0.lock();
        *state = State { erased: state.erased + 1, ..State::default() };
    }
}

#[cfg(test)]
mod tests;
