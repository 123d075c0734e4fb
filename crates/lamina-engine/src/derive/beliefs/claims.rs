//! One claim and its rows: taking a piece, ending a belief.
//!
//! What a new piece costs does not depend on how many there are: the belief is one row, and how often
//! its voice was heard before stands in two counters. Only a withdrawal walks over all pieces.

use std::ops::ControlFlow;

use lamina_core::derive::beliefs::ledger::{self, Held, Piece, Taken};
use lamina_core::derive::beliefs::{
    Deletion, Evidence, Heard, Polarity, Reason, Settings, Standing, next_deadline, weigh,
};
use lamina_core::derive::facts::AssertionId;
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{BeliefId, RecordedAt};
use sha2::{Digest, Sha256};

use super::rows::{About, BeliefRow, Found, PieceRow, side};
use crate::derive::deadlines::{self, Due};
use crate::derive::fold::row_error;
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::key::{Layer, of_event, tail_source};

/// Pieces that are kept of one claim. What comes later is not taken: by then it changes nothing that
/// anybody could see.
pub(crate) const PIECES_MAX: u32 = 100_000;

/// A claim of a tenant.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) tenant: u32,
    pub(super) claim: ClaimKey,
    pub(super) about: About,
}

/// What a piece did to the belief that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It shows something else now.
    Updated,
    /// It took it.
    Touched,
}

/// Takes a piece into the belief of a claim; `id` is that of the belief if one begins. `None` if there
/// is no belief to take it.
pub(super) fn take(
    rows: &mut Rows<'_, '_>,
    at: &At,
    source: AssertionId,
    row: PieceRow,
    id: BeliefId,
) -> Result<Option<Effect>, ViewError> {
    let before = belief_row(rows, at)?;
    let full = before.as_ref().is_some_and(|row| row.held.state.pieces() >= PIECES_MAX);
    if full && matches!(row.piece, Piece::Said(_)) {
        return Ok(None);
    }
    let heard = match &row.piece {
        Piece::Said(said) => heard(rows, at, &said.evidence)?,
        _ => Heard::default(),
    };
    let held = before.as_ref().map(|row| row.held.clone());
    let Some(taken) = ledger::take(held, &Settings::default(), &row.piece, heard) else {
        return Ok(None);
    };
    let Taken { held, begins, afresh, ended, steps } = taken;
    let (id, since) = match before {
        None => inherited(rows, at)?.unwrap_or((id, row.piece.recorded())),
        Some(_) => (id, row.piece.recorded()),
    };
    let previous = before.as_ref().and_then(|row| next_deadline(&row.held.state));
    if let (true, Some(old)) = (begins, &before) {
        deadline(rows, at, old.id, previous, None)?;
        settle(rows, at, &BeliefRow { held: ended.unwrap_or(old.held.clone()), ..old.clone() })?;
    }
    if afresh && before.is_some() {
        forget_voices(rows, at)?;
    }
    let heard = if afresh { Heard::default() } else { heard };
    let mut piece = row;
    if let Piece::Said(said) = &piece.piece {
        hear(rows, at, &said.evidence)?;
        let weight = weigh(said.evidence.confidence, said.evidence.trust, heard);
        piece.weight = u16::try_from(weight).unwrap_or(u16::MAX);
    }
    let mut belief = match before {
        Some(before) if !begins => BeliefRow { held, ..before },
        before => {
            let begun = begun(rows, at, (id, source), &piece, before.as_ref(), held);
            BeliefRow { since, ..begun }
        }
    };
    piece.belief = belief.id;
    belief.touched = piece.piece.recorded();
    place(rows, at, &mut belief, &piece);
    let next = next_deadline(&belief.held.state);
    deadline(rows, at, belief.id, if begins { None } else { previous }, next)?;
    if let Some(event) = piece.event.filter(|_| belief.held.is_held()) {
        let link = of_event(at.tenant, event, Layer::Belief, belief.id.as_bytes());
        rows.put(Space::Records, link, Vec::new());
    }
    rows.put(Space::Sources, key::piece(at.tenant, &at.claim, source), piece.encode());
    if !begins && !belief.held.is_held() {
        settle(rows, at, &belief)?;
        belief.supported = None;
    }
    rows.put(Space::Sources, key::claim(at.tenant, &at.claim), belief.encode());
    let shows = steps.iter().any(|step| !matches!(step.reason, Reason::Unshown(_)));
    Ok(Some(if shows { Effect::Updated } else { Effect::Touched }))
}

