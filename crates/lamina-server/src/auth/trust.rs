//! Whose tokens are believed: the keys of issuers, from files, and the list of operators.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_auth::{Claims, KeySet, KeySetError, TokenError, verify};
use lamina_env::Disk;
use lamina_env::disk::read_file;
use lamina_types::{ActorId, Micros};
use parking_lot::RwLock;

use crate::config::AuthConfig;

/// Bytes of a file of keys.
const KEY_FILE_BYTES_MAX: u64 = 1 << 20;

/// Whose tokens are believed.
#[derive(Debug)]
pub struct Trust {
    keys: RwLock<Arc<KeySet>>,
    operators: BTreeSet<(String, ActorId)>,
    config: AuthConfig,
}

/// Why keys could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The file could not be read.
    #[error("the keys in {path} could not be read")]
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
    /// Nobody would be let in.
    #[error(
        "no issuer is trusted, so nobody could call: name the keys of one with --trust KEYS.json \
         (`lamina-issuer keys --dir DIR` prints them) or `auth.jwks`"
    )]
    Nobody,
}

impl Trust {
    /// Loads the keys the configuration names.
    pub fn load(config: &AuthConfig, disk: &dyn Disk) -> Result<Trust, TrustError> {
        let keys = keys(config, disk)?;
        if keys.issuers().next().is_none() {
            return Err(TrustError::Nobody);
        }
        Ok(Trust {
            keys: RwLock::new(Arc::new(keys)),
            operators: config.operators.iter().cloned().collect(),
            config: config.clone(),
        })
    }

    /// Loads the keys again; on an error those of before stay in force.
    pub fn reload(&self, disk: &dyn Disk) -> Result<(), TrustError> {
        *self.keys.write() = Arc::new(keys(&self.config, disk)?);
        Ok(())
    }

    pub(crate) fn verify(&self, token: &str, now: Micros) -> Result<Claims, TokenError> {
        let keys = Arc::clone(&self.keys.read());
        verify(token, &keys, now)
    }

    pub(crate) fn is_operator(&self, tenant: &str, actor: &ActorId) -> bool {
        self.operators.contains(&(tenant.to_owned(), actor.clone()))
    }
}

fn keys(config: &AuthConfig, disk: &dyn Disk) -> Result<KeySet, TrustError> {
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
    Ok(keys)
}

fn text(disk: &dyn Disk, path: &Path) -> Result<String, TrustError> {
    let unreadable = |source| TrustError::Unreadable { path: path.to_owned(), source };
    let bytes = read_file(disk, path, KEY_FILE_BYTES_MAX).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|error| {
        unreadable(std::io::Error::new(std::io::ErrorKind::InvalidData, error.utf8_error()))
    })
}
