//! Control entries that decide who may do what: policies, revoked tokens, members of scopes.
//!
//! Whom an entry is about stands in `what`, who made it and why in `who`: forgetting a person who
//! administered something does not change what is in force. The scope of a [`ScopeSet`] and a
//! [`ScopeRemoved`] is the head's scope, the tenant of a [`PolicySet`] the head's tenant.

use lamina_types::{ActorId, AuditId, MemberRole, Micros, ScopePath};

use super::{VERSION, flag};
use crate::codec::CodecError;
use crate::codec::wire::{
    FieldWriter, array, fields, number, once, ordinal, parsed, required, string, text,
};

/// The `who` section of these entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct By {
    /// The authenticated principal.
    pub caller: ActorId,
    /// The row of the audit log.
    pub audit_id: AuditId,
    /// The request it came with; may be empty.
    pub request_id: String,
    /// The decision that let it in; may be empty.
    pub decision: String,
    /// Why, in the caller's words, if somebody can read it again; else empty. Older entries may have more.
    pub note: String,
    /// The tenant whose audit log has the row, if that is not the tenant of the entry.
    pub home: Option<u32>,
}

impl By {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 128);
        out.field(1, self.caller.as_str().as_bytes());
        out.field(2, self.audit_id.as_bytes());
        for (tag, words) in [(3, &self.request_id), (4, &self.decision), (5, &self.note)] {
            if !words.is_empty() {
                out.field(tag, words.as_bytes());
            }
        }
        if let Some(home) = self.home {
            out.number(6, u64::from(home));
        }
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<By, CodecError> {
        let (mut caller, mut audit, mut request) = (None, None, None);
        let (mut decision, mut note, mut home) = (None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut caller, parsed(value, "caller")?, "caller")?,
                2 => once(&mut audit, array(value, "audit_id")?, "audit_id")?,
                3 => once(&mut request, string(value, "request_id")?, "request_id")?,
                4 => once(&mut decision, string(value, "decision")?, "decision")?,
                5 => once(&mut note, string(value, "note")?, "note")?,
                6 => once(&mut home, ordinal(value, "home")?, "home")?,
                _ => {}
            }
        }
        Ok(By {
            caller: required(caller, "caller")?,
            audit_id: AuditId::from_bytes(required(audit, "audit_id")?),
            request_id: request.unwrap_or_default(),
            decision: decision.unwrap_or_default(),
            note: note.unwrap_or_default(),
            home,
        })
    }
}

/// What a policy is about. The deployment's stands under the deployment's own ordinal.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PolicyTarget {
    /// Everything.
    Deployment,
    /// The tenant of the entry.
    Tenant,
    /// A scope and what lies below it.
    Scope(ScopePath),
    /// An actor.
    Actor(ActorId),
}

impl PolicyTarget {
    /// The number of its tier, outermost first.
    pub fn tier(&self) -> u8 {
        match self {
            PolicyTarget::Deployment => 0,
            PolicyTarget::Tenant => 1,
            PolicyTarget::Scope(_) => 2,
            PolicyTarget::Actor(_) => 3,
        }
    }

    fn words(&self) -> &str {
        match self {
            PolicyTarget::Deployment | PolicyTarget::Tenant => "",
            PolicyTarget::Scope(path) => path.as_str(),
            PolicyTarget::Actor(actor) => actor.as_str(),
        }
    }

    fn read(tier: u8, words: &[u8]) -> Result<PolicyTarget, CodecError> {
        match (tier, words) {
            (0, []) => Ok(PolicyTarget::Deployment),
            (1, []) => Ok(PolicyTarget::Tenant),
            (2, path) => parsed(path, "target").map(PolicyTarget::Scope),
            (3, actor) => parsed(actor, "target").map(PolicyTarget::Actor),
            _ => Err(CodecError::Malformed { field: "target" }),
        }
    }
}

/// A policy was set. The head's causes name the entry it replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySet {
    /// What it is about.
    pub target: PolicyTarget,
    /// The document, as text that is opaque here; `None`: there is no policy any more.
    pub document: Option<String>,
    /// How often this target's policy was set, this time included.
    pub version: u64,
}

