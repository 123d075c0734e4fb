//! The secrets of a data directory: one small file each, readable by its owner only.
//!
//! ```text
//! lamina-key v1 <purpose> <hex>
//! ```
//!
//! `log-signing` signs checkpoints, `cursor-mac` guards page cursors, `tenant-<ordinal>` makes
//! keyed hashes for one tenant. A key is made once; if one is missing for a log that exists, that
//! is an error that says what is lost, never a reason to make a new one.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use hmac::{Hmac, KeyInit, Mac};
use lamina_env::disk::{read_file, write_atomic};
use lamina_env::rng::draw;
use lamina_env::{Disk, Rng};
use lamina_types::stdx::hex;
use parking_lot::RwLock;
use sha2::Sha256;
use zeroize::Zeroizing;

const LOG_SIGNING: &str = "log-signing";
const CURSOR_MAC: &str = "cursor-mac";
const TENANT: &str = "tenant-";
const KEY_FILE_BYTES_MAX: u64 = 1_024;

/// Why the keys could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Someone other than the owner may read the file.
    #[error(
        "the key file {name} has mode {mode:o} and can be read or changed by others; run: chmod 600 {name}"
    )]
    Exposed {
        /// The file.
        name: String,
        /// Its permission bits.
        mode: u32,
    },
    /// Someone other than the owner may put files in the directory.
    #[error(
        "the directory of keys {} has mode {mode:o} and others can put keys into it; run: chmod 700 {}",
        dir.display(),
        dir.display()
    )]
    Open {
        /// The directory.
        dir: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The file does not hold a key of this purpose.
    #[error("the key file {name} is not `lamina-key v1 {name} <64 hex digits>`")]
    Malformed {
        /// The file.
        name: String,
    },
    /// The log exists but this key does not.
    #[error("the key {name} is missing although the log exists; without it {lost}")]
    Missing {
        /// The key.
        name: String,
        /// What cannot be done any more.
        lost: &'static str,
    },
    /// The file holds another key than the one that the log was written with.
    #[error(
        "the key file {name} holds another key than the one that this log was written with; put back {name} from a \
         backup of this directory (`lamina backup` keeps it). Nothing was changed"
    )]
    Swapped {
        /// The file.
        name: String,
    },
    /// The disk answered with an error.
    #[error("the disk failed while {doing} the key {name}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The key.
        name: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl KeyError {
    /// The file of a tenant's key holds another key.
    pub fn swapped(ordinal: u32) -> KeyError {
        KeyError::Swapped { name: format!("{TENANT}{ordinal}") }
    }
}

/// All keys of a data directory.
pub struct Keys {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    rng: Arc<dyn Rng>,
    signing: SigningKey,
    cursor: KeyedHash,
    tenants: RwLock<BTreeMap<u32, KeyedHash>>,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Keys {
    /// Reads the keys in `dir`. Missing ones are made only if the log is `fresh`: it has no
    /// segment yet.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        rng: Arc<dyn Rng>,
        fresh: bool,
    ) -> Result<Keys, KeyError> {
        let io = |doing, source| KeyError::Io { doing, name: "directory".to_owned(), source };
        if fresh {
            disk.create_dir_all(dir).map_err(|e| io("making", e))?;
        }
        // A directory without a mode is one of the simulator.
        if let Some(mode) = disk.mode(dir).ok().filter(|mode| mode & 0o022 != 0) {
            return Err(KeyError::Open { dir: dir.to_owned(), mode });
        }
        let files = Files { disk: &*disk, dir, rng: &*rng };
        let signing = files.get(
            LOG_SIGNING,
            fresh,
            "no checkpoint can be signed that those who verified earlier ones would accept",
        )?;
        let cursor =
            files.get(CURSOR_MAC, fresh, "no page cursor that was handed out can be continued")?;
        let mut tenants = BTreeMap::new();
        let names = if disk.exists(dir) {
            disk.list(dir).map_err(|e| io("listing", e))?
        } else {
            Vec::new()
        };
        for name in names {
            let ordinal = name.strip_prefix(TENANT).and_then(|n| n.parse::<u32>().ok());
            if let Some(ordinal) = ordinal {
                tenants.insert(ordinal, KeyedHash::new(files.read(&name)?));
            }
        }
        Ok(Keys {
            signing: SigningKey::from_bytes(&signing),
            cursor: KeyedHash::new(cursor),
            tenants: RwLock::new(tenants),
            dir: dir.to_owned(),
            disk,
            rng,
        })
    }

    /// The key of a tenant that exists.
    pub fn tenant(&self, ordinal: u32) -> Result<KeyedHash, KeyError> {
        let found = self.tenants.read().get(&ordinal).cloned();
        found.ok_or_else(|| KeyError::Missing {
            name: format!("{TENANT}{ordinal}"),
            lost: "its scopes, labels and idempotency keys cannot be found by their keyed hashes",
        })
    }

