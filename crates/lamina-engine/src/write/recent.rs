//! What the writer remembers of entries that the views may not have yet.
//!
//! The writer decides against the views plus this, so it never has to wait for the applier.

use std::collections::{HashMap, HashSet, VecDeque};

use lamina_types::{BlobId, ScopePath};

use crate::write::capture::Placed;

/// What was appended but is perhaps not in the views yet. Forgotten as the views advance.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) keys: HashMap<[u8; 32], (Placed, [u8; 32])>,
    pub(super) scopes: HashMap<(u32, ScopePath), u64>,
    pub(super) blobs: HashMap<BlobId, u64>,
    pub(super) removed_blobs: HashSet<BlobId>,
    pub(super) tenants: HashMap<String, u32>,
    pub(super) order: VecDeque<(u64, Remembered)>,
}

#[derive(Debug)]
pub(super) enum Remembered {
    Key([u8; 32]),
    Scope((u32, ScopePath)),
    Blob(BlobId),
    RemovedBlob(BlobId),
    Tenant(String),
}

impl Recent {
    /// Forgets what the views have by now: everything before this offset.
    pub(super) fn forget_before(&mut self, applied: u64) {
        while self.order.front().is_some_and(|(offset, _)| *offset < applied)
            && let Some((offset, what)) = self.order.pop_front()
        {
            match what {
                Remembered::Key(mac) => {
                    if self.keys.get(&mac).is_some_and(|(placed, _)| placed.offset == offset) {
                        self.keys.remove(&mac);
                    }
                }
                Remembered::Scope(key) => drop(self.scopes.remove(&key)),
                Remembered::RemovedBlob(blob) => drop(self.removed_blobs.remove(&blob)),
                Remembered::Tenant(name) => drop(self.tenants.remove(&name)),
                Remembered::Blob(blob) => {
                    if self.blobs.get(&blob) == Some(&offset) {
                        self.blobs.remove(&blob);
                    }
                }
            }
        }
    }
}
