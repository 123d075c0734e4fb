//! HTTP: connections in, answers out.
//!
//! Reading order: `listen` accepts, `route` finds the handler in the table of the contract, `answer`
//! is the path every request takes, `handlers` do the work.

pub mod listen;
mod stall;
mod garbled;
pub(crate) mod busy;
mod route;
pub(crate) mod answer;
pub(crate) mod site;
pub(crate) mod app;
pub(crate) mod call;
pub(crate) mod record;
mod audited;
mod origin;
mod cors;
pub(crate) mod request_id;
mod query;
mod body;
mod hashed;
mod paced;
mod read_load;
pub(crate) mod reply;
mod shares;
mod packs;
mod list_page;
mod once;
mod replays;
pub(crate) mod failure;
mod caught;
pub(crate) mod sse;
pub(crate) mod handlers;
pub mod starting;

pub use app::{App, Parts};
pub(crate) use handlers::{
    kind_word, stance_word, term_name, understanding_permit, vocabulary_changed, vocabulary_text,
};
pub use route::{router, router_without_engine};

#[cfg(test)]
mod tests;
