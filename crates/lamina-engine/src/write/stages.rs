//! The stages after capture: performs what the pipeline asks for and announces what happened.
//!
//! One thread owns this, so lifecycle events have one order. Rows and the watermark are written in
//! one batch: after a crash either both are there or the stages run again, and each is idempotent.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use lamina_core::write::pipeline::{Action, IN_FLIGHT_MAX, Input, Pipeline};
use lamina_env::rng::draw;
use lamina_env::{Clock, Rng};
use lamina_store::codec::control::Cancel;
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho, batch_of};
use lamina_store::entry::{Entry, Kind, Place, control};
use lamina_store::kv::Batch;
use lamina_store::log::LogReader;
use lamina_store::view::{LifecycleRow, ViewError, Views};
use lamina_types::lifecycle::{Dependants, Payload};
use lamina_types::{
    ActorId, BatchId, EventId, LifecycleEvent, LifecycleId, LifecycleKind, Micros, ScopePath, Stage,
};

use crate::read::Shown;
use crate::write::hub::Hub;
use crate::write::stall;

mod compress;
mod indexed;
mod forget;
mod import;
mod later;
mod retry;
mod worker;

use retry::failed;
pub use worker::{Fed, NothingDerived, Performed, StageError, StageWorker};

/// Entries and bytes read from the log at a time.
const CATCH_UP_ENTRIES: usize = if cfg!(test) { 32 } else { 1_024 };
const CATCH_UP_BYTES: usize = 8 * 1_024 * 1_024;

/// Events that are taken from the log at once: what comes after them is left there meanwhile.
const RESUMED_MAX: usize = if cfg!(test) { 64 } else { 4_096 };

/// An event on its way through the stages.
#[derive(Debug, Clone)]
pub struct Flight {
    /// The event.
    pub event_id: EventId,
    /// Position in the log.
    pub offset: u64,
    /// Where the log keeps it.
    pub place: Place,
    /// The tenant.
    pub tenant: u32,
    /// The ordinal of the home scope.
    pub scope_ordinal: u64,
    /// The tenant's sequence number.
    pub wal_offset: u64,
    /// The bulk write it came with.
    pub batch_id: Option<BatchId>,
    /// What a listener is shown; read only while there is one.
    words: Option<Words>,
    /// Lifecycle events so far.
    seq: u32,
    /// It has a row of its own because a stage failed.
    excepted: bool,
}

#[derive(Debug, Clone)]
struct Words {
    scope: ScopePath,
    actor: ActorId,
    modality: String,
}

/// The state of the stage thread.
#[derive(Debug)]
pub struct Stages {
    pipeline: Pipeline,
    flights: HashMap<EventId, Flight>,
    worker: Box<dyn StageWorker>,
    views: Arc<Views>,
    hub: Arc<Hub>,
    clock: Arc<dyn Clock>,
    rng: Arc<dyn Rng>,
    reader: Arc<dyn LogReader>,
    announced_last: Micros,
    /// Entries before this offset may have rows already.
    recheck_below: u64,
    /// Offsets of events that wait for an entry of the log.
    waiting: BTreeMap<u64, EventId>,
    /// Offsets of events that wait for the search index.
    unindexed: BTreeMap<u64, EventId>,
    /// The end of what was fed.
    seen: u64,
    /// Events from here on were not taken because too many were in flight; the log has them.
    behind: Option<u64>,
    /// What became of the dependants of the event that is being cancelled.
    dependants: Box<Dependants>,
    out: Out,
    /// The server serves: rows that find no space wait for it.
    is_serving: bool,
}

/// What one round leaves to be written and told.
#[derive(Debug, Default)]
struct Out {
    batch: Batch,
    /// By tenant, in the order they were announced.
    rows: BTreeMap<u32, Vec<LifecycleRow>>,
    shown: Vec<Arc<Shown>>,
    /// Some rows are not among `shown`, because nobody listened when they were made.
    untold: bool,
    touched: Vec<EventId>,
}

