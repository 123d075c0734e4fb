//! Which scopes a read reaches: the one it names, those above it, or those below it, as far as the
//! caller may read them.
//!
//! Decided before anything is read. What a walk down has to leave out it names with a number of
//! events, and nothing else (§18.2 #4).

use std::collections::BTreeMap;
use std::sync::Arc;

use lamina_core::policy::{Caller, Denial, Permit, Stack};
use lamina_types::capability::{Capability, ScopeReadDescend, ScopeReadHolistic, ScopeReadLocal};
use lamina_types::{ScopePath, ScopeView};

use crate::admin::{Boot, PolicyBook};
use crate::engine::Inner;
use crate::{Engine, Error};

/// Scopes that one walk down visits.
pub const DESCEND_SCOPES_MAX: usize = 10_000;
/// Scopes that a walk names as left out; more are left out without a word.
pub const DENIED_NAMED_MAX: usize = 1_000;
/// Events of a scope that is left out are counted up to here.
pub const DENIED_COUNTED_MAX: u64 = 1_000;

/// How far a read may reach: the permit decides the traversal.
#[derive(Debug)]
pub enum ReadPermit {
    /// Exactly the scope.
    Local(Permit<ScopeReadLocal>),
    /// The scope and its ancestors.
    Holistic(Walked<ScopeReadHolistic>),
    /// The scope and everything below.
    Descend(Walked<ScopeReadDescend>),
}

/// A walk whose every scope was decided.
#[derive(Debug)]
pub struct Walked<C: Capability> {
    permit: Permit<C>,
    /// Ordinals of the scopes that can be read.
    ordinals: Vec<u64>,
    /// Those that cannot.
    denied: Vec<(u64, ScopePath, Denial)>,
}

impl<C: Capability> Walked<C> {
    pub(super) fn permit(&self) -> &Permit<C> {
        &self.permit
    }

    /// The scopes that cannot be read.
    pub(crate) fn denied_scopes(&self) -> impl Iterator<Item = &ScopePath> {
        self.denied.iter().map(|(_, path, _)| path)
    }
}

/// A scope of a walk down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Traversed {
    /// It was read.
    Read {
        /// The scope.
        scope: ScopePath,
        /// Items of it on this page.
        items: u64,
    },
    /// It was left out.
    Denied {
        /// The scope.
        scope: ScopePath,
        /// Items in it, counted up to [`DENIED_COUNTED_MAX`], whatever the question was: a count of
        /// matches would say what is in there.
        item_count: u64,
        /// Why.
        denial: Denial,
    },
}

impl ReadPermit {
    /// Who may.
    pub fn caller(&self) -> &Caller {
        match self {
            ReadPermit::Local(permit) => permit.caller(),
            ReadPermit::Holistic(walked) => walked.permit.caller(),
            ReadPermit::Descend(walked) => walked.permit.caller(),
        }
    }

    /// Whether the permit reaches this scope.
    pub fn covers(&self, scope: &ScopePath) -> bool {
        match self {
            ReadPermit::Local(permit) => permit.covers(scope),
            ReadPermit::Holistic(walked) => walked.permit.covers(scope),
            ReadPermit::Descend(walked) => walked.permit.covers(scope),
        }
    }

    /// Whether it reaches every scope that an earlier permit of the same kind reached.
    pub fn includes(&self, earlier: &ReadPermit) -> bool {
        fn within(all: &[u64], part: &[u64]) -> bool {
            part.iter().all(|scope| all.contains(scope))
        }
        match (self, earlier) {
            (ReadPermit::Local(now), ReadPermit::Local(before)) => now.scope() == before.scope(),
            (ReadPermit::Holistic(now), ReadPermit::Holistic(before)) => {
                within(&now.ordinals, &before.ordinals)
            }
            (ReadPermit::Descend(now), ReadPermit::Descend(before)) => {
                within(&now.ordinals, &before.ordinals)
            }
            _ => false,
        }
    }

    /// What was asked for.
    pub fn capability(&self) -> &'static str {
        match self {
            ReadPermit::Local(permit) => permit.capability(),
            ReadPermit::Holistic(walked) => walked.permit.capability(),
            ReadPermit::Descend(walked) => walked.permit.capability(),
        }
    }

    /// The innermost tier that had a say where the walk starts.
    pub fn decided_by(&self) -> lamina_core::policy::Tier {
        match self {
            ReadPermit::Local(permit) => permit.decided_by(),
            ReadPermit::Holistic(walked) => walked.permit.decided_by(),
            ReadPermit::Descend(walked) => walked.permit.decided_by(),
        }
    }
}

impl Engine {
    /// The permit for a read from a scope, or why there is none. A walk down may have to decide
    /// thousands of scopes, so it has a thread of its own meanwhile.
    pub async fn read_permit(
        &self,
        boot: &Boot,
        caller: &Caller,
        start: &ScopePath,
        view: ScopeView,
    ) -> Result<Result<ReadPermit, Denial>, Error> {
        let caller = self.seat(boot, caller, Some(start)).await?;
        self.inner.caught_up().await;
        let (inner, book, boot) = (Arc::clone(&self.inner), self.policies(), boot.clone());
        let walker = Walker { inner, book, boot, caller, start: start.clone() };
        match view {
            ScopeView::Local => {
                let stack = walker.stack(start)?;
                Ok(stack.permit(&walker.caller, Some(start)).map(ReadPermit::Local))
            }
            ScopeView::Holistic => Ok(walker.up()?.map(ReadPermit::Holistic)),
            ScopeView::Descend => {
                let walked = tokio::task::spawn_blocking(move || walker.down()).await;
                let walked = walked.map_err(|_| Error::ShuttingDown)??;
                Ok(walked.map(ReadPermit::Descend))
            }
        }
    }
}

