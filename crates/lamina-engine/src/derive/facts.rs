//! Facts: claims become inputs of tracks, tracks become versions of facts.

mod pieces;
mod rehome;
mod tracks;
pub(super) mod revoked;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use lamina_core::derive::conflicts::{Verdict, verdicts};
use lamina_core::derive::facts::{
    Assertion, AssertionId, Change, Content, Decision, Input, Outcome, Piece, Resolution,
    Retraction, Saying, Track, Turn, Value, ValueKey, push, with_and_without, without_turns,
};
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::EntityId;
use lamina_types::layer::{Cardinality, Claim, Effect, Object};

use crate::derive::beliefs;
use crate::derive::beliefs::decided::Decided;
use crate::derive::concepts;
use crate::derive::conflicts;
use crate::derive::entities::{CERTAIN, Names};
use crate::derive::fold::{Given, row_error};
use crate::derive::key;
use crate::derive::rows::{AnswerRow, Gone, InputRow, Spoken};
use crate::derive::suppress;
use crate::derive::words::hash;
use pieces::Stored;
use tracks::{author, tracks};

pub(crate) use pieces::{current, maker, mint, origin};
pub(super) use rehome::{Moved, rehome};
pub(crate) use tracks::said_outside;
pub(super) use tracks::{said, single_track};

/// The domains of the hashes of predicates and of tracks.
pub(super) const PREDICATE: &str = "derive.predicate";
/// The domain of the hashes of objects.
pub(super) const VALUE: &str = "derive.value";
const TRACK: &str = "derive.track";

/// A track, and whom and what it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) tenant: u32,
    pub(crate) scope: u64,
    pub(crate) track: Tag,
    pub(crate) subject: EntityId,
    pub(crate) predicate: Tag,
}

/// Takes the claims of an answer, in their order, into every scope that learns of it.
pub(super) fn learn(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    names: &Names,
) -> Result<(), ViewError> {
    let answer = given.answer;
    if answer.asked.feedback {
        return Ok(());
    }
    for (position, claim) in answer.extraction.claims.iter().enumerate() {
        let Ok(ordinal) = u16::try_from(position) else { break };
        if answer.ungrounded.contains(&ordinal) {
            given.row.counts.ungrounded += 1;
            continue;
        }
        if answer.echoed.contains(&ordinal) {
            continue;
        }
        let Some(keyed) = keyed(rows, given, claim, names)? else { continue };
        let Keyed { subject, predicate, said, value } = keyed;
        let spoken = spoken(claim, subject, names);
        for scope in given.scopes.clone() {
            for track in tracks(rows, given.tenant, scope, &said, claim, value)? {
                if suppress::of_fact(rows, given, (scope, &track), value)? {
                    continue;
                }
                let at = At { tenant: given.tenant, scope, track, subject, predicate };
                let Some(assertion) = assertion(given, ordinal, claim, value) else { continue };
                let assertion = Assertion { author: author(rows, given, claim)?, ..assertion };
                let known = begin(rows, at, &said)?;
                said_of(rows, given, (at, known), (assertion, spoken))?;
            }
            oppose(rows, given, scope, (ordinal, claim), &keyed, spoken)?;
        }
    }
    Ok(())
}

/// Whether anything was ever said about a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begun {
    Before,
    Now,
}

/// Notes that something is said about a track.
fn begin(rows: &mut Rows<'_, '_>, at: At, said: &Tag) -> Result<Begun, ViewError> {
    let track = key::track(at.tenant, at.scope, said, &at.track);
    if rows.get(Space::Sources, &track)?.is_some() {
        return Ok(Begun::Before);
    }
    rows.put(Space::Sources, track, Vec::new());
    Ok(Begun::Now)
}

/// Whom and what a claim names.
fn spoken(claim: &Claim, subject: EntityId, names: &Names) -> Spoken {
    let (subject, sure) = names.named(&claim.subject).unwrap_or((subject, CERTAIN));
    let object = match &claim.object {
        Object::Entity(term) => names.named(term),
        _ => None,
    };
    Spoken {
        subject,
        object: object.map(|(id, _)| id),
        sure: (sure, object.map_or(CERTAIN, |(_, sure)| sure)),
        single: claim.cardinality == Some(Cardinality::One),
    }
}