/// The id that an answer left behind which this one comes in the place of, and since when it is known.
fn inherited(
    rows: &mut Rows<'_, '_>,
    at: &At,
) -> Result<Option<(BeliefId, RecordedAt)>, ViewError> {
    let heir = key::heir(at.tenant, &at.claim);
    let Some(bytes) = rows.get(Space::Sources, &heir)? else { return Ok(None) };
    rows.delete(Space::Sources, heir);
    let id = bytes.as_slice().try_into().map(BeliefId::from_bytes);
    let id = id.map_err(|_| row_error(Space::Sources)(CodecError::Truncated))?;
    let Some(Found::Past(_, past)) = found(rows, at.tenant, id)? else { return Ok(None) };
    unlist(rows, at, &past);
    Ok(Some((id, past.since)))
}

/// A belief that begins with a piece, and what finds it.
fn begun(
    rows: &mut Rows<'_, '_>,
    at: &At,
    (id, first): (BeliefId, AssertionId),
    piece: &PieceRow,
    before: Option<&BeliefRow>,
    held: Held,
) -> BeliefRow {
    let declared = matches!(piece.piece, Piece::Declared(_));
    // Whatever is declared of a claim whose values exclude each other, they still do.
    let is_single = at.about.is_single || before.is_some_and(|row| row.about.is_single);
    let about = About { is_single, ..at.about };
    let latest = held.state.valid_from;
    let touched = piece.piece.recorded();
    let since = held.state.created;
    let belief =
        BeliefRow { id, about, first, declared, supported: None, latest, touched, since, held };
    if belief.held.is_held() {
        let stands = Found::Stands(at.claim).encode();
        rows.put(Space::Records, key::belief(at.tenant, id), stands);
        list(rows, at, &belief);
    }
    belief
}

/// Writes where a belief is found by those who do not know its id.
pub(super) fn list(rows: &mut Rows<'_, '_>, at: &At, belief: &BeliefRow) {
    let (tenant, claim, created) = (at.tenant, &at.claim, belief.held.state.created);
    let pointer = [claim.said.as_slice(), &claim.value].concat();
    let listed = key::listed(tenant, claim.scope, created, belief.id);
    rows.put(Space::Records, listed, pointer.clone());
    let about = key::about(tenant, claim.scope, &at.about.subject, created, belief.id);
    rows.put(Space::Records, about, pointer);
}

/// Keeps a belief where those of its question are found, by when it was last supported.
fn place(rows: &mut Rows<'_, '_>, at: &At, belief: &mut BeliefRow, piece: &PieceRow) {
    let (supports, from) = match &piece.piece {
        Piece::Said(said) => {
            (said.evidence.polarity == Polarity::Supports, said.evidence.valid_from)
        }
        Piece::Declared(declaration) => (true, declaration.valid_from),
        // Held again, it is found again and among those that count.
        Piece::Returned { .. } => {
            if belief.held.is_held() {
                let stands = Found::Stands(at.claim).encode();
                rows.put(Space::Records, key::belief(at.tenant, belief.id), stands);
            }
            (false, belief.latest)
        }
        Piece::Closed { .. }
        | Piece::Decided { .. }
        | Piece::Renamed { .. }
        | Piece::Moved { .. } => return,
    };
    if supports {
        belief.latest = belief.latest.max(from);
    }
    // What is only denied has rivals too.
    if !belief.held.is_held() || !(supports || belief.supported.is_none()) {
        return;
    }
    let now = piece.piece.recorded();
    if let Some(last) = belief.supported.replace(now) {
        rows.delete(Space::Sources, key::recent(at.tenant, &at.claim, last));
    }
    rows.put(Space::Sources, key::recent(at.tenant, &at.claim, now), Vec::new());
}

/// Does what follows when a belief is not held any more, or another one stands in its place.
pub(super) fn settle(
    rows: &mut Rows<'_, '_>,
    at: &At,
    belief: &BeliefRow,
) -> Result<(), ViewError> {
    if let Some(last) = belief.supported {
        rows.delete(Space::Sources, key::recent(at.tenant, &at.claim, last));
    }
    let record = key::belief(at.tenant, belief.id);
    match belief.held.state.standing {
        Standing::Deleted { why, .. } => bury(rows, at, belief, why),
        // Nobody has seen one that is not listed.
        Standing::Held | Standing::Deprecated { .. } => {
            let past = Found::Past(at.claim, Box::new(belief.clone()));
            rows.put(Space::Records, record, past.encode());
            Ok(())
        }
    }
}

