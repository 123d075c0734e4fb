//! Entities: whom a name means, who is one with whom at a time, and what they are called.
//!
//! The views know ids and keyed hashes; a name is read from the answer in which it was first said.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::entities::{Bearer, STATED, meant};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::answer::Answer;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::Tag;
use lamina_types::layer::{EntityKind, Term};
use lamina_types::{ActorId, EntityId, RecordedAt, ScopePath};

use crate::derive::entities::known::innermost;
use crate::derive::entities::merge::GROUP_MAX;
use crate::derive::entities::rows::{
    BearerRow, EntityRow, HomeRow, UseRow, read_bearers, read_origin,
};
use crate::derive::entities::{self, ACTOR, CERTAIN, NAME, TENANT_WIDE};
use crate::derive::fold::terms;
use crate::derive::key;
use crate::derive::read::{answer_row, row, walk};
use crate::engine::Inner;
use crate::read::ReadPermit;
use crate::read::conflicts::FOREVER;
use crate::read::facts::Answers;
use crate::{Engine, Error};

/// Names of one entity that are shown.
const NAMES_SHOWN_MAX: usize = 32;
/// Uses of one name that are looked at to find one that can be shown.
const USES_LOOKED_AT_MAX: usize = 256;
/// Entities that one page looks at.
const LOOKED_AT_MAX: usize = 10_000;

/// A question for entities.
#[derive(Debug, Clone)]
pub struct EntitiesQuery {
    /// Those that something is known about in this scope.
    pub scope: ScopePath,
    /// Called so: a name, an actor, or an id.
    pub called: Option<String>,
    /// After this one of an earlier page.
    pub after: Option<EntityId>,
    /// At most so many.
    pub limit: usize,
}

/// Names, with how sure each is in ten-thousandths.
type SureNames = Vec<(String, u16)>;

/// One page of entities, in the order in which they were first heard of.
#[derive(Debug, Clone)]
pub struct EntitiesPage {
    /// The entities.
    pub items: Vec<EntityRecord>,
    /// Whether there are more.
    pub has_more: bool,
}

/// Somebody or something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityRecord {
    /// Its id.
    pub id: EntityId,
    /// What kind of thing.
    pub kind: EntityKind,
    /// As it was called first where the question is asked; none if it was not, or the words are gone.
    pub name: Option<Term>,
    /// Everything it is called there, with how sure that is in ten-thousandths.
    pub names: Vec<(String, u16)>,
    /// The one it is one with, if it was merged into another.
    pub merged_into: Option<EntityId>,
    /// Those that were merged into it.
    pub merged: Vec<EntityId>,
}

impl Engine {
    /// The entities of a scope.
    pub async fn entities(
        &self,
        permit: ReadPermit,
        query: EntitiesQuery,
    ) -> Result<EntitiesPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.entities(&permit, &query)).await
    }
}

