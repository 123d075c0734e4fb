//! Reading more than one scope: of the scopes above or below one, those the caller may read.
//!
//! Every scope is decided by its own stack before anything is read, so that a page is never thinned
//! out afterwards: its length, its cursor and what it leaves out depend on readable scopes alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use lamina_types::ScopePath;
use lamina_types::capability::{Capability, ScopeReadDescend, ScopeReadLocal};

use super::permit::{Permit, Reach};
use super::{Caller, Denial, Stack};

/// What a walk may read, and what it has to leave out.
#[derive(Debug, Clone)]
pub struct Walk<C: Capability> {
    /// Covers exactly the scopes that can be read.
    pub permit: Permit<C>,
    /// The others, each with the reason, in the order they were given.
    pub denied: Vec<(ScopePath, Denial)>,
}

impl Stack {
    /// The permit of a walk from `start`, whose stack this is, through `others`.
    ///
    /// Where it starts the caller needs `C` and `scope.read.local`; elsewhere it needs to be able to
    /// read the scope by itself. Walking down, `C` is asked for below too: whoever owns a part of
    /// the tree can close it to walks. Walking up it is not, because a right to walk up is given
    /// where the walk starts.
    pub fn permit_walk<C: Capability>(
        &self,
        caller: &Caller,
        start: &ScopePath,
        others: impl IntoIterator<Item = (ScopePath, Stack)>,
    ) -> Result<Walk<C>, Denial> {
        let decided = self.allows(caller, C::NAME, Some(start))?;
        let decided = decided.max(self.allows(caller, ScopeReadLocal::NAME, Some(start))?);
        let below: &[&'static str] = match C::NAME {
            ScopeReadDescend::NAME => &[ScopeReadLocal::NAME, ScopeReadDescend::NAME],
            _ => &[ScopeReadLocal::NAME],
        };
        let mut readable = BTreeSet::from([start.clone()]);
        let mut denied = Vec::new();
        for (scope, stack) in others {
            match stack.allows_all(caller, below, Some(&scope)) {
                Ok(_) => drop(readable.insert(scope)),
                Err(denial) => denied.push((scope, denial)),
            }
        }
        let reach = Reach::Each(start.clone(), Arc::new(readable));
        Ok(Walk { permit: Permit::new(self.seated(caller), reach, decided), denied })
    }
}

#[cfg(test)]
mod tests;
