//! Peppers: the secrets that bodies and headers are hashed with, one for each tenant and quarter.
//!
//! A hash in an audit row proves that a body was the one that was sent, and tells nothing to who
//! does not have the pepper. An old pepper is kept for as long as a row may be asked about, and
//! goes after that. Its file is `keys/pepper-<tenant>-<version>-<made at>`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::{Disk, Rng};
use lamina_types::Micros;
use parking_lot::RwLock;

use crate::keys::{Files, KeyError, KeyedHash, Pieces};

const PREFIX: &str = "pepper-";

/// One pepper.
#[derive(Debug, Clone)]
pub struct Pepper {
    /// Its number for the tenant, from 1.
    pub version: u32,
    /// When it was made.
    pub made_at: Micros,
    keyed: KeyedHash,
}

impl Pepper {
    /// The hash of a body.
    pub fn body(&self, bytes: &[u8]) -> [u8; 32] {
        let mut pieces = self.body_pieces();
        pieces.add(bytes);
        pieces.finish()
    }

    /// The same hash, of a body that is not in memory as a whole.
    pub fn body_pieces(&self) -> Pieces {
        self.keyed.pieces("audit.body")
    }

    /// The hash of headers, as the caller has put them in order.
    pub fn headers(&self, bytes: &[u8]) -> [u8; 32] {
        self.keyed.mac("audit.headers", &[bytes])
    }

    fn file_name(&self, tenant: u32) -> String {
        file_name(tenant, self.version, self.made_at)
    }
}

/// The peppers of all tenants.
pub struct Peppers {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    rng: Arc<dyn Rng>,
    /// By tenant, oldest first.
    known: RwLock<BTreeMap<u32, Vec<Pepper>>>,
}

impl fmt::Debug for Peppers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peppers").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl Peppers {
    /// Reads the peppers among the keys in `dir`.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path, rng: Arc<dyn Rng>) -> Result<Peppers, KeyError> {
        let mut known: BTreeMap<u32, Vec<Pepper>> = BTreeMap::new();
        let names = disk.list(dir).map_err(|source| KeyError::Io {
            doing: "listing",
            name: "directory".to_owned(),
            source,
        })?;
        let files = Files { disk: &*disk, dir, rng: &*rng };
        for name in names {
            if let Some((tenant, version, made_at)) = parse_name(&name) {
                let keyed = KeyedHash::new(files.read(&name)?);
                known.entry(tenant).or_default().push(Pepper { version, made_at, keyed });
            }
        }
        known.values_mut().for_each(|peppers| peppers.sort_by_key(|pepper| pepper.version));
        Ok(Peppers { dir: dir.to_owned(), disk, rng, known: RwLock::new(known) })
    }

    /// The pepper a tenant hashes with now. Made if there is none, or if the last one is older than
    /// the period; durable when it returns.
    pub fn current(&self, tenant: u32, now: Micros, period_us: i64) -> Result<Pepper, KeyError> {
        let due = |pepper: &Pepper| now.0.saturating_sub(pepper.made_at.0) >= period_us.max(1);
        let newest = |known: &BTreeMap<u32, Vec<Pepper>>| {
            known.get(&tenant).and_then(|peppers| peppers.last()).cloned()
        };
        if let Some(pepper) = newest(&self.known.read()).filter(|pepper| !due(pepper)) {
            return Ok(pepper);
        }
        let mut known = self.known.write();
        // Somebody else may have made it meanwhile.
        let last = newest(&known);
        if let Some(pepper) = last.clone().filter(|pepper| !due(pepper)) {
            return Ok(pepper);
        }
        let version = last.map_or(0, |last| last.version).saturating_add(1);
        let files = Files { disk: &*self.disk, dir: &self.dir, rng: &*self.rng };
        let key = files.create(&file_name(tenant, version, now))?;
        let pepper = Pepper { version, made_at: now, keyed: KeyedHash::new(key) };
        known.entry(tenant).or_default().push(pepper.clone());
        Ok(pepper)
    }

    /// The tenants that have one.
    pub fn tenants(&self) -> Vec<u32> {
        self.known.read().keys().copied().collect()
    }

    /// A pepper of a tenant by its version; `None` if it is gone or never was.
    pub fn version(&self, tenant: u32, version: u32) -> Option<Pepper> {
        let known = self.known.read();
        known.get(&tenant)?.iter().find(|pepper| pepper.version == version).cloned()
    }

    /// Removes the peppers of a tenant that were replaced so long ago that no row made with them
    /// can be asked about. Gives how many.
    pub fn expire(&self, tenant: u32, now: Micros, keep_us: i64) -> Result<usize, KeyError> {
        let mut known = self.known.write();
        let Some(peppers) = known.get_mut(&tenant) else { return Ok(0) };
        let replaced_at = peppers.iter().skip(1).map(|next| next.made_at);
        let old = replaced_at.take_while(|at| at.plus(keep_us.max(0)) <= now).count();
        for pepper in peppers.drain(..old) {
            let name = pepper.file_name(tenant);
            let removed = self.disk.remove(&self.dir.join(&name));
            removed.map_err(|source| KeyError::Io { doing: "removing", name, source })?;
        }
        if old > 0 {
            self.disk.sync_dir(&self.dir).map_err(|source| KeyError::Io {
                doing: "removing",
                name: "directory".to_owned(),
                source,
            })?;
        }
        Ok(old)
    }
}

fn file_name(tenant: u32, version: u32, made_at: Micros) -> String {
    format!("{PREFIX}{tenant}-{version}-{}", made_at.0)
}

/// Tenant, version and instant of a pepper's file; `None` for other files.
fn parse_name(name: &str) -> Option<(u32, u32, Micros)> {
    let mut parts = name.strip_prefix(PREFIX)?.splitn(3, '-');
    let (tenant, version) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let made_at = Micros(parts.next()?.parse().ok()?);
    (file_name(tenant, version, made_at) == name).then_some((tenant, version, made_at))
}

#[cfg(test)]
mod tests;
