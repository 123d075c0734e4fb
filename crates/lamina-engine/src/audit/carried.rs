//! The audit row that an entry of the log carries.
//!
//! A write is acknowledged when its entry is durable; its row follows without a sync of its own.
//! Should it get lost, what the entry says about it is enough to make it again.

use lamina_store::codec::control::{By, Cancel};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::entry::{Entry, Kind, Place, control};
use lamina_types::{AuditId, AuditRow, AuditWho, Decision, EventId};

/// An entry that carries a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Carried {
    pub(crate) offset: u64,
    pub(crate) place: Place,
    pub(crate) tenant: u32,
    pub(crate) id: AuditId,
}

/// What the entries carry, in order. A bulk write is one call and has one row.
pub(crate) fn carried(entries: &[Entry]) -> Vec<Carried> {
    let mut found: Vec<Carried> = Vec::new();
    for entry in entries {
        let Some(id) = audit_id(entry) else { continue };
        if found.last().is_none_or(|last| last.id != id) {
            let (offset, tenant) = (entry.head.offset, entry.head.tenant);
            found.push(Carried { offset, place: entry.place, tenant, id });
        }
    }
    found
}

/// The id of the row, if the entry carries one and still has its words.
fn audit_id(entry: &Entry) -> Option<AuditId> {
    match (entry.head.kind, entry.head.sub) {
        (Kind::Experience, _) => Some(ExperienceWho::decode(entry.who.live()?).ok()?.audit_id),
        (Kind::Control, control::CANCEL) => Some(Cancel::decode(entry.what.live()?).ok()?.audit_id),
        (Kind::Control, sub) if by_somebody(sub) => {
            Some(By::decode(entry.who.live()?).ok()?.audit_id)
        }
        _ => None,
    }
}

/// Control entries whose `who` says by whom.
fn by_somebody(sub: u16) -> bool {
    matches!(
        sub,
        control::POLICY_SET
            | control::TOKEN_REVOKED
            | control::SCOPE_SET
            | control::SCOPE_REMOVED
            | control::CONFLICT_RESOLVED
            | control::VOCABULARY_SET
            | control::BLOB
            | control::BLOB_REMOVED
            | control::EPISODES_SEALED
            | control::UNDERSTANDING_SYNTHESIZED
            | control::BELIEF_DECLARED
            | control::REDERIVE_BEGUN
    )
}

/// The row, as far as the entry tells.
pub(crate) fn recreate(entry: &Entry) -> Option<AuditRow> {
    let mut row = AuditRow {
        id: audit_id(entry)?,
        at: entry.head.at(),
        tenant: entry.head.tenant,
        who: None,
        endpoint: String::new(),
        capability: String::new(),
        // Nothing is in the log that was not let in.
        decision: Decision::Allow,
        decided_by_tier: String::new(),
        method: String::new(),
        body_hash: None,
        headers_hash: None,
        body_bytes: None,
        pepper_version: 0,
        response_status: None,
        event_id: None,
        elapsed_ms: None,
        gdpr: false,
        recovered: true,
    };
    match (entry.head.kind, entry.head.sub) {
        (Kind::Experience, _) => {
            let who = ExperienceWho::decode(entry.who.live()?).ok()?;
            let what = entry.what.live().and_then(|what| ExperienceWhat::decode(what).ok());
            row.event_id = Some(EventId::from_bytes(entry.head.id));
            row.capability = who.decision;
            row.who = Some(AuditWho {
                actor: Some(who.caller),
                scope: what.map(|what| what.scope),
                request_id: who.request_id,
                ..AuditWho::default()
            });
        }
        (Kind::Control, sub) => {
            if sub == control::CANCEL {
                row.event_id = Some(Cancel::decode(entry.what.live()?).ok()?.event_id);
            }
            // A cancellation says by whom beside its id, which stands in its `what`.
            let Some(bytes) = entry.who.live() else {
                row.who = Some(AuditWho::default());
                return Some(row);
            };
            let by = By::decode(bytes).ok()?;
            row.capability = by.decision;
            row.who = Some(AuditWho {
                actor: Some(by.caller),
                request_id: by.request_id,
                ..AuditWho::default()
            });
        }
        _ => {}
    }
    Some(row)
}
