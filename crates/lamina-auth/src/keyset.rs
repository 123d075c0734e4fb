//! The keys of the issuers that are trusted.
//!
//! A key belongs to one issuer: what it signs for another is not accepted. Its algorithm is decided
//! here, when it is loaded, and never by the token. The set is a value; to change it while requests
//! run, clone it, load into the clone and swap.

mod jwk;
mod trust;

pub(crate) use trust::key_id;

use std::collections::{BTreeMap, BTreeSet};

use jsonwebtoken::{Algorithm, DecodingKey};
use lamina_types::TenantName;
use lamina_types::limits::{KEY_ID_CHARS_MAX, TOKEN_LIFE_US_MAX};
use pasetors::keys::AsymmetricPublicKey;
use pasetors::version4::V4;

use crate::claims::{is_issuer, printable};
use crate::error::{KeyProblem, KeySetError};

/// Issuers of one deployment.
const ISSUERS_MAX: usize = 64;
/// Keys of one issuer. Two are usual: the current one and its predecessor.
const KEYS_MAX: usize = 100;
/// Bytes of a file or answer with keys.
const TEXT_BYTES_MAX: usize = 256 * 1_024;

/// Trusted issuers and their keys.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    issuers: BTreeMap<String, Issuer>,
    /// The claim that binds a token to a session.
    session_claim: Option<String>,
}

/// What was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The issuer.
    pub iss: String,
    /// Keys that can be used now.
    pub keys: usize,
    /// Keys of a JWKS that were left out: of another kind or use, without an id, or too weak.
    pub ignored: usize,
}

#[derive(Debug, Clone)]
struct Issuer {
    source: Source,
    keys: BTreeMap<String, Key>,
    rules: IssuerRules,
}

/// What the operator says of one issuer, beside its keys.
#[derive(Debug, Clone, Default)]
struct IssuerRules {
    /// How long its tokens of users live at most, if that is not what all others' do.
    life_us_max: Option<i64>,
    /// The tenants it issues tokens for; `None` is every tenant.
    tenants: Option<BTreeSet<TenantName>>,
    /// The claim that makes an administrator of the token's tenant, if it is `true`.
    admin_claim: Option<String>,
}

/// Where the keys came from, which decides whether they may be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// A file that the operator named.
    TrustFile,
    /// What the issuer publishes; it may publish something else later.
    Jwks,
}

/// A public key, together with the only algorithm it is used with.
#[derive(Debug, Clone)]
pub(crate) enum Key {
    Paseto(AsymmetricPublicKey<V4>),
    Jwt { algorithm: Algorithm, key: DecodingKey },
}

impl KeySet {
    /// Nobody is trusted.
    pub fn new() -> KeySet {
        KeySet::default()
    }

    /// Adds the issuer of a trust file, which is what `lamina-issuer keys` prints. Every key in it
    /// must be usable.
    pub fn add_trust_file(&mut self, text: &str) -> Result<Loaded, KeySetError> {
        check_size(text)?;
        let (iss, keys) = trust::parse(text)?;
        if self.issuers.contains_key(&iss) {
            return Err(KeySetError::IssuerTwice { iss });
        }
        self.put(iss, Source::TrustFile, keys, 0)
    }

    /// Adds an issuer whose JWKS has not been fetched yet: its tokens are refused with
    /// [`TokenError::UnknownKid`](crate::TokenError::UnknownKid), which asks for fetching it.
    pub fn add_jwks_issuer(&mut self, iss: &str) -> Result<(), KeySetError> {
        if !is_issuer(iss) {
            return Err(KeySetError::Issuer);
        }
        if self.issuers.contains_key(iss) {
            return Err(KeySetError::IssuerTwice { iss: iss.to_owned() });
        }
        self.put(iss.to_owned(), Source::Jwks, BTreeMap::new(), 0).map(|_| ())
    }

    /// Takes the keys of a JWKS for this issuer, in place of those of its earlier JWKS. Keys that
    /// are not for signing, of unknown kinds or too weak are left out; nothing changes on an error.
    pub fn set_jwks(&mut self, iss: &str, text: &str) -> Result<Loaded, KeySetError> {
        if !is_issuer(iss) {
            return Err(KeySetError::Issuer);
        }
        check_size(text)?;
        if self.issuers.get(iss).is_some_and(|issuer| issuer.source != Source::Jwks) {
            return Err(KeySetError::IssuerTwice { iss: iss.to_owned() });
        }
        let (keys, ignored) = jwk::parse_set(iss, text)?;
        self.put(iss.to_owned(), Source::Jwks, keys, ignored)
    }

    /// Lets the tokens of users that this issuer makes live so long (C42). For the issuer that a server
    /// is itself, whose operator says how long.
    pub fn let_live(&mut self, iss: &str, life_us_max: i64) {
        if let Some(issuer) = self.issuers.get_mut(iss) {
            issuer.rules.life_us_max = Some(life_us_max);
        }
    }

