//! The surfaces: HTTP, the command line, configuration, logs and metrics.
//!
//! The only crate that knows what a socket or a flag is. It turns requests into values of the
//! contract, asks the policy for a permit, calls the engine and writes the answer.

pub mod cli;
pub mod config;
pub mod secret;
pub mod tls;
pub mod auth;
pub mod embedders;
pub mod models;
pub mod logging;
pub mod http;
pub mod mcp;
mod transfer;
pub mod meters;
mod sweeping;
mod watching;
mod eval;
