//! Episodes: events that belong together, as they come.
//!
//! Where one begins and ends is decided by the windows of `lamina-core`; here their state is read from
//! rows, one thread at a time, and what they say is done to the rows. An event belongs to exactly one
//! episode, that of its own scope, from the moment its first answer is folded.
//!
//! What is taken back leaves its episode as if it had never come, but for boundaries: an event that
//! ended an episode by turning to something else is gone, and both sides stay what they were.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::episodes::{Action, Arrival, Input, Limits, Thread, Windows};
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{EntityId, EpisodeId, EventId, RecordedAt, ValidAt};

use crate::derive::concepts;
use crate::derive::deadlines::{self, Due};
use crate::derive::entities::{Names, entropy};
use crate::derive::fold::{Given, row_error};
use crate::derive::key::episodes as key;
use crate::derive::key::{Layer, of_event, tail_id};
use crate::derive::rows::episodes::{
    Closed, EpisodeEventRow, EpisodeRow, MemberRow, Sealed, decode_count, encode_count,
};
use crate::derive::suppress;
use crate::derive::words::hash;

/// Where something happens to episodes, and with which entry.
#[derive(Debug, Clone, Copy)]
struct At {
    tenant: u32,
    thread: Thread,
    by: u64,
}

/// What an event brings with it.
#[derive(Debug)]
struct Joining {
    observed: ValidAt,
    shift: bool,
    row: EpisodeEventRow,
}

/// Takes an event into an episode; one that is in one already stays there.
pub(super) fn arrive(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    names: &Names,
) -> Result<(), ViewError> {
    // What was said about an answer is evidence, and no part of what happened.
    if given.answer.asked.feedback {
        return Ok(());
    }
    let (tenant, event) = (given.tenant, given.event.id);
    given.row.counts.episodes = 1;
    if let Some(member) = member(rows, tenant, event)? {
        return speaks_of(rows, given, member, names.things());
    }
    if suppress::of_episodes(rows, given)? {
        given.row.counts.episodes = 0;
        return Ok(());
    }
    let session = given.who.session.as_ref();
    let session = session.map(|session| given.words.session(&hash(rows, tenant), session));
    let thread = Thread { scope: given.event.scope, session: session.transpose()? };
    let at = At { tenant, thread, by: given.offset };
    let (recorded, observed) = (given.row.recorded, given.answer.observed_at);
    let shift = given.answer.shifts_topic;
    let continues = preceding(rows, given)?;
    let fresh = EpisodeId::mint(recorded.0, entropy(&given.row.seed, Layer::Episode as u8, 0));
    let mut windows = load(rows, at)?;
    let actions = windows.on(Input::Arrive(Arrival {
        event,
        thread,
        recorded,
        observed,
        shift,
        ends: false,
        continues,
        fresh,
    }));
    let actor = given.words.actor(&hash(rows, tenant), &given.who.observed_actor)?;
    let answer = given.offset;
    let row = EpisodeEventRow { joined: recorded, actor, things: names.things(), answer };
    perform(rows, at, &windows, &actions, Some(&Joining { observed, shift, row }))
}

/// Nothing came for an episode for too long.
pub(super) fn lapse(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    id: [u8; 16],
    at: RecordedAt,
    by: u64,
) -> Result<(), ViewError> {
    let Some(row) = episode(rows, tenant, EpisodeId::from_bytes(id))? else { return Ok(()) };
    let place = At { tenant, thread: row.thread(), by };
    let mut windows = load(rows, place)?;
    let actions = windows.on(Input::Tick { now: at });
    perform(rows, place, &windows, &actions, None)
}

/// Somebody says that everything in a scope is over.
pub(super) fn seal_all(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    at: RecordedAt,
    by: u64,
) -> Result<(), ViewError> {
    let mut threads = BTreeSet::new();
    let mut opened: BTreeMap<EpisodeId, RecordedAt> = BTreeMap::new();
    for id in ids(rows, Space::Sources, &key::unsealed_in(tenant, scope))? {
        let Some(row) = episode(rows, tenant, id)? else { continue };
        threads.insert(row.thread());
        opened.insert(id, row.opened);
    }
    // What is learned from one depends on those before it, so they come in the order in which their first events did.
    // Threads are known by hashes, whose order is another server's chance.
    let mut sealed = Vec::new();
    for thread in threads {
        let place = At { tenant, thread, by };
        let mut windows = load(rows, place)?;
        let (seals, others) = windows
            .on(Input::Seal { thread, at })
            .into_iter()
            .partition::<Vec<Action>, _>(|action| matches!(action, Action::Sealed { .. }));
        perform(rows, place, &windows, &others, None)?;
        sealed.extend(seals.into_iter().filter_map(|action| match action {
            Action::Sealed { episode, at } => {
                Some((at, opened.get(&episode).copied(), episode, place))
            }
            _ => None,
        }));
    }
    sealed.sort_by_key(|(at, opened, episode, _)| (*at, *opened, *episode));
    for (at, _, episode, place) in sealed {
        seal(rows, place, episode, at)?;
    }
    Ok(())
}

