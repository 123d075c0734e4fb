//! Facts: claims become inputs of tracks, tracks become versions of facts.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use lamina_core::derive::facts::{
    Assertion, AssertionId, Change, Content, Decision, Input, Piece, PieceId, Pieces, Saying,
    Valid, Value, ValueKey, push, without,
};
use lamina_store::codec::CodecError;
use lamina_store::kv::{Direction, Space};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::{Cardinality, Claim, Effect, Object};
use lamina_types::{EntityId, FactId, RecordedAt, ValidAt};
use sha2::{Digest, Sha256};

use crate::derive::entities::Names;
use crate::derive::fold::{Given, answer_row, row_error};
use crate::derive::key::{self, Layer};
use crate::derive::rows::{AnswerRow, FactRow, InputRow};

/// A track, and whom and what it is about.
#[derive(Debug, Clone, Copy)]
struct At {
    tenant: u32,
    scope: u64,
    track: Tag,
    subject: EntityId,
    predicate: Tag,
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
        let Some(subject) = names.entity(&claim.subject) else { continue };
        let predicate =
            rows.tag(given.tenant, "derive.predicate", &[claim.predicate.as_bytes()])?;
        let value = value(rows, given.tenant, claim, names)?;
        for scope in given.scopes.clone() {
            let said = said(rows, given.tenant, subject, &predicate)?;
            for track in tracks(rows, given.tenant, scope, &said, claim, value)? {
                let at = At { tenant: given.tenant, scope, track, subject, predicate };
                rows.put(Space::Sources, key::track(at.tenant, scope, &said, &track), Vec::new());
                take(rows, given, at, assertion(given, ordinal, claim, value))?;
            }
        }
    }
    Ok(())
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
    })
}

/// One more input of a track.
fn take(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    at: At,
    assertion: Option<Assertion>,
) -> Result<(), ViewError> {
    let Some(assertion) = assertion else { return Ok(()) };
    let row = InputRow { input: assertion, subject: at.subject, predicate: at.predicate };
    let input_key = key::input(at.tenant, at.scope, &at.track, row.input.source);
    rows.put(Space::Sources, input_key, row.encode());
    if !given.row.tracks.contains(&(at.scope, at.track)) {
        given.row.tracks.push((at.scope, at.track));
    }
    let outcome = push(&Stored { rows, at }, &row.input())?;
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
    for change in outcome.changes {
        change_row(rows, at, change)?;
    }
    Ok(())
}

/// Does to the rows what the algebra says.
fn change_row(rows: &mut Rows<'_, '_>, at: At, change: Change) -> Result<(), ViewError> {
    match change {
        Change::Assert(piece) => assert_row(rows, at, piece),
        Change::Retire { piece, .. } | Change::Support { piece, .. } => {
            let id = fact_id(rows, at, piece)?;
            let fact_key = key::fact(at.tenant, id);
            let mut row = fact_row(rows, at.tenant, id)?.ok_or_else(gone)?;
            let before = row.piece.clone();
            row.piece.apply(&change);
            if before.recorded_to != row.piece.recorded_to {
                let from = before.from();
                rows.delete(Space::Sources, key::current(at.tenant, at.scope, &at.track, from, id));
            }
            link(rows, at, id, &row.piece)?;
            rows.put(Space::Records, fact_key, row.encode());
            Ok(())
        }
    }
}

/// Writes a version of a fact and everything that finds it.
fn assert_row(rows: &mut Rows<'_, '_>, at: At, piece: Piece) -> Result<(), ViewError> {
    let id = fact_id(rows, at, piece.id)?;
    let At { tenant, scope, track, subject, predicate } = at;
    if piece.recorded_to.is_none() {
        let current = key::current(tenant, scope, &track, piece.from(), id);
        rows.put(Space::Sources, current, Vec::new());
    }
    let learned = piece.recorded_from;
    rows.put(Space::Records, key::fact_listed(tenant, scope, learned, id), Vec::new());
    rows.put(Space::Records, key::fact_about(tenant, scope, subject, learned, id), Vec::new());
    link(rows, at, id, &piece)?;
    let row = FactRow { scope, track, subject, predicate, piece };
    rows.put(Space::Records, key::fact(tenant, id), row.encode());
    Ok(())
}

