//! Conflicts: what disagrees, since when, and how it ended.
//!
//! A conflict is read like everything else at a point on the axis of knowledge: before it was decided it
//! is open, whatever is known of it today.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::conflicts::{Conflict, Status, conflicts};
use lamina_core::derive::facts::{Action, AssertionId, Piece, Resolution};
use lamina_core::derive::naming;
use lamina_core::policy::Permit;
use lamina_store::codec::CodecError;
use lamina_store::codec::control::{By, ConflictResolved, ResolvedAs};
use lamina_store::kv::{Direction, Space};
use lamina_types::capability::ScopeReadLocal;
use lamina_types::layer::{Object, Term};
use lamina_types::{ActorId, ConflictId, FactId, Micros, RecordId, RecordedAt, ScopePath, ValidAt};

use crate::derive::conflicts::rows::{ConflictRow, DecisionRow};
use crate::derive::conflicts::side_id;
use crate::derive::key;
use crate::derive::read::{row, walk};
use crate::derive::rows::FactRow;
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::facts::{Answers, FactRecord};
use crate::{Engine, Error};

/// Conflicts that one page looks at, and that are counted.
pub const CONFLICTS_LOOKED_AT_MAX: usize = 10_000;

/// A question for conflicts.
#[derive(Debug, Clone)]
pub struct ConflictsQuery {
    /// The scope.
    pub scope: ScopePath,
    /// Only those that are still to be decided.
    pub open_only: bool,
    /// The knowledge it is asked with; `None` is all there is.
    pub recorded: Option<RecordedAt>,
    /// Only those that were found before this instant.
    pub before: Option<RecordedAt>,
    /// At most so many, except that those that were found at once stay together.
    pub limit: usize,
}

/// One page of conflicts, the last found first.
#[derive(Debug, Clone)]
pub struct ConflictsPage {
    /// The conflicts.
    pub items: Vec<ConflictRecord>,
    /// How many there are, counted up to [`CONFLICTS_LOOKED_AT_MAX`].
    pub total: usize,
    /// Before which instant the next page begins; `None` at the end.
    pub next: Option<RecordedAt>,
}

/// A disagreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictRecord {
    /// Its id.
    pub id: ConflictId,
    /// What is disputed, as of its last version.
    pub fact: FactRecord,
    /// When it was found.
    pub detected: RecordedAt,
    /// What became of it.
    pub status: ConflictStatus,
    /// The sides differ by a slip of spelling: perhaps they mean the same.
    pub near: bool,
}

/// What became of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConflictStatus {
    /// It is still to be decided.
    Open,
    /// Somebody decided it.
    Resolved {
        /// When.
        at: RecordedAt,
        /// Who; `None` once that is forgotten.
        by: Option<ActorId>,
        /// Why, in their words; may be empty.
        reason: String,
        /// What was decided.
        action: Resolve,
    },
    /// What was said later left nothing to decide.
    Overtaken {
        /// When.
        at: RecordedAt,
    },
}

/// A decision, as it is asked for and shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolve {
    /// One side is right.
    Pick {
        /// Which.
        winner: RecordId,
    },
    /// Both are, one after the other.
    Split {
        /// Where one becomes the other.
        boundary: ValidAt,
        /// Before the boundary.
        earlier: RecordId,
        /// From the boundary on.
        later: RecordId,
    },
    /// Neither: another record is.
    NewInformation {
        /// Which.
        record: RecordId,
    },
    /// There is nothing to decide: what was said first stands.
    Dismiss,
}

impl Engine {
    /// The scope that a conflict is in, also of one that is gone.
    pub async fn conflict_scope(&self, tenant: u32, id: ConflictId) -> Result<ScopePath, Error> {
        self.inner.caught_up().await;
        let scope = match self.inner.conflict_row(tenant, id)? {
            Some(row) => row.scope,
            None => self.inner.conflict_gone(tenant, id)?.ok_or(Error::NotFound)?,
        };
        self.inner.scope_path(tenant, scope)
    }

    /// One conflict, with the knowledge of an instant; `None` is all there is.
    pub async fn conflict(
        &self,
        permit: &Permit<ScopeReadLocal>,
        id: ConflictId,
        recorded: Option<RecordedAt>,
    ) -> Result<ConflictRecord, Error> {
        let tenant = permit.caller().tenant;
        self.inner.caught_up().await;
        let row = self.inner.conflict_there(tenant, id)?;
        if !permit.covers(&self.inner.scope_path(tenant, row.scope)?) {
            return Err(Error::OutsidePermit);
        }
        let pin = recorded.unwrap_or(FOREVER);
        let found = self.blocking(move |inner| inner.conflict(tenant, id, pin)).await?;
        found.ok_or(Error::NotFound)
    }

    /// One page of conflicts.
    pub async fn conflicts(
        &self,
        permit: ReadPermit,
        query: ConflictsQuery,
    ) -> Result<ConflictsPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.conflicts(&permit, &query)).await
    }
}

