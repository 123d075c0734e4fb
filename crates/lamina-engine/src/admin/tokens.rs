//! Revoking tokens.
//!
//! A token is known by its issuer and its id. An operator who knows only the id revokes it for every
//! issuer; whoever gives up its own token revokes it for its issuer only, so that nobody can end
//! another's token by having one of the same id minted elsewhere.

use lamina_core::policy::Permit;
use lamina_store::codec::control::TokenRevoked;
use lamina_store::entry::{DEPLOYMENT, Kind, SYSTEM_SCOPE, control};
use lamina_store::log::NewEntry;
use lamina_types::Micros;
use lamina_types::capability::AuthRevoke;
use lamina_types::limits::REVOCATIONS_MAX;
use tokio::sync::oneshot;

use super::{Noted, by_in};
use crate::engine::Inner;
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

impl Engine {
    /// Revokes a token until it ends by itself at `exp`; without an issuer, the tokens of all
    /// issuers that have this id. In force when it returns, also after a restart.
    pub async fn revoke(
        &self,
        permit: &Permit<AuthRevoke>,
        iss: Option<&str>,
        jti: &str,
        exp: Micros,
        noted: &Noted,
    ) -> Result<(), Error> {
        let token = self.inner.token(iss, jti)?;
        match self.inner.admin.standing.revoked(&token) {
            Some(known) if known >= exp => return Ok(()),
            Some(_) => {}
            None if self.inner.admin.standing.revocations().0 as u64 >= REVOCATIONS_MAX => {
                return Err(Error::LimitReached { limit: "REVOCATIONS_MAX" });
            }
            None => {}
        }
        let entry = NewEntry {
            kind: Kind::Control,
            sub: control::TOKEN_REVOKED,
            // Not the caller's tenant: tokens are the deployment's, and no tenant can count them.
            tenant: DEPLOYMENT,
            scope: SYSTEM_SCOPE,
            causes: Vec::new(),
            who: by_in(&self.inner.env, permit, noted, DEPLOYMENT),
            what: section(&*self.inner.env.rng, &TokenRevoked { token, exp }.encode()),
        };
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::TakeBack { entry: Box::new(entry), reply }, answer).await
    }

    /// Whether a token was revoked.
    pub fn is_revoked(&self, iss: &str, jti: &str) -> Result<bool, Error> {
        if self.inner.admin.standing.revocations().0 == 0 {
            return Ok(false);
        }
        for issuer in [None, Some(iss)] {
            if self.inner.admin.standing.revoked(&self.inner.token(issuer, jti)?).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Grows with every revocation: what was decided under another number has to be asked again.
    pub fn revocations_version(&self) -> u64 {
        self.inner.admin.standing.revocations().1
    }
}

impl Inner {
    /// The keyed hash that a token is known by.
    fn token(&self, iss: Option<&str>, jti: &str) -> Result<[u8; 32], Error> {
        let keyed = self.keyed(DEPLOYMENT)?;
        Ok(match iss {
            None => keyed.mac("token", &[jti.as_bytes()]),
            Some(iss) => keyed.mac("token of an issuer", &[iss.as_bytes(), jti.as_bytes()]),
        })
    }
}

#[cfg(test)]
mod tests;
