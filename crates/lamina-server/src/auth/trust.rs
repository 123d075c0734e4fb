//! Whose tokens are believed: the keys of issuers, from files and over the network, the tenants they
//! are believed for, and the actors that have an office.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lamina_auth::{
    KeySet, KeySetError, MintError, Minter, PublicKey, TokenError, VerifiedToken, trust_file,
    verify_office,
};
use lamina_core::policy::{Caller, Grant};
use lamina_env::disk::read_file;
use lamina_env::{Disk, Env};
use lamina_outbound::{Bounds, Client, Error as OutboundError, Roots};
use lamina_types::{ActorId, Micros, TenantName};
use parking_lot::{Mutex, RwLock};
use tokio::task::JoinSet;

use super::fetch::FetchError;
use super::remote::Remote;
use crate::config::{AuthConfig, NamedActor, OutboundConfig};

/// Bytes of a file of keys, or of certificates.
const KEY_FILE_BYTES_MAX: u64 = 1 << 20;
/// What a fetch of keys may take. Requests wait for it.
const FETCH: Bounds = Bounds {
    connect: Duration::from_secs(3),
    total: Duration::from_secs(6),
    body_bytes: 256 << 10,
};

/// Whose tokens are believed.
#[derive(Debug)]
pub struct Trust {
    held: RwLock<Arc<Held>>,
    /// Changes are made one after the other.
    changing: Mutex<()>,
    remotes: BTreeMap<String, Arc<Remote>>,
    config: AuthConfig,
}

/// The issuer that a server is itself.
#[derive(Debug, Clone)]
pub struct Own {
    iss: String,
    key: PublicKey,
    /// How long its tokens of users live at most.
    life_us_max: i64,
}

impl Own {
    /// What is known of who mints.
    pub(super) fn of(minter: &Minter, life_us_max: i64) -> Own {
        Own { iss: minter.iss().to_owned(), key: minter.public().clone(), life_us_max }
    }
}

/// Keys, and a number that grows when they change: what was verified under another number is
/// verified again.
#[derive(Debug)]
pub(super) struct Held {
    keys: KeySet,
    pub(super) version: u64,
}

/// Why keys could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file could not be read.
    #[error("{path} could not be read")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// The file does not hold keys.
    #[error("the keys in {path} cannot be trusted")]
    Keys {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: KeySetError,
    },
    /// An issuer whose keys are fetched cannot be one.
    #[error("the issuer {iss} cannot be trusted")]
    Issuer {
        /// Which.
        iss: String,
        /// The cause.
        #[source]
        source: KeySetError,
    },
    /// Keys could not be fetched with these settings.
    #[error("keys cannot be fetched over the network")]
    Outbound(#[source] OutboundError),
    /// The key to mint with cannot be used.
    #[error("the key {path} cannot be minted with")]
    Minting {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: MintError,
    },
    /// The issuer of the key to mint with is trusted with other keys.
    #[error(
        "the issuer {iss} is trusted with keys among which the one of `auth.minting.key` is not: \
         write its keys again, or make a key of another issuer for the server"
    )]
    NotAmong {
        /// Which issuer.
        iss: String,
    },
    /// An operator could be named by any of several issuers.
    #[error(
        "the operator {operator} is named without an issuer, and several issuers are trusted: write \
         ISSUER={operator} in `auth.operators`"
    )]
    OperatorWithoutIssuer {
        /// `TENANT/ACTOR`.
        operator: String,
    },
    /// The settings name an issuer that nobody trusts.
    #[error(
        "`{key}` names the issuer {iss}, which is not trusted: trust its keys, or correct the name"
    )]
    UnknownIssuer {
        /// The setting.
        key: &'static str,
        /// The issuer.
        iss: String,
    },
    /// Nobody would be let in.
    #[error(
        "no issuer is trusted, so nobody could call: name the keys of one with --trust KEYS.json \
         (`lamina-issuer keys --dir DIR` prints them), --trust URL or `auth.jwks`, or have this server mint with `auth.minting.key`"
    )]
    Nobody,
}

