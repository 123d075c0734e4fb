//! A whole recall against the sum of its bare channels, in one large scope and in a small one among many.
//!
//! Texts have a sentence that people might write, so that all layers have something, and made-up words up
//! to 1 KiB, the earlier ones the more frequent. The bare channels are the best hundred by words, the best
//! hundred by meaning and a hundred events read by id: the same questions, the same index, the same
//! process. Then the same questions are asked while events are written. Both are compared by the clock and
//! by processor time of the whole process, which says the same on a machine that has other work.
//!
//! Writing takes most of a run. What is kept (`--keep`) is only asked by the next one, and one number stands for
//! all its answers: programs that answer the same over the same directory print the same.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::read::recall::{MayRecall, Recalled, StandingOffices};
use lamina_engine::{Engine, ReadPermit, Settings, Write};
use lamina_env::{Clock, Env};
use lamina_index::analyze::Language;
use lamina_index::{Filter, Index, LexicalQuery, Setup, StaticEmbedder, Statistics, VectorQuery};
use lamina_types::capability::{ScopeReadLocal, UnderstandingRead};
use lamina_types::recall::{CitationMode, Detail, PackView, Recall, Temporal};
use lamina_types::{EventId, Micros, ScopePath};

use crate::index::Words;
use crate::{Options, derive, sample};

const TENANT: u32 = 1;
const QUESTIONS: u64 = 400;
const HITS: usize = 100;
/// Events of a small scope.
const SMALL: u64 = 100;
/// After so long the index has made everything durable.
const DURABLE: Duration = Duration::from_secs(6);
/// Between two events that are written while questions are asked.
const WRITE_EVERY: Duration = Duration::from_millis(10);

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let wants = |part: &str| options.part.as_deref().is_none_or(|wanted| wanted == part);
    if wants("one") {
        measure(options, (options.events / 10).max(SMALL), 1)?;
    }
    if wants("many") {
        measure(options, options.events.max(SMALL), (options.events / SMALL).max(1))?;
    }
    Ok(())
}

fn measure(options: &Options, events: u64, scopes: u64) -> anyhow::Result<()> {
    println!("\n{events} events of 1 KiB in {scopes} scopes");
    let env = Env::real();
    let data = Data::of(options, &env, &format!("{events}-{scopes}"))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let (engine, _) = Engine::open(Settings::new(&data.dir), Env::real())?;
    let engine = Arc::new(engine);
    let base = Base { scopes, words: Arc::new(Words::new()) };
    if !data.is_written {
        runtime.block_on(base.write(&engine, events))?;
        // A sleep can only begin within a runtime.
        runtime.block_on(async { tokio::time::sleep(DURABLE).await });
        data.written(&env)?;
    }
    println!(
        "{:<34} {:>9.0} MB resident",
        "written and derived",
        sample::rss_mb("/proc/self/statm")
    );
    let questions: Vec<Asked> = (0..QUESTIONS).map(|number| base.question(number)).collect();
    let mut asked = runtime.block_on(ask(&env, &engine, &questions))?;
    let bare = Channels::open(&env, &data.dir)?;
    bare.ask(&env, &questions)?;
    let mut measured = Measured::default();
    // In turns: the speed of a machine changes within minutes.
    for _ in 0..options.rounds {
        let busy = Busy::begin()?;
        asked = runtime.block_on(ask(&env, &engine, &questions))?.after(asked);
        measured.recalls.push(busy.each(questions.len())?);
        let busy = Busy::begin()?;
        let reads = runtime.block_on(read(&env, &engine, &asked.found))?;
        let reading = busy.each(reads.len())?;
        let busy = Busy::begin()?;
        let (words, meaning) = bare.ask(&env, &questions)?;
        measured.bare.push(reading + busy.each(questions.len())?);
        measured.reads.extend(reads);
        measured.words.extend(words);
        measured.meaning.extend(meaning);
    }
    drop(bare);
    let p50 = tell("a whole recall", asked.times);
    for (name, times) in asked.steps {
        tell(name, times);
    }
    println!("{:<34} {:>9.0} MB resident", "", sample::rss_mb("/proc/self/statm"));
    println!("{:<34} {:016x}", "all answers", asked.answers);
    measured.tell(p50);
    if options.keep.is_none() || options.spend {
        data.spent(&env)?;
        let written = runtime.block_on(while_written(&env, &engine, &base, events, &questions))?;
        tell("a whole recall, 100 writes/s", written.times);
        for (name, times) in written.steps {
            tell(name, times);
        }
    }
    runtime.block_on(engine.shutdown());
    Ok(())
}

