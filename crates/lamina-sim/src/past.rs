//! A data directory from another time: what the clock of a machine said when it was written cannot be chosen from
//! outside, so it is written by an engine with a clock of its own.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::open::FIRST_TENANT;
use lamina_engine::{Engine, Settings, Write};
use lamina_env::sim::SimClock;
use lamina_env::{Env, RealDisk};
use lamina_types::{
    Actor, Content, Context, Directives, EventId, Experience, Hints, Micros, Modality, ScopePath,
    ValidAt,
};

/// Writes events into a new data directory, at this time, and closes it. Gives their ids.
pub fn write_directory(
    data: &Path,
    at: Micros,
    scope: &ScopePath,
    texts: &[&str],
) -> anyhow::Result<Vec<EventId>> {
    let env = Env { clock: Arc::new(SimClock::at(at)), ..Env::real() };
    let settings = Settings { segment_bytes: 4 << 20, ..Settings::new(data) };
    let runtime = tokio::runtime::Runtime::new()?;
    let (engine, _) = Engine::open(settings, env)?;
    let actor: Actor = Actor::new("user:local".parse()?);
    let caller = Caller::local(actor.id.clone(), FIRST_TENANT);
    let policy = Policy::new(Preset::DevLocal).context("the preset has a policy")?;
    let permit = policy.permit(&caller, Some(scope))?;
    runtime.block_on(async {
        let mut ids = Vec::new();
        for text in texts {
            let captured = engine.experience(&permit, write(scope, &actor, at, text)).await?;
            ids.push(captured.event_id);
        }
        engine.shutdown().await;
        Ok(ids)
    })
}

fn write(scope: &ScopePath, actor: &Actor, at: Micros, text: &str) -> Write {
    Write {
        key_drawn: false,
        experience: Experience {
            scope: scope.clone(),
            subject: actor.id.clone(),
            observed_actor: actor.clone(),
            modality: Modality("observation".to_owned()),
            content: Content::Text { text: text.to_owned(), media: Vec::new() },
            context: Context {
                observed_at: ValidAt(at),
                source_recorded_at: None,
                location: None,
                preceded_by: Vec::new(),
                intent: None,
                labels: Vec::new(),
                refers_to: None,
            },
            directives: Directives::default(),
            source: None,
            origin: None,
            hints: Hints::default(),
            idempotency_key: text.to_owned(),
        },
        identity: text.as_bytes().to_vec(),
        request_id: "req_past".to_owned(),
    }
}

/// Changes the time of the newest file of the log.
#[expect(clippy::disallowed_methods, reason = "only a test sets the times of files")]
pub fn date_newest_segment(data: &Path, at: Micros) -> anyhow::Result<()> {
    use lamina_env::Disk as _;
    let log = data.join("log");
    let names = RealDisk.list(&log)?;
    let newest = names.iter().rfind(|name| name.ends_with(".seg")).context("no segment")?;
    let file = std::fs::File::options().write(true).open(log.join(newest))?;
    let since = std::time::Duration::from_micros(at.0.max(0).unsigned_abs());
    Ok(file.set_modified(std::time::UNIX_EPOCH + since)?)
}
