//! A live stream of lifecycle events that can resume: rows first, then what is announced.

use std::collections::VecDeque;
use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_types::capability::LifecycleSubscribe;
use lamina_types::{LifecycleEvent, LifecycleId};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::engine::Inner;
use crate::read::{LifecycleFilter, Shown};
use crate::write::hub::Told;
use crate::{Engine, Error};

/// Rows fetched at a time while catching up.
const CATCH_UP_ROWS: usize = 256;

/// What a stream delivers.
#[derive(Debug, Clone)]
pub enum StreamItem {
    /// A lifecycle event.
    Event(Box<Shown>),
    /// The listener fell too far behind; the stream ends and can be resumed.
    Lagging {
        /// By how much.
        behind_ms: u64,
    },
}

/// A stream of lifecycle events.
#[derive(Debug)]
pub struct Subscription {
    inner: Arc<Inner>,
    filter: LifecycleFilter,
    live: broadcast::Receiver<Told>,
    /// Taken or passed over up to this one.
    last: LifecycleId,
    /// Delivered up to this one.
    delivered: LifecycleId,
    /// The last id that was given to a word that is no row.
    marked: LifecycleId,
    /// Up to here the listener asked for the past: old by intention.
    asked_until: LifecycleId,
    ready: VecDeque<Shown>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Reading rows: resuming, or announced faster than the listener took them.
    CatchingUp,
    /// Taking announcements as they come.
    Live,
    /// Nothing more.
    Ended,
}

impl Engine {
    /// Listens to lifecycle events: those after `since` if given, then everything new.
    pub fn subscribe(
        &self,
        permit: &Permit<LifecycleSubscribe>,
        filter: LifecycleFilter,
        since: Option<LifecycleId>,
    ) -> Result<Subscription, Error> {
        let tenant = permit.caller().tenant;
        // Listening starts before any row is read, so that nothing falls between the two.
        let live = self.inner.hub.listen();
        let now = LifecycleId::mint(self.inner.env.clock.wall(), [0; 8]);
        // An id from the future, invented or from before the clock was set back, would hide all that
        // comes until then.
        let last = match since {
            None => now,
            Some(since) if since <= now => since,
            Some(since) => since.min(self.inner.lifecycle_last(tenant)?.unwrap_or(now).max(now)),
        };
        Ok(Subscription {
            filter: LifecycleFilter { tenant, ..filter },
            live,
            last,
            delivered: last,
            marked: last,
            asked_until: now,
            ready: VecDeque::new(),
            state: if since.is_some() { State::CatchingUp } else { State::Live },
            inner: Arc::clone(&self.inner),
        })
    }
}

impl Subscription {
    /// The next item; `None` when the server closes the stream.
    pub async fn next(&mut self) -> Option<StreamItem> {
        loop {
            if let Some(shown) = self.ready.pop_front() {
                return Some(self.deliver(shown));
            }
            match self.state {
                State::Ended => return None,
                State::CatchingUp => self.fetch().await,
                State::Live => {
                    let received = tokio::select! {
                        received = self.live.recv() => received,
                        () = self.inner.hub.until_closed() => Err(RecvError::Closed),
                    };
                    match received {
                        Ok(Told::Event(shown)) => self.take(&shown),
                        Ok(Told::Passing(shown)) => self.tell(&shown),
                        Ok(Told::Rows) | Err(RecvError::Lagged(_)) => {
                            self.state = State::CatchingUp
                        }
                        Err(RecvError::Closed) => self.state = State::Ended,
                    }
                }
            }
        }
    }

    /// An id for a word that is no row: after all that was delivered and before all that is to come, so
    /// that who resumes from it misses nothing. Rows in between have other ids: it is one more than the
    /// last.
    pub fn mark(&mut self) -> LifecycleId {
        let passed = if self.ready.is_empty() { self.last } else { self.delivered };
        let passed = u128::from_be_bytes(*passed.max(self.marked).as_bytes());
        self.marked = LifecycleId::from_bytes(passed.saturating_add(1).to_be_bytes());
        self.marked
    }

    /// Delivers an event that has no row, if the filter passes it. It gets an id that hides no row from who
    /// resumes from it.
    pub fn tell(&mut self, shown: &Shown) {
        if self.filter.passes(shown) {
            let id = self.mark();
            let event = LifecycleEvent { id, ..shown.event.clone() };
            self.ready.push_back(Shown { event, ..shown.clone() });
        }
    }

    fn take(&mut self, shown: &Shown) {
        if shown.event.id > self.last {
            self.last = shown.event.id;
            if self.filter.passes(shown) {
                self.ready.push_back(shown.clone());
            }
        }
    }

    /// Reads on a thread that may wait: a page can mean thousands of rows that no filter passes.
    /// Dropped half-way, it has changed nothing and is done again.
    async fn fetch(&mut self) {
        let (inner, filter, last) = (Arc::clone(&self.inner), self.filter.clone(), self.last);
        let read = tokio::task::spawn_blocking(move || {
            // Whether the listener may see an event is asked when it is told.
            inner.lifecycle_page(&filter, Some(last), CATCH_UP_ROWS, &mut |_| Ok(true))
        });
        let Ok(page) = read.await else {
            self.state = State::Ended;
            return;
        };
        match page {
            Ok(page) => {
                self.last = page.next.unwrap_or(self.last);
                self.ready.extend(page.items);
                if !page.has_more {
                    self.state = State::Live;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a lifecycle stream cannot read its rows");
                self.state = State::Ended;
            }
        }
    }

    fn deliver(&mut self, shown: Shown) -> StreamItem {
        let behind_us = self.inner.env.clock.wall().0 - shown.event.at.0;
        let behind_ms = u64::try_from(behind_us / 1_000).unwrap_or(0);
        if shown.event.id > self.asked_until && behind_ms > self.inner.settings.stream_lag_ms {
            self.state = State::Ended;
            self.ready.clear();
            return StreamItem::Lagging { behind_ms };
        }
        self.delivered = shown.event.id;
        StreamItem::Event(Box::new(shown))
    }
}
