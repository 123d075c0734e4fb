//! A server without tokens trusts this machine, and a browser on this machine runs the pages of
//! strangers. Such a page can reach a loopback port in two ways: by posting to it from its own
//! origin, or by letting its own name resolve to 127.0.0.1. Both show in the request's headers.

use std::net::{IpAddr, SocketAddr};

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName};

/// How a browser relates the page that asks to the address that it asks.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Why the request is not one of this machine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A page of another site sent it.
    Origin,
    /// A browser says that a page of another site, or of another port, asks.
    Site,
    /// It was addressed to a name that is not this machine's.
    Host,
}

impl Foreign {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Foreign::Origin => {
                "the request comes from a web page of another origin (`Origin` header)"
            }
            Foreign::Site => {
                "the request comes from a web page of another site (`Sec-Fetch-Site` header)"
            }
            Foreign::Host => {
                "the request is addressed to a host name that is not loopback (`Host` header)"
            }
        }
    }
}

/// Refuses requests that a stranger's web page could have made. A page is no stranger if this server
/// itself served it, or if the operator listed its origin.
pub(crate) fn check(
    headers: &HeaderMap,
    authority: Option<&Authority>,
    origin_is_listed: bool,
) -> Result<(), Foreign> {
    let host = match authority {
        Some(authority) => Some(authority.as_str()),
        None => match headers.get(HOST) {
            None => None,
            Some(host) => Some(host.to_str().map_err(|_| Foreign::Host)?),
        },
    };
    // An address cannot be made to resolve elsewhere, and HTTP/1.0 has no host.
    if host.is_some_and(|host| !host_is_safe(host)) {
        return Err(Foreign::Host);
    }
    if origin_is_listed {
        return Ok(());
    }
    if let Some(origin) = headers.get(ORIGIN) {
        let origin = origin.to_str().unwrap_or_default();
        if !host.is_some_and(|host| is_own_origin(origin, host)) {
            return Err(Foreign::Origin);
        }
    }
    match headers.get(FETCH_SITE).map(|site| site.as_bytes()) {
        Some(b"cross-site" | b"same-site") => Err(Foreign::Site),
        _ => Ok(()),
    }
}

/// Whether a page of this origin was served by the address that the request is sent to. One port
/// speaks one scheme, so host and port decide.
fn is_own_origin(origin: &str, host: &str) -> bool {
    let (rest, port) = match origin.split_once("://") {
        Some(("http", rest)) => (rest, 80),
        Some(("https", rest)) => (rest, 443),
        _ => return false,
    };
    !rest.is_empty() && host_and_port(rest, port) == host_and_port(host, port)
}

/// The host in lower case, and the port or that of the scheme.
fn host_and_port(text: &str, default_port: u16) -> (String, Option<u16>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => {
            (host.to_ascii_lowercase(), port.parse().ok())
        }
        _ => (text.to_ascii_lowercase(), Some(default_port)),
    }
}

/// Whether a request for this host can only have been meant for this machine.
fn host_is_safe(host: &str) -> bool {
    let ip = host
        .parse::<IpAddr>()
        .or_else(|_| host.parse::<SocketAddr>().map(|address| address.ip()))
        .or_else(|_| host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>());
    if ip.is_ok() {
        return true;
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.to_ascii_lowercase();
    name.is_empty() || name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests;
