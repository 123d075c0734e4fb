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
    /// It was addressed to a name that the operator did not list.
    UnlistedHost,
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
            Foreign::UnlistedHost => {
                "the request is addressed to a host name that is not in http.hosts (`Host` header)"
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
    let host = addressed_host(headers, authority).map_err(|()| Foreign::Host)?;
    // An address cannot be made to resolve elsewhere, and HTTP/1.0 has no host.
    if host.is_some_and(|host| !host_is_safe(host)) {
        return Err(Foreign::Host);
    }
    if origin_is_listed {
        return Ok(());
    }
    check_origin(headers, host)?;
    match headers.get(FETCH_SITE).map(|site| site.as_bytes()) {
        Some(b"cross-site" | b"same-site") => Err(Foreign::Site),
        _ => Ok(()),
    }
}

/// Refuses requests of web pages whose origin is neither listed nor this server's own, for an endpoint that no page
/// has any business with, whatever token the page holds.
pub(crate) fn check_page(
    headers: &HeaderMap,
    authority: Option<&Authority>,
    origin_is_listed: bool,
) -> Result<(), Foreign> {
    if origin_is_listed {
        return Ok(());
    }
    let host = addressed_host(headers, authority).map_err(|()| Foreign::Origin)?;
    check_origin(headers, host)
}

/// Refuses requests for a host name that is not listed. An empty list lists every name; an address and `localhost`
/// are always served.
pub(crate) fn check_host(
    headers: &HeaderMap,
    authority: Option<&Authority>,
    hosts: &[String],
) -> Result<(), Foreign> {
    if hosts.is_empty() {
        return Ok(());
    }
    let host = addressed_host(headers, authority).map_err(|()| Foreign::UnlistedHost)?;
    let is_listed = |host: &str| {
        let name = host_and_port(host, 0).0;
        hosts.contains(&name) || host_is_safe(host)
    };
    match host.is_none_or(is_listed) {
        true => Ok(()),
        false => Err(Foreign::UnlistedHost),
    }
}

/// The host that a request is addressed to.
fn addressed_host<'a>(
    headers: &'a HeaderMap,
    authority: Option<&'a Authority>,
) -> Result<Option<&'a str>, ()> {
    match (authority, headers.get(HOST)) {
        (Some(authority), _) => Ok(Some(authority.as_str())),
        (None, None) => Ok(None),
        (None, Some(host)) => host.to_str().map(Some).map_err(|_| ()),
    }
}

fn check_origin(headers: &HeaderMap, host: Option<&str>) -> Result<(), Foreign> {
    let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    match host.is_some_and(|host| is_own_origin(origin, host)) {
        true => Ok(()),
        false => Err(Foreign::Origin),
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
