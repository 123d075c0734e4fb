//! The two sections of an audit row.
//!
//! `who` has what can name a person, `what` has the rest and the id. The tenant is the head's.

use lamina_types::{AuditId, AuditRow, AuditWho, Decision, EventId, Micros};

use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, parsed, required, string};

const WHO_VERSION: u8 = 1;
const WHAT_VERSION: u8 = 1;
const COVERED_VERSION: u8 = 1;

mod who_tag {
    pub(super) const ACTOR: u8 = 1;
    pub(super) const JTI: u8 = 2;
    pub(super) const SCOPE: u8 = 3;
    pub(super) const PATH: u8 = 4;
    pub(super) const CLIENT_IP: u8 = 5;
    pub(super) const USER_AGENT: u8 = 6;
    pub(super) const REQUEST: u8 = 7;
}

mod what_tag {
    pub(super) const ID: u8 = 1;
    pub(super) const AT: u8 = 2;
    pub(super) const ENDPOINT: u8 = 3;
    pub(super) const CAPABILITY: u8 = 4;
    pub(super) const DECISION: u8 = 5;
    pub(super) const TIER: u8 = 6;
    pub(super) const METHOD: u8 = 7;
    pub(super) const BODY_HASH: u8 = 8;
    pub(super) const HEADERS_HASH: u8 = 9;
    pub(super) const BODY_BYTES: u8 = 10;
    pub(super) const PEPPER: u8 = 11;
    pub(super) const STATUS: u8 = 12;
    pub(super) const EVENT: u8 = 13;
    pub(super) const ELAPSED: u8 = 14;
    pub(super) const GDPR: u8 = 15;
    pub(super) const RECOVERED: u8 = 16;
}

/// The bytes of the `who` section.
pub fn encode_who(who: &AuditWho) -> Vec<u8> {
    // Destructured, so that an added field does not compile until it has a tag.
    let AuditWho { actor, token_jti, scope, path, client_ip, user_agent, request_id } = who;
    let mut out = FieldWriter::new(WHO_VERSION, 256);
    out.optional(who_tag::ACTOR, actor.as_ref().map(|actor| actor.as_str().as_bytes()));
    out.optional(who_tag::JTI, token_jti.as_deref().map(str::as_bytes));
    out.optional(who_tag::SCOPE, scope.as_ref().map(|scope| scope.as_str().as_bytes()));
    out.field(who_tag::PATH, path.as_bytes());
    out.optional(who_tag::CLIENT_IP, client_ip.as_deref().map(str::as_bytes));
    out.optional(who_tag::USER_AGENT, user_agent.as_deref().map(str::as_bytes));
    out.field(who_tag::REQUEST, request_id.as_bytes());
    out.finish()
}

/// Reads the bytes of the `who` section.
pub fn decode_who(bytes: &[u8]) -> Result<AuditWho, CodecError> {
    let (mut actor, mut jti, mut scope, mut path) = (None, None, None, None);
    let (mut client_ip, mut user_agent, mut request) = (None, None, None);
    let mut fields = fields(bytes, WHO_VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            who_tag::ACTOR => once(&mut actor, parsed(value, "actor")?, "actor")?,
            who_tag::JTI => once(&mut jti, string(value, "token_jti")?, "token_jti")?,
            who_tag::SCOPE => once(&mut scope, parsed(value, "scope")?, "scope")?,
            who_tag::PATH => once(&mut path, string(value, "path")?, "path")?,
            who_tag::CLIENT_IP => once(&mut client_ip, string(value, "client_ip")?, "client_ip")?,
            who_tag::USER_AGENT => {
                once(&mut user_agent, string(value, "user_agent")?, "user_agent")?;
            }
            who_tag::REQUEST => once(&mut request, string(value, "request_id")?, "request_id")?,
            _ => {}
        }
    }
    Ok(AuditWho {
        actor,
        token_jti: jti,
        scope,
        path: required(path, "path")?,
        client_ip,
        user_agent,
        request_id: required(request, "request_id")?,
    })
}

/// The bytes of the `what` section.
pub fn encode_what(row: &AuditRow) -> Vec<u8> {
    let AuditRow {
        id,
        at,
        tenant: _,
        who: _,
        endpoint,
        capability,
        decision,
        decided_by_tier,
        method,
        body_hash,
        headers_hash,
        body_bytes,
        pepper_version,
        response_status,
        event_id,
        elapsed_ms,
        gdpr,
        recovered,
    } = row;
    let mut out = FieldWriter::new(WHAT_VERSION, 320);
    out.field(what_tag::ID, id.as_bytes());
    out.field(what_tag::AT, &at.0.to_le_bytes());
    out.field(what_tag::ENDPOINT, endpoint.as_bytes());
    out.field(what_tag::CAPABILITY, capability.as_bytes());
    out.field(what_tag::DECISION, &[u8::from(*decision == Decision::Allow)]);
    out.field(what_tag::TIER, decided_by_tier.as_bytes());
    out.field(what_tag::METHOD, method.as_bytes());
    out.optional(what_tag::BODY_HASH, body_hash.as_ref().map(<[u8; 32]>::as_slice));
    out.optional(what_tag::HEADERS_HASH, headers_hash.as_ref().map(<[u8; 32]>::as_slice));
    let mut optional_number = |tag, value: Option<u64>| {
        if let Some(value) = value {
            out.number(tag, value);
        }
    };
    optional_number(what_tag::BODY_BYTES, *body_bytes);
    optional_number(what_tag::PEPPER, (*pepper_version > 0).then_some(u64::from(*pepper_version)));
    optional_number(what_tag::STATUS, response_status.map(u64::from));
    optional_number(what_tag::ELAPSED, *elapsed_ms);
    out.optional(what_tag::EVENT, event_id.as_ref().map(|id| id.as_bytes().as_slice()));
    out.optional(what_tag::GDPR, gdpr.then_some(&[]));
    out.optional(what_tag::RECOVERED, recovered.then_some(&[]));
    out.finish()
}

