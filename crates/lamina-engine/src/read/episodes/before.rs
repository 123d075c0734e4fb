//! What was told of episodes before: telling one reads the words of its events, and recall tells several.
//!
//! What was told holds for as long as the episode has the same events with the same answers. When anything
//! is taken back, all of it is forgotten: words do not outlive what they were taken from, here neither. When whole scopes are
//! hidden before their words go, what was told of them is forgotten then, and the rest stays.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use lamina_core::read::prompt::AuthorList;
use lamina_types::{ActorId, EpisodeId, EventId};
use parking_lot::Mutex;

use super::Member;

/// Episodes that are kept, in each of two generations: about 600 bytes each.
const EPISODES_MAX: usize = if cfg!(test) { 4 } else { 8_192 };

/// What is told of an episode, whoever asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) name: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) actors: Vec<ActorId>,
    pub(super) authors: AuthorList,
}

/// The events that something was told of, and the answers to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    count: usize,
    first: Option<EventId>,
    last: Option<EventId>,
    all: u64,
}

/// What was told lately.
#[derive(Debug, Default)]
pub(crate) struct ToldBefore {
    kept: Mutex<Kept>,
}

/// What was told of one episode.
#[derive(Debug, Clone)]
struct Known {
    scope: u64,
    stamp: Stamp,
    text: Arc<Text>,
}

type Generation = HashMap<(u32, EpisodeId), Known>;

/// The recent ones, and those before them: what is not asked for again goes with the older.
#[derive(Debug, Default)]
struct Kept {
    recent: Generation,
    older: Generation,
    /// Grows when anything is taken back: what was read before that is not kept after it.
    taken_back: u64,
}

impl Stamp {
    pub(super) fn of(members: &[Member]) -> Stamp {
        let mut all = DefaultHasher::new();
        for (observed, event, row) in members {
            (observed.0.0, event.as_bytes(), row.answer).hash(&mut all);
        }
        Stamp {
            count: members.len(),
            first: members.first().map(|(_, event, _)| *event),
            last: members.last().map(|(_, event, _)| *event),
            all: all.finish(),
        }
    }
}

impl ToldBefore {
    /// What was told of an episode with these events; otherwise, when it is asked.
    pub(super) fn get(&self, tenant: u32, id: EpisodeId, stamp: Stamp) -> Result<Arc<Text>, u64> {
        let mut kept = self.kept.lock();
        if let Some(known) = kept.recent.get(&(tenant, id)) {
            let is_so = known.stamp == stamp;
            return if is_so { Ok(Arc::clone(&known.text)) } else { Err(kept.taken_back) };
        }
        match kept.older.remove(&(tenant, id)) {
            Some(known) if known.stamp == stamp => {
                let text = Arc::clone(&known.text);
                kept.put(tenant, id, known);
                Ok(text)
            }
            _ => Err(kept.taken_back),
        }
    }

    /// Keeps what is told now, unless something was taken back since it was asked.
    pub(super) fn put(
        &self,
        (tenant, scope): (u32, u64),
        id: EpisodeId,
        stamp: Stamp,
        asked: u64,
        text: Text,
    ) {
        let mut kept = self.kept.lock();
        if kept.taken_back == asked {
            kept.put(tenant, id, Known { scope, stamp, text: Arc::new(text) });
        }
    }

    /// Forgets what was told of these scopes.
    pub(crate) fn forget_scopes(&self, tenant: u32, scopes: &BTreeSet<u64>) {
        let mut kept = self.kept.lock();
        kept.taken_back += 1;
        let Kept { recent, older, .. } = &mut *kept;
        for generation in [recent, older] {
            generation.retain(|(of, _), known| *of != tenant || !scopes.contains(&known.scope));
        }
    }

    /// Forgets everything: it may have been taken back.
    pub(crate) fn forget(&self) {
        let mut kept = self.kept.lock();
        let taken_back = kept.taken_back + 1;
        *kept = Kept { taken_back, ..Kept::default() };
    }
}

impl Kept {
    fn put(&mut self, tenant: u32, id: EpisodeId, known: Known) {
        if self.recent.len() >= EPISODES_MAX {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert((tenant, id), known);
    }
}

#[cfg(test)]
mod tests;
