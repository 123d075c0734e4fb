//! The shell: owns the threads, runs both paths, performs what the core decides.
//!
//! Nothing here mentions HTTP, JSON or MCP. Every function that touches a scope takes a permit that
//! only the policy can make. `DESIGN.md` has the threads, the channels and the shutdown.

mod error;
mod settings;
pub mod clock;
pub mod open;
mod engine;
pub mod write;
pub mod derive;
mod index;
pub mod embed;
pub mod read;
pub mod admin;
pub mod forget;
pub mod erasure;
pub mod retention;
pub mod audit;
pub mod import;
mod blobs;
mod health;
mod scrub;
mod threads;
mod upkeep;
pub mod maintenance;
pub mod absent;
pub mod certified;
mod ledger;
pub mod backup;

pub use admin::{
    Boot, Compacted, MembersChanged, Noted, PolicyBook, PolicyChanged, PolicyPermit, PolicyRecord,
    PolicyTarget, PruneCandidate, Pruned, Records, ScopeListed, ScopePage, ScopeRecord,
    ScopesQuery, Sight, VocabularyChanged, VocabularyPermit, WalStatus, WalVerdict, Whose,
};
pub use blobs::{BlobReader, BlobRecord, BlobSaid, BlobStored, BlobUpload};
pub use derive::phrases::Phrases;
pub use derive::vocabularies::{Vocabularies, VocabularyRecord};
pub use engine::Engine;
pub use error::{Error, OpenError};
pub use health::{Health, Status};
pub use lamina_store::log::LogError;
pub use open::OpenReport;
pub use read::{
    Axis, EventsPage, EventsQuery, LifecycleFilter, LifecyclePage, MemoryEvent, Progress,
    ReadPermit, ScanKey, Shown, StreamItem, Subscription, Traversed, Walked,
};
pub use settings::Settings;
pub use write::{BulkCaptured, Cancelled, Captured, Until, Write};