/// What a stage thread works with.
#[derive(Debug)]
pub struct StagesParts {
    /// Who performs stages.
    pub worker: Box<dyn StageWorker>,
    /// Where rows go.
    pub views: Arc<Views>,
    /// Who is told.
    pub hub: Arc<Hub>,
    /// The log.
    pub reader: Arc<dyn LogReader>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// For ids.
    pub rng: Arc<dyn Rng>,
    /// The instant of the newest stored row.
    pub announced_last: Micros,
    /// Entries before this offset may have rows from before a restart.
    pub recheck_below: u64,
}

impl Stages {
    /// A stage thread's state.
    pub fn new(parts: StagesParts) -> Stages {
        let StagesParts { worker, views, hub, reader, clock, rng, announced_last, recheck_below } =
            parts;
        Stages {
            pipeline: Pipeline::default(),
            flights: HashMap::new(),
            worker,
            views,
            hub,
            clock,
            rng,
            reader,
            announced_last,
            recheck_below,
            waiting: BTreeMap::new(),
            unindexed: BTreeMap::new(),
            seen: 0,
            behind: None,
            dependants: Box::default(),
            out: Out::default(),
            is_serving: false,
        }
    }

    /// Takes applied entries in log order and runs everything they lead to.
    pub fn feed(&mut self, entries: &[Entry]) -> Result<(), ViewError> {
        for entry in entries {
            self.seen = entry.head.offset + 1;
            self.take(entry)?;
        }
        self.catch_up()?;
        if let Some((first, last)) = entries.first().zip(entries.last()) {
            self.compress(first.head.offset, last.head.offset + 1)?;
            let through = self.through();
            self.views.pipeline_watermark_put(&mut self.out.batch, through);
        }
        self.flush()
    }

    /// Takes what the thread is told.
    pub fn told(&mut self, fed: Fed) -> Result<(), ViewError> {
        let (event, input) = match fed {
            Fed::Entries(entries) => return self.feed(&entries),
            Fed::Indexed { through } => return self.indexed(through),
            Fed::Nothing { event } => {
                (event, Input::Done { event, stage: Stage::Extracted, announce: false })
            }
            Fed::Failed { event, reason } => {
                let Some(flight) = self.flights.get_mut(&event) else { return Ok(()) };
                let failed = failed(flight, Stage::Extracted, 1, &reason);
                self.views.exception_put(&mut self.out.batch, &failed);
                (event, Input::Failed { event, stage: Stage::Extracted, now: self.clock.wall() })
            }
        };
        self.arrived(event, input, None)?;
        self.flush()
    }

    /// Everything before this offset is through, or has a row that says what is left to do.
    fn through(&self) -> u64 {
        let waiting = self.waiting.keys().next().copied();
        let unindexed = self.unindexed.keys().next().copied();
        [waiting, unindexed, self.behind].into_iter().flatten().min().unwrap_or(self.seen)
    }

    /// Whether there is room to take more at once.
    pub fn has_room(&self) -> bool {
        self.pipeline.len() < RESUMED_MAX
    }

    /// Leaves what stands between these offsets to be taken from the log later.
    pub fn leave(&mut self, from: u64, to: u64) {
        if from < to {
            self.behind.get_or_insert(from);
            self.seen = self.seen.max(to);
            self.recheck_below = self.recheck_below.max(to);
        }
    }

    /// Takes from the log what could not be taken when it came.
    fn catch_up(&mut self) -> Result<(), ViewError> {
        while let Some(from) = self.behind
            && self.pipeline.len() < RESUMED_MAX
        {
            let read = self.reader.read(from, None, CATCH_UP_ENTRIES, CATCH_UP_BYTES);
            let entries = match read {
                Ok(entries) => entries,
                Err(error) => {
                    tracing::error!(%error, from, "the log cannot be read; derivation waits");
                    return Ok(());
                }
            };
            let seen = self.seen;
            let before = entries.iter().filter(|entry| entry.head.offset < seen);
            for entry in before.filter(|entry| entry.head.kind == Kind::Experience) {
                if let Some(flight) = self.flight_of(entry) {
                    self.start_late(flight)?;
                }
            }
            let next = entries.last().map_or(self.seen, |entry| entry.head.offset + 1);
            self.behind = (next < self.seen).then_some(next);
        }
        Ok(())
    }

