//! Pages of facts: versions from several lists in one order, a few at a time.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::facts::{Input, Piece};
use lamina_store::kv::{Direction, Space};
use lamina_types::{FactId, RecordedAt, ScopePath, ValidAt};

use super::{Answers, FactKey, FactRecord, FactsPage, FactsQuery, Order, TIMELINE_MAX};
use crate::Error;
use crate::derive::key;
use crate::derive::read::{row, walk};
use crate::derive::rows::{FactRow, InputRow};
use crate::engine::Inner;
use crate::read::ReadPermit;

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = 20_000;
/// Keys that are taken from a list at once.
const KEYS_AT_ONCE: usize = 256;

/// The keys of a list.
type Bounds = (Vec<u8>, Vec<u8>);

impl Inner {
    pub(crate) fn facts(
        &self,
        permit: &ReadPermit,
        query: &FactsQuery,
    ) -> Result<FactsPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let lists = self.lists(tenant, &scopes, query)?;
        let predicate = self.predicate_tag(tenant, query.predicate.as_deref())?;
        let mut answers = Answers::new();
        let (mut items, mut damaged) = (Vec::new(), Vec::new());
        let (mut looked_at, mut position, mut shown) = (0, query.after, None);
        loop {
            let some = self.some(&lists, query, position)?;
            for at in &some {
                let id = FactId::from_bytes(at.id);
                looked_at += 1;
                position = Some(*at);
                let Some(fact) = self.fact_row(tenant, id)? else { continue };
                let called = predicate.is_none_or(|predicate| predicate == fact.predicate);
                if !called || !query.admits(&fact.piece) || self.has_lapsed(tenant, &fact, query)? {
                    continue;
                }
                if items.len() + damaged.len() == query.limit {
                    return Ok(FactsPage { items, damaged, next: shown });
                }
                match self.fact(tenant, id, &fact, query.pins.recorded, &mut answers) {
                    Ok(fact) => items.extend(fact),
                    Err(error) if error.is_damage() => damaged.push(id),
                    Err(error) => return Err(error),
                }
                shown = Some(*at);
            }
            if some.is_empty() {
                return Ok(FactsPage { items, damaged, next: None });
            }
            if looked_at >= ROWS_LOOKED_AT_MAX {
                return Ok(FactsPage { items, damaged, next: position });
            }
        }
    }

    pub(super) fn fact_by_id(
        &self,
        permit: &ReadPermit,
        scope: &ScopePath,
        id: FactId,
    ) -> Result<Option<FactRecord>, Error> {
        let (tenant, scopes) = self.scopes_of(permit, scope)?;
        let Some(fact) = self.fact_row(tenant, id)? else { return Ok(None) };
        if !scopes.contains(&fact.scope) {
            return Ok(None);
        }
        let known = RecordedAt(self.guard.log_time());
        self.fact(tenant, id, &fact, known, &mut Answers::new())
    }

    pub(super) fn timeline(
        &self,
        permit: &ReadPermit,
        query: &FactsQuery,
        begun_by: Option<ValidAt>,
    ) -> Result<(Vec<FactRecord>, bool), Error> {
        let mut everything = FactsQuery { after: None, limit: TIMELINE_MAX, ..query.clone() };
        let mut items = Vec::new();
        loop {
            let page = self.facts(permit, &everything)?;
            items.extend(page.items);
            match page.next {
                Some(next) if items.len() < TIMELINE_MAX => everything.after = Some(next),
                _ => break,
            }
        }
        // What is only known to have been so at some time was so before everything else.
        items.retain(|fact| begun_by.is_none_or(|by| fact.valid_from.is_none_or(|at| at <= by)));
        items.sort_by_key(|fact| (fact.valid_from, fact.recorded_from, fact.id));
        let has_more = items.len() > query.limit;
        items.truncate(query.limit);
        Ok((items, has_more))
    }

    /// Where the facts are that can answer a question.
    fn lists(&self, tenant: u32, scopes: &[u64], query: &FactsQuery) -> Result<Vec<Bounds>, Error> {
        let Some(subject) = &query.subject else {
            return Ok(scopes.iter().map(|scope| key::facts_listed(tenant, *scope)).collect());
        };
        let mut lists = Vec::new();
        for entity in self.entities_asked(tenant, scopes, subject, query.pins.recorded)? {
            for scope in scopes {
                lists.push(key::facts_about(tenant, *scope, entity));
            }
        }
        Ok(lists)
    }

    /// The next positions of all lists, in order. A list that was not read to its end says nothing
    /// about what comes after the last key that was read of it.
    fn some(
        &self,
        lists: &[Bounds],
        query: &FactsQuery,
        position: Option<FactKey>,
    ) -> Result<Vec<FactKey>, Error> {
        let mut found: BTreeSet<FactKey> = BTreeSet::new();
        let mut horizon: Option<FactKey> = None;
        for (from, to) in lists {
            let (start, end) = query.order.rest(from, to, position, query.pins.recorded);
            let mut kept = 0;
            let mut last = None;
            let direction = query.order.direction();
            walk(&self.views, Space::Records, (&start, &end), direction, &mut |key, _| {
                let Some(at) = key::fact_key(key) else { return ControlFlow::Continue(()) };
                found.insert(at);
                last = Some(at);
                kept += 1;
                if kept < KEYS_AT_ONCE { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })?;
            if kept == KEYS_AT_ONCE {
                horizon = match (horizon, last, query.order) {
                    (Some(one), Some(other), Order::NewestFirst) => Some(one.max(other)),
                    (Some(one), Some(other), Order::OldestFirst) => Some(one.min(other)),
                    (one, other, _) => one.or(other),
                };
            }
        }
        Ok(match query.order {
            Order::NewestFirst => {
                let near = |at: &FactKey| horizon.is_none_or(|horizon| *at >= horizon);
                found.into_iter().rev().take_while(near).collect()
            }
            Order::OldestFirst => {
                let near = |at: &FactKey| horizon.is_none_or(|horizon| *at <= horizon);
                found.into_iter().take_while(near).collect()
            }
        })
    }

    /// Whether something put an end to it: one that was said to last so long is not over because of it.
    /// Evidence is cut where something else begins, so what was said has to be asked.
    fn has_lapsed(&self, tenant: u32, fact: &FactRow, query: &FactsQuery) -> Result<bool, Error> {
        let (Some(by), Some(to)) = (query.lapsed_by, fact.piece.to()) else { return Ok(false) };
        if by < to {
            return Ok(false);
        }
        for support in fact.piece.supports.iter().filter(|support| support.to == Some(to)) {
            let source = support.source;
            let key = key::input(tenant, fact.scope, &fact.track, source);
            let input =
                row(&self.views, Space::Sources, &key, |bytes| InputRow::decode(source, bytes))?;
            let said = input.map(|row| row.input);
            if matches!(said, Some(Input::Said(said)) if said.valid_to == Some(to)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A fact, if the question sees it, without its words.
    pub(crate) fn fact_standing(
        &self,
        tenant: u32,
        id: FactId,
        query: &FactsQuery,
    ) -> Result<Option<Arc<FactRow>>, Error> {
        let Some(fact) = self.fact_row(tenant, id)? else { return Ok(None) };
        Ok(self.fact_stands(tenant, &fact, query)?.then_some(fact))
    }

    /// Whether the question sees a fact.
    pub(crate) fn fact_stands(
        &self,
        tenant: u32,
        fact: &FactRow,
        query: &FactsQuery,
    ) -> Result<bool, Error> {
        Ok(query.admits(&fact.piece) && !self.has_lapsed(tenant, fact, query)?)
    }

    pub(crate) fn fact_row(&self, tenant: u32, id: FactId) -> Result<Option<Arc<FactRow>>, Error> {
        let key = key::fact(tenant, id);
        Ok(self.views.derived_record(Space::Records, &key, FactRow::decode)?)
    }
}

impl FactsQuery {
    fn admits(&self, piece: &Piece) -> bool {
        self.pins.admit(piece) && piece.confidence(self.pins.recorded) >= self.min_confidence
    }
}

impl Order {
    fn direction(self) -> Direction {
        match self {
            Order::NewestFirst => Direction::Backward,
            Order::OldestFirst => Direction::Forward,
        }
    }

    /// What is left of a list after a position. What was learned after the pin is not looked at.
    fn rest(
        self,
        from: &[u8],
        to: &[u8],
        position: Option<FactKey>,
        pin: RecordedAt,
    ) -> (Vec<u8>, Vec<u8>) {
        let later = FactKey { at: pin.0.0.saturating_add(1), id: [0; 16] };
        let to = key::before(from, later).min(to.to_vec());
        match (self, position) {
            (_, None) => (from.to_vec(), to),
            (Order::NewestFirst, Some(at)) => (from.to_vec(), key::before(from, at).min(to)),
            (Order::OldestFirst, Some(at)) => (key::after(from, at), to),
        }
    }
}
