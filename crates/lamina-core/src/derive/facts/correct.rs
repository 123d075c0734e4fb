//! Corrections and decided conflicts: what was said never was, and something else takes its place.
//!
//! Both strike one piece, the one that is known at a point, and put a value there from the same
//! beginning to the same end, unless other bounds are stated. What a narrower value leaves bare goes
//! back to what was known before the struck piece.

use lamina_types::ValidAt;
use lamina_types::layer::extraction::Confidence;

use super::canvas::{Canvas, Cause, Span};
use super::push::{Pieces, covering, last_before, mark};
use super::step::{Cell, Manner};
use super::{
    Action, Assertion, Content, Decision, Outcome, Piece, Reason, Resolution, Said, Support, Value,
    ValueKey, Weight,
};

/// Puts a value in the place of what is known. `None` if there is nothing to correct or it says the
/// same: then it is an ordinary statement.
pub(super) fn correct<P: Pieces>(
    pieces: &P,
    assertion: &Assertion,
    value: ValueKey,
    cause: Cause,
) -> Result<Option<Outcome>, P::Error> {
    let Some(target) = covering(pieces, point(assertion))? else { return Ok(None) };
    let is_same = target.content == Content::One(Value::Is(value));
    if is_same && assertion.valid_from.is_none() && assertion.valid_to.is_none() {
        return Ok(None);
    }
    let said = mark(assertion, Said::Value(Value::Is(value)));
    let Some(span) = Extent::of(&target, assertion.valid_from, assertion.valid_to) else {
        return Ok(Some(Outcome::nothing(Reason::Empty)));
    };
    let weight = match assertion.valid_from {
        Some(_) => Weight::Stated,
        None => weight_at(&target, span.new.from),
    };
    let replacing = Support { from: span.new.from, to: span.new.to, weight, ..said };
    let mut canvas = replace(pieces, &span, &replacing)?;
    // It was also seen to be so when it was said: a later report about the time between the two does
    // not reach past that.
    let seen =
        Support { from: assertion.observed, to: span.new.to, weight: Weight::Observed, ..said };
    if seen.from > span.new.from && span.new.to.is_none_or(|to| seen.from < to) {
        canvas.paint(&seen, Manner::Supersede);
    }
    let changes = canvas.changes(cause);
    Ok(Some(Outcome { decision: Decision::Update, reason: Reason::Corrects, changes }))
}

/// Decides the conflict that is open at a point.
pub(super) fn resolve<P: Pieces>(
    pieces: &P,
    resolution: &Resolution,
    cause: Cause,
) -> Result<Outcome, P::Error> {
    let Some(target) = covering(pieces, resolution.at)? else {
        return Ok(Outcome::nothing(Reason::NoConflict));
    };
    let Content::Conflict(sides) = &target.content else {
        return Ok(Outcome::nothing(Reason::NoConflict));
    };
    let Some(from) = target.from() else { return Ok(Outcome::nothing(Reason::NoConflict)) };
    let whole = Span { from, to: target.to() };
    let canvas = match resolution.action {
        Action::Pick(value) if sides.contains(&value) => {
            decide(pieces, resolution, whole, &[(whole, value)])?
        }
        Action::Split { boundary, earlier, later }
            if sides.contains(&earlier) && sides.contains(&later) =>
        {
            let parts = split(whole, boundary, earlier, later);
            decide(pieces, resolution, whole, &parts)?
        }
        Action::Pick(_) | Action::Split { .. } => return Ok(Outcome::nothing(Reason::NotASide)),
        Action::Dismiss => {
            decide(pieces, resolution, whole, &[(whole, first_said(&target, sides))])?
        }
        Action::NewInformation(new) => {
            let Some(span) = Extent::of(&target, new.valid_from, new.valid_to) else {
                return Ok(Outcome::nothing(Reason::Empty));
            };
            let decided = decided(resolution, span.new, Value::Is(new.value));
            replace(pieces, &span, &decided)?
        }
    };
    let changes = canvas.changes(cause);
    Ok(Outcome { decision: Decision::Update, reason: Reason::Resolved, changes })
}

