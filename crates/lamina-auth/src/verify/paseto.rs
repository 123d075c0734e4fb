//! PASETO v4.public: Ed25519, nothing to negotiate. The footer names the key.

use pasetors::token::{Public, UntrustedToken};
use pasetors::version4::{PublicToken, V4};

use super::key_of;
use crate::error::TokenError;
use crate::json::Members;
use crate::keyset::{Key, KeySet};

/// How every token of this format begins.
pub(super) const HEADER: &str = PublicToken::HEADER;

/// The payload, if a key of its issuer made it.
pub(super) fn check(token: &str, keys: &KeySet) -> Result<Members, TokenError> {
    let untrusted =
        UntrustedToken::<Public, V4>::try_from(token).map_err(|_| TokenError::Format)?;
    let footer = Members::parse(untrusted.untrusted_footer()).ok_or(TokenError::NoKeyId)?;
    let kid = footer.read::<String>("kid").map_err(|_| TokenError::NoKeyId)?;
    let payload = Members::parse(untrusted.untrusted_payload()).ok_or(TokenError::Payload)?;
    let Key::Paseto(key) = key_of(keys, &payload, kid)? else {
        return Err(TokenError::KeyMismatch);
    };
    PublicToken::verify(key, &untrusted, None, None).map_err(|_| TokenError::Signature)?;
    Ok(payload)
}