/// What deciding a walk needs.
struct Walker {
    inner: Arc<Inner>,
    book: Arc<PolicyBook>,
    boot: Boot,
    caller: Caller,
    start: ScopePath,
}

impl Walker {
    fn stack(&self, scope: &ScopePath) -> Result<Stack, Error> {
        self.inner.stack(&self.boot, &self.book, &self.caller, scope)
    }

    fn up(&self) -> Result<Result<Walked<ScopeReadHolistic>, Denial>, Error> {
        let tenant = self.caller.tenant;
        let mut found = Vec::new();
        for path in self.start.self_and_ancestors() {
            if let Some(ordinal) = self.inner.views.scope_ordinal(tenant, &path)? {
                found.push((ordinal, path));
            }
        }
        self.decide(found)
    }

    fn down(&self) -> Result<Result<Walked<ScopeReadDescend>, Denial>, Error> {
        let tenant = self.caller.tenant;
        // Whoever may not even begin is told so, however large the tree is.
        if let Err(denial) = self.stack(&self.start)?.permit_walk::<ScopeReadDescend>(
            &self.caller,
            &self.start,
            std::iter::empty(),
        ) {
            return Ok(Err(denial));
        }
        let below =
            self.inner.views.scopes_below(tenant, &self.start, None, DESCEND_SCOPES_MAX + 1);
        let below = below?;
        if below.len() > DESCEND_SCOPES_MAX {
            return Err(Error::TooManyScopes { max: DESCEND_SCOPES_MAX });
        }
        let mut found = Vec::with_capacity(below.len());
        for ordinal in below {
            match self.inner.scope_path(tenant, ordinal) {
                Ok(path) => found.push((ordinal, path)),
                // Erased since: without a path nobody can tell who was to read it.
                Err(Error::Deleted) => {}
                Err(error) => return Err(error),
            }
        }
        self.decide(found)
    }

    fn decide<C: Capability>(
        &self,
        found: Vec<(u64, ScopePath)>,
    ) -> Result<Result<Walked<C>, Denial>, Error> {
        let others = found.iter().filter(|(_, path)| *path != self.start);
        let others = others.map(|(_, path)| Ok((path.clone(), self.stack(path)?)));
        let others = others.collect::<Result<Vec<_>, Error>>()?;
        let start = self.stack(&self.start)?;
        let walk = match start.permit_walk::<C>(&self.caller, &self.start, others) {
            Ok(walk) => walk,
            Err(denial) => return Ok(Err(denial)),
        };
        let mut denials: BTreeMap<ScopePath, Denial> = walk.denied.into_iter().collect();
        let (mut ordinals, mut denied) = (Vec::new(), Vec::new());
        for (ordinal, path) in found {
            match denials.remove(&path) {
                None => ordinals.push(ordinal),
                Some(denial) => denied.push((ordinal, path, denial)),
            }
        }
        denied.sort_by(|(_, left, _), (_, right, _)| left.cmp(right));
        Ok(Ok(Walked { permit: walk.permit, ordinals, denied }))
    }
}

impl Inner {
    /// The tenant and the ordinals of the scopes that the permit lets a read reach.
    pub(super) fn scopes_of(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
    ) -> Result<(u32, Vec<u64>), Error> {
        let tenant = permit.caller().tenant;
        let start = match permit {
            ReadPermit::Local(permit) => permit.scope(),
            ReadPermit::Holistic(walked) => walked.permit.scope(),
            ReadPermit::Descend(walked) => walked.permit.scope(),
        };
        // A permit for the whole tenant names no scope and covers each.
        if !permit.covers(scope) || start.is_some_and(|start| start != scope) {
            return Err(Error::OutsidePermit);
        }
        let mut ordinals: Vec<u64> = match permit {
            ReadPermit::Local(_) => self.views.scope_ordinal(tenant, scope)?.into_iter().collect(),
            ReadPermit::Holistic(walked) => walked.ordinals.clone(),
            ReadPermit::Descend(walked) => walked.ordinals.clone(),
        };
        ordinals.retain(|ordinal| !self.is_veiled(tenant, *ordinal));
        Ok((tenant, ordinals))
    }

    /// What a walk down says about its scopes: on every page where its items are from, and on the
    /// first what it leaves out, counted by their ordinals.
    pub(super) fn traversed<'a>(
        &self,
        permit: &ReadPermit,
        items: impl Iterator<Item = &'a ScopePath>,
        is_first: bool,
        count: impl Fn(u32, u64) -> Result<u64, Error>,
    ) -> Result<Option<Vec<Traversed>>, Error> {
        let ReadPermit::Descend(walked) = permit else { return Ok(None) };
        let mut read: BTreeMap<&ScopePath, u64> = BTreeMap::new();
        for scope in items {
            *read.entry(scope).or_default() += 1;
        }
        let read = read.into_iter();
        let mut traversed: Vec<Traversed> =
            read.map(|(scope, items)| Traversed::Read { scope: scope.clone(), items }).collect();
        if is_first {
            let tenant = walked.permit.caller().tenant;
            for (ordinal, scope, denial) in walked.denied.iter().take(DENIED_NAMED_MAX) {
                let item_count = count(tenant, *ordinal)?.min(DENIED_COUNTED_MAX);
                let (scope, denial) = (scope.clone(), denial.clone());
                traversed.push(Traversed::Denied { scope, item_count, denial });
            }
        }
        Ok(Some(traversed))
    }
}

#[cfg(test)]
mod tests;
