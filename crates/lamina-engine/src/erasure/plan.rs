//! What an erasure comes to: the one function that previews, executions and resumptions share.
//!
//! Candidates are the events of the scope and of the scopes below it that nobody else has, and elsewhere as far
//! as the erasure reaches (`reach`, R366). One that a record or an event of a scope outside refers to is redacted;
//! one under a hold stays; the rest is deleted (R367, R368, ruling 4). A scope under a hold counts as outside: it
//! keeps the records that stand on others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_store::codec::experience::ExperienceWhat;
use lamina_store::entry::Place as LogPlace;
use lamina_store::kv::{Direction, Space};
use lamina_store::log::EraseTarget;
use lamina_store::view::{EventRow, EventScan};
use lamina_types::limits::FORGET_RECORDS_MAX;
use lamina_types::{ActorId, BeliefId, EpisodeId, EventId, FactId, ScopePath};

use super::Affected;
use super::reach::{Reach, Verdict};
use crate::Error;
use crate::derive::entities::rows::read_bearers;
use crate::derive::entities::{ACTOR, TENANT_WIDE};
use crate::derive::key::{self, Layer};
use crate::derive::read::{answer_row, episode, row, walk};
use crate::derive::{cites, redacted, traces};
use crate::engine::Inner;
use crate::forget::{Counts, Place, Removal};

/// Scopes and events read at a time.
const SCOPES_AT_ONCE: usize = 256;
const EVENTS_AT_ONCE: usize = 1_000;
/// Events of others that are listed because they speak of the person.
const MENTIONS_MAX: usize = 1_000;

/// What is asked to be erased.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) tenant: u32,
    pub(super) scope: ScopePath,
    /// Only these; none: all.
    pub(super) events: BTreeSet<EventId>,
    /// Only what stands before this offset.
    pub(super) up_to: u64,
    /// What it leaves alone below, and takes elsewhere.
    pub(super) reach: Reach,
}

/// What an erasure comes to.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub(super) delete: BTreeSet<EventId>,
    pub(super) redact: BTreeMap<EventId, Staying>,
    /// Events whose words went before, and what stands on them in scopes that are erased now.
    pub(super) standing: BTreeMap<EventId, Staying>,
    pub(super) held: BTreeSet<EventId>,
    /// Events that are seen from scopes that stay, because they stand there or something there refers to them.
    pub(super) outside: BTreeSet<EventId>,
    /// What else has words of the scopes, or says who asked for something there: declared beliefs, decisions, requests.
    pub(super) worded: Vec<EraseTarget>,
    pub(super) affected: Counts,
    pub(super) demoted: BTreeSet<BeliefId>,
    /// Events of others that speak of the person, and those that others wrote down as the person's.
    pub(super) mentions: Vec<EventId>,
    /// The scopes of all events that are named here.
    pub(super) homes: BTreeMap<EventId, u64>,
    /// The scopes outside in which events go.
    pub(super) homes_outside: BTreeSet<u64>,
    /// The scopes outside in which events go or that refer to some.
    pub(super) reaches: BTreeMap<u64, Affected>,
    /// The scopes that holds are on.
    pub(super) holds: Vec<u64>,
}

impl Plan {
    /// All events whose words go.
    pub(super) fn words(&self) -> BTreeSet<EventId> {
        self.delete.iter().chain(self.redact.keys()).copied().collect()
    }

    /// What is taken away.
    fn removal(&self) -> Removal {
        let staying = || self.redact.iter().chain(&self.standing);
        let words = self.delete.iter().chain(staying().map(|(event, _)| event));
        let stays = staying().map(|(event, staying)| (*event, staying.scopes.clone()));
        Removal { words: words.copied().collect(), stays: stays.collect(), ..Removal::default() }
    }
}

/// An event that others refer to.
#[derive(Debug, Clone, Default)]
pub(super) struct Staying {
    pub(super) offset: u64,
    pub(super) place: LogPlace,
    /// The scopes outside that do: what stands on it there stays.
    pub(super) scopes: BTreeSet<u64>,
}

/// What is known about the scopes of a plan.
struct Scopes {
    inside: BTreeSet<u64>,
    /// Those that are not held: what refers to an event from anywhere else keeps it.
    erased: BTreeSet<u64>,
    held: BTreeSet<u64>,
}

/// The events that an erasure is about.
#[derive(Debug, Default)]
struct Candidates {
    taken: BTreeMap<EventId, EventRow>,
    /// Events elsewhere that others wrote down as the person's.
    mentions: BTreeSet<EventId>,
}

