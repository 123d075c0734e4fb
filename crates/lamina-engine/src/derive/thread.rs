//! The thread that derives: takes events in turns, reads their words, appends their answers.
//!
//! It is not in the way of captures: what it has not come to yet waits in the log. Answers are
//! appended in the order of their events, several with one sync; the next ones are made when those are
//! durable, so that no more than one round is ever under way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender};
use std::time::Duration;

use lamina_env::Clock;
use lamina_store::codec::models::Cost;
use lamina_store::log::{LogReader, NewEntry};
use lamina_store::view::{ViewError, Views};
use lamina_types::lifecycle::{Dependants, Payload};
use lamina_types::{EpisodeId, EventId, Stage};
use tokio::sync::oneshot;

use crate::derive::answer::{Answerer, Draft};
use crate::derive::backlog::{Backlog, Job, Taken};
use crate::derive::models::Bell;
use crate::derive::pace::{Pace, background};
use crate::derive::read::Came;
use crate::derive::rows::AnswerCounts;
use crate::derive::rows::episodes::EpisodeRow;
use crate::derive::topics::Turns;
use crate::derive::{alone, deadlines, dependants, read};
use crate::index::Search;
use crate::write::capture::Request;
use crate::write::stages::{Fed, Flight, Performed, StageError, StageWorker};
use crate::write::writer::Message;

/// Events of one round.
const ROUND_MAX: usize = 64;
/// Events that a helper thread is worth.
const SHARE_MIN: usize = 16;
/// How long nothing must have come before time itself is written down.
const TICK_AFTER: Duration = Duration::from_secs(1);
/// How long to wait before a log that took nothing is asked again.
const LOG_PAUSE: Duration = Duration::from_millis(500);
/// A failure is told about once in so many tries: twice in a minute.
const TRIES_TOLD: u32 = 60;

/// Layers, as [`Payload::Indexed`] names them.
const EVENTS: u8 = 1;
const EPISODES: u8 = 2;
const FACTS: u8 = 4;
const BELIEFS: u8 = 8;

/// What the thread works with.
#[derive(Debug)]
pub struct Deriving {
    /// What there is to do.
    pub backlog: Arc<Backlog>,
    /// Where words are.
    pub reader: Arc<dyn LogReader>,
    /// Makes answers.
    pub answerer: Answerer,
    /// Appends them.
    pub to_writer: Sender<Message>,
    /// Hears of what could not be done.
    pub to_stages: SyncSender<Fed>,
    /// What is due.
    pub views: Arc<Views>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Lets captures go first.
    pub(crate) pace: Pace,
    /// Hears that there are answers, if a model is asked as well.
    pub(crate) bell: Option<Arc<Bell>>,
}

impl Deriving {
    /// Runs until the backlog is closed.
    pub fn run(self) {
        background("derivation");
        let mut turns = Turns::default();
        let mut ticked = None;
        loop {
            let jobs = match self.backlog.take(ROUND_MAX, TICK_AFTER) {
                Taken::Jobs(jobs) => jobs,
                Taken::Nothing => {
                    self.tick(&mut ticked);
                    continue;
                }
                Taken::Closed => return,
            };
            let begun = self.clock.monotonic();
            let made = self.make(&jobs);
            let mut answers = Vec::with_capacity(made.len());
            for (job, made) in jobs.iter().zip(made) {
                match made {
                    Made::Answer(mut draft) => {
                        turns.decide(&mut draft);
                        answers.push(self.answerer.entry(&mut draft));
                    }
                    Made::Nothing => drop(self.to_stages.send(Fed::Nothing { event: job.event })),
                    Made::Failed(reason) => {
                        // A stage thread that is gone has told why.
                        drop(self.to_stages.send(Fed::Failed { event: job.event, reason }));
                    }
                }
            }
            if !append(&self.to_writer, answers) {
                return;
            }
            if let Some(bell) = &self.bell {
                bell.ring();
            }
            self.pace.rest(self.clock.monotonic().since(begun), || self.backlog.is_closed());
        }
    }

    /// Makes the answers of a round, on two threads if there are enough of them.
    fn make(&self, jobs: &[Job]) -> Vec<Made> {
        let one = |job: &Job| self.one(job);
        if jobs.len() < 2 * SHARE_MIN {
            return jobs.iter().map(one).collect();
        }
        let (here, there) = jobs.split_at(jobs.len() / 2);
        std::thread::scope(|scope| {
            let there = scope.spawn(|| there.iter().map(one).collect::<Vec<Made>>());
            let mut made: Vec<Made> = here.iter().map(one).collect();
            // Every panic is caught where it happens.
            made.extend(there.join().unwrap_or_default());
            made
        })
    }

