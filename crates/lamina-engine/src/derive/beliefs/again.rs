//! Taking back what was said about a claim: the rest of it is taken again from the beginning.
//!
//! Only this walks over all pieces. What goes as if it had never been said leaves nothing; what goes from
//! now on stays for questions about the past, with the beliefs that it made.

use std::collections::BTreeSet;

use lamina_core::derive::beliefs::ledger::{self, Piece};
use lamina_core::derive::beliefs::{
    Deletion, Deprecation, Settings, Standing, deprecate, next_deadline, redact,
};
use lamina_core::derive::facts::AssertionId;
use lamina_store::kv::Space;
use lamina_store::view::ViewError;
use lamina_store::view::derived::Rows;
use lamina_types::{BeliefId, Micros, RecordedAt};

use super::claims::{
    At, belief_row, deadline, forget_voices, found, list, mint, pieces, settle, take, unlink,
    unlist,
};
use super::rows::{BeliefRow, Found, PieceRow};
use crate::derive::fold::{answer_row, row_error};
use crate::derive::key::beliefs::{self as key, ClaimKey};
use crate::derive::key::{Layer, ONCE, carried, of_event};

/// What was said about a claim, in the order of the log.
type Pieces = Vec<(AssertionId, PieceRow)>;

/// How something goes that was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Going {
    /// As if it had never been said. An id that nothing is left of is never used again.
    Never,
    /// From this instant on. Before, it was known; the next belief in the claim takes up the id.
    From(RecordedAt),
}

/// Takes back what an entry said about a claim: the rest is taken again from the beginning, and what
/// could not have been taken without it goes too. A belief that others keep alive keeps its id.
pub(super) fn without(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
    offset: u64,
    going: Going,
) -> Result<(), ViewError> {
    let is_it = |source: AssertionId, piece: &PieceRow| piece.is_of(source, offset);
    match going {
        Going::Never => without_some(rows, tenant, claim, is_it),
        Going::From(now) => without_some_from(rows, tenant, claim, now, is_it),
    }
}

/// Takes back some of what was said about a claim, as if it had never been said.
pub(super) fn without_some(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
    is_gone: impl Fn(AssertionId, &PieceRow) -> bool,
) -> Result<(), ViewError> {
    let Some((at, mut all)) = cleared(rows, tenant, claim)? else { return Ok(()) };
    drop_some(rows, tenant, &mut all, is_gone);
    taken_again(rows, &at, all)
}

/// The same from an instant on: before, it was known.
pub(super) fn without_some_from(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
    now: RecordedAt,
    is_gone: impl Fn(AssertionId, &PieceRow) -> bool,
) -> Result<(), ViewError> {
    let Some((at, mut all)) = cleared(rows, tenant, claim)? else { return Ok(()) };
    for (_, piece) in all.iter_mut().filter(|(source, piece)| is_gone(*source, piece)) {
        piece.gone = piece.gone.or(Some(now));
    }
    taken_again(rows, &at, all)
}

/// Takes again what counts, and keeps what counted once for questions about the past.
fn taken_again(rows: &mut Rows<'_, '_>, at: &At, mut all: Pieces) -> Result<(), ViewError> {
    let live = all.iter().filter(|(_, piece)| piece.gone.is_none()).cloned();
    let spare = again(rows, at, live)?;
    // What spoke of a belief that is not there any more counted as long as that did.
    let until = all.iter().filter_map(|(_, piece)| piece.gone).max();
    for (_, piece) in all.iter_mut().filter(|(source, _)| spare.contains(source)) {
        piece.gone = until.filter(|until| piece.piece.recorded() < *until);
    }
    let is_asked_for = match until {
        Some(until) => remember_all(rows, at, &all, until)?,
        None => false,
    };
    for (source, piece) in &all {
        match piece.gone {
            Some(_) if is_asked_for => remember(rows, at, *source, piece)?,
            None if !spare.contains(source) => {}
            _ => forget_origin(rows, at.tenant, *source, piece),
        }
    }
    Ok(())
}

