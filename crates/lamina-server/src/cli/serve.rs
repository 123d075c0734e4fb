//! `lamina serve`: open, listen, say so, and end without losing anything.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use lamina_core::policy::Preset;
use lamina_engine::audit::PinTime;
use lamina_engine::derive::answer::Rules;
use lamina_engine::open::{DEFAULT_TENANT, OpenProgress};
use lamina_engine::{Engine, OpenReport, Settings};
use lamina_env::Env;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::endpoint::{self, Bound};
use super::exit::{Exit, Failure};
use super::opening;
use crate::auth::Gate;
use crate::config::Config;
use crate::http::busy::Busy;
use crate::http::failure::chain;
use crate::http::starting::Routes;
use crate::http::{App, Parts, listen, router};
use crate::logging;
use crate::mcp::access::McpAccess;
use crate::meters::{Meters, RELOADS, UPKEEP};
use crate::sweeping;
use crate::tls::Tls;
use crate::transfer::import::Imports;
use crate::watching;

/// Threads for work that blocks. Each keeps memory of its own; reads take few of them
/// (`lamina-engine/reading`), the rest is for uploads, transfers and jobs.
const BLOCKING_THREADS_MAX: usize = 64;
/// How long such a thread waits for more work.
const BLOCKING_THREADS_KEPT: Duration = Duration::from_secs(2);

/// Runs the server until a signal ends it.
pub(super) fn serve(config: &Config) -> Result<Exit, Failure> {
    check_address(config)?;
    logging::start(&config.log_filter, config.log_format).map_err(Failure::usage)?;
    if !config.core_dumps
        && let Err(error) = lamina_env::process::forbid_core_dumps()
    {
        tracing::warn!(%error, "a crash may write keys to a core file: it could not be forbidden");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_keep_alive(BLOCKING_THREADS_KEPT)
        .enable_all()
        .build();
    let runtime = runtime.context("the runtime cannot start").map_err(Failure::unreadable)?;
    runtime.block_on(run(config))
}

/// Without tokens everybody who can connect is let in.
fn check_address(config: &Config) -> Result<(), Failure> {
    if config.preset == Preset::DevLocal && !config.listen.is_loopback() {
        return Err(Failure::usage(anyhow!(
            "the preset `dev_local` takes no tokens, so it listens on loopback addresses only \
             (127.0.0.1, ::1, localhost), not on {}",
            config.listen
        )));
    }
    Ok(())
}

fn mcp_access(config: &Config, env: &Env) -> Result<McpAccess, Failure> {
    McpAccess::open(&config.mcp, env).map_err(Failure::usage)
}

async fn run(config: &Config) -> Result<Exit, Failure> {
    // Before anything is opened: a signal during a long open must not be lost.
    let mut signals = Signals::new()?;
    let env = Env::real();
    let (tls, mcp) = (open_tls(config, &env)?, mcp_access(config, &env)?);
    let gate = Gate::of(config, &env).map_err(|error| {
        let why = format!("the preset `{}` needs tokens, and cannot check them", config.preset);
        Failure::usage(anyhow!(error).context(why))
    })?;
    let answerer = config.models.as_ref();
    let answerer = answerer.map(|models| crate::models::answering(models, &config.outbound, &env));
    let answerer = answerer.transpose().map_err(Failure::unreadable)?.flatten();
    endpoint::withdraw_stale(&config.data);
    let bound = endpoint::bind(config).await;
    let bound = bound.with_context(|| format!("cannot listen on {}", config.listen));
    let Bound { address, acceptor } = bound.map_err(Failure::unreadable)?;
    let connections = acceptor.connections();
    let (close, closing) = watch::channel(false);
    // The port is open before the directory is: who asks hears how far the start is.
    let progress = Arc::new(OpenProgress::default());
    let routes = Routes::starting(Arc::clone(&progress), env.clone(), config.docs_base_url.clone());
    let (limits, clock) = (config.limits, env.clone());
    let serving =
        listen::serve(acceptor, routes.clone(), limits, tls.clone(), clock, closing.clone());
    let serving = tokio::spawn(serving);
    let (engine, report) = match open(config, env.clone(), progress).await {
        Ok(opened) => opened,
        Err(failure) => {
            serving.abort();
            endpoint::unbind(config);
            return Err(failure);
        }
    };
    let parts = Parts {
        answerer,
        engine: engine.clone(),
        gate,
        env,
        meters: Meters::install(),
        closing,
        mcp,
    };
    let app = Arc::new(App::new(parts, config));
    tell(&report);
    tell_of_policy(&app, config);
    if let Some(warning) = exposure(config) {
        tracing::warn!(%address, "{warning}");
    }
    tracing::info!(%address, tls = tls.is_some(), preset = config.preset.as_str(), "ready");
    watching::mark(&engine).await;
    let mut chores = chores(&app);
    // First: what they have not come to yet is hidden from the first request on.
    resume(&engine).await;
    Imports::resume(&app).await;
    routes.open(router(Arc::clone(&app)));
    endpoint::publish(config, &address);
    announce(config, &address);
    let reloads = Reloads { tls, app: Arc::clone(&app) };
    let why = closing_reason(&mut signals, &reloads, connections, config.idle_exit).await;
    tracing::info!(why, "closing");
    endpoint::withdraw(config);
    // Nobody may be left to hear it; then there is nothing to close.
    let _ = close.send(true);
    tokio::select! {
        ended = serving => {
            if let Err(error) = ended {
                tracing::error!(%error, "the server ended badly");
            }
        }
        signal = signals.ending() => tracing::warn!(signal, "a second signal: requests under way are cut"),
    }
    chores.shutdown().await;
    app.imports.shutdown().await;
    watching::pin_audit(&engine, PinTime::Now).await;
    engine.shutdown().await;
    tracing::info!("closed");
    Ok(Exit::Fine)
}

/// Waits for what ends the server: a signal, or that nobody called for so long.
async fn closing_reason(
    signals: &mut Signals,
    reloads: &Reloads,
    connections: Busy,
    idle_exit: Option<Duration>,
) -> &'static str {
    let idle = async {
        match idle_exit {
            Some(time) => connections.idle(time).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        signal = signals.last(reloads) => signal,
        () = idle => "nobody called for as long as --idle-exit says",
    }
}

/// Says whose policy is in force.
fn tell_of_policy(app: &App, config: &Config) {
    if app.engine.policies().deployment().is_some() {
        tracing::info!(
            preset = config.preset.as_str(),
            "the deployment policy that was put over HTTP is in force, in place of the preset's"
        );
    }
    warn_of_administrators(app);
    if !config.experimental_enabled {
        tracing::warn!(
            "erasures and legal holds are switched off: they are of the experimental tier; \
             experimental.enabled = true switches them on"
        );
    }
}

/// Says which tenants nobody administers. The first tenant is that of presets without tokens: it counts only
/// while there is no other.
fn warn_of_administrators(app: &App) {
    let known = app.engine.tenant_names();
    let is_new = known.iter().all(|tenant| tenant == DEFAULT_TENANT);
    for tenant in app.gate.unadministered(known) {
        if is_new || tenant != DEFAULT_TENANT {
            tracing::warn!(
                %tenant,
                "the tenant has no administrator: nobody sets its policy or places a legal hold; name \
                 one in auth.tenant_admins"
            );
        }
    }
}

/// Requests to forget and erasures that a crash cut short go on beside serving; what they had erased stays so.
async fn resume(engine: &Engine) {
    match engine.forgets_resume().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "requests to forget are resumed"),
        Err(error) => tracing::error!(%error, "requests to forget could not be resumed"),
    }
    match engine.erasures_resume().await {
        Ok(0) => {}
        Ok(count) => tracing::info!(count, "erasures are carried on"),
        Err(error) => tracing::error!(%error, "erasures could not be carried on"),
    }
}

