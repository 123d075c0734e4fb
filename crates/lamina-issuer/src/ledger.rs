//! The record of an issuer, in SQLite: which keys there were, which tokens were made.
//!
//! A token is recorded before it is handed out, so that every token in the world can be found here
//! and revoked. The token itself is not recorded: the file is no treasure for whoever copies it.

use std::path::Path;
use std::time::Duration;

use lamina_auth::{Claims, PublicKey};
use lamina_types::Micros;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::exit::{Exit, Failure};

/// The version of the tables; a higher one is of a later program.
const VERSION: i64 = 1;
/// The number of the key that `init` makes.
pub(crate) const FIRST_KEY: i64 = 1;
const BUSY_WAIT: Duration = Duration::from_secs(5);
const SECOND_US: i64 = 1_000_000;

const TABLES: &str = "
CREATE TABLE issuer (iss TEXT NOT NULL) STRICT;
CREATE TABLE keys (
    number INTEGER PRIMARY KEY,
    kid TEXT NOT NULL UNIQUE,
    public TEXT NOT NULL,
    made_s INTEGER NOT NULL,
    retired_s INTEGER
) STRICT;
CREATE TABLE tokens (
    jti TEXT PRIMARY KEY,
    kid TEXT NOT NULL REFERENCES keys (kid),
    sub TEXT NOT NULL,
    tenant TEXT NOT NULL,
    iat_s INTEGER NOT NULL,
    exp_s INTEGER NOT NULL,
    narrowing TEXT NOT NULL,
    revoked_s INTEGER,
    reason TEXT
) STRICT;
CREATE INDEX tokens_by_end ON tokens (exp_s, jti);
CREATE INDEX tokens_by_key ON tokens (kid, exp_s);
";

#[derive(Debug)]
pub(crate) struct Ledger {
    db: Connection,
}

/// The key that signs now.
#[derive(Debug)]
pub(crate) struct CurrentKey {
    pub(crate) number: i64,
    pub(crate) kid: String,
}

/// A token that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Minted {
    pub(crate) jti: String,
    pub(crate) sub: String,
    pub(crate) tenant: String,
    pub(crate) exp_s: i64,
    /// The end, readable.
    pub(crate) expires: String,
    pub(crate) revoked_s: Option<i64>,
    pub(crate) reason: Option<String>,
}

impl Minted {
    /// `active`, `expired` or `revoked`.
    pub(crate) fn state(&self, now: Micros) -> &'static str {
        match self {
            Minted { revoked_s: Some(_), .. } => "revoked",
            Minted { exp_s, .. } if *exp_s <= seconds(now) => "expired",
            _ => "active",
        }
    }
}

impl Ledger {
    /// Opens the file, which must be there. A ledger without tables is one that `init` has not
    /// finished.
    pub(crate) fn open(path: &Path) -> Result<Ledger, Failure> {
        use rusqlite::OpenFlags;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let db = Connection::open_with_flags(path, flags).map_err(failed)?;
        db.busy_timeout(BUSY_WAIT).map_err(failed)?;
        // A token that was handed out must be on record after a power loss too.
        db.pragma_update(None, "synchronous", "EXTRA").map_err(failed)?;
        db.pragma_update(None, "foreign_keys", true).map_err(failed)?;
        let ledger = Ledger { db };
        let version = version(&ledger.db)?;
        if version > VERSION {
            let error =
                anyhow::anyhow!("the issuer was made by a later version (format {version})");
            return Err(Failure::new(Exit::Schema, error));
        }
        Ok(ledger)
    }

    /// Whether `init` has finished.
    pub(crate) fn is_ready(&self) -> Result<bool, Failure> {
        Ok(version(&self.db)? == VERSION)
    }