/// Takes an event out of its episode; an episode without events is gone.
pub(super) fn leave(rows: &mut Rows<'_, '_>, tenant: u32, event: EventId) -> Result<(), ViewError> {
    let Some(MemberRow { episode: id, observed }) = member(rows, tenant, event)? else {
        return Ok(());
    };
    let mut row = episode(rows, tenant, id)?.ok_or_else(gone)?;
    let event_key = key::event(tenant, id, observed, event);
    let left = event_row(rows, &event_key)?;
    rows.delete(Space::Sources, key::member(tenant, event));
    rows.delete(Space::Records, of_event(tenant, event, Layer::Episode, id.as_bytes()));
    rows.delete(Space::Records, event_key);
    for thing in &left.things {
        speaks_less(rows, tenant, row.scope, id, *thing)?;
    }
    row.events_count = row.events_count.saturating_sub(1);
    let rest = events(rows, tenant, id)?;
    if !rest.iter().any(|(_, _, other)| other.actor == left.actor) {
        let by_actor = key::by_actor(tenant, row.scope, &left.actor, row.opened, id);
        rows.delete(Space::Records, by_actor);
    }
    let Some(((first, ..), (last, ..))) = rest.first().zip(rest.last()) else {
        return remove(rows, tenant, id, &row);
    };
    (row.first, row.last) = (*first, *last);
    rows.put(Space::Records, key::episode(tenant, id), row.encode());
    Ok(())
}

/// The episode of an event.
pub(crate) fn episode_of(
    rows: &Rows<'_, '_>,
    tenant: u32,
    event: EventId,
) -> Result<Option<EpisodeId>, ViewError> {
    Ok(member(rows, tenant, event)?.map(|member| member.episode))
}

/// An episode.
pub(crate) fn episode(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: EpisodeId,
) -> Result<Option<EpisodeRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::episode(tenant, id))?;
    bytes.map(|bytes| EpisodeRow::decode(&bytes)).transpose().map_err(row_error(Space::Records))
}