/// The certificate, read before anything else is opened: a server that cannot keep its promise does
/// not start.
fn open_tls(config: &Config, env: &Env) -> Result<Option<Arc<Tls>>, Failure> {
    let Some(files) = config.tls.clone() else { return Ok(None) };
    let tls = Tls::open(files, Arc::clone(&env.disk)).map_err(Failure::unreadable)?;
    Ok(Some(Arc::new(tls)))
}

/// What an operator should know about who can listen in.
fn exposure(config: &Config) -> Option<&'static str> {
    (!config.listen.is_loopback() && config.tls.is_none()).then_some(
        "other machines can reach this address and TLS is not configured: tokens and everything \
         else cross the network in the clear. Set tls.cert and tls.key, or let only a proxy that \
         speaks TLS reach it",
    )
}

pub(super) async fn open(
    config: &Config,
    env: Env,
    opening: Arc<OpenProgress>,
) -> Result<(Engine, OpenReport), Failure> {
    let models = config.models.as_ref();
    let models = models.map(|models| crate::models::configured(models, &config.outbound, &env));
    let models = models.transpose().map_err(Failure::unreadable)?;
    let embed = config.embed.as_ref();
    let embed = embed.map(|embed| crate::embedders::configured(embed, &config.outbound, &env));
    let settings = Settings {
        embedding: embed.transpose().map_err(Failure::unreadable)?,
        segment_bytes: config.segment_bytes,
        free_bytes_min: config.free_bytes_min,
        ledger: config.ledger.clone(),
        blob_bytes_max: config.limits.blob_bytes,
        import_bytes_max: config.limits.import_bytes,
        stream_lag_ms: config.limits.stream_lag_ms,
        retention_days: config.retention.days,
        sweep_share_percent_max: config.retention.sweep_share_max,
        synchronized_file: config.retention.synchronized_file.clone(),
        opening,
        ..Settings::new(&config.data)
    };
    let settings = match config.deployment.defaults.audit_retention_us {
        Some(audit_retention_us) => Settings { audit_retention_us, ..settings },
        None => settings,
    };
    let opened = tokio::task::spawn_blocking(move || {
        Engine::open_asking(settings, env, Arc::new(Rules), models)
    })
    .await;
    let opened =
        opened.context("opening the data directory failed").map_err(Failure::unreadable)?;
    opened.map_err(opening::failure)
}

