//! A server without tokens trusts this machine, and a browser on this machine runs the pages of
//! strangers. Such a page can reach a loopback port in two ways: by posting to it from its own
//! origin, or by letting its own name resolve to 127.0.0.1. Both show in the request's headers.

use std::net::{IpAddr, SocketAddr};

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;

/// Why the request is not one of this machine's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// A page of another site sent it.
    Origin,
    /// It was addressed to a name that is not this machine's.
    Host,
}

impl Foreign {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Foreign::Origin => {
                "the request comes from a web page of another origin (`Origin` header)"
            }
            Foreign::Host => {
                "the request is addressed to a host name that is not loopback (`Host` header)"
            }
        }
    }
}

/// Refuses requests that a stranger's web page could have made. One whose origin the operator listed
/// is no stranger.
pub(crate) fn check(
    headers: &HeaderMap,
    authority: Option<&Authority>,
    origin_is_listed: bool,
) -> Result<(), Foreign> {
    if let Some(origin) = headers.get(ORIGIN).filter(|_| !origin_is_listed) {
        let host =
            origin.to_str().ok().and_then(|text| text.split_once("://")).map(|(_, host)| host);
        if !host.is_some_and(|host| matches!(place(host), Place::Loopback)) {
            return Err(Foreign::Origin);
        }
    }
    let host = match authority {
        Some(authority) => Some(authority.as_str()),
        None => match headers.get(HOST) {
            None => None,
            Some(host) => Some(host.to_str().map_err(|_| Foreign::Host)?),
        },
    };
    match host.map(place) {
        // An address cannot be made to resolve elsewhere, and HTTP/1.0 has no host.
        None | Some(Place::Loopback | Place::Address) => Ok(()),
        Some(Place::Name) => Err(Foreign::Host),
    }
}

enum Place {
    Loopback,
    Address,
    Name,
}

fn place(host: &str) -> Place {
    let ip = host
        .parse::<IpAddr>()
        .or_else(|_| host.parse::<SocketAddr>().map(|address| address.ip()))
        .or_else(|_| host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>());
    if let Ok(ip) = ip {
        return if ip.is_loopback() { Place::Loopback } else { Place::Address };
    }
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let name = name.to_ascii_lowercase();
    if name.is_empty() || name == "localhost" || name.ends_with(".localhost") {
        Place::Loopback
    } else {
        Place::Name
    }
}

#[cfg(test)]
mod tests;
