//! `lamina policy`: shows a stored policy, and takes it back if nobody can over HTTP.
//!
//! A policy that denies the right to change it is refused when it is put. One that was stored before that
//! was so, or that names somebody who became an operator since, keeps everybody out; whoever has the
//! directory has everything anyway.

use std::fmt::Write as _;

use anyhow::{Context as _, anyhow};
use lamina_core::policy::{Caller, Preset, Stack};
use lamina_engine::{Boot, Engine, Noted, PolicyPermit, PolicyRecord, PolicyTarget, Settings};
use lamina_env::Env;

use super::args::PolicyArgs;
use super::exit::{Exit, Failure};
use super::maintenance::must_exist;
use super::{load, opening, print};

/// How the audit log names it.
const ENDPOINT: &str = "lamina policy --reset";

/// Shows a policy, and takes it back if that is asked for.
pub(super) fn policy(args: PolicyArgs) -> Result<Exit, Failure> {
    let target = target(&args)?;
    let PolicyArgs { data, tenant, reset, .. } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("the runtime cannot start").map_err(Failure::unreadable)?;
    let settings = Settings {
        segment_bytes: config.segment_bytes,
        free_bytes_min: config.free_bytes_min,
        ledger: config.ledger.clone(),
        ..Settings::new(&config.data)
    };
    let (engine, _) = Engine::open(settings, env).map_err(opening::failure)?;
    let boot = Boot { preset: config.preset, document: std::sync::Arc::clone(&config.deployment) };
    let text = runtime.block_on(async {
        let done = run(&engine, &boot, &tenant, &target, reset).await;
        engine.shutdown().await;
        done
    })?;
    print(&text)?;
    Ok(Exit::Fine)
}

fn target(args: &PolicyArgs) -> Result<PolicyTarget, Failure> {
    match (&args.scope, &args.actor) {
        _ if args.deployment => Ok(PolicyTarget::Deployment),
        (Some(scope), _) => {
            let path = scope.parse().with_context(|| format!("`{scope}` is not a scope"));
            Ok(PolicyTarget::Scope(path.map_err(Failure::usage)?))
        }
        (None, Some(actor)) => {
            let actor = actor.parse().with_context(|| format!("`{actor}` is not an actor"));
            Ok(PolicyTarget::Actor(actor.map_err(Failure::usage)?))
        }
        (None, None) => Ok(PolicyTarget::Tenant),
    }
}

async fn run(
    engine: &Engine,
    boot: &Boot,
    tenant: &str,
    target: &PolicyTarget,
    reset: bool,
) -> Result<String, Failure> {
    let ordinal = match target {
        PolicyTarget::Scope(path) if boot.preset.is_shared() && path.is_shared() => {
            engine.shared_tenant(boot)
        }
        _ => engine.tenant(tenant),
    };
    let missing = || Failure::unreadable(anyhow!("there is no tenant `{tenant}`"));
    let permit = permit(ordinal.ok_or_else(missing)?, target)?;
    let found = engine.policy_get(&permit, target).map_err(Failure::unreadable)?;
    let whose = match target {
        PolicyTarget::Deployment => "the deployment".to_owned(),
        PolicyTarget::Tenant => format!("the tenant {tenant}"),
        PolicyTarget::Scope(path) => format!("the scope {path} of tenant {tenant}"),
        PolicyTarget::Actor(actor) => format!("the actor {actor} of tenant {tenant}"),
    };
    let Some(found) = found else {
        return Ok(format!("no policy was put for {whose}\n"));
    };
    let mut text = shown(&whose, &found);
    if reset {
        let noted = Noted {
            audit_id: engine.audit_id(),
            request_id: String::new(),
            note: ENDPOINT.to_owned(),
        };
        let set = engine.policy_set(&permit, target.clone(), None, &noted).await;
        set.map_err(Failure::unreadable)?;
        let id = noted.audit_id;
        engine.audit(match &permit {
            PolicyPermit::Deployment(permit) => engine.audit_row_of(permit, None, ENDPOINT, id),
            PolicyPermit::Tenant(permit) => engine.audit_row_of(permit, None, ENDPOINT, id),
            PolicyPermit::Scope(permit) => {
                engine.audit_row_of(permit, permit.scope(), ENDPOINT, id)
            }
            PolicyPermit::Actor(permit) => engine.audit_row_of(permit, None, ENDPOINT, id),
        });
        text.push_str("it is taken back; other tiers are as they were\n");
    }
    Ok(text)
}

fn shown(whose: &str, record: &PolicyRecord) -> String {
    let mut text = format!("the policy of {whose}, set {} times\n", record.version);
    for (key, value) in record.document.to_pairs() {
        let _ = writeln!(text, "  {key} {value}");
    }
    text
}

/// Whoever has the directory may: as under `dev_local`, where only this machine can call.
fn permit(tenant: u32, target: &PolicyTarget) -> Result<PolicyPermit, Failure> {
    let stack = Stack::of_preset(Preset::DevLocal);
    let actor = "system:operator".parse().expect("the name is well formed");
    let caller = Caller::local(actor, tenant);
    let permit = match target {
        PolicyTarget::Deployment => stack.permit(&caller, None).map(PolicyPermit::Deployment),
        PolicyTarget::Tenant => stack.permit(&caller, None).map(PolicyPermit::Tenant),
        PolicyTarget::Scope(path) => stack.permit(&caller, Some(path)).map(PolicyPermit::Scope),
        PolicyTarget::Actor(_) => stack.permit(&caller, None).map(PolicyPermit::Actor),
    };
    permit.map_err(Failure::usage)
}
