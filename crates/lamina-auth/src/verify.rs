//! From a bearer's text to claims that can be believed.
//!
//! The format decides the checker, the key decides the algorithm, and nothing in the token decides
//! anything before its signature was checked, except which key to check it with.

mod jwt;
mod paseto;

use lamina_types::Micros;
use lamina_types::limits::{KEY_ID_CHARS_MAX, TOKEN_BYTES_MAX};

use crate::claims::{Claims, issuer, printable};
use crate::error::TokenError;
use crate::json::Members;
use crate::keyset::{Key, KeySet};

/// Checks a token in the order of R137 to R140: signature, issuer, tenant, times. Whether the tenant
/// exists, whether the `jti` was revoked and whether the actor header agrees is the caller's to check.
pub fn verify(token: &str, keys: &KeySet, now: Micros) -> Result<Claims, TokenError> {
    verify_office(token, keys, now).map(|verified| verified.claims)
}

/// A token that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// Its claims.
    pub claims: Claims,
    /// The claim that the operator named for its issuer makes the bearer an administrator of the tenant.
    pub administrator: bool,
    /// The session that the token is bound to, if its claims name one.
    pub session: Option<String>,
}

/// Checks a token as [`verify`] does, and reads the office that its issuer may give.
pub fn verify_office(token: &str, keys: &KeySet, now: Micros) -> Result<VerifiedToken, TokenError> {
    if token.is_empty() {
        return Err(TokenError::Missing);
    }
    if token.len() > TOKEN_BYTES_MAX {
        return Err(TokenError::TooLong);
    }
    let payload = if token.starts_with(paseto::HEADER) {
        paseto::check(token, keys)?
    } else {
        jwt::check(token, keys)?
    };
    let life_us_max = keys.life_us_max(&issuer(&payload)?);
    let claims = Claims::read(&payload, now, life_us_max)?;
    if !keys.issues_for(&claims.iss, &claims.tenant) {
        return Err(TokenError::IssuerTenant);
    }
    let office = keys.admin_claim(&claims.iss).map(|claim| payload.read::<bool>(claim));
    let administrator = matches!(office, Some(Ok(Some(true))));
    let session = match keys.session_claim() {
        None => None,
        Some(claim) => payload
            .read::<String>(claim)
            .map_err(|_| TokenError::BadClaim { claim: "session", must: "must be a text" })?,
    };
    Ok(VerifiedToken { claims, administrator, session })
}

/// The key that a token names, of the issuer that its payload names. Both are only claims until the
/// signature was checked with that key, which no other issuer has.
fn key_of<'a>(
    keys: &'a KeySet,
    payload: &Members,
    kid: Option<String>,
) -> Result<&'a Key, TokenError> {
    let iss = issuer(payload)?;
    if !keys.trusts(&iss) {
        return Err(TokenError::UnknownIssuer);
    }
    let kid = kid.filter(|kid| printable(kid, KEY_ID_CHARS_MAX)).ok_or(TokenError::NoKeyId)?;
    keys.find(&iss, &kid).ok_or(TokenError::UnknownKid { iss, kid })
}

#[cfg(test)]
mod tests;
