//! What an erasure costs: of a scope with many events, which lie among all others.
//!
//! Two scopes of the same size are erased. The first while nobody asks: how long until no read shows anything
//! of it, how long its words take to go from the log against writing as many events durably, which bytes are
//! rewritten, and how much of a core the purge takes. The second while questions are asked in other scopes,
//! which are compared with the same questions before.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use lamina_core::derive::facts::{Pins, Superseded};
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::admin::Noted;
use lamina_engine::erasure::{ErasureAsked, ErasureRights, ErasureStatus, Outcome};
use lamina_engine::read::beliefs::BeliefsQuery;
use lamina_engine::read::episodes::EpisodesQuery;
use lamina_engine::read::facts::{FactsQuery, Order};
use lamina_engine::{Axis, Boot, Engine, EventsQuery, ReadPermit, Settings, Write, open};
use lamina_env::Env;
use lamina_env::rng::draw;
use lamina_store::entry::Kind;
use lamina_store::kv::MemKv;
use lamina_store::log::{EraseTarget, NewEntry, Section};
use lamina_types::capability::{ForgetGdpr, ScopeReadLocal};
use lamina_types::layer::Confidence;
use lamina_types::{AuditId, ErasureId, EventId, Micros, RecordedAt, ScopePath};

use crate::recall::{Asked, ask, since};
use crate::{Options, derive, sample};

const TENANT: u32 = 1;
const QUESTIONS: u64 = 200;
/// How often they are asked before anything is erased: a percentile of few is chance.
const NORMAL_ROUNDS: usize = 20;
/// Events of another scope.
const SMALL: u64 = 100;
/// Events that are read by their ids to see whether they are gone.
const SAMPLE: usize = 32;
/// Entries of one durable batch, and those that are erased at once.
const BATCH: usize = 250;
const ERASED_AT_ONCE: usize = 512;
/// Bytes that say who wrote an event.
const WHO_BYTES: usize = 300;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// How long it must be idle, and how often it is looked whether it is.
const IDLE_LOOK: Duration = Duration::from_secs(1);
const IDLE_LOOKS_MAX: u32 = 120;
/// The last two of the five phases: words go, and then only the files of the index have them.
const DELETE: usize = 3;
const DEMOTE: usize = 4;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let base = Base { erased: options.erase.max(1), events: options.events };
    anyhow::ensure!(
        base.events >= base.erased * 4,
        "--events must be four times --erase at least: two scopes go, and others are asked"
    );
    println!("{} events in a scope, among {}\n", base.erased, base.events);
    let (written, zeroed) = zeroing(options, base.erased)?;
    told("the log alone: as many entries appended", written, "");
    let bar = format!("{:.2} x appending them, bar: 3 x", zeroed / written);
    told("the log alone: their words zeroed", zeroed, &bar);
    let dir = tempfile::tempdir_in(&options.dir)?;
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real())?;
    let bench = Bench { engine: Arc::new(engine), env: Env::real(), base };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let measured = runtime.block_on(bench.measure());
    runtime.block_on(bench.engine.shutdown());
    measured
}

/// What is written.
#[derive(Debug, Clone, Copy)]
struct Base {
    erased: u64,
    events: u64,
}

impl Base {
    fn event(self, number: u64) -> Write {
        sample::says(number, self.scope(number), derive::message(number), derive::at(number))
    }

    /// Those that are erased lie as far apart as they can.
    fn scope(self, number: u64) -> ScopePath {
        let stride = self.events / self.erased;
        match (number % stride, number / stride < self.erased) {
            (which @ (0 | 1), true) => gone(which),
            _ => format!("org:bench/user:u{}", number / SMALL).parse().expect("well formed"),
        }
    }

    fn questions(self) -> Vec<Asked> {
        let about =
            |number: u64| derive::PEOPLE.get((number % 8) as usize).copied().unwrap_or_default();
        let scope = |number: u64| {
            let scopes = self.events / SMALL;
            format!("org:bench/user:u{}", number * 7_919 % scopes.max(1))
        };
        let ask = |number| Asked {
            scope: scope(number).parse().expect("well formed"),
            words: format!("Where does {} work now", about(number)),
        };
        (0..QUESTIONS).map(ask).collect()
    }
}

fn gone(which: u64) -> ScopePath {
    format!("org:bench/user:gone{which}").parse().expect("well formed")
}

