//! Streams of recalls and answers that can still be resumed: for 60 seconds, by the id of the last event
//! that was seen (R359). What is sent is made before the first byte goes out, so that a mistake is an
//! error and not half a stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use lamina_core::policy::Caller;
use lamina_types::limits::PACK_TTL_US;
use lamina_types::{LifecycleId, Micros};
use parking_lot::Mutex;

use super::listen::Closing;
use super::packs::{Gone, Kept as Pack, is_reached};
use super::shares::TenantShares;
use super::sse::{self, Next, Source};

/// Bytes of all kept streams; the largest tenant makes room.
const STREAMS_BYTES_MAX: usize = 64 << 20;

/// The beginning of the ids of the events of a stream.
type Base = [u8; 14];

/// One stream.
#[derive(Debug)]
struct Kept {
    owner: (u32, String),
    /// The pack that it tells.
    pack: Arc<Pack>,
    frames: Arc<Vec<Bytes>>,
}

#[derive(Debug)]
struct State {
    streams: BTreeMap<Base, Kept>,
    shares: TenantShares<Base>,
}

impl Default for State {
    fn default() -> State {
        State { streams: BTreeMap::new(), shares: TenantShares::new(STREAMS_BYTES_MAX) }
    }
}

/// The streams of a server that can be resumed.
#[derive(Debug, Default)]
pub(crate) struct Replays(Mutex<State>);

impl Replays {
    /// Keeps a stream of these events, each a name and one line of JSON, and gives it from its beginning.
    pub(crate) fn keep(
        &self,
        caller: &Caller,
        pack: &Arc<Pack>,
        (first, now): (LifecycleId, Micros),
        events: &[(&'static str, Vec<u8>)],
    ) -> Replay {
        let base = base(first);
        let frame = |(at, (event, data)): (usize, &(&'static str, Vec<u8>))| {
            sse::frame(Some(&numbered(base, at).to_string()), event, data)
        };
        let frames = Arc::new(events.iter().enumerate().map(frame).collect::<Vec<_>>());
        let mut state = self.0.lock();
        state.expire(now);
        let (owner, pack) = (owner(caller), Arc::clone(pack));
        let replay = Replay { frames: Arc::clone(&frames), next: 0, pack: Arc::clone(&pack) };
        let bytes = pack.body.len() + frames.iter().map(Bytes::len).sum::<usize>();
        state.streams.insert(base, Kept { owner, pack, frames });
        for evicted in state.shares.admit(caller.tenant, base, bytes, now) {
            state.streams.remove(&evicted);
        }
        replay
    }

    /// The rest of a stream after one of its events, if it lives and is the caller's.
    pub(crate) fn after(&self, caller: &Caller, last: LifecycleId, now: Micros) -> Option<Replay> {
        let mut state = self.0.lock();
        state.expire(now);
        let base = base(last);
        let found = state.streams.get(&base).filter(|kept| kept.owner == owner(caller))?;
        let next = (0..found.frames.len()).find(|at| numbered(base, *at) == last)? + 1;
        let (frames, pack) = (Arc::clone(&found.frames), Arc::clone(&found.pack));
        Some(Replay { frames, next, pack })
    }

    /// Drops the streams that a deletion of a tenant, or of all, may touch.
    pub(crate) fn clear(&self, tenant: Option<u32>) {
        self.retain(|kept| !is_reached(tenant, kept.owner.0, &kept.pack.question.scope));
    }

    /// Drops the streams that may hold a record that was taken back.
    pub(crate) fn forget(&self, gone: &Gone<'_>) {
        self.retain(|kept| {
            let frames: Vec<&Bytes> = kept.frames.iter().collect();
            !gone.is_in(kept.owner.0, &kept.pack.question.scope, &frames)
        });
    }

    /// Drops the streams that are over their time.
    pub(crate) fn expire(&self, now: Micros) {
        self.0.lock().expire(now);
    }

    fn retain(&self, keeps: impl Fn(&Kept) -> bool) {
        let mut state = self.0.lock();
        state.streams.retain(|_, kept| keeps(kept));
        let State { streams, shares } = &mut *state;
        shares.retain(|base| streams.contains_key(base));
    }
}

impl State {
    fn expire(&mut self, now: Micros) {
        for expired in self.shares.expire(Micros(now.0 - PACK_TTL_US)) {
            self.streams.remove(&expired);
        }
    }
}

fn owner(caller: &Caller) -> (u32, String) {
    (caller.tenant, caller.actor.to_string())
}

fn base(id: LifecycleId) -> Base {
    let (base, _) = id.as_bytes().split_first_chunk::<14>().unwrap_or((&[0; 14], &[]));
    *base
}

/// The id of an event of a stream, by its place.
fn numbered(base: Base, at: usize) -> LifecycleId {
    let mut bytes = [0; 16];
    let number = u16::try_from(at + 1).unwrap_or(u16::MAX).to_be_bytes();
    for (to, from) in bytes.iter_mut().zip(base.iter().chain(&number)) {
        *to = *from;
    }
    LifecycleId::from_bytes(bytes)
}

/// A stream that is being sent.
#[derive(Debug)]
pub(crate) struct Replay {
    frames: Arc<Vec<Bytes>>,
    next: usize,
    /// The pack that it tells: whoever resumes it has to be allowed to read that.
    pub(crate) pack: Arc<Pack>,
}

impl Replay {
    /// As a response.
    pub(crate) fn response(self, closing: Closing) -> Response {
        sse::response(self, closing)
    }
}

impl Source for Replay {
    async fn next(&mut self) -> Next {
        let frame = self.frames.get(self.next).cloned();
        self.next += 1;
        match frame {
            Some(frame) if self.next == self.frames.len() => Next::Last(frame),
            Some(frame) => Next::Frame(frame),
            None => Next::Done,
        }
    }
}

#[cfg(test)]
mod tests;
