//! The Model Context Protocol: what agents call as tools, in both eras of the protocol.
//!
//! Reading order: `rpc` reads a message, `era` decides which rules it follows, `fixed` answers what needs no
//! memory, `endpoint` is `POST /mcp`, `session` says where a call reads and writes, `tools` do the work through
//! the handlers of the HTTP routes.

pub mod access;
pub(crate) mod rpc;
pub(crate) mod era;
pub(crate) mod schema;
pub mod lines;
pub(crate) mod profile;
pub(crate) mod fixed;
pub(crate) mod listen;
pub(crate) mod sse;
pub(crate) mod session;
pub(crate) mod route_call;
pub(crate) mod tools;
pub(crate) mod zaxy;
pub(crate) mod confirm;
pub(crate) mod resources;
pub(crate) mod prompts;
pub(crate) mod completion;
pub(crate) mod endpoint;
pub mod targets;

#[cfg(test)]
mod tests;
