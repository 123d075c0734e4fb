//! An address that may be called.

use std::fmt;
use std::net::IpAddr;

use http::Uri;
use http::uri::PathAndQuery;

use crate::error::Error;

const URL_CHARS_MAX: usize = 2_048;

/// An `http://` or `https://` address that is known to be well formed and allowed.
///
/// Invariant: it has a host and no user name, and is in the clear only where that was allowed. The
/// only way to get one is [`Endpoint::parse`].
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) secure: bool,
    /// A name or an address, without the brackets of IPv6.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port as the `Host` header has them.
    pub(crate) authority: String,
    pub(crate) target: PathAndQuery,
}

/// Where `http://` may lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// To this machine only.
    Loopback,
    /// Anywhere: the operator trusts the network between.
    Anywhere,
}

impl Endpoint {
    /// Reads a URL.
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Endpoint, Error> {
        let bad = |why| Error::BadUrl { why };
        if text.len() > URL_CHARS_MAX {
            return Err(bad("is longer than 2048 characters"));
        }
        let uri: Uri = text.parse().map_err(|_| bad("is not a URL"))?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad("must begin with https:// or http://")),
        };
        let authority = uri.authority().ok_or(bad("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("must not hold a user name or password"));
        }
        if text.contains('#') {
            return Err(bad("must not have a fragment"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(bad("names no host"));
        }
        let named = authority.as_str().rsplit_once(':').filter(|(_, port)| !port.contains(']'));
        let port = match (authority.port_u16(), named) {
            (Some(0), _) | (None, Some(_)) => {
                return Err(bad("has a port that is no number from 1 to 65535"));
            }
            (Some(port), _) => port,
            (None, None) if secure => 443,
            (None, None) => 80,
        };
        if !secure && plain == PlainHttp::Loopback && !is_loopback(&host) {
            return Err(bad(
                "is in the clear and leads to another machine; use https://, or allow plain HTTP",
            ));
        }
        let target = uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        Ok(Endpoint { secure, host, port, authority: authority.to_string(), target })
    }
}

/// `localhost` is this machine, whatever the resolver says: the connection goes to the address.
fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Endpoint {
    /// Host and port, as the URL has them.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// What to connect to. `localhost` is never asked of a resolver.
    pub(crate) fn connect_host(&self) -> &str {
        if self.host.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { &self.host }
    }
}

/// Without the query, which may hold a key.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.target.path())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

#[cfg(test)]
mod tests;