/// What a claim is known by: its subject, its predicate, both together, and its object if it has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyed {
    pub(super) subject: EntityId,
    pub(super) predicate: Tag,
    pub(super) said: Tag,
    pub(super) value: Option<ValueKey>,
}

/// What a claim is known by; `None` if its subject is nobody.
pub(super) fn keyed(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    claim: &Claim,
    names: &Names,
) -> Result<Option<Keyed>, ViewError> {
    let Some(subject) = names.entity(&claim.subject) else { return Ok(None) };
    let tenant = given.tenant;
    let predicate = given.words.predicate(&hash(rows, tenant), &claim.predicate)?;
    let said = said(rows, tenant, subject, &predicate)?;
    let value = value(rows, given, claim, names)?;
    Ok(Some(Keyed { subject, predicate, said, value }))
}

fn assertion(
    given: &Given<'_>,
    ordinal: u16,
    claim: &Claim,
    value: Option<ValueKey>,
) -> Option<Assertion> {
    Some(Assertion {
        source: AssertionId { offset: given.offset, ordinal },
        kept: None,
        recorded: given.row.recorded,
        observed: given.answer.observed_at,
        saying: Saying::new(claim.effect, value)?,
        valid_from: claim.valid_from,
        valid_to: claim.valid_to,
        confidence: claim.confidence,
        no_supersede: given.answer.asked.no_supersede,
        settles: given.answer.asked.settles,
        author: None,
    })
}

/// One more claim about a track, counted for the lifecycle of its event.
fn said_of(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    (at, begun): (At, Begun),
    (assertion, spoken): (Assertion, Spoken),
) -> Result<(), ViewError> {
    given.learned.push((assertion.source.ordinal, at.scope, at.track));
    if !given.row.tracks.contains(&(at.scope, at.track)) {
        given.row.tracks.push((at.scope, at.track));
    }
    let outcome = match begun {
        Begun::Before => take(rows, at, Input::Said(assertion), spoken, None)?,
        // Nothing is there to be read.
        Begun::Now => {
            let row = keep(rows, at, Input::Said(assertion), spoken, None);
            Track::default().push(&row.input)
        }
    };
    let counts = &mut given.row.counts;
    match outcome.decision {
        Decision::Add => counts.facts += 1,
        Decision::Update => {
            counts.facts += 1;
            counts.superseded += 1;
        }
        Decision::End => counts.superseded += 1,
        Decision::Conflict => counts.conflicts += 1,
        Decision::Noop => {}
    }
    let adds = |change: &Change| matches!(change, Change::Support { instead_of: None, .. });
    if begun == Begun::Before && !outcome.changes.iter().all(adds) {
        given.moved.push((at.scope, at.track));
    }
    given.row.counts.settled += pieces::apply(rows, at, outcome.changes)?;
    Ok(())
}

/// Whether a claim denies what another relation says: only what holds from some time on does.
pub(super) fn opposes(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    claim: &Claim,
) -> Result<Option<Tag>, ViewError> {
    let holds = matches!(claim.effect, Effect::Holds | Effect::Corrects);
    let denies = holds && claim.valid_to.is_none() && !given.answer.asked.no_supersede;
    if !denies {
        return Ok(None);
    }
    given.words.denied(&hash(rows, given.tenant), &claim.predicate)
}

