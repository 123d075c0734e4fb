//! The engine handle, and the three threads behind it.
//!
//! writer: decides, appends, syncs, answers -> applier: folds -> stages: derives, announces. Each
//! owns its state; they meet in bounded queues. A read waits until what was answered before it
//! began is folded, so that whoever was answered finds what it wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::JoinHandle;
use std::time::Duration;

use lamina_env::{DiskFile, Env};
use lamina_store::blob::BlobStore;
use lamina_store::keys::{KeyedHash, Keys};
use lamina_store::log::{Log, LogError, LogReader};
use lamina_store::view::Views;
use lamina_types::{AuditId, Micros};
use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinError;

use crate::admin::Admin;
use crate::audit::auditor::AuditStatus;
use crate::audit::{Audit, Tap};
use crate::clock::ClockGuard;
use crate::derive::answer::Answerer;
use crate::derive::backlog::Backlog;
use crate::derive::echo::Served;
use crate::derive::models::ModelDesk;
use crate::index::{Search, Wake};
use crate::read::episodes::ToldBefore;
use crate::read::recall::text_cache::Texts;
use crate::scrub::ScrubStatus;
use crate::upkeep::Upkeep;
use crate::write::applied::Applied;
use crate::write::apply::Applier;
use crate::write::capture::{Committed, Request};
use crate::write::hub::Hub;
use crate::write::room::{self, Room};
use crate::write::stages::{Fed, Stages};
use crate::write::stall::Stall;
use crate::write::writer::{Message, WriterStatus};
use crate::{Error, Settings};

/// How long an idle thread sleeps before it looks at what time has made due.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How often the views are made durable while they change. What is lost is replayed from the log.
const PERSIST_EVERY_US: i64 = 1_000_000;
/// Groups committed but not applied: a read may wait for them.
pub(crate) const GROUPS_UNAPPLIED_MAX: usize = 16;
/// Groups applied but not staged.
pub(crate) const GROUPS_QUEUED_MAX: usize = 64;

/// A running engine. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

/// What all clones share.
#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) env: Env,
    /// Says whether anything may be deleted because of its age.
    pub(crate) guard: Arc<ClockGuard>,
    pub(crate) settings: Settings,
    pub(crate) keys: Arc<Keys>,
    pub(crate) views: Arc<Views>,
    pub(crate) backlog: Arc<Backlog>,
    /// Where a model is asked, if one is.
    pub(crate) desk: Option<ModelDesk>,
    /// Makes answers, if anything is derived.
    pub(crate) answerer: Option<Answerer>,
    pub(crate) reader: Arc<dyn LogReader>,
    pub(crate) hub: Arc<Hub>,
    pub(crate) blobs: Arc<BlobStore>,
    pub(crate) room: Room,
    /// Turns of work that takes memory.
    pub(crate) turns: ReadTurns,
    pub(crate) shared: Arc<Shared>,
    pub(crate) admin: Admin,
    pub(crate) audit: Audit,
    /// The search index; without it events are found by reading them.
    pub(crate) search: Option<Arc<Search>>,
    pub(crate) writes: Arc<Semaphore>,
    pub(crate) to_writer: Sender<Message>,
    pub(crate) threads: Mutex<Vec<JoinHandle<()>>>,
    /// The scrub goes on for as long as this is there.
    pub(crate) scrubbing: Mutex<Option<Sender<()>>>,
    /// Held for as long as the engine or one of its threads lives: one process per data directory.
    pub(crate) _lock: Arc<dyn DiskFile>,
}

/// What threads tell each other and the health report.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) closing: AtomicBool,
    /// Everything before this offset is in the views.
    pub(crate) applied: Arc<Applied>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) writer: Arc<WriterStatus>,
    pub(crate) scrub: Arc<ScrubStatus>,
    pub(crate) audit: Arc<AuditStatus>,
    pub(crate) views_failed: Mutex<Option<String>>,
    /// Whether the views wait for space.
    pub(crate) stall: Arc<Stall>,
    pub(crate) stages_failed: Mutex<Option<String>>,
    /// What was told of episodes lately.
    pub(crate) told: Arc<ToldBefore>,
    /// Texts and answers that were read lately.
    pub(crate) texts: Arc<Texts>,
    /// What packs have shown lately.
    pub(crate) served: Arc<Served>,
    /// Wakes the thread that follows into the search index.
    pub(crate) wake: Arc<Wake>,
    /// A thread of the search index is gone.
    pub(crate) index_failed: AtomicBool,
    /// The thread that embeds is gone.
    pub(crate) embed_failed: AtomicBool,
    /// The thread that asks a model is gone.
    pub(crate) model_failed: AtomicBool,
}

impl Shared {
    /// Beside a log that was just opened.
    pub(crate) fn over(log: &dyn Log) -> Arc<Shared> {
        let shared = Arc::new(Shared::default());
        shared.tell(log);
        shared
    }

