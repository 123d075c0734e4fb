//! Episodes: which there are, at any point on both axes, and what of them can be said.
//!
//! The views say which events belong together. Names, summaries and causes are made here, from the
//! words of events as they are now, so that nothing of them outlives what is erased. A deadline that
//! has passed counts, whether or not the log has come to it: an idle database shows an episode that is
//! over as over.

use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_core::derive::episodes::window::GAP_US;
use lamina_core::derive::episodes::{Ending, Role};
use lamina_core::read::prompt::AuthorList;
use lamina_store::kv::{Direction, Space};
use lamina_types::layer::Confidence;
use lamina_types::{ActorId, EpisodeId, EventId, RecordedAt, ScopePath, ValidAt};

use crate::admin::shared::meant;
use crate::derive::key::episodes as key;
use crate::derive::key::{before, fact_key, tail_id};
use crate::derive::read::{events_of, row, walk};
use crate::derive::rows::episodes::{EpisodeEventRow, EpisodeRow, decode_count};
use crate::engine::Inner;
use crate::read::facts::FactKey;
use crate::read::{ReadPermit, Traversed};
use crate::{Engine, Error};

mod before;
mod told;

use before::Stamp;
pub(crate) use before::ToldBefore;

/// Rows that one page looks at before it ends early with a position to go on from.
const ROWS_LOOKED_AT_MAX: usize = if cfg!(test) { 8 } else { 20_000 };
/// Events whose words one page reads before it ends early in the same way.
const EVENTS_READ_MAX: usize = if cfg!(test) { 10 } else { 8_192 };
/// Rows of one list that are looked at together.
const ROWS_TOGETHER: usize = if cfg!(test) { 4 } else { 256 };

/// A question for episodes. Intervals are half-open.
#[derive(Debug, Clone)]
pub struct EpisodesQuery {
    /// The scope.
    pub scope: ScopePath,
    /// With this actor among those who take part.
    pub actor: Option<ActorId>,
    /// The knowledge it is asked with.
    pub recorded: RecordedAt,
    /// That knowledge is not that of now.
    pub in_the_past: bool,
    /// Had begun by this instant.
    pub valid: Option<ValidAt>,
    /// Had begun before the end of this.
    pub valid_during: Option<(ValidAt, ValidAt)>,
    /// Was known at some time in here.
    pub recorded_during: Option<(RecordedAt, RecordedAt)>,
    /// Something of it happened in here, or before and after.
    pub overlapping: Option<(ValidAt, ValidAt)>,
    /// With the chain of causes.
    pub with_chain: bool,
    /// After this position of an earlier page.
    pub after: Option<FactKey>,
    /// At most so many.
    pub limit: usize,
}

/// One page of episodes, the last that began to be known first.
#[derive(Debug, Clone)]
pub struct EpisodesPage {
    /// The episodes.
    pub items: Vec<EpisodeRecord>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<FactKey>,
    /// Of a walk down: where the episodes are from, and on the first page what was left out.
    pub traversed: Option<Vec<Traversed>>,
}

/// Whether an episode goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpisodeState {
    /// What happens next continues it.
    Open,
    /// Only what happened earlier and comes late joins it.
    Closed,
    /// Nothing joins it any more.
    Sealed,
}

/// Events that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EpisodeRecord {
    /// Its id.
    pub id: EpisodeId,
    /// Its scope.
    pub scope: ScopePath,
    /// What it is about, in a few words that were said.
    pub name: Option<String>,
    /// Sentences that say most of it.
    pub summary: Option<String>,
    /// Its events, in the order in which they happened.
    pub events: Vec<EventId>,
    /// When the first happened.
    pub started: ValidAt,
    /// When the last happened.
    pub last: ValidAt,
    /// When it began to be known.
    pub recorded_from: RecordedAt,
    /// Whether it goes on.
    pub state: EpisodeState,
    /// Why it does not.
    pub ended_by: Option<Ending>,
    /// When it was sealed.
    pub sealed_at: Option<RecordedAt>,
    /// Who takes part, in the order in which they first do.
    pub actors: Vec<ActorId>,
    /// The same with their callers, as far as events were read.
    pub authors: AuthorList,
    /// How much of what it speaks of the other episodes of the scope speak of too; not known for the past.
    pub centrality: Option<Confidence>,
    /// What led to what, if that was asked for.
    pub chain: Option<Vec<(EventId, Role)>>,
    /// The episode whose matter it carries on.
    pub follows: Option<EpisodeId>,
    /// Episodes that carry on its own.
    pub followed_by: Vec<EpisodeId>,
}

