//! What every request can reach: the engine, the policy, the outside, and the settings of the
//! surface.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lamina_api::v1::experience::Strictness;
use lamina_core::policy::{Caller, Document, Preset, Rate, Stack};
use lamina_engine::{Boot, Engine, Error as EngineError};
use lamina_env::Env;
use lamina_models::llm::Llm;
use lamina_types::{Micros, ScopePath};
use parking_lot::RwLock;

use super::cors::Cors;
use super::listen::Closing;
use super::once::Answers;
use super::packs::{Gone, Packs};
use super::read_load::ReadLoad;
use super::replays::Replays;
use crate::auth::Gate;
use crate::auth::rate::{Limiter, Quotas};
use crate::config::{Config, Limits, PolicyFileError, policy_file};
use crate::mcp::access::McpAccess;
use crate::meters::Meters;
use crate::transfer::export::jobs::ExportJobs;
use crate::transfer::import::Imports;
use crate::transfer::places::TransferPlaces;

/// The state behind the routes.
#[derive(Debug)]
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) gate: Gate,
    /// What the operator booted with, before anything narrower, and its file, if it was read from one.
    boot: RwLock<Boot>,
    policy_file: Option<PathBuf>,
    pub(crate) env: Env,
    pub(crate) meters: Meters,
    pub(crate) closing: Closing,
    pub(crate) limits: Limits,
    pub(crate) cors: Cors,
    /// Names that requests may be addressed to; none stands for every name.
    pub(crate) hosts: Vec<String>,
    pub(crate) rates: Limiter,
    /// Reads under way.
    pub(crate) reads: ReadLoad,
    quotas: Quotas,
    pub(crate) strictness: Strictness,
    pub(crate) experimental_enabled: bool,
    /// How often retention looks by itself; 0 is never.
    pub(crate) sweep_every_s: u64,
    pub(crate) started_at: Micros,
    /// Packs that can still be referred to.
    pub(crate) packs: Packs,
    /// Streams that can still be resumed.
    pub(crate) replays: Replays,
    /// What was answered to changes with a key.
    pub(crate) answers: Answers,
    /// A model that writes answers, if there is one.
    pub(crate) answerer: Option<Arc<Llm>>,
    /// Exports that can still be fetched.
    pub(crate) exports: ExportJobs,
    /// Imports that wait or run.
    pub(crate) imports: Imports,
    /// Where memory may travel.
    pub(crate) places: TransferPlaces,
    /// The address of the documentation that errors point to.
    pub(crate) pages: Option<String>,
    /// What the operator has set for agents.
    pub(crate) mcp: McpAccess,
}

