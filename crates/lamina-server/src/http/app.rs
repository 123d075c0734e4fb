//! What every request can reach: the engine, the policy, the outside, and the settings of the
//! surface.

use std::sync::Arc;
use std::time::Duration;

use lamina_api::v1::experience::Strictness;
use lamina_core::policy::{Caller, Policy, Preset};
use lamina_engine::Engine;
use lamina_env::Env;
use lamina_types::{ActorId, Micros};

use super::cors::Cors;
use super::listen::Closing;
use crate::auth::rate::{Limiter, Quotas};
use crate::config::{Config, Limits};
use crate::meters::Meters;

/// The caller of a request that names none, under `dev_local` (ruling 19).
const LOCAL_CALLER: &str = "user:local";
/// The one tenant of `dev_local`.
const LOCAL_TENANT: &str = "default";

/// The state behind the routes.
#[derive(Debug)]
pub struct App {
    pub(crate) engine: Engine,
    pub(crate) policy: Policy,
    pub(crate) env: Env,
    pub(crate) meters: Meters,
    pub(crate) closing: Closing,
    pub(crate) limits: Limits,
    pub(crate) cors: Cors,
    pub(crate) rates: Limiter,
    quotas: Quotas,
    pub(crate) strictness: Strictness,
    pub(crate) experimental_enabled: bool,
    pub(crate) started_at: Micros,
    local_caller: Caller,
}

/// The parts an [`App`] is made of.
#[derive(Debug)]
pub struct Parts {
    /// The open engine.
    pub engine: Engine,
    /// The policy in force.
    pub policy: Policy,
    /// Clock and randomness.
    pub env: Env,
    /// Where metrics are read.
    pub meters: Meters,
    /// Says when the server closes.
    pub closing: Closing,
}

impl App {
    /// Puts the parts together.
    pub fn new(parts: Parts, config: &Config) -> App {
        let Parts { engine, policy, env, meters, closing } = parts;
        let tenant = engine.tenant(LOCAL_TENANT).expect("the engine opens with the default tenant");
        let actor: ActorId = LOCAL_CALLER.parse().expect("the local caller is well formed");
        let rates = Limiter::new(Arc::clone(&env.clock));
        App {
            local_caller: Caller::local(actor, tenant),
            started_at: env.clock.monotonic(),
            engine,
            policy,
            env,
            meters,
            closing,
            limits: config.limits,
            cors: Cors::new(&config.cors_origins),
            rates,
            quotas: config.quotas,
            strictness: if config.envelope_lenient {
                Strictness::Lenient
            } else {
                Strictness::Strict
            },
            experimental_enabled: config.experimental_enabled,
        }
    }

    pub(crate) fn local_caller(&self) -> &Caller {
        &self.local_caller
    }

    /// Whether callers are whoever they say they are, because only this machine can call.
    pub(crate) fn is_local(&self) -> bool {
        self.policy.preset() == Preset::DevLocal
    }

    /// How often a caller may call. What the configuration says holds for everybody; policies will
    /// say more.
    pub(crate) fn quotas(&self, _caller: &Caller) -> Quotas {
        self.quotas
    }

    /// Work that has to be done from time to time.
    pub fn upkeep(&self) {
        self.meters.upkeep();
        self.rates.sweep();
    }

    pub(crate) fn body_timeout(&self) -> Duration {
        Duration::from_millis(self.limits.body_timeout_ms)
    }
}
