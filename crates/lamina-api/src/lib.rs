//! The contract: every JSON shape, its schema, its limits and its errors, in one crate.
//!
//! Text from the wire becomes a value of `lamina-types` here, once, or becomes an [`ApiError`] that
//! names the field. The crate knows no engine, no server and no clock: what time it is, who calls
//! and which scope types exist are parameters. Schemas and the OpenAPI document are generated from
//! the same types that read and write the JSON, so the two cannot disagree.

pub mod error;
pub mod help;
pub mod json;
pub mod time;
pub(crate) mod check;
pub mod query;
pub mod cursor;
pub mod page;
pub mod v1;
pub mod routes;
pub mod schema;
pub mod openapi;
pub mod contract;

pub use error::{ApiError, ErrorEnvelope};
pub use page::{Page, PageStart};
pub use routes::{Method, ROUTES, RouteSpec, RouteStatus, Tier};
