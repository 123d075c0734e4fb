//! A memory event as it is read back: an experience plus what the server added.

use crate::actor::ActorId;
use crate::citation::{CitedSeal, EventCitation};
use crate::experience::Experience;
use crate::ids::EventId;
use crate::time::RecordedAt;

/// One stored event.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// Its id.
    pub id: EventId,
    /// The authenticated principal that wrote it.
    pub caller: ActorId,
    /// The caller had leave to write as the system, and did.
    pub as_system: bool,
    /// The tenant's name.
    pub tenant_id: String,
    /// When the log accepted it.
    pub recorded_at: RecordedAt,
    /// The tenant's own sequence number (ruling 13).
    pub wal_offset: u64,
    /// Its number among the events of its scope, dense from 1.
    pub number: u64,
    /// The seal of its log entry.
    pub seal: [u8; 32],
    /// Cancelled: kept, but not recalled and not listed (R316).
    pub excluded_from_recall: bool,
    /// What was experienced.
    pub experience: Experience,
}

impl EventRecord {
    /// Its public citation.
    pub fn citation(&self) -> EventCitation {
        let scope = self.experience.scope.clone();
        EventCitation { scope, number: self.number, seal: CitedSeal::Full(self.seal) }
    }
}
