//! Revoked tokens, until they would have ended by themselves.
//!
//! Each applied entry forgets at most a few, earliest end first, so the work is bounded and a replay
//! forgets the same ones. That holds because what names the token is never erased.

use std::ops::ControlFlow;

use lamina_types::Micros;
use lamina_types::limits::REVOCATION_GRACE_US;

use crate::codec::CodecError;
use crate::codec::control::TokenRevoked;
use crate::codec::wire::{Cursor, put_varint};
use crate::entry::Entry;
use crate::kv::{Direction, Space};
use crate::view::fold::{Fold, row_error, section};
use crate::view::row::{done, instant, put_instant};
use crate::view::tag::cut;
use crate::view::{Tag, ViewError, Views, key};

/// Rows forgotten for each applied entry. More than an entry can add, so the sweep catches up.
const STEPS_PER_ENTRY: usize = 4;

/// A revoked token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevokedRow {
    /// Keyed hash of the token.
    pub token: Tag,
    /// The entry that revoked it.
    pub offset: u64,
    /// When the token ends by itself.
    pub exp: Micros,
}

impl RevokedRow {
    /// Whether nobody needs to know any more that the token was revoked.
    pub fn is_over(&self, now: Micros) -> bool {
        is_over(self.exp, now)
    }

    fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(18);
        put_varint(&mut out, self.offset);
        put_instant(&mut out, self.exp);
        out
    }

    fn decode(token: Tag, bytes: &[u8]) -> Result<RevokedRow, CodecError> {
        let mut from = Cursor::new(bytes);
        let row = RevokedRow { token, offset: from.varint()?, exp: instant(&mut from)? };
        done(&from, row)
    }
}

fn is_over(exp: Micros, now: Micros) -> bool {
    exp.plus(REVOCATION_GRACE_US) <= now
}

/// Where the forgetting stands. A memo: it saves looking, it decides nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ends {
    /// No token ends before this; `None` if not known.
    pub(crate) earliest: Option<Micros>,
    /// Stored rows before this key are gone in this batch.
    pub(crate) from: Vec<u8>,
}

/// The first of keys that are sorted by when they end.
#[derive(Debug)]
pub(crate) struct First {
    /// As this batch has left them so far.
    pub(crate) key: Option<Vec<u8>>,
    /// Stored rows before this key are gone in this batch.
    pub(crate) from: Vec<u8>,
}

impl Ends {
    pub(crate) fn start(earliest: Option<Micros>) -> Ends {
        Ends { earliest, from: key::revoked_ends().0 }
    }
}

impl Fold<'_> {
    pub(crate) fn token_revoked(&mut self, entry: &Entry) -> Result<(), ViewError> {
        let payload = section(entry.head.offset, &entry.what, TokenRevoked::decode)?;
        let Some(TokenRevoked { token, exp }) = payload else { return Ok(()) };
        let token = cut(&token);
        let row_key = key::revoked(&token);
        let before = self.get(Space::Scopes, &row_key)?;
        let before = before.map(|bytes| RevokedRow::decode(token, &bytes)).transpose();
        match before.map_err(row_error(Space::Scopes))? {
            Some(before) => self.delete(Space::Scopes, key::revoked_end(before.exp, &token)),
            None => self.counts.revoked += 1,
        }
        let row = RevokedRow { token, offset: entry.head.offset, exp };
        self.put(Space::Scopes, row_key, row.encode());
        self.put(Space::Scopes, key::revoked_end(exp, &token), []);
        self.ends.earliest = self.ends.earliest.map(|earliest| earliest.min(exp));
        Ok(())
    }

    /// Forgets tokens that have ended by themselves.
    pub(crate) fn forget_revoked(&mut self, now: Micros) -> Result<(), ViewError> {
        for _ in 0..STEPS_PER_ENTRY {
            if self.ends.earliest.is_some_and(|earliest| !is_over(earliest, now)) {
                return Ok(());
            }
            let Some((exp, token)) = self.first_end()? else {
                self.ends.earliest = Some(Micros::MAX);
                return Ok(());
            };
            if !is_over(exp, now) {
                self.ends.earliest = Some(exp);
                return Ok(());
            }
            self.delete(Space::Scopes, key::revoked_end(exp, &token));
            self.delete(Space::Scopes, key::revoked(&token));
            self.counts.revoked -= 1;
        }
        Ok(())
    }

    /// The token that ends first, as this batch has left them so far.
    fn first_end(&mut self) -> Result<Option<(Micros, Tag)>, ViewError> {
        let First { key, from } = self.first_key(&self.ends.from, &key::revoked_ends())?;
        self.ends.from = from;
        let first = key.map(|key| key::revoked_end_of(&key).ok_or(CodecError::Truncated));
        first.transpose().map_err(row_error(Space::Scopes))
    }

    /// The first key between two, as this batch has left them; stored rows before `from` are gone.
    pub(crate) fn first_key(
        &self,
        from: &[u8],
        (start, end): &(Vec<u8>, Vec<u8>),
    ) -> Result<First, ViewError> {
        let mut stored = None;
        self.kv
            .scan(Space::Scopes, from, end, Direction::Forward, &mut |key, _| {
                if self.is_deleted(Space::Scopes, key) {
                    return ControlFlow::Continue(());
                }
                stored = Some(key.to_vec());
                ControlFlow::Break(())
            })
            .map_err(|source| ViewError::Kv { doing: "looking for what has ended", source })?;
        let from = stored.clone().unwrap_or_else(|| end.clone());
        let pending = self.first_pending(Space::Scopes, start, end);
        Ok(First { key: [stored, pending].into_iter().flatten().min(), from })
    }
}

impl Views {
    /// A revoked token, by its keyed hash.
    pub fn revoked(&self, token: &[u8; 32]) -> Result<Option<RevokedRow>, ViewError> {
        let token = cut(token);
        self.get(Space::Scopes, &key::revoked(&token))?
            .map(|bytes| RevokedRow::decode(token, &bytes))
            .transpose()
            .map_err(row_error(Space::Scopes))
    }

    /// Every revoked token that is not forgotten yet.
    pub fn revoked_all(&self, visit: &mut dyn FnMut(RevokedRow)) -> Result<(), ViewError> {
        let (from, to) = key::revoked_tokens();
        self.walk(Space::Scopes, (&from, &to), &mut |key, value| {
            let token = key::tail_id(key).ok_or(CodecError::Truncated)?;
            visit(RevokedRow::decode(token, value)?);
            Ok(ControlFlow::Continue(()))
        })
    }
}

#[cfg(test)]
mod tests;
