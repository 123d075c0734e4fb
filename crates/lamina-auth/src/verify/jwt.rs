//! JWT as identity providers make them: RS256 and ES256, nothing else.
//!
//! The header is ours to read strictly; the library only checks the signature, with the algorithm
//! that the key was loaded for. A token that names another one is refused before that, so that no
//! public key is ever used as a secret.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, crypto};

use super::key_of;
use crate::error::TokenError;
use crate::json::Members;
use crate::keyset::{Key, KeySet};

/// The payload, if a key of its issuer made it.
pub(super) fn check(token: &str, keys: &KeySet) -> Result<Members, TokenError> {
    let (message, signature) = token.rsplit_once('.').ok_or(TokenError::Format)?;
    let (header, payload) = message.split_once('.').ok_or(TokenError::Format)?;
    let header = part(header).ok_or(TokenError::Format)?;
    let named = algorithm(&header)?;
    check_type(&header)?;
    let kid = header.read::<String>("kid").map_err(|_| TokenError::NoKeyId)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).map_err(|_| TokenError::Format)?;
    let payload = Members::parse(&payload).ok_or(TokenError::Payload)?;
    let Key::Jwt { algorithm, key } = key_of(keys, &payload, kid)? else {
        return Err(TokenError::KeyMismatch);
    };
    if *algorithm != named {
        return Err(TokenError::KeyMismatch);
    }
    match crypto::verify(signature, message.as_bytes(), key, *algorithm) {
        Ok(true) => Ok(payload),
        Ok(false) | Err(_) => Err(TokenError::Signature),
    }
}

fn part(text: &str) -> Option<Members> {
    Members::parse(&URL_SAFE_NO_PAD.decode(text).ok()?)
}

fn algorithm(header: &Members) -> Result<Algorithm, TokenError> {
    match header.read::<String>("alg") {
        Ok(Some(name)) if name == "RS256" => Ok(Algorithm::RS256),
        Ok(Some(name)) if name == "ES256" => Ok(Algorithm::ES256),
        _ => Err(TokenError::Algorithm),
    }
}

/// An access token, and nothing that must be understood beyond this file.
fn check_type(header: &Members) -> Result<(), TokenError> {
    let kind = header.read::<String>("typ").map_err(|_| TokenError::Type)?;
    let is_ours = kind.is_none_or(|kind| {
        ["JWT", "at+jwt", "application/at+jwt"].iter().any(|ours| kind.eq_ignore_ascii_case(ours))
    });
    if is_ours && !header.has("crit") { Ok(()) } else { Err(TokenError::Type) }
}