/// Ends what a claim denies, if it is known: nobody is said to have liked what they dislike.
fn oppose(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    scope: u64,
    (ordinal, claim): (u16, &Claim),
    keyed: &Keyed,
    spoken: Spoken,
) -> Result<(), ViewError> {
    let Some(value) = keyed.value else { return Ok(()) };
    let Some(predicate) = opposes(rows, given, claim)? else { return Ok(()) };
    let (tenant, subject) = (given.tenant, keyed.subject);
    let said = said(rows, tenant, subject, &predicate)?;
    let track = rows.tag(tenant, TRACK, &[&said, &value.0])?;
    let at = At { tenant, scope, track, subject, predicate };
    let is_known = |piece: &Piece| piece.content == Content::One(Value::Is(value));
    if rows.get(Space::Sources, &key::track(tenant, scope, &said, &track))?.is_none()
        || current(rows, at, is_known)?.is_none()
    {
        return Ok(());
    }
    let Some(assertion) = assertion(given, ordinal, claim, Some(value)) else { return Ok(()) };
    let assertion = Assertion { saying: Saying::Ends(Some(value)), ..assertion };
    if !given.row.tracks.contains(&(scope, track)) {
        given.row.tracks.push((scope, track));
    }
    given.moved.push((scope, track));
    let outcome = take(rows, at, Input::Said(assertion), spoken, None)?;
    given.row.counts.superseded += u32::from(outcome.decision == Decision::End);
    given.row.counts.settled += pieces::apply(rows, at, outcome.changes)?;
    Ok(())
}

/// A decision about a conflict of a track.
pub(super) fn resolve(
    rows: &mut Rows<'_, '_>,
    at: At,
    resolution: Resolution,
) -> Result<(), ViewError> {
    let recorded = resolution.recorded;
    let nobody = Spoken::nobody(at.subject);
    let outcome = take(rows, at, Input::Resolved(resolution), nobody, None)?;
    pieces::apply(rows, at, outcome.changes)?;
    concepts::decided(rows, at.tenant, &[(at.scope, at.track)], recorded)
}

/// Lets beliefs follow what the decisions about a track mean now.
pub(super) fn judge(rows: &mut Rows<'_, '_>, at: At) -> Result<(), ViewError> {
    let inputs = inputs(rows, at.tenant, at.scope, &at.track)?;
    let (track, _) = without_turns(&turns(&inputs), &BTreeSet::new());
    let mut decisions: BTreeMap<u64, (Decided, BTreeMap<ValueKey, Verdict>)> = BTreeMap::new();
    // One that was brought here with its subject was made elsewhere, and so were the beliefs.
    for row in inputs.iter().filter(|row| row.origin.is_none()) {
        let Input::Resolved(resolution) = &row.input else { continue };
        let Resolution { source, recorded, .. } = *resolution;
        let decision = Decided { offset: source.offset, recorded };
        let (_, all) = decisions.entry(source.offset).or_insert((decision, BTreeMap::new()));
        all.extend(verdicts(track.pieces(), resolution));
    }
    for (decision, verdicts) in decisions.into_values() {
        beliefs::decided::decided(rows, at, decision, &verdicts)?;
    }
    Ok(())
}

/// One more input of a track, and what it comes to.
fn take(
    rows: &mut Rows<'_, '_>,
    at: At,
    input: Input,
    spoken: Spoken,
    origin: Option<AssertionId>,
) -> Result<Outcome, ViewError> {
    let row = keep(rows, at, input, spoken, origin);
    push(&Stored { rows, at }, &row.input)
}

/// Keeps an input of a track.
fn keep(
    rows: &mut Rows<'_, '_>,
    at: At,
    input: Input,
    spoken: Spoken,
    origin: Option<AssertionId>,
) -> InputRow {
    let At { subject, predicate, .. } = at;
    let row = InputRow { input, subject, predicate, spoken, origin, gone: None };
    let input_key = key::input(at.tenant, at.scope, &at.track, row.input.source());
    rows.put(Space::Sources, input_key, row.encode());
    row
}

/// Takes back what an answer said about its tracks.
pub(super) fn withdraw(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    for (scope, track) in &row.tracks {
        remake(rows, tenant, (*scope, *track), offset)?;
        rows.delete(Space::Sources, key::carries(tenant, offset, *scope, track));
    }
    Ok(())
}

/// The same for many answers: a track is made again once, whatever of it goes. One after the other, a scope in
/// which much was said about the same would be read again for each.
pub(super) fn withdraw_all(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    answers: &[(u64, AnswerRow)],
) -> Result<(), ViewError> {
    let mut tracks: BTreeMap<(u64, Tag), BTreeSet<u64>> = BTreeMap::new();
    for (offset, row) in answers {
        for (scope, track) in &row.tracks {
            tracks.entry((*scope, *track)).or_default().insert(*offset);
            rows.delete(Space::Sources, key::carries(tenant, *offset, *scope, track));
        }
    }
    for (track, offsets) in tracks {
        remake_all(rows, tenant, track, &offsets)?;
    }
    Ok(())
}