/// When things happened, in milliseconds from the beginning.
#[derive(Debug, Default)]
struct Went {
    /// It was planned, and begun.
    begun: f64,
    /// No read showed anything any more.
    invisible: f64,
    /// Words began to go, and were gone from the log.
    deleting: f64,
    deleted: f64,
    /// It was over.
    done: f64,
    /// Processor time in milliseconds: until words began to go, from then on, and of that from when they were gone from the log.
    busy_planning: f64,
    busy: f64,
    busy_purging: f64,
}

struct Bench {
    engine: Arc<Engine>,
    env: Env,
    base: Base,
}

impl Bench {
    async fn measure(&self) -> anyhow::Result<()> {
        let base = self.base;
        let mut last = None;
        for from in (0..base.events).step_by(10_000) {
            let some = from..base.events.min(from + 10_000);
            last = derive::write(&self.engine, some, &|number| base.event(number)).await?.or(last);
        }
        derive::settle(&self.engine, last.context("events are written")?).await?;
        println!("{:<44} {:>9.0} MB resident", "written and derived", resident());
        let written = self.written_again().await?;
        println!("{:<44} {written:>9.1} ms", "as many events written durably");
        let rested = self.idle().await?;
        println!("{:<44} {:>9.1} s", "until nothing was left to do", rested / 1e3);

        let (went, status) = self.erased(0).await?;
        told("planned, and begun", went.begun, "");
        let from_asking = format!("{:.1} ms after it was asked for, bar: 1,000 ms", went.invisible);
        told("invisible on every read after that", went.invisible - went.begun, &from_asking);
        let deleting = went.deleted - went.deleting;
        let ratio = format!("{:.1} x writing them", deleting / written);
        told("words gone from the log and from all views", deleting, &ratio);
        told("over, with a certificate", went.done, "");
        let (held, rewritten) = status.bytes;
        println!(
            "{:<44} {:>9.2} MB of {:.2} MB that held something, {:.2} x, bar: 2 x",
            "rewritten",
            rewritten as f64 / 1e6,
            held as f64 / 1e6,
            rewritten as f64 / held.max(1) as f64
        );
        println!(
            "{:<44} {:>9.2} of a core while words go, bar: 0.5; {:.2} while the index is purged ({:.1} ms); {:.1} ms to plan",
            "processor time",
            went.busy / (went.done - went.deleting).max(1.0),
            went.busy_purging / (went.done - went.deleted).max(1.0),
            went.done - went.deleted,
            went.busy_planning,
        );
        self.while_asked().await
    }

    /// Milliseconds until as many events are durable as are erased.
    async fn written_again(&self) -> anyhow::Result<f64> {
        let (base, scope) = (self.base, "org:bench/user:again".parse::<ScopePath>()?);
        let event = |number: u64| {
            sample::says(number, scope.clone(), derive::message(number), derive::at(number))
        };
        let started = self.env.clock.monotonic();
        let last =
            derive::write(&self.engine, base.events..base.events + base.erased, &event).await?;
        let took = since(&*self.env.clock, started);
        derive::settle(&self.engine, last.context("events are written")?).await?;
        Ok(took)
    }

    /// Waits until the process has nothing to do: tables of what was written may still be merged.
    async fn idle(&self) -> anyhow::Result<f64> {
        let started = self.env.clock.monotonic();
        for _ in 0..IDLE_LOOKS_MAX {
            let busy = sample::cpu_us(std::process::id())?;
            tokio::time::sleep(IDLE_LOOK).await;
            let used = sample::cpu_us(std::process::id())? - busy;
            if used < IDLE_LOOK.as_micros() as f64 / 20.0 {
                break;
            }
        }
        Ok(since(&*self.env.clock, started))
    }

    /// Questions in other scopes, before and while a scope is erased.
    async fn while_asked(&self) -> anyhow::Result<()> {
        let questions = self.base.questions();
        ask(&self.env, &self.engine, &questions).await?;
        let mut before = Vec::new();
        for _ in 0..NORMAL_ROUNDS {
            before.extend(ask(&self.env, &self.engine, &questions).await?.times);
        }
        let running = Arc::new(AtomicBool::new(true));
        let asking = {
            let (engine, env) = (Arc::clone(&self.engine), self.env.clone());
            let running = Arc::clone(&running);
            tokio::spawn(async move {
                let mut times = Vec::new();
                for one in questions.chunks(1).cycle() {
                    if !running.load(Ordering::Acquire) {
                        break;
                    }
                    times.extend(ask(&env, &engine, one).await?.times);
                }
                anyhow::Ok(times)
            })
        };
        let erased = self.erased(1).await;
        running.store(false, Ordering::Release);
        let mut during = asking.await??;
        erased?;
        let (normal, count) = (sample::percentile(&mut before, 0.99), during.len());
        println!("{:<44} {normal:>9.2} ms p99 of {}", "a recall", before.len());
        let p99 = sample::percentile(&mut during, 0.99);
        println!(
            "{:<44} {p99:>9.2} ms p99 of {count}, {:.2} x, bar: 4 x",
            "the same while a scope is erased",
            p99 / normal
        );
        Ok(())
    }

