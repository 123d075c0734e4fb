//! HTTP outward: the one crate that calls other servers.
//!
//! What it fetches is the answer of a stranger, so everything has a bound: time to connect, time in
//! all, bytes of head and body. Redirects are answers like any other, because whoever may redirect
//! decides whom we talk to; and nothing crosses the network in the clear unless the operator says so.

mod error;
mod endpoint;
mod body;
mod client;

pub use body::OutboundBody;
pub use client::{Answer, Bounds, Client, Request, Roots};
pub use endpoint::{Endpoint, PlainHttp};
pub use error::Error;