    /// The key of a tenant that is about to be made; the one it has if it was made before. Durable
    /// when it returns.
    pub fn create_tenant(&self, ordinal: u32) -> Result<KeyedHash, KeyError> {
        let mut tenants = self.tenants.write();
        if let Some(key) = tenants.get(&ordinal) {
            return Ok(key.clone());
        }
        let files = Files { disk: &*self.disk, dir: &self.dir, rng: &*self.rng };
        let key = KeyedHash::new(files.create(&format!("{TENANT}{ordinal}"))?);
        tenants.insert(ordinal, key.clone());
        Ok(key)
    }

    /// Compares the key of a tenant with its check value in the log.
    pub fn verify_tenant(&self, ordinal: u32, key_check: &[u8; 16]) -> Result<(), KeyError> {
        match self.tenant(ordinal)?.check_value() == *key_check {
            true => Ok(()),
            false => Err(KeyError::swapped(ordinal)),
        }
    }

    /// The key of page cursors.
    pub fn cursor(&self) -> KeyedHash {
        self.cursor.clone()
    }

    /// The key that signs checkpoints.
    pub fn signing(&self) -> &SigningKey {
        &self.signing
    }

    /// The public half of the key that signs checkpoints.
    pub fn public(&self) -> [u8; 32] {
        self.signing.verifying_key().to_bytes()
    }
}

/// A secret that makes keyed hashes (HMAC-SHA-256).
#[derive(Clone)]
pub struct KeyedHash {
    key: Arc<Zeroizing<[u8; 32]>>,
}

impl fmt::Debug for KeyedHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyedHash")
    }
}

impl KeyedHash {
    /// The keyed hash of this secret.
    pub fn new(key: Zeroizing<[u8; 32]>) -> KeyedHash {
        KeyedHash { key: Arc::new(key) }
    }

    /// A value that stands in the log and tells this key from every other one, and says nothing of it.
    pub fn check_value(&self) -> [u8; 16] {
        let mac = self.mac("key check", &[]);
        std::array::from_fn(|at| mac.get(at).copied().unwrap_or_default())
    }

    /// The hash of some parts under a label. Label and parts are prefixed with their lengths, so
    /// that no two lists of parts hash alike.
    pub fn mac(&self, label: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_slice())
            .expect("HMAC takes keys of any length");
        for part in std::iter::once(label.as_bytes()).chain(parts.iter().copied()) {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// The hash of one long text under a label, piece by piece. Only the label is prefixed with its
    /// length: how long the text is may not be known before its end.
    pub fn pieces(&self, label: &str) -> Pieces {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_slice())
            .expect("HMAC takes keys of any length");
        mac.update(&(label.len() as u64).to_le_bytes());
        mac.update(label.as_bytes());
        Pieces(mac)
    }
}

/// A hash that takes its text in pieces.
#[derive(Clone)]
pub struct Pieces(Hmac<Sha256>);

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pieces")
    }
}

impl Pieces {
    /// The next piece.
    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all of them.
    pub fn finish(self) -> [u8; 32] {
        self.0.finalize().into_bytes().into()
    }
}

/// Key files in a directory.
pub(crate) struct Files<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) dir: &'a Path,
    pub(crate) rng: &'a dyn Rng,
}

impl Files<'_> {
    /// The key, made now if it may be.
    fn get(
        &self,
        name: &str,
        fresh: bool,
        lost: &'static str,
    ) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        if self.disk.exists(&self.dir.join(name)) {
            return self.read(name);
        }
        if !fresh {
            return Err(KeyError::Missing { name: name.to_owned(), lost });
        }
        self.create(name)
    }

    pub(crate) fn read(&self, name: &str) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let path = self.dir.join(name);
        let io = |source| KeyError::Io { doing: "reading", name: name.to_owned(), source };
        let mode = self.disk.mode(&path).map_err(io)?;
        if mode & 0o077 != 0 {
            return Err(KeyError::Exposed { name: name.to_owned(), mode });
        }
        let bytes = Zeroizing::new(read_file(self.disk, &path, KEY_FILE_BYTES_MAX).map_err(io)?);
        std::str::from_utf8(&bytes)
            .ok()
            .and_then(|text| parse(text, name))
            .ok_or_else(|| KeyError::Malformed { name: name.to_owned() })
    }

    pub(crate) fn create(&self, name: &str) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let key = Zeroizing::new(draw::<32>(self.rng));
        let digits = Zeroizing::new(hex::encode(key.as_slice()));
        let text = Zeroizing::new(format!("lamina-key v1 {name} {}\n", digits.as_str()));
        write_atomic(self.disk, &self.dir.join(name), text.as_bytes())
            .map_err(|source| KeyError::Io { doing: "writing", name: name.to_owned(), source })?;
        Ok(key)
    }
}

/// The key in a file's text, if the text is exactly what we write for this purpose.
fn parse(text: &str, purpose: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits = text
        .strip_suffix('\n')?
        .strip_prefix("lamina-key v1 ")?
        .strip_prefix(purpose)?
        .strip_prefix(' ')?;
    hex::decode_array(digits).map(Zeroizing::new)
}

#[cfg(test)]
mod tests;
