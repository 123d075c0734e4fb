//! Deciding a conflict: an entry of the log like everything else that changes what is known.
//!
//! Decisions are made one after the other, each with all that is known, so that of two different ones
//! only the first is made. What is said meanwhile may still overtake the conflict; then the decision
//! stands in the log and changes nothing, and whoever made it is told.

use lamina_core::derive::conflicts::Status;
use lamina_core::derive::facts::{Content, Said, Value, ValueKey};
use lamina_core::policy::Permit;
use lamina_store::codec::control::{ConflictResolved, ResolvedAs, Side};
use lamina_store::entry::{Kind, control};
use lamina_store::log::NewEntry;
use lamina_types::capability::ScopeWrite;
use lamina_types::{ConflictId, FactId, RecordId};
use tokio::sync::oneshot;

use crate::admin::{Noted, by};
use crate::derive::conflicts::{action_of, side_id};
use crate::derive::read::answer_row;
use crate::engine::Inner;
use crate::read::conflicts::{ConflictRecord, FOREVER, Resolve, Seen};
use crate::write::capture::Request;
use crate::write::prepare::section;
use crate::{Engine, Error};

/// Stretches of one conflict that a decision reaches.
pub(crate) const CONFLICT_STRETCHES_MAX: usize = 4_096;

impl Engine {
    /// Decides a conflict. The same decision again changes nothing; another one is refused.
    pub async fn conflict_resolve(
        &self,
        permit: &Permit<ScopeWrite>,
        id: ConflictId,
        resolve: Resolve,
        noted: &Noted,
    ) -> Result<ConflictRecord, Error> {
        let _turn = self.inner.admin.deciding.lock().await;
        let tenant = permit.caller().tenant;
        self.inner.caught_up().await;
        let row = self.inner.conflict_there(tenant, id)?;
        if !permit.covers(&self.inner.scope_path(tenant, row.scope)?) {
            return Err(Error::OutsidePermit);
        }
        let seen = self.blocking(move |inner| inner.seen(tenant, id, FOREVER)).await?;
        let seen = seen.ok_or(Error::NotFound)?;
        let action = self.inner.action(tenant, id, &seen, resolve)?;
        match seen.conflict.status {
            Status::Open => {}
            Status::Resolved { action: decided, .. } if decided == action_of(action) => {
                return self.inner.conflict(tenant, id, FOREVER)?.ok_or(Error::NotFound);
            }
            Status::Resolved { .. } | Status::Overtaken { .. } => {
                return Err(Error::ConflictNotOpen);
            }
        }
        let entry = self.decision(permit, &seen, id, action, noted)?;
        let (reply, answer) = oneshot::channel();
        self.inner.submit(Request::Control { entry: Box::new(entry), reply }, answer).await?;
        self.inner.caught_up().await;
        let seen = self.blocking(move |inner| inner.seen(tenant, id, FOREVER)).await?;
        match seen.map(|seen| seen.conflict.status) {
            Some(Status::Resolved { action: decided, .. }) if decided == action_of(action) => {}
            _ => return Err(Error::ConflictNotOpen),
        }
        self.inner.conflict(tenant, id, FOREVER)?.ok_or(Error::NotFound)
    }

    fn decision(
        &self,
        permit: &Permit<ScopeWrite>,
        seen: &Seen,
        conflict: ConflictId,
        action: ResolvedAs,
        noted: &Noted,
    ) -> Result<NewEntry, Error> {
        let points = seen.open.clone();
        if points.len() > CONFLICT_STRETCHES_MAX {
            return Err(Error::LimitReached { limit: "CONFLICT_STRETCHES_MAX" });
        }
        let row = &seen.row;
        let what = ConflictResolved {
            conflict,
            track: row.track,
            subject: row.subject,
            predicate: row.predicate,
            points,
            action,
        };
        // What it stands on beside the conflict itself.
        let causes = match action {
            ResolvedAs::NewInformation { said: (answer, _), .. } => vec![answer],
            _ => Vec::new(),
        };
        Ok(NewEntry {
            kind: Kind::Control,
            sub: control::CONFLICT_RESOLVED,
            tenant: permit.caller().tenant,
            scope: row.scope,
            causes,
            who: by(&self.inner.env, permit, noted),
            what: section(&*self.inner.env.rng, &what.encode()),
        })
    }
}

impl Inner {
    /// A decision as the log has it: values instead of ids of records.
    fn action(
        &self,
        tenant: u32,
        id: ConflictId,
        seen: &Seen,
        resolve: Resolve,
    ) -> Result<ResolvedAs, Error> {
        let side = |field, record| self.side(tenant, id, seen, record, field);
        Ok(match resolve {
            Resolve::Pick { winner } => ResolvedAs::Pick(side("winner", winner)?),
            Resolve::Split { boundary, earlier, later } => ResolvedAs::Split {
                boundary,
                earlier: side("earlier", earlier)?,
                later: side("later", later)?,
            },
            Resolve::NewInformation { record } => {
                let (value, said) = self.told_by(tenant, seen, record)?;
                ResolvedAs::NewInformation { record, value: value.0, said }
            }
            Resolve::Dismiss => ResolvedAs::Dismiss,
        })
    }

    /// The side that a record is: one of the conflict's own, or a version of a fact that says the same.
    fn side(
        &self,
        tenant: u32,
        id: ConflictId,
        seen: &Seen,
        record: RecordId,
        field: &'static str,
    ) -> Result<Side, Error> {
        let sides = &seen.conflict.sides;
        let own = |side: &&Value| side_id(id, seen.row.detected, **side) == record;
        let found = match sides.iter().find(own) {
            Some(side) => Some(*side),
            None => self.value_of(tenant, seen, record)?.filter(|value| sides.contains(value)),
        };
        let side = found.ok_or(Error::NoSuchSide { field })?;
        Ok(Side { negated: matches!(side, Value::IsNot(_)), value: side.key().0 })
    }

    /// What a version of a fact of the same track says.
    fn value_of(&self, tenant: u32, seen: &Seen, record: RecordId) -> Result<Option<Value>, Error> {
        let fact = self.fact_row(tenant, FactId::from_bytes(*record.as_bytes()))?;
        let fact = fact.filter(|fact| (fact.scope, fact.track) == (seen.row.scope, seen.row.track));
        Ok(fact.and_then(|fact| match fact.piece.content {
            Content::One(value) => Some(value),
            Content::Ended(_) | Content::Conflict(_) => None,
        }))
    }

    /// The value of a record that brings something new, and where it is said.
    fn told_by(
        &self,
        tenant: u32,
        seen: &Seen,
        record: RecordId,
    ) -> Result<(ValueKey, (u64, u16)), Error> {
        const REFUSED: Error = Error::NoSuchSide { field: "record" };
        let Some(Value::Is(value)) = self.value_of(tenant, seen, record)? else {
            return Err(REFUSED);
        };
        let fact = self.fact_row(tenant, FactId::from_bytes(*record.as_bytes()))?;
        let supports = fact.map(|fact| fact.piece.supports.clone()).unwrap_or_default();
        for support in supports.iter().filter(|one| one.said == Said::Value(Value::Is(value))) {
            // A decision is no evidence of its own.
            let said = self.origin(tenant, support.source)?;
            if answer_row(&self.views, tenant, said.offset)?.is_some() {
                return Ok((value, (said.offset, said.ordinal)));
            }
        }
        Err(REFUSED)
    }
}
