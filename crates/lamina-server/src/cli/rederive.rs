//! `lamina rederive`: the events of a scope are read again with the extractor of this version.
//!
//! In a directory that no server uses: a new extractor comes with a new version, for which the server is
//! stopped anyway, and nobody else may answer an event between looking at it and answering it.

mod report;

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_core::policy::{Caller, Derivation, Derive, Permit};
use lamina_engine::derive::rederive::{How, ModelAnswers, Rederive};
use lamina_engine::{Boot, Engine, Error, Noted, Settings};
use lamina_env::Env;
use lamina_types::{JobId, ScopePath};

use super::args::RederiveArgs;
use super::exit::{Exit, Failure};
use super::maintenance::{Progress, must_exist};
use super::{load, opening, print};
use crate::config::Config;
use report::Done;

/// How the audit log names it.
const ENDPOINT: &str = "lamina rederive";

/// Reads a scope again, takes a run back, or lists the runs.
pub(super) fn rederive(args: RederiveArgs) -> Result<Exit, Failure> {
    let wanted = Wanted::of(&args)?;
    let RederiveArgs { data, tenant, json, .. } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("the runtime cannot start");
    let runtime = runtime.map_err(Failure::unreadable)?;
    let (engine, _) = open(&config, env)?;
    let boot = Boot { preset: config.preset, document: Arc::clone(&config.deployment) };
    let done = runtime.block_on(async {
        let done = wanted.run(&engine, &boot, &tenant).await;
        engine.shutdown().await;
        done
    })?;
    print(&if json { done.json() } else { done.text() })?;
    Ok(Exit::Fine)
}

/// Without a model: nothing is asked here, and events that wait for one go on waiting.
fn open(config: &Config, env: Env) -> Result<(Engine, lamina_engine::OpenReport), Failure> {
    let settings = Settings {
        segment_bytes: config.segment_bytes,
        free_bytes_min: config.free_bytes_min,
        ledger: config.ledger.clone(),
        ..Settings::new(&config.data)
    };
    Engine::open(settings, env).map_err(opening::failure)
}

/// What is asked for, as the command line says it.
enum Wanted {
    Again { scope: ScopePath, models: ModelAnswers, apply: bool },
    Undo { run: JobId, apply: bool },
    Runs,
}

impl Wanted {
    fn of(args: &RederiveArgs) -> Result<Wanted, Failure> {
        let RederiveArgs { scope, undo, apply, runs, replace_model_answers, .. } = args;
        let apply = *apply;
        match (scope, undo, runs) {
            (None, None, true) => Ok(Wanted::Runs),
            (Some(scope), None, false) => {
                let scope = scope.parse().with_context(|| format!("`{scope}` is not a scope"));
                let models = match replace_model_answers {
                    true => ModelAnswers::Replace,
                    false => ModelAnswers::Keep,
                };
                Ok(Wanted::Again { scope: scope.map_err(Failure::usage)?, models, apply })
            }
            (None, Some(run), false) => {
                let run = run.parse().with_context(|| format!("`{run}` is not the id of a run"));
                Ok(Wanted::Undo { run: run.map_err(Failure::usage)?, apply })
            }
            _ => Err(Failure::usage(anyhow!("give one of --scope, --undo and --runs"))),
        }
    }

    async fn run(self, engine: &Engine, boot: &Boot, tenant: &str) -> Result<Done, Failure> {
        let missing = |what: String| Failure::unreadable(anyhow!(what));
        let ordinal = engine.tenant(tenant);
        let ordinal = ordinal.ok_or_else(|| missing(format!("there is no tenant `{tenant}`")))?;
        let runs = engine.rederive_runs(ordinal).await.map_err(Failure::unreadable)?;
        let (asked, scope, apply) = match self {
            Wanted::Runs => return Ok(Done::Runs(runs)),
            Wanted::Again { scope, models, apply } => {
                (Rederive::Again { scope: scope.clone(), models }, scope, apply)
            }
            Wanted::Undo { run, apply } => {
                let known = runs.into_iter().find(|known| known.id == run);
                let known = known.ok_or_else(|| missing(format!("there is no run {run}")))?;
                (Rederive::Undo { run }, known.scope, apply)
            }
        };
        let permit = permit(engine, boot, ordinal, &scope).await.map_err(Failure::unreadable)?;
        let noted = Noted {
            audit_id: engine.audit_id(),
            request_id: String::new(),
            note: ENDPOINT.to_owned(),
        };
        let how = if apply { How::Append(noted.clone()) } else { How::Look };
        let mut progress = Progress::new("reading again");
        let mut show = |done, all| progress.show(done, all);
        let report = engine.rederive(&permit, &asked, &how, &mut show).await;
        progress.clear();
        let report = report.map_err(|error| match error {
            Error::NotFound => missing(format!("nothing was ever written to {scope}")),
            other => Failure::unreadable(other),
        })?;
        if report.run.is_some() && !report.resumed {
            let row = engine.audit_row_of(&permit, Some(&scope), ENDPOINT, noted.audit_id);
            engine.audit(row);
        }
        Ok(Done::Read { tenant: tenant.to_owned(), scope, asked, apply, report })
    }
}

/// Whoever has the directory may do this, as derivation itself: in one scope and nowhere else.
async fn permit(
    engine: &Engine,
    boot: &Boot,
    tenant: u32,
    scope: &ScopePath,
) -> Result<Permit<Derive>, Error> {
    let actor = "system:derive".parse().expect("the name is well formed");
    let stack = engine.stack(boot, &Caller::local(actor, tenant), None).await?;
    let entry = Derivation { tenant, scope: scope.clone(), consolidate_into: None };
    Ok(stack.permit_derive(&entry))
}
