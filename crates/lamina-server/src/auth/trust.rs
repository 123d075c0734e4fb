//! Whose tokens are believed: the keys of issuers, from files and over the network, and the list of
//! operators.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lamina_auth::{
    Claims, KeySet, KeySetError, MintError, Minter, PublicKey, TokenError, trust_file, verify,
};
use lamina_env::disk::read_file;
use lamina_env::{Disk, Env};
use lamina_outbound::{Bounds, Client, Error as OutboundError, Roots};
use lamina_types::{ActorId, Micros};
use parking_lot::{Mutex, RwLock};
use tokio::task::JoinSet;

use super::fetch::FetchError;
use super::remote::Remote;
use crate::config::{AuthConfig, OutboundConfig};

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
    operators: BTreeSet<(String, ActorId)>,
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
        if keys.issuers().next().is_none() {
            return Err(TrustError::Nobody);
        }
        Ok(Trust {
            held: RwLock::new(Arc::new(Held { keys, version: 1 })),
            changing: Mutex::default(),
            remotes,
            operators: config.operators.iter().cloned().collect(),
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
    pub(super) async fn verify(&self, token: &str, now: Micros) -> Result<Claims, TokenError> {
        let first = verify(token, &self.held().keys, now);
        let Err(TokenError::UnknownKid { iss, .. }) = &first else { return first };
        let Some(remote) = self.remotes.get(iss) else { return first };
        if remote.ask().await {
            let second = verify(token, &self.held().keys, now);
            if !matches!(second, Err(TokenError::UnknownKid { .. })) {
                return second;
            }
        }
        if self.held().keys.has_keys(iss) { first } else { Err(TokenError::KeysUnavailable) }
    }

    pub(super) fn is_operator(&self, tenant: &str, actor: &ActorId) -> bool {
        self.operators.contains(&(tenant.to_owned(), actor.clone()))
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
    Ok(keys)
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
