//! The threads over an opened directory: who does what, and how they hear of each other.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::JoinHandle;

use lamina_core::write::pipeline::IN_FLIGHT_MAX;
use lamina_env::{DiskFile, Env};
use lamina_store::ballast::Ballast;
use lamina_store::blob::BlobStore;
use lamina_store::log::{Log, LogReader, Tip};
use lamina_store::view::Views;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::{OpenReport, Opened, open_files, resume, stages_of};
use crate::admin::Admin;
use crate::admin::standing::Standing;
use crate::audit::open::CarryingLog;
use crate::audit::retention::Retention;
use crate::clock::ClockGuard;
use crate::derive::answer::{Answerer, Extractor};
use crate::derive::backlog::Backlog;
use crate::derive::echo::Guard;
use crate::derive::entities::known::Acquaintance;
use crate::derive::models::thread::Asking;
use crate::derive::models::{ModelDesk, Models};
use crate::derive::pace::Pace;
use crate::derive::revoked::Instructions;
use crate::derive::thread::{Deriving, DerivingStages, Finding};
use crate::engine::{
    self, Engine, GROUPS_QUEUED_MAX, GROUPS_UNAPPLIED_MAX, Inner, ReadTurns, Shared,
};
use crate::index::Search;
use crate::index::thread::{Follower, commit};
use crate::ledger::Keeper;
use crate::scrub::{Scrub, Watching};
use crate::threads::{Role, spawn};
use crate::upkeep::Upkeep;
use crate::write::apply::Applier;
use crate::write::capture::{Capture, Committed};
use crate::write::hub::Hub;
use crate::write::room::Room;
use crate::write::stages::{Fed, StageWorker, Stages};
use crate::write::writer;
use crate::{OpenError, Settings, audit, embed, scrub};

/// Who performs the stages after capture.
pub(super) enum Performer {
    /// Derivation, with this extractor, and perhaps a model.
    Derives(Arc<dyn Extractor>, Option<Models>),
    /// Somebody else.
    Other(Box<dyn StageWorker>),
}

impl Performer {
    /// Who performs the stages, who extracts, and which model is asked.
    fn over(
        self,
        backlog: &Arc<Backlog>,
        views: &Arc<Views>,
        search: Option<&Arc<Search>>,
    ) -> Performers {
        match self {
            Performer::Other(worker) => Performers { worker, extractor: None, desk: None },
            Performer::Derives(extractor, models) => {
                let found = search.map(|search| Finding::Follower(Arc::clone(search)));
                let stages = DerivingStages::new(Arc::clone(backlog), Arc::clone(views));
                let stages = stages.found_by(found.unwrap_or(Finding::Broken));
                let desk = models.map(ModelDesk::new);
                Performers { worker: Box::new(stages), extractor: Some(extractor), desk }
            }
        }
    }
}

/// Who does what after capture.
struct Performers {
    worker: Box<dyn StageWorker>,
    extractor: Option<Arc<dyn Extractor>>,
    desk: Option<ModelDesk>,
}

/// What the threads do.
struct Work {
    capture: Capture,
    applier: Applier,
    stages: Stages,
    tap: audit::Tap,
    deriving: Option<Deriving>,
    asking: Option<Asking>,
}

/// How they hear of each other.
struct Channels {
    requests: mpsc::Receiver<writer::Message>,
    to_applier: mpsc::SyncSender<Committed>,
    committed: mpsc::Receiver<Committed>,
    to_stages: mpsc::SyncSender<Fed>,
    applied: mpsc::Receiver<Fed>,
}

impl Channels {
    /// Opens them; the writer is told through what comes first.
    fn open() -> (mpsc::Sender<writer::Message>, Channels) {
        let (to_writer, requests) = mpsc::channel();
        let (to_applier, committed) = mpsc::sync_channel(GROUPS_UNAPPLIED_MAX);
        let (to_stages, applied) = mpsc::sync_channel(GROUPS_QUEUED_MAX);
        (to_writer, Channels { requests, to_applier, committed, to_stages, applied })
    }
}