/// An event of an episode.
type Member = (ValidAt, EventId, EpisodeEventRow);

/// The events of an episode, and what tells whether they are the same as before.
#[derive(Debug)]
struct Members {
    events: Vec<EventId>,
    stamp: Stamp,
}

/// An episode as it is known at an instant.
#[derive(Debug)]
struct Known {
    row: EpisodeRow,
    /// Its events; `None` while they are the ones that the row counts.
    members: Option<Vec<Member>>,
}

impl Engine {
    /// One page of episodes.
    pub async fn episodes(
        &self,
        permit: ReadPermit,
        query: EpisodesQuery,
    ) -> Result<EpisodesPage, Error> {
        self.inner.caught_up().await;
        self.blocking(move |inner| inner.episodes(&permit, &query)).await
    }
}

impl Inner {
    pub(super) fn episodes(
        &self,
        permit: &ReadPermit,
        query: &EpisodesQuery,
    ) -> Result<EpisodesPage, Error> {
        let (items, next) = self.episodes_page(permit, query)?;
        let scopes = items.iter().map(|item| &item.scope);
        let count = |tenant, scope| self.episodes_count(tenant, scope);
        let traversed = self.traversed(permit, scopes, query.after.is_none(), count)?;
        Ok(EpisodesPage { items, next, traversed })
    }

    fn episodes_page(
        &self,
        permit: &ReadPermit,
        query: &EpisodesQuery,
    ) -> Result<(Vec<EpisodeRecord>, Option<FactKey>), Error> {
        let (tenant, scopes) = self.scopes_of(permit, &query.scope)?;
        let mut lists = Vec::with_capacity(scopes.len());
        for scope in scopes {
            lists.push(match &query.actor {
                None => key::all_listed(tenant, scope),
                Some(actor) => {
                    let actor = meant(permit.caller(), actor)?;
                    let actor = self.derived_tag(tenant, "derive.actor", actor.as_str())?;
                    key::all_by_actor(tenant, scope, &actor)
                }
            });
        }
        let mut paths = HashMap::new();
        let mut items: Vec<EpisodeRecord> = Vec::new();
        let (mut after, mut looked_at, mut read) = (query.after, 0, 0);
        loop {
            let (found, more) = self.listed(&lists, after)?;
            for at in found {
                let id = EpisodeId::from_bytes(at.id);
                if let Some(known) = self.known(tenant, id, query)? {
                    if items.len() == query.limit || read >= EVENTS_READ_MAX {
                        return Ok((items, after));
                    }
                    let (episode, words) = self.episode(tenant, id, known, query, &mut paths)?;
                    read += words;
                    items.push(episode);
                }
                after = Some(at);
                looked_at += 1;
            }
            match more {
                false => return Ok((items, None)),
                true if looked_at >= ROWS_LOOKED_AT_MAX => {
                    return Ok((items, after));
                }
                true => {}
            }
        }
    }

    /// The next few positions of several lists as one, the latest first; whether there are more.
    fn listed(
        &self,
        lists: &[key::Bounds],
        after: Option<FactKey>,
    ) -> Result<(Vec<FactKey>, bool), Error> {
        let mut found: BTreeSet<FactKey> = BTreeSet::new();
        // Where a list was left: what is before that in others has to wait for its turn.
        let mut left: Option<FactKey> = None;
        for (from, to) in lists {
            let to = after.map_or(to.clone(), |after| before(from, after).min(to.clone()));
            let (mut taken, mut last) = (0, None);
            walk(&self.views, Space::Records, (from, &to), Direction::Backward, &mut |key, _| {
                if taken == ROWS_TOGETHER {
                    left = left.max(last);
                    return ControlFlow::Break(());
                }
                taken += 1;
                last = fact_key(key);
                found.extend(last);
                ControlFlow::Continue(())
            })?;
        }
        let found = found.into_iter().rev().filter(|at| left.is_none_or(|left| *at >= left));
        Ok((found.collect(), left.is_some()))
    }

