//! What a minted token may say: never more than the token it was asked for with.
//!
//! A capability that the caller lacks cannot be handed on, and one that reaches only a part of the
//! tree reaches no further. The right to mint is not handed on at all: whoever has it for an hour would
//! have it for ever.

use std::collections::BTreeSet;

use lamina_types::ScopePrefix;
use lamina_types::capability::{AuthMint, Capability as _};
use lamina_types::limits::TOKEN_SCOPES_MAX;

/// What the caller has: capabilities, and the parts of the tree that some of them are limited to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) caps: BTreeSet<String>,
    pub(crate) scopes: Vec<(String, ScopePrefix)>,
}

/// What is asked for; `None` is everything there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    pub(crate) caps: Option<BTreeSet<String>>,
    pub(crate) scopes: Vec<(String, ScopePrefix)>,
    /// Limits every capability.
    pub(crate) scope: Option<ScopePrefix>,
}

/// Why a wish is not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The caller does not have the capability.
    NotHeld(String),
    /// The right to mint is not handed on.
    Mint,
    /// The caller has the capability elsewhere only.
    Outside(String),
    /// An entry of `scopes` is about a capability that the token would not have.
    Stray(String),
    /// An entry of `scopes` lies outside of `scope`.
    OutsideOwn(String),
    /// More entries than a token holds.
    TooMany,
}

/// The claims of the token.
pub(crate) fn narrow(held: &Held, wish: &Wish) -> Result<Held, Refused> {
    let caps = match &wish.caps {
        None => held.caps.iter().filter(|name| *name != AuthMint::NAME).cloned().collect(),
        Some(caps) => {
            if caps.contains(AuthMint::NAME) {
                return Err(Refused::Mint);
            }
            if let Some(name) = caps.difference(&held.caps).next() {
                return Err(Refused::NotHeld(name.clone()));
            }
            caps.clone()
        }
    };
    if let Some((name, _)) = wish.scopes.iter().find(|(name, _)| !caps.contains(name)) {
        return Err(Refused::Stray(name.clone()));
    }
    let mut scopes = Vec::new();
    for name in &caps {
        for prefix in limits(held, wish, name)? {
            scopes.push((name.clone(), prefix));
        }
    }
    if scopes.len() > TOKEN_SCOPES_MAX {
        return Err(Refused::TooMany);
    }
    Ok(Held { caps, scopes })
}

/// The parts of the tree that a capability of the token reaches; none is no limit.
fn limits(held: &Held, wish: &Wish, name: &str) -> Result<Vec<ScopePrefix>, Refused> {
    let of = |scopes: &[(String, ScopePrefix)]| -> Vec<ScopePrefix> {
        scopes.iter().filter(|(other, _)| other == name).map(|(_, prefix)| prefix.clone()).collect()
    };
    let (own, mut wished) = (of(&held.scopes), of(&wish.scopes));
    if let Some(scope) = &wish.scope {
        if wished.iter().any(|prefix| !scope.contains(prefix.path())) {
            return Err(Refused::OutsideOwn(name.to_owned()));
        }
        if wished.is_empty() {
            wished.push(scope.clone());
        }
    }
    if wished.is_empty() {
        return Ok(own);
    }
    let within = |prefix: &ScopePrefix| own.iter().any(|limit| limit.contains(prefix.path()));
    if own.is_empty() || wished.iter().all(within) {
        return Ok(wished);
    }
    Err(Refused::Outside(name.to_owned()))
}

#[cfg(test)]
mod tests;