    /// Tells how a log stands that was just opened.
    fn tell(&self, log: &dyn Log) {
        self.applied.advance(log.tip().next_offset);
        self.wake.advance(log.tip().next_offset);
        self.writer.committed.store(log.tip().next_offset, Ordering::Release);
        self.writer.awaited.store(log.tip().next_offset, Ordering::Release);
        *self.writer.log.lock() = log.stats();
        self.writer.recorded_last.store(log.tip().recorded_at.0.0, Ordering::Release);
    }
}

impl Engine {
    /// The machine's time, never before the last entry.
    pub fn now(&self) -> Micros {
        self.inner.now()
    }

    /// The date that an entry gets which is appended now. It is behind [`Engine::now`] for as long as nobody vouches
    /// for a clock that is far ahead of the log.
    pub fn log_time(&self) -> Micros {
        self.inner.guard.log_time()
    }

    /// Keyed hash for the cursors of a tenant: what this server did not make for it, it does not
    /// accept.
    pub fn cursor_mac(&self, tenant: u32, bytes: &[u8]) -> [u8; 32] {
        self.inner.keys.cursor().mac("cursor", &[&tenant.to_le_bytes(), bytes])
    }

    /// The name of a tenant; empty once it is erased.
    pub fn tenant_name(&self, ordinal: u32) -> String {
        self.inner.tenant_name(ordinal)
    }

    /// Keyed hash under which a verified token is remembered, so that no token is kept.
    pub fn token_mac(&self, token: &[u8]) -> [u8; 32] {
        self.inner.keys.cursor().mac("token", &[token])
    }

    /// Finishes what was accepted, writes the last checkpoint, closes streams.
    pub async fn shutdown(&self) {
        self.inner.hub.close();
        self.inner.shared.stall.close();
        self.inner.backlog.close();
        self.inner.shared.wake.close();
        if let Some(desk) = &self.inner.desk {
            desk.close();
        }
        if let Some(further) = self.inner.search.as_ref().and_then(|found| found.further.as_ref()) {
            further.close();
        }
        drop(self.inner.scrubbing.lock().take());
        if !self.inner.shared.closing.swap(true, Ordering::AcqRel) {
            // A writer that is gone has closed already.
            drop(self.inner.to_writer.send(Message::Close));
        }
        let threads = std::mem::take(&mut *self.inner.threads.lock());
        let (queue, audit) =
            (Arc::clone(&self.inner.audit.queue), self.inner.audit.thread.lock().take());
        let joined = tokio::task::spawn_blocking(move || {
            let join = |thread: JoinHandle<()>| {
                if thread.join().is_err() {
                    tracing::error!("a thread of the engine had panicked");
                }
            };
            threads.into_iter().for_each(join);
            // Last, when nobody is left who has something to tell it.
            queue.close();
            audit.into_iter().for_each(join);
        });
        if joined.await.is_err() {
            tracing::error!("the engine's threads could not be joined");
        }
    }
}

/// How many reads have a thread at the same time for each core: more would wait for the disk or for each other, and
/// every one of them has memory of its own.
const READS_PER_CORE: usize = 4;

/// Pictures hashed at the same time.
const PICTURES_MAX: usize = 2;

/// Turns of work that takes memory.
#[derive(Debug)]
pub(crate) struct ReadTurns {
    /// Reads that have a thread.
    pub(crate) reads: Arc<Semaphore>,
    /// Pictures that are being hashed: decoding one may take a quarter of a gigabyte.
    pub(crate) pictures: Arc<Semaphore>,
}

impl Default for ReadTurns {
    fn default() -> ReadTurns {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        ReadTurns {
            reads: Arc::new(Semaphore::new(READS_PER_CORE * cores.max(2))),
            pictures: Arc::new(Semaphore::new(PICTURES_MAX)),
        }
    }
}

