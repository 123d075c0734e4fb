//! The audit row that an entry of the log carries.
//!
//! A write is acknowledged when its entry is durable; its row follows without a sync of its own.
//! Should it get lost, what the entry says about it is enough to make it again.

use lamina_store::codec::control::{By, Cancel};
use lamina_store::codec::experience::{ExperienceWhat, ExperienceWho};
use lamina_store::entry::{DEPLOYMENT, Entry, Kind, Place, control};
use lamina_types::{ActorId, AuditId, AuditRow, AuditWho, EventId};

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
        let Some((id, home)) = row_of(entry) else { continue };
        if found.last().is_none_or(|last| last.id != id) {
            let (offset, tenant) = (entry.head.offset, home.unwrap_or(entry.head.tenant));
            found.push(Carried { offset, place: entry.place, tenant, id });
        }
    }
    found
}

/// The id of the row and, if that is not the entry's, the tenant whose audit log has it; `None` if the
/// entry carries none or has lost its words.
fn row_of(entry: &Entry) -> Option<(AuditId, Option<u32>)> {
    match (entry.head.kind, entry.head.sub) {
        (Kind::Experience, _) => {
            let who = ExperienceWho::decode(entry.who.live()?).ok()?;
            Some((who.audit_id, who.home))
        }
        (Kind::Control, control::CANCEL) => {
            let by = entry.who.live().and_then(|bytes| By::decode(bytes).ok());
            let cancel = Cancel::decode(entry.what.live()?).ok()?;
            Some((cancel.audit_id, by.and_then(|by| by.home)))
        }
        (Kind::Control, sub) if by_somebody(sub) => {
            let by = By::decode(entry.who.live()?).ok()?;
            Some((by.audit_id, by.home))
        }
        _ => None,
    }
}

/// Whoever wrote an entry, as its own tenant knows it.
fn at_home(caller: ActorId, home: Option<u32>, entry: &Entry) -> ActorId {
    match caller.at_home() {
        // What is the deployment's is written under the name that everybody has at home.
        Some((own, _)) if home.is_some() && entry.head.tenant != DEPLOYMENT => own,
        _ => caller,
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
            | control::PHRASES_SET
            | control::RETENTION_SET
            | control::BLOB
            | control::BLOB_REMOVED
            | control::EPISODES_SEALED
            | control::UNDERSTANDING_SYNTHESIZED
            | control::BELIEF_DECLARED
            | control::REDERIVE_BEGUN
            | control::ENTITY_MERGED
            | control::ENTITY_SPLIT
            | control::FORGET_BEGUN
            | control::ERASURE_BEGUN
            | control::IMPORT_BEGUN
            | control::LEGAL_HOLD_SET
            | control::LEGAL_HOLD_LIFTED
    )
}

/// The row, as far as the entry tells.
pub(crate) fn recreate(entry: &Entry) -> Option<AuditRow> {
    let (id, home) = row_of(entry)?;
    let tenant = home.unwrap_or(entry.head.tenant);
    // Nothing is in the log that was not let in.
    let mut row = AuditRow {
        gdpr: entry.head.sub == control::ERASURE_BEGUN && entry.head.kind == Kind::Control,
        recovered: true,
        ..AuditRow::blank(id, entry.head.at(), tenant)
    };
    match (entry.head.kind, entry.head.sub) {
        (Kind::Experience, _) => {
            let who = ExperienceWho::decode(entry.who.live()?).ok()?;
            let what = entry.what.live().and_then(|what| ExperienceWhat::decode(what).ok());
            row.event_id = Some(EventId::from_bytes(entry.head.id));
            row.capability = who.decision;
            row.who = Some(AuditWho {
                actor: Some(at_home(who.caller, who.home, entry)),
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
                actor: Some(at_home(by.caller, by.home, entry)),
                request_id: by.request_id,
                ..AuditWho::default()
            });
        }
        _ => {}
    }
    Some(row)
}