    /// Makes the tables with the first key in them, all at once; `save` writes the key meanwhile.
    /// `false` if they are there.
    pub(crate) fn create(
        &mut self,
        iss: &str,
        key: &PublicKey,
        now: Micros,
        save: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate);
        let change = change.map_err(failed)?;
        if version(&change)? == VERSION {
            return Ok(false);
        }
        save()?;
        change.execute_batch(TABLES).map_err(failed)?;
        change.execute("INSERT INTO issuer (iss) VALUES (?1)", [iss]).map_err(failed)?;
        insert_key(&change, FIRST_KEY, key, now)?;
        change.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        change.commit().map_err(failed)?;
        Ok(true)
    }

    pub(crate) fn iss(&self) -> Result<String, Failure> {
        self.db.query_row("SELECT iss FROM issuer", [], |row| row.get(0)).map_err(failed)
    }

    pub(crate) fn current_key(&self) -> Result<CurrentKey, Failure> {
        current_key(&self.db)
    }

    /// Retires the current key in favour of this one and gives its number. `save` writes the key
    /// while no other process can do the same.
    pub(crate) fn rotate(
        &mut self,
        new: &PublicKey,
        now: Micros,
        save: impl FnOnce(i64) -> Result<(), Failure>,
    ) -> Result<i64, Failure> {
        let change = self.db.transaction_with_behavior(TransactionBehavior::Immediate);
        let change = change.map_err(failed)?;
        let old = current_key(&change)?.number;
        save(old + 1)?;
        let retire = "UPDATE keys SET retired_s = ?1 WHERE number = ?2";
        change.execute(retire, params![seconds(now), old]).map_err(failed)?;
        insert_key(&change, old + 1, new, now)?;
        change.commit().map_err(failed)?;
        Ok(old + 1)
    }

    /// The current key, then retired ones of which tokens are valid.
    pub(crate) fn published(&self, now: Micros) -> Result<Vec<PublicKey>, Failure> {
        let query = "SELECT kid, public FROM keys WHERE retired_s IS NULL OR EXISTS (
            SELECT 1 FROM tokens WHERE tokens.kid = keys.kid AND exp_s > ?1) ORDER BY number DESC";
        let mut statement = self.db.prepare(query).map_err(failed)?;
        let rows = statement
            .query_map([seconds(now)], |row| Ok(PublicKey { kid: row.get(0)?, key: row.get(1)? }));
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Records a token that is about to be handed out.
    pub(crate) fn record(&mut self, claims: &Claims, kid: &str) -> Result<(), Failure> {
        let caps = claims.caps.as_ref().map(|caps| caps.iter().collect::<Vec<_>>());
        let scopes: Vec<String> =
            claims.scopes.iter().map(|(cap, prefix)| format!("{cap}:{prefix}")).collect();
        let narrowing = serde_json::json!({ "caps": caps, "scopes": scopes }).to_string();
        let insert = "INSERT INTO tokens (jti, kid, sub, tenant, iat_s, exp_s, narrowing)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (sub, tenant) = (claims.sub.as_str(), claims.tenant.as_str());
        let (iat, exp) = (seconds(claims.iat), seconds(claims.exp));
        let values = params![claims.jti, kid, sub, tenant, iat, exp, narrowing];
        self.db.execute(insert, values).map(|_| ()).map_err(failed)
    }

    /// All tokens, in the order they end.
    pub(crate) fn tokens(&self) -> Result<Vec<Minted>, Failure> {
        let query = format!("{MINTED} ORDER BY exp_s, jti");
        let mut statement = self.db.prepare(&query).map_err(failed)?;
        let rows = statement.query_map([], minted);
        rows.and_then(Iterator::collect).map_err(failed)
    }

    /// Marks a token as revoked; the first time and the first reason stay. `None` if there is no
    /// such token.
    pub(crate) fn revoke(
        &mut self,
        jti: &str,
        reason: Option<&str>,
        now: Micros,
    ) -> Result<Option<Minted>, Failure> {
        let mark = "UPDATE tokens SET revoked_s = ?2, reason = ?3
            WHERE jti = ?1 AND revoked_s IS NULL";
        self.db.execute(mark, params![jti, seconds(now), reason]).map_err(failed)?;
        let query = format!("{MINTED} WHERE jti = ?1");
        self.db.query_row(&query, [jti], minted).optional().map_err(failed)
    }
}

const MINTED: &str = "SELECT jti, sub, tenant, exp_s,
    strftime('%Y-%m-%dT%H:%M:%SZ', exp_s, 'unixepoch'), revoked_s, reason FROM tokens";

fn minted(row: &Row<'_>) -> rusqlite::Result<Minted> {
    Ok(Minted {
        jti: row.get(0)?,
        sub: row.get(1)?,
        tenant: row.get(2)?,
        exp_s: row.get(3)?,
        expires: row.get(4)?,
        revoked_s: row.get(5)?,
        reason: row.get(6)?,
    })
}

fn version(db: &Connection) -> Result<i64, Failure> {
    db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)
}

fn current_key(db: &Connection) -> Result<CurrentKey, Failure> {
    let query = "SELECT number, kid FROM keys WHERE retired_s IS NULL ORDER BY number DESC LIMIT 1";
    let key =
        db.query_row(query, [], |row| Ok(CurrentKey { number: row.get(0)?, kid: row.get(1)? }));
    key.map_err(failed)
}

fn insert_key(db: &Connection, number: i64, key: &PublicKey, now: Micros) -> Result<(), Failure> {
    let insert = "INSERT INTO keys (number, kid, public, made_s) VALUES (?1, ?2, ?3, ?4)";
    let values = params![number, key.kid, key.key, seconds(now)];
    db.execute(insert, values).map(|_| ()).map_err(failed)
}

fn seconds(at: Micros) -> i64 {
    at.0.div_euclid(SECOND_US)
}

/// A file that is not a ledger is damage; one that cannot be used now is not.
fn failed(error: rusqlite::Error) -> Failure {
    use rusqlite::ErrorCode;
    let exit = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Exit::Damage,
        Some(_) => Exit::Unreadable,
        // The query gave something else than the tables promise.
        None => Exit::Damage,
    };
    Failure::new(exit, anyhow::Error::new(error).context("the record of the issuer cannot be used"))
}

#[cfg(test)]
mod tests;