    /// Binds an issuer to tenants: its tokens for any other are refused.
    pub fn bind_tenants(&mut self, iss: &str, tenants: BTreeSet<TenantName>) {
        if let Some(issuer) = self.issuers.get_mut(iss) {
            issuer.rules.tenants = Some(tenants);
        }
    }

    /// Names the claim by which an issuer makes administrators.
    pub fn name_admin_claim(&mut self, iss: &str, claim: String) {
        if let Some(issuer) = self.issuers.get_mut(iss) {
            issuer.rules.admin_claim = Some(claim);
        }
    }

    /// Names the claim that binds a token to a session.
    pub fn name_session_claim(&mut self, claim: String) {
        self.session_claim = Some(claim);
    }

    pub(crate) fn session_claim(&self) -> Option<&str> {
        self.session_claim.as_deref()
    }

    /// Whether an issuer may make tokens for every tenant.
    pub fn is_unbound(&self, iss: &str) -> bool {
        self.issuers.get(iss).is_some_and(|issuer| issuer.rules.tenants.is_none())
    }

    pub(crate) fn issues_for(&self, iss: &str, tenant: &TenantName) -> bool {
        let tenants = self.issuers.get(iss).and_then(|issuer| issuer.rules.tenants.as_ref());
        tenants.is_none_or(|tenants| tenants.contains(tenant))
    }

    pub(crate) fn admin_claim(&self, iss: &str) -> Option<&str> {
        self.issuers.get(iss)?.rules.admin_claim.as_deref()
    }

    /// How long the tokens of users live at most that this issuer makes.
    pub(crate) fn life_us_max(&self, iss: &str) -> i64 {
        let own = self.issuers.get(iss).and_then(|issuer| issuer.rules.life_us_max);
        own.unwrap_or(TOKEN_LIFE_US_MAX)
    }

    /// The trusted issuers.
    pub fn issuers(&self) -> impl Iterator<Item = &str> {
        self.issuers.keys().map(String::as_str)
    }

    /// Whether this issuer is trusted.
    pub fn trusts(&self, iss: &str) -> bool {
        self.issuers.contains_key(iss)
    }

    /// Whether this issuer has a key of this id.
    pub fn has_key(&self, iss: &str, kid: &str) -> bool {
        self.find(iss, kid).is_some()
    }

    /// Whether any key of this issuer is known.
    pub fn has_keys(&self, iss: &str) -> bool {
        self.issuers.get(iss).is_some_and(|issuer| !issuer.keys.is_empty())
    }

    /// The number of keys of all issuers.
    pub fn keys_count(&self) -> usize {
        self.issuers.values().map(|issuer| issuer.keys.len()).sum()
    }

    /// The key of an issuer by its id.
    pub(crate) fn find(&self, iss: &str, kid: &str) -> Option<&Key> {
        self.issuers.get(iss)?.keys.get(kid)
    }

    fn put(
        &mut self,
        iss: String,
        source: Source,
        keys: BTreeMap<String, Key>,
        ignored: usize,
    ) -> Result<Loaded, KeySetError> {
        if !self.issuers.contains_key(&iss) && self.issuers.len() >= ISSUERS_MAX {
            return Err(KeySetError::TooManyIssuers { max: ISSUERS_MAX });
        }
        let loaded = Loaded { iss: iss.clone(), keys: keys.len(), ignored };
        let rules = self.issuers.get(&iss).map(|issuer| issuer.rules.clone()).unwrap_or_default();
        self.issuers.insert(iss, Issuer { source, keys, rules });
        Ok(loaded)
    }
}

fn check_size(text: &str) -> Result<(), KeySetError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(KeySetError::TooLarge { max: TEXT_BYTES_MAX });
    }
    Ok(())
}

/// The keys of one issuer while they are read.
struct Collected<'a> {
    iss: &'a str,
    keys: BTreeMap<String, Key>,
}

impl<'a> Collected<'a> {
    fn new(iss: &'a str) -> Collected<'a> {
        Collected { iss, keys: BTreeMap::new() }
    }

    fn add(&mut self, index: usize, kid: String, key: Key) -> Result<(), KeySetError> {
        if !printable(&kid, KEY_ID_CHARS_MAX) {
            let iss = self.iss.to_owned();
            return Err(KeySetError::Key { iss, index, why: KeyProblem::Id });
        }
        if self.keys.contains_key(&kid) {
            return Err(KeySetError::KeyTwice { iss: self.iss.to_owned(), kid });
        }
        if self.keys.len() >= KEYS_MAX {
            return Err(KeySetError::TooManyKeys { iss: self.iss.to_owned(), max: KEYS_MAX });
        }
        self.keys.insert(kid, key);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
