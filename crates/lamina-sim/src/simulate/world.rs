//! The simulated machine and the process that runs on it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_engine::admin::standing::Standing;
use lamina_engine::audit::AuditAlone;
use lamina_engine::derive::DeriveAlone;
use lamina_engine::import::alone::RowAlone;
use lamina_engine::open::{self, FIRST_TENANT};
use lamina_engine::read::recall::{RecallAlone, RecallOver};
use lamina_engine::write::applied::Applied;
use lamina_engine::write::apply::Applier;
use lamina_engine::write::capture::{Capture, Committed, Placed, PreparedWrite, Request};
use lamina_engine::write::hub::Hub;
use lamina_engine::write::prepare::{Provenance, prepare};
use lamina_engine::write::stages::{NothingDerived, StageWorker, Stages};
use lamina_engine::{Error, Settings, Write};
use lamina_env::Env;
use lamina_env::rng::draw;
use lamina_env::sim::clock::SimClock;
use lamina_env::sim::disk::SimDisk;
use lamina_env::sim::rng::SimRng;
use lamina_store::keys::{KeyedHash, Keys};
use lamina_store::kv::{Kv, MemKv};
use lamina_store::log::{LogReader, NewEntry};
use lamina_store::view::Views;
use lamina_types::{
    Actor, AuditId, Content, Context, Directives, Experience, Hints, Micros, Modality, ValidAt,
};

use tokio::sync::oneshot;

use super::model::{Model, Said};

/// Small segments, so that a run rolls several.
const SEGMENT_BYTES: u64 = 64 * 1_024;
const BALLAST_BYTES: u64 = 32 * 1_024;

/// Everything there is.
pub(super) struct World {
    pub(super) clock: Arc<SimClock>,
    pub(super) disk: Arc<SimDisk>,
    pub(super) kv: Arc<MemKv>,
    pub(super) model: Model,
    pub(super) process: Option<Process>,
    /// Something will go wrong in this life.
    pub(super) armed: bool,
    /// Whether events are derived from.
    pub(super) derives: bool,
    env: Env,
}

/// What dies when power is lost.
pub(super) struct Process {
    pub(super) capture: Capture,
    pub(super) applier: Applier,
    pub(super) stages: Stages,
    pub(super) derive: Option<DeriveAlone>,
    pub(super) standing: Arc<Standing>,
    pub(super) audit: AuditAlone,
    pub(super) recall: RecallAlone,
    pub(super) views: Arc<Views>,
    pub(super) keys: Arc<Keys>,
    pub(super) reader: Arc<dyn LogReader>,
    /// Committed, durable, but not applied yet.
    pub(super) queue: Vec<Committed>,
    /// Requests that wait for their answers.
    pub(super) waiting: Vec<Waiting>,
    /// The views could not be written: nothing more is folded in this life.
    pub(super) stopped: bool,
}

/// A request that waits for its answer.
pub(super) struct Waiting {
    pub(super) items: Vec<(String, Said)>,
    pub(super) answer: oneshot::Receiver<Result<Vec<Placed>, Error>>,
}

impl World {
    pub(super) fn new(seed: u64) -> World {
        let clock = Arc::new(SimClock::at(Micros(1_700_000_000_000_000)));
        let disk = Arc::new(SimDisk::new());
        let env = Env {
            clock: Arc::clone(&clock) as _,
            rng: Arc::new(SimRng::new(seed)),
            disk: Arc::clone(&disk) as _,
        };
        World {
            clock,
            disk,
            kv: Arc::new(MemKv::new()),
            model: Model::default(),
            process: None,
            armed: false,
            derives: seed % 2 == 1,
            env,
        }
    }

    pub(super) fn data(&self) -> PathBuf {
        PathBuf::from("/data")
    }

    /// The wall clock.
    pub(super) fn now(&self) -> Micros {
        self.env.clock.wall()
    }

    /// Whether this life has a fault that can explain a failure.
    pub(super) fn faulted(&self) -> bool {
        self.armed
    }