/// Takes back what an answer said, from now on: another has come in its place. Comes after what that one
/// says, so that a fact that is said again goes on.
pub(super) fn retract(
    rows: &mut Rows<'_, '_>,
    given: &Given<'_>,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    let (tenant, recorded) = (given.tenant, given.row.recorded);
    for (scope, track) in &row.tracks {
        let inputs = inputs(rows, tenant, *scope, track)?;
        let Some(first) = inputs.first() else { continue };
        let (subject, predicate) = (first.subject, first.predicate);
        let at = At { tenant, scope: *scope, track: *track, subject, predicate };
        let mut made = Track::replay(&turns(&inputs));
        let mut gone = BTreeSet::new();
        for mut input in inputs {
            let source = input.input.source();
            if input.entries().contains(&offset) && input.gone.is_none() {
                gone.insert(source);
                let by = AssertionId { offset: given.offset, ordinal: RETRACTION };
                input.gone = Some(Gone { by, recorded });
                let input_key = key::input(tenant, *scope, track, source);
                rows.put(Space::Sources, input_key, input.encode());
            }
        }
        let source = AssertionId { offset: given.offset, ordinal: RETRACTION };
        let outcome = made.retract(&Retraction { source, recorded, gone });
        pieces::apply(rows, at, outcome.changes)?;
    }
    Ok(())
}

/// The place of a retraction among what its answer says: after all of it.
const RETRACTION: u16 = u16::MAX;

/// The tracks of an answer, with those that what it said was brought to.
pub(super) fn with_carried(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &mut AnswerRow,
) -> Result<(), ViewError> {
    for track in carried_tracks(rows, tenant, offset)? {
        if !row.tracks.contains(&track) {
            row.tracks.push(track);
        }
    }
    Ok(())
}

/// The tracks that what an entry said was brought to.
pub(super) fn carried_tracks(
    rows: &Rows<'_, '_>,
    tenant: u32,
    offset: u64,
) -> Result<Vec<(u64, Tag)>, ViewError> {
    let (from, to) = key::all_carries(tenant, offset);
    let mut tracks = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
        tracks.extend(key::tail_track(key));
        ControlFlow::Continue(())
    })?;
    Ok(tracks)
}

/// Everything that changed a track, in the order in which it was recorded.
fn turns(inputs: &[InputRow]) -> Vec<Turn> {
    let mut retractions: BTreeMap<AssertionId, Retraction> = BTreeMap::new();
    for row in inputs {
        let Some(Gone { by, recorded }) = row.gone else { continue };
        let retraction = Retraction { source: by, recorded, gone: BTreeSet::new() };
        retractions.entry(by).or_insert(retraction).gone.insert(row.input.source());
    }
    let said = inputs.iter().map(|row| Turn::Input(row.input.clone()));
    let mut turns: Vec<Turn> =
        said.chain(retractions.into_values().map(Turn::Retraction)).collect();
    turns.sort_by_key(Turn::source);
    turns
}

/// Makes a track again without what one entry put into it.
pub(super) fn remake(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    track: (u64, Tag),
    offset: u64,
) -> Result<(), ViewError> {
    remake_all(rows, tenant, track, &BTreeSet::from([offset]))
}

/// The same without what several put into it.
fn remake_all(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    (scope, track): (u64, Tag),
    offsets: &BTreeSet<u64>,
) -> Result<(), ViewError> {
    let inputs = inputs(rows, tenant, scope, &track)?;
    let took_back = |row: &InputRow| row.gone.is_some_and(|gone| offsets.contains(&gone.by.offset));
    let is_theirs = |row: &InputRow| row.entries().iter().any(|at| offsets.contains(at));
    // Nothing of it is in there any more: made again, it would be what it is.
    if !inputs.iter().any(|row| took_back(row) || is_theirs(row)) {
        return Ok(());
    }
    let of_entry = inputs.iter().filter(|row| is_theirs(row)).map(|row| row.input.source());
    let withdrawn: BTreeSet<AssertionId> = turns(&inputs)
        .iter()
        .map(Turn::source)
        .filter(|source| offsets.contains(&source.offset))
        .chain(of_entry)
        .collect();
    remake_from(rows, tenant, (scope, track), inputs, &withdrawn, offsets)
}