/// What a struck piece covers, and what the value in its place does.
struct Extent {
    struck: Span,
    new: Span,
}

impl Extent {
    fn of(target: &Piece, from: Option<ValidAt>, to: Option<ValidAt>) -> Option<Extent> {
        let struck = Span { from: target.from()?, to: target.to() };
        let new = Span { from: from.unwrap_or(struck.from), to: to.or(struck.to) };
        if new.to.is_some_and(|to| to <= new.from) { None } else { Some(Extent { struck, new }) }
    }

    /// Both.
    fn hull(&self) -> Span {
        let to = match (self.struck.to, self.new.to) {
            (Some(one), Some(other)) => Some(one.max(other)),
            _ => None,
        };
        Span { from: self.struck.from.min(self.new.from), to }
    }
}

fn replace<P: Pieces>(pieces: &P, extent: &Extent, with: &Support) -> Result<Canvas, P::Error> {
    let mut canvas = Canvas::load(pieces, extent.hull(), None)?;
    canvas.vacate(extent.struck);
    let Extent { struck, new } = extent;
    let to = match (struck.to, new.to) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    let inside = Span { from: struck.from.max(new.from), to };
    // Inside the struck piece it stands whatever was before; outside it is a statement like others.
    if inside.to.is_none_or(|to| inside.from < to)
        && let Said::Value(value) = with.said
    {
        canvas.rewrite(inside, |_| Some(Cell::one(value, vec![*with])));
    }
    canvas.paint(with, Manner::Supersede);
    Ok(canvas)
}

/// Lets values stand over parts of a conflict, each with the evidence it has and the decision.
fn decide<P: Pieces>(
    pieces: &P,
    resolution: &Resolution,
    whole: Span,
    parts: &[(Span, Value)],
) -> Result<Canvas, P::Error> {
    let mut canvas = Canvas::load(pieces, whole, None)?;
    for (span, value) in parts {
        let decided = decided(resolution, *span, *value);
        canvas.rewrite(*span, |cell| {
            let known = cell.map(|cell| cell.marks.as_slice()).unwrap_or_default();
            let said = |mark: &&Support| mark.said == Said::Value(*value);
            let marks = known.iter().filter(said).copied().chain([decided]).collect();
            Some(Cell::one(*value, marks))
        });
    }
    Ok(canvas)
}

fn split(whole: Span, boundary: ValidAt, earlier: Value, later: Value) -> Vec<(Span, Value)> {
    if boundary <= whole.from {
        vec![(whole, later)]
    } else if whole.to.is_some_and(|to| to <= boundary) {
        vec![(whole, earlier)]
    } else {
        vec![
            (Span { from: whole.from, to: Some(boundary) }, earlier),
            (Span { from: boundary, to: whole.to }, later),
        ]
    }
}

fn decided(resolution: &Resolution, span: Span, value: Value) -> Support {
    Support {
        source: resolution.source,
        recorded: resolution.recorded,
        confidence: Confidence::FULL,
        said: Said::Value(value),
        from: span.from,
        to: span.to,
        weight: Weight::Decided,
        author: None,
    }
}

/// The side of a conflict that was recorded first.
fn first_said(target: &Piece, sides: &[Value]) -> Value {
    let first = target
        .supports
        .iter()
        .filter_map(|support| match support.said {
            Said::Value(value) if sides.contains(&value) => Some((support.source, value)),
            _ => None,
        })
        .min();
    first.map(|(_, value)| value).or(sides.first().copied()).expect("a conflict has sides")
}

/// The instant whose value a correction is about: now, or as near to it as the stated time allows.
fn point(assertion: &Assertion) -> ValidAt {
    let observed = assertion.observed;
    match (assertion.valid_from, assertion.valid_to) {
        (Some(from), _) if observed < from => from,
        (_, Some(to)) if to <= observed => last_before(to),
        _ => observed,
    }
}

fn weight_at(target: &Piece, from: ValidAt) -> Weight {
    let begins = target.supports.iter().filter(|support| support.from == from);
    begins.map(|support| support.weight).max().unwrap_or(Weight::Stated)
}