impl Trust {
    /// Loads the keys the configuration names. Those on the network are fetched once
    /// [`Trust::keep`] runs.
    pub fn load(
        config: &AuthConfig,
        outbound: &OutboundConfig,
        own: Option<Own>,
        env: &Env,
    ) -> Result<Trust, TrustError> {
        let mut remotes = BTreeMap::new();
        if !config.remote.is_empty() {
            let client = client(outbound, &*env.disk)?;
            for (iss, source) in &config.remote {
                let remote =
                    Remote::new(iss, source.clone(), client.clone(), Arc::clone(&env.clock));
                if remotes.insert(iss.clone(), Arc::new(remote)).is_some() {
                    let source = KeySetError::IssuerTwice { iss: iss.clone() };
                    return Err(TrustError::Issuer { iss: iss.clone(), source });
                }
            }
        }
        let keys = keys(config, &remotes, own.as_ref(), &*env.disk)?;
        let issuers = keys.issuers().count();
        if issuers == 0 {
            return Err(TrustError::Nobody);
        }
        // With one issuer it is clear whose tokens are meant.
        let nameless = config.operators.iter().find(|named| named.issuer.is_none());
        if let (Some(named), true) = (nameless, issuers > 1) {
            let operator = format!("{}/{}", named.tenant, named.actor);
            return Err(TrustError::OperatorWithoutIssuer { operator });
        }
        if issuers > 1 {
            for iss in keys.issuers().filter(|iss| keys.is_unbound(iss)) {
                tracing::warn!(
                    issuer = iss,
                    "the issuer is believed for every tenant; name its tenants in auth.issuers"
                );
            }
        }
        Ok(Trust {
            held: RwLock::new(Arc::new(Held { keys, version: 1 })),
            changing: Mutex::default(),
            remotes,
            config: config.clone(),
        })
    }

    /// Reads the files again; on an error the keys of before stay in force.
    pub(super) fn reload(&self, disk: &dyn Disk, own: Option<Own>) -> Result<(), TrustError> {
        let _turn = self.changing.lock();
        self.put(keys(&self.config, &self.remotes, own.as_ref(), disk)?);
        Ok(())
    }

    /// Starts a task for each issuer whose keys are fetched.
    pub(super) fn keep(self: &Arc<Trust>, tasks: &mut JoinSet<()>) {
        for remote in self.remotes.values() {
            let (trust, remote) = (Arc::clone(self), Arc::clone(remote));
            tasks.spawn(async move { remote.keep(|text| trust.take(&remote.iss, text)).await });
        }
    }

    /// What an operator should look at. Which issuer it is stands in the log: tenants see this, and
    /// whom others trust is not theirs to know.
    pub(super) fn complaints(&self) -> impl Iterator<Item = String> {
        let none = "the keys of an issuer could not be fetched; the log says which";
        let old =
            "the keys of an issuer could not be renewed for more than a day; the log says which";
        let stale = self.remotes.values().filter(|remote| remote.is_stale());
        let reasons: BTreeSet<&str> =
            stale.map(|remote| if remote.text().is_some() { old } else { none }).collect();
        reasons.into_iter().map(str::to_owned)
    }

    /// The keys in force.
    pub(super) fn held(&self) -> Arc<Held> {
        Arc::clone(&self.held.read())
    }

    /// Checks a token; one that names a key which is not known may be worth fetching keys for.
    pub(super) async fn verify(
        &self,
        token: &str,
        now: Micros,
    ) -> Result<VerifiedToken, TokenError> {
        let first = verify_office(token, &self.held().keys, now);
        let Err(TokenError::UnknownKid { iss, .. }) = &first else { return first };
        let Some(remote) = self.remotes.get(iss) else { return first };
        if remote.ask().await {
            let second = verify_office(token, &self.held().keys, now);
            if !matches!(second, Err(TokenError::UnknownKid { .. })) {
                return second;
            }
        }
        if self.held().keys.has_keys(iss) { first } else { Err(TokenError::KeysUnavailable) }
    }

