//! The trust file: one issuer and its public keys.
//!
//! ```json
//! { "iss": "https://auth.acme.example",
//!   "keys": [ { "kid": "k4.pid.…", "alg": "v4.public", "key": "k4.public.…" },
//!             { "kid": "2026-1", "alg": "RS256", "key": { "kty": "RSA", "n": "…", "e": "AQAB" } } ] }
//! ```
//!
//! An operator wrote or copied it, so that whatever is wrong with it is an error, not a key less.

use std::collections::BTreeMap;

use ed25519_dalek::VerifyingKey;
use jsonwebtoken::Algorithm;
use pasetors::keys::AsymmetricPublicKey;
use pasetors::paserk::{FormatAsPaserk, Id};
use pasetors::version4::V4;

use super::{Collected, Key, jwk};
use crate::claims::is_issuer;
use crate::error::{KeyProblem, KeySetError};
use crate::json::Members;

const FORM: &str = r#"{"iss": ISSUER, "keys": [{"kid": ID, "alg": ALGORITHM, "key": KEY}]}"#;

/// The issuer and its keys, by id.
pub(super) fn parse(text: &str) -> Result<(String, BTreeMap<String, Key>), KeySetError> {
    let malformed = KeySetError::Malformed { form: FORM };
    let file = Members::parse(text.as_bytes()).ok_or(malformed.clone())?;
    let iss = file.read::<String>("iss").ok().flatten().ok_or(malformed.clone())?;
    if !is_issuer(&iss) {
        return Err(KeySetError::Issuer);
    }
    let keys = file.read::<Vec<Members>>("keys").ok().flatten().ok_or(malformed)?;
    let mut collected = Collected::new(&iss);
    for (index, key) in keys.iter().enumerate() {
        let (kid, key) =
            parse_key(key).map_err(|why| KeySetError::Key { iss: iss.clone(), index, why })?;
        collected.add(index, kid, key)?;
    }
    let keys = collected.keys;
    Ok((iss, keys))
}

fn parse_key(key: &Members) -> Result<(String, Key), KeyProblem> {
    let text = |name| key.read::<String>(name).ok().flatten().ok_or(KeyProblem::Shape);
    let kid = text("kid")?;
    let algorithm = match text("alg")?.as_str() {
        "v4.public" => {
            let key = paserk(&text("key")?, &kid)?;
            return Ok((kid, Key::Paseto(key)));
        }
        "RS256" => Algorithm::RS256,
        "ES256" => Algorithm::ES256,
        _ => return Err(KeyProblem::Algorithm),
    };
    let jwk = key.read::<Members>("key").ok().flatten().ok_or(KeyProblem::Shape)?;
    let key = jwk::parse_key(&jwk, algorithm)?;
    Ok((kid, Key::Jwt { algorithm, key }))
}

fn paserk(text: &str, kid: &str) -> Result<AsymmetricPublicKey<V4>, KeyProblem> {
    if text.starts_with("k4.secret.") || text.starts_with("k4.local.") {
        return Err(KeyProblem::Secret);
    }
    let key = AsymmetricPublicKey::<V4>::try_from(text).map_err(|_| KeyProblem::Material)?;
    // The library takes any 32 bytes. A point of small order has signatures that anyone can make.
    let point = <[u8; 32]>::try_from(key.as_bytes()).ok();
    let point = point.and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
    if point.is_none_or(|point| point.is_weak()) {
        return Err(KeyProblem::Material);
    }
    // An id of this form says which key it is the id of.
    if kid.starts_with("k4.pid.") && kid != key_id(&key) {
        return Err(KeyProblem::OtherId);
    }
    Ok(key)
}

/// The PASERK id of a public key.
pub(crate) fn key_id(key: &AsymmetricPublicKey<V4>) -> String {
    let mut id = String::new();
    Id::from(key).fmt(&mut id).expect("writing to a String does not fail");
    id
}