/// Takes away everything that leads to a belief but its id, which says that it is gone.
fn bury(
    rows: &mut Rows<'_, '_>,
    at: &At,
    belief: &BeliefRow,
    why: Deletion,
) -> Result<(), ViewError> {
    let record = key::belief(at.tenant, belief.id);
    match found(rows, at.tenant, belief.id)? {
        // It was never shown, or it is gone already.
        None | Some(Found::Gone(_)) => return Ok(()),
        Some(Found::Stands(_) | Found::Past(..)) => {}
    }
    unlist(rows, at, belief);
    // Its own begin with its first: what earlier beliefs in the claim stood on may be much more.
    for (_, piece) in pieces_from(rows, at.tenant, &at.claim, belief.first)? {
        if piece.belief == belief.id {
            unlink(rows, at, &piece);
        }
    }
    rows.put(Space::Records, record, Found::Gone(why).encode());
    Ok(())
}

pub(super) fn unlist(rows: &mut Rows<'_, '_>, at: &At, belief: &BeliefRow) {
    let (tenant, scope, created) = (at.tenant, at.claim.scope, belief.held.state.created);
    rows.delete(Space::Records, key::listed(tenant, scope, created, belief.id));
    let about = key::about(tenant, scope, &belief.about.subject, created, belief.id);
    rows.delete(Space::Records, about);
}

pub(super) fn unlink(rows: &mut Rows<'_, '_>, at: &At, piece: &PieceRow) {
    if let Some(event) = piece.event {
        let link = of_event(at.tenant, event, Layer::Belief, piece.belief.as_bytes());
        rows.delete(Space::Records, link);
    }
}

/// Fires what is due of a belief.
pub(in crate::derive) fn fire(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    id: [u8; 16],
    until: RecordedAt,
) -> Result<(), ViewError> {
    let id = BeliefId::from_bytes(id);
    let Some(Found::Stands(claim)) = found(rows, tenant, id)? else { return Ok(()) };
    let Some(bytes) = rows.get(Space::Sources, &key::claim(tenant, &claim))? else {
        return Ok(());
    };
    let mut belief = BeliefRow::decode(&bytes).map_err(row_error(Space::Sources))?;
    let at = At { tenant, claim, about: belief.about };
    let previous = next_deadline(&belief.held.state);
    if belief.id != id || belief.held.fire(&Settings::default(), until).is_empty() {
        return Ok(());
    }
    deadline(rows, &at, id, previous, next_deadline(&belief.held.state))?;
    if !belief.held.is_held() {
        settle(rows, &at, &belief)?;
        belief.supported = None;
    }
    rows.put(Space::Sources, key::claim(tenant, &claim), belief.encode());
    Ok(())
}

/// Keeps the index of deadlines in step with a belief.
pub(super) fn deadline(
    rows: &mut Rows<'_, '_>,
    at: &At,
    id: BeliefId,
    previous: Option<RecordedAt>,
    next: Option<RecordedAt>,
) -> Result<(), ViewError> {
    if previous == next {
        return Ok(());
    }
    if let Some(previous) = previous {
        deadlines::clear(rows, previous, at.tenant, Due::Belief, id.as_bytes());
    }
    match next {
        Some(next) => deadlines::set(rows, next, at.tenant, Due::Belief, id.as_bytes()),
        None => Ok(()),
    }
}

/// What became of a belief.
pub(super) fn found(
    rows: &Rows<'_, '_>,
    tenant: u32,
    id: BeliefId,
) -> Result<Option<Found>, ViewError> {
    let bytes = rows.get(Space::Records, &key::belief(tenant, id))?;
    bytes.map(|bytes| Found::decode(&bytes)).transpose().map_err(row_error(Space::Records))
}

/// Everything that was said about a claim, in the order of the log.
pub(super) fn pieces(
    rows: &Rows<'_, '_>,
    tenant: u32,
    claim: &ClaimKey,
) -> Result<Vec<(AssertionId, PieceRow)>, ViewError> {
    pieces_between(rows, key::pieces(tenant, claim))
}

/// What was said about a claim from somewhere on.
fn pieces_from(
    rows: &Rows<'_, '_>,
    tenant: u32,
    claim: &ClaimKey,
    first: AssertionId,
) -> Result<Vec<(AssertionId, PieceRow)>, ViewError> {
    let (_, to) = key::pieces(tenant, claim);
    pieces_between(rows, (key::piece(tenant, claim, first), to))
}