/// Makes a track again without some of what was put into it.
pub(super) fn remake_without(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    (scope, track): (u64, Tag),
    withdrawn: &BTreeSet<AssertionId>,
) -> Result<(), ViewError> {
    let inputs = inputs(rows, tenant, scope, &track)?;
    remake_from(rows, tenant, (scope, track), inputs, withdrawn, &BTreeSet::new())
}

/// Makes a track again from its inputs, without those that are withdrawn. `by` are entries that go as a
/// whole, and with them what they took back.
fn remake_from(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    (scope, track): (u64, Tag),
    inputs: Vec<InputRow>,
    withdrawn: &BTreeSet<AssertionId>,
    by: &BTreeSet<u64>,
) -> Result<(), ViewError> {
    let Some(first) = inputs.first() else { return Ok(()) };
    let at = At { tenant, scope, track, subject: first.subject, predicate: first.predicate };
    let turns = turns(&inputs);
    let decided = inputs.iter().any(|row| matches!(row.input, Input::Resolved(_)));
    let (before, after, heirs) = with_and_without(&turns, withdrawn);
    let kept = pieces::kept(before.pieces(), after.pieces());
    let buried = pieces::drop_rows(rows, at, before.pieces(), &kept)?;
    for mut row in inputs {
        let source = row.input.source();
        let input_key = key::input(tenant, scope, &track, source);
        if withdrawn.contains(&source) {
            rows.delete(Space::Sources, input_key);
            if row.origin.is_some() {
                rows.delete(Space::Sources, key::carried(tenant, source));
            }
            continue;
        }
        let before = row.clone();
        // What took it back is itself taken back.
        row.gone = row.gone.filter(|gone| !by.contains(&gone.by.offset));
        if let (Input::Said(assertion), Some(fact)) = (&mut row.input, heirs.get(&source)) {
            assertion.kept = Some(*fact);
        }
        if row != before {
            rows.put(Space::Sources, input_key, row.encode());
        }
    }
    if after.pieces().is_empty() {
        let said = said(rows, tenant, at.subject, &at.predicate)?;
        rows.delete(Space::Sources, key::track(tenant, scope, &said, &track));
    }
    conflicts::renew(rows, at, &buried, after.pieces());
    for piece in after.pieces().iter().filter(|piece| !kept.contains(&piece.id)) {
        pieces::assert_row(rows, at, piece.clone())?;
    }
    conflicts::leave(rows, at, &buried)?;
    if decided { judge(rows, at) } else { Ok(()) }
}

/// Everything that was said about a track, in the order in which it was recorded.
fn inputs(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    track: &Tag,
) -> Result<Vec<InputRow>, ViewError> {
    let (from, to) = key::inputs(tenant, scope, track);
    let mut found: Vec<Result<InputRow, CodecError>> = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        found.push(match key::tail_source(key) {
            Some(source) => InputRow::decode(source, value),
            None => Err(CodecError::Truncated),
        });
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect::<Result<_, _>>().map_err(row_error(Space::Sources))
}

/// What a claim's object is known by: equal objects have equal keys.
fn value(
    rows: &Rows<'_, '_>,
    given: &Given<'_>,
    claim: &Claim,
    names: &Names,
) -> Result<Option<ValueKey>, ViewError> {
    let tag = match &claim.object {
        Object::Entity(term) => match names.entity(term) {
            Some(id) => Some(rows.tag(given.tenant, VALUE, &[b"entity", id.as_bytes()])?),
            None => None,
        },
        other => given.words.value(&hash(rows, given.tenant), other)?,
    };
    Ok(tag.map(ValueKey))
}