/// Notes with each event which facts stand on it.
fn link(rows: &mut Rows<'_, '_>, at: At, id: FactId, piece: &Piece) -> Result<(), ViewError> {
    for support in &piece.supports {
        if let Some(answer) = answer_row(rows, at.tenant, support.source.offset)? {
            let link = key::of_event(at.tenant, answer.event, Layer::Fact, id.as_bytes());
            rows.put(Space::Records, link, Vec::new());
        }
    }
    Ok(())
}

/// Takes back what an answer said about its tracks: each is made again from what is left.
pub(super) fn withdraw(
    rows: &mut Rows<'_, '_>,
    tenant: u32,
    offset: u64,
    row: &AnswerRow,
) -> Result<(), ViewError> {
    for (scope, track) in &row.tracks {
        let inputs = inputs(rows, tenant, *scope, track)?;
        let Some(first) = inputs.first() else { continue };
        let at = At {
            tenant,
            scope: *scope,
            track: *track,
            subject: first.subject,
            predicate: first.predicate,
        };
        let all: Vec<Input> = inputs.iter().map(InputRow::input).collect();
        let (before, _) = without(&all, &BTreeSet::new());
        for piece in before.pieces() {
            drop_row(rows, at, piece)?;
        }
        let withdrawn: BTreeSet<AssertionId> =
            all.iter().map(Input::source).filter(|source| source.offset == offset).collect();
        let (after, heirs) = without(&all, &withdrawn);
        for mut input in inputs {
            let source = input.input.source;
            let input_key = key::input(tenant, *scope, track, source);
            if withdrawn.contains(&source) {
                rows.delete(Space::Sources, input_key);
            } else if let Some(fact) = heirs.get(&source) {
                input.input.kept = Some(*fact);
                rows.put(Space::Sources, input_key, input.encode());
            }
        }
        if after.pieces().is_empty() {
            let said = said(rows, tenant, at.subject, &at.predicate)?;
            rows.delete(Space::Sources, key::track(tenant, *scope, &said, track));
        }
        for piece in after.pieces() {
            assert_row(rows, at, piece.clone())?;
        }
    }
    Ok(())
}

fn drop_row(rows: &mut Rows<'_, '_>, at: At, piece: &Piece) -> Result<(), ViewError> {
    let id = fact_id(rows, at, piece.id)?;
    let At { tenant, scope, track, subject, .. } = at;
    let learned = piece.recorded_from;
    rows.delete(Space::Sources, key::current(tenant, scope, &track, piece.from(), id));
    rows.delete(Space::Records, key::fact_listed(tenant, scope, learned, id));
    rows.delete(Space::Records, key::fact_about(tenant, scope, subject, learned, id));
    rows.delete(Space::Records, key::fact(tenant, id));
    for support in &piece.supports {
        if let Some(answer) = answer_row(rows, tenant, support.source.offset)? {
            let link = key::of_event(tenant, answer.event, Layer::Fact, id.as_bytes());
            rows.delete(Space::Records, link);
        }
    }
    Ok(())
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
    tenant: u32,
    claim: &Claim,
    names: &Names,
) -> Result<Option<ValueKey>, ViewError> {
    let lower = |words: &str| words.trim().to_lowercase().into_bytes();
    let parts: Vec<Vec<u8>> = match &claim.object {
        Object::Text(words) if words.trim().is_empty() => return Ok(None),
        Object::Entity(term) => match names.entity(term) {
            Some(id) => vec![b"entity".to_vec(), id.as_bytes().to_vec()],
            None => return Ok(None),
        },
        Object::Text(words) => vec![b"text".to_vec(), lower(words)],
        Object::Number { value, unit } => {
            vec![b"number".to_vec(), lower(value), lower(unit.as_deref().unwrap_or(""))]
        }
        Object::Money { amount, currency } => {
            vec![b"money".to_vec(), lower(amount), lower(currency)]
        }
        Object::Date(date) => vec![b"date".to_vec(), lower(date)],
        Object::Bool(yes) => vec![b"bool".to_vec(), vec![u8::from(*yes)]],
    };
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    Ok(Some(ValueKey(rows.tag(tenant, "derive.value", &parts)?)))
}

/// A subject and a predicate.
pub(super) fn said(
    rows: &Rows<'_, '_>,
    tenant: u32,
    subject: EntityId,
    predicate: &Tag,
) -> Result<Tag, ViewError> {
    rows.tag(tenant, "derive.said", &[subject.as_bytes(), predicate])
}