/// What was measured of each round, in milliseconds.
#[derive(Default)]
struct Measured {
    words: Vec<f64>,
    meaning: Vec<f64>,
    reads: Vec<f64>,
    /// Of processor time, for each.
    recalls: Vec<f64>,
    bare: Vec<f64>,
}

impl Measured {
    /// Says how a whole recall of this median compares.
    fn tell(self, p50: f64) {
        let Measured { words, meaning, reads, mut recalls, mut bare } = self;
        let channels = tell("best 100 by words", words)
            + tell("best 100 by meaning", meaning)
            + tell("100 events by id", reads);
        println!(
            "{:<34} {channels:>9.3} ms, a whole recall is {:.2} x",
            "the bare channels together",
            p50 / channels
        );
        let (recalls, bare) = (sample::median(&mut recalls), sample::median(&mut bare));
        println!(
            "{:<34} {recalls:>9.3} ms against {bare:.3} ms, {:.2} x",
            "the same in processor time",
            recalls / bare
        );
    }
}

/// Where events are written.
struct Data {
    dir: PathBuf,
    /// They are there already.
    is_written: bool,
    /// What says so, if they are to stay.
    mark: Option<PathBuf>,
    /// Removes them.
    _gone: Option<tempfile::TempDir>,
}

impl Data {
    fn of(options: &Options, env: &Env, name: &str) -> anyhow::Result<Data> {
        let Some(keep) = &options.keep else {
            let gone = tempfile::tempdir_in(&options.dir)?;
            let dir = gone.path().to_owned();
            return Ok(Data { dir, is_written: false, mark: None, _gone: Some(gone) });
        };
        let (dir, mark) = (keep.join(name), keep.join(format!("{name}.written")));
        let is_written = env.disk.exists(&mark);
        if !is_written && env.disk.exists(&dir) {
            env.disk.remove_dir_all(&dir)?;
        }
        env.disk.create_dir_all(&dir)?;
        Ok(Data { dir, is_written, mark: Some(mark), _gone: None })
    }

    /// It will not be the same any more.
    fn spent(&self, env: &Env) -> anyhow::Result<()> {
        match &self.mark {
            Some(mark) => Ok(env.disk.remove(mark)?),
            None => Ok(()),
        }
    }

    fn written(&self, env: &Env) -> anyhow::Result<()> {
        if let Some(mark) = &self.mark {
            env.disk.create_new(mark)?;
        }
        Ok(())
    }
}

/// Processor time of this process from some moment on.
struct Busy(f64);

impl Busy {
    fn begin() -> anyhow::Result<Busy> {
        Ok(Busy(sample::cpu_us(std::process::id())?))
    }

    /// Milliseconds for each of so many.
    fn each(self, count: usize) -> anyhow::Result<f64> {
        Ok((sample::cpu_us(std::process::id())? - self.0) / 1e3 / count.max(1) as f64)
    }
}

/// What is written, and what is asked about it.
#[derive(Clone)]
struct Base {
    scopes: u64,
    words: Arc<Words>,
}

impl Base {
    /// Writes events, and waits until everything is derived from them.
    async fn write(&self, engine: &Engine, events: u64) -> anyhow::Result<()> {
        let mut last = None;
        for from in (0..events).step_by(10_000) {
            let numbers = from..events.min(from + 10_000);
            let written = derive::write(engine, numbers, &|number| self.event(number)).await?;
            last = written.or(last);
        }
        match last {
            Some(last) => derive::settle(engine, last).await,
            None => Ok(()),
        }
    }

    fn event(&self, number: u64) -> Write {
        let mut text = derive::message(number);
        // A seed for each, so that a text does not depend on those before it.
        let mut seed = number << 16;
        text.push(' ');
        text.push_str(&self.words.text(&mut seed, sample::TEXT_BYTES.saturating_sub(text.len())));
        sample::says(number, self.scope(number), text, derive::at(number))
    }

    /// Three words that a sentence may have, and three made-up ones.
    fn question(&self, number: u64) -> Asked {
        let mut seed = (number << 16) + 7;
        let about = derive::PEOPLE.get((number % 8) as usize).copied().unwrap_or("Maria");
        let words = format!("Where does {about} work {}", self.words.text(&mut seed, 20));
        Asked { scope: self.scope(number * 7_919), words }
    }

    fn scope(&self, number: u64) -> ScopePath {
        let name = format!("org:bench/user:u{}", number % self.scopes);
        name.parse().expect("a well-formed scope")
    }
}

