//! Instructions end when an answer says that they were taken back.

use lamina_core::derive::facts::{
    Assertion, AssertionId, Content, Decision, Input, Piece, Saying, Valid, Value, ValueKey,
};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};

use super::{At, current, inputs, pieces, take, with_carried};
use crate::derive::fold::{Given, answer_row, answers_to};
use crate::derive::rows::InputRow;
use crate::derive::suppress;

/// The place of what is taken back among what its answer says: after all of its claims.
const REVOCATION: u16 = u16::MAX - 1;

/// Ends the instructions that an answer names, in every scope that learns of it.
pub(in crate::derive) fn end(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
) -> Result<(), ViewError> {
    for revoked in &given.answer.revoked {
        let Some(event) = rows.event(given.tenant, revoked.event)? else { continue };
        for answer in answers_to(rows, given.tenant, event.offset)? {
            let Some(mut row) = answer_row(rows, given.tenant, answer)? else { continue };
            with_carried(rows, given.tenant, answer, &mut row)?;
            for track in row.tracks {
                // What it says itself stands.
                if given.scopes.contains(&track.0) && !given.row.tracks.contains(&track) {
                    end_of(rows, given, track, ValueKey(revoked.value))?;
                }
            }
        }
    }
    Ok(())
}

/// Ends a value of a track, if it is known and goes on.
fn end_of(
    rows: &mut Rows<'_, '_>,
    given: &mut Given<'_>,
    (scope, track): (u64, Tag),
    value: ValueKey,
) -> Result<(), ViewError> {
    let inputs = inputs(rows, given.tenant, scope, &track)?;
    let says_it = |row: &&InputRow| match &row.input {
        Input::Said(said) => {
            matches!(said.saying, Saying::Holds(is) | Saying::Corrects(is) if is == value)
        }
        Input::Resolved(_) => false,
    };
    let Some(first) = inputs.iter().rfind(says_it) else { return Ok(()) };
    let Input::Said(said) = &first.input else { return Ok(()) };
    let (subject, predicate, spoken) = (first.subject, first.predicate, first.spoken);
    let at = At { tenant: given.tenant, scope, track, subject, predicate };
    let goes_on = |piece: &Piece| {
        piece.content == Content::One(Value::Is(value))
            && matches!(piece.valid, Valid::During { to: None, .. })
    };
    if current(rows, at, goes_on)?.is_none()
        || suppress::of_fact(rows, given, (scope, &track), Some(value))?
    {
        return Ok(());
    }
    let assertion = Assertion {
        source: AssertionId { offset: given.offset, ordinal: REVOCATION },
        kept: None,
        recorded: given.row.recorded,
        observed: given.answer.observed_at,
        saying: Saying::Ends(Some(value)),
        valid_from: None,
        valid_to: None,
        confidence: said.confidence,
        no_supersede: false,
        author: None,
        settles: None,
    };
    given.row.tracks.push((scope, track));
    given.moved.push((scope, track));
    let outcome = take(rows, at, Input::Said(assertion), spoken, None)?;
    given.row.counts.superseded += u32::from(outcome.decision == Decision::End);
    given.row.counts.settled += pieces::apply(rows, at, outcome.changes)?;
    Ok(())
}