/// The pin of a question that is asked with everything that is known.
pub(crate) const FOREVER: RecordedAt = RecordedAt(Micros(i64::MAX - 1));

/// A conflict as the rows tell it, before its words are read.
pub(crate) struct Seen {
    pub(crate) row: ConflictRow,
    pub(crate) conflict: Conflict,
    pub(crate) decisions: Vec<(u64, DecisionRow)>,
    /// Where each stretch of it begins that is open.
    pub(crate) open: Vec<ValidAt>,
    /// The version that is shown.
    shown: (FactId, FactRow),
}

impl Inner {
    pub(super) fn conflicts(
        &self,
        permit: &ReadPermit,
        query: &ConflictsQuery,
    ) -> Result<ConflictsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let pin = query.recorded.unwrap_or(FOREVER);
        // Those that are open today have a list of their own; at another time all have to be asked.
        let asked = query.recorded.is_some() && query.open_only;
        let mut found: BTreeSet<(RecordedAt, ConflictId)> = BTreeSet::new();
        for scope in &scopes {
            let until = Some(RecordedAt(Micros(pin.0.0.saturating_add(1))));
            let (from, to) = match query.open_only && !asked {
                true => key::conflicts_open(tenant, *scope, until),
                false => key::conflicts_listed(tenant, *scope, until),
            };
            walk(&self.views, Space::Records, (&from, &to), Direction::Backward, &mut |key, _| {
                found.extend(key::conflict_position(key));
                match found.len() < CONFLICTS_LOOKED_AT_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
        }
        if asked {
            let mut open = BTreeSet::new();
            for (detected, id) in found {
                let seen = self.seen(tenant, id, pin)?;
                if seen.is_some_and(|seen| seen.conflict.status == Status::Open) {
                    open.insert((detected, id));
                }
            }
            found = open;
        }
        let total = found.len();
        let (ids, next) = page(found, query);
        let mut answers = Answers::new();
        let mut items = Vec::new();
        for id in ids {
            if let Some(seen) = self.seen(tenant, id, pin)? {
                items.extend(self.told_conflict(tenant, id, seen, pin, &mut answers)?);
            }
        }
        Ok(ConflictsPage { items, total, next })
    }

    pub(crate) fn conflict(
        &self,
        tenant: u32,
        id: ConflictId,
        pin: RecordedAt,
    ) -> Result<Option<ConflictRecord>, Error> {
        match self.seen(tenant, id, pin)? {
            Some(seen) => self.told_conflict(tenant, id, seen, pin, &mut Answers::new()),
            None => Ok(None),
        }
    }

    /// A conflict as it is known at an instant; `None` if it is not.
    pub(crate) fn seen(
        &self,
        tenant: u32,
        id: ConflictId,
        pin: RecordedAt,
    ) -> Result<Option<Seen>, Error> {
        let Some(row) = self.conflict_row(tenant, id)? else { return Ok(None) };
        let mut versions: Vec<(FactId, FactRow)> = Vec::new();
        for version in self.ids(Space::Records, key::conflict_versions(tenant, id))? {
            let version = FactId::from_bytes(version);
            versions.extend(
                self.fact_row(tenant, version)?.map(|row| (version, Arc::unwrap_or_clone(row))),
            );
        }
        let mut decisions: Vec<(u64, DecisionRow)> = Vec::new();
        for offset in self.numbers(Space::Sources, key::decisions(tenant, id))? {
            decisions.extend(self.decision_row(tenant, offset)?.map(|row| (offset, row)));
        }
        let resolutions: Vec<Resolution> = decisions
            .iter()
            .map(|(offset, decision)| Resolution {
                source: AssertionId { offset: *offset, ordinal: 0 },
                recorded: decision.recorded,
                at: ValidAt(Micros(0)),
                action: decision.action,
            })
            .collect();
        let pieces: Vec<&Piece> = versions.iter().map(|(_, row)| &row.piece).collect();
        let Some(conflict) = conflicts(pieces, &resolutions, pin).into_iter().next() else {
            return Ok(None);
        };
        let is_open = |piece: &&Piece| conflict.open.contains(&piece.id);
        let open = versions.iter().map(|(_, row)| &row.piece).filter(is_open);
        let open = open.filter_map(Piece::from).collect();
        let shown = versions.into_iter().find(|(_, row)| row.piece.id == conflict.shown);
        Ok(shown.map(|shown| Seen { row, conflict, decisions, open, shown }))
    }

    fn told_conflict(
        &self,
        tenant: u32,
        id: ConflictId,
        seen: Seen,
        pin: RecordedAt,
        answers: &mut Answers,
    ) -> Result<Option<ConflictRecord>, Error> {
        let Seen { row, conflict, decisions, open: _, shown: (version, shown) } = seen;
        let Some(fact) = self.fact(tenant, version, &shown, pin, answers)? else {
            return Ok(None);
        };
        let status = match conflict.status {
            Status::Open => ConflictStatus::Open,
            Status::Overtaken { at } => ConflictStatus::Overtaken { at },
            Status::Resolved { by, at, action } => {
                let decision = decisions.iter().find(|(offset, _)| *offset == by.offset);
                let Some((offset, decision)) = decision else { return Ok(None) };
                let entry = self.reader.entry(*offset, decision.place)?;
                let by = entry.who.live().and_then(|who| By::decode(who).ok());
                let (by, reason) = by.map(|by| (by.caller, by.note)).unzip();
                let side = |value| side_id(id, row.detected, value);
                let action = match action {
                    Action::Pick(value) => Resolve::Pick { winner: side(value) },
                    Action::Split { boundary, earlier, later } => {
                        Resolve::Split { boundary, earlier: side(earlier), later: side(later) }
                    }
                    Action::Dismiss => Resolve::Dismiss,
                    Action::NewInformation(_) => {
                        let what = entry.what.live();
                        let what = what.and_then(|what| ConflictResolved::decode(what).ok());
                        match what.map(|what| what.action) {
                            Some(ResolvedAs::NewInformation { record, .. }) => {
                                Resolve::NewInformation { record }
                            }
                            _ => return Err(Error::Undecodable { what: "a decision" }),
                        }
                    }
                };
                let reason = reason.unwrap_or_default();
                ConflictStatus::Resolved { at, by, reason, action }
            }
        };
        let near = is_near(&fact);
        Ok(Some(ConflictRecord { id, fact, detected: row.detected, status, near }))
    }
}

impl Inner {
    /// A conflict; that it is gone is told from that it never was.
    pub(crate) fn conflict_there(&self, tenant: u32, id: ConflictId) -> Result<ConflictRow, Error> {
        match self.conflict_row(tenant, id)? {
            Some(row) if self.is_veiled(tenant, row.scope) => Err(Error::Deleted),
            Some(row) => Ok(row),
            None => Err(match self.conflict_gone(tenant, id)? {
                Some(_) => Error::Deleted,
                None => Error::NotFound,
            }),
        }
    }