    /// Whether the configuration names an actor an operator, whoever issues its tokens.
    pub(super) fn is_operator(&self, tenant: &str, actor: &ActorId) -> bool {
        names(&self.config.operators, None, tenant, actor)
    }

    /// Whether a tenant has an administrator by name, or may have one by a claim.
    pub(super) fn has_administrator(&self, tenant: &str) -> bool {
        let AuthConfig { operators, tenant_admins, admin_claims, issuer_tenants, .. } =
            &self.config;
        let named = operators.iter().chain(tenant_admins).any(|named| named.tenant == tenant);
        named
            || admin_claims.iter().any(|(iss, _)| {
                let mut bound = issuer_tenants.iter().filter(|(bound, _)| bound == iss).peekable();
                bound.peek().is_none() || bound.any(|(_, name)| name.as_str() == tenant)
            })
    }

    /// A caller with the offices that the configuration gives it: those of the issuer of its token, or of any
    /// issuer if it has none.
    pub(super) fn named_caller(&self, tenant: &str, caller: Caller) -> Caller {
        let grant = caller.grant.clone();
        self.with_offices(grant.as_ref().map(|grant| grant.iss.as_str()), tenant, caller)
    }

    /// The actors that act for the persons of a tenant, whoever issues their tokens.
    pub(super) fn delegates(&self, tenant: &str) -> Vec<ActorId> {
        let named = self.config.delegates.iter().filter(|named| named.tenant == tenant);
        named.map(|named| named.actor.clone()).collect()
    }

    /// The caller of a verified token, with the offices that the configuration gives it.
    pub(super) fn caller(&self, token: &VerifiedToken, tenant: u32, grant: Arc<Grant>) -> Caller {
        let claims = &token.claims;
        let plain = Caller { grant: Some(grant), ..Caller::plain(claims.sub.clone(), tenant) };
        let caller = self.with_offices(Some(&claims.iss), claims.tenant.as_str(), plain);
        let administrator = caller.administrator || token.administrator;
        Caller { administrator, ..caller }
    }

    fn with_offices(&self, iss: Option<&str>, tenant: &str, caller: Caller) -> Caller {
        let named = |list: &[NamedActor]| names(list, iss, tenant, &caller.actor);
        let operator = named(&self.config.operators);
        let administrator = operator || named(&self.config.tenant_admins);
        let delegate = named(&self.config.delegates);
        Caller { operator, administrator, delegate, ..caller }
    }

    /// Puts a fetched key set into force, in place of the one of before.
    fn take(&self, iss: &str, text: &str) -> Result<(), FetchError> {
        let _turn = self.changing.lock();
        let mut keys = self.held().keys.clone();
        let loaded = keys.set_jwks(iss, text)?;
        if loaded.keys == 0 {
            return Err(FetchError::NoKeys);
        }
        self.put(keys);
        tracing::info!(issuer = iss, keys = loaded.keys, ignored = loaded.ignored, "new keys");
        Ok(())
    }

    fn put(&self, keys: KeySet) {
        let mut held = self.held.write();
        *held = Arc::new(Held { keys, version: held.version + 1 });
    }
}

fn client(outbound: &OutboundConfig, disk: &dyn Disk) -> Result<Client, TrustError> {
    let own = outbound.ca.as_ref().map(|path| bytes(disk, path)).transpose()?;
    let roots = own.as_deref().map_or(Roots::System, Roots::SystemAnd);
    Client::new(roots, FETCH).map_err(TrustError::Outbound)
}

