//! The validator and the writer on vectors of our own, and on the interop fixtures where they are.

mod ids;
mod interop;
mod judge;
mod signatures;
mod stores;