/// The words of what an entry said about a claim are gone; what was said counts.
pub(super) fn without_words(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
    offset: u64,
    now: RecordedAt,
) -> Result<(), ViewError> {
    for (source, mut piece) in pieces(rows, tenant, &claim)? {
        if piece.is_of(source, offset) && piece.redacted.is_none() {
            piece.redacted = Some(now);
            rows.put(Space::Sources, key::piece(tenant, &claim, source), piece.encode());
        }
    }
    fade(rows, tenant, claim)
}

/// Lets a belief count how many of its pieces have no words. One that has none left may be too little to keep.
fn fade(rows: &mut Rows<'_, '_>, tenant: u32, claim: ClaimKey) -> Result<(), ViewError> {
    let bytes = rows.get(Space::Sources, &key::claim(tenant, &claim))?;
    let belief = bytes.map(|bytes| BeliefRow::decode(&bytes)).transpose();
    let belief = belief.map_err(row_error(Space::Sources))?.filter(|row| row.held.is_held());
    let Some(mut belief) = belief else { return Ok(()) };
    let all = pieces(rows, tenant, &claim)?;
    let own = all.iter().filter(|(_, piece)| piece.belief == belief.id && piece.gone.is_none());
    let gone: Vec<RecordedAt> = own.filter_map(|(_, piece)| piece.redacted).collect();
    let known = belief.held.state.redacted_count;
    let more = u32::try_from(gone.len()).unwrap_or(u32::MAX).saturating_sub(known);
    let Some(last) = gone.into_iter().max().filter(|_| more > 0) else { return Ok(()) };
    let at = At { tenant, claim, about: belief.about };
    let previous = next_deadline(&belief.held.state);
    let settings = belief.held.settings(&Settings::default());
    redact(&mut belief.held.state, &settings, more, last);
    deadline(rows, &at, belief.id, previous, next_deadline(&belief.held.state))?;
    if !belief.held.is_held() {
        settle(rows, &at, &belief)?;
        belief.supported = None;
    }
    rows.put(Space::Sources, key::claim(tenant, &claim), belief.encode());
    Ok(())
}

/// Nothing is left here that was brought here.
fn forget_origin(rows: &mut Rows<'_, '_>, tenant: u32, source: AssertionId, piece: &PieceRow) {
    if piece.origin.is_some() {
        rows.delete(Space::Sources, carried(tenant, source));
    }
}

/// Leaves out pieces, and where it was said what was brought here.
fn drop_some(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    all: &mut Pieces,
    is_gone: impl Fn(AssertionId, &PieceRow) -> bool,
) {
    for (source, piece) in all.iter().filter(|(source, piece)| is_gone(*source, piece)) {
        forget_origin(rows, tenant, *source, piece);
    }
    all.retain(|(source, piece)| !is_gone(*source, piece));
}

