//! Looking into the derived views from outside the fold.

use std::ops::ControlFlow;
use std::sync::Arc;

use lamina_store::codec::CodecError;
use lamina_store::entry::Place;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::{ViewError, Views};
use lamina_types::stdx::quick::Map;
use lamina_types::{ConceptId, EpisodeId, EventId, Micros, RecordedAt, ValidAt};

use crate::derive::beliefs::rows::MadeRow;
use crate::derive::concepts;
use crate::derive::concepts::rows::{ConceptRow, DigestRow};
use crate::derive::fold::{offsets, row_error};
use crate::derive::key;
use crate::derive::rows::episodes::{EpisodeEventRow, EpisodeRow, MemberRow};
use crate::derive::rows::{AnswerCounts, AnswerRow};

pub(crate) fn get(views: &Views, space: Space, key: &[u8]) -> Result<Option<Vec<u8>>, ViewError> {
    views.derived_row(space, key)
}

/// A row, decoded.
pub(crate) fn row<T: Clone + Send + Sync + 'static>(
    views: &Views,
    space: Space,
    key: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, CodecError>,
) -> Result<Option<T>, ViewError> {
    Ok(views.derived_record(space, key, decode)?.map(Arc::unwrap_or_clone))
}

/// Walks rows until the visitor stops.
pub(crate) fn walk(
    views: &Views,
    space: Space,
    (from, to): (&[u8], &[u8]),
    direction: Direction,
    visit: &mut lamina_store::kv::Visit<'_>,
) -> Result<(), ViewError> {
    views.derived_rows(space, (from, to), direction, visit)
}

/// What an answer made.
pub(crate) fn answer_row(
    views: &Views,
    tenant: u32,
    offset: u64,
) -> Result<Option<Arc<AnswerRow>>, ViewError> {
    views.derived_record(Space::Sources, &key::answer(tenant, offset), AnswerRow::decode)
}

/// The offsets of the answers to an event, oldest first.
pub(crate) fn answers_to(views: &Views, tenant: u32, event: u64) -> Result<Vec<u64>, ViewError> {
    Ok(row(views, Space::Sources, &key::answered(tenant, event), offsets)?.unwrap_or_default())
}

/// The answer that was given to an event first.
pub(crate) fn first_answer(
    views: &Views,
    tenant: u32,
    event: EventId,
) -> Result<Option<u64>, ViewError> {
    let Some(event) = views.event(tenant, event)? else { return Ok(None) };
    Ok(answers_to(views, tenant, event.offset)?.first().copied())
}

/// The same, with where the log keeps them.
pub(crate) fn answers_placed(
    views: &Views,
    tenant: u32,
    event: u64,
) -> Result<Vec<(u64, Place)>, ViewError> {
    let mut placed = Vec::new();
    for offset in answers_to(views, tenant, event)? {
        placed.extend(answer_row(views, tenant, offset)?.map(|row| (offset, row.place)));
    }
    Ok(placed)
}

/// The episode of an event.
pub(crate) fn episode_of(
    views: &Views,
    tenant: u32,
    event: EventId,
) -> Result<Option<(EpisodeId, EpisodeRow)>, ViewError> {
    let member = key::episodes::member(tenant, event);
    let member = row(views, Space::Sources, &member, MemberRow::decode)?;
    let Some(MemberRow { episode: id, .. }) = member else { return Ok(None) };
    Ok(episode(views, tenant, id)?.map(|found| (id, found)))
}

/// An episode.
pub(crate) fn episode(
    views: &Views,
    tenant: u32,
    id: EpisodeId,
) -> Result<Option<EpisodeRow>, ViewError> {
    row(views, Space::Records, &key::episodes::episode(tenant, id), EpisodeRow::decode)
}

/// The concepts that have a version which was made when an episode was sealed.
pub(crate) fn understood(
    views: &Views,
    tenant: u32,
    id: EpisodeId,
    episode: &EpisodeRow,
) -> Result<Vec<ConceptId>, ViewError> {
    let Some(sealed) = episode.sealed else { return Ok(Vec::new()) };
    let digest = concepts::key::digest(tenant, episode.scope, id);
    let digest = row(views, Space::Sources, &digest, DigestRow::decode)?;
    let mut understood = Vec::new();
    for item in digest.map(|digest| digest.items).unwrap_or_default() {
        let member = concepts::key::member(tenant, episode.scope, item);
        let concept = row(views, Space::Sources, &member, |bytes| {
            bytes.try_into().map(ConceptId::from_bytes).map_err(|_| CodecError::Truncated)
        })?;
        let Some(concept) = concept.filter(|concept| !understood.contains(concept)) else {
            continue;
        };
        let found = concepts::key::concept(tenant, concept);
        let found = row(views, Space::Records, &found, ConceptRow::decode)?;
        if found.is_some_and(|found| found.concept.synthesized == sealed.at) {
            understood.push(concept);
        }
    }
    Ok(understood)
}

