//! Packs that can still be referred to: for 60 seconds from their making, by their id or by the key of
//! the caller (R118, R263, R440). Nothing of them outlives the process.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use lamina_api::ApiError;
use lamina_core::policy::Caller;
use lamina_engine::ReadPermit;
use lamina_engine::read::recall::{MayRecall, Recalled};
use lamina_types::limits::PACK_TTL_US;
use lamina_types::recall::Recall;
use lamina_types::{ErrorCode, Micros, PackId, ScopePath};
use parking_lot::Mutex;

/// Packs that are kept; the oldest make room.
const PACKS_MAX: usize = 1_024;

/// A pack that was made.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) id: PackId,
    /// As it was sent.
    pub(crate) body: Bytes,
    pub(crate) question: Recall,
    /// What it was made of.
    pub(crate) recalled: Arc<Recalled>,
    /// The scopes it was read from.
    pub(crate) reach: Arc<ReadPermit>,
    /// Whether concepts were read.
    pub(crate) concepts: bool,
}

impl Kept {
    /// Whether a caller with this leave would be shown all of it now.
    pub(crate) fn is_within(&self, may: &MayRecall) -> bool {
        may.reach.includes(&self.reach) && (may.concepts.is_some() || !self.concepts)
    }
}

/// Something that was taken back: where it was, and its id.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gone<'a> {
    pub(crate) scope: &'a ScopePath,
    pub(crate) id: &'a str,
}

impl Gone<'_> {
    /// Whether it may be in what was read from a scope: above, there or below, or under its own id.
    pub(crate) fn is_in(&self, scope: &ScopePath, pieces: &[&Bytes]) -> bool {
        let id = self.id.as_bytes();
        scope.contains(self.scope)
            || self.scope.contains(scope)
            || pieces.iter().any(|piece| piece.windows(id.len().max(1)).any(|part| part == id))
    }
}

/// Who may refer to a pack: only whoever it was made for.
type Owner = (u32, String);

#[derive(Debug, Default)]
struct State {
    by_id: BTreeMap<PackId, (Owner, Arc<Kept>)>,
    by_key: BTreeMap<(Owner, String), PackId>,
    /// In the order of their making.
    made: VecDeque<(Micros, PackId)>,
}

/// The packs of a server.
#[derive(Debug, Default)]
pub(crate) struct Packs(Mutex<State>);

impl Packs {
    /// Keeps a pack for its life.
    pub(crate) fn keep(&self, caller: &Caller, kept: Kept, now: Micros) -> Arc<Kept> {
        let owner = owner(caller);
        let kept = Arc::new(kept);
        let mut state = self.0.lock();
        state.expire(now);
        if state.made.len() >= PACKS_MAX {
            state.drop_oldest();
        }
        if let Some(key) = &kept.question.idempotency_key {
            state.by_key.insert((owner.clone(), key.clone()), kept.id);
        }
        state.by_id.insert(kept.id, (owner, Arc::clone(&kept)));
        state.made.push_back((now, kept.id));
        kept
    }

    /// A pack by its id, if it lives and is the caller's.
    pub(crate) fn by_id(&self, caller: &Caller, id: PackId, now: Micros) -> Option<Arc<Kept>> {
        let mut state = self.0.lock();
        state.expire(now);
        let (of, kept) = state.by_id.get(&id)?;
        (*of == owner(caller)).then(|| Arc::clone(kept))
    }

    /// Something is gone that was in this scope: no pack that may quote it is referred to any more,
    /// whoever's it is, because what all tenants share may be in each.
    pub(crate) fn forget(&self, gone: &Gone<'_>) {
        let mut state = self.0.lock();
        state.by_id.retain(|_, (_, kept)| !gone.is_in(&kept.question.scope, &[&kept.body]));
        let State { by_id, by_key, made } = &mut *state;
        by_key.retain(|_, id| by_id.contains_key(id));
        made.retain(|(_, id)| by_id.contains_key(id));
    }

    /// Drops all of them.
    pub(crate) fn clear(&self) {
        *self.0.lock() = State::default();
    }

    /// The pack of a key, if it lives. Another question under the same key is a conflict.
    pub(crate) fn by_key(
        &self,
        caller: &Caller,
        key: &str,
        question: &Recall,
        now: Micros,
    ) -> Result<Option<Arc<Kept>>, ApiError> {
        let mut state = self.0.lock();
        state.expire(now);
        let found = state.by_key.get(&(owner(caller), key.to_owned()));
        let Some((_, kept)) = found.and_then(|id| state.by_id.get(id)) else { return Ok(None) };
        match kept.question == *question {
            true => Ok(Some(Arc::clone(kept))),
            false => Err(ApiError::at(
                ErrorCode::IdempotencyConflict,
                "idempotency_key",
                "was used for another question within the last minute",
            )),
        }
    }
}

impl State {
    fn expire(&mut self, now: Micros) {
        while self.made.front().is_some_and(|(made, _)| now.0 - made.0 >= PACK_TTL_US) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        let Some((_, id)) = self.made.pop_front() else { return };
        let Some((owner, kept)) = self.by_id.remove(&id) else { return };
        if let Some(key) = &kept.question.idempotency_key {
            let key = (owner, key.clone());
            if self.by_key.get(&key) == Some(&id) {
                self.by_key.remove(&key);
            }
        }
    }
}

fn owner(caller: &Caller) -> Owner {
    (caller.tenant, caller.actor.to_string())
}

#[cfg(test)]
pub(in crate::http) mod tests;