    fn one(&self, job: &Job) -> Made {
        let entry = match self.reader.entry(job.offset, job.place) {
            Ok(entry) => entry,
            Err(error) => return Made::Failed(error.to_string()),
        };
        match catch_unwind(AssertUnwindSafe(|| self.answerer.draft(&entry))) {
            Ok(Some(draft)) => Made::Answer(Box::new(draft)),
            Ok(None) => Made::Nothing,
            Err(_) => Made::Failed("the extractor panicked".to_owned()),
        }
    }

    /// Has the log note that time passed, if something is due and nothing else says so. `ticked` is how
    /// far the views were when it last did: views that do not follow the log are not ticked again.
    fn tick(&self, ticked: &mut Option<u64>) {
        let now = self.clock.wall();
        let applied = self.views.applied().map(|tip| tip.next_offset);
        if ticked.is_some() && *ticked == applied {
            return;
        }
        match deadlines::next(&self.views) {
            Ok(Some(at)) if at.0 <= now => {}
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "deadlines cannot be read; trying again");
                return;
            }
        }
        let (reply, appended) = oneshot::channel();
        let request = Request::Answers { entries: vec![alone::tick()], reply };
        *ticked = applied;
        if self.to_writer.send(Message::Request(request)).is_ok()
            && let Ok(Err(error)) = appended.blocking_recv()
        {
            tracing::debug!(%error, "a tick was not appended; trying again");
        }
    }
}

/// Appends entries, as often as it takes; `false` when there is nobody to append to any more.
pub(super) fn append(to_writer: &Sender<Message>, entries: Vec<NewEntry>) -> bool {
    if entries.is_empty() {
        return true;
    }
    for tries in 0_u32.. {
        let (reply, appended) = oneshot::channel();
        let request = Request::Answers { entries: entries.clone(), reply };
        if to_writer.send(Message::Request(request)).is_err() {
            return false;
        }
        match appended.blocking_recv() {
            Ok(Ok(())) => return true,
            Ok(Err(crate::Error::ShuttingDown)) | Err(_) => return false,
            Ok(Err(error)) => {
                if tries.is_multiple_of(TRIES_TOLD) {
                    tracing::warn!(%error, tries, "answers cannot be appended; trying again");
                }
                std::thread::sleep(LOG_PAUSE);
            }
        }
    }
    false
}

/// What became of an event.
#[derive(Debug)]
enum Made {
    Answer(Box<Draft>),
    /// Its words are gone.
    Nothing,
    Failed(String),
}

/// Performs the stages of derivation: the first is done when the event's answer is in the views.
#[derive(Debug)]
pub struct DerivingStages {
    backlog: Arc<Backlog>,
    views: Arc<Views>,
    finding: Finding,
}

/// Who makes events findable.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Nobody: events are found by reading them.
    Nobody,
    /// A thread that follows the views.
    Follower(Arc<Search>),
    /// A thread that should, but the index cannot be opened.
    Broken,
}

impl Finding {
    /// Whether an event can be found.
    fn has(&self, offset: u64) -> Result<bool, StageError> {
        let broken = || StageError("the search index does not follow".to_owned());
        match self {
            Finding::Nobody => Ok(true),
            Finding::Broken => Err(broken()),
            Finding::Follower(search) if search.found.offset() > offset => Ok(true),
            // One that is made again comes to it.
            Finding::Follower(search) if search.is_healing() => Ok(false),
            Finding::Follower(search) if search.found.is_stopped() => Err(broken()),
            Finding::Follower(_) => Ok(false),
        }
    }
}

impl DerivingStages {
    /// Over the same backlog as the thread.
    pub fn new(backlog: Arc<Backlog>, views: Arc<Views>) -> DerivingStages {
        DerivingStages { backlog, views, finding: Finding::Nobody }
    }

    /// Events are indexed when this one says so.
    pub(crate) fn found_by(self, finding: Finding) -> DerivingStages {
        DerivingStages { finding, ..self }
    }
}