/// The episodes that were sealed when the entries in `from..to` were folded.
pub(crate) fn sealed_by(
    views: &Views,
    from: u64,
    to: u64,
) -> Result<Vec<(u32, EpisodeId)>, ViewError> {
    let (from, to) = key::episodes::all_sealed_by(from, to);
    let mut sealed = Vec::new();
    walk(views, Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        sealed.extend(key::episodes::read_sealed_by(key));
        ControlFlow::Continue(())
    })?;
    Ok(sealed)
}

/// The events of an episode in their order.
#[derive(Debug)]
pub(crate) struct Turns {
    pub(crate) events: Vec<EventId>,
    places: Map<EventId, usize>,
    /// When the last of them came.
    since: RecordedAt,
}

impl Turns {
    /// The place of an event among them.
    pub(crate) fn place(&self, event: EventId) -> Option<usize> {
        self.places.get(&event).copied()
    }

    fn bytes(&self) -> usize {
        64 * self.events.len()
    }
}

/// The events of an episode in their order, as far as they had come by some time.
pub(crate) fn turns_of(
    views: &Views,
    tenant: u32,
    id: EpisodeId,
    by: RecordedAt,
) -> Result<Arc<Turns>, ViewError> {
    let name = [b"turns ".as_slice(), &key::episodes::episode(tenant, id)].concat();
    let all = || turns_by(views, tenant, id, RecordedAt(Micros::MAX));
    let turns = views.made_again(&name, Turns::bytes, all)?;
    match turns.since <= by {
        true => Ok(turns),
        false => turns_by(views, tenant, id, by).map(Arc::new),
    }
}

fn turns_by(views: &Views, tenant: u32, id: EpisodeId, by: RecordedAt) -> Result<Turns, ViewError> {
    let (from, to) = key::episodes::events(tenant, id);
    let mut found: Vec<Result<EventId, CodecError>> = Vec::new();
    let mut since = RecordedAt(Micros::MIN);
    walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
        match (key::episodes::read_event(key), EpisodeEventRow::decode_joined(value)) {
            (Some((_, event)), Ok(joined)) if joined <= by => {
                since = since.max(joined);
                found.push(Ok(event));
            }
            (Some(_), Ok(_)) => {}
            (_, joined) => found.push(Err(joined.err().unwrap_or(CodecError::Truncated))),
        }
        ControlFlow::Continue(())
    })?;
    let events = found.into_iter().collect::<Result<Vec<EventId>, _>>();
    let events = events.map_err(row_error(Space::Records))?;
    let places = events.iter().enumerate().map(|(place, event)| (*event, place)).collect();
    Ok(Turns { events, places, since })
}

/// The events of an episode, in the order in which they happened.
pub(crate) fn events_of(
    views: &Views,
    tenant: u32,
    id: EpisodeId,
) -> Result<Vec<(ValidAt, EventId, EpisodeEventRow)>, ViewError> {
    let (from, to) = key::episodes::events(tenant, id);
    let mut found: Vec<Result<_, CodecError>> = Vec::new();
    walk(views, Space::Records, (&from, &to), Direction::Forward, &mut |key, value| {
        let at = key::episodes::read_event(key).ok_or(CodecError::Truncated);
        found.push(at.and_then(|(at, id)| Ok((at, id, EpisodeEventRow::decode(value)?))));
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect::<Result<_, _>>().map_err(row_error(Space::Records))
}

/// What came of an event.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Came {
    /// What the fold decided.
    pub(crate) counts: AnswerCounts,
    /// Beliefs that took something of it.
    pub(crate) touched: u32,
    /// Those of them that show something else since.
    pub(crate) updated: u32,
}

/// What came of an event; `None` if it has no answer yet.
pub(crate) fn came_of_event(
    views: &Views,
    tenant: u32,
    event: u64,
) -> Result<Option<Came>, ViewError> {
    let Some(answer) = answers_to(views, tenant, event)?.pop() else { return Ok(None) };
    let Some(row) = answer_row(views, tenant, answer)? else { return Ok(None) };
    let (touched, updated) = beliefs_of_answer(views, tenant, answer)?;
    Ok(Some(Came { counts: row.counts, touched, updated }))
}

/// How many beliefs took something of an answer, and how many of them show something else since.
pub(crate) fn beliefs_of_answer(
    views: &Views,
    tenant: u32,
    answer: u64,
) -> Result<(u32, u32), ViewError> {
    let made = row(views, Space::Sources, &key::beliefs::made(tenant, answer), MadeRow::decode)?;
    Ok(made.map_or((0, 0), |made| (made.touched, made.updated)))
}