impl Work {
    /// Starts a thread for each.
    fn spawn(
        self,
        channels: Channels,
        env: &Env,
        views: &Arc<Views>,
        upkeep: Upkeep,
        shared: &Arc<Shared>,
        lock: &Arc<dyn DiskFile>,
    ) -> Result<Vec<JoinHandle<()>>, OpenError> {
        let Work { capture, applier, stages, tap, deriving, asking } = self;
        let Channels { requests, to_applier, committed, to_stages, applied } = channels;
        let mut threads = vec![
            spawn(Role::Writer, shared, lock, {
                let (status, clock) = (Arc::clone(&shared.writer), Arc::clone(&env.clock));
                let mut sink = answering(to_applier);
                move || writer::run(capture, &requests, &mut sink, &status, &*clock)
            })?,
            spawn(Role::Applier, shared, lock, {
                let (shared, views, env) = (Arc::clone(shared), Arc::clone(views), env.clone());
                move || {
                    engine::applier(applier, &views, &env, &committed, &to_stages, &tap, &shared)
                }
            })?,
            spawn(Role::Stages, shared, lock, {
                let (shared, env) = (Arc::clone(shared), env.clone());
                move || engine::stages(stages, upkeep, &env, &applied, &shared)
            })?,
        ];
        if let Some(deriving) = deriving {
            threads.push(spawn(Role::Derive, shared, lock, move || deriving.run())?);
        }
        if let Some(asking) = asking {
            threads.push(spawn(Role::Model, shared, lock, move || asking.run())?);
        }
        Ok(threads)
    }
}

/// Starts the threads over an opened directory.
pub(super) fn start(
    settings: Settings,
    Opened { env, keys, log, views, mut report, clock, ballast, lock }: Opened,
    performer: Performer,
) -> Result<(Engine, OpenReport), OpenError> {
    let shared = Shared::over(&*log);
    let clock_guard = Arc::new(ClockGuard::new(clock, &shared.writer));
    let (reader, tip, lock) = (watched(&*log, &shared), log.tip(), Arc::<dyn DiskFile>::from(lock));
    let (hub, backlog) = (Arc::new(Hub::default()), Arc::new(Backlog::default()));
    let (staging, blobs) = open_files(&env, &settings.data, &views)?;
    let standing = Arc::new(Standing::load(&views, &*reader)?);
    let kept = Arc::new(Retention::new(&settings, &standing, &clock_guard));
    let carrying = CarryingLog { reader: &reader, tip: &tip, pin: audit::pin::pinned(&views)? };
    let (audit, tap) = audit::open::open(&settings, &env, &keys, carrying, kept, &shared, &lock)?;
    report.audit_recovered = audit.recovered;
    let search = searched(&settings, &env, &tip, &shared)?;
    let Performers { worker, extractor, desk } = performer.over(&backlog, &views, search.as_ref());
    let mut stages = stages_of(&env, &views, &hub, &reader, &tip, worker)?;
    resume(&mut stages, &views, &*reader, &tip, report.fresh)?;
    let (scrubbing, scrubber) = spawn_scrub(&shared, &lock, &reader, (&views, &blobs))?;
    let (to_writer, channels) = Channels::open();
    let (capture, applier, room) =
        writing(log, (&views, &env), (&shared, &standing), (&settings, ballast))?;
    let pace = Pace { writer: Arc::clone(&shared.writer), hub: Arc::clone(&hub) };
    let deriving = extractor.map(|extractor| Deriving {
        backlog: Arc::clone(&backlog),
        reader: Arc::clone(&reader),
        answerer: answerer(extractor, &env, &standing, (&views, &reader), desk.is_some())
            .guarding(guard(&shared, &views, &reader)),
        to_writer: to_writer.clone(),
        to_stages: channels.to_stages.clone(),
        views: Arc::clone(&views),
        clock: Arc::clone(&env.clock),
        pace: pace.clone(),
        bell: desk.as_ref().map(|desk| Arc::clone(&desk.bell)),
    });
    let answerer = deriving.as_ref().map(|deriving| deriving.answerer.clone());
    let asking = deriving.as_ref().zip(desk.as_ref()).map(|(d, k)| Asking::beside(d, k, &env.rng));
    let follow = search.as_ref().map(|to| following(to, (&views, &reader), pace, &shared, &env));
    let told = channels.to_stages.clone();
    let work = Work { capture, applier, stages, tap, deriving, asking };
    let upkeep = Upkeep::new(&env, &views, &blobs, &clock_guard);
    let mut threads = work.spawn(channels, &env, &views, upkeep, &shared, &lock)?;
    threads.extend(started(follow, told, (&shared, &standing, &room), &lock, scrubber)?);
    let inner = Inner {
        backlog,
        desk,
        answerer,
        writes: Arc::new(Semaphore::new(settings.writes_in_flight_max.clamp(1, IN_FLIGHT_MAX))),
        room,
        turns: ReadTurns::default(),
        env,
        guard: clock_guard,
        settings,
        keys,
        views,
        reader,
        hub,
        blobs,
        admin: Admin::over(standing, staging),
        audit,
        search,
        shared,
        to_writer,
        threads: Mutex::new(threads),
        scrubbing: Mutex::new(Some(scrubbing)),
        _lock: lock,
    };
    Ok((Engine { inner: Arc::new(inner) }, report))
}

