//! Tracks of entities that became one, or are two again.
//!
//! What was said stays where it was said: from the operation on it counts in the track of whoever it is
//! about now, with the same time in the world and the same evidence, and no more in the other. So
//! before the operation everything is known as it was, and from it on two values of one single-valued
//! relation supersede or dispute each other as if they had been said there.

use std::collections::{BTreeMap, BTreeSet};

use lamina_core::derive::facts::{
    AssertionId, Input, Resolution, Retraction, Saying, Track, ValueKey,
};
use lamina_store::kv::Space;
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;

use super::{At, inputs, pieces, said, take, turns};
use crate::derive::entities::merge::Operation;
use crate::derive::entities::rows::put_origin;
use crate::derive::key;
use crate::derive::rows::{Gone, InputRow, Spoken};

/// What one operation brings elsewhere; the rest stays where it is.
const CARRIED_MAX: usize = 60_000;
/// The place of taking something away among what an operation does: before it is brought elsewhere.
const TAKES_AWAY: u16 = 0;

/// Where an input counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) struct Side {
    pub(in crate::derive) subject: EntityId,
    pub(in crate::derive) said: Tag,
    pub(in crate::derive) track: Tag,
    pub(in crate::derive) value: Option<ValueKey>,
    pub(in crate::derive) source: AssertionId,
}

/// An input that counts elsewhere now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) struct Moved {
    pub(in crate::derive) scope: u64,
    pub(in crate::derive) predicate: Tag,
    pub(in crate::derive) single: bool,
    /// Where it was said.
    pub(in crate::derive) origin: AssertionId,
    pub(in crate::derive) old: Side,
    pub(in crate::derive) new: Side,
}

/// One that is to be moved.
struct Moving {
    row: InputRow,
    moved: Moved,
}

/// Brings what was said of these entities to where it counts once they are one with `to`.
pub(in crate::derive) fn rehome(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    movers: &BTreeSet<EntityId>,
    to: EntityId,
    tracks: &BTreeSet<(u64, Tag)>,
) -> Result<Vec<Moved>, ViewError> {
    let mut moving: Vec<Moving> = Vec::new();
    for (scope, track) in tracks {
        moving.extend(of_track(rows, by.tenant, (*scope, *track), movers, to)?);
    }
    moving.sort_by_key(|one| (one.moved.origin, one.moved.scope, one.moved.old.track));
    moving.truncate(CARRIED_MAX);
    take_away(rows, by, &moving)?;
    let mut all = Vec::with_capacity(moving.len());
    for (place, Moving { row, mut moved }) in moving.into_iter().enumerate() {
        let ordinal = u16::try_from(place + 1).unwrap_or(u16::MAX);
        moved.new.source = AssertionId { offset: by.offset, ordinal };
        bring(rows, by, row, &moved)?;
        all.push(moved);
    }
    Ok(all)
}

/// The inputs of a track that count elsewhere from now on.
fn of_track(
    rows: &Rows<'_, '_>,
    tenant: u32,
    (scope, track): (u64, Tag),
    movers: &BTreeSet<EntityId>,
    to: EntityId,
) -> Result<Vec<Moving>, ViewError> {
    let all = inputs(rows, tenant, scope, &track)?;
    // Of a relation with many values each has a track of its own: what names no value is about that.
    let shared = all.iter().find(|row| !row.spoken.single && value(&row.input).is_some());
    let shared = shared.map(|row| (value(&row.input), row.spoken.object));
    let renamed = ValueKey(rows.tag(tenant, "derive.value", &[b"entity", to.as_bytes()])?);
    let mut moving = Vec::new();
    for row in all.into_iter().filter(|row| row.gone.is_none()) {
        let InputRow { subject, predicate, spoken, .. } = row;
        let own = (value(&row.input), spoken.object);
        let (kept, object) = if own.0.is_some() { own } else { shared.unwrap_or(own) };
        let subject_moves = movers.contains(&spoken.subject);
        let object_moves = object.is_some_and(|object| movers.contains(&object));
        if !subject_moves && !object_moves {
            continue;
        }
        let about = if subject_moves { to } else { subject };
        let known = if object_moves { Some(renamed) } else { kept };
        let single = spoken.single && shared.is_none();
        let old = Side {
            subject,
            said: said(rows, tenant, subject, &predicate)?,
            track,
            value: kept,
            source: row.input.source(),
        };
        let now = said(rows, tenant, about, &predicate)?;
        let place = match (single, known) {
            (false, Some(value)) => rows.tag(tenant, "derive.track", &[&now, &value.0])?,
            _ => rows.tag(tenant, "derive.track", &[&now])?,
        };
        let new = Side { subject: about, said: now, track: place, value: known, ..old };
        if new == old {
            continue;
        }
        let origin = row.origin.unwrap_or(old.source);
        let moved = Moved { scope, predicate, single, origin, old, new };
        moving.push(Moving { row, moved });
    }
    Ok(moving)
}