    /// Erases a scope, and looks.
    async fn erased(&self, which: u64) -> anyhow::Result<(Went, ErasureStatus)> {
        let (clock, scope) = (&*self.env.clock, gone(which));
        let sample = self.some_of(&scope).await?;
        anyhow::ensure!(self.is_shown(&scope, &sample).await?, "there is nothing to erase");
        let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
        let caller = Caller::local("user:officer".parse()?, TENANT);
        let permit = policy
            .permit::<ForgetGdpr>(&caller, Some(&scope))
            .map_err(|denied| anyhow::anyhow!("{denied:?}"))?;
        let asked = ErasureAsked {
            scope: scope.clone(),
            events: Vec::new(),
            preview: None,
            idempotency_key: None,
        };
        let noted = Noted {
            audit_id: AuditId::from_bytes([7; 16]),
            request_id: String::new(),
            note: String::new(),
        };
        let preset = Preset::DevLocal;
        let boot = Boot { preset, document: Arc::new(preset.document()) };
        let rights = ErasureRights { boot, delegates: Vec::new() };
        let mut went = Went::default();
        let busy = sample::cpu_us(std::process::id())?;
        let started = clock.monotonic();
        let id = self.engine.erase(&permit, &rights, &asked, &noted).await?.id;
        went.begun = since(clock, started);
        let looking = self.looking((started, busy), id, &mut went);
        let hiding = self.hidden(started, &scope, &sample);
        let (status, invisible) = tokio::join!(looking, hiding);
        went.invisible = invisible?;
        Ok((went, status?))
    }

    /// Milliseconds until no read shows anything of a scope.
    async fn hidden(
        &self,
        started: Micros,
        scope: &ScopePath,
        sample: &[EventId],
    ) -> anyhow::Result<f64> {
        while self.is_shown(scope, sample).await? {
            tokio::time::sleep(LOOK).await;
        }
        Ok(since(&*self.env.clock, started))
    }