/// Opens the ledger of erasures, if there is to be one.
fn ledger(settings: &Settings, env: &Env, log: &dyn Log) -> Result<Option<Keeper>, OpenError> {
    let Some(path) = &settings.ledger else { return Ok(None) };
    let (reader, next) = (log.reader(), log.tip().next_offset);
    Keeper::open(&env.disk, &settings.data, path, &*reader, next).map(Some)
}

/// What the writer and the applier work with.
fn writing(
    log: Box<dyn Log>,
    (views, env): (&Arc<Views>, &Env),
    (shared, standing): (&Arc<Shared>, &Arc<Standing>),
    (settings, ballast): (&Settings, Ballast),
) -> Result<(Capture, Applier, Room), OpenError> {
    let room = Room::new(ballast, settings.free_bytes_min);
    let ledger = ledger(settings, env, &*log)?;
    let applied = || Arc::clone(&shared.applied);
    let capture = Capture::new(log, Arc::clone(views), Arc::clone(&env.rng), applied());
    let applier = Applier::new(Arc::clone(views), applied());
    let applier = applier
        .with_standing(Arc::clone(standing))
        .with_told(Arc::clone(&shared.told), Arc::clone(&shared.texts))
        .with_served(Arc::clone(&shared.served))
        .with_stall(Arc::clone(&shared.stall));
    Ok((capture.with_room(room.clone()).with_ledger(ledger), applier, room))
}

/// Opens the search index. One that cannot be opened is no reason not to serve: events are then found
/// by reading them.
fn searched(
    settings: &Settings,
    env: &Env,
    tip: &Tip,
    shared: &Shared,
) -> Result<Option<Arc<Search>>, OpenError> {
    let id = lamina_store::log::id(&*env.disk, &settings.data)?.unwrap_or_default();
    match Search::open(env, &settings.data, id, tip.next_offset, settings.embedding.as_ref()) {
        Ok(search) => Ok(Some(Arc::new(search))),
        Err(error) => {
            tracing::error!(%error, "the search index cannot be opened; events are found by reading");
            shared.index_failed.store(true, Ordering::Relaxed);
            Ok(None)
        }
    }
}

/// What follows into the search index.
fn following(
    search: &Arc<Search>,
    (views, reader): (&Arc<Views>, &Arc<dyn LogReader>),
    pace: Pace,
    shared: &Shared,
    env: &Env,
) -> Follower {
    Follower {
        search: Arc::clone(search),
        wake: Arc::clone(&shared.wake),
        reader: Arc::clone(reader),
        views: Arc::clone(views),
        pace,
        clock: Arc::clone(&env.clock),
    }
}