impl PolicySet {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let document = self.document.as_ref().map(String::as_bytes);
        let mut out = FieldWriter::new(VERSION, 64 + document.map_or(0, <[u8]>::len));
        out.field(1, &[self.target.tier()]);
        out.field(2, self.target.words().as_bytes());
        out.optional(3, document);
        out.number(4, self.version);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<PolicySet, CodecError> {
        let (mut tier, mut words, mut document, mut version) = (None, None, None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut tier, array::<1>(value, "tier")?, "tier")?,
                2 => once(&mut words, value, "target")?,
                3 => once(&mut document, string(value, "document")?, "document")?,
                4 => once(&mut version, number(value, "version")?, "version")?,
                _ => {}
            }
        }
        let [tier] = required(tier, "tier")?;
        Ok(PolicySet {
            target: PolicyTarget::read(tier, required(words, "target")?)?,
            document,
            version: required(version, "version")?,
        })
    }
}

/// A token was revoked. It names nobody and is never erased: forgetting must not let anybody in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRevoked {
    /// Keyed hash of the token's issuer and id, under the deployment's key.
    pub token: [u8; 32],
    /// When the token ends by itself.
    pub exp: Micros,
}

impl TokenRevoked {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 48);
        out.field(1, &self.token);
        out.field(2, &self.exp.0.to_le_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<TokenRevoked, CodecError> {
        let (mut token, mut exp) = (None, None);
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut token, array(value, "token")?, "token")?,
                2 => once(&mut exp, i64::from_le_bytes(array(value, "exp")?), "exp")?,
                _ => {}
            }
        }
        Ok(TokenRevoked { token: required(token, "token")?, exp: Micros(required(exp, "exp")?) })
    }
}

/// The members of a scope were set, all of them at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeSet {
    /// The path.
    pub path: ScopePath,
    /// Who belongs to it.
    pub members: Vec<(ActorId, MemberRole)>,
    /// What it asks of derivation, as text that is opaque here; may be empty.
    pub policies: String,
    /// By a write into a scope that had been removed, not by request.
    pub auto: bool,
}

impl ScopeSet {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64 + 32 * self.members.len());
        out.field(1, self.path.as_str().as_bytes());
        for (actor, role) in &self.members {
            let mut member = vec![role_number(*role)];
            member.extend_from_slice(actor.as_str().as_bytes());
            out.field(2, &member);
        }
        if !self.policies.is_empty() {
            out.field(3, self.policies.as_bytes());
        }
        out.field(4, &[u8::from(self.auto)]);
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ScopeSet, CodecError> {
        let (mut path, mut policies, mut auto) = (None, None, None);
        let mut members = Vec::new();
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut path, parsed(value, "path")?, "path")?,
                2 => members.push(member(value)?),
                3 => once(&mut policies, string(value, "policies")?, "policies")?,
                4 => once(&mut auto, flag(value, "auto")?, "auto")?,
                _ => {}
            }
        }
        Ok(ScopeSet {
            path: required(path, "path")?,
            members,
            policies: policies.unwrap_or_default(),
            auto: required(auto, "auto")?,
        })
    }
}

fn member(value: &[u8]) -> Result<(ActorId, MemberRole), CodecError> {
    const MALFORMED: CodecError = CodecError::Malformed { field: "member" };
    let (role, actor) = value.split_first().ok_or(MALFORMED)?;
    let actor = text(actor, "member")?.parse().map_err(|_| MALFORMED)?;
    Ok((actor, role_of(*role).ok_or(MALFORMED)?))
}

/// The number of a role in the log and in rows. Never reused.
pub(crate) fn role_number(role: MemberRole) -> u8 {
    match role {
        MemberRole::Reader => 1,
        MemberRole::Writer => 2,
        MemberRole::Owner => 3,
    }
}

/// The role with this number.
pub(crate) fn role_of(number: u8) -> Option<MemberRole> {
    MemberRole::ALL.iter().copied().find(|role| role_number(*role) == number)
}

/// A scope is not registered any more; its records stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRemoved {
    /// The path.
    pub path: ScopePath,
}

impl ScopeRemoved {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = FieldWriter::new(VERSION, 64);
        out.field(1, self.path.as_str().as_bytes());
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<ScopeRemoved, CodecError> {
        let mut path = None;
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            if tag == 1 {
                once(&mut path, parsed(value, "path")?, "path")?;
            }
        }
        Ok(ScopeRemoved { path: required(path, "path")? })
    }
}

#[cfg(test)]
mod tests;