impl Inner {
    /// What an erasure comes to.
    pub(super) fn erasure_plan(&self, wanted: &Wanted) -> Result<Plan, Error> {
        let tenant = wanted.tenant;
        let mut plan = Plan::default();
        let inside = self.scopes_inside(wanted)?;
        let root = self.views.scope_ordinal(tenant, &wanted.scope)?;
        let held = self.held_scopes(tenant, &wanted.scope, &mut plan.holds)?;
        let erased = inside.difference(&held).copied().collect();
        let scopes = Scopes { inside, erased, held };
        let mut reached: BTreeMap<u64, u64> = BTreeMap::new();
        let Candidates { taken, mentions } = self.candidates(wanted, &scopes)?;
        if taken.len() > FORGET_RECORDS_MAX {
            return Err(Error::LimitReached { limit: "FORGET_RECORDS_MAX" });
        }
        for event in taken.into_values() {
            plan.homes.insert(event.id, event.scope);
            if scopes.held.contains(&event.scope) {
                plan.held.insert(event.id);
                continue;
            }
            let from = self.references(tenant, &event, &scopes.erased)?;
            let home = (!scopes.inside.contains(&event.scope)).then_some(event.scope);
            plan.homes_outside.extend(home);
            for scope in from.iter().copied().chain(home).collect::<BTreeSet<u64>>() {
                *reached.entry(scope).or_default() += 1;
                plan.outside.insert(event.id);
            }
            match from.is_empty() {
                true => drop(plan.delete.insert(event.id)),
                false => {
                    let (offset, place) = (event.offset, event.place);
                    plan.redact.insert(event.id, Staying { offset, place, scopes: from });
                }
            }
        }
        if wanted.events.is_empty() {
            plan.standing = self.standing_in(wanted, &scopes.erased)?;
            for scope in &scopes.erased {
                let worded = traces::worded_in(&self.views, tenant, *scope)?;
                plan.worded.extend(worded.iter().filter(|one| one.offset < wanted.up_to));
            }
            plan.mentions = self.mentions_of(wanted, mentions, &plan)?;
            for event in &plan.mentions {
                let home = self.views.event(tenant, *event)?.map(|row| row.scope);
                plan.homes.extend(home.map(|home| (*event, home)));
            }
        }
        let place = Place { inner: self, tenant, scope: root.unwrap_or_default() };
        let gone = plan.removal();
        plan.affected = place.falls(&gone)?;
        plan.affected.events = plan.words().len() as u64;
        let fading = place.fading(&gone)?;
        plan.affected.beliefs += fading.gone;
        plan.demoted = fading.demoted;
        let owners = match root {
            Some(root) => self.owners_of(tenant, root)?,
            None => Vec::new(),
        };
        for (ordinal, events) in reached {
            let of = self.owners_of(tenant, ordinal)?;
            let co_owners = of.into_iter().filter(|owner| !owners.contains(owner)).collect();
            let scope = self.scope_path(tenant, ordinal)?;
            plan.reaches.insert(ordinal, Affected { scope, events, co_owners });
        }
        Ok(plan)
    }

    /// The scopes that everything in goes: those inside that are not held.
    pub(super) fn scopes_erased(&self, wanted: &Wanted) -> Result<BTreeSet<u64>, Error> {
        let inside = self.scopes_inside(wanted)?;
        let held = self.held_scopes(wanted.tenant, &wanted.scope, &mut Vec::new())?;
        Ok(inside.difference(&held).copied().collect())
    }

    /// The scopes at and below a path that nobody else has.
    fn scopes_inside(&self, wanted: &Wanted) -> Result<BTreeSet<u64>, Error> {
        let under = self.scopes_under(wanted.tenant, &wanted.scope)?;
        Ok(under.difference(&wanted.reach.left_alone).copied().collect())
    }

    /// The scopes at and below a path.
    pub(super) fn scopes_under(
        &self,
        tenant: u32,
        path: &ScopePath,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut found = BTreeSet::new();
        let mut after = None;
        loop {
            let some = self.views.scopes_below(tenant, path, after, SCOPES_AT_ONCE)?;
            let Some(last) = some.last() else { return Ok(found) };
            after = Some(*last);
            found.extend(some);
        }
    }

    /// The scopes that a hold at, above or below them keeps, of those that an erasure may touch.
    fn held_scopes(
        &self,
        tenant: u32,
        scope: &ScopePath,
        holds: &mut Vec<u64>,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut held = BTreeSet::new();
        for ordinal in self.hold_scopes(tenant)? {
            let path = self.scope_path(tenant, ordinal)?;
            held.extend(self.scopes_under(tenant, &path)?);
            if path.contains(scope) || scope.contains(&path) {
                holds.push(ordinal);
            }
        }
        Ok(held)
    }

