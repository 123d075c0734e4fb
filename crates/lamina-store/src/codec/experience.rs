//! The two sections of an `experience` entry.
//!
//! `who` says which people and sessions were involved and which decision let it in; `what` holds
//! the words. Splitting an experience this way is what allows erasing one without the other.

use lamina_types::{
    Actor, ActorId, AuditId, BatchId, Content, Context, Directives, Experience, Hints, Modality,
    ScopePath,
};

use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, once, ordinal, parsed, required, string};

mod what;

pub use what::batch_of;

const WHO_VERSION: u8 = 1;

/// The endpoint family of a single write; part of the identity of an idempotency key (R429).
pub const FAMILY_EXPERIENCE: u8 = 0;
/// The endpoint family of a bulk write.
pub const FAMILY_BULK: u8 = 1;

/// The `who` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperienceWho {
    /// The authenticated principal that wrote it.
    pub caller: ActorId,
    /// Who did it.
    pub observed_actor: Actor,
    /// Whom it is about.
    pub subject: ActorId,
    /// The request it came with: ours (`req_...`) or the id the client chose.
    pub request_id: String,
    /// The row of the audit log that this entry carries.
    pub audit_id: AuditId,
    /// The decision that let it in; may be empty.
    pub decision: String,
    /// The tenant whose audit log has the row, if that is not the tenant of the entry.
    pub home: Option<u32>,
    /// The caller had leave to write as the system, and did.
    pub as_system: bool,
}

/// The `what` section.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperienceWhat {
    /// The home scope.
    pub scope: ScopePath,
    /// How it reached us.
    pub modality: Modality,
    /// What it was.
    pub content: Content,
    /// When, why, after what.
    pub context: Context,
    /// What the caller asks of derivation.
    pub directives: Directives,
    /// The source descriptor, compact JSON.
    pub source: Option<String>,
    /// The parts of an imported record that have no field here, compact JSON.
    pub origin: Option<String>,
    /// Hints outside the identity of the body.
    pub hints: Hints,
    /// The caller's key.
    pub idempotency_key: String,
    /// How a retry of it is recognised.
    pub identity: Identity,
}

/// How a retry is recognised without comparing words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The endpoint family: [`FAMILY_EXPERIENCE`] or [`FAMILY_BULK`].
    pub family: u8,
    /// Keyed hash of (caller, family, idempotency key).
    pub idem_mac: [u8; 32],
    /// Keyed hash of the body.
    pub body_mac: [u8; 32],
    /// The bulk write it came with.
    pub batch_id: Option<BatchId>,
}

/// Who wrote an experience and by which decision: what the envelope does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// The authenticated principal.
    pub caller: ActorId,
    /// The request.
    pub request_id: String,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// The decision that let it in; may be empty.
    pub decision: String,
    /// The tenant whose audit log has the row, if that is not the tenant of the entry.
    pub home: Option<u32>,
    /// The caller had leave to write as the system, and did.
    pub as_system: bool,
}

/// Splits an admitted experience into its two sections.
pub fn split(
    admission: Admission,
    experience: Experience,
    identity: Identity,
) -> (ExperienceWho, ExperienceWhat) {
    // Destructured, so that an added field does not compile until it has a section.
    let Experience {
        scope,
        observed_actor,
        subject,
        modality,
        content,
        context,
        directives,
        source,
        origin,
        hints,
        idempotency_key,
    } = experience;
    let Admission { caller, request_id, audit_id, decision, home, as_system } = admission;
    let who = ExperienceWho {
        caller,
        observed_actor,
        subject,
        request_id,
        audit_id,
        decision,
        home,
        as_system,
    };
    let what = ExperienceWhat {
        scope,
        modality,
        content,
        context,
        directives,
        source,
        origin,
        hints,
        idempotency_key,
        identity,
    };
    (who, what)
}

/// Puts the two sections together again: the caller and the experience.
pub fn assemble(who: ExperienceWho, what: ExperienceWhat) -> (ActorId, Experience) {
    let experience = Experience {
        scope: what.scope,
        observed_actor: who.observed_actor,
        subject: who.subject,
        modality: what.modality,
        content: what.content,
        context: what.context,
        directives: what.directives,
        source: what.source,
        origin: what.origin,
        hints: what.hints,
        idempotency_key: what.idempotency_key,
    };
    (who.caller, experience)
}

mod who_tag {
    pub(super) const CALLER: u8 = 1;
    pub(super) const ACTOR: u8 = 2;
    pub(super) const SESSION: u8 = 3;
    pub(super) const SUBJECT: u8 = 4;
    pub(super) const REQUEST: u8 = 5;
    pub(super) const AUDIT: u8 = 6;
    pub(super) const DECISION: u8 = 7;
    pub(super) const HOME: u8 = 8;
    pub(super) const AS_SYSTEM: u8 = 9;
}

impl ExperienceWho {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let session = self.observed_actor.session.as_deref();
        let mut out = FieldWriter::new(WHO_VERSION, 256);
        out.field(who_tag::CALLER, self.caller.as_str().as_bytes());
        out.field(who_tag::ACTOR, self.observed_actor.id.as_str().as_bytes());
        out.optional(who_tag::SESSION, session.map(str::as_bytes));
        out.field(who_tag::SUBJECT, self.subject.as_str().as_bytes());
        out.field(who_tag::REQUEST, self.request_id.as_bytes());
        out.field(who_tag::AUDIT, self.audit_id.as_bytes());
        if !self.decision.is_empty() {
            out.field(who_tag::DECISION, self.decision.as_bytes());
        }
        if let Some(home) = self.home {
            out.number(who_tag::HOME, u64::from(home));
        }
        if self.as_system {
            out.field(who_tag::AS_SYSTEM, &[]);
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ExperienceWho, CodecError> {
        let (mut caller, mut actor, mut session, mut subject) = (None, None, None, None);
        let (mut request, mut audit, mut decision, mut home) = (None, None, None, None);
        let mut as_system = None;
        let mut fields = fields(bytes, WHO_VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                who_tag::CALLER => once(&mut caller, parsed(value, "caller")?, "caller")?,
                who_tag::ACTOR => {
                    once(&mut actor, parsed(value, "observed_actor")?, "observed_actor")?;
                }
                who_tag::SESSION => once(&mut session, string(value, "session")?, "session")?,
                who_tag::SUBJECT => once(&mut subject, parsed(value, "subject")?, "subject")?,
                who_tag::REQUEST => once(&mut request, string(value, "request_id")?, "request_id")?,
                who_tag::AUDIT => once(&mut audit, array(value, "audit_id")?, "audit_id")?,
                who_tag::DECISION => once(&mut decision, string(value, "decision")?, "decision")?,
                who_tag::HOME => once(&mut home, ordinal(value, "home")?, "home")?,
                who_tag::AS_SYSTEM => once(&mut as_system, true, "as_system")?,
                _ => {}
            }
        }
        Ok(ExperienceWho {
            caller: required(caller, "caller")?,
            observed_actor: Actor { id: required(actor, "observed_actor")?, session },
            subject: required(subject, "subject")?,
            request_id: required(request, "request_id")?,
            audit_id: AuditId::from_bytes(required(audit, "audit_id")?),
            decision: decision.unwrap_or_default(),
            home,
            as_system: as_system.unwrap_or(false),
        })
    }
}

#[cfg(test)]
mod tests;
