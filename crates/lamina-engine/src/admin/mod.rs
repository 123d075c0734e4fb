//! What is not an experience: tenants, policies, revoked tokens, scopes and their members.
//!
//! Every change is an entry of the log, made by whoever has the permit for it, and in force when the
//! call returns. [`standing`] is what is in force, in memory.

pub mod standing;
mod book;
mod revoked;
mod tenants;
pub(crate) mod shared;
mod policies;
pub(crate) mod vocabularies;
mod phrases;
mod tokens;
pub(crate) mod said;
mod memberships;
pub(crate) mod sight;
mod scopes;
mod first_write;
mod below;
mod storage;
mod wal;
#[cfg(test)]
pub(crate) mod testing;

use std::sync::Arc;

use lamina_core::policy::Permit;
use lamina_env::Env;
use lamina_store::blob::BlobStore;
use lamina_store::codec::control::By;
use lamina_store::log::Section;
use lamina_types::AuditId;
use lamina_types::capability::Capability;
use tokio::sync::Mutex;

use crate::erasure::ErasureDesk;
use crate::forget::ForgetDesk;
use crate::import::ImportDesk;
use crate::retention::RetentionDesk;
use crate::write::prepare::section;
use standing::Standing;

pub use below::Whose;
pub use book::{PolicyBook, PolicyChanged, PolicyRecord};
pub use lamina_store::codec::control::PolicyTarget;
pub use policies::PolicyPermit;
pub use scopes::{
    MembersChanged, PruneCandidate, Pruned, Records, ScopeListed, ScopePage, ScopeRecord,
    ScopesQuery,
};
pub use sight::{Boot, Sight};
pub use storage::Compacted;
pub use vocabularies::{VocabularyChanged, VocabularyPermit};
pub use wal::{WalStatus, WalVerdict};

/// What administration keeps in memory.
#[derive(Debug)]
pub(crate) struct Admin {
    /// What is in force.
    pub(crate) standing: Arc<Standing>,
    memberships: memberships::Cache,
    registrations: said::Registrations,
    /// Tenants are made one after the other.
    registering: Mutex<()>,
    /// Scopes are changed by request one after the other.
    administering: Mutex<()>,
    /// Conflicts are decided one after the other.
    pub(crate) deciding: Mutex<()>,
    /// Vocabularies are changed one after the other.
    naming: Mutex<()>,
    /// What is forgotten, and what would be.
    pub(crate) forgetting: ForgetDesk,
    /// What is erased, and what would be.
    pub(crate) erasing: ErasureDesk,
    /// Import jobs.
    pub(crate) importing: ImportDesk,
    /// What is past its time.
    pub(crate) retention: RetentionDesk,
    /// Views are compacted once at a time.
    compacting: Mutex<()>,
}

impl Admin {
    pub(crate) fn over(standing: Arc<Standing>, staging: Arc<BlobStore>) -> Admin {
        Admin {
            standing,
            memberships: memberships::Cache::default(),
            registrations: said::Registrations::default(),
            registering: Mutex::default(),
            administering: Mutex::default(),
            deciding: Mutex::default(),
            naming: Mutex::default(),
            forgetting: ForgetDesk::default(),
            erasing: ErasureDesk::default(),
            importing: ImportDesk::over(staging),
            retention: RetentionDesk::default(),
            compacting: Mutex::default(),
        }
    }
}

/// What the entry of a change notes beside the caller of its permit.
#[derive(Debug, Clone)]
pub struct Noted {
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// The request; may be empty.
    pub request_id: String,
    /// Why, in the caller's words, if somebody can read it again; else empty. What nobody reads is not kept: the row has
    /// the hash of the request.
    pub note: String,
}

/// The `who` section of a change.
pub(crate) fn by<C: Capability>(env: &Env, permit: &Permit<C>, noted: &Noted) -> Section {
    by_in(env, permit, noted, permit.caller().tenant)
}

/// The same for an entry that stands under another ordinal than the permit's.
pub(crate) fn by_in<C: Capability>(
    env: &Env,
    permit: &Permit<C>,
    noted: &Noted,
    tenant: u32,
) -> Section {
    let (home, _) = permit.caller().origin();
    let by = By {
        caller: permit.caller().actor.clone(),
        audit_id: noted.audit_id,
        request_id: noted.request_id.clone(),
        decision: permit.capability().to_owned(),
        note: noted.note.clone(),
        home: (home != tenant).then_some(home),
    };
    section(&*env.rng, &by.encode())
}
