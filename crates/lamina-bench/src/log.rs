//! The log alone, through the writer thread: encode, hash, queue, group, append, sync, answer.
//!
//! Views exist but are not written after the first event, so that only the log is measured.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use lamina_engine::write::applied::Applied;
use lamina_engine::write::apply::Applier;
use lamina_engine::write::capture::{Capture, Placed, Request};
use lamina_engine::write::prepare::{Provenance, prepare};
use lamina_engine::write::writer::{self, Message, WriterStatus};
use lamina_engine::{Settings, open};
use lamina_env::Env;
use lamina_store::kv::MemKv;
use lamina_types::AuditId;
use tokio::sync::oneshot;

use crate::reference::Plain;
use crate::{Options, sample};

const ROUNDS: usize = 3;

/// Runs the comparison.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in(&options.dir)?;
    let time = Duration::from_secs(options.seconds);
    let mut table = vec![("reference, 64 per sync".to_owned(), Vec::new(), Vec::new())];
    for in_flight in [1, 64, 256] {
        table.push((format!("log, {in_flight} in flight"), Vec::new(), Vec::new()));
    }
    let mut single = Vec::new();
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        for (name, rates, latencies) in &mut table {
            let (rate, mut spent) =
                match name.strip_prefix("log, ").and_then(|rest| rest.split(' ').next()) {
                    None => (reference(dir.path(), time)?, Vec::new()),
                    Some(in_flight) => log(dir.path(), in_flight.parse()?, time)?,
                };
            rates.push(rate);
            latencies.append(&mut spent);
        }
        single.append(&mut Plain::new(dir.path())?.single_us(2_048, 2_000)?);
    }
    let limit = table.first_mut().map_or(0.0, |(_, rates, _)| sample::median(rates));
    println!("{:<26} {:>10} {:>9} {:>10} {:>10}", "", "events/s", "of ref.", "p50 µs", "p99 µs");
    for (name, rates, latencies) in &mut table {
        let rate = sample::median(rates);
        println!(
            "{name:<26} {rate:>10.0} {:>8.0}% {:>10.0} {:>10.0}",
            100.0 * rate / limit,
            sample::percentile(latencies, 0.5),
            sample::percentile(latencies, 0.99),
        );
    }
    let one = table.get_mut(1).map_or(0.0, |(_, _, latencies)| sample::percentile(latencies, 0.5));
    let bare = sample::percentile(&mut single, 0.5);
    println!(
        "\none write + sync of 2 KiB: p50 {bare:.0} µs; one durable event: {one:.0} µs ({:.2} x)",
        one / bare
    );
    Ok(())
}

fn reference(dir: &Path, time: Duration) -> anyhow::Result<f64> {
    let clock = Env::real().clock;
    let mut plain = Plain::new(dir)?;
    let (start, mut records) = (clock.monotonic(), 0);
    while clock.monotonic().0 - start.0 < time.as_micros() as i64 {
        plain.batch(64)?;
        records += 64;
    }
    Ok(records as f64 * 1e6 / (clock.monotonic().0 - start.0) as f64)
}

/// Events per second with so many writers that each wait for their answer, and their latencies.
fn log(dir: &Path, in_flight: u64, time: Duration) -> anyhow::Result<(f64, Vec<f64>)> {
    let data = tempfile::tempdir_in(dir)?;
    let env = Env::real();
    let lock = env.disk.create_new(&data.path().join("LOCK"))?;
    let settings = Settings::new(data.path());
    let opened = open::open_parts(&settings, env.clone(), Arc::new(MemKv::default()), lock)?;
    let parts = opened.into_parts();
    // Every scope is in the views before the measurement; nothing else will be.
    let applied = Arc::new(Applied::new(parts.log.tip().next_offset));
    let mut capture = Capture::new(
        parts.log,
        Arc::clone(&parts.views),
        Arc::clone(&env.rng),
        Arc::clone(&applied),
    );
    let keyed = parts.keys.tenant(open::FIRST_TENANT)?;
    let provenance = Provenance {
        tenant: open::FIRST_TENANT,
        caller: "agent:bench".parse()?,
        audit_id: AuditId::from_bytes([1; 16]),
        decision: "scope.write".to_owned(),
        batch_id: None,
        registers: true,
        home: None,
        as_system: false,
    };
    let ready: Arc<Ready> = {
        let (env, provenance) = (env.clone(), provenance);
        Arc::new(move |number: u64| {
            let write = sample::write(number, env.clock.wall());
            let item = prepare(&*env.rng, &keyed, &provenance, write);
            let (reply, answer) = oneshot::channel::<Result<Vec<Placed>, lamina_engine::Error>>();
            (Request::Write { items: vec![item], reply }, answer)
        })
    };
    let first: Vec<Request> = (0..100).map(|number| ready(number).0).collect();
    let committed = capture.commit(first);
    let mut applier = Applier::new(Arc::clone(&parts.views), Arc::clone(&applied));
    let (folded, _) = applier.fold(vec![committed]);
    folded?;
    applied.advance(u64::MAX);

    let (to_writer, requests) = mpsc::channel();
    let status = WriterStatus::default();
    let clock = Arc::clone(&env.clock);
    let thread = std::thread::spawn(move || {
        let mut sink = |committed| applier.answers_only(committed).give();
        writer::run(capture, &requests, &mut sink, &status, &*clock);
    });
    let (rate, spent) = clients(&env, &to_writer, &ready, in_flight, time)?;
    to_writer.send(Message::Close)?;
    thread.join().map_err(|_| anyhow::anyhow!("the writer panicked"))?;
    Ok((rate, spent))
}

/// Makes the request of one event, and the end where its answer comes.
type Ready = dyn Fn(u64) -> (Request, oneshot::Receiver<Result<Vec<Placed>, lamina_engine::Error>>)
    + Send
    + Sync;

/// So many writers that each wait for their answer before they write again.
fn clients(
    env: &Env,
    to_writer: &mpsc::Sender<Message>,
    ready: &Arc<Ready>,
    in_flight: u64,
    time: Duration,
) -> anyhow::Result<(f64, Vec<f64>)> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let numbers = Arc::new(AtomicU64::new(100));
    Ok(runtime.block_on(async {
        let start = env.clock.monotonic();
        let tasks: Vec<_> = (0..in_flight)
            .map(|_| {
                let (to_writer, ready, numbers, env) =
                    (to_writer.clone(), Arc::clone(ready), Arc::clone(&numbers), env.clone());
                tokio::spawn(async move {
                    let mut spent = Vec::new();
                    while env.clock.monotonic().0 - start.0 < time.as_micros() as i64 {
                        let before = env.clock.monotonic();
                        let (request, answer) = ready(numbers.fetch_add(1, Ordering::Relaxed));
                        to_writer.send(Message::Request(request)).expect("the writer runs");
                        answer.await.expect("the writer answers").expect("the log takes writes");
                        spent.push((env.clock.monotonic().0 - before.0) as f64);
                    }
                    spent
                })
            })
            .collect();
        let mut spent = Vec::new();
        for task in tasks {
            spent.append(&mut task.await.expect("a writer does not panic"));
        }
        (spent.len() as f64 * 1e6 / (env.clock.monotonic().0 - start.0) as f64, spent)
    }))
}
