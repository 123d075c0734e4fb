//! A whole recall against the sum of its bare channels, in one large scope and in a small one among many.
//!
//! Texts have a sentence that people might write, so that all layers have something, and made-up words up
//! to 1 KiB, the earlier ones the more frequent. The bare channels are the best hundred by words, the best
//! hundred by meaning and a hundred events read by id: the same questions, the same index, the same
//! process. Then the same questions are asked while events are written. Both are compared by the clock and
//! by processor time of the whole process, which says the same on a machine that has other work.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::read::recall::MayRecall;
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
/// Between two events that are written while questions are asked.
const WRITE_EVERY: Duration = Duration::from_millis(10);

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    measure(options, (options.events / 10).max(SMALL), 1)?;
    measure(options, options.events.max(SMALL), (options.events / SMALL).max(1))
}

fn measure(options: &Options, events: u64, scopes: u64) -> anyhow::Result<()> {
    println!("\n{events} events of 1 KiB in {scopes} scopes");
    let dir = tempfile::tempdir_in(&options.dir)?;
    let env = Env::real();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real())?;
    let engine = Arc::new(engine);
    let base = Base { scopes, words: Arc::new(Words::new()) };
    runtime.block_on(async {
        let mut last = None;
        for from in (0..events).step_by(10_000) {
            last = derive::write(&engine, from..events.min(from + 10_000), &|number| {
                base.event(number)
            })
            .await?
            .or(last);
        }
        match last {
            Some(last) => derive::settle(&engine, last).await,
            None => Ok(()),
        }
    })?;
    println!(
        "{:<34} {:>9.0} MB resident",
        "written and derived",
        sample::rss_mb("/proc/self/statm")
    );
    let questions: Vec<Asked> = (0..QUESTIONS).map(|number| base.question(number)).collect();
    runtime.block_on(ask(&env, &engine, &questions))?;
    let busy = Busy::begin()?;
    let (whole, found, steps) = runtime.block_on(ask(&env, &engine, &questions))?;
    let busy = busy.each(whole.len())?;
    let p50 = tell("a whole recall", whole);
    for (name, times) in steps {
        tell(name, times);
    }
    println!("{:<34} {:>9.0} MB resident", "", sample::rss_mb("/proc/self/statm"));
    let reading = Busy::begin()?;
    let times = runtime.block_on(read(&env, &engine, &found))?;
    let reading = reading.each(times.len())?;
    let reads = tell("100 events by id", times);
    let written = runtime.block_on(while_written(&env, &engine, &base, events, &questions))?;
    tell("a whole recall, 100 writes/s", written);
    runtime.block_on(engine.shutdown());
    drop(engine);
    let (words, meaning, searching) = channels(&env, dir.path(), &questions)?;
    let bare = tell("best 100 by words", words) + tell("best 100 by meaning", meaning) + reads;
    println!(
        "{:<34} {bare:>9.3} ms, a whole recall is {:.2} x",
        "the bare channels together",
        p50 / bare
    );
    let bare = searching + reading;
    println!(
        "{:<34} {busy:>9.3} ms against {bare:.3} ms, {:.2} x",
        "the same in processor time",
        busy / bare
    );
    Ok(())
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

/// Milliseconds of one step, by question.
pub(crate) type Steps = Vec<(&'static str, Vec<f64>)>;

/// Milliseconds of each question, events that were found, and where the time went.
pub(crate) async fn ask(
    env: &Env,
    engine: &Engine,
    questions: &[Asked],
) -> anyhow::Result<(Vec<f64>, Vec<(ScopePath, EventId)>, Steps)> {
    let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
    let caller = Caller::local("agent:bench".parse()?, TENANT);
    let (mut times, mut found) = (Vec::new(), Vec::new());
    let names = ["planning", "searching", "looking around", "ranking", "derived layers", "packing"];
    let mut steps: Steps = names.map(|name| (name, Vec::new())).into();
    for asked in questions {
        let may = || -> Result<MayRecall, _> {
            let reach = policy.permit::<ScopeReadLocal>(&caller, Some(&asked.scope))?;
            let concepts = policy.permit::<UnderstandingRead>(&caller, Some(&asked.scope)).ok();
            Ok(MayRecall { reach: Arc::new(ReadPermit::Local(reach)), concepts })
        };
        let may =
            may().map_err(|denied: lamina_core::policy::Denial| anyhow::anyhow!("{denied:?}"))?;
        let started = env.clock.monotonic();
        let recalled = engine.recall(may, question(asked)).await?;
        times.push(since(&*env.clock, started));
        let trail = &recalled.trail;
        let took = [
            trail.plan_us,
            trail.search_us,
            trail.expand_us,
            trail.rank_us,
            trail.derive_us,
            trail.pack_us,
        ];
        for ((_, times), us) in steps.iter_mut().zip(took) {
            times.push(us as f64 / 1e3);
        }
        anyhow::ensure!(!recalled.events.is_empty(), "`{}` finds nothing", asked.words);
        found.extend(
            recalled.considered.iter().take(HITS).map(|event| (asked.scope.clone(), event.id)),
        );
    }
    Ok((times, found, steps))
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
        tokens_max: None,
        layer_limits: [None; 5],
        citation_mode: CitationMode::StructuredOnly,
        detail: Detail::None,
        stream: false,
        idempotency_key: None,
        // What it costs to answer, not to decline.
        floor: Some(0.0),
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
) -> anyhow::Result<Vec<f64>> {
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
    Ok(asked?.0)
}

/// Milliseconds of the best hundred by words, and by meaning, and of processor time for both together.
fn channels(
    env: &Env,
    data: &Path,
    questions: &[Asked],
) -> anyhow::Result<(Vec<f64>, Vec<f64>, f64)> {
    let embedder = StaticEmbedder::new();
    let id = lamina_store::log::id(&*env.disk, data)?.context("the log has an id")?;
    let mut log = [0; 20];
    log.iter_mut().zip(id).for_each(|(to, from)| *to = from);
    let (index, opened) = Index::open(Setup {
        disk: Arc::clone(&env.disk),
        dir: data.join("search"),
        log,
        log_end: u64::MAX,
        space: embedder.space().clone(),
        cache_bytes_max: 256 << 20,
    })?;
    anyhow::ensure!(opened.rebuilt.is_none(), "the index does not open: {:?}", opened.rebuilt);
    let (mut words, mut meaning, mut cost) = (Vec::new(), Vec::new(), 0.0);
    // Once for the caches, once for the clock.
    for _ in 0..2 {
        let busy = Busy::begin()?;
        (words, meaning) = (Vec::new(), Vec::new());
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
            black_box(index.lexical(TENANT, &query)?);
            words.push(since(&*env.clock, started));
            let started = env.clock.monotonic();
            let Some(vector) = embedder.embed_one(&asked.words) else { continue };
            let filter = Filter::exact(asked.scope.clone());
            let query =
                VectorQuery { space: embedder.space(), vector: &vector, filter, limit: HITS };
            black_box(index.vector(TENANT, &query)?);
            meaning.push(since(&*env.clock, started));
        }
        cost = busy.each(questions.len())?;
    }
    Ok((words, meaning, cost))
}

/// Milliseconds.
pub(crate) fn since(clock: &dyn Clock, started: Micros) -> f64 {
    (clock.monotonic().0 - started.0) as f64 / 1e3
}
