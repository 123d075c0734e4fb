//! What a token says about its bearer, and the rules every claim must keep.
//!
//! Claims are read only after the signature was checked, in the order of R138 to R140: issuer,
//! tenant, times, then the rest. Claims that we do not know are ignored, as tokens of identity
//! providers are full of them.

use std::collections::BTreeSet;

use lamina_types::limits::{
    CAPABILITY_CHARS_MAX, ISSUER_CHARS_MAX, SERVICE_TOKEN_LIFE_US_MAX, TOKEN_AUDIENCES_MAX,
    TOKEN_CAPABILITIES_MAX, TOKEN_CLOCK_SKEW_US_MAX, TOKEN_ID_CHARS_MAX, TOKEN_SCOPES_MAX,
};
use lamina_types::{ActorId, Micros, ScopePrefix, TenantName};
use serde::de::DeserializeOwned;

use crate::error::TokenError;
use crate::json::Members;

const AUDIENCE: &str = "cortexdb:tenant:";
const SECOND_US: i64 = 1_000_000;

/// The claims of a token that was verified, or that is about to be minted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    /// Who made the token.
    pub iss: String,
    /// Whose token it is.
    pub sub: ActorId,
    /// The tenant it is for.
    pub tenant: TenantName,
    /// When it ends; whole seconds.
    pub exp: Micros,
    /// When it was made; whole seconds.
    pub iat: Micros,
    /// Its id, for revocation.
    pub jti: String,
    /// A hint that is not acted on (R134).
    pub deployment: Option<String>,
    /// The capabilities it narrows its bearer to; `None`: it does not.
    pub caps: Option<BTreeSet<String>>,
    /// Capabilities it limits to a part of the scope tree.
    pub scopes: Vec<(String, ScopePrefix)>,
}

impl Claims {
    /// Reads and checks the claims of a payload whose signature was checked.
    /// `life_us_max` is how long a token of a user lives at most; those of services have a limit of
    /// their own.
    pub(crate) fn read(
        members: &Members,
        now: Micros,
        life_us_max: i64,
    ) -> Result<Claims, TokenError> {
        let iss = issuer(members)?;
        let tenant = tenant(members)?;
        let (iat, exp) = times(members, now)?;
        let sub: String = required(members, "sub", "must be a text")?;
        let sub: ActorId = sub.parse().map_err(|_| bad("sub", "must be an actor, `type:id`"))?;
        if sub.kind() == "system" {
            return Err(bad(
                "sub",
                "must not be of the type `system`, which is the database itself",
            ));
        }
        let service = sub.kind() == "service";
        let life_max = if service { SERVICE_TOKEN_LIFE_US_MAX } else { life_us_max };
        if exp.0.saturating_sub(iat.0) > life_max {
            return Err(TokenError::LifeTooLong);
        }
        let jti: String = required(members, "jti", "must be a text")?;
        if !printable(&jti, TOKEN_ID_CHARS_MAX) {
            return Err(bad("jti", "must be 1 to 128 printable characters without spaces"));
        }
        Ok(Claims {
            iss,
            sub,
            tenant,
            exp,
            iat,
            jti,
            deployment: deployment(members)?,
            caps: capabilities(members)?,
            scopes: scopes(members)?,
        })
    }

    /// The payload as JSON.
    pub(crate) fn to_json(&self) -> String {
        // Destructured, so that a claim added here cannot be forgotten there.
        let Claims { iss, sub, tenant, exp, iat, jti, deployment, caps, scopes } = self;
        let mut payload = serde_json::Map::new();
        let mut put = |name: &str, value: serde_json::Value| {
            payload.insert(name.to_owned(), value);
        };
        put("iss", iss.as_str().into());
        put("sub", sub.as_str().into());
        put("aud", format!("{AUDIENCE}{tenant}").into());
        put("exp", exp.0.div_euclid(SECOND_US).into());
        put("iat", iat.0.div_euclid(SECOND_US).into());
        put("jti", jti.as_str().into());
        if let Some(deployment) = deployment {
            put("deployment", deployment.as_str().into());
        }
        if let Some(caps) = caps {
            put("caps", caps.iter().map(String::as_str).collect());
        }
        if !scopes.is_empty() {
            let entries =
                scopes.iter().map(|(capability, prefix)| format!("{capability}:{prefix}"));
            put("scopes", entries.collect());
        }
        serde_json::Value::Object(payload).to_string()
    }
}

/// The issuer that a payload names. The one claim that is needed before the signature is checked, to
/// know whose keys may have made it.
pub(crate) fn issuer(members: &Members) -> Result<String, TokenError> {
    let iss: String = required(members, "iss", "must be a text")?;
    if is_issuer(&iss) {
        Ok(iss)
    } else {
        Err(bad("iss", "must be 1 to 512 printable characters without spaces"))
    }
}

/// Whether a text can be the name of an issuer.
pub(crate) fn is_issuer(text: &str) -> bool {
    printable(text, ISSUER_CHARS_MAX)
}

/// Whether a text has visible ASCII characters only, at least one and at most `max`.
pub(crate) fn printable(text: &str, max: usize) -> bool {
    !text.is_empty() && text.len() <= max && text.bytes().all(|c| c.is_ascii_graphic())
}

