//! Callers that are bound to one session: their grant reaches its scope and nothing else, whatever they call.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_api::ApiError;
use lamina_core::policy::{Caller, Grant};
use lamina_types::capability::{NAMES, ScopeWrite};
use lamina_types::{ScopePath, ScopePrefix, SessionHome, SessionScope};

use lamina_types::capability::Capability as _;

/// The scope of a session of a caller, outside of any project.
pub(crate) fn session_scope(caller: &Caller, session_id: &str) -> Result<ScopePath, ApiError> {
    let actor = caller.actor.as_str();
    let login = actor.split_once(':').map_or(actor, |(_, id)| id);
    let session_id = crate::mcp::session::checked_session(session_id)?.to_owned();
    let session = SessionScope { home: SessionHome::User(login.to_owned()), session_id };
    session.path().map_err(|error| {
        ApiError::invalid_parameter("session_id", format!("makes no scope: {error}"))
    })
}

/// A grant that reaches as far as another one does within a scope.
pub(crate) fn narrowed(grant: Grant, scope: &ScopePath) -> Grant {
    let mut caps = grant.caps.clone();
    let mut scopes = Vec::with_capacity(NAMES.len());
    for name in NAMES {
        let mut known = grant.scopes.iter().filter(|(known, _)| known == name).peekable();
        let reaches = known.peek().is_none() || known.any(|(_, prefix)| prefix.contains(scope));
        match reaches {
            true => scopes.push(((*name).to_owned(), ScopePrefix::from(scope.clone()))),
            false => {
                let all = || NAMES.iter().map(|name| (*name).to_owned()).collect();
                caps.get_or_insert_with(all as fn() -> BTreeSet<String>).remove(*name);
            }
        }
    }
    Grant { caps, scopes, ..grant }
}

/// The session that a caller is bound to.
pub(crate) fn bound_session(caller: &Caller) -> Option<SessionScope> {
    let grant: &Arc<Grant> = caller.grant.as_ref()?;
    let mut reach = grant.scopes.iter().filter(|(name, _)| name == ScopeWrite::NAME);
    match (reach.next(), reach.next()) {
        (Some((_, prefix)), None) => SessionScope::from_path(prefix.path()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lamina_types::Micros;

    use super::*;

    #[test]
    fn narrowed_grant_reaches_its_session_only() {
        let scope: ScopePath = "user:alice/session:s1".parse().unwrap();
        let elsewhere: ScopePrefix = "user:bob/*".parse().unwrap();
        let grant = Grant {
            jti: "j".to_owned(),
            iss: "i".to_owned(),
            exp: Micros(1),
            caps: None,
            scopes: vec![("scope.write".to_owned(), elsewhere)],
        };
        let narrow = narrowed(grant.clone(), &scope);
        assert!(!narrow.caps.as_ref().unwrap().contains("scope.write"));
        assert!(narrow.scopes.iter().all(|(_, prefix)| *prefix.path() == scope));
        let free = narrowed(Grant { scopes: Vec::new(), ..grant }, &scope);
        assert_eq!((free.caps, free.scopes.len()), (None, NAMES.len()));
    }
}