/// Reads the bytes of the `what` section of a tenant's row. `who` is left for the caller to add.
pub fn decode_what(tenant: u32, bytes: &[u8]) -> Result<AuditRow, CodecError> {
    let (mut id, mut at, mut endpoint, mut capability) = (None, None, None, None);
    let (mut decision, mut tier, mut method) = (None, None, None);
    let (mut body_hash, mut headers_hash, mut body_bytes) = (None, None, None);
    let (mut pepper, mut status, mut event, mut elapsed) = (None, None, None, None);
    let (mut gdpr, mut recovered) = (None, None);
    let mut fields = fields(bytes, WHAT_VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            what_tag::ID => once(&mut id, array(value, "id")?, "id")?,
            what_tag::AT => once(&mut at, array(value, "at")?, "at")?,
            what_tag::ENDPOINT => once(&mut endpoint, string(value, "endpoint")?, "endpoint")?,
            what_tag::CAPABILITY => {
                once(&mut capability, string(value, "capability")?, "capability")?;
            }
            what_tag::DECISION => once(&mut decision, decided(value)?, "decision")?,
            what_tag::TIER => once(&mut tier, string(value, "tier")?, "tier")?,
            what_tag::METHOD => once(&mut method, string(value, "method")?, "method")?,
            what_tag::BODY_HASH => once(&mut body_hash, array(value, "body_hash")?, "body_hash")?,
            what_tag::HEADERS_HASH => {
                once(&mut headers_hash, array(value, "headers_hash")?, "headers_hash")?;
            }
            what_tag::BODY_BYTES => {
                once(&mut body_bytes, number(value, "body_bytes")?, "body_bytes")?;
            }
            what_tag::PEPPER => once(&mut pepper, small(value, "pepper")?, "pepper")?,
            what_tag::STATUS => once(&mut status, small(value, "status")?, "status")?,
            what_tag::EVENT => once(&mut event, array(value, "event_id")?, "event_id")?,
            what_tag::ELAPSED => once(&mut elapsed, number(value, "elapsed")?, "elapsed")?,
            what_tag::GDPR => once(&mut gdpr, present(value, "gdpr")?, "gdpr")?,
            what_tag::RECOVERED => once(&mut recovered, present(value, "recovered")?, "recovered")?,
            _ => {}
        }
    }
    Ok(AuditRow {
        id: AuditId::from_bytes(required(id, "id")?),
        at: Micros(i64::from_le_bytes(required(at, "at")?)),
        tenant,
        who: None,
        endpoint: required(endpoint, "endpoint")?,
        capability: required(capability, "capability")?,
        decision: required(decision, "decision")?,
        decided_by_tier: required(tier, "tier")?,
        method: required(method, "method")?,
        body_hash,
        headers_hash,
        body_bytes,
        pepper_version: pepper.unwrap_or(0),
        response_status: status,
        event_id: event.map(EventId::from_bytes),
        elapsed_ms: elapsed,
        gdpr: gdpr.is_some(),
        recovered: recovered.is_some(),
    })
}

/// The `what` section of an entry that says how far the log is covered.
pub(super) fn encode_covered(offset: u64) -> Vec<u8> {
    let mut out = FieldWriter::new(COVERED_VERSION, 16);
    out.number(1, offset);
    out.finish()
}

/// Reads the `what` section of an entry that says how far the log is covered.
pub(super) fn decode_covered(bytes: &[u8]) -> Result<u64, CodecError> {
    let mut offset = None;
    let mut fields = fields(bytes, COVERED_VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        if tag == 1 {
            once(&mut offset, number(value, "offset")?, "offset")?;
        }
    }
    required(offset, "offset")
}

fn decided(value: &[u8]) -> Result<Decision, CodecError> {
    match value {
        [0] => Ok(Decision::Deny),
        [1] => Ok(Decision::Allow),
        _ => Err(CodecError::Malformed { field: "decision" }),
    }
}

/// A field that says all it has to say by being there.
fn present(value: &[u8], field: &'static str) -> Result<(), CodecError> {
    if value.is_empty() { Ok(()) } else { Err(CodecError::Malformed { field }) }
}

fn small<T: TryFrom<u64>>(value: &[u8], field: &'static str) -> Result<T, CodecError> {
    T::try_from(number(value, field)?).map_err(|_| CodecError::Malformed { field })
}

#[cfg(test)]
mod tests;
