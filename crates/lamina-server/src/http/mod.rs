//! HTTP: connections in, answers out.
//!
//! Reading order: `listen` accepts, `route` finds the handler in the table of the contract, `answer`
//! is the path every request takes, `handlers` do the work.

pub mod listen;
mod stall;
mod garbled;
mod busy;
mod route;
mod answer;
mod site;
mod app;
mod call;
mod record;
mod audited;
mod origin;
mod cors;
mod request_id;
mod query;
mod body;
mod hashed;
mod paced;
mod reply;
mod packs;
mod once;
mod replays;
pub(crate) mod failure;
mod caught;
mod sse;
mod handlers;

pub use app::{App, Parts};
pub use route::{router, router_without_engine};

#[cfg(test)]
mod tests;
