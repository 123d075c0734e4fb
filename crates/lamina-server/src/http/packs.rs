//! Packs that can still be referred to: for 60 seconds from their making, by their id or by the key of
//! the caller (R118, R263, R440). Nothing of them outlives the process.

use std::collections::BTreeMap;
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

use super::shares::TenantShares;

/// Bytes of all kept packs; the largest tenant makes room.
const PACKS_BYTES_MAX: usize = 64 << 20;
/// A pack holds its records beside its body, in about as many bytes.
const COPIES: usize = 2;

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

/// A record that was taken back.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gone<'a> {
    pub(crate) tenant: u32,
    pub(crate) scope: &'a ScopePath,
    pub(crate) id: &'a str,
}

impl Gone<'_> {
    /// Whether a pack of a tenant, read from a scope, may hold the record: its scope is above, equal or below, or its
    /// id occurs. Packs of other tenants hold it only if their scope is shared.
    pub(crate) fn is_in(&self, tenant: u32, scope: &ScopePath, pieces: &[&Bytes]) -> bool {
        let id = self.id.as_bytes();
        is_reached(Some(self.tenant), tenant, scope)
            && (scope.contains(self.scope)
                || self.scope.contains(scope)
                || pieces.iter().any(|piece| piece.windows(id.len().max(1)).any(|part| part == id)))
    }
}

/// Whether a deletion of a tenant (or of all) can touch memory that another tenant was shown from a scope.
pub(crate) fn is_reached(deleting: Option<u32>, shown_to: u32, scope: &ScopePath) -> bool {
    deleting.is_none_or(|tenant| tenant == shown_to) || scope.is_shared()
}

/// Who may refer to a pack: only whoever it was made for.
type Owner = (u32, String);

#[derive(Debug)]
struct State {
    by_id: BTreeMap<PackId, (Owner, Arc<Kept>)>,
    by_key: BTreeMap<(Owner, String), PackId>,
    shares: TenantShares<PackId>,
}

impl Default for State {
    fn default() -> State {
        let shares = TenantShares::new(PACKS_BYTES_MAX);
        State { by_id: BTreeMap::new(), by_key: BTreeMap::new(), shares }
    }
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
        if let Some(key) = &kept.question.idempotency_key {
            state.by_key.insert((owner.clone(), key.clone()), kept.id);
        }
        state.by_id.insert(kept.id, (owner, Arc::clone(&kept)));
        let bytes = COPIES * kept.body.len();
        for evicted in state.shares.admit(caller.tenant, kept.id, bytes, now) {
            state.remove(evicted);
        }
        kept
    }

    /// A pack by its id, if it lives and is the caller's.
    pub(crate) fn by_id(&self, caller: &Caller, id: PackId, now: Micros) -> Option<Arc<Kept>> {
        let mut state = self.0.lock();
        state.expire(now);
        let (of, kept) = state.by_id.get(&id)?;
        (*of == owner(caller)).then(|| Arc::clone(kept))
    }

    /// Drops the packs that may quote a record that was taken back.
    pub(crate) fn forget(&self, gone: &Gone<'_>) {
        self.retain(|(tenant, _), kept| !gone.is_in(*tenant, &kept.question.scope, &[&kept.body]));
    }

    /// Drops the packs that a deletion of a tenant, or of all, may touch.
    pub(crate) fn clear(&self, tenant: Option<u32>) {
        self.retain(|(owner, _), kept| !is_reached(tenant, *owner, &kept.question.scope));
    }

    fn retain(&self, keeps: impl Fn(&Owner, &Kept) -> bool) {
        let mut state = self.0.lock();
        state.by_id.retain(|_, (owner, kept)| keeps(owner, kept));
        let State { by_id, by_key, shares } = &mut *state;
        by_key.retain(|_, id| by_id.contains_key(id));
        shares.retain(|id| by_id.contains_key(id));
    }

    /// Drops the packs that are over their time.
    pub(crate) fn expire(&self, now: Micros) {
        self.0.lock().expire(now);
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
        for expired in self.shares.expire(Micros(now.0 - PACK_TTL_US)) {
            self.remove(expired);
        }
    }

    fn remove(&mut self, id: PackId) {
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
