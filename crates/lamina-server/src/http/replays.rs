//! Streams of recalls and answers that can still be resumed: for 60 seconds, by the id of the last event
//! that was seen (R359). What is sent is made before the first byte goes out, so that a mistake is an
//! error and not half a stream.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use lamina_core::policy::Caller;
use lamina_types::limits::PACK_TTL_US;
use lamina_types::{LifecycleId, Micros};
use parking_lot::Mutex;

use super::listen::Closing;
use super::packs::{Gone, Kept as Pack};
use super::sse::{self, Next, Source};

/// Streams that are kept; the oldest make room.
const STREAMS_MAX: usize = 1_024;

/// One stream.
#[derive(Debug)]
struct Kept {
    owner: (u32, String),
    made: Micros,
    /// The pack that it tells.
    pack: Arc<Pack>,
    /// The ids of its events begin with this.
    base: [u8; 14],
    frames: Arc<Vec<Bytes>>,
}

/// The streams of a server that can be resumed.
#[derive(Debug, Default)]
pub(crate) struct Replays(Mutex<VecDeque<Kept>>);

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
        let mut kept = self.0.lock();
        expire(&mut kept, now);
        if kept.len() >= STREAMS_MAX {
            kept.pop_front();
        }
        let (owner, pack) = (owner(caller), Arc::clone(pack));
        let replay = Replay { frames: Arc::clone(&frames), next: 0, pack: Arc::clone(&pack) };
        kept.push_back(Kept { owner, made: now, pack, base, frames });
        replay
    }

    /// The rest of a stream after one of its events, if it lives and is the caller's.
    pub(crate) fn after(&self, caller: &Caller, last: LifecycleId, now: Micros) -> Option<Replay> {
        let mut kept = self.0.lock();
        expire(&mut kept, now);
        let owner = owner(caller);
        let found = kept.iter().find(|kept| kept.base == base(last) && kept.owner == owner)?;
        let next = (0..found.frames.len()).find(|at| numbered(found.base, *at) == last)? + 1;
        let (frames, pack) = (Arc::clone(&found.frames), Arc::clone(&found.pack));
        Some(Replay { frames, next, pack })
    }

    /// Drops all of them.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Something is gone: no stream that may have it is sent again.
    pub(crate) fn forget(&self, gone: &Gone<'_>) {
        self.0.lock().retain(|kept| {
            let frames: Vec<&Bytes> = kept.frames.iter().collect();
            !gone.is_in(&kept.pack.question.scope, &frames)
        });
    }
}

fn expire(kept: &mut VecDeque<Kept>, now: Micros) {
    while kept.front().is_some_and(|kept| now.0 - kept.made.0 >= PACK_TTL_US) {
        kept.pop_front();
    }
}

fn owner(caller: &Caller) -> (u32, String) {
    (caller.tenant, caller.actor.to_string())
}

fn base(id: LifecycleId) -> [u8; 14] {
    let (base, _) = id.as_bytes().split_first_chunk::<14>().unwrap_or((&[0; 14], &[]));
    *base
}

/// The id of an event of a stream, by its place.
fn numbered(base: [u8; 14], at: usize) -> LifecycleId {
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