    /// Starts the process: opens everything, catches up, resumes stages.
    pub(super) fn open(&mut self, trace: &mut dyn FnMut(&str)) -> Result<(), String> {
        let settings = Settings {
            segment_bytes: SEGMENT_BYTES,
            ballast_bytes: BALLAST_BYTES,
            audit_segment_bytes: SEGMENT_BYTES,
            ..Settings::new(self.data())
        };
        let lock = open::lock(&self.env, Path::new("/data")).map_err(|error| chain(&error))?;
        let kv: Arc<dyn Kv> = Arc::clone(&self.kv) as _;
        let opened = open::open_parts(&settings, self.env.clone(), kv, lock)
            .map_err(|error| chain(&error))?;
        let parts = opened.into_parts();
        let tip = parts.log.tip();
        trace(&format!(
            "  opened at {} (cut {:?}, erasures finished {}, replayed {})",
            tip.next_offset,
            parts.report.cut,
            parts.report.erasures_finished,
            parts.report.entries_replayed,
        ));
        let reader = parts.log.reader();
        let applied = Arc::new(Applied::new(tip.next_offset));
        let hub = Arc::new(Hub::default());
        let rng = Arc::clone(&self.env.rng);
        let derive = self.derives.then(|| DeriveAlone::new(Arc::clone(&parts.views), rng));
        let worker: Box<dyn StageWorker> = match &derive {
            Some(derive) => derive.worker(),
            None => Box::new(NothingDerived),
        };
        let mut stages = open::stages_of(&parts.env, &parts.views, &hub, &reader, &tip, worker)
            .map_err(|error| chain(&error))?;
        open::resume(&mut stages, &parts.views, &*reader, &tip, parts.report.fresh)
            .map_err(|error| chain(&error))?;
        let standing = Standing::load(&parts.views, &*reader).map_err(|error| chain(&error));
        let standing = Arc::new(standing?);
        let audit = AuditAlone::open(&settings, &parts.env, &parts.keys, (&reader, &tip))
            .map_err(|error| format!("audit: {}", chain(&error)))?;
        let recall = RecallAlone::over(RecallOver {
            env: self.aside(),
            keys: &parts.keys,
            views: &parts.views,
            reader: &reader,
            applied: &applied,
            standing: &standing,
            audit: &audit,
        });
        let recall = recall.map_err(|error| chain(&error))?;
        let applier = Applier::new(Arc::clone(&parts.views), Arc::clone(&applied));
        self.process = Some(Process {
            capture: Capture::new(
                parts.log,
                Arc::clone(&parts.views),
                Arc::clone(&self.env.rng),
                applied,
            ),
            applier: recall.follows(applier.with_standing(Arc::clone(&standing))),
            recall,
            standing,
            audit,
            stages,
            derive,
            views: parts.views,
            keys: parts.keys,
            reader,
            queue: Vec::new(),
            waiting: Vec::new(),
            stopped: false,
        });
        Ok(())
    }

    /// The same time, and a disk of its own: nothing that is kept there is part of the world.
    fn aside(&self) -> Env {
        Env {
            clock: Arc::clone(&self.env.clock),
            rng: Arc::new(SimRng::new(7)),
            disk: Arc::new(SimDisk::new()),
        }
    }

    /// Ends the process in order.
    pub(super) fn close(&mut self) -> Result<(), String> {
        let Some(process) = &mut self.process else { return Ok(()) };
        let closed = process.capture.close().map_err(|error| format!("close: {error}"))?;
        process.queue.push(closed);
        process.apply_all()?;
        process.audit.close();
        process.views.persist().map_err(|error| format!("persist: {error}"))
    }

    /// Power is lost: the process is gone, and of what was not durable any part may be.
    pub(super) fn crash(&mut self, choices: &SimRng) {
        self.process = None;
        self.disk.set_capacity(None);
        self.disk.crash(choices);
        self.disk.restart();
        self.kv.fail_never();
        let batches = self.kv.batches_unpersisted() as u64;
        self.kv.crash(choices.below(batches + 1) as usize);
    }

    /// A new id for a row of the audit log.
    pub(super) fn audit_id(&self) -> AuditId {
        AuditId::mint(self.now(), draw::<8>(&*self.env.rng))
    }

