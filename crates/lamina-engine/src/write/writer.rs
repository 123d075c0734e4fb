//! The writer thread: takes requests off its queue, a group at a time.
//!
//! What arrives while a batch is being synced forms the next group, so a busy log syncs once for
//! many writers and a quiet one at once for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use lamina_env::Clock;
use lamina_store::log::{LogError, LogStats};
use parking_lot::Mutex;
use tokio::sync::OwnedSemaphorePermit;

use crate::Error;
use crate::write::capture::{Capture, Committed, Request, next_group};

/// How long the writer waits before it calls itself idle and appends a mark.
const IDLE_AFTER: Duration = Duration::from_millis(100);
/// How long an idle writer sleeps before it looks at what time has made due.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Writers that were answered together come back together, but not at the same instant: how often
/// the writer steps aside for them before it syncs for fewer than last time. A lone writer is never
/// kept waiting.
const GATHER_YIELDS: usize = 64;

/// What the writer thread receives.
#[derive(Debug)]
pub enum Message {
    /// Something to write.
    Request(Request),
    /// The same with the turn it has among the writes in flight, which it holds until it is taken.
    Counted(Request, Arc<OwnedSemaphorePermit>),
    /// Finish what is queued, then end.
    Close,
}

impl Message {
    /// The request, counted off the queue before its turn goes to the next; none at the close.
    fn taken(self, status: &WriterStatus) -> Option<Request> {
        match self {
            Message::Request(request) => Some(request),
            Message::Counted(request, turn) => {
                status.queued.fetch_sub(1, Ordering::Relaxed);
                drop(turn);
                Some(request)
            }
            Message::Close => None,
        }
    }
}

/// What the writer tells the rest.
#[derive(Debug, Default)]
pub struct WriterStatus {
    /// Numbers of the log.
    pub log: Mutex<LogStats>,
    /// `recorded_at` of the last entry.
    pub recorded_last: AtomicI64,
    /// Everything before this offset is durable, and its writers are or will be told.
    pub committed: AtomicU64,
    /// Reads wait for what stands before this offset. What comes after it takes away what no read shows.
    pub awaited: AtomicU64,
    /// Something that was taken back is not noted in the ledger.
    pub ledger_behind: AtomicBool,
    /// Requests that the writer has not taken.
    pub queued: AtomicUsize,
    /// Requests that the writer has not answered, those that are being synced among them.
    pub unanswered: AtomicUsize,
}

/// Runs the writer until it is told to close. `sink` takes what was committed, in order.
pub fn run(
    mut capture: Capture,
    requests: &Receiver<Message>,
    sink: &mut dyn FnMut(Committed),
    status: &WriterStatus,
    clock: &dyn Clock,
) {
    let mut carried: Option<Request> = None;
    let mut marked = false;
    let mut closing = false;
    let mut expected = 1;
    while !closing || carried.is_some() {
        let first = match carried.take() {
            Some(request) => request,
            None => match requests.recv_timeout(if marked { LOOK_AGAIN } else { IDLE_AFTER }) {
                Ok(message) => match message.taken(status) {
                    Some(request) => request,
                    None => break,
                },
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let idle = capture.idle();
                    // The log does one thing at a time; ask again until there is nothing left.
                    marked = !idle.as_ref().is_ok_and(|appended| !appended.is_empty());
                    publish(idle, sink, &capture, status);
                    continue;
                }
            },
        };
        marked = false;
        let mut gathered = 1;
        let mut yields = 0;
        let (group, rest) = next_group(first, || {
            loop {
                match requests.try_recv().map(|message| message.taken(status)) {
                    Ok(Some(request)) => {
                        gathered += 1;
                        return Some(request);
                    }
                    Ok(None) => closing = true,
                    Err(TryRecvError::Empty) if gathered < expected && yields < GATHER_YIELDS => {
                        yields += 1;
                        std::thread::yield_now();
                        continue;
                    }
                    Err(_) => {}
                }
                return None;
            }
        });
        expected = group.len();
        carried = rest;
        let asked = group.iter().filter(|request| !matches!(request, Request::Answers { .. }));
        let asked = asked.count();
        metrics::histogram!("lamina_batch_requests").record(group.len() as f64);
        let before = clock.monotonic();
        let committed = capture.commit(group);
        let spent_us = clock.monotonic().0 - before.0;
        metrics::histogram!("lamina_commit_seconds").record(spent_us as f64 / 1e6);
        publish(Ok(committed), sink, &capture, status);
        status.unanswered.fetch_sub(asked, Ordering::Relaxed);
        publish(capture.checkpoint_if_due(), sink, &capture, status);
    }
    // Requests that were queued behind the close are refused, not lost in silence.
    while let Ok(Message::Request(request) | Message::Counted(request, _)) = requests.try_recv() {
        request.refuse(Error::ShuttingDown);
    }
    publish(capture.close(), sink, &capture, status);
}

fn publish(
    committed: Result<Committed, LogError>,
    sink: &mut dyn FnMut(Committed),
    capture: &Capture,
    status: &WriterStatus,
) {
    *status.log.lock() = capture.stats();
    status.ledger_behind.store(capture.is_ledger_behind(), Ordering::Relaxed);
    status.recorded_last.store(capture.recorded_last().0.0, Ordering::Release);
    // Before the answers: whoever has one reads after it.
    let next_offset = capture.stats().next_offset;
    status.committed.store(next_offset, Ordering::Release);
    if committed.as_ref().map_or(true, |committed| !committed.hidden && !committed.is_empty()) {
        status.awaited.store(next_offset, Ordering::Release);
    }
    match committed {
        Ok(committed) if !committed.is_empty() => sink(committed),
        Ok(_) => {}
        Err(error) => tracing::error!(%error, "the log takes no writes"),
    }
}