fn pieces_between(
    rows: &Rows<'_, '_>,
    (from, to): (Vec<u8>, Vec<u8>),
) -> Result<Vec<(AssertionId, PieceRow)>, ViewError> {
    let mut found: Vec<Result<(AssertionId, PieceRow), CodecError>> = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, value| {
        found.push(match tail_source(key) {
            Some(source) => PieceRow::decode(value).map(|row| (source, row)),
            None => Err(CodecError::Truncated),
        });
        ControlFlow::Continue(())
    })?;
    found.into_iter().collect::<Result<_, _>>().map_err(row_error(Space::Sources))
}

/// The belief in a claim, or the last one.
pub(super) fn belief_row(rows: &Rows<'_, '_>, at: &At) -> Result<Option<BeliefRow>, ViewError> {
    let bytes = rows.get(Space::Sources, &key::claim(at.tenant, &at.claim))?;
    bytes.map(|bytes| BeliefRow::decode(&bytes)).transpose().map_err(row_error(Space::Sources))
}

/// The other claims under the same subject and predicate, the last supported first.
pub(super) fn rivals(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    said: &[u8; 16],
    but: Option<[u8; 16]>,
    max: usize,
) -> Result<Vec<ClaimKey>, ViewError> {
    let (from, to) = key::all_recent(tenant, scope, said);
    let mut found = Vec::new();
    rows.scan(Space::Sources, (&from, &to), Direction::Backward, &mut |key, _| {
        if let Some(value) = crate::derive::key::tail_id(key)
            && Some(value) != but
        {
            found.push(ClaimKey { scope, said: *said, value });
        }
        if found.len() < max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(found)
}

/// The id of a belief: minted from the entry it began with.
pub(super) fn mint(
    seed: &[u8; 16],
    recorded: RecordedAt,
    claim: &ClaimKey,
    source: AssertionId,
) -> BeliefId {
    let hash = Sha256::new()
        .chain_update(seed)
        .chain_update([Layer::Belief as u8])
        .chain_update(claim.scope.to_be_bytes())
        .chain_update(claim.said)
        .chain_update(claim.value)
        .chain_update(source.ordinal.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    BeliefId::mint(recorded.0, *hash.first_chunk().expect("32 bytes have a first quarter"))
}

/// How often a voice was heard before.
fn heard(rows: &Rows<'_, '_>, at: &At, evidence: &Evidence) -> Result<Heard, ViewError> {
    let (episodes, here) = voice_keys(at, evidence);
    let (episodes, here) = (count(rows, &episodes)?, count(rows, &here)?);
    Ok(Heard { here, elsewhere: episodes.saturating_sub(u32::from(here > 0)) })
}

/// A voice is heard once more.
fn hear(rows: &mut Rows<'_, '_>, at: &At, evidence: &Evidence) -> Result<(), ViewError> {
    let (episodes_key, here_key) = voice_keys(at, evidence);
    let here = count(rows, &here_key)?;
    if here == 0 {
        let episodes = count(rows, &episodes_key)?.saturating_add(1);
        rows.put(Space::Sources, episodes_key, episodes.to_be_bytes().to_vec());
    }
    rows.put(Space::Sources, here_key, here.saturating_add(1).to_be_bytes().to_vec());
    Ok(())
}

fn voice_keys(at: &At, evidence: &Evidence) -> (Vec<u8>, Vec<u8>) {
    let (side, actor) = (side(evidence.polarity), &evidence.witness.actor);
    let episode = evidence.witness.episode;
    (
        key::voice(at.tenant, &at.claim, side, actor),
        key::voice_in(at.tenant, &at.claim, side, actor, episode),
    )
}

fn count(rows: &Rows<'_, '_>, key: &[u8]) -> Result<u32, ViewError> {
    let Some(bytes) = rows.get(Space::Sources, key)? else { return Ok(0) };
    let number = bytes.as_slice().try_into().map(u32::from_be_bytes);
    number.map_err(|_| row_error(Space::Sources)(CodecError::Truncated))
}

pub(super) fn forget_voices(rows: &mut Rows<'_, '_>, at: &At) -> Result<(), ViewError> {
    for (from, to) in key::voices(at.tenant, &at.claim) {
        rows.delete_all(Space::Sources, (&from, &to))?;
    }
    Ok(())
}
