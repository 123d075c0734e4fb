//! One issuer in its directory: the key that signs, and the ledger.
//!
//! ```text
//! DIR/issuer.db   which keys, which tokens
//! DIR/key-N       the secret half of the current key, number N in the ledger
//! ```
//!
//! The ledger decides which key is current. A key file without a row was left by a crash, before
//! anything was signed with it.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use lamina_auth::{Claims, MintError, Minter, PublicKey};
use lamina_env::disk::make_private;
use lamina_env::rng::draw;
use lamina_env::{Disk, Env};
use lamina_types::stdx::hex;
use lamina_types::{ActorId, Micros, ScopePrefix, TenantName, TokenId};

use crate::exit::{Exit, Failure};
use crate::ledger::{CurrentKey, FIRST_KEY, Ledger, Minted};

const LEDGER: &str = "issuer.db";
const KEY: &str = "key-";
const SECOND_US: i64 = 1_000_000;

#[derive(Debug)]
pub(crate) struct Issuer<'a> {
    env: &'a Env,
    dir: PathBuf,
    ledger: Ledger,
}

/// What a token should say.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) sub: ActorId,
    pub(crate) tenant: TenantName,
    pub(crate) ttl_s: u32,
    /// Empty: the token is not narrowed.
    pub(crate) caps: Vec<String>,
    pub(crate) scopes: Vec<(String, ScopePrefix)>,
}