/// Takes away every row of a claim but what became of its ids, which then are gone; gives what was said
/// about it. `None` if nothing was.
fn cleared(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    claim: ClaimKey,
) -> Result<Option<(At, Pieces)>, ViewError> {
    let all = pieces(rows, tenant, &claim)?;
    let ids: BTreeSet<BeliefId> = all.iter().map(|(_, piece)| piece.belief).collect();
    let mut known: Vec<BeliefRow> = Vec::new();
    for id in &ids {
        if let Some(Found::Past(_, past)) = found(rows, tenant, *id)? {
            known.push(*past);
        }
    }
    let bytes = rows.get(Space::Sources, &key::claim(tenant, &claim))?;
    let belief = bytes.map(|bytes| BeliefRow::decode(&bytes)).transpose();
    let belief = belief.map_err(row_error(Space::Sources))?;
    let Some(about) = belief.as_ref().or(known.first()).map(|row| row.about) else {
        return Ok(None);
    };
    let at = At { tenant, claim, about };
    for (source, piece) in &all {
        unlink(rows, &at, piece);
        if let Piece::Declared(declaration) = &piece.piece {
            rows.delete(Space::Sources, key::declared(tenant, &claim, declaration.valid_from));
        }
        rows.delete(Space::Sources, key::piece(tenant, &claim, *source));
    }
    for row in known.iter().chain(&belief) {
        unlist(rows, &at, row);
    }
    for id in ids {
        let gone = Found::Gone(Deletion::Unsupported).encode();
        rows.put(Space::Records, key::belief(tenant, id), gone);
    }
    if let Some(belief) = belief {
        deadline(rows, &at, belief.id, next_deadline(&belief.held.state), None)?;
        if let Some(last) = belief.supported {
            rows.delete(Space::Sources, key::recent(tenant, &claim, last));
        }
    }
    forget_voices(rows, &at)?;
    rows.delete(Space::Sources, key::claim(tenant, &claim));
    rows.delete(Space::Sources, key::heir(tenant, &claim));
    Ok(Some((at, all)))
}

/// Keeps something that counted once and does not any more. Its event leads a question about the past to the belief.
fn remember(
    rows: &mut Rows<'_, '_>,
    at: &At,
    source: AssertionId,
    piece: &PieceRow,
) -> Result<(), ViewError> {
    rows.put(Space::Sources, key::piece(at.tenant, &at.claim, source), piece.encode());
    if let (Some(event), Some(Found::Stands(_) | Found::Past(..))) =
        (piece.event, found(rows, at.tenant, piece.belief)?)
    {
        let link = of_event(at.tenant, event, Layer::Belief, piece.belief.as_bytes());
        // It may still say so elsewhere.
        if rows.get(Space::Records, &link)?.is_none() {
            rows.put(Space::Records, link, ONCE.to_vec());
        }
    }
    Ok(())
}

/// Keeps the beliefs that were made of what does not count any more; whether there is any that can be asked for.
fn remember_all(
    rows: &mut Rows<'_, '_>,
    at: &At,
    all: &Pieces,
    until: RecordedAt,
) -> Result<bool, ViewError> {
    // Where nobody has named the claim there was never a belief.
    if !all.iter().any(|(_, row)| begins(&row.piece)) {
        return Ok(false);
    }
    let mut last: Option<(RecordedAt, BeliefId)> = None;
    for id in all.iter().map(|(_, piece)| piece.belief).collect::<BTreeSet<BeliefId>>() {
        let ended = remember_belief(rows, at, all, id, until)?;
        last = last.max(ended.map(|ended| (ended, id)));
    }
    let stands = belief_row(rows, at)?.is_some();
    if let (false, Some((_, id))) = (stands, last) {
        rows.put(Space::Sources, key::heir(at.tenant, &at.claim), id.as_bytes().to_vec());
    }
    Ok(stands || last.is_some())
}

/// Whether a belief can begin with a piece.
fn begins(piece: &Piece) -> bool {
    match piece {
        Piece::Said(said) => said.names,
        Piece::Declared(_) => true,
        Piece::Closed { .. }
        | Piece::Decided { .. }
        | Piece::Renamed { .. }
        | Piece::Returned { .. }
        | Piece::Moved { .. } => false,
    }
}