/// The tracks that a claim is about: of a relation with many values each has its own, and an ending
/// that names none of them is about all.
fn tracks(
    rows: &Rows<'_, '_>,
    tenant: u32,
    scope: u64,
    said: &Tag,
    claim: &Claim,
    value: Option<ValueKey>,
) -> Result<Vec<Tag>, ViewError> {
    match (claim.cardinality, value) {
        (Some(Cardinality::One), _) => Ok(vec![rows.tag(tenant, "derive.track", &[said])?]),
        (_, Some(value)) => Ok(vec![rows.tag(tenant, "derive.track", &[said, &value.0])?]),
        (_, None) if claim.effect == Effect::Ends => {
            let (from, to) = key::tracks(tenant, scope, said);
            let mut all = Vec::new();
            rows.scan(Space::Sources, (&from, &to), Direction::Forward, &mut |key, _| {
                all.extend(key::tail_id(key));
                ControlFlow::Continue(())
            })?;
            Ok(all)
        }
        (_, None) => Ok(Vec::new()),
    }
}

/// The id of a version: minted from the entry that made it.
pub(crate) fn mint(seed: &[u8; 16], recorded: RecordedAt, track: &Tag, piece: PieceId) -> FactId {
    let hash = Sha256::new()
        .chain_update(seed)
        .chain_update([Layer::Fact as u8])
        .chain_update(track)
        .chain_update(piece.fact.offset.to_be_bytes())
        .chain_update(piece.fact.ordinal.to_be_bytes())
        .chain_update(piece.by.ordinal.to_be_bytes())
        .chain_update(piece.part.to_be_bytes());
    let hash: [u8; 32] = hash.finalize().into();
    FactId::mint(recorded.0, *hash.first_chunk().expect("32 bytes have a first quarter"))
}

fn fact_id(rows: &Rows<'_, '_>, at: At, piece: PieceId) -> Result<FactId, ViewError> {
    let answer = answer_row(rows, at.tenant, piece.by.offset)?.ok_or_else(gone)?;
    Ok(mint(&answer.seed, answer.recorded, &at.track, piece))
}

fn fact_row(rows: &Rows<'_, '_>, tenant: u32, id: FactId) -> Result<Option<FactRow>, ViewError> {
    let bytes = rows.get(Space::Records, &key::fact(tenant, id))?;
    bytes.map(|bytes| FactRow::decode(&bytes)).transpose().map_err(row_error(Space::Records))
}

fn gone() -> ViewError {
    row_error(Space::Records)(CodecError::Missing { field: "fact" })
}

/// The current pieces of a track, from their rows.
struct Stored<'a, 'r, 'f> {
    rows: &'a Rows<'r, 'f>,
    at: At,
}

impl Stored<'_, '_, '_> {
    /// The first current piece between two instants that satisfies a condition, in a direction.
    fn find(
        &self,
        (from, to): (Option<ValidAt>, Option<ValidAt>),
        direction: Direction,
        is_it: impl Fn(&Piece) -> bool,
    ) -> Result<Option<Piece>, ViewError> {
        let At { tenant, scope, track, .. } = self.at;
        let (from, to) = key::currents(tenant, scope, &track, from, to);
        let mut found = Ok(None);
        self.rows.scan(Space::Sources, (&from, &to), direction, &mut |key, _| {
            let id = key::tail_id(key).map(FactId::from_bytes);
            let row = id.map_or(Ok(None), |id| fact_row(self.rows, tenant, id));
            match row {
                Ok(Some(row)) if is_it(&row.piece) => found = Ok(Some(row.piece)),
                Ok(_) => return ControlFlow::Continue(()),
                Err(error) => found = Err(error),
            }
            ControlFlow::Break(())
        })?;
        found
    }
}

impl Pieces for Stored<'_, '_, '_> {
    type Error = ViewError;

    fn before(&self, at: ValidAt) -> Result<Option<Piece>, ViewError> {
        self.find((None, Some(at)), Direction::Backward, |piece| piece.from().is_some())
    }

    fn after(&self, at: ValidAt) -> Result<Option<Piece>, ViewError> {
        self.find((Some(at), None), Direction::Forward, |piece| piece.from().is_some())
    }

    fn undated(&self, value: ValueKey) -> Result<Option<Piece>, ViewError> {
        let is_it = |piece: &Piece| {
            matches!(piece.valid, Valid::Before { .. })
                && piece.content == Content::One(Value::Is(value))
        };
        let first = ValidAt(lamina_types::Micros(i64::MIN + 1));
        self.find((None, Some(first)), Direction::Forward, is_it)
    }
}