/// Takes the inputs out of their tracks, from now on.
fn take_away(rows: &mut Rows<'_, '_>, by: &Operation, moving: &[Moving]) -> Result<(), ViewError> {
    let mut tracks: BTreeMap<(u64, Tag), BTreeSet<AssertionId>> = BTreeMap::new();
    for Moving { moved, .. } in moving {
        tracks.entry((moved.scope, moved.old.track)).or_default().insert(moved.old.source);
    }
    let source = AssertionId { offset: by.offset, ordinal: TAKES_AWAY };
    let recorded = by.recorded;
    for ((scope, track), gone) in tracks {
        let all = inputs(rows, by.tenant, scope, &track)?;
        let Some(first) = all.first() else { continue };
        let (subject, predicate) = (first.subject, first.predicate);
        let at = At { tenant: by.tenant, scope, track, subject, predicate };
        let mut made = Track::replay(&turns(&all));
        for mut row in all.into_iter().filter(|row| gone.contains(&row.input.source())) {
            let input = key::input(by.tenant, scope, &track, row.input.source());
            row.gone = Some(Gone { by: source, recorded });
            rows.put(Space::Sources, input, row.encode());
        }
        let outcome = made.retract(&Retraction { source, recorded, gone });
        pieces::apply(rows, at, outcome.changes)?;
    }
    Ok(())
}

/// Lets an input count in another track.
fn bring(
    rows: &mut Rows<'_, '_>,
    by: &Operation,
    row: InputRow,
    moved: &Moved,
) -> Result<(), ViewError> {
    let Moved { scope, predicate, origin, new, .. } = *moved;
    let at = At { tenant: by.tenant, scope, track: new.track, subject: new.subject, predicate };
    let input = match row.input {
        Input::Said(mut assertion) => {
            assertion.source = new.source;
            assertion.recorded = by.recorded;
            assertion.kept = None;
            assertion.saying = with_value(assertion.saying, new.value);
            Input::Said(assertion)
        }
        Input::Resolved(resolution) => {
            Input::Resolved(Resolution { source: new.source, recorded: by.recorded, ..resolution })
        }
    };
    let tenant = by.tenant;
    rows.put(Space::Sources, key::carried(tenant, new.source), put_origin(origin));
    let carries = key::carries(tenant, origin.offset, scope, &new.track);
    rows.put(Space::Sources, carries, Vec::new());
    rows.put(Space::Sources, key::track(tenant, scope, &new.said, &new.track), Vec::new());
    let spoken = Spoken { ..row.spoken };
    let outcome = take(rows, at, input, spoken, Some(origin))?;
    pieces::apply(rows, at, outcome.changes).map(drop)
}

/// The value that an input names.
fn value(input: &Input) -> Option<ValueKey> {
    match input {
        Input::Said(assertion) => match assertion.saying {
            Saying::Holds(value) | Saying::Corrects(value) | Saying::Negated(value) => Some(value),
            Saying::Ends(value) => value,
        },
        Input::Resolved(_) => None,
    }
}

/// The same of another value; what names none names none.
fn with_value(saying: Saying, value: Option<ValueKey>) -> Saying {
    match (saying, value) {
        (Saying::Holds(_), Some(value)) => Saying::Holds(value),
        (Saying::Corrects(_), Some(value)) => Saying::Corrects(value),
        (Saying::Negated(_), Some(value)) => Saying::Negated(value),
        (Saying::Ends(Some(_)), Some(value)) => Saying::Ends(Some(value)),
        (saying, _) => saying,
    }
}
