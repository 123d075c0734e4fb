//! Fetching the keys of an issuer: a key set (JWKS) from its address, or from the address that the
//! issuer's own description (OpenID Connect discovery) names.

use lamina_auth::KeySetError;
use lamina_outbound::{Client, Endpoint, Error as OutboundError, PlainHttp, Request};
use serde_json::Value;

use super::freshness::age_us;

/// Where an issuer is described, under its own address.
const DISCOVERY: &str = "/.well-known/openid-configuration";

/// Where the keys of one issuer are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A key set at this address.
    Jwks(Endpoint),
    /// Whatever key set the description at this address names.
    Discovery {
        /// The description.
        at: Endpoint,
        /// Where the key set may be in the clear.
        plain: PlainHttp,
    },
}

impl Source {
    /// The description of an issuer whose name is its address.
    pub fn discovery(iss: &str, plain: PlainHttp) -> Result<Source, OutboundError> {
        let at = format!("{}{DISCOVERY}", iss.trim_end_matches('/'));
        Ok(Source::Discovery { at: Endpoint::parse(&at, plain)?, plain })
    }
}

/// A key set as it came, not yet read.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) text: String,
    /// How long it may be kept.
    pub(super) age_us: i64,
}

/// Why there are no new keys.
#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error("the keys could not be fetched")]
    Outbound(#[from] OutboundError),
    #[error("the answer is not text")]
    NotText,
    #[error("the description of the issuer {why}")]
    Discovery { why: &'static str },
    #[error("the keys cannot be trusted")]
    Keys(#[from] KeySetError),
    #[error("the key set holds no key that can be used: RSA or P-256, for signing, with a `kid`")]
    NoKeys,
}

/// Fetches the key set of an issuer.
pub(super) async fn fetch(
    client: &Client,
    iss: &str,
    source: &Source,
) -> Result<Fetched, FetchError> {
    let endpoint = match source {
        Source::Jwks(endpoint) => endpoint.clone(),
        Source::Discovery { at, plain } => {
            let (text, _) = get(client, at.clone()).await?;
            key_set_of(iss, &text, *plain)?
        }
    };
    let (text, age_us) = get(client, endpoint).await?;
    Ok(Fetched { text, age_us })
}

async fn get(client: &Client, endpoint: Endpoint) -> Result<(String, i64), FetchError> {
    let answer = client.send(Request::get(endpoint)).await?.success()?;
    let age = age_us(answer.header("cache-control"));
    let text = String::from_utf8(answer.body.to_vec()).map_err(|_| FetchError::NotText)?;
    Ok((text, age))
}

/// The address of the key set. A description of somebody else is a mistake, or an attempt.
fn key_set_of(iss: &str, text: &str, plain: PlainHttp) -> Result<Endpoint, FetchError> {
    let bad = |why| FetchError::Discovery { why };
    let description: Value = serde_json::from_str(text).map_err(|_| bad("is not JSON"))?;
    let member = |name: &str| description.get(name).and_then(Value::as_str);
    if member("issuer") != Some(iss) {
        return Err(bad("names another issuer than the one that is trusted"));
    }
    let uri = member("jwks_uri").ok_or(bad("names no `jwks_uri`"))?;
    Ok(Endpoint::parse(uri, plain)?)
}

#[cfg(test)]
mod tests;
