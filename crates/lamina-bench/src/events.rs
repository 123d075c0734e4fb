//! Log and views together, through the engine: the rate over time and what an event costs late.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::{Captured, Engine, Settings};
use lamina_env::Env;
use lamina_types::capability::ScopeWrite;
use lamina_types::{AuditRow, AuditWho, Decision, ScopePath};

use crate::{Options, sample};

/// Writers that each wait for their answer.
const IN_FLIGHT: u64 = 256;

/// Runs the measurement.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in(&options.dir)?;
    let env = Env::real();
    let (engine, _) = Engine::open(Settings::new(dir.path()), env.clone())?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    let chunk = (options.events / 10).max(1);
    println!("{:>12} {:>12} {:>12}", "events", "events/s", "RSS MB");
    let numbers = Arc::new(AtomicU64::new(0));
    let mut rates = Vec::new();
    let start = env.clock.monotonic();
    for part in 1..=10 {
        let before = env.clock.monotonic();
        runtime.block_on(fill(&engine, &env, &numbers, part * chunk));
        let rate = chunk as f64 * 1e6 / (env.clock.monotonic().0 - before.0) as f64;
        rates.push(rate);
        println!("{:>12} {rate:>12.0} {:>12.0}", part * chunk, sample::rss_mb("/proc/self/statm"));
    }
    let seconds = (env.clock.monotonic().0 - start.0) as f64 / 1e6;
    println!("\n{} events in {seconds:.1} s: {:.0}/s", chunk * 10, (chunk * 10) as f64 / seconds);
    if let (Some(early), Some(late)) = (rates.get(1), rates.last()) {
        println!("last tenth against second tenth: {:.0}%", 100.0 * late / early);
    }
    runtime.block_on(engine.shutdown());
    Ok(())
}

/// The row that the server leaves for a write.
fn row(env: &Env, caller: &Caller, scope: ScopePath, captured: &Captured) -> AuditRow {
    AuditRow {
        id: captured.audit_id,
        at: env.clock.wall(),
        tenant: caller.tenant,
        who: Some(AuditWho {
            actor: Some(caller.actor.clone()),
            scope: Some(scope),
            path: "/v1/experience".to_owned(),
            request_id: "req_bench".to_owned(),
            ..AuditWho::default()
        }),
        endpoint: "POST /v1/experience".to_owned(),
        capability: "scope.write".to_owned(),
        decision: Decision::Allow,
        decided_by_tier: "deployment".to_owned(),
        method: "POST".to_owned(),
        body_hash: Some([1; 32]),
        headers_hash: Some([2; 32]),
        body_bytes: Some(1_024),
        pepper_version: 1,
        response_status: Some(202),
        event_id: Some(captured.event_id),
        elapsed_ms: Some(1),
        gdpr: false,
        recovered: false,
    }
}

pub(crate) async fn fill(engine: &Engine, env: &Env, numbers: &Arc<AtomicU64>, until: u64) {
    let tasks: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let (engine, env, numbers) = (engine.clone(), env.clone(), Arc::clone(numbers));
            tokio::spawn(async move {
                let policy = Policy::new(Preset::DevLocal).expect("dev_local is built");
                let caller = Caller::local("agent:bench".parse().expect("well formed"), 1);
                loop {
                    let number = numbers.fetch_add(1, Ordering::Relaxed);
                    if number >= until {
                        numbers.fetch_sub(1, Ordering::Relaxed);
                        break;
                    }
                    let write = sample::write(number, env.clock.wall());
                    let permit =
                        policy.permit::<ScopeWrite>(&caller, Some(&write.experience.scope));
                    let permit = permit.expect("dev_local allows writes");
                    let scope = write.experience.scope.clone();
                    let written = engine.experience(&permit, write).await;
                    let captured = written.expect("the engine takes writes");
                    engine.audit(row(&env, &caller, scope, &captured));
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("a writer does not panic");
    }
}