/// A question, and where it is asked.
pub(crate) struct Asked {
    pub(crate) scope: ScopePath,
    pub(crate) words: String,
}

fn tell(name: &str, mut times: Vec<f64>) -> f64 {
    let (p50, p99) = (sample::median(&mut times), sample::percentile(&mut times, 0.99));
    println!("{name:<34} {p50:>9.3} ms p50 {p99:>9.3} ms p99, {:.1} x", p99 / p50);
    p50
}

/// What asking has shown.
#[derive(Default)]
pub(crate) struct Answered {
    /// Milliseconds of each question.
    pub(crate) times: Vec<f64>,
    /// Events that were found.
    found: Vec<(ScopePath, EventId)>,
    /// Milliseconds of each step, by question.
    steps: Vec<(&'static str, Vec<f64>)>,
    /// What all answers come to.
    answers: u64,
    /// How often it was asked before.
    rounds: u64,
}

impl Answered {
    /// The same questions as before, once more. What was asked first of all only warms up.
    fn after(mut self, before: Answered) -> Answered {
        if self.answers != before.answers {
            println!("{:<34} {:016x}", "other answers this time", self.answers);
        }
        if before.rounds > 0 {
            self.times.extend(before.times);
            for ((_, times), (_, more)) in self.steps.iter_mut().zip(before.steps) {
                times.extend(more);
            }
        }
        Answered { rounds: before.rounds + 1, ..self }
    }
}

pub(crate) async fn ask(
    env: &Env,
    engine: &Engine,
    questions: &[Asked],
) -> anyhow::Result<Answered> {
    let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
    let caller = Caller::local("agent:bench".parse()?, TENANT);
    let names = ["planning", "searching", "looking around", "ranking", "derived layers", "packing"];
    let steps = names.map(|name| (name, Vec::new())).into();
    let mut answered = Answered { steps, ..Answered::default() };
    let mut answers = DefaultHasher::new();
    for asked in questions {
        let may = || -> Result<MayRecall, _> {
            let reach = policy.permit::<ScopeReadLocal>(&caller, Some(&asked.scope))?;
            let concepts = policy.permit::<UnderstandingRead>(&caller, Some(&asked.scope)).ok();
            let standing = StandingOffices::everybody();
            Ok(MayRecall { reach: Arc::new(ReadPermit::Local(reach)), concepts, standing })
        };
        let may =
            may().map_err(|denied: lamina_core::policy::Denial| anyhow::anyhow!("{denied:?}"))?;
        let started = env.clock.monotonic();
        let recalled = engine.recall(may, question(asked)).await?;
        answered.times.push(since(&*env.clock, started));
        let trail = &recalled.trail;
        let took = [
            trail.plan_us,
            trail.search_us,
            trail.expand_us,
            trail.rank_us,
            trail.derive_us,
            trail.pack_us,
        ];
        for ((_, times), us) in answered.steps.iter_mut().zip(took) {
            times.push(us as f64 / 1e3);
        }
        anyhow::ensure!(!recalled.events.is_empty(), "`{}` finds nothing", asked.words);
        let found = recalled.considered.iter().take(HITS);
        answered.found.extend(found.map(|event| (asked.scope.clone(), event.id)));
        put(&mut answers, &recalled);
    }
    answered.answers = answers.finish();
    Ok(answered)
}

/// What an answer has: every record with its score, what it stands on, and what applies.
fn put(answers: &mut DefaultHasher, recalled: &Recalled) {
    for one in &recalled.considered {
        (one.id, one.score.to_bits(), one.fused, one.terms).hash(answers);
    }
    for one in &recalled.events {
        (one.record.id, one.score.to_bits(), one.record.experience.content.text()).hash(answers);
    }
    for one in &recalled.episodes {
        let record = &one.record;
        (record.id, one.score.to_bits(), &record.summary, &record.name).hash(answers);
    }
    for one in &recalled.facts {
        let said = lamina_engine::read::render::fact_words(&one.record);
        (one.record.id, one.score.to_bits(), said).hash(answers);
    }
    for one in &recalled.beliefs {
        let held = lamina_engine::read::render::belief_words(&one.record);
        (one.record.id, one.score.to_bits(), held).hash(answers);
    }
    for one in &recalled.concepts {
        (one.record.id, one.score.to_bits(), &one.record.summary).hash(answers);
    }
    for (id, on) in &recalled.citations {
        (id, on.iter().map(ToString::to_string).collect::<Vec<_>>()).hash(answers);
    }
    for one in &recalled.standing {
        (one.id, &one.text).hash(answers);
    }
    recalled.refuted.hash(answers);
    (recalled.tokens, recalled.evicted, recalled.relevance.to_bits()).hash(answers);
}

fn question(asked: &Asked) -> Recall {
    Recall {
        scope: asked.scope.clone(),
        view: PackView::Granular,
        query: asked.words.clone(),
        variants: Vec::new(),
        language: None,
        include: Vec::new(),
        exclude_content: false,
        temporal: Temporal::default(),
        filter: lamina_types::recall::Filter::default(),
        standing: lamina_types::recall::StandingChoice::Owners,
        tokens_max: None,
        layer_limits: [None; 5],
        citation_mode: CitationMode::StructuredOnly,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        // What it costs to answer, not to decline.
        floor: Some(0.0),
        selection: None,
    }
}

/// Milliseconds of a hundred reads, again and again.
async fn read(
    env: &Env,
    engine: &Engine,
    events: &[(ScopePath, EventId)],
) -> anyhow::Result<Vec<f64>> {
    let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
    let caller = Caller::local("agent:bench".parse()?, TENANT);
    let mut times = Vec::new();
    for hundred in events.chunks_exact(HITS.min(events.len().max(1))) {
        let started = env.clock.monotonic();
        for (scope, id) in hundred {
            let permit = policy
                .permit::<ScopeReadLocal>(&caller, Some(scope))
                .map_err(|denied| anyhow::anyhow!("{denied:?}"))?;
            black_box(engine.event(&permit, *id).await?);
        }
        times.push(since(&*env.clock, started));
    }
    Ok(times)
}

async fn while_written(
    env: &Env,
    engine: &Arc<Engine>,
    base: &Base,
    events: u64,
    questions: &[Asked],
) -> anyhow::Result<Answered> {
    let writer = {
        let (engine, base) = (Arc::clone(engine), base.clone());
        tokio::spawn(async move {
            let mut every = tokio::time::interval(WRITE_EVERY);
            for number in events.. {
                every.tick().await;
                let written =
                    derive::write(&engine, number..number + 1, &|number| base.event(number)).await;
                if written.is_err() {
                    break;
                }
            }
        })
    };
    let asked = ask(env, engine, questions).await;
    anyhow::ensure!(!writer.is_finished(), "events could not be written");
    writer.abort();
    asked
}

/// The index by itself, over the same files.
struct Channels {
    index: Index,
    embedder: StaticEmbedder,
}

impl Channels {
    fn open(env: &Env, data: &Path) -> anyhow::Result<Channels> {
        let embedder = StaticEmbedder::new();
        let id = lamina_store::log::id(&*env.disk, data)?.context("the log has an id")?;
        let mut log = [0; 20];
        log.iter_mut().zip(id).for_each(|(to, from)| *to = from);
        let (index, opened) = Index::open(Setup {
            disk: Arc::clone(&env.disk),
            clock: Arc::clone(&env.clock),
            dir: data.join("search"),
            log,
            log_end: u64::MAX,
            space: embedder.space().clone(),
            cache_bytes_max: 256 << 20,
        })?;
        anyhow::ensure!(opened.rebuilt.is_none(), "the index does not open: {:?}", opened.rebuilt);
        Ok(Channels { index, embedder })
    }

    /// Milliseconds of the best hundred by words, and by meaning.
    fn ask(&self, env: &Env, questions: &[Asked]) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
        let (mut words, mut meaning) = (Vec::new(), Vec::new());
        for asked in questions {
            let query = LexicalQuery {
                text: &asked.words,
                also: &[],
                language: Some(Language::English),
                filter: Filter::exact(asked.scope.clone()),
                statistics: Statistics::Visible,
                limit: HITS,
            };
            let started = env.clock.monotonic();
            black_box(self.index.lexical(TENANT, &query)?);
            words.push(since(&*env.clock, started));
            let started = env.clock.monotonic();
            let Some(vector) = self.embedder.embed_one(&asked.words) else { continue };
            let filter = Filter::exact(asked.scope.clone());
            let space = self.embedder.space();
            let query = VectorQuery { space, vector: &vector, filter, limit: HITS };
            black_box(self.index.vector(TENANT, &query)?);
            meaning.push(since(&*env.clock, started));
        }
        Ok((words, meaning))
    }
}

/// Milliseconds.
pub(crate) fn since(clock: &dyn Clock, started: Micros) -> f64 {
    (clock.monotonic().0 - started.0) as f64 / 1e3
}