impl Inner {
    fn entities(&self, permit: &ReadPermit, query: &EntitiesQuery) -> Result<EntitiesPage, Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let mut ids = BTreeSet::new();
        match &query.called {
            Some(called) => {
                for id in self.entities_called(tenant, &scopes, called, FOREVER)? {
                    if self.is_spoken_of(tenant, &scopes, id)? {
                        ids.insert(self.home_at(tenant, id, FOREVER)?);
                    }
                }
            }
            None => {
                for scope in &scopes {
                    self.subjects(tenant, *scope, query.after, query.limit, &mut ids)?;
                }
            }
        }
        ids.retain(|id| query.after.is_none_or(|after| *id > after));
        let has_more = ids.len() > query.limit;
        let mut items = Vec::new();
        for id in ids.into_iter().take(query.limit) {
            items.extend(self.entity_record(tenant, id, &scopes)?);
        }
        Ok(EntitiesPage { items, has_more })
    }

    /// The first entities after one that facts of a scope are about, and that stand for themselves.
    fn subjects(
        &self,
        tenant: u32,
        scope: u64,
        after: Option<EntityId>,
        limit: usize,
        ids: &mut BTreeSet<EntityId>,
    ) -> Result<(), Error> {
        let nobody = EntityId::from_bytes([0; 16]);
        let (_, end) = key::facts_about_all(tenant, scope);
        let mut from = key::facts_about(tenant, scope, after.unwrap_or(nobody)).1;
        if after.is_none() {
            from = key::facts_about(tenant, scope, nobody).0;
        }
        let mut found = 0;
        for _ in 0..LOOKED_AT_MAX {
            let mut next = None;
            walk(&self.views, Space::Records, (&from, &end), Direction::Forward, &mut |key, _| {
                next = key::subject_of(key);
                ControlFlow::Break(())
            })?;
            let Some(id) = next else { break };
            from = key::facts_about(tenant, scope, id).1;
            if self.home_at(tenant, id, FOREVER)? == id {
                ids.insert(id);
                found += 1;
            }
            if found > limit {
                break;
            }
        }
        Ok(())
    }

    /// Whether a fact of one of the scopes is about it.
    fn is_spoken_of(&self, tenant: u32, scopes: &[u64], id: EntityId) -> Result<bool, Error> {
        for scope in scopes {
            let (from, to) = key::facts_about(tenant, *scope, id);
            let mut is_it = false;
            walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |_, _| {
                is_it = true;
                ControlFlow::Break(())
            })?;
            if is_it {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// An entity, with the words that these scopes know of it: what it is called elsewhere is theirs.
    pub(crate) fn entity_record(
        &self,
        tenant: u32,
        id: EntityId,
        scopes: &[u64],
    ) -> Result<Option<EntityRecord>, Error> {
        let Some(entity) = self.entity_row(tenant, id)? else { return Ok(None) };
        let group = self.group_at(tenant, id, FOREVER)?;
        let (called, names) = self.names_in(tenant, &group, scopes)?;
        let home = self.home_at(tenant, id, FOREVER)?;
        Ok(Some(EntityRecord {
            id,
            kind: entity.kind,
            name: called,
            names,
            merged_into: (home != id).then_some(home),
            merged: group.into_iter().filter(|other| *other != id).collect(),
        }))
    }

    /// How some entities are called in these scopes: first, and in all with how sure that is.
    pub(super) fn names_in(
        &self,
        tenant: u32,
        group: &[EntityId],
        scopes: &[u64],
    ) -> Result<(Option<Term>, SureNames), Error> {
        let mut answers = Answers::new();
        let mut names: Vec<(String, u16)> = Vec::new();
        let mut called = None;
        for other in group {
            let Some(row) = self.entity_row(tenant, *other)? else { continue };
            for (domain, tag) in row.names.iter().take(NAMES_SHOWN_MAX) {
                let uses = (*other, *domain, tag);
                let Some((offset, used)) = self.visible_use(tenant, uses, scopes)? else {
                    continue;
                };
                let Some(answer) = self.answer(tenant, offset, &mut answers)? else { continue };
                if called.is_none() {
                    called = term_at(answer, used);
                }
                let said = self.name_in(tenant, tag, answer)?;
                let bearers = self.bearers(tenant, *domain, tag)?;
                let sure = bearers.iter().find(|bearer| bearer.id == *other);
                let said = said.zip(sure.map(|bearer| bearer.confidence));
                names.extend(said.filter(|said| !names.contains(said)));
            }
        }
        names.truncate(NAMES_SHOWN_MAX);
        Ok((called, names))
    }

    /// The first use of a name in one of the scopes.
    fn visible_use(
        &self,
        tenant: u32,
        (id, domain, tag): (EntityId, u64, &Tag),
        scopes: &[u64],
    ) -> Result<Option<(u64, UseRow)>, Error> {
        let (from, to) = key::name_uses(tenant, domain, tag, id);
        let mut uses = Vec::new();
        walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
            uses.extend(key::tail_number(key).zip(UseRow::decode(value).ok()));
            if uses.len() < USES_LOOKED_AT_MAX {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        for (offset, used) in uses {
            let Some(answer) = answer_row(&self.views, tenant, offset)? else { continue };
            let event = self.views.event(tenant, answer.event)?;
            if event.is_some_and(|event| scopes.contains(&event.scope)) {
                return Ok(Some((offset, used)));
            }
        }
        Ok(None)
    }

    /// A name as an answer says it.
    fn name_in(&self, tenant: u32, tag: &Tag, answer: &Answer) -> Result<Option<String>, Error> {
        let named = terms(answer).filter_map(|term| match innermost(term) {
            Term::Named { name, kind } => Some((name, *kind)),
            Term::Actor(_) | Term::Of { .. } => None,
        });
        for (name, kind) in named.chain(answer.matches.iter().map(|one| (&one.name, one.kind))) {
            let folded = entities::fold_name(name, kind);
            if self.derived_tag(tenant, NAME, &folded)? == *tag {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    }

    pub(crate) fn entity_row(&self, tenant: u32, id: EntityId) -> Result<Option<EntityRow>, Error> {
        Ok(row(&self.views, Space::Records, &key::entity(tenant, id), EntityRow::decode)?)
    }

    pub(crate) fn home_row(&self, tenant: u32, id: EntityId) -> Result<Option<HomeRow>, Error> {
        Ok(row(&self.views, Space::Sources, &key::home(tenant, id), HomeRow::decode)?)
    }

    /// With whom an entity was one at a time, as far as was known then.
    pub(crate) fn home_at(
        &self,
        tenant: u32,
        id: EntityId,
        at: RecordedAt,
    ) -> Result<EntityId, Error> {
        let (from, to) = key::homes_until(tenant, id, at);
        let mut home = None;
        walk(&self.views, Space::Records, (&from, &to), Direction::Backward, &mut |_, value| {
            home = value.try_into().ok().map(EntityId::from_bytes);
            ControlFlow::Break(())
        })?;
        Ok(home.unwrap_or(id))
    }

    /// An entity and those that were one with it at a time.
    pub(crate) fn group_at(
        &self,
        tenant: u32,
        id: EntityId,
        at: RecordedAt,
    ) -> Result<Vec<EntityId>, Error> {
        let mut all = vec![id];
        let mut next = 0;
        while let Some(into) = all.get(next).copied()
            && all.len() < GROUP_MAX
        {
            let (from, to) = key::all_merged(tenant, into);
            walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
                all.extend(key::tail_id(key).map(EntityId::from_bytes));
                ControlFlow::Continue(())
            })?;
            next += 1;
        }
        let mut group = Vec::with_capacity(all.len());
        for other in all {
            if other == id || self.home_at(tenant, other, at)? == id {
                group.push(other);
            }
        }
        Ok(group)
    }

    /// Who or what somebody means by an id or a name, at a time, and everybody who was one with them.
    pub(crate) fn entities_called(
        &self,
        tenant: u32,
        scopes: &[u64],
        called: &str,
        at: RecordedAt,
    ) -> Result<BTreeSet<EntityId>, Error> {
        let mut found = BTreeSet::new();
        for home in self.homes_called(tenant, scopes, called, at)? {
            found.extend(self.group_at(tenant, home, at)?);
        }
        Ok(found)
    }

    /// The same for a question, with whoever was spoken of by a name before it was said whose it is: a
    /// name that was stated to be theirs, and that one other bears there and nobody else.
    pub(crate) fn entities_asked(
        &self,
        tenant: u32,
        scopes: &[u64],
        called: &str,
        at: RecordedAt,
    ) -> Result<BTreeSet<EntityId>, Error> {
        let mut found = self.entities_called(tenant, scopes, called, at)?;
        if called.parse::<EntityId>().is_ok() {
            return Ok(found);
        }
        for id in found.clone() {
            let names = self.entity_row(tenant, id)?.map(|row| row.names).unwrap_or_default();
            for (domain, tag) in names.into_iter().filter(|(domain, _)| scopes.contains(domain)) {
                let bearers = self.bearers(tenant, domain, &tag)?;
                let stated = |bearer: &&BearerRow| bearer.id == id && bearer.confidence == STATED;
                let Some(told) = bearers.iter().find(stated) else { continue };
                let mut others = bearers.iter().filter(|bearer| bearer.id != id);
                if let (Some(other), None) = (others.next(), others.next())
                    && other.confidence == CERTAIN
                    && (other.kind == told.kind || other.kind == EntityKind::Thing)
                {
                    let home = self.home_at(tenant, other.id, at)?;
                    found.extend(self.group_at(tenant, home, at)?);
                }
            }
        }
        Ok(found)
    }

    /// Who or what somebody means by an id or a name, at a time.
    pub(crate) fn homes_called(
        &self,
        tenant: u32,
        scopes: &[u64],
        called: &str,
        at: RecordedAt,
    ) -> Result<BTreeSet<EntityId>, Error> {
        if let Ok(id) = called.parse::<EntityId>() {
            return Ok(BTreeSet::from([self.home_at(tenant, id, at)?]));
        }
        let mut tags = Vec::new();
        if called.parse::<ActorId>().is_ok() {
            tags.push((TENANT_WIDE, self.derived_tag(tenant, ACTOR, called)?));
        }
        // What kind of thing is meant is not said, and some names are folded by their kind.
        let folded: BTreeSet<String> =
            EntityKind::ALL.iter().map(|kind| entities::fold_name(called, *kind)).collect();
        for name in &folded {
            let name = self.derived_tag(tenant, NAME, name)?;
            let domains = std::iter::once(TENANT_WIDE).chain(scopes.iter().copied());
            tags.extend(domains.map(|domain| (domain, name)));
        }
        let mut found = BTreeSet::new();
        for (domain, tag) in tags {
            for bearer in self.bearers(tenant, domain, &tag)? {
                found.insert(self.home_at(tenant, bearer.id, at)?);
            }
        }
        Ok(found)
    }

    /// The entity that a term means where it was said.
    pub(in crate::read) fn entity_of_term(
        &self,
        tenant: u32,
        scope: u64,
        term: &Term,
        at: RecordedAt,
    ) -> Result<Option<EntityId>, Error> {
        let (tag, kind) = match term {
            Term::Actor(actor) => {
                (self.derived_tag(tenant, ACTOR, actor.as_str())?, EntityKind::Person)
            }
            Term::Named { name, kind } => {
                (self.derived_tag(tenant, NAME, &entities::fold_name(name, *kind))?, *kind)
            }
            Term::Of { .. } => return Ok(None),
        };
        let mut all: Vec<(BearerRow, bool)> = Vec::new();
        for domain in [scope, TENANT_WIDE] {
            let here = domain != TENANT_WIDE;
            all.extend(self.bearers(tenant, domain, &tag)?.into_iter().map(|one| (one, here)));
        }
        let known: Vec<Bearer> = all
            .iter()
            .map(|(bearer, here)| Bearer { id: bearer.id, kind: bearer.kind, here: *here })
            .collect();
        let found = meant(kind, &known).and_then(|at| all.get(at));
        found.map(|(bearer, _)| self.home_at(tenant, bearer.id, at)).transpose()
    }

    /// Where it was said what was brought to another track; anything else where it is.
    pub(crate) fn origin(&self, tenant: u32, source: AssertionId) -> Result<AssertionId, Error> {
        let carried = key::carried(tenant, source);
        Ok(row(&self.views, Space::Sources, &carried, read_origin)?.unwrap_or(source))
    }

    fn bearers(&self, tenant: u32, domain: u64, tag: &Tag) -> Result<Vec<BearerRow>, Error> {
        let alias = key::alias(tenant, domain, tag);
        Ok(row(&self.views, Space::Sources, &alias, read_bearers)?.unwrap_or_default())
    }
}

/// What a use of a name means, as its answer says it.
fn term_at(answer: &Answer, used: UseRow) -> Option<Term> {
    let mut term = terms(answer).nth(usize::from(used.term))?;
    for _ in 0..used.depth {
        let Term::Of { owner, .. } = term else { return None };
        term = owner;
    }
    Some(term.clone())
}