    /// What a waiting event waited for is there.
    fn arrived(
        &mut self,
        event: EventId,
        input: Input,
        mut payload: Option<Payload>,
    ) -> Result<(), ViewError> {
        let Some(flight) = self.flights.get(&event) else { return Ok(()) };
        if self.waiting.remove(&flight.offset).is_none() {
            return Ok(());
        }
        let actions = self.pipeline.on(input);
        self.perform_after(actions, &mut payload)
    }

    /// Says that everything before this offset is through.
    pub fn set_watermark(&mut self, offset: u64) -> Result<(), ViewError> {
        self.views.pipeline_watermark_put(&mut self.out.batch, offset);
        self.flush()
    }

    /// Lets time pass: stages whose pause is over are tried again.
    pub fn tick(&mut self) -> Result<(), ViewError> {
        let now = self.clock.wall();
        let actions = self.pipeline.on(Input::Tick { now });
        self.perform(actions)?;
        self.catch_up()?;
        self.flush()
    }

    /// When the next retry is due.
    pub fn next_retry(&self) -> Option<Micros> {
        self.pipeline.next_retry()
    }

    /// Events in flight.
    pub fn in_flight(&self) -> usize {
        self.pipeline.len()
    }

    /// Takes up an event whose stage had failed before a restart.
    pub fn resume(&mut self, entry: &Entry, done: Stage) -> Result<(), ViewError> {
        let Some(mut flight) = self.flight_of(entry) else { return Ok(()) };
        flight.seq = self.rows_of(&flight)?.iter().map(|row| row.seq).max().unwrap_or(0);
        flight.excepted = true;
        self.enter(flight, done)?;
        self.flush()
    }

    /// The flight of an `experience` entry; `None` once its words are erased.
    fn flight_of(&self, entry: &Entry) -> Option<Flight> {
        let (who, what) = (entry.who.live()?, entry.what.live()?);
        let words = if self.hub.has_listeners() { Some(words(who, what)?) } else { None };
        Some(Flight {
            event_id: entry.head.event_id(),
            offset: entry.head.offset,
            place: entry.place,
            tenant: entry.head.tenant,
            scope_ordinal: entry.head.scope,
            wal_offset: entry.head.tenant_seq,
            batch_id: batch_of(what).ok()?,
            words,
            seq: 0,
            excepted: false,
        })
    }

    fn take(&mut self, entry: &Entry) -> Result<(), ViewError> {
        match (entry.head.kind, entry.head.sub) {
            (Kind::Experience, _) => {
                if self.behind.is_some() || self.pipeline.len() >= IN_FLIGHT_MAX {
                    self.behind.get_or_insert(entry.head.offset);
                    // By the time it is taken, it may have been cancelled.
                    self.recheck_below = self.recheck_below.max(entry.head.offset + 1);
                    return Ok(());
                }
                let Some(flight) = self.flight_of(entry) else { return Ok(()) };
                self.start(flight)
            }
            (Kind::Answer, _) => {
                let answered = self.worker.answered(entry.head.tenant, entry.head.offset);
                let (event, payload) = match answered {
                    Ok(Some(answered)) => answered,
                    Ok(None) => return Ok(()),
                    Err(StageError(reason)) => {
                        tracing::warn!(
                            offset = entry.head.offset,
                            reason,
                            "an answer is not readable"
                        );
                        return Ok(());
                    }
                };
                let revised = self.worker.revised(entry.head.tenant, entry.head.offset);
                if let Ok(Some(revised)) = revised {
                    return self.revised(entry, event, revised);
                }
                let done = Input::Done { event, stage: Stage::Extracted, announce: true };
                self.arrived(event, done, Some(payload))
            }
            (Kind::Control, control::MODEL_GAVE_UP) => self.model_failed(entry),
            (Kind::Control, control::FORGOTTEN) => self.forgotten(entry),
            (Kind::Control, control::ERASE) => self.erased(entry),
            (Kind::Control, control::ERASURE_BEGUN..=control::ERASURE_ENDED) => self.erasing(entry),
            (Kind::Control, control::IMPORT_STEP..=control::IMPORT_ENDED) => self.importing(entry),
            (Kind::Control, control::CANCEL) => {
                let payload = entry.what.live().and_then(|bytes| Cancel::decode(bytes).ok());
                let Some(Cancel { event_id, .. }) = payload else { return Ok(()) };
                let dependants = self.withdrew(entry);
                let actions = self.pipeline.on(Input::Cancel { event: event_id });
                if actions.is_empty() {
                    return self.announce_late_cancel(entry.head.tenant, event_id, dependants);
                }
                self.dependants = dependants;
                self.perform(actions)
            }
            _ => Ok(()),
        }
    }