/// The keys of all files, our own, and those that were fetched so far.
fn keys(
    config: &AuthConfig,
    remotes: &BTreeMap<String, Arc<Remote>>,
    own: Option<&Own>,
    disk: &dyn Disk,
) -> Result<KeySet, TrustError> {
    let mut keys = KeySet::new();
    for path in &config.trust {
        let text = text(disk, path)?;
        let added = keys.add_trust_file(&text);
        added.map_err(|source| TrustError::Keys { path: path.clone(), source })?;
    }
    for (iss, path) in &config.jwks {
        let text = text(disk, path)?;
        let added = keys.set_jwks(iss, &text);
        added.map_err(|source| TrustError::Keys { path: path.clone(), source })?;
    }
    match own {
        Some(Own { iss, key, .. }) if keys.has_key(iss, &key.kid) => {}
        Some(Own { iss, .. }) if keys.trusts(iss) => {
            return Err(TrustError::NotAmong { iss: iss.clone() });
        }
        Some(Own { iss, key, .. }) => {
            let added = keys.add_trust_file(&trust_file(iss, std::slice::from_ref(key)));
            added.map_err(|source| TrustError::Issuer { iss: iss.clone(), source })?;
        }
        None => {}
    }
    if let Some(Own { iss, life_us_max, .. }) = own {
        keys.let_live(iss, *life_us_max);
    }
    for (iss, remote) in remotes {
        let refused = |source| TrustError::Issuer { iss: iss.clone(), source };
        keys.add_jwks_issuer(iss).map_err(refused)?;
        if let Some(text) = remote.text() {
            keys.set_jwks(iss, &text).map_err(refused)?;
        }
    }
    bind(config, &mut keys)?;
    if let Some(claim) = &config.session_claim {
        keys.name_session_claim(claim.clone());
    }
    Ok(keys)
}

/// Whether a list names an actor; without an issuer, for the tokens of any issuer.
fn names(list: &[NamedActor], iss: Option<&str>, tenant: &str, actor: &ActorId) -> bool {
    list.iter().any(|named| {
        let by_issuer =
            named.issuer.as_deref().is_none_or(|issuer| iss.is_none_or(|iss| iss == issuer));
        by_issuer && named.tenant == tenant && named.actor == *actor
    })
}

/// Says for which tenants issuers are believed, and which of their claims make administrators.
fn bind(config: &AuthConfig, keys: &mut KeySet) -> Result<(), TrustError> {
    let known = |key, iss: &String, keys: &KeySet| match keys.trusts(iss) {
        true => Ok(()),
        false => Err(TrustError::UnknownIssuer { key, iss: iss.clone() }),
    };
    let mut tenants: BTreeMap<&String, BTreeSet<TenantName>> = BTreeMap::new();
    for (iss, tenant) in &config.issuer_tenants {
        known("auth.issuer_tenants", iss, keys)?;
        tenants.entry(iss).or_default().insert(tenant.clone());
    }
    for (iss, tenants) in tenants {
        keys.bind_tenants(iss, tenants);
    }
    for (iss, claim) in &config.admin_claims {
        known("auth.admin_claims", iss, keys)?;
        keys.name_admin_claim(iss, claim.clone());
    }
    let offices = [
        ("auth.operators", &config.operators),
        ("auth.tenant_admins", &config.tenant_admins),
        ("auth.delegates", &config.delegates),
    ];
    for (key, named) in offices {
        for iss in named.iter().filter_map(|named| named.issuer.as_ref()) {
            known(key, iss, keys)?;
        }
    }
    Ok(())
}

fn bytes(disk: &dyn Disk, path: &Path) -> Result<Vec<u8>, TrustError> {
    read_file(disk, path, KEY_FILE_BYTES_MAX)
        .map_err(|source| TrustError::Unreadable { path: path.to_owned(), source })
}

fn text(disk: &dyn Disk, path: &Path) -> Result<String, TrustError> {
    String::from_utf8(bytes(disk, path)?).map_err(|error| {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error());
        TrustError::Unreadable { path: path.to_owned(), source }
    })
}