impl StageWorker for DerivingStages {
    fn run(&mut self, flight: &Flight, stage: Stage, _: u32) -> Result<Performed, StageError> {
        let came = || {
            let came = read::came_of_event(&self.views, flight.tenant, flight.offset);
            came.map_err(|error| StageError(error.to_string()))
        };
        Ok(match stage {
            Stage::Captured => Performed::Done(None),
            Stage::Compressed => {
                let episode = read::episode_of(&self.views, flight.tenant, flight.event_id);
                let episode = episode.map_err(|error| StageError(error.to_string()))?;
                // One that goes on is sealed later, and it is announced then.
                let sealed = episode.filter(|(_, row)| row.sealed.is_some());
                let payload = sealed.map(|(id, row)| self.payload(flight.tenant, id, &row));
                Performed::Done(payload.transpose()?)
            }
            Stage::Extracted => match came()? {
                Some(came) => Performed::Done(Some(extracted(came.counts, came.touched))),
                None => {
                    self.backlog.push(Job {
                        tenant: flight.tenant,
                        event: flight.event_id,
                        offset: flight.offset,
                        place: flight.place,
                    });
                    Performed::Later
                }
            },
            Stage::Indexed if !self.finding.has(flight.offset)? => Performed::WhenIndexed,
            Stage::Indexed => {
                let Came { counts, touched, .. } = came()?.unwrap_or_default();
                let episodes = if counts.episodes > 0 { EPISODES } else { 0 };
                let facts = if counts.facts > 0 { FACTS } else { 0 };
                let beliefs = if touched > 0 { BELIEFS } else { 0 };
                let layers = EVENTS | episodes | facts | beliefs;
                Performed::Done(Some(Payload::Indexed { layers }))
            }
            Stage::Consolidated => {
                let Came { counts, updated, .. } = came()?.unwrap_or_default();
                Performed::Done(Some(Payload::Consolidated {
                    beliefs_updated: updated,
                    conflicts_resolved: counts.settled,
                    superseded_facts: counts.superseded,
                }))
            }
        })
    }

    fn answered(
        &mut self,
        tenant: u32,
        answer: u64,
    ) -> Result<Option<(EventId, Payload)>, StageError> {
        let row = read::answer_row(&self.views, tenant, answer);
        let row = row.map_err(|error| StageError(error.to_string()))?;
        let beliefs = read::beliefs_of_answer(&self.views, tenant, answer);
        let (touched, _) = beliefs.map_err(|error| StageError(error.to_string()))?;
        Ok(row.map(|row| (row.event, extracted(row.counts, touched))))
    }

    fn revised(&mut self, tenant: u32, answer: u64) -> Result<Option<Payload>, StageError> {
        let row = read::answer_row(&self.views, tenant, answer);
        let Some(row) = row.map_err(|error| StageError(error.to_string()))? else {
            return Ok(None);
        };
        let first = read::first_answer(&self.views, tenant, row.event);
        if row.cost.is_none()
            && first.map_err(|error| StageError(error.to_string()))? == Some(answer)
        {
            return Ok(None);
        }
        let Cost { input_tokens, output_tokens, micros } = row.cost.unwrap_or_default();
        Ok(Some(Payload::Revised {
            facts: row.counts.facts,
            entities: row.counts.entities,
            ungrounded: row.counts.ungrounded,
            input_tokens,
            output_tokens,
            cost_micros: micros,
        }))
    }

    fn withdrew(&mut self, tenant: u32, by: u64) -> Result<Dependants, StageError> {
        dependants::kept(&self.views, tenant, by).map_err(|error| StageError(error.to_string()))
    }

    fn sealed(&mut self, from: u64, to: u64) -> Result<Vec<(u32, EpisodeId)>, StageError> {
        read::sealed_by(&self.views, from, to).map_err(|error| StageError(error.to_string()))
    }

    fn compressed(
        &mut self,
        tenant: u32,
        episode: EpisodeId,
    ) -> Result<(Vec<EventId>, Payload), StageError> {
        let failed = |error: ViewError| StageError(error.to_string());
        let row = read::episode(&self.views, tenant, episode).map_err(failed)?;
        let row = row.ok_or_else(|| StageError("the episode is gone".to_owned()))?;
        let events = read::events_of(&self.views, tenant, episode).map_err(failed)?;
        let events = events.into_iter().map(|(_, event, _)| event).collect();
        Ok((events, self.payload(tenant, episode, &row)?))
    }
}

impl DerivingStages {
    /// What there is to say about a sealed episode.
    fn payload(
        &self,
        tenant: u32,
        episode: EpisodeId,
        row: &EpisodeRow,
    ) -> Result<Payload, StageError> {
        let understanding = read::understood(&self.views, tenant, episode, row);
        let understanding = understanding.map_err(|error| StageError(error.to_string()))?;
        Ok(Payload::Compressed { episode, understanding })
    }
}

fn extracted(counts: AnswerCounts, beliefs: u32) -> Payload {
    let AnswerCounts { facts, entities, episodes, .. } = counts;
    Payload::Extracted { facts, entities, beliefs, episodes }
}