    /// A new event, or one whose stages were cut short by a crash.
    fn start(&mut self, mut flight: Flight) -> Result<(), ViewError> {
        let rows =
            if flight.offset < self.recheck_below { self.rows_of(&flight)? } else { Vec::new() };
        let done = rows.iter().filter_map(|row| match row.kind {
            LifecycleKind::Stage(stage) | LifecycleKind::Failed(stage) => Some(stage),
            LifecycleKind::Cancelled => Some(Stage::Compressed),
            _ => None,
        });
        let done = done.max();
        flight.seq = rows.iter().map(|row| row.seq).max().unwrap_or(0);
        if done.is_none() {
            let payload = Payload::Captured { wal_offset: flight.wal_offset };
            self.announce(&mut flight, LifecycleKind::Stage(Stage::Captured), payload)?;
        }
        self.enter(flight, done.unwrap_or(Stage::Captured))
    }

    /// The same for an event that may have been cancelled before it was taken.
    fn start_late(&mut self, flight: Flight) -> Result<(), ViewError> {
        let row = self.views.event(flight.tenant, flight.event_id)?;
        if row.is_some_and(|row| row.is_excluded()) {
            // What became of its dependants was told when the cancellation came.
            return self.announce_late_cancel(flight.tenant, flight.event_id, Box::default());
        }
        self.start(flight)
    }

    fn rows_of(&self, flight: &Flight) -> Result<Vec<LifecycleRow>, ViewError> {
        self.views.lifecycle_of_event(flight.tenant, flight.event_id)
    }

    fn enter(&mut self, flight: Flight, done: Stage) -> Result<(), ViewError> {
        let event = flight.event_id;
        // One whose stage had failed is taken up by its own row first, and that row is its to remove.
        if self.flights.contains_key(&event) {
            return Ok(());
        }
        self.flights.insert(event, flight);
        let actions = self.pipeline.on(Input::Enter { event, done });
        self.perform(actions)
    }

    /// Performs actions and whatever follows from their outcomes, one event after the other.
    fn perform(&mut self, actions: Vec<Action>) -> Result<(), ViewError> {
        self.perform_after(actions, &mut None)
    }

    /// The same, when the first outcome is already reported.
    fn perform_after(
        &mut self,
        actions: Vec<Action>,
        reported: &mut Option<Payload>,
    ) -> Result<(), ViewError> {
        let mut stack = actions;
        stack.reverse();
        while let Some(action) = stack.pop() {
            match action {
                Action::Run { event, stage, attempt } => {
                    let Some((input, payload)) = self.run(event, stage, attempt) else { continue };
                    *reported = payload;
                    stack.extend(self.pipeline.on(input).into_iter().rev());
                }
                Action::Publish { event, kind, attempts } => {
                    let payload = reported.take().unwrap_or(Payload::Failed { attempts });
                    self.publish(event, kind, payload)?;
                }
                Action::Cancelled { event, from } => {
                    let dependants = std::mem::take(&mut self.dependants);
                    self.publish(
                        event,
                        LifecycleKind::Cancelled,
                        Payload::Cancelled { from: Some(from), dependants },
                    )?;
                }
                Action::Finish { event } => {
                    let flight =
                        self.flights.remove(&event).expect("an event in the pipeline has a flight");
                    self.waiting.remove(&flight.offset);
                    self.unindexed.remove(&flight.offset);
                    if flight.excepted {
                        self.views.exception_delete(&mut self.out.batch, flight.tenant, event);
                    }
                    self.out.touched.push(event);
                }
            }
        }
        Ok(())
    }