impl<'a> Issuer<'a> {
    /// Makes an issuer in a directory that has none.
    pub(crate) fn init(env: &'a Env, dir: &Path, iss: Option<&str>) -> Result<Issuer<'a>, Failure> {
        let random = format!("urn:lamina:issuer:{}", hex::encode(&draw::<8>(&*env.rng)));
        let minter = Minter::generate(iss.unwrap_or(&random), &*env.rng).map_err(key_failed)?;
        prepare_dir(&*env.disk, dir)?;
        let path = dir.join(LEDGER);
        if !env.disk.exists(&path) {
            // Before SQLite makes it with the permissions of everything else.
            env.disk.create_new(&path).map_err(|error| cannot("make", &path, error))?;
        }
        let mut ledger = Ledger::open(&path)?;
        let now = env.clock.wall();
        let made = ledger.create(minter.iss(), minter.public(), now, || {
            minter.save(&*env.disk, &key_path(dir, FIRST_KEY)).map_err(key_failed)
        })?;
        if !made {
            let error = anyhow!("{} is an issuer already", dir.display());
            return Err(Failure::usage(error).with_help("`rotate` makes a new key for it"));
        }
        Ok(Issuer { env, dir: dir.to_owned(), ledger })
    }

    /// Opens an issuer that was made before.
    pub(crate) fn open(env: &'a Env, dir: &Path) -> Result<Issuer<'a>, Failure> {
        let path = dir.join(LEDGER);
        let not_one = || {
            let error = anyhow!("{} is not the directory of an issuer", dir.display());
            Failure::unreadable(error)
                .with_help(format!("make one: lamina-issuer init --dir {}", dir.display()))
        };
        if !env.disk.exists(&path) {
            return Err(not_one());
        }
        check_mode(&*env.disk, dir)?;
        let ledger = Ledger::open(&path)?;
        if !ledger.is_ready()? {
            return Err(not_one());
        }
        Ok(Issuer { env, dir: dir.to_owned(), ledger })
    }

    pub(crate) fn iss(&self) -> Result<String, Failure> {
        self.ledger.iss()
    }

    pub(crate) fn kid(&self) -> Result<String, Failure> {
        Ok(self.ledger.current_key()?.kid)
    }

    /// Makes a token: on record first, then handed out.
    pub(crate) fn mint(&mut self, order: Order) -> Result<String, Failure> {
        let Order { sub, tenant, ttl_s, caps, scopes } = order;
        let minter = self.minter()?;
        let now = self.env.clock.wall();
        let iat = Micros(now.0 - now.0.rem_euclid(SECOND_US));
        let claims = Claims {
            iss: minter.iss().to_owned(),
            sub,
            tenant,
            exp: iat.plus(i64::from(ttl_s) * SECOND_US),
            iat,
            jti: TokenId::mint(now, draw(&*self.env.rng)).to_string(),
            deployment: None,
            caps: (!caps.is_empty()).then(|| caps.into_iter().collect()),
            scopes,
        };
        let token = minter.mint(&claims).map_err(key_failed)?;
        self.ledger.record(&claims, &minter.public().kid)?;
        Ok(token)
    }

    /// The keys that servers should trust, the current one first.
    pub(crate) fn published(&self) -> Result<Vec<PublicKey>, Failure> {
        self.ledger.published(self.env.clock.wall())
    }

    pub(crate) fn tokens(&self) -> Result<Vec<Minted>, Failure> {
        self.ledger.tokens()
    }

    pub(crate) fn revoke(&mut self, jti: &str, reason: Option<&str>) -> Result<Minted, Failure> {
        let found = self.ledger.revoke(jti, reason, self.env.clock.wall())?;
        found.ok_or_else(|| {
            let error = anyhow!("this issuer has made no token with this id");
            Failure::usage(error).with_help("`list --all` shows the ids")
        })
    }

    /// Makes a new key the current one and removes the secret half of the old one.
    pub(crate) fn rotate(&mut self) -> Result<String, Failure> {
        let minter = Minter::generate(&self.ledger.iss()?, &*self.env.rng).map_err(key_failed)?;
        let (disk, dir) = (&*self.env.disk, &self.dir);
        let current = self.ledger.rotate(minter.public(), self.env.clock.wall(), |number| {
            minter.save(disk, &key_path(dir, number)).map_err(key_failed)
        })?;
        self.remove_old_keys(current)?;
        Ok(minter.public().kid.clone())
    }

    /// Removes the secrets of every key but this one, also what a crash left behind.
    fn remove_old_keys(&self, current: i64) -> Result<(), Failure> {
        let disk = &*self.env.disk;
        let names = disk.list(&self.dir).map_err(|error| cannot("list", &self.dir, error))?;
        for name in names {
            let number = name.strip_prefix(KEY).and_then(|number| number.parse::<i64>().ok());
            if number.is_some_and(|number| number < current) {
                let path = self.dir.join(name);
                disk.remove(&path).map_err(|error| cannot("remove", &path, error))?;
            }
        }
        disk.sync_dir(&self.dir).map_err(|error| cannot("sync", &self.dir, error))
    }

    /// The current key, which must be the one the ledger names.
    fn minter(&self) -> Result<Minter, Failure> {
        let CurrentKey { number, kid } = self.ledger.current_key()?;
        let minter =
            Minter::load(&*self.env.disk, &key_path(&self.dir, number)).map_err(key_failed)?;
        if minter.public().kid != kid || minter.iss() != self.ledger.iss()? {
            let error = anyhow!("the key file {KEY}{number} is not the key that the record names");
            let help = "put the right file back, or make a new key with `rotate`";
            return Err(Failure::new(Exit::Damage, error).with_help(help));
        }
        Ok(minter)
    }
}

fn key_path(dir: &Path, number: i64) -> PathBuf {
    dir.join(format!("{KEY}{number}"))
}

/// A directory for its owner only. An empty one that is there is made so; one with other things in
/// it is left as it is, since others may need them.
fn prepare_dir(disk: &dyn Disk, dir: &Path) -> Result<(), Failure> {
    if !disk.exists(dir) {
        return disk.create_dir_all(dir).map_err(|error| cannot("make", dir, error));
    }
    let names = disk.list(dir).map_err(|error| cannot("list", dir, error))?;
    if names.is_empty() {
        return make_private(dir).map_err(|error| cannot("change the mode of", dir, error));
    }
    let ours = names.iter().any(|name| name == LEDGER);
    if !ours && names.iter().any(|name| name.starts_with(KEY)) {
        let error = anyhow!("{} holds a key but no record of it", dir.display());
        let help = "put issuer.db back from a backup, or take another directory";
        return Err(Failure::new(Exit::Damage, error).with_help(help));
    }
    check_mode(disk, dir)
}

fn check_mode(disk: &dyn Disk, dir: &Path) -> Result<(), Failure> {
    let mode = disk.mode(dir).map_err(|error| cannot("look at", dir, error))?;
    if mode & 0o077 != 0 {
        let error = anyhow!("{} has mode {mode:o}; others must not get into it", dir.display());
        return Err(Failure::unreadable(error).with_help(format!("chmod 700 {}", dir.display())));
    }
    Ok(())
}

fn cannot(what: &str, path: &Path, error: io::Error) -> Failure {
    let context = format!("cannot {what} {}", path.display());
    Failure::unreadable(anyhow::Error::new(error).context(context))
}

fn key_failed(error: MintError) -> Failure {
    let exit = match error {
        MintError::Malformed => Exit::Damage,
        MintError::Exposed { .. } | MintError::Io { .. } => Exit::Unreadable,
        _ => Exit::Usage,
    };
    Failure::new(exit, error)
}
