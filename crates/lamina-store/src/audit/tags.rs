//! Keyed hashes of the words that rows are asked for: actor, capability, scope.
//!
//! The same few words come again and again, so the last ones are remembered.

use std::collections::HashMap;

use lamina_types::ScopePath;
use parking_lot::Mutex;

use crate::keys::KeyedHash;

/// Words remembered.
const REMEMBERED_MAX: usize = 4_096;

/// By tenant and label, and then by word.
type Known = HashMap<(u32, &'static str), HashMap<String, u64>>;

/// Hashes words under the deployment's key.
#[derive(Debug)]
pub(super) struct Tags {
    keyed: KeyedHash,
    known: Mutex<Known>,
}

impl Tags {
    pub(super) fn new(keyed: KeyedHash) -> Tags {
        Tags { keyed, known: Mutex::new(HashMap::new()) }
    }

    /// The hash of an actor; never 0.
    pub(super) fn actor(&self, tenant: u32, actor: &str) -> u64 {
        self.word(tenant, "audit.actor", actor).max(1)
    }

    /// The hash of a capability.
    pub(super) fn capability(&self, tenant: u32, capability: &str) -> u32 {
        (self.word(tenant, "audit.capability", capability) >> 32) as u32
    }

    /// Two bits for the scope and for each scope above it.
    pub(super) fn scope_bits(&self, tenant: u32, scope: &ScopePath) -> u64 {
        let scopes = scope.self_and_ancestors();
        scopes.iter().fold(0, |bits, scope| bits | self.bits_of(tenant, scope))
    }

    /// The two bits that every row at or below this scope has.
    pub(super) fn bits_of(&self, tenant: u32, scope: &ScopePath) -> u64 {
        let hash = self.word(tenant, "audit.scope", scope.as_str());
        (1 << (hash & 63)) | (1 << ((hash >> 6) & 63))
    }

    fn word(&self, tenant: u32, label: &'static str, word: &str) -> u64 {
        let mut known = self.known.lock();
        if let Some(hash) = known.get(&(tenant, label)).and_then(|words| words.get(word)) {
            return *hash;
        }
        let mac = self.keyed.mac(label, &[&tenant.to_le_bytes(), word.as_bytes()]);
        let hash = mac.first_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        if known.values().map(HashMap::len).sum::<usize>() >= REMEMBERED_MAX {
            known.clear();
        }
        known.entry((tenant, label)).or_default().insert(word.to_owned(), hash);
        hash
    }
}