/// The events of an episode, in the order in which they happened.
pub(crate) fn events(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: EpisodeId,
) -> Result<Vec<(ValidAt, EventId, EpisodeEventRow)>, ViewError> {
    let (from, to) = key::events(tenant, id);
    let mut found: Vec<Result<_, CodecError>> = Vec::new();
    rows.scan(Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
        let at = key::read_event(key).ok_or(CodecError::Truncated);
        found.push(at.and_then(|(at, id)| Ok((at, id, EpisodeEventRow::decode(value)?))));
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect::<Result<_, _>>().map_err(row_error(Space::Records))
}

/// The windows of one thread.
fn load(rows: &Rows<'_, '_>, at: At) -> Result<Windows, ViewError> {
    let mut held = Vec::new();
    for id in ids(rows, Space::Sources, &key::unsealed_of(at.tenant, &at.thread))? {
        held.push(episode(rows, at.tenant, id)?.ok_or_else(gone)?.window(id));
    }
    let held = (!held.is_empty()).then_some((at.thread, held));
    Ok(Windows::restore(Limits::default(), held))
}

/// Does to the rows what the windows say.
fn perform(
    rows: &mut Rows<'_, '_>,
    at: At,
    windows: &Windows,
    actions: &[Action],
    joining: Option<&Joining>,
) -> Result<(), ViewError> {
    for action in actions {
        match *action {
            Action::Opened { episode, at: opened, successor_of, .. } => {
                let window = windows.thread(&at.thread).iter().find(|one| one.episode == episode);
                // One that is not open from its beginning is for what comes late.
                let late = window.is_some_and(|window| !window.open);
                // What comes after a pause carries on, unless it is about something else.
                let carries_on = !late && joining.is_some_and(|joining| !joining.shift);
                let follows = match successor_of {
                    None if carries_on => latest(rows, at)?,
                    named => named,
                };
                open(rows, at, episode, opened, late, follows)?;
            }
            Action::Joined { episode, event, .. } => {
                let joining = joining.ok_or_else(gone)?;
                join(rows, at, episode, event, joining)?;
            }
            Action::Closed { episode: id, at: when, why } => {
                let mut row = episode(rows, at.tenant, id)?.ok_or_else(gone)?;
                row.closed = Some(Closed { at: when, why: Some(why) });
                rows.put(Space::Records, key::episode(at.tenant, id), row.encode());
            }
            Action::Sealed { episode, at: when } => seal(rows, at, episode, when)?,
        }
    }
    Ok(())
}

fn open(
    rows: &mut Rows<'_, '_>,
    at: At,
    id: EpisodeId,
    opened: RecordedAt,
    late: bool,
    follows: Option<EpisodeId>,
) -> Result<(), ViewError> {
    let At { tenant, thread, .. } = at;
    // Its first event follows at once and says when it happened.
    let never = ValidAt(lamina_types::Micros(0));
    let row = EpisodeRow {
        scope: thread.scope,
        session: thread.session,
        opened,
        first: never,
        last: never,
        recorded: opened,
        events_count: 0,
        closed: late.then_some(Closed { at: opened, why: None }),
        sealed: None,
        follows,
    };
    rows.put(Space::Records, key::episode(tenant, id), row.encode());
    rows.put(Space::Records, key::listed(tenant, thread.scope, opened, id), Vec::new());
    rows.put(Space::Sources, key::unsealed(tenant, &thread, id), Vec::new());
    rows.put(Space::Sources, key::of_thread(tenant, &thread, opened, id), Vec::new());
    if let Some(before) = follows {
        rows.put(Space::Records, key::after(tenant, before, id), Vec::new());
    }
    count(rows, key::count(tenant, thread.scope), 1).map(drop)
}

fn join(
    rows: &mut Rows<'_, '_>,
    at: At,
    id: EpisodeId,
    event: EventId,
    joining: &Joining,
) -> Result<(), ViewError> {
    let At { tenant, thread: Thread { scope, .. }, .. } = at;
    let Joining { observed, row: joined, shift: _ } = joining;
    let mut row = episode(rows, tenant, id)?.ok_or_else(gone)?;
    if row.events_count > 0 {
        deadlines::clear(rows, row.deadline(), tenant, Due::Episode, id.as_bytes());
        (row.first, row.last) = (row.first.min(*observed), row.last.max(*observed));
    } else {
        (row.first, row.last) = (*observed, *observed);
    }
    row.recorded = joined.joined;
    row.events_count = row.events_count.saturating_add(1);
    deadlines::set(rows, row.deadline(), tenant, Due::Episode, id.as_bytes())?;
    rows.put(Space::Records, key::episode(tenant, id), row.encode());
    let member = MemberRow { episode: id, observed: *observed };
    rows.put(Space::Sources, key::member(tenant, event), member.encode());
    rows.put(Space::Records, of_event(tenant, event, Layer::Episode, id.as_bytes()), Vec::new());
    rows.put(Space::Records, key::event(tenant, id, *observed, event), joined.encode());
    let by_actor = key::by_actor(tenant, scope, &joined.actor, row.opened, id);
    rows.put(Space::Records, by_actor, Vec::new());
    for thing in &joined.things {
        speaks_more(rows, tenant, scope, id, *thing)?;
    }
    Ok(())
}

/// Nothing but what is taken back changes an episode from here on.
fn seal(rows: &mut Rows<'_, '_>, at: At, id: EpisodeId, when: RecordedAt) -> Result<(), ViewError> {
    let At { tenant, thread, by } = at;
    let mut row = episode(rows, tenant, id)?.ok_or_else(gone)?;
    deadlines::clear(rows, row.deadline(), tenant, Due::Episode, id.as_bytes());
    row.sealed = Some(Sealed { at: when, by });
    rows.put(Space::Records, key::episode(tenant, id), row.encode());
    rows.delete(Space::Sources, key::unsealed(tenant, &thread, id));
    rows.put(Space::Sources, key::sealed_by(by, tenant, id), Vec::new());
    concepts::sealed(rows, tenant, id, when)
}

/// Removes an episode that nothing is left of.
fn remove(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    id: EpisodeId,
    row: &EpisodeRow,
) -> Result<(), ViewError> {
    let thread = row.thread();
    match row.sealed {
        None => {
            deadlines::clear(rows, row.deadline(), tenant, Due::Episode, id.as_bytes());
            rows.delete(Space::Sources, key::unsealed(tenant, &thread, id));
        }
        Some(sealed) => rows.delete(Space::Sources, key::sealed_by(sealed.by, tenant, id)),
    }
    rows.delete(Space::Sources, key::of_thread(tenant, &thread, row.opened, id));
    rows.delete(Space::Records, key::listed(tenant, row.scope, row.opened, id));
    rows.delete(Space::Records, key::episode(tenant, id));
    if let Some(before) = row.follows {
        rows.delete(Space::Records, key::after(tenant, before, id));
    }
    for later in ids(rows, Space::Records, &key::all_after(tenant, id))? {
        rows.delete(Space::Records, key::after(tenant, id, later));
        if let Some(mut other) = episode(rows, tenant, later)? {
            other.follows = None;
            rows.put(Space::Records, key::episode(tenant, later), other.encode());
        }
    }
    count(rows, key::count(tenant, row.scope), -1).map(drop)
}

/// Another answer to an event of an episode may speak of other things.
fn speaks_of(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    member: MemberRow,
    things: Vec<EntityId>,
) -> Result<(), ViewError> {
    let (tenant, id) = (given.tenant, member.episode);
    let event_key = key::event(tenant, id, member.observed, given.event.id);
    let mut row = event_row(rows, &event_key)?;
    if row.things != things {
        let scope = episode(rows, tenant, id)?.ok_or_else(gone)?.scope;
        for thing in &row.things {
            speaks_less(rows, tenant, scope, id, *thing)?;
        }
        for thing in &things {
            speaks_more(rows, tenant, scope, id, *thing)?;
        }
        row.things = things;
    }
    row.answer = given.offset;
    rows.put(Space::Records, event_key, row.encode());
    Ok(())
}

fn speaks_more(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    id: EpisodeId,
    thing: EntityId,
) -> Result<(), ViewError> {
    if count(rows, key::thing(tenant, id, thing), 1)? == 1 {
        count(rows, key::spread(tenant, scope, thing), 1)?;
    }
    Ok(())
}

fn speaks_less(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    id: EpisodeId,
    thing: EntityId,
) -> Result<(), ViewError> {
    if count(rows, key::thing(tenant, id, thing), -1)? == 0 {
        count(rows, key::spread(tenant, scope, thing), -1)?;
    }
    Ok(())
}

/// The episode of the first event of the same scope that the event says preceded it.
fn preceding(rows: &Rows<'_, '_>, given: &Given<'_>) -> Result<Option<EpisodeId>, ViewError> {
    for event in &given.answer.preceded_by {
        let Some(id) = episode_of(rows, given.tenant, *event)? else { continue };
        let row = episode(rows, given.tenant, id)?;
        if row.is_some_and(|row| row.scope == given.event.scope) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The episode of a thread that began to be known last.
fn latest(rows: &Rows<'_, '_>, at: At) -> Result<Option<EpisodeId>, ViewError> {
    let (from, to) = key::all_of_thread(at.tenant, &at.thread);
    let mut found = None;
    rows.scan(Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
        found = tail_id(key).map(EpisodeId::from_bytes);
        ControlFlow::Break(())
    })?;
    Ok(found)
}

fn member(
    rows: &Rows<'_, '_>,
    tenant: u32,
    event: EventId,
) -> Result<Option<MemberRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::member(tenant, event))?;
    bytes.map(|bytes| MemberRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

fn event_row(rows: &Rows<'_, '_>, key: &[u8]) -> Result<EpisodeEventRow, ViewError> {
    let bytes = rows.get(Space::Records, key)?.ok_or_else(gone)?;
    EpisodeEventRow::decode(&bytes).map_err(row_error(Space::Records))
}

/// The episodes that the keys of a list end in.
fn ids(
    rows: &Rows<'_, '_>,
    space: Space,
    (from, to): &key::Bounds,
) -> Result<Vec<EpisodeId>, ViewError> {
    let mut found = Vec::new();
    rows.scan(space, (from, to), Direction::Forward, &mut |key, _| {
        found.extend(tail_id(key).map(EpisodeId::from_bytes));
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// One more or one less; gives how many there are then.
fn count(rows: &mut Rows<'_, '_>, key: Vec<u8>, by: i64) -> Result<u64, ViewError> {
    let before = rows.get(Space::Records, &key)?.map(|bytes| decode_count(&bytes));
    let before = before.transpose().map_err(row_error(Space::Records))?.unwrap_or(0);
    let now = before.saturating_add_signed(by);
    if now == 0 {
        rows.delete(Space::Records, key);
    } else {
        rows.put(Space::Records, key, encode_count(now));
    }
    Ok(now)
}

fn gone() -> ViewError {
    row_error(Space::Records)(CodecError::Missing { field: "episode" })
}

#[cfg(test)]
mod tests;