    /// Performs a stage; `None` if an entry of the log will say that it is done.
    fn run(
        &mut self,
        event: EventId,
        stage: Stage,
        attempt: u32,
    ) -> Option<(Input, Option<Payload>)> {
        let flight = self.flights.get_mut(&event).expect("an event in the pipeline has a flight");
        match self.worker.run(flight, stage, attempt) {
            Ok(Performed::Done(payload)) => {
                Some((Input::Done { event, stage, announce: payload.is_some() }, payload))
            }
            Ok(Performed::Later) => {
                self.waiting.insert(flight.offset, event);
                None
            }
            Ok(Performed::WhenIndexed) => {
                self.unindexed.insert(flight.offset, event);
                None
            }
            Err(StageError(reason)) => {
                let row = failed(flight, stage, attempt, &reason);
                self.views.exception_put(&mut self.out.batch, &row);
                Some((Input::Failed { event, stage, now: self.clock.wall() }, None))
            }
        }
    }

    fn publish(
        &mut self,
        event: EventId,
        kind: LifecycleKind,
        payload: Payload,
    ) -> Result<(), ViewError> {
        let mut flight =
            self.flights.remove(&event).expect("an event in the pipeline has a flight");
        let announced = self.announce(&mut flight, kind, payload);
        self.flights.insert(event, flight);
        announced
    }

    fn announce(
        &mut self,
        flight: &mut Flight,
        kind: LifecycleKind,
        payload: Payload,
    ) -> Result<(), ViewError> {
        let at = self.clock.wall().max(self.announced_last.plus(1));
        self.announced_last = at;
        flight.seq += 1;
        let id = LifecycleId::mint(at, draw::<8>(&*self.rng));
        let row = LifecycleRow {
            id,
            kind,
            event_id: flight.event_id,
            scope: flight.scope_ordinal,
            at,
            seq: flight.seq,
            batch_id: flight.batch_id,
            payload: payload.clone(),
            event_offset: flight.offset,
            event_place: flight.place,
        };
        self.out.rows.entry(flight.tenant).or_default().push(row);
        self.out.touched.push(flight.event_id);
        // Who began to listen after the event set out reads its rows from the views.
        if let Some(words) = flight.words.as_ref().filter(|_| self.hub.has_listeners()) {
            let captured =
                matches!(kind, LifecycleKind::Stage(Stage::Captured) | LifecycleKind::Forgotten);
            self.out.shown.push(Arc::new(Shown {
                tenant: flight.tenant,
                event: LifecycleEvent {
                    id,
                    kind,
                    event_id: flight.event_id,
                    scope: words.scope.clone(),
                    at,
                    seq: flight.seq,
                    batch_id: flight.batch_id,
                    payload,
                },
                actor: captured.then(|| words.actor.clone()),
                modality: captured.then(|| words.modality.clone()),
            }));
        } else {
            self.out.untold = true;
        }
        Ok(())
    }

    /// From now on rows that find no space on the disk wait for it.
    pub(crate) fn serve(&mut self) {
        self.is_serving = true;
    }

    fn flush(&mut self) -> Result<(), ViewError> {
        let Out { batch: progress, rows, shown, untold, touched } = std::mem::take(&mut self.out);
        let mut batch = Batch::default();
        for (tenant, rows) in &rows {
            self.views.lifecycle_put(&mut batch, *tenant, rows)?;
        }
        // On a full disk a start goes on, and the first round that serves writes these rows.
        let kept = (!self.is_serving).then(|| progress.clone());
        // Rows first: who reads in the middle of it and finds an event through has all of its rows.
        batch.writes.extend(progress.writes);
        if !batch.writes.is_empty() {
            let ends = || !self.is_serving || self.hub.is_closed();
            let written = stall::commit_patiently(&self.views, &batch, ends);
            if let (Err(error), Some(batch)) = (&written, kept)
                && error.is_full()
            {
                self.out = Out { batch, rows, shown, untold, touched };
                return Ok(());
            }
            written?;
        }
        if untold {
            // Who began to listen in the middle of this round has read no row of it.
            self.hub.announce_rows();
        }
        self.hub.announce(shown);
        self.hub.wake(touched.into_iter());
        Ok(())
    }
}

fn words(who: &[u8], what: &[u8]) -> Option<Words> {
    let who = ExperienceWho::decode(who).ok()?;
    let what = ExperienceWhat::decode(what).ok()?;
    Some(Words { scope: what.scope, actor: who.observed_actor.id, modality: what.modality.0 })
}

#[cfg(test)]
mod tests;
