//! What becomes of records when something is taken back that they stood on.
//!
//! Every layer takes back its own in the same step. Here it is only looked at: the records that may
//! depend on an answer, before and after, say what happened to each. The result waits in a row under
//! the entry that took back until the lifecycle event is announced that tells of it. Like that event it
//! is outside of replay: what was erased since cannot be looked at again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::concepts::{Item, Standing};
use lamina_store::codec::dependants::{dependants, put_dependants};
use lamina_store::codec::wire::Cursor;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError, Views};
use lamina_types::lifecycle::{Dependants, Derived, Fate};
use lamina_types::{ConceptId, EpisodeId, FactId};

use crate::derive::beliefs::rows::{BeliefRow, MadeRow};
use crate::derive::concepts::rows::ConceptRow;
use crate::derive::fold::{answer_row, answers_to, row_error};
use crate::derive::key::beliefs::{self as belief_key, ClaimKey};
use crate::derive::rows::{FactRow, done};
use crate::derive::{concepts, episodes, facts, key, read};

/// Records that are looked at of one answer; what is beyond is taken back all the same.
const LOOKED_AT_MAX: usize = 512;
/// Versions of facts that are looked at in one track.
const PER_TRACK_MAX: usize = 64;
/// How finely it is told how sure a belief is.
const BILLION: u128 = 1_000_000_000;

/// Where records stand that may depend on an answer.
#[derive(Debug, Default)]
struct Places {
    tracks: BTreeSet<(u64, Tag)>,
    claims: BTreeSet<ClaimKey>,
    things: BTreeSet<(u64, Item)>,
    episode: Option<EpisodeId>,
}

/// A record as it is at a moment.
#[derive(Debug, PartialEq, Eq)]
struct State {
    /// How sure it is.
    strength: u64,
    /// How much of its support it knows to be lost.
    lost: u32,
    /// Default reads show it.
    is_shown: bool,
    /// Everything about it.
    bytes: Vec<u8>,
}

type Records = BTreeMap<Derived, State>;

/// Takes back events, by their offsets, and says what became of everything that stood on them.
///
/// Whatever takes back uses it in the same way: call it from the fold of the entry, with what the entry
/// does to one event; give the result to [`keep`] under the offset of the entry; and let the stage thread
/// announce what [`kept`] then has. It looks around each event before and after, so that nothing else may
/// be changed by `take_back`.
pub(super) fn watched<'a, 'f>(
    rows: &mut Rows<'a, 'f>,
    events: &[u64],
    mut take_back: impl FnMut(&mut Rows<'a, 'f>, u64) -> Result<(), ViewError>,
) -> Result<Dependants, ViewError> {
    let mut fates = Dependants::default();
    for event in events {
        let before = Before::of(rows, *event)?;
        take_back(rows, *event)?;
        before.compare(rows, &mut fates)?;
    }
    Ok(fates)
}

/// What depends on some answers, as it was before they were taken back.
#[derive(Debug)]
struct Before {
    tenant: u32,
    places: Places,
    records: Records,
}

impl Before {
    /// Looks at what depends on the answers to an event.
    fn of(rows: &mut Rows<'_, '_>, offset: u64) -> Result<Before, ViewError> {
        let mut places = Places::default();
        let Some(event) = rows.event_of(offset)? else {
            return Ok(Before { tenant: 0, places, records: Records::new() });
        };
        let tenant = event.tenant;
        places.episode = episodes::episode_of(rows, tenant, event.id)?;
        for answer in answers_to(rows, tenant, offset)? {
            places.of_answer(rows, tenant, answer)?;
        }
        let records = places.look(rows, tenant)?;
        Ok(Before { tenant, places, records })
    }

    /// Adds what has become of it since.
    fn compare(mut self, rows: &Rows<'_, '_>, fates: &mut Dependants) -> Result<(), ViewError> {
        let mut after = self.places.look(rows, self.tenant)?;
        for (record, was) in std::mem::take(&mut self.records) {
            if let Some(fate) = fate(&was, after.remove(&record).as_ref(), record) {
                fates.add(fate, record);
            }
        }
        for (record, _) in after.into_iter().filter(|(_, is)| is.is_shown) {
            fates.add(Fate::Rederived, record);
        }
        Ok(())
    }
}

/// What became of a record; `None` if nothing did, or if nobody saw it before.
fn fate(was: &State, is: Option<&State>, record: Derived) -> Option<Fate> {
    let Some(is) = is else { return was.is_shown.then_some(Fate::Removed) };
    if was.bytes == is.bytes {
        return None;
    }
    match (was.is_shown, is.is_shown) {
        (true, false) if matches!(record, Derived::Concept(_)) => Some(Fate::Demoted),
        (true, false) => Some(Fate::Removed),
        (false, true) => Some(Fate::Rederived),
        (false, false) => None,
        (true, true) if is.lost > was.lost => Some(Fate::Stale),
        (true, true) if is.strength < was.strength => Some(Fate::Demoted),
        (true, true) => Some(Fate::Rederived),
    }
}