    /// The episode as the question sees it; `None` if it does not.
    fn known(
        &self,
        tenant: u32,
        id: EpisodeId,
        query: &EpisodesQuery,
    ) -> Result<Option<Known>, Error> {
        let found =
            row(&self.views, Space::Records, &key::episode(tenant, id), EpisodeRow::decode)?;
        let Some(mut row) = found.filter(|row| row.opened <= query.recorded) else {
            return Ok(None);
        };
        let mut members = None;
        if row.recorded > query.recorded {
            let mut known = events_of(&self.views, tenant, id)?;
            known.retain(|(_, _, member)| member.joined <= query.recorded);
            let ends = known.first().zip(known.last()).map(|(first, last)| (first.0, last.0));
            let Some((first, last)) = ends else { return Ok(None) };
            (row.first, row.last) = (first, last);
            let joined = known.iter().map(|(_, _, member)| member.joined).max();
            row.recorded = joined.unwrap_or(row.opened);
            members = Some(known);
        }
        let seen = query.valid.is_none_or(|at| row.first <= at)
            && query.valid_during.is_none_or(|(_, to)| row.first < to)
            && query.recorded_during.is_none_or(|(_, to)| row.opened < to)
            && query.overlapping.is_none_or(|(from, to)| row.first < to && from <= row.last);
        Ok(seen.then_some(Known { row, members }))
    }