/// What embeds behind it, if a model is configured.
fn embedding(follower: &Follower, standing: &Arc<Standing>) -> Option<embed::thread::Embedding> {
    let desk = follower.search.further.as_ref()?;
    Some(embed::thread::Embedding {
        desk: Arc::clone(desk),
        search: Arc::clone(&follower.search),
        wake: Arc::clone(&follower.wake),
        reader: Arc::clone(&follower.reader),
        views: Arc::clone(&follower.views),
        standing: Arc::clone(standing),
        clock: Arc::clone(&follower.clock),
    })
}

/// Starts it, if there is an index, what makes durable what it puts, and what embeds behind it, beside
/// another thread.
fn started(
    follower: Option<Follower>,
    told: mpsc::SyncSender<Fed>,
    (shared, standing, room): (&Arc<Shared>, &Arc<Standing>, &Room),
    lock: &Arc<dyn DiskFile>,
    other: JoinHandle<()>,
) -> Result<Vec<JoinHandle<()>>, OpenError> {
    let mut threads = vec![other];
    let Some(follower) = follower else { return Ok(threads) };
    let (found, wake) = (Arc::clone(&follower.search), Arc::clone(&follower.wake));
    let embed = embedding(&follower, standing);
    threads.push(spawn(Role::Index, shared, lock, move || follower.run(&told))?);
    let room = room.clone();
    threads.push(spawn(Role::Commit, shared, lock, move || commit(&found, &wake, &room))?);
    if let Some(embed) = embed {
        threads.push(spawn(Role::Embed, shared, lock, move || embed.run())?);
    }
    Ok(threads)
}

/// Makes answers with the names that are in force.
fn answerer(
    extractor: Arc<dyn Extractor>,
    env: &Env,
    standing: &Arc<Standing>,
    (views, reader): (&Arc<Views>, &Arc<dyn LogReader>),
    asks_model: bool,
) -> Answerer {
    let known = Arc::new(Acquaintance::new(Arc::clone(views), Arc::clone(reader)));
    let answerer = Answerer::new(extractor, Arc::clone(&env.rng)).naming(Arc::clone(standing));
    let given = Arc::new(Instructions::new(Arc::clone(views), Arc::clone(reader)));
    answerer.knowing(known).instructed(given).asking_model(asks_model)
}

/// The reader of a log, whose damage degrades health.
fn watched(log: &dyn Log, shared: &Shared) -> Arc<dyn LogReader> {
    Watching::over(log.reader(), &shared.scrub)
}

/// Recognises what was shown when it is written back.
fn guard(shared: &Shared, views: &Arc<Views>, reader: &Arc<dyn LogReader>) -> Arc<Guard> {
    Arc::new(Guard::new(Arc::clone(&shared.served), Arc::clone(views), Arc::clone(reader)))
}

/// The scrub goes on for as long as what is given back first is there.
fn spawn_scrub(
    shared: &Arc<Shared>,
    lock: &Arc<dyn DiskFile>,
    reader: &Arc<dyn LogReader>,
    (views, blobs): (&Arc<Views>, &Arc<BlobStore>),
) -> Result<(mpsc::Sender<()>, JoinHandle<()>), OpenError> {
    let (scrubbing, stop) = mpsc::channel();
    let scrub = Scrub {
        reader: Arc::clone(reader),
        blobs: Some((Arc::clone(views), Arc::clone(blobs))),
        pace: scrub::Pace::USUAL,
        status: Arc::clone(&shared.scrub),
    };
    Ok((scrubbing, spawn(Role::Scrub, shared, lock, move || scrub.run(&stop))?))
}

/// Answers what is durable and hands it on to be folded.
fn answering(to_applier: mpsc::SyncSender<Committed>) -> impl FnMut(Committed) {
    move |mut committed: Committed| {
        committed.answer_durable();
        // An applier that is gone has left its reason in `views_failed`.
        drop(to_applier.send(committed));
    }
}
