//! Shares the room of a cache among tenants.
//!
//! A cache that is full evicts the oldest entry of the tenant that holds the most bytes. So a tenant that fills the cache
//! evicts its own entries and nobody else's.

use std::collections::{BTreeMap, VecDeque};

use lamina_types::Micros;

/// Bytes that one entry takes beside its content.
const ENTRY_BYTES: usize = 256;

/// Sizes and ages of the entries of a cache, by tenant.
#[derive(Debug)]
pub(super) struct TenantShares<K> {
    limit_bytes: usize,
    bytes: usize,
    tenants: BTreeMap<u32, TenantShare<K>>,
}

/// Entries of one tenant, the oldest first.
#[derive(Debug)]
struct TenantShare<K> {
    bytes: usize,
    entries: VecDeque<ShareEntry<K>>,
}

#[derive(Debug)]
struct ShareEntry<K> {
    made: Micros,
    key: K,
    bytes: usize,
}

impl<K> TenantShares<K> {
    /// Room for so many bytes.
    pub(super) fn new(limit_bytes: usize) -> TenantShares<K> {
        TenantShares { limit_bytes, bytes: 0, tenants: BTreeMap::new() }
    }

    /// Adds an entry and returns the keys that have to go for it.
    pub(super) fn admit(&mut self, tenant: u32, key: K, bytes: usize, made: Micros) -> Vec<K> {
        let bytes = bytes + ENTRY_BYTES;
        let empty = || TenantShare { bytes: 0, entries: VecDeque::new() };
        let share = self.tenants.entry(tenant).or_insert_with(empty);
        share.bytes += bytes;
        share.entries.push_back(ShareEntry { made, key, bytes });
        self.bytes += bytes;
        let mut evicted = Vec::new();
        while self.bytes > self.limit_bytes {
            let largest = self.tenants.iter().max_by_key(|(_, share)| share.bytes);
            let Some(tenant) = largest.map(|(tenant, _)| *tenant) else { break };
            evicted.extend(self.drop_oldest(tenant));
        }
        evicted
    }

    /// Drops the entries that were made at or before a time and returns their keys.
    pub(super) fn expire(&mut self, made_until: Micros) -> Vec<K> {
        let mut expired = Vec::new();
        let tenants: Vec<u32> = self.tenants.keys().copied().collect();
        for tenant in tenants {
            let is_due = |shares: &Self| {
                let share = shares.tenants.get(&tenant)?;
                share.entries.front().map(|entry| entry.made.0 <= made_until.0)
            };
            while is_due(self) == Some(true) {
                expired.extend(self.drop_oldest(tenant));
            }
        }
        expired
    }

    /// Keeps the entries of which `keeps` holds.
    pub(super) fn retain(&mut self, mut keeps: impl FnMut(&K) -> bool) {
        for share in self.tenants.values_mut() {
            share.entries.retain(|entry| keeps(&entry.key));
            share.bytes = share.entries.iter().map(|entry| entry.bytes).sum();
        }
        self.tenants.retain(|_, share| !share.entries.is_empty());
        self.bytes = self.tenants.values().map(|share| share.bytes).sum();
    }

    fn drop_oldest(&mut self, tenant: u32) -> Option<K> {
        let share = self.tenants.get_mut(&tenant)?;
        let entry = share.entries.pop_front()?;
        share.bytes -= entry.bytes;
        self.bytes -= entry.bytes;
        if share.entries.is_empty() {
            self.tenants.remove(&tenant);
        }
        Some(entry.key)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.tenants.values().map(|share| share.entries.len()).sum()
    }
}

#[cfg(test)]
mod tests;
