//! What the writer remembers of entries that the views may not have yet.
//!
//! The writer decides against the views plus this, so it never has to wait for the applier.

use std::collections::{HashMap, HashSet, VecDeque};

use lamina_store::codec::control::PolicyTarget;
use lamina_store::entry::Place;
use lamina_types::{BlobId, ScopePath};

use crate::write::capture::{Placed, PolicyAt};

/// What was appended but is perhaps not in the views yet. Forgotten as the views advance.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) keys: HashMap<[u8; 32], (Placed, [u8; 32])>,
    /// Ordinal, and the entry that registered it.
    pub(super) scopes: HashMap<(u32, ScopePath), (u64, u64)>,
    /// Ordinal, and the entry that removed it.
    pub(super) removed_scopes: HashMap<(u32, ScopePath), (u64, u64)>,
    pub(super) policies: HashMap<(u32, PolicyTarget), PolicyAt>,
    pub(super) blobs: HashMap<BlobId, u64>,
    /// By key of an upload: the blob, what was uploaded, and its entry.
    pub(super) blob_keys: HashMap<[u8; 32], (BlobId, [u8; 32], u64)>,
    pub(super) removed_blobs: HashSet<BlobId>,
    pub(super) tenants: HashMap<String, u32>,
    /// Answers by the event they are about.
    pub(super) answers: HashMap<u64, Vec<(u64, Place)>>,
    /// Entries whose words were erased since the start: an answer that is under way must not bring
    /// them back. A few bytes each, and an erasure is rare.
    pub(super) erased: HashSet<u64>,
    pub(super) order: VecDeque<(u64, Remembered)>,
}

#[derive(Debug)]
pub(super) enum Remembered {
    Key([u8; 32]),
    Scope((u32, ScopePath)),
    Blob(BlobId),
    BlobKey([u8; 32]),
    RemovedBlob(BlobId),
    Tenant(String),
    RemovedScope((u32, ScopePath)),
    Policy((u32, PolicyTarget)),
    /// The event of an answer.
    Answer(u64),
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
                Remembered::Scope(key) => forget(&mut self.scopes, &key, offset),
                Remembered::RemovedScope(key) => forget(&mut self.removed_scopes, &key, offset),
                Remembered::Policy(key) => {
                    if self.policies.get(&key).is_some_and(|at| at.offset == offset) {
                        self.policies.remove(&key);
                    }
                }
                Remembered::BlobKey(mac) => {
                    if self.blob_keys.get(&mac).is_some_and(|(_, _, at)| *at == offset) {
                        self.blob_keys.remove(&mac);
                    }
                }
                Remembered::Answer(event) => drop(self.answers.remove(&event)),
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

/// Forgets a scope, unless a later entry changed it again.
fn forget(scopes: &mut HashMap<(u32, ScopePath), (u64, u64)>, key: &(u32, ScopePath), offset: u64) {
    if scopes.get(key).is_some_and(|(_, at)| *at == offset) {
        scopes.remove(key);
    }
}
