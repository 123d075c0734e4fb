//! The gate: a bearer token in, a caller out (R123, R137-R142).
//!
//! A token that was verified once is remembered under its keyed hash until it ends, so that a
//! signature is checked once and not with every request. Whether it was revoked is asked each time.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use lamina_api::ApiError;
use lamina_auth::{TokenError, VerifiedToken};
use lamina_core::policy::{Caller, Grant, Preset};
use lamina_engine::Engine;
use lamina_engine::open::FIRST_TENANT;
use lamina_env::{Disk, Env};
use lamina_types::{ActorId, ErrorCode, Micros};
use parking_lot::Mutex;
use tokio::task::JoinSet;

use super::bound;
use super::guesses::Guesses;
use super::minting::Minting;
use super::trust::{Own, Trust, TrustError};
use crate::config::Config;
use crate::http::failure::Failure;

const ACTOR: &str = "x-cortex-actor";
/// The caller of a request that names none, under `dev_local` (ruling 19).
const LOCAL_CALLER: &str = "user:local";
/// Tokens remembered; when there are more, those that ended are forgotten, and then all.
const VERIFIED_MAX: usize = 65_536;

/// What lets callers in.
#[derive(Debug)]
pub struct Gate {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Callers are whoever they say they are.
    Open(Caller),
    /// Callers are who their tokens say.
    Signed(Box<Signed>),
}

#[derive(Debug)]
struct Signed {
    trust: Arc<Trust>,
    verified: Mutex<HashMap<[u8; 32], Arc<Verified>>>,
    guesses: Option<Guesses>,
    minting: Option<Minting>,
}

/// A token whose signature and claims held when it was first seen.
#[derive(Debug)]
struct Verified {
    caller: Caller,
    grant: Arc<Grant>,
    /// The keys it held under.
    keys_version: u64,
}

impl Gate {
    /// The gate of a preset: what it promises must not be served with less.
    pub fn of(config: &Config, env: &Env) -> Result<Gate, TrustError> {
        if config.preset == Preset::DevLocal {
            let actor = LOCAL_CALLER.parse().expect("the local caller is well formed");
            return Ok(Gate { kind: Kind::Open(Caller::local(actor, FIRST_TENANT)) });
        }
        let minting = config.minting.as_ref().map(|minting| Minting::open(minting, env));
        let minting = minting.transpose()?;
        let own = minting.as_ref().map(|minting| Own::of(&minting.minter(), minting.life_us_max()));
        let trust = Arc::new(Trust::load(&config.auth, &config.outbound, own, env)?);
        let guesses = config.rate_bad_tokens.map(|rate| {
            let complaint = "Too many tokens from this address were refused";
            Guesses::new(rate, Arc::clone(&env.clock), complaint)
        });
        let verified = Mutex::default();
        let signed = Signed { trust, verified, guesses, minting };
        Ok(Gate { kind: Kind::Signed(Box::new(signed)) })
    }

    /// What makes tokens, if the operator has given it a key.
    pub(crate) fn minting(&self) -> Option<&Minting> {
        match &self.kind {
            Kind::Open(_) => None,
            Kind::Signed(signed) => signed.minting.as_ref(),
        }
    }

    /// Starts the tasks that keep keys fresh.
    pub(crate) fn keep(&self, tasks: &mut JoinSet<()>) {
        if let Kind::Signed(signed) = &self.kind {
            signed.trust.keep(tasks);
        }
    }

    /// Reads the files of keys again, the one to mint with too; on an error those of before stay in
    /// force, all of them.
    pub(crate) fn reload(&self, disk: &dyn Disk) -> Result<(), TrustError> {
        let Kind::Signed(signed) = &self.kind else { return Ok(()) };
        let Some(minting) = &signed.minting else { return signed.trust.reload(disk, None) };
        let minter = minting.reread(disk)?;
        signed.trust.reload(disk, Some(Own::of(&minter, minting.life_us_max())))?;
        minting.replace(minter);
        Ok(())
    }

