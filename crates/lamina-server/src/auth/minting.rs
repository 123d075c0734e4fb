//! Making tokens in the server, for clients that expect it to (C43). Off unless the operator names a
//! key file.
//!
//! The server then holds a secret that can make anybody, which is why it is not the default and why
//! `lamina-issuer` is a program of its own.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_auth::{Claims, MintError, Minter};
use lamina_env::rng::draw;
use lamina_env::{Disk, Env};
use lamina_types::limits::{SERVICE_TOKEN_LIFE_US_MAX, TOKEN_LIFE_US_MAX};
use lamina_types::stdx::hex;
use lamina_types::{ActorId, Micros, ScopePath, TenantName, TokenId};
use parking_lot::RwLock;

use super::guesses::Guesses;
use super::narrow::Held;
use super::trust::TrustError;
use crate::config::MintingConfig;

const SECOND_US: i64 = 1_000_000;
/// Bytes of the random part of a new user's name.
const NAME_BYTES: usize = 12;

/// What a token of a new user is for: everything it needs in a scope of its own.
const IN_OWN_SCOPE: &[&str] = &[
    "scope.read.local",
    "scope.read.holistic",
    "scope.read.descend",
    "scope.write",
    "scope.create.user",
    "scope.create.agent",
    "scope.create.app",
    "scope.create.project",
    "scope.create.session",
    "scope.create.ws",
    "understanding.read",
    "understanding.synthesize",
    "forget.cascade.derived_only",
    "lifecycle.subscribe",
];
/// What has no place in the tree.
const ANYWHERE: &[&str] = &[
    "audit.read",
    "auth.revoke",
    "blob.read",
    "blob.upload",
    "llm.invoke",
    "temporal.phrases.read",
    "vocabulary.read",
];

/// What makes tokens.
#[derive(Debug)]
pub(crate) struct Minting {
    key: PathBuf,
    minter: RwLock<Arc<Minter>>,
    env: Env,
    ttl_us_max: i64,
    signup: Option<Signup>,
}

/// Where new users go.
#[derive(Debug)]
pub(crate) struct Signup {
    pub(crate) tenant: TenantName,
    ttl_us: i64,
    rate: Option<Guesses>,
}

/// A token that was made.
#[derive(Debug)]
pub(crate) struct Minted {
    pub(crate) token: String,
    pub(crate) jti: String,
    pub(crate) exp: Micros,
}

/// Whose token, and for how long.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) sub: ActorId,
    pub(crate) tenant: TenantName,
    pub(crate) iat: Micros,
    pub(crate) exp: Micros,
    pub(crate) held: Held,
}

impl Minting {
    /// Reads the key file.
    pub(super) fn open(config: &MintingConfig, env: &Env) -> Result<Minting, TrustError> {
        let MintingConfig { key, ttl_s_max, signup } = config;
        let minter = load(key, &*env.disk)?;
        let signup = signup.as_ref().map(|signup| Signup {
            tenant: signup.tenant.clone(),
            ttl_us: seconds(signup.ttl_s),
            rate: signup.rate.map(|rate| {
                let text = "Too many users signed up from this address";
                Guesses::new(rate, Arc::clone(&env.clock), text)
            }),
        });
        let (key, minter) = (key.clone(), RwLock::new(Arc::new(minter)));
        Ok(Minting { key, minter, env: env.clone(), ttl_us_max: seconds(*ttl_s_max), signup })
    }

    pub(super) fn minter(&self) -> Arc<Minter> {
        Arc::clone(&self.minter.read())
    }

    /// Reads the key file again, without minting with it yet.
    pub(super) fn reread(&self, disk: &dyn Disk) -> Result<Minter, TrustError> {
        load(&self.key, disk)
    }

    /// Mints with another key from now on.
    pub(super) fn replace(&self, minter: Minter) {
        *self.minter.write() = Arc::new(minter);
    }

    /// How long tokens of users live at most that this server makes.
    pub(super) fn life_us_max(&self) -> i64 {
        self.signup.as_ref().map_or(0, |signup| signup.ttl_us).max(TOKEN_LIFE_US_MAX)
    }

    /// Where new users go, if anywhere.
    pub(crate) fn signup(&self) -> Option<&Signup> {
        self.signup.as_ref()
    }

    /// The longest life of a token for this subject, in seconds.
    pub(crate) fn ttl_s_max(&self, sub: &ActorId) -> u64 {
        let service = sub.kind() == "service";
        let most = if service { SERVICE_TOKEN_LIFE_US_MAX } else { TOKEN_LIFE_US_MAX };
        (most.min(self.ttl_us_max) / SECOND_US).unsigned_abs()
    }

    /// Makes a token.
    pub(crate) fn mint(&self, order: Order) -> Result<Minted, MintError> {
        let Order { sub, tenant, iat, exp, held: Held { caps, scopes } } = order;
        let jti = TokenId::mint(iat, draw(&*self.env.rng)).to_string();
        let minter = self.minter();
        let claims = Claims {
            iss: minter.iss().to_owned(),
            sub,
            tenant,
            exp: whole(exp),
            iat: whole(iat),
            jti,
            deployment: None,
            caps: Some(caps),
            scopes,
        };
        let token = minter.mint_living(&claims, self.life_us_max())?;
        Ok(Minted { token, jti: claims.jti, exp: claims.exp })
    }

    /// A new user with a scope of its own, and what its token says.
    pub(crate) fn newcomer(&self, signup: &Signup, now: Micros) -> (Order, ScopePath) {
        let name = hex::encode(&draw::<NAME_BYTES>(&*self.env.rng));
        let sub: ActorId = format!("user:u{name}").parse().expect("hexadecimal digits are a name");
        let scope: ScopePath = format!("user:u{name}").parse().expect("and a scope");
        let own = IN_OWN_SCOPE.iter().map(|name| ((*name).to_owned(), scope.clone().into()));
        let caps = IN_OWN_SCOPE.iter().chain(ANYWHERE).map(|name| (*name).to_owned()).collect();
        let held = Held { caps, scopes: own.collect() };
        let (iat, exp) = (now, now.plus(signup.ttl_us));
        (Order { sub, tenant: signup.tenant.clone(), iat, exp, held }, scope)
    }
}

impl Signup {
    /// Counts a new user of an address; the refusal if there were too many.
    pub(crate) fn admit(&self, peer: Option<IpAddr>) -> Result<(), ApiError> {
        let Some((rate, peer)) = self.rate.as_ref().zip(peer) else { return Ok(()) };
        match rate.refusal(peer) {
            Some(refusal) => Err(refusal),
            None => {
                rate.count(peer);
                Ok(())
            }
        }
    }
}

fn load(key: &Path, disk: &dyn Disk) -> Result<Minter, TrustError> {
    let refused = |source| TrustError::Minting { path: key.to_owned(), source };
    Minter::load(disk, key).map_err(refused)
}

fn seconds(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / SECOND_US).saturating_mul(SECOND_US)
}

/// Tokens count in seconds.
fn whole(at: Micros) -> Micros {
    Micros(at.0 - at.0.rem_euclid(SECOND_US))
}

#[cfg(test)]
mod tests;