    /// Events of the scopes, and of the person elsewhere.
    fn candidates(&self, wanted: &Wanted, scopes: &Scopes) -> Result<Candidates, Error> {
        let tenant = wanted.tenant;
        let mut found = Candidates::default();
        let goes = |row: &EventRow| {
            let is_named = wanted.events.is_empty() || wanted.events.contains(&row.id);
            is_named && row.offset < wanted.up_to && !row.is_erased()
        };
        let mut take = |row: EventRow| {
            if goes(&row) {
                found.taken.insert(row.id, row);
            }
            Ok(())
        };
        for scope in &scopes.inside {
            let scan =
                EventScan::recorded(tenant, vec![*scope], Direction::Forward, EVENTS_AT_ONCE);
            self.each_event(scan, &mut take)?;
        }
        // What was cancelled is in no list; its words are there all the same.
        let mut cancelled = Vec::new();
        self.views.each_cancelled(tenant, &mut |row| {
            if scopes.inside.contains(&row.scope) {
                cancelled.push(row);
            }
        })?;
        cancelled.into_iter().try_for_each(take)?;
        if let Some(person) = &wanted.reach.person {
            self.each_elsewhere(tenant, person, &scopes.inside, &mut |row| {
                if goes(&row) {
                    match self.verdict(&wanted.reach, &row)? {
                        Verdict::Taken => drop(found.taken.insert(row.id, row)),
                        Verdict::Mention => drop(found.mentions.insert(row.id)),
                    }
                }
                Ok(())
            })?;
        }
        Ok(found)
    }

    /// Events whose words went before and that something in these scopes stands on, with where else it does.
    fn standing_in(
        &self,
        wanted: &Wanted,
        erased: &BTreeSet<u64>,
    ) -> Result<BTreeMap<EventId, Staying>, Error> {
        let tenant = wanted.tenant;
        let mut found = BTreeMap::new();
        for scope in erased {
            for offset in redacted::standing_in(&self.views, tenant, *scope)? {
                let Some((_, id)) = self.views.event_at(offset)? else { continue };
                let Some(event) = self.views.event(tenant, id)? else { continue };
                if offset >= wanted.up_to {
                    continue;
                }
                let scopes = redacted::stays(&self.views, tenant, offset)?;
                let scopes = scopes.into_iter().filter(|scope| !erased.contains(scope));
                let staying = Staying { offset, place: event.place, scopes: scopes.collect() };
                found.insert(id, staying);
            }
        }
        Ok(found)
    }

    /// The scopes outside that refer to an event: by a record that stands on it, because an event or a
    /// declaration there names it, or because it was to be consolidated there.
    fn references(
        &self,
        tenant: u32,
        event: &EventRow,
        inside: &BTreeSet<u64>,
    ) -> Result<BTreeSet<u64>, Error> {
        let mut ids: Vec<(Layer, [u8; 16])> = Vec::new();
        let (from, to) = key::all_of_event(tenant, event.id);
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            ids.extend(key::layer_of(key).zip(key::tail_id(key)));
            ControlFlow::Continue(())
        })?;
        let place = Place { inner: self, tenant, scope: event.scope };
        let mut from: BTreeSet<u64> =
            cites::scopes_citing(&self.views, tenant, event.id)?.into_iter().collect();
        for (layer, id) in ids {
            from.extend(match layer {
                Layer::Fact => self.fact_row(tenant, FactId::from_bytes(id))?.map(|row| row.scope),
                Layer::Belief => {
                    place.claim_of(BeliefId::from_bytes(id))?.map(|(claim, _)| claim.scope)
                }
                Layer::Episode => {
                    episode(&self.views, tenant, EpisodeId::from_bytes(id))?.map(|row| row.scope)
                }
                _ => None,
            });
        }
        let entry = self.reader.entry(event.offset, event.place)?;
        let what = entry.what.live().and_then(|bytes| ExperienceWhat::decode(bytes).ok());
        if let Some(into) = what.and_then(|what| what.directives.consolidate_into) {
            from.extend(self.views.scope_ordinal(tenant, &into)?);
        }
        from.retain(|scope| !inside.contains(scope));
        Ok(from)
    }

    /// Events that speak of the person and are not the person's own, with those that others wrote down as
    /// the person's.
    fn mentions_of(
        &self,
        wanted: &Wanted,
        written: BTreeSet<EventId>,
        plan: &Plan,
    ) -> Result<Vec<EventId>, Error> {
        let mut found = written;
        if let Some(person) = &wanted.reach.person {
            found.extend(self.named_in(wanted.tenant, person)?);
        }
        let stays = |event: &EventId| {
            !plan.delete.contains(event)
                && !plan.redact.contains_key(event)
                && !plan.held.contains(event)
        };
        Ok(found.into_iter().filter(stays).take(MENTIONS_MAX).collect())
    }

    /// Events in which an actor is named.
    fn named_in(&self, tenant: u32, person: &ActorId) -> Result<BTreeSet<EventId>, Error> {
        let mut found = BTreeSet::new();
        let tag = self.views.derived_tag(tenant, ACTOR, &[person.as_str().as_bytes()])?;
        let alias = key::alias(tenant, TENANT_WIDE, &tag);
        let bearers = row(&self.views, Space::Sources, &alias, read_bearers)?;
        for bearer in bearers.unwrap_or_default() {
            let (from, to) = key::name_uses(tenant, TENANT_WIDE, &tag, bearer.id);
            let mut answers = Vec::new();
            walk(&self.views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
                answers.extend(key::tail_number(key));
                match answers.len() < MENTIONS_MAX {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            })?;
            for answer in answers {
                found.extend(answer_row(&self.views, tenant, answer)?.map(|row| row.event));
            }
        }
        Ok(found)
    }
}