impl Inner {
    /// Runs a read on a thread of its own when it is its turn.
    pub(crate) async fn read_in_turn<T: Send + 'static>(
        &self,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        // The turns are never closed.
        let turn = Arc::clone(&self.turns.reads).acquire_owned().await.ok();
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            read()
        });
        reading.await
    }

    /// The machine's time, never before the last entry.
    pub(crate) fn now(&self) -> Micros {
        let recorded = self.shared.writer.recorded_last.load(Ordering::Acquire);
        self.guard.machine().max(Micros(recorded))
    }

    /// Hands a request to the writer and waits for its answer.
    pub(crate) async fn submit<T>(
        &self,
        request: Request,
        answer: oneshot::Receiver<Result<T, Error>>,
    ) -> Result<T, Error> {
        if self.shared.closing.load(Ordering::Acquire) {
            return Err(Error::ShuttingDown);
        }
        if let Some(reason) = self.shared.views_failed.lock().clone() {
            // Keys and ordinals are decided against the views: without them no write is safe.
            return Err(Error::ViewsStopped { reason });
        }
        if self.shared.stall.is_full() {
            return Err(room::refusal());
        }
        let turn = Arc::clone(&self.writes).acquire_owned().await;
        let turn = Arc::new(turn.map_err(|_| Error::ShuttingDown)?);
        self.shared.writer.queued.fetch_add(1, Ordering::Relaxed);
        self.shared.writer.unanswered.fetch_add(1, Ordering::Relaxed);
        // The turn goes with the request: a caller that gives up does not make room for another
        // before the writer has taken what it left.
        let message = Message::Counted(request, Arc::clone(&turn));
        self.to_writer.send(message).map_err(|_| self.gone())?;
        let answer = answer.await;
        answer.unwrap_or_else(|_| Err(self.gone()))
    }

    /// Why nobody answers.
    fn gone(&self) -> Error {
        match self.shared.closing.load(Ordering::Acquire) {
            true => Error::ShuttingDown,
            false => Error::LogUnavailable(Box::new(LogError::Poisoned)),
        }
    }

    /// Waits until the views have everything that was answered before this call, and gives how far that is.
    pub(crate) async fn caught_up(&self) -> u64 {
        let awaited = self.shared.writer.awaited.load(Ordering::Acquire);
        self.shared.applied.reached(awaited).await;
        awaited
    }

    /// Whether the views have everything that was answered.
    pub(crate) fn caught_up_by_now(&self) -> bool {
        self.shared.applied.offset() >= self.shared.writer.awaited.load(Ordering::Acquire)
    }

    pub(crate) fn audit_id(&self) -> AuditId {
        AuditId::mint(self.env.clock.wall(), lamina_env::rng::draw::<8>(&*self.env.rng))
    }

    pub(crate) fn tenant_name(&self, ordinal: u32) -> String {
        self.admin.standing.tenant_name(ordinal).unwrap_or_default()
    }

    pub(crate) fn keyed(&self, tenant: u32) -> Result<KeyedHash, Error> {
        self.keys.tenant(tenant).map_err(|_| Error::NotFound)
    }
}

/// The applier thread.
pub(crate) fn applier(
    mut applier: Applier,
    views: &Views,
    env: &Env,
    committed: &Receiver<Committed>,
    to_stages: &SyncSender<Fed>,
    audit: &Tap,
    shared: &Shared,
) {
    let mut dirty_since: Option<Micros> = None;
    loop {
        let first =
            match committed.recv_timeout(Duration::from_micros(PERSIST_EVERY_US.unsigned_abs())) {
                Ok(first) => Some(first),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
        if let Some(first) = first {
            let groups = std::iter::once(first)
                .chain(committed.try_iter().take(GROUPS_QUEUED_MAX))
                .collect();
            let (entries, answers) = applier.fold(groups);
            answers.give();
            shared.wake.advance(shared.applied.offset());
            match entries {
                Ok(entries) if !entries.is_empty() => {
                    dirty_since = dirty_since.or(Some(env.clock.monotonic()));
                    audit.written(&entries);
                    drop(to_stages.send(Fed::Entries(entries)));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "the views cannot be written; writes stop until a restart");
                    *shared.views_failed.lock() = Some(error.to_string());
                    shared.applied.stop();
                    // What is committed is durable; the answers above said so. Nothing may be
                    // folded after a gap.
                    for late in committed.iter() {
                        applier.answers_only(late).give();
                    }
                    break;
                }
            }
        }
        if dirty_since.is_some_and(|since| env.clock.monotonic().0 - since.0 >= PERSIST_EVERY_US) {
            dirty_since = None;
            if let Err(error) = views.persist() {
                tracing::warn!(%error, "the views could not be made durable; the log has everything");
            }
        }
    }
    if let Err(error) = views.persist() {
        tracing::warn!(%error, "the views could not be made durable; the log has everything");
    }
}

/// The stage thread.
pub(crate) fn stages(
    mut stages: Stages,
    mut upkeep: Upkeep,
    env: &Env,
    applied: &Receiver<Fed>,
    shared: &Shared,
) {
    stages.serve();
    loop {
        let now = env.clock.wall();
        let until_retry = stages
            .next_retry()
            .map(|at| Duration::from_micros((at.0 - now.0).max(1_000).unsigned_abs()));
        let mut taken = 0;
        let result = match applied.recv_timeout(until_retry.unwrap_or(LOOK_AGAIN).min(LOOK_AGAIN)) {
            Ok(fed) => {
                if let Fed::Entries(entries) = &fed {
                    taken = entries.len();
                }
                // New events do not keep old ones waiting for their retry.
                stages.told(fed).and_then(|()| stages.tick())
            }
            Err(RecvTimeoutError::Timeout) => stages.tick(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        shared.in_flight.store(stages.in_flight(), Ordering::Relaxed);
        if let Err(error) = result {
            // Going on would leave a gap behind the watermark; a restart resumes from it.
            tracing::error!(%error, "lifecycle rows cannot be written; stages stop until a restart");
            *shared.stages_failed.lock() = Some(error.to_string());
            break;
        }
        upkeep.run(taken);
    }
}

#[cfg(test)]
mod tests;