    /// An experience, ready for the writer.
    pub(super) fn prepared(&self, key: &str, said: &Said, body: &[u8]) -> PreparedWrite {
        let (write, provenance) = (self.write_of(key, said, body), self.provenance());
        prepare(&*self.env.rng, &self.keyed(), &provenance, write)
    }

    /// A row of an import, ready for the writer.
    pub(super) fn row(&self, key: &str, said: &Said) -> RowAlone {
        let write = self.write_of(key, said, said.text.as_bytes());
        RowAlone::prepare(&*self.env.rng, &self.keyed(), &self.provenance(), write)
    }

    /// The key of the only tenant.
    pub(super) fn keyed(&self) -> KeyedHash {
        let process = self.process.as_ref().expect("the process runs");
        process.keys.tenant(FIRST_TENANT).expect("the tenant has a key")
    }

    fn write_of(&self, key: &str, said: &Said, body: &[u8]) -> Write {
        let actor = Actor::new("user:alice".parse().expect("well formed"));
        Write {
            key_drawn: false,
            experience: Experience {
                scope: said.scope.parse().expect("well formed"),
                subject: actor.id.clone(),
                observed_actor: actor,
                modality: Modality("conversation".to_owned()),
                content: Content::Text { text: said.text.clone(), media: Vec::new() },
                context: Context {
                    observed_at: ValidAt(self.env.clock.wall()),
                    source_recorded_at: None,
                    location: None,
                    preceded_by: Vec::new(),
                    intent: None,
                    labels: vec!["simulated".to_owned()],
                    refers_to: None,
                },
                directives: Directives::default(),
                source: None,
                origin: None,
                hints: Hints::default(),
                idempotency_key: key.to_owned(),
            },
            identity: body.to_vec(),
            request_id: "req_sim".to_owned(),
        }
    }

    fn provenance(&self) -> Provenance {
        Provenance {
            tenant: FIRST_TENANT,
            caller: "user:alice".parse().expect("well formed"),
            audit_id: self.audit_id(),
            decision: "scope.write".to_owned(),
            batch_id: None,
            registers: true,
            home: None,
            as_system: false,
        }
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl Process {
    /// What the writer thread does with what it committed.
    pub(super) fn committed(&mut self, mut committed: Committed) {
        committed.answer_durable();
        self.queue.push(committed);
    }

    /// Derives from up to so many events: their answers are committed, not applied yet.
    pub(super) fn derive(&mut self, max: usize) -> Result<usize, String> {
        let Some(derive) = &mut self.derive else { return Ok(0) };
        let (answers, told) = derive.round(&*self.reader, max);
        let count = answers.len();
        self.append(answers);
        for told in told {
            self.stages.told(told).map_err(|error| format!("stages: {error}"))?;
        }
        Ok(count)
    }

    /// Has the log note that time passed, if something is due.
    pub(super) fn tick(&mut self, now: Micros) -> Result<bool, String> {
        let Some(derive) = &self.derive else { return Ok(false) };
        let tick = derive.tick(now).map_err(|error| format!("deadlines: {error}"))?;
        let due = tick.is_some();
        self.append(tick.into_iter().collect());
        Ok(due)
    }

    fn append(&mut self, entries: Vec<NewEntry>) {
        if !entries.is_empty() {
            // Answers that the log did not take are made again after the next start.
            let (reply, _) = oneshot::channel();
            let committed = self.capture.commit(vec![Request::Answers { entries, reply }]);
            self.committed(committed);
        }
    }

    /// Applies everything that is queued, answers the rest, and runs the stages.
    pub(super) fn apply_all(&mut self) -> Result<(), String> {
        let queue = std::mem::take(&mut self.queue);
        if queue.is_empty() {
            return Ok(());
        }
        let (folded, answers) = self.applier.fold(queue);
        // Durable is durable: answers are given whatever became of the views.
        answers.give();
        let entries = folded.map_err(|error| format!("fold: {error}"))?;
        // Every other request is given up before it has left its row.
        self.audit.written(&entries, |id| id.as_bytes().last().is_some_and(|last| last % 2 == 0));
        self.audit.tick();
        self.stages.feed(&entries).map_err(|error| format!("stages: {error}"))
    }
}