/// Lets a belief know what counted for it once: how it stood before `until` is not what its row says. One that
/// nothing is left of is kept for the past; gives when that ended.
fn remember_belief(
    rows: &mut Rows<'_, '_>,
    at: &At,
    all: &Pieces,
    id: BeliefId,
    until: RecordedAt,
) -> Result<Option<RecordedAt>, ViewError> {
    let own = all.iter().filter(|(_, piece)| piece.belief == id);
    let Some(first) = own.map(|(_, piece)| piece.piece.recorded()).min() else { return Ok(None) };
    let reach = |row: BeliefRow| BeliefRow {
        since: row.since.min(first),
        touched: row.touched.max(until),
        ..row
    };
    if let Some(row) = belief_row(rows, at)?.filter(|row| row.id == id) {
        rows.put(Space::Sources, key::claim(at.tenant, &at.claim), reach(row).encode());
    }
    let (past, ended) = match found(rows, at.tenant, id)? {
        Some(Found::Stands(_)) => return Ok(None),
        Some(Found::Past(_, row)) => (reach(*row), None),
        Some(Found::Gone(_)) | None => {
            let Some(past) = past(at, all, id) else { return Ok(None) };
            let past = BeliefRow { since: past.since.min(first), ..past };
            list(rows, at, &past);
            let ended = Some(past.touched);
            (past, ended)
        }
    };
    let past = Found::Past(at.claim, Box::new(past)).encode();
    rows.put(Space::Records, key::belief(at.tenant, id), past);
    Ok(ended)
}

/// A belief as it was when the last of its evidence went; `None` if it was gone by then.
fn past(at: &At, all: &Pieces, id: BeliefId) -> Option<BeliefRow> {
    let own = all.iter().filter(|(_, piece)| piece.belief == id);
    let ends: BTreeSet<RecordedAt> = own.filter_map(|(_, piece)| piece.gone).collect();
    ends.into_iter().rev().find_map(|until| ended(at, all, id, until))
}

/// The same if it ended at an instant.
fn ended(at: &At, all: &Pieces, id: BeliefId, until: RecordedAt) -> Option<BeliefRow> {
    let before = RecordedAt(Micros(until.0.0 - 1));
    let counted: Vec<&(AssertionId, PieceRow)> =
        all.iter().filter(|(_, piece)| piece.counts(before)).collect();
    let said: Vec<Piece> = counted.iter().map(|(_, row)| row.piece.clone()).collect();
    let lives = ledger::replay(&Settings::default(), &said, before);
    let (mut held, first, declared) = lives.into_iter().find_map(|life| {
        let (source, piece) = counted.get(life.from)?;
        let declared = matches!(piece.piece, Piece::Declared(_));
        let is_gone = matches!(life.held.state.standing, Standing::Deleted { .. });
        (piece.belief == id && !is_gone).then_some((life.held, *source, declared))
    })?;
    // One that was given up before stays given up since then.
    deprecate(&mut held.state, Deprecation::ReadAgain, until);
    let (latest, since) = (held.state.valid_from, held.state.created);
    let (about, touched) = (at.about, until);
    Some(BeliefRow { id, about, first, declared, supported: None, latest, touched, since, held })
}

/// Takes pieces again, in their order. Gives those that there is no belief to take.
fn again(
    rows: &mut Rows<'_, '_>,
    at: &At,
    pieces: impl Iterator<Item = (AssertionId, PieceRow)>,
) -> Result<BTreeSet<AssertionId>, ViewError> {
    let (mut used, mut spare) = (BTreeSet::new(), BTreeSet::new());
    for (source, piece) in pieces {
        let before = belief_row(rows, at)?.map(|row| row.id);
        let id = if used.contains(&piece.belief) {
            let recorded = piece.piece.recorded();
            let seed = answer_row(rows, at.tenant, source.offset)?.map(|row| row.seed);
            mint(&seed.unwrap_or_default(), recorded, &at.claim, source)
        } else {
            piece.belief
        };
        if let Piece::Declared(declaration) = &piece.piece {
            let declared = key::declared(at.tenant, &at.claim, declaration.valid_from);
            rows.put(Space::Sources, declared, Vec::new());
        }
        if take(rows, at, source, piece, id)?.is_none() {
            spare.insert(source);
        }
        let after = belief_row(rows, at)?.map(|row| row.id);
        if after != before {
            used.extend(after);
        }
    }
    fade(rows, at.tenant, at.claim)?;
    Ok(spare)
}
