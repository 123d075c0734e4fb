//! Version 1 of the API, one file per family of routes.

pub mod experience;
pub mod traversal;
pub mod events;
pub mod facts;
pub mod entities;
pub mod episodes;
pub mod claims;
pub mod conflicts;
pub mod cost;
pub mod beliefs;
pub mod understanding;
pub mod recall;
pub mod retention;
pub mod answer;
pub mod phrases;
pub mod erasures;
pub mod forget;
pub mod vocabularies;
pub mod wal;
pub mod lifecycle;
pub mod blobs;
pub mod admin;
pub mod auth;
pub mod policy;
pub mod scopes;
pub mod audit;