impl Places {
    fn of_answer(
        &mut self,
        rows: &mut Rows<'_, '_>,
        tenant: u32,
        offset: u64,
    ) -> Result<(), ViewError> {
        let Some(mut row) = answer_row(rows, tenant, offset)? else { return Ok(()) };
        facts::with_carried(rows, tenant, offset, &mut row)?;
        self.tracks.extend(row.tracks.iter().copied());
        let made = rows.get(Space::Sources, &belief_key::made(tenant, offset))?;
        let made = made.map(|bytes| MadeRow::decode(&bytes)).transpose();
        let made = made.map_err(row_error(Space::Sources))?.unwrap_or_default();
        self.claims.extend(made.claims);
        self.things.extend(concepts::things_near(rows, tenant, offset, &row.tracks)?);
        Ok(())
    }

    fn look(&self, rows: &Rows<'_, '_>, tenant: u32) -> Result<Records, ViewError> {
        let mut found = Records::new();
        if let Some(id) = self.episode
            && let Some(row) = episodes::episode(rows, tenant, id)?
        {
            let strength = u64::from(row.events_count);
            let bytes = row.encode();
            found.insert(Derived::Episode(id), State { strength, lost: 0, is_shown: true, bytes });
        }
        for (scope, track) in &self.tracks {
            look_at_track(rows, tenant, (*scope, track), &mut found)?;
        }
        for claim in self.claims.iter().take(LOOKED_AT_MAX) {
            look_at_claim(rows, tenant, claim, &mut found)?;
        }
        for (scope, item) in self.things.iter().take(LOOKED_AT_MAX) {
            look_at_thing(rows, tenant, (*scope, *item), &mut found)?;
        }
        Ok(found)
    }
}

fn look_at_track(
    rows: &Rows<'_, '_>,
    tenant: u32,
    (scope, track): (u64, &Tag),
    found: &mut Records,
) -> Result<(), ViewError> {
    let (from, to) = key::currents(tenant, scope, track, None, None);
    let mut ids = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
        ids.extend(key::tail_id(key).map(FactId::from_bytes));
        if ids.len() < PER_TRACK_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    for id in ids {
        if found.len() >= LOOKED_AT_MAX {
            break;
        }
        let Some(bytes) = rows.get(Space::Records, &key::fact(tenant, id))? else { continue };
        let piece = FactRow::decode(&bytes).map_err(row_error(Space::Records))?.piece;
        let sure = piece.supports.iter().map(|support| support.confidence.get()).max();
        let strength = u64::from(sure.unwrap_or(0)) << 16 | piece.supports.len() as u64;
        found.insert(Derived::Fact(id), State { strength, lost: 0, is_shown: true, bytes });
    }
    Ok(())
}

fn look_at_claim(
    rows: &Rows<'_, '_>,
    tenant: u32,
    claim: &ClaimKey,
    found: &mut Records,
) -> Result<(), ViewError> {
    let Some(bytes) = rows.get(Space::Sources, &belief_key::claim(tenant, claim))? else {
        return Ok(());
    };
    let row = BeliefRow::decode(&bytes).map_err(row_error(Space::Sources))?;
    // All that is known counts, also what is not shown yet.
    let (prior, known) = (row.held.state.prior, row.held.state.known);
    let supports = u128::from(prior.supports) + u128::from(known.supports);
    let total = u128::from(prior.total()) + u128::from(known.total());
    let strength = u64::try_from(supports * BILLION / total.max(1)).unwrap_or(u64::MAX);
    let is_shown = row.held.is_held();
    found.insert(Derived::Belief(row.id), State { strength, lost: 0, is_shown, bytes });
    Ok(())
}

fn look_at_thing(
    rows: &Rows<'_, '_>,
    tenant: u32,
    (scope, item): (u64, Item),
    found: &mut Records,
) -> Result<(), ViewError> {
    let member = rows.get(Space::Sources, &concepts::key::member(tenant, scope, item))?;
    let id = member.and_then(|bytes| bytes.try_into().ok()).map(ConceptId::from_bytes);
    let Some(id) = id else { return Ok(()) };
    if found.contains_key(&Derived::Concept(id)) {
        return Ok(());
    }
    let Some(bytes) = rows.get(Space::Records, &concepts::key::concept(tenant, id))? else {
        return Ok(());
    };
    let ConceptRow { concept, confidence, .. } =
        ConceptRow::decode(&bytes).map_err(row_error(Space::Records))?;
    let state = State {
        // A new version is made again from what is left, however sure it is.
        strength: u64::from(concept.version) << 16 | u64::from(confidence.get()),
        lost: concept.lost_count,
        is_shown: concept.standing == Standing::Held,
        bytes,
    };
    found.insert(Derived::Concept(id), state);
    Ok(())
}

/// Keeps what became of the dependants of everything that an entry took back.
pub(super) fn keep(rows: &mut Rows<'_, '_>, tenant: u32, by: u64, fates: &Dependants) {
    if fates.is_empty() {
        return;
    }
    let mut bytes = Vec::new();
    put_dependants(&mut bytes, fates);
    rows.put(Space::Jobs, key::withdrawn(tenant, by), bytes);
}

/// What became of the dependants of everything that an entry took back.
pub(crate) fn kept(views: &Views, tenant: u32, by: u64) -> Result<Dependants, ViewError> {
    let row = read::row(views, Space::Jobs, &key::withdrawn(tenant, by), |bytes| {
        let mut from = Cursor::new(bytes);
        let read = dependants(&mut from)?;
        done(&from, read)
    })?;
    Ok(row.unwrap_or_default())
}