/// The parts an [`App`] is made of.
#[derive(Debug)]
pub struct Parts {
    /// The open engine.
    pub engine: Engine,
    /// What lets callers in.
    pub gate: Gate,
    /// Clock and randomness.
    pub env: Env,
    /// Where metrics are read.
    pub meters: Meters,
    /// Says when the server closes.
    pub closing: Closing,
    /// A model that writes answers, if there is one.
    pub answerer: Option<Arc<Llm>>,
    /// What the operator has set for agents.
    pub mcp: McpAccess,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts, config: &Config) -> App {
        let Parts { engine, gate, env, meters, closing, answerer, mcp } = parts;
        let rates = Limiter::new(Arc::clone(&env.clock));
        App {
            boot: RwLock::new(Boot {
                preset: config.preset,
                document: Arc::clone(&config.deployment),
            }),
            policy_file: config.policy_file.clone(),
            packs: Packs::default(),
            replays: Replays::default(),
            answers: Answers::default(),
            answerer,
            exports: ExportJobs::default(),
            imports: Imports::default(),
            places: TransferPlaces::new(config, &env),
            mcp,
            started_at: env.clock.monotonic(),
            engine,
            gate,
            env,
            meters,
            closing,
            limits: config.limits,
            cors: Cors::new(&config.cors_origins),
            pages: config.docs_base_url.clone(),
            hosts: config.hosts.clone(),
            rates,
            reads: ReadLoad::new(
                usize::try_from(config.limits.reads_in_flight).unwrap_or(usize::MAX),
            ),
            quotas: config.quotas,
            strictness: if config.envelope_lenient {
                Strictness::Lenient
            } else {
                Strictness::Strict
            },
            experimental_enabled: config.experimental_enabled,
            sweep_every_s: config.retention.sweep_every_s,
        }
    }

    /// The preset in force.
    pub(crate) fn preset(&self) -> Preset {
        self.boot.read().preset
    }

    /// What the operator booted with, before anything narrower, or has written since. A request that asks
    /// more than once holds on to it.
    pub(crate) fn boot(&self) -> Boot {
        self.boot.read().clone()
    }

    /// Whether the deployment's policy is one of the operator's own.
    pub(crate) fn has_policy_file(&self) -> bool {
        self.policy_file.is_some()
    }

    /// Reads the policy file again; on an error the policy of before stays in force.
    pub(crate) fn reload_policy(&self) -> Result<(), PolicyFileError> {
        let Some(path) = &self.policy_file else { return Ok(()) };
        let document = Arc::new(policy_file(path, &*self.env.disk)?);
        self.boot.write().document = document;
        Ok(())
    }

    /// The policy over a scope, or over the whole tenant, as it is now.
    pub(crate) async fn stack(
        &self,
        caller: &Caller,
        scope: Option<&ScopePath>,
    ) -> Result<Stack, EngineError> {
        self.engine.stack(&self.boot(), caller, scope).await
    }

    /// Whether the tenant keeps the sizes of bodies in its audit rows (R393).
    pub(crate) fn store_body_bytes(&self, caller: &Caller) -> bool {
        let book = self.engine.policies();
        let kept = |document: &Document| document.defaults.store_body_bytes;
        let tenant = book.tenant(caller.tenant).and_then(|document| kept(&document));
        let deployment = || kept(&book.deployment().unwrap_or_else(|| self.boot().document));
        tenant.or_else(deployment).unwrap_or(true)
    }

    /// Whether callers are whoever they say they are, because only this machine can call.
    pub(crate) fn is_local(&self) -> bool {
        !self.gate.is_signed()
    }

    /// How often a caller may call: as the tenant's policy says, or the deployment's, or the
    /// configuration (R199).
    pub(crate) fn quotas(&self, caller: &Caller) -> Quotas {
        let book = self.engine.policies();
        let deployment = book.deployment().unwrap_or_else(|| self.boot().document);
        let tenant = book.tenant(caller.tenant);
        let rate = |of: fn(&Document) -> Option<Rate>| {
            tenant.as_deref().and_then(of).or_else(|| of(&deployment))
        };
        Quotas {
            write: rate(|document| document.defaults.rate_write).or(self.quotas.write),
            read: rate(|document| document.defaults.rate_read).or(self.quotas.read),
            importer: rate(|document| document.defaults.rate_importer).or(self.quotas.importer),
        }
    }

    /// Drops the packs, streams and answers that may quote a record that was taken back.
    pub(crate) fn forget_packs(&self, tenant: u32, scope: &ScopePath, id: &str) {
        let gone = Gone { tenant, scope, id };
        self.packs.forget(&gone);
        self.replays.forget(&gone);
        self.answers.clear(Some(tenant));
    }

    /// Drops the packs, streams and answers that a deletion of a tenant may touch. Those of other tenants stay, unless
    /// they are about a scope that all tenants share.
    pub(crate) fn forget_packs_of(&self, tenant: u32) {
        self.packs.clear(Some(tenant));
        self.replays.clear(Some(tenant));
        self.answers.clear(Some(tenant));
    }

    /// Work that has to be done from time to time.
    pub fn upkeep(&self) {
        self.meters.upkeep();
        self.rates.sweep();
        let monotonic = self.env.clock.monotonic();
        self.packs.expire(monotonic);
        self.replays.expire(monotonic);
        self.answers.expire(self.env.clock.wall());
    }

    pub(crate) fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.limits.body_timeout_ms)
    }
}