    /// Follows an erasure to its end.
    async fn looking(
        &self,
        (started, busy): (Micros, f64),
        id: ErasureId,
        went: &mut Went,
    ) -> anyhow::Result<ErasureStatus> {
        let clock = &*self.env.clock;
        let (mut at_deleting, mut at_deleted) = (busy, busy);
        loop {
            let status = self.engine.erasure(TENANT, id).await?;
            if status.phase >= DELETE && went.deleting == 0.0 {
                went.deleting = since(clock, started);
                at_deleting = sample::cpu_us(std::process::id())?;
            }
            if status.phase >= DEMOTE && went.deleted == 0.0 {
                went.deleted = since(clock, started);
                at_deleted = sample::cpu_us(std::process::id())?;
            }
            if status.outcome != Outcome::Running {
                went.done = since(clock, started);
                let now = sample::cpu_us(std::process::id())?;
                went.busy_planning = (at_deleting - busy) / 1e3;
                (went.busy, went.busy_purging) =
                    ((now - at_deleting) / 1e3, (now - at_deleted) / 1e3);
                let gone = status.counts.deleted_events;
                anyhow::ensure!(gone == self.base.erased, "{gone} events went");
                return Ok(status);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Some events of a scope, from its beginning to its end.
    async fn some_of(&self, scope: &ScopePath) -> anyhow::Result<Vec<EventId>> {
        let mut all = Vec::new();
        for newest_first in [false, true] {
            let page = self.engine.events(reads(scope)?, events(scope, newest_first)).await?;
            all.extend(page.items.iter().map(|item| item.id));
        }
        Ok(all)
    }

    /// Whether any read shows something of a scope.
    async fn is_shown(&self, scope: &ScopePath, sample: &[EventId]) -> anyhow::Result<bool> {
        let (engine, now) = (&self.engine, RecordedAt(self.engine.now()));
        let local = local(scope)?;
        for id in sample {
            if engine.event(&local, *id).await.is_ok() {
                return Ok(true);
            }
        }
        let question =
            Asked { scope: scope.clone(), words: "Where does Maria work now".to_owned() };
        let found = ask(&self.env, engine, &[question]).await;
        Ok(!engine.events(reads(scope)?, events(scope, false)).await?.items.is_empty()
            || !engine.facts(reads(scope)?, facts(scope, now)).await?.items.is_empty()
            || !engine.beliefs(reads(scope)?, beliefs(scope, now)).await?.items.is_empty()
            || !engine.episodes(reads(scope)?, episodes(scope, now)).await?.items.is_empty()
            || found.is_ok())
    }
}

/// Milliseconds to append as many entries durably as are erased, and to zero their words: the log alone.
fn zeroing(options: &Options, erased: u64) -> anyhow::Result<(f64, f64)> {
    let dir = tempfile::tempdir_in(&options.dir)?;
    let env = Env::real();
    let lock = env.disk.create_new(&dir.path().join("LOCK"))?;
    let settings = Settings::new(dir.path());
    let opened = open::open_parts(&settings, env.clone(), Arc::new(MemKv::default()), lock)?;
    let mut log = opened.into_parts().log;
    let (mut written, mut targets) = (0.0, Vec::new());
    for from in (0..erased).step_by(BATCH) {
        let count = (erased - from).min(BATCH as u64);
        let started = env.clock.monotonic();
        let appended = log.append(entries(&env, count), None)?;
        written += since(&*env.clock, started);
        targets.extend(appended.entries.iter().map(|entry| EraseTarget {
            offset: entry.head.offset,
            place: entry.place,
            who: true,
            what: true,
        }));
        // Others lie in between.
        log.append(entries(&env, 3 * BATCH as u64), None)?;
    }
    let started = env.clock.monotonic();
    for some in targets.chunks(ERASED_AT_ONCE) {
        log.erase(TENANT, some, &[])?;
    }
    Ok((written, since(&*env.clock, started)))
}

/// Entries as large as events are.
fn entries(env: &Env, count: u64) -> Vec<NewEntry> {
    let section = |bytes: usize| Section::seal(draw::<32>(&*env.rng), &vec![b'x'; bytes]);
    let entry = |_| NewEntry {
        kind: Kind::Experience,
        sub: 0,
        tenant: TENANT,
        scope: 1,
        causes: Vec::new(),
        who: section(WHO_BYTES),
        what: section(sample::TEXT_BYTES),
    };
    (0..count).map(entry).collect()
}

fn told(what: &str, ms: f64, bar: &str) {
    println!("{what:<44} {ms:>9.1} ms   {bar}");
}

fn resident() -> f64 {
    sample::rss_mb("/proc/self/statm")
}

fn local(scope: &ScopePath) -> anyhow::Result<lamina_core::policy::Permit<ScopeReadLocal>> {
    let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
    let caller = Caller::local("agent:bench".parse()?, TENANT);
    let permit = policy.permit::<ScopeReadLocal>(&caller, Some(scope));
    permit.map_err(|denied| anyhow::anyhow!("{denied:?}"))
}

fn reads(scope: &ScopePath) -> anyhow::Result<ReadPermit> {
    Ok(ReadPermit::Local(local(scope)?))
}

fn events(scope: &ScopePath, newest_first: bool) -> EventsQuery {
    EventsQuery {
        scope: scope.clone(),
        axis: Axis::Recorded,
        newest_first,
        observed: (None, None),
        recorded: (None, None),
        actor: None,
        modality: None,
        labels: Vec::new(),
        after: None,
        skip: 0,
        limit: SAMPLE / 2,
    }
}

fn facts(scope: &ScopePath, now: RecordedAt) -> FactsQuery {
    FactsQuery {
        scope: scope.clone(),
        subject: None,
        predicate: None,
        pins: Pins {
            recorded: now,
            superseded: Superseded::Hidden,
            valid: None,
            valid_during: None,
            recorded_during: None,
        },
        lapsed_by: None,
        min_confidence: Confidence::new(0),
        order: Order::NewestFirst,
        after: None,
        limit: 1,
    }
}

fn beliefs(scope: &ScopePath, now: RecordedAt) -> BeliefsQuery {
    BeliefsQuery {
        scope: scope.clone(),
        about: None,
        predicate: None,
        stance: None,
        min_confidence: 0.0,
        recorded: now,
        recorded_during: None,
        valid: None,
        valid_during: None,
        lapsed_by: None,
        deprecated: true,
        after: None,
        limit: 1,
    }
}

fn episodes(scope: &ScopePath, now: RecordedAt) -> EpisodesQuery {
    EpisodesQuery {
        scope: scope.clone(),
        actor: None,
        recorded: now,
        in_the_past: false,
        valid: None,
        valid_during: None,
        recorded_during: None,
        overlapping: None,
        with_chain: false,
        after: None,
        limit: 1,
    }
}