fn bad(claim: &'static str, must: &'static str) -> TokenError {
    TokenError::BadClaim { claim, must }
}

fn optional<T: DeserializeOwned>(
    members: &Members,
    claim: &'static str,
    must: &'static str,
) -> Result<Option<T>, TokenError> {
    members.read(claim).map_err(|_| bad(claim, must))
}

fn required<T: DeserializeOwned>(
    members: &Members,
    claim: &'static str,
    must: &'static str,
) -> Result<T, TokenError> {
    optional(members, claim, must)?.ok_or(TokenError::MissingClaim { claim })
}

/// `aud` is one text or a list of them; exactly one of them names a tenant.
fn tenant(members: &Members) -> Result<TenantName, TokenError> {
    let many = members.read::<Vec<String>>("aud");
    let audiences = match many {
        Ok(audiences) => audiences.unwrap_or_default(),
        Err(_) => vec![members.read::<String>("aud").ok().flatten().ok_or(TokenError::Tenant)?],
    };
    if audiences.len() > TOKEN_AUDIENCES_MAX {
        return Err(TokenError::Tenant);
    }
    let mut names = audiences.iter().filter_map(|audience| audience.strip_prefix(AUDIENCE));
    match (names.next(), names.next()) {
        (Some(name), None) => name.parse().map_err(|_| TokenError::Tenant),
        _ => Err(TokenError::Tenant),
    }
}

/// `iat` and `exp`, both in their bounds (R140). `nbf` is not ours, but a token that says when it
/// begins means it.
fn times(members: &Members, now: Micros) -> Result<(Micros, Micros), TokenError> {
    let exp = seconds(members, "exp")?.ok_or(TokenError::MissingClaim { claim: "exp" })?;
    let iat = seconds(members, "iat")?.ok_or(TokenError::MissingClaim { claim: "iat" })?;
    let nbf = seconds(members, "nbf")?;
    if exp <= now {
        return Err(TokenError::Expired);
    }
    let latest = now.plus(TOKEN_CLOCK_SKEW_US_MAX);
    for (claim, at) in [("iat", Some(iat)), ("nbf", nbf)] {
        if at.is_some_and(|at| at > latest) {
            return Err(TokenError::NotYet { claim });
        }
    }
    if exp <= iat {
        return Err(bad("exp", "must be later than `iat`"));
    }
    Ok((iat, exp))
}

fn seconds(members: &Members, claim: &'static str) -> Result<Option<Micros>, TokenError> {
    const MUST: &str = "must be a whole number of seconds since 1970";
    let Some(seconds) = optional::<i64>(members, claim, MUST)? else { return Ok(None) };
    let micros = seconds.checked_mul(SECOND_US).filter(|at| (0..=Micros::MAX.0).contains(at));
    micros.map(|at| Some(Micros(at))).ok_or(bad(claim, MUST))
}

fn deployment(members: &Members) -> Result<Option<String>, TokenError> {
    const MUST: &str = "must be a text of at most 128 characters";
    let hint: Option<String> = optional(members, "deployment", MUST)?;
    match hint {
        Some(hint) if hint.len() > 128 => Err(bad("deployment", MUST)),
        hint => Ok(hint),
    }
}

fn capabilities(members: &Members) -> Result<Option<BTreeSet<String>>, TokenError> {
    const MUST: &str = "must be a list of at most 128 capabilities, without wildcards";
    let Some(caps) = optional::<Vec<String>>(members, "caps", MUST)? else { return Ok(None) };
    if caps.len() > TOKEN_CAPABILITIES_MAX || !caps.iter().all(|name| is_capability(name)) {
        return Err(bad("caps", MUST));
    }
    Ok(Some(caps.into_iter().collect()))
}

fn scopes(members: &Members) -> Result<Vec<(String, ScopePrefix)>, TokenError> {
    const MUST: &str = "must be a list of at most 128 `CAPABILITY:PREFIX`, the prefix a scope path with or without `/*`";
    let entries: Vec<String> = optional(members, "scopes", MUST)?.unwrap_or_default();
    if entries.len() > TOKEN_SCOPES_MAX {
        return Err(bad("scopes", MUST));
    }
    entries.iter().map(|entry| parse_scope_entry(entry).ok_or(bad("scopes", MUST))).collect()
}

/// Reads one `CAPABILITY:PREFIX` of the claim `scopes`. A capability has no colon, so the first one separates them.
pub fn parse_scope_entry(entry: &str) -> Option<(String, ScopePrefix)> {
    let (capability, prefix) = entry.split_once(':')?;
    is_capability(capability).then_some(())?;
    Some((capability.to_owned(), prefix.parse().ok()?))
}

/// Whether a text has the form of one capability: words of `[a-z0-9_]` with dots between them. Which
/// of them exist is not known here; narrowing to one that does not exist allows nothing.
fn is_capability(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_')
    };
    text.len() <= CAPABILITY_CHARS_MAX && text.split('.').all(is_word)
}

#[cfg(test)]
mod tests;