    /// One episode, if the question sees it.
    pub(crate) fn episode_if(
        &self,
        tenant: u32,
        id: EpisodeId,
        query: &EpisodesQuery,
        paths: &mut HashMap<u64, ScopePath>,
    ) -> Result<Option<EpisodeRecord>, Error> {
        let Some(known) = self.known(tenant, id, query)? else { return Ok(None) };
        match self.episode(tenant, id, known, query, paths) {
            Ok((episode, _)) => Ok(Some(episode)),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One episode as the events of it tell that are admitted, if the question sees it and there are any.
    pub(crate) fn episode_among(
        &self,
        tenant: u32,
        id: EpisodeId,
        query: &EpisodesQuery,
        paths: &mut HashMap<u64, ScopePath>,
        admits: &dyn Fn(EventId) -> Result<bool, Error>,
    ) -> Result<Option<EpisodeRecord>, Error> {
        let Some(Known { mut row, members }) = self.known(tenant, id, query)? else {
            return Ok(None);
        };
        let all = match members {
            Some(members) => members,
            None => events_of(&self.views, tenant, id)?,
        };
        let mut members = Vec::new();
        for member in all {
            if admits(member.1)? {
                members.push(member);
            }
        }
        let ends = members.first().zip(members.last()).map(|(first, last)| (first.0, last.0));
        let Some((first, last)) = ends else { return Ok(None) };
        (row.first, row.last) = (first, last);
        let known = Known { row, members: Some(members) };
        match self.episode(tenant, id, known, query, paths) {
            // How central it is counts what all of its events speak of.
            Ok((episode, _)) => Ok(Some(EpisodeRecord { centrality: None, ..episode })),
            Err(Error::Deleted) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What there is to say of an episode, and of how many events the words were read for it.
    fn episode(
        &self,
        tenant: u32,
        id: EpisodeId,
        known: Known,
        query: &EpisodesQuery,
        paths: &mut HashMap<u64, ScopePath>,
    ) -> Result<(EpisodeRecord, usize), Error> {
        let Known { row, members } = known;
        let place = (tenant, row.scope);
        let (events, told) = match members {
            Some(members) => {
                let events = members.iter().map(|(_, event, _)| *event).collect();
                let known = Stamp::of(&members);
                (events, self.told_of(place, id, known, query.with_chain, || Ok(members))?)
            }
            None => {
                let known = self.members(tenant, id)?;
                let members = || Ok(events_of(&self.views, tenant, id)?);
                let told = self.told_of(place, id, known.stamp, query.with_chain, members)?;
                (known.events.clone(), told)
            }
        };
        let scope = match paths.get(&row.scope) {
            Some(path) => path.clone(),
            None => {
                let path = self.scope_path(tenant, row.scope)?;
                paths.insert(row.scope, path.clone());
                path
            }
        };
        let (state, ended_by, sealed_at) = standing(&row, query.recorded);
        let centrality = match query.in_the_past {
            true => None,
            false => Some(self.centrality(tenant, row.scope, id)?),
        };
        let episode = EpisodeRecord {
            id,
            scope,
            name: told.name,
            summary: told.summary,
            events,
            started: row.first,
            last: row.last,
            recorded_from: row.opened,
            state,
            ended_by,
            sealed_at,
            actors: told.actors,
            authors: told.authors,
            centrality,
            chain: told.chain,
            follows: row.follows,
            followed_by: self.followed_by(tenant, id, query.recorded)?,
        };
        Ok((episode, told.read))
    }

    /// The events of an episode, from before if none of its rows was written since.
    fn members(&self, tenant: u32, id: EpisodeId) -> Result<Arc<Members>, Error> {
        let name = [b"members ".as_slice(), &key::episode(tenant, id)].concat();
        let bytes = |known: &Members| size_of::<EventId>() * known.events.len();
        self.views.made_again(&name, bytes, || {
            let members = events_of(&self.views, tenant, id)?;
            let events = members.iter().map(|(_, event, _)| *event).collect();
            Ok(Members { events, stamp: Stamp::of(&members) })
        })
    }

    fn followed_by(
        &self,
        tenant: u32,
        id: EpisodeId,
        by: RecordedAt,
    ) -> Result<Vec<EpisodeId>, Error> {
        let (from, to) = key::all_after(tenant, id);
        let mut found = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            found.extend(tail_id(key).map(EpisodeId::from_bytes));
            ControlFlow::Continue(())
        })?;
        let mut known = Vec::new();
        for id in found {
            let later = key::episode(tenant, id);
            let later = row(&self.views, Space::Records, &later, EpisodeRow::decode)?;
            let Some(later) = later.filter(|later| later.opened <= by) else { continue };
            // What it began with may be gone since, and what is left have come later.
            let is_known = later.recorded <= by
                || events_of(&self.views, tenant, id)?.iter().any(|(_, _, one)| one.joined <= by);
            known.extend(is_known.then_some(id));
        }
        Ok(known)
    }

    fn centrality(&self, tenant: u32, scope: u64, id: EpisodeId) -> Result<Confidence, Error> {
        let count = |key: Vec<u8>| -> Result<u32, Error> {
            let count = row(&self.views, Space::Records, &key, decode_count)?;
            Ok(u32::try_from(count.unwrap_or(0)).unwrap_or(u32::MAX))
        };
        let (from, to) = key::things(tenant, id);
        let mut things = Vec::new();
        walk(&self.views, Space::Records, (&from, &to), Direction::Forward, &mut |key, _| {
            things.extend(tail_id(key).map(lamina_types::EntityId::from_bytes));
            ControlFlow::Continue(())
        })?;
        let spread = things.into_iter().map(|thing| count(key::spread(tenant, scope, thing)));
        let spread = spread.collect::<Result<Vec<u32>, Error>>()?;
        let episodes = count(key::count(tenant, scope))?;
        Ok(lamina_core::derive::episodes::centrality(&spread, episodes))
    }

    /// How many episodes a scope has.
    pub(crate) fn episodes_count(&self, tenant: u32, scope: u64) -> Result<u64, Error> {
        let count = row(&self.views, Space::Records, &key::count(tenant, scope), decode_count)?;
        Ok(count.unwrap_or(0))
    }
}

/// Whether an episode goes on at an instant, and how it came to an end.
fn standing(
    row: &EpisodeRow,
    at: RecordedAt,
) -> (EpisodeState, Option<Ending>, Option<RecordedAt>) {
    let closed = row.closed.filter(|closed| closed.at <= at);
    let sealed = row.sealed.map(|sealed| sealed.at).filter(|sealed| *sealed <= at);
    let deadline = RecordedAt(row.recorded.0.plus(GAP_US));
    // The log has not come to the deadline, or what it did then came later than what is asked with.
    let sealed = sealed.or((deadline <= at).then_some(deadline));
    match (closed, sealed) {
        (None, None) => (EpisodeState::Open, None, None),
        (Some(closed), None) => (EpisodeState::Closed, closed.why, None),
        (Some(closed), Some(_)) => (EpisodeState::Sealed, closed.why, sealed),
        (None, Some(_)) => (EpisodeState::Sealed, Some(Ending::Gap), sealed),
    }
}
