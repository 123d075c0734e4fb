//! The revoked tokens, as keyed hashes in memory: every request asks.

use std::collections::{BTreeSet, HashMap};

use lamina_store::codec::control::TokenRevoked;
use lamina_store::entry::Entry;
use lamina_store::view::{RevokedRow, Tag};
use lamina_types::Micros;
use lamina_types::limits::REVOCATION_GRACE_US;

/// The revoked tokens.
#[derive(Debug, Default)]
pub(crate) struct Revoked {
    ends: HashMap<Tag, Micros>,
    by_end: BTreeSet<(Micros, Tag)>,
    /// Grows with every revocation.
    pub(crate) version: u64,
}

impl Revoked {
    pub(crate) fn load(&mut self, row: RevokedRow) {
        self.insert(row.token, row.exp, row.offset);
    }

    pub(crate) fn take(&mut self, entry: &Entry) {
        let payload = entry.what.live().and_then(|bytes| TokenRevoked::decode(bytes).ok());
        if let Some(TokenRevoked { token, exp }) = payload {
            self.insert(tag(&token), exp, entry.head.offset);
        }
    }

    fn insert(&mut self, token: Tag, exp: Micros, offset: u64) {
        if let Some(before) = self.ends.insert(token, exp) {
            self.by_end.remove(&(before, token));
        }
        self.by_end.insert((exp, token));
        self.version = self.version.max(offset + 1);
    }

    /// Forgets tokens that have ended by themselves.
    pub(crate) fn forget(&mut self, now: Micros) {
        while let Some((exp, token)) = self.by_end.first().copied()
            && exp.plus(REVOCATION_GRACE_US) <= now
        {
            self.by_end.remove(&(exp, token));
            self.ends.remove(&token);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn end_of(&self, token: &[u8; 32]) -> Option<Micros> {
        self.ends.get(&tag(token)).copied()
    }
}

fn tag(token: &[u8; 32]) -> Tag {
    *token.first_chunk().expect("32 bytes have a first half")
}