/// What opening found, for the log: a crash leaves traces, and an operator wants to know them.
fn tell(report: &OpenReport) {
    let OpenReport {
        fresh,
        cut,
        erasures_finished,
        views_rebuilt,
        entries_replayed,
        audit_recovered,
    } = report;
    if let Some(cut) = cut {
        tracing::warn!(
            file = cut.file,
            position = cut.position,
            bytes = cut.bytes,
            kept_as = cut.quarantine,
            "a half-written end of the log was cut; none of it had been acknowledged"
        );
    }
    tracing::info!(
        fresh,
        erasures_finished,
        views_rebuilt,
        entries_replayed,
        audit_recovered,
        "opened"
    );
}

/// The banner. The last line is what scripts wait for.
fn announce(config: &Config, address: &str) {
    let note = match config.preset {
        Preset::DevLocal => " (no tokens; reachable from this machine only)",
        _ => "",
    };
    // A socket in the file system takes another flag of curl and no name of a machine.
    let (curl, base) = match address.strip_prefix("unix:") {
        Some(path) => (format!("curl --unix-socket {path}"), "http://localhost"),
        None => ("curl".to_owned(), address),
    };
    let attempt = match config.preset {
        Preset::DevLocal => format!(
            "{curl} -d '{{\"scope\":\"user:alice\",\"content\":\"Acme moved to 200 seats\"}}' \
             {base}/v1/experience"
        ),
        _ => {
            format!("{curl} -H \"Authorization: Bearer $TOKEN\" {base}/v1/auth/whoami")
        }
    };
    let text = format!(
        "Lamina {version}, a memory database for AI agents\n\
         \x20 address  {address}\n\
         \x20 preset   {preset}{note}\n\
         \x20 data     {data}\n\
         \x20 try      {attempt}\n\
         listening on {address}\n",
        version = env!("CARGO_PKG_VERSION"),
        preset = config.preset,
        data = config.data.display(),
    );
    let mut out = std::io::stdout().lock();
    // A closed standard output is no reason not to serve.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// What is done from time to time, whoever calls.
fn chores(app: &Arc<App>) -> JoinSet<()> {
    let mut chores = JoinSet::new();
    chores.spawn(upkeep(Arc::clone(app)));
    chores.spawn(watching::keep(Arc::clone(app)));
    app.gate.keep(&mut chores);
    if app.sweep_every_s > 0 {
        chores.spawn(sweeping::keep(Arc::clone(app), Duration::from_secs(app.sweep_every_s)));
    }
    chores
}

async fn upkeep(app: Arc<App>) {
    let mut turn = tokio::time::interval(UPKEEP);
    loop {
        turn.tick().await;
        app.upkeep();
    }
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Signals {
    fn new() -> Result<Signals, Failure> {
        let listen =
            |kind| signal(kind).context("signals cannot be received").map_err(Failure::unreadable);
        Ok(Signals {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    /// Waits for the signal that ends the server. `SIGHUP` reads files again; without any it means
    /// what it always meant, that the terminal is gone.
    async fn last(&mut self, reloads: &Reloads) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.hangup.recv() => {
                    if reloads.is_empty() {
                        return "SIGHUP";
                    }
                    reloads.run();
                }
            }
        }
    }

    async fn ending(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// What can be read again while the server runs.
struct Reloads {
    tls: Option<Arc<Tls>>,
    app: Arc<App>,
}

impl Reloads {
    fn is_empty(&self) -> bool {
        self.tls.is_none() && self.app.is_local()
    }

    /// A few small files: not worth a thread. Each that cannot be used leaves what it is for as it
    /// was.
    fn run(&self) {
        if let Some(tls) = &self.tls {
            let done = "the certificate was read again; new connections use it";
            let kept = "the certificate was not changed: the new one cannot be used";
            tell_reload("certificate", tls.reload(), done, kept);
        }
        if !self.app.is_local() {
            let done = "the keys of issuers were read again";
            let kept = "the keys of issuers were not changed: the new ones cannot be used";
            tell_reload("keys", self.app.gate.reload(&*self.app.env.disk), done, kept);
        }
        if self.app.has_policy_file() {
            let done = "the policy file was read again; new requests are decided by it";
            let kept = "the policy was not changed: the new file cannot be used";
            tell_reload("policy", self.app.reload_policy(), done, kept);
        }
    }
}

/// Says what became of a file, in the log and in the metrics.
fn tell_reload<E: std::error::Error>(
    what: &'static str,
    result: Result<(), E>,
    done: &str,
    kept: &str,
) {
    let outcome = if result.is_ok() { "ok" } else { "failed" };
    metrics::counter!(RELOADS, "what" => what, "outcome" => outcome).increment(1);
    match result {
        Ok(()) => tracing::info!("{done}"),
        Err(error) => tracing::error!(error = chain(&error), "{kept}"),
    }
}

#[cfg(test)]
mod tests;