    /// What an operator should look at.
    pub(crate) fn complaints(&self) -> Vec<String> {
        match &self.kind {
            Kind::Open(_) => Vec::new(),
            Kind::Signed(signed) => signed.trust.complaints().collect(),
        }
    }

    /// Whether a token is needed.
    pub(crate) fn is_signed(&self) -> bool {
        matches!(self.kind, Kind::Signed(_))
    }

    /// Whether the configuration names an actor an operator. Where callers are whoever they say they are,
    /// nobody in particular is: who is shut out comes back under another name.
    pub(crate) fn is_operator(&self, tenant: &str, actor: &ActorId) -> bool {
        match &self.kind {
            Kind::Open(_) => false,
            Kind::Signed(signed) => signed.trust.is_operator(tenant, actor),
        }
    }

    /// The tenants of these that nobody administers.
    pub(crate) fn unadministered(&self, tenants: Vec<String>) -> Vec<String> {
        match &self.kind {
            Kind::Open(_) => Vec::new(),
            Kind::Signed(signed) => {
                let is_without = |tenant: &String| !signed.trust.has_administrator(tenant);
                tenants.into_iter().filter(is_without).collect()
            }
        }
    }

    /// An actor as the configuration knows it, without a token: for those who ask what it may do.
    pub(crate) fn named_caller(&self, tenant: &str, actor: ActorId, ordinal: u32) -> Caller {
        self.with_offices(tenant, Caller::plain(actor, ordinal))
    }

    /// A caller with the offices that the configuration gives it: of the issuer of its token, if it has one.
    pub(crate) fn with_offices(&self, tenant: &str, caller: Caller) -> Caller {
        match &self.kind {
            Kind::Open(_) => caller,
            Kind::Signed(signed) => signed.trust.named_caller(tenant, caller),
        }
    }

    /// The actors that the configuration lets act for the persons of a tenant.
    pub(crate) fn delegates(&self, tenant: &str) -> Vec<ActorId> {
        match &self.kind {
            Kind::Open(_) => Vec::new(),
            Kind::Signed(signed) => signed.trust.delegates(tenant),
        }
    }

    /// Who calls, from which address if that is known.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        peer: Option<IpAddr>,
        engine: &Engine,
    ) -> Result<Caller, Failure> {
        let named = named_actor(headers)?;
        let signed = match &self.kind {
            Kind::Open(local) => {
                let actor = named.unwrap_or_else(|| local.actor.clone());
                return Ok(Caller { actor, ..local.clone() });
            }
            Kind::Signed(signed) => signed,
        };
        let token = bearer(headers)?;
        let now = engine.now();
        let mac = engine.token_mac(token.as_bytes());
        let known = signed.verified.lock().get(&mac).cloned();
        let version = signed.trust.held().version;
        let found = match known.filter(|found| found.keys_version == version) {
            Some(found) => found,
            None => {
                let token = signed.check(token, peer, now).await?;
                let found = Arc::new(admit(&signed.trust, token, version, engine).await?);
                remember(&mut signed.verified.lock(), mac, Arc::clone(&found), now);
                found
            }
        };
        if found.grant.exp <= now {
            return Err(refused(&TokenError::Expired).into());
        }
        if engine.is_revoked(&found.grant.iss, &found.grant.jti)? {
            return Err(ApiError::of(ErrorCode::RevokedToken).into());
        }
        // A token speaks for one actor, so a request that names none means that one.
        match named {
            Some(actor) if actor != found.caller.actor => Err(mismatch().into()),
            _ => Ok(found.caller.clone()),
        }
    }
}

impl Signed {
    /// Checks a token that was not seen before, or not under these keys.
    async fn check(
        &self,
        token: &str,
        peer: Option<IpAddr>,
        now: Micros,
    ) -> Result<VerifiedToken, ApiError> {
        let guesses = self.guesses.as_ref().zip(peer);
        if let Some(refusal) = guesses.and_then(|(guesses, peer)| guesses.refusal(peer)) {
            return Err(refusal);
        }
        let checked = self.trust.verify(token, now).await;
        checked.map_err(|error| {
            if let (true, Some((guesses, peer))) = (is_guess(&error), guesses) {
                guesses.count(peer);
            }
            refused(&error)
        })
    }
}

