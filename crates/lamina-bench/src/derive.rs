//! What deriving costs: processor time per message over all stages, early and late, in many scopes and
//! within one.
//!
//! Messages are of about 200 bytes, as people write them: some say something about themselves, others or
//! a project, some change what was said before, some say nothing. Time is taken of the whole process,
//! so capture, audit and the upkeep of the views are in it.

use std::time::Duration;

use anyhow::Context as _;
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::{Engine, Settings, Until, Write};
use lamina_env::Env;
use lamina_types::capability::ScopeWrite;
use lamina_types::{EventId, Micros, Stage};

use crate::{Options, sample};

/// Events of one durable batch.
const BATCH: u64 = 250;
/// Events of the first measurement, which later ones are compared with.
const FIRST: u64 = 10_000;
/// Between two messages of a scope.
const PAUSE_US: i64 = 20_000_000;

/// Who is spoken of.
pub(crate) const PEOPLE: [&str; 8] =
    ["Maria", "Jonas", "Priya", "Tom", "Elena", "Kofi", "Mei", "Lars"];
/// Where they are.
const PLACES: [&str; 8] =
    ["Oslo", "Lisbon", "Chicago", "Nairobi", "Kyoto", "Berlin", "Toronto", "Lima"];
/// What they say.
const SAID: [&str; 8] = [
    "I moved to {place} last week and the new flat is slowly becoming a home. {person} helped me carry \
     the boxes up four floors, which I will not forget, and we had soup afterwards.",
    "Could you look at the draft again when you have a minute? It is not urgent, I only want to know \
     whether the second part reads well, and whether we should cut the last page.",
    "{person} works at Northwind {number} now, as a product manager. We spoke for an hour about the \
     release and what is still open, and agreed to meet again on Thursday afternoon.",
    "The weather was awful all day, so we stayed inside, cooked something simple and watched an old \
     film that nobody remembered. It was a good evening, all in all, and quiet.",
    "The deadline for project Heron {number} is 2026-12-{day}. {person} owns it. We decided to use \
     PostgreSQL for the reports, because everybody on the team already knows it well.",
    "If we had more time I would rewrite the importer, but as it stands it does its job, and what \
     would we gain? Let us talk about it next quarter, not now, there is enough to do.",
    "I am allergic to peanuts, and {person} is vegetarian, so please keep that in mind for the dinner \
     in {place}. We will be {number} people in the end, perhaps one or two more.",
    "Thanks, that helped a lot! I had looked in the wrong place for most of the morning; the answer \
     was in the second paragraph all the time. Have a nice weekend, see you on Monday.",
];

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    println!("CPU of all stages, capture included, per message of about 200 bytes\n");
    println!("{:<28} {:>12} {:>12} {:>10}", "", "events", "us CPU", "RSS MB");
    // A scope for every hundred events: a database that grows by getting more users.
    let wants = |part: &str| options.part.as_deref().is_none_or(|wanted| wanted == part);
    if wants("many") {
        measure(options, "many scopes", options.events, &|number| says(number, number / 100))?;
    }
    if wants("one") {
        let events = (options.events / 10).max(FIRST);
        measure(options, "one scope", events, &|number| says(number, 0))?;
    }
    Ok(())
}

fn says(number: u64, user: u64) -> Write {
    let scope = format!("org:bench/user:u{user}").parse().expect("a well-formed scope");
    sample::says(number, scope, message(number), at(number))
}

/// When a message was said.
pub(crate) fn at(number: u64) -> Micros {
    Micros(1_780_000_000_000_000).plus(number.cast_signed() * PAUSE_US)
}

fn measure(
    options: &Options,
    name: &str,
    events: u64,
    event: &(dyn Fn(u64) -> Write + Sync),
) -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in(&options.dir)?;
    let (engine, _) = Engine::open(Settings::new(dir.path()), Env::real())?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let mut first = None;
    let (mut from, mut until) = (0, FIRST);
    while from < events {
        let before = sample::cpu_us(std::process::id())?;
        // As many at a time as at first: what is compared is how much there is, not how much waits.
        let mut next = from;
        while next < until {
            let end = until.min(next + FIRST);
            if let Some(last) = runtime.block_on(write(&engine, next..end, event))? {
                runtime.block_on(settle(&engine, last))?;
            }
            next = end;
        }
        let cost = (sample::cpu_us(std::process::id())? - before) / (until - from) as f64;
        let first = *first.get_or_insert(cost);
        println!(
            "{:<28} {until:>12} {cost:>12.0} {:>10.0}   {:.2} x the first",
            name,
            sample::rss_mb("/proc/self/statm"),
            cost / first,
        );
        // Each measurement reaches as far again: 10,000, then the next 90,000, then the rest.
        (from, until) = (until, (until * 10).min(events));
    }
    runtime.block_on(engine.shutdown());
    Ok(())
}

/// Writes events in batches; the last one's id.
pub(crate) async fn write(
    engine: &Engine,
    numbers: std::ops::Range<u64>,
    event: &(dyn Fn(u64) -> Write + Sync),
) -> anyhow::Result<Option<EventId>> {
    let policy = Policy::new(Preset::DevLocal).context("dev_local is built")?;
    let caller = Caller::local("agent:bench".parse()?, 1);
    let mut last = None;
    let mut number = numbers.start;
    while number < numbers.end {
        let batch: Vec<u64> = (number..numbers.end.min(number + BATCH)).collect();
        number += BATCH;
        let mut permits = Vec::new();
        let mut writes = Vec::new();
        for number in batch {
            let write = event(number);
            let permit = policy.permit::<ScopeWrite>(&caller, Some(&write.experience.scope));
            permits.push(permit.map_err(|denied| anyhow::anyhow!("{denied:?}"))?);
            writes.push(write);
        }
        let captured = engine.experience_bulk(&permits, writes).await?;
        last = captured.items.last().map(|item| item.event_id).or(last);
    }
    Ok(last)
}

/// Waits until an event is through its stages.
pub(crate) async fn settle(engine: &Engine, last: EventId) -> anyhow::Result<()> {
    let stage = Until::Stage(Stage::Compressed);
    loop {
        let progress = engine.wait_for(1, last, stage, Duration::from_secs(60)).await?;
        anyhow::ensure!(progress.failed.is_empty(), "the last event failed: {:?}", progress.failed);
        if progress.settled || progress.completed.contains(&Stage::Compressed) {
            return Ok(());
        }
    }
}

/// What is said.
pub(crate) fn message(number: u64) -> String {
    let pick = |list: &[&'static str; 8], by: u64| {
        list.get((by % 8) as usize).copied().unwrap_or_default()
    };
    pick(&SAID, number)
        .replace("{person}", pick(&PEOPLE, number / 8))
        .replace("{place}", pick(&PLACES, number / 64))
        .replace("{number}", &(number % 97 + 2).to_string())
        .replace("{day}", &format!("{:02}", number % 28 + 1))
}