    /// The scope of a conflict that is gone.
    fn conflict_gone(&self, tenant: u32, id: ConflictId) -> Result<Option<u64>, Error> {
        let scope = row(&self.views, Space::Records, &key::conflict_gone(tenant, id), |bytes| {
            bytes.try_into().map(u64::from_be_bytes).map_err(|_| CodecError::Truncated)
        });
        Ok(scope?)
    }

    /// The ids at the end of keys.
    fn ids(&self, space: Space, (from, to): (Vec<u8>, Vec<u8>)) -> Result<Vec<[u8; 16]>, Error> {
        let mut ids = Vec::new();
        walk(&self.views, space, (&from, &to), Direction::Forward, &mut |key, _| {
            ids.extend(key::tail_id(key));
            ControlFlow::Continue(())
        })?;
        Ok(ids)
    }

    /// The numbers at the end of keys.
    fn numbers(&self, space: Space, (from, to): (Vec<u8>, Vec<u8>)) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        walk(&self.views, space, (&from, &to), Direction::Forward, &mut |key, _| {
            numbers.extend(key::tail_number(key));
            ControlFlow::Continue(())
        })?;
        Ok(numbers)
    }
}

/// The conflicts of one page, and before which instant the next one begins. A position is an instant,
/// so what was found at once is not torn apart.
fn page(
    found: BTreeSet<(RecordedAt, ConflictId)>,
    query: &ConflictsQuery,
) -> (Vec<ConflictId>, Option<RecordedAt>) {
    let mut ids: Vec<(RecordedAt, ConflictId)> = Vec::new();
    let rest = found.into_iter().rev();
    let rest = rest.filter(|(at, _)| query.before.is_none_or(|before| *at < before));
    let rest: Vec<(RecordedAt, ConflictId)> = rest.collect();
    for together in rest.chunk_by(|(one, _), (other, _)| one == other) {
        if !ids.is_empty() && ids.len() + together.len() > query.limit {
            let next = ids.last().map(|(at, _)| *at);
            return (ids.into_iter().map(|(_, id)| id).collect(), next);
        }
        ids.extend_from_slice(together);
    }
    (ids.into_iter().map(|(_, id)| id).collect(), None)
}

/// Whether two sides could be one word with a slip.
fn is_near(fact: &FactRecord) -> bool {
    let said: Vec<Vec<String>> = fact
        .objects
        .iter()
        .filter(|side| !side.negated)
        .filter_map(|side| match &side.object {
            Object::Text(text) | Object::Entity(Term::Named { name: text, .. }) => Some(text),
            _ => None,
        })
        .map(|text| naming::words(text))
        .collect();
    let near = |one: &Vec<String>, other: &Vec<String>| {
        let pairs = one.iter().zip(other);
        let slips = pairs.map(|(one, other)| naming::slips(one, other)).sum::<Option<usize>>();
        one.len() == other.len() && slips.is_some_and(|slips| slips > 0)
    };
    let pairs = said.iter().enumerate();
    pairs
        .flat_map(|(at, one)| said.iter().skip(at + 1).map(move |other| (one, other)))
        .any(|(one, other)| near(one, other))
}