/// Whether a token may have been made up. One that a trusted key has signed was not, whatever else
/// is wrong with it; nor is it the bearer's fault if the keys are not there.
fn is_guess(error: &TokenError) -> bool {
    !matches!(
        error,
        TokenError::Missing
            | TokenError::Expired
            | TokenError::NotYet { .. }
            | TokenError::Tenant
            | TokenError::IssuerTenant
            | TokenError::LifeTooLong
            | TokenError::KeysUnavailable
    )
}

/// The caller that claims speak of; its tenant comes into being with its first token.
async fn admit(
    trust: &Trust,
    token: VerifiedToken,
    keys_version: u64,
    engine: &Engine,
) -> Result<Verified, Failure> {
    let tenant = engine.tenant_or_register(&token.claims.tenant).await?;
    let claims = token.claims.clone();
    let grant = Arc::new(Grant {
        jti: claims.jti,
        iss: claims.iss,
        exp: claims.exp,
        caps: claims.caps,
        scopes: claims.scopes,
    });
    let caller = trust.caller(&token, tenant, Arc::clone(&grant));
    let Some(session) = &token.session else {
        return Ok(Verified { caller, grant, keys_version });
    };
    // A token of one session reaches no other, wherever it is sent.
    let scope = bound::session_scope(&caller, session)?;
    let grant = Arc::new(bound::narrowed((*grant).clone(), &scope));
    let caller = Caller { grant: Some(Arc::clone(&grant)), ..caller };
    Ok(Verified { caller, grant, keys_version })
}

fn remember(
    verified: &mut HashMap<[u8; 32], Arc<Verified>>,
    mac: [u8; 32],
    found: Arc<Verified>,
    now: Micros,
) {
    if verified.len() >= VERIFIED_MAX {
        verified.retain(|_, other| other.grant.exp > now);
        if verified.len() >= VERIFIED_MAX {
            verified.clear();
        }
    }
    verified.insert(mac, found);
}

/// The token of a request. The scheme is read without regard to case, the token as it is.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next().ok_or_else(|| refused(&TokenError::Missing))?;
    if values.next().is_some() {
        return Err(refused(&TokenError::Format));
    }
    let text = value.to_str().map_err(|_| refused(&TokenError::Format))?;
    let (scheme, token) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if !scheme.eq_ignore_ascii_case("bearer") || token.trim().is_empty() {
        return Err(refused(&TokenError::Missing));
    }
    Ok(token.trim())
}

fn named_actor(headers: &HeaderMap) -> Result<Option<ActorId>, ApiError> {
    let mut values = headers.get_all(ACTOR).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    // A proxy may look at another one of them than we do.
    if values.next().is_some() {
        return Err(ApiError::invalid_parameter("X-Cortex-Actor", "is given more than once"));
    }
    let text = std::str::from_utf8(value.as_bytes())
        .map_err(|_| ApiError::invalid_parameter("X-Cortex-Actor", "is not UTF-8"))?;
    if text.trim().is_empty() {
        return Ok(None);
    }
    let actor = text.trim().parse().map_err(|error: lamina_types::actor::ActorError| {
        ApiError::invalid_parameter("X-Cortex-Actor", error.to_string())
    })?;
    Ok(Some(actor))
}

/// A refused token: the code for programs, one word for the reason, a sentence for people.
pub(crate) fn refused(error: &TokenError) -> ApiError {
    let mut text = error.to_string();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    ApiError::new(error.code(), format!("{text}.")).with("reason", error.reason())
}

fn mismatch() -> ApiError {
    let reason = "differs from the `sub` of the token; leave it out or name the same actor";
    ApiError::at(ErrorCode::ActorMismatch, "X-Cortex-Actor", reason)
}

#[cfg(test)]
mod tests;
