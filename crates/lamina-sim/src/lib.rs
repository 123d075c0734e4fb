//! What proves the server from outside and, one seed at a time, from inside.
//!
//! Development only: nothing of the product names this crate. It hosts the one integration-test
//! program (`tests/it`), the crash test, and the HTTP client both of them speak through.

pub mod client;
pub mod process;
pub mod past;
pub mod crash;
pub mod faults;
pub mod ground;
pub mod isolation;
pub mod timing;
pub mod simulate;
pub mod targets;
